"""Files of judgments that no record names."""

from __future__ import annotations

import polars as pl
import pytest

from judgerel_ray.asking.run.lost import loss_lines
from judgerel_ray.store import begin_session, close_lease, read_ledger, read_losses, verify_run
from judgerel_ray.store import losses as leftovers
from judgerel_ray.store.generations import land_generation, newer_readings
from judgerel_ray.store.ledger import look_at_commits
from judgerel_ray.store.losses import estimate_rows, torn_parts, unnamed_parts


@pytest.fixture
def landed(disk_run, land_rows):
    begin_session(disk_run)
    for lease in range(1, 5):
        land_rows(disk_run, 1, lease, {f"c{lease}": [(0, lease)]})
    return disk_run


def left_of(run):
    look, sizes = look_at_commits(run), run.files.sizes("data")
    return [
        [int(name.split("-l")[1][:6]) for name in found]
        for found in (torn_parts(look, sizes), unnamed_parts(look, sizes))
    ]


def record(lease, session=1):
    return f"commits/s{session:04d}-l{lease:06d}-a1.json"


def test_torn_records_and_records_that_are_gone(landed):
    assert left_of(landed) == [[], []]
    landed.write_text(record(2), "x")
    landed.remove(record(3))
    assert left_of(landed) == [[2], [3]]


def test_what_was_accepted_and_is_gone_is_torn(landed):
    begin_session(landed)
    landed.remove(record(3))
    assert left_of(landed) == [[3], []]


def test_what_a_session_went_on_without_is_none(landed):
    landed.remove(record(3))
    landed.write_text(record(2), "x")
    begin_session(landed)
    assert left_of(landed) == [[], []]


def test_all_of_a_session_whose_record_is_gone(landed, land_rows):
    begin_session(landed)
    land_rows(landed, 2, 1, {"d": [(0, 1)]})
    land_rows(landed, 2, 2, {"e": [(0, 1)]})
    landed.remove("commits/session-0002.json")
    landed.remove(record(2, session=2))
    assert left_of(landed) == [[], [1, 2]]
    assert begin_session(landed).number == 3


@pytest.mark.parametrize("other", ["closed", "landed"])
def test_attempts_that_were_closed_or_landed_otherwise_are_none(landed, land_rows, other):
    landed.remove(record(3))
    if other == "closed":
        close_lease(landed, session=1, lease=3, attempt=1)
    else:
        land_rows(landed, 1, 3, {"c3": [(0, 3)]}, attempt=2)
    assert left_of(landed) == [[], []]


def test_rows_are_counted_in_some_files_and_stand_for_the_rest(landed, monkeypatch):
    parts = landed.files.sizes("data")
    assert estimate_rows(landed, parts) == 1 + 2 + 3 + 4
    monkeypatch.setattr(leftovers, "_OPENED", 2)
    assert estimate_rows(landed, dict.fromkeys(parts, 100)) == (1 + 3) * 2
    first, *others = sorted(parts)
    landed.write_text(first, "x")
    assert estimate_rows(landed, dict.fromkeys(parts, 100)) == 3 * 4
    for name in others:
        landed.write_text(name, "x")
    assert estimate_rows(landed, parts) == 0


def test_files_of_a_reading_that_no_record_has_are_announced(landed):
    commit = read_ledger(landed).commits[0]
    frame = pl.read_parquet(landed.address(commit.data_file), glob=False)
    readings = [(commit, frame.with_columns(pl.col("judge").cast(pl.String)))]
    for number in (1, 2):
        assert land_generation(landed, readings, number=number, reader="r", version="1")
    assert newer_readings(landed) == {}
    landed.remove("commits/generation-0002.json")
    (name,) = newer_readings(landed)
    assert name.startswith("generations/judge=j/0002-")
    (found,) = [one for one in verify_run(landed) if one.name == name]
    assert (found.level, "judgerel rejudge" in found.message) == ("note", True)
    (line,) = loss_lines(read_losses(landed))
    assert line.startswith("left: 1 files in generations/ are newer than every reading")
    assert land_generation(landed, readings, number=2, reader="r", version="1")
    assert read_losses(landed).readings == {}
