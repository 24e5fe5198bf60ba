"""The uncertainty label: what low and high are worth, and which threshold parts them best.

Accuracy, coverage and deviation under each label; thresholds are searched on the data that they
are reported for, or chosen on some data and used on others (folds, other judges and benchmarks).

Shape suffixes: N = items or judgments, R = raters, K = folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_choice, check_fraction, check_one_length, check_shape
from judgerel_ray.stats.confusion.matrix import Bools, LabelEdges
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.intervals.ends import t_quantile
from judgerel_ray.stats.intervals.shares import Share, clustered_share


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAccuracy:
    """Accuracy of judgments by their label."""

    low: Share  # Share of right judgments among those of low uncertainty, of high, and among all.
    high: Share
    all: Share
    share_low: Share  # Share of judgments of low uncertainty.


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """How far ratings are from the right ones, in steps of the scale."""

    value: float | None  # Mean absolute deviation; None without ratings.
    # Ends of the t interval over questions; None below two questions or without spread.
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDeviation:
    """Deviation of ratings by their label."""

    low: Deviation  # Among ratings of low uncertainty, of high, and all.
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
    check_one_length("label_accuracy", low_N=low, correct_N=correct, clusters_N=clusters)

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
    assigned_N: ArrayLike,
    right_N: ArrayLike,
    low_N: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> LabelDeviation:
    """Compare the deviation of ratings on an ordered scale under the two labels.

    Parameters
    ----------
    assigned_N, right_N : array-like of float, shape (n_judgments,)
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
    check_fraction("rating_deviation", confidence=confidence)
    labels, right = (np.asarray(one, dtype=np.float64) for one in (assigned_N, right_N))
    low = np.asarray(low_N, dtype=bool)
    clusters = np.arange(labels.size) if clusters_N is None else np.asarray(clusters_N)
    check_one_length(
        "rating_deviation", assigned_N=labels, right_N=right, low_N=low, clusters_N=clusters
    )
    deviation = np.abs(labels - right)
    there = ~np.isnan(deviation)

    def of(rows: Bools) -> Deviation:
        return _mean_with_t_interval(deviation[rows], clusters[rows], confidence)

    return LabelDeviation(low=of(there & low), high=of(there & ~low), all=of(there))


