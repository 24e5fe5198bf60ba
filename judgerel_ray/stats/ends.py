"""The two ends of a t interval: on which scale, and what an end beyond the range becomes."""

from __future__ import annotations

import math


def student_ends(value: float, half: float, *, chance_corrected: bool) -> tuple[float, float, str]:
    """Lay an interval about a value, and say on which scale if not on its own.

    Parameters
    ----------
    value : float
        The middle.
    half : float
        Half its width, above 0.
    chance_corrected : bool
        Whether 0 is chance agreement: then both ends are on the logit scale where the plain
        interval excludes 0. Of a share the plain interval stands where it lies within [0, 1];
        where it reaches beyond one of them it ends there, and the other end is on the logit scale
        if that is farther out: the interval never holds less than the plain one does.

    Returns
    -------
    low, high : float
        At most 1; of a share at least 0.
    scale : str
        What to add to the words of the interval.

    Notes
    -----
    The plain interval of a share near 1 is too short on the inside: few questions differ, and what
    a sample without them shows is less spread, too. On the logit scale its outer end could never
    be 1, which agreement may nearly be. Near the middle the logit end is the nearer one, and no
    reason to leave the contract's interval (docs/decisions/008).

    Examples
    --------
    >>> student_ends(0.5, 0.25, chance_corrected=False)
    (0.25, 0.75, '')
    >>> low, high, scale = student_ends(0.95, 0.1, chance_corrected=False)
    >>> round(low, 3), high, scale
    (0.698, 1.0, ', low end on the logit scale')
    >>> student_ends(0.625, 0.5, chance_corrected=False)
    (0.125, 1.0, '')
    """
    low, high = value - half, value + half
    if chance_corrected:
        if low > 0 and value < 1:
            return *logit_ends(value, half), ", logit scale"
        return low, min(1.0, high), ""
    within, beyond_both = low >= 0 and high <= 1, low < 0 and high > 1
    if not (within or beyond_both) and 0 < value < 1:
        inner_low, inner_high = logit_ends(value, half)
        if high > 1 and inner_low < low:
            return inner_low, 1.0, ", low end on the logit scale"
        if low < 0 and inner_high > high:
            return 0.0, inner_high, ", high end on the logit scale"
    return max(0.0, low), min(1.0, high), ""


def ends_less_bias(value: float, half: float, bias: float) -> tuple[float, float, str]:
    """Lay a plain interval about a value less its bias, and keep 0 in it where it was.

    Parameters
    ----------
    value, half : float
        The middle before, and half the width.
    bias : float
        What the value is too high by.

    Returns
    -------
    low, high : float
        At most 1.
    scale : str
        What to add to the words of the interval.

    Notes
    -----
    Never on the logit scale: it would exclude 0, which the plain interval holds.

    Examples
    --------
    >>> [round(end, 3) for end in ends_less_bias(0.0, 0.25, -0.125)[:2]]
    [-0.125, 0.375]
    >>> ends_less_bias(0.5, 0.5625, -0.125)
    (0.0, 1.0, ', about the value less its bias, 0 kept in it')
    """
    low, high = value - bias - half, value - bias + half
    words = ", about the value less its bias"
    if value - half <= 0 <= value + half and not low <= 0 <= high:
        low, high, words = min(0.0, low), max(0.0, high), words + ", 0 kept in it"
    return low, min(1.0, high), words


def logit_ends(value: float, half: float) -> tuple[float, float]:
    """Lay an interval about a value in (0, 1) on the logit scale.

    Examples
    --------
    >>> [round(end, 3) for end in logit_ends(0.9, 0.1)]
    [0.748, 0.965]
    """
    # As tanh: exp could be too large for a double near 0 and 1.
    centre = math.log(value / (1 - value))
    reach = half / (value * (1 - value))
    return (1 + math.tanh((centre - reach) / 2)) / 2, (1 + math.tanh((centre + reach) / 2)) / 2
