"""Pass rates corrected by how often a judge passes what people pass, and what they fail.

Shape suffixes: N = labelled units, M = all units judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.arguments import check_one_length
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.interval import Interval
from judgerel_ray.stats.intervals.shares import (
    ClusteredMean,
    CorrectedValue,
    cluster_sums,
    clustered_mean,
    paired_variance,
    weighted_share_interval,
)

LEAST = 5
"""Labels of either kind, each of another question, below which intervals of a rate covered
.91 to .93 of the time (``bench/correction_coverage.py``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRates:
    """How often a judge is right of what people pass, and of what they fail."""

    # Share of what people pass that the judge passes (sensitivity), and of what they fail that it
    # fails (specificity); None without labels of that kind.
    tpr: float | None
    tnr: float | None
    tpr_interval: Interval  # Their intervals.
    tnr_interval: Interval
    n_passed: float  # Labels that pass, and that fail; not whole where people disagree.
    n_failed: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectedRate(CorrectedValue):
    """A pass rate with a judge's errors taken out, within [0, 1].

    It is undefined as "too_few_labels" below `LEAST` labels of either kind, or questions with one;
    as "judge_uninformative" where the interval of sensitivity + specificity - 1 reaches 0: nothing
    can be told from such a judge.
    """


def judge_rates(
    labels_N: ArrayLike,
    judged_N: ArrayLike,
    *,
    weights_N: ArrayLike | None = None,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> JudgeRates:
    """Compute a judge's true positive and true negative rates."""
    labels, judged, passed, failed = _labels_split_by_pass(labels_N, judged_N, weights_N)
    tpr = clustered_mean(judged, weights_N=passed, clusters_N=clusters_N)
    tnr = clustered_mean(1 - judged, weights_N=failed, clusters_N=clusters_N)
    return JudgeRates(
        tpr=tpr.value if tpr.n_clusters else None,
        tnr=tnr.value if tnr.n_clusters else None,
        tpr_interval=weighted_share_interval(tpr, confidence=confidence),
        tnr_interval=weighted_share_interval(tnr, confidence=confidence),
        n_passed=float(labels.sum()),
        n_failed=float((1 - labels).sum()),
    )


def rogan_gladen(
    labels_N: ArrayLike,
    judged_N: ArrayLike,
    all_M: ArrayLike,
    *,
    weights_N: ArrayLike | None = None,
    clusters_N: ArrayLike | None = None,
    clusters_M: ArrayLike | None = None,
    least: float = LEAST,
    confidence: float = 0.95,
) -> CorrectedRate:
    r"""Compute the pass rate that a judge's pass rate stands for, given how it errs.

    .. math:: \hat\pi = (p + TNR - 1) / (TPR + TNR - 1)

    It holds where the judge errs on all units as on the labelled ones, even if other shares of
    them pass; :func:`.ppi_mean` holds where the labelled ones are drawn at random.

    Notes
    -----
    The interval is Lang and Reiczigel's [2]_. Its variances of shares are taken over clusters, as
    if its pseudo observations were one more unit each way: equal to the published form where every
    unit is a question of its own and judged once.

    References
    ----------
    .. [1] Rogan, W. J. and Gladen, B. (1978), doi:10.1093/oxfordjournals.aje.a112510.
    .. [2] Lang, Z. and Reiczigel, J. (2014), doi:10.1016/j.prevetmed.2013.09.015.

    Examples
    --------
    Sensitivity .9, specificity .8, and half of all judged to pass:

    >>> labels, judged = [1] * 10 + [0] * 10, [1] * 9 + [0] + [1] * 2 + [0] * 8
    >>> found = rogan_gladen(labels, judged, [1, 0] * 500)
    >>> round(found.value, 4), round(found.low, 2), round(found.high, 2)
    (0.4286, 0.11, 0.69)
    """
    labels, judged, passed, failed = _labels_split_by_pass(labels_N, judged_N, weights_N)
    of_kind = min(
        _n_independent_labels(labels, clusters_N), _n_independent_labels(1 - labels, clusters_N)
    )
    if of_kind < least or not of_kind:
        return CorrectedRate(undefined="too_few_labels")
    shares = np.asarray(all_M, np.float64)
    place_M = labels.size + np.arange(shares.size)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    bare = [clustered_mean(judged, weights_N=passed).value,
            clustered_mean(1 - judged, weights_N=failed).value]  # fmt: skip
    informed = bare[0] + bare[1] - 1
    tpr = clustered_mean(judged, weights_N=passed, clusters_N=clusters_N, pseudo=1)
    tnr = clustered_mean(1 - judged, weights_N=failed, clusters_N=clusters_N, pseudo=1)
    rate = clustered_mean(
        shares, clusters_N=place_M if clusters_M is None else clusters_M, pseudo=z * z / 2
    )
    youden = tpr.value + tnr.value - 1
    if informed <= 0 or youden <= z * sqrt(tpr.variance + tnr.variance):
        return CorrectedRate(undefined="judge_uninformative")
    value = (float(shares.mean()) + bare[1] - 1) / informed
    centre, shift, half = _lang_reiczigel(rate, tpr, tnr, z)
    low, high = centre + shift - half, centre + shift + half
    moves = ((rate, 1 / youden), (tpr, -centre / youden), (tnr, (1 - centre) / youden))
    clusters, code = np.unique(
        np.concatenate([one.clusters_C for one, _ in moves]), return_inverse=True
    )
    return CorrectedRate(
        value=_share_within_unit_interval(value),
        low=_share_within_unit_interval(low),
        high=_share_within_unit_interval(high),
        centre=centre + shift,
        pseudo_variance=sum(by**2 * one.pseudo_variance for one, by in moves),
        clusters_C=clusters,
        influence_C=cluster_sums(np.concatenate([by * one.influence_C for one, by in moves]), code),
    )


def rogan_gladen_difference(
    a: CorrectedRate, b: CorrectedRate, *, confidence: float = 0.95
) -> CorrectedRate:
    """Compute the difference of two corrected rates, paired by the clusters that they share."""
    if a.value is None or b.value is None:
        return CorrectedRate(undefined=a.undefined or b.undefined)
    square = paired_variance(a, b) + a.pseudo_variance + b.pseudo_variance
    half = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(square)
    centre = a.centre - b.centre
    return CorrectedRate(
        value=a.value - b.value, low=max(-1.0, centre - half), high=min(1.0, centre + half)
    )


def _labels_split_by_pass(
    labels_N: ArrayLike, judged_N: ArrayLike, weights_N: ArrayLike | None
) -> tuple[Floats, Floats, Floats, Floats]:
    """Labels, verdicts, and what each unit counts among the passed and the failed."""
    labels, judged = np.asarray(labels_N, np.float64), np.asarray(judged_N, np.float64)
    check_one_length("judge_rates", labels_N=labels, judged_N=judged)
    if ((labels < 0) | (labels > 1) | (judged < 0) | (judged > 1)).any():
        raise ValueError("judge_rates: labels_N and judged_N must be within [0, 1]")
    weights = np.ones(labels.size) if weights_N is None else np.asarray(weights_N, np.float64)
    return labels, judged, weights * labels, weights * (1 - labels)


def _n_independent_labels(shares_N: Floats, clusters_N: ArrayLike | None) -> float:
    """Labels of a kind, at most one a cluster."""
    return float(np.minimum(cluster_sums(shares_N, clusters_N), 1).sum())


def _lang_reiczigel(
    rate: ClusteredMean, tpr: ClusteredMean, tnr: ClusteredMean, z: float
) -> tuple[float, float, float]:
    """Centre, shift and half width."""
    youden = tpr.value + tnr.value - 1
    centre = (rate.value + tnr.value - 1) / youden
    shift = 2 * z * z * (centre * tpr.variance - (1 - centre) * tnr.variance)
    square = rate.variance + centre**2 * tpr.variance + (1 - centre) ** 2 * tnr.variance
    return centre, shift, z * sqrt(square) / youden


def _share_within_unit_interval(share: float) -> float:
    """A share, not below 0 nor above 1."""
    return min(1.0, max(0.0, share))
