"""Values by name: a mapping in Python, NAME=VALUE on a command line; and what tolerances can be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from judgerel_ray.core.errors import SweepError

Value = TypeVar("Value")


def by_name(
    given: Mapping[str, Any] | Sequence[str] | None,
    flag: str,
    read: Callable[[Any], Value],
    *,
    form: str = "NAME=VALUE",
    cut: Callable[[str, str], tuple[str, str, str]] = str.partition,
) -> dict[str, Value] | None:
    """Read values by name, however they are given; None stays.

    Parameters
    ----------
    given : mapping, sequence of str, str or None
        Values by name, or texts ``NAME=VALUE``.
    flag : str
        What an error calls them.
    read : callable
        From a value, or its text, to what it means; ValueError where it means nothing, with what
        it must be.
    form : str
        How a text is written.
    cut : callable
        At which sign a text is cut: ``str.rpartition`` where names may hold one.

    Raises
    ------
    SweepError
        If a text has another form, names something twice, or a value means nothing.

    Examples
    --------
    >>> by_name(["flip_rate=0.1"], "--tolerance", number)
    {'flip_rate': 0.1}
    >>> by_name({"flip_rate": 0.1}, "--tolerance", number)
    {'flip_rate': 0.1}
    """
    if given is None:
        return None
    is_text = not isinstance(given, Mapping)
    if isinstance(given, Mapping):
        pairs = [(name, "=", value) for name, value in given.items()]
    else:
        pairs = [cut(text, "=") for text in ([given] if isinstance(given, str) else given)]
    found: dict[str, Value] = {}
    for before, sign, value in pairs:
        name = before.strip()
        if not name or name in found or (is_text and not value):
            text = f"{before}{sign}{value}"
            raise SweepError(f"{flag} must be {form}, each name once, got {text!r}")
        try:
            found[name] = read(value)
        except ValueError as error:
            raise SweepError(f"{flag} must be {error}, got {value!r}") from None
    return found


def number(value: object) -> float:
    """Read a finite number; underscores may part the digits of its text.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> number("1_000")
    1000.0
    """
    try:
        found = float(value.replace("_", "") if isinstance(value, str) else value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found) or isinstance(value, bool):
        raise ValueError("a number")
    return found


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
