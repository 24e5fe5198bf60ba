"""Runs in one process: what Ray's would land, and no more than a fleet was told."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from rich.console import Console

from bench.small_run import write_sweep as write_small_sweep
from judgerel_ray.asking.run import running
from judgerel_ray.config import read_sweep
from judgerel_ray.core import EngineError, EngineLost, StoreError
from judgerel_ray.engines import EngineSpec
from judgerel_ray.fleet import JudgeSpec, Outside, in_process, judge_actor
from judgerel_ray.fleet.board import Board
from judgerel_ray.fleet.judge_actor import JudgeActor
from judgerel_ray.store import (
    RunDirectory,
    read_ledger,
    read_manifest,
    scan_completions,
    scan_judgments,
    verify_run,
)

PATIENCE_S = 300.0


class Scripted:
    """A judge that does as its test says."""

    def __init__(self, spec: JudgeSpec) -> None:
        assert spec.in_process
        self.stopped = spec.engine.engine_options["stopped"]

    async def start(self) -> str:
        return threading.current_thread().name

    async def run(self, how: object) -> object:
        if isinstance(how, BaseException):
            raise how
        await asyncio.sleep(float(how))
        return how

    async def stop(self) -> None:
        self.stopped.append(True)


@pytest.fixture
def spec():
    """A spec whose engine notes that it was stopped."""
    engine = EngineSpec(name="j", engine="x", model="m", engine_options={"stopped": []})
    run = RunDirectory(url="memory://nowhere")
    return JudgeSpec(engine=engine, run=run, session=1, visibility_token="t")


@pytest.fixture
def world():
    """A fleet's world in this process, whose judges are scripted."""
    with in_process(Outside(), judge=Scripted) as made:
        yield made


def test_calls_return_run_beside_the_driver_and_fail_as_on_a_cluster(world, spec):
    actor = world.make_actor(spec, name="a", pieces=()).actor
    call = actor.start.remote()
    assert world.finished([call], PATIENCE_S) == [call]
    assert world.result_of(call) == "judges" != threading.current_thread().name
    for error, kind, message in (
        (StoreError("no disk"), StoreError, "no disk"),
        (EngineLost("gone"), EngineLost, "gone"),
        (ZeroDivisionError("by what"), EngineError, "ZeroDivisionError: by what"),
    ):
        call = actor.run.remote(error)
        world.finished([call], PATIENCE_S)
        found = world.result_of(call)
        assert type(found) is kind
        assert message in str(found)


def test_those_that_have_ended_are_given_and_nobody_waits_longer_than_asked(world, spec):
    actor = world.make_actor(spec, name="a", pieces=()).actor
    long, short = actor.run.remote(3600), actor.run.remote(0)
    assert world.finished([long, short], PATIENCE_S) == [short]
    assert world.finished([long], 0.01) == []


def test_an_actor_that_is_ended_drops_its_calls_and_stops_its_engine(world, spec, wait_until):
    handle = world.make_actor(spec, name="a", pieces=())
    call = handle.actor.run.remote(3600)
    assert world.finished([call], 0.05) == []
    world.kill_actor(handle)
    assert world.finished([call], PATIENCE_S) == [call]
    assert isinstance(world.result_of(call), EngineLost)
    wait_until(lambda: spec.engine.engine_options["stopped"], "the engine's end")


def test_an_engine_that_cannot_be_made_says_why(spec):
    with in_process(Outside()) as world:
        call = world.make_actor(spec, name="a", pieces=()).actor.start.remote()
        world.finished([call], PATIENCE_S)
        found = world.result_of(call)
    assert isinstance(found, Exception)
    assert "'x'" in str(found)


def test_no_thread_is_left():
    before = set(threading.enumerate())
    with in_process(Outside(), judge=Scripted):
        assert set(threading.enumerate()) > before
    assert set(threading.enumerate()) == before


# ---- whole runs ---------------------------------------------------------------------------------


def go(file: Path, out: Path) -> tuple[running.RunSummary, str]:
    """Run a sweep; how it ended, and the events that it told."""
    console = Console(file=io.StringIO(), width=4000)
    summary = running.run_sweep(read_sweep(str(file)), out=str(out), console=console)
    return summary, console.file.getvalue()


