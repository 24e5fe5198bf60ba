"""Adaptive replication: how far a condition has been asked, and how far it should be.

A condition's replications are looked at in their order, after the first block and after every
round. What was decided at a look follows from the replications before it and from nothing else, so
a run that is killed and goes on decides the same, wherever and whenever its replies landed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from judgerel_ray.stats.intervals.stopping import StoppingRule, more_replications


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """How far a condition is asked for now.

    Attributes
    ----------
    n : int
        Replications 0 .. n - 1 are asked for.
    block : int
        Which block the last of them are: 0 for the first, 1 for the round after it, and so on.
    is_reached : bool
        Whether all of them have landed; then no more are wanted.
    seen : tuple of int
        Verdicts at the last look that was whole, by code; all 0 before the first.
    """

    n: int
    block: int
    is_reached: bool
    seen: tuple[int, ...] = ()


def goal_of(landed: Mapping[int, int], n_verdicts: int, rule: StoppingRule) -> Goal:
    """Tell how far a condition is asked for, given what landed of it.

    Parameters
    ----------
    landed : mapping of int to int
        Verdict of each landed replication, from 0 to `n_verdicts` - 1; a reply without a verdict
        is one of its own.
    n_verdicts : int
        Verdicts that could be drawn.
    rule : StoppingRule
        When it has been asked often enough.

    Returns
    -------
    Goal
        Of the first look whose replications have not all landed, or which asks for no more.

    Raises
    ------
    ValueError
        If a verdict is none of those that could be drawn.

    Examples
    --------
    >>> rule = StoppingRule(first=5, most=100, step=5)
    >>> goal_of({0: 1, 1: 1}, 3, rule)
    Goal(n=5, block=0, is_reached=False, seen=(0, 0, 0))
    >>> goal_of(dict.fromkeys(range(6), 1), 3, rule)
    Goal(n=10, block=1, is_reached=False, seen=(0, 5, 0))
    >>> goal_of(dict.fromkeys(range(10), 1), 3, rule)
    Goal(n=10, block=1, is_reached=True, seen=(0, 10, 0))
    """
    counts = [0] * n_verdicts
    whole = tuple(counts)
    n, block, seen = rule.first, 0, 0
    while True:
        while seen < n and seen in landed:
            code = landed[seen]
            if not 0 <= code < n_verdicts:
                raise ValueError(f"goal_of: verdicts are 0 to {n_verdicts - 1}, got {code}")
            counts[code] += 1
            seen += 1
        if seen < n:
            return Goal(n=n, block=block, is_reached=False, seen=whole)
        whole = tuple(counts)
        more = more_replications(counts, rule)
        if not more:
            return Goal(n=n, block=block, is_reached=True, seen=whole)
        n, block = n + more, block + 1
