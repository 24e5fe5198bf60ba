"""Folds: parts of the data that are scored by what was fitted on the other parts.

Shape suffixes: N = items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def grouped_folds(groups_N: ArrayLike, *, n_folds: int, seed: int) -> NDArray[np.intp]:
    """Assign groups to folds, the items of a group all in one.

    Shape (n_items,). Fold of each item, from 0 on. Folds have as many groups, give or take one.

    Examples
    --------
    >>> folds = grouped_folds(["q1", "q1", "q2", "q3"], n_folds=3, seed=0)
    >>> bool(folds[0] == folds[1]), sorted(set(folds.tolist()))
    (True, [0, 1, 2])
    """
    groups, place = np.unique(np.asarray(groups_N), return_inverse=True)
    if not 2 <= n_folds <= groups.size:
        raise ValueError(
            f"grouped_folds: n_folds must be from 2 to the {groups.size} groups, got {n_folds}"
        )
    in_turn = np.arange(groups.size) % n_folds
    fold_N: NDArray[np.intp] = np.random.default_rng(seed).permutation(in_turn)[place]
    return fold_N


def one_of_each(groups_N: ArrayLike, *, n: int, seed: int, function: str) -> NDArray[np.intp]:
    """Draw one item of every group.

    Shape (n_groups,). Places of the items, in their order.

    Examples
    --------
    >>> one_of_each(["q1", "q2", "q1", "q3"], n=4, seed=0, function="learn_then_test").tolist()
    [1, 2, 3]
    """
    groups = np.asarray(groups_N)
    if groups.shape != (n,):
        raise ValueError(f"{function}: clusters_N must have shape ({n},), got {groups.shape}")
    shuffled = np.random.default_rng(seed).permutation(n)
    first = np.unique(groups[shuffled], return_index=True)[1]
    drawn: NDArray[np.intp] = np.sort(shuffled[first])
    return drawn
