"""Intraclass correlation: the share of the variance of ratings that is between units.

One-way analysis of variance of replications within units, from sums over units. The terms of a unit
are [1, m, m^2, sum of squares within, total (one column or one a value), sum of squares]; for
verdicts as mere names the squares are those of indicators (Gini's), for scores those of the
numbers. Of continuous scores a stream need keep only number, sum and sum of squares of each unit.

Shape suffixes: U = units, R = raters (replications), V = distinct values, T = terms, 3 = number,
sum and sum of squares of a unit's scores; ``...`` = any leading batch axes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.agreement.krippendorff import (
    ROUNDING,
    Level,
    Values,
    checked_numbers,
    interval_alpha,
    square_terms,
    squares_within,
    value_moments,
)
from judgerel_ray.stats.arguments import check_at_least_1, scores_of
from judgerel_ray.stats.counts import (
    AgreeingPairs,
    Coefficient,
    CountStatistic,
    Floats,
    divide,
    measure,
)

WITHIN = 3
"""Place of the squares within."""
_TOTALS = 5


def indicator_terms(counts: Floats) -> Floats:
    """Lay out the terms of verdicts as mere names, units with two ratings or more."""
    m = counts.sum(axis=-1, keepdims=True)
    paired = m >= 2
    within = m - (counts**2).sum(axis=-1, keepdims=True) / np.where(paired, m, 1.0)
    terms: Floats = np.concatenate([np.ones_like(m), m, m**2, within, m, counts], axis=-1)
    return np.where(paired, terms, 0.0)


def moment_terms(moments: Floats) -> Floats:
    """Lay out the terms of scores given as number, sum and sum of squares."""
    m, total, squares = np.moveaxis(moments, -1, 0)
    terms = np.stack([np.ones_like(m), m, m**2, squares_within(moments), squares, total], axis=-1)
    return np.where(m[..., None] >= 2, terms, 0.0)


def mean_squares(total: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute the mean squares between and within units, and the effective replications m0.

    NaN with fewer than two units.
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
    """Compute ICC(1): the reliability of one rating, (MSB - MSW) / (MSB + (m0 - 1) MSW)."""
    between, within, m0 = mean_squares(total)
    return divide(between - within, between + (m0 - 1) * within)


def mean_rating(total: Floats) -> Floats:
    """Compute ICC(k) of the mean of a unit's own ratings: 1 - MSW / MSB; NaN where MSB is 0."""
    between, within, _ = mean_squares(total)
    return 1 - divide(within, between)


def stepped_up(value: Floats, k: float) -> Floats:
    """Step the reliability of one rating up to that of the mean of k (Spearman and Brown).

    NaN where 1 + (k - 1) rho is not above 0: no mean of k has a reliability there.
    """
    under = 1 + (k - 1) * value
    return divide(k * value, np.where(under > 0, under, 0.0))


def moment_statistic(
    name: Literal["icc", "icc1", "icck", "krippendorff_alpha"], *, k: int = 1
) -> CountStatistic:
    """Take a coefficient of continuous scores apart, by name.

    Its values and intervals are those of counts: :func:`judgerel_ray.stats.measure`,
    :func:`judgerel_ray.stats.jackknife_interval` and :func:`judgerel_ray.stats.bootstrap_interval`
    read moments of shape (n_units, 3) in place of counts.

    Parameters
    ----------
    name : {"icc", "icc1", "icck", "krippendorff_alpha"}
        "icc" is of the mean of `k`, "icck" of the mean of all of a unit's scores; alpha is at level
        "interval".
    k : int
        For "icc", of the mean of how many scores, at least 1.

    Returns
    -------
    CountStatistic

    Raises
    ------
    ValueError
        If the name is unknown, or k is below 1.

    Examples
    --------
    Scores 1 1, 1 3, 4 4: 1 - (2/3) / (34/15).

    >>> from judgerel_ray.stats import measure
    >>> alpha = measure([[2, 2, 2], [2, 4, 10], [2, 8, 32]], moment_statistic("krippendorff_alpha"))
    >>> round(alpha.value, 6)
    0.705882
    """
    check_at_least_1(name, k=k)
    if name == "krippendorff_alpha":
        return CountStatistic(
            name=name,
            estimator="interval alpha",
            terms=square_terms,
            value=interval_alpha,
            of_moments=True,
            has_floor=False,
        )
    if name not in ("icc", "icc1", "icck"):
        raise ValueError(f"moment_statistic: name must be a coefficient of scores, got {name!r}")
    k = 1 if name == "icc1" else k
    return CountStatistic(
        name=name if name == "icck" else f"icc{k}",
        estimator=f"one-way ANOVA of scores, ICC({'k' if name == 'icck' else k})",
        terms=moment_terms,
        value=mean_rating if name == "icck" else lambda total: stepped_up(one_rating(total), k),
        min_units=2,
        of_moments=True,
        has_floor=False,
    )


