"""Whether stated confidence means what it says: reliability bins, calibration error, Brier score.

Shape suffixes: N = judgments, K = bins, C = clusters (questions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_fraction, clusters_of
from judgerel_ray.stats.counts import Coefficient, Floats
from judgerel_ray.stats.intervals.paired import left_out_interval
from judgerel_ray.stats.intervals.question_statistic import mean_terms
from judgerel_ray.stats.intervals.shares import Share, clustered_share
from judgerel_ray.stats.selective.discrimination import checked_scores

Binning = Literal["width", "mass"]
BINNINGS: tuple[Binning, ...] = ("width", "mass")
_DRAWS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """Judgments of about one confidence."""

    low: float  # Least and largest confidence in it.
    high: float
    confidence: float  # Mean confidence.
    accuracy: Share  # Share of them that is right.


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationError:
    """Expected calibration error, and what perfectly calibrated confidence would show."""

    # Mean over judgments of how far their bin's accuracy is from its mean confidence; None without
    # judgments.
    value: float | None = None
    # The same of confidence that is right as often as it says: never 0, as bins are finite.
    floor: float | None = None
    floor_sd: float | None = None
    p: float | None = None  # Chance of an error this large or larger if confidence were calibrated.
    n: int = 0  # Judgments with a confidence, and bins that hold any.
    n_bins: int = 0
    # "width": equal steps of confidence; "mass": equal numbers of judgments, ties never parted.
    binning: Binning


def reliability_bins(
    confidences_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    n_bins: int = 10,
    binning: Binning = "width",
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> tuple[ReliabilityBin, ...]:
    """Lay out accuracy by stated confidence.

    Parameters
    ----------
    confidences_N : array-like of float, shape (n_judgments,)
        Probability that each judgment is right, as stated; judgments with NaN take no part.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.
    n_bins : int
        Bins asked for, at least 1; empty ones are left out.
    binning : {"width", "mass"}
        Equal steps of confidence, ((k-1)/n, k/n], or about equal numbers of judgments.
    clusters_N : array-like, shape (n_judgments,), optional
        The question of each judgment; by default each is its own.
    confidence : float
        Of the intervals, in (0, 1).

    Returns
    -------
    tuple of ReliabilityBin
        From the lowest confidence to the highest. Intervals are exact where a bin has one judgment
        a question, else by question.

    Raises
    ------
    ValueError
        If the shapes differ, a confidence is not in [0, 1], or a choice is out of range.

    Examples
    --------
    >>> bins = reliability_bins([0.9, 0.9, 0.6, 0.55], [True, True, False, True])
    >>> [(round(one.confidence, 3), one.accuracy.value) for one in bins]
    [(0.575, 0.5), (0.9, 1.0)]
    """
    stated, right, clusters = stated_confidences(
        confidences_N, correct_N, clusters_N, "reliability_bins"
    )
    place = _calibration_bins(stated, n_bins, binning, function="reliability_bins")
    return tuple(
        ReliabilityBin(
            low=float(stated[inside].min()),
            high=float(stated[inside].max()),
            confidence=float(stated[inside].mean()),
            accuracy=clustered_share(
                right[inside], clusters_N=clusters[inside], confidence=confidence
            ),
        )
        for inside in (place == k for k in np.unique(place))
    )


def calibration_error(
    confidences_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    n_bins: int = 10,
    binning: Binning = "width",
    clusters_N: ArrayLike | None = None,
    seed: int = 0,
) -> CalibrationError:
    r"""Compute the expected calibration error beside that of calibrated confidence.

    .. math:: \sum_k \frac{n_k}{N} \left| \bar y_k - \bar c_k \right|

    It is above 0 for calibrated confidence too, the more so the more bins and the fewer judgments:
    read it beside its floor. Replications of a question are taken to be right or wrong together
    there, which makes the floor no lower than it is.

    Parameters
    ----------
    confidences_N, correct_N, n_bins, binning, clusters_N
        As for :func:`reliability_bins`.
    seed : int
        Of the draws behind `p`.

    Returns
    -------
    CalibrationError

    Raises
    ------
    ValueError
        As for :func:`reliability_bins`.

    Examples
    --------
    Two of four right at confidence .9, in one bin:

    >>> round(calibration_error([0.9] * 4, [True, True, False, False]).value, 3)
    0.4
    """
    stated, right, clusters = stated_confidences(
        confidences_N, correct_N, clusters_N, "calibration_error"
    )
    place = _calibration_bins(stated, n_bins, binning, function="calibration_error")
    kept, place = np.unique(place, return_inverse=True)
    n = stated.size
    if not n:
        return CalibrationError(binning=binning)
    gap_K = np.bincount(place, weights=right - stated, minlength=kept.size)
    value = float(np.abs(gap_K).sum() / n)
    sd_K = np.sqrt(_calibrated_variance(stated, clusters, place, kept.size))
    # A sum of half-normals: each bin's gap is about normal where confidence is calibrated.
    floor = float(np.sqrt(2 / np.pi) * sd_K.sum() / n)
    floor_sd = float(np.sqrt((1 - 2 / np.pi) * (sd_K**2).sum()) / n)
    drawn = np.abs(np.random.default_rng(seed).normal(size=(_DRAWS, kept.size))) @ sd_K / n
    p = (1 + int((drawn >= value - 1e-12).sum())) / (1 + _DRAWS)
    return CalibrationError(
        value=value, floor=floor, floor_sd=floor_sd, p=p, n=n, n_bins=int(kept.size),
        binning=binning,
    )  # fmt: skip


def stated_confidences(
    confidences_N: ArrayLike, correct_N: ArrayLike, clusters_N: ArrayLike | None, function: str
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.intp]]:
    """Take the judgments with a confidence, and number their questions."""
    stated, right = checked_scores(confidences_N, correct_N, function=function)
    clusters = clusters_of(clusters_N, stated.size, function=function, argument="clusters_N")
    there = ~np.isnan(stated)
    outside = there & ~((stated >= 0) & (stated <= 1))
    if outside.any():
        raise ValueError(
            f"{function}: confidence must be in [0, 1], got {float(stated[outside][0])}"
        )
    return stated[there], right[there], np.unique(clusters[there], return_inverse=True)[1]


def _calibration_bins(
    stated: Floats, n_bins: int, binning: str, *, function: str
) -> NDArray[np.intp]:
    if n_bins < 1 or binning not in BINNINGS:
        raise ValueError(
            f"{function}: n_bins must be at least 1 and binning width or mass, "
            f"got {n_bins!r} and {binning!r}"
        )
    if binning == "width":
        # .7 is 7 tenths though 0.7 * 10 is a little more.
        place = np.ceil(np.round(stated * n_bins, 9)).astype(np.intp) - 1
        return np.maximum(place, 0)
    _, group, sizes = np.unique(stated, return_inverse=True, return_counts=True)
    middle = (np.cumsum(sizes) - sizes / 2) / max(1, stated.size)
    return np.minimum((middle * n_bins).astype(np.intp), n_bins - 1)[group]


def _calibrated_variance(
    stated: Floats, clusters: NDArray[np.intp], place: NDArray[np.intp], n_bins: int
) -> Floats:
    """Variance of the right ones of each bin, judgments of a question being right together."""
    order = np.lexsort((stated, clusters, place))
    c, key = stated[order], place[order] * (clusters.max() + 1) + clusters[order]
    start = np.flatnonzero(np.diff(key, prepend=-1))
    size = np.diff(np.append(start, key.size))
    rank = np.arange(key.size) - np.repeat(start, size)
    # The sum of min(c_i, c_j) over pairs of a question, sorted upwards.
    least = c * (2 * (np.repeat(size, size) - rank) - 1)
    sums = np.add.reduceat(c, start)
    each = np.maximum(np.add.reduceat(least, start) - sums**2, 0.0)
    sums_K = np.bincount(place[order][start], weights=each, minlength=n_bins)
    return sums_K.astype(np.float64)


def brier_score(
    confidences_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """Compute the mean squared distance of confidence from what happened.

    Parameters
    ----------
    confidences_N, correct_N, clusters_N
        As for :func:`judgerel_ray.stats.selective.calibration.reliability_bins`.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Coefficient
        In [0, 1], lower is better, with a t interval over questions. Its noise floor is that of the
        same confidences shuffled across judgments. ``undefined`` is "no_verdicts" without
        judgments that have a confidence.

    Raises
    ------
    ValueError
        As for :func:`judgerel_ray.stats.selective.calibration.reliability_bins`.

    Examples
    --------
    (0.1^2 + 0.6^2) / 2; the other way round it is (0.9^2 + 0.4^2) / 2:

    >>> found = brier_score([0.9, 0.6], [True, False])
    >>> round(found.value, 3), round(found.noise_floor, 3)
    (0.185, 0.335)
    """
    stated, right, clusters = stated_confidences(
        confidences_N, correct_N, clusters_N, "brier_score"
    )
    check_fraction("brier_score", confidence=confidence)
    n, n_all = stated.size, np.size(correct_N)
    if not n:
        return Coefficient(
            name="brier_score", undefined="no_verdicts", estimator="mean of squares", n_units=0,
            n_missing=n_all,
        )  # fmt: skip
    squares = (stated - right) ** 2
    ends = left_out_interval(mean_terms("brier_score", squares, clusters), confidence=confidence)
    counts_C = np.bincount(clusters)
    paired = stated.sum() * right.sum() / n  # of all permutations, on average
    floor = float(((stated**2).sum() - 2 * paired + right.sum()) / n)
    return Coefficient(
        name="brier_score", value=float(squares.mean()), noise_floor=floor,
        low=None if ends.low is None else max(0.0, ends.low),
        high=None if ends.high is None else min(1.0, ends.high),
        estimator="mean of squares, t over questions", n_units=int(counts_C.size),
        n_raters=int(counts_C.max()), n_ratings=n, n_missing=n_all - n,
    )  # fmt: skip
