"""How a run stands: plain numbers that the driver keeps, shows, and writes to progress.json.

A person sees a live table, or plain lines off a terminal; a program gets one line of JSON an event,
where ``JUDGEREL_LOG=json`` asks for it.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from judgerel_ray.core import SweepError, TokenCounts, printable
from judgerel_ray.fleet.lease import Receipt
from judgerel_ray.store import CommitRecord, JudgeTotals
from judgerel_ray.store.records import PROGRESS, seal

SMOOTHING_S = 20.0  # a rate looks back about this long


LandedRows = Receipt | CommitRecord | JudgeTotals
"""Rows that landed at once: as an actor says it, as its record does, or as the driver counts."""


class JudgeState(StrEnum):
    """What a judge is doing."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    DONE = "done"
    INCOMPLETE = "incomplete"
    FAILED = "failed"


ENDED = frozenset({JudgeState.DONE, JudgeState.INCOMPLETE, JudgeState.FAILED})


@dataclass(slots=True)
class JudgeBoard:
    """One judge's numbers: requests asked for in all, landed, failed, and how fast."""

    asked: int
    landed: int = 0
    landed_before: int = 0
    failed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    tokens: TokenCounts = field(default_factory=TokenCounts)
    busy_s: float = 0.0
    state: JudgeState = JudgeState.WAITING
    actors: int = 0
    error: str | None = None
    waits_for: str | None = None
    """What the cluster has not, where that keeps its engines from coming up."""
    requests_per_s: float | None = None
    tokens_per_s: float | None = None
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    _marked: float | None = None
    _seen: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Requests, new tokens and seconds behind the rates, the older the less they weigh."""

    @property
    def owed(self) -> int:
        """Requests that have not landed."""
        return self.asked - self.landed

    @property
    def seconds_left(self) -> float | None:
        """By the rate of late; None before there is one, and when no more is to come."""
        to_come = self.owed - self.failed
        if not self.requests_per_s or to_come <= 0 or self.state in ENDED:
            return None
        return to_come / self.requests_per_s

    def resume(self) -> None:
        """Say that engines get work after none had any: the time until then was no work."""
        self._marked = self.clock()

    def count(self, made: LandedRows) -> None:
        """Add what landed at once.

        Rates are what landed by the time that passed, weighed down by age: over the first seconds
        that is landed / elapsed, later a smoothing over about ``SMOOTHING_S``.
        """
        now = self.clock()
        self.landed += made.rows
        self.outcomes.update(made.outcomes)
        self.tokens += made.tokens
        self.busy_s += made.seconds
        if not made.seconds:
            return  # no engine worked for it: it says nothing about how fast they are
        span = now - self._marked if self._marked is not None else made.seconds
        self._marked = now
        kept = math.exp(-span / SMOOTHING_S)
        landed, generated, seconds = (kept * part for part in self._seen)
        landed, generated = landed + made.rows, generated + made.tokens.generated
        seconds = max(seconds + span, 1e-3)
        self._seen = (landed, generated, seconds)
        self.requests_per_s, self.tokens_per_s = landed / seconds, generated / seconds

    def as_json(self) -> dict[str, object]:
        """Plain values, for progress.json."""
        return {
            "state": self.state.value,
            "actors": self.actors,
            "asked": self.asked,
            "landed": self.landed,
            "owed": self.owed,
            "failed": self.failed,
            "outcomes": dict(sorted(self.outcomes.items())),
            "tokens": asdict(self.tokens),
            "busy_seconds": round(self.busy_s, 3),
            "requests_per_s": self.requests_per_s,
            "tokens_per_s": self.tokens_per_s,
            "seconds_left": self.seconds_left,
            "error": self.error,
        }


@dataclass(slots=True)
class Board:
    """The whole run's numbers, by judge in the order of the sweep."""

    sweep: str
    session: int
    judges: dict[str, JudgeBoard]
    state: str = "running"
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    notices: list[str] = field(default_factory=list)
    """Lines to be shown once, such as that an engine died; who shows them takes them out."""

    def as_text(self, run: str) -> str:
        """The content of progress.json of the run of this identity."""
        content = {
            "sweep": self.sweep,
            "session": self.session,
            "state": self.state,
            "started_at": self.started_at,
            "updated_at": datetime.now(UTC).isoformat(),
            "judges": {name: judge.as_json() for name, judge in self.judges.items()},
        }
        return seal(content, PROGRESS, run).decode()


LINE_EVERY_S = 10.0
SAME_EVERY_S = 30.0  # of a line that says nothing new


def print_line(console: Console, line: str) -> None:
    """Print a line as it stands: nothing in it is markup, and no terminal obeys it."""
    console.print(printable(line), markup=False, highlight=False, soft_wrap=True)


class Display(Protocol):
    """Something that shows a board now and then."""

    def show(self, board: Board, *, last: bool = False) -> None:
        """Show the board; `last` is the final state."""
        ...


