"""Judgments as a caller gives them: a path or a frame, and how their verdicts are read."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from judgerel_ray.core import ReadingWarning, SweepError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from judgerel_ray.reduce.verdict_names import VerdictNames


class ArrowStream(Protocol):
    """A frame or table of any library that exports Arrow: pandas, PyArrow, DuckDB, Polars."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows."""


Judgments: TypeAlias = "str | PathLike[str] | pl.DataFrame | pl.LazyFrame | ArrowStream"
"""What a Python program gives where ``judgerel`` takes a path of judgments."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Given:
    """Judgments to be opened, where they are more than a path.

    Attributes
    ----------
    rows : str or LazyFrame
        The path, or the rows themselves.
    exact_values : bool
        Whether every spelling is a verdict of its own.
    verdict_names : {"option", "place"}, optional
        What verdicts name, where options were shown in several orders and no label says it.
    """

    rows: str | pl.LazyFrame
    exact_values: bool = False
    verdict_names: VerdictNames | None = None

    def __fspath__(self) -> str:
        """The path, or what rows without one are called."""
        return self.rows if isinstance(self.rows, str) else "the frame given"

    __str__ = __fspath__


def given(
    judgments: object, *, exact_values: bool = False, verdict_names: str | None = None
) -> str | Given:
    """Take judgments as a Python program gives them.

    Raises
    ------
    SweepError
        If they are neither a path nor a frame, or verdicts are said to name something else.

    Examples
    --------
    >>> given("a.csv"), str(given("a.csv", exact_values=True))
    ('a.csv', 'a.csv')
    """
    if isinstance(judgments, str | PathLike):
        path = fspath(judgments)
        if not isinstance(path, str):
            raise SweepError("expected a path as text, got bytes")
        if not exact_values and verdict_names is None:
            return path
        return Given(
            rows=path, exact_values=exact_values, verdict_names=_checked_names(verdict_names)
        )
    from judgerel_ray.reduce.source import frame_of

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
    from judgerel_ray.reduce.verdict_names import checked_names

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
        from judgerel_ray.reduce.source import TABLES, kind_of

        return kind_of(str(path))[0] in TABLES
    try:
        return Path(path).is_file()
    except ValueError:  # no path of any file system
        return False


def warn_of(notes: Iterable[str]) -> None:
    """Say how judgments were read, at the line of the program that asked for them.

    Warns
    -----
    ReadingWarning
        One for each note.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        "judgerel_ray"
    ):
        level, frame = level + 1, frame.f_back
    for note in notes:
        warnings.warn(ReadingWarning(note), stacklevel=level)
