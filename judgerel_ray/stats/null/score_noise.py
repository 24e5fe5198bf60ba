"""The noise floor of continuous scores, which are not counted value by value.

Every unit keeps its number of scores, and all scores are permuted.

Shape suffixes: U = units, N = scores, B = batch of permutations, T = terms, 3 = number, sum, sum of
squares.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.agreement.intraclass import WITHIN, moment_statistic
from judgerel_ray.stats.arguments import check_at_least_1, check_one_length
from judgerel_ray.stats.counts import CountStatistic, Floats, batches
from judgerel_ray.stats.null.closed_null import ClosedNull
from judgerel_ray.stats.null.noise import (
    CELLS,
    FEWEST,
    LABELS,
    NOTHING,
    NoiseFloor,
    affordable,
    closed_floor,
    floor_of,
)
from judgerel_ray.stats.null.pair_null import kernel_of_scores, linear_null, permuted_moments

OfScores = Literal["icc1", "krippendorff_alpha"]


def score_floor(
    scores_N: ArrayLike,
    unit_N: ArrayLike,
    name: OfScores = "icc1",
    *,
    n_permutations: int = 999,
    seed: int = 0,
) -> NoiseFloor:
    """Compute the null of ICC(1) or interval alpha of continuous scores.

    Every unit keeps its number of scores; nothing is assumed of their distribution.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_scores,)
        All scores; NaN is missing.
    unit_N : array-like of int, shape (n_scores,)
        The unit of each, numbered from 0.
    name : {"icc1", "krippendorff_alpha"}
        Of which coefficient.
    n_permutations : int
        Permutations asked for, at least 1.
    seed : int
        Seed of the permutations; the order of scores and units does not matter.

    Returns
    -------
    NoiseFloor
        Nothing where the coefficient is undefined.

    Raises
    ------
    ValueError
        If the scores are not finite, there is not one unit a score, or `n_permutations` is below 1.

    Notes
    -----
    Above 20 million scores there are fewer permutations (not below 199). Above 100 thousand scores,
    mean and spread over all permutations are exact (:func:`.permuted_moments`,
    of squared differences), and `p` is from them and the skewness. Where that is above 0.1 or the
    excess kurtosis above 0.3 (heavy tails, a few large units), up to three million scores are
    permuted all the same, in about a minute; beyond, there is a p up to a skewness of 0.5 and a
    kurtosis of 1, and none above.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> units = np.repeat(np.arange(20), 5)
    >>> noise, judge = rng.normal(size=100), units + rng.normal(size=100)
    >>> score_floor(noise, units).p > 0.05, score_floor(judge, units).p
    (True, 0.001)
    """
    check_at_least_1("score_floor", n_permutations=n_permutations)
    scores, units = _checked_scores(scores_N, unit_N)
    statistic = moment_statistic(name)
    sizes = np.bincount(units)
    kept = sizes[units] >= 2
    # Sorted, and in units of their spread: neither order nor scale may matter.
    fixed = np.lexsort((scores[kept], units[kept]))
    scores, units, sizes_U = scores[kept][fixed], units[kept][fixed], np.sort(sizes[sizes >= 2])
    spread = scores.std() if scores.size else 0.0
    if not spread > 0:
        return NOTHING
    scores = (scores - scores.mean()) / spread
    sums = [np.bincount(units, scores**power) for power in range(3)]
    total_T = statistic.terms(np.stack(sums, axis=1)).sum(axis=0)
    value = float(statistic.value(total_T))
    if np.isnan(value):
        return NOTHING
    scores = np.sort(scores)
    if scores.size * FEWEST > LABELS:
        null = _score_moments(scores, sizes_U, statistic, total_T)
        if null is not None and (null.settled or not affordable(scores.size)):
            return closed_floor(null)
    permutations = min(n_permutations, max(FEWEST, LABELS // scores.size))
    found = _permuted_scores(scores, sizes_U, statistic, permutations, np.random.default_rng(seed))
    return floor_of(value, found, NullMethod.SCORE_PERMUTATIONS)


def _checked_scores(scores_N: ArrayLike, unit_N: ArrayLike) -> tuple[Floats, NDArray[np.int64]]:
    """Scores that are there, with their units."""
    scores = np.asarray(scores_N, dtype=np.float64)
    units = np.asarray(unit_N, dtype=np.int64)
    check_one_length("score_floor", scores_N=scores, unit_N=units)
    there = ~np.isnan(scores)
    if np.isinf(scores).any():
        raise ValueError("score_floor: scores_N must be finite or NaN")
    if (units < 0).any():
        raise ValueError("score_floor: unit_N must be numbers from 0 on")
    return scores[there], units[there]


def _score_moments(
    scores_N: Floats, sizes_U: NDArray[np.int64], statistic: CountStatistic, total_T: Floats
) -> ClosedNull | None:
    """The null by its moments: squares about a unit's mean are those of pairs, over 2 m."""
    less = 1 if statistic.name == "krippendorff_alpha" else 0
    kernel = kernel_of_scores(scores_N)
    mean, variance, *higher = permuted_moments(
        sizes_U, lambda m: Fraction(1, 2 * (m - less)), kernel
    )
    moments = np.array([mean]), np.array([[variance]]), (higher[0], higher[1])
    return linear_null(statistic, total_T, [WITHIN], *moments)


def _permuted_scores(
    scores_N: Floats,
    sizes_U: NDArray[np.int64],
    statistic: CountStatistic,
    n_drawn: int,
    rng: np.random.Generator,
) -> Floats:
    """The coefficient of random permutations."""
    starts_U = np.cumsum(sizes_U) - sizes_U
    values = []
    for size in batches(n_drawn, scores_N.size, CELLS):
        permuted_BN = rng.permuted(np.broadcast_to(scores_N, (size, scores_N.size)), axis=1)
        moments_BU3 = np.empty((size, sizes_U.size, 3))
        moments_BU3[..., 0] = sizes_U
        moments_BU3[..., 1] = np.add.reduceat(permuted_BN, starts_U, axis=1)
        np.square(permuted_BN, out=permuted_BN)
        moments_BU3[..., 2] = np.add.reduceat(permuted_BN, starts_U, axis=1)
        values.append(statistic.value(statistic.terms(moments_BU3).sum(axis=-2)))
    return np.concatenate(values)
