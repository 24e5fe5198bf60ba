"""Thresholds of uncertainty labels, as sweep files state them."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from judgerel_ray.config.table import Number


def checked_thresholds(values: tuple[float, ...]) -> tuple[float, ...]:
    """Refuse thresholds that label all or nothing, and repeats.

    Raises
    ------
    ValueError
        If a threshold is not between 0 and 1, or two are one.

    Examples
    --------
    >>> checked_thresholds((0.6, 0.8))
    (0.6, 0.8)
    """
    for value in values:
        if not 0 < value < 1:
            raise ValueError(f"must be above 0 and below 1, got {value:g}")
    if len(set(values)) < len(values):
        raise ValueError(f"must all differ, got {list(values)}")
    return values


Thresholds = Annotated[tuple[Number, ...], AfterValidator(checked_thresholds)]
"""Thresholds in (0, 1), each once."""
