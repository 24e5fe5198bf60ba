"""Judgments as a caller gives them, a path or a frame, and what numbers of them rest on.

Of a run that is how much of it landed, and what of it is damaged: terminal, page and Python program
say the same lines. Loads nothing heavy before it is called.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, cast

from judgerel_ray.core import ReadingWarning, SweepError, count_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from judgerel_ray.counting.verdict_names import VerdictNames
    from judgerel_ray.store import RunDirectory


_Path = TypeVar("_Path")


class ArrowStream(Protocol):
    """A frame or table of any library that exports Arrow: pandas, PyArrow, DuckDB, Polars."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows."""


Judgments: TypeAlias = "str | PathLike[str] | pl.DataFrame | pl.LazyFrame | ArrowStream"
"""What a Python program gives where ``judgerel`` takes a path of judgments."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Given:
    """Judgments to be opened, where they are more than a path."""

    rows: str | pl.LazyFrame  # The path, or the rows themselves.
    exact_values: bool = False  # Whether every spelling is a verdict of its own.
    # What verdicts name, where options were shown in several orders and no label says it.
    verdict_names: VerdictNames | None = None
    # The run that `rows` names, as of one look at what landed.
    run: RunDirectory | None = field(default=None, repr=False)

    def __fspath__(self) -> str:
        """The path, or what rows without one are called."""
        return self.rows if isinstance(self.rows, str) else "the frame given"

    __str__ = __fspath__


def given(
    judgments: object, *, exact_values: bool = False, verdict_names: str | None = None
) -> str | Given:
    """Take judgments as a Python program gives them.

    Examples
    --------
    >>> given("a.csv"), str(given("a.csv", exact_values=True))
    ('a.csv', 'a.csv')
    """
    if isinstance(judgments, Given):  # opened already
        return judgments
    if isinstance(judgments, str | PathLike):
        path = fspath(judgments)
        if not isinstance(path, str):
            raise SweepError("expected a path as text, got bytes")
        if not exact_values and verdict_names is None:
            return path
        return Given(
            rows=path, exact_values=exact_values, verdict_names=_checked_names(verdict_names)
        )
    from judgerel_ray.counting.files.source import frame_of

    rows = frame_of(judgments)
    if rows is None:
        raise SweepError(
            "expected the path of a run directory or of a file of judgments, or a frame of them, "
            f"got {type(judgments).__name__}",
            hint="a frame of Polars or pandas, or an Arrow table",
        )
    return Given(rows=rows, exact_values=exact_values, verdict_names=_checked_names(verdict_names))


def _checked_names(name: str | None) -> VerdictNames | None:
    """What verdicts name; loads what knows it where it is said."""
    if name is None:
        return None
    from judgerel_ray.counting.verdict_names import checked_names

    return checked_names(name)


def is_plain(path: str | Given) -> bool:
    """Tell judgments that are surely no run directory: a file, by its ending at a URL, or a frame.

    Examples
    --------
    >>> is_plain("no-such-run")
    False
    """
    if isinstance(path, Given) and not isinstance(path.rows, str):
        return True
    if "://" in str(path):
        from judgerel_ray.counting.files.source import TABLES, kind_of

        return kind_of(str(path))[0] in TABLES
    try:
        return Path(path).is_file()
    except ValueError:  # no path of any file system
        return False


def looked_at(path: str | Given) -> str | Given:
    """The judgments, of a run as of one look at its records: all that is made of them is of it.

    Examples
    --------
    >>> looked_at("no-such-run")
    'no-such-run'
    """
    if is_plain(path) or (isinstance(path, Given) and path.run is not None):
        return path
    from judgerel_ray.store import RunDirectory, as_landed

    with reading_of(path):
        run = RunDirectory(url=str(path))
        if not run.is_run():
            return path
        opened = path if isinstance(path, Given) else Given(rows=path)
        return replace(opened, run=as_landed(run))


def run_of(path: str | Given) -> RunDirectory:
    """The run directory named, as of one look at its records.

    Examples
    --------
    >>> run_of("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.StoreError: expected a run directory, got none ...
    """
    opened = looked_at(path)
    if isinstance(opened, Given) and opened.run is not None:
        return opened.run
    from judgerel_ray.store import RunDirectory

    return RunDirectory.open(str(path))


def reading_of(path: str | Given) -> AbstractContextManager[None]:
    """Errors of the files of a run, in one line; a file of judgments loads no store for it."""
    if is_plain(path):
        return nullcontext()
    from judgerel_ray.store import reading

    return reading(str(path))


def warn_of(notes: Iterable[str]) -> None:
    """Say how judgments were read, at the line of the program that asked for them."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        "judgerel_ray"
    ):
        level, frame = level + 1, frame.f_back
    for note in notes:
        warnings.warn(ReadingWarning(note), stacklevel=level)


def basis_of(path: _Path, asked: object) -> tuple[_Path, Callable[[], None]]:
    """Open judgments for a Python program, and give what says what numbers of them rest on.

    opened: The judgments, of a run as of one look.

    say: Warns (ReadingWarning), as the terminal does, where the run has pending requests or damaged
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

    return cast("_Path", opened), say


def basis_lines(path: str | Given) -> list[str]:
    """Say what numbers of a run rest on: how much of it is there, and what of it is damaged.

    Numbers rest on every request that landed, or they were refused: damage that is left is in
    files that they do not use. Only what can be seen without reading these files is reported;
    ``judgerel verify`` reads them.

    Effects: reads. Retry: safe, also while a run goes on.
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
        f"{run.address(name)} is {how}{more}; these numbers do not use {'them' if more else 'it'} "
        f"and rest on all {count_of(ledger.n_rows, 'request')} that landed; judgerel verify "
        f"{run.url} names what is damaged"
    )


def unfinished(path: str | Given) -> str | None:
    """Say how little of a run its numbers rest on so far; None where it is done, or a file.

    Effects: reads. Retry: safe, also while a run goes on.
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
