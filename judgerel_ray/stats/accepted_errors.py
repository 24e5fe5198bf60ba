"""The share wrong among the accepted, at each score that occurs: by itself and at all together.

Shape suffixes: N = judgments, T = thresholds, downwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.discrimination import checked_scores
from judgerel_ray.stats.shares import clustered_share
from judgerel_ray.stats.statistic import Floats

Band = Literal["bonferroni", "dkw"]
BANDS: tuple[Band, ...] = ("bonferroni", "dkw")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedErrors:
    """What accepting from each threshold on gives, with intervals at it and at all together.

    Attributes
    ----------
    thresholds_T : ndarray of float
        Scores that occur, downwards: accepted is what reaches them.
    n_accepted_T, n_errors_T : ndarray of int
        Accepted judgments, and the wrong ones among them.
    acceptance_T, error_T : ndarray of float
        Share accepted of all judgments, and share wrong of the accepted.
    low_T, high_T : ndarray of float
        Interval of the error at each threshold by itself; NaN where accepted are of one question.
    band_low_T, band_high_T : ndarray of float
        Ends that hold at all thresholds together.
    n : int
        All judgments, those without a score too: they are never accepted.
    method, band : str
        How the intervals and the band were made, in words.
    """

    thresholds_T: Floats  # noqa: N815  a shape, not a case
    n_accepted_T: NDArray[np.int64]  # noqa: N815
    n_errors_T: NDArray[np.int64]  # noqa: N815
    acceptance_T: Floats  # noqa: N815
    error_T: Floats  # noqa: N815
    low_T: Floats  # noqa: N815
    high_T: Floats  # noqa: N815
    band_low_T: Floats  # noqa: N815
    band_high_T: Floats  # noqa: N815
    n: int
    method: str
    band: str


def accepted_errors(
    scores_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
    band: Band = "bonferroni",
    most: int = 50,
) -> AcceptedErrors:
    """Compute the error among the accepted at scores that occur, with pointwise and joint ends.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_judgments,)
        Higher is surer; NaN (no confidence, no verdict) is never accepted.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.
    clusters_N : array-like, shape (n_judgments,), optional
        The question of each judgment; by default each is its own.
    confidence : float
        Of the intervals and of the band, in (0, 1).
    band : {"bonferroni", "dkw"}
        Each interval widened so that all hold together; or Dvoretzky, Kiefer and Wolfowitz's with
        Massart's constant [1]_ for the right and for the wrong answers above a threshold, at half
        the error each, which is the same width for any number of thresholds and says nothing
        where few are accepted. The latter needs one judgment a question.
    most : int
        Thresholds at most; of more, those nearest to even steps of acceptance, whatever is right.

    Returns
    -------
    AcceptedErrors
        Intervals are exact (Clopper-Pearson) with one judgment a question, else by question.

    Raises
    ------
    ValueError
        If the shapes differ or a choice is out of range.

    References
    ----------
    .. [1] Massart, P. (1990), doi:10.1214/aop/1176990746.

    Examples
    --------
    >>> found = accepted_errors([0.9, 0.9, 0.5, float("nan")], [True, False, True, True])
    >>> found.acceptance_T.tolist(), found.error_T.round(3).tolist()
    ([0.5, 0.75], [0.5, 0.333])
    >>> bool((found.band_high_T >= found.high_T).all())
    True
    """
    scores, correct, clusters = _checked(scores_N, correct_N, clusters_N, confidence, band, most)
    there = ~np.isnan(scores)
    singles = np.unique(clusters).size == clusters.size
    if band == "dkw" and not singles:
        raise ValueError("accepted_errors: band dkw needs one judgment a question")
    thresholds = _thinned(scores[there], most, scores.size)
    level = 1 - (1 - confidence) / max(1, thresholds.size)
    rows = []
    for threshold in thresholds:
        taken = there & (scores >= threshold)
        wrong, questions = ~correct[taken], clusters[taken]
        near = clustered_share(wrong, clusters_N=questions, confidence=confidence)
        far = clustered_share(wrong, clusters_N=questions, confidence=level)
        ends = [near.low, near.high, far.low, far.high]
        rows.append([near.n, near.k, *(np.nan if end is None else end for end in ends)])
    table = np.array(rows, dtype=np.float64).reshape(-1, 6)
    accepted, errors = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    low, high = table[:, 4], table[:, 5]
    words = f"Bonferroni over {thresholds.size} thresholds"
    if band == "dkw":
        low, high, words = _dkw(accepted, errors, scores.size, confidence)
    return AcceptedErrors(
        thresholds_T=thresholds,
        n_accepted_T=accepted,
        n_errors_T=errors,
        acceptance_T=accepted / max(1, scores.size),
        error_T=errors / np.maximum(1, accepted),
        low_T=table[:, 2],
        high_T=table[:, 3],
        band_low_T=low,
        band_high_T=high,
        n=scores.size,
        method="exact binomial" if singles else "by question",
        band=words,
    )


def _checked(
    scores_N: ArrayLike,
    correct_N: ArrayLike,
    clusters_N: ArrayLike | None,
    confidence: float,
    band: str,
    most: int,
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.generic]]:
    """What was given, refused where it is out of range."""
    scores, correct = checked_scores(scores_N, correct_N, function="accepted_errors")
    clusters = np.arange(scores.size) if clusters_N is None else np.asarray(clusters_N)
    if clusters.shape != scores.shape:
        raise ValueError(f"accepted_errors: clusters_N must have shape {scores.shape}")
    if not 0 < confidence < 1 or most < 1 or band not in BANDS:
        raise ValueError(
            "accepted_errors: confidence must be between 0 and 1, most at least 1 and band of "
            f"{', '.join(BANDS)}, got {confidence!r}, {most!r} and {band!r}"
        )
    return scores, correct, clusters


def _thinned(scores: Floats, most: int, n: int) -> Floats:
    """Distinct scores downwards, at most so many, the loosest always among them."""
    distinct, counts = np.unique(-scores, return_counts=True)
    if distinct.size > most:
        accepted = np.cumsum(counts) / n
        steps = np.arange(1, most + 1) / most * accepted[-1]
        distinct = distinct[np.unique(np.searchsorted(accepted, steps - 1e-12))]
    found: Floats = -distinct
    return found


def _dkw(
    accepted: NDArray[np.int64], errors: NDArray[np.int64], n: int, confidence: float
) -> tuple[Floats, Floats, str]:
    """The band from two empirical distributions, each off by at most so much at once."""
    off = float(np.sqrt(np.log(4 / (1 - confidence)) / (2 * max(1, n))))
    wrong, right = errors / max(1, n), (accepted - errors) / max(1, n)
    most, least = wrong + off, np.maximum(0, wrong - off)
    high = np.minimum(1, most / (most + np.maximum(0, right - off)))
    low = least / (least + right + off)
    return low, high, f"Dvoretzky-Kiefer-Wolfowitz, {off:.3f} either way of all judgments"
