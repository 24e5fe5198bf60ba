"""Two judges, temperatures or runs on the same questions: the difference of a coefficient.

Numbers that are no agreement beyond chance (shifts, correlations) have their intervals and
differences here, too.

Shape suffixes: U = units, V = distinct values, C = clusters (questions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import atanh, isfinite, sqrt, tanh
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.stats.arguments import check_choice, check_fraction, clusters_of
from judgerel_ray.stats.counts import CountStatistic, Floats, QuestionTerms
from judgerel_ray.stats.intervals.ends import jackknife_error, t_quantile
from judgerel_ray.stats.intervals.interval import Interval, by_cluster, flagged
from judgerel_ray.stats.intervals.judge_differences import DRAWS, swap_test
from judgerel_ray.stats.intervals.question_statistic import QuestionStatistic, count_terms, whole

_FEW = 10
_CARRYING = 5
_SHARE = 0.1  # of the other side's variance: with less, a side does not decide the difference
_NEARLY_ALL = 0.9  # of a side's variance
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A paired difference, second minus first.

    Attributes
    ----------
    name : str
        Name of the coefficient.
    first, second : float or None
        Its values on the common questions.
    value : float or None
        Second minus first; None where `undefined` is set.
    standard_error, low, high : float or None
        By question; of the swap test where that was made, else by leaving questions out, with
        Student's t.
    p : float or None
        Two-sided, of no difference.
    p_equivalence : float or None
        Of a difference of `margin` or more either way (two one-sided tests); small is equivalent.
    p_beyond : float or None
        Of a difference of at most `margin`, two-sided: below 0.05 where the whole 95 %
        confidence interval lies beyond it.
    margin : float or None
        Largest difference that does not matter.
    n_questions : int
        Common questions that take part.
    n_differing : int
        Of them, those in which the sides differ: the only ones that a swap test rests on.
    few_informative : bool
        Whether fewer than ten questions differ, or either side rests on few informative questions:
        by its counts (:class:`judgerel_ray.stats.Interval`), or as fewer than five questions have
        nine tenths of its variance (a side of a tenth of the other's variance left out).
    method : str
        Where p and the interval are from, in words.
    undefined : str or None
        "no_common_questions", "undefined_first", "undefined_second", "too_few_units",
        "depends_on_one_question"; a value stands without interval in "no_spread", where all
        questions say the same, and in "too_few_informative", where exchanging questions leaves a
        side without a value too often.
    """

    name: str
    first: float | None = None
    second: float | None = None
    value: float | None = None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_equivalence: float | None = None
    p_beyond: float | None = None
    margin: float | None = None
    n_questions: int = 0
    n_differing: int = 0
    few_informative: bool = False
    method: str = ""
    undefined: str | None = None


