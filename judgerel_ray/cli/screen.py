"""What reaches a terminal: text of people's data in every encoding, without orders to it."""

from __future__ import annotations

import io
import os
import re
import sys

from rich.console import Console

from judgerel_ray.core import printable

_NARROWEST = 20  # below, COLUMNS is a mistake of a script and no screen

_FAILING = ("strict", "surrogateescape")  # the second where no locale is set
_ENDLESS = re.compile(r"(\S{160})\S{80,}(\S{80})")


def tell(text: str, *, aside: bool = False) -> None:
    """Print a text of any lines; what would act on a terminal is shown in it.

    Parameters
    ----------
    text : str
        What a person reads; JSON needs no care, it escapes by itself.
    aside : bool
        Whether it goes to stderr.
    """
    print(printable(text, lines=True), file=sys.stderr if aside else sys.stdout)


def one_line(error: object) -> str:
    """An error in one line that acts on nothing; endless words lose their middle."""
    return _ENDLESS.sub(r"\1...\2", printable(" ".join(str(error).split())))


def open_streams() -> None:
    """Let a command run without stdout or stderr, and where they know few characters."""
    # In this order they take the numbers of those that are closed, which no file must have.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _FAILING:
            stream.reconfigure(errors="backslashreplace")


class Screen(Console):
    """A console as wide as there are columns, whatever COLUMNS says when it says none.

    It leaves a broken pipe to :func:`main`, which knows the exit codes.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        told = os.environ.get("COLUMNS", "")
        few = told.isdigit() and int(told) < _NARROWEST
        super().__init__(stderr=stderr, width=80 if few else None)

    def on_broken_pipe(self) -> None:
        """Hand it on; Rich itself would exit with 1."""
        raise BrokenPipeError
