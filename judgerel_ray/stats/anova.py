"""One-way analysis of variance of replications within units, from sums over units.

The terms of a unit are [1, m, m^2, sum of squares within, total (one column or one a value), sum of
squares]; for verdicts as mere names the squares are those of indicators (Gini's), for scores those
of the numbers.

Shape suffixes: U = units, V = distinct values, T = terms, 3 = m, sum, sum of squares; ``...`` = any
leading batch axes.
"""

from __future__ import annotations

import numpy as np

from judgerel_ray.stats.statistic import Floats, divide

ROUNDING = 1e-12
WITHIN = 3
"""Place of the squares within."""
_TOTALS = 5


def indicator_terms(counts: Floats) -> Floats:
    """Lay out the terms of verdicts as mere names, units with two ratings or more.

    Examples
    --------
    >>> indicator_terms(np.array([[2.0, 2.0]])).tolist()
    [[1.0, 4.0, 16.0, 2.0, 4.0, 2.0, 2.0]]
    """
    m = counts.sum(axis=-1, keepdims=True)
    paired = m >= 2
    within = m - (counts**2).sum(axis=-1, keepdims=True) / np.where(paired, m, 1.0)
    terms: Floats = np.concatenate([np.ones_like(m), m, m**2, within, m, counts], axis=-1)
    return np.where(paired, terms, 0.0)


def score_terms(counts: Floats, numbers_V: Floats) -> Floats:
    """Lay out the terms of scores given as counts of their values.

    Examples
    --------
    >>> score_terms(np.array([[1.0, 1.0]]), np.array([-1.0, 1.0])).tolist()
    [[1.0, 2.0, 4.0, 2.0, 2.0, 0.0]]
    """
    m = counts.sum(axis=-1, keepdims=True)
    paired = m >= 2
    total = (counts @ numbers_V)[..., None]
    mean = total / np.where(paired, m, 1.0)
    within = (counts * (numbers_V - mean) ** 2).sum(axis=-1, keepdims=True)
    squares = (counts @ numbers_V**2)[..., None]
    terms: Floats = np.concatenate([np.ones_like(m), m, m**2, within, squares, total], axis=-1)
    return np.where(paired, terms, 0.0)


def moment_terms(moments_U3: Floats) -> Floats:
    """Lay out the terms of scores given as number, sum and sum of squares.

    Examples
    --------
    >>> moment_terms(np.array([[2.0, 0.0, 2.0]])).tolist()
    [[1.0, 2.0, 4.0, 2.0, 2.0, 0.0]]
    """
    m, total, squares = (moments_U3[..., i : i + 1] for i in range(3))
    paired = m >= 2
    within = squares - total**2 / np.where(paired, m, 1.0)
    # What rounding leaves of a unit without spread is 0.
    within = np.where(within <= ROUNDING * squares, 0.0, within)
    terms: Floats = np.concatenate([np.ones_like(m), m, m**2, within, squares, total], axis=-1)
    return np.where(paired, terms, 0.0)


def mean_squares(total: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute the mean squares between and within units, and the effective replications m0.

    NaN with fewer than two units.

    Examples
    --------
    >>> terms = indicator_terms(np.array([[2.0, 0.0], [1.0, 1.0]]))
    >>> between, within, m0 = mean_squares(terms.sum(axis=0))
    >>> float(between), float(within), float(m0)
    (0.5, 0.5, 2.0)
    """
    q, n, squares_of_m, within = (total[..., i] for i in range(4))
    everything = total[..., _TOTALS - 1] - divide((total[..., _TOTALS:] ** 2).sum(axis=-1), n)
    # What rounding leaves where all ratings are one is 0.
    squares = total[..., _TOTALS - 1]
    everything = np.where(everything <= ROUNDING * squares, 0.0, everything)
    between = everything - within
    between = np.where(np.abs(between) <= ROUNDING * everything, 0.0, between)
    free = np.where(q >= 2, q - 1, 0.0)
    m0 = divide(n - divide(squares_of_m, n), free)
    return divide(between, free), divide(within, n - q), m0


def one_rating(total: Floats) -> Floats:
    """Compute ICC(1): the reliability of one rating, (MSB - MSW) / (MSB + (m0 - 1) MSW).

    Examples
    --------
    >>> float(one_rating(indicator_terms(np.array([[2.0, 0.0], [0.0, 2.0]])).sum(axis=0)))
    1.0
    """
    between, within, m0 = mean_squares(total)
    return divide(between - within, between + (m0 - 1) * within)


def mean_rating(total: Floats) -> Floats:
    """Compute ICC(k) of the mean of a unit's own ratings: 1 - MSW / MSB; NaN where MSB is 0.

    Examples
    --------
    >>> float(mean_rating(indicator_terms(np.array([[3.0, 0.0], [1.0, 2.0]])).sum(axis=0)))
    0.75
    """
    between, within, _ = mean_squares(total)
    return 1 - divide(within, between)


def stepped_up(value: Floats, k: float) -> Floats:
    """Step the reliability of one rating up to that of the mean of k (Spearman and Brown).

    NaN where 1 + (k - 1) rho is not above 0: no mean of k has a reliability there.

    Examples
    --------
    >>> stepped_up(np.array([0.5, -0.5]), 3).tolist()
    [0.75, nan]
    """
    under = 1 + (k - 1) * value
    return divide(k * value, np.where(under > 0, under, 0.0))
