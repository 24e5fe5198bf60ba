"""The noise floor: what a coefficient shows when no verdict or score depends on its question.

The null permutes the group's own verdicts over its units at random; every unit keeps its number of
verdicts and every value its total, so a coefficient that is high only because of its design
(few questions, one dominating verdict) is seen to be. Continuous scores are permuted likewise.

Shape suffixes: U = units, V = distinct values, N = ratings or scores, B = batch of permutations,
R = rows or runs, T = terms, 3 = number, sum, sum of squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.agreement.agreement import Statistic, named_statistic
from judgerel_ray.stats.agreement.intraclass import WITHIN, moment_statistic
from judgerel_ray.stats.agreement.krippendorff import Level, Values
from judgerel_ray.stats.arguments import check_at_least_1, check_one_length
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
from judgerel_ray.stats.null.pair_null import (
    kernel_of_scores,
    linear_null,
    observed_pairs,
    pair_floor,
    permuted_moments,
)
from judgerel_ray.stats.null.permutation import (
    CELLS,
    Margins,
    PermutedRuns,
    Way,
    choose_way,
    margins_of,
    permuted,
    permuted_runs,
)

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
    (three million ratings; more by the cheaper ways of :mod:`.permutation`): a
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


OfScores = Literal["icc1", "krippendorff_alpha"]


def score_floor(
    scores_N: ArrayLike,
    unit_N: ArrayLike,
    name: OfScores = "icc1",
    *,
    n_permutations: int = 999,
    seed: int = 0,
) -> NoiseFloor:
    """Compute the null of ICC(1) or interval alpha of continuous scores.

    Every unit keeps its number of scores; nothing is assumed of their distribution.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_scores,)
        All scores; NaN is missing.
    unit_N : array-like of int, shape (n_scores,)
        The unit of each, numbered from 0.
    name : {"icc1", "krippendorff_alpha"}
        Of which coefficient.
    n_permutations : int
        Permutations asked for, at least 1.
    seed : int
        Seed of the permutations; the order of scores and units does not matter.

    Returns
    -------
    NoiseFloor
        Nothing where the coefficient is undefined.

    Raises
    ------
    ValueError
        If the scores are not finite, there is not one unit a score, or `n_permutations` is below 1.

    Notes
    -----
    Above 20 million scores there are fewer permutations (not below 199). Above 100 thousand scores,
    mean and spread over all permutations are exact (:func:`.permuted_moments`,
    of squared differences), and `p` is from them and the skewness. Where that is above 0.1 or the
    excess kurtosis above 0.3 (heavy tails, a few large units), up to three million scores are
    permuted all the same, in about a minute; beyond, there is a p up to a skewness of 0.5 and a
    kurtosis of 1, and none above.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> units = np.repeat(np.arange(20), 5)
    >>> noise, judge = rng.normal(size=100), units + rng.normal(size=100)
    >>> score_floor(noise, units).p > 0.05, score_floor(judge, units).p
    (True, 0.001)
    """
    check_at_least_1("score_floor", n_permutations=n_permutations)
    scores, units = _checked_scores(scores_N, unit_N)
    statistic = moment_statistic(name)
    sizes = np.bincount(units)
    kept = sizes[units] >= 2
    # Sorted, and in units of their spread: neither order nor scale may matter.
    fixed = np.lexsort((scores[kept], units[kept]))
    scores, units, sizes_U = scores[kept][fixed], units[kept][fixed], np.sort(sizes[sizes >= 2])
    spread = scores.std() if scores.size else 0.0
    if not spread > 0:
        return NOTHING
    scores = (scores - scores.mean()) / spread
    sums = [np.bincount(units, scores**power) for power in range(3)]
    total_T = statistic.terms(np.stack(sums, axis=1)).sum(axis=0)
    value = float(statistic.value(total_T))
    if np.isnan(value):
        return NOTHING
    scores = np.sort(scores)
    if scores.size * FEWEST > LABELS:
        null = _score_moments(scores, sizes_U, statistic, total_T)
        if null is not None and (null.settled or not affordable(scores.size)):
            return closed_floor(null)
    permutations = min(n_permutations, max(FEWEST, LABELS // scores.size))
    found = _permuted_scores(scores, sizes_U, statistic, permutations, np.random.default_rng(seed))
    return floor_of(value, found, NullMethod.SCORE_PERMUTATIONS)


def _checked_scores(scores_N: ArrayLike, unit_N: ArrayLike) -> tuple[Floats, NDArray[np.int64]]:
    """Scores that are there, with their units."""
    scores = np.asarray(scores_N, dtype=np.float64)
    units = np.asarray(unit_N, dtype=np.int64)
    check_one_length("score_floor", scores_N=scores, unit_N=units)
    there = ~np.isnan(scores)
    if np.isinf(scores).any():
        raise ValueError("score_floor: scores_N must be finite or NaN")
    if (units < 0).any():
        raise ValueError("score_floor: unit_N must be numbers from 0 on")
    return scores[there], units[there]


def _score_moments(
    scores_N: Floats, sizes_U: NDArray[np.int64], statistic: CountStatistic, total_T: Floats
) -> ClosedNull | None:
    """The null by its moments: squares about a unit's mean are those of pairs, over 2 m."""
    less = 1 if statistic.name == "krippendorff_alpha" else 0
    kernel = kernel_of_scores(scores_N)
    mean, variance, *higher = permuted_moments(
        sizes_U, lambda m: Fraction(1, 2 * (m - less)), kernel
    )
    moments = np.array([mean]), np.array([[variance]]), (higher[0], higher[1])
    return linear_null(statistic, total_T, [WITHIN], *moments)


def _permuted_scores(
    scores_N: Floats,
    sizes_U: NDArray[np.int64],
    statistic: CountStatistic,
    n_drawn: int,
    rng: np.random.Generator,
) -> Floats:
    """The coefficient of random permutations."""
    starts_U = np.cumsum(sizes_U) - sizes_U
    values = []
    for size in batches(n_drawn, scores_N.size, CELLS):
        permuted_BN = rng.permuted(np.broadcast_to(scores_N, (size, scores_N.size)), axis=1)
        moments_BU3 = np.empty((size, sizes_U.size, 3))
        moments_BU3[..., 0] = sizes_U
        moments_BU3[..., 1] = np.add.reduceat(permuted_BN, starts_U, axis=1)
        np.square(permuted_BN, out=permuted_BN)
        moments_BU3[..., 2] = np.add.reduceat(permuted_BN, starts_U, axis=1)
        values.append(statistic.value(statistic.terms(moments_BU3).sum(axis=-2)))
    return np.concatenate(values)
