"""Paths, bytes and text, local or at any fsspec URL."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Literal

from judgerel_ray.core import SweepError, files
from judgerel_ray.core.delimited import SEPARATORS
from judgerel_ray.core.files import PACKED, neighbour, unpacked, unreadable
from judgerel_ray.core.text import table_text

Format = Literal["parquet", "json", "jsonl", "csv"]

_FORMATS: dict[str, Format] = {
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
}
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "it is gzip: let its name end in .gz"),
    (b"PAR1", "it is Parquet: let its name end in .parquet"),
)


def file_name(path: str) -> str:
    """Last part of a path or URL, without compression suffix.

    Examples
    --------
    >>> file_name("s3://bucket/bbh/navigate.json.gz")
    'navigate.json'
    """
    name = PurePosixPath(path).name
    return name.removesuffix(PurePosixPath(name).suffix) if name.endswith(PACKED) else name


def stem(path: str) -> str:
    """Name of a file without its suffixes.

    Examples
    --------
    >>> stem("bbh/navigate.json.gz")
    'navigate'
    """
    return PurePosixPath(file_name(path)).stem


def known_format(path: str) -> Format | None:
    """Format that a file's suffix names, None for any other suffix."""
    return _FORMATS.get(PurePosixPath(file_name(path)).suffix.lower())


def format_of(path: str) -> Format:
    """Format that a file's suffix names.

    Raises
    ------
    SweepError
        If the suffix names none of Parquet, JSON, JSON Lines and CSV.

    Examples
    --------
    >>> format_of("items.jsonl.gz")
    'jsonl'
    """
    found = known_format(path)
    if found is None and _is_absent(path):
        raise SweepError("no such file", where={"file": path}, hint=neighbour(path))
    if found is None:
        raise SweepError(
            f"unknown file format: expected {', '.join(_FORMATS)} (the text ones also "
            f"packed: {', '.join(PACKED)}), got {file_name(path)!r}",
            where={"file": path},
            hint="convert it, or give it the suffix of what it holds",
        )
    return found


def separator_of(path: str) -> str:
    r"""What stands between columns by the ending of a file.

    Examples
    --------
    >>> separator_of("items.tsv.gz"), separator_of("items.csv")
    ('\t', ',')
    """
    return SEPARATORS[PurePosixPath(file_name(path)).suffix.lower()]


def read_bytes(path: str) -> bytes:
    """Whole content of a file, decompressed by its suffix.

    Raises
    ------
    SweepError
        If the file is missing (with the likeliest neighbour), unreadable, broken or empty.
    """
    try:
        return unpacked(files.read_bytes(path), PurePosixPath(path).suffix)
    except ValueError as error:
        raise unreadable(path, error) from error


def read_text(path: str) -> str:
    """Whole text of a file in UTF-8, or in UTF-16 by its mark, which is dropped.

    Raises
    ------
    SweepError
        As `read_bytes`, and if a byte is not UTF-8 (its line is named).
    """
    content = read_bytes(path)
    try:
        text = table_text(content, {"file": path})
    except SweepError as error:
        hint = next((said for magic, said in _MAGIC if content.startswith(magic)), error.hint)
        raise SweepError(error.problem, where=error.where, hint=hint) from error
    if not text.strip():
        raise SweepError("the file is empty", where={"file": path})
    return text


def _is_absent(path: str) -> bool:
    """Whether a path of this machine names nothing."""
    try:
        return "://" not in path and not Path(path).exists()
    except (OSError, ValueError):
        return True
