"""Intraclass correlation: the share of the variance of ratings that is between units.

Shape suffixes: U = units, R = raters (replications), V = distinct values, 3 = number, sum and sum
of squares of a unit's scores.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.anova import WITHIN, indicator_terms, mean_rating, one_rating, score_terms
from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.krippendorff import Level, Values, checked_numbers
from judgerel_ray.stats.moments import moment_statistic, moments_from_scores
from judgerel_ray.stats.statistic import AgreeingPairs, CountStatistic, measure


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
    return _of_counts("icc1", counts_UV, values, level, n_categories)


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
        At most 1; has no lower bound. ``undefined`` as of :func:`judgerel_ray.stats.measure`; also
        "no_variance" where all units have the same mean.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or the values do not fit.

    Examples
    --------
    As of :func:`icc1` MSB = 14/9 and MSW = 2/9: 1 - 2/14.

    >>> round(icck([[3, 0], [1, 2], [0, 3]]).value, 6)
    0.857143
    """
    return _of_counts("icck", counts_UV, values, level, n_categories)


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
    """Take :func:`icc1` or :func:`icck` apart.

    Examples
    --------
    >>> icc_statistic("icc1", n_values=2).estimator
    'one-way ANOVA of indicators, ICC(1)'
    """
    numbers = checked_numbers(level, n_values, values, name=name)
    if numbers is None and level != "nominal":
        raise ValueError(f"{name}: values must be numbers for level {level!r}")
    what, terms = "indicators", indicator_terms
    # The squares within a unit, but for what its size adds: of pairs that agree, over m.
    pairs = AgreeingPairs(place=WITHIN, weight=lambda m: Fraction(-1, m))
    if numbers is not None:
        centred = numbers - (numbers.mean() if n_values else 0.0)
        what, terms = "scores", lambda counts: score_terms(counts, centred)
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
        rests_on_minority=True,
    )


def _of_counts(
    name: str, counts_UV: ArrayLike, values: Values | None, level: Level, n_categories: int | None
) -> Coefficient:
    """ICC(1) or ICC(k) of counts."""
    if n_categories is not None and n_categories < 1:
        raise ValueError(f"{name}: n_categories must be at least 1, got {n_categories}")
    n_values = np.shape(counts_UV)[-1] if np.ndim(counts_UV) == 2 else 0
    return measure(counts_UV, icc_statistic(name, n_values=n_values, values=values, level=level))