def paired_difference(
    first_UV: ArrayLike,
    second_UV: ArrayLike,
    statistic: CountStatistic,
    *,
    first_clusters_U: ArrayLike | None = None,
    second_clusters_U: ArrayLike | None = None,
    margin: float | None = None,
    confidence: float = 0.95,
    draws: int = DRAWS,
) -> Difference:
    """Compare a coefficient of two sets of counts on their common questions, by a swap test.

    Parameters
    ----------
    first_UV, second_UV : array-like of int, shapes (n_units, n_values)
        How often each unit received each value; the columns mean the same in both.
    statistic : CountStatistic
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`.
    first_clusters_U, second_clusters_U : array-like, shapes (n_units,), optional
        The question of each unit, by one coding; by default the row. Questions that take part in
        only one of the two are left out.
    margin, confidence, draws
        As of :func:`terms_difference`.

    Raises
    ------
    ValueError
        If the counts are no tables of whole numbers with the same columns, there is not one
        cluster a unit, the margin is not above 0, or the confidence is not in (0, 1).

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> first = [[2, 0], [1, 1], [0, 2], [1, 1]]
    >>> found = paired_difference(first, [[2, 0], [2, 0], [0, 2], [1, 1]], agreement)
    >>> found.first, found.second, found.value, found.p
    (0.5, 0.75, 0.25, 1.0)
    """
    counts = [statistic.checked(one, function="paired_difference") for one in (first_UV, second_UV)]
    columns = [one.shape[1] for one in counts]
    if columns[0] != columns[1]:
        raise ValueError(
            f"paired_difference: counts must have the same columns, got {columns[0]}, {columns[1]}"
        )
    questions = [
        clusters_of(clusters, len(one), function="paired_difference", argument="clusters")
        for one, clusters in zip(counts, (first_clusters_U, second_clusters_U), strict=True)
    ]
    sides = [
        count_terms(one, statistic, questions_U=named)
        for one, named in zip(counts, questions, strict=True)
    ]
    common = np.intersect1d(sides[0].questions_C, sides[1].questions_C)
    few = any(
        _few_informative(one[kept], named[kept], statistic)
        for one, named in zip(counts, questions, strict=True)
        if (kept := np.isin(named, common)).any()
    )
    return terms_difference(
        *sides, margin=margin, confidence=confidence, few_informative=few, draws=draws
    )


def terms_difference(
    first: QuestionTerms,
    second: QuestionTerms,
    *,
    margin: float | None = None,
    confidence: float = 0.95,
    few_informative: bool = False,
    draws: int = DRAWS,
) -> Difference:
    """Compare a number that rests on questions between two sides, on their common questions.

    Both sides of a question are exchanged at random (:func:`.swap_test`), so that
    what makes a question hard for either does not count as evidence of a difference. The interval
    is that of the same test: it excludes 0 exactly where p is below 1 - `confidence`.

    Parameters
    ----------
    first, second : QuestionTerms
        The number on either side; terms and value mean the same in both.
    margin : float, optional
        Largest difference that does not matter, above 0; asks whether the two are equivalent.
    confidence : float
        Of the interval, in (0, 1).
    few_informative : bool
        Whether either side is known to rest on few questions.
    draws : int
        Random exchanges at most.

    Raises
    ------
    ValueError
        If the margin is not above 0, or the confidence is not in (0, 1).

    Examples
    --------
    >>> one, two = (QuestionTerms(name="mean", questions_C=np.arange(8),
    ...                           terms_CT=np.array([[x, 1.0] for x in numbers]),
    ...                           value=lambda t: t[..., 0] / t[..., 1])
    ...             for numbers in ([1, 2, 3, 4, 5, 6, 7, 8], [2, 4, 4, 6, 7, 7, 7, 9]))
    >>> found = terms_difference(one, two)
    >>> found.value, found.p, found.n_differing, found.method
    (1.25, 0.015625, 7, 'all 2^7 exchanges')
    """
    name = "terms_difference"
    check_fraction(name, confidence=confidence)
    if margin is not None and not margin > 0:
        raise ValueError(f"{name}: margin must be above 0, got {margin!r}")
    common = np.intersect1d(first.questions_C, second.questions_C)
    n = common.size
    bare = Difference(name=first.name, margin=margin, n_questions=n)
    if not n:
        return replace(bare, undefined="no_common_questions")
    sides = [_common_questions(one, common) for one in (first, second)]
    values = [whole(one) for one in sides]
    for value, side in zip(values, ("first", "second"), strict=True):
        if np.isnan(value):
            return replace(bare, undefined=f"undefined_{side}")
    without = [one.left_out() for one in sides]
    left_out_C = without[1] - without[0]
    undefined = None
    if n < 2:
        undefined = "too_few_units"
    elif np.isnan(left_out_C).any():
        undefined = "depends_on_one_question"
    elif abs(values[1] - values[0]) < _EQUAL and np.ptp(left_out_C) < _EQUAL:
        undefined = "no_spread"
    known = replace(
        bare, first=values[0], second=values[1], value=values[1] - values[0], undefined=undefined,
        few_informative=few_informative or _few_carry(without),
    )  # fmt: skip
    return known if undefined else _difference_with_exchanges(known, sides, confidence, draws)


