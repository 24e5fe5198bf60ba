"""Judges held against a reference: the scores of another judge or of people, and people's labels.

Scores are compared with the reference's means. A judge's labels are held against people's as those
of a person held out are: one measure for both.

Shape suffixes: N, U = items, R = replications or raters, H = ratings of the reference, V = values
of a scale or labels, C = clusters (texts).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.agreement.agreement import count_statistic
from judgerel_ray.stats.arguments import check_choice, check_fraction, check_shape, clusters_of
from judgerel_ray.stats.counts import (
    Coefficient,
    Floats,
    QuestionTerms,
    checked_counts,
    counts_from_ratings,
    measure,
    row_means,
)
from judgerel_ray.stats.intervals.ends import t_quantile
from judgerel_ray.stats.intervals.interval import jackknife_interval, student_interval
from judgerel_ray.stats.intervals.paired import (
    Difference,
    Estimate,
    estimate_by_question,
    left_out_difference,
)
from judgerel_ray.stats.intervals.question_statistic import (
    Combined,
    QuestionStatistic,
    Remembered,
    mean_terms,
    whole,
)
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor
from judgerel_ray.stats.ratings.correlations import CORRELATIONS, Correlation, correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleMatch:
    """A judge and a person, each against the people of an item."""

    judge: Estimate  # Mean over items of the share of the item's people whose label the judge gave.
    # Mean over items and their people of the share of the item's other people whose label the
    # person gave: each is held out in turn.
    person: Estimate
    # Judge less person, paired by cluster; its standard error is the larger of that by leaving
    # clusters out and that of exchanging the judge with a person of its item.
    difference: Difference
    floor: NoiseFloor  # The judge's share were its labels those of other items.
    # The person's share were all labels of people shuffled over the items.
    person_floor: float | None
    n_items: int  # Items of two people or more, which alone take part, and their people's labels.
    n_ratings: int
    n_single: int  # Items of one person: nobody is there to hold out, so they take no part.
    n_split: int  # Items taking part whose people have no single most frequent label.


def people_match(
    counts_UV: ArrayLike,
    verdicts_U: ArrayLike,
    *,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
) -> PeopleMatch:
    r"""Compare how often a judge, and a person, give the label of another person.

    With n_uv people of item u who said v, m_u in all, and the judge's label j_u:

    .. math:: \frac{1}{U} \sum_u \frac{n_{u j_u}}{m_u}, \qquad
       \frac{1}{U} \sum_u \frac{\sum_v n_{uv} (n_{uv} - 1)}{m_u (m_u - 1)}

    A judge that answers as one more person would has the same expectation as a person, however
    many people an item has: no majority is taken, so nothing ties. A majority's label is another
    matter: people who agree make it, and items on which they do not have none.

    Examples
    --------
    Of three people two say 0; then two people differ; the last item has one person only:

    >>> found = people_match([[2, 1], [1, 1], [1, 0]], [0, 1, 0])
    >>> round(found.judge.value, 3), round(found.person.value, 3), found.n_split, found.n_single
    (0.583, 0.167, 1, 1)
    """
    counts = checked_counts(counts_UV, function="people_match")
    verdicts = np.asarray(verdicts_U, dtype=np.int64)
    check_shape("people_match", counts.shape[:1], verdicts_U=verdicts)
    clusters = clusters_of(clusters_U, len(counts), function="people_match")
    if verdicts.size and not (verdicts.min() >= -1 and verdicts.max() < counts.shape[1]):
        raise ValueError(f"people_match: verdicts_U must be -1 or below {counts.shape[1]}")
    people = counts.sum(axis=1)
    taking = people >= 2
    n_single = int((people == 1).sum())
    counts, verdicts, clusters = counts[taking], verdicts[taking], clusters[taking]
    people = people[taking]
    shares_UV = counts / people[:, None] if counts.size else counts
    of_judge = _shares_of_labels(shares_UV, verdicts)
    of_person = (counts * (counts - 1)).sum(axis=1) / (people * (people - 1))
    most = counts.max(axis=1, initial=0)
    number = np.unique(clusters, return_inverse=True)[1]
    judge_terms = mean_terms("judge", of_judge, clusters)
    person_terms = mean_terms("person", of_person, clusters)
    undefined = None if len(counts) else "no_item_of_several_people"
    judge, person = (
        _label_share_with_interval(terms, undefined, words, len(counts), confidence)
        for terms, words in (
            (judge_terms, "share of people matched"), (person_terms, "people held out"),
        )
    )  # fmt: skip
    difference = Difference(name="judge less person", undefined=undefined, n_questions=0)
    if undefined is None:
        difference = left_out_difference(
            "judge less person", person_terms, judge_terms, confidence=confidence
        )
        exchanged = sqrt(float(_exchange_variance(counts, verdicts).sum())) / len(counts)
        difference = _widened_label_difference(difference, exchanged, confidence)
    return PeopleMatch(
        judge=judge, person=person, difference=difference,
        floor=_floor(shares_UV, verdicts, of_judge, number), person_floor=_chance_agreement(counts),
        n_items=len(counts), n_ratings=int(people.sum()), n_single=n_single,
        n_split=int(((counts == most[:, None]).sum(axis=1) > 1).sum()),
    )  # fmt: skip


def _shares_of_labels(shares_UV: Floats, verdicts_U: NDArray[np.int64]) -> Floats:
    """The share of each item's people who gave the judge's label."""
    there = verdicts_U >= 0
    found = np.zeros(verdicts_U.size)
    found[there] = shares_UV[np.flatnonzero(there), verdicts_U[there]]
    return found


def _label_share_with_interval(
    side: QuestionTerms, undefined: str | None, words: str, n_items: int, confidence: float
) -> Estimate:
    """A share with its interval, which ends at 0 and 1 as all intervals of shares do."""
    found = estimate_by_question(
        side, undefined=undefined, unit="share", estimator=f"{words}, mean over items",
        n_units=n_items, confidence=confidence,
    )  # fmt: skip
    if found.value is None or len(side.terms_CT) < 2:
        return found
    ends = student_interval(
        found.value, side.left_out(), confidence, chance_corrected=False,
        weights_C=side.terms_CT[:, 1],
    )  # fmt: skip
    return replace(
        found, low=ends.low, high=ends.high, method=ends.method, no_interval=ends.undefined
    )


def _exchange_variance(counts_UV: Floats, verdicts_U: NDArray[np.int64]) -> Floats:
    """Variance of judge less person in each item, each of its labels as likely the judge's.

    With t_v of the m + 1 labels v, one of them the judge's: where the judge said v, the difference
    is (t_v - 1) / m less the share of pairs that agree among the others; its mean is 0.
    """
    m = counts_UV.sum(axis=1, keepdims=True)
    every = np.column_stack([counts_UV, np.zeros(len(counts_UV))])  # the last: no label
    every[np.arange(len(every)), verdicts_U] += 1
    pairs = (every * (every - 1)).sum(axis=1, keepdims=True)
    apart = (every - 1) / m - (pairs - 2 * (every - 1)) / (m * (m - 1))
    found: Floats = (every * apart**2).sum(axis=1) / (m[:, 0] + 1)
    return found


def _widened_label_difference(found: Difference, error: float, confidence: float) -> Difference:
    """A difference whose standard error is no smaller than that of exchanging judge and person."""
    from scipy.special import stdtr

    if found.value is None or found.undefined not in (None, "no_spread") or error < 1e-12:
        return found
    largest, n = max(found.standard_error or 0.0, error), found.n_questions
    half = t_quantile(n - 1, confidence) * largest
    return replace(
        found, standard_error=largest, low=max(-1.0, found.value - half),
        high=min(1.0, found.value + half), undefined=None,
        p=2 * float(stdtr(n - 1, -abs(found.value) / largest)),
    )  # fmt: skip


def _floor(
    shares_UV: Floats, verdicts_U: NDArray[np.int64], labels_U: Floats, number: NDArray[np.intp]
) -> NoiseFloor:
    """The judge's share with its labels shuffled across items: Hoeffding's mean and variance."""
    from scipy.special import ndtr

    n = verdicts_U.size
    if n < 2:
        return NOTHING
    often_V = np.bincount(verdicts_U[verdicts_U >= 0], minlength=shares_UV.shape[1]) / n
    column_V, row_U = shares_UV.mean(axis=0), shares_UV @ often_V
    mean = float(column_V @ often_V)
    # Of all (label, item) pairs, labels as often as the judge gave them; none has a share of 0.
    apart_UV = shares_UV - column_V - row_U[:, None] + mean
    silent_U = mean - row_U
    squares = (apart_UV**2).sum(axis=0) @ often_V + (1 - often_V.sum()) * (silent_U**2).sum()
    variance = n * float(squares) / (n - 1)
    if int(number.max()) + 1 < n:  # items of one text are one piece of evidence
        expected_U = np.where(verdicts_U >= 0, column_V[verdicts_U], 0.0)
        pieces = np.bincount(number, weights=labels_U - expected_U - row_U + mean)
        variance = float((pieces**2).sum()) * pieces.size / max(1, pieces.size - 1)
    if variance < 1e-12:
        kind = NullMethod.LABELS_ALIKE  # as of a judge with one label only
        return NoiseFloor(mean=mean, sd=0.0, p=1.0, kind=kind)
    sd = sqrt(variance) / n
    p = 2 * float(ndtr(-abs(float(labels_U.mean()) - mean) / sd))
    return NoiseFloor(mean=mean, sd=sd, p=p, kind=NullMethod.LABELS_NORMAL)


def _chance_agreement(counts_UV: Floats) -> float | None:
    """How often two people agree whose labels are shuffled over all items."""
    totals_V = counts_UV.sum(axis=0)
    n = float(totals_V.sum())
    return float((totals_V * (totals_V - 1)).sum() / (n * (n - 1))) if n > 1 else None


def inter_rater_accuracy(
    ratings_UR: ArrayLike | Sequence[Sequence[object]],
    *,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """Compute how often two people who rate the same give the same rating.

    It is what [1]_ holds a judge's accuracy against: percent agreement of people, so a judge that
    matches any one person as often is as close to them as they are to each other.

    Parameters
    ----------
    ratings_UR : array-like, shape (n_items, n_raters)
        One row an item; None or NaN where a person did not rate it.
    clusters_U : array-like, shape (n_items,), optional
        What items are clustered by, such as the document; by default each is its own.
    confidence : float
        Of the jackknife interval, in (0, 1).

    Returns
    -------
    Coefficient
        Named "inter_rater_accuracy"; ``undefined`` as for percent agreement.

    Raises
    ------
    ValueError
        If the ratings are no table, or there is not one cluster an item.

    References
    ----------
    .. [1] Wagner et al. (2024), arXiv:2410.11594, table 1, "Human Agreement".

    Examples
    --------
    >>> inter_rater_accuracy([[5, 5, 4], [3, 3, None]]).value
    0.6666666666666666
    """
    counts, values = counts_from_ratings(ratings_UR)
    agreement = count_statistic("percent_agreement", n_values=max(1, len(values)))
    found = measure(counts, agreement)
    ends = jackknife_interval(counts, agreement, clusters_U=clusters_U, confidence=confidence)
    return replace(
        found,
        name="inter_rater_accuracy",
        estimator="pairs of people of an item, mean over items",
        low=ends.low,
        high=ends.high,
    )


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
    """Expected scores under each item's distribution."""

    # Shape (n_items,). Mean over the values of the scale, by their probabilities; NaN where too
    # little is on it.
    scores_N: Floats  # noqa: N815  a shape, not a case
    # Shape (n_items,). Probability of a reply that is on the scale at all.
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
    check_fraction(name, confidence=confidence)
    check_choice(name, CORRELATIONS, coefficient=coefficient)
    scores, reference = _reference_score_columns(scores_NR), _reference_score_columns(reference_NH)
    questions = np.arange(len(scores)) if questions_N is None else np.asarray(questions_N)
    if not len(scores) == len(reference) == questions.size or questions.ndim != 1:
        raise ValueError(
            f"{name}: scores, reference and questions must be of the same items, got "
            f"{len(scores)}, {len(reference)} and {questions.shape}"
        )
    taking = ~(np.isnan(scores).all(axis=1) | np.isnan(reference).all(axis=1))
    scores, truth, questions = scores[taking], row_means(reference[taking]), questions[taking]
    there_NR = ~np.isnan(scores)
    n_N = there_NR.sum(axis=1)
    number = np.unique(questions, return_inverse=True)[1]  # which they are: their names are slow
    averaged = Remembered(of=correlation(coefficient, row_means(scores), truth, number))
    single = Remembered(of=_replication_mean(coefficient, scores, truth, number))

    def estimated(statistic: QuestionStatistic, words: str) -> Estimate:
        undefined = None
        if np.isnan(whole(statistic)):
            undefined = "too_few_units" if len(scores) < _LEAST else "no_variance"
        return estimate_by_question(
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


def _replication_mean(
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
        return np.tensordot(shares, values_PB[counting], axes=1)

    return mean


def _reference_score_columns(scores: ArrayLike) -> Floats:
    """Scores as one column or more."""
    table = np.asarray(scores, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or not table.shape[1] or np.isinf(table).any():
        raise ValueError(
            f"reference_agreement: scores must be finite or NaN, of shape (n_items,) or (n_items, "
            f"n), got shape {np.shape(scores)}"
        )
    return table


def _how_many(n_N: NDArray[np.intp]) -> str:
    """Replications of the items, in words."""
    if not n_N.size:
        return "none"
    least, most = int(n_N.min()), int(n_N.max())
    return str(least) if least == most else f"{least} to {most}"
