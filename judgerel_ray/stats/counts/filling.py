"""Ways to fill in what is missing in counts, and what they make of a mean over units.

Shape suffixes: U = units, K = categories.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts.statistic import CountStatistic

Counts = NDArray[np.int64]
_MOST_FILLED = 2000


def ways_to_fill(missing: int, width: int) -> Iterator[tuple[int, ...]]:
    """Share missing verdicts out to the categories, in all ways.

    Examples
    --------
    >>> list(ways_to_fill(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    for bars in combinations(range(missing + width - 1), width - 1):
        edges = (-1, *bars, missing + width - 1)
        yield tuple(edges[i + 1] - edges[i] - 1 for i in range(width))


def mean_range(
    statistic: CountStatistic, seen_UK: NDArray[np.integer], missing_U: NDArray[np.integer]
) -> tuple[float | None, float | None, bool]:
    """Compute the worst and the best case of a mean over units of numbers in [0, 1].

    Parameters
    ----------
    statistic : CountStatistic
        With the terms [takes part, number] a unit: majority stability.
    seen_UK : ndarray of int, shape (n_units, n_categories)
        How often each unit received each category; those that never occurred have a column, too.
    missing_U : ndarray of int, shape (n_units,)
        Verdicts to fill in.

    Returns
    -------
    low, high : float or None
        None where no unit takes part.
    exact : bool
        Whether all ways of all units were tried; otherwise some units count as 0, and as 1.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> vote = count_statistic("majority_stability_1", n_values=2)
    >>> mean_range(vote, np.array([[2, 0], [1, 0]]), np.array([0, 1]))
    (0.5, 1.0, True)
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
        ways = np.array(list(ways_to_fill(missing, width)), dtype=np.int64)
        filled = np.unique(np.sort(units[u, :-1] + ways, axis=1), axis=0)
        left -= len(ways)
        values = statistic.terms(filled.astype(np.float64))[:, 1]
        ends[u] = values.min(), values.max()
    low, high = (ends * n[:, None]).sum(axis=0) / n.sum()
    return float(low), float(high), exact


def extremes(seen_UK: Counts, missing_U: Counts) -> tuple[Counts, Counts]:
    """Fill in what is missing so that units disagree most, and so that they agree most.

    Parameters
    ----------
    seen_UK, missing_U
        As of :func:`mean_range`.

    Returns
    -------
    worst, best : ndarray of int, shape (n_units, n_categories)
        Each unit's counts in increasing order, whatever they are counts of.

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
