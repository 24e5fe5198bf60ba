"""Paths, bytes and text, local or at any fsspec URL."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath
from typing import Literal

from judgerel_ray.benchmarks.record import closest
from judgerel_ray.core import SweepError
from judgerel_ray.core.delimited import SEPARATORS
from judgerel_ray.core.packing import PACKED, unpacked
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
# Roots of what remote file systems raise that is no OSError; looked up only once they are loaded.
_REMOTE = {
    "botocore.exceptions": "BotoCoreError",
    "gcsfs.retry": "HttpError",
    "azure.core.exceptions": "AzureError",
    "aiohttp": "ClientError",
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
        raise SweepError("no such file", where={"file": path}, hint=_neighbour(path))
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


def is_folder(path: str) -> bool:
    """Whether a path or URL names an existing folder."""
    import fsspec

    try:
        fs, root = fsspec.core.url_to_fs(path)
        return bool(fs.isdir(root))
    except _reading_errors() as error:
        raise _unreadable(path, error) from error


def list_folder(path: str) -> tuple[str, ...]:
    """Paths in a folder, by name, each usable as `path` was (URLs stay URLs)."""
    import fsspec

    try:
        fs, root = fsspec.core.url_to_fs(path)
        names = sorted(PurePosixPath(str(p)).name for p in fs.ls(root, detail=False))
    except _reading_errors() as error:
        raise _unreadable(path, error) from error
    return tuple(f"{path.rstrip('/')}/{name}" for name in names)


def read_bytes(path: str) -> bytes:
    """Whole content of a file, decompressed by its suffix.

    Raises
    ------
    SweepError
        If the file is missing (with the likeliest neighbour), unreadable, broken or empty.
    """
    import fsspec

    try:
        with fsspec.open(path, "rb") as file:
            content: bytes = unpacked(file.read(), PurePosixPath(path).suffix)
    except FileNotFoundError as error:
        raise SweepError("no such file", where={"file": path}, hint=_neighbour(path)) from error
    except _reading_errors() as error:
        raise _unreadable(path, error) from error
    if not content:
        raise SweepError("the file is empty", where={"file": path})
    return content


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


def _neighbour(path: str) -> str | None:
    """Hint naming the file beside a missing one that it likely meant."""
    folder, _, name = path.rpartition("/")
    try:
        names = [PurePosixPath(p).name for p in list_folder(folder or ".")]
    except SweepError:
        return f"check the folder {folder!r}, it cannot be read either"
    likely = closest(name, names)
    return f"{folder}/{likely}" if likely and folder else likely


def _reading_errors() -> tuple[type[Exception], ...]:
    """Classes of what is raised where a file cannot be read, those of remote ones included."""
    known: list[type[Exception]] = [OSError, ValueError, ImportError]
    for module, name in _REMOTE.items():
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            known.append(kind)
    return tuple(known)


def _unreadable(path: str, error: BaseException) -> SweepError:
    """Error for a path that no filesystem could read."""
    reason = (str(error) or type(error).__name__).splitlines()[0]
    return SweepError(f"cannot be read: {reason}", where={"file": path})
