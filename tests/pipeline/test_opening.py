"""A run directory that is taken again, after something happened to it."""

import json

import pytest

from judgerel_ray.core import StoreError
from judgerel_ray.pipeline import plan_resolved, read_status
from judgerel_ray.pipeline.opening import open_run
from judgerel_ray.store import begin_session, end_session, verify_run


@pytest.fixture
def taken(sweep, tmp_path):
    """Take the run directory of the sweep; a sweep may say something more."""

    def take(**said):
        resolved = sweep(**said)
        return open_run(resolved, plan_resolved(resolved), str(tmp_path / "run"), None)

    return take


@pytest.fixture
def begun(taken):
    run = taken()
    end_session(run, begin_session(run).number)
    return run


def edited_manifest(run, change):
    manifest = json.loads(run.read_text("manifest.json"))
    change(manifest)
    run.write_text("manifest.json", json.dumps(manifest))


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest["sweep"].update(first_keys="0"),
        lambda manifest: manifest["sweep"]["judge"]["j"].update(attention_backend="x"),
        lambda manifest: manifest.update(sweep={}),
    ],
)
def test_a_run_of_other_code_is_told_as_that(taken, begun, change):
    edited_manifest(begun, change)
    with pytest.raises(StoreError, match="the sweep file is the run's") as told:
        taken()
    assert "judgerel_ray 0.1.0" in str(told.value)
    assert "another sweep" not in str(told.value)


def test_fleet_limits_are_no_part_of_what_is_asked(taken, begun):
    assert taken(more="[fleet]\nmax_attempts = 1\n") == begun


@pytest.mark.usefixtures("begun")
def test_a_changed_sweep_is_still_another_one(taken):
    with pytest.raises(StoreError, match="is of another sweep"):
        taken(asks=("replications = 9",))


@pytest.mark.parametrize("name", ["sweep.toml", "plan.json", "items.parquet"])
@pytest.mark.parametrize("content", [None, b"{", b"\xff"])
def test_files_of_a_run_that_are_lost_are_written_again(taken, begun, name, content):
    before = begun.read_bytes(name)
    begun.remove(name)
    if content is not None:
        begun.write_bytes(name, content)
    [finding] = verify_run(begun)
    assert (finding.level, finding.name) == ("error", name)
    taken()
    assert verify_run(begun) == []
    assert begun.read_bytes(name) == before


def test_a_manifest_begun_anew_takes_the_runs_own_sweep_only(taken, begun):
    begun.write_text("manifest.json", '{"format": "judgerel-run/1"}')
    with pytest.raises(StoreError, match="no manifest says of which sweep"):
        taken(asks=("replications = 9",))
    taken()
    assert "sweep" in json.loads(begun.read_text("manifest.json"))


@pytest.mark.parametrize("plan", ["", "[]", "{", '{"judges": [{}], "sweep": "s"}', "7"])
def test_a_damaged_plan_is_told_by_status(begun, plan):
    begun.write_text("plan.json", plan)
    with pytest.raises(StoreError, match="the plan is damaged") as told:
        read_status(begun.url)
    assert told.value.where == {"path": begun.address("plan.json")}


@pytest.mark.parametrize(
    "progress", ["", "[]", "{", '{"judges": 1}', '{"judges": {"j": 1}}', '{"updated_at": "now"}']
)
def test_damaged_progress_is_history(begun, progress):
    begun.write_text("progress.json", progress)
    assert read_status(begun.url).state == "incomplete"
