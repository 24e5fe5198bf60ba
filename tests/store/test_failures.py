from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from judgerel_ray.core import StoreError, TableError
from judgerel_ray.store import read_errors, record_errors
from judgerel_ray.tables import Errors


def failure(key, minute):
    row = {
        "key": key,
        "judge": "a/b",
        "item_id": "q",
        "condition_key": "aa",
        "replication": 0,
        "lease": "1",
        "attempt": 1,
        "kind": "engine_lost",
        "message": "gone",
        "failed_at": datetime(2026, 1, 1, 0, minute, tzinfo=UTC),
    }
    return pl.DataFrame([row], schema=Errors.create_empty().schema)


def test_failures_come_back_oldest_first(run):
    assert read_errors(run).schema == Errors.create_empty().schema
    record_errors(run, session=1, judge="a/b", rows=failure("k2", 5))
    record_errors(run, session=2, judge="c", rows=failure("k1", 3))
    found = read_errors(run)
    assert found["key"].to_list() == ["k1", "k2"]
    assert found.schema == Errors.create_empty().schema


def test_leftovers_are_ignored_and_torn_files_named(disk_run):
    record_errors(disk_run, session=1, judge="j", rows=failure("k", 1))
    disk_run.write_bytes("errors/judge=j/.errors-s0001-x.parquet.ab.tmp", b"PAR1")
    disk_run.write_bytes("errors/notes.txt", b"mine")
    assert read_errors(disk_run).height == 1
    disk_run.write_bytes("errors/judge=j/errors-s0001-torn.parquet", b"PAR1")
    with pytest.raises(StoreError, match=r"errors-s0001-torn\.parquet"):
        read_errors(disk_run)


def test_broken_rows_are_refused(disk_run):
    with pytest.raises(TableError, match="kind"):
        record_errors(disk_run, session=1, judge="j", rows=failure("k", 1).drop("kind"))
    assert disk_run.names("errors") == ()


def test_a_file_of_failures_with_other_columns_is_told(run):
    from judgerel_ray.store.parts import encode_parquet

    name = "errors/judge=j/errors-s0001-abc.parquet"
    run.write_bytes(name, encode_parquet(pl.DataFrame({"key": ["a"]})))
    with pytest.raises(StoreError, match="a file of failures cannot be read"):
        read_errors(run)
