"""What is right of every answer: of its own row, or of a table, never of another item's name."""

from __future__ import annotations

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.correctness import GOLD

ITEM = "item_id"
_PLACE = "benchmark"
_LONGEST = 8  # names told where gold and verdicts have nothing in common


def with_right(rows: pl.DataFrame, gold: pl.DataFrame | None) -> pl.DataFrame:
    """Give answers what is right of their question, and whether they are.

    Parameters
    ----------
    rows : DataFrame
        item_id, verdict; ``gold`` where the table does not give it.
    gold : DataFrame, optional
        item_id, gold, and benchmark where items of several have one name.

    Returns
    -------
    DataFrame
        With ``gold``, null where nobody knows, and ``right``.

    Raises
    ------
    SweepError
        If there is no gold, or a name in the table may mean several items.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["1", None], "gold": ["1", "2"]})
    >>> with_right(rows, None)["right"].to_list()
    [True, False]
    """
    if gold is not None:
        keys = [name for name in (_PLACE, ITEM) if name in gold.columns and name in rows.columns]
        right = gold.select(*keys, pl.col(GOLD).cast(pl.String)).drop_nulls(GOLD).unique()
        _refuse_namesakes(rows, right)
        right = right.unique(keys, keep="any")
        rows = rows.drop(GOLD, strict=False).join(right, on=keys, how="left")
    if GOLD not in rows.columns:
        raise SweepError(
            f"selection needs the right answer of every question, expected a column {GOLD!r}, "
            f"got {', '.join(rows.columns)}",
            hint="--gold FILE: a table of item_id and gold, or items of a benchmark",
        )
    right_one = (pl.col("verdict") == pl.col(GOLD)).fill_null(False)
    return rows.with_columns(right=right_one)


def refuse_strangers(known: pl.DataFrame) -> None:
    """Refuse right answers that are named otherwise than the answers.

    Examples
    --------
    >>> refuse_strangers(pl.DataFrame({"verdict": ["1"], "gold": ["1"]}))
    """
    if known.is_empty():
        raise SweepError("no question has a right answer: gold is null in every row")
    said, right = set(known["verdict"].drop_nulls()), set(known[GOLD])
    if said and not said & right:
        raise SweepError(
            "verdict and gold have no value in common, so nothing could be right: verdicts are "
            f"{_few(said)}; gold is {_few(right)}"
        )


def _refuse_namesakes(rows: pl.DataFrame, right: pl.DataFrame) -> None:
    """Refuse a table whose names tell no item from one of another benchmark."""
    if _PLACE in right.columns:
        return
    several = right.group_by(ITEM).len().filter(pl.col("len") > 1)
    whose = "an item has several right answers, and the answers say not of which benchmark they are"
    if several.is_empty() and _PLACE in rows.columns:
        places = rows.select(_PLACE, ITEM).unique().join(right, on=ITEM, how="semi")
        several = places.group_by(ITEM).len().filter(pl.col("len") > 1)
        whose = (
            "items of several benchmarks have one name, and gold says not which of them is meant"
        )
    shared = several.join(rows.select(ITEM).unique(), on=ITEM, how="semi").sort(ITEM)
    if shared.height:
        raise SweepError(
            whose,
            where={ITEM: shared[ITEM][0]},
            hint=f"a column {_PLACE!r} in both tables tells them apart",
        )


def _few(names: set[str]) -> str:
    """Some of many names."""
    some = sorted(names)[:_LONGEST]
    return ", ".join(repr(one) for one in some) + (", ..." if len(names) > _LONGEST else "")
