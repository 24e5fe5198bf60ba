"""Agreement of a judge with itself on nominal verdicts; every coefficient of counts by its name.

Shares of agreeing pairs, what chance makes of them (Fleiss, Gwet, Brennan-Prediger), and, where the
right verdict is known, agreement taken apart into agreeing on what is right and on what is wrong.

Shape suffixes: U = units (questions as asked), V = distinct values (for correctness the right one
first), T = terms; ``...`` = any leading batch axes. Terms are functions of counts (..., U, V), with
shape (..., U, T); values are functions of sums of terms (..., T).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.agreement.certainty import (
    entropy_agreement,
    entropy_statistic,
    total_agreement,
    unanimity_statistic,
)
from judgerel_ray.stats.agreement.intraclass import icc1, icc_statistic, icck
from judgerel_ray.stats.agreement.krippendorff import (
    Level,
    Values,
    alpha_statistic,
    krippendorff_alpha,
)
from judgerel_ray.stats.agreement.majority import majority_stability, majority_statistic
from judgerel_ray.stats.arguments import check_at_least_1, check_choice
from judgerel_ray.stats.counts import (
    AgreeingPairs,
    Coefficient,
    CountStatistic,
    Floats,
    divide,
    measure,
    refuse_few_categories,
    row_sums,
    stack_terms,
)

MEAN_PAIRS = AgreeingPairs(place=1, weight=lambda m: Fraction(1, m * (m - 1)))
"""Agreeing pairs in `pair_terms` and all terms that begin with them."""


def pair_terms(counts: Floats) -> Floats:
    """Lay out [has a pair, A_q], A_q the share of agreeing pairs."""
    m = row_sums(counts)
    agreeing = np.einsum("...v,...v->...", counts, counts) - m
    paired = m >= 2
    share = np.divide(agreeing, m * (m - 1), out=np.zeros_like(m), where=paired)
    return stack_terms(paired.astype(np.float64), share)


def fleiss_terms(counts: Floats) -> Floats:
    """Lay out [has a pair, A_q, n_qv of units with a pair]."""
    pairs = pair_terms(counts)
    return np.concatenate([pairs, counts * pairs[..., :1]], axis=-1)


def fleiss_value(total: Floats) -> Floats:
    """Compute Fleiss' kappa, Pe = sum (c_v / n)^2."""
    c = total[..., 2:]
    n = c.sum(axis=-1)
    chance = divide((c**2).sum(axis=-1), n**2)
    return correct_for_chance(divide(total[..., 1], total[..., 0]), chance)


def ac1_terms(counts: Floats) -> Floats:
    """Lay out [has a pair, A_q, has a rating, n_qv / m_q]."""
    m = row_sums(counts)[..., None]
    shares = np.divide(counts, m, out=np.zeros_like(counts), where=m > 0)
    return np.concatenate([pair_terms(counts), (m > 0).astype(np.float64), shares], axis=-1)


def ac1_value(total: Floats, n_categories: int) -> Floats:
    """Compute Gwet's AC1, Pe = sum pi (1 - pi) / (K - 1), pi a value's mean share over units."""
    if n_categories < 2:
        return np.full(total.shape[:-1], np.nan)
    pi = divide(total[..., 3:], np.broadcast_to(total[..., 2:3], total[..., 3:].shape))
    chance = (pi * (1 - pi)).sum(axis=-1) / (n_categories - 1)
    return correct_for_chance(divide(total[..., 1], total[..., 0]), chance)


def brennan_prediger_value(total: Floats, n_categories: int) -> Floats:
    """Compute Brennan and Prediger's coefficient, Pe = 1 / K."""
    chance = np.full(total.shape[:-1], 1 / n_categories if n_categories else 1.0)
    return correct_for_chance(divide(total[..., 1], total[..., 0]), chance)


def correct_for_chance(observed: Floats, chance: Floats) -> Floats:
    """Compute (observed - chance) / (1 - chance), NaN where chance is 1."""
    # 1 - chance may miss 0 by rounding where one value is all there is.
    room = 1 - chance
    return divide(observed - chance, np.where(room < 1e-12, 0.0, room))


_ICC = ("icc1", "icck")


