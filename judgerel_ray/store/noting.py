"""Reads a damaged folder to its end: what cannot be read is noted, and counts as empty."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from judgerel_ray.core import StoreError
from judgerel_ray.store.files import Disk


@dataclass(frozen=True, slots=True, kw_only=True)
class NotingDisk(Disk):
    """Files under one folder, of which no single one ends the reading of the others.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     disk = NotingDisk(root=folder)
    ...     os.mkdir(f"{folder}/a")
    ...     disk.read_many(["a", "b"]), disk.unread
    ({'a': b''}, {'a': 'Is a directory; remove it, or put a copy of the file in its place'})
    """

    # What was asked for and could not be read, and the FIFOs, sockets, devices and links in a
    # circle that `sizes` came upon, by name: why, and what to try.
    unread: dict[str, str] = field(default_factory=dict)

    def read(self, name: str) -> bytes:
        """As of a disk, but empty where what is there cannot be read."""
        data = self.read_many([name]).get(name)
        return Disk.read(self, name) if data is None else data

    def read_many(self, names: Iterable[str]) -> dict[str, bytes]:
        """As of a disk, but empty where what is there cannot be read."""
        found: dict[str, bytes] = {}
        for name in names:
            try:
                found |= Disk.read_many(self, [name])
            except StoreError as error:
                if self._note(name, error):
                    found[name] = b""
        return found

    def names(self, folder: str = "") -> tuple[str, ...]:
        """As of a disk, but none where the folder cannot be read."""
        try:
            return Disk.names(self, folder)
        except StoreError as error:
            self._note(folder or ".", error)
            return ()

    def sizes(self, folder: str) -> dict[str, int]:
        """As of a disk, without what cannot be read."""
        found: dict[str, int] = {}

        def note(error: OSError) -> None:
            self._note(self._name(str(error.filename)), error)

        for here, _, names in os.walk(self.address(folder), onerror=note):
            for name in (self._name(os.path.join(here, one)) for one in names):
                try:
                    size = Disk.sizes_of(self, [name])
                    if not size:
                        Disk.read_many(self, [name])  # says what it is
                    found |= size
                except StoreError as error:
                    self._note(name, error)
        return dict(sorted(found.items()))

    def sizes_of(self, names: Iterable[str]) -> dict[str, int]:
        """As of a disk, without what cannot be read."""
        found: dict[str, int] = {}
        for name in names:
            with suppress(StoreError):
                found |= Disk.sizes_of(self, [name])
        return found

    def _name(self, path: str) -> str:
        """Name of what lies at a path."""
        return os.path.relpath(path, self.root)

    def _note(self, name: str, error: StoreError | OSError) -> bool:
        """Note why something cannot be read, unless it is missing; tell whether it was noted."""
        cause = error.__cause__ if isinstance(error, StoreError) else error
        if isinstance(cause, FileNotFoundError | NotADirectoryError):
            return False
        why = (isinstance(cause, OSError) and cause.strerror) or str(cause)
        hint = error.hint if isinstance(error, StoreError) else None
        self.unread[name] = f"{why}; {hint or 'make it readable'}"
        return True
