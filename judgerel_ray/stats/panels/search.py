"""The best panel or method that a budget buys, and what it is worth where it was not chosen.

Shape suffixes: U = units, J = judges, P = what is paid for, S = panels, M = methods, K = folds,
Q = questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.panels.panel import (
    Ints,
    checked_votes,
    first_places,
    panel_votes,
    question_means,
    random_panels,
)

Panel = tuple[int, ...]
"""Places of a panel's members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelPrices:
    """What panels cost: members may share what they pay for."""

    # Shape (n_judges, n_things). What each judge needs: its own replies, the answers it compares.
    needs_JP: NDArray[np.bool_]  # noqa: N815
    # Shape (n_things,). What each costs a question; a panel pays for each once.
    prices_P: Floats  # noqa: N815

    def of(self, members: Sequence[int]) -> float:
        """Give the cost of a panel."""
        return float(self.prices_P[self.needs_JP[list(members)].any(axis=0)].sum())


@dataclass(frozen=True, slots=True)
class ScoredPanels:
    """Panels, scored."""

    panels: tuple[Panel, ...]
    # Shape (n_panels,). What each costs a question.
    costs_S: Floats  # noqa: N815
    # Shape (n_panels, n_folds). Sum of the right shares of the questions of each fold.
    sums_SK: Floats  # noqa: N815


@dataclass(frozen=True, slots=True, eq=False)
class PanelScorer:
    """Votes by unit, from which panels are scored."""

    votes: Ints  # Shape (n_units, n_judges). As for `panel_votes`.
    right: Ints  # Shape (n_units,). The right verdict, and the question from 0 on.
    questions: Ints
    prices: PanelPrices
    # Shape (n_questions,). Fold of each question.
    fold_Q: NDArray[np.intp]  # noqa: N815

    def by_question(self, panel: Panel) -> Floats:
        """Share right of each question by a panel's majority."""
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
        for panel, credit_U in _panels_with_right_shares(self.votes, self.right, pool):
            panels.append(panel)
            sums.append(np.bincount(fold_U, credit_U * weight_U, n_folds).astype(np.float64))
        outside = [one for one in singles(self.votes.shape[1]) if one[0] not in pool]
        costs = [self.prices.of(panel) for panel in (*panels, *outside)]
        return ScoredPanels(
            (*panels, *outside), np.array(costs), np.concatenate([sums, self.sums(outside)])
        )


def singles(n_judges: int) -> list[Panel]:
    """Panels of one."""
    return [(j,) for j in range(n_judges)]


def _panels_with_right_shares(
    votes: Ints, right: Ints, pool: Panel
) -> Iterator[tuple[Panel, Floats]]:
    """Every panel of a pool, with the share right of each unit; the smaller first."""
    pool_votes = votes[:, list(pool)]
    # Codes by unit: no more of them than judges, whatever verdicts there are in all.
    first = first_places(pool_votes)
    n = len(pool)
    cast = pool_votes >= 0
    ballots = np.zeros((n, n + 1, len(pool_votes)), dtype=np.int8)
    for j in range(n):
        ballots[j, first[:, j], np.arange(len(pool_votes))] = cast[:, j]
    are_right = (pool_votes == right[:, None]) & cast
    right_code = np.where(
        are_right.any(axis=1), first[np.arange(len(pool_votes)), are_right.argmax(axis=1)], n
    )

    for size in range(1, n + 1):
        for members in combinations(range(n), size):
            counts = ballots[list(members)].sum(axis=0, dtype=np.int8)
            top = counts.max(axis=0)
            hit = (counts[right_code, np.arange(len(pool_votes))] == top) & (top > 0)
            yield tuple(pool[j] for j in members), hit / (counts == top).sum(axis=0)


