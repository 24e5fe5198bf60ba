"""Digests of what landed, column by column: bytes are checked before any of them is decoded.

Most of a part is keys and seeds, which few numbers need. So its record holds a digest of every
column's bytes and of the footer, and readers check those columns that they may read: a few bytes a
row. CRC-32 tells every flipped bit, every burst of up to 32 bits, and all but one in four thousand
million of other faults; the SHA-256 of the whole file, which ``verify`` checks, tells forgeries.
"""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import polars as pl

from judgerel_ray.store.files import Bucket, Disk, parallel_map

ByteSection = tuple[int, int, int]
"""Bytes of a file: where they start, how many there are, and their CRC-32."""
Sections = Mapping[str, tuple[ByteSection, ...]]
"""Sections by column; those of no column, the mark at the beginning and the footer, by ``""``."""

REST = ""
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What reading a damaged Parquet file raises; a panic of Polars is no Exception."""
_AT_A_TIME = 8
_FOOTER_END = 8  # the footer's length, and the mark at the end


class Vouched(NamedTuple):
    """A file, and the sections of it to read, whose bytes are known."""

    name: str
    sections: tuple[ByteSection, ...]


def sections_of(data: bytes) -> dict[str, tuple[ByteSection, ...]]:
    """Digests of a Parquet file, by column; together they cover every byte.

    Examples
    --------
    >>> from judgerel_ray.store.parts import encode_parquet
    >>> data = encode_parquet(pl.DataFrame({"a": [1], "b": [2]}))
    >>> found = sections_of(data)
    >>> list(found), sum(n for all_ in found.values() for _, n, _ in all_) == len(data)
    (['', 'a', 'b'], True)
    """
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(io.BytesIO(data))
    starts = [(0, REST), (len(data) - _FOOTER_END - metadata.serialized_size, REST)]
    for row_group in range(metadata.num_row_groups):
        group = metadata.row_group(row_group)
        for place in range(group.num_columns):
            chunk = group.column(place)
            first = chunk.data_page_offset
            if chunk.has_dictionary_page:
                first = min(first, chunk.dictionary_page_offset)
            starts.append((first, chunk.path_in_schema.partition(".")[0]))
    starts.sort()
    ends = [start for start, _ in starts[1:]] + [len(data)]
    found: dict[str, list[ByteSection]] = {}
    view = memoryview(data)
    for (start, column), end in zip(starts, ends, strict=True):
        section = (start, end - start, zlib.crc32(view[start:end]))
        found.setdefault(column, []).append(section)
    return {column: tuple(sections) for column, sections in found.items()}


def chosen(sections: Sections, columns: Collection[str] | None) -> tuple[ByteSection, ...]:
    """Sections of some columns and of no column, in the file's order; of all where it is None.

    Examples
    --------
    >>> chosen({"": ((0, 4, 1), (9, 9, 2)), "a": ((4, 2, 3),), "b": ((6, 3, 4),)}, ["b"])
    ((0, 4, 1), (6, 3, 4), (9, 9, 2))
    """
    wanted = sections if columns is None else {REST, *columns}
    return tuple(sorted(one for name in wanted for one in sections.get(name, ())))


def altered(files: Disk | Bucket, vouched: Iterable[Vouched]) -> tuple[str, ...]:
    """Name the files whose bytes are not those that were written, of those that must be there.

    Effects: reads the sections, of several files at a time.

    Examples
    --------
    >>> files = Bucket(url="memory://doctest-altered")
    >>> files.write("a", b"one")
    >>> altered(files, [Vouched("a", ((0, 3, zlib.crc32(b"one")),))])
    ()
    >>> altered(files, [Vouched("a", ((0, 3, zlib.crc32(b"two")),))])
    ('a',)
    """
    wanted = list(vouched)
    n_readers = (
        files.n_readers if isinstance(files, Bucket) else min(_AT_A_TIME, _n_cores_for_digests())
    )
    whole = parallel_map(partial(_is_stored_file_whole, files), wanted, n_readers)
    return tuple(one.name for one, is_whole in zip(wanted, whole, strict=True) if not is_whole)


def sha256(data: bytes) -> str:
    """SHA-256 of a file's bytes, as manifests and records hold it.

    Examples
    --------
    >>> sha256(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(data).hexdigest()


def _is_stored_file_whole(files: Disk | Bucket, one: Vouched) -> bool:
    """Whether a file holds the bytes that were written."""
    runs = _adjacent_stored_sections(one.sections)
    for (start, _, sections), data in zip(
        runs, files.read_ranges(one.name, [(start, n) for start, n, _ in runs]), strict=True
    ):
        view = memoryview(data)
        for first, n, crc in sections:
            if zlib.crc32(view[first - start : first - start + n]) != crc:
                return False
    return True


def _adjacent_stored_sections(
    sections: Sequence[ByteSection],
) -> list[tuple[int, int, list[ByteSection]]]:
    """Sections that lie side by side, to be read in one go: start, length, and the sections."""
    runs: list[tuple[int, int, list[ByteSection]]] = []
    for one in sections:
        start, n, _ = one
        if runs and sum(runs[-1][:2]) == start:
            first, length, inside = runs[-1]
            runs[-1] = (first, length + n, [*inside, one])
        else:
            runs.append((start, n, [one]))
    return runs


def _n_cores_for_digests() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
