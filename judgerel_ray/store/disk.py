"""Files of a run directory on a disk every process sees (local, NFS, Lustre)."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from judgerel_ray.core import StoreError

# What file systems without hard links answer to link(2): FAT and FUSE say EPERM, others the rest.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV})


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """Files under one folder, by names relative to it; every write is whole and durable.

    Parameters
    ----------
    root : str
        Absolute path of the folder; it need not exist yet.

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
                won = _link(temporary, path, data)
            finally:
                temporary.unlink(missing_ok=True)
            _sync_folder(path.parent)
        return won

    def read(self, name: str) -> bytes:
        """Give the bytes of a file; StoreError where it is missing or unreadable."""
        path = Path(self.address(name))
        with _as_store_error(path, "read"):
            return path.read_bytes()

    def read_many(self, names: Iterable[str]) -> dict[str, bytes]:
        """Read files by name; those that are missing are left out."""
        found = {}
        for name in names:
            path = Path(self.address(name))
            with suppress(FileNotFoundError), _as_store_error(path, "read", FileNotFoundError):
                found[name] = path.read_bytes()
        return found

    def read_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Give bytes of a file, by start and length; fewer where it ends before."""
        path = Path(self.address(name))
        found = []
        with _as_store_error(path, "read"), open(path, "rb", buffering=0) as file:
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
                for entry in _entries(self.address(here)):
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

    def sizes_of(self, names: Iterable[str]) -> dict[str, int]:
        """Give the size in bytes of files by name; those that are missing are left out."""
        found = {}
        for name in names:
            path = Path(self.address(name))
            with suppress(FileNotFoundError), _as_store_error(path, "look up", FileNotFoundError):
                facts = path.stat()
                if stat.S_ISREG(facts.st_mode):
                    found[name] = facts.st_size
        return found

    def remove(self, name: str) -> None:
        """Remove a file; nothing happens where it is missing."""
        path = Path(self.address(name))
        with _as_store_error(path, "remove"):
            path.unlink(missing_ok=True)

    def prepare(self) -> None:
        """Make the folder itself."""
        with _as_store_error(Path(self.root), "create"):
            _make_folder(Path(self.root))

    def is_exclusive(self) -> bool:
        """Tell whether creation is exclusive; link(2) and O_EXCL always are."""
        return True


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What lies in a folder; nothing where it is missing, or goes meanwhile."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        return list(entries)
    return []


@contextmanager
def _as_store_error(path: Path, verb: str, *passed: type[OSError]) -> Iterator[None]:
    """Turn what the operating system refuses into a StoreError that names the path."""
    try:
        yield
    except passed:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"cannot {verb} a file: {reason}", where={"path": path}) from error


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


def _link(temporary: Path, path: Path, data: bytes) -> bool:
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
