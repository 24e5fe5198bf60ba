"""The only crossing between frames and arrays: null on one side, NaN or absence on the other.

Scores of too many values to count each are summed by unit: number, sum and sum of squares, in one
fixed order (units sorted, then scores), so that no digit depends on the order of the rows.

Shape suffixes: U = units, V = distinct values, K = kinds of rows, R = rows, N = scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import SweepError
from judgerel_ray.counting.nesting import KIND, PLACES, N, UnitRows, nest_rows
from judgerel_ray.counting.verdicts.places import ORDER
from judgerel_ray.counting.verdicts.policy import FAILED, SCORED
from judgerel_ray.stats.generalizability.facet_agreement import FacetLevels

_CELLS = 50_000_000  # counts held at once: 400 MB
MOST_VALUES = 200
"""Scores of more different values than this, in one group, are not counted value by value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCounts:
    """Counts of one group as an array."""

    # Shape (n_units, n_values). How often each unit received each value.
    counts_UV: NDArray[np.int64]  # noqa: N815  a shape, not a case
    values: tuple[str | float, ...]  # What the columns stand for, sorted.
    # Shape (n_units,). Which question each unit belongs to.
    clusters_U: NDArray[np.int64]  # noqa: N815


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitTable:
    """One group: how often each unit got each kind of row."""

    # One row a kind: what a row of judgments may be (verdict, score, outcome), sorted.
    kinds: pl.DataFrame
    # Shape (n_units, n_kinds). Rows of each unit and kind; units are sorted.
    counts_UK: NDArray[np.int64]  # noqa: N815  a shape, not a case
    # Shape (n_units,). Which question each unit belongs to, counted from 0 on.
    clusters_U: NDArray[np.int64]  # noqa: N815
    # The item of each unit and the level of its nuisance facets, where those vary.
    levels: FacetLevels | None = None
    # Shape (n_units,). What each unit is but for the order of its options, where that is a nuisance
    # that varies.
    turned_U: NDArray[np.int64] | None = None  # noqa: N815
    # Shape (n_units, n_places). How often each place that any unit named, where labels were
    # counted.
    places_UP: NDArray[np.int64] | None = None  # noqa: N815

    @property
    def n_items(self) -> int:
        """Questions."""
        return int(self.clusters_U.max(initial=-1)) + 1

    def counts(self, value: pl.Expr) -> UnitCounts:
        """Count values of units.

        Examples
        --------
        >>> rows = pl.DataFrame({"item_id": ["q", "q", "r"], "verdict": ["A", None, "B"],
        ...                      "n": [2, 1, 3]})
        >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict"])
        >>> table = unit_table(nested, unit=["item_id"], cluster=["item_id"])
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

    def reply_counts(self) -> UnitCounts:
        """Count replies with a verdict and without; a failed request got no reply.

        Examples
        --------
        >>> rows = pl.DataFrame({"item_id": "q", "outcome": ["scored", "refused"], "n": [3, 1]})
        >>> nested = nest_rows(rows, unit=["item_id"], kinds=["outcome"])
        >>> unit_table(nested, unit=["item_id"], cluster=["item_id"]).reply_counts().counts_UV
        array([[3, 1]])
        """
        found = self.counts(pl.when(SCORED).then(0.0).when(~FAILED).then(1.0))
        counts_U2 = np.zeros((len(found.counts_UV), 2), dtype=np.int64)
        counts_U2[:, [int(value) for value in found.values]] = found.counts_UV
        return UnitCounts(counts_UV=counts_U2, values=(0.0, 1.0), clusters_U=found.clusters_U)

    def n_rows(self, kind: pl.Expr) -> int:
        """Count rows of the kinds for which an expression is true."""
        chosen = self.kinds.select(kind.fill_null(False)).to_series().to_numpy()
        return int(self.counts_UK[:, chosen].sum())


def unit_table(
    rows: UnitRows,
    *,
    unit: Sequence[str],
    cluster: Sequence[str],
    distinct: bool = False,
    nuisance: Sequence[str] = (),
    n_orders: float | None = None,
) -> UnitTable:
    """Lay the counted rows of one group out as an array, one row a unit.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["r", "q", "q"], "verdict": ["B", "A", None],
    ...                      "n": [3, 2, 1]})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict"])
    >>> unit_table(nested, unit=["item_id"], cluster=["item_id"]).counts_UK.tolist()
    [[1, 2, 0], [0, 0, 3]]
    """
    units = rows.units
    code, n = units[KIND].explode().to_numpy(), units[N].explode().to_numpy()
    seen = np.flatnonzero(np.bincount(code, weights=n, minlength=rows.kinds.height))
    n_kinds = seen.size
    if n_kinds < rows.kinds.height:
        column = np.zeros(rows.kinds.height, dtype=np.int64)
        column[seen] = np.arange(n_kinds)
        code = column[code]
    order = units.select(pl.arg_sort_by(unit)).to_series()
    number = np.arange(units.height)
    if not distinct:
        keys = units.select(unit)[order]
        number = keys.to_struct().rle_id().to_numpy().astype(np.int64)
    n_units = int(number[-1]) + 1
    if n_units * n_kinds > _CELLS:
        raise SweepError(
            f"{n_units} units with {n_kinds} different verdicts are too many to count",
            hint="round the scores, or group by more columns",
        )
    place = np.empty(units.height, dtype=np.int64)
    place[order.to_numpy()] = number
    cell = code * np.int64(n_units) + np.repeat(place, units[N].list.len().to_numpy())
    counts = np.bincount(cell, weights=n, minlength=n_units * n_kinds)
    first = order if distinct else order[np.flatnonzero(np.diff(number, prepend=-1))]
    levels = _facet_levels_by_unit(units, first, unit, nuisance, n_orders) if nuisance else None
    turned = levels.items_U if levels and ORDER in nuisance else None
    if turned is not None and len(nuisance) > 1:
        kept = [name for name in unit if name != ORDER]
        turned = _counted_unit_clusters(units, first, unit=unit, cluster=kept)
    return UnitTable(
        kinds=rows.kinds[seen],
        # Each kind in one piece: sums over the few kinds of many units are much faster.
        counts_UK=counts.astype(np.int64).reshape(n_kinds, n_units).T,
        clusters_U=_counted_unit_clusters(units, first, unit=unit, cluster=cluster),
        levels=levels,
        turned_U=turned,
        places_UP=_place_counts_by_unit(rows, place, n_units) if rows.places else None,
    )


def _place_counts_by_unit(
    rows: UnitRows, place: NDArray[np.int64], n_units: int
) -> NDArray[np.int64]:
    """How often each place was named by unit; those that none named are left out."""
    numbers = rows.units[PLACES].explode().to_numpy().reshape(len(place), -1)
    columns = [np.bincount(place, column, n_units) for column in numbers.T if column.any()]
    return np.array(columns, dtype=np.int64).reshape(-1, n_units).T


def _facet_levels_by_unit(
    units: pl.DataFrame,
    first: pl.Series,
    unit: Sequence[str],
    nuisance: Sequence[str],
    n_orders: float | None,
) -> FacetLevels:
    """The item of each unit, and the level of its nuisance facets."""

    def numbers(columns: Sequence[str]) -> NDArray[np.int64]:
        return _counted_unit_clusters(units, first, unit=unit, cluster=columns)

    of_levels = numbers(nuisance)
    alone = list(nuisance) == [ORDER]
    return FacetLevels(
        items_U=numbers([name for name in unit if name not in nuisance]),
        levels_U=of_levels,
        orders_U=of_levels if alone else numbers([ORDER]) if ORDER in nuisance else None,
        n_orders=n_orders if ORDER in nuisance else None,
    )


def unit_counts(
    group: pl.DataFrame, value: pl.Expr, *, unit: Sequence[str], cluster: Sequence[str]
) -> UnitCounts:
    """Count the values of units: :func:`unit_table` for one question.

    Examples
    --------
    >>> group = pl.DataFrame({"item_id": ["q", "q", "r"], "verdict": ["A", None, "B"],
    ...                       "n": [2, 1, 3]})
    >>> found = unit_counts(group, pl.col("verdict"), unit=["item_id"], cluster=["item_id"])
    >>> found.counts_UV.tolist(), found.values
    ([[2, 0], [0, 3]], ('A', 'B'))
    """
    rows = group.select(*unit, value.alias("__value"), "n")
    nested = nest_rows(rows, unit=unit, kinds=["__value"])
    table = unit_table(nested, unit=unit, cluster=cluster, distinct=True)
    return table.counts(pl.col("__value"))


def _counted_unit_clusters(
    units: pl.DataFrame, order: pl.Series, *, unit: Sequence[str], cluster: Sequence[str]
) -> NDArray[np.int64]:
    """The question of each unit, questions numbered in their order."""
    if set(unit) == set(cluster):
        return np.arange(order.len())
    keys = units.select(cluster)[order]
    if list(unit[: len(cluster)]) == list(cluster):  # sorted by them
        same = keys.to_series() if keys.width == 1 else keys.to_struct()
        return same.rle_id().to_numpy().astype(np.int64)
    questions = keys.unique().sort(cluster).with_row_index("__cluster")
    found = keys.join(questions, on=cluster, nulls_equal=True, maintain_order="left")
    return found["__cluster"].to_numpy().astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Scores of one group, summed by unit."""

    # Its rows, all scores in one kind: what replies became is told apart, and no more.
    rows: UnitRows
    # Shape (n_units, 3). Number, sum and sum of squares of each unit's scores, less the mean of
    # all; units sorted.
    moments_U3: NDArray[np.float64]  # noqa: N815  a shape, not a case
    # Shape (n_scores,). The scores, less the mean of all, with their units, in a fixed order.
    scores_N: NDArray[np.float64]  # noqa: N815
    unit_N: NDArray[np.int64]  # noqa: N815