def _difference_with_exchanges(
    known: Difference, sides: Sequence[QuestionTerms], confidence: float, draws: int
) -> Difference:
    """The difference with what exchanges of its sides tell."""
    found = swap_test(sides[0].terms_CT, sides[1].terms_CT, sides[0].value, draws=draws)
    reach, apart = found.reach(confidence), abs(found.value)
    finite = isfinite(reach)
    within = beyond = None
    if known.margin is not None and finite:
        # Distances are symmetric about 0: one side of them is half of both.
        half = found.p(apart - known.margin) / 2
        within = half if apart < known.margin else 1 - half
        beyond = found.p(max(0.0, apart - known.margin))
    p = found.p(found.value)
    low, high = found.value - reach, found.value + reach
    if p >= 1 - confidence:  # but for rounding they hold 0 already
        low, high = min(low, 0.0), max(high, 0.0)
    return replace(
        known,
        standard_error=found.error,
        low=low if finite else None,
        high=high if finite else None,
        p=p,
        p_equivalence=within,
        p_beyond=beyond,
        n_differing=found.n_differing,
        few_informative=known.few_informative or found.n_differing < _FEW,
        method=found.method,
        undefined=None if finite else "too_few_informative",
    )


def _few_carry(without: Sequence[Floats]) -> bool:
    """Whether few questions carry either side; one whose spread decides nothing is left out."""
    squares = [(left_out_C - left_out_C.mean()) ** 2 for left_out_C in without]
    largest = max(float(one.max()) for one in squares)
    if sqrt(largest) < _EQUAL:  # all questions have the same influence
        return False
    spread = max(float(one.sum()) for one in squares)
    return any(_n_carrying(one) < _CARRYING for one in squares if one.sum() >= _SHARE * spread)


def _n_carrying(squares_C: Floats) -> int:
    """How many questions, those of the most influence first, have nearly all of it.

    Sums of fourth powers would not do: of normal influences they count a third of the questions.
    """
    shares_C = np.cumsum(np.sort(squares_C)[::-1]) / squares_C.sum()
    return int(np.searchsorted(shares_C, _NEARLY_ALL)) + 1


def _common_questions(terms: QuestionTerms, common: NDArray[np.generic]) -> QuestionTerms:
    """The common questions, in their order."""
    order = np.argsort(terms.questions_C, kind="stable")
    place = order[np.searchsorted(terms.questions_C, common, sorter=order)]
    return replace(terms, questions_C=common, terms_CT=terms.terms_CT[place])


def _few_informative(
    counts: Floats, questions: NDArray[np.generic], statistic: CountStatistic
) -> bool:
    """Whether a side rests on few informative questions."""
    number = np.unique(questions, return_inverse=True)[1]
    return flagged(Interval(), *by_cluster(counts, number, statistic), statistic).few_informative


