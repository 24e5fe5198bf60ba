"""Frames of what landed: the files that commits name, and no others.

The folders are never searched: a torn, foreign or late file in them disturbs nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import dataframely as dy
import polars as pl

from judgerel_ray.core import request_key
from judgerel_ray.store.bucket import Bucket
from judgerel_ray.store.ledger import Ledger, read_ledger
from judgerel_ray.store.records import CommitRecord
from judgerel_ray.store.rundir import RunDirectory
from judgerel_ray.tables import Completions, Judgments


def scan_judgments(
    run: RunDirectory, *, judges: Collection[str] | None = None, ledger: Ledger | None = None
) -> pl.LazyFrame:
    """Scan the judgments that landed, each request once.

    Parameters
    ----------
    run : RunDirectory
        The run; it may be written to meanwhile.
    judges : collection of str, optional
        Only these judges' files are opened.
    ledger : Ledger, optional
        A look taken before, to read exactly what it counts; by default a new one.

    Returns
    -------
    LazyFrame
        Rows of the judgments table, in no order; none in an empty run.

    Raises
    ------
    StoreError
        If the commits cannot be read.

    Examples
    --------
    >>> scan_judgments(RunDirectory.create("memory://doctest-scan")).collect().height
    0
    """
    return _scan(run, Judgments, "data_file", judges, ledger)


def scan_completions(
    run: RunDirectory, *, judges: Collection[str] | None = None, ledger: Ledger | None = None
) -> pl.LazyFrame:
    """Scan the texts that landed, by key; parameters as for :func:`scan_judgments`.

    Examples
    --------
    >>> scan_completions(RunDirectory.create("memory://doctest-scan")).collect().columns
    ['key', 'text', 'logprobs']
    """
    return _scan(run, Completions, "texts_file", judges, ledger)


def scan_files(
    run: RunDirectory, names: Sequence[str], *, table: type[dy.Schema] | None = None
) -> pl.LazyFrame:
    """Scan Parquet files of one schema by name; at least one.

    With a `table` its types are given whatever the files': the judge is a category in parts.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-scan-files")
    >>> from judgerel_ray.store.parts import encode_parquet
    >>> run.write_bytes("x.parquet", encode_parquet(pl.DataFrame({"a": [1]})))
    >>> scan_files(run, ["x.parquet"]).collect()["a"].to_list()
    [1]
    """
    files = run.files
    if not isinstance(files, Bucket):
        paths = [files.address(name) for name in names]
        return pl.scan_parquet(
            paths,
            glob=False,
            hive_partitioning=False,
            schema=table.create_empty().schema if table else None,
            cast_options=pl.ScanCastOptions(categorical_to_string="allow"),
        )
    # Through pyarrow, because Polars opens remote files with credentials and URL rules of its
    # own: options made for fsspec and percent signs in names would both be read differently.
    from pyarrow import dataset, fs

    source = dataset.dataset(
        [files.path(name) for name in names],
        filesystem=fs.PyFileSystem(fs.FSSpecHandler(files.filesystem)),
        format="parquet",
        partitioning=None,
    )
    frame = pl.scan_pyarrow_dataset(source)
    return frame.cast(table.create_empty().schema) if table else frame


def _scan(
    run: RunDirectory,
    table: type[dy.Schema],
    file: Literal["data_file", "texts_file"],
    judges: Collection[str] | None,
    ledger: Ledger | None,
) -> pl.LazyFrame:
    """Scan one file of every commit that counts, without rows an earlier commit holds."""
    ledger = ledger or read_ledger(run)
    commits = [one for one in ledger.commits if judges is None or one.judge in judges]
    clean = [_name(one, file) for one in commits if one.name not in ledger.duplicates]
    frames = [scan_files(run, clean, table=table)] if clean else []
    for one in commits:
        if twice := ledger.duplicates.get(one.name):
            dropped = [request_key(key, replication) for key, replication in twice]
            frame = scan_files(run, [_name(one, file)], table=table)
            frames.append(frame.filter(~pl.col("key").is_in(dropped)))
    if not frames:
        return table.create_empty().lazy()
    return pl.concat(frames) if len(frames) > 1 else frames[0]


def _name(commit: CommitRecord, file: Literal["data_file", "texts_file"]) -> str:
    """Name a commit's file of judgments or of texts."""
    return commit.data_file if file == "data_file" else commit.texts_file