def moments_of(rows: UnitRows, *, unit: Sequence[str]) -> Moments | None:
    """Sum the scores of one group by unit, where they are too many to count.

    Examples
    --------
    >>> counts = pl.DataFrame({"item_id": [f"q{i // 300}" for i in range(600)],
    ...                        "verdict": [None] * 600, "score": [float(i) for i in range(600)],
    ...                        "outcome": ["scored"] * 600, "n": [1] * 600})
    >>> nested = nest_rows(counts, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> moments_of(nested, unit=["item_id"]).moments_U3[:, :2].tolist()
    [[300.0, -45000.0], [300.0, 45000.0]]
    """
    if rows.kinds.height <= MOST_VALUES:
        return None
    seen = rows.seen.filter(SCORED)
    if seen["score"].null_count() or seen["score"].n_unique() <= MOST_VALUES:
        return None
    # Kinds are sorted by verdict, then score; by score alone they are in one order for all.
    score_K, scored_K = (
        rows.kinds.select(column).to_series().to_numpy()
        for column in (pl.when(SCORED).then("score").cast(pl.Float64), SCORED)
    )
    order = rows.units.select(pl.arg_sort_by(unit)).to_series()
    sorted_units = rows.units.select(unit)[order]
    place = np.empty(rows.units.height, dtype=np.int64)
    place[order.to_numpy()] = sorted_units.to_struct().rle_id().to_numpy()
    unit_R = np.repeat(place, rows.units[N].list.len().to_numpy())
    code_R, n_R = (rows.units[name].explode().to_numpy() for name in (KIND, N))
    kept = scored_K[code_R] & (n_R > 0)
    unit_R, score_R, n_R = unit_R[kept], score_K[code_R[kept]], n_R[kept].astype(np.float64)
    fixed = np.lexsort((score_R, unit_R))
    unit_R, score_R, n_R = unit_R[fixed], score_R[fixed], n_R[fixed]
    score_R = score_R - (n_R * score_R).sum() / n_R.sum()
    n_units = int(place.max(initial=-1)) + 1
    sums = [np.bincount(unit_R, n_R * score_R**power, n_units) for power in range(3)]
    if (n_R > 1).any():
        unit_R, score_R = (np.repeat(one, n_R.astype(np.int64)) for one in (unit_R, score_R))
    return Moments(
        rows=_without_scores(rows),
        moments_U3=np.stack(sums, axis=1),
        scores_N=score_R,
        unit_N=unit_R,
    )


def _without_scores(rows: UnitRows) -> UnitRows:
    """Rows whose scores are all one kind."""
    meant = rows.kinds.with_columns(
        verdict=pl.lit(None, pl.String), score=pl.when(SCORED).then(0.0)
    )
    kinds = meant.unique().sort(meant.columns)
    named = kinds.with_row_index("__new")
    code_K = meant.join(named, on=meant.columns, nulls_equal=True, maintain_order="left")["__new"]
    coded = rows.units.with_row_index("__unit").explode(KIND, N)
    coded = coded.with_columns(code_K[coded[KIND]].alias(KIND))
    columns = [name for name in rows.units.columns if name not in (KIND, N)]
    grouped = coded.group_by("__unit", maintain_order=True)
    units = grouped.agg(pl.col(columns).first(), KIND, N).drop("__unit")
    return replace(rows, units=units, kinds=kinds)
