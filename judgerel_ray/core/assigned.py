"""Values that a caller writes as NAME=VALUE."""

from __future__ import annotations

import math

from judgerel_ray.core.errors import SweepError


def assigned(text: str, flag: str) -> tuple[str, float]:
    """NAME=VALUE as a name and a number.

    Raises
    ------
    SweepError
        If it is not, naming the flag.

    Examples
    --------
    >>> assigned("flip_rate=0.1", "--tolerance")
    ('flip_rate', 0.1)
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise SweepError(f"{flag} must be NAME=VALUE, got {text!r}")
    return name.strip(), number_of(value, flag)


def number_of(text: str, flag: str) -> float:
    """A finite number; underscores may part its digits.

    Raises
    ------
    SweepError
        If it is none, naming the flag.

    Examples
    --------
    >>> number_of("1_000", "--budget")
    1000.0
    """
    try:
        value = float(text.replace("_", ""))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SweepError(f"{flag} must be a number, got {text!r}")
    return value
