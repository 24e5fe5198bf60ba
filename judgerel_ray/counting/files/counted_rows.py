"""Rows that count replies, as a row for each reply: ``n_yes`` beside ``n_no``, or ``count``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.counting.files.names import is_aggregate, names_by_pattern
from judgerel_ray.counting.files.source import Source, quote_names

COUNT = "count"
"""The role that says how many replies a row stands for."""
BY_VERDICT = "{verdict}"
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
    rest = {role: one for role, one in stated.items() if role != COUNT}
    table = source.rows.collect(engine="streaming")
    if BY_VERDICT in place:
        found = names_by_pattern(place, table.columns)
        verdicts = {name: one["verdict"] for name, one in found.items()
                if not is_aggregate(one["verdict"])}  # fmt: skip
        if not verdicts or "verdict" in table.columns:
            problem = (
                f"no column is like {place!r}" if not verdicts else "a column verdict is there"
            )
            raise SweepError(f"{problem}, got {quote_names(table.columns)}", where=source.where)
        cells = table.select(
            pl.all().exclude(*verdicts), *(pl.col(one).cast(pl.String) for one in verdicts)
        )
        table = cells.unpivot(
            [*verdicts], index=[one for one in table.columns if one not in verdicts],
            variable_name="verdict", value_name=COUNT,
        ).with_columns(pl.col("verdict").replace_strict(verdicts))  # fmt: skip
        rest, place = {**rest, "verdict": "verdict"}, COUNT
    if place not in table.columns:
        raise SweepError(
            f"no column {place!r} for {COUNT}, got {quote_names(table.columns)}", where=source.where
        )
    number = table[place].cast(pl.String).cast(pl.Float64, strict=False)
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
    rows = table.drop(place)[index.to_series().drop_nulls()].lazy()
    note = f"read each row as often as {place} says: {count_of(n, 'reply', 'replies')}"
    return replace(source, rows=rows, notes=(*source.notes, note), indexed=False), rest
