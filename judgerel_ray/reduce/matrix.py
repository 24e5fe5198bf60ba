"""The only crossing between frames and arrays: null on one side, NaN or absence on the other.

Shape suffixes: U = units, V = distinct values, K = kinds of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

_CELLS = 50_000_000  # counts held at once: 400 MB


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitTable:
    """One group: how often each unit got each kind of row.

    Attributes
    ----------
    kinds : pl.DataFrame
        One row a kind: what a row of judgments may be (verdict, score, outcome), sorted.
    counts_UK : ndarray of int, shape (n_units, n_kinds)
        Rows of each unit and kind; units are sorted.
    clusters_U : ndarray of int, shape (n_units,)
        Which question each unit belongs to, counted from 0 on.
    """

    kinds: pl.DataFrame
    counts_UK: NDArray[np.int64]  # noqa: N815  a shape, not a case
    clusters_U: NDArray[np.int64]  # noqa: N815

    @property
    def n_items(self) -> int:
        """Questions."""
        return int(self.clusters_U.max(initial=-1)) + 1

    def counts(self, value: pl.Expr) -> UnitCounts:
        """Count values of units.

        Parameters
        ----------
        value : pl.Expr
            What a kind of row counts as; null where it is missing. Units without any value keep
            their row.

        Examples
        --------
        >>> rows = pl.DataFrame({"item_id": ["q", "q", "r"], "verdict": ["A", None, "B"],
        ...                      "n": [2, 1, 3]})
        >>> table = unit_table(rows, unit=["item_id"], cluster=["item_id"], kinds=["verdict"])
        >>> found = table.counts(pl.col("verdict"))
        >>> found.counts_UV.tolist(), found.values
        ([[2, 0], [0, 3]], ('A', 'B'))
        """
        value_K = self.kinds.select(value.alias("value")).to_series()
        values = value_K.drop_nulls().unique().sort()
        place_K = (value_K.rank("dense").fill_null(0).to_numpy().astype(np.int64)) - 1
        if np.array_equal(place_K, np.arange(values.len())):
            counts = self.counts_UK
        else:
            counts = np.zeros((len(self.counts_UK), values.len()), dtype=np.int64, order="F")
            for kind in np.flatnonzero(place_K >= 0):
                counts[:, place_K[kind]] += self.counts_UK[:, kind]
        return UnitCounts(
            counts_UV=counts, values=tuple(values.to_list()), clusters_U=self.clusters_U
        )

    def n_rows(self, kind: pl.Expr) -> int:
        """Count rows of the kinds for which an expression is true."""
        chosen = self.kinds.select(kind.fill_null(False)).to_series().to_numpy()
        return int(self.counts_UK[:, chosen].sum())


def unit_table(
    rows: pl.DataFrame, *, unit: Sequence[str], cluster: Sequence[str], kinds: Sequence[str]
) -> UnitTable:
    """Lay the counted rows of one group out as an array, one row a unit.

    Parameters
    ----------
    rows : pl.DataFrame
        Counted judgments of one group, in any order, with the number of rows in ``n``.
    unit, cluster : sequence of str
        Columns that make a unit, in the order by which units are sorted, and those of them that
        make a question.
    kinds : sequence of str
        Columns that make a kind.

    Returns
    -------
    UnitTable

    Raises
    ------
    ValueError
        If there are more units times kinds than memory is meant for.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["r", "q", "q"], "verdict": ["B", "A", None],
    ...                      "n": [3, 2, 1]})
    >>> unit_table(rows, unit=["item_id"], cluster=["item_id"],
    ...            kinds=["verdict"]).counts_UK.tolist()
    [[1, 2, 0], [0, 0, 3]]
    """
    kind = rows.select(kinds).unique().sort(kinds).with_row_index("__kind")
    varying = [name for name in kinds if kind[name].n_unique() > 1]
    if varying:
        told = kind.select(*varying, "__kind")
        coded = rows.select(*unit, *(set(varying) - set(unit)), "n").join(
            told, on=varying, nulls_equal=True
        )
    else:
        coded = rows.select(*unit, "n", pl.lit(0, pl.UInt32).alias("__kind"))
    # Sorting codes of units in place of rows: there are far fewer units.
    units = coded.group_by(unit).agg("__kind", "n")
    order = units.select(pl.arg_sort_by(unit)).to_series()
    place = np.empty(units.height, dtype=np.int64)
    place[order.to_numpy()] = np.arange(units.height)
    if units.height * kind.height > _CELLS:
        raise ValueError(f"unit_table: {units.height} units of {kind.height} kinds are too many")
    cell = units["__kind"].explode().to_numpy() * np.int64(units.height)
    cell += np.repeat(place, units["n"].list.len().to_numpy())
    rows_n = units["n"].explode().to_numpy()
    counts = np.bincount(cell, weights=rows_n, minlength=units.height * kind.height)
    return UnitTable(
        kinds=kind.drop("__kind"),
        # Each kind in one piece: sums over the few kinds of many units are much faster.
        counts_UK=counts.astype(np.int64).reshape(kind.height, units.height).T,
        clusters_U=_clusters(units, order, unit=unit, cluster=cluster),
    )


def unit_counts(
    group: pl.DataFrame, value: pl.Expr, *, unit: Sequence[str], cluster: Sequence[str]
) -> UnitCounts:
    """Count the values of units: :func:`unit_table` for one question.

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
    rows = group.select(*unit, value.alias("__value"), "n")
    table = unit_table(rows, unit=unit, cluster=cluster, kinds=["__value"])
    return table.counts(pl.col("__value"))


def _clusters(
    units: pl.DataFrame, order: pl.Series, *, unit: Sequence[str], cluster: Sequence[str]
) -> NDArray[np.int64]:
    """The question of each unit, questions numbered in their order."""
    if set(unit) == set(cluster):
        return np.arange(units.height)
    told = units.select(cluster)[order]
    questions = told.unique().sort(cluster).with_row_index("__cluster")
    found = told.join(questions, on=cluster, nulls_equal=True, maintain_order="left")
    return found["__cluster"].to_numpy().astype(np.int64)
