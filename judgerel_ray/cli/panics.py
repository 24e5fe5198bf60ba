"""What libraries write to stderr themselves: kept back where it is a panic that is told in a line.

A panic of Polars (written in Rust) reaches Python as an exception, after some lines on the
process's stderr that no caller can use.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

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
    own = sys.stderr
    with tempfile.TemporaryFile() as below:
        if _is_the_process_s(own):
            sys.stderr = open(kept, "w", encoding=own.encoding, errors=own.errors, closefd=False)  # noqa: SIM115
        os.dup2(below.fileno(), _STDERR)
        failed = True
        try:
            yield
            failed = False
        finally:
            os.dup2(kept, _STDERR)
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            sys.stderr = own
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
