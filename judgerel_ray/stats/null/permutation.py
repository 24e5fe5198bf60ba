"""Verdicts permuted over units at random, row counts and value totals kept.

There are three ways to the same distribution, and the cheapest is taken: shuffle all verdicts; draw
the table of one unit after the other, which costs the same however many ratings a unit has; or
place only the verdicts other than the most frequent one, which is left for the places that remain.
Where there are many values, most of a shuffled table is empty, and only its runs are kept: the
values of a unit that occur, with their numbers.

Shape suffixes: U = units, V = distinct values, N = ratings, B = batch of permutations, R = rows or
runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts import Floats, batches

CELLS = 2_000_000
"""Numbers held at once in a batch."""
_AT_ONCE = 199  # permutations in all, where they are dear
_LARGEST = 10**9  # what numpy's hypergeometric draws are of
_DRAW = 7  # a hypergeometric draw takes as long as shuffling so many verdicts
_CALL = 400  # what numpy needs to begin a draw, for however many permutations at once
_PLACED = 10  # and so does finding a place for one verdict and counting there
Way = Literal["verdicts", "units", "minority"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """What all permutations have in common, in an order that neither units nor values shape."""

    # Shape (n_units,). Ratings of each unit, ascending.
    sizes_U: NDArray[np.int64]  # noqa: N815  a shape, not a case
    # Shape (n_values,). How often each value occurs, ascending.
    totals_V: NDArray[np.int64]  # noqa: N815
    # Shape (n_values,). The column each of them is of.
    columns_V: NDArray[np.intp]  # noqa: N815

    @property
    def n(self) -> int:
        """Ratings."""
        return int(self.sizes_U.sum())

    @property
    def minority(self) -> int:
        """Ratings other than the most frequent."""
        return self.n - int(self.totals_V[-1]) if self.totals_V.size else 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PermutedTables:
    """Tables of some permutations."""

    # Shape (n_permutations, n_rows, n_values). Rows of counts.
    tables_BRV: Floats  # noqa: N815
    # Shape (n_rows,). How many units have each row, where that is not one.
    numbers_R: Floats | None = None  # noqa: N815


def margins_of(counts_UV: Floats) -> Margins:
    """Sum a table both ways."""
    totals = counts_UV.sum(axis=0).astype(np.int64)
    columns = np.argsort(totals, kind="stable")
    return Margins(
        sizes_U=np.sort(counts_UV.sum(axis=1).astype(np.int64)),
        totals_V=totals[columns],
        columns_V=columns,
    )


def choose_way(margins: Margins) -> tuple[Way, int]:
    """Choose a way to permute, with what one permutation costs in verdicts shuffled."""
    n, units = margins.n, margins.sizes_U.size
    costs: list[tuple[int, Way]] = [(n, "verdicts")]
    if n < _LARGEST:
        at_once = max(1, min(_AT_ONCE, CELLS // max(1, units * margins.totals_V.size)))
        draw = max(_DRAW, _CALL // at_once)
        costs.append((draw * units * max(1, margins.totals_V.size - 1), "units"))
    costs.append((_PLACED * margins.minority + np.unique(margins.sizes_U).size, "minority"))
    cost, way = min(costs)
    return way, max(1, cost)


def permuted(
    margins: Margins, n_permutations: int, way: Way, rng: np.random.Generator, *, width: int
) -> Iterator[PermutedTables]:
    """Permute verdicts over units at random."""
    if way == "minority":
        for _ in range(n_permutations):
            yield _minority_placed(margins, rng)
        return
    rows = margins.sizes_U.size * max(1, width)
    wide = max(rows, margins.n) if way == "verdicts" else rows
    draw = _tables_of_shuffled_verdicts if way == "verdicts" else _permuted_tables_drawn
    for size in batches(n_permutations, wide, CELLS):
        table = draw(margins, size, rng)
        tables = np.empty(table.shape)
        tables[..., margins.columns_V] = table
        yield PermutedTables(tables_BRV=tables)


def _tables_of_shuffled_verdicts(
    margins: Margins, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Tables from shuffled verdicts."""
    n_units, n_values = margins.sizes_U.size, margins.totals_V.size
    unit_N, labels_BN = _units_and_permuted_values(margins, size, rng)
    cell = (np.arange(size)[:, None] * n_units + unit_N) * n_values + labels_BN
    table = np.bincount(cell.ravel(), minlength=size * n_units * n_values)
    return table.reshape(size, n_units, n_values)


