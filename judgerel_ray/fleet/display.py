"""What a person sees while a run goes on: a live table, or plain lines off a terminal."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from judgerel_ray.core import printable
from judgerel_ray.fleet.board import Board, JudgeBoard

LINE_EVERY_S = 10.0
SAME_EVERY_S = 30.0  # of a line that says nothing new


class Display(Protocol):
    """Something that shows a board now and then."""

    def show(self, board: Board, *, last: bool = False) -> None:
        """Show the board; `last` is the final state."""
        ...


class ConsoleDisplay:
    """A live table on a terminal; elsewhere a line for each judge, every ten seconds if it moved.

    A line that says the same is repeated every thirty seconds, with the seconds since it began.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._shown_at = 0.0
        self._told: dict[str, tuple[str, float, float]] = {}
        """Every judge's last line, when it was first told, and when last."""

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(console=self._console, refresh_per_second=4, transient=False)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self, board: Board, *, last: bool = False) -> None:
        """Show the board, below what is to be said once."""
        while board.notices:
            notice = printable(board.notices.pop(0))
            self._console.print(notice, markup=False, highlight=False, soft_wrap=True)
        if self._live is not None:
            self._live.update(board_table(board), refresh=last)
            return
        now = time.monotonic()
        if not last and now - self._shown_at < LINE_EVERY_S:
            return
        self._shown_at = now
        for name, judge in board.judges.items():
            line = board_line(name, judge)
            before, since, told = self._told.get(name, ("", now, now))
            if line != before:
                since = now
            elif last or now - told < SAME_EVERY_S:
                continue
            self._told[name] = line, since, now
            if now > since:
                line += f", for {now - since:.0f} s"
            self._console.print(printable(line), markup=False, highlight=False, soft_wrap=True)


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
            _outcomes(judge),
            _rate(judge.requests_per_s),
            _rate(judge.tokens_per_s),
            _time(judge),
            str(judge.failed) if judge.failed else "",
            Text(printable(_state(judge))),  # an error's [brackets] are no markup
        )
    return table


def board_line(name: str, judge: JudgeBoard) -> str:
    """One judge in one line.

    Examples
    --------
    >>> board_line("j", JudgeBoard(asked=5))
    'j: waiting, landed 0 of 5'
    """
    parts = [f"{name}: {_state(judge)}", f"landed {judge.landed} of {judge.asked}"]
    if judge.outcomes:
        parts.append(_outcomes(judge))
    if judge.requests_per_s:
        parts.append(f"{_rate(judge.requests_per_s)} requests/s")
    if judge.tokens_per_s:
        parts.append(f"{_rate(judge.tokens_per_s)} new tokens/s")
    if judge.seconds_left is not None:
        parts.append(f"{_time(judge)} left")
    if judge.failed:
        parts.append(f"{judge.failed} failed, recorded in errors/")
    return ", ".join(parts)


def _outcomes(judge: JudgeBoard) -> str:
    """Outcomes by count."""
    return " ".join(f"{name} {n:,}" for name, n in judge.outcomes.most_common())


def _rate(value: float | None) -> str:
    """A rate, or nothing before there is one."""
    if not value:
        return ""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _time(judge: JudgeBoard) -> str:
    """Time left as people say it."""
    seconds = judge.seconds_left
    if seconds is None:
        return ""
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _state(judge: JudgeBoard) -> str:
    """State with the engines at work, or why it failed."""
    if judge.error:
        return f"{judge.state.value}: {judge.error}"
    if judge.waits_for:
        return f"{judge.state.value}: waits for {judge.waits_for}"
    engines = f" on {judge.actors}" if judge.actors > 1 else ""
    return f"{judge.state.value}{engines}"
