"""Cascades: ask the next one only where confidence falls short, and what that buys for its cost.

Shape suffixes: U = units (a question, asked once), L = stages, P = policies, K = folds,
Q = questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.panels.panel import Ints, question_means
from judgerel_ray.stats.panels.search import cheapest_of_best

MOST_POLICIES = 4096
"""Threshold combinations looked at; of more, thresholds are thinned evenly, alike at each stage."""
_EQUAL = 1e-9
CascadeThresholds = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeOutcome:
    """What a cascade answers."""

    # Shape (n_units,). Who answers, from 0.
    stage_U: Ints  # noqa: N815  a shape, not a case
    # Shape (n_units,). Chance that the answer is right.
    right_U: Floats  # noqa: N815
    # Shape (n_units,). Cost of everyone asked.
    spent_U: Floats  # noqa: N815


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadePoint:
    """The best cascade within a budget."""

    budget: float  # What a question may cost on average.
    # Chosen on all questions, one a stage but the last: -inf answers always, inf never.
    thresholds: CascadeThresholds
    in_sample: float  # Accuracy and cost on those questions: optimistic.
    in_sample_cost: float
    # Shape (n_questions,). By question, with thresholds that the other folds chose: honest.
    right_Q: Floats  # noqa: N815
    spent_Q: Floats  # noqa: N815
    # Shape (n_questions,). The same, were as many passed on at each stage at random.
    random_Q: Floats  # noqa: N815
    # Shape (n_stages,). Share of questions that each stage answers, with the thresholds of the
    # other folds.
    answered_L: Floats  # noqa: N815
    n_alike: int  # Folds that chose the thresholds of all questions.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CascadeStages:
    """Who may be asked, in order, on every unit."""

    # Shape (n_units, n_stages). How sure each is; NaN (none stated, no verdict) always passes on.
    # The last one's counts nothing: who is left answers.
    confidence_UL: Floats  # noqa: N815
    # Shape (n_units, n_stages). Chance that each is right.
    right_UL: Floats  # noqa: N815
    # Shape (n_units, n_stages). What asking each costs.
    spent_UL: Floats  # noqa: N815
    # Shape (n_units,). Question of each unit, from 0 on; a question counts once.
    questions_U: Ints  # noqa: N815

    def __post_init__(self) -> None:
        shape = self.confidence_UL.shape
        if len(shape) != 2 or shape[1] < 2:
            raise ValueError(f"CascadeStages: expected 2 stages or more, got shape {shape}")
        if self.right_UL.shape != shape or self.spent_UL.shape != shape:
            raise ValueError("CascadeStages: confidence, right and spent must have one shape")
        if self.questions_U.shape != shape[:1] or (self.spent_UL < 0).any():
            raise ValueError("CascadeStages: one question a unit, and no cost below 0")


def simulate_cascade(stages: CascadeStages, thresholds: ArrayLike) -> CascadeOutcome:
    """Ask one after the other until someone is sure enough.

    Shapes: ``thresholds`` (n_stages - 1,).
    """
    needed: Floats = np.asarray(thresholds, dtype=np.float64)
    n_units, n_stages = stages.confidence_UL.shape
    if needed.shape != (n_stages - 1,):
        raise ValueError(f"run_cascade: expected {n_stages - 1} thresholds, got {needed.shape}")
    sure = stages.confidence_UL[:, :-1] >= needed
    sure |= np.isneginf(needed)  # who always answers does so without a confidence, too
    stage: Ints = np.where(sure.any(axis=1), sure.argmax(axis=1), n_stages - 1).astype(np.int64)
    every = np.arange(n_units)
    return CascadeOutcome(
        stage_U=stage,
        right_U=stages.right_UL[every, stage],
        spent_U=np.cumsum(stages.spent_UL, axis=1)[every, stage],
    )


def best_cascades(
    stages: CascadeStages,
    budgets: Sequence[float],
    *,
    n_folds: int = 5,
    seed: int = 0,
) -> tuple[CascadePoint, ...]:
    """Choose the thresholds with the most right answers within each budget, cross-fitted."""
    questions = stages.questions_U
    n_questions = int(questions.max()) + 1 if questions.size else 0
    if n_questions < 2:
        raise ValueError(f"best_cascades: needs 2 questions, got {n_questions}")
    n_folds = min(n_folds, n_questions)
    fold_Q = grouped_folds(np.arange(n_questions), n_folds=n_folds, seed=seed)
    policies = policy_grid(stages.confidence_UL)
    right_PK, spent_PK = _cascade_policy_scores(stages, policies, fold_Q)
    right_P, spent_P = right_PK.sum(axis=1), spent_PK.sum(axis=1)
    size_K = np.bincount(fold_Q, minlength=n_folds).astype(np.float64)
    points = []
    for budget in budgets:
        whole = _best_cascade_policy(right_P, spent_P / n_questions, budget)
        others = [
            _best_cascade_policy(right_P - right, (spent_P - spent) / (n_questions - n), budget)
            for right, spent, n in zip(right_PK.T, spent_PK.T, size_K, strict=True)
        ]
        points.append(
            CascadePoint(
                budget=float(budget),
                thresholds=policies[whole],
                in_sample=float(right_PK[whole].sum()) / n_questions,
                in_sample_cost=float(spent_PK[whole].sum()) / n_questions,
                n_alike=sum(place == whole for place in others),
                **_cross_fitted(stages, [policies[place] for place in others], fold_Q),
            )
        )
    return tuple(points)


def policy_grid(
    confidence_UL: Floats, *, most: int = MOST_POLICIES
) -> tuple[CascadeThresholds, ...]:
    """Every combination of thresholds at which decisions differ, or evenly some of them."""
    n_stages = confidence_UL.shape[1]
    each = max(2, int(most ** (1 / (n_stages - 1)) + _EQUAL))
    grids = []
    for stage in range(n_stages - 1):
        values = np.unique(confidence_UL[:, stage])
        grid = np.concatenate([[-np.inf], values[~np.isnan(values)], [np.inf]])
        if grid.size > each:
            grid = grid[np.unique(np.linspace(0, grid.size - 1, each).round().astype(int))]
        grids.append(grid.tolist())
    return tuple(product(*grids))


def _cascade_policy_scores(
    stages: CascadeStages, policies: Sequence[CascadeThresholds], fold_Q: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Right answers and costs of every policy, summed by fold (policies, folds)."""
    n_folds = int(fold_Q.max()) + 1
    fold_U = fold_Q[stages.questions_U]
    weight_U = 1.0 / np.bincount(stages.questions_U)[stages.questions_U]
    right, spent = np.empty((2, len(policies), n_folds))
    for place, thresholds in enumerate(policies):
        found = simulate_cascade(stages, thresholds)
        right[place] = np.bincount(fold_U, found.right_U * weight_U, n_folds)
        spent[place] = np.bincount(fold_U, found.spent_U * weight_U, n_folds)
    return right, spent


