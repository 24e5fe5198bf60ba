"""The noise floor in closed form, of coefficients that rest on pairs inside units.

Permuting verdicts over the units, row counts and value totals kept, changes one thing in them:
how many pairs inside units agree, or how far apart they are. Its mean and variance over all
permutations are known exactly. Where units differ in their number of ratings, it also changes the
mean share of each verdict.

Shape suffixes: U = units, V = distinct values, N = ratings, T = terms, M = terms that permuting
changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts import AgreeingPairs, CountStatistic, Floats, row_sums, term_sums
from judgerel_ray.stats.null.closed_null import ClosedNull

_MANY = 100  # values above which power sums stand for tables of pairs of values, which are cubed
_MOST_SHARES = 3_000  # mean shares whose covariances are held: 72 MB a table


@dataclass(frozen=True, slots=True, kw_only=True)
class PairKernel:
    """Moments of what a pair of two of n ratings counts."""

    n: int
    mean: float  # Over all pairs of different ratings.
    squares: float  # Sum over ordered pairs of squares, the mean taken off.
    rows: float  # Sum over ratings of the squared sum over their pairs, the mean taken off.
    # Means of d(x, y)^3 and of d(x, y) d(y, z) d(z, x), d being what is left of a pair without the
    # mean and without what each of its ratings brings to all its pairs.
    cube: float
    triangle: float
    # Means of d(x, y)^2 l(x), d(x, y) l(x) l(y) and l(x)^3, l being what a rating brings.
    square_line: float
    link: float
    line_cube: float
    fourth: float  # Means of d(x, y)^4 and of d(x, y) d(y, z) d(z, w) d(w, x).
    cycle: float
    fork: float  # Variance over x of the mean of d(x, y)^2, and the fourth cumulant of l(x).
    line_fourth: float


def kernel_of_counts(totals_V: NDArray[np.int64], pairs_VV: Floats) -> PairKernel:
    """Sum up a table of what pairs of values count."""
    c = totals_V.astype(np.float64)
    n = int(totals_V.sum())
    diagonal_V = np.diagonal(pairs_VV)
    mean = float(c @ pairs_VV @ c - c @ diagonal_V) / (n * (n - 1))
    centred = pairs_VV - mean
    diagonal_V = np.diagonal(centred)
    p_V = c / n
    line_V = centred @ p_V
    line_V = line_V - p_V @ line_V
    left = centred - (centred @ p_V)[:, None] - p_V @ centred + p_V @ centred @ p_V
    weighted = left * p_V
    square_V = left**2 @ p_V
    return PairKernel(
        n=n,
        mean=mean,
        squares=float(c @ centred**2 @ c - c @ diagonal_V**2),
        rows=float(c @ (centred @ c - diagonal_V) ** 2),
        cube=float(p_V @ left**3 @ p_V),
        triangle=float(np.trace(weighted @ weighted @ weighted)),
        square_line=float((p_V * line_V) @ left**2 @ p_V),
        link=float((p_V * line_V) @ left @ (p_V * line_V)),
        line_cube=float(p_V @ line_V**3),
        fourth=float(p_V @ left**4 @ p_V),
        cycle=float(np.trace(np.linalg.matrix_power(weighted, 4))),
        fork=float(p_V @ square_V**2 - (p_V @ square_V) ** 2),
        line_fourth=float(p_V @ line_V**4 - 3 * (p_V @ line_V**2) ** 2),
    )


def kernel_of_agreement(totals_V: NDArray[np.int64]) -> PairKernel:
    """Sum up pairs that count 1 where their values are equal: :func:`kernel_of_counts` of an eye.

    Notes
    -----
    What is left of a pair of values v, w is ``[v = w] - p_v - p_w + sum p^2``: an eye and a matrix
    of rank two, whose moments are power sums of the shares p. Time and memory O(V).
    """
    c = totals_V.astype(np.float64)
    n = int(totals_V.sum())
    mean = float(c @ (c - 1)) / (n * (n - 1))
    p_V = c / n
    same = float(p_V @ p_V)
    line_V = p_V - same
    diagonal_V = same - 2 * p_V  # of a pair of one value, but for the 1 that it counts
    square_V = (
        (same - p_V) ** 2 - 2 * same * (same - p_V) + p_V @ p_V**2 + p_V * (1 + 2 * diagonal_V)
    )
    # A pair of two values has half a part of each: z_v + z_w.
    z1, z2, z3, z4 = (float(p_V @ (same / 2 - p_V) ** power) for power in (1, 2, 3, 4))
    cubed = p_V @ (p_V * ((1 + diagonal_V) ** 3 - diagonal_V**3))
    to_fourth = p_V @ (p_V * ((1 + diagonal_V) ** 4 - diagonal_V**4))
    # left * p = D + A B', D the shares on a diagonal; of its powers only the traces are wanted.
    a_V2 = np.stack([p_V, np.ones_like(p_V)], axis=1)
    b_V2 = np.stack([-p_V, same * p_V - p_V**2], axis=1)
    m0, m1, m2, m3 = (b_V2.T @ (p_V[:, None] ** power * a_V2) for power in range(4))
    triangle = np.trace(3 * m2 + 3 * m1 @ m0 + m0 @ m0 @ m0)
    cycle = np.trace(4 * (m3 + m2 @ m0 + m1 @ m0 @ m0) + 2 * m1 @ m1 + m0 @ m0 @ m0 @ m0)
    return PairKernel(
        n=n,
        mean=mean,
        squares=n**2 * mean**2 + float(c @ c) * (1 - 2 * mean) - n * (1 - mean) ** 2,
        rows=float(c @ (c - mean * n - (1 - mean)) ** 2),
        cube=2 * z3 + 6 * z2 * z1 + float(cubed),
        triangle=float((p_V**3).sum() + triangle),
        square_line=float(p_V @ (line_V * square_V)),
        link=float(p_V**2 @ line_V**2),
        line_cube=float(p_V @ line_V**3),
        fourth=2 * z4 + 8 * z3 * z1 + 6 * z2**2 + float(to_fourth),
        cycle=float((p_V**4).sum() + cycle),
        fork=float(p_V @ square_V**2 - (p_V @ square_V) ** 2),
        line_fourth=float(p_V @ line_V**4 - 3 * (p_V @ line_V**2) ** 2),
    )


def kernel_of_scores(scores_N: Floats) -> PairKernel:
    """Sum up squared differences of scores.

    Notes
    -----
    (x - y)^2 = -2 x y + x^2 + y^2, about the mean: power sums are all it takes.
    """
    n = scores_N.size
    x = scores_N - scores_N.mean()
    square_N = x * x
    second, fourth = float(square_N.mean()), float((square_N**2).mean())
    sixth, eighth = float((square_N**3).mean()), float((square_N**4).mean())
    third = float((square_N * x).mean())
    line_fourth = eighth - 4 * sixth * second + 6 * fourth * second**2 - 3 * second**4
    mean = 2 * n * second / (n - 1)
    return PairKernel(
        n=n,
        mean=mean,
        squares=2 * n**2 * fourth + 6 * (n * second) ** 2 - mean * 2 * n**2 * second,
        rows=n**3 * (fourth - second**2),
        cube=-8 * third**2,
        triangle=-8 * second**3,
        square_line=4 * (fourth - second**2) * second,
        link=-2 * third**2,
        line_cube=sixth - 3 * fourth * second + 2 * second**3,
        fourth=16 * fourth**2,
        cycle=16 * second**4,
        fork=16 * second**2 * (fourth - second**2),
        line_fourth=line_fourth - 3 * (fourth - second**2) ** 2,
    )


def permuted_moments(
    sizes_U: NDArray[np.int64], weight: Callable[[int], Fraction], kernel: PairKernel
) -> tuple[float, float, float, float]:
    """Compute moments of the sum over units of (weight of the unit) x (what its pairs count).

    Over all permutations of the ratings: mean and variance, exactly (Mantel [1]_), and the third
    central moment in the limit of many ratings, that of independent ratings less what their totals
    explain. Last, what the fourth cumulant is at most about, from its largest parts.

    References
    ----------
    .. [1] Mantel, N. (1967), as of :func:`pair_floor`.
    """
    sizes, numbers = np.unique(sizes_U[sizes_U >= 2], return_counts=True)
    m, k = sizes.astype(np.float64), numbers.astype(np.float64)
    w = np.array([float(weight(one)) for one in sizes.tolist()])
    n = float(kernel.n)
    pairs = m * (m - 1)
    w_sum, w_squares = k @ (pairs * w), k @ (pairs * w**2)
    w_rows = k @ (m * ((m - 1) * w) ** 2)
    # Pairs of pairs that share both, one, or no rating; all pairs together sum to 0.
    both = 2 * w_squares * kernel.squares / (n * (n - 1))
    one = 4 * (w_rows - w_squares) * (kernel.rows - kernel.squares) / (n * (n - 1) * (n - 2))
    w_none = w_sum**2 + 2 * w_squares - 4 * w_rows
    none = w_none * (2 * kernel.squares - 4 * kernel.rows) / (n * (n - 1) * (n - 2) * (n - 3))
    # What a rating brings counts by how much its unit's weight differs from the average one.
    line = 2 * w * (m - 1)
    line = line - (k @ (m * line)) / n
    third = k @ (
        4 * w**3 * pairs * (kernel.cube + 2 * (m - 2) * kernel.triangle)
        + 12 * w**2 * line * pairs * kernel.square_line
        + 6 * w * line**2 * pairs * kernel.link
        + m * line**3 * kernel.line_cube
    )
    alone = n - k @ m  # units of one rating have no pairs, and the average weight is theirs too
    mean_line = (k @ (2 * w * (m - 1) * m)) / n
    if alone:
        third -= alone * mean_line**3 * kernel.line_cube
    fourth = k @ (
        8 * w**4 * pairs * (kernel.fourth + 6 * (m - 2) * (kernel.fork + (m - 3) * kernel.cycle))
    )
    lines = (k @ (m * line**4) + alone * mean_line**4) * kernel.line_fourth
    # Neither part, nor what they have in common, is more than this (Minkowski).
    fourth = (max(0.0, float(fourth)) ** 0.25 + max(0.0, float(lines)) ** 0.25) ** 4
    variance = float(max(0.0, both + one + none))
    return float(w_sum * kernel.mean), variance, float(third), float(fourth)


def pair_floor(
    counts_UV: Floats, statistic: CountStatistic, *, total_T: Floats | None = None
) -> ClosedNull | None:
    """Compute the permutation moments of a coefficient that rests on pairs of ratings.

    None where the coefficient rests on more than pairs and mean shares, has no value, there are
    fewer than four ratings, or mean shares vary of more than 3,000 values.

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
    Two units of two ratings, two values twice each: a third of all permutations agree throughout.

    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> found = pair_floor(np.array([[2.0, 0.0], [0.0, 2.0]]), agreement)
    >>> round(found.mean, 6), round(found.sd, 6)
    (0.333333, 0.471405)
    """
    totals_V = counts_UV.sum(axis=0).astype(np.int64)
    if statistic.at_totals is not None:
        statistic, total_T = statistic.at_totals(totals_V.astype(np.float64)), None
    pairs = statistic.pairs
    sizes_U = row_sums(counts_UV).astype(np.int64)
    if pairs is None or sizes_U.sum() < 4:
        return None
    if pairs.shares is not None and totals_V.size > _MOST_SHARES and np.ptp(sizes_U):
        return None
    if total_T is None:
        total_T = term_sums(counts_UV, statistic)
    place_M, mean_M, cov_MM, higher = _moments_of_pair_terms(sizes_U, totals_V, pairs)
    mean_M[0] += total_T[pairs.place] - observed_pairs(counts_UV, sizes_U, pairs)
    return linear_null(statistic, total_T, place_M, mean_M, cov_MM, higher)


def linear_null(
    statistic: CountStatistic,
    total_T: Floats,
    place_M: list[int],
    mean_M: Floats,
    cov_MM: Floats,
    higher: tuple[float, float],
) -> ClosedNull | None:
    """Carry moments of the terms that permuting changes over to the coefficient.

    `higher` are third moment and fourth cumulant of the first term.
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


