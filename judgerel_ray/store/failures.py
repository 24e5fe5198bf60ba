"""Failures: requests that did not land because a transport or an engine failed; all still owed."""

from __future__ import annotations

import io
import secrets

import polars as pl

from judgerel_ray.core import StoreError
from judgerel_ray.store.parts import encode_parquet, valid_rows
from judgerel_ray.store.rundir import RunDirectory, judge_folder
from judgerel_ray.tables import Errors

_FOLDER = "errors"


def record_errors(run: RunDirectory, *, session: int, judge: str, rows: pl.DataFrame) -> str:
    """Write failures down, for people and ``status``; nothing is settled by it.

    Parameters
    ----------
    run : RunDirectory
        The run.
    session : int
        The session they happened in.
    judge : str
        The judge asked.
    rows : DataFrame
        Rows of the errors table.

    Returns
    -------
    str
        Name of the file written.

    Raises
    ------
    TableError
        If rows break the table's rules.
    StoreError
        If the directory cannot be written.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-errors")
    >>> name = record_errors(run, session=1, judge="j", rows=Errors.create_empty())
    >>> name.startswith("errors/judge=j/errors-s0001-")
    True

    Notes
    -----
    Effects: one new file. Retry: writes the rows twice.
    """
    valid = valid_rows(Errors, rows)
    name = f"{_FOLDER}/{judge_folder(judge)}/errors-s{session:04d}-{secrets.token_hex(6)}.parquet"
    run.write_bytes(name, encode_parquet(valid))
    return name


def read_errors(run: RunDirectory) -> pl.DataFrame:
    """Read all failures of all sessions, oldest first.

    Returns
    -------
    DataFrame
        Rows of the errors table; none where nothing failed. A request that failed and landed
        later is still among them.

    Raises
    ------
    StoreError
        If a file cannot be read.

    Examples
    --------
    >>> read_errors(RunDirectory.create("memory://doctest-no-errors")).height
    0
    """
    names = [name for name in run.files.sizes(_FOLDER) if _is_ours(name)]
    frames: list[pl.DataFrame] = [Errors.create_empty()]
    for name, data in run.files.read_many(names).items():
        try:
            found = pl.read_parquet(io.BytesIO(data))
            frames.append(found.select(frames[0].columns).cast(frames[0].schema))
        except (pl.exceptions.PolarsError, OSError) as error:
            raise StoreError(
                f"a file of failures cannot be read: {error}",
                where={"path": run.address(name)},
                hint="remove it; it holds notes only",
            ) from error
    return pl.concat(frames).sort("failed_at", "key", maintain_order=True)


def _is_ours(name: str) -> bool:
    """Tell a finished file of failures from temporary and foreign ones."""
    file = name.rsplit("/", 1)[-1]
    return file.startswith("errors-s") and file.endswith(".parquet")
