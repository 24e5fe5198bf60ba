"""How well a score tells right judgments from wrong ones, and what it would be by chance.

A cross-fitted score is compared inside its folds alone. By chance means that the right answers are
shuffled across questions, which gives the noise floors of accuracy and of ranking.

Shape suffixes: N, M = judgments, C = clusters (questions), Q = questions, V = verdicts. In the
noise floors M are cells of a question and a verdict.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import Flag, Noted, NullMethod
from judgerel_ray.stats.arguments import check_fraction, check_one_length, check_shape, clusters_of
from judgerel_ray.stats.counts import Coefficient, Floats
from judgerel_ray.stats.intervals.ends import logit_ends, t_quantile
from judgerel_ray.stats.null.closed_null import shuffled_right
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor

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
    check_fraction("auroc", confidence=confidence)
    scores, correct = checked_scores(scores_N, correct_N, function="auroc")
    clusters = clusters_of(clusters_N, scores.size, function="auroc", argument="clusters_N")
    there = ~np.isnan(scores)
    kept, right, clusters = scores[there], correct[there], clusters[there]
    value: float | None = None
    low = high = None
    if right.any() and not right.all():
        above = _auroc_placement_shares(kept[right], kept[~right])
        below = 1 - _auroc_placement_shares(kept[~right], kept[right])
        value = float(above.mean())
        places = np.empty(kept.size)
        places[right] = (above - value) / above.size
        places[~right] = (below - value) / below.size
        low, high = _auroc_interval_ends(value, places, right, clusters, confidence)
    few = (flag.note(numbers) for flag, numbers in few_flags(kept, right, clusters))
    words = "; ".join(["Mann-Whitney, DeLong's t on the logit scale", *few])
    return _auroc_of_scores(value, low, high, there, estimator=words)


def _auroc_of_scores(
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

    Shapes: ``scores_N`` (n_judgments,), ``correct_N`` (n_judgments,), ``clusters_N``
    (n_judgments,).
    """
    n_right, n_wrong = _questions_right_and_wrong(scores_N, correct_N, clusters_N)
    few = "few_right" if n_right < n_wrong else "few_wrong"
    return few if n_right + n_wrong and min(n_right, n_wrong) < FEW_ANSWERS else None


def few_flags(
    scores_N: NDArray[np.floating], correct_N: NDArray[np.bool_], clusters_N: NDArray[np.generic]
) -> list[Noted]:
    """Flag which answers are few, with the number of questions they are of."""
    few = few_answers(scores_N, correct_N, clusters_N)
    if few is None:
        return []
    flag = Flag.FEW_WRONG if few == "few_wrong" else Flag.FEW_RIGHT
    return [(flag, (min(_questions_right_and_wrong(scores_N, correct_N, clusters_N)),))]


def _questions_right_and_wrong(
    scores_N: NDArray[np.floating], correct_N: NDArray[np.bool_], clusters_N: NDArray[np.generic]
) -> tuple[int, int]:
    """Questions with a right answer that has a score, and with a wrong one."""
    there_N = ~np.isnan(scores_N)
    n_right, n_wrong = (
        np.unique(clusters_N[there_N & kind]).size for kind in (correct_N, ~correct_N)
    )
    return n_right, n_wrong


def _auroc_placement_shares(first_N: Floats, second_M: Floats) -> Floats:
    """Share of the second that each of the first exceeds, ties counting half."""
    below, tied = _exceeded_and_tied_scores(first_N, second_M)
    return (below + tied / 2) / second_M.size


