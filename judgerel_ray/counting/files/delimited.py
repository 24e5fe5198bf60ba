"""Tables of text: what stands between columns, their names, their rows, and which are none."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.core.files import PACKED
from judgerel_ray.core.text import (
    SEPARATORS,
    Heading,
    heading_of,
    marked_encoding,
    one_kind_of_lines,
    rows_below,
    table_text,
)
from judgerel_ray.counting.columns import KNOWN_BY, check_width
from judgerel_ray.counting.files.names import COMMON, facet_of, may_come_again, roles_of

_SHEET = re.compile(r"(?i)^(.+?\.(?:xlsx|xlsm|xls|ods)(?:\.(?:gz|bz2|xz|zst))?)#(.+)$")
_SEVERAL = 2
_FEWEST = 3  # columns below names in levels
_PIECE = 1 << 16  # bytes looked at together
_HEAD = 1 << 20  # bytes in which the line of names is looked for
_FIRST = 100  # lines among which a table of Markdown begins
_RULE = re.compile(r"(?=.*\|)(?=.*-)[ \t:|-]+")  # below the names of a table of Markdown
_BAR = re.compile(r"(?<!\\)\|")  # between its cells
_WORD = re.compile(r"\s*[^\W\d_]{2,}")  # and no letter alone, as items have: r1
_MOST_TOTALS = 3  # lines below a table that sum it up
TOTALS = (
    "total", "totals", "grand total", "subtotal", "sum", "mean", "average", "avg", "avg.", "median",
    "overall", "summary", "pass rate", "accuracy", "std", "count",
    "durchschnitt", "mittelwert", "mittel", "summe", "gesamt", "insgesamt", "ergebnis",
    "media", "promedio", "suma", "moyenne", "somme", "平均", "平均分", "合计", "总计",
)  # fmt: skip
"""What a line is called that sums up others."""


def kind_of(path: str) -> tuple[str, str]:
    """Tell the kind of a file by its name, and how it is packed ("" where it is not).

    Examples
    --------
    >>> kind_of("logs/Run1.CSV.gz"), kind_of("a.parquet")
    (('.csv', '.gz'), ('.parquet', ''))
    """
    name = PurePosixPath(path.lower().partition("?")[0]) if "://" in path else Path(path.lower())
    packed = name.suffix if name.suffix in PACKED else ""
    return PurePosixPath(name.name.removesuffix(packed)).suffix, packed


def book_of(path: str) -> tuple[str, str]:
    """The workbook of a path, and what stands behind it: ``book.xlsx#Sheet2``.

    Examples
    --------
    >>> book_of("logs/book.xlsx#Sheet2"), book_of("a#b.csv")
    (('logs/book.xlsx', 'Sheet2'), ('a#b.csv', ''))
    """
    found = None if "://" in path or os.path.exists(path) else _SHEET.match(path)
    return (found[1], found[2]) if found else (path, "")


def read_delimited(
    source: bytes | str, where: Mapping[str, object], *, separator: str = ",", above: int = 0
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    r"""Read a table of text: every column as text, an empty field as null; how, it says in notes.

    In its file `above` lines stand before it.

    Examples
    --------
    >>> frame, notes = read_delimited(b"item_id;verdict\nq;A\n", {})
    >>> frame.collect().rows(), notes
    ([('q', 'A')], ('read with semicolons between columns, as in its first line',))
    """
    head = source[:_HEAD] if isinstance(source, bytes) else _delimited_file_head(source)
    # What Polars does not read by itself: other encodings, the line ends of old Macs, a line that
    # says what stands between columns, as spreadsheets write it.
    ends = b"\n" in head or b"\r" not in head.rstrip(b"\r")
    if marked_encoding(head) or not ends or head[:4].lower() == b"sep=":
        content = source if isinstance(source, bytes) else _whole_delimited_file(source)
        text, separator = one_kind_of_lines(table_text(content, where), separator)
        return read_delimited(text.encode(), where, separator=separator)
    if b"\x00" in head:
        raise SweepError("the file is not text: it holds zero bytes", where=where)
    if len(head) == _HEAD and b"\n" not in head.lstrip() and head.lstrip()[:1] not in (b"{", b"["):
        _refuse_first_line(source, where)
    text = head.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise SweepError("the file is empty", where=where)
    if any(map(_RULE.fullmatch, text.splitlines()[:_FIRST])):
        content = source if isinstance(source, bytes) else _whole_delimited_file(source)
        if table := _markdown_rows(table_text(content, where).splitlines(), where):
            frame, notes = read_delimited(table, where)
            return frame, ("read as a table of Markdown", *notes)
    if levels := names_in_levels(text):
        n_lines, names, separator = levels
        content = source if isinstance(source, bytes) else _whole_delimited_file(source)
        below = table_text(content, where).split("\n", n_lines)[n_lines]
        line = io.StringIO()
        csv.writer(line, delimiter=separator, lineterminator="\n").writerow(names)
        frame, notes = read_delimited(
            (line.getvalue() + below).encode(), where, separator=separator, above=above
        )
        joined = ", ".join(names[1:3])
        return frame, (
            f"names of columns joined from {n_lines} header lines: {joined}, ...",
            *notes,
        )
    heading = heading_of(
        text, where, separator=separator, known=KNOWN_BY | COMMON, again=may_come_again
    )
    if heading.titles:
        content = source if isinstance(source, bytes) else _whole_delimited_file(source)
        rest = table_text(content, where).split("\n", heading.titles)[heading.titles]
        frame, _ = read_delimited(
            rest.encode(), where, separator=heading.separator, above=above + heading.titles
        )
        return frame, heading.notes
    names, between, notes, _ = heading
    check_width(len(names), where)
    scanned = io.BytesIO(source) if isinstance(source, bytes) else source
    regular, blank = _delimited_sheet_looks(scanned, between, len(names))
    if not regular or text[:1] in "\r\n":
        content = source if isinstance(source, bytes) else _whole_delimited_file(source)
        return _delimited_rows_by_python(table_text(content, where), heading, where, above), notes
    frame = pl.scan_csv(
        io.BytesIO(source) if isinstance(source, bytes) else source,
        separator=between, infer_schema=False, glob=False, new_columns=names,
    )  # fmt: skip
    # An empty line is no row.
    return frame.filter(pl.any_horizontal(pl.all().is_not_null())) if blank else frame, notes


def _markdown_rows(lines: Sequence[str], where: Mapping[str, object]) -> bytes:
    """The one table of a text of Markdown with commas between its cells; text around it is none."""
    begins = [n for n in range(1, len(lines)) if _RULE.fullmatch(lines[n]) and "|" in lines[n - 1]]
    if not begins:
        return b""
    ends = next((n for n in range(begins[0], len(lines)) if "|" not in lines[n]), len(lines))
    if len(begins) > 1:
        raise SweepError(
            f"the text holds {len(begins)} tables, the second from line {begins[1]} on",
            where=where,
            hint="keep one table in the file",
        )
    made = io.StringIO()
    for line in (lines[begins[0] - 1], *lines[begins[0] + 1 : ends]):
        row = line.strip().removeprefix("|").removesuffix("|")
        cells = [one.strip().replace("\\|", "|") for one in _BAR.split(row)]
        csv.writer(made, lineterminator="\n").writerow(cells)
    return made.getvalue().encode()


def names_in_levels(text: str) -> tuple[int, list[str], str] | None:
    r"""Names of columns over two or three lines, what stands between them, and how many; else None.

    The first names groups, each once or above every column; the second is alike below each; a
    third names the item alone, as pandas writes a pivot.

    Examples
    --------
    >>> names_in_levels(",gpt-4o,,o3,\nid,run1,run2,run1,run2\nq,a,b,a,a\n")
    (2, ['id', 'gpt-4o_run1', 'gpt-4o_run2', 'o3_run1', 'o3_run2'], ',')
    """
    lines = text.split("\n", 3)[:3]
    for sign in (*SEPARATORS.values(), ";", "|") if '"' not in "".join(lines[:2]) else ():
        cells = [[one.strip() for one in line.split(sign)] for line in lines]
        if len(cells) < 3 or len({len(one) for one in cells}) > 1 or len(cells[0]) < _FEWEST:
            continue
        (_, *groups), (word, *inner), (item, *rest) = cells
        for place in range(1, len(groups)):
            groups[place] = groups[place] or groups[place - 1]
        if any(rest) or not item:
            item, n_lines = word, 2
        else:
            n_lines = 3
            inner = [f"{word}{one}" if one.isdecimal() else one for one in inner]
        below = {group: [one for called, one in zip(groups, inner, strict=True) if called == group]
                 for group in groups}  # fmt: skip
        first, *others = below.values()
        is_alike = bool(others) and all(sorted(one) == sorted(first) for one in others)
        is_one = len({*first}) == len(first) and "" not in (*first, *groups)
        is_table = is_alike and is_one and (item.lower() in KNOWN_BY or roles_of(item))
        if is_table and (facet_of(first) is not None or all(map(roles_of, first))):
            joined = [f"{one}_{name}" for one, name in zip(groups, inner, strict=True)]
            return n_lines, [item, *joined], sign
    return None


def first_line(path: str) -> Sequence[str] | None:
    """The names of the columns of a table of text; None where more than its begin tells them."""
    kind, packed = kind_of(path)
    if kind not in SEPARATORS or packed or not Path(path).is_file():
        return None
    head = _delimited_file_head(path)
    if marked_encoding(head) or b"\x00" in head or b"\n" not in head:
        return None
    text = head.decode("utf-8-sig", errors="replace")
    if not text.strip() or text[:4].lower() == "sep=" or names_in_levels(text):
        return None
    where = {"file": path}
    heading = heading_of(
        text, where, separator=SEPARATORS[kind], known=KNOWN_BY | COMMON, again=may_come_again
    )
    return None if heading.titles else heading.names


def _refuse_first_line(source: bytes | str, where: Mapping[str, object]) -> None:
    """Refuse a line of names that is too long for one, with the number of its columns."""
    with io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb") as file:
        line = file.readline()
    n_columns = 1 + max(line.count(sign) for sign in (b",", b";", b"\t", b"|"))
    raise SweepError(
        f"the first line names {count_of(n_columns, 'column')} in {len(line):,} bytes, expected "
        f"at most {_HEAD:,} bytes",
        where=where,
        hint="keep the columns that tell judgments apart, such as judge, item_id, replication and "
        "verdict, or write Parquet",
    )


def _delimited_sheet_looks(
    scanned: io.BytesIO | str, between: str, n_columns: int
) -> tuple[bool, bool]:
    """Whether every line has all its fields and Polars reads its quotes, and whether any is empty.

    Polars fills short lines with nulls, and drops what is too much where it reads a few columns.
    """
    try:
        if _are_plain_lines(scanned, between, n_columns):
            return True, False
    except UnicodeDecodeError:
        return False, False
    line = pl.col("line")
    sign = "\\" + between if between in "|;," else between
    # A mark stands for each quoted field, to see what is behind it.
    bare = line.str.replace_all(rf'(^|{sign})"(?:[^"]|"")*"', "${1}\x01")
    bare = pl.when(line.str.contains('"', literal=True)).then(bare).otherwise(line)
    is_blank = line.str.strip_chars() == ""
    uneven = bare.str.count_matches(between, literal=True) != n_columns - 1
    wrong = (uneven & ~is_blank) | bare.str.contains(rf'"|\x01[^{sign}\r]')
    try:
        blanks = pl.scan_lines(scanned, name="line").select(wrong.any(), blank=is_blank.any())
        has_wrong, blank = blanks.collect(engine="streaming").row(0)
    except PolarsError:
        return False, False  # which byte is wrong is found where it is read
    return not has_wrong, bool(blank)


def _are_plain_lines(scanned: io.BytesIO | str, between: str, n_columns: int) -> bool:
    """Whether every line has all its fields, none of them quoted; of few lines others tell more.

    All other bytes left out, such a file is one short text again and again.
    """
    line = between.encode() * (n_columns - 1) + b"\n"
    if n_columns < _SEVERAL or between == "\t":  # a line of blanks is none
        return False
    others = bytes({*range(256)} - {*line, *b'"'})
    decoder, rest = codecs.getincrementaldecoder("utf-8")(), b""
    with (
        io.BytesIO(scanned.getvalue())
        if isinstance(scanned, io.BytesIO)
        else open(scanned, "rb") as file
    ):
        while piece := file.read(_PIECE):
            decoder.decode(piece)
            signs = rest + piece.translate(None, others)
            n = len(signs) // len(line) * len(line)
            if signs[:n] != line * (n // len(line)):
                return False
            rest = signs[n:]
    decoder.decode(b"", final=True)
    return rest in (b"", line[:-1])


def _delimited_rows_by_python(
    text: str, heading: Heading, where: Mapping[str, object], above: int
) -> pl.LazyFrame:
    """The rows as Python's own reader has them, line by line; refused where one is uneven."""
    columns: list[list[str | None]] = [[] for _ in heading.names]
    for _, row in rows_below(text, heading, where, above=above):
        for column, value in zip(columns, row, strict=True):
            column.append(value or None)
    series = zip(heading.names, columns, strict=True)
    return pl.LazyFrame([pl.Series(name, column, dtype=pl.String) for name, column in series])


