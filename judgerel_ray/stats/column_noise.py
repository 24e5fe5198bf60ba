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
_MOST = {"cronbach_alpha": 1, "mcdonald_omega": 8}  # deals made for each that is to have a value
_MOST_FITS = 2  # some hundredths of a second each


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
        Permutations with a value, at least 1; 999 by default, 99 for the last two.
    seed : int
        Seed of the permutations.

    Returns
    -------
    NoiseFloor
        Over the permutations that have a value; `method` says how many have none. Nothing where the
        coefficient itself has none.

    Raises
    ------
    ValueError
        If the name is unknown, the scores are not two-dimensional, or `n_permutations` is below 1.

    Notes
    -----
    Omega has no value where the covariances sum to no more than 0, and omega hierarchical where
    those of its factors do, which is half of all noise each: as many more are made, up to eight
    times `n_permutations` (twice, of the last two). The p compares data that have a value with the
    noise that has one, so that no more than one in twenty of these are called anything else, and
    fewer of all noise. Were permutations without a value counted as further from the floor, p would
    be about 0.5 for the best of judges; as nearer, one in ten of noise with a value would pass for
    more.

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
    most = n_permutations * _MOST.get(name, _MOST_FITS)
    null = np.empty(0)
    while (~np.isnan(null)).sum() < n_permutations and null.size < most:
        size = min(batch, most - null.size)
        dealt = rng.permuted(np.broadcast_to(scores, (size, *scores.shape)), axis=1)
        null = np.append(null, item_values(name, _covariances(dealt), matrix=matrix))
    given = np.flatnonzero(~np.isnan(null))[:n_permutations]
    # Those after the last one wanted are not counted.
    n_deals = int(given[-1]) + 1 if given.size == n_permutations else null.size
    without = n_deals - given.size
    said = f" with a value ({without} had none)" if without else ""
    method = f"{given.size} random deals of each item's scores{said}, two-sided"
    return floor_of(value, null[given], method)


def _covariances(scores_BNK: Floats) -> Floats:
    """Covariances of each permutation."""
    centred = scores_BNK - scores_BNK.mean(axis=1, keepdims=True)
    covariances: Floats = np.matmul(centred.swapaxes(1, 2), centred) / (scores_BNK.shape[1] - 1)
    return covariances