class ConsoleDisplay:
    """A live table on a terminal; elsewhere a line for each judge, every ten seconds if it moved.

    A line that says the same is repeated every thirty seconds, with the seconds since it began.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._live: Live | None = None
        self._shown_at = 0.0
        self._last_lines: dict[str, tuple[str, float, float]] = {}
        """Every judge's last line, when it was first told, and when last."""

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(console=self._console, refresh_per_second=4, transient=False)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self, board: Board, *, last: bool = False) -> None:
        """Show the board, below what is to be said once."""
        while board.notices:
            print_line(self._console, board.notices.pop(0))
        if self._live is not None:
            self._live.update(board_table(board), refresh=last)
            return
        now = self._clock()
        if not last and now - self._shown_at < LINE_EVERY_S:
            return
        self._shown_at = now
        for name, judge in board.judges.items():
            line = board_line(name, judge)
            before, since, shown_at = self._last_lines.get(name, ("", now, now))
            if line != before:
                since = now
            elif last or now - shown_at < SAME_EVERY_S:
                continue
            self._last_lines[name] = line, since, now
            if now > since:
                line += f", for {now - since:.0f} s"
            print_line(self._console, line)


def board_table(board: Board) -> Table:
    """The board as a table.

    Examples
    --------
    >>> board_table(Board(sweep="s", session=1, judges={"j": JudgeBoard(asked=5)})).row_count
    1
    """
    table = Table(title=f"{board.sweep} (session {board.session})", title_justify="left")
    table.add_column("judge")
    for column in ("landed / asked", "outcomes", "requests/s", "tokens/s", "time left", "failed"):
        table.add_column(column, justify="right" if column != "outcomes" else "left")
    table.add_column("state")
    for name, judge in board.judges.items():
        table.add_row(
            name,
            f"{judge.landed:,} / {judge.asked:,}",
            _fleet_board_outcomes(judge),
            _fleet_board_rate(judge.requests_per_s),
            _fleet_board_rate(judge.tokens_per_s),
            _fleet_board_time_left(judge),
            str(judge.failed) if judge.failed else "",
            Text(printable(_fleet_board_judge_state(judge))),  # an error's [brackets] are no markup
        )
    return table


def board_line(name: str, judge: JudgeBoard) -> str:
    """One judge in one line.

    Examples
    --------
    >>> board_line("j", JudgeBoard(asked=5))
    'j: waiting, landed 0 of 5'
    """
    parts = [
        f"{name}: {_fleet_board_judge_state(judge)}",
        f"landed {judge.landed} of {judge.asked}",
    ]
    if judge.outcomes:
        parts.append(_fleet_board_outcomes(judge))
    if judge.requests_per_s:
        parts.append(f"{_fleet_board_rate(judge.requests_per_s)} requests/s")
    if judge.tokens_per_s:
        parts.append(f"{_fleet_board_rate(judge.tokens_per_s)} new tokens/s")
    if judge.seconds_left is not None:
        parts.append(f"{_fleet_board_time_left(judge)} left")
    if judge.failed:
        parts.append(f"{judge.failed} failed, recorded in errors/")
    return ", ".join(parts)


def _fleet_board_outcomes(judge: JudgeBoard) -> str:
    return " ".join(f"{name} {n:,}" for name, n in judge.outcomes.most_common())


def _fleet_board_rate(value: float | None) -> str:
    """A rate, or nothing before there is one."""
    if not value:
        return ""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _fleet_board_time_left(judge: JudgeBoard) -> str:
    """Time left as people say it."""
    seconds = judge.seconds_left
    if seconds is None:
        return ""
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _fleet_board_judge_state(judge: JudgeBoard) -> str:
    """State with the engines at work, or why it failed."""
    if judge.error:
        return f"{judge.state.value}: {judge.error}"
    if judge.waits_for:
        return f"{judge.state.value}: waits for {judge.waits_for}"
    engines = f" on {judge.actors}" if judge.actors > 1 else ""
    return f"{judge.state.value}{engines}"


VARIABLE = "JUDGEREL_LOG"


class EventLines:
    """A line for each notice, each change of a judge's state, and every ten seconds what moved."""

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._last_facts: dict[str, tuple[dict[str, object], float]] = {}
        """What was last reported of every judge, and when."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is kept open."""

    def show(self, board: Board, *, last: bool = False) -> None:
        """Tell what is new."""
        while board.notices:
            self._tell(board, "notice", message=board.notices.pop(0))
        now = self._clock()
        for name, judge in board.judges.items():
            facts = judge.as_json() | {"waits_for": judge.waits_for}
            before, reported_at = self._last_facts.get(name, ({}, now))
            key_facts = ("state", "waits_for", "error")
            is_new = any(facts[key] != before.get(key) for key in key_facts)
            if is_new or (facts != before and (last or now - reported_at >= LINE_EVERY_S)):
                self._last_facts[name] = facts, now
                self._tell(board, "judge", judge=name, **facts)
        if last:
            self._tell(board, "end", state=board.state)

    def _tell(self, board: Board, event: str, **facts: object) -> None:
        """One line."""
        at = datetime.now(UTC).isoformat()
        line = {"at": at, "event": event, "sweep": board.sweep, "session": board.session, **facts}
        print_line(self._console, json.dumps(line))


def display_on(console: Console) -> ConsoleDisplay | EventLines:
    """What shows a run on a console, as the environment asks."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", "json"):
        raise SweepError(f"{VARIABLE} must be json or not set, got {wanted!r}", hint="json")
    return EventLines(console) if wanted else ConsoleDisplay(console)
