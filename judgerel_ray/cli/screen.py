"""What reaches a terminal: text of people's data in every encoding, without orders to it.

What libraries write to stderr themselves: kept back where it is a panic that is told in a line.

A panic of Polars (written in Rust) reaches Python as an exception, after some lines on the
process's stderr that no caller can use.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from judgerel_ray.core import LONGEST_WORD, printable, shortened

_FAILING = ("strict", "surrogateescape")  # the second where no locale is set


def tell(text: str, *, stderr: bool = False) -> None:
    """Print a text of any lines; what would act on a terminal is shown, very long words are cut."""
    shortened_text = shortened(printable(text, lines=True), LONGEST_WORD)
    print(shortened_text, file=sys.stderr if stderr else sys.stdout)


def one_line(error: object) -> str:
    """An error in one line that acts on nothing; very long words lose their middle."""
    return shortened(printable(" ".join(str(error).split())), LONGEST_WORD)


def open_streams() -> None:
    """Let a command run without stdout or stderr, and where they know few characters."""
    # In this order they take the numbers of those that are closed, which no file must have.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _FAILING:
            stream.reconfigure(errors="backslashreplace")


class NotesFirst:
    """A stdout before whose first text notes go to stderr, each once."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._notes: dict[str, bool] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def add(self, note: str) -> None:
        """Keep a note until something is printed."""
        self._notes.setdefault(note, False)

    def say(self) -> None:
        """Print the notes that were not printed yet."""
        for note, is_printed in self._notes.items():
            if not is_printed:
                print(note, file=sys.stderr)
                self._notes[note] = True

    def write(self, text: str) -> int:
        """Print the notes, then a text."""
        self.say()
        return self._stream.write(text)


_STDERR = 2
_PANIC = b"panicked at"


@contextmanager
def panics_kept_back() -> Iterator[None]:
    """Keep what is written to the process's stderr below Python until the block ends.

    Then it is written there after all, unless the block failed and a panic is in it. What Python
    itself writes to ``sys.stderr`` is seen at once.

    Examples
    --------
    >>> with panics_kept_back():
    ...     print("numbers")
    numbers
    """
    try:
        if threading.current_thread() is not threading.main_thread():
            raise OSError  # a program around us: its other threads write, too
        sys.stderr.flush()
        kept = os.dup(_STDERR)
    except OSError:  # there is none
        yield
        return
    err = sys.stderr
    with tempfile.TemporaryFile() as below:
        if _is_the_process_s(err):
            sys.stderr = open(kept, "w", encoding=err.encoding, errors=err.errors, closefd=False)  # noqa: SIM115
        os.dup2(below.fileno(), _STDERR)
        failed = True
        try:
            yield
            failed = False
        finally:
            os.dup2(kept, _STDERR)
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            sys.stderr = err
            below.seek(0)
            text = below.read()
            if not (failed and _PANIC in text):
                os.write(_STDERR, text)
            os.close(kept)


def _is_the_process_s(stream: object) -> bool:
    """Whether a stream writes to the process's own stderr."""
    try:
        return stream.fileno() == _STDERR  # type: ignore[attr-defined,no-any-return]
    except (AttributeError, OSError, ValueError):
        return False
