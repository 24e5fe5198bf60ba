from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.store import (
    begin_session,
    end_session,
    leave_token,
    read_ledger,
    record_errors,
    verification,
    verify_run,
)
from judgerel_ray.store.digests import sha256
from judgerel_ray.store.parts import encode_parquet
from judgerel_ray.store.records import seal, unseal
from judgerel_ray.tables import Errors


@pytest.fixture
def landed(disk_run, land_rows):
    """A run with two commits, and the first one."""
    begin_session(disk_run)
    land_rows(disk_run, 1, 1, {"aa": [(0, 3)]})
    land_rows(disk_run, 1, 2, {"bb": [(0, 3)]})
    assert verify_run(disk_run) == []
    return disk_run, read_ledger(disk_run).commits[0]


def kinds(run):
    return [(found.level, found.kind) for found in verify_run(run)]


@pytest.mark.parametrize("which", ["data_file", "texts_file"])
def test_a_missing_file(landed, which):
    run, commit = landed
    run.remove(getattr(commit, which))
    assert kinds(run) == [("error", "missing_file")]
    assert verify_run(run)[0].name == getattr(commit, which)


@pytest.mark.parametrize("which", ["data_file", "texts_file"])
def test_an_altered_file(landed, which):
    run, commit = landed
    path = Path(run.address(getattr(commit, which)))
    path.write_bytes(path.read_bytes()[:-6])
    assert kinds(run) == [("error", "wrong_sha256")]
    path.write_bytes(b"")
    assert kinds(run) == [("error", "wrong_sha256")]


def other(kind, path):
    """Something else than a file, in the place of one."""
    Path(path).unlink(missing_ok=True)
    if kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "Is a directory":
        Path(path).mkdir()
    else:
        Path(path).symlink_to(path)


@pytest.mark.parametrize("kind", ["a FIFO", "Is a directory", "Too many levels of symbolic links"])
def test_what_is_no_file_is_named_and_the_rest_is_verified(landed, kind):
    run, first = landed
    is_folder = kind == "Is a directory"
    second = read_ledger(run).commits[1]
    errors = record_errors(run, session=1, judge="j", rows=Errors.create_empty())
    leave_token(run)
    end_session(run, 1)
    run.remove(second.texts_file)
    named = {first.data_file, "commits/token", errors}
    for name in named:
        other(kind, run.address(name))
    other(kind, run.address("data/stray"))
    found = verify_run(run)
    unread = {one.name for one in found if one.kind == "unreadable_file"}
    assert unread == named.union({"data/stray"}) - ({errors, "data/stray"} if is_folder else set())
    rest = {(one.level, one.kind, one.name) for one in found if one.name not in unread}
    assert ("error", "missing_file", second.texts_file) in rest
    assert (("error", "missing_file", errors) in rest) == is_folder
    for name in unread:
        os.rmdir(run.address(name)) if is_folder else run.remove(name)
    assert "unreadable_file" not in {one.kind for one in verify_run(run)}


def test_a_folder_that_is_a_file_leaves_its_files_missing(landed):
    run, commit = landed
    Path(run.address("texts")).rename(run.address("elsewhere"))
    os.mkfifo(run.address("texts"))
    found = {(one.kind, one.name) for one in verify_run(run)}
    assert found > {("unreadable_file", "texts"), ("missing_file", commit.texts_file)}


def rewritten(run, commit, which, change):
    """A file with other contents, and a record that vouches for its bytes."""
    name = getattr(commit, which)
    data = encode_parquet(change(pl.read_parquet(run.address(name), glob=False)))
    run.write_bytes(name, data)
    place = f"commits/{commit.name}"
    record = dict(unseal(run.read_bytes(place), place, run.identity))
    record[f"{which.removesuffix('_file')}_sha256"] = sha256(data)
    run.write_bytes(place, seal(record, place, run.identity))


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("which", "change", "expected"),
    [
        ("data_file", lambda f: f.head(2), {"wrong_rows", "wrong_keys"}),
        ("data_file", lambda f: pl.concat([f, f.head(1)]), {"wrong_rows", "duplicate_rows"}),
        ("data_file", lambda f: f.with_columns(judge=pl.lit("k")), {"wrong_judge"}),
        ("data_file", lambda f: f.with_columns(pl.col("key").reverse() + "0"), {"wrong_keys"}),
        ("data_file", lambda f: f.drop("key"), {"wrong_keys"}),
        ("texts_file", lambda f: f.head(2), {"wrong_rows", "texts_differ"}),
        ("texts_file", lambda f: f.with_columns(pl.col("key") + "0"), {"texts_differ"}),
    ],
)  # fmt: skip
def test_other_contents(landed, which, change, expected):
    run, commit = landed
    rewritten(run, commit, which, change)
    found = kinds(run)
    assert {kind for _, kind in found} == expected
    assert {level for level, _ in found} == {"error"}


def test_a_record_altered_or_gone(landed):
    run, commit = landed
    path = Path(run.address(f"commits/{commit.name}"))
    path.write_text(path.read_text().replace('"rows": 3', '"rows": 4'))
    assert kinds(run)[0] == ("error", "broken_record")
    assert "torn or altered" in verify_run(run)[0].message
    path.write_text(path.read_text().replace('"rows": 4', '"rows": 3'))
    begin_session(run)
    path.unlink()
    assert "gone" in verify_run(run)[0].message


OTHER_RECORDS = ("session-0001.json", "session-0001.ended", "s0001-l000001-a1.json", "token")


