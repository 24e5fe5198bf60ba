"""Intervals and noise floors of coefficients of counts by name: the front door to each."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats import bootstrap, interval, noise
from judgerel_ray.stats.bootstrap import BootstrapMethod
from judgerel_ray.stats.catalogue import count_statistic
from judgerel_ray.stats.interval import Interval
from judgerel_ray.stats.noise import NoiseFloor
from judgerel_ray.stats.statistic import CountStatistic


def jackknife_interval(
    counts_UV: ArrayLike,
    statistic: CountStatistic | str,
    *,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Compute an interval by leaving one question out at a time, with Student's t.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value.
    statistic : CountStatistic or str
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`; or its name, at the
        nominal level with as many categories as there are columns.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default every unit is its own.
    confidence : float
        Coverage asked for, in (0, 1).

    Returns
    -------
    Interval
        As of :func:`judgerel_ray.stats.interval.jackknife_interval`, which tells more.

    Raises
    ------
    ValueError
        If the name is unknown, or for its reasons.

    Examples
    --------
    >>> found = jackknife_interval([[2, 0], [1, 1], [0, 2], [2, 0]], "percent_agreement")
    >>> found.low, found.high, found.method
    (0.0, 1.0, 'jackknife-t over 4 questions')
    """
    return interval.jackknife_interval(
        counts_UV, _taken_apart(statistic, counts_UV), clusters_U=clusters_U, confidence=confidence
    )


def bootstrap_interval(
    counts_UV: ArrayLike,
    statistic: CountStatistic | str,
    *,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    method: BootstrapMethod = "percentile",
) -> Interval:
    """Compute an interval by drawing questions anew with replacement.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value.
    statistic : CountStatistic or str
        The coefficient or its name, as of :func:`jackknife_interval`.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default every unit is its own.
    confidence : float
        Coverage asked for, in (0, 1).
    n_resamples : int
        Draws.
    seed : int
        Seed of the draws; the same seed gives the same digits.
    method : str
        As of :func:`judgerel_ray.stats.bootstrap.bootstrap_interval`, which tells more.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If the name is unknown, or for its reasons.

    Examples
    --------
    >>> counts = [[2, 0], [1, 1], [0, 2], [2, 0], [1, 1], [0, 2]]
    >>> found = bootstrap_interval(counts, "percent_agreement")
    >>> found.low < 2 / 3 < found.high
    True
    """
    return bootstrap.bootstrap_interval(
        counts_UV,
        _taken_apart(statistic, counts_UV),
        clusters_U=clusters_U,
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
        method=method,
    )


def noise_floor(
    counts_UV: ArrayLike,
    statistic: CountStatistic | str,
    *,
    n_permutations: int = 999,
    seed: int = 0,
) -> NoiseFloor:
    """Compute what a coefficient gives when its verdicts are dealt to the units at random.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value.
    statistic : CountStatistic or str
        The coefficient or its name, as of :func:`jackknife_interval`.
    n_permutations : int
        Reassignments asked for, at least 1.
    seed : int
        Seed of the reassignments.

    Returns
    -------
    NoiseFloor
        As of :func:`judgerel_ray.stats.noise.noise_floors`, which tells more.

    Raises
    ------
    ValueError
        If the name is unknown, or for its reasons.

    Examples
    --------
    >>> noise_floor([[5, 0], [5, 0]], "percent_agreement").mean
    1.0
    """
    return noise.noise_floor(
        counts_UV, _taken_apart(statistic, counts_UV), n_permutations=n_permutations, seed=seed
    )


def _taken_apart(statistic: CountStatistic | str, counts_UV: ArrayLike) -> CountStatistic:
    """The coefficient, by name where a name is given."""
    if isinstance(statistic, CountStatistic):
        return statistic
    shape = np.shape(counts_UV)
    if len(shape) != 2:
        raise ValueError(f"{statistic}: counts_UV must have 2 dimensions, got {len(shape)}")
    return count_statistic(statistic, n_values=shape[1])
