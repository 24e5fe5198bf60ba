"""Worst and best case of coefficients, over all ways to fill in the verdicts that are missing.

Means over units have their extremes unit by unit. However verdicts are filled in, a coefficient
like alpha falls with ``W / C``: W is the disagreement inside units, of verdicts
``sum_q w_q (m_q^2 - sum_v n_qv^2)``, and C what chance would give, a function of the totals of the
values alone. For given totals W has a least and a greatest value, so walking unit by unit through
all totals that can be reached gives both extremes exactly. Where there are too many totals, W and C
are bounded apart, which brackets the extremes.

Alpha of numbers and icc1 have ``W = sum_q w_q n_q' d n_q`` and ``C = c' d c``, with distances d
between values; ordinal distances depend on the totals. Where the ways to fill in are few enough,
all are tried; where not, W, C and d are bounded apart: no way to fill in goes beyond.

Shape suffixes: U = units, K = categories or values, S = totals that can be reached, one axis a
category but the last, T = terms, W = ways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import comb, inf, log

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.agreement.agreement import count_statistic
from judgerel_ray.stats.agreement.krippendorff import Level
from judgerel_ray.stats.arguments import check_choice
from judgerel_ray.stats.counts import CountStatistic, Floats, count_vectors, divide

CountArray = NDArray[np.int64]


RATIOS = ("krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "icc1")
"""Coefficients of which :func:`completed_range` knows the extremes."""
_MOST_STEPS = 10**8  # totals times ways to fill a unit: a second
_MOST_TOTALS = 2 * 10**6
_MOST_WAYS = 50_000
_MOST_COMMON = 10**6
_MOST_MISSING = 10**7
_MOST_FILLED = 2000
_MOST_SUMS = 6 * 10**6  # sums of terms of all ways: 48 MB, half a second


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedRange:
    """The least and the greatest value over all ways to fill in what is missing."""

    low: float | None = None  # None where no way gives a value, or nothing bounds it.
    high: float | None = None
    # Whether both ends are reached by some way; otherwise all values lie between them.
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    """W and C of one coefficient: only units that take part."""

    name: str
    seen_UK: CountArray  # noqa: N815  a shape, not a case
    missing_U: CountArray  # noqa: N815
    weight_U: Floats  # noqa: N815
    step_U: CountArray  # noqa: N815
    """What one verdict adds to the totals that chance is made of; 0 where that is no whole part."""
    scale: float
    """By which those totals are divided."""

    @property
    def sizes_U(self) -> CountArray:  # noqa: N802
        """Verdicts of each unit, filled in."""
        sizes: CountArray = self.seen_UK.sum(axis=1) + self.missing_U
        return sizes

    @property
    def parts_U(self) -> Floats:  # noqa: N802
        """What one verdict adds to the totals, whole or not."""
        if self.name != "gwet_ac1":
            return np.ones(len(self.step_U))
        return self.scale / (self.sizes_U * len(self.sizes_U))

    def chance(self, totals: Floats) -> Floats:
        """C of totals (..., K)."""
        if self.name == "gwet_ac1":
            pi = totals / self.scale
            left: Floats = 1 - (pi * (1 - pi)).sum(axis=-1) / (totals.shape[-1] - 1)
            return left
        n = float(self.sizes_U.sum())
        apart: Floats = n**2 - (totals**2).sum(axis=-1)
        return apart

    def value(self, ratio: Floats) -> Floats:
        """The coefficient at W / C."""
        return _coefficient_at_ratio(
            self.name, ratio, self.sizes_U[self.weight_U > 0].astype(np.float64)
        )


def _coefficient_at_ratio(name: str, ratio: Floats, m_U: Floats) -> Floats:
    """A coefficient at W / C, from the numbers of verdicts of its units."""
    n, q = float(m_U.sum()), m_U.size
    if name == "krippendorff_alpha":
        return 1 - (n - 1) * ratio
    if name == "fleiss_kappa":
        return 1 - n**2 / q * ratio
    if name == "gwet_ac1":
        return 1 - ratio / q
    # Squares within units as a share of all squares.
    between, within = (1 - n * ratio) / (q - 1), n * ratio / (n - q)
    size = (n - float((m_U**2).sum()) / n) / (q - 1)
    return divide(between - within, between + (size - 1) * within)


def _range_of_coefficient(ends: Floats) -> CompletedRange:
    """The range between ends that no way can leave, or none where one of them is not known."""
    if not np.isfinite(ends).all():
        return CompletedRange(exact=False)
    return CompletedRange(low=float(ends.min()), high=float(ends.max()), exact=False)


def completed_range(
    name: str, seen_UK: NDArray[np.integer], missing_U: NDArray[np.integer]
) -> CompletedRange:
    """Compute the worst and the best case of a coefficient over all ways to fill in verdicts.

    Examples
    --------
    Filled in with A the two units are told apart, with B the first is split:

    >>> import numpy as np
    >>> found = completed_range("krippendorff_alpha", np.array([[1, 0], [0, 2]]), np.array([1, 0]))
    >>> found.low, found.high, found.exact
    (0.0, 1.0, True)
    """
    check_choice("completed_range", RATIOS, name=name)
    problem = _completion_problem(name, seen_UK.astype(np.int64), missing_U.astype(np.int64))
    n_units, width = int((problem.weight_U > 0).sum()), problem.seen_UK.shape[1]
    if width < 2 or n_units < (2 if name in ("icc1", "icck") else 1):
        return CompletedRange()
    step = math.gcd(*(int(one) for one in problem.step_U[problem.missing_U > 0])) or 1
    added = int((problem.missing_U * problem.step_U).sum()) // step
    n_totals = (added + 1) ** (width - 1)
    n_ways = sum(math.comb(int(one) + width - 1, width - 1) for one in problem.missing_U if one)
    walkable = problem.step_U.all() and n_totals <= _MOST_TOTALS and n_ways <= _MOST_WAYS
    if walkable and n_totals * n_ways <= _MOST_STEPS:
        return _extremes_by_totals(problem, added, step)
    alike = np.unique(problem.step_U).size == 1 and problem.step_U.all()
    if width == 2 and alike and problem.missing_U.sum() <= _MOST_MISSING:
        return _two_valued(problem)
    return _outer_bounds(problem)


def _completion_problem(name: str, seen_UK: CountArray, missing_U: CountArray) -> _Problem:
    """Units that take part, and how they enter."""
    m_U = seen_UK.sum(axis=1) + missing_U
    kept = m_U >= (1 if name == "gwet_ac1" else 2)
    seen_UK, missing_U, m_U = seen_UK[kept], missing_U[kept], m_U[kept]
    step_U, scale = np.ones_like(m_U), 1.0
    if name == "gwet_ac1" and m_U.size:
        # Shares of a unit, over a common denominator where that is small enough to walk.
        common = math.lcm(*(int(one) for one in np.unique(m_U)))
        step_U = common // m_U if common <= _MOST_COMMON else np.zeros_like(m_U)
        scale = float(min(common, _MOST_COMMON)) * m_U.size
    paired = m_U >= 2
    m = np.where(paired, m_U, 2).astype(np.float64)
    weight = {
        "krippendorff_alpha": 1 / (m - 1),
        "fleiss_kappa": 1 / (m * (m - 1)),
        "gwet_ac1": 1 / (m * (m - 1)),
    }.get(name, 1 / m)
    return _Problem(
        name=name, seen_UK=seen_UK, missing_U=missing_U, weight_U=np.where(paired, weight, 0.0),
        step_U=step_U, scale=scale,
    )  # fmt: skip


def _unit_disagreements(problem: _Problem, filled_UK: CountArray) -> Floats:
    """What each unit adds to W."""
    filled = filled_UK.astype(np.float64)
    within: Floats = problem.weight_U * (problem.sizes_U**2 - (filled**2).sum(axis=1))
    return within


def _extremes_by_totals(problem: _Problem, added: int, step: int) -> CompletedRange:
    """Both extremes, by the least and the greatest W of all totals that can be reached."""
    width = problem.seen_UK.shape[1]
    open_U = problem.missing_U > 0
    fixed = float(_unit_disagreements(problem, problem.seen_UK)[~open_U].sum())
    shape = (added + 1,) * (width - 1)
    least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
    least[(0,) * (width - 1)] = most[(0,) * (width - 1)] = fixed
    for u in np.flatnonzero(open_U):
        lower, upper = np.full(shape, np.inf), np.full(shape, -np.inf)
        size, weight = int(problem.sizes_U[u]), float(problem.weight_U[u])
        for way in count_vectors(int(problem.missing_U[u]), width):
            filled = problem.seen_UK[u] + way
            adds = weight * (size**2 - int((filled**2).sum()))
            moved = (int(problem.step_U[u]) // step * way[:-1]).tolist()
            to = tuple(slice(one, None) for one in moved)
            of = tuple(slice(None, added + 1 - one) for one in moved)
            np.minimum(lower[to], least[of] + adds, out=lower[to])
            np.maximum(upper[to], most[of] + adds, out=upper[to])
        least, most = lower, upper
    finite = np.isfinite(least)
    reached = np.stack(np.nonzero(finite), axis=-1)
    last = added - reached.sum(axis=1, keepdims=True)
    totals = _totals_of_completions(problem) + step * np.concatenate([reached, last], axis=1)
    return _extremes_over_totals(problem, totals, least[finite], most[finite])


def _totals_of_completions(problem: _Problem) -> Floats:
    totals: Floats = (problem.seen_UK * problem.parts_U[:, None]).sum(axis=0)
    return totals


def _extremes_over_totals(
    problem: _Problem, totals_SK: Floats, least_S: Floats, most_S: Floats, *, exact: bool = True
) -> CompletedRange:
    """The extremes, from those of W at each of the totals."""
    chance = problem.chance(totals_SK)
    there = chance > 1e-9 * max(1.0, float(np.abs(chance).max(initial=0.0)))
    if not there.any():
        return CompletedRange()
    low, high = (problem.value(one[there] / chance[there]) for one in (most_S, least_S))
    return CompletedRange(low=float(low.min()), high=float(high.max()), exact=exact)


def _two_valued(problem: _Problem) -> CompletedRange:
    """Ends for many units and two values: the worst case exactly, the best but for one unit.

    A unit's part of W is concave in what is filled in, so for given totals the greatest W takes
    the largest increments first; its chords, taken from the lowest, are never above the least W.
    """
    missing, sizes = problem.missing_U, problem.sizes_U.astype(np.float64)
    weight, first = 2 * problem.weight_U, problem.seen_UK[:, 0].astype(np.float64)
    at_none = float((weight * first * (sizes - first)).sum())
    each = np.repeat(np.arange(missing.size), missing)
    before = np.arange(each.size) - np.repeat(np.cumsum(missing) - missing, missing)
    rises = weight[each] * (sizes[each] - 2 * (first[each] + before) - 1)
    chords = weight[each] * (sizes[each] - 2 * first[each] - missing[each])
    most, least = (
        at_none + np.concatenate([[0.0], np.cumsum(one)])
        for one in (np.sort(rises)[::-1], np.sort(chords))
    )
    added = np.arange(each.size + 1.0) * float(problem.parts_U[0])
    totals = _totals_of_completions(problem) + np.stack([added, added[::-1]], axis=1)
    return _extremes_over_totals(problem, totals, np.maximum(least, 0.0), most, exact=False)


def _outer_bounds(problem: _Problem) -> CompletedRange:
    """Ends beyond which no way can go: W and C at their extremes apart."""
    worst, best = extremes(problem.seen_UK, problem.missing_U)
    most, least = (float(_unit_disagreements(problem, one).sum()) for one in (worst, best))
    added = float((problem.missing_U * problem.parts_U).sum())
    totals = np.sort(_totals_of_completions(problem))
    uneven = totals + added * (np.arange(totals.size) == totals.size - 1)
    lowest, highest = sorted(
        float(problem.chance(one)) for one in (uneven, _raised_totals(totals, added))
    )
    if highest <= 0:
        return CompletedRange(exact=False)
    largest = math.inf if lowest <= 0 else most / lowest
    if problem.name != "gwet_ac1":
        # Squares within units are at most all squares.
        sizes_U = problem.sizes_U
        largest = min(largest, float((problem.weight_U * sizes_U).max() / sizes_U.sum()))
    return _range_of_coefficient(problem.value(np.array([largest, least / highest])))


def _raised_totals(totals_K: Floats, added: float) -> Floats:
    """Ascending totals, the lowest lifted to one level by what is added."""
    count = np.arange(1, totals_K.size + 1)
    levels = (np.cumsum(totals_K) + added) / count
    # As many as lie below the level they would rise to.
    lifted = int((totals_K <= levels).sum())
    lifted_K: Floats = np.maximum(totals_K, levels[max(lifted, 1) - 1])
    return lifted_K


OF_SCORES = ("krippendorff_alpha", "icc1")
"""Coefficients of numbers of which :func:`scored_range` knows the extremes."""


def scored_range(
    name: str,
    seen_UK: NDArray[np.integer],
    missing_U: NDArray[np.integer],
    *,
    values: NDArray[np.float64],
    level: Level,
) -> CompletedRange:
    """Compute the worst and the best case of a coefficient of numbers.

    Shapes: ``seen_UK`` (n_units, n_values), ``missing_U`` (n_units,), ``values`` (n_values,).
    """
    check_choice("scored_range", OF_SCORES, name=name)
    if level == "nominal":
        raise ValueError("scored_range: level must be of numbers, got 'nominal'")
    order = np.argsort(values)
    values, seen = values[order], seen_UK.astype(np.int64)[:, order]
    kept = seen.sum(axis=1) + missing_U >= 2
    seen, missing = seen[kept], missing_U.astype(np.int64)[kept]
    statistic = count_statistic(name, n_values=values.size, values=values, level=level)
    if values.size < 2 or len(seen) < max(1, statistic.min_units):
        return CompletedRange()
    holes, n_units = np.unique(missing, return_counts=True)
    ways = [log(comb(int(one) + values.size - 1, values.size - 1)) for one in holes]
    n_terms = statistic.terms(np.zeros((1, values.size))).shape[-1]
    if float(np.dot(ways, n_units)) + log(n_terms) <= log(max(1, _MOST_SUMS)):
        return _extremes_by_trial(statistic, seen, missing)
    return _bracketed_scores(name, seen, missing, values, level)


def _extremes_by_trial(
    statistic: CountStatistic, seen_UK: CountArray, missing_U: CountArray
) -> CompletedRange:
    """Both extremes, by all ways to fill in."""
    open_U = missing_U > 0
    sums_WT = statistic.terms(seen_UK[~open_U].astype(np.float64)).sum(axis=0)[None]
    for seen_K, missing in zip(seen_UK[open_U], missing_U[open_U], strict=True):
        ways = count_vectors(int(missing), seen_K.size)
        terms = statistic.terms((seen_K + ways).astype(np.float64))
        sums_WT = (sums_WT[:, None] + terms).reshape(-1, terms.shape[-1])
    found = statistic.value(sums_WT)
    found = found[np.isfinite(found)]
    if not found.size:
        return CompletedRange()
    return CompletedRange(low=float(found.min()), high=float(found.max()))


def _bracketed_scores(
    name: str, seen_UK: CountArray, missing_U: CountArray, values: Floats, level: Level
) -> CompletedRange:
    """Ends beyond which no way can go."""
    m_U = (seen_UK.sum(axis=1) + missing_U).astype(np.float64)
    weight_U = 1 / m_U if name == "icc1" else 1 / (m_U - 1)
    totals, added = seen_UK.sum(axis=0)[None], missing_U.sum()[None]
    near, far = _extreme_value_distances(
        values, totals[0], int(added[0]), "interval" if name == "icc1" else level
    )
    within = _extreme_unit_distances(seen_UK, missing_U, near, far)
    least, most = (float((weight_U * one).sum()) for one in within)
    lowest, highest = (float(one[0]) for one in _extreme_unit_distances(totals, added, near, far))
    if highest <= 0:
        return CompletedRange(exact=False)
    largest = most / lowest if lowest > 0 else inf
    if level != "ratio" or name == "icc1":
        # Squares within units are at most all squares, of numbers and of ranks.
        largest = min(largest, float((weight_U * m_U).max() / m_U.sum()))
    return _range_of_coefficient(
        _coefficient_at_ratio(name, np.array([largest, least / highest]), m_U)
    )


def _extreme_value_distances(
    values: Floats, totals_K: CountArray, added: int, level: Level
) -> tuple[Floats, Floats]:
    """The least and the greatest squared distances between values, ascending."""
    apart = np.abs(values[:, None] - values)
    if level == "interval":
        return apart**2, apart**2
    if level == "ratio":
        total = np.abs(values[:, None] + values)
        share = np.divide(apart, total, out=np.zeros_like(apart), where=total > 0)
        return share**2, share**2
    rank = np.cumsum(totals_K) - totals_K / 2
    gap = np.abs(rank[:, None] - rank)
    # What is added lies half between neighbours at most, and all of it between others.
    steps = np.abs(np.subtract.outer(np.arange(rank.size), np.arange(rank.size)))
    return gap**2, (gap + added * np.minimum(steps, 2) / 2) ** 2


def _extreme_unit_distances(
    seen_UK: CountArray, missing_U: CountArray, near_KK: Floats, far_KK: Floats
) -> tuple[Floats, Floats]:
    """The least and the greatest n' d n of each unit filled in."""
    seen, missing = seen_UK.astype(np.float64), missing_U.astype(np.float64)
    near, far = seen @ near_KK, seen @ far_KK
    # Pairs of verdicts filled in: all of one value, or as even as may be.
    pairs = missing**2 - np.maximum(missing, missing**2 / seen.shape[1])
    least: Floats = (seen * near).sum(axis=1) + 2 * missing * near.min(axis=1)
    most: Floats = (seen * far).sum(axis=1) + 2 * missing * far.max(axis=1) + pairs * far_KK.max()
    return least, most


