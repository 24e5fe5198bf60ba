"""Reproducibility: agreement about an item when what should not matter is drawn anew.

A nuisance facet (the order of the options, the template) is one that should not matter to a
verdict. Repeatability asks the same prompt again; reproducibility compares two judgments of one
item whose nuisance facets are drawn at random and independently of each other (ISO 5725). A judge
that goes by position repeats itself perfectly and reproduces nothing.

Shape suffixes: U = units (an item at one level of its nuisance facets), V = distinct values,
F = features of a unit, I = items, T = terms; ``...`` = any leading batch axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.agreement.agreement import corrected
from judgerel_ray.stats.counts.counts import Coefficient, checked_counts
from judgerel_ray.stats.counts.statistic import BLOCK, Floats, divide, row_sums
from judgerel_ray.stats.generalizability.facet_layout import (
    FIXED,
    FacetLevels,
    LaidOut,
    crossed_units,
    formed,
    lay_out,
)
from judgerel_ray.stats.intervals.question_statistic import QuestionTerms

PairCoefficient = Literal[
    "krippendorff_alpha", "percent_agreement", "fleiss_kappa", "gwet_ac1", "brennan_prediger",
    "flip_rate", "icc1", "class_agreement", "standard_error",
]  # fmt: skip
PAIR_COEFFICIENTS: tuple[PairCoefficient, ...] = get_args(PairCoefficient)[:7]
"""Coefficients that compare two judgments, and so have a reproducibility."""


def mean_distance(total: Floats) -> Floats:
    """Compute the mean distance of two judgments of an item from sums of :func:`item_terms`.

    Where no item has any pair of a class (no prompt was asked twice), the other classes tell it.
    """
    weight = total[..., 2:FIXED:3]
    mean = divide(total[..., 4:FIXED:3], total[..., 3:FIXED:3])
    there = ~np.isnan(mean)
    return divide(row_sums(weight * np.nan_to_num(mean) * there), row_sums(weight * there))


def pair_value(
    name: PairCoefficient, form_FF: Floats, n_categories: int | None = None
) -> Callable[[Floats], Floats]:
    """Give the function from sums of terms to the coefficient.

    Examples
    --------
    >>> totals = np.array([1, 0.25, 0.5, 0.5, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    >>> float(pair_value("percent_agreement", 1 - np.eye(2))(totals))
    0.5
    """
    return lambda total: coefficient_of(name, mean_distance(total), total, form_FF, n_categories)


def coefficient_of(
    name: PairCoefficient,
    distance: Floats,
    total: Floats,
    form_FF: Floats,
    n_categories: int | None = None,
) -> Floats:
    """Compute a coefficient from the mean distance inside items and the sums of all terms.

    class_agreement is that on the value whose form is 1 (the mean distance is then the share of
    pairs that both name it); standard_error is that of one rating, in points.
    """
    if name == "flip_rate":
        return distance
    if name == "percent_agreement":
        return 1 - distance
    if name == "standard_error":
        # Two ratings of an item differ by twice the variance of one.
        return np.asarray(np.sqrt(distance / 2))
    n = total[..., 0]
    mean = divide(total[..., FIXED:-1], np.broadcast_to(n[..., None], total[..., FIXED:-1].shape))
    if name == "class_agreement":
        return divide(distance, mean[..., int(np.argmax(np.diagonal(form_FF)))])
    drawn = formed(mean, form_FF)  # two judgments of any items, the same one with itself counted
    if name in ("krippendorff_alpha", "icc1"):
        between = divide(n**2 * drawn - total[..., -1], n * (n - 1))  # of two items
        if name == "icc1":
            return 1 - _over(distance, between)
        # One judgment is no pair with itself: Krippendorff's n (n - 1), of pairs of one item those
        # whose levels are drawn as everywhere else, or a judge of position would be above 0.
        own = divide(n - total[..., 1], n**2 - total[..., 1])
        return 1 - _over(distance, np.where(n > 1, own * distance + (1 - own) * between, distance))
    if name == "fleiss_kappa":
        return 1 - _over(distance, drawn)
    categories = mean.shape[-1] if n_categories is None else n_categories
    if categories < 2:
        return np.full(distance.shape, np.nan)
    if name == "gwet_ac1":
        return corrected(1 - distance, row_sums(mean * (1 - mean)) / (categories - 1))
    return corrected(1 - distance, np.full(distance.shape, 1 / categories))


def _over(distance: Floats, expected: Floats) -> Floats:
    """A ratio, NaN where nothing differs anywhere but for rounding."""
    return divide(distance, np.where(np.abs(expected) < 1e-12, 0.0, expected))


def reproducibility_terms(
    name: PairCoefficient,
    units: ArrayLike | LaidOut,
    levels: FacetLevels,
    *,
    distances_VV: Floats | None = None,
    n_categories: int | None = None,
    clusters_U: NDArray[np.int64] | None = None,
) -> QuestionTerms:
    """Lay a coefficient's reproducibility out by question.

    Parameters
    ----------
    name : str
        One of `PAIR_COEFFICIENTS`.
    units : array-like, shape (n_units, n_values) or (n_units, 3), or LaidOut
        How often each unit received each value; without `distances_VV`, number, sum and sum of
        squares of its scores. Or both as :func:`lay_out` has them, for several coefficients.
    levels : FacetLevels
        The item and level of each unit.
    distances_VV : ndarray of float, shape (n_values, n_values), optional
        How far values lie apart: 0 and 1 for nominal ones.
    n_categories : int, optional
        Declared categories, of gwet_ac1 and brennan_prediger; by default the values.
    clusters_U : ndarray of int, shape (n_units,), optional
        The question of each unit, where several items belong to one; by default the item.

    Returns
    -------
    QuestionTerms
        Its value is the coefficient; its questions are those with an item asked at two levels.

    Raises
    ------
    ValueError
        If the name is unknown or shapes do not fit.

    Examples
    --------
    A judge that goes by position, two items in two orders, four replications:

    >>> levels = FacetLevels(items_U=np.array([0, 0, 1, 1]), levels_U=np.array([0, 1, 0, 1]))
    >>> counts = [[4, 0], [0, 4], [4, 0], [0, 4]]
    >>> found = reproducibility_terms(
    ...     "percent_agreement", counts, levels, distances_VV=1 - np.eye(2))
    >>> float(found.at(np.ones((1, 2)))[0])
    0.5
    """
    if name not in get_args(PairCoefficient):
        raise ValueError(f"reproducibility: name must be one of {PAIR_COEFFICIENTS}, got {name!r}")
    laid = lay_out(units, levels, distances_VV=distances_VV)
    crossed, terms_IT = laid.crossed, laid.terms_IT
    owners = levels.items_U if clusters_U is None else clusters_U
    owners_I = owners[crossed.kept_U[crossed.starts_I]]
    questions = owners_I
    if (np.diff(owners_I) <= 0).any():
        questions, place = np.unique(owners_I, return_inverse=True)
        together = np.zeros((questions.size, terms_IT.shape[1]))
        np.add.at(together, place, terms_IT)
        terms_IT = together
    return QuestionTerms(
        name=name, questions_C=questions, terms_CT=terms_IT,
        value=pair_value(name, laid.form_FF, n_categories),
    )  # fmt: skip


def left_out_values(
    terms_CT: Floats, wanted: Sequence[tuple[PairCoefficient, int | None]], form_FF: Floats
) -> list[Floats]:
    """Compute several coefficients without each question in turn, from the same distances.

    Examples
    --------
    >>> terms = np.array([[1, 0.25, 0.5, 0.5, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]] * 2)
    >>> left_out_values(terms, [("flip_rate", None)], 1 - np.eye(2))[0].tolist()
    [0.5, 0.5]
    """
    total_T = terms_CT.sum(axis=0)
    step = max(1, BLOCK // max(1, total_T.size))
    parts: list[list[Floats]] = [[np.empty(0)] for _ in wanted]
    for start in range(0, len(terms_CT), step):
        rest = total_T - terms_CT[start : start + step]
        distance = mean_distance(rest)
        for part, (name, n_categories) in zip(parts, wanted, strict=True):
            part.append(coefficient_of(name, distance, rest, form_FF, n_categories))
    return [np.concatenate(part) for part in parts]


def repeats_known(total: Floats) -> bool:
    """Whether any item was asked the same prompt twice, from sums of terms."""
    return bool(total[..., 3] > 0)


def reproducibility(
    name: PairCoefficient,
    counts_UV: ArrayLike,
    items_U: ArrayLike,
    levels_U: ArrayLike,
    *,
    n_categories: int | None = None,
) -> Coefficient:
    """Compute agreement about an item between two judgments whose nuisance facets differ at random.

    Two judgments of one item are drawn with independent levels, each of the levels recorded for it
    weighing the same however often it was asked; items weigh the same.

    Parameters
    ----------
    name : str
        One of `PAIR_COEFFICIENTS`, of verdicts as names.
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit, an item at one level, received each value.
    items_U, levels_U : array-like of int, shape (n_units,)
        The item of each unit, and its level of the nuisance facets.
    n_categories : int, optional
        Declared categories, of gwet_ac1 and brennan_prediger.

    Returns
    -------
    Coefficient
        ``undefined`` is "facets_not_crossed" where no item has verdicts at two levels, or
        "no_variance" where one value is all there is and chance cannot be told.

    Raises
    ------
    ValueError
        If the name is unknown or shapes do not fit.

    References
    ----------
    .. [1] ISO 5725-1:2023, Accuracy (trueness and precision) of measurement methods and results.

    Examples
    --------
    The same option in both orders, and always the first one shown:

    >>> reads = reproducibility("krippendorff_alpha", [[4, 0], [4, 0], [0, 4], [0, 4]],
    ...                         [0, 0, 1, 1], [0, 1, 0, 1])
    >>> by_place = reproducibility("krippendorff_alpha", [[4, 0], [0, 4], [4, 0], [0, 4]],
    ...                            [0, 0, 1, 1], [0, 1, 0, 1])
    >>> reads.value, by_place.value
    (1.0, 0.0)
    """
    levels = FacetLevels(items_U=np.asarray(items_U), levels_U=np.asarray(levels_U))
    counts = checked_counts(counts_UV, function="reproducibility")
    terms = reproducibility_terms(
        name, counts, levels, distances_VV=1 - np.eye(counts.shape[1]), n_categories=n_categories
    )
    n_ratings, most = crossed_ratings(row_sums(counts), levels)
    total = terms.terms_CT.sum(axis=0)
    n_units = int(total[0]) if terms.questions_C.size else 0
    value = float(terms.value(total)) if n_units else float("nan")
    undefined = None
    if np.isnan(value):
        undefined = "no_variance" if n_units else "facets_not_crossed"
    return Coefficient(
        name=name,
        value=None if undefined else value,
        undefined=undefined,
        estimator=f"{name} of two judgments whose nuisance facets are drawn at random",
        n_units=n_units,
        n_raters=most,
        n_ratings=n_ratings,
        n_missing=n_units * most - n_ratings,
    )


def crossed_ratings(n_ratings_U: Floats, levels: FacetLevels) -> tuple[int, int]:
    """Judgments of items asked at two levels or more, and the most that one item has.

    Examples
    --------
    >>> levels = FacetLevels(items_U=np.array([0, 0, 1]), levels_U=np.array([0, 1, 0]))
    >>> crossed_ratings(np.array([2.0, 3.0, 2.0]), levels)
    (5, 5)
    """
    units = crossed_units(levels, n_ratings_U)
    if not units.starts_I.size:
        return 0, 0
    of_item = np.add.reduceat(np.asarray(n_ratings_U)[units.kept_U], units.starts_I)
    return int(of_item.sum()), int(of_item.max())
