"""Bytes of files: at a path of this machine or any fsspec URL, and what packed ones hold."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable
from pathlib import PurePosixPath

from judgerel_ray.core.errors import SweepError, Unreadable
from judgerel_ray.core.text import closest

_BEGINS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zst": b"\x28\xb5\x2f\xfd"}
_NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
PACKED = tuple(_NAMES)
"""Endings of packed files that are read."""
# Roots of what remote stores raise that is no OSError; looked up only once they are loaded.
_BACKENDS = {
    "botocore.exceptions": "BotoCoreError",
    "gcsfs.retry": "HttpError",
    "azure.core.exceptions": "AzureError",
    "aiohttp": "ClientError",
}


def backend_errors() -> tuple[type[Exception], ...]:
    """Classes of what the remote stores that are loaded raise, and ``OSError``.

    Examples
    --------
    >>> OSError in backend_errors()
    True
    """
    found: list[type[Exception]] = [OSError]
    for module, name in _BACKENDS.items():
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            found.append(kind)
    return tuple(found)


def reading_errors() -> tuple[type[Exception], ...]:
    """Classes of what is raised where a path or URL cannot be opened or read."""
    return (*backend_errors(), ValueError, ImportError)


def read_bytes(path: str) -> bytes:
    """Whole content of a file as it is stored, local or at any fsspec URL.

    Raises
    ------
    SweepError
        If there is none (with its likeliest neighbour), or it cannot be read, or is empty.

    Examples
    --------
    >>> read_bytes("no-such.csv")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: no such file [file=no-such.csv]
    """
    import fsspec

    try:
        with fsspec.open(path, "rb") as file:
            content: bytes = file.read()
    except FileNotFoundError as error:
        raise SweepError("no such file", where={"file": path}, hint=neighbour(path)) from error
    except IsADirectoryError as error:
        raise SweepError(
            "expected a file, got a folder", where={"path": path}, hint="name a file inside it"
        ) from error
    except reading_errors() as error:
        raise unreadable(path, error) from error
    if not content:
        raise SweepError("the file is empty", where={"file": path})
    return content


def is_folder(path: str) -> bool:
    """Whether a path or URL names an existing folder."""
    import fsspec

    try:
        fs, root = fsspec.core.url_to_fs(path)
        return bool(fs.isdir(root))
    except reading_errors() as error:
        raise unreadable(path, error) from error


def list_folder(path: str) -> tuple[str, ...]:
    """Paths in a folder, by name, each usable as `path` was (URLs stay URLs)."""
    import fsspec

    try:
        fs, root = fsspec.core.url_to_fs(path)
        names = sorted(PurePosixPath(str(p)).name for p in fs.ls(root, detail=False))
    except reading_errors() as error:
        raise unreadable(path, error) from error
    return tuple(f"{path.rstrip('/')}/{name}" for name in names)


def neighbour(path: str) -> str | None:
    """Hint naming the file beside a missing one that it likely meant."""
    folder, _, name = path.rpartition("/")
    try:
        names = [PurePosixPath(p).name for p in list_folder(folder or ".")]
    except SweepError:
        return f"check the folder {folder!r}, it cannot be read either"
    likely = closest(name, names)
    return f"{folder}/{likely}" if likely and folder else likely


def unreadable(path: str, error: BaseException) -> SweepError:
    """Error for a path that no file system could read.

    Examples
    --------
    >>> str(unreadable("a.csv", ValueError("bad")))
    'cannot be read: bad [file=a.csv]'
    """
    reason = (str(error) or type(error).__name__).splitlines()[0]
    return Unreadable(reason, where={"file": path})


def unpacked(content: bytes, ending: str) -> bytes:
    """Give what a packed file holds; the content itself where the ending is of no packing.

    Raises
    ------
    ValueError
        If it is not packed so, or its end is gone.

    Examples
    --------
    >>> unpacked(gzip.compress(b"a,b"), ".gz"), unpacked(b"a,b", "")
    (b'a,b', b'a,b')
    """
    if ending not in _NAMES:
        return content
    readers: dict[str, Callable[[bytes], bytes]] = {
        ".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress, ".zst": _zstd,
    }  # fmt: skip
    try:
        return readers[ending](content)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        name = _NAMES[ending]
        raise ValueError(
            f"it is cut off or damaged: its {name} does not unpack to the end"
            if content.startswith(_BEGINS[ending])
            else f"it is not packed by {name}, as its name says"
        ) from error


def _zstd(content: bytes) -> bytes:
    """What zstd packed, which Python's own library reads from 3.14 on."""
    import pyarrow as pa

    found: bytes = pa.input_stream(pa.py_buffer(content), compression="zstd").read()
    return found


_WEB = frozenset(
    {"http", "https", "ftp", "github", "gist", "git", "jlab", "webhdfs", "dav", "davs"}
)


def is_of_the_web(path: str) -> bool:
    """Tell whether reading a path asks a server that its address names, also within a chain.

    Buckets (``s3://``) and disks are none: who runs a sweep has set up where they are.

    Examples
    --------
    >>> is_of_the_web("https://example.org/items.csv"), is_of_the_web("s3://bucket/items.csv")
    (True, False)
    >>> is_of_the_web("simplecache::HTTP://example.org/items.csv")
    True
    """
    schemes = (part.partition("://") for part in path.split("::"))
    return any(sign and scheme.strip().lower() in _WEB for scheme, sign, _ in schemes)
