"""One series, triggered by many processes at once and killed anywhere, on one real cluster."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from itertools import pairwise

import polars as pl
import pytest

from judgerel_ray.store import scan_judgments, verify_run
from judgerel_ray.store.series import SeriesDirectory

pytestmark = [pytest.mark.ray, pytest.mark.slow]

TRIGGERS = """
import json, os, signal, sys, tempfile
import judgerel_ray.analyses.drift.from_run, judgerel_ray.asking.refreshing
import judgerel_ray.reporting.pages, ray
from judgerel_ray.__main__ import main
from judgerel_ray.store.files import Disk

steps = 0

def counted(do, kill_at):
    def step(*given):
        global steps
        steps += 1
        if steps == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return do(*given)
    return step

def trigger(gate, said, kill_at):
    os.read(gate, 1)
    os.dup2(said[0].fileno(), 1)
    os.dup2(said[1].fileno(), 2)
    for name in ("write", "create", "share", "remove"):
        setattr(Disk, name, counted(getattr(Disk, name), kill_at))
    code = main(["refresh", sys.argv[1], "--address", sys.argv[2]])
    print(steps, file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(code)

for line in sys.stdin:
    n, kill_at = map(int, line.split())
    reader, writer = os.pipe()
    files = [(tempfile.TemporaryFile(), tempfile.TemporaryFile()) for _ in range(n)]
    pids = []
    for said in files:
        pids.append(os.fork())
        if not pids[-1]:
            os.close(writer)
            trigger(reader, said, kill_at)
    os.close(reader)
    os.close(writer)  # all of them begin
    ended = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    def text(file):
        file.seek(0)
        return file.read().decode()
    print(json.dumps([(code, text(o), text(e)) for code, (o, e) in zip(ended, files)]), flush=True)
"""
"""Reads how many processes are to trigger the series at once, and at which step of writing each is
killed, 0 for never; says how they ended. A process each, forked with all libraries loaded."""

SWEEP = """
name = "{name}"
judge = [{{ name = "j", engine = "simulated", model = "uniform", gpus = 0 }}]
[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "{name}.csv"
replications = {replications}
[fleet]
lease_seconds = 0.2
"""
REPLICATIONS = 4
KILLS = 10


class World:
    """A series in a folder, and a process that triggers it."""

    def __init__(self, folder, address):
        self.folder, self.n_items = folder, 6
        for name in ("anchors", "system"):
            text = SWEEP.format(name=name, replications=REPLICATIONS)
            (folder / f"{name}.toml").write_text(text)
        self.items("anchors", self.n_items)
        self.items("system", self.n_items)
        (folder / "series.toml").write_text(
            'name = "nightly"\nout = "out"\n[[sweep]]\npath = "anchors.toml"\nrole = "anchor"\n'
            '[[sweep]]\npath = "system.toml"\n'
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", TRIGGERS, str(folder / "series.toml"), address],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def items(self, name, n):
        lines = [f"q{i},Which is number {i} of {name}?,this {i},that {i}" for i in range(n)]
        text = "\n".join(["item_id,question,option_x,option_y", *lines])
        (self.folder / f"{name}.csv").write_text(text + "\n")

    def grow(self):
        """The system answers one more."""
        self.n_items += 1
        self.items("system", self.n_items)

    def fire(self, n=1, *, kill_at=0):
        """Trigger the series n times at once: exit codes, what was printed, what was told."""
        self.process.stdin.write(f"{n} {kill_at}\n")
        self.process.stdin.flush()
        return [tuple(one) for one in json.loads(self.process.stdout.readline())]

    @property
    def directory(self):
        return SeriesDirectory(url=str(self.folder / "out"))

    def check_whole(self, n_systems):
        """Every refresh that is done holds what it planned, once, and no anchor is in two."""
        directory = self.directory
        refreshes = directory.refreshes()
        assert not any(one.is_open for one in refreshes)
        landed = {}
        for name in ("anchors", "system"):
            runs = directory.runs(name, [one for one in refreshes if one.state == "done"])
            assert [f for _, run in runs for f in verify_run(run) if f.level == "error"] == []
            landed[name] = [scan_judgments(run).collect() for _, run in runs]
        anchors = pl.concat(landed["anchors"])
        assert anchors["key"].n_unique() == anchors.height
        assert {one.height for one in landed["anchors"]} == {6 * REPLICATIONS}
        systems = landed["system"]
        assert [one["key"].n_unique() for one in systems] == [one.height for one in systems]
        assert [one.height for one in systems] == [n * REPLICATIONS for n in n_systems]
        # What an earlier refresh landed was not asked again.
        for before, after in pairwise(systems):
            kept = before.select("key", "landed_at", "verdict")
            assert kept.join(after, on=kept.columns, how="semi").height == before.height


@pytest.fixture
def world(tmp_path, ray_local):
    made = World(tmp_path, ray_local.get_runtime_context().gcs_address)
    yield made
    made.process.stdin.close()
    made.process.wait(60)


def test_twenty_processes_at_once_are_one_refresh(world):
    ended = world.fire(20)
    assert [code for code, _, _ in ended] == [0] * 20
    printed = [out for _, out, _ in ended]
    (done,) = (out for out in printed if out.startswith("refresh 1: done\n"))
    others = [out for out in printed if out != done]
    no_ops = ("another refresh holds the lease since ", "nothing changed: no request is new\n")
    assert all(out.startswith(no_ops) for out in others)
    assert [out.count("\n") for out in others] == [1] * 19
    assert len(world.directory.refreshes()) == 1
    world.check_whole([6])


def test_killed_anywhere_and_fired_again_nothing_is_lost_or_doubled(world):
    rng, sizes, n_kills = random.Random(1), [6], 0
    ((code, _, told),) = world.fire()
    assert code == 0, told
    n_steps = int(told.split()[-1])
    while n_kills < KILLS:
        world.grow()
        code = -signal.SIGKILL
        while code == -signal.SIGKILL:
            ((code, _, told),) = world.fire(kill_at=rng.randint(1, n_steps) * (n_kills < KILLS))
            n_kills += code == -signal.SIGKILL
        assert code == 0, told
        sizes.append(world.n_items)
    world.check_whole(sizes)
    # What is made of all refreshes is there, whenever the last one was killed.
    assert world.fire()[0][1] == "nothing changed: no request is new\n"
    history = pl.read_parquet(world.folder / "out/history.parquet")
    assert history["refresh"].unique().sort().to_list() == list(range(1, len(sizes) + 1))
