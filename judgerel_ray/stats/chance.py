"""Shares of agreeing pairs, and what chance makes of them: Fleiss, Gwet, Brennan-Prediger.

Shape suffixes: U = units, V = distinct values, T = terms; ``...`` = any leading batch axes.
All functions take counts (..., U, V) to terms (..., U, T), or sums of terms (..., T) to values.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from judgerel_ray.stats.statistic import AgreeingPairs, Floats, divide, row_sums, side_by_side

MEAN_PAIRS = AgreeingPairs(place=1, weight=lambda m: Fraction(1, m * (m - 1)))
"""Agreeing pairs in `pair_terms` and all terms that begin with them."""


def pair_terms(counts: Floats) -> Floats:
    """Lay out [has a pair, A_q], A_q the share of agreeing pairs.

    Examples
    --------
    >>> pair_terms(np.array([[2.0, 1.0], [0.0, 1.0]])).round(3).tolist()
    [[1.0, 0.333], [0.0, 0.0]]
    """
    m = row_sums(counts)
    agreeing = np.einsum("...v,...v->...", counts, counts) - m
    paired = m >= 2
    share = np.divide(agreeing, m * (m - 1), out=np.zeros_like(m), where=paired)
    return side_by_side(paired.astype(np.float64), share)


def fleiss_terms(counts: Floats) -> Floats:
    """Lay out [has a pair, A_q, n_qv of units with a pair].

    Examples
    --------
    >>> fleiss_terms(np.array([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [[1.0, 1.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    pairs = pair_terms(counts)
    return np.concatenate([pairs, counts * pairs[..., :1]], axis=-1)


def fleiss_value(total: Floats) -> Floats:
    """Compute Fleiss' kappa, Pe = sum (c_v / n)^2.

    Examples
    --------
    >>> float(fleiss_value(np.array([2.0, 2.0, 2.0, 2.0])))
    1.0
    """
    c = total[..., 2:]
    n = c.sum(axis=-1)
    chance = divide((c**2).sum(axis=-1), n**2)
    return corrected(divide(total[..., 1], total[..., 0]), chance)


def ac1_terms(counts: Floats) -> Floats:
    """Lay out [has a pair, A_q, has a rating, n_qv / m_q].

    Examples
    --------
    >>> ac1_terms(np.array([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [[1.0, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 1.0]]
    """
    m = row_sums(counts)[..., None]
    shares = np.divide(counts, m, out=np.zeros_like(counts), where=m > 0)
    return np.concatenate([pair_terms(counts), (m > 0).astype(np.float64), shares], axis=-1)


def ac1_value(total: Floats, n_categories: int) -> Floats:
    """Compute Gwet's AC1, Pe = sum pi (1 - pi) / (K - 1), pi a value's mean share over rated units.

    Examples
    --------
    >>> float(ac1_value(np.array([2.0, 2.0, 2.0, 1.0, 1.0]), 2))
    1.0
    """
    if n_categories < 2:
        return np.full(total.shape[:-1], np.nan)
    pi = divide(total[..., 3:], np.broadcast_to(total[..., 2:3], total[..., 3:].shape))
    chance = (pi * (1 - pi)).sum(axis=-1) / (n_categories - 1)
    return corrected(divide(total[..., 1], total[..., 0]), chance)


def brennan_prediger_value(total: Floats, n_categories: int) -> Floats:
    """Compute Brennan and Prediger's coefficient, Pe = 1 / K.

    Examples
    --------
    >>> float(brennan_prediger_value(np.array([2.0, 1.5]), 2))
    0.5
    """
    chance = np.full(total.shape[:-1], 1 / n_categories if n_categories else 1.0)
    return corrected(divide(total[..., 1], total[..., 0]), chance)


def corrected(observed: Floats, chance: Floats) -> Floats:
    """Compute (observed - chance) / (1 - chance), NaN where chance is 1.

    Examples
    --------
    >>> corrected(np.array([0.75, 1.0]), np.array([0.5, 1.0])).tolist()
    [0.5, nan]
    """
    # 1 - chance may miss 0 by rounding where one value is all there is.
    room = 1 - chance
    return divide(observed - chance, np.where(room < 1e-12, 0.0, room))
