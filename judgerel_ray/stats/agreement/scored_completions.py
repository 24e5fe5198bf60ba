"""Worst and best case of coefficients of numbers: alpha of a level, and icc1 of scores.

Where the ways to fill in are few enough, all are tried. Where not, the disagreement inside units
``W = sum_q w_q n_q' d n_q`` and that of the totals ``C = c' d c`` are bounded apart, with distances
d between values; the coefficients fall with ``W / C``. Ordinal distances depend on the totals, and
are bounded, too. This brackets the extremes: no way to fill in goes beyond.

Shape suffixes: U = units, K = values, T = terms, W = ways.
"""

from __future__ import annotations

from math import comb, inf, log

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.agreement.agreement import count_statistic
from judgerel_ray.stats.agreement.completions import CompletedRange
from judgerel_ray.stats.agreement.krippendorff import Level
from judgerel_ray.stats.counts.filling import ways_to_fill
from judgerel_ray.stats.counts.statistic import CountStatistic, Floats, divide

Counts = NDArray[np.int64]
OF_SCORES = ("krippendorff_alpha", "icc1")
"""Coefficients of numbers of which :func:`scored_range` knows the extremes."""
_MOST_SUMS = 6 * 10**6  # sums of terms of all ways: 48 MB, half a second


def scored_range(
    name: str,
    seen_UK: NDArray[np.integer],
    missing_U: NDArray[np.integer],
    *,
    values: NDArray[np.float64],
    level: Level,
) -> CompletedRange:
    """Compute the worst and the best case of a coefficient of numbers.

    Parameters
    ----------
    name : str
        One of `OF_SCORES`.
    seen_UK : ndarray of int, shape (n_units, n_values)
        How often each unit received each value; those that never occurred have a column, too.
    missing_U : ndarray of int, shape (n_units,)
        Verdicts to fill in, each with one of the values.
    values : ndarray of float, shape (n_values,)
        What the columns stand for, all different.
    level : {"ordinal", "interval", "ratio"}
        Level of measurement.

    Returns
    -------
    CompletedRange
        As of :func:`.completed_range`.

    Raises
    ------
    ValueError
        If the name is unknown, the level is "nominal", or the values do not fit it.

    Examples
    --------
    The second score of the first unit was 1, 2 or 5:

    >>> seen, missing = np.array([[1, 0, 0], [0, 1, 1]]), np.array([1, 0])
    >>> found = scored_range("krippendorff_alpha", seen, missing, values=np.array([1.0, 2, 5]),
    ...                      level="interval")
    >>> round(found.low, 3), round(found.high, 3), found.exact
    (-0.471, 0.372, True)
    """
    if name not in OF_SCORES:
        raise ValueError(f"scored_range: name must be one of {OF_SCORES}, got {name!r}")
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
        return _tried(statistic, seen, missing)
    return _bracketed(name, seen, missing, values, level)


def _tried(statistic: CountStatistic, seen_UK: Counts, missing_U: Counts) -> CompletedRange:
    """Both extremes, by all ways to fill in."""
    open_U = missing_U > 0
    sums_WT = statistic.terms(seen_UK[~open_U].astype(np.float64)).sum(axis=0)[None]
    for seen_K, missing in zip(seen_UK[open_U], missing_U[open_U], strict=True):
        ways = np.array(list(ways_to_fill(int(missing), seen_K.size)))
        terms = statistic.terms((seen_K + ways).astype(np.float64))
        sums_WT = (sums_WT[:, None] + terms).reshape(-1, terms.shape[-1])
    found = statistic.value(sums_WT)
    found = found[np.isfinite(found)]
    if not found.size:
        return CompletedRange()
    return CompletedRange(low=float(found.min()), high=float(found.max()))


def _bracketed(
    name: str, seen_UK: Counts, missing_U: Counts, values: Floats, level: Level
) -> CompletedRange:
    """Ends beyond which no way can go."""
    m_U = (seen_UK.sum(axis=1) + missing_U).astype(np.float64)
    weight_U = 1 / m_U if name == "icc1" else 1 / (m_U - 1)
    totals, added = seen_UK.sum(axis=0)[None], missing_U.sum()[None]
    near, far = _distances(
        values, totals[0], int(added[0]), "interval" if name == "icc1" else level
    )
    within = _squares(seen_UK, missing_U, near, far)
    least, most = (float((weight_U * one).sum()) for one in within)
    lowest, highest = (float(one[0]) for one in _squares(totals, added, near, far))
    if highest <= 0:
        return CompletedRange(exact=False)
    largest = most / lowest if lowest > 0 else inf
    if level != "ratio" or name == "icc1":
        # Squares within units are at most all squares, of numbers and of ranks.
        largest = min(largest, float((weight_U * m_U).max() / m_U.sum()))
    ends = [_value(name, ratio, m_U) for ratio in (largest, least / highest)]
    if not np.isfinite(ends).all():
        return CompletedRange(exact=False)
    return CompletedRange(low=min(ends), high=max(ends), exact=False)


def _value(name: str, ratio: float, m_U: Floats) -> float:
    """The coefficient at W / C."""
    n, q = float(m_U.sum()), m_U.size
    if name == "krippendorff_alpha":
        return 1 - (n - 1) * ratio
    between, within = (1 - n * ratio) / (q - 1), n * ratio / (n - q)
    size = (n - float((m_U**2).sum()) / n) / (q - 1)
    return float(divide(np.array(between - within), np.array(between + (size - 1) * within)))


def _distances(values: Floats, totals_K: Counts, added: int, level: Level) -> tuple[Floats, Floats]:
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


def _squares(
    seen_UK: Counts, missing_U: Counts, near_KK: Floats, far_KK: Floats
) -> tuple[Floats, Floats]:
    """The least and the greatest n' d n of each unit filled in."""
    seen, missing = seen_UK.astype(np.float64), missing_U.astype(np.float64)
    near, far = seen @ near_KK, seen @ far_KK
    # Pairs of verdicts filled in: all of one value, or as even as may be.
    pairs = missing**2 - np.maximum(missing, missing**2 / seen.shape[1])
    least: Floats = (seen * near).sum(axis=1) + 2 * missing * near.min(axis=1)
    most: Floats = (seen * far).sum(axis=1) + 2 * missing * far.max(axis=1) + pairs * far_KK.max()
    return least, most
