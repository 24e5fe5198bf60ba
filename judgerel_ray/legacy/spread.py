"""Published summaries: agreement between judges by replication, five-number summaries, bands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.legacy.factoring import LETTERS

NonResponse = Literal["agrees", "never_agrees", "left_out"]
_RULES: tuple[NonResponse, ...] = ("agrees", "never_agrees", "left_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class InterRaterSpread:
    """Agreement between judges in each replication, and its spread over replications.

    Attributes
    ----------
    agreement_R : ndarray of float, shape (n_replications,)
        Share of agreeing pairs of judges over questions; NaN where no pair can be compared.
    summary : FiveNumbers or None
        Of `agreement_R`.
    non_response : str
        What two judges without a letter count as.
    """

    agreement_R: NDArray[np.float64]  # noqa: N815  a shape, not a case
    summary: FiveNumbers | None
    non_response: NonResponse


def inter_rater_spread(
    codes_JRQ: ArrayLike,  # noqa: N803
    *,
    non_response: NonResponse = "agrees",
) -> InterRaterSpread:
    """Compute how agreement between judges varies over replications (Table 1 of [1]_).

    Parameters
    ----------
    codes_JRQ : array-like of float, shape (n_judges, n_replications, n_questions)
        Codes of `codes_from_verdicts`; NaN is missing, and its pairs are left out.
    non_response : {"agrees", "never_agrees", "left_out"}
        What a pair of judges counts as where at least one gave no single letter: ``agrees`` if
        their codes are equal (the authors' script), never, or left out of the share.

    Returns
    -------
    InterRaterSpread

    Raises
    ------
    ValueError
        If there are fewer than two judges, not three axes, or `non_response` is unknown.

    Notes
    -----
    The printed Table 1 (.167 .395 .433 .469 1.000) cannot be reproduced: the script that the
    authors shipped gives .370 .432 .457 .469 .556 on the judgments that they shipped (BBH,
    temperature 0.25). Two thirds of it is agreement on giving no answer: with ``never_agrees``
    the numbers are .086 .136 .148 .173 .198.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    Two judges, two replications, two questions; they agree on B, and on no answer:

    >>> codes = [[[2, 6], [2, 1]], [[2, 6], [3, 1]]]
    >>> inter_rater_spread(codes).agreement_R.tolist()
    [1.0, 0.5]
    >>> inter_rater_spread(codes, non_response="never_agrees").agreement_R.tolist()
    [0.5, 0.5]
    """
    codes = np.asarray(codes_JRQ, dtype=np.float64)
    if codes.ndim != 3 or len(codes) < 2:
        raise ValueError(
            "inter_rater_spread: codes must be judges x replications x questions with at least "
            f"two judges, got shape {codes.shape}"
        )
    if non_response not in _RULES:
        raise ValueError(
            f"inter_rater_spread: non_response must be one of {', '.join(_RULES)}, "
            f"got {non_response!r}"
        )
    first, second = np.array([*combinations(range(len(codes)), 2)]).T
    answered = np.isin(codes, list(LETTERS.values()))
    both = answered[first] & answered[second]
    compared = ~np.isnan(codes[first]) & ~np.isnan(codes[second])
    agrees = codes[first] == codes[second]
    if non_response != "agrees":
        agrees &= both
    if non_response == "left_out":
        compared &= both
    pairs = compared.sum(axis=(0, 2))
    agreement = np.full(codes.shape[1], np.nan)
    np.divide((agrees & compared).sum(axis=(0, 2)), pairs, out=agreement, where=pairs > 0)
    return InterRaterSpread(
        agreement_R=agreement, summary=five_numbers(agreement), non_response=non_response
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveNumbers:
    """Minimum, quartiles and maximum; iterates in that order.

    >>> [*FiveNumbers(minimum=0, q1=1, median=2, q3=3, maximum=4, n=5)]
    [0, 1, 2, 3, 4]
    """

    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float
    n: int

    def __iter__(self) -> Iterator[float]:
        yield from (self.minimum, self.q1, self.median, self.q3, self.maximum)


def five_numbers(values_N: ArrayLike) -> FiveNumbers | None:  # noqa: N803  a shape, not a case
    """Summarise numbers by minimum, quartiles (linear between order statistics) and maximum.

    Parameters
    ----------
    values_N : array-like of float, shape (n,)
        Numbers; NaN is left out.

    Returns
    -------
    FiveNumbers or None
        None where there is no number.

    Examples
    --------
    >>> [*five_numbers([4, 1, 2, 3])]
    [1.0, 1.75, 2.5, 3.25, 4.0]
    """
    values = np.asarray(values_N, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if not values.size:
        return None
    numbers = np.percentile(values, [0, 25, 50, 75, 100]).tolist()
    minimum, q1, median, q3, maximum = numbers
    return FiveNumbers(minimum=minimum, q1=q1, median=median, q3=q3, maximum=maximum, n=values.size)


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
