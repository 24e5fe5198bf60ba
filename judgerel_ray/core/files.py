"""Bytes of files: at a path of this machine or any fsspec URL, and what packed ones hold.

Whatever is unpacked passes through :class:`Unpacking`, which stops at a ceiling: no size that a
file declares is believed.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import math
import os
import shlex
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from judgerel_ray.core.errors import SweepError, Unreadable
from judgerel_ray.core.text import closest

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BEGINS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zst": b"\x28\xb5\x2f\xfd"}
_NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
PACKED = tuple(_NAMES)
"""Endings of packed files that are read."""
STANDARD_INPUT = "-"
"""The path that stands for what is piped into a command."""
# Roots of what remote stores raise that is no OSError; looked up only once they are loaded.
_BACKENDS = {
    "botocore.exceptions": "BotoCoreError",
    "gcsfs.retry": "HttpError",
    "azure.core.exceptions": "AzureError",
    "aiohttp": "ClientError",
}


def file_system_errors() -> tuple[type[Exception], ...]:
    """Classes of what the remote stores that are loaded raise, and ``OSError``."""
    found: list[type[Exception]] = [OSError]
    for module, name in _BACKENDS.items():
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            found.append(kind)
    return tuple(found)


def reading_errors() -> tuple[type[Exception], ...]:
    """Classes of what is raised where a path or URL cannot be opened or read."""
    return (*file_system_errors(), ValueError, ImportError)


_IRREGULAR = {
    stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}  # fmt: skip


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file of this machine for reading, and nothing else: a FIFO would hang."""
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


@contextmanager
def _client_of(path: str) -> Iterator[None]:
    """Turn whatever the client of a path's file system raises into one line: it may be anything."""
    try:
        yield
    except SweepError:
        raise
    except Exception as error:
        raise unreadable_path(path, error) from error


def read_bytes(path: str) -> bytes:
    """Whole content of a file as it is stored, local or at any fsspec URL."""
    import fsspec

    check_regular(path)
    with _client_of(path):
        try:
            with fsspec.open(path, "rb") as file:
                content: bytes = file.read()
        except FileNotFoundError as error:
            raise SweepError("no such file", where={"file": path}, hint=neighbour(path)) from error
        except IsADirectoryError as error:
            raise SweepError(
                "expected a file, got a folder", where={"path": path}, hint="name a file inside it"
            ) from error
    if not content:
        raise SweepError("the file is empty", where={"file": path})
    return content


def is_folder(path: str) -> bool:
    """Whether a path or URL names an existing folder."""
    import fsspec

    with _client_of(path):
        fs, root = fsspec.core.url_to_fs(path)
        return bool(fs.isdir(root))


def list_folder(path: str) -> tuple[str, ...]:
    """Paths in a folder, by name, each usable as `path` was (URLs stay URLs)."""
    import fsspec

    with _client_of(path):
        fs, root = fsspec.core.url_to_fs(path)
        names = sorted(PurePosixPath(str(p)).name for p in fs.ls(root, detail=False))
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


def unreadable_path(path: str, error: BaseException) -> SweepError:
    """Error for a path that no file system could read."""
    reason = (str(error) or type(error).__name__).splitlines()[0]
    return Unreadable(reason, where={"file": path})


_RATIO = 200  # logs come to 5 to 100 times their packed size, a bomb of gzip to 1,030
_WHOLE = 4 << 20  # of what is read as a whole, nested values may take thirty times as much memory
_ROWS = 128 << 20  # of what is read row by row; equal prompts pack to a thousandth
_LARGEST = 2.0  # GiB
_LIMIT: ContextVar[float | None] = ContextVar("unpack_limit", default=None)
_READ = 8 << 10  # of a packed file at once, so that what went in is known to that
_CHUNK = 1 << 18


@contextmanager
def unpack_limit(gigabytes: float | None) -> Iterator[None]:
    """Let packed files unpack to so many GiB, at any ratio; None keeps the ceilings."""
    if gigabytes is not None and not 0 < gigabytes < math.inf:
        raise SweepError(f"--unpack-limit must be a number of GiB above 0, got {gigabytes}")
    token = _LIMIT.set(gigabytes)
    try:
        yield
    finally:
        _LIMIT.reset(token)