def _mean_with_t_interval(
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


Objective = Literal["accuracy_low", "gap", "separation"]
OBJECTIVES: tuple[Objective, ...] = ("accuracy_low", "gap", "separation")
DEFAULT_GRID = tuple(round(0.01 * step, 2) for step in range(1, 100))


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdChoice:
    """A threshold, and what it gives where it was chosen."""

    objective: str
    n: int  # Judgments of low uncertainty, and all.
    threshold: float | None = None  # None where `undefined` is set.
    # Share of right judgments by label on the data it was chosen on; None without any.
    accuracy_low: float | None = None
    accuracy_high: float | None = None
    share_low: float = 0.0  # Share of judgments of low uncertainty there.
    n_low: int = 0
    optimistic: bool = True  # True: these accuracies stand on the data that chose the threshold.
    # "no_low" where no threshold of the grid labels enough judgments low.
    undefined: str | None = None


def search_threshold(
    edges: LabelEdges,
    correct_N: ArrayLike,
    *,
    objective: Objective = "separation",
    grid: Sequence[float] = DEFAULT_GRID,
    least_share: float = 0.0,
) -> ThresholdChoice:
    """Choose the threshold of a grid that is best on these data.

    Parameters
    ----------
    edges : LabelEdges
    correct_N : array-like of bool, shape (n_items,)
        Whether each judgment is right.
    objective : {"separation", "gap", "accuracy_low"}
        Share of low among right judgments less that among wrong ones; accuracy of low less that of
        high; accuracy of low. Ties go to the threshold with more low, then to the stricter one.
    grid : sequence of float
        Thresholds in (0, 1].
    least_share : float
        Least share of low that a threshold must give, in [0, 1).

    Returns
    -------
    ThresholdChoice
        ``optimistic``: what it reports stands on the data that chose it. For what it is worth on
        others, :func:`cross_fitted_labels`.

    Raises
    ------
    ValueError
        If the shapes differ, the objective is unknown, or grid or share is out of range.

    Examples
    --------
    >>> edges = LabelEdges(above_N=np.array([0.1, 0.3, 0.4]), upto_N=np.array([0.9, 0.7, 0.6]),
    ...                    allowed_N=np.array([True, True, True]))
    >>> found = search_threshold(edges, [True, True, False], grid=(0.5, 0.65, 0.8))
    >>> found.threshold, found.accuracy_low, found.n_low
    (0.65, 1.0, 2)
    """
    correct = checked_search(edges, correct_N, objective, grid, least_share)
    labels = {float(threshold): edges.low(threshold) for threshold in grid}
    least = max(1.0, least_share * correct.size)
    worth = [
        (_worth_of_threshold(low, correct, objective), int(low.sum()), threshold)
        for threshold, low in labels.items()
        if low.sum() >= least
    ]
    ranked = [one for one in worth if not np.isnan(one[0])]
    if not ranked:
        return ThresholdChoice(objective=objective, n=correct.size, undefined="no_low")
    *_, best = max(ranked)
    low = labels[best]
    return ThresholdChoice(
        objective=objective,
        n=correct.size,
        threshold=best,
        accuracy_low=float(correct[low].mean()),
        accuracy_high=None if low.all() else float(correct[~low].mean()),
        share_low=float(low.mean()),
        n_low=int(low.sum()),
    )


def wagner2024_threshold(
    edges: LabelEdges, correct_N: ArrayLike, *, grid: Sequence[float] = DEFAULT_GRID
) -> ThresholdChoice:
    """Choose the threshold as [1]_ did: the most accurate low labels, on the data it is scored on.

    With few low labels this reads 100 % by luck alone: three right of three have a lower bound of
    29 %.

    Parameters
    ----------
    edges : LabelEdges
    correct_N : array-like of bool, shape (n_items,)
        Whether each judgment is right.
    grid : sequence of float
        Thresholds in (0, 1].

    Returns
    -------
    ThresholdChoice
        Always ``optimistic``.

    Raises
    ------
    ValueError
        As :func:`search_threshold`.

    References
    ----------
    .. [1] Wagner et al. (2024), arXiv:2410.11594, section 4.

    Examples
    --------
    >>> edges = LabelEdges(above_N=np.array([0.1, 0.3]), upto_N=np.array([0.9, 0.7]),
    ...                    allowed_N=np.array([True, True]))
    >>> found = wagner2024_threshold(edges, [True, False])
    >>> found.accuracy_low, found.optimistic
    (1.0, True)
    """
    return search_threshold(edges, correct_N, objective="accuracy_low", grid=grid)


def _worth_of_threshold(low: Bools, correct: Bools, objective: Objective) -> float:
    """What a threshold's labels are worth; NaN where it cannot be said."""
    if objective == "separation":
        right = low[correct].mean() if correct.any() else 0.0
        wrong = low[~correct].mean() if not correct.all() else 0.0
        return float(right - wrong)
    if not low.any():
        return float("nan")
    inside = float(correct[low].mean())
    if objective == "accuracy_low":
        return inside
    return float("nan") if low.all() else inside - float(correct[~low].mean())


def checked_search(
    edges: LabelEdges,
    correct_N: ArrayLike,
    objective: str,
    grid: Sequence[float],
    least_share: float,
) -> Bools:
    """Read the right judgments, refusing what :func:`search_threshold` cannot search."""
    correct = np.asarray(correct_N, dtype=bool)
    check_shape("search_threshold", edges.upto_N.shape, correct_N=correct)
    check_choice("search_threshold", OBJECTIVES, objective=objective)
    if not grid or not all(0 < threshold <= 1 for threshold in grid):
        raise ValueError(f"search_threshold: grid must hold thresholds in (0, 1], got {grid!r}")
    if not 0 <= least_share < 1:
        raise ValueError(f"search_threshold: least_share must be in [0, 1), got {least_share!r}")
    return correct


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossFittedLabels:
    """Labels by thresholds that never saw the judgments they label."""

    # Shape (n_items,). Whether each judgment is of low uncertainty.
    low_N: Bools  # noqa: N815  a shape, not a case
    # Shape (n_items,). Its fold.
    fold_N: NDArray[np.intp]  # noqa: N815
    # By fold, the threshold chosen on all the others; None labels that fold high.
    thresholds: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """What the threshold of one data set gives on another."""

    source: str  # Where the threshold was chosen, and where it was used.
    target: str
    # None on the diagonal, where every fold has its own, and where none was found.
    threshold: float | None
    n: int  # Judgments of the target, and those labelled low.
    n_low: int
    n_correct_low: int  # Right judgments by label.
    n_correct_high: int
    # Whether source and target are one data set, labelled by `cross_fitted_labels`.
    cross_fitted: bool


def cross_fitted_labels(
    edges: LabelEdges,
    correct_N: ArrayLike,
    *,
    groups_N: ArrayLike | None = None,
    n_folds: int = 5,
    seed: int = 0,
    objective: Objective = "separation",
    grid: Sequence[float] = DEFAULT_GRID,
    least_share: float = 0.0,
) -> CrossFittedLabels:
    """Label each judgment by a threshold chosen on the other folds.

    Parameters
    ----------
    edges : LabelEdges
    correct_N : array-like of bool, shape (n_items,)
        Whether each judgment is right.
    groups_N : array-like, shape (n_items,), optional
        Judgments of one group stay in one fold; by default each is its own.
    n_folds, seed : int
        Folds (at least 2, at most the groups), and how they are drawn.
    objective, grid, least_share
        As for :func:`search_threshold`.

    Returns
    -------
    CrossFittedLabels
        Its labels may be scored against `correct_N`: none was chosen by what it labels.

    Raises
    ------
    ValueError
        As :func:`search_threshold`, and if there are too few groups.

    Examples
    --------
    >>> edges = LabelEdges(above_N=np.full(4, 0.1), upto_N=np.array([0.9, 0.8, 0.4, 0.3]),
    ...                    allowed_N=np.ones(4, dtype=bool))
    >>> found = cross_fitted_labels(edges, [True, True, False, False], n_folds=2, seed=1)
    >>> len(found.thresholds), found.low_N.shape
    (2, (4,))
    """
    correct = checked_search(edges, correct_N, objective, grid, least_share)
    groups = np.arange(correct.size) if groups_N is None else np.asarray(groups_N)
    fold_N = grouped_folds(groups, n_folds=n_folds, seed=seed)
    low = np.zeros(correct.size, dtype=bool)
    thresholds: list[float | None] = []
    for fold in range(n_folds):
        inside = fold_N == fold
        found = search_threshold(
            edges.take(~inside), correct[~inside],
            objective=objective, grid=grid, least_share=least_share,
        )  # fmt: skip
        thresholds.append(found.threshold)
        if found.threshold is not None:
            low[inside] = edges.take(inside).low(found.threshold)
    return CrossFittedLabels(low_N=low, fold_N=fold_N, thresholds=tuple(thresholds))


def threshold_transfer(
    data: Mapping[str, tuple[LabelEdges, ArrayLike]],
    *,
    groups: Mapping[str, ArrayLike] | None = None,
    objective: Objective = "separation",
    grid: Sequence[float] = DEFAULT_GRID,
    least_share: float = 0.0,
    n_folds: int = 5,
    seed: int = 0,
) -> tuple[Transfer, ...]:
    """Carry the threshold of every data set to every other.

    Parameters
    ----------
    data : mapping
        By name (a judge on a benchmark, say), the edges and which judgments are right.
    groups : mapping, optional
        By name, the group of each judgment, for the folds of the diagonal.
    objective, grid, least_share
        As for :func:`search_threshold`.
    n_folds, seed : int
        As for :func:`cross_fitted_labels`.

    Returns
    -------
    tuple of Transfer
        A row for every source and target, in the order of `data`. No row is optimistic: on the
        diagonal labels are cross-fitted.

    Raises
    ------
    ValueError
        As :func:`cross_fitted_labels`.

    Examples
    --------
    >>> edges = LabelEdges(above_N=np.full(4, 0.1), upto_N=np.array([0.9, 0.8, 0.4, 0.3]),
    ...                    allowed_N=np.ones(4, dtype=bool))
    >>> table = threshold_transfer({"a": (edges, [1, 1, 0, 0]), "b": (edges, [1, 0, 0, 1])},
    ...                            n_folds=2)
    >>> [(row.source, row.target, row.threshold, row.n_low) for row in table][1]
    ('a', 'b', 0.8, 2)
    """
    rows = []
    for source, (edges, correct_N) in data.items():
        found = search_threshold(
            edges, correct_N, objective=objective, grid=grid, least_share=least_share
        )
        for target, (others, right_N) in data.items():
            right = np.asarray(right_N, dtype=bool)
            if source == target:
                low = cross_fitted_labels(
                    others, right, groups_N=None if groups is None else groups.get(target),
                    n_folds=n_folds, seed=seed,
                    objective=objective, grid=grid, least_share=least_share,
                ).low_N  # fmt: skip
            elif found.threshold is None:
                low = np.zeros(right.size, dtype=bool)
            else:
                low = others.low(found.threshold)
            rows.append(
                Transfer(
                    source=source,
                    target=target,
                    threshold=None if source == target else found.threshold,
                    n=right.size,
                    n_low=int(low.sum()),
                    n_correct_low=int(right[low].sum()),
                    n_correct_high=int(right[~low].sum()),
                    cross_fitted=source == target,
                )
            )
    return tuple(rows)
