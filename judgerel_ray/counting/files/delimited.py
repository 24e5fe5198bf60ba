"""Frames of tables of text, which Polars reads where each line has all its fields."""

from __future__ import annotations

import io
from collections.abc import Mapping

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError
from judgerel_ray.core.text import (
    Heading,
    heading_of,
    marked_encoding,
    one_kind_of_lines,
    rows_below,
    table_text,
)
from judgerel_ray.counting.columns import KNOWN_BY

_HEAD = 1 << 20  # bytes in which the line of names is looked for


def read_delimited(
    source: bytes | str, where: Mapping[str, object], *, separator: str = ","
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    r"""Read a table of text: every column as text, an empty field as null.

    Parameters
    ----------
    source : bytes or str
        What the file holds, or its path.
    where : mapping of str to object
        What it is called in errors.
    separator : str
        What stands between columns, unless the line of names shows another.

    Returns
    -------
    LazyFrame
    tuple of str
        What is said of how it was read.

    Raises
    ------
    SweepError
        If it is no such table: two columns of one name, a line with more or fewer fields than there
        are columns (it is named), text that is not UTF-8 or UTF-16.

    Examples
    --------
    >>> frame, notes = read_delimited(b"item_id;verdict\nq;A\n", {})
    >>> frame.collect().rows(), notes
    ([('q', 'A')], ('read with semicolons between columns, as in its first line',))
    """
    head = source[:_HEAD] if isinstance(source, bytes) else _head(source)
    # What Polars does not read by itself: other encodings, the line ends of old Macs, a line that
    # says what stands between columns, as spreadsheets write it.
    ends = b"\n" in head or b"\r" not in head.rstrip(b"\r")
    if marked_encoding(head) or not ends or head[:4].lower() == b"sep=":
        content = source if isinstance(source, bytes) else _whole(source)
        text, separator = one_kind_of_lines(table_text(content, where), separator)
        return read_delimited(text.encode(), where, separator=separator)
    if b"\x00" in head:
        raise SweepError("the file is not text: it holds zero bytes", where=where)
    text = head.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise SweepError("the file is empty", where=where)
    heading = heading_of(text, where, separator=separator, known=KNOWN_BY)
    names, between, notes = heading
    scanned = io.BytesIO(source) if isinstance(source, bytes) else source
    regular, blank = _looks(scanned, between, len(names))
    if not regular or text[:1] in "\r\n":
        content = source if isinstance(source, bytes) else _whole(source)
        return _by_python(table_text(content, where), heading, where), notes
    frame = pl.scan_csv(
        io.BytesIO(source) if isinstance(source, bytes) else source,
        separator=between, infer_schema=False, glob=False, new_columns=names,
    )  # fmt: skip
    # An empty line is no row.
    return frame.filter(pl.any_horizontal(pl.all().is_not_null())) if blank else frame, notes


def _looks(scanned: io.BytesIO | str, between: str, n_columns: int) -> tuple[bool, bool]:
    """Whether every line has all its fields and Polars reads its quotes, and whether any is empty.

    Polars fills short lines with nulls, and drops what is too much where it reads a few columns.
    """
    line = pl.col("line")
    sign = "\\" + between if between in "|;," else between
    # A mark stands for each quoted field, to see what is behind it.
    bare = line.str.replace_all(rf'(^|{sign})"(?:[^"]|"")*"', "${1}\x01")
    bare = pl.when(line.str.contains('"', literal=True)).then(bare).otherwise(line)
    is_blank = line.str.strip_chars() == ""
    uneven = bare.str.count_matches(between, literal=True) != n_columns - 1
    wrong = (uneven & ~is_blank) | bare.str.contains(rf'"|\x01[^{sign}\r]')
    try:
        looked = pl.scan_lines(scanned, name="line").select(wrong.any(), blank=is_blank.any())
        has_wrong, blank = looked.collect(engine="streaming").row(0)
    except PolarsError:
        return False, False  # which byte is wrong is found where it is read
    return not has_wrong, bool(blank)


def _by_python(text: str, heading: Heading, where: Mapping[str, object]) -> pl.LazyFrame:
    """The rows as Python's own reader has them, line by line; refused where one is uneven."""
    columns: list[list[str | None]] = [[] for _ in heading.names]
    for _, row in rows_below(text, heading, where):
        for column, value in zip(columns, row, strict=True):
            column.append(value or None)
    series = zip(heading.names, columns, strict=True)
    return pl.LazyFrame([pl.Series(name, column, dtype=pl.String) for name, column in series])


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_HEAD)


def _whole(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
