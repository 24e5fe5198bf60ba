"""A sweep of one simulated judge, ways to run it, and what must hold whatever was killed."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console

from judgerel_ray.asking.run.running import RunSummary, run_sweep
from judgerel_ray.config import read_sweep
from judgerel_ray.store import (
    CommitRecord,
    RunDirectory,
    read_ledger,
    scan_completions,
    scan_judgments,
    verify_run,
)
from judgerel_ray.store.status import read_status

SWEEP = """
name = "chaos"
[[judge]]
name = "a"
engine = "simulated"
model = "uniform"
gpus = {gpus}
replicas = {replicas}
engine_options = {{ tokens_per_s = {speed}{trouble} }}
[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "items.csv"
temperatures = [1.0, 0.5]
replications = {replications}
[fleet]
lease_seconds = {lease_seconds}
max_engine_losses = 50
"""


PATIENCE_S = 900  # for Ray and its engines to come up on a machine that is busy with others


@dataclass
class Sweep:
    """A sweep of one judge and its run directory."""

    file: Path
    out: str
    asked: int
    drivers: list[subprocess.Popen[str]] = field(default_factory=list)

    def run(self, address: str | None = None, *, ask_lost: bool = False) -> RunSummary:
        """Run in this process."""
        console = Console(file=io.StringIO())
        sweep = read_sweep(str(self.file))
        return run_sweep(sweep, out=self.out, address=address, console=console, ask_lost=ask_lost)

    def start(self, address: str | None = None, *words: str) -> subprocess.Popen[str]:
        """Run in a process of its own, and without Ray unless one is given."""
        command = [sys.executable, "-m", "judgerel_ray", "run", str(self.file), "--out", self.out]
        driver = subprocess.Popen(
            [*command, *words, *(["--address", address] if address else [])],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"},
        )
        self.drivers.append(driver)
        return driver

    @property
    def directory(self) -> RunDirectory:
        return RunDirectory.open(self.out)

    @property
    def commits(self) -> tuple[CommitRecord, ...]:
        return read_ledger(self.directory).commits

    @property
    def n_landed(self) -> int:
        """Rows landed so far, also before there is a directory."""
        directory = RunDirectory(url=self.out)
        return read_ledger(directory).n_rows if directory.is_run() else 0

    def wait_for(self, rows: int, driver: subprocess.Popen[str] | None = None) -> None:
        """Wait until so many rows have landed."""
        until = time.monotonic() + PATIENCE_S
        while self.n_landed < rows:
            if time.monotonic() > until:
                pytest.fail(f"{self.n_landed} of {rows} rows in {PATIENCE_S} s")
            if driver is not None and driver.poll() is not None:
                raise AssertionError(f"the driver ended: {driver.communicate()}")
            time.sleep(0.05)

    @property
    def texts(self) -> dict[str, str]:
        frame = scan_completions(self.directory).collect()
        return dict(zip(frame["key"], frame["text"], strict=True))

    def check_whole(self) -> None:
        """All that was asked has landed, once, and every file is as its record says."""
        assert [f for f in verify_run(self.directory) if f.level == "error"] == []
        keys = scan_judgments(self.directory).collect()["key"]
        assert keys.n_unique() == keys.len() == self.asked
        assert set(self.texts) == set(keys)
        status = read_status(self.out)
        assert [(judge.landed, judge.owed) for judge in status.judges] == [(self.asked, 0)]


@pytest.fixture
def sweep(tmp_path: Path) -> Iterator[Callable[..., Sweep]]:
    """Make sweeps; drivers still running at the end are killed."""
    made: list[Sweep] = []

    def make(
        out: str = "run",
        *,
        n_items: int = 40,
        replications: int = 50,
        replicas: int = 2,
        speed: int = 4000,
        never_ends: bool = False,
        gpus: int = 0,
        lease_seconds: float = 0.5,
    ) -> Sweep:
        """A sweep; one that never ends has engines that keep their first request for themselves."""
        rows = [
            f"q{i:03d},Which is number {i}?,this {i},that {i},those {i}" for i in range(n_items)
        ]
        lines = ["item_id,question,option_x,option_y,option_z", *rows]
        (tmp_path / "items.csv").write_text("\n".join(lines) + "\n")
        file = tmp_path / f"{out}.toml"
        file.write_text(
            SWEEP.format(
                gpus=gpus,
                replicas=replicas,
                speed=speed,
                trouble=", hangs_on = 1" if never_ends else "",
                replications=replications,
                lease_seconds=lease_seconds,
            )
        )
        one = Sweep(file=file, out=str(tmp_path / out), asked=n_items * 2 * replications)
        made.append(one)
        return one

    yield make
    for driver in [driver for one in made for driver in one.drivers]:
        if driver.poll() is None:
            driver.kill()
        driver.communicate()


@pytest.fixture(scope="session")
def undisturbed() -> Callable[[Sweep], None]:
    """Compare with what a run without any Ray or death would have landed."""
    import asyncio

    from judgerel_ray.asking.plan.resolve import resolve
    from judgerel_ray.core import Ask, request_key
    from judgerel_ray.design import build_wave, voices_of
    from judgerel_ray.engines import make_engine

    async def answers(one: Sweep) -> dict[str, str | None]:
        resolved = resolve(read_sweep(str(one.file)))
        engine = make_engine(resolved.specs["a"])
        engine.options = type(engine.options)(seed=engine.options.seed)  # as fast as it can
        await engine.start()
        texts: dict[str, str | None] = {}
        for frame in resolved.frames:
            for voice in voices_of(frame, 0):
                for work in build_wave(frame, 0, voice, {}):
                    for ask in work.asks:
                        alone = Ask(condition=ask.condition, first=ask.first, n=ask.n)
                        for done in await engine.complete(engine.prepare(ask.condition), alone):
                            key = request_key(ask.condition.condition_key, done.replication)
                            texts[key] = done.text
        return texts

    def compare(one: Sweep) -> None:
        assert one.texts == asyncio.run(answers(one))

    return compare