MOST_SEARCHED = 10
"""Judges of whom every panel is looked at; of more, the most accurate ten on the same questions."""
_EQUAL = 1e-9  # sums of the same shares, added in another order


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPanel:
    """The best panel within a budget, or of a size."""

    budget: float | None  # What it may cost; None where a size was asked for.
    size: int | None  # How many members it must have; None where a budget was.
    members: Panel  # The panel chosen on all questions; empty where the budget buys none.
    cost: float | None
    in_sample: float | None  # Its accuracy on the questions it was chosen by: optimistic.
    # Shape (n_questions,). Share right of each question by the panel that the other folds chose:
    # honest.
    credit_Q: Floats  # noqa: N815  a shape, not a case
    # What the questions outside each fold chose; empty where the budget buys none.
    by_fold: tuple[Panel, ...]

    @property
    def n_alike(self) -> int:
        """Folds that chose the same panel as all questions do."""
        return sum(panel == self.members for panel in self.by_fold if panel)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSearch:
    """Best panels by budget and by size."""

    best: tuple[BestPanel, ...]  # One a budget, then one a size.
    n_folds: int
    n_panels: int  # Panels looked at, on all questions.
    is_exhaustive: bool  # Whether those are all there are.


def search_panels(
    votes_UJ: ArrayLike,
    right_U: ArrayLike,
    questions_U: ArrayLike,
    prices: PanelPrices,
    *,
    budgets: Sequence[float] | None = None,
    sizes: Sequence[int] = (),
    n_folds: int = 5,
    seed: int = 0,
) -> PanelSearch:
    """Choose the panel with the most accurate majority within each budget, cross-fitted."""
    votes, right = checked_votes(votes_UJ, right_U, function="search_panels")
    questions = np.asarray(questions_U, dtype=np.int64)
    n_questions = int(questions.max()) + 1 if questions.size else 0
    if n_questions < 2:
        raise ValueError(f"search_panels: needs 2 questions, got {n_questions}")
    n_folds = min(n_folds, n_questions)
    fold_Q = grouped_folds(np.arange(n_questions), n_folds=n_folds, seed=seed)
    asked = PanelScorer(votes, right, questions, prices, fold_Q)
    single_JK = asked.sums(singles(votes.shape[1]))
    known: dict[Panel, ScoredPanels] = {}

    def family(left_out: int | None) -> ScoredPanels:
        seen = np.ones(n_folds) if left_out is None else 1.0 - np.eye(n_folds)[left_out]
        order = np.argsort(-(single_JK @ seen), kind="stable")[:MOST_SEARCHED]
        pool = tuple(sorted(int(j) for j in order))
        if pool not in known:
            known[pool] = asked.family(pool)
        return known[pool]

    everything = family(None)
    if budgets is None:
        budgets = _panel_cost_frontier(everything, everything.sums_SK.sum(axis=1))
    trained = [family(k) for k in range(n_folds)]
    wanted: list[tuple[float | None, int | None]] = [(float(one), None) for one in budgets]
    wanted += [(None, size) for size in sizes]
    return PanelSearch(
        best=tuple(_best_panels(asked, everything, trained, *one) for one in wanted),
        n_folds=n_folds,
        n_panels=len(everything.panels),
        is_exhaustive=votes.shape[1] <= MOST_SEARCHED,
    )


def _best_panels(
    asked: PanelScorer,
    everything: ScoredPanels,
    trained: Sequence[ScoredPanels],
    budget: float | None,
    size: int | None,
) -> BestPanel:
    """The best panel of all questions, and on each fold that of the others."""
    n_questions = asked.fold_Q.size
    score_S = everything.sums_SK.sum(axis=1) / n_questions
    best = _best_affordable_panel(everything, score_S, budget, size)
    panel = () if best is None else everything.panels[best]
    credit_Q = np.zeros(n_questions)
    by_fold: list[Panel] = []
    for k, scored in enumerate(trained):
        place = _best_affordable_panel(
            scored, scored.sums_SK.sum(axis=1) - scored.sums_SK[:, k], budget, size
        )
        inside = asked.fold_Q == k
        by_fold.append(() if place is None else scored.panels[place])
        if place is not None:
            credit_Q[inside] = asked.by_question(scored.panels[place])[inside]
    return BestPanel(
        budget=budget,
        size=size,
        members=panel,
        cost=None if best is None else float(everything.costs_S[best]),
        in_sample=None if best is None else float(score_S[best]),
        credit_Q=credit_Q,
        by_fold=tuple(by_fold),
    )