def _moments_of_pair_terms(
    sizes_U: NDArray[np.int64],
    totals_V: NDArray[np.int64],
    pairs: AgreeingPairs,
) -> tuple[list[int], Floats, Floats, tuple[float, float]]:
    """Terms that permuting changes: places, means, covariances; higher moments of the first."""
    if pairs.distances_VV is None and totals_V.size > _MANY:
        kernel = kernel_of_agreement(totals_V)
    else:
        likeness = np.eye(totals_V.size) if pairs.distances_VV is None else pairs.distances_VV
        kernel = kernel_of_counts(totals_V, likeness)
    mean, variance, *higher = permuted_moments(sizes_U, pairs.weight, kernel)
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
    """Compute mean and variance of the weighted number of agreeing ordered pairs."""
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


def observed_pairs(counts_UV: Floats, sizes_U: NDArray[np.int64], pairs: AgreeingPairs) -> float:
    """Sum what ordered pairs inside units count, each with the weight of its unit."""
    if pairs.distances_VV is None:
        inside_U = np.einsum("uv,uv->u", counts_UV, counts_UV) - sizes_U
    else:
        inside_U = np.einsum("uv,uv->u", counts_UV, counts_UV @ pairs.distances_VV)
        inside_U -= counts_UV @ np.diagonal(pairs.distances_VV)  # no rating is paired with itself
    per_size = np.bincount(sizes_U, weights=inside_U)
    found = np.flatnonzero(per_size)
    return float(sum(float(pairs.weight(m)) * per_size[m] for m in found.tolist() if m >= 2))
