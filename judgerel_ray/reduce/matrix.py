"""The only crossing between frames and arrays: null on one side, NaN or absence on the other.

Shape suffixes: U = units, V = distinct values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCounts:
    """Counts of one group as an array.

    Attributes
    ----------
    counts_UV : ndarray of int, shape (n_units, n_values)
        How often each unit received each value.
    values : tuple of str or float
        What the columns stand for, sorted.
    clusters_U : ndarray of int, shape (n_units,)
        Which question each unit belongs to.
    """

    counts_UV: NDArray[np.int64]  # noqa: N815  a shape, not a case
    values: tuple[str | float, ...]
    clusters_U: NDArray[np.int64]  # noqa: N815


def unit_counts(
    group: pl.DataFrame, value: pl.Expr, *, unit: Sequence[str], cluster: Sequence[str]
) -> UnitCounts:
    """Lay the counted rows of one group out as an array, one row a unit.

    Parameters
    ----------
    group : pl.DataFrame
        Counted judgments of one group, with the number of rows in ``n``.
    value : pl.Expr
        What a row's verdict is; null where it is missing. Units without any value keep their row.
    unit, cluster : sequence of str
        Columns that make a unit, and those of them that make a question.

    Returns
    -------
    UnitCounts

    Examples
    --------
    >>> group = pl.DataFrame({"item_id": ["q", "q", "r"], "verdict": ["A", None, "B"],
    ...                       "n": [2, 1, 3]})
    >>> found = unit_counts(group, pl.col("verdict"), unit=["item_id"], cluster=["item_id"])
    >>> found.counts_UV.tolist(), found.values
    ([[2, 0], [0, 3]], ('A', 'B'))
    """
    units = group.select(unit).unique().sort(unit).with_row_index("__unit")
    rows = group.select(*unit, value.alias("__value"), "n").join(units, on=unit, nulls_equal=True)
    rows = rows.drop_nulls("__value")
    values = rows["__value"].unique().sort()
    places = rows["__value"].rank("dense").to_numpy().astype(np.int64) - 1
    counts = np.zeros((units.height, values.len()), dtype=np.int64)
    np.add.at(counts, (rows["__unit"].to_numpy(), places), rows["n"].to_numpy())
    questions = units.select(cluster).unique().sort(cluster).with_row_index("__cluster")
    clusters = units.join(questions, on=cluster, nulls_equal=True, maintain_order="left")
    return UnitCounts(
        counts_UV=counts,
        values=tuple(values.to_list()),
        clusters_U=clusters["__cluster"].to_numpy().astype(np.int64),
    )
