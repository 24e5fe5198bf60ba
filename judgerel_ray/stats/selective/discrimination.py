"""How well a score tells right judgments from wrong ones.

Shape suffixes: N, M = judgments, C = clusters (questions).

How well a cross-fitted score tells right judgments from wrong ones.

Shape suffixes: N = judgments.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.stats.counts.counts import Coefficient
from judgerel_ray.stats.counts.statistic import Floats
from judgerel_ray.stats.intervals.interval import logit_ends
from judgerel_ray.stats.intervals.precision import t_quantile

FEW_ANSWERS = 10
"""Questions with a wrong answer, or with a right one, below which a ranking rests on few."""


def auroc(
    scores_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """Compute how often a right judgment scores above a wrong one, ties counting half.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_judgments,)
        Higher is surer; judgments with NaN take no part and are counted as missing.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.
    clusters_N : array-like, shape (n_judgments,), optional
        The question of each judgment; by default each is its own.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Coefficient
        In [0, 1], 0.5 where the score tells nothing. ``estimator`` ends on "few wrong answers" or
        "few right answers" where fewer than ten questions have one. ``undefined`` is "no_variance"
        where all are right or all wrong, "no_verdicts" where there are none.

    Raises
    ------
    ValueError
        If the shapes differ or the confidence is not in (0, 1).

    Notes
    -----
    The interval is on the logit scale, from DeLong's variance with Obuchowski's clusters [1]_. Of
    its two components each has the degrees of freedom of its own questions (Satterthwaite), for a
    handful of wrong answers decides it however many right ones there are; and each counts one
    answer more, placed as far off as Hanley and McNeil's model expects [2]_, for a handful may
    happen to tie. Where every pair is ordered alike, one end is that value and the other exact for
    as many pairs as have no question in common.

    References
    ----------
    .. [1] DeLong et al. (1988), doi:10.2307/2531595; Obuchowski (1997), doi:10.2307/2533958.
    .. [2] Hanley and McNeil (1982), doi:10.1148/radiology.143.1.7063747.

    Examples
    --------
    Three of the four pairs are in order:

    >>> auroc([0.9, 0.6, 0.7, 0.2], [True, True, False, False]).value
    0.75
    """
    if not 0 < confidence < 1:
        raise ValueError(f"auroc: confidence must be between 0 and 1, got {confidence!r}")
    scores, correct = checked_scores(scores_N, correct_N, function="auroc")
    clusters = np.arange(scores.size) if clusters_N is None else np.asarray(clusters_N)
    if clusters.shape != scores.shape:
        raise ValueError(f"auroc: clusters_N must have shape {scores.shape}, got {clusters.shape}")
    there = ~np.isnan(scores)
    kept, right, clusters = scores[there], correct[there], clusters[there]
    value: float | None = None
    low = high = None
    if right.any() and not right.all():
        above = _placements(kept[right], kept[~right])
        below = 1 - _placements(kept[~right], kept[right])
        value = float(above.mean())
        places = np.empty(kept.size)
        places[right] = (above - value) / above.size
        places[~right] = (below - value) / below.size
        low, high = _ends(value, places, right, clusters, confidence)
    few = (flag.note(numbers) for flag, numbers in few_flags(kept, right, clusters))
    words = "; ".join(["Mann-Whitney, DeLong's t on the logit scale", *few])
    return _auroc(value, low, high, there, estimator=words)


def _auroc(
    value: float | None, low: float | None, high: float | None, there_N: NDArray[np.bool_], *,
    estimator: str,
) -> Coefficient:  # fmt: skip
    """The area, of the judgments that have a score."""
    n = int(there_N.sum())
    return Coefficient(
        name="auroc",
        value=value,
        low=low,
        high=high,
        undefined=None if value is not None else "no_variance" if n else "no_verdicts",
        estimator=estimator,
        n_units=n,
        n_raters=1,
        n_ratings=n,
        n_missing=there_N.size - n,
    )


def few_answers(
    scores_N: NDArray[np.floating], correct_N: NDArray[np.bool_], clusters_N: NDArray[np.generic]
) -> str | None:
    """Tell which answers with a score are few: of fewer than ten questions.

    Parameters
    ----------
    scores_N : ndarray of float, shape (n_judgments,)
        NaN takes no part.
    correct_N : ndarray of bool, shape (n_judgments,)
        Whether each judgment is right.
    clusters_N : ndarray, shape (n_judgments,)
        The question of each.

    Returns
    -------
    str or None
        "few_wrong" or "few_right", the fewer of both; None where there are enough of both, or no
        scores at all.

    Examples
    --------
    >>> few_answers(np.ones(39), np.array([True] * 30 + [False] * 9), np.arange(39))
    'few_wrong'
    """
    (n_right, n_wrong), few = _by_kind(scores_N, correct_N, clusters_N), "few_wrong"
    if n_right < n_wrong:
        few = "few_right"
    return few if n_right + n_wrong and min(n_right, n_wrong) < FEW_ANSWERS else None


def few_flags(
    scores_N: NDArray[np.floating], correct_N: NDArray[np.bool_], clusters_N: NDArray[np.generic]
) -> list[Noted]:
    """Flag which answers are few, with the number of questions they are of.

    Examples
    --------
    >>> few_flags(np.ones(39), np.array([True] * 30 + [False] * 9), np.arange(39))
    [(<Flag.FEW_WRONG: 'few_wrong_answers'>, (9,))]
    """
    few = few_answers(scores_N, correct_N, clusters_N)
    if few is None:
        return []
    flag = Flag.FEW_WRONG if few == "few_wrong" else Flag.FEW_RIGHT
    return [(flag, (min(_by_kind(scores_N, correct_N, clusters_N)),))]


def _by_kind(
    scores_N: NDArray[np.floating], correct_N: NDArray[np.bool_], clusters_N: NDArray[np.generic]
) -> tuple[int, int]:
    """Questions with a right answer that has a score, and with a wrong one."""
    there_N = ~np.isnan(scores_N)
    n_right, n_wrong = (
        np.unique(clusters_N[there_N & kind]).size for kind in (correct_N, ~correct_N)
    )
    return n_right, n_wrong


def _placements(first_N: Floats, second_M: Floats) -> Floats:
    """Share of the second that each of the first exceeds, ties counting half."""
    ordered = np.sort(second_M)
    below = np.searchsorted(ordered, first_N, side="left")
    upto = np.searchsorted(ordered, first_N, side="right")
    placed: Floats = (below + upto) / (2 * ordered.size)
    return placed


def _ends(
    value: float,
    places_N: Floats,
    right_N: NDArray[np.bool_],
    clusters_N: NDArray[np.generic],
    confidence: float,
) -> tuple[float | None, float | None]:
    """Ends of the interval; none where all judgments are of one question."""
    names, number_N = np.unique(clusters_N, return_inverse=True)
    n = names.size
    sums_kC = [
        np.bincount(number_N[kind], weights=places_N[kind], minlength=n)
        for kind in (right_N, ~right_N)
    ]
    sizes_k = [np.unique(number_N[kind]).size for kind in (right_N, ~right_N)]
    if n < 2:
        return None, None
    if not 0 < value < 1:
        bound = ((1 - confidence) / 2) ** (1 / min(*sizes_k, n // 2))
        return (bound, 1.0) if value else (0.0, 1 - bound)
    one_more = max(value / (2 - value), 2 * value / (1 + value) * value) - value**2
    own_k = [
        float((sums_C**2).sum()) + one_more / size**2
        for sums_C, size in zip(sums_kC, sizes_k, strict=True)
    ]
    variance = sum(own_k) + 2 * float(sums_kC[0] @ sums_kC[1])
    degrees = sum(own_k) ** 2 / sum(own**2 / size for own, size in zip(own_k, sizes_k, strict=True))
    return logit_ends(value, t_quantile(min(degrees, n), confidence) * float(np.sqrt(variance)))


def checked_scores(
    scores_N: ArrayLike, correct_N: ArrayLike, *, function: str
) -> tuple[Floats, NDArray[np.bool_]]:
    """Read scores and which judgments are right, refusing two lengths.

    Raises
    ------
    ValueError
        If they are not of one length.

    Examples
    --------
    >>> checked_scores([0.5], [1], function="auroc")[1].tolist()
    [True]
    """
    scores = np.asarray(scores_N, dtype=np.float64)
    correct = np.asarray(correct_N, dtype=bool)
    if scores.ndim != 1 or scores.shape != correct.shape:
        raise ValueError(
            f"{function}: scores_N and correct_N must be of one length, "
            f"got {scores.shape} and {correct.shape}"
        )
    return scores, correct


def cross_fitted_auroc(
    scores_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    fold_N: ArrayLike,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """Compute how often a right judgment scores above a wrong one of its own fold.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_judgments,)
        Higher is surer, each told by a model fitted on the other folds; judgments with NaN take no
        part and are counted as missing.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.
    fold_N : array-like, shape (n_judgments,)
        The fold of each judgment. A model that never saw a fold rich in right judgments expects
        fewer of them, so that pairs across folds are in order less often than they should be: they
        do not count.
    clusters_N : array-like, shape (n_judgments,), optional
        The question of each judgment; by default each is its own. A question lies in one fold.
    confidence : float
        As of :func:`judgerel_ray.stats.auroc`.

    Returns
    -------
    Coefficient
        In [0, 1], 0.5 where the score tells nothing. The interval is Student's on the logit scale,
        from the spread over questions of their pairs inside folds, times what Nadeau and Bengio add
        for models that share most of what they were fitted on; none where every pair is ordered
        alike. ``estimator`` ends on "few wrong answers" or "few right answers" as that of
        :func:`judgerel_ray.stats.auroc`. ``undefined`` is "no_variance" where no fold has right and
        wrong judgments, "no_verdicts" where there are none.

    Raises
    ------
    ValueError
        If the shapes differ or the confidence is not in (0, 1).

    References
    ----------
    .. [1] DeLong et al. (1988), doi:10.2307/2531595; Nadeau and Bengio (2003),
       doi:10.1023/A:1024068626366.

    Examples
    --------
    In each fold the pair is in order; across folds 0.6 of a wrong one exceeds 0.5 of a right one:

    >>> cross_fitted_auroc([0.9, 0.6, 0.5, 0.1], [1, 0, 1, 0], fold_N=[0, 0, 1, 1]).value
    1.0
    """
    name = "cross_fitted_auroc"
    if not 0 < confidence < 1:
        raise ValueError(f"{name}: confidence must be between 0 and 1, got {confidence!r}")
    scores, correct = checked_scores(scores_N, correct_N, function=name)
    folds = np.asarray(fold_N)
    clusters = np.arange(scores.size) if clusters_N is None else np.asarray(clusters_N)
    for label, given in (("fold_N", folds), ("clusters_N", clusters)):
        if given.shape != scores.shape:
            raise ValueError(f"{name}: {label} must have shape {scores.shape}, got {given.shape}")
    there = ~np.isnan(scores)
    found = _inside(scores[there], correct[there], folds[there], clusters[there])
    value = low = high = None
    if found is not None:
        value, error, n_questions, n_folds = found
        if 0 < value < 1 and error > 1e-12 and n_questions > 1:
            half = t_quantile(n_questions - 1, confidence) * error * _shared(n_folds)
            low, high = logit_ends(value, half)
    words = "pairs inside folds, Nadeau-Bengio t on the logit scale"
    words = "; ".join([words, *(f.note(n) for f, n in few_flags(scores, correct, clusters))])
    return _auroc(value, low, high, there, estimator=words)


def _inside(
    scores_N: Floats,
    correct_N: NDArray[np.bool_],
    fold_N: NDArray[np.generic],
    clusters_N: NDArray[np.generic],
) -> tuple[float, float, int, int] | None:
    """Share of pairs in order, its error, and the questions and folds of them; None of no pair."""
    number_N = np.unique(clusters_N, return_inverse=True)[1].reshape(-1)
    above_N, pairs_N = np.zeros(scores_N.size), np.zeros(scores_N.size)
    n_above = n_tied = 0
    for fold in np.unique(fold_N):
        right, wrong = (np.flatnonzero((fold_N == fold) & kind) for kind in (correct_N, ~correct_N))
        under, tied = _ordered(scores_N[right], scores_N[wrong])
        above_N[right], pairs_N[right] = under + tied / 2, wrong.size
        over, also = _ordered(scores_N[wrong], scores_N[right])
        above_N[wrong], pairs_N[wrong] = right.size - over - also / 2, right.size
        n_above, n_tied = n_above + int(under.sum()), n_tied + int(tied.sum())
    n_pairs = float(pairs_N.sum()) / 2
    if not n_pairs:
        return None
    value = (n_above + n_tied / 2) / n_pairs
    summed = float((np.bincount(number_N, weights=above_N - value * pairs_N) ** 2).sum())
    # Every pair is in the sums of two questions: without its own square once, few pairs a fold
    # would look twice as uncertain as they are. Half is what remains if they were all alone.
    alone = n_above * (1 - value) ** 2 + n_tied * (0.5 - value) ** 2
    alone += (n_pairs - n_above - n_tied) * value**2
    error = float(np.sqrt(max(summed - alone, summed / 2))) / n_pairs
    paired = pairs_N > 0
    return value, error, np.unique(number_N[paired]).size, np.unique(fold_N[paired]).size


def _ordered(first_N: Floats, second_N: Floats) -> tuple[Floats, Floats]:
    """How many of the second each of the first exceeds, and how many it ties with."""
    ordered = np.sort(second_N)
    below = np.searchsorted(ordered, first_N, side="left").astype(np.float64)
    return below, np.searchsorted(ordered, first_N, side="right") - below


def _shared(n_folds: int) -> float:
    """Factor on the error of a mean over folds whose models share what they were fitted on."""
    return float(np.sqrt(1 + n_folds / (n_folds - 1))) if n_folds > 1 else 1.0
