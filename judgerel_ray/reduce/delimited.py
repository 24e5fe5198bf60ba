"""Tables of text: CSV and its kin, whatever stands between the columns."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.columns import KNOWN_BY

_BETWEEN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_HEAD = 1 << 20  # bytes in which the line of names is looked for
_MARKS = ((b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"),
          (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))  # fmt: skip


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
    >>> frame, said = read_delimited(b"item_id;verdict\nq;A\n", {})
    >>> frame.collect().rows(), said
    ([('q', 'A')], ('read with semicolons between columns, as its first line has them',))
    """
    head = source[:_HEAD] if isinstance(source, bytes) else _head(source)
    codec = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    # What Polars does not read by itself: other encodings, the line ends of old Macs, a line that
    # says what stands between columns, as spreadsheets write it.
    ends = b"\n" in head or b"\r" not in head.rstrip(b"\r")
    if codec or not ends or head[:4].lower() == b"sep=":
        content = source if isinstance(source, bytes) else _whole(source)
        return _rewritten(content, codec or "utf-8", where, separator)
    if b"\x00" in head:
        raise SweepError("the file is no text: it holds zero bytes", where=where)
    text = head.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise SweepError("the file is empty", where=where)
    names, between, notes = _named(text, where, separator)
    if text.lstrip()[:1] in ("{", "[") and not any(name.lower() in KNOWN_BY for name in names):
        raise SweepError(
            "the file holds JSON, by its first line, and no names of columns",
            where=where,
            hint="give it the ending .jsonl, or .json where it is one document",
        )
    scanned = io.BytesIO(source) if isinstance(source, bytes) else source
    regular, blank = _looks(scanned, between, len(names))
    if not regular or text[:1] in "\r\n":
        content = source if isinstance(source, bytes) else _whole(source)
        return _by_python(_text(content, "utf-8-sig", where), names, between, where), notes
    frame = pl.scan_csv(
        io.BytesIO(source) if isinstance(source, bytes) else source,
        separator=between, infer_schema=False, glob=False, new_columns=names,
    )  # fmt: skip
    # An empty line is no row.
    return frame.filter(pl.any_horizontal(pl.all().is_not_null())) if blank else frame, notes


def _rewritten(
    content: bytes, codec: str, where: Mapping[str, object], separator: str
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """A table whose text is put right first."""
    text = _text(content, codec, where).removeprefix("\ufeff")
    if text[:4].lower() == "sep=":
        first, _, text = text.partition("\n")
        separator = first[4:5] if first[4:5] in _BETWEEN else separator
    if "\n" not in text:
        text = text.replace("\r", "\n")
    return read_delimited(text.encode(), where, separator=separator)


def _named(
    text: str, where: Mapping[str, object], separator: str
) -> tuple[list[str], str, tuple[str, ...]]:
    """Names of the columns, and what stands between them: that which gives most names we know."""
    found = {sign: _first_line(text, sign) for sign in (separator, *_BETWEEN)}

    def worth(sign: str) -> tuple[int, int]:
        known = sum(name.lower() in KNOWN_BY for name in found[sign])
        return known, len(found[sign]) if known == 0 else 0

    between = max(found, key=worth)  # the first of those that are worth as much
    names = found[between]
    if not any(names):
        raise SweepError("the first line names no columns", where=where)
    twice = [name for name, n in Counter(names).items() if n > 1 and name]
    if twice:
        places = [str(place) for place, name in enumerate(names, start=1) if name == twice[0]]
        raise SweepError(
            f"columns {' and '.join(places)} are both called {twice[0]!r}",
            where=where,
            hint="give each column a name of its own in the first line",
        )
    named = [name or f"column {place}" for place, name in enumerate(names, start=1)]
    if between == separator:
        return named, between, ()
    return (
        named,
        between,
        (f"read with {_BETWEEN[between]} between columns, as its first line has them",),
    )


def _first_line(text: str, sign: str) -> list[str]:
    """Names in the first line that is not empty, by what stands between them."""
    with _long_fields():
        try:
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=sign)
            first = next((row for row in rows if any(name.strip() for name in row)), [])
        except csv.Error:
            first = text.partition("\n")[0].split(sign)
    return [name.strip() for name in first]


def _looks(scanned: io.BytesIO | str, between: str, n_columns: int) -> tuple[bool, bool]:
    """Whether every line has all its fields and Polars reads its quotes, and whether any is empty.

    Polars fills short lines with nulls, and drops what is too much where it reads a few columns.
    """
    line = pl.col("line")
    sign = "\\" + between if between in "|;," else between
    bare = line.str.replace_all(rf'(^|{sign})"(?:[^"]|"")*"', "${1}")
    bare = pl.when(line.str.contains('"', literal=True)).then(bare).otherwise(line)
    is_blank = line.str.strip_chars() == ""
    uneven = bare.str.count_matches(between, literal=True) != n_columns - 1
    wrong = (uneven & ~is_blank) | bare.str.contains('"', literal=True)
    try:
        looked = pl.scan_lines(scanned, name="line").select(wrong.any(), blank=is_blank.any())
        has_wrong, blank = looked.collect(engine="streaming").row(0)
    except PolarsError:
        return False, False  # which byte is wrong is found where it is read
    return not has_wrong, bool(blank)


def _by_python(
    text: str, names: Sequence[str], between: str, where: Mapping[str, object]
) -> pl.LazyFrame:
    """The rows as Python's own reader has them, line by line; refused where one is uneven."""
    columns: list[list[str | None]] = [[] for _ in names]
    # Strict: a quotation mark that is never closed would make one field of all that follows.
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
    line, named = 1, False
    with _long_fields():
        try:
            for row in rows:
                if row and len(row) != len(names) and (len(row) > 1 or row[0].strip()):
                    raise _uneven(line, row, len(names), where)
                if named and len(row) == len(names) and any(row):
                    for column, value in zip(columns, row, strict=True):
                        column.append(value or None)
                named = named or any(name.strip() for name in row)
                line = rows.line_num + 1
        except csv.Error as error:
            raise SweepError(
                f"line {line} cannot be read: {error}", where={**where, "line": line}
            ) from error
    series = zip(names, columns, strict=True)
    return pl.LazyFrame([pl.Series(name, column, dtype=pl.String) for name, column in series])


def _uneven(
    line: int, row: Sequence[str], n_columns: int, where: Mapping[str, object]
) -> SweepError:
    """The refusal of a line with another number of fields."""
    open_quote = any("\n" in field for field in row)
    hint = "a quotation mark in it is not closed" if open_quote else "put a field that holds the "
    return SweepError(
        f"line {line} has {len(row)} fields, the first line names {n_columns} columns",
        where={**where, "line": line},
        hint=hint if open_quote else f"{hint}separator in double quotes, and leave none out",
    )


def _text(content: bytes, codec: str, where: Mapping[str, object]) -> str:
    """The text of a file."""
    try:
        return content.decode(codec)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SweepError(
            f"line {line} is not {codec.removesuffix('-sig').upper()}: "
            f"byte 0x{content[error.start]:02x}",
            where={**where, "line": line},
            hint="save the file as UTF-8",
        ) from error


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_HEAD)


def _whole(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


@contextmanager
def _long_fields() -> Iterator[None]:
    """Fields of any length, as prompts are; the limit is Python's for the whole process."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
