"""Files by their names: in a folder that every process sees (local, NFS, Lustre), or in a bucket.

Both write whole files and create them exclusively: a disk by a temporary file, renamed or linked;
in an object store, through fsspec, by one PUT, conditional where a file must be new
(``If-None-Match: *`` on S3, a generation match on GCS), after which the object appears whole.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from judgerel_ray.core import StoreError
from judgerel_ray.core.files import file_system_errors, open_regular, read_regular

T = TypeVar("T")
R = TypeVar("R")
# What file systems without hard links answer to link(2): FAT and FUSE say EPERM, others the rest.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV})
# What opening something else than a file says: a FIFO, a folder, links in a circle.
_NO_FILE = frozenset({errno.EINVAL, errno.EISDIR, errno.ELOOP})
PROBE = "probe-"
"""How objects are called that only try whether a bucket honours exclusive creation."""


def parallel_map(do: Callable[[T], R], things: Iterable[T], n_threads: int) -> list[R]:
    """Do one thing to each of several, some at a time; a single one without any thread.

    Examples
    --------
    >>> parallel_map(abs, [-1, -2], 2)
    [1, 2]
    """
    wanted = list(things)
    if n_threads == 1 or len(wanted) < 2:
        return [do(one) for one in wanted]
    with ThreadPoolExecutor(max_workers=n_threads) as pool:
        return list(pool.map(do, wanted))


class _Files(ABC):
    """What folders and buckets have alike: files that may be missing, one or many at a time."""

    __slots__ = ()

    @property
    def n_readers(self) -> int:
        """Files that are read at a time."""
        return 1

    def read_many(self, names: Iterable[str]) -> dict[str, bytes]:
        """Read files by name; those that are missing are left out."""
        return self._there(self._content, names)

    def find(self, name: str) -> bytes | None:
        """Read a file; None where it is missing."""
        return self.read_many([name]).get(name)

    def sizes_of(self, names: Iterable[str]) -> dict[str, int]:
        """Give the size in bytes of files by name; those that are missing are left out."""
        return self._there(self._size, names)

    def _there(self, look: Callable[[str], R | None], names: Iterable[str]) -> dict[str, R]:
        """What a look at each file finds, where there is one."""
        wanted = list(names)
        found = zip(wanted, parallel_map(look, wanted, self.n_readers), strict=True)
        return {name: one for name, one in found if one is not None}

    @abstractmethod
    def _content(self, name: str) -> bytes | None:
        """Bytes of a file; None where it is missing."""

    @abstractmethod
    def _size(self, name: str) -> int | None:
        """How many bytes a file has; None where it is missing, or is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk(_Files):
    """Files under one folder, by names relative to it; every write is whole and durable.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     disk = Disk(root=folder)
    ...     disk.write("a/b.txt", b"one")
    ...     disk.create("a/b.txt", b"two"), disk.read("a/b.txt")
    (False, b'one')
    """

    root: str

    def address(self, name: str) -> str:
        """Full path of a file of the directory."""
        return os.path.join(self.root, name) if name else self.root

    def write(self, name: str, data: bytes) -> None:
        """Put a whole file under its name, replacing what was there.

        Effects: temporary file beside it, fsync, rename, fsync of the folder. Retry: safe.
        """
        path = Path(self.address(name))
        with _as_store_error(path, "write"):
            temporary = _write_beside(path, data)
            try:
                with suppress(OSError):  # who may read what was there may read what is
                    temporary.chmod(stat.S_IMODE(path.stat().st_mode))
                os.replace(temporary, path)
            except OSError:
                temporary.unlink(missing_ok=True)
                raise
            _sync_folder(path.parent)

    def create(self, name: str, data: bytes) -> bool:
        """Put a whole file under a name nobody holds; False where somebody does.

        Effects: as :meth:`write`, with a hard link in place of the rename. Retry: a second call
        is told False.
        """
        path = Path(self.address(name))
        with _as_store_error(path, "create"):
            temporary = _write_beside(path, data)
            try:
                won = _link_stored_file_name(temporary, path, data)
            finally:
                temporary.unlink(missing_ok=True)
            _sync_folder(path.parent)
        return won

    def share(self, name: str, data: bytes, there: str) -> None:
        """Put a file under a new name that lies at another path, too; on one file system once.

        No file that is there is ever written into, so that each name keeps its bytes whatever is
        put under the other.

        Effects: a hard link and fsync of the folder; where links cannot be, as :meth:`write`.
        Retry: safe.
        """
        path = Path(self.address(name))
        with _as_store_error(path, "write"):
            _make_folder(path.parent)
            try:
                os.link(there, path)
            except OSError:  # another file system, one without links, or a file of another user
                is_linked = False
            else:
                is_linked = True
                _sync_folder(path.parent)
        if not is_linked:
            self.write(name, data)

    def read(self, name: str) -> bytes:
        """Give the bytes of a file; StoreError where it is missing or unreadable."""
        path = Path(self.address(name))
        with _as_store_error(path, "read"):
            return read_regular(path)

    def _content(self, name: str) -> bytes | None:
        path = Path(self.address(name))
        with _as_store_error(path, "read"), suppress(FileNotFoundError):
            return read_regular(path)
        return None

    def read_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Give bytes of a file, by start and length; fewer where it ends before."""
        path = Path(self.address(name))
        found = []
        with _as_store_error(path, "read"), open_regular(path) as file:
            for start, length in ranges:
                file.seek(start)
                found.append(file.read(length))
        return found

    def exists(self, name: str) -> bool:
        """Tell whether a file or folder of that name is there."""
        return Path(self.address(name)).exists()

    def names(self, folder: str = "") -> tuple[str, ...]:
        """Name the direct children of a folder, sorted; none where it is missing."""
        path = Path(self.address(folder))
        with _as_store_error(path, "list"):
            try:
                return tuple(sorted(os.listdir(path)))
            except FileNotFoundError:
                return ()

    def sizes(self, folder: str) -> dict[str, int]:
        """Give the size in bytes of every file below a folder, by name relative to the root."""
        found: dict[str, int] = {}
        folders = [folder]
        while folders:
            here = folders.pop()
            with _as_store_error(Path(self.address(here)), "list"):
                for entry in _stored_folder_entries(self.address(here)):
                    name = f"{here}/{entry.name}" if here else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(name)
                        continue
                    # Writers rename and remove their temporary files meanwhile.
                    with suppress(FileNotFoundError):
                        facts = entry.stat()
                        if stat.S_ISREG(facts.st_mode):
                            found[name] = facts.st_size
        return dict(sorted(found.items()))

    def _size(self, name: str) -> int | None:
        path = Path(self.address(name))
        with _as_store_error(path, "look up"), suppress(FileNotFoundError):
            facts = path.stat()
            return facts.st_size if stat.S_ISREG(facts.st_mode) else None
        return None

    def remove(self, name: str) -> None:
        """Remove a file; nothing happens where it is missing."""
        path = Path(self.address(name))
        with _as_store_error(path, "remove"):
            path.unlink(missing_ok=True)

    def prepare(self) -> None:
        """Make the folder itself."""
        with _as_store_error(Path(self.root), "create"):
            _make_folder(Path(self.root))

    def is_exclusive(self, folder: str = "") -> bool:  # noqa: ARG002  as a bucket has it
        """Tell whether creation is exclusive; link(2) and O_EXCL always are."""
        return True


def _stored_folder_entries(folder: str) -> list[os.DirEntry[str]]:
    """What lies in a folder; nothing where it is missing, or goes meanwhile."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        return list(entries)
    return []


