"""Weighted means whose rows come in clusters, and ends for means that are shares.

Shape suffixes: N = rows, C = clusters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.interval import Interval


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusteredMean:
    """A mean and the variance that its clusters show.

    Attributes
    ----------
    value : float
        The weighted mean; NaN where no row has a weight.
    variance : float
        Of that mean, from sums over clusters.
    n_clusters : int
        Clusters with a weight.
    pseudo_variance : float
        What pseudo rows add to the variance.
    clusters_C, influence_C : ndarray
        Clusters, and what each moves the mean by; their squares sum to the rest of the variance.
    """

    value: float
    variance: float
    n_clusters: int
    pseudo_variance: float = 0.0
    clusters_C: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # noqa: N815
    influence_C: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # noqa: N815


def cluster_sums(values_N: Floats, clusters_N: ArrayLike | None) -> Floats:
    """Sum values by cluster; without clusters every row is one.

    Examples
    --------
    >>> cluster_sums(np.array([1.0, 2.0, 3.0]), ["q", "q", "r"]).tolist()
    [3.0, 3.0]
    """
    if clusters_N is None:
        return values_N
    _, code_N = np.unique(np.asarray(clusters_N), return_inverse=True)
    sums: Floats = np.bincount(code_N, values_N).astype(np.float64, copy=False)
    return sums


class Linearised(Protocol):
    """An estimate of which it is known how far each cluster moves it."""

    @property
    def clusters_C(self) -> Floats:  # noqa: N802
        """Clusters, each once."""
        ...

    @property
    def influence_C(self) -> Floats:  # noqa: N802
        """What each moves the estimate by."""
        ...


def paired_variance(a: Linearised, b: Linearised) -> float:
    """Compute the variance of a difference, paired by the clusters that both have.

    Examples
    --------
    >>> one = clustered_mean([1, 1, 1, 0], clusters_N=[1, 2, 3, 4])
    >>> other = clustered_mean([1, 1, 1, 0], clusters_N=[5, 6, 7, 8])
    >>> paired_variance(one, one), paired_variance(one, other) == 2 * one.variance
    (0.0, True)
    """
    moved = cluster_sums(
        np.concatenate([a.influence_C, -b.influence_C]),
        np.concatenate([a.clusters_C, b.clusters_C]),
    )
    return float(moved @ moved)


def clustered_mean(
    values_N: ArrayLike,
    *,
    weights_N: ArrayLike | None = None,
    clusters_N: ArrayLike | None = None,
    pseudo: float = 0.0,
) -> ClusteredMean:
    r"""Compute a weighted mean and its variance over clusters.

    .. math:: V = \sum_c (\sum_{i \in c} w_i (x_i - \bar x))^2 / (\sum_i w_i)^2

    Parameters
    ----------
    values_N : array-like of float, shape (n_rows,)
        Values.
    weights_N : array-like of float, shape (n_rows,), optional
        At least 0: inverse probabilities of being labelled, say. By default all are alike.
    clusters_N : array-like, shape (n_rows,), optional
        What each row belongs to; by default itself.
    pseudo : float
        Rows of value 0, and as many of value 1, that are added: what few rows hide.

    Returns
    -------
    ClusteredMean

    Examples
    --------
    Three of four pass; the variance is that of a share:

    >>> found = clustered_mean([1, 1, 1, 0])
    >>> found.value, found.variance == 0.75 * 0.25 / 4
    (0.75, True)
    """
    values: Floats = np.asarray(values_N, dtype=np.float64)
    weights: Floats = np.ones(values.size) if weights_N is None else np.asarray(weights_N, float)
    kept = weights > 0
    values, weights = values[kept], weights[kept]
    clusters = np.arange(kept.size) if clusters_N is None else np.asarray(clusters_N)
    clusters = clusters[kept]
    if weights.size:
        weights = weights / weights.mean()
    total = float(weights.sum()) + 2 * pseudo
    if total <= 0:
        return ClusteredMean(value=float("nan"), variance=float("nan"), n_clusters=0)
    value = (float(weights @ values) + pseudo) / total
    sums_C = cluster_sums(weights * (values - value), clusters)
    few = sums_C.size / (sums_C.size - 1) if 1 < sums_C.size < values.size else 1.0
    influence_C, added = sqrt(few) * sums_C / total, pseudo * (value**2 + (1 - value) ** 2)
    return ClusteredMean(
        value=value,
        variance=(few * float(sums_C @ sums_C) + added) / total**2,
        n_clusters=sums_C.size,
        pseudo_variance=added / total**2,
        clusters_C=np.unique(clusters),
        influence_C=influence_C,
    )


def share_interval(mean: ClusteredMean, *, confidence: float = 0.95) -> Interval:
    """Give Clopper and Pearson's ends of a share, for as many coins as vary like it.

    Rows of one cluster, weights and means of several judgments change how many coins those are;
    they are never more than clusters.

    Parameters
    ----------
    mean : ClusteredMean
        A mean of values in [0, 1].
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Interval
        ``undefined`` is "too_few_units" without rows.

    References
    ----------
    .. [1] Clopper, C. J. and Pearson, E. S. (1934), doi:10.1093/biomet/26.4.404.
    .. [2] Korn, E. L. and Graubard, B. I. (1998), Survey Methodology 24(2), 193-201.

    Examples
    --------
    >>> found = share_interval(clustered_mean([1.0] * 431 + [0.0] * 169))
    >>> round(found.low, 6), round(found.high, 6)
    (0.680493, 0.754009)
    """
    from scipy.special import betaincinv

    if not mean.n_clusters:
        return Interval(undefined="too_few_units")
    spread = mean.value * (1 - mean.value)
    coins = spread / mean.variance if mean.variance > 0 else float(mean.n_clusters)
    n = min(max(1.0, coins), float(mean.n_clusters))
    k, tail = mean.value * n, (1 - confidence) / 2
    low = 0.0 if k <= 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k >= n else float(betaincinv(k + 1, n - k, 1 - tail))
    return Interval(low=low, high=high, n_questions=mean.n_clusters)
