"""Judges on GPUs that are only counted: who runs when, and who sees which device."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from judgerel_ray.asking.run import running
from judgerel_ray.asking.run.running import RunSummary, run_sweep
from judgerel_ray.config import read_sweep
from judgerel_ray.core import EngineStartError
from judgerel_ray.fleet import Board, JudgeState
from judgerel_ray.store import CommitRecord, RunDirectory, read_errors, read_ledger, verify_run

pytestmark = [pytest.mark.ray, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def four_gpus() -> Iterator[None]:
    """A local Ray that believes in four GPUs; the shared one is put away."""
    import ray

    ray.shutdown()
    ray.init(address="local", num_cpus=2, num_gpus=4, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


class History:
    """A display that remembers what it was shown."""

    def __init__(self, _: Console) -> None:
        self.seen: list[dict[str, tuple[JudgeState, int]]] = []

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, board: Board, *, last: bool = False) -> None:
        now = {name: (judge.state, judge.actors) for name, judge in board.judges.items()}
        if last or not self.seen or self.seen[-1] != now:
            self.seen.append(now)


@pytest.fixture
def history(monkeypatch) -> History:
    """What the run showed, from first to last."""
    told = History(Console())
    monkeypatch.setattr(running, "display_on", lambda _: told)
    return told


@pytest.fixture
def run(write_sweep: Callable[..., Path], tmp_path: Path):
    """Run judges into ``tmp_path / "run"``."""

    def go(*judges: dict[str, Any], **sweep: Any) -> RunSummary:
        path = write_sweep(judges, **sweep)
        console = Console(file=io.StringIO())
        return run_sweep(read_sweep(str(path)), out=str(tmp_path / "run"), console=console)

    return go


@pytest.fixture
def commits(tmp_path: Path) -> Callable[[str], list[CommitRecord]]:
    """A judge's commits in the order they were written."""

    def read(judge: str) -> list[CommitRecord]:
        directory = RunDirectory.open(str(tmp_path / "run"))
        assert [f for f in verify_run(directory) if f.level == "error"] == []
        mine = [one for one in read_ledger(directory).commits if one.judge == judge]
        return sorted(mine, key=lambda one: one.written_at)

    return read


def judge(name: str, *, gpus: int = 1, replicas: int | str = 2, speed: int = 3000) -> dict:
    return {
        "name": name,
        "gpus": gpus,
        "replicas": replicas,
        "engine_options": {"tokens_per_s": speed},
    }


def devices(records: list[CommitRecord]) -> dict[int, str]:
    """What every engine of a judge saw, by process."""
    return {one.engine["pid"]: one.engine["visible_devices"] for one in records}


@pytest.mark.usefixtures("all_engines_first")
def test_three_judges_of_two_gpus_share_four(run, commits, history):
    summary = run(judge("a"), judge("b"), judge("c"), n_items=50, replications=100)
    assert (summary.owed, summary.failed) == (0, 0)
    assert all(sum(actors for _, actors in now.values()) <= 4 for now in history.seen)
    running_now = [
        {name for name, (state, _) in now.items() if state is JudgeState.RUNNING}
        for now in history.seen
    ]
    assert {"a", "b"} in running_now
    assert all(len(names) <= 2 for names in running_now)
    first_done = next(
        i for i, now in enumerate(history.seen) if JudgeState.DONE in (now["a"][0], now["b"][0])
    )
    assert all(now["c"][0] is JudgeState.WAITING for now in history.seen[:first_done])
    a, b, c = (commits(name) for name in "abc")
    together = devices(a) | devices(b)
    assert sorted(together.values()) == ["0", "1", "2", "3"]
    assert len(together) == 4
    assert sorted(map(len, devices(c).values())) == [1, 1]
    assert len(set(devices(c).values())) == 2
    assert a[0].written_at < b[-1].written_at
    assert b[0].written_at < a[-1].written_at
    assert c[0].written_at > min(a[-1].written_at, b[-1].written_at)


@pytest.mark.usefixtures("all_engines_first")
def test_auto_takes_every_gpu_and_an_engine_of_two_sees_two(run, commits):
    summary = run(judge("two", gpus=2, replicas="auto", speed=1000), n_items=30, replications=60)
    assert summary.owed == 0
    seen = devices(commits("two"))
    assert len(seen) == 2
    assert sorted("".join(seen.values()).replace(",", "")) == ["0", "1", "2", "3"]


def test_a_judge_too_large_for_the_machine_leaves_the_others_running(run, commits, tmp_path):
    summary = run(judge("big", gpus=8, replicas=1), judge("a", replicas=1), n_items=4)
    assert list(summary.problems) == ["big"]
    assert "judge needs 8 GPUs, this machine has 4" in summary.problems["big"]
    assert (summary.landed, summary.owed) == (44, 44)
    # Nothing was asked of it, so nothing failed.
    assert read_errors(RunDirectory.open(str(tmp_path / "run"))).height == summary.failed == 0
    assert commits("big") == []


def test_a_judge_too_large_for_the_machine_alone_is_one_error(run):
    with pytest.raises(EngineStartError, match="needs 8 GPUs, this machine has 4") as told:
        run(judge("big", gpus=8, replicas=1), n_items=4)
    assert len(str(told.value).splitlines()) == 1


def test_an_engine_on_the_cpu_sees_no_gpu_and_runs_beside_those_that_do(run, commits):
    summary = run(judge("gpus", gpus=4, replicas=1), judge("cpu", gpus=0, replicas=1), n_items=8)
    assert summary.owed == 0
    assert list(devices(commits("gpus")).values()) == ["0,1,2,3"]
    assert not any(devices(commits("cpu")).values())
