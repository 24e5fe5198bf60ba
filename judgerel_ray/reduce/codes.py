"""Rows of judgments as the codes of schroeder2024: what counts do not tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.reduce.columns import is_judge, outcome_column
from judgerel_ray.reduce.grouping import Block

REPLICATION, SHOWN = "__replication", "__label"
"""Columns of :func:`read_labels` besides the keys and the outcome."""


def read_labels(
    rows: pl.LazyFrame, columns: Sequence[str], *, keys: Sequence[str], block: Block
) -> pl.DataFrame:
    """Read what the published estimator needs of every row: counts do not tell it.

    Parameters
    ----------
    rows : pl.LazyFrame
        Judgments.
    columns : sequence of str
        Their columns.
    keys : sequence of str
        Columns of groups and units to keep.
    block : int or "all"
        Only rows of this block.

    Returns
    -------
    pl.DataFrame
        The keys, the replication (blocks one after the other), the letter shown, and the outcome.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q"], "replication": [0], "verdict": ["B"]})
    >>> read_labels(rows, ["item_id", "replication", "verdict"], keys=["item_id"], block=0).rows()
    [('q', {'block': None, 'replication': 0}, 'B', 'scored')]
    """
    rows = rows.filter(is_judge(columns))
    in_block = pl.lit(None, pl.Int64)
    if "block" in columns:
        in_block = pl.col("block").cast(pl.Int64)
        if block != "all":
            rows = rows.filter(pl.col("block").fill_null(0) == block)
    shown = [pl.col(name).cast(pl.String) for name in ("label", "verdict") if name in columns]
    return rows.select(
        *keys,
        pl.struct(in_block.alias("block"), "replication").alias(REPLICATION),
        pl.coalesce(*shown, pl.lit(None, pl.String)).alias(SHOWN),
        outcome_column(columns).alias("outcome"),
    ).collect(engine="streaming")


def code_table(
    rows: pl.DataFrame, *, unit: Sequence[str], raters: Sequence[str] = ()
) -> NDArray[np.float64] | None:
    """Lay out the codes of one group, or None where a verdict has no code.

    Parameters
    ----------
    rows : pl.DataFrame
        From :func:`read_labels`.
    unit : sequence of str
        Columns that make a unit.
    raters : sequence of str
        Columns that tell raters apart, each of whom has replications; none where there is one.

    Returns
    -------
    ndarray of float, shape (n_replications, n_units), or None
        With raters (n_raters, n_replications, n_units). All sorted; NaN where there is no row.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r"], "replication": [1, 0, 0],
    ...                      "verdict": ["B", "A", None]})
    >>> labels = read_labels(rows, ["item_id", "replication", "verdict"], keys=["item_id"], block=0)
    >>> code_table(labels, unit=["item_id"]).tolist()
    [[1.0, 6.0], [2.0, nan]]
    """
    from judgerel_ray.legacy import codes_from_verdicts

    try:
        codes = codes_from_verdicts(
            rows[SHOWN].to_list(),
            rows["outcome"].to_list(),
            coding="correctness" if is_correctness(rows) else "letters",
        )
    except ValueError:
        return None
    axes = [list(raters)] if raters else []
    place = [
        rows.select(columns).join(
            rows.select(columns).unique().sort(columns).with_row_index("__place"),
            on=columns, nulls_equal=True, maintain_order="left",
        )["__place"]
        for columns in (*axes, [REPLICATION], list(unit))
    ]  # fmt: skip
    shape = [int(places.max() or 0) + 1 for places in place]  # type: ignore[arg-type]
    table = np.full(shape, np.nan)
    table[tuple(places.to_numpy() for places in place)] = codes
    return table


def is_correctness(rows: pl.DataFrame) -> bool:
    """Tell whether verdicts are correct and incorrect.

    Examples
    --------
    >>> is_correctness(pl.DataFrame({"__label": ["Correct", None]}))
    True
    """
    shown = rows[SHOWN].drop_nulls().str.to_lowercase().unique()
    words = not shown.is_empty() and set(shown) <= {"correct", "incorrect"}
    return words or ("protocol" in rows.columns and set(rows["protocol"]) == {"correctness"})
