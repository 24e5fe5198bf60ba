"""Bytes of files: at a path of this machine or any fsspec URL, and what packed ones hold."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import BinaryIO

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


_IRREGULAR = {
    stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}  # fmt: skip


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file of this machine for reading, and nothing else: a FIFO would hang.

    Raises
    ------
    OSError
        If it cannot be opened, or something else lies there (``EINVAL``, a folder ``EISDIR``).

    Examples
    --------
    >>> open_regular("/dev/null")
    Traceback (most recent call last):
        ...
    OSError: [Errno 22] expected a regular file, got a device: '/dev/null'
    """
    # Looked at before it is opened, which moves some devices; and after, as it may be another.
    _check_mode(os.stat(path).st_mode, path)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags | getattr(os, "O_CLOEXEC", 0)), "rb")
    try:
        _check_mode(os.fstat(file.fileno()).st_mode, path)
    except OSError:
        file.close()
        raise
    return file


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """Whole content of a regular file of this machine. Raises: as :func:`open_regular`."""
    with open_regular(path) as file:
        return file.read()


def check_regular(path: str) -> None:
    """Refuse a path of this machine at which neither a file nor a folder lies.

    Files are read more than once, so that what comes through a pipe is none.

    Raises
    ------
    SweepError
        If a FIFO, a socket or a device lies there.

    Examples
    --------
    >>> check_regular("no-such.csv")
    >>> check_regular("/dev/null")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: expected a regular file, got a device [path=/dev/null]. ...
    """
    try:
        _check_mode(os.stat(path).st_mode, path)
    except IsADirectoryError:
        return
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.EINVAL:
            raise SweepError(
                str(error.strerror), where={"path": path}, hint="write it to a file, and name that"
            ) from error


def _check_mode(mode: int, path: str | os.PathLike[str]) -> None:
    """Refuse what is no regular file."""
    if not stat.S_ISREG(mode):
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        what = _IRREGULAR.get(stat.S_IFMT(mode), "something else")
        raise OSError(errno.EINVAL, f"expected a regular file, got {what}", os.fspath(path))


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

    check_regular(path)
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
