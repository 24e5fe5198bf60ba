"""Error classes, one for each boundary; all of them can be pickled.

JudgeRelError(problem, where=..., hint=...)
├── SweepError        the caller's file, flag or item is wrong; nothing was asked of any judge
│   └── Unreadable        no reader understood the content of a file
├── EngineError       an engine could not answer
│   ├── EngineLost        the engine is gone; replace the actor
│   ├── EngineStartError  the engine never came up; bounded tries, then the judge fails
│   └── RequestRefused    this request can never succeed; its outcome is ``failed``
├── StoreError        the run directory is missing, foreign, damaged, or of another sweep
│   └── FileGone          a file that landed is not there any more
└── TableError        rows break their table's rules
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial


class JudgeRelError(Exception):
    """What is wrong, where, and what to try.

    Parameters
    ----------
    problem : str
        One sentence: what is wrong, what was expected, what was got.
    where : mapping, optional
        Names that locate it (file, key, judge).
    hint : str, optional
        What to try.

    Examples
    --------
    >>> print(SweepError("temperature must be at least 0, got -1", where={"ask": 0}))
    temperature must be at least 0, got -1 [ask=0]
    """

    def __init__(
        self, problem: str, *, where: Mapping[str, object] | None = None, hint: str | None = None
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.where = dict(where or {})
        self.hint = hint

    @property
    def sentence(self) -> str:
        """What is wrong and where, without what to try."""
        place = ", ".join(f"{name}={value}" for name, value in self.where.items())
        return f"{self.problem} [{place}]" if place else self.problem

    def __str__(self) -> str:
        return f"{self.sentence}. Try: {self.hint}" if self.hint else self.sentence

    # Keyword-only arguments are lost by the default pickle, and with them the class on Ray.
    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), where=self.where, hint=self.hint), self.args


class SweepError(JudgeRelError):
    """The caller's file, flag or item is wrong; nothing was asked of any judge."""


class Unreadable(SweepError):  # noqa: N818  a state of the world, not a mistake
    """No reader understood the content of a file."""

    def __init__(
        self, reason: str, *, where: Mapping[str, object] | None = None, hint: str | None = None
    ) -> None:
        super().__init__(f"cannot be read: {reason}", where=where, hint=hint)
        self.reason = reason
        self.args = (reason,)  # of which it is made again


class EngineError(JudgeRelError):
    """An engine could not answer; the request stays pending."""


class EngineLost(EngineError):  # noqa: N818  a state of the world, not a mistake
    """The engine process is gone; the actor must be replaced."""


class EngineStartError(EngineError):
    """The engine never came up."""


class RequestRefused(EngineError):  # noqa: N818  a state of the world, not a mistake
    """A request that can never succeed; it lands as ``failed``."""


class StoreError(JudgeRelError):
    """The run directory is missing, foreign, damaged, or of another sweep."""


class FileGone(StoreError):  # noqa: N818  a state of the world, not a mistake
    """A file that landed is not there any more."""


class TableError(JudgeRelError):
    """Rows break their table's rules."""


class ReadingWarning(UserWarning):
    """Judgments were read otherwise than they are written, as the text says.

    Spellings of one word merged, words taken as no verdict, another separator: the command
    line prints it on stderr.

    Examples
    --------
    >>> str(ReadingWarning("treated as the same verdict: PASS = pass"))
    'treated as the same verdict: PASS = pass'
    """


class UnfinishedRunWarning(RuntimeWarning):
    """A run came back unfinished: a judge was given up or stopped, or requests failed.

    Parameters
    ----------
    run : str
        The run directory.
    owed : int
        Requests that have not landed; :func:`judgerel_ray.run` with the same sweep asks them again.
    problems : mapping of str to str
        Why judges were given up, by judge.
    stops : sequence of str, optional
        Why judges were stopped because too few of their replies can be read.

    Examples
    --------
    >>> str(UnfinishedRunWarning("r", owed=40, problems={"j": "engine did not start"}))
    'r has 40 pending requests; judge j was given up: engine did not start'
    """

    def __init__(
        self, run: str, *, owed: int, problems: Mapping[str, str], stops: Sequence[str] = ()
    ) -> None:
        parts = [f"{run} has {owed:,} pending requests"]
        parts += [
            f"judge {name} was given up: {' '.join(why.split())}" for name, why in problems.items()
        ]
        super().__init__("; ".join([*parts, *stops]))
        self.run, self.owed, self.problems, self.stops = run, owed, dict(problems), tuple(stops)


def warn_of(notes: Iterable[str]) -> None:
    """Warn of each note (:class:`ReadingWarning`), at the line outside this package that called."""
    level, frame = 2, sys._getframe(1)
    inside = ("judgerel_ray", "contextlib")  # a context manager of ours runs below contextlib
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        level, frame = level + 1, frame.f_back
    for note in notes:
        warnings.warn(ReadingWarning(note), stacklevel=level)
