"""Unit bootstrap: questions drawn anew with replacement.

Shape suffixes: U = units, V = distinct values, C = clusters (questions), T = terms, B = resamples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.stats.agreement.krippendorff import Level, Values
from judgerel_ray.stats.agreement.named import Statistic, named_statistic
from judgerel_ray.stats.counts.statistic import Floats
from judgerel_ray.stats.intervals.interval import Interval, by_cluster, cluster_terms, flagged

BootstrapMethod = Literal["percentile", "basic"]
_KINDS: Mapping[BootstrapMethod, IntervalMethod] = {
    "percentile": IntervalMethod.PERCENTILE_BOOTSTRAP,
    "basic": IntervalMethod.BASIC_BOOTSTRAP,
}
_CELLS = 4_000_000  # draws held at once: 32 MB
_MOST_UNDEFINED = 0.05


def bootstrap_interval(
    counts_UV: ArrayLike,
    statistic: Statistic,
    *,
    n_resamples: int = 2000,
    seed: int = 0,
    method: BootstrapMethod = "percentile",
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
) -> Interval:
    """Compute an interval by drawing questions anew with replacement.

    The jackknife of :func:`judgerel_ray.stats.jackknife_interval` is the default elsewhere: it
    needs no seed, and covers better where questions are few.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; or what else the statistic is of.
    statistic : CountStatistic, str or callable
        The coefficient, as of :func:`judgerel_ray.stats.jackknife_interval`.
    n_resamples : int
        Resamples, at least 1.
    seed : int
        Seed of the draws; equal seeds give equal draws on any machine.
    method : {"percentile", "basic"}
        Quantiles of the resamples, or those reflected at the value.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default every unit is its own. All units of a question are
        drawn together.
    confidence, values, level, n_categories
        As of :func:`judgerel_ray.stats.jackknife_interval`.

    Returns
    -------
    Interval
        Or why there is none: as of the jackknife, or "undefined_resamples" where more than one in
        twenty resamples have no value.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, there is not one cluster a unit, the name is
        unknown, or a choice is out of range.

    Notes
    -----
    Terms are summed by question once; a resample is a row of weights times those sums.

    Examples
    --------
    >>> found = bootstrap_interval([[2, 0], [1, 1], [0, 2], [2, 0]], "percent_agreement")
    >>> found.low, found.high, found.method
    (0.25, 1.0, 'percentile bootstrap, 2000 resamples of 4 questions')
    """
    check_choices(confidence, n_resamples, method, function="bootstrap_interval")
    statistic = named_statistic(
        statistic, counts_UV, values=values, level=level, n_categories=n_categories
    )
    counts = statistic.checked(counts_UV, function="bootstrap_interval")
    clusters = np.arange(len(counts)) if clusters_U is None else np.asarray(clusters_U)
    if clusters.shape != counts.shape[:1]:
        raise ValueError(
            f"bootstrap_interval: clusters_U must have shape ({len(counts)},), got {clusters.shape}"
        )
    counts, clusters = by_cluster(counts, clusters, statistic)
    parts = list(cluster_terms(counts, clusters, statistic))
    terms_CT = np.concatenate(parts) if parts else statistic.terms(counts)
    value = float(statistic.value(terms_CT.sum(axis=0)))
    if np.isnan(value):
        return Interval(undefined="undefined")
    n = len(terms_CT)
    if n < 2:
        return Interval(undefined="too_few_units", n_questions=n)
    weights = bootstrap_weights(n, n_resamples=n_resamples, seed=seed)
    values_B = np.concatenate([statistic.value(weight @ terms_CT) for weight in weights])
    found = between(value, values_B, confidence, method, n)
    if found.undefined or found.low is None or found.high is None:
        return found
    floor = -np.inf if statistic.chance_corrected else 0.0
    low, high = max(floor, found.low), min(1.0, found.high)
    inside = replace(found, low=low, high=high)
    return flagged(inside, counts, clusters, statistic)


def bootstrap_weights(n: int, *, n_resamples: int, seed: int) -> Iterator[Floats]:
    """Draw how often each of n questions is in each resample, a block of resamples at a time.

    Examples
    --------
    >>> [weights.sum(axis=1).tolist() for weights in bootstrap_weights(3, n_resamples=2, seed=0)]
    [[3.0, 3.0]]
    """
    rng = np.random.default_rng(seed)
    block = max(1, min(500, _CELLS // n))
    for start in range(0, n_resamples, block):
        # Whole blocks are drawn, so that more resamples begin with those of fewer.
        drawn = rng.integers(n, size=(block, n)) + np.arange(block)[:, None] * n
        weights = np.bincount(drawn.ravel(), minlength=block * n).reshape(block, n)
        yield weights[: n_resamples - start].astype(np.float64)


def between(
    value: float, values_B: Floats, confidence: float, method: BootstrapMethod, n: int
) -> Interval:
    """Compute the percentile or basic interval of the resamples of n that have a value.

    Examples
    --------
    >>> found = between(0.5, np.linspace(0, 1, 101), 0.9, "percentile", 9)
    >>> round(found.low, 6), round(found.high, 6)
    (0.05, 0.95)
    """
    n_undefined = int(np.isnan(values_B).sum())
    if n_undefined > _MOST_UNDEFINED * values_B.size:
        return Interval(undefined="undefined_resamples", n_questions=n)
    tail = (1 - confidence) / 2
    ends = np.quantile(values_B[~np.isnan(values_B)], [tail, 1 - tail])
    if ends[1] - ends[0] < 1e-9:
        return Interval(undefined="no_spread", n_questions=n)
    low, high = ends if method == "percentile" else 2 * value - ends[::-1]
    return Interval(
        low=float(low), high=float(high), kind=_KINDS[method], n_questions=n,
        n_resamples=values_B.size, n_undefined=n_undefined,
    )  # fmt: skip


def check_choices(confidence: float, n_resamples: int, method: str, *, function: str) -> None:
    """Refuse choices out of range (ValueError).

    Examples
    --------
    >>> check_choices(0.95, 2000, "percentile", function="bootstrap_interval")
    """
    if not 0 < confidence < 1:
        raise ValueError(f"{function}: confidence must be between 0 and 1, got {confidence!r}")
    if n_resamples < 1:
        raise ValueError(f"{function}: n_resamples must be at least 1, got {n_resamples}")
    if method not in ("percentile", "basic"):
        raise ValueError(f"{function}: method must be percentile or basic, got {method!r}")
