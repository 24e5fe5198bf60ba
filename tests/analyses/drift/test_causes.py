"""What a refresh of a series calls moved, and what it does not."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from judgerel_ray.asking import refreshing
from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run.opening import open_run
from judgerel_ray.asking.run.running import RunSummary
from tests.reporting.test_refresh import World


@pytest.fixture
def world(tmp_path, driver_of, monkeypatch):
    made = World(tmp_path, driver_of)
    monkeypatch.setattr(refreshing, "run_sweep", made.run_sweep)
    return made


def edit(world, name, old, new, *, suffix="toml"):
    file = world.folder / f"{name}.{suffix}"
    file.write_text(file.read_text().replace(old, new))


@pytest.mark.parametrize("sweeps", [["anchors", "system"], ["system"]])
def test_a_judge_of_another_name_is_compared_with_nobody(world, sweeps):
    world.go()
    for sweep in sweeps:
        edit(world, sweep, 'name = "j"', 'name = "fresh"')
    found = world.go()
    assert (found.state, found.alarm, found.summary["warnings"]) == ("done", False, [])
    assert [one.state for one in world.directory.refreshes()] == ["done", "done"]
    history = pl.read_parquet(world.folder / "out/history.parquet")
    fresh = history.filter(judge="fresh", measure="percent_agreement")
    assert fresh.height == len(sweeps)
    assert fresh["difference"].null_count() == len(sweeps)


def test_a_run_in_which_nothing_landed_is_closed_as_partial(world, monkeypatch):
    world.series("anchor_every_h = 20\n")

    def away(sweep, *, out, address, console):  # noqa: ARG001  as the real one has them
        resolved = resolve(sweep)
        open_run(resolved, plan_resolved(resolved), out, None)
        return RunSummary(run=out, session=1, asked=9, landed=0, owed=9, failed=0, asked_now=0,
                          problems={})  # fmt: skip

    monkeypatch.setattr(refreshing, "run_sweep", away)
    assert world.go().state == "pending"
    later = datetime.now(UTC) + timedelta(hours=21)
    monkeypatch.setattr(refreshing, "_now", lambda: later)
    found = world.go()
    assert found.state == "partial"
    assert found.summary["warnings"][0].startswith("anchors: agreement is unknown: no judgments")
