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
        where it reaches beyond one of them it ends there, and the other end is on the logit scale.

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
    be 1, which agreement may nearly be.

    Examples
    --------
    >>> student_ends(0.5, 0.25, chance_corrected=False)
    (0.25, 0.75, '')
    >>> low, high, scale = student_ends(0.95, 0.1, chance_corrected=False)
    >>> round(low, 3), high, scale
    (0.698, 1.0, ', low end on the logit scale')
    """
    low, high = value - half, value + half
    if chance_corrected:
        if low > 0 and value < 1:
            return *_logit(value, half), ", logit scale"
        return low, min(1.0, high), ""
    within, beyond_both = low >= 0 and high <= 1, low < 0 and high > 1
    if within or beyond_both or not 0 < value < 1:
        return max(0.0, low), min(1.0, high), ""
    inner_low, inner_high = _logit(value, half)
    if high > 1:
        return inner_low, 1.0, ", low end on the logit scale"
    return 0.0, inner_high, ", high end on the logit scale"


def _logit(value: float, half: float) -> tuple[float, float]:
    """Ends on the logit scale, as tanh: exp could be too large for a double near 0 and 1."""
    centre = math.log(value / (1 - value))
    reach = half / (value * (1 - value))
    return (1 + math.tanh((centre - reach) / 2)) / 2, (1 + math.tanh((centre + reach) / 2)) / 2
