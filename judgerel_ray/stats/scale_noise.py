"""The noise floor of agreement between two scales: one scale's scores dealt to the items at random.

Shape suffixes: N = items, V = distinct values, B = permutations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.krippendorff import Level, alpha_statistic
from judgerel_ray.stats.noise import NOTHING, NoiseFloor, floor_of
from judgerel_ray.stats.statistic import Floats

_CELLS = 2_000_000  # scores held at once
_MOST_VALUES = 2000  # whose distances are held as a table


def scale_noise_floor(
    first_N: ArrayLike,
    second_N: ArrayLike,
    *,
    level: Level = "interval",
    n_permutations: int = 999,
    seed: int = 0,
) -> NoiseFloor:
    """Compute the null of Krippendorff's alpha of the scores that items got on two scales.

    Each scale keeps its own scores, and what an item got on one tells nothing of what it got on the
    other. So a judge that uses two scales differently has a floor below 0, and is not blamed twice.

    Parameters
    ----------
    first_N, second_N : array-like of float, shape (n_items,)
        One score an item and scale, both mapped to one axis; NaN is missing, and leaves the item
        out.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement.
    n_permutations : int
        Permutations, at least 1.
    seed : int
        Seed of the permutations; the order of items does not matter.

    Returns
    -------
    NoiseFloor
        Nothing where alpha is undefined.

    Raises
    ------
    ValueError
        If the scores are not of the same items, there are too many different ones, or
        `n_permutations` is below 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> five = rng.integers(1, 6, size=40)
    >>> agreeing = np.clip(five + rng.integers(-1, 2, size=40), 1, 5)
    >>> floor = scale_noise_floor(five, agreeing, level="ordinal")
    >>> abs(floor.mean) < 0.1, floor.p
    (True, 0.001)
    """
    if n_permutations < 1:
        raise ValueError(
            f"scale_noise_floor: n_permutations must be at least 1, got {n_permutations}"
        )
    first, second = (np.asarray(one, dtype=np.float64) for one in (first_N, second_N))
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"scale_noise_floor: both scales must have one score an item, got {first.shape} and "
            f"{second.shape}"
        )
    there = ~(np.isnan(first) | np.isnan(second))
    first, second = first[there], second[there]
    values, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    if values.size > _MOST_VALUES:
        raise ValueError(
            f"scale_noise_floor: {values.size} different scores are too many, round them to "
            f"{_MOST_VALUES} or fewer"
        )
    if values.size < 2:
        return NOTHING
    fixed = np.lexsort((second, first))
    first_place, second_place = place[: first.size][fixed], place[first.size :][fixed]
    totals_V = np.bincount(place, minlength=values.size).astype(np.float64)
    distances_VV = _distances(values, totals_V, level)
    # Both scales together keep their scores, so all that changes is how far pairs are apart.
    factor = 2 * (totals_V.sum() - 1) / (totals_V @ distances_VV @ totals_V)
    rng = np.random.default_rng(seed)
    batch = max(1, _CELLS // first.size)
    null = []
    for start in range(0, n_permutations, batch):
        size = min(batch, n_permutations - start)
        dealt_BN = rng.permuted(np.tile(second_place, (size, 1)), axis=1)
        null.append(1 - factor * distances_VV[first_place, dealt_BN].sum(axis=1))
    value = 1 - factor * float(distances_VV[first_place, second_place].sum())
    return floor_of(
        value,
        np.concatenate(null),
        f"{n_permutations} random deals of one scale's scores to the items, two-sided",
    )


def _distances(values_V: Floats, totals_V: Floats, level: Level) -> Floats:
    """Distances between the values, as alpha takes them."""
    statistic = alpha_statistic(n_values=values_V.size, values=values_V, level=level)
    if statistic.at_totals is not None:
        statistic = statistic.at_totals(totals_V)
    if statistic.pairs is None or statistic.pairs.distances_VV is None:
        return 1.0 - np.eye(values_V.size)
    return statistic.pairs.distances_VV
