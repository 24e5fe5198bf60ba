from __future__ import annotations

import io
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from judgerel_ray.core import StoreError, TableError, TokenCounts
from judgerel_ray.store import (
    CommitRecord,
    RunDirectory,
    begin_session,
    close_lease,
    files,
    land,
    read_ledger,
    scan_completions,
    scan_judgments,
    verify_run,
)
from judgerel_ray.tables import Judgments

THREE = {"aa": [(0, 3)]}


def parquet_files(run):
    return [*run.files.sizes("data"), *run.files.sizes("texts")]


def test_landing_writes_rows_and_a_record(run, land_rows, rows):
    session = begin_session(run).number
    conditions = {"aa": [(0, 3)], "bb": [(4, 2), (9, 1)]}
    assert land_rows(run, session, 12, conditions, judge="meta/Llama 3%", mark="x") is True
    record = close_lease(run, session=session, lease=12, attempt=1)
    assert isinstance(record, CommitRecord)
    assert record.rows == 6
    assert record.conditions == {"aa": ((0, 3),), "bb": ((4, 2), (9, 1))}
    assert record.tokens == TokenCounts(prompt=10, cached=4, generated=6)
    assert (record.seconds, record.engine) == (2.0, {"device": "none"})
    assert record.outcomes == {"scored": 6}
    landed = scan_judgments(run).collect()
    made = rows(conditions=conditions, judge="meta/Llama 3%", mark="x")
    assert landed.equals(made.judgments().sort("item_id", "temperature", "replication"))
    texts = scan_completions(run).collect()
    assert texts["key"].to_list() == landed["key"].to_list()
    assert texts.sort("key").equals(made.completions().sort("key"))
    assert verify_run(run) == []


def plain_readers(root):
    """What people read a folder of parts with, by name: each gives (judges, keys, columns)."""
    import pyarrow.dataset as ds

    def arrow(table):
        return set(table["judge"].to_pylist()), set(table["key"].to_pylist()), table.column_names

    def polars(frame):
        return set(frame["judge"].cast(pl.String)), set(frame["key"]), frame.columns

    pandas = pytest.importorskip("pandas")

    def framed(frame):
        return set(frame["judge"].astype(str)), set(frame["key"]), list(frame.columns)

    hive = ds.HivePartitioning.discover(infer_dictionary=True)
    return {
        "pandas": lambda: framed(pandas.read_parquet(root)),
        "pyarrow table": lambda: arrow(pq.read_table(root)),
        "pyarrow dataset": lambda: arrow(ds.dataset(root).to_table()),
        "pyarrow hive": lambda: arrow(ds.dataset(root, partitioning=hive).to_table()),
        "polars": lambda: polars(pl.read_parquet(root)),
        "polars hive": lambda: polars(pl.read_parquet(root, hive_partitioning=True)),
        "polars no hive": lambda: polars(pl.read_parquet(root, hive_partitioning=False)),
        "polars glob": lambda: polars(pl.read_parquet(f"{root}/**/*.parquet")),
    }


def test_a_judge_with_a_number_for_a_name_is_read_without_partitioning(disk_run, land_rows):
    """As a folder's name pyarrow takes it for an integer: docs/damaged-runs.md says what to do."""
    land_rows(disk_run, begin_session(disk_run).number, 1, {"aa": [(0, 3)]}, judge="8")
    readers = plain_readers(Path(disk_run.address("data")))
    for name in ("pyarrow dataset", "polars", "polars hive", "polars glob"):
        assert readers[name]()[0] == {"8"}, name


def test_plain_readers_read_the_folder_of_judgments(disk_run, land_rows):
    session = begin_session(disk_run).number
    judges = ["meta/Llama 3%", "other"]
    for lease, judge in enumerate(judges):
        land_rows(disk_run, session, lease, {f"c{lease}": [(0, 3)]}, judge=judge)
    landed = scan_judgments(disk_run).collect()
    for reader, read in plain_readers(Path(disk_run.address("data"))).items():
        found, keys, columns = read()
        assert (found, keys) == (set(judges), set(landed["key"])), reader
        assert sorted(columns) == sorted(landed.columns), reader


def test_parts_of_the_release_before_are_read_beside_new_ones(run, land_rows, monkeypatch):
    """Parts once held the judge as plain text."""
    from judgerel_ray.store import parts

    session = begin_session(run).number
    with monkeypatch.context() as before:
        before.setattr(parts, "foldered", lambda rows: rows)
        land_rows(run, session, 1, {"aa": [(0, 3)]})
    land_rows(run, session, 2, {"bb": [(0, 3)]})
    rows = scan_judgments(run)
    assert rows.collect().schema == Judgments.create_empty().schema
    assert rows.filter(pl.col("judge") == "j").collect().height == 6