def count_statistic(
    name: str,
    *,
    n_values: int,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
) -> CountStatistic:
    """Take a coefficient of counts apart, by name.

    Parameters
    ----------
    name : str
        A name of ``judgerel_ray.stats.COEFFICIENTS``, or ``majority_stability_k`` of any k.
    n_values : int
        Columns of the counts it will be given.
    values : sequence, optional
        What the columns stand for (for the levels other than nominal).
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement, of Krippendorff's alpha and of icc1 and icck (numbers, but for
        "nominal").
    n_categories : int, optional
        Declared categories, for Gwet's AC1, Brennan-Prediger and entropy; by default `n_values`.

    Raises
    ------
    ValueError
        If the name or level is unknown, or the values or categories do not fit.

    Examples
    --------
    >>> count_statistic("percent_agreement", n_values=2).min_ratings
    2
    """
    check_at_least_1(name, n_categories=n_categories)
    categories = n_values if n_categories is None else n_categories
    if name == "krippendorff_alpha":
        return alpha_statistic(n_values=n_values, values=values, level=level)
    if name in _ICC:
        return icc_statistic(name, n_values=n_values, values=values, level=level)
    stem, _, k = name.rpartition("_")
    if stem == "majority_stability" and k.isdecimal() and int(k) > 0:
        return majority_statistic(int(k))
    known = {statistic.name: statistic for statistic in _agreement_coefficients(categories)}
    if name in known:
        return known[name]
    names = ("krippendorff_alpha", *_ICC, "majority_stability_k", *known)
    raise ValueError(f"count_statistic: name must be one of {names}, got {name!r}")


def declaration(name: str) -> CountStatistic | None:
    """Look up the traits of a coefficient of counts; None of other names."""
    try:
        return count_statistic(name, n_values=2)
    except ValueError:
        return None


@lru_cache
def _agreement_coefficients(n_categories: int) -> tuple[CountStatistic, ...]:
    """Shares of pairs and of replies, and agreement beyond what chance would give."""
    return (
        CountStatistic(
            name="percent_agreement",
            estimator="share of agreeing pairs, mean over units",
            terms=pair_terms,
            value=_agreement_ratio_of_terms,
            chance_corrected=False,
            pairs=MEAN_PAIRS,
            monotone=True,
        ),
        CountStatistic(
            name="flip_rate",
            estimator="share of pairs that differ, mean over units",
            terms=pair_terms,
            value=lambda total: 1 - _agreement_ratio_of_terms(total),
            chance_corrected=False,
            pairs=MEAN_PAIRS,
            monotone=True,
            less_is_better=True,
        ),
        unanimity_statistic(),
        CountStatistic(
            name="valid_rate",
            estimator="share of replies with a verdict",
            terms=_valid_terms,
            value=_agreement_ratio_of_terms,
            min_ratings=1,
            chance_corrected=False,
        ),
        CountStatistic(
            name="fleiss_kappa",
            estimator="chance from the pooled verdicts",
            terms=fleiss_terms,
            value=fleiss_value,
            pairs=MEAN_PAIRS,
            is_nominal_alpha=True,
            rests_on_minority=True,
            less_bias=True,
        ),
        CountStatistic(
            name="gwet_ac1",
            estimator="chance from the mean shares, over K - 1",
            terms=ac1_terms,
            value=lambda total: ac1_value(total, n_categories),
            min_ratings=1,
            pairs=replace(MEAN_PAIRS, shares=3),
        ),
        CountStatistic(
            name="brennan_prediger",
            estimator="chance 1 / K",
            terms=pair_terms,
            value=lambda total: brennan_prediger_value(total, n_categories),
            pairs=MEAN_PAIRS,
            monotone=True,
        ),
        entropy_statistic(n_categories),
    )


def _agreement_ratio_of_terms(total: Floats) -> Floats:
    """Second sum over the first."""
    return divide(total[..., 1], total[..., 0])


def _valid_terms(counts_U2: Floats) -> Floats:
    """[replies, replies with a verdict]."""
    return np.stack([counts_U2.sum(axis=-1), counts_U2[..., 0]], axis=-1)


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
    return _coefficient_by_name("percent_agreement", counts_UV, n_categories)


