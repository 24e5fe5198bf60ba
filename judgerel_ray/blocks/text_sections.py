"""Rows of numbers with intervals, written as a section of text: a title, a table, what to know."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from judgerel_ray.blocks.columns import table_within, wrapped
from judgerel_ray.blocks.words import cell, flag_words, number, p_value, reason, remarks
from judgerel_ray.core.codes import Flag

Row = Mapping[str, object]


Columns = Mapping[str, Callable[[Row], str]]


_WITHOUT = {
    "undefined_first": "a has no value",
    "undefined_second": "b has no value",
    "no_common_questions": "no question is in both",
}


def remarks_beside_lead(row: Row) -> list[str]:
    """Remarks but for how few replies hold a verdict, which a sentence of its own says."""
    leading = flag_words(row, Flag.FEW_VERDICTS)
    beside = {**row, "no_interval": None}  # said where the interval would be
    others = [one for one in remarks(beside) if one not in leading]
    return others + flag_words(row, Flag.SOME_WITHOUT)


def section_text(
    table: pl.DataFrame, title: str, columns: Columns, note: str = "", lead: str = ""
) -> str:
    """A title, what all rows share, a table of the rest, and what is to be known of it.

    Examples
    --------
    >>> table = pl.DataFrame({"a": ["x"], "b": ["y"]})
    >>> print(section_text(table, "pairs", {"first": plain("a"), "second": plain("b")}))
    pairs
    first  second
    x      y
    """
    first = next(name for name in table.columns if name in _FIRST)
    groups = table.columns[: table.columns.index(first)]
    varying = [name for name in groups if table[name].n_unique() > 1]
    shared = [
        f"{name.replace('_', ' ')} {cell(table[name][0])}"
        for name in groups
        if name not in varying and table[name][0] is not None
    ]
    lines = [
        [*(cell(row[name]) for name in varying), *(write(row) for write in columns.values())]
        for row in table.iter_rows(named=True)
    ]
    heads = [*varying, *columns]
    # A column that says nothing in any row (GPU-seconds of a judge without GPUs) is left out.
    has_text = [any(text not in ("", "-") for text in texts) for texts in zip(*lines, strict=True)]
    heads = [head for head, kept in zip(heads, has_text, strict=True) if kept]
    lines = [[text for text, kept in zip(line, has_text, strict=True) if kept] for line in lines]
    heading = f"{title} [{', '.join(shared)}]" if shared else title
    above = () if first == "component" else _COLUMNS_ABOVE  # its remarks are of single rows
    text = f"{heading}\n{table_within(heads, lines, [*varying, *above])}"
    return "\n".join([text, *(wrapped(one) for one in (lead, note) if one)])


def with_interval(value: str, low: str, high: str) -> Callable[[Row], str]:
    """A number with its interval; a dash, or why there is none."""

    def write(row: Row) -> str:
        if row[value] is None:
            return (
                _WITHOUT.get(str(row["undefined"]), reason(row["undefined"]))
                if (row.get("undefined"))
                else "-"
            )
        if row[low] is None or row[high] is None:
            why = reason(row.get("no_interval") or "no_interval")
            return f"{number(row[value])} [{why}]"
        return f"{number(row[value])} [{number(row[low])}, {number(row[high])}]"

    return write


def plain(name: str, digits: int = 3) -> Callable[[Row], str]:
    """A column as it is, numbers rounded."""

    def write(row: Row) -> str:
        value = row[name]
        if isinstance(value, float):
            return number(value, digits)
        return f"{value:,}" if isinstance(value, int) and value >= 10_000 else cell(value)

    return write


def short_p(name: str) -> Callable[[Row], str]:
    """A p value, short for three to stand side by side."""
    return lambda row: p_value(row[name]).replace("< 0.", "<.")


_COLUMNS_ABOVE = ("a", "b", "no verdict", "two judgments", "questions", "remark")  # of comparisons


_FIRST = ("component", "design", "target", "n_items", "n_judges", "a")
