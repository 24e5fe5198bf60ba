"""Thresholds chosen on some data and used on others: folds, and other judges and benchmarks.

Shape suffixes: N = items, K = folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.low_range import Bools, LabelEdges
from judgerel_ray.stats.thresholds import (
    DEFAULT_GRID,
    Objective,
    checked_search,
    search_threshold,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossFittedLabels:
    """Labels by thresholds that never saw the judgments they label.

    Attributes
    ----------
    low_N : ndarray of bool, shape (n_items,)
        Whether each judgment is of low uncertainty.
    fold_N : ndarray of int, shape (n_items,)
        Its fold.
    thresholds : tuple of float or None
        By fold, the threshold chosen on all the others; None labels that fold high.
    """

    low_N: Bools  # noqa: N815  a shape, not a case
    fold_N: NDArray[np.intp]  # noqa: N815
    thresholds: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """What the threshold of one data set gives on another.

    Attributes
    ----------
    source, target : str
        Where the threshold was chosen, and where it was used.
    threshold : float or None
        None on the diagonal, where every fold has its own, and where none was found.
    n, n_low : int
        Judgments of the target, and those labelled low.
    n_correct_low, n_correct_high : int
        Right judgments by label.
    cross_fitted : bool
        Whether source and target are one data set, labelled by :func:`cross_fitted_labels`.
    """

    source: str
    target: str
    threshold: float | None
    n: int
    n_low: int
    n_correct_low: int
    n_correct_high: int
    cross_fitted: bool


def cross_fitted_labels(
    edges: LabelEdges,
    correct_N: ArrayLike,
    *,
    groups_N: ArrayLike | None = None,
    n_folds: int = 5,
    seed: int = 0,
    objective: Objective = "separation",
    grid: Sequence[float] = DEFAULT_GRID,
    least_share: float = 0.0,
) -> CrossFittedLabels:
    """Label each judgment by a threshold chosen on the other folds.

    Parameters
    ----------
    edges : LabelEdges
    correct_N : array-like of bool, shape (n_items,)
        Whether each judgment is right.
    groups_N : array-like, shape (n_items,), optional
        Judgments of one group stay in one fold; by default each is its own.
    n_folds, seed : int
        Folds (at least 2, at most the groups), and how they are drawn.
    objective, grid, least_share
        As for :func:`search_threshold`.

    Returns
    -------
    CrossFittedLabels
        Its labels may be scored against `correct_N`: none was chosen by what it labels.

    Raises
    ------
    ValueError
        As :func:`search_threshold`, and if there are too few groups.

    Examples
    --------
    >>> edges = LabelEdges(above_N=np.full(4, 0.1), upto_N=np.array([0.9, 0.8, 0.4, 0.3]),
    ...                    allowed_N=np.ones(4, dtype=bool))
    >>> found = cross_fitted_labels(edges, [True, True, False, False], n_folds=2, seed=1)
    >>> len(found.thresholds), found.low_N.shape
    (2, (4,))
    """
    correct = checked_search(edges, correct_N, objective, grid, least_share)
    groups = np.arange(correct.size) if groups_N is None else np.asarray(groups_N)
    fold_N = grouped_folds(groups, n_folds=n_folds, seed=seed)
    low = np.zeros(correct.size, dtype=bool)
    thresholds: list[float | None] = []
    for fold in range(n_folds):
        inside = fold_N == fold
        found = search_threshold(
            edges.take(~inside), correct[~inside],
            objective=objective, grid=grid, least_share=least_share,
        )  # fmt: skip
        thresholds.append(found.threshold)
        if found.threshold is not None:
            low[inside] = edges.take(inside).low(found.threshold)
    return CrossFittedLabels(low_N=low, fold_N=fold_N, thresholds=tuple(thresholds))


def threshold_transfer(
    data: Mapping[str, tuple[LabelEdges, ArrayLike]],
    *,
    groups: Mapping[str, ArrayLike] | None = None,
    objective: Objective = "separation",
    grid: Sequence[float] = DEFAULT_GRID,
    least_share: float = 0.0,
    n_folds: int = 5,
    seed: int = 0,
) -> tuple[Transfer, ...]:
    """Carry the threshold of every data set to every other.

    Parameters
    ----------
    data : mapping
        By name (a judge on a benchmark, say), the edges and which judgments are right.
    groups : mapping, optional
        By name, the group of each judgment, for the folds of the diagonal.
    objective, grid, least_share
        As for :func:`search_threshold`.
    n_folds, seed : int
        As for :func:`cross_fitted_labels`.

    Returns
    -------
    tuple of Transfer
        A row for every source and target, in the order of `data`. No row is optimistic: on the
        diagonal labels are cross-fitted.

    Raises
    ------
    ValueError
        As :func:`cross_fitted_labels`.

    Examples
    --------
    >>> edges = LabelEdges(above_N=np.full(4, 0.1), upto_N=np.array([0.9, 0.8, 0.4, 0.3]),
    ...                    allowed_N=np.ones(4, dtype=bool))
    >>> table = threshold_transfer({"a": (edges, [1, 1, 0, 0]), "b": (edges, [1, 0, 0, 1])},
    ...                            n_folds=2)
    >>> [(row.source, row.target, row.threshold, row.n_low) for row in table][1]
    ('a', 'b', 0.8, 2)
    """
    rows = []
    for source, (edges, correct_N) in data.items():
        found = search_threshold(
            edges, correct_N, objective=objective, grid=grid, least_share=least_share
        )
        for target, (others, right_N) in data.items():
            right = np.asarray(right_N, dtype=bool)
            if source == target:
                low = cross_fitted_labels(
                    others, right, groups_N=None if groups is None else groups.get(target),
                    n_folds=n_folds, seed=seed,
                    objective=objective, grid=grid, least_share=least_share,
                ).low_N  # fmt: skip
            elif found.threshold is None:
                low = np.zeros(right.size, dtype=bool)
            else:
                low = others.low(found.threshold)
            rows.append(
                Transfer(
                    source=source,
                    target=target,
                    threshold=None if source == target else found.threshold,
                    n=right.size,
                    n_low=int(low.sum()),
                    n_correct_low=int(right[low].sum()),
                    n_correct_high=int(right[~low].sum()),
                    cross_fitted=source == target,
                )
            )
    return tuple(rows)
