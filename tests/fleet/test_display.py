from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from judgerel_ray.core import SweepError, TokenCounts
from judgerel_ray.fleet import Board, JudgeBoard, JudgeState
from judgerel_ray.fleet.board import (
    LINE_EVERY_S,
    ConsoleDisplay,
    EventLines,
    board_line,
    board_table,
    display_on,
)
from judgerel_ray.store import JudgeTotals


def board_of(**judges: JudgeBoard) -> Board:
    return Board(sweep="s", session=1, judges=judges)


def busy() -> JudgeBoard:
    judge = JudgeBoard(asked=3000, state=JudgeState.RUNNING, actors=3, failed=2)
    landed = JudgeTotals(
        rows=1500,
        outcomes={"scored": 1400, "unparsed": 100},
        tokens=TokenCounts(prompt=1, cached=0, generated=90_000),
        seconds=10.0,
    )
    judge.count(landed)
    return judge


def plain_console(width: int = 80) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, force_terminal=False, width=width), out


def test_a_line_says_state_landed_outcomes_rate_time_and_failures():
    line = board_line("llama", busy())
    assert line == (
        "llama: running on 3, landed 1500 of 3000, scored 1,400 unparsed 100, "
        "150 requests/s, 9,000 new tokens/s, 10 s left, 2 failed, recorded in errors/"
    )


def test_a_line_says_what_the_cluster_lacks():
    judge = JudgeBoard(asked=5, state=JudgeState.STARTING, waits_for="8 GPUs, the cluster has 0")
    line = "big: starting: waits for 8 GPUs, the cluster has 0, landed 0 of 5"
    assert board_line("big", judge) == line


@pytest.mark.parametrize(
    ("rate", "left"),
    [(9000.0, "1 s"), (1500 / 45, "45 s"), (1500 / 1200, "20 min"), (1500 / 7200, "2.0 h")],
)
def test_time_left_is_said_as_people_say_it(rate, left):
    judge = busy()
    judge.requests_per_s = rate
    assert f"{left} left" in board_line("j", judge)


def test_nothing_is_said_of_time_when_all_has_landed():
    judge = JudgeBoard(asked=5, landed=5, requests_per_s=2.0, state=JudgeState.DONE)
    assert board_line("j", judge) == "j: done, landed 5 of 5, 2 requests/s"
    unfinished = JudgeBoard(asked=5, landed=4, requests_per_s=2.0, state=JudgeState.INCOMPLETE)
    assert "left" not in board_line("j", unfinished)


def test_a_table_shows_every_judge_and_why_one_failed_as_it_was_said():
    error = "no engine [judge=x], expected one of [/models/a] or [bold]"
    shown = board_of(good=busy(), bad=JudgeBoard(asked=9, state=JudgeState.FAILED, error=error))
    console, out = plain_console(width=300)
    console.print(board_table(shown))
    assert error in out.getvalue()
    assert "1,500 / 3,000" in out.getvalue()
    assert "good" in out.getvalue()


def test_off_a_terminal_a_judge_is_one_line_however_long():
    console, out = plain_console(width=40)
    error = "because " * 30 + "[/x] of [judge=y]"
    with ConsoleDisplay(console) as shown:
        shown.show(board_of(a=busy(), b=JudgeBoard(asked=1, error=error)))
    lines = out.getvalue().splitlines()
    assert len(lines) == 2
    assert error in lines[1]
    assert "\x1b" not in out.getvalue()


def test_off_a_terminal_lines_come_seldom_but_the_last_always():
    moment = [1000.0]
    console, out = plain_console()
    with ConsoleDisplay(console, clock=lambda: moment[0]) as shown:
        for _ in range(100):
            shown.show(board_of(a=JudgeBoard(asked=1)))
            moment[0] += 0.25
        seldom = len(out.getvalue().splitlines())
        for _ in range(2):  # what was said last is not said again
            shown.show(board_of(a=JudgeBoard(asked=1, landed=1)), last=True)
    assert seldom == 1  # nothing new since the first
    assert out.getvalue().splitlines()[1:] == ["a: waiting, landed 1 of 1"]