def flip_rate(counts_UV: ArrayLike, *, n_categories: int | None = None) -> Coefficient:
    """Compute how often a verdict changes when the question is asked once more.

    One minus :func:`percent_agreement`: the share of pairs of replications that differ, which has
    no bias in the number of replications (the share that differs from the majority has).

    Parameters
    ----------
    counts_UV, n_categories
        As of :func:`percent_agreement`.

    Returns
    -------
    Coefficient
        In [0, 1]. ``undefined`` is "no_verdicts" or "single_replication".

    Examples
    --------
    >>> round(flip_rate([[2, 1], [0, 3]]).value, 6)
    0.333333
    """
    return _coefficient_by_name("flip_rate", counts_UV, n_categories)


def fleiss_kappa(counts_UV: ArrayLike, *, n_categories: int | None = None) -> Coefficient:
    """Compute Fleiss' kappa, chance agreement from the pooled verdicts.

    Parameters
    ----------
    counts_UV, n_categories
        As of :func:`percent_agreement`, also what is refused.

    Returns
    -------
    Coefficient
        At most 1, 0 at chance. ``undefined`` is "no_verdicts", "single_replication", or
        "no_variance" where one value is all there is.

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
    return _coefficient_by_name("fleiss_kappa", counts_UV, n_categories)


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
    return _coefficient_by_name("gwet_ac1", counts_UV, n_categories)


def brennan_prediger(counts_UV: ArrayLike, *, n_categories: int | None = None) -> Coefficient:
    """Compute Brennan and Prediger's coefficient, chance agreement one in K.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        As of :func:`percent_agreement`.
    n_categories : int, optional
        Declared categories K; by default the columns of `counts_UV`.

    Returns
    -------
    Coefficient
        Read and refused as :func:`gwet_ac1`.

    References
    ----------
    .. [1] Brennan, R. L. and Prediger, D. J. (1981), doi:10.1177/001316448104100307.

    Examples
    --------
    (2/3 - 1/4) / (3/4):

    >>> round(brennan_prediger([[2, 1], [0, 3]], n_categories=4).value, 6)
    0.555556
    """
    return _coefficient_by_name("brennan_prediger", counts_UV, n_categories)


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
    return _coefficient_by_name("valid_rate", counts_U2, None)


def _coefficient_by_name(name: str, counts_UV: ArrayLike, n_categories: int | None) -> Coefficient:
    n_values = np.shape(counts_UV)[-1] if np.ndim(counts_UV) == 2 else 0
    if name in _RESTS_ON_CATEGORIES:
        refuse_few_categories(name, counts_UV, n_categories)
    return measure(counts_UV, count_statistic(name, n_values=n_values, n_categories=n_categories))


COEFFICIENTS: dict[str, Callable[..., Coefficient]] = {
    "krippendorff_alpha": krippendorff_alpha,
    "percent_agreement": percent_agreement,
    "fleiss_kappa": fleiss_kappa,
    "gwet_ac1": gwet_ac1,
    "brennan_prediger": brennan_prediger,
    "flip_rate": flip_rate,
    "valid_rate": valid_rate,
    "entropy_agreement": entropy_agreement,
    "total_agreement": total_agreement,
    "icc1": icc1,
    "icck": icck,
    "majority_stability_3": partial(majority_stability, k=3),
    "majority_stability_5": partial(majority_stability, k=5),
    "majority_stability_11": partial(majority_stability, k=11),
}
"""Every coefficient of counts by name; the laws in ``tests/laws`` apply to each by themselves."""

DEFAULT_COEFFICIENTS: tuple[str, ...] = tuple(COEFFICIENTS)[:7]
"""Those printed where none is asked for."""


Statistic = CountStatistic | str | Callable[..., Coefficient]
"""A coefficient of counts: taken apart, by name, or as the function that gives it."""


def named_statistic(
    statistic: Statistic,
    counts_UV: ArrayLike,
    *,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
) -> CountStatistic:
    """Give a coefficient as sums over units, by name or function where one is given."""
    asked: dict[str, object] = {"values": values, "level": level, "n_categories": n_categories}
    if isinstance(statistic, CountStatistic):
        if asked != {"values": None, "level": "nominal", "n_categories": None}:
            raise ValueError(
                f"{statistic.name}: values, level and n_categories go with a name or a function, "
                "not with a CountStatistic"
            )
        return statistic
    name, bound = _name_and_options(statistic)
    asked |= {key: one for key, one in bound.items() if key in asked}
    shape = np.shape(counts_UV)
    if len(shape) != 2:
        raise ValueError(f"{name}: counts_UV must have 2 dimensions, got {len(shape)}")
    return count_statistic(name, n_values=shape[1], **asked)  # type: ignore[arg-type]


def _name_and_options(
    statistic: str | Callable[..., Coefficient],
) -> tuple[str, dict[str, object]]:
    """The name of a coefficient, and the options bound to its function."""
    if isinstance(statistic, str):
        return statistic, {}
    bound: dict[str, object] = {}
    while isinstance(statistic, partial):
        bound = {**statistic.keywords, **bound}
        statistic = statistic.func
    name = getattr(statistic, "__name__", None)
    if not callable(statistic) or not isinstance(name, str):
        raise ValueError(
            f"statistic must be a name, a function of counts or a CountStatistic, got {statistic!r}"
        )
    if name == "majority_stability":
        return f"{name}_{bound.get('k')}", bound
    return name, bound


CORRECTNESS = ("accuracy", "majority_accuracy", "agreement_right", "agreement_wrong")
"""Coefficients of verdicts that can be right or wrong."""
KAPPAS = ("cohen_kappa", "people_kappa")
"""Cohen's kappa of a judge with labels, and of the people who gave them with each other."""
OF_GOLD = (*CORRECTNESS, *KAPPAS)
"""Coefficients that need to know what is right."""


