"""A run directory that is taken again, after something happened to it."""

import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO

import polars as pl
import pytest

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.run.opening import _items_bytes, prepare_run
from judgerel_ray.core import Item, StoreError, SweepError
from judgerel_ray.reporting.standing import plan_text
from judgerel_ray.store import (
    RunDirectory,
    begin_session,
    end_session,
    read_manifest,
    sessions,
    verify_run,
    write_manifest,
)
from judgerel_ray.store.records import seal
from judgerel_ray.store.status import read_status
from judgerel_ray.tables import frame_to_items
from tests.opening import coefficients as coefficients_of
from tests.opening import snapshot


@pytest.fixture
def taken(sweep, tmp_path):
    """Take the run directory of the sweep; a sweep may say something more."""

    def take(**said):
        resolved = sweep(**said)
        return prepare_run(resolved, plan_resolved(resolved), str(tmp_path / "run"))

    return take


@pytest.fixture
def begun(taken):
    run = taken()
    end_session(run, begin_session(run).number)
    return run


def edited_manifest(run, change):
    manifest = read_manifest(run)
    change(manifest)
    write_manifest(run, manifest)


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


@pytest.fixture
def landed(sweep, driver_of):
    """The run of the sweep, with all its rows."""
    driver = driver_of(sweep())
    driver.go("word", waves=1)
    return driver.run


@pytest.mark.usefixtures("landed")
def test_a_changed_sweep_is_still_another_one(taken):
    with pytest.raises(StoreError, match="is of another sweep"):
        taken(asks=("replications = 9",))


def test_where_nothing_landed_a_sweep_may_be_put_right(taken, begun):
    run = taken(asks=("replications = 9",), judges=(("better", ""),))
    assert run == begun
    assert verify_run(run) == []
    [judge] = read_status(run.url).judges
    assert (judge.judge, judge.owed) == ("better", 27)
    assert "better" in run.read_text("sweep.toml")
    assert taken(asks=("replications = 9",), judges=(("better", ""),)) == begun


@pytest.mark.parametrize("name", ["data/judge=j/part-x.parquet", "errors/judge=j/errors-s0001.x",
                                  "commits/s0001-l000001-a1.json"])  # fmt: skip
def test_whatever_is_left_of_a_run_keeps_its_sweep(taken, begun, name):
    begun.write_bytes(name, b"x")
    with pytest.raises(StoreError, match="is of another sweep"):
        taken(asks=("replications = 9",))


@pytest.mark.alike(3)
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


def other_gold(data):
    """The same items, one of them with another gold."""
    items = pl.read_parquet(data).with_columns(gold=pl.col("gold").reverse())
    buffer = io.BytesIO()
    items.write_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sweep.toml", lambda data: data + b"[tolerance]\nflip_rate = 0.9\n"),
        ("plan.json", lambda data: data.replace(b'"requests": ', b'"requests": 1')),
        ("items.parquet", other_gold),
    ],
)
def test_files_of_a_run_that_are_altered_and_whole_make_no_number(taken, landed, name, change):
    """Each parses, and gave other numbers, or another state of the run, without a word."""
    data = landed.read_bytes(name)
    landed.write_bytes(name, change(data))
    assert landed.files.read(name) != data
    [finding] = verify_run(landed)
    assert (finding.level, finding.kind, finding.name) == ("error", "wrong_sha256", name)
    with pytest.raises(StoreError, match=f"{name} of the run is altered"):
        (read_status if name == "plan.json" else snapshot)(landed.url)
    if name != "plan.json":
        assert any(note.startswith(f"{name} is altered") for note in read_status(landed.url).notes)
    taken()
    assert verify_run(landed) == []
    assert landed.read_bytes(name) == data


def test_altered_items_are_told_once_and_not_decoded(landed):
    """Polars may print a panic of bytes that nothing vouches for, or end the process."""
    items = pl.read_parquet(landed.read_bytes("items.parquet"))
    buffer = io.BytesIO()
    items.with_columns(item_id=pl.col("item_id") + "x").write_parquet(buffer)
    landed.write_bytes("items.parquet", buffer.getvalue())
    assert [(one.kind, one.name) for one in verify_run(landed)] == [
        ("wrong_sha256", "items.parquet")
    ]


def test_a_manifest_begun_anew_takes_the_runs_own_sweep_only(taken, landed):
    begun = landed
    begun.write_text("manifest.json", '{"format": "judgerel-run/2"}')
    with pytest.raises(StoreError, match="no manifest says of which sweep"):
        taken(asks=("replications = 9",))
    taken()
    assert "sweep" in json.loads(begun.read_text("manifest.json"))


@pytest.mark.parametrize("plan", ["", "[]", "{", '{"judges": [{}], "sweep": "s"}', "7"])
def test_a_damaged_plan_is_told_by_status(begun, plan):
    begun.write_text("plan.json", plan)
    with pytest.raises(StoreError, match=r"plan\.json of the run is altered"):
        read_status(begun.url)
    edited_manifest(begun, lambda manifest: manifest.pop("files"))  # as earlier versions began it
    with pytest.raises(StoreError, match="the plan is damaged") as told:
        read_status(begun.url)
    assert told.value.where == {"path": begun.address("plan.json")}