def test_a_line_that_says_the_same_is_repeated_seldom_with_how_long():
    moment = [1000.0]
    console, out = plain_console()
    with ConsoleDisplay(console, clock=lambda: moment[0]) as shown:
        for _ in range(7):
            landed = int(moment[0] >= 1050.0)
            shown.show(board_of(a=JudgeBoard(asked=9), b=JudgeBoard(asked=2, landed=landed)))
            moment[0] += 10.0
    assert out.getvalue().splitlines() == [
        "a: waiting, landed 0 of 9",
        "b: waiting, landed 0 of 2",
        "a: waiting, landed 0 of 9, for 30 s",
        "b: waiting, landed 0 of 2, for 30 s",
        "b: waiting, landed 1 of 2",
        "a: waiting, landed 0 of 9, for 60 s",
    ]


def test_on_a_terminal_the_table_is_live_and_stays():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    with ConsoleDisplay(console) as shown:
        shown.show(board_of(llama=JudgeBoard(asked=5)))
        shown.show(board_of(llama=busy()), last=True)
    assert "1,500 / 3,000" in out.getvalue()
    assert out.getvalue().rstrip().endswith("\x1b[?25h")  # the cursor is given back


def test_a_display_left_by_an_error_gives_the_terminal_back():
    out = io.StringIO()
    shown = ConsoleDisplay(Console(file=out, force_terminal=True, width=120))

    def fail() -> None:
        with shown:
            raise RuntimeError("told to")

    with pytest.raises(RuntimeError):
        fail()
    assert "\x1b[?25h" in out.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_what_is_to_be_said_once_is_said_once_above_the_rest(terminal):
    out = io.StringIO()
    board = board_of(a=JudgeBoard(asked=1))
    board.notices.append("a: an engine died: [gone]. Its log: n1:/tmp/w.err")
    with ConsoleDisplay(Console(file=out, force_terminal=terminal, width=200)) as shown:
        shown.show(board)
        shown.show(board, last=True)
    assert out.getvalue().count("an engine died: [gone]. Its log: n1:/tmp/w.err") == 1
    assert board.notices == []
    assert "notices" not in board.as_text("")


def test_events_are_lines_of_json_told_when_they_are_new():
    console, out = plain_console(width=20)
    moment = [0.0]
    board = board_of(j=busy())
    with EventLines(console, clock=lambda: moment[0]) as shown:
        board.notices.append("j: an engine died: [End of file]")
        shown.show(board)
        board.judges["j"].landed += 1
        shown.show(board)  # too early for a number
        moment[0] = LINE_EVERY_S
        shown.show(board)
        shown.show(board)  # nothing new
        board.judges["j"].state = JudgeState.FAILED
        shown.show(board)
        board.state = "incomplete"
        shown.show(board, last=True)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    told = [(line["event"], line.get("landed"), line.get("state")) for line in lines]
    assert told == [
        ("notice", None, None),
        ("judge", 1500, "running"),
        ("judge", 1501, "running"),
        ("judge", 1501, "failed"),
        ("end", None, "incomplete"),
    ]
    assert lines[0]["message"] == "j: an engine died: [End of file]"
    assert {(line["sweep"], line["session"]) for line in lines} == {("s", 1)}


def test_the_environment_asks_for_lines_of_json_or_is_told_what_it_may_ask(monkeypatch):
    console, _ = plain_console()
    monkeypatch.setenv("JUDGEREL_LOG", "json")
    assert isinstance(display_on(console), EventLines)
    monkeypatch.setenv("JUDGEREL_LOG", "xml")
    with pytest.raises(SweepError, match="JUDGEREL_LOG must be json or not set, got 'xml'"):
        display_on(console)
