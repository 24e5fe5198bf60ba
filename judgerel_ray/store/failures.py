"""Failures: requests that are pending because a transport or an engine failed."""

from __future__ import annotations

import io
import re
import secrets
from collections.abc import Iterator

import polars as pl

from judgerel_ray.core import StoreError
from judgerel_ray.store.digests import UNREADABLE, sha256
from judgerel_ray.store.parts import encode_parquet, valid_rows
from judgerel_ray.store.rundir import RunDirectory, judge_folder
from judgerel_ray.tables import Errors

_FOLDER = "errors"
_DIGITS = 16
_FINISHED = re.compile(r"(^|/)errors-s[^/]*\.parquet$")
_NAMED = re.compile(rf"-[0-9a-f]{{12}}-([0-9a-f]{{{_DIGITS}}})\.parquet$")


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
    data = encode_parquet(valid)
    stem = f"errors-s{session:04d}-{secrets.token_hex(6)}-{sha256(data)[:_DIGITS]}"
    name = f"{_FOLDER}/{judge_folder(judge)}/{stem}.parquet"
    run.write_bytes(name, data)
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
    frames: list[pl.DataFrame] = [Errors.create_empty()]
    for name, data in _stored_failure_files(run):
        problem = "a file of failures is altered: its bytes are not those that were written"
        try:
            if is_as_named(name, data):
                found = pl.read_parquet(io.BytesIO(data))
                frames.append(found.select(frames[0].columns).cast(frames[0].schema))
                continue
        except UNREADABLE as error:
            problem = f"a file of failures cannot be read: {str(error).splitlines()[0]}"
        raise StoreError(
            problem, where={"path": run.address(name)}, hint="remove it; it holds notes only"
        )
    return pl.concat(frames).sort("failed_at", "key", maintain_order=True)


def altered_errors(run: RunDirectory) -> list[str]:
    """Name the files of failures whose bytes are not those that were written.

    Examples
    --------
    >>> altered_errors(RunDirectory.create("memory://doctest-altered-errors"))
    []
    """
    return [name for name, data in _stored_failure_files(run) if not is_as_named(name, data)]


def is_as_named(name: str, data: bytes) -> bool:
    """Whether a file of failures holds what its name says; also where it says nothing.

    Examples
    --------
    >>> is_as_named("errors/judge=j/errors-s0001-000000000000-e3b0c44298fc1c14.parquet", b"")
    True
    """
    stated = _NAMED.search(name)
    return stated is None or sha256(data).startswith(stated.group(1))


def error_files(run: RunDirectory) -> list[str]:
    """Name the finished files of failures; temporary and foreign ones are none.

    Examples
    --------
    >>> error_files(RunDirectory.create("memory://doctest-error-files"))
    []
    """
    return [name for name in run.files.sizes(_FOLDER) if _FINISHED.search(name)]


def _stored_failure_files(run: RunDirectory) -> Iterator[tuple[str, bytes]]:
    """The files of failures, by name."""
    yield from run.files.read_many(error_files(run)).items()
