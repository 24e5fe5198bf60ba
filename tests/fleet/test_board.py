from __future__ import annotations

import json

import pytest

from judgerel_ray.core import TokenCounts
from judgerel_ray.fleet import Board, JudgeBoard, JudgeState
from judgerel_ray.store import JudgeTotals


@pytest.fixture
def clock():
    """A clock that stands until it is moved."""

    class Clock:
        now = 100.0

        def move(self, seconds: float) -> None:
            self.now += seconds

        def __call__(self) -> float:
            return self.now

    return Clock()


def land(judge: JudgeBoard, rows: int, *, busy_s: float = 1.0, generated: int = 0) -> None:
    tokens = TokenCounts(prompt=10, cached=5, generated=generated)
    outcomes = {"scored": rows}
    judge.count(JudgeTotals(rows=rows, outcomes=outcomes, tokens=tokens, seconds=busy_s))


def test_a_steady_rate_is_found_and_time_left_follows(clock):
    judge = JudgeBoard(asked=1000, clock=clock)
    for _ in range(60):
        clock.move(1.0)
        land(judge, 5, generated=50)
    assert judge.requests_per_s == pytest.approx(5.0, rel=0.02)
    assert judge.tokens_per_s == pytest.approx(50.0, rel=0.02)
    assert judge.seconds_left == pytest.approx(700 / 5, rel=0.02)


def test_the_first_seconds_foretell_no_less_well_than_the_rest(clock):
    """Leases of two a moment after one another must not pass for two in a moment."""
    judge = JudgeBoard(asked=1000, clock=clock)
    judge.resume()
    told = []
    for _ in range(10):
        clock.move(0.999)
        land(judge, 5, busy_s=0.001, generated=50)
        clock.move(0.001)
        land(judge, 5, busy_s=0.001, generated=50)
        told.append((judge.requests_per_s, judge.tokens_per_s))
    assert [rate for rate, _ in told] == pytest.approx([10.0] * 10, rel=0.02)
    assert [rate for _, rate in told] == pytest.approx([100.0] * 10, rel=0.02)


def test_time_without_work_is_no_time(clock):
    judge = JudgeBoard(asked=1000, clock=clock)
    for _ in range(3):
        clock.move(500.0)  # engines come up, other judges have the GPUs
        judge.resume()
        clock.move(2.0)
        land(judge, 10, busy_s=2.0)
    assert judge.requests_per_s == pytest.approx(5.0)


@pytest.mark.parametrize("state", [JudgeState.DONE, JudgeState.INCOMPLETE, JudgeState.FAILED])
def test_no_time_is_left_of_what_has_ended(clock, state):
    judge = JudgeBoard(asked=100, clock=clock)
    clock.move(1.0)
    land(judge, 10)
    assert judge.seconds_left is not None
    judge.state = state
    assert judge.seconds_left is None


def test_several_actors_landing_at_once_count_together(clock):
    judge = JudgeBoard(asked=10_000, clock=clock)
    for _ in range(100):
        clock.move(2.0)
        for _ in range(4):
            land(judge, 3, busy_s=2.0)
    assert judge.requests_per_s == pytest.approx(6.0, rel=0.1)


def test_a_new_speed_is_believed_after_a_while(clock):
    judge = JudgeBoard(asked=100_000, clock=clock)
    for rows in [10] * 60 + [40] * 80:
        clock.move(1.0)
        land(judge, rows)
    assert judge.requests_per_s == pytest.approx(40.0, rel=0.05)


def test_rows_that_no_engine_made_say_nothing_about_speed(clock):
    judge = JudgeBoard(asked=5000, clock=clock)
    land(judge, 2000, busy_s=0.0)
    assert judge.landed == 2000
    assert judge.requests_per_s is None
    assert judge.seconds_left is None
    clock.move(1.0)
    land(judge, 4, busy_s=2.0)
    assert judge.requests_per_s == pytest.approx(2.0)


def test_before_anything_landed_nothing_is_foretold():
    assert JudgeBoard(asked=10).seconds_left is None
    assert JudgeBoard(asked=10).owed == 10


def test_what_failed_for_good_is_not_waited_for(clock):
    judge = JudgeBoard(asked=100, clock=clock)
    clock.move(1.0)
    land(judge, 10, busy_s=1.0)
    judge.failed = 40
    assert judge.owed == 90
    assert judge.seconds_left == pytest.approx(5.0)
    land(judge, 50)
    assert judge.owed == 40
    assert judge.seconds_left is None


def test_counts_add_up():
    judge = JudgeBoard(asked=10)
    land(judge, 3, generated=7)
    land(judge, 4, generated=2)
    assert (judge.landed, judge.owed, judge.outcomes["scored"]) == (7, 3, 7)
    assert judge.tokens == TokenCounts(prompt=20, cached=10, generated=9)


def test_progress_is_plain_json_in_the_order_of_the_sweep():
    shown = Board(
        sweep="s",
        session=3,
        judges={
            "b": JudgeBoard(asked=2, state=JudgeState.FAILED, error="gone"),
            "a": JudgeBoard(asked=5),
        },
    )
    land(shown.judges["a"], 5)
    content = json.loads(shown.as_text(""))
    assert list(content["judges"]) == ["b", "a"]
    assert content["judges"]["a"]["owed"] == 0
    assert content["judges"]["a"]["outcomes"] == {"scored": 5}
    assert content["judges"]["b"]["state"] == "failed"
    assert content["judges"]["b"]["error"] == "gone"
    assert (content["session"], content["state"]) == (3, "running")
