"""Numbers that rest on questions: with one question left out, or with questions drawn anew.

Whatever can say its value for any weights of its questions gets a jackknife interval, takes part in
a joint bootstrap with others that share questions, and combines with them.

Shape suffixes: C = clusters (questions), T = terms, B = sets of weights, P = parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import clusters_of
from judgerel_ray.stats.counts import CountStatistic, Floats, QuestionTerms, divide
from judgerel_ray.stats.intervals.interval import by_cluster, cluster_terms


class QuestionStatistic(Protocol):
    """A number that rests on questions."""

    @property
    def name(self) -> str:
        """What it is."""

    @property
    def questions_C(self) -> NDArray[np.generic]:  # noqa: N802  a shape, not a case
        """The questions by name, each once."""

    def at(self, weights_BC: Floats) -> Floats:
        """Compute it with these weights of the questions, shape (B,); NaN where there is none."""

    def left_out(self) -> Floats:
        """Compute it without each question in turn, shape (C,)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Combined:
    """A number that is computed from others, jointly by question."""

    name: str
    # What it is computed from; they may rest on different questions.
    parts: tuple[QuestionStatistic, ...]
    combine: Callable[[Floats], Floats]  # Values of the parts (P, B) to values (B,).
    is_mean: bool = False

    @property
    def questions_C(self) -> NDArray[np.generic]:  # noqa: N802  a shape, not a case
        """All questions of the parts, sorted."""
        return np.unique(np.concatenate([part.questions_C for part in self.parts]))

    def at(self, weights_BC: Floats) -> Floats:
        """Compute it with these weights of the questions."""
        every = self.questions_C
        columns = [np.searchsorted(every, part.questions_C) for part in self.parts]
        values = [
            part.at(weights_BC[:, place]) for part, place in zip(self.parts, columns, strict=True)
        ]
        return self.combine(np.stack(values))

    def left_out(self) -> Floats:
        """Compute it without each question in turn; a part that lacks it stays as it is."""
        every = self.questions_C
        values_PC = np.empty((len(self.parts), every.size))
        for row, part in zip(values_PC, self.parts, strict=True):
            row[:] = whole(part)
            row[np.searchsorted(every, part.questions_C)] = part.left_out()
        return self.combine(values_PC)


@dataclass(frozen=True, kw_only=True, eq=False)
class Remembered:
    """A number that computes once what it is without each question in turn."""

    of: QuestionStatistic

    @property
    def name(self) -> str:
        """What it is."""
        return self.of.name

    @cached_property
    def questions_C(self) -> NDArray[np.generic]:  # noqa: N802  a shape, not a case
        """The questions by name, each once."""
        return self.of.questions_C

    def at(self, weights_BC: Floats) -> Floats:
        """Compute it with these weights of the questions."""
        return self.of.at(weights_BC)

    def left_out(self) -> Floats:
        """Give it without each question in turn."""
        return self._left_out

    @cached_property
    def _left_out(self) -> Floats:
        """It without each question in turn."""
        return self.of.left_out()


def whole(statistic: QuestionStatistic) -> float:
    """Compute a number of all its questions, NaN where there is none."""
    return float(statistic.at(np.ones((1, statistic.questions_C.size)))[0])


def mean_of(name: str, parts: Sequence[QuestionStatistic]) -> Combined:
    """Average numbers that may share questions: one figure of a judge over criteria or scales.

    Parameters
    ----------
    name : str
        What the average is called.
    parts : sequence of QuestionStatistic
        What is averaged; NaN where one of them has no value.

    Returns
    -------
    Combined

    Raises
    ------
    ValueError
        If there are no parts.

    Examples
    --------
    >>> first, second = (QuestionTerms(name="sum", questions_C=np.arange(2), terms_CT=terms,
    ...                                value=lambda t: t[..., 0])
    ...                  for terms in (np.array([[1.0], [3.0]]), np.array([[0.0], [2.0]])))
    >>> whole(mean_of("both", [first, second]))
    3.0
    """
    if not parts:
        raise ValueError("mean_of: there must be at least one part")
    return Combined(
        name=name, parts=tuple(parts), combine=lambda values_PB: values_PB.mean(axis=0),
        is_mean=True,
    )  # fmt: skip


def mean_terms(
    name: str, numbers_N: ArrayLike, questions_N: ArrayLike | None = None
) -> QuestionTerms:
    """Lay a mean of numbers out by question.

    Shapes: ``numbers_N`` (n_numbers,), ``questions_N`` (n_numbers,).
    """
    numbers = np.asarray(numbers_N, dtype=np.float64)
    questions = clusters_of(
        questions_N, numbers.size, function="mean_terms", argument="questions_N"
    )
    names, number = np.unique(questions, return_inverse=True)
    sums = [np.bincount(number, weights=w, minlength=names.size) for w in (numbers, None)]
    return QuestionTerms(
        name=name, questions_C=names, terms_CT=np.stack(sums, axis=1).astype(np.float64),
        value=lambda total: divide(total[..., 0], total[..., 1]),
    )  # fmt: skip


def count_terms(
    counts_UV: ArrayLike, statistic: CountStatistic, *, questions_U: ArrayLike | None = None
) -> QuestionTerms:
    """Lay a coefficient of counts out by question.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; or what else the statistic is of.
    statistic : CountStatistic
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`.
    questions_U : array-like, shape (n_units,), optional
        The question of each unit; by default the row.

    Returns
    -------
    QuestionTerms
        Of the questions that take part. The layout is `statistic`, if that is corrected for chance:
        shares are sums, of which Student's t is as good and tells more apart.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or there is not one question a unit.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> found = count_terms([[2, 0], [1, 1], [1, 0]], agreement)
    >>> whole(found), found.questions_C.tolist(), found.left_out().tolist()
    (0.5, [0, 1], [0.0, 1.0])
    """
    counts = statistic.checked(counts_UV, function="count_terms")
    questions = clusters_of(
        questions_U, len(counts), function="count_terms", argument="questions_U"
    )
    names, number = np.unique(questions, return_inverse=True)
    taking = names[np.unique(number[statistic.takes_part(counts)])]
    counts, clusters = by_cluster(counts, number, statistic)
    parts = list(cluster_terms(counts, clusters, statistic))
    terms_CT = np.concatenate(parts) if parts else statistic.terms(counts)
    return QuestionTerms(
        name=statistic.name, questions_C=taking, terms_CT=terms_CT, value=statistic.value,
        layout=statistic if statistic.chance_corrected else None,
    )  # fmt: skip
