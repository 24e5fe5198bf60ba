"""Sets of options that hold the right one at a stated rate.

Shape suffixes: N, M = items, O = options.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.folds import one_of_each
from judgerel_ray.stats.statistic import Floats


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
    reach_NO = _reach(shares_NO, ordered=ordered, function="conformal_rule")
    right = np.asarray(right_N)
    if right.shape != reach_NO.shape[:1] or not np.issubdtype(right.dtype, np.integer):
        raise ValueError(
            f"conformal_rule: right_N must hold {len(reach_NO)} whole numbers, got {right!r}"
        )
    if ((right < 0) | (right >= reach_NO.shape[1])).any():
        raise ValueError("conformal_rule: right_N must be an option's place, from 0 on")
    if not 0 < error < 1:
        raise ValueError(f"conformal_rule: error must be between 0 and 1, got {error!r}")
    if clusters_N is not None:
        kept = one_of_each(clusters_N, n=right.size, seed=seed, function="conformal_rule")
        reach_NO, right = reach_NO[kept], right[kept]
    n = right.size
    rank = int(np.ceil((n + 1) * (1 - error) - 1e-9))
    own = np.sort(reach_NO[np.arange(n), right])
    reach = float(own[rank - 1]) if rank <= n else float("inf")
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
    reach = _reach(shares_MO, ordered=rule.ordered, function="conformal_sets")
    inside: NDArray[np.bool_] = reach <= rule.reach
    return inside


def _reach(shares_NO: ArrayLike, *, ordered: bool, function: str) -> Floats:
    """Nonconformity of every option: 1 - share, or what is taken in before it on a scale."""
    shares = np.asarray(shares_NO, dtype=np.float64)
    if shares.ndim != 2 or not shares.shape[1]:
        raise ValueError(f"{function}: shares must have 2 dimensions, got {shares.shape}")
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise ValueError(f"{function}: shares must be finite and not negative")
    return (
        np.array([_grown(row) for row in shares]).reshape(shares.shape) if ordered else 1 - shares
    )


def _grown(share_O: Floats) -> Floats:
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