def correctness_statistic(name: str) -> CountStatistic:
    """Take a coefficient of right and wrong verdicts apart, by name.

    Parameters
    ----------
    name : {"accuracy", "majority_accuracy", "agreement_right", "agreement_wrong"}
        The share of verdicts that are right; of units whose most frequent verdict is right (ties
        shared); the chance that two verdicts on a unit agree and are right; and that they agree and
        are wrong. The last two sum to percent agreement, which says nothing of which it is.

    Returns
    -------
    CountStatistic
        Of counts whose *first* column is each unit's right value; the others only need to tell
        wrong values of a unit apart.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    Twice right and once wrong; twice wrong alike. Pairs: 1 of 3 right, 1 of 1 wrong.

    >>> from judgerel_ray.stats import measure
    >>> counts = [[2, 1, 0], [0, 0, 2]]
    >>> [round(measure(counts, correctness_statistic(name)).value, 3) for name in CORRECTNESS]
    [0.4, 0.5, 0.167, 0.5]
    """
    check_choice("correctness_statistic", CORRECTNESS, name=name)
    terms, words = {
        "accuracy": (_right_terms, "share of verdicts that are right"),
        "majority_accuracy": (
            _majority_terms,
            "share of units whose most frequent verdict is right, ties shared",
        ),
        "agreement_right": (
            _right_pairs,
            "share of pairs that agree and are right, mean over units",
        ),
        "agreement_wrong": (
            _wrong_pairs,
            "share of pairs that agree and are wrong, mean over units",
        ),
    }[name]
    return CountStatistic(
        name=name,
        estimator=words,
        terms=terms,
        value=_agreement_ratio_of_terms,
        min_ratings=2 if name.startswith("agreement") else 1,
        chance_corrected=False,
        has_floor=False,
    )


def _right_terms(counts_UV: Floats) -> Floats:
    """[verdicts, right ones]."""
    return stack_terms(row_sums(counts_UV), counts_UV[..., 0])


def _majority_terms(counts_UV: Floats) -> Floats:
    """[1, the right value's part in being the most frequent]."""
    most = counts_UV.max(axis=-1, initial=0.0)
    n_most = row_sums((counts_UV == most[..., None]).astype(np.float64))
    right = (counts_UV[..., 0] == most) & (most > 0)
    return stack_terms(np.ones_like(most), right / np.maximum(n_most, 1.0))


def _right_pairs(counts_UV: Floats) -> Floats:
    """[1, share of pairs that are both right]."""
    m, right = row_sums(counts_UV), counts_UV[..., 0]
    return stack_terms(np.ones_like(m), right * (right - 1) / np.maximum(m * (m - 1), 1.0))


def _wrong_pairs(counts_UV: Floats) -> Floats:
    """[1, share of pairs that agree less that of pairs that are both right]."""
    agreeing = pair_terms(counts_UV)
    right = _right_pairs(counts_UV)
    return stack_terms(right[..., 0], agreeing[..., 1] - right[..., 1])
