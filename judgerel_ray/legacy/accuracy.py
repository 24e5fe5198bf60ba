"""Accuracies: of the responses judged, and of a model as its judge scores it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.legacy.spread import FiveNumbers, five_numbers

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


def head_to_tail_accuracy(correct_RQ: ArrayLike) -> AccuracyEstimate:  # noqa: N803
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
    per_question, per_replication = _means(correct, axis=0), _means(correct, axis=1)
    return AccuracyEstimate(
        value=float(per_question.mean()) if per_question.size else None,
        monte_carlo_se=_standard_error(per_replication),
        sampling_se=_standard_error(per_question),
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
            rows.append([_chosen(text, asked) for text in asked.responses])
        elif latest is None:
            raise ValueError("response_accuracy: as_coded needs a multiple-choice question first")
        else:
            stale += 1
            rows.append([asked.gold in text for text in latest.responses])
    return rows, stale


def _chosen(text: str, asked: AnsweredQuestion) -> bool:
    """Whether the script takes a response to choose the gold option."""
    sentences = [part + "." for part in text.split(".")[:-1] if asked.gold in part]
    repeated = [asked.question[-_TAIL:] in sentence for sentence in sentences]
    return not all(repeated) and not any("incorrect" in sentence for sentence in sentences)


def _means(values: NDArray[np.float64], *, axis: int) -> NDArray[np.float64]:
    """Means along an axis over what is not missing; all-missing ones are left out."""
    given = ~np.isnan(values)
    counts = given.sum(axis=axis)
    sums = np.where(given, values, 0.0).sum(axis=axis)
    means: NDArray[np.float64] = sums[counts > 0] / counts[counts > 0]
    return means


def _standard_error(means: NDArray[np.float64]) -> float | None:
    """Standard error of the mean of independent values; None of fewer than two."""
    return float(means.std(ddof=1)) / math.sqrt(means.size) if means.size > 1 else None
