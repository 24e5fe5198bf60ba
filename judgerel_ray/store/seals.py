"""Seals of files that commands write: what tells later that not a byte of one was changed.

Parquet and pages have a place for a SHA-256 of themselves: it is taken with zeros in that place.
CSV and JSON have none that other readers would pass over, so theirs is kept beside the content, as
an extended attribute of the file, where the file system has such.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress

NAME = "judgerel_ray.sha256"
"""Key of the seal: of Parquet's metadata, a page's ``<meta>``, and after ``user.`` of a file."""
UNSEALED = "0" * 64
"""What stands in the place of a seal before it is known."""
_PLACE = re.compile(rb'judgerel_ray\.sha256(?:\x18@|" content=")([0-9a-f]{64})')
_ATTRIBUTE = f"user.{NAME}"


def sealed(data: bytes) -> bytes:
    """Give content its seal where it has a place for one.

    Examples
    --------
    >>> page = f'<meta name="{NAME}" content="{UNSEALED}">'.encode()
    >>> is_whole(sealed(page)), is_whole(sealed(page) + b"more"), is_whole(page), is_whole(b"a")
    (True, False, False, None)
    """
    place = _place(data)
    return data if place is None else _with_seal(data, place, _digest(data, place))


def is_whole(data: bytes) -> bool | None:
    """Tell whether content is as it was sealed; None where it has no place for a seal."""
    place = _place(data)
    return None if place is None else data[slice(*place)] == _digest(data, place)


def keep_beside(path: str, data: bytes) -> None:
    """Keep the digest of what was just written to a file of this machine beside its content.

    Effects: an extended attribute; nothing where the file system or the system has none.
    """
    if hasattr(os, "setxattr"):
        with suppress(OSError):
            os.setxattr(path, _ATTRIBUTE, _sha256(data))


def is_as_kept(path: str, data: bytes) -> bool | None:
    """Tell whether a file holds what it was left with; None where nothing is kept of it.

    Examples
    --------
    >>> is_as_kept("no-such.csv", b"")
    """
    if hasattr(os, "getxattr"):
        with suppress(OSError):
            return os.getxattr(path, _ATTRIBUTE) == _sha256(data)
    return None


def _place(data: bytes) -> tuple[int, int] | None:
    """Where the seal is: the last such place, as Parquet tells its metadata behind all cells."""
    spans = [found.span(1) for found in _PLACE.finditer(data)]
    return spans[-1] if spans else None


def _with_seal(data: bytes, place: tuple[int, int], seal: bytes) -> bytes:
    start, end = place
    return data[:start] + seal + data[end:]


def _digest(data: bytes, place: tuple[int, int]) -> bytes:
    """SHA-256 of content without its seal."""
    return _sha256(_with_seal(data, place, UNSEALED.encode()))


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