def _best_affordable_panel(
    family: ScoredPanels, score_S: Floats, budget: float | None, size: int | None
) -> int | None:
    """Place of the best panel allowed; the cheapest of equals, then the smallest."""
    if size is not None:
        allowed = np.array(
            [s for s, one in enumerate(family.panels) if len(one) == size], dtype=int
        )
    else:
        most = float("inf") if budget is None else budget * (1 + _EQUAL) + _EQUAL
        allowed = np.flatnonzero(family.costs_S <= most)
    if not allowed.size:
        return None
    top = score_S[allowed].max()
    ties = allowed[score_S[allowed] >= top - _EQUAL]
    return int(min(ties, key=lambda s: (family.costs_S[s], len(family.panels[s]), s)))


def _panel_cost_frontier(family: ScoredPanels, score_S: Floats) -> tuple[float, ...]:
    """Costs at which more money buys a better panel."""
    order = np.lexsort((-score_S, family.costs_S))
    costs: list[float] = []
    best = -1.0
    for s in order:
        if score_S[s] > best + _EQUAL:
            best = float(score_S[s])
            costs.append(float(family.costs_S[s]))
    return tuple(costs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Affordable:
    """The best method within a budget."""

    place: int | None  # Chosen on all questions; None where the budget buys none.
    # Shape (n_questions,). Share right of each question by the method that the other folds chose;
    # NaN without one.
    right_Q: Floats  # noqa: N815  a shape, not a case
    cost: float  # Mean cost of those methods; NaN without one.


def best_affordable(
    right_MQ: ArrayLike, costs_M: ArrayLike, budget: float, *, n_folds: int = 5, seed: int = 0
) -> Affordable:
    """Choose the method with the most right answers within a budget, cross-fitted."""
    right: Floats = np.asarray(right_MQ, dtype=np.float64)
    costs: Floats = np.asarray(costs_M, dtype=np.float64)
    if right.ndim != 2 or costs.shape != right.shape[:1] or right.shape[1] < 2:
        raise ValueError(
            "best_affordable: expected one cost a method and 2 questions or more, got shapes "
            f"{right.shape} and {costs.shape}"
        )
    n = right.shape[1]
    n_folds = min(n_folds, n)
    allowed = np.flatnonzero(costs <= budget * (1 + _EQUAL) + _EQUAL)
    if not allowed.size:
        return Affordable(place=None, right_Q=np.full(n, np.nan), cost=float("nan"))
    fold_Q = grouped_folds(np.arange(n), n_folds=n_folds, seed=seed)
    found: Floats = np.empty(n)
    cost = 0.0
    for fold in range(n_folds):
        inside = fold_Q == fold
        place = cheapest_of_best(right[:, ~inside].sum(axis=1), costs, allowed)
        found[inside] = right[place, inside]
        cost += float(costs[place]) * int(inside.sum()) / n
    place = cheapest_of_best(right.sum(axis=1), costs, allowed)
    return Affordable(place=place, right_Q=found, cost=cost)


def vote_methods(votes_QR: ArrayLike, right_Q: ArrayLike) -> Floats:
    """Compute how often a model that outvotes itself is right, by how often it is asked.

    Shape (n_replications, n_questions). Row k - 1: of the majority of k replications, over all
    choices of k; ties drawn by lot.

    Shapes: ``votes_QR`` (n_questions, n_replications), ``right_Q`` (n_questions,).
    """
    return random_panels(votes_QR, right_Q).T


def cheapest_of_best(right_M: Floats, costs_M: Floats, allowed: NDArray[np.intp]) -> int:
    """Place of the most right answers allowed, the cheapest of equals, then the first.

    Sums that differ by rounding are equal: not the one that was rounded down is taken.
    """
    ties = allowed[right_M[allowed] >= right_M[allowed].max() - _EQUAL]
    least = float(costs_M[ties].min())
    return int(ties[np.argmax(costs_M[ties] <= least * (1 + _EQUAL))])
