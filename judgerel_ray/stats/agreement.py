"""Agreement of a judge with itself on nominal verdicts, from counts.

Shape suffixes: U = units (questions as asked), V = distinct values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.catalogue import count_statistic
from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.counts import refuse_few_categories
from judgerel_ray.stats.statistic import measure

_RESTS_ON_CATEGORIES = ("gwet_ac1", "brennan_prediger")


def percent_agreement(counts_UV: ArrayLike, *, n_categories: int | None = None) -> Coefficient:
    """Compute how often two replications of a unit agree, averaged over units.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; units with fewer than two ratings take no part.
    n_categories : int, optional
        Declared categories; makes no difference here.

    Returns
    -------
    Coefficient
        In [0, 1]. 1 where one value is all there is. ``undefined`` is "no_verdicts" or
        "single_replication".

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or `n_categories` is below 1.

    Examples
    --------
    Of three pairs one agrees in the first unit, all in the second:

    >>> round(percent_agreement([[2, 1], [0, 3]]).value, 6)
    0.666667
    """
    return _measure("percent_agreement", counts_UV, n_categories)


def flip_rate(counts_UV: ArrayLike, *, n_categories: int | None = None) -> Coefficient:
    """Compute how often a verdict changes when the question is asked once more.

    One minus :func:`percent_agreement`: the share of pairs of replications that differ, which has
    no bias in the number of replications (the share that differs from the majority has).

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; units with fewer than two ratings take no part.
    n_categories : int, optional
        Declared categories; makes no difference here.

    Returns
    -------
    Coefficient
        In [0, 1]. ``undefined`` is "no_verdicts" or "single_replication".

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or `n_categories` is below 1.

    Examples
    --------
    >>> round(flip_rate([[2, 1], [0, 3]]).value, 6)
    0.333333
    """
    return _measure("flip_rate", counts_UV, n_categories)


def fleiss_kappa(counts_UV: ArrayLike, *, n_categories: int | None = None) -> Coefficient:
    """Compute Fleiss' kappa, chance agreement from the pooled verdicts.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; units with fewer than two ratings take no part.
    n_categories : int, optional
        Declared categories; makes no difference here.

    Returns
    -------
    Coefficient
        At most 1, 0 at chance. ``undefined`` is "no_verdicts", "single_replication", or
        "no_variance" where one value is all there is.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or `n_categories` is below 1.

    Notes
    -----
    With complete data alpha = kappa + (1 - kappa) / n, n the number of ratings.

    References
    ----------
    .. [1] Fleiss, J. L. (1971), doi:10.1037/h0031619.

    Examples
    --------
    Po = (1/3 + 1) / 2, Pe = (2/6)^2 + (4/6)^2 = 5/9, kappa = (2/3 - 5/9) / (4/9):

    >>> round(fleiss_kappa([[2, 1], [0, 3]]).value, 6)
    0.25
    """
    return _measure("fleiss_kappa", counts_UV, n_categories)


def gwet_ac1(counts_UV: ArrayLike, *, n_categories: int | None = None) -> Coefficient:
    """Compute Gwet's AC1, whose chance agreement stays small where one verdict dominates.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value. Units with one rating shape chance only.
    n_categories : int, optional
        Declared categories; by default the columns of `counts_UV`.

    Returns
    -------
    Coefficient
        At most 1. Far above 0 for noise where one verdict dominates: read it with its floor.
        ``undefined`` is "no_verdicts", "single_replication", or "no_variance" with one category.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or `n_categories` is below 1 or below the
        number of values that occur.

    References
    ----------
    .. [1] Gwet, K. L. (2008), doi:10.1348/000711006X126600.

    Examples
    --------
    pi = (2/3 + 0) / 2 = 1/3 and 2/3, Pe = 2/9 + 2/9 = 4/9, AC1 = (2/3 - 4/9) / (5/9):

    >>> round(gwet_ac1([[2, 1], [0, 3]]).value, 6)
    0.4
    """
    return _measure("gwet_ac1", counts_UV, n_categories)


def brennan_prediger(counts_UV: ArrayLike, *, n_categories: int | None = None) -> Coefficient:
    """Compute Brennan and Prediger's coefficient, chance agreement one in K.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; units with fewer than two ratings take no part.
    n_categories : int, optional
        Declared categories K; by default the columns of `counts_UV`.

    Returns
    -------
    Coefficient
        At most 1. Far above 0 for noise where one verdict dominates: read it with its floor.
        ``undefined`` is "no_verdicts", "single_replication", or "no_variance" with one category.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or `n_categories` is below 1 or below the
        number of values that occur.

    References
    ----------
    .. [1] Brennan, R. L. and Prediger, D. J. (1981), doi:10.1177/001316448104100307.

    Examples
    --------
    (2/3 - 1/4) / (3/4):

    >>> round(brennan_prediger([[2, 1], [0, 3]], n_categories=4).value, 6)
    0.555556
    """
    return _measure("brennan_prediger", counts_UV, n_categories)


def valid_rate(counts_U2: ArrayLike) -> Coefficient:
    """Compute the share of replies that hold a verdict.

    Parameters
    ----------
    counts_U2 : array-like of int, shape (n_units, 2)
        Replies of each unit with a verdict, and without.

    Returns
    -------
    Coefficient
        In [0, 1], pooled over replies. ``undefined`` is "no_verdicts" where there are no replies.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers with two columns.

    Examples
    --------
    >>> valid_rate([[3, 1], [4, 0]]).value
    0.875
    """
    if np.ndim(counts_U2) != 2 or np.shape(counts_U2)[1] != 2:
        raise ValueError(f"valid_rate: counts_U2 must have shape (n, 2), got {np.shape(counts_U2)}")
    return _measure("valid_rate", counts_U2, None)


def _measure(name: str, counts_UV: ArrayLike, n_categories: int | None) -> Coefficient:
    """The coefficient `name` of the counts."""
    n_values = np.shape(counts_UV)[-1] if np.ndim(counts_UV) == 2 else 0
    if name in _RESTS_ON_CATEGORIES:
        refuse_few_categories(name, counts_UV, n_categories)
    return measure(counts_UV, count_statistic(name, n_values=n_values, n_categories=n_categories))
