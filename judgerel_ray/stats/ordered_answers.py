"""Answers of a system from the surest on, resampled by question.

Shape suffixes: N = judgments, B = resamples, C = questions, T = distinct scores, G = shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.discrimination import checked_scores
from judgerel_ray.stats.statistic import Floats

_FEW = 64  # distinct scores of which sums by question are kept
_CELLS = 4_000_000  # weights held at once: 32 MB
REACHED = 1e-9
"""How far a share may exceed what can be accepted, for rounding alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Answers of one system: the surer, the sooner accepted.

    Attributes
    ----------
    scores_N : ndarray of float
        NaN is never accepted.
    correct_N : ndarray of bool
        Whether each is right.
    questions_N : ndarray
        The question of each; by these two systems are joined.
    """

    scores_N: Floats  # noqa: N815  a shape, not a case
    correct_N: NDArray[np.bool_]  # noqa: N815
    questions_N: NDArray[np.generic]  # noqa: N815


def answered(
    scores_N: ArrayLike, correct_N: ArrayLike, questions_N: ArrayLike | None = None
) -> Answered:
    """Take answers of a system.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_judgments,)
        Higher is surer; NaN is never accepted.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each is right.
    questions_N : array-like, shape (n_judgments,), optional
        The question of each; by default each is its own.

    Returns
    -------
    Answered

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> answered([0.9, 0.4], [True, False]).questions_N.tolist()
    [0, 1]
    """
    scores, correct = checked_scores(scores_N, correct_N, function="answered")
    questions = np.arange(scores.size) if questions_N is None else np.asarray(questions_N)
    if questions.shape != scores.shape:
        raise ValueError(f"answered: questions_N must have shape {scores.shape}")
    return Answered(scores_N=scores, correct_N=correct, questions_N=questions)


class OrderedAnswers:
    """Answers to common questions, the surest first, summed for any weights of the questions.

    Parameters
    ----------
    one : Answered
        The answers.
    common : ndarray
        The questions that take part, sorted and distinct.

    Attributes
    ----------
    reach : float
        Share of the answers that can be accepted: those with a score.

    Examples
    --------
    >>> one = answered([0.9, float("nan")], [True, True], ["q", "r"])
    >>> OrderedAnswers(one, np.array(["q", "r"])).reach
    0.5
    """

    def __init__(self, one: Answered, common: NDArray[np.generic]) -> None:
        kept = np.isin(one.questions_N, common)
        question = np.searchsorted(common, one.questions_N[kept])
        scores, wrong = one.scores_N[kept], ~one.correct_N[kept]
        self._rows_C = np.bincount(question, minlength=common.size).astype(np.float64)
        there = np.flatnonzero(~np.isnan(scores))
        order = there[np.argsort(-scores[there], kind="stable")]
        self._question, self._wrong = question[order], wrong[order].astype(np.float64)
        self._last = np.flatnonzero(np.diff(scores[order], append=-np.inf))
        self._summed = self._sums() if self._last.size <= _FEW else None
        self.reach = order.size / scores.size if scores.size else 0.0

    def questions_with(self, *, wrong: bool) -> NDArray[np.intp]:
        """Give the places of the questions that have a wrong, or a right, answer with a score."""
        found: NDArray[np.intp] = np.unique(self._question[(self._wrong > 0) == wrong])
        return found

    def _steps(self, weights_BC: Floats) -> tuple[Floats, Floats]:
        """Accepted and wrong ones up to each distinct score, from 0 on, (B, T + 1)."""
        none = np.zeros((len(weights_BC), 1))
        if self._summed is not None:
            accepted, errors = (weights_BC @ one for one in self._summed)
        else:
            rows = max(1, _CELLS // max(1, self._question.size))
            parts = [
                self._running(weights_BC[start : start + rows])
                for start in range(0, len(weights_BC), rows)
            ]
            accepted, errors = (np.concatenate(one) for one in zip(*parts, strict=True))
        return np.hstack([none, accepted]), np.hstack([none, errors])

    def _sums(self) -> tuple[Floats, Floats]:
        """Accepted and wrong answers of each question up to each distinct score, (C, T)."""
        step = np.searchsorted(self._last, np.arange(self._question.size))
        place = self._question * self._last.size + step
        size = self._rows_C.size * self._last.size
        shape = (self._rows_C.size, self._last.size)
        found = [
            np.bincount(place, weights=one, minlength=size).reshape(shape).cumsum(axis=1)
            for one in (None, self._wrong)
        ]
        return found[0].astype(np.float64), found[1]

    def _running(self, weights_BC: Floats) -> tuple[Floats, Floats]:
        """The same sums answer by answer, where scores are too many for a table."""
        weight = weights_BC[:, self._question]
        accepted = np.cumsum(weight, axis=1)[:, self._last]
        return accepted, np.cumsum(weight * self._wrong, axis=1)[:, self._last]

    def errors(self, weights_BC: Floats, grid_G: Floats) -> Floats:
        """Compute the share wrong where each share is accepted; NaN out of reach, (B, G)."""
        accepted, errors = self._steps(weights_BC)
        everything = weights_BC @ self._rows_C
        found = np.full((len(weights_BC), grid_G.size), np.nan)
        row = np.arange(len(weights_BC))
        for place, share in enumerate(grid_G):
            wanted = share * everything
            after = (accepted < (wanted - REACHED)[:, None]).sum(axis=1)
            inside = (after < accepted.shape[1]) & (wanted > 0)
            after = np.clip(after, 1, accepted.shape[1] - 1)
            before = after - 1
            width = accepted[row, after] - accepted[row, before]
            part = (wanted - accepted[row, before]) / np.where(width > 0, width, 1.0)
            step = errors[row, after] - errors[row, before]
            wrong = errors[row, before] + part * step
            found[inside, place] = (wrong / np.where(wanted > 0, wanted, 1.0))[inside]
        return found
