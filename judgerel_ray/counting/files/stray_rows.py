"""Rows of a sheet that are no judgments: empty, its names again, headings of runs, totals.

Tables that people keep by hand have them, and tables that were put together of several files. They
are looked for in tables of text that are read whole at a glance, and each kind left out is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from judgerel_ray.core import count_of
from judgerel_ray.counting.files.names import facet_of
from judgerel_ray.counting.files.source import Source

MOST_ROWS = 20_000
_WORD = re.compile(r"\s*[^\W\d_]{2,}")  # and no letter alone, as items have: r1
_MOST_TOTALS = 3  # lines below a table that sum it up
TOTALS = (
    "total", "totals", "grand total", "subtotal", "sum", "mean", "average", "avg", "avg.", "median",
    "overall", "summary", "pass rate", "accuracy", "std", "count",
    "durchschnitt", "mittelwert", "mittel", "summe", "gesamt", "insgesamt", "ergebnis",
    "media", "promedio", "suma", "moyenne", "somme", "平均", "平均分", "合计", "总计",
)  # fmt: skip
"""What a line is called that sums up others."""


def without_stray_rows(source: Source) -> Source:
    """Leave rows out that are no judgments, and say so; larger tables are read as they are.

    A line of totals is one of the last, called so, with no other cell or a value that no row above
    it has.

    Examples
    --------
    >>> rows = pl.LazyFrame({"id": ["a", "id", "b", None, "Mean"], "run1": ["3", "run1", "4", None,
    ...                      "3.5"]})
    >>> found = without_stray_rows(Source(rows=rows))
    >>> found.rows.collect()["id"].to_list(), found.notes
    (['a', 'b'], ('left out 1 row that names the columns again', "left out the last row, 'Mean', \
which sums up others"))
    """
    schema = source.rows.collect_schema()
    if source.indexed or not schema:
        return source
    begin = source.rows.head(MOST_ROWS).collect(engine="streaming")
    if begin.height == MOST_ROWS:
        return source
    source = replace(source, rows=begin.lazy(), held=True)
    if begin.is_empty() or any(kind != pl.String for kind in schema.values()):
        return source
    filled = pl.any_horizontal((pl.all().str.strip_chars() != "").fill_null(False))
    again = pl.all_horizontal(
        (pl.col(name).str.strip_chars() == name.strip()).fill_null(False) for name in schema
    )
    marks = begin.select(filled=filled, again=again & filled)
    kept, notes = begin.filter(marks["filled"] & ~marks["again"]), []
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
    if kept.height in (0, begin.height):
        return source
    return replace(source, rows=kept.lazy(), notes=(*source.notes, *notes))


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
