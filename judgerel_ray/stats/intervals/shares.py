"""Shares of trials, and weighted means whose rows come in clusters, with their intervals.

Exact where trials are independent; by question, or by what varies like the clusters, elsewhere.

Shape suffixes: N = trials or rows, C = clusters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.stats.arguments import check_fraction, check_one_length
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.ends import (
    alike_ends,
    is_uneven,
    one_more_ends,
    t_quantile,
    trial_ends,
)
from judgerel_ray.stats.intervals.interval import NO_SPREAD, Interval, exact_where_alike


def clopper_pearson(k: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Compute the exact interval of a share, for independent trials: one row a question.

    Parameters
    ----------
    k, n : int
        Successes and trials.
    confidence : float
        Least coverage, in (0, 1).

    Returns
    -------
    Interval
        Within [0, 1]; ``undefined`` is "too_few_units" where n is 0.

    Raises
    ------
    ValueError
        If not 0 <= k <= n, or the confidence is not in (0, 1).

    References
    ----------
    .. [1] Clopper, C. J. and Pearson, E. S. (1934), doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> found = clopper_pearson(431, 600)
    >>> round(found.low, 6), round(found.high, 6)
    (0.680493, 0.754009)
    """
    if not 0 <= k <= n:
        raise ValueError(f"clopper_pearson: k must be between 0 and n={n}, got {k}")
    check_fraction("clopper_pearson", confidence=confidence)
    if n == 0:
        return Interval(undefined="too_few_units")
    low, high = trial_ends(k, n, confidence)
    return Interval(low=low, high=high, kind=IntervalMethod.CLOPPER_PEARSON, n_questions=n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of trials with its interval."""

    k: int  # Successes and trials.
    n: int
    value: float | None  # None without trials; no ends where all trials are of one question.
    low: float | None
    high: float | None
    # What is independent: the trials themselves where each is a question of its own.
    n_questions: int
    method: str  # How the interval was made, in words.


def exact_share(k: int, n: int, *, confidence: float = 0.95) -> Share:
    """Give a share of independent trials with its exact interval."""
    ends = clopper_pearson(k, n, confidence=confidence)
    return Share(
        k=k, n=n, value=k / n if n else None, low=ends.low, high=ends.high, n_questions=n,
        method="exact binomial",
    )  # fmt: skip


def clustered_share(
    hits_N: ArrayLike, *, clusters_N: ArrayLike | None = None, confidence: float = 0.95
) -> Share:
    """Give a share with its interval.

    With one trial a question the interval is exact (Clopper-Pearson). With several it is that of as
    many independent trials as the spread over questions is worth [1]_, at most all; where questions
    have unequally many, with one question more (:func:`.one_more_ends`), and where all trials are
    hits, or none is, exact (:func:`.least_mean`).

    References
    ----------
    .. [1] Korn, E. L. and Graubard, B. I. (1998), Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data, Survey Methodology 24.
    """
    hits = np.asarray(hits_N, dtype=bool)
    clusters = np.arange(hits.size) if clusters_N is None else np.asarray(clusters_N)
    check_one_length("clustered_share", hits_N=hits, clusters_N=clusters)
    check_fraction("clustered_share", confidence=confidence)
    k, n = int(hits.sum()), hits.size
    number = np.unique(clusters, return_inverse=True)[1]
    n_questions = int(number.max()) + 1 if n else 0
    if n_questions == n:
        return exact_share(k, n, confidence=confidence)
    low = high = None
    sizes = np.bincount(number).astype(np.float64)
    if n_questions > 1 and k in (0, n):
        low, high = alike_ends(k / n, sizes, confidence)
    elif n_questions > 1:
        worth = _independent_trials_worth(hits, number, confidence)
        low, high = trial_ends(k / n * worth, worth, confidence)
        if is_uneven(sizes):
            left_out = (k - np.bincount(number, weights=hits)) / (n - sizes)
            more = one_more_ends(k / n, left_out, sizes, confidence=confidence)
            low, high = min(low, more[0]), max(high, more[1])
    return Share(
        k=k, n=n, value=k / n, low=low, high=high, n_questions=n_questions,
        method=f"by {n_questions} questions",
    )  # fmt: skip


def difference_ends(
    value: float, error: float, n_questions: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Give ends for a mean, over questions, of differences of shares: with one question more.

    Where few questions differ much, Student's t excludes a truth farther from 0 too often: nothing
    is known of the next question that differs. Each end is that of the same questions and one more,
    which differs as much as it can, as the exact end of a share is about one more success.

    Examples
    --------
    Two of 60 questions lost; Student's t ends at .080, and 2 of 60 has the exact end .115:

    >>> [round(end, 3) for end in difference_ends(2 / 60, 0.0234, 60)]
    [-0.041, 0.105]
    """
    n, reach = n_questions, t_quantile(n_questions, confidence)
    ends = []
    for worst in (-1.0, 1.0):
        squares = error**2 * n * (n - 1) + (worst - value) ** 2 * n / (n + 1)
        end = (n * value + worst) / (n + 1) + worst * reach * (squares / n / (n + 1)) ** 0.5
        ends.append(max(-1.0, min(1.0, end)))
    return ends[0], ends[1]


def _independent_trials_worth(
    hits: NDArray[np.bool_], number: NDArray[np.intp], confidence: float
) -> float:
    """Independent trials that vary as the questions do, less what their few questions hide."""
    n, n_questions = hits.size, int(number.max()) + 1
    p = float(hits.mean())
    sums = np.bincount(number, weights=hits - p)
    variance = float((sums**2).sum()) * n_questions / (n_questions - 1) / n**2
    if variance <= 1e-15:
        return float(n)
    lost = t_quantile(n - 1, confidence) / t_quantile(n_questions - 1, confidence)
    return min(float(n), p * (1 - p) / variance * lost**2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusteredMean:
    """A mean and the variance that its clusters show."""

    value: float  # The weighted mean; NaN where no row has a weight.
    variance: float  # Of that mean, from sums over clusters.
    n_clusters: int  # Clusters with a weight.
    pseudo_variance: float = 0.0  # What pseudo rows add to the variance.
    # Clusters, and what each moves the mean by; their squares sum to the rest of the variance.
    clusters_C: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # noqa: N815
    # What each weighs, in all as many as there are rows.
    weights_C: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # noqa: N815
    influence_C: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # noqa: N815


def cluster_sums(values_N: Floats, clusters_N: ArrayLike | None) -> Floats:
    """Sum values by cluster; without clusters every row is one."""
    if clusters_N is None:
        return values_N
    _, code_N = np.unique(np.asarray(clusters_N), return_inverse=True)
    return np.bincount(code_N, values_N).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectedValue:
    """A rate or mean corrected by labels, and how far each cluster moves it."""

    value: float | None = None  # None where `undefined` is set.
    low: float | None = None
    high: float | None = None
    undefined: str | None = None  # Why there is none.
    centre: float = nan  # Middle of the interval, and what pseudo labels add to its variance.
    pseudo_variance: float = 0.0
    # Clusters, and what each moves the value by: differences of two are made of these.
    clusters_C: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # noqa: N815
    influence_C: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # noqa: N815


def paired_variance(a: CorrectedValue, b: CorrectedValue) -> float:
    """Compute the variance of a difference, paired by the clusters that both have."""
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
    """
    values: Floats = np.asarray(values_N, dtype=np.float64)
    weights: Floats = np.ones(values.size) if weights_N is None else np.asarray(weights_N, float)
    if np.isnan(values).any() or np.isnan(weights).any():
        raise ValueError("clustered_mean: values_N and weights_N must be numbers, got NaN")
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
        weights_C=cluster_sums(weights, clusters),
        influence_C=influence_C,
    )


def weighted_share_interval(mean: ClusteredMean, *, confidence: float = 0.95) -> Interval:
    """Give Clopper and Pearson's ends of a share, for as many coins as vary like it.

    Rows of one cluster, weights and means of several judgments change how many coins those are;
    they are never more than clusters. A share of 1, or 0, in every cluster has the exact interval
    of clusters of such weights (:func:`.least_mean`).

    References
    ----------
    .. [1] Clopper, C. J. and Pearson, E. S. (1934), doi:10.1093/biomet/26.4.404.
    .. [2] Korn, E. L. and Graubard, B. I. (1998), Survey Methodology 24(2), 193-201.
    """
    if not mean.n_clusters:
        return Interval(undefined="too_few_units")
    if round(mean.value, 9) in (0.0, 1.0) and not mean.pseudo_variance:
        alike = Interval(undefined=NO_SPREAD, n_questions=mean.n_clusters)
        return exact_where_alike(alike, mean.value, confidence, mean.weights_C)
    spread = mean.value * (1 - mean.value)
    coins = spread / mean.variance if mean.variance > 0 else float(mean.n_clusters)
    n = min(max(1.0, coins), float(mean.n_clusters))
    low, high = trial_ends(mean.value * n, n, confidence)
    return Interval(
        low=low, high=high, kind=IntervalMethod.BINOMIAL_BY_QUESTION, n_questions=mean.n_clusters
    )
