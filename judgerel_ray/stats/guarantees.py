"""A guarantee: a threshold whose risk is bounded, with stated confidence.

Shape suffixes: N = judgments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.discrimination import checked_scores
from judgerel_ray.stats.folds import one_of_each
from judgerel_ray.stats.statistic import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class GuaranteedThreshold:
    """A threshold that keeps the risk of what it accepts, with stated confidence.

    Attributes
    ----------
    threshold : float or None
        Accept judgments whose score reaches it; None where `undefined` is set.
    risk, delta : float
        Of judgments drawn like the calibration set, the share wrong among the accepted exceeds
        `risk` with probability at most `delta`.
    n_accepted, n_errors, n : int
        Of the calibration set: accepted at the threshold, wrong among them, and all (where several
        are of one question, of one drawn from each).
    undefined : str or None
        "too_few_judgments" where even no error would prove nothing, "risk_too_high" where the
        first threshold tested already failed.
    """

    risk: float
    delta: float
    n: int
    threshold: float | None = None
    n_accepted: int = 0
    n_errors: int = 0
    undefined: str | None = None


def learn_then_test(
    scores_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    risk: float,
    delta: float,
    thresholds: Sequence[float] | None = None,
    n_thresholds: int = 20,
    clusters_N: ArrayLike | None = None,
    seed: int = 0,
) -> GuaranteedThreshold:
    """Find the loosest threshold whose risk is proven on a calibration set.

    From strict to loose, each threshold is tested (is the share wrong among the accepted at most
    `risk`?) at level `delta`, until one fails: a fixed sequence, so no level is split.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_judgments,)
        Of the calibration set; higher is surer, NaN is never accepted.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.
    risk, delta : float
        In (0, 1).
    thresholds : sequence of float, optional
        The thresholds to test; by default scores at even steps of acceptance, chosen without a
        look at the labels.
    n_thresholds : int
        Steps of that default.
    clusters_N : array-like, shape (n_judgments,), optional
        The question of each judgment; by default each is its own. Judgments of one question are not
        independent, so one of each is drawn by `seed` and the others prove nothing.
    seed : int
        The draw.

    Returns
    -------
    GuaranteedThreshold

    Raises
    ------
    ValueError
        If the shapes differ, or risk, delta or the thresholds are out of range.

    Notes
    -----
    Thresholds that accept fewer than log(delta) / log(1 - risk) judgments could not pass without
    a single error and would end the sequence at once: it starts after them.

    References
    ----------
    .. [1] Angelopoulos et al. (2021), Learn then Test, arXiv:2110.01052.

    Examples
    --------
    Thirty right judgments prove a risk below 10 % (0.9 ** 30 = .042); ten wrong ones below do not.

    >>> found = learn_then_test([0.9] * 30 + [0.4] * 10, [True] * 30 + [False] * 10,
    ...                         risk=0.1, delta=0.05)
    >>> found.threshold, found.n_accepted
    (0.9, 30)
    """
    from scipy.special import bdtr

    scores, correct = checked_scores(scores_N, correct_N, function="learn_then_test")
    if clusters_N is not None:
        kept = one_of_each(clusters_N, n=scores.size, seed=seed, function="learn_then_test")
        scores, correct = scores[kept], correct[kept]
    if not (0 < risk < 1 and 0 < delta < 1):
        raise ValueError(
            f"learn_then_test: risk and delta must be between 0 and 1, got {risk!r} and {delta!r}"
        )
    grid = _grid(scores, n_thresholds) if thresholds is None else sorted(thresholds, reverse=True)
    fewest = np.log(delta) / np.log1p(-risk)
    found = GuaranteedThreshold(
        risk=risk, delta=delta, n=scores.size, undefined="too_few_judgments"
    )
    for threshold in grid:
        accepted = scores >= threshold  # NaN reaches nothing
        n_accepted, n_errors = int(accepted.sum()), int((accepted & ~correct).sum())
        if n_accepted < fewest:
            continue
        if bdtr(n_errors, n_accepted, risk) > delta:
            if found.threshold is None:
                return GuaranteedThreshold(
                    risk=risk, delta=delta, n=scores.size, undefined="risk_too_high"
                )
            return found
        found = GuaranteedThreshold(
            risk=risk, delta=delta, n=scores.size,
            threshold=float(threshold), n_accepted=n_accepted, n_errors=n_errors,
        )  # fmt: skip
    return found


def _grid(scores: Floats, n_thresholds: int) -> list[float]:
    """Scores at even steps of acceptance, downwards."""
    ordered = -np.sort(-scores[~np.isnan(scores)])
    if not ordered.size:
        return []
    ends = np.ceil(np.arange(1, n_thresholds + 1) * ordered.size / n_thresholds).astype(int) - 1
    return sorted(set(ordered[ends].tolist()), reverse=True)
