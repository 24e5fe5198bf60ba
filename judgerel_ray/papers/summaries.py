"""Published summaries: agreement between judges by replication, five numbers, bands, accuracies.

Accuracies are those of the responses judged, and of a model as its judge scores it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.papers.estimator import LETTERS

NonResponse = Literal["agrees", "never_agrees", "left_out"]
_ABSENCES: tuple[NonResponse, ...] = ("agrees", "never_agrees", "left_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class InterRaterSpread:
    """Agreement between judges in each replication, and its spread over replications.

    Attributes
    ----------
    agreement_R : ndarray of float, shape (n_replications,)
        Share of agreeing pairs of judges over questions; NaN where no pair can be compared.
    summary : FiveNumbers or None
        Of `agreement_R`.
    non_response : str
        What two judges without a letter count as.
    """

    agreement_R: NDArray[np.float64]  # noqa: N815  a shape, not a case
    summary: FiveNumbers | None
    non_response: NonResponse


def inter_rater_spread(
    codes_JRQ: ArrayLike,
    *,
    non_response: NonResponse = "agrees",
) -> InterRaterSpread:
    """Compute how agreement between judges varies over replications (Table 1 of [1]_).

    Parameters
    ----------
    codes_JRQ : array-like of float, shape (n_judges, n_replications, n_questions)
        Codes of `codes_from_verdicts`; NaN is missing, and its pairs are left out.
    non_response : {"agrees", "never_agrees", "left_out"}
        What a pair of judges counts as where at least one gave no single letter: ``agrees`` if
        their codes are equal (the authors' script), never, or left out of the share.

    Returns
    -------
    InterRaterSpread

    Raises
    ------
    ValueError
        If there are fewer than two judges, not three axes, or `non_response` is unknown.

    Notes
    -----
    The printed Table 1 (.167 .395 .433 .469 1.000) cannot be reproduced: the script that the
    authors shipped gives .370 .432 .457 .469 .556 on the judgments that they shipped (BBH,
    temperature 0.25). Two thirds of it is agreement on giving no answer: with ``never_agrees``
    the numbers are .086 .136 .148 .173 .198.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    Two judges, two replications, two questions; they agree on B, and on no answer:

    >>> codes = [[[2, 6], [2, 1]], [[2, 6], [3, 1]]]
    >>> inter_rater_spread(codes).agreement_R.tolist()
    [1.0, 0.5]
    >>> inter_rater_spread(codes, non_response="never_agrees").agreement_R.tolist()
    [0.5, 0.5]
    """
    codes = np.asarray(codes_JRQ, dtype=np.float64)
    if codes.ndim != 3 or len(codes) < 2:
        raise ValueError(
            "inter_rater_spread: codes must be judges x replications x questions with at least "
            f"two judges, got shape {codes.shape}"
        )
    if non_response not in _ABSENCES:
        raise ValueError(
            f"inter_rater_spread: non_response must be one of {', '.join(_ABSENCES)}, "
            f"got {non_response!r}"
        )
    first, second = np.array([*combinations(range(len(codes)), 2)]).T
    answered = np.isin(codes, list(LETTERS.values()))
    both = answered[first] & answered[second]
    compared = ~np.isnan(codes[first]) & ~np.isnan(codes[second])
    agrees = codes[first] == codes[second]
    if non_response != "agrees":
        agrees &= both
    if non_response == "left_out":
        compared &= both
    pairs = compared.sum(axis=(0, 2))
    agreement = np.full(codes.shape[1], np.nan)
    np.divide((agrees & compared).sum(axis=(0, 2)), pairs, out=agreement, where=pairs > 0)
    return InterRaterSpread(
        agreement_R=agreement, summary=five_numbers(agreement), non_response=non_response
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveNumbers:
    """Minimum, quartiles and maximum; iterates in that order.

    >>> [*FiveNumbers(minimum=0, q1=1, median=2, q3=3, maximum=4, n=5)]
    [0, 1, 2, 3, 4]
    """

    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float
    n: int

    def __iter__(self) -> Iterator[float]:
        yield from (self.minimum, self.q1, self.median, self.q3, self.maximum)


def five_numbers(values_N: ArrayLike) -> FiveNumbers | None:
    """Summarise numbers by minimum, quartiles (linear between order statistics) and maximum.

    Parameters
    ----------
    values_N : array-like of float, shape (n,)
        Numbers; NaN is left out.

    Returns
    -------
    FiveNumbers or None
        None where there is no number.

    Examples
    --------
    >>> [*five_numbers([4, 1, 2, 3])]
    [1.0, 1.75, 2.5, 3.25, 4.0]
    """
    values = np.asarray(values_N, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if not values.size:
        return None
    numbers = np.percentile(values, [0, 25, 50, 75, 100]).tolist()
    minimum, q1, median, q3, maximum = numbers
    return FiveNumbers(minimum=minimum, q1=q1, median=median, q3=q3, maximum=maximum, n=values.size)


BANDS: tuple[tuple[str, float], ...] = (
    ("Unacceptable", 0.5),
    ("Poor", 0.6),
    ("Questionable", 0.7),
    ("Acceptable", 0.8),
    ("Good", 0.9),
    ("Excellent", math.inf),
)
"""Bands from the lowest, each with its upper end. The source leaves the ends themselves to no band;
here an end belongs to the band below it."""


@dataclass(frozen=True, slots=True)
class VerbalBand:
    """The band of an interval, or the bands it spans.

    Attributes
    ----------
    band : str or None
        The one band that holds the whole confidence interval; None where there is no such band.
    spans : tuple of str
        All bands the interval touches, from the lowest; empty where there is no interval.
    """

    band: str | None
    spans: tuple[str, ...]

    def __str__(self) -> str:
        """Say it in words."""
        if self.band:
            return self.band
        if not self.spans:
            return "no band: there is no interval"
        return f"no one band: the interval spans {self.spans[0]} to {self.spans[-1]}"


def verbal_band(low: float | None, high: float | None) -> VerbalBand:
    """Name the band of Table 3 of [1]_ that holds a whole interval.

    A point says nothing here: with few questions, intervals of reliability span several bands.

    Parameters
    ----------
    low, high : float or None
        Ends of the interval of a coefficient; None where it has none.

    Returns
    -------
    VerbalBand

    Raises
    ------
    ValueError
        If an end is NaN, `low` is above `high`, or only one of them is None.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    >>> print(verbal_band(0.81, 0.88))
    Good
    >>> print(verbal_band(0.62, 0.84))
    no one band: the interval spans Questionable to Good
    >>> print(verbal_band(None, None))
    no band: there is no interval
    """
    if low is None and high is None:
        return VerbalBand(None, ())
    if low is None or high is None or math.isnan(low) or math.isnan(high) or low > high:
        raise ValueError(f"verbal_band: expected low <= high or no interval, got {low} and {high}")
    first, last = (_paper_band_index(end) for end in (low, high))
    spans = tuple(name for name, _ in BANDS[first : last + 1])
    return VerbalBand(spans[0] if len(spans) == 1 else None, spans)


def _paper_band_index(end: float) -> int:
    """Index of the band a number lies in."""
    return next(place for place, (_, top) in enumerate(BANDS) if end <= top)


ScoringRule = Literal["as_coded", "whole_answer"]
_RULES: tuple[ScoringRule, ...] = ("as_coded", "whole_answer")
_MULTIPLE_CHOICE = re.compile(r"\(\w\)")
_TAIL = 75  # characters of a question by which the script knows it again in a response


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """A question with its gold answer and the responses of several models, in one order."""

    question: str
    gold: str
    responses: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseAccuracy:
    """Which responses are right, by a rule that is stated.

    Attributes
    ----------
    correct_QM : ndarray of bool, shape (n_questions, n_models)
        Whether each response is right.
    summary : FiveNumbers or None
        Of the number of right responses a question.
    share : float or None
        Right responses among all.
    rule : str
        The rule, in words.
    n_stale : int
        Questions scored against the responses to another question.
    """

    correct_QM: NDArray[np.bool_]  # noqa: N815  a shape, not a case
    summary: FiveNumbers | None
    share: float | None
    rule: str
    n_stale: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyEstimate:
    """A share with both of its errors.

    Attributes
    ----------
    value : float or None
        Mean over questions; None where there is none.
    monte_carlo_se : float or None
        Standard error from asking the judge again about the same questions: all that [1]_ prints.
    sampling_se : float or None
        Standard error from having asked these questions and not others; it contains the noise of
        the judge, and is the error of a statement about the model.
    n_questions, n_replications : int
        What it rests on.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.
    """

    value: float | None
    monte_carlo_se: float | None
    sampling_se: float | None
    n_questions: int
    n_replications: int


def response_accuracy(
    questions: Sequence[AnsweredQuestion],
    *,
    benchmark: Literal["bbh", "squad"],
    rule: ScoringRule,
) -> ResponseAccuracy:
    """Score the responses put before the judges (Table 4 of [1]_).

    Parameters
    ----------
    questions : sequence of AnsweredQuestion
        In the order of the authors' file of sampled questions, which ``as_coded`` depends on.
    benchmark : {"bbh", "squad"}
        Which of the two scripts ``as_coded`` follows.
    rule : {"as_coded", "whole_answer"}
        ``as_coded``, SQuAD: the *first character* of the gold answer occurs in the response.
        ``as_coded``, BBH: a multiple-choice gold such as "(A)" occurs in a sentence of the
        response that ends in a full stop, no such sentence says "incorrect", and one of them does
        not repeat the question; any other gold occurs in the responses to the *last
        multiple-choice question before*.
        ``whole_answer``: the gold occurs in the question's own response as a whole word or
        phrase, in any case.

    Returns
    -------
    ResponseAccuracy

    Raises
    ------
    ValueError
        If `rule` or `benchmark` is unknown, numbers of responses differ, or ``as_coded`` meets
        another BBH question before the first multiple-choice one.

    Notes
    -----
    By ``whole_answer`` the published five numbers of SQuAD, 3 5 5 5 5, are 0 1 3 4.25 5, and
    those of BBH, 0 0 0 1 2, are 0 0 1 2 5: neither benchmark is easy.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    >>> asked = AnsweredQuestion(question="Who?", gold="Ada", responses=("Alan did.", "Ada did."))
    >>> [response_accuracy([asked], benchmark="squad", rule=rule).share
    ...  for rule in ("as_coded", "whole_answer")]
    [1.0, 0.5]
    """
    if rule not in _RULES or benchmark not in ("bbh", "squad"):
        raise ValueError(
            f"response_accuracy: expected benchmark bbh or squad and rule {' or '.join(_RULES)}, "
            f"got {benchmark!r} and {rule!r}"
        )
    if len({len(asked.responses) for asked in questions}) > 1:
        raise ValueError("response_accuracy: every question must have as many responses")
    stale = 0
    if rule == "whole_answer":
        rows = [_whole_answer(asked) for asked in questions]
        words = "the whole gold answer occurs in the question's own response, in any case"
    elif benchmark == "squad":
        rows = [[asked.gold[:1] in text for text in asked.responses] for asked in questions]
        words = "the first character of the gold answer occurs in the response"
    else:
        rows, stale = _bbh_as_coded(questions)
        words = "the gold answer occurs in the response to the last multiple-choice question"
    correct = np.array(rows, dtype=np.bool_).reshape(len(questions), -1 if questions else 0)
    return ResponseAccuracy(
        correct_QM=correct,
        summary=five_numbers(correct.sum(axis=1)),
        share=float(correct.mean()) if correct.size else None,
        rule=words,
        n_stale=stale,
    )


def head_to_tail_accuracy(correct_RQ: ArrayLike) -> AccuracyEstimate:
    """Estimate a model's accuracy as its judge scores it (A_LM, Table 5 of [1]_).

    Parameters
    ----------
    correct_RQ : array-like of float, shape (n_replications, n_questions)
        1 where the judge called the answer correct, else 0 (by the authors' rule also where it gave
        no verdict); NaN is missing.

    Returns
    -------
    AccuracyEstimate

    Raises
    ------
    ValueError
        If there are not two axes, or a value is neither 0, 1 nor NaN.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    A judge that never wavers has no Monte-Carlo error, and says little from four questions:

    >>> found = head_to_tail_accuracy([[1, 0, 0, 0], [1, 0, 0, 0]])
    >>> found.value, found.monte_carlo_se, found.sampling_se
    (0.25, 0.0, 0.25)
    """
    correct = np.asarray(correct_RQ, dtype=np.float64)
    if correct.ndim != 2:
        raise ValueError(
            f"head_to_tail_accuracy: expected replications x questions, got shape {correct.shape}"
        )
    if not np.isin(correct[~np.isnan(correct)], (0.0, 1.0)).all():
        raise ValueError("head_to_tail_accuracy: values must be 0, 1 or NaN")
    per_question, per_replication = _paper_row_means(correct.T), _paper_row_means(correct)
    return AccuracyEstimate(
        value=float(per_question.mean()) if per_question.size else None,
        monte_carlo_se=_paper_standard_error(per_replication),
        sampling_se=_paper_standard_error(per_question),
        n_questions=per_question.size,
        n_replications=per_replication.size,
    )


def _whole_answer(asked: AnsweredQuestion) -> list[bool]:
    """Whether the gold answer stands in each response by itself."""
    gold = re.compile(rf"(?<!\w){re.escape(asked.gold)}(?!\w)", re.IGNORECASE)
    return [gold.search(text) is not None for text in asked.responses]


def _bbh_as_coded(questions: Sequence[AnsweredQuestion]) -> tuple[list[list[bool]], int]:
    """Scores by the authors' script, and how many questions it scores by stale responses."""
    rows: list[list[bool]] = []
    latest: AnsweredQuestion | None = None
    stale = 0
    for asked in questions:
        if _MULTIPLE_CHOICE.fullmatch(asked.gold):
            latest = asked
            rows.append([_chooses_gold(text, asked) for text in asked.responses])
        elif latest is None:
            raise ValueError("response_accuracy: as_coded needs a multiple-choice question first")
        else:
            stale += 1
            rows.append([asked.gold in text for text in latest.responses])
    return rows, stale


def _chooses_gold(text: str, asked: AnsweredQuestion) -> bool:
    """Whether the script takes a response to choose the gold option."""
    sentences = [part + "." for part in text.split(".")[:-1] if asked.gold in part]
    repeated = [asked.question[-_TAIL:] in sentence for sentence in sentences]
    return not all(repeated) and not any("incorrect" in sentence for sentence in sentences)


def _paper_row_means(values_NM: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of rows over what is not missing; rows without anything are left out."""
    means: NDArray[np.float64] = np.nanmean(values_NM[~np.isnan(values_NM).all(axis=1)], axis=1)
    return means


def _paper_standard_error(means: NDArray[np.float64]) -> float | None:
    """Standard error of the mean of independent values; None of fewer than two."""
    return float(means.std(ddof=1)) / math.sqrt(means.size) if means.size > 1 else None
