"""The noise floor in closed form, of coefficients that rest on pairs inside units.

Dealing verdicts to units at random, row counts and value totals kept, changes one thing in them:
how many pairs inside units agree, or how far apart they are. Its mean and variance over all deals
are known exactly. Where units differ in their number of ratings, it also changes the mean share of
each verdict.

Shape suffixes: U = units, V = distinct values, T = terms, M = terms that dealing changes.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.closed_null import ClosedNull
from judgerel_ray.stats.pair_kernel import dealt_moments, kernel_of_counts
from judgerel_ray.stats.statistic import AgreeingPairs, CountStatistic, Floats, row_sums, term_sums


def pair_floor(counts_UV: Floats, statistic: CountStatistic) -> ClosedNull | None:
    """Compute the moments of a coefficient over all deals.

    Parameters
    ----------
    counts_UV : ndarray, shape (n_units, n_values)
        Counts of the units that take part.
    statistic : CountStatistic
        The coefficient.

    Returns
    -------
    ClosedNull or None
        None where the coefficient rests on more than pairs and mean shares, has no value, or there
        are fewer than four ratings.

    Notes
    -----
    The sum over pairs of ratings of (weight of their unit) x (do they agree, or how far apart are
    they) is the statistic of Mantel [1]_, whose permutation moments are exact; of agreement they
    are rational numbers, and are computed as such. Of coefficients linear in it they make the exact
    moments; where mean shares vary, too, and of ICC(1), the spread is that of the coefficient's
    linear part, and the mean its value at the means. The skewness is that of the pairs, in the
    limit of many ratings; the kurtosis is what theirs and that of mean shares make at most.

    References
    ----------
    .. [1] Mantel, N. (1967), The detection of disease clustering and a generalized regression
       approach, Cancer Research 27, 209-220.

    Examples
    --------
    Two units of two ratings, two values twice each: a third of all deals agree throughout.

    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> found = pair_floor(np.array([[2.0, 0.0], [0.0, 2.0]]), agreement)
    >>> round(found.mean, 6), round(found.sd, 6)
    (0.333333, 0.471405)
    """
    totals_V = counts_UV.sum(axis=0).astype(np.int64)
    if statistic.at_totals is not None:
        statistic = statistic.at_totals(totals_V.astype(np.float64))
    pairs = statistic.pairs
    sizes_U = row_sums(counts_UV).astype(np.int64)
    if pairs is None or sizes_U.sum() < 4:
        return None
    total_T = term_sums(counts_UV, statistic)
    place_M, mean_M, cov_MM, higher = _moments(sizes_U, totals_V, pairs)
    mean_M[0] += total_T[pairs.place] - _observed(counts_UV, sizes_U, pairs)
    return linear_null(statistic, total_T, place_M, mean_M, cov_MM, higher)


def linear_null(
    statistic: CountStatistic,
    total_T: Floats,
    place_M: list[int],
    mean_M: Floats,
    cov_MM: Floats,
    higher: tuple[float, float],
) -> ClosedNull | None:
    """Carry moments of the terms that dealing changes over to the coefficient.

    `higher` are third moment and fourth cumulant of the first term.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> moments = np.array([2.0]), np.array([[1.0]]), (0.0, 0.5)
    >>> found = linear_null(agreement, np.array([4.0, 3.0]), [1], *moments)
    >>> found.value, found.mean, found.sd, found.skewness, found.kurtosis
    (0.75, 0.5, 0.25, 0.0, 0.5)
    """
    value = float(statistic.value(total_T))
    if np.isnan(value):
        return None
    step_M = np.sqrt(np.diagonal(cov_MM))
    null = np.repeat(total_T[None], 1 + 2 * len(place_M), axis=0)
    null[:, place_M] = mean_M + np.vstack([0 * step_M, np.diag(step_M), -np.diag(step_M)])
    centre, *around = statistic.value(null).tolist()
    above_M, below_M = np.array(around).reshape(2, -1)
    slope_M = np.divide(above_M - below_M, 2 * step_M, out=0 * step_M, where=step_M > 0)
    sd = sqrt(max(0.0, float(slope_M @ cov_MM @ slope_M)))
    third, fourth = higher
    relative = float(slope_M[0]) / sd if sd > 0 else 0.0
    return ClosedNull(
        value=value,
        mean=centre,
        sd=sd,
        skewness=relative**3 * third,
        kurtosis=relative**4 * fourth,
    )


def _moments(
    sizes_U: NDArray[np.int64],
    totals_V: NDArray[np.int64],
    pairs: AgreeingPairs,
) -> tuple[list[int], Floats, Floats, tuple[float, float]]:
    """Terms that dealing changes: places, means, covariances; higher moments of the first."""
    likeness = np.eye(totals_V.size) if pairs.distances_VV is None else pairs.distances_VV
    mean, variance, *higher = dealt_moments(
        sizes_U, pairs.weight, kernel_of_counts(totals_V, likeness)
    )
    if pairs.distances_VV is None:
        mean, variance = (float(one) for one in pair_moments(sizes_U, totals_V, pairs))
    if pairs.shares is None or not np.ptp(sizes_U):
        return [pairs.place], np.array([mean]), np.array([[variance]]), (higher[0], higher[1])
    shared, cov_VV, cross_V = share_moments(sizes_U, totals_V, pairs)
    place = [pairs.place, *range(pairs.shares, pairs.shares + totals_V.size)]
    cov = np.block([[np.array([[variance]]), cross_V[None]], [cross_V[:, None], cov_VV]])
    return place, np.concatenate([[mean], shared]), cov, (higher[0], higher[1])


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


def share_moments(
    sizes_U: NDArray[np.int64], totals_V: NDArray[np.int64], pairs: AgreeingPairs
) -> tuple[Floats, Floats, Floats]:
    """Compute moments of the sums over units of shares n_qv / m_q.

    Returns their means, their covariances, and those with the weighted number of agreeing ordered
    pairs.

    Examples
    --------
    Of three ratings, one differs: it is alone in its unit in a third of all deals.

    >>> pairs = AgreeingPairs(place=1, weight=lambda m: Fraction(1, m * (m - 1)))
    >>> mean, cov, cross = share_moments(np.array([2, 1]), np.array([2, 1]), pairs)
    >>> mean.round(3).tolist(), cov.round(3).tolist(), cross.round(3).tolist()
    ([1.333, 0.667], [[0.056, -0.056], [-0.056, 0.056]], [-0.111, 0.111])
    """
    sizes, numbers = np.unique(sizes_U[sizes_U > 0], return_counts=True)
    w_sum = w_shared = squares = Fraction(0)
    for m, k in zip(sizes.tolist(), numbers.tolist(), strict=True):
        weight = pairs.weight(m) if m >= 2 else Fraction(0)
        w_sum += k * m * (m - 1) * weight
        w_shared += k * (m - 1) * weight  # each rating has 1 / m of its unit
        squares += Fraction(k, m)
    n, units = int(sizes_U.sum()), int(numbers.sum())
    totals = totals_V.tolist()
    y_sum = sum(c * (c - 1) for c in totals)
    mean = w_sum * y_sum / (n * (n - 1))
    cross = []
    for c in totals:
        # The third rating is of the pair, or is another one with this verdict.
        inside = 2 * w_shared * c * (c - 1) / (n * (n - 1))
        outside = (w_sum * units - 2 * w_shared) * c * (y_sum - 2 * (c - 1))
        both = inside + (outside / (n * (n - 1) * (n - 2)) if n > 2 else 0)
        cross.append(float(both - mean * Fraction(units * c, n)))
    share_V = totals_V / n
    unequal = float((squares - Fraction(units**2, n)) * n / (n - 1))
    cov_VV = unequal * (np.diag(share_V) - np.outer(share_V, share_V))
    return units * share_V, cov_VV, np.array(cross)


def _observed(counts_UV: Floats, sizes_U: NDArray[np.int64], pairs: AgreeingPairs) -> float:
    """The weighted sum over ordered pairs there is."""
    if pairs.distances_VV is None:
        inside_U = np.einsum("uv,uv->u", counts_UV, counts_UV) - sizes_U
    else:
        inside_U = np.einsum("uv,uv->u", counts_UV, counts_UV @ pairs.distances_VV)
    per_size = np.bincount(sizes_U, weights=inside_U)
    found = np.flatnonzero(per_size)
    return float(sum(float(pairs.weight(m)) * per_size[m] for m in found.tolist() if m >= 2))
