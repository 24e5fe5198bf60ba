"""Interval of nominal alpha from the posterior of the mixing distribution.

Shape suffixes: U = units, V = distinct values, D = distinct rows of counts, B = tables, J = atoms.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.interval import Interval
from judgerel_ray.stats.mixing import (
    CHAINS,
    KEPT,
    MOST_CELLS,
    TINY,
    distinct_rows,
    mixing_states,
)
from judgerel_ray.stats.noise import noise_floor
from judgerel_ray.stats.statistic import CountStatistic, Floats, term_sums

Ints = NDArray[np.int64]
_NOISE = 0.05


def alpha_draws(rows_DV: Ints, numbers_BD: Ints, *, seed: int = 0) -> Floats:
    """Draw nominal alpha of infinitely many questions from its posterior.

    Parameters
    ----------
    rows_DV : ndarray of int, shape (n_rows, n_values)
        Distinct rows of counts.
    numbers_BD : ndarray of int, shape (n_tables, n_rows)
        How many questions of each table have each row.
    seed : int
        Seed of the draws.

    Returns
    -------
    ndarray of float, shape (n_draws, n_tables)
        Each in [0, 1]: 400 draws of a table, from four chains.

    Examples
    --------
    >>> draws = alpha_draws(np.array([[5, 0], [0, 5], [3, 2]]), np.array([[40, 40, 20]]))
    >>> draws.shape, round(float(np.median(draws)), 1)
    ((400, 1), 0.8)
    """
    n_tables = len(numbers_BD)
    found = []
    chains = np.repeat(numbers_BD, CHAINS, axis=0)
    for weights, atoms in mixing_states(rows_DV, chains, np.random.default_rng(seed)):
        mean = np.einsum("bj,bjv->bv", weights, atoms)
        within = 1 - np.einsum("bj,bjv,bjv->b", weights, atoms, atoms)
        chance = 1 - (mean**2).sum(axis=1)
        found.append(1 - within / np.maximum(chance, TINY))
    draws = np.clip(np.array(found), 0.0, 1.0).reshape(KEPT, n_tables, CHAINS)
    return np.moveaxis(draws, 1, 2).reshape(-1, n_tables)


def posterior_interval(
    counts_UV: ArrayLike,
    statistic: CountStatistic,
    *,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
    p_noise: float | None = None,
) -> Interval | None:
    """Compute the interval of a nominal alpha from the posterior of the mixing distribution.

    For Krippendorff's nominal alpha, Fleiss' kappa and icc1 of labels, which are one quantity for
    infinitely many questions. It covers where one verdict dominates or questions are few, and
    :func:`judgerel_ray.stats.jackknife_interval` does not.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; numbers of ratings may differ.
    statistic : CountStatistic
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default every unit is its own.
    confidence : float
        Coverage asked for, in (0, 1).
    p_noise : float, optional
        The p of noise, if it is known; computed otherwise. Above .05 the interval includes 0, which
        a posterior never does.

    Returns
    -------
    Interval or None
        Within [-1, 1], the value in it: an end that falls short of the value is moved to it, and
        `method` says so. None where this posterior does not apply: another coefficient, questions
        with several units, or more different counts than it is meant for.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or the confidence is not in (0, 1).

    Notes
    -----
    Deterministic, and the same whatever the order of units and values. The draws of a table are
    kept for the next coefficient.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> counts = [[5, 0]] * 17 + [[3, 2], [1, 4], [0, 5]]
    >>> found = posterior_interval(counts, count_statistic("krippendorff_alpha", n_values=2))
    >>> round(found.low, 1), round(found.high, 1), found.method
    (0.4, 0.9, 'Dirichlet process posterior over 20 questions')
    """
    if not 0 < confidence < 1:
        raise ValueError(
            f"posterior_interval: confidence must be between 0 and 1, got {confidence!r}"
        )
    if not _is_nominal_alpha(statistic):
        return None
    counts = statistic.checked(counts_UV, function="posterior_interval")
    taking = statistic.takes_part(counts)
    if clusters_U is not None:
        clusters = np.asarray(clusters_U)[taking]
        if np.unique(clusters).size < clusters.size:
            return None
    counts = counts[taking]
    value = float(statistic.value(term_sums(counts, statistic)))
    if np.isnan(value):
        return Interval(undefined="undefined")
    rows_DV, numbers_D = distinct_rows(counts)
    if rows_DV.size > MOST_CELLS:
        return None
    draws = _alpha_of(rows_DV.tobytes(), rows_DV.shape[1], numbers_D.tobytes())
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail]).tolist()
    words = f"Dirichlet process posterior over {len(counts)} questions"
    found = Interval(low=low, high=high, method=words, n_questions=len(counts))
    if low > 0 and p_noise is None:
        p_noise = noise_floor(counts, statistic, n_permutations=199).p
    return _holding(found, value, p_noise)


@lru_cache(maxsize=8)
def _alpha_of(rows: bytes, n_values: int, numbers: bytes) -> Floats:
    """The draws of one table: alpha, kappa and icc1 of a group share them."""
    rows_DV = np.frombuffer(rows, dtype=np.int64).reshape(-1, n_values)
    return alpha_draws(rows_DV, np.frombuffer(numbers, dtype=np.int64)[None])[:, 0]


def _is_nominal_alpha(statistic: CountStatistic) -> bool:
    """Whether a coefficient is 1 - (disagreement inside questions) / (that of all), of labels."""
    pairs = statistic.pairs
    return statistic.rests_on_minority and pairs is not None and pairs.distances_VV is None


def _holding(found: Interval, value: float, p_noise: float | None) -> Interval:
    """An interval that includes 0 where the verdicts may be noise, and the value."""
    low, high, words = float(found.low or 0.0), float(found.high or 0.0), found.method
    if low > 0 and (p_noise is None or p_noise > _NOISE):
        low, words = 0.0, f"{words}, with 0: it may be noise"
    if not low <= value <= high:
        low, high, words = min(low, value), max(high, value), f"{words}, extended to the value"
    return replace(found, low=low, high=high, method=words)
