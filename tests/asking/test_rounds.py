"""Rounds of adaptive replication, without a cluster: killed, failed and gone on with."""

import random
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgerel_ray.analyses.distributions.settled import settled_summary
from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.run.end_tables import settled_rows, write_settled
from judgerel_ray.asking.run.rounds import landed_verdicts
from judgerel_ray.asking.run.running import _run_board_at_start
from judgerel_ray.asking.run.waves import SessionWaves, later_requests
from judgerel_ray.core import Completion, request_key
from judgerel_ray.engines.simulated.replies import write_verdict
from judgerel_ray.fleet import Board, JudgeBoard
from judgerel_ray.fleet.lease import write_asks
from judgerel_ray.store import end_session, read_ledger, scan_judgments, verify_run
from judgerel_ray.store.made_tables import read_settled
from judgerel_ray.store.status import read_status

RULE = "replications = { adaptive = 0.2, first = 3, max = 25, step = 4 }\n"
ITEMS = [
    f'{{"item_id": "q{i}", "question": "Which {i}?", "options": ["one", "two"]}}' for i in range(3)
]
COLUMNS = ["key", "replication", "block", "verdict"]


class Killed(BaseException):
    """The driver is gone."""


def reply(ask, replication):
    """A reply that follows from what is asked and from nothing else; items differ in how sure."""
    key = request_key(ask.condition.condition_key, replication)
    draw = random.Random(key).random()
    sure = {"q0": 0.98, "q1": 0.75, "q2": 0.5}[ask.condition.item_id]
    labels, form = ask.condition.menu.labels, ask.condition.menu.form
    text = write_verdict(labels[0 if draw < sure else 1], form) if draw < 0.99 else "who knows"
    seed = ask.condition.seed_base + replication if ask.condition.temperature else None
    return Completion(
        key=key, replication=replication, seed=seed, text=text, finish_reason="stop",
        prompt_tokens=1, cached_tokens=0, completion_tokens=1,
    )  # fmt: skip


class FakeFleet:
    """Lands what queues give, in some order; fails at some, and dies after so many leases."""

    def __init__(self, driver, run, session, *, rng, dies_after=None, fails=0.0, board, pools):
        self.driver, self.run, self.session, self.board = driver, run, session, board
        self.pools = pools
        self.rng, self.left, self.fails = rng, dies_after, fails
        self.lease = 0

    def run_wave(self, work, **_):
        for name, queue in work.items():
            while True:
                while taken := queue.take("actor", 1):
                    self._lease(name, taken)
                queue.refill()
                if queue.is_empty:
                    break

    def _lease(self, name, work):
        if self.left == 0:
            raise Killed
        asks = write_asks(work)
        # These actors answer what they are sent, and leave it to the driver to ask on.
        self.pools[name].unsettled.update(ask.condition.item_id for ask in asks)
        self.left = None if self.left is None else self.left - 1
        kept = [ask for ask in asks if self.rng.random() >= self.fails]
        if kept:
            self.lease += 1
            self.driver._land(self.run, self.session, self.lease, kept, "x", True, reply=reply)
            self.board.judges[name].landed += sum(ask.n for ask in kept)


def one_session(driver, *, seed=0, dies_after=None, fails=0.0):
    """A session of a run; the board as it stood at its end."""
    run, session = driver.run, driver.begin()
    board = _run_board_at_start(driver.resolved, driver.plan, run, session)
    pools = {
        name: SimpleNamespace(requests_left=0, failures={}, unsettled=set())
        for name in driver.resolved.specs
    }
    fleet = FakeFleet(
        driver, run, session.number, rng=random.Random(seed), dies_after=dies_after, fails=fails,
        board=board, pools=pools,
    )  # fmt: skip
    waves = SessionWaves(
        resolved=driver.resolved, run=run, session=session, fleet=fleet, pools=pools, board=board
    )
    try:
        waves.ask_all()
        board.state = "incomplete" if board.judges["j"].owed else "done"
    except Killed:
        pass
    finally:
        end_session(run, session.number)
    run.write_text("progress.json", board.as_text(run.identity))
    return board


def rows(driver):
    return scan_judgments(driver.run).select(COLUMNS).collect().sort("key")


@pytest.fixture
def undisturbed(sweep, driver_of):
    """A driver of an adaptive sweep that ran through, and the rows it landed."""
    driver = driver_of(sweep(asks=[RULE + "temperatures = [1.0, 0.5, 0.0]\n"], items=ITEMS))
    board = one_session(driver)
    assert board.judges["j"].owed == 0
    return driver, rows(driver)


@pytest.mark.slow
def test_a_run_that_ends_asks_as_much_as_it_says(undisturbed):
    driver, landed = undisturbed
    assert driver.plan.requests < landed.height < driver.plan.requests_at_most
    status = read_status(driver.out)
    assert (status.state, status.judges[0].asked) == ("done", landed.height)
    assert [one for one in verify_run(driver.run) if one.level == "error"] == []
    again = one_session(driver)
    assert again.judges["j"].asked == again.judges["j"].landed == landed.height
    assert rows(driver).equals(landed)


