"""``python -m judgerel_ray`` and the ``judgerel`` command."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

STOPPED = 130  # 128 and the signal's number, as shells have it

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; :func:`judgerel_ray.cli.main` in a process of its own.

    Ctrl-C ends it at once with 130, while libraries are imported, too, in which an exception would
    be lost or shown with its traceback. Verbs that ask judges end their engines first.

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> main(["status", "no-such-run"])
    2
    """
    before = signal.getsignal(signal.SIGINT)
    with suppress(ValueError):  # in a thread of a program around us
        signal.signal(signal.SIGINT, _stop)
    try:
        from judgerel_ray.cli import main as act

        return act(arguments)
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGINT, before)


def _stop(*_: object) -> None:
    """End the process; what is written is whole at any time."""
    # Not by the stream itself, which may be writing; its file may be another than the process's.
    with suppress(OSError, ValueError, AttributeError):
        os.write(sys.stderr.fileno(), b"judgerel: stopped\n")
    os._exit(STOPPED)


if __name__ == "__main__":
    sys.exit(main())
