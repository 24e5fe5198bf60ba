"""Columns with one value in all rows: they tell nothing apart, and so nothing is read of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_

import polars as pl

from judgerel_ray.reduce.census import little_read_ahead

_LOOKED_AT = 10_000  # rows in which columns are seen to vary, before all of the file is asked


def knows_ranges(frame: pl.LazyFrame) -> bool:
    """Tell whether files of this machine know the range of each column, so that asking is cheap.

    Examples
    --------
    >>> knows_ranges(pl.LazyFrame({"judge": ["a"]}))
    False
    """
    # Other sources (a bucket, rows joined to rows) would be read once more for every question.
    plan = frame.explain(optimized=False)
    return "Parquet SCAN" in plan and not any(word in plan for word in ("PYTHON", "JOIN"))


def single_valued(
    frame: pl.LazyFrame, names: Iterable[str], *, no_range: Collection[str] = ()
) -> pl.DataFrame:
    """Find columns that have one value in all rows: a frame of one row.

    Of the columns `no_range` files do not know the range, so they are read.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "r"], "judge": ["a", "a"], "stage": ["x", None]})
    >>> single_valued(rows, ["judge", "stage"]).rows(named=True)
    [{'judge': 'a'}]
    """
    schema = frame.collect_schema()
    able = [
        name
        for name in names
        if name not in ("item_id", "verdict")
        and (schema[name].is_numeric() or schema[name] in (pl.String, pl.Boolean))
    ]
    with little_read_ahead():
        begin = frame.select(able).head(_LOOKED_AT).collect(engine="streaming")
    if begin.is_empty():
        return begin.select()
    able = [name for name in able if begin[name].n_unique() == 1]
    first = begin.select(able).head(1)
    # Row groups whose least and greatest values are these are never read, unless a column is
    # among those asked about that has no range, as numbers have none that may be NaN.
    read = [
        name
        for name in able
        if name in no_range or (schema[name].is_float() and first[name].null_count() == 0)
    ]
    for together in (read, [name for name in able if name not in read]):
        varying = _varying(frame, first.select(together))
        first = first.drop(varying)
    return first


def _varying(frame: pl.LazyFrame, first: pl.DataFrame) -> list[str]:
    """Columns with other values than the first row's; files are opened until none has any."""
    varying: list[str] = []
    while first.width > 0:
        other = frame.filter(_differs(first, first.columns)).select(first.columns).head(1)
        with little_read_ahead():
            found = other.collect(engine="streaming")
        if found.is_empty():
            break
        new = [name for name in first.columns if found.select(_differs(first, [name])).item()]
        varying += new
        first = first.drop(new)
    return varying


def _differs(first: pl.DataFrame, names: Sequence[str]) -> pl.Expr:
    """Whether a row has another value in any of these columns."""
    return reduce(
        or_,
        (
            pl.col(name).ne_missing(pl.lit(first[name].first(), first.schema[name]))
            for name in names
        ),
    )
