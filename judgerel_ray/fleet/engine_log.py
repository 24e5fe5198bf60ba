"""What an engine said before it failed: its processes write where the actor's errors go.

Ray tells a driver of every process that dies, in some 900 characters without the name of a judge
or of a log. What a person needs of that is one line, which the fleet writes itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TAIL_BYTES = 64_000
ECHO = "RuntimeError: Engine core initialization failed"
"""How vLLM says that an engine did not come up for a reason told before."""
_ERROR = re.compile(r"\b([A-Za-z_.]*(?:Error|Exception)): *(\S.*)")


_ADVICE = " Some common causes include"  # of Ray, behind what is known of a death
_DETAIL = "Worker exit detail: "  # behind it stands what was seen, before it what follows from it
_DEATH = "A worker died or was killed"
LONGEST_REASON = 200


def error_log() -> Path | None:
    """Name the file this process writes its errors to; None where that is a terminal or a pipe."""
    try:
        target = Path(os.readlink(f"/proc/{os.getpid()}/fd/2"))
    except OSError:
        return None
    return target if target.is_file() else None


def error_log_tail() -> str:
    """Read the end of the file this process writes its errors to; empty where there is none.

    Effects: reads one file. A terminal or a pipe is left alone.
    """
    target = error_log()
    if target is None:
        return ""
    try:
        with target.open("rb") as stream:
            stream.seek(max(0, target.stat().st_size - TAIL_BYTES))
            return stream.read().decode(errors="replace")
    except OSError:
        return ""


def explain_death(message: str) -> str:
    """What is known of a death, without Ray's list of what it might be; one line."""
    return " ".join(message.partition(_ADVICE)[0].split())


def loss_line(judge: str, message: str, *, log: str | None) -> str:
    """Say in one line whose engine died, of what, and where its log lies."""
    reason = explain_death(message).rpartition(_DETAIL)[2]
    if len(reason) > LONGEST_REASON:
        reason = reason[:LONGEST_REASON] + "..."
    end = "" if reason.endswith(".") else "."
    return f"{judge}: an engine died: {reason}{end}" + (f" Its log: {log}" if log else "")


def notice_line(notice: str) -> str | None:
    """Shorten what Ray tells a driver; None where the fleet says it, with judge and log."""
    line = " ".join(notice.split())
    if line.startswith(_DEATH):
        return None
    return line if len(line) <= LONGEST_REASON else line[:LONGEST_REASON] + "..."


@contextmanager
def short_notices() -> Iterator[None]:
    """Keep what Ray prints of the cluster to a line each, while the block lasts.

    Effects: replaces the function by which Ray's driver prints; where it has none, nothing happens.
    """
    from ray._private import worker

    printer: Any = getattr(worker, "print_to_stdstream", None)
    if printer is None:
        yield
        return

    def shortened(data: dict[str, Any], *rest: Any, **options: Any) -> None:
        lines = data.get("lines", [])
        if data.get("pid") == "raylet":
            lines = [line for one in lines if (line := notice_line(str(one))) is not None]
        if lines:
            printer({**data, "lines": lines}, *rest, **options)

    worker.print_to_stdstream = shortened
    try:
        yield
    finally:
        worker.print_to_stdstream = printer


def last_error_line(log: str) -> str | None:
    r"""Name the first cause in a log: the error that others were raised from."""
    found = [match.group(0).strip() for match in _ERROR.finditer(log)]
    causes = [line for line in found if ECHO not in line]
    return next(iter(causes or found), None)