def test_files_are_zstd_with_statistics(disk_run, land_rows):
    land_rows(disk_run, begin_session(disk_run).number, 1, {"aa": [(0, 3)]})
    for name in parquet_files(disk_run):
        column = (
            pq.ParquetFile(io.BytesIO(disk_run.read_bytes(name))).metadata.row_group(0).column(0)
        )
        assert column.compression == "ZSTD"
        assert column.statistics.has_min_max


def test_a_second_landing_changes_nothing(run, land_rows):
    session = begin_session(run).number
    assert land_rows(run, session, 1, {"aa": [(0, 3)]}, mark="first") is True
    landed = parquet_files(run)
    assert land_rows(run, session, 1, {"aa": [(0, 3)]}, mark="second") is False
    assert parquet_files(run) == landed
    assert set(scan_judgments(run).collect()["label"]) == {"first"}


def test_a_closed_attempt_never_lands_and_the_next_does(run, land_rows):
    session = begin_session(run).number
    assert close_lease(run, session=session, lease=1, attempt=1) is None
    assert close_lease(run, session=session, lease=1, attempt=1) is None
    assert land_rows(run, session, 1, {"aa": [(0, 3)]}, mark="late") is False
    assert parquet_files(run) == []
    assert read_ledger(run).owed("aa", 3) == ((0, 3),)
    assert land_rows(run, session, 1, {"aa": [(0, 3)]}, attempt=2, mark="next") is True
    assert set(scan_judgments(run).collect()["label"]) == {"next"}


def test_a_lost_answer_to_the_commit_is_seen_as_ours(disk_run, land_rows, monkeypatch):
    disk = type(disk_run.files)
    plain = disk.create

    def create_and_forget(self, name, data):
        plain(self, name, data)
        return plain(self, name, data)

    monkeypatch.setattr(disk, "create", create_and_forget)
    session = begin_session(disk_run)
    assert session.number == 1
    assert land_rows(disk_run, 1, 1, {"aa": [(0, 3)]}) is True
    assert verify_run(disk_run) == []
    assert scan_judgments(disk_run).collect().height == 3


def test_files_stay_while_it_is_unknown_who_won(disk_run, land_rows, monkeypatch):
    begin_session(disk_run)

    def lose_touch(*_args):
        raise StoreError("timed out")

    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "settle", lose_touch)
        with pytest.raises(StoreError, match="timed out"):
            land_rows(disk_run, 1, 1, {"aa": [(0, 3)]})
    assert len(parquet_files(disk_run)) == 2


@pytest.mark.parametrize("fails", ["data/", "texts/"])
def test_a_part_that_cannot_be_written_leaves_none(disk_run, land_rows, monkeypatch, fails):
    session = begin_session(disk_run).number
    write = RunDirectory.write_bytes

    def full(run, name, data):
        if name.startswith(fails):
            raise StoreError("disk full")
        write(run, name, data)

    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "write_bytes", full)
        with pytest.raises(StoreError, match="disk full"):
            land_rows(disk_run, session, 1, {"aa": [(0, 3)]})
    assert parquet_files(disk_run) == []
    assert land_rows(disk_run, session, 1, {"aa": [(0, 3)]}) is True


def test_what_cannot_be_a_record_leaves_no_parts(disk_run, rows):
    made = rows({"aa": [(0, 3)]})
    session = begin_session(disk_run).number
    with pytest.raises(UnicodeEncodeError):
        land(
            disk_run, session=session, lease=1, attempt=1, judge="j", conditions=made.conditions,
            judgments=made.judgments(), completions=made.completions(), tokens=TokenCounts(),
            seconds=0.0, engine={"backends": ["\ud800"]},
        )  # fmt: skip
    assert parquet_files(disk_run) == []


def test_a_torn_record_is_none_and_the_rows_are_pending(disk_run, land_rows, monkeypatch):
    monkeypatch.setattr("judgerel_ray.store.parts._TORN_PAUSE_S", 0.0)
    session = begin_session(disk_run).number
    land_rows(disk_run, session, 1, {"aa": [(0, 3)]})
    land_rows(disk_run, session, 2, {"bb": [(0, 3)]})
    record = Path(disk_run.address("commits/s0001-l000001-a1.json"))
    record.write_bytes(record.read_bytes()[:100])
    assert close_lease(disk_run, session=session, lease=1, attempt=1) is None
    ledger = read_ledger(disk_run)
    assert ledger.broken == ("s0001-l000001-a1.json",)
    assert ledger.owed("aa", 3) == ((0, 3),)
    assert land_rows(disk_run, session, 1, {"aa": [(0, 3)]}) is False
    assert land_rows(disk_run, session, 1, {"aa": [(0, 3)]}, attempt=2) is True
    assert scan_judgments(disk_run).collect().height == 6
    kinds = {(found.level, found.kind) for found in verify_run(disk_run)}
    assert kinds == {("error", "broken_record"), ("note", "orphan")}