def moments_from_scores(scores_UR: ArrayLike) -> Floats:
    """Sum each unit's scores and their squares, about the mean of all scores.

    Parameters
    ----------
    scores_UR : array-like of float, shape (n_units, n_raters)
        NaN is missing.

    Returns
    -------
    ndarray of float, shape (n_units, 3)
        Number, sum and sum of squares of each unit's scores less the mean of all.

    Raises
    ------
    ValueError
        If the scores are not two-dimensional or not finite.

    Examples
    --------
    >>> moments_from_scores([[1, 3], [5, float("nan")]]).tolist()
    [[2.0, -2.0, 4.0], [1.0, 2.0, 4.0]]
    """
    scores = scores_of(scores_UR, function="icc", argument="scores_UR")
    there = ~np.isnan(scores)
    centre = scores[there].mean() if there.any() else 0.0
    scores = np.where(there, scores - centre, 0.0)
    return np.stack([there.sum(axis=1), scores.sum(axis=1), (scores**2).sum(axis=1)], axis=1)


def icc1(
    counts_UV: ArrayLike,
    *,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
) -> Coefficient:
    """Compute the intraclass correlation of one rating, from counts.

    One-way analysis of variance, units against replications: of the indicators of the values (for
    names; it is then Gini's), or of the numbers they are.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; units with fewer than two ratings take no part.
    values : sequence of float, optional
        What the columns stand for; needed for levels other than "nominal".
    level : {"nominal", "ordinal", "interval", "ratio"}
        Names, or numbers.
    n_categories : int, optional
        Declared categories; makes no difference here.

    Returns
    -------
    Coefficient
        At most 1; may be negative, and is left so. ``undefined`` as of
        :func:`judgerel_ray.stats.measure`; one unit is "too_few_units".

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or the values do not fit.

    Examples
    --------
    Squares in all 9 - (4^2 + 5^2) / 9 = 40/9, within 3 - 5/3 = 4/3; MSB = 14/9, MSW = 2/9, m0 = 3:
    (14 - 2) / (14 + 2 x 2).

    >>> round(icc1([[3, 0], [1, 2], [0, 3]]).value, 6)
    0.666667
    """
    return _intraclass_of_counts("icc1", counts_UV, values, level, n_categories)


def icck(
    counts_UV: ArrayLike,
    *,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
) -> Coefficient:
    """Compute the intraclass correlation of the mean of a unit's ratings, from counts.

    Close to 1 for any judge asked often enough: it tells how well the mean of all replications is
    known, and nothing of one judgment.

    Parameters
    ----------
    counts_UV, values, level, n_categories
        As of :func:`icc1`, also what is refused.

    Returns
    -------
    Coefficient
        At most 1; has no lower bound. ``undefined`` as of :func:`judgerel_ray.stats.measure`; also
        "no_variance" where all units have the same mean.

    Examples
    --------
    As of :func:`icc1` MSB = 14/9 and MSW = 2/9: 1 - 2/14.

    >>> round(icck([[3, 0], [1, 2], [0, 3]]).value, 6)
    0.857143
    """
    return _intraclass_of_counts("icck", counts_UV, values, level, n_categories)