@dataclass(slots=True)
class Unpacking:
    """Bytes of one file or archive that went into unpacking, and that came out."""

    where: Mapping[str, object] = field(default_factory=dict)  # What locates the file in errors.
    n_in: int = 0  # Bytes so far.
    n_out: int = 0
    harmless: int = _WHOLE  # Bytes up to which the ratio of the two does not matter.

    def count(self, *, n_in: int = 0, n_out: int = 0) -> None:
        """Count bytes."""
        self.n_in += n_in
        self.n_out += n_out
        limit = _LIMIT.get()
        problem = None
        if self.n_out > (limit or _LARGEST) * (1 << 30):
            problem = f"it unpacks to more than {limit or _LARGEST:g} GiB"
        elif limit is None and self.n_out > max(self.harmless, _RATIO * self.n_in):
            problem = (
                f"it unpacks to more than {_RATIO} times its packed size: {self.n_in:,} bytes gave "
                f"{self.n_out:,} so far"
            )
        if problem:
            raise SweepError(
                problem,
                where=self.where,
                hint=f"if you trust it: {_unpacking_command(self.where)}, or --unpack-limit GB of "
                "import and items",
            )


_COMMANDS = {".gz": "gunzip -k", ".bz2": "bunzip2 -k", ".xz": "xz -dk", ".zst": "zstd -d"}


def _unpacking_command(where: Mapping[str, object]) -> str:
    """What unpacks a file beside itself; for an archive, which is read whole, only in words."""
    path = str(where.get("file", ""))
    command = _COMMANDS.get(PurePosixPath(path).suffix.lower())
    if command is None:
        return "unpack it"
    return f"{command} {shlex.quote(path)} and name what that writes"


class _Packed(io.RawIOBase):
    """A packed file, or a part of one, that is read in small pieces and counted."""

    def __init__(self, file: IO[bytes], unpacking: Unpacking, size: float = math.inf) -> None:
        super().__init__()
        self._file = file
        self._unpacking = unpacking
        self._left = size
        self.begin = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        most = int(min(self._left, _READ))
        found = self._file.read(most if size < 0 else min(size, most))
        self._left -= len(found)
        self.begin = self.begin or found[:8]
        self._unpacking.count(n_in=len(found))
        return found


class _Unpacked(io.RawIOBase):
    """What a packed file holds, counted."""

    def __init__(self, inner: IO[bytes], packed: _Packed, name: str, unpacking: Unpacking) -> None:
        super().__init__()
        self._inner = inner
        self._packed = packed
        self._name = name
        self.unpacking = unpacking

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        try:
            found = self._inner.read(len(view))
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise ValueError(
                f"it is cut off or damaged: its {_NAMES[self._name]} does not unpack to the end"
                if self._packed.begin.startswith(_BEGINS[self._name])
                else f"it is not packed by {_NAMES[self._name]}, as its name says"
            ) from error
        self.unpacking.count(n_out=len(found))
        view[: len(found)] = found
        return len(found)


def unpacked_stream(
    file: IO[bytes], ending: str, where: Mapping[str, object] | None = None
) -> IO[bytes]:
    """Open what a packed file holds; the file itself where the ending is of no packing.

    Reading raises ``ValueError`` if it is not packed so, or its end is gone, and ``SweepError`` if
    it unpacks to more than the ceilings allow.
    """
    if ending not in _NAMES:
        return file
    unpacking = Unpacking(where or {}, harmless=_ROWS)
    packed = _Packed(file, unpacking)
    source = cast("IO[bytes]", packed)
    opened: dict[str, Callable[[IO[bytes]], object]] = {
        ".gz": lambda file: gzip.GzipFile(fileobj=file),
        ".bz2": bz2.BZ2File,
        ".xz": lzma.LZMAFile,
        ".zst": _zstd_unpacked_bytes,
    }
    inner = cast("IO[bytes]", opened[ending](source))
    return io.BufferedReader(_Unpacked(inner, packed, ending, unpacking), _CHUNK)


def check_record(stream: IO[bytes], size: int) -> None:
    """Refuse one record of an unpacked stream that is large and packed to next to nothing."""
    unpacked_by = getattr(stream, "raw", None)
    if size >= _WHOLE and isinstance(unpacked_by, _Unpacked):
        unpacked_by.unpacking.harmless = _WHOLE
        unpacked_by.unpacking.count()


def _zstd_unpacked_bytes(packed: IO[bytes]) -> IO[bytes]:
    """What zstd packed, which Python's own library reads from 3.14 on."""
    import pyarrow as pa

    found: IO[bytes] = pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), "zstd")
    return found


def unpacked(content: bytes, ending: str, where: Mapping[str, object] | None = None) -> bytes:
    """Give what a packed file holds; the content itself where the ending is of no packing."""
    if ending not in _NAMES:
        return content
    return unpacked_stream(io.BytesIO(content), ending, where).read()


def members_of(archive: zipfile.ZipFile) -> tuple[tuple[zipfile.ZipInfo, ...], int]:
    """Members of a ZIP in the order of its directory, and how many are left out as copies.

    Of several by one name the last counts, as for every reader of ZIP.
    """
    listed = archive.infolist()
    last = {one.filename: one for one in listed}
    return tuple(last.values()), len(listed) - len(last)


