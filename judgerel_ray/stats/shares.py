"""Shares of trials with their intervals: exact where trials are independent, else by question.

Shape suffixes: N = trials.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.interval import clopper_pearson
from judgerel_ray.stats.precision import t_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of trials with its interval.

    Attributes
    ----------
    k, n : int
        Successes and trials.
    value, low, high : float or None
        None without trials; no ends where all trials are of one question.
    n_questions : int
        What is independent: the trials themselves where each is a question of its own.
    method : str
        How the interval was made, in words.
    """

    k: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    n_questions: int
    method: str


def share(k: int, n: int, *, confidence: float = 0.95) -> Share:
    """Give a share of independent trials with its exact interval.

    Examples
    --------
    >>> share(0, 0).value is None, share(1, 2).value
    (True, 0.5)
    """
    ends = clopper_pearson(k, n, confidence=confidence)
    return Share(
        k=k, n=n, value=k / n if n else None, low=ends.low, high=ends.high, n_questions=n,
        method="exact binomial",
    )  # fmt: skip


def clustered_share(
    hits_N: ArrayLike, *, clusters_N: ArrayLike | None = None, confidence: float = 0.95
) -> Share:
    """Give a share with its interval.

    Parameters
    ----------
    hits_N : array-like of bool, shape (n_trials,)
        Which trials were successes.
    clusters_N : array-like, shape (n_trials,), optional
        The question of each trial; by default each is its own.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Share
        With one trial a question the interval is exact (Clopper-Pearson). With several it is that
        of as many independent trials as the spread over questions is worth [1]_, at most all and at
        least the questions where no spread can be seen (all trials are hits, or none is).

    Raises
    ------
    ValueError
        If the lengths differ or the confidence is not in (0, 1).

    References
    ----------
    .. [1] Korn, E. L. and Graubard, B. I. (1998), Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data, Survey Methodology 24.

    Examples
    --------
    >>> found = clustered_share([True, True, False])
    >>> found.k, found.n, round(found.low, 3), found.method
    (2, 3, 0.094, 'exact binomial')

    Ten trials of three questions tell no more than three do:

    >>> wide = clustered_share([True] * 10, clusters_N=[1] * 4 + [2] * 3 + [3] * 3)
    >>> round(wide.low, 2), wide.n_questions
    (0.29, 3)
    """
    hits = np.asarray(hits_N, dtype=bool)
    clusters = np.arange(hits.size) if clusters_N is None else np.asarray(clusters_N)
    if hits.ndim != 1 or hits.shape != clusters.shape:
        raise ValueError(
            f"clustered_share: hits_N and clusters_N must be of one length, "
            f"got {hits.shape} and {clusters.shape}"
        )
    if not 0 < confidence < 1:
        raise ValueError(f"clustered_share: confidence must be between 0 and 1, got {confidence!r}")
    k, n = int(hits.sum()), hits.size
    number = np.unique(clusters, return_inverse=True)[1]
    n_questions = int(number.max()) + 1 if n else 0
    if n_questions == n:
        return share(k, n, confidence=confidence)
    low = high = None
    if n_questions > 1:
        low, high = _ends(k / n, _worth(hits, number, confidence), confidence)
    return Share(
        k=k, n=n, value=k / n, low=low, high=high, n_questions=n_questions,
        method=f"by {n_questions} questions",
    )  # fmt: skip


def _worth(hits: NDArray[np.bool_], number: NDArray[np.intp], confidence: float) -> float:
    """Independent trials that vary as the questions do, less what their few questions hide."""
    n, n_questions = hits.size, int(number.max()) + 1
    p = float(hits.mean())
    sums = np.bincount(number, weights=hits - p)
    variance = float((sums**2).sum()) * n_questions / (n_questions - 1) / n**2
    if variance <= 1e-15:
        return float(n_questions) if p in (0.0, 1.0) else float(n)
    lost = t_quantile(n - 1, confidence) / t_quantile(n_questions - 1, confidence)
    return min(float(n), p * (1 - p) / variance * lost**2)


def _ends(p: float, n: float, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's ends for a number of trials that need not be whole."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    k = p * n
    low = 0.0 if p == 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if p == 1 else float(betaincinv(k + 1, n - k, 1 - tail))
    return low, high
