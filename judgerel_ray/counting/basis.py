"""What numbers of a run rest on: how much of it landed, and what of it is damaged.

Terminal, page and Python program say the same lines. Loads nothing heavy before it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, TypeVar, cast

from judgerel_ray.core import count_of
from judgerel_ray.counting.given import Given, given, looked_at, warn_of

if TYPE_CHECKING:
    from judgerel_ray.store import RunDirectory

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
        warn_of(basis_lines(opened))

    return cast("Source", opened), say


def basis_lines(path: str | Given) -> list[str]:
    """Say what numbers of a run rest on: how much of it is there, and what of it is damaged.

    Whatever the numbers are, they are of every request that landed, or they were refused: damage
    that is left is in files that they are not made of. Only what can be seen without reading these
    is told; ``judgerel verify`` reads them.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    StoreError
        If records of what landed, or the plan, are damaged.
    """
    opened = looked_at(path)
    if not isinstance(opened, Given) or opened.run is None:
        return []
    damage = unread_damage(opened.run)
    lines = (unfinished(opened), f"damaged: {damage}" if damage else None)
    return [line for line in lines if line is not None]


def unread_damage(run: RunDirectory) -> str | None:
    """Name a file of a run that is damaged, where numbers were made all the same."""
    from judgerel_ray.store import checked_ledger, lost_files
    from judgerel_ray.store.status import altered_files

    ledger = checked_ledger(run)
    damaged = {**lost_files(run, ledger.commits), **dict.fromkeys(altered_files(run), "altered")}
    if not damaged:
        return None
    name, how = next(iter(damaged.items()))
    more = f" (and {count_of(len(damaged) - 1, 'more file')})" if damaged.keys() - {name} else ""
    return (
        f"{run.address(name)} is {how}{more}; these numbers are made of no byte of it, "
        f"and rest on all {count_of(ledger.n_rows, 'request')} that landed; judgerel verify "
        f"{run.url} names what is damaged"
    )


def unfinished(path: str | Given) -> str | None:
    """Say how little of a run its numbers rest on so far; None where it is done, or a file.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    StoreError
        If a file of the run cannot be read.
    """
    opened = looked_at(path)
    if not isinstance(opened, Given) or opened.run is None:
        return None
    from judgerel_ray.store import checked_ledger
    from judgerel_ray.store.status import status_of

    status = status_of(opened.run, checked_ledger(opened.run))
    if status.state == "done":
        return None
    landed = sum(judge.landed for judge in status.judges)
    asked = [judge.asked for judge in status.judges if judge.asked is not None]
    if not asked or landed > sum(asked):  # more than was planned: what says so is lost
        return (
            f"unfinished: rests on {count_of(landed, 'request')}; how many were asked is not known"
        )
    going = ", and still going on" if status.state == "running" else ""
    clauses = [f"unfinished{going}: rests on {landed:,} of {sum(asked):,} requests"]
    clauses += [
        f"judge {one.judge} has none" for one in status.judges if one.asked and not one.landed
    ]
    return "; ".join(clauses)
