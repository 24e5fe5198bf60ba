from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from judgerel_ray.config import Limits
from judgerel_ray.core import EngineError
from judgerel_ray.engines import EngineSpec
from judgerel_ray.fleet import JudgePool, JudgeState
from judgerel_ray.fleet.lease import Lease
from judgerel_ray.fleet.pool import FIRST_LEASE_UNITS, Dispatched, Slot, sum_units
from judgerel_ray.fleet.retry import MOST_NODE_LOSSES, AskHistory


def pool_of(n_slots: int = 2, left: int = 1000) -> JudgePool:
    slots = {
        f"a{i}": Slot(name=f"a{i}", handle=None, started_at=0.0, starting=None, ready=True)
        for i in range(n_slots)
    }
    spec = SimpleNamespace(engine=EngineSpec(name="j", engine="simulated", model="uniform"))
    return JudgePool(name="j", spec=spec, replicas=None, slots=slots, requests_left=left)


def send(pool: JudgePool, asks, seconds: float = 1.0, *, lands: bool = True) -> int:
    units = sum_units(asks)
    lease = Lease(lease=1, attempt=1, judge="j", asks=asks)
    pool.note_sent(lease, units)
    if lands:
        sent = Dispatched(lease=lease, units=units, sent_at=0.0, deadline_at=0.0)
        pool.note_done(sent, rows=lease.n_requests, busy_s=seconds)
    return units


def test_the_first_lease_is_of_a_known_size_and_the_next_by_the_rate(asking):
    pool = pool_of(left=10**9)
    assert pool.lease_units(10.0) == FIRST_LEASE_UNITS
    units = send(pool, (asking.ask(n=100),), seconds=2.0)
    assert pool.lease_units(10.0) == pytest.approx(units / 2 * 10, abs=1)


@pytest.mark.parametrize("n_slots", [1, 4])
def test_leases_shrink_as_work_runs_out(asking, n_slots):
    pool = pool_of(n_slots)
    each = send(pool, (asking.ask(n=100),), seconds=1.0) / 100
    sizes = []
    for left in (10_000, 1000, 100, 10, 1):
        pool.requests_left = left
        sizes.append(pool.lease_units(10.0))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] >= 1
    of_tail, of_a_second = 1000 / (4 * n_slots * 2), min(1000 / n_slots / 2, 100)
    assert sizes[1] == int(max(of_tail, of_a_second) * each)


def test_no_lease_is_shorter_than_a_second_while_an_actors_part_holds_two(asking):
    """Landing takes a tenth of one: an engine must have work meanwhile."""
    pool = pool_of(n_slots=2)
    each = send(pool, (asking.ask(n=100),), seconds=0.1) / 100
    for left, n in ((40_000, 2_500), (8_000, 1_000), (4_000, 1_000), (400, 100)):
        pool.requests_left = left
        assert pool.lease_units(10.0) == int(n * each)


def test_one_actor_does_not_take_a_small_run_whole(asking):
    """The second lease is already cut by what the first showed a request to be."""
    pool = pool_of(n_slots=4, left=64)
    units = send(pool, (asking.ask(n=8),), lands=False)
    assert pool.lease_units(10.0) <= 64 / 8 * units / (4 * 4 * 2) + 1


def test_a_lease_fills_an_engine_while_its_part_of_what_is_left_does(asking):
    pool = replace(pool_of(n_slots=2), batch=256)
    each = send(pool, (asking.ask(n=100),), seconds=10.0) / 100
    for left, n in ((10_000, 625), (2_000, 256), (600, 256), (200, 100), (2, 1)):
        pool.requests_left = left
        assert pool.lease_units(1000.0) == int(n * each)


def test_an_engine_is_filled_with_small_leases_until_one_has_landed(asking):
    """With two it had nothing left by the time that its first had landed, a part of a second."""
    pool = replace(pool_of(n_slots=1), batch=256)
    slot = pool.slots["a0"]
    for ahead, n in enumerate((340, 340, 340, 4), start=1):
        assert pool.wants_lease(slot, ahead)
        assert not pool.wants_lease(slot, ahead - 1)
        lease = Lease(lease=ahead, attempt=1, judge="j", asks=(asking.ask(n=n),))
        slot.leases[ahead] = Dispatched(lease=lease, units=1, sent_at=0.0, deadline_at=0.0)
    assert [pool.wants_lease(slot, ahead) for ahead in (4, 5)] == [False, False]
    del slot.leases[1], slot.leases[2]
    assert pool.wants_lease(slot, 3)
    send(pool, (asking.ask(n=100),))
    assert not pool.wants_lease(slot, 3)
    del slot.leases[3]
    assert pool.wants_lease(slot, 2)
    slot.apart = (("b", "q"),)
    assert not pool.wants_lease(slot, 2)


def test_what_was_given_back_is_no_work_done(asking):
    pool = pool_of(left=10**9)
    send(pool, (asking.ask(n=100),), seconds=2.0)
    rate = pool.units_per_s
    asks = (asking.ask(n=50),)
    lease = Lease(lease=2, attempt=1, judge="j", asks=asks)
    sent = Dispatched(lease=lease, units=sum_units(asks), sent_at=0.0, deadline_at=0.0)
    pool.note_done(sent, rows=0, busy_s=0.0)
    assert pool.units_per_s == rate
    pool.note_done(sent, rows=25, busy_s=sum_units(asks) / 2 / rate)
    assert pool.units_per_s == pytest.approx(rate)


