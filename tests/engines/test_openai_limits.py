"""A provider's limits, with a clock that stands still until somebody waits."""

from __future__ import annotations

import asyncio
import random

import pytest

from judgerel_ray.config import Limits
from judgerel_ray.engines.openai.limits import ARRIVAL_S, WINDOW_S, SharedLimits


class Clock:
    """Seconds that pass when all wait: the event loop's own, sped up."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.now = 0.0
        self.loop.time = lambda: self.now
        select = self.loop._selector.select
        self.loop._selector.select = lambda timeout: self._pass(select, timeout)

    def _pass(self, select, timeout):
        self.now += timeout or 0.0
        return select(0)

    def run(self, work):
        try:
            return self.loop.run_until_complete(work)
        finally:
            self.loop.close()


@pytest.mark.parametrize("seed", range(6))
def test_no_window_ever_holds_more_than_the_limits(seed):
    drawn = random.Random(seed)
    rpm, tpm, most = drawn.choice([(7, None, 3), (20, 900, 5), (None, 500, 4), (30, 400, 50)])
    limits = Limits(
        concurrency=most, requests_per_minute=rpm, tokens_per_minute=tpm, timeout=30, deadline=600
    )
    clock = Clock()
    shared = SharedLimits(limits, clock=lambda: clock.now)
    arrivals: list[tuple[float, int]] = []
    here = peak = 0

    async def one() -> None:
        nonlocal here, peak
        at_most = drawn.randint(50, 120)
        permit = await shared.enter(at_most)
        here += 1
        peak = max(peak, here)
        travel, work = drawn.uniform(0, 2), drawn.uniform(0, 6)
        await asyncio.sleep(travel)
        spent = drawn.randint(10, at_most)
        arrivals.append((clock.now, spent))
        await asyncio.sleep(work)
        here -= 1
        await shared.leave(permit, spent)

    async def all_of() -> None:
        await asyncio.gather(*(one() for _ in range(60)))

    clock.run(all_of())
    arrivals.sort()
    assert len(arrivals) == 60
    assert peak <= most
    for start, _ in arrivals:
        inside = [spent for at, spent in arrivals if start <= at < start + WINDOW_S]
        assert rpm is None or len(inside) <= rpm
        assert tpm is None or sum(inside) <= tpm
    # And not kept waiting for nothing: within a quarter of what the limits allow.
    least = 60 / rpm * WINDOW_S if rpm else 0.0
    assert arrivals[-1][0] <= 1.25 * max(least, 60 * 120 / tpm * 60 if tpm else 0) + 130


def test_first_come_first_served_and_one_larger_than_the_limit_goes_alone():
    clock = Clock()
    shared = SharedLimits(Limits(concurrency=9, tokens_per_minute=100), clock=lambda: clock.now)
    order: list[int] = []

    async def one(number: int, tokens: int) -> None:
        permit = await shared.enter(tokens)
        order.append(number)
        await shared.leave(permit, tokens)

    async def all_of() -> None:
        sizes = [40, 250, 10]
        await asyncio.gather(*(one(i, tokens) for i, tokens in enumerate(sizes)))

    clock.run(all_of())
    assert order == [0, 1, 2]
    assert clock.now >= 2 * WINDOW_S - 1


def test_a_pause_holds_for_all():
    clock = Clock()
    shared = SharedLimits(Limits(), clock=lambda: clock.now)

    async def work() -> float:
        await shared.pause(12.0)
        await shared.enter(1)
        return clock.now

    assert clock.run(work()) == pytest.approx(12.0)


def test_a_permit_whose_holder_died_comes_back():
    clock = Clock()
    limits = Limits(concurrency=1, timeout=10, deadline=10)
    shared = SharedLimits(limits, clock=lambda: clock.now)

    async def work() -> float:
        lost = await shared.enter(1)
        await shared.enter(1)
        waited = clock.now
        await shared.leave(lost, 1)  # after all
        return waited

    assert 40 <= clock.run(work()) <= 41


def test_what_one_who_died_held_or_waited_for_is_given_to_others():
    async def work() -> None:
        shared = SharedLimits(Limits(concurrency=2))
        await shared.enter(1, "dead")
        held = await shared.enter(1, "dead")
        waiting = [asyncio.ensure_future(shared.enter(1, name)) for name in ("dead", "b", "c")]
        await asyncio.sleep(0)
        await shared.release("dead")
        await asyncio.wait_for(asyncio.gather(*waiting), 5)
        await shared.leave(held, 1)  # a word that was on its way
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(shared.enter(1, "d"), 0.05)  # b and c are at the server

    asyncio.run(work())


def test_a_long_request_counts_from_when_it_surely_came():
    clock = Clock()
    limits = Limits(requests_per_minute=1, timeout=100)
    shared = SharedLimits(limits, clock=lambda: clock.now)

    async def work() -> float:
        permit = await shared.enter(1)
        await asyncio.sleep(50)
        await shared.leave(permit, 1)
        await shared.enter(1)
        return clock.now

    assert clock.run(work()) == pytest.approx(ARRIVAL_S + WINDOW_S)


def test_a_wait_that_is_cancelled_takes_nothing():
    async def work() -> None:
        shared = SharedLimits(Limits(concurrency=1))
        first = await shared.enter(1)
        waiting = [asyncio.ensure_future(shared.enter(1)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        waiting[1].cancel()
        await shared.leave(first, 1)
        second = await asyncio.wait_for(waiting[2], 5)
        assert second > first

    asyncio.run(work())
