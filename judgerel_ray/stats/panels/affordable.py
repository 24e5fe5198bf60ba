"""The best of some methods that a budget buys, and what it is worth where it was not chosen.

Shape suffixes: M = methods, Q = questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.counts.folds import grouped_folds
from judgerel_ray.stats.counts.statistic import Floats
from judgerel_ray.stats.panels.panel import random_panels

_EQUAL = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Affordable:
    """The best method within a budget.

    Attributes
    ----------
    place : int or None
        Chosen on all questions; None where the budget buys none.
    right_Q : ndarray of float, shape (n_questions,)
        Share right of each question by the method that the other folds chose; NaN without one.
    cost : float
        Mean cost of those methods; NaN without one.
    """

    place: int | None
    right_Q: Floats  # noqa: N815  a shape, not a case
    cost: float


def best_affordable(
    right_MQ: ArrayLike, costs_M: ArrayLike, budget: float, *, n_folds: int = 5, seed: int = 0
) -> Affordable:
    """Choose the method with the most right answers within a budget, cross-fitted.

    Parameters
    ----------
    right_MQ : array-like of float, shape (n_methods, n_questions)
        Share right of each question by each method.
    costs_M : array-like of float, shape (n_methods,)
        What each costs a question.
    budget : float
        What a question may cost.
    n_folds, seed : int
        Folds of questions (at most as many as there are), and how they are drawn.

    Returns
    -------
    Affordable
        Of equals, the cheapest.

    Raises
    ------
    ValueError
        If costs and methods are not as many, or there are fewer than two questions.

    Examples
    --------
    >>> found = best_affordable([[1, 0, 1, 0], [1, 1, 1, 0]], [1.0, 3.0], 2.0, n_folds=2)
    >>> found.place, found.right_Q.tolist(), found.cost
    (0, [1.0, 0.0, 1.0, 0.0], 1.0)
    """
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
        place = _best(right[:, ~inside].sum(axis=1), costs, allowed)
        found[inside] = right[place, inside]
        cost += float(costs[place]) * int(inside.sum()) / n
    place = _best(right.sum(axis=1), costs, allowed)
    return Affordable(place=place, right_Q=found, cost=cost)


def vote_methods(votes_QR: ArrayLike, right_Q: ArrayLike) -> Floats:
    """Compute how often a model that outvotes itself is right, by how often it is asked.

    Parameters
    ----------
    votes_QR : array-like of int, shape (n_questions, n_replications)
        Code of each replication's verdict; negative for none.
    right_Q : array-like of int, shape (n_questions,)
        Code of the right one.

    Returns
    -------
    ndarray of float, shape (n_replications, n_questions)
        Row k - 1: of the majority of k replications, over all choices of k; ties drawn by lot.

    Examples
    --------
    >>> vote_methods([[0, 0, 1]], [0]).round(3).tolist()
    [[0.667], [0.667], [1.0]]
    """
    return random_panels(votes_QR, right_Q).T


def _best(right_M: Floats, costs: Floats, allowed: np.ndarray) -> int:
    """Place of the best method allowed."""
    ties = allowed[right_M[allowed] >= right_M[allowed].max() - _EQUAL]
    return int(ties[np.argmin(costs[ties])])
