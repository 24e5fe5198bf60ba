"""What reaches a terminal: text of people's data in every encoding, without orders to it."""

from __future__ import annotations

import io
import os
import sys

from rich.console import Console

from judgerel_ray.core import printable

_LONGEST_WORD = 160  # characters; paths of temporary folders have a hundred
_END = 60
_NARROWEST = 20  # below, COLUMNS is a mistake of a script and no screen


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
    """An error or another text in one line that acts on nothing.

    Examples
    --------
    >>> len(one_line("no such file [path=" + "x" * 5000 + ".csv]")) < 150
    True
    """
    return printable(" ".join(map(_by_its_ends, str(error).split())))


def _by_its_ends(word: str) -> str:
    """A word; one that nobody reads to its end, such as a path of 5,000 characters, shortened."""
    return word if len(word) <= _LONGEST_WORD else f"{word[:_END]}...{word[-_END:]}"


def open_streams() -> None:
    """Let a command run without stdout or stderr, and where they know few characters."""
    # In this order they take the numbers of those that are closed, which no file must have.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
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
