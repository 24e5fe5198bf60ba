"""The published rule of thumb for reliabilities, held to intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

BANDS: tuple[tuple[str, float], ...] = (
    ("Unacceptable", 0.5),
    ("Poor", 0.6),
    ("Questionable", 0.7),
    ("Acceptable", 0.8),
    ("Good", 0.9),
    ("Excellent", math.inf),
)
"""Bands from the lowest, each with its upper end. The source leaves the ends themselves to no band;
here an end belongs to the band below it."""


@dataclass(frozen=True, slots=True)
class VerbalBand:
    """The band of an interval, or the bands it spans.

    Attributes
    ----------
    band : str or None
        The one band that holds the whole interval; None where there is no such band.
    spans : tuple of str
        All bands the interval touches, from the lowest; empty where there is no interval.
    """

    band: str | None
    spans: tuple[str, ...]

    def __str__(self) -> str:
        """Say it in words."""
        if self.band:
            return self.band
        if not self.spans:
            return "no band: there is no interval"
        return f"no one band: the interval spans {self.spans[0]} to {self.spans[-1]}"


def verbal_band(low: float | None, high: float | None) -> VerbalBand:
    """Name the band of Table 3 of [1]_ that holds a whole interval.

    A point says nothing here: with few questions, intervals of reliability span several bands.

    Parameters
    ----------
    low, high : float or None
        Ends of the interval of a coefficient; None where it has none.

    Returns
    -------
    VerbalBand

    Raises
    ------
    ValueError
        If an end is NaN, `low` is above `high`, or only one of them is None.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    >>> print(verbal_band(0.81, 0.88))
    Good
    >>> print(verbal_band(0.62, 0.84))
    no one band: the interval spans Questionable to Good
    >>> print(verbal_band(None, None))
    no band: there is no interval
    """
    if low is None and high is None:
        return VerbalBand(None, ())
    if low is None or high is None or math.isnan(low) or math.isnan(high) or low > high:
        raise ValueError(f"verbal_band: expected low <= high or no interval, got {low} and {high}")
    first, last = (_place(end) for end in (low, high))
    spans = tuple(name for name, _ in BANDS[first : last + 1])
    return VerbalBand(spans[0] if len(spans) == 1 else None, spans)


def _place(end: float) -> int:
    """Index of the band a number lies in."""
    return next(place for place, (_, top) in enumerate(BANDS) if end <= top)
