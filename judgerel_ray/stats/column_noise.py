"""The noise floor of internal consistency: each item's scores dealt to the subjects at random.

Shape suffixes: N = subjects, K = items, B = permutations.
"""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.consistency import ItemCoefficient, item_values
from judgerel_ray.stats.noise import NoiseFloor, floor_of
from judgerel_ray.stats.omega_bootstrap import varying_scores
from judgerel_ray.stats.scores import Matrix
from judgerel_ray.stats.statistic import Floats

_CELLS = 4_000_000


def column_noise_floor(
    scores_NK: ArrayLike,
    name: ItemCoefficient,
    *,
    matrix: Matrix = "correlation",
    n_permutations: int | None = None,
    seed: int = 0,
) -> NoiseFloor:
    """Compute the null of a coefficient of distinct items.

    Every item keeps its own scores, and no two items have anything to do with one another.

    Parameters
    ----------
    scores_NK : array-like of float, shape (n_subjects, n_items)
        One row a subject (a question), one column a distinct item. Subjects with a missing score
        are left out, and so are items that do not vary.
    name : {"cronbach_alpha", "mcdonald_omega", "omega_total", "omega_hierarchical"}
        The coefficient: alpha and omega (one factor by minres) of `matrix`; the last two by Schmid
        and Leiman with three factors.
    matrix : {"correlation", "covariance"}
        What is analysed.
    n_permutations : int, optional
        Permutations, at least 1; 999 by default, 99 for the last two.
    seed : int
        Seed of the permutations.

    Returns
    -------
    NoiseFloor
        Over the permutations that have a value (omega has none where the covariances sum to no more
        than 0, which is half of all noise); nothing where the coefficient itself has none.

    Raises
    ------
    ValueError
        If the name is unknown, the scores are not two-dimensional, or `n_permutations` is below 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> floor = column_noise_floor(rng.normal(size=(50, 4)), "cronbach_alpha")
    >>> abs(floor.mean) < 0.2, floor.p > 0.05
    (True, True)
    """
    if name not in get_args(ItemCoefficient):
        names = get_args(ItemCoefficient)
        raise ValueError(f"column_noise_floor: name must be one of {names}, got {name!r}")
    if n_permutations is None:
        n_permutations = 999 if name in ("cronbach_alpha", "mcdonald_omega") else 99
    if n_permutations < 1:
        raise ValueError(
            f"column_noise_floor: n_permutations must be at least 1, got {n_permutations}"
        )
    scores, _ = varying_scores(scores_NK, None, function="column_noise_floor")
    value = float("nan")
    if len(scores) >= 3 and scores.shape[1] >= 2:
        value = float(item_values(name, _covariances(scores[None]), matrix=matrix)[0])
    if np.isnan(value):
        return NoiseFloor(mean=None, sd=None, p=None, n_permutations=0, method="")
    rng = np.random.default_rng(seed)
    batch = max(1, min(n_permutations, _CELLS // scores.size))
    null = []
    for start in range(0, n_permutations, batch):
        size = min(batch, n_permutations - start)
        dealt = rng.permuted(np.broadcast_to(scores, (size, *scores.shape)), axis=1)
        null.append(item_values(name, _covariances(dealt), matrix=matrix))
    values = np.concatenate(null)
    values = values[~np.isnan(values)]
    return floor_of(value, values, f"{values.size} random deals of each item's scores, two-sided")


def _covariances(scores_BNK: Floats) -> Floats:
    """Covariances of each permutation."""
    centred = scores_BNK - scores_BNK.mean(axis=1, keepdims=True)
    covariances: Floats = np.matmul(centred.swapaxes(1, 2), centred) / (scores_BNK.shape[1] - 1)
    return covariances
