"""What packed files hold, by the ending of their name."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable

_BEGINS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zst": b"\x28\xb5\x2f\xfd"}
_NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
PACKED = tuple(_NAMES)
"""Endings of packed files that are read."""


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
