"""When a judge is stopped because too few of its replies hold a verdict that can be read.

A pilot asks one reply to each of many questions, and is looked at when 50, 100, 200, 400 and 800 of
them have landed. It stops a judge only where the share of readable replies is surely too low, so
that one that is merely poor is never stopped.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from judgerel_ray.stats.intervals.shares import clopper_pearson

LOOKS = (50, 100, 200, 400, 800)
FEWEST = 25
"""Questions below which nothing is stopped: few replies say little, whatever they hold."""
CONFIDENCE = 0.99
"""Of the two-sided interval, whose upper end is the one-sided bound at 99.5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """Replies of which too few are readable."""

    n: int  # Replies that count, and those among them that hold a verdict.
    readable: int
    # Where one cell falls short by itself, its name; None where all replies together do.
    cell: Hashable | None = None


def pilot_looks(n_questions: int) -> tuple[int, ...]:
    """Numbers of questions at which a pilot is looked at.

    Examples
    --------
    >>> pilot_looks(250), pilot_looks(30), pilot_looks(24)
    ((50, 100, 200), (30,), ())
    """
    if n_questions < LOOKS[0]:
        return (n_questions,) if n_questions >= FEWEST else ()
    return tuple(look for look in LOOKS if look <= n_questions)


def is_short(readable: int, n: int, share: float) -> bool:
    """Whether the readable share of replies is surely below `share`.

    True where Clopper and Pearson's one-sided upper bound at 99.5 % is below `share`; never of
    fewer than :data:`FEWEST` replies.

    Examples
    --------
    >>> is_short(2, 50, 0.2), is_short(3, 50, 0.2)
    (True, False)
    """
    if n < FEWEST or readable >= share * n:  # no bound of a share is below the share itself
        return False
    high = clopper_pearson(readable, n, confidence=CONFIDENCE).high
    return high is not None and high < share


def shortfall_of(
    replies: Sequence[bool | None], cells: Sequence[Hashable], *, share: float
) -> Shortfall | None:
    """Look at the replies of a pilot, all together and cell by cell.

    Examples
    --------
    >>> shortfall_of([False] * 30 + [None], ["a"] * 31, share=0.2)
    Shortfall(n=30, readable=0, cell=None)
    >>> shortfall_of([False, True] * 30, ["a", "b"] * 30, share=0.2)
    Shortfall(n=30, readable=0, cell='a')
    """
    counted: dict[Hashable, list[bool]] = {}
    for reply, cell in zip(replies, cells, strict=True):
        if reply is not None:
            counted.setdefault(cell, []).append(reply)
    every = [reply for some in counted.values() for reply in some]
    if is_short(sum(every), len(every), share):
        return Shortfall(n=len(every), readable=sum(every))
    for cell, some in counted.items():
        if is_short(sum(some), len(some), share):
            return Shortfall(n=len(some), readable=sum(some), cell=cell)
    return None