def _auroc_interval_ends(
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
    variances_k = [
        float((sums_C**2).sum()) + one_more / size**2
        for sums_C, size in zip(sums_kC, sizes_k, strict=True)
    ]
    variance = sum(variances_k) + 2 * float(sums_kC[0] @ sums_kC[1])
    degrees = sum(variances_k) ** 2 / sum(
        part**2 / size for part, size in zip(variances_k, sizes_k, strict=True)
    )
    return logit_ends(value, t_quantile(min(degrees, n), confidence) * float(np.sqrt(variance)))


def checked_scores(
    scores_N: ArrayLike, correct_N: ArrayLike, *, function: str
) -> tuple[Floats, NDArray[np.bool_]]:
    """Read scores and which judgments are right, refusing two lengths."""
    scores = np.asarray(scores_N, dtype=np.float64)
    correct = np.asarray(correct_N, dtype=bool)
    check_one_length(function, scores_N=scores, correct_N=correct)
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
    scores_N, correct_N
        As for :func:`auroc`; each score is of a model fitted on the other folds.
    fold_N : array-like, shape (n_judgments,)
        The fold of each judgment. A model that never saw a fold rich in right judgments expects
        fewer of them, so that pairs across folds are in order less often than they should be: they
        do not count.
    clusters_N, confidence
        As for :func:`auroc`. A question lies in one fold.

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
    check_fraction(name, confidence=confidence)
    scores, correct = checked_scores(scores_N, correct_N, function=name)
    folds = np.asarray(fold_N)
    check_shape(name, scores.shape, fold_N=folds)
    clusters = clusters_of(clusters_N, scores.size, function=name, argument="clusters_N")
    there = ~np.isnan(scores)
    found = _ordered_share(scores[there], correct[there], folds[there], clusters[there])
    value = low = high = None
    if found is not None:
        value, error, n_questions, n_folds = found
        if 0 < value < 1 and error > 1e-12 and n_questions > 1:
            half = t_quantile(n_questions - 1, confidence) * error * _shared_fit_factor(n_folds)
            low, high = logit_ends(value, half)
    words = "pairs inside folds, Nadeau-Bengio t on the logit scale"
    words = "; ".join([words, *(f.note(n) for f, n in few_flags(scores, correct, clusters))])
    return _auroc_of_scores(value, low, high, there, estimator=words)


def _ordered_share(
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
        under, tied = _exceeded_and_tied_scores(scores_N[right], scores_N[wrong])
        above_N[right], pairs_N[right] = under + tied / 2, wrong.size
        over, also = _exceeded_and_tied_scores(scores_N[wrong], scores_N[right])
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


def _exceeded_and_tied_scores(first_N: Floats, second_N: Floats) -> tuple[Floats, Floats]:
    """How many of the second each of the first exceeds, and how many it ties with."""
    ordered = np.sort(second_N)
    below = np.searchsorted(ordered, first_N, side="left").astype(np.float64)
    return below, np.searchsorted(ordered, first_N, side="right") - below


def _shared_fit_factor(n_folds: int) -> float:
    """Factor on the error of a mean over folds whose models share what they were fitted on."""
    return float(np.sqrt(1 + n_folds / (n_folds - 1))) if n_folds > 1 else 1.0


def accuracy_floor(verdicts_N: ArrayLike, questions_N: ArrayLike, gold_Q: ArrayLike) -> NoiseFloor:
    r"""Compute the accuracy of verdicts that have nothing to do with their questions.

    The right answers are permuted over the questions; all verdicts of a question stay together.
    Mean and spread of all permutations are in closed form (Hoeffding's): with a_qr the verdicts of
    question q that the answer of question r would make right,

    .. math:: \frac{1}{N Q} \sum_{qr} a_{qr}, \qquad
       \frac{1}{N^2 (Q-1)} \sum_{qr} (a_{qr} - \bar a_{q.} - \bar a_{.r} + \bar a)^2

    Shapes: ``verdicts_N`` (n_replies,), ``questions_N`` (n_replies,), ``gold_Q`` (n_questions,).

    Examples
    --------
    Three times A and once B, shuffled across four questions answered A, A, A, B: right by chance
    are (3 x 3 + 1) / 4 of 4.

    >>> floor = accuracy_floor([0, 0, 0, 1], [0, 1, 2, 3], [0, 0, 0, 1])
    >>> floor.mean, round(floor.sd, 3)
    (0.625, 0.217)
    """
    verdicts, questions = (np.asarray(one, dtype=np.int64) for one in (verdicts_N, questions_N))
    gold = np.asarray(gold_Q, dtype=np.int64)
    n, n_replies = gold.size, verdicts.size
    inside = (questions >= 0) & (questions < n)
    if verdicts.shape != questions.shape or not inside.all():
        raise ValueError(f"accuracy_floor: questions_N must name one of {n} questions a reply")
    if n < 2 or not n_replies:
        return NOTHING
    names = np.unique(gold)
    kept = (verdicts >= 0) & np.isin(
        verdicts, names
    )  # what is right nowhere is right of no permutation
    place = np.searchsorted(names, verdicts[kept])
    cells, counts = np.unique(questions[kept] * names.size + place, return_counts=True)
    question, verdict = np.divmod(cells, names.size)
    right, mean, sd = shuffled_right(question, verdict, counts, np.searchsorted(names, gold))
    return NoiseFloor(
        mean=mean / n_replies, sd=sd / n_replies, p=_two_sided(right - mean, sd, step=0.5),
        kind=NullMethod.GOLD_NORMAL,
    )  # fmt: skip


def ranking_floor(
    scores_N: ArrayLike, correct_N: ArrayLike, *, clusters_N: ArrayLike | None = None
) -> NoiseFloor:
    """Compute the AUROC of scores that have nothing to do with what is right.

    ``mean`` is one half. With one judgment a question ``sd`` is that of all permutations of the
    scores (ties counted), else of the questions' contributions, each being one piece of evidence.
    ``p`` is two-sided, from the normal distribution. Nothing where all are right or all wrong, or
    all scores tie.
    """
    scores, correct = checked_scores(scores_N, correct_N, function="ranking_floor")
    clusters = clusters_of(clusters_N, scores.size, function="ranking_floor", argument="clusters_N")
    there = ~np.isnan(scores)
    right = correct[there].astype(np.float64)
    n, n_right = right.size, int(right.sum())
    if not 0 < n_right < n:
        return NOTHING
    _, group, sizes = np.unique(scores[there], return_inverse=True, return_counts=True)
    rank = (np.cumsum(sizes) - (sizes - 1) / 2)[group]
    pieces = (rank - rank.mean()) * (right - right.mean())
    question = np.unique(clusters[there], return_inverse=True)[1]
    sums = np.bincount(question, weights=pieces)
    if sums.size == n:
        spread = (rank - rank.mean()) ** 2
        variance = float(spread.sum() * ((right - right.mean()) ** 2).sum() / (n - 1))
    else:
        variance = float((sums**2).sum() * sums.size / max(1, sums.size - 1))
    if variance < 1e-12:
        return NOTHING
    pairs, sd = n_right * (n - n_right), float(np.sqrt(variance))
    return NoiseFloor(
        mean=0.5, sd=sd / pairs, p=_two_sided(float(pieces.sum()), sd, step=0.0),
        kind=NullMethod.SCORES_NORMAL,
    )  # fmt: skip


def _two_sided(distance: float, sd: float, *, step: float) -> float | None:
    """Normal p-value of a distance, less half a step of what is counted; None without spread."""
    from scipy.special import ndtr

    if sd < 1e-6:
        return None
    return min(1.0, 2 * float(ndtr(-max(0.0, abs(distance) - step) / sd)))
