"""Bytes and tables behind a path, local or at any fsspec URL."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError

TABLES = (".parquet", ".csv", ".jsonl", ".ndjson")


def ending(path: str) -> str:
    """Lower-case suffix of a path.

    Examples
    --------
    >>> ending("s3://bucket/Judgments.ZIP")
    '.zip'
    """
    return PurePosixPath(path).suffix.lower()


def read_bytes(path: str) -> bytes:
    """Whole content of a file; SweepError where there is none."""
    import fsspec

    try:
        with fsspec.open(path, "rb") as file:
            content: bytes = file.read()
    except FileNotFoundError as error:
        raise SweepError("no such file", where={"file": path}) from error
    except IsADirectoryError as error:
        raise SweepError(
            "expected a file, got a folder", where={"path": path}, hint="name a file inside it"
        ) from error
    except (OSError, ValueError, ImportError) as error:
        raise unreadable(path, error) from error
    if not content:
        raise SweepError("the file is empty", where={"file": path})
    return content


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
    """A Parquet, CSV or JSON Lines table; CSV as text, whose types its reader knows."""
    content = io.BytesIO(read_bytes(path))
    try:
        match ending(path):
            case ".parquet":
                return pl.read_parquet(content)
            case ".csv":
                return pl.read_csv(content, infer_schema=False)
            case _:
                return pl.read_ndjson(content, infer_schema_length=None)
    except (PolarsError, OSError, ValueError) as error:
        raise unreadable(path, error) from error


def unreadable(path: str, error: BaseException) -> SweepError:
    """Error for content that no reader understood."""
    reason = (str(error) or type(error).__name__).splitlines()[0]
    return SweepError(f"cannot be read: {reason}", where={"file": path})


def _parsed(content: bytes, place: str) -> object:
    """A JSON document."""
    try:
        document: object = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SweepError(f"not JSON: {error}", where={"file": place}) from error
    return document
