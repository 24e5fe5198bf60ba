"""The noise floor in closed form, of coefficients that rest on agreeing pairs.

Dealing verdicts to units at random, row counts and value totals kept, changes one thing in them:
how many pairs inside units agree. Its mean and variance over all deals are known exactly.

Shape suffixes: U = units, V = distinct values.
"""

from __future__ import annotations

from fractions import Fraction
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import AgreeingPairs, CountStatistic, Floats, row_sums

_SETTLED = 1e-12


def pair_floor(counts_UV: Floats, statistic: CountStatistic) -> tuple[float, float, float] | None:
    """Compute mean, standard deviation and two-sided p of a coefficient over all deals.

    Parameters
    ----------
    counts_UV : ndarray, shape (n_units, n_values)
        Counts of the units that take part.
    statistic : CountStatistic
        The coefficient.

    Returns
    -------
    tuple of float or None
        None where the coefficient rests on more than agreeing pairs, has no value, or there are
        fewer than four ratings. The p is that of a normal distribution: for many units.

    Notes
    -----
    The sum over pairs of ratings of (weight of their unit) x (do they agree) is the statistic of
    Mantel [1]_, whose permutation moments are rational numbers, and are computed as such.

    References
    ----------
    .. [1] Mantel, N. (1967), The detection of disease clustering and a generalized regression
       approach, Cancer Research 27, 209-220.

    Examples
    --------
    Two units of two ratings, two values twice each: a third of all deals agree throughout.

    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> mean, sd, _ = pair_floor(np.array([[2.0, 0.0], [0.0, 2.0]]), agreement)
    >>> round(mean, 6), round(sd, 6)
    (0.333333, 0.471405)
    """
    pairs = statistic.pairs
    sizes_U = row_sums(counts_UV).astype(np.int64)
    totals_V = counts_UV.sum(axis=0).astype(np.int64)
    if pairs is None or sizes_U.sum() < 4 or (pairs.balanced and np.ptp(sizes_U) > 0):
        return None
    total_T = statistic.terms(counts_UV).sum(axis=0)
    value = float(statistic.value(total_T))
    if np.isnan(value):
        return None
    mean, variance = pair_moments(sizes_U, totals_V, pairs)
    observed = _observed(counts_UV, sizes_U, pairs)
    spread = sqrt(variance)
    null = np.repeat(total_T[None], 3, axis=0)
    null[:, pairs.place] += float(mean) - observed + np.array([0.0, -spread, spread])
    centre, below, above = statistic.value(null).tolist()
    sd = abs(above - below) / 2
    far = abs(value - centre)
    if not sd >= _SETTLED:
        return centre, 0.0, float(far <= 1e-9)
    return centre, sd, erfc(far / sd / sqrt(2))


def pair_moments(
    sizes_U: NDArray[np.int64], totals_V: NDArray[np.int64], pairs: AgreeingPairs
) -> tuple[Fraction, Fraction]:
    """Compute mean and variance of the weighted number of agreeing ordered pairs.

    Examples
    --------
    >>> pairs = AgreeingPairs(place=1, weight=lambda m: Fraction(1, m * (m - 1)))
    >>> pair_moments(np.array([2, 2]), np.array([2, 2]), pairs)
    (Fraction(2, 3), Fraction(8, 9))
    """
    sizes, numbers = np.unique(sizes_U, return_counts=True)
    w_sum = w_squares = w_rows = Fraction(0)
    for m, k in zip(sizes.tolist(), numbers.tolist(), strict=True):
        weight = pairs.weight(m) if m >= 2 else Fraction(0)
        w_sum += k * m * (m - 1) * weight
        w_squares += k * m * (m - 1) * weight**2
        w_rows += k * m * ((m - 1) * weight) ** 2
    n = int(sizes_U.sum())
    y_sum = sum(c * (c - 1) for c in totals_V.tolist())  # of squares, too: pairs agree or do not
    y_rows = sum(c * (c - 1) ** 2 for c in totals_V.tolist())
    mean = w_sum * y_sum / (n * (n - 1))
    # Expectation of the square: pairs of pairs that share both, one, or no rating.
    both = 2 * w_squares * y_sum / (n * (n - 1))
    one = 4 * (w_rows - w_squares) * (y_rows - y_sum) / (n * (n - 1) * (n - 2))
    w_none = w_sum**2 + 2 * w_squares - 4 * w_rows
    y_none = y_sum**2 + 2 * y_sum - 4 * y_rows
    none = w_none * y_none / (n * (n - 1) * (n - 2) * (n - 3))
    return mean, both + one + none - mean**2


def _observed(counts_UV: Floats, sizes_U: NDArray[np.int64], pairs: AgreeingPairs) -> float:
    """The weighted number of agreeing ordered pairs there are."""
    agreeing_U = np.einsum("uv,uv->u", counts_UV, counts_UV) - sizes_U
    per_size = np.bincount(sizes_U, weights=agreeing_U)
    return float(
        sum(pairs.weight(m) * int(per_size[m]) for m in np.flatnonzero(per_size).tolist() if m >= 2)
    )
