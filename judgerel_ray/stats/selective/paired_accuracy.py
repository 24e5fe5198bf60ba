"""Two systems on the same questions: whose answers are right more often.

Shape suffixes: Q = questions.

McNemar's exact test: two judges, right and wrong on the same questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.counts.statistic import Floats
from judgerel_ray.stats.intervals.precision import t_quantile


def mcnemar_exact(b: int, c: int) -> float:
    """Compute the two-sided p-value of paired verdicts that are right or wrong.

    Questions on which both are right, or both wrong, say nothing about which is better; were they
    equally good, each of the others would favour either by the toss of a coin.

    Parameters
    ----------
    b, c : int
        Questions on which the first alone, and the second alone, is right.

    Returns
    -------
    float
        In (0, 1]; 1 where there is no such question.

    Raises
    ------
    ValueError
        If a number is negative or not whole.

    Notes
    -----
    Join the two by question first: rows in different orders make every pair a false one.

    References
    ----------
    .. [1] McNemar, Q. (1947), doi:10.1007/BF02295996.

    Examples
    --------
    Twice the chance of 1 head or fewer in 8 tosses, (1 + 8) / 256:

    >>> mcnemar_exact(1, 7)
    0.0703125
    """
    from scipy.special import bdtr

    if b < 0 or c < 0 or b % 1 or c % 1:
        raise ValueError(f"mcnemar_exact: expected whole numbers from 0 on, got {b!r} and {c!r}")
    return min(1.0, 2.0 * float(bdtr(min(b, c), b + c, 0.5)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedAccuracy:
    """Accuracy of two systems on the same questions, second minus first.

    Attributes
    ----------
    first, second, difference : float or None
        None without questions.
    low, high : float or None
        Ends of the interval of the difference; None where it has none.
    both, first_only, second_only, neither : int or None
        Questions that both, one alone, or neither got right; None where a question has more than
        one answer.
    p : float or None
        Exact McNemar's; with several answers a question Student's, of the mean difference.
    n_questions : int
    method : str
        How interval and p-value were made, in words.
    """

    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    both: int | None
    first_only: int | None
    second_only: int | None
    neither: int | None
    p: float | None
    n_questions: int
    method: str


def paired_accuracy(
    first_Q: ArrayLike, second_Q: ArrayLike, *, confidence: float = 0.95
) -> PairedAccuracy:
    """Compare how often two systems are right on the same questions.

    Parameters
    ----------
    first_Q, second_Q : array-like of float, shape (n_questions,)
        1 where the answer to the question is right, 0 where not; between them the share of a
        question's answers that is. Joined by question before: rows in different orders make every
        pair a false one.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    PairedAccuracy
        With one answer a question the interval is Wald's with one question added to each kind
        that differs [1]_, which has ends where no answers differ, too; else Student's t.

    Raises
    ------
    ValueError
        If the lengths differ, a share is not in [0, 1], or the confidence is not in (0, 1).

    References
    ----------
    .. [1] Bonett, D. G. and Price, R. M. (2012), doi:10.3102/1076998611411915.

    Examples
    --------
    >>> found = paired_accuracy([1, 1, 0, 0, 0], [1, 1, 1, 1, 0])
    >>> found.difference, found.second_only, found.p
    (0.4, 2, 0.5)
    """
    first, second = (np.asarray(one, dtype=np.float64) for one in (first_Q, second_Q))
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"paired_accuracy: expected two rows of one length, got {first.shape}, {second.shape}"
        )
    if not all(((one >= 0) & (one <= 1)).all() for one in (first, second)):
        raise ValueError("paired_accuracy: shares must be in [0, 1]")
    if not 0 < confidence < 1:
        raise ValueError(f"paired_accuracy: confidence must be in (0, 1), got {confidence!r}")
    n = first.size
    single = bool(np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all())
    counts: tuple[int | None, ...] = (None,) * 4
    if single:
        codes = np.bincount((2 * first + second).astype(int), minlength=4)
        neither, second_only, first_only, both = (int(one) for one in codes)
        counts = (both, first_only, second_only, neither)
        ends = _adjusted_wald(first_only, second_only, n, confidence)
        p: float | None = mcnemar_exact(first_only, second_only)
        method = "exact McNemar; adjusted Wald"
    else:
        *ends, p = _student(second - first, confidence)
        method = "t over questions"
    return PairedAccuracy(
        first=float(first.mean()) if n else None,
        second=float(second.mean()) if n else None,
        difference=float((second - first).mean()) if n else None,
        low=ends[0] if n else None, high=ends[1] if n else None,
        both=counts[0], first_only=counts[1], second_only=counts[2], neither=counts[3],
        p=p if n else None, n_questions=n, method=method,
    )  # fmt: skip


def _adjusted_wald(
    first_only: int, second_only: int, n: int, confidence: float
) -> list[float | None]:
    """Bonett and Price's ends for the difference of paired shares."""
    from statistics import NormalDist

    up, down = (second_only + 1) / (n + 2), (first_only + 1) / (n + 2)
    error = float(np.sqrt((up + down - (up - down) ** 2) / (n + 2)))
    half = NormalDist().inv_cdf((1 + confidence) / 2) * error
    return [max(-1.0, up - down - half), min(1.0, up - down + half)]


def _student(difference_Q: Floats, confidence: float) -> list[float | None]:
    """Ends and two-sided p-value of a mean difference; nothing where questions do not differ."""
    from scipy.special import stdtr

    n = difference_Q.size
    if n < 2 or np.ptp(difference_Q) < 1e-12:
        return [None, None, None]
    mean, error = float(difference_Q.mean()), float(difference_Q.std(ddof=1) / np.sqrt(n))
    half = t_quantile(n - 1, confidence) * error
    p = 2 * float(stdtr(n - 1, -abs(mean) / error))
    return [max(-1.0, mean - half), min(1.0, mean + half), p]