def _delimited_file_head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_HEAD)


def _whole_delimited_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def rows_of_judgments(table: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Leave rows of a table of text out that are no judgments, and say so, a line each kind.

    They are empty, the names again, headings of runs, and totals, as tables have that people keep
    by hand or join from several files. A line of totals is one of the last, called so, with
    no other cell or a value that no row above it has.

    Examples
    --------
    >>> rows = pl.DataFrame({"id": ["a", "id", "b", None, "Mean"], "run1": ["3", "run1", "4", None,
    ...                      "3.5"]})
    >>> found, notes = rows_of_judgments(rows)
    >>> found["id"].to_list(), notes
    (['a', 'b'], ['left out 1 row that names the columns again', "left out the last row, 'Mean', \
which sums up others"])
    """
    filled = pl.any_horizontal((pl.all().str.strip_chars() != "").fill_null(False))
    again = pl.all_horizontal(
        (pl.col(name).str.strip_chars() == name.strip()).fill_null(False) for name in table.columns
    )
    marks = table.select(filled=filled, again=again & filled)
    kept, notes = table.filter(marks["filled"] & ~marks["again"]), []
    if n := int(marks["again"].sum()):
        verb = "names" if n == 1 else "name"
        notes.append(f"left out {count_of(n, 'row')} that {verb} the columns again")
    headings = _repeat_heading_rows(kept)
    if any(headings):
        called = [one for one, is_one in zip(kept.to_series(), headings, strict=True) if is_one]
        kept = kept.filter(~pl.Series(headings))
        notes.append(f"left out {count_of(len(called), 'heading')}, such as {called[0]!r}")
    subtotals = [*_subtotals(kept.to_series().to_list())]
    if called := [kept.to_series()[place] for place in subtotals]:
        kept = kept.filter(~pl.int_range(kept.height, eager=True).is_in(subtotals))
        notes.append(f"left out {count_of(len(called), 'row')} that sum up others, such as "
                     f"{called[0]!r}")  # fmt: skip
    totals = [*_sheet_total_row_names(kept)]
    if totals:
        kept = kept.head(kept.height - len(totals))
        listed = " and ".join(map(repr, reversed(totals)))
        rows, sum_up = ("row", "sums up") if len(totals) == 1 else ("rows", "sum up")
        notes.append(f"left out the last {rows}, {listed}, which {sum_up} others")
    return kept, notes


def _repeat_heading_rows(rows: pl.DataFrame) -> list[bool]:
    """Which rows hold nothing but the name of a repeat, ``Run 1``, in their first column.

    None where rows with judgments are called so, too: they are items, some without a verdict.
    """
    first, *others = rows.columns
    rest = pl.any_horizontal((pl.col(others).str.strip_chars() != "").fill_null(False))
    if not others or rows.select(rest.all()).item():  # no row is of its first column alone
        return []
    named = [
        _WORD.match(cell or "") is not None and facet_of([(cell or "").strip()]) == "replication"
        for cell in rows[first]
    ]  # fmt: skip
    return [] if not any(named) or rows.filter(named).select(rest.any()).item() else named


def _subtotals(cells: Sequence[str | None]) -> Iterator[int]:
    """Places of cells that name a cell above them and a sum, as pivot tables have: ``q1 Total``."""
    seen: set[str] = set()
    for place, cell in enumerate(cells):
        words = (cell or "").strip()
        parts = [words.rpartition(" ")[::2], words.partition(" ")[::-2]]
        if any(name.strip() in seen and _is_sheet_total_row(word) for name, word in parts):
            yield place
        elif words:
            seen.add(words)


def _sheet_total_row_names(rows: pl.DataFrame) -> Iterator[str]:
    """What the last rows are called that sum up those above them, from the last one on."""
    for place in range(rows.height - 1, max(0, rows.height - 1 - _MOST_TOTALS), -1):
        cells = [(name, value.strip()) for name, value in rows.row(place, named=True).items()
                 if value is not None and value.strip()]  # fmt: skip
        called = cells[0][1] if cells else ""
        above = rows.head(place)
        if not _is_sheet_total_row(called) or _is_sheet_total_row(above[cells[0][0]][0]):
            return
        if len(cells) > 1 and all(value in above[name] for name, value in cells[1:]):
            return
        yield called


def _is_sheet_total_row(called: str | None) -> bool:
    return (called or "").strip(": ").lower() in TOTALS