def test_deadlines_are_never_shorter_than_told_and_grow_with_the_work(asking):
    pool = pool_of()
    assert pool.deadline_s(10**9, 1, 5.0) == 5.0  # before there is a rate
    units = send(pool, (asking.ask(n=10),), seconds=1.0)
    assert pool.deadline_s(1, 1, 5.0) == 5.0
    assert pool.deadline_s(100 * units, 1, 5.0) >= 20 * 100


def served_pool(**limits) -> JudgePool:
    engine = EngineSpec(
        name="j", engine="openai", model="m", base_url="http://h/v1", limits=Limits(**limits)
    )
    return replace(pool_of(), spec=SimpleNamespace(engine=engine))


def test_a_judge_behind_an_api_has_no_item_that_kills_what_asks_it(asking):
    pool = served_pool()
    for of_node in (False, True, True, True, True):
        assert not pool.note_loss([asking.ask("q1")], of_node=of_node)
    assert pool.losses == 1
    assert not pool.history(asking.ask("q1")).suspected


@pytest.mark.parametrize("seconds", [0.5, 60.0])
def test_leases_behind_an_api_hold_what_a_server_may_have_at_once(asking, seconds):
    """However slow it is: cut by the rate, leases of a slow one would shrink to nothing."""
    pool = replace(served_pool(concurrency=50), requests_left=10_000)
    asks = tuple(asking.ask(f"q{i}") for i in range(50))
    for _ in range(5):
        units = send(pool, asks, seconds=seconds)
        assert pool.lease_units(10.0) >= units
    pool.requests_left = 20
    assert pool.lease_units(10.0) == pytest.approx(units / 50 * 20 / 2 / 2, rel=0.01)


def test_a_lease_behind_an_api_may_wait_for_its_limits_and_an_outage():
    pool = served_pool(concurrency=2, requests_per_minute=6, deadline=100, timeout=10)
    # Ten requests: five after another, each up to its deadline, let through in 100 s.
    assert pool.deadline_s(50, 10, 600.0) >= 600 + 5 * 100 + 100
    assert pool.deadline_s(50, 10, 600.0) > pool.deadline_s(50, 1, 600.0)


def test_leases_behind_an_api_land_soon_and_fill_the_server_together(asking):
    pool = replace(served_pool(concurrency=32), requests_left=100, batch=32)
    slot = pool.slots["a0"]
    assert pool.lease_requests() == 8
    send(pool, (asking.ask(n=10),), seconds=10.0)
    assert pool.lease_requests() == 8
    for ahead in range(1, 9):  # 64 requests are before the server, 32 of them at it
        assert pool.wants_lease(slot, ahead)
        lease = Lease(lease=ahead, attempt=1, judge="j", asks=(asking.ask(n=8),))
        slot.leases[ahead] = Dispatched(lease=lease, units=1, sent_at=0.0, deadline_at=0.0)
    # A fast server, a large one and a long run have no more parts than before.
    fast, large = replace(pool), replace(served_pool(concurrency=400), requests_left=100)
    fast.units_done, fast.busy_s = 100.0 * sum_units((asking.ask(n=10),)), 10.0
    assert (fast.lease_requests(), large.lease_requests()) == (300, 100)
    assert replace(pool, requests_left=20_000).lease_requests() == 313
    assert pool_of().lease_requests() == float("inf")


def test_losses_count_by_item_and_once_a_death(asking):
    pool = pool_of()
    asks = [asking.ask("q1"), asking.ask("q1", first=1), asking.ask("q2")]
    assert pool.note_loss(asks, of_node=False)
    assert pool.losses == 1
    assert pool.history(asking.ask("q1", first=7)) == AskHistory(losses=1)
    assert pool.history(asking.ask("q3")) == AskHistory()
    pool.note_loss([asking.ask("q1")], of_node=False)
    assert pool.history(asking.ask("q1")) == AskHistory(losses=2)


def test_a_lost_node_is_nobodys_fault_unless_it_happens_again_and_again(asking):
    pool = pool_of()
    for _ in range(MOST_NODE_LOSSES):
        assert not pool.note_loss([asking.ask("q1"), asking.ask("q2")], of_node=True)
    assert pool.losses == 0
    assert not pool.note_loss([asking.ask("q3")], of_node=True)
    assert pool.note_loss([asking.ask("q1"), asking.ask("q4")], of_node=True)
    assert pool.losses == 1


def test_failures_count_by_ask(asking):
    pool = pool_of()
    pool.note_failure(asking.ask("q1"))
    assert pool.history(asking.ask("q1")).failures == 1
    assert pool.history(asking.ask("q1", first=1)).failures == 0


def test_a_state_says_what_the_judge_is_doing():
    pool = pool_of(n_slots=0)
    waiting = JudgeState.WAITING
    assert pool.state(waiting, finished=False, settled=False) is waiting
    pool.slots = pool_of(1).slots
    assert pool.state(waiting, finished=False, settled=False) is JudgeState.RUNNING
    pool.slots["a0"].ready = False
    assert pool.state(waiting, finished=False, settled=False) is JudgeState.STARTING
    assert pool.state(waiting, finished=True, settled=False) is waiting  # its wave comes later
    assert pool.state(JudgeState.RUNNING, finished=True, settled=True) is JudgeState.DONE
    pool.fatal_error = EngineError("no")
    assert pool.state(waiting, finished=True, settled=True) is JudgeState.FAILED
