"""Intervals and differences of numbers that are no agreement beyond chance: shifts, correlations.

Shape suffixes: C = clusters (questions).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, sqrt, tanh
from typing import Literal

import numpy as np

from judgerel_ray.stats.interval import Interval
from judgerel_ray.stats.paired import Difference
from judgerel_ray.stats.precision import t_quantile
from judgerel_ray.stats.question_statistic import QuestionStatistic, whole
from judgerel_ray.stats.statistic import Floats

IntervalScale = Literal["plain", "fisher"]
_FEW = 10


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


def estimate(
    statistic: QuestionStatistic, *, undefined: str | None, unit: str, estimator: str, n_units: int,
    name: str | None = None, heuristic: bool = False, scale: IntervalScale = "plain",
    confidence: float = 0.95,
) -> Estimate:  # fmt: skip
    """Give a number with its interval, or the reasons why there is none.

    Examples
    --------
    >>> from judgerel_ray.stats.question_statistic import QuestionTerms
    >>> one = QuestionTerms(name="sum", questions_C=np.arange(1), terms_CT=np.ones((1, 1)),
    ...                     value=lambda t: t[..., 0])
    >>> found = estimate(one, undefined=None, unit="points", estimator="sum", n_units=1)
    >>> found.value, found.low, found.no_interval
    (1.0, None, 'too_few_units')
    """
    check_confidence(confidence, function=name or statistic.name)
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
    """Compute an interval by leaving one question out at a time, with Student's t.

    Parameters
    ----------
    statistic : QuestionStatistic
        The number.
    scale : {"plain", "fisher"}
        Its own scale, unbounded; or Fisher's z of a correlation, whose ends stay within (-1, 1).
    confidence : float
        Coverage asked for, in (0, 1).

    Returns
    -------
    Interval
        Or why there is none, as of :func:`judgerel_ray.stats.jackknife_interval`.

    Raises
    ------
    ValueError
        If the confidence is not in (0, 1) or the scale is unknown.

    Examples
    --------
    >>> from judgerel_ray.stats.question_statistic import QuestionTerms
    >>> mean = QuestionTerms(name="mean", questions_C=np.arange(4),
    ...                      terms_CT=np.array([[1.0, 1], [3, 1], [2, 1], [6, 1]]),
    ...                      value=lambda t: t[..., 0] / t[..., 1])
    >>> found = left_out_interval(mean)
    >>> round(found.low, 3), round(found.high, 3), found.method
    (-0.437, 6.437, 'jackknife-t over 4 questions')
    """
    check_confidence(confidence, function="left_out_interval")
    if scale not in ("plain", "fisher"):
        raise ValueError(f"left_out_interval: scale must be plain or fisher, got {scale!r}")
    value, left_out_C = whole(statistic), statistic.left_out()
    n = left_out_C.size
    undefined = _why_none(value, left_out_C)
    if undefined is not None:
        return Interval(undefined=undefined, n_questions=n)
    half = t_quantile(n - 1, confidence) * jackknife_error(left_out_C)
    if half < 1e-9 or (scale == "fisher" and abs(value) >= 1 - 1e-12):
        return Interval(undefined="no_spread", n_questions=n)
    low, high, words = value - half, value + half, f"jackknife-t over {n} questions"
    if scale == "fisher":
        z, reach = atanh(value), half / (1 - value**2)
        low, high, words = tanh(z - reach), tanh(z + reach), f"{words}, Fisher's z"
    return Interval(low=low, high=high, method=words, n_questions=n, few_informative=n < _FEW)


def left_out_difference(
    name: str, first: QuestionStatistic, second: QuestionStatistic, *, confidence: float = 0.95
) -> Difference:
    """Compare two numbers of the same questions, second minus first, leaving both out together.

    Parameters
    ----------
    name : str
        What is compared.
    first, second : QuestionStatistic
        The two numbers; they must rest on the same questions in the same order.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Difference
        Or why there is none.

    Raises
    ------
    ValueError
        If the questions differ, or the confidence is not in (0, 1).

    Examples
    --------
    >>> from judgerel_ray.stats.question_statistic import QuestionTerms
    >>> one, two = (QuestionTerms(name="mean", questions_C=np.arange(3),
    ...                           terms_CT=np.array([[x, 1.0] for x in numbers]),
    ...                           value=lambda t: t[..., 0] / t[..., 1])
    ...             for numbers in ([1, 2, 3], [2, 4, 3]))
    >>> found = left_out_difference("mean", one, two)
    >>> found.value, round(found.standard_error, 4), round(found.p, 4)
    (1.0, 0.5774, 0.2254)
    """
    check_confidence(confidence, function="left_out_difference")
    if not np.array_equal(first.questions_C, second.questions_C):
        raise ValueError("left_out_difference: both numbers must rest on the same questions")
    values, n = (whole(first), whole(second)), first.questions_C.size
    for value, side in zip(values, ("first", "second"), strict=True):
        if np.isnan(value):
            return Difference(name=name, undefined=f"undefined_{side}", n_questions=n)
    left_out_C = second.left_out() - first.left_out()
    value = values[1] - values[0]
    undefined = _why_none(value, left_out_C)
    error = 0.0 if undefined else jackknife_error(left_out_C)
    if undefined is None and error < 1e-12:
        undefined = "no_spread"
    if undefined is not None:
        return Difference(
            name=name, first=values[0], second=values[1], value=value, undefined=undefined,
            n_questions=n,
        )  # fmt: skip
    from scipy.special import stdtr

    half = t_quantile(n - 1, confidence) * error
    return Difference(
        name=name, first=values[0], second=values[1], value=value, standard_error=error,
        low=value - half, high=value + half, p=2 * float(stdtr(n - 1, -abs(value) / error)),
        n_questions=n,
    )  # fmt: skip


def jackknife_error(left_out_C: Floats) -> float:
    """Compute the standard error from values without each question in turn.

    Examples
    --------
    The mean of 1, 2 and 3: its error is sqrt(1 / 3).

    >>> round(jackknife_error(np.array([2.5, 2.0, 1.5])) ** 2, 6)
    0.333333
    """
    n = left_out_C.size
    return sqrt((n - 1) / n * float(((left_out_C - left_out_C.mean()) ** 2).sum()))


def check_confidence(confidence: float, *, function: str) -> None:
    """Refuse a confidence that is none (ValueError).

    Examples
    --------
    >>> check_confidence(0.95, function="left_out_interval")
    """
    if not 0 < confidence < 1:
        raise ValueError(f"{function}: confidence must be between 0 and 1, got {confidence!r}")


def _why_none(value: float, left_out_C: Floats) -> str | None:
    """Why there is no interval, before its width is known."""
    if np.isnan(value):
        return "undefined"
    if left_out_C.size < 2:
        return "too_few_units"
    return "depends_on_one_question" if np.isnan(left_out_C).any() else None
