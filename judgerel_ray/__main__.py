"""``python -m judgerel_ray`` and the ``judgerel`` command."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from judgerel_ray.interrupts import catch_interrupts

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; :func:`judgerel_ray.cli.main` in a process of its own.

    Ctrl-C ends it at once with 130, while libraries are imported, too, in which an exception would
    be lost or shown with its traceback. Verbs that ask judges end their engines first. It is heard
    from the first line of this package on; before, while Python itself starts (some 20 ms) and
    reads the installed script, it is Python's own, which shows where it was.

    Examples
    --------
    >>> main(["status", "no-such-run"])
    2
    """
    before = signal.getsignal(signal.SIGINT)
    catch_interrupts()
    try:
        from judgerel_ray.cli import main as act

        return act(arguments)
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    sys.exit(main())
