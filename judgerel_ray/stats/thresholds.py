"""Thresholds of the uncertainty label, searched on the data they are then told of.

Shape suffixes: N = items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.low_range import Bools, LabelEdges

Objective = Literal["accuracy_low", "gap", "separation"]
OBJECTIVES: tuple[Objective, ...] = ("accuracy_low", "gap", "separation")
DEFAULT_GRID = tuple(round(0.01 * step, 2) for step in range(1, 100))


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdChoice:
    """A threshold, and what it gives where it was chosen.

    Attributes
    ----------
    threshold : float or None
        None where `undefined` is set.
    accuracy_low, accuracy_high : float or None
        Share of right judgments by label on the data it was chosen on; None without any.
    share_low : float
        Share of judgments of low uncertainty there.
    n_low, n : int
        Judgments of low uncertainty, and all.
    objective : str
        What was made largest.
    optimistic : bool
        True: these accuracies stand on the data that chose the threshold.
    undefined : str or None
        "no_low" where no threshold of the grid labels enough judgments low.
    """

    objective: str
    n: int
    threshold: float | None = None
    accuracy_low: float | None = None
    accuracy_high: float | None = None
    share_low: float = 0.0
    n_low: int = 0
    optimistic: bool = True
    undefined: str | None = None


def search_threshold(
    edges: LabelEdges,
    correct_N: ArrayLike,
    *,
    objective: Objective = "separation",
    grid: Sequence[float] = DEFAULT_GRID,
    least_share: float = 0.0,
) -> ThresholdChoice:
    """Choose the threshold of a grid that is best on these data.

    Parameters
    ----------
    edges : LabelEdges
    correct_N : array-like of bool, shape (n_items,)
        Whether each judgment is right.
    objective : {"separation", "gap", "accuracy_low"}
        Share of low among right judgments less that among wrong ones; accuracy of low less that of
        high; accuracy of low. Ties go to the threshold with more low, then to the stricter one.
    grid : sequence of float
        Thresholds in (0, 1].
    least_share : float
        Least share of low that a threshold must give, in [0, 1).

    Returns
    -------
    ThresholdChoice
        ``optimistic``: what it reports stands on the data that chose it. For what it is worth on
        others, :func:`cross_fitted_labels`.

    Raises
    ------
    ValueError
        If the shapes differ, the objective is unknown, or grid or share is out of range.

    Examples
    --------
    >>> edges = LabelEdges(above_N=np.array([0.1, 0.3, 0.4]), upto_N=np.array([0.9, 0.7, 0.6]),
    ...                    allowed_N=np.array([True, True, True]))
    >>> found = search_threshold(edges, [True, True, False], grid=(0.5, 0.65, 0.8))
    >>> found.threshold, found.accuracy_low, found.n_low
    (0.65, 1.0, 2)
    """
    correct = checked_search(edges, correct_N, objective, grid, least_share)
    best: tuple[tuple[float, float, float], float] | None = None
    least = max(1.0, least_share * correct.size)
    for threshold in grid:
        low = edges.low(threshold)
        n_low = int(low.sum())
        value = _worth(low, correct, objective)
        if n_low < least or np.isnan(value):
            continue
        rank = (value, float(n_low), float(threshold))
        if best is None or rank > best[0]:
            best = (rank, float(threshold))
    if best is None:
        return ThresholdChoice(objective=objective, n=correct.size, undefined="no_low")
    low = edges.low(best[1])
    return ThresholdChoice(
        objective=objective,
        n=correct.size,
        threshold=best[1],
        accuracy_low=float(correct[low].mean()),
        accuracy_high=None if low.all() else float(correct[~low].mean()),
        share_low=float(low.mean()),
        n_low=int(low.sum()),
    )


def wagner2024_threshold(
    edges: LabelEdges, correct_N: ArrayLike, *, grid: Sequence[float] = DEFAULT_GRID
) -> ThresholdChoice:
    """Choose the threshold as [1]_ did: the most accurate low labels, on the data they are told of.

    With few low labels this reads 100 % by luck alone: three right of three have a lower bound of
    29 %.

    Parameters
    ----------
    edges : LabelEdges
    correct_N : array-like of bool, shape (n_items,)
        Whether each judgment is right.
    grid : sequence of float
        Thresholds in (0, 1].

    Returns
    -------
    ThresholdChoice
        Always ``optimistic``.

    Raises
    ------
    ValueError
        As :func:`search_threshold`.

    References
    ----------
    .. [1] Wagner et al. (2024), arXiv:2410.11594, section 4.

    Examples
    --------
    >>> edges = LabelEdges(above_N=np.array([0.1, 0.3]), upto_N=np.array([0.9, 0.7]),
    ...                    allowed_N=np.array([True, True]))
    >>> found = wagner2024_threshold(edges, [True, False])
    >>> found.accuracy_low, found.optimistic
    (1.0, True)
    """
    return search_threshold(edges, correct_N, objective="accuracy_low", grid=grid)


def _worth(low: Bools, correct: Bools, objective: Objective) -> float:
    """What a threshold's labels are worth; NaN where it cannot be said."""
    if objective == "separation":
        right = low[correct].mean() if correct.any() else 0.0
        wrong = low[~correct].mean() if not correct.all() else 0.0
        return float(right - wrong)
    if not low.any():
        return float("nan")
    inside = float(correct[low].mean())
    if objective == "accuracy_low":
        return inside
    return float("nan") if low.all() else inside - float(correct[~low].mean())


def checked_search(
    edges: LabelEdges,
    correct_N: ArrayLike,
    objective: str,
    grid: Sequence[float],
    least_share: float,
) -> Bools:
    """Read the right judgments, refusing what cannot be searched.

    Raises
    ------
    ValueError
        If the shapes differ, the objective is unknown, or grid or share is out of range.

    Examples
    --------
    >>> edges = LabelEdges(above_N=np.zeros(1), upto_N=np.ones(1), allowed_N=np.ones(1, dtype=bool))
    >>> checked_search(edges, [1], "gap", (0.5,), 0.0).tolist()
    [True]
    """
    correct = np.asarray(correct_N, dtype=bool)
    if correct.shape != edges.upto_N.shape:
        raise ValueError(
            f"search_threshold: correct_N must have shape {edges.upto_N.shape}, got {correct.shape}"
        )
    if objective not in OBJECTIVES:
        raise ValueError(f"search_threshold: objective must be of {OBJECTIVES}, got {objective!r}")
    if not grid or not all(0 < threshold <= 1 for threshold in grid):
        raise ValueError(f"search_threshold: grid must hold thresholds in (0, 1], got {grid!r}")
    if not 0 <= least_share < 1:
        raise ValueError(f"search_threshold: least_share must be in [0, 1), got {least_share!r}")
    return correct
