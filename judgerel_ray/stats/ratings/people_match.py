"""Judges and people: how often a label is that of a person, and how far people agree.

A judge's labels are held against people's as those of a person held out are: one measure for both.

Shape suffixes: U = items, V = labels, R = raters, C = clusters (texts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.agreement.agreement import count_statistic
from judgerel_ray.stats.counts import (
    Coefficient,
    Floats,
    checked_counts,
    counts_from_ratings,
    measure,
)
from judgerel_ray.stats.intervals.interval import jackknife_interval, student_interval
from judgerel_ray.stats.intervals.paired import Difference, Estimate, estimate, left_out_difference
from judgerel_ray.stats.intervals.precision import t_quantile
from judgerel_ray.stats.intervals.question_statistic import QuestionTerms
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleMatch:
    """A judge and a person, each against the people of an item.

    Attributes
    ----------
    judge : Estimate
        Mean over items of the share of the item's people whose label the judge gave.
    person : Estimate
        Mean over items and their people of the share of the item's other people whose label the
        person gave: each is held out in turn.
    difference : Difference
        Judge less person, paired by cluster; its standard error is the larger of that by leaving
        clusters out and that of exchanging the judge with a person of its item.
    floor : NoiseFloor
        The judge's share were its labels those of other items.
    person_floor : float or None
        The person's share were all labels of people shuffled over the items.
    n_items, n_ratings : int
        Items of two people or more, which alone take part, and their people's labels.
    n_single : int
        Items of one person: nobody is there to hold out, so they take no part.
    n_split : int
        Items taking part whose people have no single most frequent label.
    """

    judge: Estimate
    person: Estimate
    difference: Difference
    floor: NoiseFloor
    person_floor: float | None
    n_items: int
    n_ratings: int
    n_single: int
    n_split: int


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

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_items, n_labels)
        How many people gave each label. Of one kind of people: kinds are not to be pooled.
    verdicts_U : array-like of int, shape (n_items,)
        The judge's label of each item, a place among the columns; -1 where it gave none, which
        matches nobody.
    clusters_U : array-like, shape (n_items,), optional
        The text of each item; by default each is its own.
    confidence : float
        Of the intervals, in (0, 1): Student's t, leaving one text out at a time. The people are
        those who rated: none is drawn anew.

    Returns
    -------
    PeopleMatch
        ``undefined`` of its numbers is "no_item_of_several_people" where no item has two.

    Raises
    ------
    ValueError
        If the counts are no table, there is not one verdict and cluster an item, a verdict names no
        column, or the confidence is not in (0, 1).

    Examples
    --------
    Of three people two say 0; then two people differ; the last item has one person only:

    >>> found = people_match([[2, 1], [1, 1], [1, 0]], [0, 1, 0])
    >>> round(found.judge.value, 3), round(found.person.value, 3), found.n_split, found.n_single
    (0.583, 0.167, 1, 1)
    """
    counts = checked_counts(counts_UV, function="people_match")
    verdicts = np.asarray(verdicts_U, dtype=np.int64)
    clusters = np.arange(len(counts)) if clusters_U is None else np.asarray(clusters_U)
    if not verdicts.shape == clusters.shape == counts.shape[:1]:
        raise ValueError(
            f"people_match: verdicts_U and clusters_U must have shape ({len(counts)},), "
            f"got {verdicts.shape} and {clusters.shape}"
        )
    if verdicts.size and not (verdicts.min() >= -1 and verdicts.max() < counts.shape[1]):
        raise ValueError(f"people_match: verdicts_U must be -1 or below {counts.shape[1]}")
    people = counts.sum(axis=1)
    taking = people >= 2
    n_single = int((people == 1).sum())
    counts, verdicts, clusters = counts[taking], verdicts[taking], clusters[taking]
    people = people[taking]
    shares_UV = counts / people[:, None] if counts.size else counts
    of_judge = _given(shares_UV, verdicts)
    of_person = (counts * (counts - 1)).sum(axis=1) / (people * (people - 1))
    most = counts.max(axis=1, initial=0)
    names, number = np.unique(clusters, return_inverse=True)
    sides = [_mean(name, values, names, number)
             for name, values in (("judge", of_judge), ("person", of_person))]  # fmt: skip
    undefined = None if len(counts) else "no_item_of_several_people"
    judge, person = (
        _share(side, undefined, words, len(counts), confidence)
        for side, words in zip(
            sides,
            ("share of people matched, mean over items", "people held out, mean over items"),
            strict=True,
        )
    )  # fmt: skip
    difference = Difference(name="judge less person", undefined=undefined, n_questions=0)
    if undefined is None:
        difference = left_out_difference(
            "judge less person", sides[1], sides[0], confidence=confidence
        )
        exchanged = sqrt(float(_exchanged(counts, verdicts).sum())) / len(counts)
        difference = _at_least(difference, exchanged, confidence)
    return PeopleMatch(
        judge=judge, person=person, difference=difference,
        floor=_floor(shares_UV, verdicts, of_judge, number), person_floor=_agreeing(counts),
        n_items=len(counts), n_ratings=int(people.sum()), n_single=n_single,
        n_split=int(((counts == most[:, None]).sum(axis=1) > 1).sum()),
    )  # fmt: skip