def _units_and_permuted_values(
    margins: Margins, size: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The unit of each rating, and the values that permutations give it."""
    unit_N = np.repeat(np.arange(margins.sizes_U.size), margins.sizes_U)
    labels_N = np.repeat(np.arange(margins.totals_V.size), margins.totals_V)
    return unit_N, rng.permuted(np.tile(labels_N, (size, 1)), axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PermutedRuns:
    """What occurs in some permutations: one run for each value that a unit received."""

    n_permutations: int
    # Shape (n_runs,). Which permutation and unit a run is of, sorted, and its number of ratings.
    batch_R: NDArray[np.intp]  # noqa: N815  a shape, not a case
    unit_R: NDArray[np.intp]  # noqa: N815
    number_R: NDArray[np.intp]  # noqa: N815
    # Shape (n_permutations, n_values). Sums over units of the share n_qv / m_q of each value, where
    # units differ in their ratings.
    shares_BV: Floats | None = None  # noqa: N815


def permuted_runs(
    margins: Margins, n_permutations: int, rng: np.random.Generator
) -> Iterator[PermutedRuns]:
    """Permute verdicts as the way "verdicts" of :func:`permuted` does, without laying tables out.

    Time and memory are in proportion to ratings, however many values there are.
    """
    n, n_values, sizes_U = margins.n, margins.totals_V.size, margins.sizes_U
    share_N = np.repeat(1 / np.maximum(sizes_U, 1), sizes_U)
    for size in batches(n_permutations, max(n, n_values), CELLS):
        unit_N, labels_BN = _units_and_permuted_values(margins, size, rng)
        shares: Floats | None = None
        if np.ptp(sizes_U):
            cell = np.arange(size)[:, None] * n_values + margins.columns_V[labels_BN]
            weight = np.tile(share_N, size)
            summed = np.bincount(cell.ravel(), weight, size * n_values)
            shares = summed.astype(np.float64, copy=False).reshape(size, n_values)
        sorted_BN = np.sort(unit_N * n_values + labels_BN, axis=1)
        first_R = np.flatnonzero(np.diff(sorted_BN, axis=1, prepend=-1))
        yield PermutedRuns(
            n_permutations=size,
            batch_R=first_R // n,
            unit_R=unit_N[first_R % n],
            number_R=np.diff(first_R, append=size * n),
            shares_BV=shares,
        )


def _permuted_tables_drawn(
    margins: Margins, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Tables drawn one unit and value after the other, from what is left of each value."""
    n_units, n_values = margins.sizes_U.size, margins.totals_V.size
    table = np.zeros((size, n_units, n_values), dtype=np.int64)
    left_VB = np.repeat(margins.totals_V[:, None], size, axis=1)
    # Frequent values first: once a unit is full there is nothing to draw.
    for unit, m in enumerate(margins.sizes_U.tolist()):
        open_B, others_B = np.full(size, m), left_VB.sum(axis=0)
        for value in range(n_values - 1, 0, -1):
            others_B = others_B - left_VB[value]
            got_B = rng.hypergeometric(left_VB[value], others_B, open_B)
            table[:, unit, value] = got_B
            open_B = open_B - got_B
        table[:, unit, 0] = open_B
        left_VB -= table[:, unit].T
    return table


def _minority_placed(margins: Margins, rng: np.random.Generator) -> PermutedTables:
    """One permutation: rows with other than the most frequent value, and how many have no other."""
    n_values = margins.totals_V.size
    place_N = rng.choice(margins.n, size=margins.minority, replace=False)
    unit_N = np.searchsorted(np.cumsum(margins.sizes_U), place_N, side="right")
    touched, row_N = np.unique(unit_N, return_inverse=True)
    label_N = np.repeat(np.arange(n_values - 1), margins.totals_V[:-1])
    cell = row_N.reshape(-1) * n_values + label_N
    rows_RV = np.bincount(cell, minlength=touched.size * n_values).reshape(-1, n_values)
    size_R = margins.sizes_U[touched]
    rows_RV[:, -1] = size_R - rows_RV.sum(axis=1)
    sizes, numbers = np.unique(margins.sizes_U, return_counts=True)
    pure_SV = np.zeros((sizes.size, n_values), dtype=np.int64)
    pure_SV[:, -1] = sizes
    left_S = numbers - np.bincount(np.searchsorted(sizes, size_R), minlength=sizes.size)
    tables = np.empty((1, len(rows_RV) + sizes.size, n_values))
    tables[0][:, margins.columns_V] = np.vstack([rows_RV, pure_SV])
    return PermutedTables(
        tables_BRV=tables, numbers_R=np.concatenate([np.ones(len(rows_RV)), left_S])
    )
