"""What accuracy and ranking would be by chance: the right answers shuffled across questions.

Shape suffixes: Q = questions, V = verdicts, N = judgments, M = cells of a question and a verdict.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor
from judgerel_ray.stats.selective.discrimination import checked_scores


def accuracy_floor(verdicts_N: ArrayLike, questions_N: ArrayLike, gold_Q: ArrayLike) -> NoiseFloor:
    r"""Compute the accuracy of verdicts that have nothing to do with their questions.

    The right answers are permuted over the questions; all verdicts of a question stay together.
    Mean and spread of all permutations are in closed form (Hoeffding's): with a_qr the verdicts of
    question q that the answer of question r would make right,

    .. math:: \frac{1}{N Q} \sum_{qr} a_{qr}, \qquad
       \frac{1}{N^2 (Q-1)} \sum_{qr} (a_{qr} - \bar a_{q.} - \bar a_{.r} + \bar a)^2

    Parameters
    ----------
    verdicts_N : array-like of int, shape (n_replies,)
        Verdict of each reply, by any coding that `gold_Q` shares; -1 where there is none.
    questions_N : array-like of int, shape (n_replies,)
        Question of each reply: a place in `gold_Q`.
    gold_Q : array-like of int, shape (n_questions,)
        Right verdict of each question.

    Returns
    -------
    NoiseFloor
        ``p`` is two-sided, from the normal distribution, half a reply allowed for steps. Nothing
        below two questions.

    Raises
    ------
    ValueError
        If there is not one question a reply, or it is none of those.

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
    return _permuted(question, verdict, counts, np.searchsorted(names, gold), n_replies=n_replies)


def ranking_floor(
    scores_N: ArrayLike, correct_N: ArrayLike, *, clusters_N: ArrayLike | None = None
) -> NoiseFloor:
    """Compute the AUROC of scores that have nothing to do with what is right.

    Parameters
    ----------
    scores_N, correct_N, clusters_N
        As of :func:`judgerel_ray.stats.auroc`.

    Returns
    -------
    NoiseFloor
        ``mean`` is one half. With one judgment a question ``sd`` is that of all permutations of the
        scores (ties counted), else of the questions' contributions, each being one piece of
        evidence. ``p`` is two-sided, from the normal distribution. Nothing where all are right or
        all wrong, or all scores tie.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    Four scores without ties: sqrt((4 + 1) / (12 x 2 x 2)).

    >>> floor = ranking_floor([0.9, 0.6, 0.7, 0.2], [True, True, False, False])
    >>> floor.mean, round(floor.sd, 4)
    (0.5, 0.3227)
    """
    scores, correct = checked_scores(scores_N, correct_N, function="ranking_floor")
    clusters = np.arange(scores.size) if clusters_N is None else np.asarray(clusters_N)
    if clusters.shape != scores.shape:
        raise ValueError(f"ranking_floor: clusters_N must have shape {scores.shape}")
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
        n_permutations=0, kind=NullMethod.SCORES_NORMAL,
    )  # fmt: skip


def _permuted(
    question_M: NDArray[np.integer],
    verdict_M: NDArray[np.integer],
    counts_M: NDArray[np.generic],
    gold_Q: NDArray[np.integer],
    *,
    n_replies: int,
) -> NoiseFloor:
    """The floor from the M cells of questions and verdicts that are not empty."""
    n, often = gold_Q.size, counts_M.astype(np.float64)
    n_names = 1 + max(int(gold_Q.max()), int(verdict_M.max(initial=0)))
    answers_V = np.bincount(gold_Q, minlength=n_names).astype(np.float64)
    row_Q = np.bincount(question_M, weights=often * answers_V[verdict_M], minlength=n) / n
    column_V = np.bincount(verdict_M, weights=often, minlength=n_names) / n
    mean = float(row_Q.mean())
    # Squared interactions are those of cells less those of rows and columns: empty cells need none.
    squares = float((often**2 * answers_V[verdict_M]).sum()) + (n * mean) ** 2
    rest = squares - n * float((row_Q**2).sum() + (column_V**2 * answers_V).sum())
    sd = float(np.sqrt(rest / (n - 1))) if rest > 1e-12 * squares else 0.0
    found = float(often[verdict_M == gold_Q[question_M]].sum())
    return NoiseFloor(
        mean=n * mean / n_replies, sd=sd / n_replies, p=_two_sided(found - n * mean, sd, step=0.5),
        n_permutations=0, kind=NullMethod.GOLD_NORMAL,
    )  # fmt: skip


def _two_sided(distance: float, sd: float, *, step: float) -> float | None:
    """Normal p-value of a distance, less half a step of what is counted; None without spread."""
    from scipy.special import ndtr

    if sd < 1e-6:
        return None
    return min(1.0, 2 * float(ndtr(-max(0.0, abs(distance) - step) / sd)))
