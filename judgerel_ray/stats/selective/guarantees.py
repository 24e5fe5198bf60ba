"""Guarantees: a threshold of bounded risk, and sets that hold the right option at a stated rate.

Shape suffixes: N = judgments or items, M = items, O = options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_fraction
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.folds import one_of_each
from judgerel_ray.stats.selective.discrimination import checked_scores


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
    if thresholds is None:
        thresholds = _acceptance_threshold_grid(scores, n_thresholds)
    fewest = np.log(delta) / np.log1p(-risk)
    bare = GuaranteedThreshold(risk=risk, delta=delta, n=scores.size)
    found = replace(bare, undefined="too_few_judgments")
    for threshold in sorted(thresholds, reverse=True):
        accepted = scores >= threshold  # NaN reaches nothing
        n_accepted, n_errors = int(accepted.sum()), int((accepted & ~correct).sum())
        if n_accepted < fewest:
            continue
        if bdtr(n_errors, n_accepted, risk) > delta:
            return replace(bare, undefined="risk_too_high") if found.threshold is None else found
        found = replace(bare, threshold=float(threshold), n_accepted=n_accepted, n_errors=n_errors)
    return found


def _acceptance_threshold_grid(scores: Floats, n_thresholds: int) -> list[float]:
    """Scores at even steps of acceptance, each once."""
    ordered = -np.sort(-scores[~np.isnan(scores)])
    if not ordered.size:
        return []
    ends = np.ceil(np.arange(1, n_thresholds + 1) * ordered.size / n_thresholds).astype(int) - 1
    return [*set(ordered[ends].tolist())]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalRule:
    """How far a set of options must reach to hold the right one.

    Attributes
    ----------
    reach : float
        Largest nonconformity that is taken in; infinite where too few calibration items are there.
    error : float
        Share of sets that may miss the right option.
    ordered : bool
        Whether the options are a scale and sets are intervals of it.
    n : int
        Calibration items.
    """

    reach: float
    error: float
    ordered: bool
    n: int


def conformal_rule(
    shares_NO: ArrayLike,
    right_N: ArrayLike,
    *,
    error: float = 0.1,
    ordered: bool = False,
    clusters_N: ArrayLike | None = None,
    seed: int = 0,
) -> ConformalRule:
    """Calibrate sets of options that hold the right one at a stated rate.

    Parameters
    ----------
    shares_NO : array-like of float, shape (n_items, n_options)
        What each option is worth, such as u or a verdict distribution; rows need not sum to 1.
    right_N : array-like of int, shape (n_items,)
        Row index of the right option of each item.
    error : float
        Share of sets that may miss it, in (0, 1).
    ordered : bool
        Whether the options are a scale: sets then grow around the best option, one neighbour at a
        time, and have no gaps.
    clusters_N, seed
        As for :func:`judgerel_ray.stats.learn_then_test`.

    Returns
    -------
    ConformalRule
        New items drawn like these have their right option in the set with probability at least
        1 - `error`, on average over both draws; for a claim about each benchmark, calibrate each.

    Raises
    ------
    ValueError
        If the shapes do not fit, a share is negative or not finite, or `error` is not in (0, 1).

    References
    ----------
    .. [1] Vovk et al. (2005), Algorithmic Learning in a Random World.

    Examples
    --------
    >>> rule = conformal_rule([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], [0, 0, 0], error=0.5)
    >>> round(rule.reach, 6)
    0.4
    """
    reach_NO = _nonconformity_of_options(shares_NO, ordered=ordered, function="conformal_rule")
    right = np.asarray(right_N)
    if right.shape != reach_NO.shape[:1] or not np.issubdtype(right.dtype, np.integer):
        raise ValueError(
            f"conformal_rule: right_N must hold {len(reach_NO)} whole numbers, got {right!r}"
        )
    if ((right < 0) | (right >= reach_NO.shape[1])).any():
        raise ValueError("conformal_rule: right_N must be an option's place, from 0 on")
    check_fraction("conformal_rule", error=error)
    if clusters_N is not None:
        kept = one_of_each(clusters_N, n=right.size, seed=seed, function="conformal_rule")
        reach_NO, right = reach_NO[kept], right[kept]
    n = right.size
    rank = int(np.ceil((n + 1) * (1 - error) - 1e-9))
    right_reach = np.sort(reach_NO[np.arange(n), right])
    reach = float(right_reach[rank - 1]) if rank <= n else float("inf")
    return ConformalRule(reach=reach, error=error, ordered=ordered, n=n)


def conformal_sets(shares_MO: ArrayLike, rule: ConformalRule) -> NDArray[np.bool_]:
    """Give each item its set of options.

    Parameters
    ----------
    shares_MO : array-like of float, shape (n_items, n_options)
        As for :func:`conformal_rule`.
    rule : ConformalRule

    Returns
    -------
    ndarray of bool, shape (n_items, n_options)
        Which options are in the set. A set may be empty where no option is worth enough; sets of a
        scale never are.

    Raises
    ------
    ValueError
        If a share is negative or not finite.

    Examples
    --------
    >>> rule = ConformalRule(reach=0.4, error=0.5, ordered=False, n=3)
    >>> conformal_sets([[0.7, 0.3], [0.5, 0.5]], rule).tolist()
    [[True, False], [False, False]]
    """
    reach = _nonconformity_of_options(shares_MO, ordered=rule.ordered, function="conformal_sets")
    return reach <= rule.reach


def _nonconformity_of_options(shares_NO: ArrayLike, *, ordered: bool, function: str) -> Floats:
    """Nonconformity of every option: 1 - share, or what is taken in before it on a scale."""
    shares = np.asarray(shares_NO, dtype=np.float64)
    if shares.ndim != 2 or not shares.shape[1]:
        raise ValueError(f"{function}: shares must have 2 dimensions, got {shares.shape}")
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise ValueError(f"{function}: shares must be finite and not negative")
    if ordered:
        return np.array([_grown_interval(row) for row in shares]).reshape(shares.shape)
    return 1 - shares


def _grown_interval(share_O: Floats) -> Floats:
    """What an interval grown from the best option holds before it takes each option in."""
    reach = np.zeros(share_O.size)
    left = right = int(share_O.argmax())
    held = float(share_O[left])
    while right - left + 1 < share_O.size:
        below = share_O[left - 1] if left else -1.0
        above = share_O[right + 1] if right + 1 < share_O.size else -1.0
        if below > above:
            left -= 1
            taken = left
        else:
            right += 1
            taken = right
        reach[taken] = held
        held += float(share_O[taken])
    return reach
