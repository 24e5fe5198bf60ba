"""What accuracy and ranking would be by chance: the right answers dealt to other questions.

Shape suffixes: Q = questions, V = verdicts, N = judgments.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.counts import checked_counts
from judgerel_ray.stats.discrimination import checked_scores
from judgerel_ray.stats.noise import NOTHING, NoiseFloor


def accuracy_floor(counts_QV: ArrayLike, gold_Q: ArrayLike, *, n_replies: int) -> NoiseFloor:
    r"""Compute the accuracy of verdicts that have nothing to do with their questions.

    The right answers are dealt to the questions at random; all verdicts of a question stay
    together. Mean and spread of all deals are in closed form (Hoeffding's): with a_qr the verdicts
    of question q that the answer of question r would make right,

    .. math:: \frac{1}{N Q} \sum_{qr} a_{qr}, \qquad
       \frac{1}{N^2 (Q-1)} \sum_{qr} (a_{qr} - \bar a_{q.} - \bar a_{.r} + \bar a)^2

    Parameters
    ----------
    counts_QV : array-like of int, shape (n_questions, n_verdicts)
        How often each question received each verdict.
    gold_Q : array-like of int, shape (n_questions,)
        Column of the right verdict of each question; -1 where nobody gave it.
    n_replies : int
        What accuracy is a share of: all replies, those without a verdict too.

    Returns
    -------
    NoiseFloor
        ``p`` is two-sided, from the normal distribution, half a reply allowed for steps. Nothing
        below two questions.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or there is not one answer a question.

    Examples
    --------
    Three times A and once B, dealt to four questions answered A, A, A, B: right by chance are
    (3 x 3 + 1) / 4 of 4.

    >>> floor = accuracy_floor([[1, 0], [1, 0], [1, 0], [0, 1]], [0, 0, 0, 1], n_replies=4)
    >>> floor.mean, round(floor.sd, 3)
    (0.625, 0.217)
    """
    counts = checked_counts(counts_QV, function="accuracy_floor")
    gold = np.asarray(gold_Q, dtype=np.intp)
    n = len(counts)
    if gold.shape != (n,) or (n and not ((gold >= -1) & (gold < counts.shape[1])).all()):
        raise ValueError(f"accuracy_floor: gold_Q must name a column for each of {n} questions")
    if n < 2 or n_replies < 1:
        return NOTHING
    often_V = np.bincount(gold[gold >= 0], minlength=counts.shape[1]).astype(np.float64)
    never = n - often_V.sum()  # answers that no verdict would match
    row_Q, column_V = counts @ often_V / n, counts.sum(axis=0) / n
    mean = float(row_Q.mean())
    squares = float((((counts - row_Q[:, None] - column_V + mean) ** 2) @ often_V).sum())
    squares += never * float(((mean - row_Q) ** 2).sum())
    sd = float(np.sqrt(squares / (n - 1)))
    found = float(counts[np.arange(n), gold][gold >= 0].sum())
    return NoiseFloor(
        mean=n * mean / n_replies, sd=sd / n_replies, p=_two_sided(found - n * mean, sd, step=0.5),
        n_permutations=0, method="right answers dealt to other questions, normal",
    )  # fmt: skip


def ranking_floor(
    scores_N: ArrayLike, correct_N: ArrayLike, *, clusters_N: ArrayLike | None = None
) -> NoiseFloor:
    """Compute the AUROC of scores that have nothing to do with what is right.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_judgments,)
        Higher is surer; judgments with NaN take no part.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.
    clusters_N : array-like, shape (n_judgments,), optional
        The question of each judgment; by default each is its own.

    Returns
    -------
    NoiseFloor
        ``mean`` is one half. With one judgment a question ``sd`` is that of all deals of the
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
        n_permutations=0, method="scores dealt to other judgments, normal",
    )  # fmt: skip


def _two_sided(distance: float, sd: float, *, step: float) -> float | None:
    """Normal p-value of a distance, less half a step of what is counted; None without spread."""
    from scipy.special import ndtr

    if sd < 1e-12:
        return None
    return min(1.0, 2 * float(ndtr(-max(0.0, abs(distance) - step) / sd)))