def _best_cascade_policy(right_P: Floats, cost_P: Floats, budget: float) -> int:
    """Place of the policy with the most right answers in the budget; the cheapest of equals."""
    # Where a fold's questions are dear, its cheapest policy may exceed what all together allow.
    allowed = np.flatnonzero(cost_P <= max(budget, float(cost_P.min())) * (1 + _EQUAL) + _EQUAL)
    return cheapest_of_best(right_P, cost_P, allowed)


def _cross_fitted(
    stages: CascadeStages, by_fold: Sequence[CascadeThresholds], fold_Q: NDArray[np.intp]
) -> dict[str, Floats]:
    """What thresholds of the other folds give on each fold, and as many passed on at random."""
    questions, n_stages = stages.questions_U, stages.confidence_UL.shape[1]
    right_Q, spent_Q, random_Q = np.empty((3, fold_Q.size))
    answered_QL = np.empty((fold_Q.size, n_stages))
    means_QL = np.stack([question_means(one, questions) for one in stages.right_UL.T], axis=1)
    for k, thresholds in enumerate(by_fold):
        found = simulate_cascade(stages, thresholds)
        inside = fold_Q == k
        right_Q[inside] = question_means(found.right_U, questions)[inside]
        spent_Q[inside] = question_means(found.spent_U, questions)[inside]
        for stage in range(n_stages):
            by_question = question_means(found.stage_U == stage, questions)
            answered_QL[inside, stage] = by_question[inside]
        random_Q[inside] = means_QL[inside] @ answered_QL[inside].mean(axis=0)
    return {
        "right_Q": right_Q, "spent_Q": spent_Q, "random_Q": random_Q,
        "answered_L": answered_QL.mean(axis=0),
    }  # fmt: skip
