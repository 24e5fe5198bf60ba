"""Small runs: one for other benches to damage, and what `judgerel run` takes of one.

    python -m bench.small_run [--requests 20 2000] [--rounds 3] [--judges 1]

The command, with Ray and without, in turns: its wall and its CPU (of all processes that it waited
for), a simulated judge and one behind an API (a server of this process on loopback, 32 requests at
once). Prints medians, and the share of the keys that both have, which is 1.

The other run is of four simulated judges, made in this process: best_of in two orders and at two
temperatures, temperature 0 repeated; adaptive replication; ratings; a confusion; exact
distributions; answers judged by others. Its texts may have been read again, twice, each time into
other verdicts.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import NamedTuple, cast

import polars as pl
from rich.console import Console

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run.lost import agree_to_losses, stray_commits
from judgerel_ray.asking.run.opening import known_judges, prepare_run
from judgerel_ray.asking.run.running import _leave_final, _run_board_at_start, lay_out
from judgerel_ray.asking.run.waves import SessionWaves
from judgerel_ray.config import Sweep, read_sweep
from judgerel_ray.fleet import Fleet, JudgePool, JudgeSpec
from judgerel_ray.fleet.judge_actor import JudgeActor
from judgerel_ray.fleet.lease import Lease, WorkQueue
from judgerel_ray.store import (
    RunDirectory,
    begin_session,
    end_session,
    leave_token,
    read_ledger,
    record_errors,
)
from judgerel_ray.store.generations import land_generation, note_generation
from judgerel_ray.tables import Errors

JUDGE = """
[[judge]]
name = "{name}"
engine = "simulated"
model = "dirichlet"
gpus = 0
engine_options = {{ seed = {seed}, concentration = {concentration} }}
"""
SWEEP = (
    'name = "faults"\n[tolerance]\nkrippendorff_alpha = 0.6\n'
    + JUDGE.format(name="a", seed=1, concentration=1.0)
    + JUDGE.format(name="b", seed=2, concentration=3.0)
    + """
[[ask]]
protocol = "best_of"
benchmark = "own"
path = "items.jsonl"
temperatures = [1.0, 0.0]
replications = 4
repeat_greedy = 2
option_orders = 2

[[ask]]
protocol = "best_of"
benchmark = "own"
path = "items.jsonl"
temperatures = [0.7]
replications = { adaptive = 0.2, first = 3, max = 6 }

[[ask]]
protocol = "best_of"
benchmark = "own"
path = "items.jsonl"
mode = "exact"

[[ask]]
protocol = "correctness"
benchmark = "own"
path = "items.jsonl"
replications = 3

