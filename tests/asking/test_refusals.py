"""What landed as failed is told with its reasons, and counted for the session it landed in."""

from datetime import UTC, datetime

import pytest

from judgerel_ray.asking.run.pending import Pending
from judgerel_ray.core import TokenCounts
from judgerel_ray.counting.outcomes import NOT_SENT, read_refusals
from judgerel_ray.design import voices_of
from judgerel_ray.fleet import landed_rows, never_sent
from judgerel_ray.store import begin_session, end_session, land, read_ledger


@pytest.fixture
def refuse(sweep, driver_of):
    """Land each item of a sweep as failed, for the reason given, in a session of its own."""
    resolved = sweep(asks=("replications = 4",))
    driver = driver_of(resolved)

    def act(*reasons):
        run = driver.run
        frame = resolved.frames[0]
        asked = ((frame, voices_of(frame, 0)[0]),)
        for n, reason in enumerate(reasons):
            session = begin_session(run)
            pending = Pending(asked=asked, wave=0, texts={}, ledger=session.ledger)
            asks = next(iter(pending.asks(None)))
            rows = landed_rows([(ask, never_sent(ask, reason)) for ask in asks], attempt=1,
                               prices=None, landed_at=datetime.now(UTC))  # fmt: skip
            land(run, session=session.number, lease=n, attempt=1, judge="j",
                 judgments=rows.judgments, completions=rows.completions,
                 conditions={ask.condition.condition_key: [(ask.first, ask.n)] for ask in asks},
                 tokens=TokenCounts(), seconds=0.0, parents=set())  # fmt: skip
            end_session(run, session.number)
        return run

    return act


def test_reasons_are_counted_over_the_run_and_for_one_session(refuse):
    run = refuse("prompt_too_long: 9 prompt + 2 new tokens > 8", "no answer of ra")
    ledger = read_ledger(run)
    found = {n: read_refusals(run, ledger, n) for n in (0, 1, 2)}
    assert found[1].reasons == found[2].reasons == {"prompt_too_long": 4, NOT_SENT: 4}
    # What was never sent fails for another's reason, and is no failure of its session.
    assert {n: one.now for n, one in found.items()} == {0: 0, 1: 4, 2: 0}
    assert found[1].line(12) == (
        "8 of 12 requests failed and never can succeed: "
        f"{NOT_SENT} (4), prompt_too_long (4)"
    )  # fmt: skip


def test_a_run_that_lost_nothing_says_nothing(driver_of, sweep):
    driver = driver_of(sweep())
    driver.go("word", waves=1)
    found = read_refusals(driver.run, read_ledger(driver.run), 1)
    assert (found.reasons, found.now, found.line(3)) == ({}, 0, None)