@pytest.fixture
def superseded(landed):
    """A run whose first session, and a commit of it, count no longer."""
    run, commit = landed
    end_session(run, 1)
    begin_session(run, strays=lambda _: {commit.name})
    leave_token(run)
    end_session(run, 2)
    assert {level for level, _ in kinds(run)} == {"note"}
    return run


@pytest.mark.alike(6)
@pytest.mark.parametrize("name", OTHER_RECORDS)
@pytest.mark.parametrize("place", [0, 0.3, 0.6, 1])
def test_every_byte_of_what_counts_no_longer_is_vouched_for(superseded, name, place):
    data = superseded.read_bytes(f"commits/{name}")
    at = min(len(data) - 1, int(place * len(data)))
    for left in (data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :], data[:at]):
        superseded.write_bytes(f"commits/{name}", left)
        errors = [one.name for one in verify_run(superseded) if one.level == "error"]
        assert errors == [f"commits/{name}"]


@pytest.mark.parametrize("name", OTHER_RECORDS[:3])
def test_what_a_later_session_went_on_without_is_no_error_any_more(superseded, name):
    data = superseded.read_bytes(f"commits/{name}")
    superseded.write_bytes(f"commits/{name}", data[:-5])
    assert ("error", "broken_record") in kinds(superseded)
    end_session(superseded, begin_session(superseded).number)
    assert {level for level, _ in kinds(superseded)} == {"note"}
    [message] = [one.message for one in verify_run(superseded) if one.name == f"commits/{name}"]
    assert message == "torn or altered; session 3 went on without it"


@pytest.mark.parametrize("name", ["progress.json", "errors/judge=j/x.parquet"])
def test_what_was_there_when_a_session_ended_is_missed_until_another_ends(superseded, name):
    superseded.write_bytes(name, b"{}")
    end_session(superseded, 2)
    superseded.remove(name)
    assert [one.name for one in verify_run(superseded) if one.level == "error"] == [name]
    end_session(superseded, begin_session(superseded).number)
    assert {level for level, _ in kinds(superseded)} == {"note"}


def test_the_record_of_an_earlier_session_is_missed(superseded):
    superseded.remove("commits/session-0001.json")
    assert kinds(superseded).count(("error", "missing_file")) == 1
    [missing] = [one for one in verify_run(superseded) if one.kind == "missing_file"]
    assert (missing.level, missing.name) == ("error", "commits/session-0001.json")
    end_session(superseded, begin_session(superseded).number)
    assert {level for level, _ in kinds(superseded)} == {"note"}


def test_notes_are_not_errors(landed):
    run, _ = landed
    run.write_bytes("data/judge=j/part-stray.parquet", b"x")
    run.write_bytes("commits/.s0001-l000009-a1.json.ab.tmp", b"x")
    assert kinds(run) == [("note", "orphan"), ("note", "orphan")]


@pytest.mark.parametrize("which", ["errors", "progress"])
def test_files_without_numbers_that_are_gone_are_missed_until_a_run_went_on(disk_run, which):
    begin_session(disk_run)
    errors = record_errors(disk_run, session=1, judge="j", rows=Errors.create_empty())
    disk_run.write_bytes("progress.json", seal({}, "progress.json", disk_run.identity))
    end_session(disk_run, 1)
    end_session(disk_run, begin_session(disk_run).number)
    assert verify_run(disk_run) == []
    gone = {"errors": errors, "progress": "progress.json"}[which]
    disk_run.remove(gone)
    (found,) = verify_run(disk_run)
    assert (found.level, found.kind, found.name) == ("error", "missing_file", gone)
    end_session(disk_run, begin_session(disk_run).number)
    assert verify_run(disk_run) == []


NO_RECORDS = ("missing_records", "commits")
NO_SESSION = ("broken_record", "commits/session-0001.json")


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        ("*", [NO_RECORDS]),
        ("session*", [NO_SESSION, NO_RECORDS]),
        ("s0*", [("broken_record", f"commits/s0001-l{n:06d}-a1.json") for n in range(1, 10)]),
        ("s0001-l000004-a1.json", [("broken_record", "commits/s0001-l000004-a1.json")]),
    ],
)
def test_records_that_are_gone_are_an_error(disk_run, land_rows, gone, expected):
    begin_session(disk_run)
    for lease in range(1, 10):
        land_rows(disk_run, 1, lease, {f"c{lease}": [(0, 1)]})
    end_session(disk_run, 1)
    for path in Path(disk_run.address("commits")).glob(gone):
        path.unlink()
    errors = [(one.kind, one.name) for one in verify_run(disk_run) if one.level == "error"]
    assert errors == expected


def test_few_files_without_a_record_are_what_a_killed_driver_leaves(disk_run, land_rows):
    begin_session(disk_run)
    for lease in range(1, 9):
        land_rows(disk_run, 1, lease, {f"c{lease}": [(0, 1)]})
        disk_run.remove(f"commits/s0001-l{lease:06d}-a1.json")
    end_session(disk_run, 1)
    assert {one.level for one in verify_run(disk_run)} == {"note"}


def test_files_without_a_record_are_no_error_while_a_driver_is_at_work(
    disk_run, land_rows, monkeypatch
):
    begin_session(disk_run)
    for lease in range(1, 10):
        land_rows(disk_run, 1, lease, {f"c{lease}": [(0, 1)]})
        disk_run.remove(f"commits/s0001-l{lease:06d}-a1.json")
    assert "error" in {one.level for one in verify_run(disk_run)}
    monkeypatch.setattr(verification, "live_session", lambda _run: "session 1")
    assert {one.level for one in verify_run(disk_run)} == {"note"}