_LOCAL_HEADER = 30
_ZSTD = 93


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, unpacking: Unpacking) -> bytes:
    """Read a member of a ZIP whole, stored or packed by deflate, bzip2 or zstd."""
    file = archive.fp
    if file is None or info.flag_bits & 1:
        raise ValueError("it is encrypted" if file else "the archive is closed")
    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER)
    if len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
        raise ValueError("nothing is where the archive says that it begins")
    n_name, n_extra = struct.unpack("<HH", header[26:30])
    file.seek(info.header_offset + _LOCAL_HEADER + n_name + n_extra)
    packed = _Packed(file, unpacking, info.compress_size)
    if info.compress_type == _ZSTD:
        return _zstd_member(b"".join(iter(lambda: packed.read(), b"")), unpacking)
    parts: list[bytes] = []
    digest = 0
    try:
        for part in _unpacked_archive_pieces(packed, info.compress_type):
            unpacking.count(n_out=len(part))
            parts.append(part)
            digest = zlib.crc32(part, digest)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(str(error)) from error
    if digest != info.CRC:
        raise ValueError("its checksum is another")
    return b"".join(parts)


def _unpacked_archive_pieces(packed: _Packed, method: int) -> Iterator[bytes]:
    """What a member holds, in pieces."""
    if method == zipfile.ZIP_DEFLATED:
        inflating = zlib.decompressobj(-zlib.MAX_WBITS)
        while not inflating.eof:
            chunk = inflating.unconsumed_tail or packed.read()
            part = inflating.decompress(chunk, _CHUNK)
            if not (chunk or part or inflating.eof):
                raise EOFError("it is cut off")
            yield part
        return
    if method not in (zipfile.ZIP_STORED, zipfile.ZIP_BZIP2):
        raise ValueError(f"it is packed by method {method}, which is not read")
    plain = cast("IO[bytes]", packed)
    file = bz2.BZ2File(plain) if method else plain
    yield from iter(lambda: file.read(_CHUNK), b"")


_BLOCK = 128 << 10  # most that a block of zstd holds


def _zstd_member(content: bytes, unpacking: Unpacking) -> bytes:
    """What zstd packed into lines of text, by Polars, which is always there.

    Polars unpacks as a whole, so the blocks of the frames are counted first: none holds more than
    128 KiB, or than it says where it repeats one byte or was not packed.
    """
    import polars as pl

    at = 0
    while at < len(content):
        if content[at + 1 : at + 4] == b"\x2a\x4d\x18":  # a frame that is passed over
            at += 8 + int.from_bytes(content[at + 4 : at + 8], "little")
            continue
        if not content.startswith(_BEGINS[".zst"], at):
            raise ValueError("it is not packed by zstd, as it says")
        described = content[at + 4] if at + 4 < len(content) else 0
        single = described >> 5 & 1
        size = (single, 2, 4, 8)[described >> 6]
        at += 5 + (not single) + (0, 1, 2, 4)[described & 3] + size
        last = False
        while not last and at + 3 <= len(content):
            head = int.from_bytes(content[at : at + 3], "little")
            last, kind, length = bool(head & 1), head >> 1 & 3, head >> 3
            unpacking.count(n_out=_BLOCK if kind > 1 else length)
            at += 3 + (1 if kind == 1 else length)
        at += 4 * (described >> 2 & 1)
    try:
        lines = pl.scan_lines(io.BytesIO(content), name="line").collect()["line"]
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ValueError(str(error).splitlines()[0]) from error
    return "\n".join(lines.to_list()).encode()


_DISKS = ("file", "local", "memory")
_BUCKETS = (
    "s3", "s3a", "s3n", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl", "wasb", "wasbs", "oci",
    "ocilake", "oss", "r2", "tos", "hdfs", "arrow_hdfs",
)  # fmt: skip
# What only stands before the path that is read; its part of a chain may do without "://".
_WRAPPERS = ("simplecache", "filecache", "blockcache", "cached", "dir", "zip", "tar", "libarchive")
_NOT_WEB = frozenset({*_DISKS, *_BUCKETS, *_WRAPPERS})


def is_of_the_web(path: str) -> bool:
    """Tell whether reading a path may ask a server that its address names, also within a chain.

    Buckets (``s3://``) and disks do not: who runs a sweep has set up where they are. Any other
    scheme does.
    """
    parts = path.split("::")
    return any(_is_foreign_file_path(part, chained=len(parts) > 1) for part in parts)


def _is_foreign_file_path(part: str, *, chained: bool) -> bool:
    """Whether a part of a path has a scheme of the web; in a chain its bare name will do."""
    from fsspec import available_protocols

    scheme, sign, _ = part.partition("://")
    if scheme.strip().lower() in _NOT_WEB:
        return False
    return bool(sign) or (chained and scheme in available_protocols())
