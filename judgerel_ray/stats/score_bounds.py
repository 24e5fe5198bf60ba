"""Certain bounds on an expected score, from certain bounds on every value's probability.

Shape suffixes: N = items, V = values of a scale and, last, "no score".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.statistic import Floats

_ROUNDING = 1e-4  # sums of single precision log-probabilities


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreBounds:
    """Ends that the expected score of each item cannot leave.

    Attributes
    ----------
    low_N, high_N : ndarray of float, shape (n_items,)
        Of the mean over replies that have a score; NaN where no reply can have one.
    """

    low_N: Floats  # noqa: N815  a shape, not a case
    high_N: Floats  # noqa: N815


def weighted_bounds(low_NV: ArrayLike, high_NV: ArrayLike, values_V: ArrayLike) -> ScoreBounds:
    r"""Bound :math:`\sum_v x_v p_v / \sum_v p_v` over all distributions within their bounds.

    Parameters
    ----------
    low_NV, high_NV : array-like of float, shape (n_items, n_values + 1)
        Bounds on the probability of each value, those of "no score" last.
    values_V : array-like of float, shape (n_values,)
        The scores.

    Returns
    -------
    ScoreBounds

    Raises
    ------
    ValueError
        If shapes do not fit, a number is not finite, or no distribution is within the bounds.

    Notes
    -----
    A ratio is largest where what is open goes to values from the highest down, to "no score" at the
    place where a score would lower the mean, and to lower ones only if it must. Every such place is
    tried: each gives a distribution within the bounds, and one of them is the best.

    Examples
    --------
    >>> found = weighted_bounds([[0.5, 0.25, 0.0]], [[0.75, 0.5, 0.25]], [1, 5])
    >>> found.low_N.tolist(), found.high_N.tolist()
    ([2.0], [3.0])
    """
    low, high = np.asarray(low_NV, dtype=np.float64), np.asarray(high_NV, dtype=np.float64)
    values = np.asarray(values_V, dtype=np.float64)
    name = "weighted_bounds"
    if low.ndim != 2 or low.shape != high.shape or values.shape != (low.shape[1] - 1,):
        raise ValueError(
            f"{name}: low and high need a column a value and one more, got {low.shape}, "
            f"{high.shape} and {values.shape}"
        )
    if not all(np.isfinite(part).all() for part in (low, high, values)):
        raise ValueError(f"{name}: bounds and values must be finite")
    least, most = low.sum(axis=1), high.sum(axis=1)
    if (
        (low > high + _ROUNDING).any()
        or (least > 1 + _ROUNDING).any()
        or (most < 1 - _ROUNDING).any()
    ):
        raise ValueError(f"{name}: some item has no distribution within its bounds")
    return ScoreBounds(low_N=-_highest(low, high, -values), high_N=_highest(low, high, values))


def _highest(low: Floats, high: Floats, values: Floats) -> Floats:
    """The highest mean of each item."""
    none, best = values.size, np.full(len(low), np.nan)
    downward = np.argsort(-values, kind="stable")
    for place in range(none + 1):
        order = np.insert(downward, place, none)
        room = np.maximum(0.0, high - low)[:, order]
        before = np.cumsum(room, axis=1) - room
        spare = np.maximum(0.0, 1 - low.sum(axis=1))[:, None]
        filled = np.zeros_like(low)
        filled[:, order] = low[:, order] + np.clip(spare - before, 0.0, room)
        scored = filled[:, :none]
        mass = scored.sum(axis=1)
        mean = np.full(len(low), np.nan)
        np.divide(scored @ values, mass, out=mean, where=mass > 0)
        best = np.fmax(best, mean)
    return best