@pytest.mark.parametrize(
    "progress",
    [
        {"judges": 1},
        {"judges": None, "state": ["running"]},
        {"judges": {"j": 1}},
        {"judges": {"j": {"state": None, "asked": "4", "error": 4}}},
        {"judges": {"j": {"state": "running", "tokens_per_s": 10**400, "seconds_left": "soon"}}},
        {"updated_at": "now"},
        {"updated_at": 10**400},
        {"updated_at": [{}]},
    ],
)
@pytest.mark.parametrize("live", [False, True])
def test_progress_that_holds_something_else_is_history(begun, progress, live, monkeypatch):
    """Its seal holds, so that it is parsed: another version may have written it."""
    name, now = "progress.json", datetime.now(UTC).isoformat()
    content = {"state": "running", "updated_at": now, **progress}
    begun.write_bytes(name, seal(content, name, begun.identity))
    if live:
        begin_session(begun)
        monkeypatch.setattr(sessions, "boot_name", lambda: "another host")
    status = read_status(begun.url)
    is_running = live and not {"state", "updated_at"} & progress.keys()
    assert status.state == ("running" if is_running else "incomplete")
    assert [(one.landed, one.seconds_left) for one in status.judges] == [(0, None)]
    assert json.loads(json.dumps(status.as_json()))


@pytest.mark.parametrize("progress", ["", "[]", "{", '{"judges": {"j": 1}}'])
def test_damaged_progress_is_told_by_verify_and_history_to_status(begun, progress):
    begun.write_text("progress.json", progress)
    assert read_status(begun.url).state == "incomplete"
    assert [(one.kind, one.name) for one in verify_run(begun)] == [
        ("wrong_sha256", "progress.json")
    ]


def test_tolerances_are_free_to_change_and_the_run_keeps_the_last(taken, begun):
    manifest = read_manifest(begun)
    assert taken(more="[tolerance]\nflip_rate = 0.1\n") == begun
    assert snapshot(begun.url, empty=True).tolerance == {"flip_rate": 0.1}
    assert taken(more="[tolerance]\nflip_rate = 0.2\n") == begun
    assert snapshot(begun.url, empty=True).tolerance == {"flip_rate": 0.2}
    now = read_manifest(begun)
    assert {**now, "files": None} == {**manifest, "files": None}
    assert verify_run(begun) == []


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("kripendorff_alpha = 0.6", "kripendorff_alpha is no coefficient. Try: krippendorff_alpha"),
        ("zz = 0.6", "tolerance.zz is no coefficient. Try: one of krippendorff_alpha"),
        ('flip_rate = "0.6"', "tolerance.flip_rate must be a number, got '0.6'"),
        ("flip_rate = inf", "tolerance.flip_rate must be a finite number, got inf"),
    ],
)
def test_a_wrong_tolerance_is_refused_before_anything_is_asked(sweep, said, line):
    with pytest.raises(SweepError) as refused:
        sweep(more=f"[tolerance]\n{said}\n")
    assert line in str(refused.value)


def test_plan_prints_tolerances(sweep):
    resolved = sweep(more="[tolerance]\nflip_rate = 0.1\n")
    text = plan_text(plan_resolved(resolved).as_json(), resolved.sweep.model_dump(mode="json"))
    assert "[tolerance]\n" in text.replace("  ", "")
    assert "flip_rate = 0.1" in text


def test_a_run_that_is_being_made_is_not_told_to_have_lost_anything(taken, tmp_path, monkeypatch):
    """What `reduce` says at every moment between the first file of a run and the last."""
    said = []
    plain = RunDirectory.write_bytes

    def looked(run, name, data):
        if not said or name != "manifest.json":
            with pytest.raises((StoreError, SweepError)) as told:
                coefficients_of(str(tmp_path / "run"))
            said.append((name, told.value.problem))
        plain(run, name, data)

    monkeypatch.setattr(RunDirectory, "write_bytes", looked)
    taken()
    not_begun = "the run has not begun: {} is not there yet"
    assert said == [
        ("sweep.toml", not_begun.format("sweep.toml")),
        ("plan.json", not_begun.format("items.parquet")),
        ("items.parquet", not_begun.format("items.parquet")),
    ]


def test_a_run_that_had_begun_has_lost_its_sweep(begun):
    begun.remove("sweep.toml")
    with pytest.raises(StoreError, match=r"sweep\.toml of the run is gone"):
        coefficients_of(begun.url)


def test_items_of_two_benchmarks_may_have_one_name():
    """A run's file has them by benchmark; names are unique within each."""
    one = Item(item_id="q", benchmark="b", category="c", question="?")
    items = (one, replace(one, benchmark="a"), replace(one, item_id="r"))
    stored = frame_to_items(pl.read_parquet(BytesIO(_items_bytes(items))))
    assert stored == (items[0], items[2], items[1])
