"""What numbers rest on, said to a Python program as a warning, as a terminal says it.

Loads nothing heavy before it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TypeVar, cast

from judgerel_ray.counting.given import given, looked_at, warn_of

Source = TypeVar("Source")


def basis_of(path: Source, asked: object) -> tuple[Source, Callable[[], None]]:
    """Open judgments for a Python program, and give what says what numbers of them rest on.

    Returns
    -------
    opened : path or Given
        The judgments, of a run as of one look.
    say : callable
        Warns (ReadingWarning), as the terminal does, where the run owes requests or has damaged
        files.

    Examples
    --------
    >>> opened, say = basis_of("judgments.csv", None)
    >>> opened, say()
    ('judgments.csv', None)
    """
    if not isinstance(path, str | PathLike):
        return path, lambda: None
    exact, names = (getattr(asked, name, None) for name in ("exact_values", "verdict_names"))
    opened = looked_at(given(path, exact_values=bool(exact), verdict_names=names))

    def say() -> None:
        from judgerel_ray.analyses.reliability.from_run import basis_lines

        warn_of(basis_lines(opened))

    return cast("Source", opened), say