def _land_three(run, judgments, completions):
    land(
        run,
        session=1,
        lease=1,
        attempt=1,
        judge="j",
        judgments=judgments,
        completions=completions,
        conditions=THREE,
        tokens=TokenCounts(),
        seconds=0.0,
    )


def wrong_frames(made):
    judgments, completions = made.judgments(), made.completions()
    yield "completions must match", judgments, completions.head(2)
    yield "ranges landed", judgments.head(2), completions
    yield "ranges landed", judgments.with_columns(key=pl.col("key").str.to_uppercase()), completions
    yield "primary", pl.concat([judgments, judgments.head(1)]), completions
    yield "verdict_iff_scored", judgments.with_columns(verdict=pl.lit(None, pl.String)), completions
    yield "missing columns", judgments.drop("outcome"), completions
    yield "dtype", judgments.with_columns(pl.col("replication").cast(pl.Int64)), completions
    yield "judge must be", judgments.with_columns(judge=pl.lit("k")), completions
    yield "attempt must be", judgments.with_columns(attempt=pl.lit(2, pl.Int32)), completions


@pytest.mark.parametrize("number", range(9))
def test_broken_rows_are_refused_before_anything_is_written(disk_run, rows, number):
    begin_session(disk_run)
    message, judgments, completions = list(wrong_frames(rows(conditions=THREE)))[number]
    with pytest.raises(TableError, match=message):
        _land_three(disk_run, judgments, completions)
    assert parquet_files(disk_run) == []
    assert disk_run.names("commits") == ("session-0001.json",)


@pytest.mark.parametrize("fail_at", [1, 2, 3])
def test_a_disk_that_fills_up_lands_nothing_and_is_named(disk_run, land_rows, monkeypatch, fail_at):
    begin_session(disk_run)
    plain, calls = files._write_new, []

    def fill_up(path, data):
        calls.append(path)
        if len(calls) == fail_at:
            raise OSError(28, "No space left on device", str(path))
        return plain(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(files, "_write_new", fill_up)
        with pytest.raises(StoreError, match="No space left"):
            land_rows(disk_run, 1, 1, {"aa": [(0, 3)]})
    assert read_ledger(disk_run).n_rows == 0
    assert land_rows(disk_run, 1, 1, {"aa": [(0, 3)]}) is True
    assert scan_judgments(disk_run).collect().height == 3


@pytest.mark.slow
def test_threads_that_land_and_close_one_attempt_agree(run, land_rows):
    session = begin_session(run).number

    def step(number):
        if number % 4 == 3:
            return close_lease(run, session=session, lease=1, attempt=1)
        return land_rows(run, session, 1, {"aa": [(0, 2)]}, mark=str(number))

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(step, range(8)))
    winners = [number for number in range(8) if told[number] is True]
    landed = scan_judgments(run).collect()
    assert len(winners) <= 1
    assert set(landed["label"]) == {str(winner) for winner in winners}
    for number in (3, 7):
        assert (told[number] is None) == (not winners)
    assert len(parquet_files(run)) == 2 * len(winners)


def _land_and_die(url, judgments, completions):
    RunDirectory.settle = lambda *_args: os.kill(os.getpid(), signal.SIGKILL)
    _land_three(RunDirectory(url=url), judgments, completions)


@pytest.mark.slow
def test_a_writer_killed_before_its_record_leaves_readers_alone(disk_run, land_rows, rows):
    session = begin_session(disk_run).number
    land_rows(disk_run, session, 2, {"bb": [(0, 2)]})
    made = rows(conditions=THREE, mark="dead")
    args = (disk_run.url, made.judgments(), made.completions())
    writer = multiprocessing.get_context("spawn").Process(target=_land_and_die, args=args)
    writer.start()
    writer.join(60)
    assert writer.exitcode == -signal.SIGKILL
    assert len(parquet_files(disk_run)) == 4
    assert scan_judgments(disk_run).collect().height == 2
    assert read_ledger(disk_run).owed("aa", 3) == ((0, 3),)
    assert close_lease(disk_run, session=session, lease=1, attempt=1) is None
    assert land_rows(disk_run, session, 1, {"aa": [(0, 3)]}, attempt=2, mark="alive") is True
    assert set(scan_judgments(disk_run).collect()["label"]) == {"alive", "m"}
    assert {found.kind for found in verify_run(disk_run)} == {"orphan"}
