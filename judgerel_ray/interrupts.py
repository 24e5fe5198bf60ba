"""Ctrl-C of the command: one line and exit code 130, never a traceback.

It imports next to nothing, so that little time passes before Ctrl-C is heard.
"""

from __future__ import annotations

import os
import signal
import sys

STOPPED = 130  # 128 and the signal's number, as shells have it
_PACKAGE = "judgerel_ray"
_COMMAND = "judgerel"


def is_the_command() -> bool:
    """Tell the ``judgerel`` command, or ``python -m judgerel_ray``, from a program that imports it.

    Examples
    --------
    >>> is_the_command()
    False
    """
    started = str(sys.argv[0]) if getattr(sys, "argv", None) else ""
    if started == "-m":  # a module is being looked for, and nothing has run yet
        return ["-m", _PACKAGE] in [sys.orig_argv[at : at + 2] for at in range(len(sys.orig_argv))]
    return os.path.splitext(os.path.basename(started))[0] == _COMMAND


def stop_at_once(*_: object) -> None:
    """End the process; what is written is whole at any time."""
    # Not by the stream itself, which may be writing; its file may be another than the process's.
    try:  # noqa: SIM105  contextlib takes longer to import than all of this
        os.write(sys.stderr.fileno(), b"judgerel: stopped\n")
    except (OSError, ValueError, AttributeError):
        pass
    os._exit(STOPPED)


def catch_interrupts() -> None:
    """Let Ctrl-C end the process at once; nothing changes in a thread of a program around us."""
    try:  # noqa: SIM105
        signal.signal(signal.SIGINT, stop_at_once)
    except ValueError:
        pass