def _given(shares_UV: Floats, verdicts_U: NDArray[np.int64]) -> Floats:
    """The share of each item's people who gave the judge's label."""
    there = verdicts_U >= 0
    found = np.zeros(verdicts_U.size)
    found[there] = shares_UV[np.flatnonzero(there), verdicts_U[there]]
    return found


def _mean(
    name: str, values_U: Floats, names: NDArray[np.generic], number: NDArray[np.intp]
) -> QuestionTerms:
    """A mean over items, as sums by cluster."""
    sums, sizes = (
        np.bincount(number, weights=one, minlength=names.size)
        for one in (values_U, np.ones_like(values_U))
    )
    return QuestionTerms(
        name=name, questions_C=names, terms_CT=np.column_stack([sums, sizes]), value=_ratio
    )


def _ratio(totals: Floats) -> Floats:
    """Sums to a mean; NaN of nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = totals[..., 0] / totals[..., 1]
    return found


def _share(
    side: QuestionTerms, undefined: str | None, words: str, n_items: int, confidence: float
) -> Estimate:
    """A share with its interval, which ends at 0 and 1 as all intervals of shares do."""
    found = estimate(
        side, undefined=undefined, unit="share", estimator=words, n_units=n_items,
        confidence=confidence,
    )  # fmt: skip
    if found.value is None or found.low is None:
        return found
    ends = student_interval(found.value, side.left_out(), confidence, chance_corrected=False)
    return replace(found, low=ends.low, high=ends.high, method=ends.method)


def _exchanged(counts_UV: Floats, verdicts_U: NDArray[np.int64]) -> Floats:
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


def _at_least(found: Difference, error: float, confidence: float) -> Difference:
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
    shares_UV: Floats, verdicts_U: NDArray[np.int64], given_U: Floats, number: NDArray[np.intp]
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
        pieces = np.bincount(number, weights=given_U - expected_U - row_U + mean)
        variance = float((pieces**2).sum()) * pieces.size / max(1, pieces.size - 1)
    if variance < 1e-12:
        kind = NullMethod.LABELS_ALIKE  # as of a judge with one label only
        return NoiseFloor(mean=mean, sd=0.0, p=1.0, n_permutations=0, kind=kind)
    sd = sqrt(variance) / n
    p = 2 * float(ndtr(-abs(float(given_U.mean()) - mean) / sd))
    return NoiseFloor(mean=mean, sd=sd, p=p, n_permutations=0, kind=NullMethod.LABELS_NORMAL)


def _agreeing(counts_UV: Floats) -> float | None:
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