def icc(scores_UR: ArrayLike, *, k: int = 1) -> Coefficient:
    """Compute the one-way intraclass correlation of scores, ICC(1, k).

    Parameters
    ----------
    scores_UR : array-like of float, shape (n_units, n_raters)
        One row a unit, one column a replication, in any order; NaN is missing. Units with fewer
        than two scores take no part.
    k : int
        Of the mean of how many scores, at least 1.

    Returns
    -------
    Coefficient
        At most 1; may be negative, and is left so. ``undefined`` is "no_verdicts",
        "single_replication", "too_few_units" with one unit, or "no_variance" where all scores are
        one, or where no mean of k can have a reliability (1 + (k - 1) rho is not above 0).

    Raises
    ------
    ValueError
        If the scores are not two-dimensional or not finite, or k is below 1.

    Notes
    -----
    Units of different size: the effective number m0 = (n - sum m^2 / n) / (Q - 1) in place of m.

    References
    ----------
    .. [1] Shrout, P. E. and Fleiss, J. L. (1979), doi:10.1037/0033-2909.86.2.420.

    Examples
    --------
    Six subjects, four judges, published as .17 and .44:

    >>> scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9],
    ...           [6, 2, 4, 7]]
    >>> round(icc(scores).value, 2), round(icc(scores, k=4).value, 2)
    (0.17, 0.44)
    """
    return icc_from_moments(moments_from_scores(scores_UR), k=k)


def icc_from_moments(moments_U3: ArrayLike, *, k: int = 1) -> Coefficient:
    """Compute :func:`icc` from each unit's number, sum and sum of squares of scores.

    Parameters
    ----------
    moments_U3 : array-like of float, shape (n_units, 3)
        Number of scores, their sum, and the sum of their squares. Sum about a number near the mean
        where scores are large beside their spread.
    k : int
        Of the mean of how many scores, at least 1.

    Returns
    -------
    Coefficient
        As of :func:`icc`.

    Raises
    ------
    ValueError
        If the moments are no such table, or k is below 1.

    Examples
    --------
    Scores 1 1, 1 3, 4 4: MSB = 14/3, MSW = 2/3, so (14 - 2) / (14 + 2).

    >>> round(icc_from_moments([[2, 2, 2], [2, 4, 10], [2, 8, 32]]).value, 6)
    0.75
    """
    return measure(moments_U3, moment_statistic("icc", k=k))


def icc_statistic(
    name: str, *, n_values: int, values: Values | None = None, level: Level = "nominal"
) -> CountStatistic:
    """Take :func:`icc1` or :func:`icck` apart."""
    numbers = checked_numbers(level, n_values, values, name=name)
    if numbers is None and level != "nominal":
        raise ValueError(f"{name}: values must be numbers for level {level!r}")
    what, terms = "indicators", indicator_terms
    # The squares within a unit, but for what its size adds: of pairs that agree, over m.
    pairs = AgreeingPairs(place=WITHIN, weight=lambda m: Fraction(-1, m))
    if numbers is not None:
        centred = numbers - (numbers.mean() if n_values else 0.0)
        what, terms = "scores", lambda counts: moment_terms(value_moments(counts, centred))
        pairs = AgreeingPairs(
            place=WITHIN,
            weight=lambda m: Fraction(1, 2 * m),
            distances_VV=(centred[:, None] - centred) ** 2,
        )
    one = name == "icc1"
    return CountStatistic(
        name=name,
        estimator=f"one-way ANOVA of {what}, {'ICC(1)' if one else 'ICC(k)'}",
        terms=terms,
        value=one_rating if one else mean_rating,
        min_units=2,
        # Of a mean of many, noise has a spread without bound where questions are few.
        has_floor=one,
        pairs=pairs if one else None,
        is_nominal_alpha=one and numbers is None,
        rests_on_minority=True,
    )


def _intraclass_of_counts(
    name: str, counts_UV: ArrayLike, values: Values | None, level: Level, n_categories: int | None
) -> Coefficient:
    """ICC(1) or ICC(k) of counts."""
    check_at_least_1(name, n_categories=n_categories)
    n_values = np.shape(counts_UV)[-1] if np.ndim(counts_UV) == 2 else 0
    return measure(counts_UV, icc_statistic(name, n_values=n_values, values=values, level=level))
