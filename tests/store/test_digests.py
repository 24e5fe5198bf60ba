"""Bytes are checked before they are decoded, and only those that are read."""

import io

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgerel_ray.core import FileGone, StoreError
from judgerel_ray.store import (
    CHEAP_COLUMNS,
    begin_session,
    end_session,
    read_ledger,
    scan_completions,
    scan_judgments,
    verify_run,
)
from judgerel_ray.store.digests import sections_of
from judgerel_ray.store.losses import read_whole_ledger


@pytest.fixture
def landed(run, land_rows):
    """A run on disk, in memory and in S3, with two commits of judgments."""
    begin_session(run)
    land_rows(run, 1, 1, {"aa": [(0, 30)]})
    land_rows(run, 1, 2, {"bb": [(0, 30)]})
    return run


def flip(run, name, place):
    data = run.files.read(name)
    run.files.write(name, data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])


def place_of(commit, column):
    start, length, _ = commit.data_sections[column][-1]
    return start + length // 2


def test_sections_cover_every_byte_of_any_file():
    nested = pa.table({"a": range(9), "b": [[{"c": 1, "d": "x"}]] * 9, "e": [None] * 9})
    for rows_of_a_group in (9, 2):
        buffer = io.BytesIO()
        pq.write_table(nested, buffer, row_group_size=rows_of_a_group)
        found = sections_of(buffer.getvalue())
        assert set(found) == {"", "a", "b", "e"}
        every = sorted(one for sections in found.values() for one in sections)
        end = 0
        for start, length, _ in every:
            assert start == end
            end = start + length
        assert end == len(buffer.getvalue())
        # Two columns below b, in every row group.
        assert len(found["b"]) == 2 * len(found["a"]) == 2 * -(-9 // rows_of_a_group)


@pytest.mark.alike(3)
@pytest.mark.parametrize("column", ["verdict", "item_id", ""])
def test_a_flipped_bit_of_what_is_read_is_refused(landed, column):
    commit = read_ledger(landed).commits[1]
    flip(landed, commit.data_file, place_of(commit, column))
    with pytest.raises(StoreError, match="a file that landed is altered") as told:
        scan_judgments(landed, columns=CHEAP_COLUMNS)
    assert told.value.where == {
        "path": landed.address(commit.data_file), "commit": commit.name
    }  # fmt: skip
    assert told.value.hint.startswith(
        f"judgerel run SWEEP.toml --out {landed.url} asks its 30 rows again"
    )
    assert scan_judgments(landed, judges=["another"]).collect().is_empty()


def test_what_is_not_read_is_not_checked_and_cannot_be_read(landed):
    commit = read_ledger(landed).commits[0]
    flip(landed, commit.data_file, place_of(commit, "key"))
    frame = scan_judgments(landed, columns=("verdict", "judge"))
    assert frame.collect_schema().names() == ["judge", "verdict"]
    assert frame.collect().height == 60
    with pytest.raises(StoreError, match="is altered"):
        scan_judgments(landed)
    flip(landed, commit.texts_file, 4 + (commit.texts_bytes or 0) // 2)
    with pytest.raises(StoreError, match="is altered") as told:
        scan_completions(landed)
    assert "--ask-lost" in told.value.hint


def test_the_next_session_asks_altered_rows_again(landed, land_rows):
    end_session(landed, 1)
    commit = read_ledger(landed).commits[0]
    flip(landed, commit.data_file, place_of(commit, "seed"))
    assert read_whole_ledger(landed).n_rows == 60  # a look at sizes alone: it is taken often
    session = begin_session(landed)
    assert [one.name for one in session.losses.damaged] == [commit.name]
    assert session.ledger.owed("aa", 30) == ((0, 30),)
    land_rows(landed, 2, 1, {"aa": [(0, 30)]})
    assert scan_judgments(landed).collect().height == 60
    assert {found.level for found in verify_run(landed)} == {"note"}


def test_altered_texts_of_judgments_are_lost_only_where_that_is_asked(landed):
    commit = read_ledger(landed).commits[0]
    flip(landed, commit.texts_file, 100)
    assert begin_session(landed).losses.damaged == ()
    assert len(begin_session(landed, ask_lost=True).losses.damaged) == 1


def test_a_file_that_is_gone_is_another_matter(landed):
    commit = read_ledger(landed).commits[0]
    landed.remove(commit.texts_file)
    with pytest.raises(FileGone, match="is gone"):
        scan_completions(landed)


def test_a_record_that_goes_after_the_end_of_its_session_is_missed(landed):
    commit = read_ledger(landed).commits[0]
    landed.remove(f"commits/{commit.name}")
    assert scan_judgments(landed).collect().height == 30  # nobody has said how many there are
    assert {found.level for found in verify_run(landed)} == {"note"}


def test_a_record_missed(landed):
    end_session(landed, 1)
    commit = read_ledger(landed).commits[0]
    place = f"commits/{commit.name}"
    data = landed.files.read(place)
    landed.remove(place)
    with pytest.raises(
        StoreError, match="a record of what landed is torn, altered or gone"
    ) as told:
        scan_judgments(landed)
    assert told.value.where == {"path": landed.address(place)}
    assert [found.name for found in verify_run(landed) if found.level == "error"] == [place]
    landed.files.write(place, data.replace(b'"rows": 30', b'"rows": 31'))
    with pytest.raises(StoreError, match="is torn, altered or gone"):
        scan_judgments(landed)
    assert begin_session(landed).ledger.owed("aa", 30) == ((0, 30),)
    assert scan_judgments(landed).collect().height == 30


@pytest.mark.slow
def test_a_torn_record_that_a_later_attempt_settled_is_no_matter(landed, land_rows):
    landed.files.write("commits/s0001-l000003-a1.json", b"{")
    with pytest.raises(StoreError, match="is torn, altered or gone"):
        scan_judgments(landed)
    land_rows(landed, 1, 3, {"cc": [(0, 4)]}, attempt=2)
    assert scan_judgments(landed).collect().height == 64


@pytest.mark.parametrize("name", ["session-0002.json", "session-0001.json"])
def test_a_record_of_a_session_that_goes_is_missed(landed, name):
    end_session(landed, 1)
    end_session(landed, begin_session(landed).number)
    if name == "session-0001.json":
        landed.remove("commits/session-0002.json")
        landed.remove("commits/session-0002.ended")
    landed.remove(f"commits/{name}")
    with pytest.raises(StoreError, match="is torn, altered or gone") as told:
        scan_judgments(landed)
    assert told.value.where["path"] == landed.address(f"commits/{name}")


def test_judges_in_folders_are_told_by_their_commits(landed):
    frame = scan_judgments(landed, columns=["judge"]).collect()
    assert frame.schema == {"judge": pl.String}
    assert set(frame["judge"]) == {"j"}