IntervalScale = Literal["plain", "fisher"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One number with its interval, or why there is none.

    Attributes
    ----------
    name : str
        What it is.
    unit : str
        What 1 is.
    estimator : str
        How it was computed, in words.
    n_units, n_questions : int
        Items and questions that take part.
    value : float or None
        None where `undefined` is set.
    low, high : float or None
        Of the interval by leaving questions out; None where `no_interval` is set.
    method : str
        How the interval was made, in words.
    heuristic : bool
        Whether it rests on a formula that holds for other data than these.
    few_questions : bool
        Whether fewer than ten questions carry the interval: it may then cover less than it says.
    undefined, no_interval : str or None
        Why there is no value, and why there is no interval.
    """

    name: str
    unit: str
    estimator: str
    n_units: int
    n_questions: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    heuristic: bool = False
    few_questions: bool = False
    undefined: str | None = None
    no_interval: str | None = None


def estimate_by_question(
    statistic: QuestionStatistic, *, undefined: str | None, unit: str, estimator: str, n_units: int,
    name: str | None = None, heuristic: bool = False, scale: IntervalScale = "plain",
    confidence: float = 0.95,
) -> Estimate:  # fmt: skip
    """Give a number with its interval, or the reasons why there is none."""
    check_fraction(name or statistic.name, confidence=confidence)
    ends = Interval(undefined="undefined", n_questions=statistic.questions_C.size)
    if undefined is None:
        ends = left_out_interval(statistic, scale=scale, confidence=confidence)
    return Estimate(
        name=name or statistic.name, value=None if undefined else whole(statistic), low=ends.low,
        high=ends.high, unit=unit, estimator=estimator, method=ends.method, heuristic=heuristic,
        few_questions=ends.few_informative, n_units=n_units, n_questions=ends.n_questions,
        undefined=undefined, no_interval=ends.undefined,
    )  # fmt: skip


def left_out_interval(
    statistic: QuestionStatistic, *, scale: IntervalScale = "plain", confidence: float = 0.95
) -> Interval:
    """Compute an interval by leaving one question out at a time, with Student's t."""
    check_fraction("left_out_interval", confidence=confidence)
    check_choice("left_out_interval", ("plain", "fisher"), scale=scale)
    value, left_out_C = whole(statistic), statistic.left_out()
    n = left_out_C.size
    undefined = _why_no_paired_interval(value, left_out_C)
    if undefined is not None:
        return Interval(undefined=undefined, n_questions=n)
    half = t_quantile(n - 1, confidence) * jackknife_error(left_out_C)
    if half < 1e-9 or (scale == "fisher" and abs(value) >= 1 - 1e-12):
        return Interval(undefined="no_spread", n_questions=n)
    low, high, kind = value - half, value + half, IntervalMethod.JACKKNIFE
    if scale == "fisher":
        z, reach = atanh(value), half / (1 - value**2)
        low, high, kind = tanh(z - reach), tanh(z + reach), IntervalMethod.JACKKNIFE_FISHER
    return Interval(low=low, high=high, kind=kind, n_questions=n, few_informative=n < _FEW)


def left_out_difference(
    name: str, first: QuestionStatistic, second: QuestionStatistic, *, confidence: float = 0.95
) -> Difference:
    """Compare two numbers of the same questions, second minus first, leaving both out together."""
    check_fraction("left_out_difference", confidence=confidence)
    if not np.array_equal(first.questions_C, second.questions_C):
        raise ValueError("left_out_difference: both numbers must rest on the same questions")
    values, n = (whole(first), whole(second)), first.questions_C.size
    for value, side in zip(values, ("first", "second"), strict=True):
        if np.isnan(value):
            return Difference(name=name, undefined=f"undefined_{side}", n_questions=n)
    left_out_C = second.left_out() - first.left_out()
    value = values[1] - values[0]
    undefined = _why_no_paired_interval(value, left_out_C)
    error = 0.0 if undefined else jackknife_error(left_out_C)
    if undefined is None and error < 1e-12:
        undefined = "no_spread"
    known = Difference(
        name=name, first=values[0], second=values[1], value=value, undefined=undefined,
        n_questions=n,
    )  # fmt: skip
    if undefined:
        return known
    from scipy.special import stdtr

    half = t_quantile(n - 1, confidence) * error
    return replace(
        known, standard_error=error, low=value - half, high=value + half,
        p=2 * float(stdtr(n - 1, -abs(value) / error)),
    )  # fmt: skip


def _why_no_paired_interval(value: float, left_out_C: Floats) -> str | None:
    """Why there is no interval, before its width is known."""
    if np.isnan(value):
        return "undefined"
    if left_out_C.size < 2:
        return "too_few_units"
    return "depends_on_one_question" if np.isnan(left_out_C).any() else None
