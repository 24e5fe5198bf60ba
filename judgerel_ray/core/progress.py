"""Progress of long work: a line after ten seconds, then one every half minute.

Who shows lines installs a function for them; a Python program that installs none hears nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

_Thing = TypeVar("_Thing")
FIRST, THEN = 10.0, 30.0
"""Seconds until the first line, and between others."""
_SHOWN_BY: ContextVar[Callable[[str], None] | None] = ContextVar("progress", default=None)


@contextmanager
def progress_shown(show: Callable[[str], None]) -> Iterator[None]:
    """Have lines of progress shown by a function."""
    token = _SHOWN_BY.set(show)
    try:
        yield
    finally:
        _SHOWN_BY.reset(token)


def under_way(things: Iterable[_Thing], *, of: int, what: str, hint: str) -> Iterator[_Thing]:
    """Go through things, and say how many are done and what time the others will take."""
    began = shown = time.monotonic()
    for done, thing in enumerate(things):
        now = time.monotonic()
        show = _SHOWN_BY.get()
        if show is not None and now - shown >= (FIRST if shown == began else THEN):
            shown = now
            left = (now - began) / max(1, done) * (of - done)
            show(f"{done:,} of {of:,} {what}, about {_progress_duration_words(left)} left{hint}")
        yield thing


def fewer_groups(columns: Iterable[str]) -> str:
    """Say what makes groups fewer: a hint of :func:`under_way`."""
    names = ", ".join(columns)
    return f"; groups are of {names}: --by names fewer columns" if names else ""


def _progress_duration_words(seconds: float) -> str:
    """A time in the unit that fits it."""
    return f"{seconds:,.0f} s" if seconds < 90 else f"{seconds / 60:,.0f} min"