def mean_range(
    statistic: CountStatistic, seen_UK: NDArray[np.integer], missing_U: NDArray[np.integer]
) -> tuple[float | None, float | None, bool]:
    """Compute the worst and the best case of a mean over units of numbers in [0, 1].

    low, high: None where no unit takes part.

    exact: Whether all ways of all units were tried; otherwise some units count as 0, and as 1.
    """
    width = seen_UK.shape[1]
    sizes = seen_UK.sum(axis=1) + missing_U
    taking = sizes >= statistic.min_ratings
    if not taking.any() or width < 1:
        return None, None, True
    # The value of a unit knows no names: units alike but for them are filled in once.
    alike = np.concatenate([np.sort(seen_UK, axis=1), missing_U[:, None]], axis=1)[taking]
    units, n = np.unique(alike, axis=0, return_counts=True)
    ends = np.tile([0.0, 1.0], (len(units), 1))
    left, exact = _MOST_FILLED, True
    for u in np.argsort(units[:, -1], kind="stable"):
        missing = int(units[u, -1])
        if comb(missing + width - 1, width - 1) > max(left, 1):
            exact = False
            continue
        ways = count_vectors(missing, width)
        filled = np.unique(np.sort(units[u, :-1] + ways, axis=1), axis=0)
        left -= len(ways)
        values = statistic.terms(filled.astype(np.float64))[:, 1]
        ends[u] = values.min(), values.max()
    low, high = (ends * n[:, None]).sum(axis=0) / n.sum()
    return float(low), float(high), exact


