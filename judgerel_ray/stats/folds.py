"""Folds: parts of the data that are scored by what was fitted on the other parts.

Shape suffixes: N = items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import clusters_of


def grouped_folds(groups_N: ArrayLike, *, n_folds: int, seed: int) -> NDArray[np.intp]:
    """Assign groups to folds, the items of a group all in one.

    Shape (n_items,). Fold of each item, from 0 on. Folds have as many groups, give or take one.
    """
    groups, place = np.unique(np.asarray(groups_N), return_inverse=True)
    if not 2 <= n_folds <= groups.size:
        raise ValueError(
            f"grouped_folds: n_folds must be from 2 to the {groups.size} groups, got {n_folds}"
        )
    in_turn = np.arange(groups.size) % n_folds
    return np.random.default_rng(seed).permutation(in_turn)[place]


def one_of_each(groups_N: ArrayLike, *, n: int, seed: int, function: str) -> NDArray[np.intp]:
    """Draw one item of every group.

    Shape (n_groups,). Places of the items, in their order.
    """
    groups = clusters_of(groups_N, n, function=function, argument="clusters_N")
    shuffled = np.random.default_rng(seed).permutation(n)
    first = np.unique(groups[shuffled], return_index=True)[1]
    return np.sort(shuffled[first])
