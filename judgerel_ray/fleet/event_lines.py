"""Progress for programs: one line of JSON an event, where ``JUDGEREL_LOG=json`` asks for it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from rich.console import Console

from judgerel_ray.core import SweepError
from judgerel_ray.fleet.board import LINE_EVERY_S, Board, ConsoleDisplay

VARIABLE = "JUDGEREL_LOG"


class EventLines:
    """A line for each notice, each change of a judge's state, and every ten seconds what moved."""

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._last_facts: dict[str, tuple[dict[str, object], float]] = {}
        """What was last told of every judge, and when."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is kept open."""

    def show(self, board: Board, *, last: bool = False) -> None:
        """Tell what is new."""
        while board.notices:
            self._tell(board, "notice", message=board.notices.pop(0))
        now = self._clock()
        for name, judge in board.judges.items():
            facts = judge.as_json() | {"waits_for": judge.waits_for}
            before, told_at = self._last_facts.get(name, ({}, now))
            key_facts = ("state", "waits_for", "error")
            is_new = any(facts[key] != before.get(key) for key in key_facts)
            if is_new or (facts != before and (last or now - told_at >= LINE_EVERY_S)):
                self._last_facts[name] = facts, now
                self._tell(board, "judge", judge=name, **facts)
        if last:
            self._tell(board, "end", state=board.state)

    def _tell(self, board: Board, event: str, **facts: object) -> None:
        """One line."""
        at = datetime.now(UTC).isoformat()
        line = {"at": at, "event": event, "sweep": board.sweep, "session": board.session, **facts}
        text = json.dumps(line)
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def display_on(console: Console) -> ConsoleDisplay | EventLines:
    """What shows a run on a console, as the environment asks.

    Raises
    ------
    SweepError
        If ``JUDGEREL_LOG`` says anything but ``json``.

    Examples
    --------
    >>> type(display_on(Console())).__name__
    'ConsoleDisplay'
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", "json"):
        raise SweepError(f"{VARIABLE} must be json or not set, got {wanted!r}", hint="json")
    return EventLines(console) if wanted else ConsoleDisplay(console)
