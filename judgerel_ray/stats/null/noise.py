"""The noise floor: what a coefficient shows when no verdict depends on its question.

The null permutes the group's own verdicts over its units at random; every unit keeps its number of
verdicts and every value its total, so a coefficient that is high only because of its design
(few questions, one dominating verdict) is seen to be. Continuous scores are permuted likewise, in
:mod:`.score_noise`.

There are three ways to the same distribution, and the cheapest is taken: shuffle all verdicts; draw
the table of one unit after the other, which costs the same however many ratings a unit has; or
place only the verdicts other than the most frequent one, which is left for the places that remain.
Where there are many values, most of a shuffled table is empty, and only its runs are kept: the
values of a unit that occur, with their numbers.

Shape suffixes: U = units, V = distinct values, N = ratings, B = batch of permutations, R = rows or
runs, T = terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.agreement.agreement import Statistic, named_statistic
from judgerel_ray.stats.agreement.krippendorff import Level, Values
from judgerel_ray.stats.arguments import check_at_least_1
from judgerel_ray.stats.counts import (
    AgreeingPairs,
    CountStatistic,
    CountTable,
    Floats,
    batches,
    checked_counts,
    row_sums,
    slices,
    term_sums,
)
from judgerel_ray.stats.null.closed_null import SETTLED_SKEWNESS, ClosedNull, unit_floor
from judgerel_ray.stats.null.pair_null import observed_pairs, pair_floor

_EMPTY = 4  # cells of a table for each rating, above which runs are cheaper than tables
LABELS = 20_000_000
"""Verdicts permuted in all: about a second."""
MOST_LABELS = 600_000_000
"""Verdicts permuted in all where moments do not tell the p: a minute or two."""
FEWEST = 199
"""Permutations that are made at least where any are."""
DENSE = 5_000
"""Ratings above which moments of pairs tell what permuting would, where the null is settled."""
_RARE = 0.05  # share of all but the most frequent verdict below which draws may not tell
CELLS = 2_000_000
"""Numbers held at once in a batch."""
_AT_ONCE = 199  # permutations in all, where they are dear
_LARGEST = 10**9  # what numpy's hypergeometric draws are of
_DRAW = 7  # a hypergeometric draw takes as long as shuffling so many verdicts
_CALL = 400  # what numpy needs to begin a draw, for however many permutations at once
_PLACED = 10  # and so does finding a place for one verdict and counting there
Way = Literal["verdicts", "units", "minority"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """The null of one coefficient.

    Attributes
    ----------
    mean, sd : float or None
        Of the coefficient under the null; None where the coefficient is undefined or has no floor.
    p : float or None
        Share of the null at least as far from its mean as the value, on either side, the data
        themselves counted in: ``(1 + k) / (1 + n_permutations)``. None with a mean where permuting
        is too dear and moments do not tell it.
    n_permutations : int
        Reassignments computed.
    kind : NullMethod or None
        How it was made; `method` says it in words.
    n_undefined : int
        Permutations without a value, which are not among the others.
    """

    mean: float | None
    sd: float | None
    p: float | None
    n_permutations: int = 0
    kind: NullMethod | None = None
    n_undefined: int = 0

    @property
    def method(self) -> str:
        """How it was made, in words."""
        return "" if self.kind is None else self.kind.words(n=self.n_permutations)


NOTHING = NoiseFloor(mean=None, sd=None, p=None)
"""What has no floor."""


def noise_floor(
    counts_UV: ArrayLike,
    statistic: Statistic,
    *,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
    n_permutations: int = 999,
    seed: int = 0,
) -> NoiseFloor:
    """Compute what a coefficient gives when its verdicts are permuted over the units at random.

    Parameters
    ----------
    counts_UV
        As of :func:`judgerel_ray.stats.noise_floors`, which says more.
    statistic, values, level, n_categories
        The coefficient, as of :func:`judgerel_ray.stats.jackknife_interval`.
    n_permutations, seed
        As of :func:`judgerel_ray.stats.noise_floors`.

    Raises
    ------
    ValueError
        If the name is unknown, or as of :func:`judgerel_ray.stats.noise_floors`.

    Examples
    --------
    A judge that always answers the same agrees with itself no more than its answers force it to:

    >>> floor = noise_floor([[5, 0], [5, 0]], "percent_agreement")
    >>> floor.mean, floor.sd, floor.p
    (1.0, 0.0, 1.0)
    """
    statistic = named_statistic(
        statistic, counts_UV, values=values, level=level, n_categories=n_categories
    )
    return noise_floors(counts_UV, [statistic], n_permutations=n_permutations, seed=seed)[0]


def noise_floors(
    counts_UV: ArrayLike | CountTable,
    statistics: Sequence[CountStatistic],
    *,
    n_permutations: int = 999,
    seed: int = 0,
) -> tuple[NoiseFloor, ...]:
    """Compute the nulls of several coefficients from the same reassignments.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values), or CountTable
        How often each unit received each value.
    statistics : sequence of CountStatistic
        The coefficients.
    n_permutations : int
        Reassignments asked for, at least 1.
    seed : int
        Seed of the reassignments; the order of units does not matter.

    Returns
    -------
    tuple of NoiseFloor
        One a coefficient, in their order.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or `n_permutations` is below 1.

    Notes
    -----
    Row counts and value totals fixed, the tables are multivariate hypergeometric. Cost is bounded:
    of coefficients whose terms are dear (majority stability) 199 reassignments are computed at
    most; above 20 million verdicts permuted, fewer (not below 199) of all. Above 5 thousand ratings
    of coefficients that rest on pairs of ratings (:func:`.pair_floor`),
    above 100 thousand of others (:func:`.unit_floor`), mean and spread
    over all reassignments come from closed forms, and `p` from them and the skewness
    (:class:`.ClosedNull`). Where the skewness is above 0.1 or the
    excess kurtosis above 0.3 (a few units or a rare verdict decide), or may not be known, the
    verdicts are permuted after all, above 100 thousand ratings 199 times, up to 600 million of them
    (three million ratings; more by the cheaper ways to permute): a
    minute or two. Beyond that there is a p up to a skewness of 0.5 and a kurtosis of 1, and none
    above. The result says which.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> names = ("krippendorff_alpha", "percent_agreement")
    >>> statistics = [count_statistic(name, n_values=2) for name in names]
    >>> alpha, agreement = noise_floors([[4, 0], [0, 4], [4, 0], [0, 4], [4, 0]], statistics)
    >>> abs(alpha.mean) < 0.05, alpha.p, abs(agreement.mean - 0.5) < 0.05
    (True, 0.001, True)
    """
    check_at_least_1("noise_floor", n_permutations=n_permutations)
    table = counts_UV if isinstance(counts_UV, CountTable) else CountTable(
        counts_UV=checked_counts(counts_UV, function="noise_floor")
    )  # fmt: skip
    counts = table.counts_UV
    if any(statistic.of_moments for statistic in statistics):
        raise ValueError(
            "noise_floor: statistics must be of counts; of scores there is score_floor"
        )
    floors = {i: NOTHING for i, statistic in enumerate(statistics) if not statistic.has_floor}
    # Coefficients that count the same units share their reassignments.
    masks = {i: s.takes_part(counts) for i, s in enumerate(statistics) if i not in floors}
    for mask in {mask.tobytes(): mask for mask in masks.values()}.values():
        alike = [i for i, other in masks.items() if np.array_equal(other, mask)]
        taking = counts if mask.all() else counts[mask]
        if taking.sum() > DENSE:
            floors.update(_floors_by_moments(taking, statistics, alike, table, seed))
        if left := [i for i in alike if i not in floors]:
            found = _permuted_floors(taking, [statistics[i] for i in left], n_permutations, seed)
            floors.update(zip(left, found, strict=True))
    return tuple(floors[i] for i in range(len(statistics)))


def _floors_by_moments(
    counts: Floats,
    statistics: Sequence[CountStatistic],
    places: Sequence[int],
    table: CountTable,
    seed: int,
) -> dict[int, NoiseFloor]:
    """The nulls of those coefficients at `places` of which moments tell what permuting would.

    `counts` are the part of a table that they all take.
    """
    found: dict[int, NoiseFloor] = {}
    margins = margins_of(counts)
    many = counts.sum() > LABELS // FEWEST
    for place in places:
        statistic = statistics[place]
        total_T = None if statistic.at_totals else table.total(statistic)
        null = pair_floor(counts, statistic, total_T=total_T)
        if null is None and many:
            null = unit_floor(counts, statistic, seed=seed)
        if null is not None and (
            _null_settled_by_moments(null, statistic, margins)
            or (many and not affordable(choose_way(margins)[1]))
        ):
            found[place] = closed_floor(null)
    return found


def _null_settled_by_moments(null: ClosedNull, statistic: CountStatistic, margins: Margins) -> bool:
    """Whether the moments tell the p; those of single terms may rest on draws of what is rare."""
    exact = statistic.pairs is not None or margins.minority >= _RARE * margins.n
    return exact and null.settled


def affordable(cost: int) -> bool:
    """Whether the fewest permutations are cheap enough, each costing so many verdicts."""
    return cost * FEWEST <= MOST_LABELS


def _permuted_floors(
    counts: Floats, statistics: list[CountStatistic], n_permutations: int, seed: int
) -> list[NoiseFloor]:
    """The nulls from random permutations."""
    values = [float(s.value(term_sums(counts, s))) for s in statistics]
    if all(np.isnan(values)):
        return [NOTHING] * len(statistics)
    # Sorted margins: neither the order of units nor that of the values may matter to the seed.
    margins = margins_of(counts)
    way: Way = "verdicts"
    cost = margins.n
    if cost > LABELS // FEWEST:
        way, cost = choose_way(margins)
    n_permutations = min(n_permutations, max(FEWEST, LABELS // max(1, cost)))
    rng = np.random.default_rng(seed)
    empty = margins.totals_V.size * margins.sizes_U.size > _EMPTY * margins.n
    if way == "verdicts" and empty and all(map(_is_of_runs, statistics)):
        made = _nulls_of_runs(counts, statistics, values, margins, n_permutations, rng)
    else:
        made = _nulls_of_tables(counts, statistics, values, margins, n_permutations, way, rng)
    kind = NullMethod.REASSIGNMENTS
    return [floor_of(value, null, kind) for value, null in zip(values, made, strict=True)]


def _nulls_of_tables(
    counts: Floats,
    statistics: Sequence[CountStatistic],
    values: Sequence[float],
    margins: Margins,
    n_permutations: int,
    way: Way,
    rng: np.random.Generator,
) -> list[Floats]:
    """Coefficients of permuted tables."""
    nulls: list[list[Floats]] = [[] for _ in statistics]
    width = max(statistic.terms(counts[:0]).shape[-1] for statistic in statistics)
    # Of one value there is one table, whatever is permuted: it is computed once.
    n_tables = n_permutations if margins.minority else 1
    for tables in permuted(margins, n_tables, way, rng, width=width):
        for null, statistic, value in zip(nulls, statistics, values, strict=True):
            most = statistic.most_permutations or n_permutations
            left = 0 if np.isnan(value) else most - sum(part.size for part in null)
            terms_BRT = statistic.terms(tables.tables_BRV[: max(0, left)])
            if tables.numbers_R is None:
                sums_BT = terms_BRT.sum(axis=-2)
            else:
                sums_BT = np.einsum("brt,r->bt", terms_BRT, tables.numbers_R)
            null.append(statistic.value(sums_BT))
    made = [np.concatenate(null) for null in nulls]
    if n_tables < n_permutations:
        made = [
            np.repeat(null, min(statistic.most_permutations or n_permutations, n_permutations))
            for null, statistic in zip(made, statistics, strict=True)
        ]
    return made


def _is_of_runs(statistic: CountStatistic) -> bool:
    """Whether the runs of a permuted table are all that a coefficient needs of it."""
    of_pairs = statistic.pairs is not None and statistic.pairs.distances_VV is None
    return of_pairs or statistic.permuted is not None


def _nulls_of_runs(
    counts: Floats,
    statistics: Sequence[CountStatistic],
    values: Sequence[float],
    margins: Margins,
    n_permutations: int,
    rng: np.random.Generator,
) -> list[Floats]:
    """Coefficients of permuted verdicts, in proportion to ratings whatever the number of values."""
    nulls: list[list[Floats]] = [[] for _ in statistics]
    sizes_U = row_sums(counts).astype(np.int64)
    fixed = [term_sums(counts, statistic) for statistic in statistics]
    for statistic, fixed_T in zip(statistics, fixed, strict=True):
        if statistic.pairs is not None:
            fixed_T[statistic.pairs.place] -= observed_pairs(counts, sizes_U, statistic.pairs)
    for runs in permuted_runs(margins, n_permutations, rng):
        for null, statistic, value, fixed_T in zip(nulls, statistics, values, fixed, strict=True):
            most = statistic.most_permutations or n_permutations
            left = 0 if np.isnan(value) else most - sum(part.size for part in null)
            if left <= 0:
                continue
            if statistic.pairs is None:
                sums_BT = _narrow_sums(runs, margins, statistic)
            else:
                sums_BT = _permuted_pair_sums(runs, margins, statistic.pairs, fixed_T)
            null.append(statistic.value(sums_BT[:left]))
    return [np.concatenate([*null, np.empty(0)]) for null in nulls]


def _permuted_pair_sums(
    runs: PermutedRuns, margins: Margins, pairs: AgreeingPairs, fixed_T: Floats
) -> Floats:
    """Sums of terms of which permuting changes agreeing pairs, and mean shares in uneven units."""
    sizes, place_U = np.unique(margins.sizes_U, return_inverse=True)
    weight_S = [float(pairs.weight(m)) if m >= 2 else 0.0 for m in sizes.tolist()]
    weight_R = np.array(weight_S)[place_U.reshape(-1)[runs.unit_R]]
    sums_BT = np.repeat(fixed_T[None], runs.n_permutations, axis=0)
    sums_BT[:, pairs.place] += np.bincount(
        runs.batch_R, weight_R * runs.number_R * (runs.number_R - 1), runs.n_permutations
    )
    if pairs.shares is not None and runs.shares_BV is not None:
        sums_BT[:, pairs.shares : pairs.shares + margins.totals_V.size] = runs.shares_BV
    return sums_BT


def _narrow_sums(runs: PermutedRuns, margins: Margins, statistic: CountStatistic) -> Floats:
    """Sums of terms to which all values are alike: in tables as wide as a unit has values."""
    n_units = margins.sizes_U.size
    row_R = runs.batch_R * n_units + runs.unit_R
    first_R = np.flatnonzero(np.diff(row_R, prepend=-1))
    column_R = np.arange(row_R.size) - np.repeat(first_R, np.diff(first_R, append=row_R.size))
    width = int(column_R.max(initial=0)) + 1
    sums = []
    for some in slices(runs.n_permutations, n_units * width, CELLS):
        start, stop = some.start, some.stop
        here = slice(*np.searchsorted(runs.batch_R, [start, stop]))
        tables = np.zeros(((stop - start) * n_units, width))
        tables[row_R[here] - start * n_units, column_R[here]] = runs.number_R[here]
        terms_BUT = statistic.terms(tables.reshape(stop - start, n_units, width))
        sums.append(terms_BUT.sum(axis=-2))
    return np.concatenate(sums)


def closed_floor(null: ClosedNull) -> NoiseFloor:
    """Write a null that is known by its moments as a floor."""
    skewed = abs(null.skewness) > SETTLED_SKEWNESS
    kind = NullMethod.CLOSED_FORM_SKEWED if skewed else NullMethod.CLOSED_FORM
    return NoiseFloor(
        mean=null.mean,
        sd=null.sd,
        p=null.p if null.tells_p else None,
        kind=kind if null.tells_p else NullMethod.CLOSED_FORM_NO_P,
    )


def floor_of(value: float, null: Floats, kind: NullMethod) -> NoiseFloor:
    """Sum up a null: mean, spread, and the share at least as far from the mean as the value."""
    if np.isnan(value) or not null.size:
        return NOTHING
    mean, sd = float(null.mean()), float(null.std(ddof=1)) if null.size > 1 else 0.0
    # Equal up to rounding is as extreme.
    extreme = int((np.abs(null - mean) >= abs(value - mean) - 1e-9).sum())
    p = (1 + extreme) / (1 + null.size)
    if sd < 1e-12:
        mean, sd = round(mean, 12), 0.0
    return NoiseFloor(mean=mean, sd=sd, p=p, n_permutations=null.size, kind=kind)


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
