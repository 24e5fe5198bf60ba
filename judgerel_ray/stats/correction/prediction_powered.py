"""Prediction-powered means: a judge's score of many, corrected by what people said of few.

Shape suffixes: N = labelled units, M = other units, C = clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.arguments import check_one_length, check_shape
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.ends import t_quantile
from judgerel_ray.stats.intervals.precision import smallest_enough
from judgerel_ray.stats.intervals.shares import CorrectedValue, cluster_sums, paired_variance

_PSEUDO_LABELS = np.array([0.0, 0.0, 1.0, 1.0])
_PSEUDO_JUDGED = np.array([0.0, 1.0, 0.0, 1.0])
"""One label of each kind: that a judge erred in none of few labels does not show that it never
does."""
_NONE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PpiMean(CorrectedValue):
    """A mean corrected by labels.

    It is undefined as "too_few_labels" below two clusters of labels, as "no_spread" where labels
    and judge show no error at all and the scale has no ends.
    """

    # How far the judge is followed (lambda): 0 is labels alone, 1 the judge with its mean error
    # taken out.
    weight: float = nan
    standard_error: float = nan  # Of `value`, without what small samples add.
    n_labels: int = 0  # Labels, and clusters of them.
    n_clusters: int = 0
    # What one label leaves open, clusters included: of the mean, divided by their number.
    label_variance: float = nan
    # What all units judged leave open of the mean, however many have a label.
    judge_variance: float = nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fit:
    """A mean, what every unit moves it by, and what is left of labels with the best weight."""

    value: float
    weight: float
    influence_N: Floats  # noqa: N815
    influence_M: Floats  # noqa: N815
    residual_N: Floats  # noqa: N815
    judge_M: Floats  # noqa: N815


def _prediction_powered_mean(
    labels: Floats, judged: Floats, others: Floats, weights: Floats, *, among: bool
) -> _Fit:
    """Fit the weight of the judge, and the mean; `among`: labelled units are among the others."""
    n, m = labels.size, others.size
    mean_y, mean_f = float(weights @ labels) / n, float(weights @ judged) / n
    error_y, error_f = weights * (labels - mean_y), weights * (judged - mean_f)
    if among:
        spread, both = float(error_f @ error_f), float(error_y @ error_f)
    elif m:
        spread = float(np.concatenate([judged, others]).var(ddof=1))
        both = float(error_y @ error_f) / n
    slope = both / spread if m and spread > 0 else 0.0
    share = 1.0 if among or not m else m / (m + n)  # others are not all: they weigh less
    weight, full = min(1.0, max(0.0, slope * share)), min(1.0, max(0.0, slope))
    mean_o = float(others.mean()) if m else 0.0
    left = labels - weight * judged
    bare = labels - full * judged
    middle = float(weights @ left) / n
    return _Fit(
        value=weight * mean_o + middle,
        weight=weight,
        influence_N=weights * (left - middle) / n,
        influence_M=weight * (others - mean_o) / max(1, m),
        residual_N=weights * (bare - float(weights @ bare) / n),
        judge_M=full * (others - mean_o),
    )


def ppi_mean(
    labels_N: ArrayLike,
    judged_N: ArrayLike,
    others_M: ArrayLike,
    *,
    weights_N: ArrayLike | None = None,
    clusters_N: ArrayLike | None = None,
    clusters_M: ArrayLike | None = None,
    is_share: bool = False,
    confidence: float = 0.95,
) -> PpiMean:
    r"""Compute a power-tuned prediction-powered mean (PPI++).

    .. math:: \hat\theta = \lambda \bar f_M + \overline{(y - \lambda f)}_N

    The judge's mean over many units has small variance and a bias; the labelled units measure that
    bias. A judge's score of a unit may be the mean of several replications: what they vary by is
    part of the scores' variance, and so of the interval.

    Notes
    -----
    Without weights, clusters and small-sample terms (`standard_error`) equal to ``ppi_py`` [1]_.
    With weights the estimate is Hajek's: means of weighted residuals, centred.

    References
    ----------
    .. [1] Angelopoulos, A. N., Duchi, J. C. and Zrnic, T. (2023), PPI++, arXiv:2311.01453.

    Examples
    --------
    A judge that passes everything people pass, and one thing more:

    >>> found = ppi_mean([1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0, 1, 1, 0, 1])
    >>> round(found.value, 4), round(found.weight, 4)
    (0.5, 0.4074)
    """
    labels, judged, others = (np.asarray(one, np.float64) for one in (labels_N, judged_N, others_M))
    weights: Floats = np.ones(labels.size) if weights_N is None else np.asarray(weights_N, float)
    _check_prediction_samples(labels, judged, others, weights)
    n, m, among = labels.size, others.size, weights_N is not None
    c_N = np.arange(n) if clusters_N is None else np.asarray(clusters_N)
    c_M = n + np.arange(m) if clusters_M is None else np.asarray(clusters_M)
    check_shape("ppi_mean", (n,), clusters_N=c_N)
    check_shape("ppi_mean", (m,), clusters_M=c_M)
    n_clusters = np.unique(c_N).size
    if n_clusters < 2:
        return PpiMean(n_labels=n, n_clusters=n_clusters, undefined="too_few_labels")
    weights = weights / weights.mean()
    plain = wide = _prediction_powered_mean(labels, judged, others, weights, among=among)
    if is_share:
        wide = _prediction_powered_mean(
            np.append(labels, _PSEUDO_LABELS), np.append(judged, _PSEUDO_JUDGED), others,
            np.append(weights, np.ones(4)), among=among,
        )  # fmt: skip
    clusters, code = np.unique(np.concatenate([c_N, c_M]), return_inverse=True)
    moved = cluster_sums(np.concatenate([wide.influence_N[:n], wide.influence_M]), code)
    added = float(wide.influence_N[n:] @ wide.influence_N[n:])
    few = n_clusters / (n_clusters - 1)
    half = t_quantile(n_clusters - 1, confidence) * sqrt(few * float(moved @ moved) + added)
    if half < _NONE:
        return PpiMean(n_labels=n, n_clusters=n_clusters, undefined="no_spread")
    bare = cluster_sums(np.concatenate([plain.influence_N, plain.influence_M]), code)
    left = cluster_sums(wide.residual_N, np.append(c_N, -1 - np.arange(wide.residual_N.size - n)))
    carried = cluster_sums(wide.judge_M, c_M)
    low, high = wide.value - half, wide.value + half
    return PpiMean(
        value=plain.value,
        low=max(0.0, low) if is_share else low,
        high=min(1.0, high) if is_share else high,
        weight=plain.weight,
        standard_error=sqrt(float(bare @ bare)),
        n_labels=n,
        n_clusters=n_clusters,
        label_variance=few * float(left @ left) / wide.residual_N.size,
        judge_variance=float(carried @ carried) / max(1, m) / (m if among else m + n),
        centre=wide.value,
        pseudo_variance=added,
        clusters_C=clusters,
        influence_C=moved,
    )


def ppi_difference(a: PpiMean, b: PpiMean, *, confidence: float = 0.95) -> PpiMean:
    """Compute the difference of two corrected means, paired by the clusters that they share."""
    few = min(a.n_clusters, b.n_clusters)
    if a.value is None or b.value is None:
        return PpiMean(n_labels=a.n_labels + b.n_labels, n_clusters=few,
                       undefined=a.undefined or b.undefined)  # fmt: skip
    added = a.pseudo_variance + b.pseudo_variance
    variance = few / (few - 1) * paired_variance(a, b) + added
    half = t_quantile(few - 1, confidence) * sqrt(variance)
    centre = a.centre - b.centre
    return PpiMean(
        value=a.value - b.value, low=centre - half, high=centre + half,
        standard_error=sqrt(variance), n_labels=a.n_labels + b.n_labels, n_clusters=few,
        centre=centre,
    )  # fmt: skip


def labels_for_width(found: PpiMean, width: float, *, most: int) -> int | None:
    """Compute how many labels, drawn at random, an interval as narrow as this needs."""
    if not width > 0:
        raise ValueError(f"labels_for_width: width must be above 0, got {width!r}")
    if found.value is None:
        return None
    by_cluster = found.n_clusters / found.n_labels

    def wide(n: int) -> float:
        variance = found.label_variance / n + found.judge_variance
        return 2 * t_quantile(max(1.0, n * by_cluster - 1), 0.95) * sqrt(variance)

    if wide(most) > width:
        return None
    return smallest_enough(lambda n: wide(n) <= width, least=2, most=2 * most)


def _check_prediction_samples(
    labels: Floats, judged: Floats, others: Floats, weights: Floats
) -> None:
    """Refuse what is no sample (ValueError)."""
    check_one_length("ppi_mean", labels_N=labels, judged_N=judged, weights_N=weights)
    check_one_length("ppi_mean", others_M=others)
    if not all(np.isfinite(one).all() for one in (labels, judged, others, weights)):
        raise ValueError("ppi_mean: values must be finite")
    if (weights <= 0).any():
        raise ValueError(f"ppi_mean: weights_N must be above 0, got {weights.min()!r}")