def extremes(seen_UK: CountArray, missing_U: CountArray) -> tuple[CountArray, CountArray]:
    """Fill in what is missing so that units disagree most, and so that they agree most.

    Shape (n_units, n_categories). Each unit's counts in increasing order, whatever they are counts
    of.

    Examples
    --------
    >>> worst, best = extremes(np.array([[0, 3, 1]]), np.array([4]))
    >>> worst.tolist(), best.tolist()
    ([[2, 3, 3]], [[0, 1, 7]])
    """
    seen = np.sort(seen_UK, axis=1)
    width = seen.shape[1]
    best = seen.copy()
    best[:, -1] += missing_U
    # Water filled into the lowest columns: `j` of them rise to one level, the rest stay above it.
    below = np.cumsum(seen, axis=1)
    j = np.arange(1, width + 1)
    room = j * seen - below  # what lifts the first j columns to the j-th
    lifted = (room <= missing_U[:, None]).sum(axis=1)
    water = missing_U + np.take_along_axis(below, lifted[:, None] - 1, axis=1)[:, 0]
    level, rest = water // lifted, water % lifted
    place = np.arange(width)
    worst = np.where(place < lifted[:, None], level[:, None], seen)
    worst += (place < lifted[:, None]) & (place >= (lifted - rest)[:, None])
    return worst, best
