"""Panels and what they cost: how often the majority of each is right, fold by fold.

Shape suffixes: U = units, J = judges, P = what is paid for, S = panels, K = folds, Q = questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats
from judgerel_ray.stats.votes import Ints, first_places, panel_votes, question_means

Panel = tuple[int, ...]
"""Places of a panel's members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelPrices:
    """What panels cost: members may share what they pay for.

    Attributes
    ----------
    needs_JP : ndarray of bool, shape (n_judges, n_things)
        What each judge needs: its own replies, the answers it compares.
    prices_P : ndarray of float, shape (n_things,)
        What each costs a question; a panel pays for each once.
    """

    needs_JP: NDArray[np.bool_]  # noqa: N815
    prices_P: Floats  # noqa: N815

    def of(self, members: Sequence[int]) -> float:
        """Give the cost of a panel.

        Examples
        --------
        >>> prices = PanelPrices(needs_JP=np.array([[True, False], [True, True]]),
        ...                      prices_P=np.array([1.0, 2.0]))
        >>> prices.of([0]), prices.of([0, 1])
        (1.0, 3.0)
        """
        return float(self.prices_P[self.needs_JP[list(members)].any(axis=0)].sum())


@dataclass(frozen=True, slots=True)
class ScoredPanels:
    """Panels, scored.

    Attributes
    ----------
    panels : tuple of Panel
        The panels.
    costs_S : ndarray of float, shape (n_panels,)
        What each costs a question.
    sums_SK : ndarray of float, shape (n_panels, n_folds)
        Sum of the right shares of the questions of each fold.
    """

    panels: tuple[Panel, ...]
    costs_S: Floats  # noqa: N815
    sums_SK: Floats  # noqa: N815


@dataclass(frozen=True, slots=True, eq=False)
class PanelScorer:
    """Votes by unit, from which panels are scored.

    Attributes
    ----------
    votes : ndarray of int, shape (n_units, n_judges)
        As for :func:`judgerel_ray.stats.panel_votes`.
    right, questions : ndarray of int, shape (n_units,)
        The right verdict, and the question from 0 on.
    prices : PanelPrices
        Costs.
    fold_Q : ndarray of int, shape (n_questions,)
        Fold of each question.
    """

    votes: Ints
    right: Ints
    questions: Ints
    prices: PanelPrices
    fold_Q: NDArray[np.intp]  # noqa: N815

    def by_question(self, panel: Panel) -> Floats:
        """Share right of each question by a panel's majority.

        Examples
        --------
        >>> scorer = PanelScorer(np.array([[0, 1], [1, 1]]), np.array([1, 1]), np.array([0, 1]),
        ...     PanelPrices(needs_JP=np.eye(2, dtype=bool), prices_P=np.ones(2)), np.array([0, 1]))
        >>> scorer.by_question((0,)).tolist(), scorer.sums([(0,), (0, 1)]).tolist()
        ([0.0, 1.0], [[0.0, 1.0], [0.5, 1.0]])
        """
        credit_U = panel_votes(self.votes[:, list(panel)], self.right).credit_U
        return question_means(credit_U, self.questions)

    def sums(self, panels: Sequence[Panel]) -> Floats:
        """Sums of right shares by fold, of panels one by one (panels, folds)."""
        n_folds = int(self.fold_Q.max()) + 1
        found: Floats = np.empty((len(panels), n_folds))
        for place, panel in enumerate(panels):
            found[place] = np.bincount(self.fold_Q, self.by_question(panel), minlength=n_folds)
        return found

    def family(self, pool: Panel) -> ScoredPanels:
        """Every panel of a pool and every single judge, scored by fold."""
        n_folds = int(self.fold_Q.max()) + 1
        weight_U = 1.0 / np.bincount(self.questions)[self.questions]
        fold_U = self.fold_Q[self.questions]
        panels: list[Panel] = []
        sums: list[Floats] = []
        for panel, credit_U in _credits(self.votes, self.right, pool):
            panels.append(panel)
            sums.append(np.bincount(fold_U, credit_U * weight_U, n_folds).astype(np.float64))
        outside = [one for one in singles(self.votes.shape[1]) if one[0] not in pool]
        costs = [self.prices.of(panel) for panel in (*panels, *outside)]
        return ScoredPanels(
            (*panels, *outside), np.array(costs), np.concatenate([sums, self.sums(outside)])
        )


def singles(n_judges: int) -> list[Panel]:
    """Panels of one.

    Examples
    --------
    >>> singles(2)
    [(0,), (1,)]
    """
    return [(j,) for j in range(n_judges)]


def _credits(votes: Ints, right: Ints, pool: Panel) -> Iterator[tuple[Panel, Floats]]:
    """Every panel of a pool, with the share right of each unit; counts grow by one judge a step."""
    mine = votes[:, list(pool)]
    # Codes by unit: no more of them than judges, whatever verdicts there are in all.
    first = first_places(mine)
    n = len(pool)
    cast = mine >= 0
    ballots = np.zeros((n, n + 1, len(mine)), dtype=np.int8)
    for j in range(n):
        ballots[j, first[:, j], np.arange(len(mine))] = cast[:, j]
    said = (mine == right[:, None]) & cast
    right_code = np.where(said.any(axis=1), first[np.arange(len(mine)), said.argmax(axis=1)], n)

    def grow(
        counts: NDArray[np.int8], members: Panel, start: int
    ) -> Iterator[tuple[Panel, Floats]]:
        for j in range(start, n):
            grown = counts + ballots[j]
            panel = (*members, pool[j])
            top = grown.max(axis=0)
            tied = (grown == top).sum(axis=0)
            hit = (grown[right_code, np.arange(len(mine))] == top) & (top > 0)
            yield panel, hit / tied
            yield from grow(grown, panel, j + 1)

    return grow(np.zeros((n + 1, len(mine)), dtype=np.int8), (), 0)
