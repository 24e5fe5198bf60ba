"""Intervals and noise floors of coefficients of counts by name: the front door to each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.agreement.agreement import count_statistic
from judgerel_ray.stats.agreement.krippendorff import Level, Values
from judgerel_ray.stats.counts.counts import Coefficient
from judgerel_ray.stats.counts.statistic import CountStatistic
from judgerel_ray.stats.intervals import bootstrap, interval
from judgerel_ray.stats.intervals.bootstrap import BootstrapMethod
from judgerel_ray.stats.intervals.interval import Interval
from judgerel_ray.stats.null import noise
from judgerel_ray.stats.null.noise import NoiseFloor

Statistic = CountStatistic | str | Callable[..., Coefficient]
"""A coefficient of counts: taken apart, by name, or as the function that gives it."""


def jackknife_interval(
    counts_UV: ArrayLike,
    statistic: Statistic,
    *,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Compute an interval by leaving one question out at a time, with Student's t.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value.
    statistic : CountStatistic, str or callable
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`; or its name; or the
        function of counts that gives it, such as :func:`judgerel_ray.stats.krippendorff_alpha`,
        also with options bound by :func:`functools.partial`.
    values, level, n_categories
        As of :func:`judgerel_ray.stats.count_statistic`; of a name or a function alone.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default every unit is its own.
    confidence : float
        Coverage asked for, in (0, 1).

    Returns
    -------
    Interval
        As of :func:`judgerel_ray.stats.intervals.interval.jackknife_interval`, which tells more.

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
        counts_UV,
        _taken_apart(statistic, counts_UV, values, level, n_categories),
        clusters_U=clusters_U,
        confidence=confidence,
    )


def bootstrap_interval(
    counts_UV: ArrayLike,
    statistic: Statistic,
    *,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
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
    statistic : CountStatistic, str or callable
        The coefficient, as of :func:`jackknife_interval`.
    values, level, n_categories
        As of :func:`judgerel_ray.stats.count_statistic`; of a name or a function alone.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default every unit is its own.
    confidence : float
        Coverage asked for, in (0, 1).
    n_resamples : int
        Draws.
    seed : int
        Seed of the draws; the same seed gives the same digits.
    method : str
        As of :func:`judgerel_ray.stats.intervals.bootstrap.bootstrap_interval`, which tells more.

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
        _taken_apart(statistic, counts_UV, values, level, n_categories),
        clusters_U=clusters_U,
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
        method=method,
    )


def noise_floor(
    counts_UV: ArrayLike,
    statistic: Statistic,
    *,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
    n_permutations: int = 999,
    seed: int = 0,
) -> NoiseFloor:
    """Compute what a coefficient gives when its verdicts are shuffled across the units.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value.
    statistic : CountStatistic, str or callable
        The coefficient, as of :func:`jackknife_interval`.
    values, level, n_categories
        As of :func:`judgerel_ray.stats.count_statistic`; of a name or a function alone.
    n_permutations : int
        Reassignments asked for, at least 1.
    seed : int
        Seed of the reassignments.

    Returns
    -------
    NoiseFloor
        As of :func:`judgerel_ray.stats.null.noise.noise_floors`, which tells more.

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
        counts_UV,
        _taken_apart(statistic, counts_UV, values, level, n_categories),
        n_permutations=n_permutations,
        seed=seed,
    )


def _taken_apart(
    statistic: Statistic,
    counts_UV: ArrayLike,
    values: Values | None,
    level: Level,
    n_categories: int | None,
) -> CountStatistic:
    """The coefficient, by name or function where one is given."""
    asked: dict[str, object] = {"values": values, "level": level, "n_categories": n_categories}
    if isinstance(statistic, CountStatistic):
        if asked != {"values": None, "level": "nominal", "n_categories": None}:
            raise ValueError(
                f"{statistic.name}: values, level and n_categories go with a name or a function, "
                "not with a CountStatistic"
            )
        return statistic
    name, bound = _named(statistic)
    asked |= {key: one for key, one in bound.items() if key in asked}
    shape = np.shape(counts_UV)
    if len(shape) != 2:
        raise ValueError(f"{name}: counts_UV must have 2 dimensions, got {len(shape)}")
    return count_statistic(name, n_values=shape[1], **asked)  # type: ignore[arg-type]


def _named(statistic: str | Callable[..., Coefficient]) -> tuple[str, dict[str, object]]:
    """The name of a coefficient, and the options bound to its function."""
    if isinstance(statistic, str):
        return statistic, {}
    bound: dict[str, object] = {}
    while isinstance(statistic, partial):
        bound = {**statistic.keywords, **bound}
        statistic = statistic.func
    name = getattr(statistic, "__name__", None)
    if not callable(statistic) or not isinstance(name, str):
        raise ValueError(
            f"statistic must be a name, a function of counts or a CountStatistic, got {statistic!r}"
        )
    if name == "majority_stability":
        return f"{name}_{bound.get('k')}", bound
    return name, bound
