"""Sampling temperatures as sweep files write them and as engines take them."""

from __future__ import annotations

MACHINE_EPSILON = 1e-6  # at or below it a temperature means "greedy", as the papers use the word
COLDEST_SAMPLED = 0.01  # vLLM clamps anything between 0 and this to it: random, not greedy


def plain_temperature(value: float) -> float:
    """Machine epsilon as 0; anything else an engine would clamp is an error.

    Raises
    ------
    ValueError
        If `value` is negative, above 2, or between machine epsilon and 0.01.

    Examples
    --------
    >>> plain_temperature(2.220446049250313e-16)
    0.0
    """
    if 0.0 <= value <= MACHINE_EPSILON:
        return 0.0
    if not COLDEST_SAMPLED <= value <= 2.0:
        raise ValueError(
            f"must be 0 or from {COLDEST_SAMPLED} to 2, got {value!r} "
            "(engines sample at 0.01 what is below it)"
        )
    return value
