"""What the labels low and high are worth: accuracy, coverage and deviation under each.

Shape suffixes: N = judgments, R = raters, U = items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.agreement.agreement import count_statistic
from judgerel_ray.stats.counts.counts import Coefficient, counts_from_ratings
from judgerel_ray.stats.counts.statistic import Floats, measure
from judgerel_ray.stats.intervals.interval import jackknife_interval
from judgerel_ray.stats.intervals.precision import t_quantile
from judgerel_ray.stats.intervals.shares import Share, clustered_share


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAccuracy:
    """Accuracy of judgments by their label.

    Attributes
    ----------
    low, high, all : Share
        Share of right judgments among those of low uncertainty, of high, and among all.
    share_low : Share
        Share of judgments of low uncertainty.
    """

    low: Share
    high: Share
    all: Share
    share_low: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """How far ratings are from the right ones, in steps of the scale.

    Attributes
    ----------
    value : float or None
        Mean absolute deviation; None without ratings.
    low, high : float or None
        Ends of the t interval over questions; None below two questions or without spread.
    n : int
        Ratings.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDeviation:
    """Deviation of ratings by their label.

    Attributes
    ----------
    low, high, all : Deviation
        Among ratings of low uncertainty, of high, and all.
    """

    low: Deviation
    high: Deviation
    all: Deviation


def label_accuracy(
    low_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> LabelAccuracy:
    """Compare accuracy under the two labels.

    Parameters
    ----------
    low_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is of low uncertainty, by a threshold that it did not choose.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.
    clusters_N : array-like, shape (n_judgments,), optional
        The question of each judgment; by default each is its own.
    confidence : float
        Of the intervals, in (0, 1): exact with one judgment a question, else by question, as
        :func:`judgerel_ray.stats.intervals.shares.clustered_share`.

    Raises
    ------
    ValueError
        If the lengths differ or the confidence is not in (0, 1).

    Examples
    --------
    Three right of three look like certainty, and are not:

    >>> found = label_accuracy([True] * 3 + [False] * 3, [True] * 4 + [False] * 2)
    >>> found.low.value, round(found.low.low, 2)
    (1.0, 0.29)
    """
    low, correct = np.asarray(low_N, dtype=bool), np.asarray(correct_N, dtype=bool)
    clusters = np.arange(low.size) if clusters_N is None else np.asarray(clusters_N)
    if low.ndim != 1 or not low.shape == correct.shape == clusters.shape:
        raise ValueError(
            f"label_accuracy: low_N, correct_N and clusters_N must be of one length, "
            f"got {low.shape}, {correct.shape} and {clusters.shape}"
        )

    def of(hits_N: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Share:
        return clustered_share(hits_N[rows], clusters_N=clusters[rows], confidence=confidence)

    everything = np.ones_like(low)
    return LabelAccuracy(
        low=of(correct, low),
        high=of(correct, ~low),
        all=of(correct, everything),
        share_low=of(low, everything),
    )


def rating_deviation(
    given_N: ArrayLike,
    right_N: ArrayLike,
    low_N: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> LabelDeviation:
    """Compare the deviation of ratings on an ordered scale under the two labels.

    Parameters
    ----------
    given_N, right_N : array-like of float, shape (n_judgments,)
        The judge's rating and the right one (or the mean of people's), in steps of the scale; a
        judgment where either is NaN takes no part.
    low_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is of low uncertainty.
    clusters_N, confidence
        As of :func:`label_accuracy`, also what is refused.

    Examples
    --------
    >>> found = rating_deviation([5, 4, 2, 1], [5, 4, 4, 4], [True, True, False, False])
    >>> found.low.value, found.high.value
    (0.0, 2.5)
    """
    if not 0 < confidence < 1:
        raise ValueError(
            f"rating_deviation: confidence must be between 0 and 1, got {confidence!r}"
        )
    given, right = (np.asarray(one, dtype=np.float64) for one in (given_N, right_N))
    low = np.asarray(low_N, dtype=bool)
    clusters = np.arange(given.size) if clusters_N is None else np.asarray(clusters_N)
    if given.ndim != 1 or not given.shape == right.shape == low.shape == clusters.shape:
        raise ValueError("rating_deviation: all arguments must be of one length")
    deviation = np.abs(given - right)
    there = ~np.isnan(deviation)
    return LabelDeviation(
        **{
            name: _deviation(deviation[rows], clusters[rows], confidence)
            for name, rows in (("low", there & low), ("high", there & ~low), ("all", there))
        }
    )


def inter_rater_accuracy(
    ratings_UR: ArrayLike | Sequence[Sequence[object]],
    *,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """Compute how often two people who rate the same give the same rating.

    It is what [1]_ holds a judge's accuracy against: percent agreement of people, so a judge that
    matches any one person as often is as close to them as they are to each other.

    Parameters
    ----------
    ratings_UR : array-like, shape (n_items, n_raters)
        One row an item; None or NaN where a person did not rate it.
    clusters_U : array-like, shape (n_items,), optional
        What items are clustered by, such as the document; by default each is its own.
    confidence : float
        Of the jackknife interval, in (0, 1).

    Returns
    -------
    Coefficient
        Named "inter_rater_accuracy"; ``undefined`` as for percent agreement.

    Raises
    ------
    ValueError
        If the ratings are no table, or there is not one cluster an item.

    References
    ----------
    .. [1] Wagner et al. (2024), arXiv:2410.11594, table 1, "Human Agreement".

    Examples
    --------
    >>> inter_rater_accuracy([[5, 5, 4], [3, 3, None]]).value
    0.6666666666666666
    """
    counts, values = counts_from_ratings(ratings_UR)
    agreement = count_statistic("percent_agreement", n_values=max(1, len(values)))
    found = measure(counts, agreement)
    ends = jackknife_interval(counts, agreement, clusters_U=clusters_U, confidence=confidence)
    return replace(
        found,
        name="inter_rater_accuracy",
        estimator="pairs of people of an item, mean over items",
        low=ends.low,
        high=ends.high,
    )


def _deviation(
    deviation_N: Floats, clusters_N: NDArray[np.generic], confidence: float
) -> Deviation:
    """The mean with a t interval, questions being what is independent."""
    n = deviation_N.size
    if not n:
        return Deviation(value=None, low=None, high=None, n=0)
    value = float(deviation_N.mean())
    _, number = np.unique(clusters_N, return_inverse=True)
    sums = np.bincount(number, weights=deviation_N - value)
    if sums.size < 2 or not sums.any():
        return Deviation(value=value, low=None, high=None, n=n)
    error = float(np.sqrt((sums**2).sum() * sums.size / (sums.size - 1))) / n
    half = t_quantile(sums.size - 1, confidence) * error
    return Deviation(value=value, low=max(0.0, value - half), high=value + half, n=n)