[[ask]]
protocol = "confusion"
benchmark = "criterion"
path = "criterion.jsonl"
"""
)
N_ITEMS = 6
OPTIONS = ("yes", "no", "partly")
PIECE = 10**9  # units of work a lease: a judge's wave or round is one


class InProcess:
    """A fleet of one engine a judge, in this process, that answers leases one by one."""

    def __init__(self, actors: dict[str, JudgeActor]) -> None:
        self.actors = actors
        self.n_leases = 0
        self.asked = 0

    def next_lease(self) -> int:
        self.n_leases += 1
        return self.n_leases

    def count_landed(self, _judge: str, rows: int, _outcomes: object) -> None:
        self.asked += rows

    def run_wave(self, work: dict[str, WorkQueue], *, later: frozenset[str]) -> None:
        del later
        for name, queue in work.items():
            while True:
                while asks := queue.take("one", PIECE):
                    lease = Lease(lease=self.next_lease(), attempt=1, judge=name, asks=asks)
                    receipt = asyncio.run(self.actors[name].run(lease))
                    assert receipt.landed, receipt
                    assert not receipt.failed, receipt
                    self.asked += receipt.rows
                queue.refill()
                if queue.is_empty:
                    break


def write_sweep(folder: Path, *, n_items: int = N_ITEMS) -> Path:
    """The sweep file, and the items it names beside it."""
    plain = [
        {"item_id": f"q{i}", "question": f"Which {i}?", "options": list(OPTIONS), "gold": "no"}
        for i in range(n_items)
    ]
    about = [{**one, "criterion": "fit", "text": f"Text {one['item_id']}."} for one in plain]
    for name, rows in (("items", plain), ("criterion", about)):
        text = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    file = folder / "sweep.toml"
    file.write_text(SWEEP, encoding="utf-8")
    return file


def run_here(sweep: Path | Sweep, out: str, *, ask_lost: bool = False) -> tuple[int, str]:
    """What `judgerel run` does, without Ray: how many requests were asked, and the messages."""
    loaded = read_sweep(sweep) if isinstance(sweep, Path) else sweep
    resolved = resolve(loaded, known=known_judges(out))
    plan = plan_resolved(resolved)
    run = prepare_run(resolved, plan, out)
    messages = io.StringIO()
    session = begin_session(
        run,
        ask_lost=ask_lost,
        strays=lambda ledger: stray_commits(run, resolved, plan, ledger),
        agree=lambda losses: agree_to_losses(
            run, Console(file=messages, width=200), losses, ask_lost=ask_lost
        ),
    )
    board = _run_board_at_start(resolved, plan, run, session)
    token = leave_token(run)
    actors = {
        name: JudgeActor(
            JudgeSpec(
                engine=resolved.pinned_spec(name),
                run=run,
                session=session.number,
                visibility_token=token,
            )
        )
        for name in resolved.specs
    }
    for actor in actors.values():
        asyncio.run(actor.start())
    fleet = InProcess(actors)
    pools = {
        name: SimpleNamespace(requests_left=0, failures={}, unsettled=set()) for name in actors
    }
    SessionWaves(
        resolved=resolved,
        run=run,
        session=session,
        fleet=cast(Fleet, fleet),
        pools=cast("dict[str, JudgePool]", pools),
        board=board,
    ).ask_all()
    ledger = read_ledger(run)
    for name, judge in board.judges.items():
        judge.landed = ledger.rows[name]
        judge.asked = max(judge.asked, judge.landed)
    lay_out(resolved, run, ledger)
    _leave_final(run, session, board)
    end_session(run, session.number)
    return fleet.asked, messages.getvalue()


def make_run(folder: Path) -> RunDirectory:
    """A finished run of two sessions, with a file of failures."""
    file = write_sweep(folder)
    out = str(folder / "run")
    run_here(file, out)
    run = RunDirectory.open(out)
    failures = pl.DataFrame(
        [
            {
                "key": f"{place:032x}", "judge": "a", "item_id": "q0", "condition_key": "0" * 32,
                "replication": place, "lease": "1", "attempt": 1, "kind": "transport",
                "message": "connection reset", "failed_at": datetime(2026, 1, 1, tzinfo=UTC),
            }
            for place in range(2)
        ],
        schema=Errors.create_empty().schema,
    )  # fmt: skip
    record_errors(run, session=1, judge="a", rows=failures)
    run_here(file, out)
    return run


def read_again(run: RunDirectory) -> None:
    """Land two generations: readers that find no verdict of one option, and then of another."""
    ledger = read_ledger(run)
    for number, option in enumerate("12", start=1):
        readings = [
            (
                commit,
                frame.with_columns(
                    judge=pl.col("judge").cast(pl.String),
                    verdict=pl.when(pl.col("verdict") != option).then("verdict"),
                    label=pl.when(pl.col("verdict") != option).then("label"),
                    outcome=pl.when(pl.col("verdict") == option)
                    .then(pl.lit("unparsed"))
                    .otherwise("outcome"),
                ),
            )
            for commit in ledger.commits
            for frame in [pl.read_parquet(io.BytesIO(run.files.read(commit.data_file)))]
            if frame["verdict"].eq(option).any()
        ]
        assert readings
        made = land_generation(run, readings, number=number, reader="bench", version=str(number))
        assert made
        note_generation(run, made)


ENGINES = {
    "simulated": 'engine = "simulated"\nmodel = "dirichlet"\ngpus = 0',
    "openai": 'engine = "openai"\nmodel = "tiny"\nbase_url = "{url}"\n'
    "limits = { concurrency = 32 }",
}
REPLICATIONS = 20


class Took(NamedTuple):
    """What a command took, in seconds."""

    wall: float
    cpu: float


def write_plain_sweep(folder: Path, engine: str, *, url: str, requests: int, judges: int) -> Path:
    """A sweep of so many requests, shared by some judges of one engine."""
    replications = min(REPLICATIONS, requests // judges)
    items = [
        json.dumps({"item_id": f"q{i}", "question": f"Which {i}?", "options": list(OPTIONS)})
        for i in range(requests // judges // replications)
    ]
    (folder / "items.jsonl").write_text("\n".join(items), encoding="utf-8")
    text = 'name = "plain"\n'
    for n in range(judges):
        text += f'[[judge]]\nname = "j{n}"\n{ENGINES[engine].replace("{url}", url)}\n'
    text += '[[ask]]\nprotocol = "best_of"\nbenchmark = "own"\npath = "items.jsonl"\n'
    file = folder / "plain.toml"
    file.write_text(f"{text}top_k = 0\nreplications = {replications}\n", encoding="utf-8")
    return file


def took(file: Path, out: Path, *words: str) -> Took:
    """Run a sweep by the command, and say what that took."""
    command = [sys.executable, "-m", "judgerel_ray", "run", str(file), "--out", str(out), *words]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        said = process.stderr.read() if process.stderr else b""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said.decode()
    return Took(time.monotonic() - began, used.ru_utime + used.ru_stime)


def keys_of(out: Path) -> set[str]:
    """The keys of a run."""
    run = RunDirectory.open(str(out))
    return {key for commit in read_ledger(run).commits
            for key in pl.read_parquet(run.address(commit.data_file))["key"]}  # fmt: skip


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description="What small runs take with Ray and without.")
    parser.add_argument("--requests", type=int, nargs="+", default=[20, 2000])
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--judges", type=int, default=1)
    given = parser.parse_args()
    from tests.fault_server import FaultServer

    print("engine     requests  wall [s] with Ray, without  CPU [s] with Ray, without  equal keys")
    with FaultServer() as server, tempfile.TemporaryDirectory() as name:
        for engine, requests in product(given.engines, given.requests):
            folder = Path(name)
            file = write_plain_sweep(
                folder, engine, url=server.url, requests=requests, judges=given.judges
            )
            seen: dict[str, list[Took]] = {"ray": [], "here": []}
            for n in range(given.rounds):
                for place, words in (("ray", ["--ray"]), ("here", [])):
                    out = folder / f"{engine}-{requests}-{place}-{n}"
                    seen[place].append(took(file, out, *words))
            found = [keys_of(folder / f"{engine}-{requests}-{place}-0") for place in seen]
            ray, here = (Took(*map(median, zip(*rows, strict=True))) for rows in seen.values())
            print(
                f"{engine:9}  {requests:8,}  {ray.wall:17.2f}  {here.wall:7.2f}  "
                f"{ray.cpu:16.2f}  {here.cpu:7.2f}  "
                f"{len(found[0] & found[1]) / len(found[0] | found[1]):10.3f}"
            )


if __name__ == "__main__":
    main()