@pytest.mark.slow
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    sessions=st.lists(st.tuples(st.integers(0, 40), st.sampled_from([0.0, 0.3])), max_size=4),
    seed=st.integers(0, 10_000),
)
def test_however_it_is_killed_or_fails_the_same_rows_land(
    undisturbed, tmp_path_factory, sessions, seed
):
    driver, expected = undisturbed
    again = type(driver)(driver.resolved, str(tmp_path_factory.mktemp("run") / "run"))
    for number, (dies_after, fails) in enumerate(sessions):
        board = one_session(again, seed=seed + number, dies_after=dies_after, fails=fails)
        some = rows(again)
        assert some.join(expected, on=COLUMNS, how="anti", nulls_equal=True).is_empty()
        assert board.judges["j"].asked >= board.judges["j"].landed == some.height
    board = one_session(again)
    assert board.judges["j"].asked == board.judges["j"].landed == expected.height
    assert rows(again).equals(expected)
    assert later_requests(again.resolved, again.run, read_ledger(again.run))["j"] == sum(
        expected["block"] > 0
    )


@pytest.mark.slow
def test_what_fails_is_not_asked_again_in_its_session(sweep, driver_of):
    driver = driver_of(sweep(asks=[RULE], items=ITEMS))
    board = one_session(driver, fails=1.0)
    assert board.judges["j"].landed == 0
    assert board.judges["j"].owed == driver.plan.requests
    assert one_session(driver).judges["j"].owed == 0


@pytest.mark.slow
def test_settled_verdicts_are_laid_out_from_what_landed(undisturbed):
    driver, landed = undisturbed
    assert write_settled(driver.resolved, driver.run, read_ledger(driver.run)) == 6
    table = read_settled(driver.run)
    assert table["temperature"].unique().sort().to_list() == [0.5, 1.0]
    assert sum(table["replications"]) == landed.height - 3  # those of temperature 0
    states = dict(table.select("item_id", "state").iter_rows())
    assert states["q0"] == "settled"
    # With a round missing it is still open, and what is known of it is of the rounds before.
    unfinished = type(driver)(driver.resolved, driver.out + "-unfinished")
    one_session(unfinished, dies_after=4)
    write_settled(driver.resolved, unfinished.run, read_ledger(unfinished.run))
    assert "open" in set(read_settled(unfinished.run)["state"])


def test_boards_count_nothing_twice(sweep, driver_of):
    driver = driver_of(sweep(asks=["replications = 4\n"], items=ITEMS))
    run, session = driver.run, driver.begin()
    board = _run_board_at_start(driver.resolved, driver.plan, run, session)
    assert isinstance(board, Board)
    assert isinstance(board.judges["j"], JudgeBoard)
    assert board.judges["j"].asked == plan_resolved(driver.resolved).requests
    end_session(run, session.number)


@pytest.mark.slow
def test_every_ask_has_its_own_rule_where_several_share_items(sweep, driver_of):
    judged = [item[:-1] + ', "gold": "one"}' for item in ITEMS]
    strict = "{ adaptive = 0.01, first = 3, max = 20 }"
    loose = "{ adaptive = 0.3, first = 2, max = 6 }"
    keys = 'responders = ["{}"]\nreplications = {}\n'
    asks = [
        keys.format("1", strict),
        keys.format("2", loose),
        "top_k = 9\n" + keys.format("1", 4),
    ]
    driver = driver_of(sweep(asks=asks, items=judged, protocol="correctness"))
    one_session(driver)
    write_settled(driver.resolved, driver.run, read_ledger(driver.run))
    table = read_settled(driver.run)
    rules = table.select("responder", "delta", "most", "top_k").unique().sort("responder").rows()
    assert rules == [("1", 0.01, 20, 50), ("2", 0.3, 6, 50)]
    assert table.height == 6  # what repeats a fixed number of times is none of its rows
    per = scan_judgments(driver.run).filter(pl.col("top_k") == 50).collect()
    counted = per.group_by("responder").len().sort("responder").rows()
    said = table.group_by("responder").agg(pl.col("replications").sum()).sort("responder").rows()
    assert said == counted
    assert not table["state"].is_in(["open"]).any()


@pytest.mark.slow
def test_what_can_never_be_asked_is_no_stable_verdict(undisturbed):
    driver, _ = undisturbed
    ledger = read_ledger(driver.run)
    failed = {
        place: replace(one, has_failed=True)
        for place, one in landed_verdicts(driver.run, ledger, "j").items()
    }
    rows = [row for row in settled_rows("j", driver.resolved.frames, failed)]
    assert {(row["state"], row["verdict"], row["replications"]) for row in rows} == {
        ("failed", None, 0)
    }
    summary = settled_summary(pl.DataFrame(rows), by=["judge"]).row(0, named=True)
    assert (summary["failed"], summary["settled_share"], summary["used"]) == (6, None, None)
