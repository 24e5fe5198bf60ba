"""Intervals of variance components, by what was drawn: questions, levels, or nothing but chance.

A component of levels alone is known by the mean square of L levels, about chi-squared with L - 1
degrees of freedom. Of levels drawn from more, its interval follows from that (the generalized
pivotal quantity, with what the mean square is inflated by held at its estimate, which rests on all
questions); of all levels that there are the mean square is noncentral. All else goes by leaving
out questions, and levels that are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from judgerel_ray.stats.statistic import Floats

_FAR = 1000.0


def few_draws_interval(
    value: float, mean_square: float, df: int, *, confidence: float
) -> tuple[float, float]:
    """Compute the interval of a component whose mean square is chi-squared over `df`.

    Parameters
    ----------
    value : float
        The component.
    mean_square : float
        The component plus what inflates its levels' means.
    df : int
        Degrees of freedom.
    confidence : float
        In (0, 1).

    Examples
    --------
    Four levels: 3 / 9.348 and 3 / 0.216 of the mean square, less the .2 by which it is inflated.

    >>> low, high = few_draws_interval(1.0, 1.2, 3, confidence=0.95)
    >>> round(low, 3), round(high, 3)
    (0.185, 16.482)
    """
    from scipy.special import chdtri

    tail = (1 - confidence) / 2
    low, high = (df / float(chdtri(df, p)) for p in (tail, 1 - tail))
    added = mean_square - value
    return mean_square * low - added, mean_square * high - added


def all_levels_interval(
    value: float, mean_square: float, df: int, *, confidence: float
) -> tuple[float, float] | None:
    """Compute the interval of the variance of effects of all the levels that there are.

    Nothing is drawn but the questions: the mean square over what inflates it is noncentral
    chi-squared. Leaving out questions would not do here, since the square of a difference that is
    near 0 hardly moves without them.

    Parameters
    ----------
    value : float
        The component.
    mean_square : float
        The component plus what chance adds to the variance of its levels' means.
    df : int
        Degrees of freedom.
    confidence : float
        In (0, 1).

    Returns
    -------
    tuple of float, or None
        From 0 on; None where chance adds nothing.

    Examples
    --------
    Two orders whose means differ by one standard error of .1 (d^2 for 1 - d = -1.96, times .01):

    >>> low, high = all_levels_interval(0.0, 0.01, 1, confidence=0.95)
    >>> low, round(high, 4)
    (0.0, 0.0876)
    """
    from scipy.special import chndtr, chndtrinc, ndtri

    added = mean_square - value
    if added <= 1e-12 * abs(mean_square):
        return None
    scaled = df * max(mean_square, 0.0) / added
    if scaled > _FAR:  # near normal, and beyond what the distribution is computed for
        half = -float(ndtri((1 - confidence) / 2)) * 2 * math.sqrt(added * value / df)
        return value - half, value + half
    tail = (1 - confidence) / 2
    ends = [
        float(chndtrinc(scaled, df, p)) if chndtr(scaled, df, 0.0) > p else 0.0
        for p in (1 - tail, tail)
    ]
    return ends[0] * added / df, ends[1] * added / df


def left_out_interval(
    value: float, parts: Sequence[tuple[Floats, float]], *, confidence: float
) -> tuple[float | None, float | None]:
    """Compute the t interval from values with one left out, of questions and of levels.

    Parameters
    ----------
    value : float
        Of the whole data.
    parts : sequence of (ndarray, float)
        Values with one group left out at a time, and the share of their variance that counts
        (1 - k / N of levels that are k of N).
    confidence : float
        In (0, 1).

    Returns
    -------
    low, high : float or None
        None where a part has fewer than two values, or one that is not known. Degrees of freedom
        are Satterthwaite's.

    Examples
    --------
    >>> low, high = left_out_interval(2.0, [(np.array([1.0, 2.0, 3.0]), 1.0)], confidence=0.95)
    >>> round(low, 3), round(high, 3)
    (-2.968, 6.968)
    """
    from scipy.special import stdtrit

    variance, spread = 0.0, 0.0
    for left_out, share in parts:
        n = left_out.size
        if n < 2 or not np.isfinite(left_out).all():
            return None, None
        own = share * (n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum())
        variance += own
        spread += own**2 / (n - 1)
    df = variance**2 / spread if spread > 0 else math.inf
    half = float(stdtrit(min(df, 1e9), (1 + confidence) / 2)) * math.sqrt(variance)
    return value - half, value + half


def share_interval(
    value: float | None, parts: Sequence[tuple[Floats, float]], *, confidence: float
) -> tuple[float | None, float | None]:
    """Compute the interval of a share, on the logit scale where the plain one lies above 0.

    Parameters as of :func:`left_out_interval`; None also where nothing spreads.

    Examples
    --------
    >>> low, high = share_interval(0.9, [(np.array([0.89, 0.9, 0.91]), 1.0)], confidence=0.95)
    >>> round(low, 3), round(high, 3)
    (0.838, 0.94)
    """
    if value is None or not parts:
        return None, None
    low, high = left_out_interval(value, parts, confidence=confidence)
    if low is None or high is None or high - low < 1e-12:
        return None, None
    if low <= 0 or value >= 1:
        return max(0.0, low), min(1.0, high)
    half = (high - value) / (value * (1 - value))
    centre = math.log(value / (1 - value))
    # As tanh: near 1 the half width on the logit scale is beyond what exp can take.
    return (1 + math.tanh((centre - half) / 2)) / 2, (1 + math.tanh((centre + half) / 2)) / 2
