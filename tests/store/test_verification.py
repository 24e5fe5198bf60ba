from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.store import begin_session, end_session, read_ledger, verification, verify_run
from judgerel_ray.store.digests import sha256
from judgerel_ray.store.parts import encode_parquet
from judgerel_ray.store.records import seal, unseal


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


def rewritten(run, commit, which, change):
    """A file with other contents, and a record that vouches for its bytes."""
    name = getattr(commit, which)
    data = encode_parquet(change(pl.read_parquet(run.address(name), glob=False)))
    run.write_bytes(name, data)
    record = dict(unseal(run.read_bytes(f"commits/{commit.name}")))
    record[f"{which.removesuffix('_file')}_sha256"] = sha256(data)
    run.write_bytes(f"commits/{commit.name}", seal(record))


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


def test_notes_are_not_errors(landed):
    run, _ = landed
    run.write_bytes("data/judge=j/part-stray.parquet", b"x")
    run.write_bytes("commits/.s0001-l000009-a1.json.ab.tmp", b"x")
    assert kinds(run) == [("note", "orphan"), ("note", "orphan")]


NO_RECORDS = ("missing_records", "commits")
NO_SESSION = ("broken_record", "commits/session-0001.json")


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