@contextmanager
def _as_store_error(path: Path, verb: str) -> Iterator[None]:
    """Turn what the operating system refuses into a StoreError that names the path."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        is_other = verb in ("read", "look up") and error.errno in _NO_FILE
        hint = "remove it, or put a copy of the file in its place" if is_other else None
        raise StoreError(
            f"cannot {verb} a file: {reason}", where={"path": path}, hint=hint
        ) from error


def _write_beside(path: Path, data: bytes) -> Path:
    """Write data durably to a temporary file in the folder of `path`."""
    _make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        _write_new(temporary, data)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    return temporary


def _write_new(path: Path, data: bytes) -> None:
    """Write and fsync a file that must not be there yet."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _link_stored_file_name(temporary: Path, path: Path, data: bytes) -> bool:
    """Give the temporary file its final name if nobody holds that name."""
    try:
        os.link(temporary, path)
        return True
    except FileExistsError:
        # NFS repeats a call whose answer was lost, and the repeat finds our own link.
        return os.stat(temporary).st_nlink > 1
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    # Without hard links a reader may see half a record, which it takes for none (it is sealed).
    try:
        _write_new(path, data)
        return True
    except FileExistsError:
        return False


def _make_folder(folder: Path) -> None:
    """Make a folder and its parents, each durable in the folder above it."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the platform can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network and FUSE mounts refuse to sync a folder; they have nothing more to offer.
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def check_exclusive(files: Disk | Bucket, folder: str, harm: str) -> None:
    """Refuse a store in which two writers could both create one file in a folder (StoreError).

    Examples
    --------
    >>> check_exclusive(Bucket(url="memory://doctest-exclusive"), "commits", "two could land it")
    """
    if not files.is_exclusive(folder):
        raise StoreError(
            f"the store does not honour exclusive creation (conditional PUT), so {harm}",
            where={"folder": files.address("")},
            hint="a local or shared folder, or a store with conditional writes",
        )


_READERS = 32
_TRIES = 4
_PAUSE_S = 0.2
# Listings that a backend keeps know nothing of what other processes wrote since, and s3fs takes
# what they lack for missing. And it asks for an object's size before it reads it in many pieces.
_FRESH = {"use_listings_cache": False}
_OPTIONS = {"s3": {"max_concurrency": 1}, "s3a": {"max_concurrency": 1}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket(_Files):
    """Objects under one prefix, by names relative to it.

    Examples
    --------
    >>> bucket = Bucket(url="memory://doctest-bucket")
    >>> bucket.create("a", b"one"), bucket.create("a", b"two"), bucket.read("a")
    (True, False, b'one')
    >>> bucket.remove("a")
    """

    url: str
    options: Mapping[str, object] = field(default_factory=dict, repr=False)

    @property
    def filesystem(self) -> Any:
        """The fsspec file system; fsspec keeps one for equal options in a process."""
        import fsspec

        protocol = self.url.split("://", 1)[0]
        try:
            options = {**_FRESH, **_OPTIONS.get(protocol, {}), **self.options}
            return fsspec.filesystem(protocol, **options)
        except (ImportError, ValueError, TypeError) as error:
            raise StoreError(
                f"no file system for {protocol}:// URLs: {error}",
                where={"url": self.url},
                hint="install its package (for s3, this package's extra s3)",
            ) from error

    @property
    def prefix(self) -> str:
        """The prefix as the file system spells it, without the protocol."""
        rest = self.url.split("://", 1)[1].rstrip("/")
        return f"/{rest}" if self.url.startswith("memory://") else rest

    def address(self, name: str) -> str:
        """Full URL of an object."""
        return f"{self.url}/{name}" if name else self.url

    def path(self, name: str) -> str:
        """Path of an object as the file system spells it."""
        return f"{self.prefix}/{name}" if name else self.prefix

    def write(self, name: str, data: bytes) -> None:
        """Put an object, replacing what was there. Retry: safe."""
        with self._as_store_error(name, "write"):
            self.filesystem.pipe_file(self.path(name), data)

    def create(self, name: str, data: bytes) -> bool:
        """Put an object under a name nobody holds; False where somebody does.

        Retry: a second call is told False. A PUT whose answer was lost is told False too though
        the object is ours: who must know reads it back (:meth:`RunDirectory.settle`).
        """
        filesystem, path = self.filesystem, self.path(name)
        with self._as_store_error(name, "create"):
            for attempt in range(1, _TRIES + 1):
                try:
                    filesystem.pipe_file(path, data, mode="create")
                    return True
                except file_system_errors():
                    # Servers word the refusal differently (412 without a condition), and some
                    # refuse while another conditional PUT of the name is under way (S3: 409),
                    # before anything can be read there: only what is there has been taken.
                    if self.exists(name):
                        return False
                    if attempt == _TRIES:
                        raise
                    time.sleep(_PAUSE_S * attempt)
        raise AssertionError("unreachable")

    def read(self, name: str) -> bytes:
        """Give the bytes of an object; StoreError where it is missing or unreadable."""
        with self._as_store_error(name, "read"):
            return bytes(self.filesystem.cat_file(self.path(name)))

    def read_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Give bytes of an object, by start and length; fewer where it ends before."""
        path = self.path(name)
        with self._as_store_error(name, "read"):
            return [
                bytes(self.filesystem.cat_file(path, start=start, end=start + length))
                for start, length in ranges
            ]

    @property
    def n_readers(self) -> int:
        """Objects that are read at a time."""
        return _READERS

    def exists(self, name: str) -> bool:
        """Tell whether an object of that name is there."""
        with self._as_store_error(name, "look up"):
            return bool(self.filesystem.exists(self.path(name)))

    def names(self, folder: str = "") -> tuple[str, ...]:
        """Name the direct children of a folder, sorted; none where it is missing."""
        path = self.path(folder)
        with self._as_store_error(folder, "list"):
            try:
                found = self.filesystem.ls(path, detail=False)
            except FileNotFoundError:
                return ()
        names = {
            entry.rstrip("/").rsplit("/", 1)[1]
            for entry in found
            if _is_stored_below_folder(entry, path)
        }
        return tuple(sorted(names))

    def sizes(self, folder: str) -> dict[str, int]:
        """Give the size in bytes of every object below a folder, by name relative to the root."""
        path = self.path(folder)
        with self._as_store_error(folder, "list"):
            try:
                found = self.filesystem.find(path, detail=True)
            except FileNotFoundError:
                return {}
        start = len(self.prefix) + 1
        return {entry[start:]: int(facts["size"]) for entry, facts in sorted(found.items())}

    def remove(self, name: str) -> None:
        """Remove an object; nothing happens where it is missing."""
        with self._as_store_error(name, "remove"), suppress(FileNotFoundError):
            self.filesystem.rm_file(self.path(name))

    def prepare(self) -> None:
        """Do nothing: a prefix exists as soon as an object has it."""

    def is_exclusive(self, folder: str = "commits") -> bool:
        """Tell whether the store honours exclusive creation, by trying it twice in a folder.

        Effects: puts and removes one object, which stays where the process is killed between.
        """
        import fsspec

        # The base class looks first and writes then, which two writers can do at once.
        putter = getattr(self.filesystem.pipe_file, "__func__", None)
        if putter is fsspec.AbstractFileSystem.pipe_file:
            return False
        name = f"{folder}/{PROBE}{secrets.token_hex(8)}"
        first = self.create(name, b"first")
        second = self.create(name, b"second")
        # Of a PUT whose answer was lost, and which was sent again, the store says that it is taken.
        stands = first or self.read(name) == b"first"
        self.remove(name)
        return stands and not second

    def _content(self, name: str) -> bytes | None:
        with self._as_store_error(name, "read"), suppress(FileNotFoundError):
            return bytes(self.filesystem.cat_file(self.path(name)))
        return None

    def _size(self, name: str) -> int | None:
        with self._as_store_error(name, "look up"), suppress(FileNotFoundError):
            facts = self.filesystem.info(self.path(name))
            return int(facts["size"]) if facts.get("type") == "file" else None
        return None

    @contextmanager
    def _as_store_error(self, name: str, verb: str) -> Iterator[None]:
        """Turn what the store refuses into a StoreError that names the object."""
        try:
            yield
        except file_system_errors() as error:
            reason = str(error) or type(error).__name__
            raise StoreError(
                f"cannot {verb} an object: {reason}", where={"url": self.address(name)}
            ) from error


def _is_stored_below_folder(entry: str, folder: str) -> bool:
    """Tell whether a listed path lies below the folder (stores also list the folder itself)."""
    return entry.rstrip("/").lstrip("/").startswith(folder.lstrip("/") + "/")
