"""Whole runs of simulated judges, with everything that goes wrong told beforehand.

On real Ray, and again in one process; there an engine that dies only says so.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from judgerel_ray.asking.run.running import RunSummary, run_sweep
from judgerel_ray.config import read_sweep
from judgerel_ray.core import EngineLost, EngineStartError, StoreError
from judgerel_ray.engines import EngineSpec
from judgerel_ray.fleet import JudgeSpec, judge_actor
from judgerel_ray.fleet.cluster import make_actor, result_of
from judgerel_ray.store import (
    RunDirectory,
    read_errors,
    read_ledger,
    scan_completions,
    scan_judgments,
    verify_run,
)
from judgerel_ray.store.status import read_status

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_local")]


@dataclass
class Runner:
    """Runs a sweep file into its directory, again and again."""

    sweep: Path
    out: str
    shown: str = ""

    def __call__(self) -> RunSummary:
        console = Console(file=io.StringIO(), force_terminal=False)
        try:
            return run_sweep(read_sweep(str(self.sweep)), out=self.out, console=console)
        finally:
            self.shown = console.file.getvalue()

    @property
    def run(self) -> RunDirectory:
        return RunDirectory.open(self.out)

    @property
    def texts(self) -> dict[str, str]:
        frame = scan_completions(self.run).collect()
        return dict(zip(frame["key"], frame["text"], strict=True))

    @property
    def judgments(self) -> pl.DataFrame:
        return scan_judgments(self.run).collect()

    @property
    def errors(self) -> pl.DataFrame:
        return read_errors(self.run)

    def check(self) -> None:
        """Every key once, nothing torn, and the numbers told are the numbers there."""
        assert [f for f in verify_run(self.run) if f.level == "error"] == []
        assert self.judgments["key"].n_unique() == self.judgments.height
        status = read_status(self.out)
        assert sum(judge.landed for judge in status.judges) == self.judgments.height
        for judge in status.judges:
            assert judge.owed == judge.asked - judge.landed


@pytest.fixture
def runner(
    write_sweep: Callable[..., Path], tmp_path: Path, anywhere: str
) -> Callable[..., Runner]:
    def make(*judges: dict[str, Any], out: str = "run", **sweep: Any) -> Runner:
        if anywhere == "process":
            judges = tuple(dying_here(one) for one in judges)
        return Runner(sweep=write_sweep(judges, **sweep), out=str(tmp_path / out))

    return make


def judge(name: str = "a", replicas: int = 1, **options: Any) -> dict[str, Any]:
    return {"name": name, "replicas": replicas, "engine_options": options}


def dying_here(one: dict[str, Any]) -> dict[str, Any]:
    """A judge whose engines do not take their process along."""
    options = one["engine_options"]
    dies = {"dies": "raise"} if {"dies_on", "poison"} & options.keys() else {}
    return {**one, "engine_options": {**options, **dies}}


def test_everything_lands_once_and_a_second_run_asks_nothing(runner):
    run = runner(judge("a", replicas=2, latency_ms=5), judge("b"), n_items=12)
    first = run()
    assert (first.landed, first.owed, first.failed) == (264, 0, 0)
    run.check()
    assert run.judgments.group_by("judge").len().sort("judge").rows() == [("a", 132), ("b", 132)]
    assert "a: done, landed 132 of 132" in run.shown
    before = run.texts
    again = run()
    assert (again.asked_now, again.landed, again.session) == (0, 264, 2)
    assert run.texts == before


@pytest.mark.slow
@pytest.mark.usefixtures("all_engines_first")
@pytest.mark.parametrize("anywhere", ["ray"], indirect=True)
def test_an_item_is_asked_of_one_engine(runner):
    run = runner(
        judge("a", replicas=2, tokens_per_s=1000),
        n_items=16,
        replications=40,
        temperatures=(1.0, 0.5),
        lease_seconds=0.5,
    )
    run()
    engines: dict[str, set[int]] = {}
    items = dict(run.judgments.select("key", "item_id").iter_rows())
    for record in read_ledger(run.run).commits:
        frame = pl.read_parquet(run.run.address(record.data_file)).cast({"judge": pl.String})
        for key in frame["key"]:
            engines.setdefault(items[key], set()).add(record.engine["pid"])
    assert len({record.engine["pid"] for record in read_ledger(run.run).commits}) == 2
    split = [item for item, pids in engines.items() if len(pids) > 1]
    assert len(split) <= 2, split  # only at the tail


def test_an_engine_that_dies_is_replaced(runner, tmp_path):
    run = runner(
        judge("a", replicas=2, dies_on=40, dies_once=str(tmp_path / "died"), latency_ms=5),
        n_items=20,
    )
    summary = run()
    assert (summary.owed, summary.failed, summary.problems) == (0, 0, {})
    assert (tmp_path / "died").exists()
    run.check()


@pytest.mark.slow
def test_an_engine_that_says_it_died_is_replaced(runner, tmp_path):
    options = {"dies_on": 60, "dies": "raise", "dies_once": str(tmp_path / "died")}
    run = runner(judge("a", **options), n_items=12)
    assert run().owed == 0
    assert (tmp_path / "died").exists()
    run.check()


@pytest.mark.slow
def test_a_poisonous_item_takes_few_engines_and_nothing_else(runner):
    run = runner(judge("a", poison="q003"), n_items=10, replications=70, temperatures=(1.0, 0.5))
    summary = run()
    assert summary.problems == {}
    assert (summary.landed, summary.owed, summary.failed) == (9 * 140, 140, 140)
    assert set(run.errors["item_id"]) == {"q003"}
    assert set(run.errors["kind"]) == {"quarantined"}
    assert run.errors["key"].n_unique() == run.errors.height == 140
    run.check()
    again = run()
    assert (again.asked_now, again.owed) == (0, 140)
    assert read_ledger(run.run).n_rows == 1260
    run.check()
    # Cured, it lands.
    cured = runner(judge("a"), n_items=10, replications=70, temperatures=(1.0, 0.5))
    assert (cured().asked_now, cured().owed) == (140, 0)


@pytest.mark.slow
def test_a_failed_request_is_tried_again_then_recorded_then_pending(runner):
    run = runner(
        judge("a", fails_on=list(range(1, 100))), n_items=3, replications=5, max_attempts=3
    )
    summary = run()
    assert summary.landed == 0
    assert summary.failed == summary.owed == 18
    assert set(run.errors["kind"]) == {"request"}
    assert run.errors["key"].n_unique() == 18
    cured = runner(judge("a"), n_items=3, replications=5)
    assert (cured().landed, cured().owed) == (18, 0)
    assert read_status(run.out).judges[0].failed == 0


@pytest.mark.slow
def test_one_failure_is_mended_by_asking_again(runner):
    run = runner(judge("a", fails_on=[2, 9]), n_items=6, replications=5)
    summary = run()
    assert (summary.owed, summary.failed) == (0, 0)
    assert run.errors.height == 0


@pytest.mark.slow
def test_an_engine_that_hangs_is_killed_at_its_deadline(runner):
    # Long enough for one that does not hang, on a machine that is busy with others.
    run = runner(judge("a", hangs_on=35), n_items=3, replications=12, deadline_s=6.0)
    summary = run()
    assert summary.landed + summary.failed == summary.asked == 39
    assert summary.owed == summary.failed
    run.check()
    assert summary.landed >= 13


@pytest.mark.slow
def test_a_judge_whose_engine_never_starts_fails_alone(runner):
    run = runner(judge("bad", fails_start=True), judge("good"), n_items=5)
    summary = run()
    assert list(summary.problems) == ["bad"]
    assert "engine did not start" in summary.problems["bad"]
    # Nothing was asked of it, so nothing failed.
    assert (summary.landed, summary.owed, summary.failed) == (55, 55, 0)
    assert run.errors.height == 0
    run.check()
    states = {one.judge: (one.state, one.owed) for one in read_status(run.out).judges}
    assert states["good"] == ("done", 0)
    assert states["bad"][1] == 55
    assert "bad: failed: engine did not start" in run.shown


@pytest.mark.slow
def test_a_run_none_of_whose_judges_starts_is_the_engines_error(runner):
    run = runner(judge("bad", fails_start=True), n_items=3)
    with pytest.raises(EngineStartError, match="did not start"):
        run()
    assert run.errors.height == 0
    status = read_status(run.out)
    assert [judge.owed for judge in status.judges] == [33]
    assert (status.state, status.judges[0].state) == ("incomplete", "failed")
    assert (status.judges[0].error or "").startswith("engine did not start: told not to")


@pytest.mark.slow
@pytest.mark.usefixtures("all_engines_first")
def test_how_fast_it_went_is_told_after_the_end_too(runner):
    run = runner(judge("a", replicas=2, tokens_per_s=2000), n_items=12, replications=20)
    run()
    for _ in range(2):  # the second run asks nothing and forgets nothing
        [told] = read_status(run.out).judges
        assert 0 < told.tokens_per_s < 1.5 * 4000  # how much slower the machine is, nobody knows
        assert told.requests_per_s == pytest.approx(
            told.tokens_per_s * told.landed / told.tokens.generated
        )
        assert told.seconds_left is None
        run()


@pytest.mark.slow
def test_an_engine_that_always_dies_gives_its_judge_up_and_the_others_finish(runner):
    run = runner(
        judge("bad", dies_on=1), judge("good", latency_ms=5), n_items=8, max_engine_losses=1
    )
    summary = run()
    assert list(summary.problems) == ["bad"]
    assert (summary.landed, summary.owed, summary.failed) == (88, 88, 88)
    assert run.errors["key"].n_unique() == 88
    run.check()


@pytest.mark.slow
def test_requests_too_long_land_as_failed_and_are_not_asked_again(runner):
    run = runner({**judge("a"), "max_model_len": 16}, n_items=4)
    summary = run()
    assert (summary.landed, summary.owed) == (44, 0)
    assert set(run.judgments["outcome"]) == {"failed"}
    assert (summary.refused.reasons, summary.refused.now) == ({"prompt_too_long": 44}, 44)
    again = run()
    assert (again.asked_now, again.refused.now) == (0, 0)
    assert again.refused.reasons == {"prompt_too_long": 44}


@pytest.mark.slow
def test_more_judges_than_cpus_take_turns(runner):
    names = ["a", "b", "c"]
    run = runner(*(judge(name) for name in names), n_items=4)
    summary = run()
    assert (summary.landed, summary.owed) == (3 * 44, 0)
    run.check()


@pytest.mark.slow
def test_an_actor_that_sees_another_directory_ends_the_run(runner, monkeypatch):
    from judgerel_ray.asking.run import running

    run = runner(judge("a"), n_items=3)
    monkeypatch.setattr(running, "leave_token", lambda _: "what no file says")
    with pytest.raises(StoreError, match=r"cannot be seen|not the same"):
        run()
    assert run.judgments.height == 0


@pytest.mark.slow
def test_an_engine_that_cannot_be_made_says_why(ray_local, tmp_path):
    """What is wrong stands at the end of all that Ray says."""
    directory = RunDirectory.create(str(tmp_path / "run"))
    engine = EngineSpec(name="a", engine="simulated", model="no-such-distribution")
    spec = JudgeSpec(engine=engine, run=directory, session=1, visibility_token="x")
    handle = make_actor(spec, name="cannot-be-made", pieces=())
    error = result_of(handle.actor.start.remote())
    assert isinstance(error, EngineLost)
    assert "no-such-distribution" in str(error)
    assert len(str(error).splitlines()) == 1
    assert ray_local.is_initialized()


@pytest.mark.slow
def test_progress_is_left_for_others_to_read(runner):
    import json

    run = runner(judge("a", latency_ms=20), n_items=6)
    run()
    content = json.loads(run.run.read_text("progress.json"))
    assert content["state"] == "done"
    shown = content["judges"]["a"]
    assert (shown["asked"], shown["landed"], shown["owed"]) == (66, 66, 0)
    assert shown["tokens"]["generated"] == read_ledger(run.run).tokens.generated
    assert sum(shown["outcomes"].values()) == 66


@pytest.mark.slow
def test_what_an_actor_lands_after_its_lease_was_closed_is_not_read(runner):
    """A zombie: cut off, taken for dead, and still writing."""
    from judgerel_ray.store import close_lease

    run = runner(judge("a"), n_items=3)
    run()
    before = run.texts
    session = read_ledger(run.run).session
    assert close_lease(run.run, session=session, lease=999, attempt=1) is None
    record = read_ledger(run.run).commits[0]
    frame = pl.read_parquet(run.run.address(record.data_file)).cast({"judge": pl.String})
    texts = pl.read_parquet(run.run.address(record.texts_file))
    landed = judge_actor.land(
        run.run,
        session=session,
        lease=999,
        attempt=1,
        judge="a",
        judgments=frame,
        completions=texts,
        conditions=record.conditions,
        tokens=record.tokens,
        seconds=1.0,
    )
    assert not landed
    assert run.texts == before
    run.check()


@pytest.mark.slow
def test_a_run_tells_its_events_as_lines_of_json_where_it_is_asked_to(runner, monkeypatch):
    monkeypatch.setenv("JUDGEREL_LOG", "json")
    run = runner(judge("a"), n_items=2, replications=3)
    summary = run()
    events = [json.loads(line) for line in run.shown.splitlines()]
    assert {line["event"] for line in events} == {"judge", "end"}
    assert [line["landed"] for line in events if line["event"] == "judge"][-1] == summary.landed
    assert events[-1]["state"] == "done"
