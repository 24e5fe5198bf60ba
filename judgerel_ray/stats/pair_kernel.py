"""What pairs of ratings count, and the moments of sums over pairs inside units under dealing.

Shape suffixes: V = distinct values, N = ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class PairKernel:
    """Moments of what a pair of two of n ratings counts.

    Attributes
    ----------
    n : int
        Ratings.
    mean : float
        Over all pairs of different ratings.
    squares : float
        Sum over ordered pairs of squares, the mean taken off.
    rows : float
        Sum over ratings of the squared sum over their pairs, the mean taken off.
    cube, triangle : float
        Means of d(x, y)^3 and of d(x, y) d(y, z) d(z, x), d being what is left of a pair without
        the mean and without what each of its ratings brings to all its pairs.
    square_line, link, line_cube : float
        Means of d(x, y)^2 l(x), d(x, y) l(x) l(y) and l(x)^3, l being what a rating brings.
    fourth, cycle : float
        Means of d(x, y)^4 and of d(x, y) d(y, z) d(z, w) d(w, x).
    fork, line_fourth : float
        Variance over x of the mean of d(x, y)^2, and the fourth cumulant of l(x).
    """

    n: int
    mean: float
    squares: float
    rows: float
    cube: float
    triangle: float
    square_line: float
    link: float
    line_cube: float
    fourth: float
    cycle: float
    fork: float
    line_fourth: float


def kernel_of_counts(totals_V: NDArray[np.int64], pairs_VV: Floats) -> PairKernel:
    """Sum up a table of what pairs of values count.

    Parameters
    ----------
    totals_V : ndarray of int, shape (n_values,)
        How often each value occurs; at least two ratings.
    pairs_VV : ndarray of float, shape (n_values, n_values)
        What a pair counts, symmetric.

    Returns
    -------
    PairKernel

    Examples
    --------
    Two of one, one of the other: of six ordered pairs two agree.

    >>> round(kernel_of_counts(np.array([2, 1]), np.eye(2)).mean, 6)
    0.333333
    """
    c = totals_V.astype(np.float64)
    n = int(totals_V.sum())
    own_V = np.diagonal(pairs_VV)
    mean = float(c @ pairs_VV @ c - c @ own_V) / (n * (n - 1))
    centred = pairs_VV - mean
    own_V = np.diagonal(centred)
    p_V = c / n
    line_V = centred @ p_V
    line_V = line_V - p_V @ line_V
    left = centred - (centred @ p_V)[:, None] - p_V @ centred + p_V @ centred @ p_V
    weighted = left * p_V
    square_V = left**2 @ p_V
    return PairKernel(
        n=n,
        mean=mean,
        squares=float(c @ centred**2 @ c - c @ own_V**2),
        rows=float(c @ (centred @ c - own_V) ** 2),
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


def kernel_of_scores(scores_N: Floats) -> PairKernel:
    """Sum up squared differences of scores.

    Parameters
    ----------
    scores_N : ndarray of float, shape (n_ratings,)
        The scores, two at least.

    Returns
    -------
    PairKernel

    Notes
    -----
    (x - y)^2 = -2 x y + x^2 + y^2, about the mean: power sums are all it takes.

    Examples
    --------
    >>> kernel_of_scores(np.array([0.0, 1.0, 2.0])).mean
    2.0
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


def dealt_moments(
    sizes_U: NDArray[np.int64], weight: Callable[[int], Fraction], kernel: PairKernel
) -> tuple[float, float, float, float]:
    """Compute moments of the sum over units of (weight of the unit) x (what its pairs count).

    Parameters
    ----------
    sizes_U : ndarray of int, shape (n_units,)
        Ratings of each unit, four or more in all.
    weight : callable
        What each ordered pair of a unit with m ratings weighs.
    kernel : PairKernel
        What pairs count.

    Returns
    -------
    tuple of float
        Over all deals of the ratings to the units: mean and variance, exactly (Mantel [1]_), and
        the third central moment in the limit of many ratings, that of independent ratings less
        what their totals explain. Last, what the fourth cumulant is at most about, from its largest
        parts.

    References
    ----------
    .. [1] Mantel, N. (1967), The detection of disease clustering and a generalized regression
       approach, Cancer Research 27, 209-220.

    Examples
    --------
    >>> kernel = kernel_of_counts(np.array([2, 2]), np.eye(2))
    >>> mean, variance, *_ = dealt_moments(np.array([2, 2]), lambda m: Fraction(1, 2), kernel)
    >>> round(mean, 6), round(variance, 6)
    (0.666667, 0.888889)
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
