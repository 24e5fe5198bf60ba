"""Shares of trials with their intervals: exact where trials are independent, else by question.

Shape suffixes: N = trials.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.stats.intervals.interval import Interval
from judgerel_ray.stats.intervals.precision import t_quantile

_MANY_TRIALS = 10**9


def clopper_pearson(k: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Compute the exact interval of a share, for independent trials: one row a question.

    Parameters
    ----------
    k, n : int
        Successes and trials.
    confidence : float
        Least coverage, in (0, 1).

    Returns
    -------
    Interval
        Within [0, 1]; ``undefined`` is "too_few_units" where n is 0.

    Raises
    ------
    ValueError
        If not 0 <= k <= n, or the confidence is not in (0, 1).

    References
    ----------
    .. [1] Clopper, C. J. and Pearson, E. S. (1934), doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> found = clopper_pearson(431, 600)
    >>> round(found.low, 6), round(found.high, 6)
    (0.680493, 0.754009)
    """
    from scipy.special import betaincinv

    if not 0 <= k <= n:
        raise ValueError(f"clopper_pearson: k must be between 0 and n={n}, got {k}")
    if not 0 < confidence < 1:
        raise ValueError(f"clopper_pearson: confidence must be between 0 and 1, got {confidence!r}")
    if n == 0:
        return Interval(undefined="too_few_units")
    tail = (1 - confidence) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail))
    return Interval(low=low, high=high, kind=IntervalMethod.CLOPPER_PEARSON, n_questions=n)


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


def share_ends(
    value: float, error: float, n_questions: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Give Clopper and Pearson's ends for as many trials as the error of a share is worth.

    A share that is far from one half varies to one side more than Student's t has it, and its plain
    interval excludes a truth nearer the middle too often.

    Parameters
    ----------
    value : float
        The share, in (0, 1).
    error : float
        Its standard error by question, above 0.
    n_questions : int
        Questions, at least 2.
    confidence : float
        Coverage asked for, in (0, 1).

    Returns
    -------
    low, high : float

    References
    ----------
    .. [1] Korn, E. L. and Graubard, B. I. (1998), Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data, Survey Methodology 24.

    Examples
    --------
    >>> [round(end, 3) for end in share_ends(0.9, 0.03, 40)]
    [0.821, 0.952]
    """
    lost = t_quantile(_MANY_TRIALS, confidence) / t_quantile(n_questions - 1, confidence)
    return _ends(value, value * (1 - value) / error**2 * lost**2, confidence)


def difference_ends(
    value: float, error: float, n_questions: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Give ends for a mean, over questions, of differences of shares: with one question more.

    Where few questions differ much, Student's t excludes a truth farther from 0 too often: nothing
    is known of the next question that differs. Each end is that of the same questions and one more,
    which differs as much as it can, as the exact end of a share is about one more success.

    Parameters
    ----------
    value : float
        The mean difference, in [-1, 1].
    error : float
        Its standard error by question; 0 where no question differs from another.
    n_questions : int
        Questions, at least 2.
    confidence : float
        Coverage asked for, in (0, 1).

    Returns
    -------
    low, high : float
        In [-1, 1].

    Examples
    --------
    Two of 60 questions lost; Student's t ends at .080, and 2 of 60 has the exact end .115:

    >>> [round(end, 3) for end in difference_ends(2 / 60, 0.0234, 60)]
    [-0.041, 0.105]
    """
    n, reach = n_questions, t_quantile(n_questions, confidence)
    ends = []
    for worst in (-1.0, 1.0):
        squares = error**2 * n * (n - 1) + (worst - value) ** 2 * n / (n + 1)
        end = (n * value + worst) / (n + 1) + worst * reach * (squares / n / (n + 1)) ** 0.5
        ends.append(max(-1.0, min(1.0, end)))
    return ends[0], ends[1]


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
