"""Agreement with a reference: another judge's scores, or the means of people's.

Shape suffixes: N = items, R = replications, H = ratings of the reference, V = values of a scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.paired import (
    Difference,
    Estimate,
    check_confidence,
    estimate,
    left_out_difference,
)
from judgerel_ray.stats.intervals.question_statistic import (
    Combined,
    QuestionStatistic,
    Remembered,
    whole,
)
from judgerel_ray.stats.ratings.correlations import CORRELATIONS, Correlation, correlation

_WORDS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "icc_agreement": "ICC(A,1), two-way",
    "icc_consistency": "ICC(C,1), two-way",
}
_LEAST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceAgreement:
    """How far a judge's scores agree with a reference, one by one and averaged.

    Attributes
    ----------
    coefficient : str
        Which.
    single : Estimate
        Of one replication: the mean over replications of the coefficient of each.
    averaged : Estimate
        Of the mean of all replications of each item.
    gain : Difference
        Averaged less single, with an interval that leaves each question out of both.
    n_averaged : float
        Replications that were averaged, in the mean over items.
    """

    coefficient: Correlation
    single: Estimate
    averaged: Estimate
    gain: Difference
    n_averaged: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedScores:
    """Expected scores under each item's distribution.

    Attributes
    ----------
    scores_N : ndarray of float, shape (n_items,)
        Mean over the values of the scale, by their probabilities; NaN where too little is on it.
    mass_N : ndarray of float, shape (n_items,)
        Probability of a reply that is on the scale at all.
    """

    scores_N: Floats  # noqa: N815  a shape, not a case
    mass_N: Floats  # noqa: N815


def reference_agreement(
    scores_NR: ArrayLike,
    reference_NH: ArrayLike,
    *,
    coefficient: Correlation = "pearson",
    questions_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> ReferenceAgreement:
    """Compare a judge's scores with a reference, single replications and their mean.

    Parameters
    ----------
    scores_NR : array-like of float, shape (n_items,) or (n_items, n_replications)
        The judge's scores; NaN is missing, and items may differ in their number.
    reference_NH : array-like of float, shape (n_items,) or (n_items, n_ratings)
        The reference of each item; several ratings are averaged. Their own noise lowers every
        coefficient, and is not corrected for.
    coefficient : {"pearson", "spearman", "kendall", "icc_agreement", "icc_consistency"}
        Kendall's is tau-b; both ICC are two-way, of one score: agreement counts a shift against the
        judge, consistency does not.
    questions_N : array-like, shape (n_items,), optional
        The question of each item, where several are of one; by default every item is its own.
    confidence : float
        Of the intervals, in (0, 1).

    Returns
    -------
    ReferenceAgreement
        ``undefined`` is "too_few_units" with fewer than three items that have both, and
        "no_variance" where scores or reference are all the same. There is no gain where no item has
        two replications ("single_replication").

    Raises
    ------
    ValueError
        If the items differ in number, a number is infinite, the coefficient is unknown, or the
        confidence is not in (0, 1).

    Notes
    -----
    Intervals leave one question out at a time, on Fisher's z. The single coefficient is averaged
    over replications, each weighted by its items, so that it does not depend on which came first
    where all items have them all. Time O(N log N), of ranks and pairs too where questions have few
    items.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=100)
    >>> found = reference_agreement(truth[:, None] + rng.normal(size=(100, 5)), truth)
    >>> round(found.single.value, 2), round(found.averaged.value, 2), found.gain.p < 0.001
    (0.69, 0.91, True)
    """
    name = "reference_agreement"
    check_confidence(confidence, function=name)
    if coefficient not in CORRELATIONS:
        raise ValueError(
            f"{name}: coefficient must be one of {', '.join(CORRELATIONS)}, got {coefficient!r}"
        )
    scores, reference = _table(scores_NR), _table(reference_NH)
    questions = np.arange(len(scores)) if questions_N is None else np.asarray(questions_N)
    if not len(scores) == len(reference) == questions.size or questions.ndim != 1:
        raise ValueError(
            f"{name}: scores, reference and questions must be of the same items, got "
            f"{len(scores)}, {len(reference)} and {questions.shape}"
        )
    taking = ~(np.isnan(scores).all(axis=1) | np.isnan(reference).all(axis=1))
    scores, truth, questions = scores[taking], _means(reference[taking]), questions[taking]
    there_NR = ~np.isnan(scores)
    n_N = there_NR.sum(axis=1)
    number = np.unique(questions, return_inverse=True)[1]  # which they are: their names are slow
    averaged = Remembered(of=correlation(coefficient, _means(scores), truth, number))
    single = Remembered(of=_single(coefficient, scores, truth, number))

    def estimated(statistic: QuestionStatistic, words: str) -> Estimate:
        undefined = None
        if np.isnan(whole(statistic)):
            undefined = "too_few_units" if len(scores) < _LEAST else "no_variance"
        return estimate(
            statistic, undefined=undefined, unit="dimensionless", scale="fisher",
            estimator=f"{_WORDS[coefficient]} {words} with the reference", n_units=len(scores),
            confidence=confidence,
        )  # fmt: skip

    gain = Difference(name=coefficient, undefined="single_replication", n_questions=0)
    if (n_N >= 2).any():
        gain = left_out_difference(coefficient, single, averaged, confidence=confidence)
    return ReferenceAgreement(
        coefficient=coefficient,
        single=estimated(single, "of single replications"),
        averaged=estimated(averaged, f"of the mean of {_how_many(n_N)}"),
        gain=gain,
        n_averaged=float(n_N.mean()) if n_N.size else 0.0,
    )


def weighted_scores(
    probabilities_NV: ArrayLike, values_V: ArrayLike, *, least_mass: float = 0.0
) -> WeightedScores:
    """Compute the expected score of each item: what the mean of infinitely many samples would be.

    Parameters
    ----------
    probabilities_NV : array-like of float, shape (n_items, n_values)
        Probability of each value of the scale; what is left to 1 is no score. NaN is 0.
    values_V : array-like of float, shape (n_values,)
        The scores.
    least_mass : float
        Items whose probabilities sum to less have no score.

    Returns
    -------
    WeightedScores

    Raises
    ------
    ValueError
        If there is not one finite value a column, or the probabilities of an item are negative or
        sum to more than 1.

    Examples
    --------
    >>> found = weighted_scores([[0.25, 0.75, 0.0], [0.0, 0.2, 0.2], [0.0, 0.0, 0.0]], [1, 2, 3])
    >>> found.scores_N.tolist(), found.mass_N.tolist()
    ([1.75, 2.5, nan], [1.0, 0.4, 0.0])
    """
    probabilities = np.nan_to_num(np.asarray(probabilities_NV, dtype=np.float64), nan=0.0)
    values = np.asarray(values_V, dtype=np.float64)
    if probabilities.ndim != 2 or values.shape != probabilities.shape[1:]:
        raise ValueError(
            f"weighted_scores: there must be one value a column, got {values.shape} for "
            f"{probabilities.shape}"
        )
    mass_N = probabilities.sum(axis=1)
    if not np.isfinite(values).all() or (probabilities < 0).any() or (mass_N > 1 + 1e-6).any():
        raise ValueError(
            "weighted_scores: values must be finite, probabilities from 0 on with a sum up to 1"
        )
    enough = (mass_N > 0) & (mass_N >= least_mass)
    scores_N = np.full(mass_N.shape, np.nan)
    np.divide(probabilities @ values, mass_N, out=scores_N, where=enough)
    return WeightedScores(scores_N=scores_N, mass_N=mass_N)


def _single(
    name: Correlation, scores: Floats, truth: Floats, questions: NDArray[np.generic]
) -> Combined:
    """Mean over replications, each weighted by its items; too few of them count nothing."""
    there_NR = ~np.isnan(scores)
    weight_R = np.where(there_NR.sum(axis=0) >= _LEAST, there_NR.sum(axis=0), 0)
    parts = tuple(
        correlation(name, column[there], truth[there], questions[there])
        for column, there in zip(scores.T, there_NR.T, strict=True)
    )
    return Combined(name=name, parts=parts, combine=_weighted_mean(weight_R.astype(np.float64)))


def _weighted_mean(weight_P: Floats) -> Callable[[Floats], Floats]:
    """Weighted mean of parts, those without weight left out."""
    counting = weight_P > 0

    def mean(values_PB: Floats) -> Floats:
        if not counting.any():
            return np.full(values_PB.shape[1:], np.nan)
        shares = weight_P[counting] / weight_P.sum()
        found: Floats = np.tensordot(shares, values_PB[counting], axes=1)
        return found

    return mean


def _table(scores: ArrayLike) -> Floats:
    """Scores as one column or more."""
    table = np.asarray(scores, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or not table.shape[1] or np.isinf(table).any():
        raise ValueError(
            f"reference_agreement: scores must be finite or NaN, of shape (n_items,) or (n_items, "
            f"n), got shape {np.shape(scores)}"
        )
    return table


def _means(table: Floats) -> Floats:
    """Mean of each row; every one has some."""
    there = ~np.isnan(table)
    means: Floats = np.where(there, table, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return means


def _how_many(n_N: NDArray[np.intp]) -> str:
    """Replications of the items, in words."""
    if not n_N.size:
        return "none"
    least, most = int(n_N.min()), int(n_N.max())
    return str(least) if least == most else f"{least} to {most}"