def tables(out: Path) -> dict[str, pl.DataFrame]:
    """What a run holds, but for when it landed."""
    run = RunDirectory.open(str(out))
    assert [found for found in verify_run(run) if found.level == "error"] == []
    found = {
        "judgments": scan_judgments(run).collect().drop("landed_at").sort("key"),
        "texts": scan_completions(run).collect().sort("key"),
    }
    for name in ("distributions", "confusions", "settled"):
        for part in sorted(Path(out, name).rglob("*.parquet")):
            frame = pl.read_parquet(part)
            found[f"{name}/{part.name}"] = frame.sort(frame.columns[:8])
    return found


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.usefixtures("ray_local")
def test_a_sweep_has_the_same_keys_rows_and_events_with_and_without_ray(tmp_path, monkeypatch):
    """Of every protocol that asks by rounds, by probabilities or of texts."""
    monkeypatch.setenv("JUDGEREL_LOG", "json")
    file = write_small_sweep(tmp_path)
    on_ray, told_by_ray = go(file, tmp_path / "ray")
    monkeypatch.setattr(running, "is_connected", lambda: False)
    monkeypatch.setattr(running, "connected", None)
    here, told_here = go(file, tmp_path / "here")
    assert (here.landed, here.owed, here.failed) == (on_ray.landed, 0, 0)
    assert here.asked == on_ray.asked > 200
    one, other = tables(tmp_path / "ray"), tables(tmp_path / "here")
    assert one.keys() == other.keys()
    assert len(one) > 3
    for name, frame in one.items():
        assert frame.equals(other[name]), name
    manifests = [read_manifest(RunDirectory.open(str(tmp_path / n))) for n in ("ray", "here")]
    for name in ("sweep", "fingerprints", "packages"):
        assert manifests[0][name] == manifests[1][name]
    ends = [[json.loads(line) for line in text.splitlines()] for text in (told_by_ray, told_here)]
    facts = [
        {
            (line["judge"], line["state"], line["asked"], line["landed"])
            for line in lines
            if line["event"] == "judge" and line["state"] == "done"
        }
        for lines in ends
    ]
    assert facts[0] == facts[1] != set()
    assert [line["state"] for lines in ends for line in lines if line["event"] == "end"] == [
        "done"
    ] * 2


@pytest.mark.usefixtures("without_ray")
def test_a_session_that_is_cut_short_is_ended_by_the_next(write_sweep, tmp_path, outside):
    file = write_sweep([{"name": "a", "engine_options": {"latency_ms": 1}}], lease_seconds=0.1)

    def interrupt(_pools: object, board: Board) -> bool:
        if board.judges["a"].landed >= 20:
            raise KeyboardInterrupt
        return True

    outside(may_send=interrupt)
    with pytest.raises(KeyboardInterrupt):
        go(file, tmp_path / "run")
    run = RunDirectory.open(str(tmp_path / "run"))
    n_landed = read_ledger(run).n_rows
    assert 20 <= n_landed < 132
    outside()
    summary, _ = go(file, tmp_path / "run")
    assert (summary.landed, summary.owed, summary.asked_now) == (132, 0, 132 - n_landed)
    assert tables(tmp_path / "run")["judgments"]["key"].n_unique() == 132


@pytest.mark.usefixtures("without_ray")
def test_a_torn_token_of_a_finished_run_is_written_anew_by_the_next(write_sweep, tmp_path):
    file = write_sweep([{"name": "a"}])
    go(file, tmp_path / "run")
    run = RunDirectory.open(str(tmp_path / "run"))
    run.write_text("commits/token", "torn")
    assert [one.name for one in verify_run(run) if one.level == "error"] == ["commits/token"]
    assert go(file, tmp_path / "run")[0].asked_now == 0
    assert not [one for one in verify_run(run) if one.level == "error"]


@pytest.mark.slow
@pytest.mark.usefixtures("without_ray")
def test_what_lands_after_its_deadline_is_nobodys(write_sweep, tmp_path, monkeypatch, outside):
    """Taken for dead while it writes: a thread cannot be killed, its lease can be closed."""
    land, landings, asked, go_ahead = judge_actor.land, [], [], threading.Event()

    class Late(JudgeActor):
        """An actor of which the first is held up where it lands."""

        def __init__(self, spec: JudgeSpec) -> None:
            super().__init__(spec)
            asked.append(spec)

    def land_late(*given: object, **named: object) -> bool:
        first = not landings
        landings.append(None)
        if first:
            assert go_ahead.wait(PATIENCE_S)
        landed = land(*given, **named)
        landings.append(landed)
        return landed

    clock = SimpleNamespace(ahead=0.0)

    def now() -> float:
        if landings and not clock.ahead:
            clock.ahead = 1e5
        return time.monotonic() + clock.ahead

    def may_send(_pools: object, _board: object) -> bool:
        if len(asked) > 1:
            go_ahead.set()
        return True

    monkeypatch.setattr(judge_actor, "land", land_late)
    monkeypatch.setattr(running, "in_process", lambda outside: in_process(outside, judge=Late))
    outside(now=now, may_send=may_send)
    file = write_sweep([{"name": "a"}])
    for _ in range(3):
        summary, _ = go(file, tmp_path / "run")
        if not summary.owed:
            break
    assert summary.owed == 0
    assert False in landings
    assert tables(tmp_path / "run")["judgments"].height == summary.landed == 132
