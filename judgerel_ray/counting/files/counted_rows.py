"""Rows that count replies, as a row for each reply: ``n_yes`` beside ``n_no``, or ``count``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

import polars as pl

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.counting.columns import TYPED
from judgerel_ray.counting.files.layout import SAMPLE, VALUES
from judgerel_ray.counting.files.names import (
    WORDS,
    halves,
    in_common,
    is_aggregate,
    is_of_people,
    is_side_column,
    names_by_pattern,
    roles_of,
)
from judgerel_ray.counting.files.source import Source, quote_names

COUNT = "count"
"""The role that says how many replies a row stands for."""
BY_VERDICT = "{verdict}"
_ROW = "__row"
_CHOSEN = frozenset(("win", "wins", "won"))
_SEVERAL = 2
_MARKS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1, "": 0, "x": 1, "✓": 1, "✔": 1}
_TEXT_OR_TRUTH = (pl.String, pl.Boolean)
_MOST_REPLIES = 50_000_000


def one_row_a_reply(source: Source, stated: Mapping[str, str]) -> tuple[Source, Mapping[str, str]]:
    """A row for each reply that a column counts, and what else is stated; the rows where none does.

    A pattern with ``{verdict}`` in it names columns of counts, and what each says.

    Examples
    --------
    >>> rows = pl.LazyFrame({"id": ["p"], "n_yes": [2], "n_no": [1]})
    >>> one_row_a_reply(Source(rows=rows), {"count": "n_{verdict}"})[0].rows.collect().rows()
    [('p', 'yes'), ('p', 'yes'), ('p', 'no')]
    """
    place = stated.get(COUNT)
    if place is None:
        return source, stated
    called = f"{place} says"
    rest = {role: one for role, one in stated.items() if role != COUNT}
    table = source.rows.collect(engine="streaming")
    table = table.with_row_index(_ROW)
    if BY_VERDICT in place:
        counts = marks_of_one(source)[1] if place == BY_VERDICT else table.columns[1:]
        found = names_by_pattern(place, counts)
        verdicts = {name: one["verdict"] for name, one in found.items()
                if not is_aggregate(one["verdict"])}  # fmt: skip
        if not verdicts or "verdict" in table.columns:
            like = "s of which each row has one 1" if place == BY_VERDICT else f" is like {place!r}"
            problem = f"no column{like}" if not verdicts else "a column verdict is there"
            raise SweepError(f"{problem}, got {quote_names(table.columns[1:])}", where=source.where)
        cells = table.select(
            pl.all().exclude(*verdicts), *(pl.col(one).cast(pl.String) for one in verdicts)
        )
        table = cells.unpivot(
            [*verdicts], index=[one for one in table.columns if one not in verdicts],
            variable_name="verdict", value_name=COUNT,
        ).with_columns(pl.col("verdict").replace_strict(verdicts))  # fmt: skip
        rest, place = {**rest, "verdict": "verdict"}, COUNT
        called = f"{', '.join(verdicts)} say"
    if place not in table.columns:
        raise SweepError(
            f"no column {place!r} for {COUNT}, got {quote_names(table.columns)}", where=source.where
        )
    number = table[place].cast(pl.String).cast(pl.Float64, strict=False)
    if number.has_nulls():
        number = table.select(_mark(pl.col(place))).to_series()
    wrong = number.is_null() | (number < 0) | (number != number.floor())
    if wrong.any():
        raise SweepError(
            f"{place} counts replies: expected whole numbers from 0 on, got "
            f"{table[place].filter(wrong)[0]!r}",
            where=source.where,
        )
    if (n := int(number.sum())) > _MOST_REPLIES:
        raise SweepError(f"{place} counts {n:,} replies, at most {_MOST_REPLIES:,} are read",
                         where=source.where)  # fmt: skip
    index = pl.select(pl.int_range(table.height).repeat_by(number.cast(pl.UInt32)).explode())
    replies = table.drop(place)[index.to_series().drop_nulls()]
    rows = replies.sort(_ROW, maintain_order=True).drop(_ROW).lazy()
    note = f"read each row as often as {called}: {count_of(n, 'reply', 'replies')}"
    return replace(source, rows=rows, notes=(*source.notes, note), indexed=False), rest


def one_of_several(source: Source) -> str | None:
    """The place of counts where columns of 0 and 1 say which verdict each row has.

    Each row has one 1, no other column has a name of verdicts, and all have words of these.

    Examples
    --------
    >>> rows = pl.LazyFrame({"id": ["p", "q"], "is_pass": [1, 0], "is_fail": [0, 1]})
    >>> one_of_several(Source(rows=rows))
    'is_{verdict}'
    """
    place, marks = marks_of_one(source)
    words = [one for name in marks for one in _verdict_words(name) - _CHOSEN]
    names = source.rows.collect_schema().names()
    others = [name for name in names if name not in marks and {*VALUES} & {*roles_of(name)}
              and not _verdict_words(name)]  # fmt: skip
    is_known = all(map(_verdict_words, marks)) and len({*words}) == len(words)
    return place if place and is_known and not others else None


def marks_of_one(source: Source) -> tuple[str | None, list[str]]:
    """Columns of 0 and 1 of which each row has one 1, and the place of counts that names them.

    Examples
    --------
    >>> rows = pl.LazyFrame({"id": ["p", "q"], "good_reply": [1, 0], "other_reply": [0, 1]})
    >>> marks_of_one(Source(rows=rows))
    ('{verdict}_reply', ['good_reply', 'other_reply'])
    """
    kinds = source.rows.collect_schema()
    names = kinds.names()
    free = [name for name in names if {*roles_of(name)} <= {*VALUES} and not is_side_column(name)
            and not any(map(is_of_people, (name, *chain(*halves(name)))))]  # fmt: skip
    free = [name for name in free if kinds[name].is_numeric() or kinds[name] in _TEXT_OR_TRUTH]
    begin = source.rows.select(free).head(SAMPLE).collect(engine="streaming")
    each = begin.select(_mark(pl.col(one.name)) for one in begin.iter_columns() if _is_mark(one))
    for first in each:
        marks, total = [first.name], first
        for other in each.drop(first.name):
            if (both := total + other).max() == 1:
                marks, total = [*marks, other.name], both
        if len(marks) < _SEVERAL or total.min() != 1:
            continue
        n_each = pl.sum_horizontal(_mark(pl.col(name)) for name in marks)
        if source.rows.select((n_each == 1).all()).collect(engine="streaming").item():
            start, end = in_common(marks) or ("", "")
            pattern = f"{start}{BY_VERDICT}{end}"
            is_of_these = names_by_pattern(pattern, names).keys() == {*marks}
            return (pattern if is_of_these else BY_VERDICT), marks
    return None, []


def _verdict_words(name: str) -> frozenset[str]:
    """The words of verdicts in a name."""
    return (WORDS | _CHOSEN) & {*re.split(r"[_\-. ]+", name.lower())}


def _mark(cell: pl.Expr) -> pl.Expr:
    """0 or 1 of a cell, also where it is true, or an x beside empty cells; null of all else."""
    text = cell.cast(pl.String, strict=False).fill_null("").str.strip_chars().str.to_lowercase()
    return text.replace_strict(_MARKS, default=None, return_dtype=pl.Float64)


def _is_mark(column: pl.Series) -> bool:
    """Whether a column holds 0 and 1, or false and true, and both of them."""
    if column.name in TYPED:
        return False
    mark = column.to_frame().select(_mark(pl.col(column.name))).to_series()
    return mark.n_unique() == _SEVERAL and not mark.has_nulls()
