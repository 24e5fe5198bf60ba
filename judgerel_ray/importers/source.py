"""Bytes and tables behind a path, local or at any fsspec URL."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath

import polars as pl

from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.core.files import read_bytes
from judgerel_ray.counting.files.source import read_source, readable, unreadable

TABLES = (".parquet", ".csv", ".tsv", ".jsonl", ".ndjson")
"""Tables by their ending; a document of JSON is one, too, where nothing else is meant by it."""


def ending(path: str) -> str:
    """Lower-case suffix of a path.

    Examples
    --------
    >>> ending("s3://bucket/Judgments.ZIP")
    '.zip'
    """
    return PurePosixPath(path).suffix.lower()


def read_documents(path: str) -> Iterator[tuple[str, object]]:
    """JSON documents of a ``.json`` file or of a zip of them, each with the place it stands at."""
    content = read_bytes(path)
    if ending(path) != ".zip":
        yield path, _parsed(content, path)
        return
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # macOS puts a file of attributes beside each member, with the same suffix.
            names = [
                name
                for name in archive.namelist()
                if ending(name) == ".json" and not PurePosixPath(name).name.startswith("._")
            ]
            if not names:
                raise SweepError("the zip holds no .json file", where={"file": path})
            for name in names:
                yield f"{path}:{name}", _parsed(archive.read(name), f"{path}:{name}")
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise unreadable(path, error) from error


def read_table(path: str) -> pl.DataFrame:
    """A table of any kind that :func:`judgerel_ray.counting.files.source.read_source` reads.

    Warns
    -----
    ReadingWarning
        If it was read otherwise than it is written.
    """
    source = read_source(path)
    for note in source.notes:
        warnings.warn(ReadingWarning(note), stacklevel=2)
    with readable(source.where):
        return source.rows.collect()


def _parsed(content: bytes, place: str) -> object:
    """A JSON document."""
    try:
        document: object = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SweepError(f"not JSON: {error}", where={"file": place}) from error
    return document
