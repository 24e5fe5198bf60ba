"""What an engine said before it failed: its processes write where the actor's errors go."""

from __future__ import annotations

import os
import re
from pathlib import Path

TAIL_BYTES = 64_000
_ERROR = re.compile(r"\b([A-Za-z_.]*(?:Error|Exception)): *(\S.*)")


def own_log_tail() -> str:
    """Read the end of the file this process writes its errors to; empty where there is none.

    Effects: reads one file. A terminal or a pipe is left alone.
    """
    try:
        target = Path(os.readlink(f"/proc/{os.getpid()}/fd/2"))
        if not target.is_file():
            return ""
        with target.open("rb") as stream:
            stream.seek(max(0, target.stat().st_size - TAIL_BYTES))
            return stream.read().decode(errors="replace")
    except OSError:
        return ""


def last_error_line(log: str) -> str | None:
    r"""Name the first cause in a log: the error that others were raised from.

    Parameters
    ----------
    log : str
        Lines with tracebacks among them.

    Returns
    -------
    str or None
        ``Class: message`` of the first error that is no echo of another; None without any.

    Examples
    --------
    >>> last_error_line("ValueError: no room\nRuntimeError: Engine core initialization failed.")
    'ValueError: no room'
    """
    found = [match.group(0).strip() for match in _ERROR.finditer(log)]
    causes = [line for line in found if "Engine core initialization failed" not in line]
    return next(iter(causes or found), None)
