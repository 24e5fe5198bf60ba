"""Tolerances that a sweep or a caller states: what none of them can be."""

from __future__ import annotations

from judgerel_ray.core import SweepError


def check_reachable(name: str, value: float) -> None:
    """Refuse a tolerance that no coefficient can have.

    Raises
    ------
    SweepError
        If it is not finite, or above 1.

    Examples
    --------
    >>> check_reachable("krippendorff_alpha", 2.0)
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: tolerance for 'krippendorff_alpha' must be at most 1, ...
    """
    if not abs(value) < float("inf"):
        raise SweepError(f"tolerance for {name!r} must be a finite number, got {value}")
    if value > 1:
        raise SweepError(
            f"tolerance for {name!r} must be at most 1, which is all it can be, got {value:g}",
            hint=f"{value / 100:g}, if {value:g} % was meant",
        )
