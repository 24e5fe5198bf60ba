"""Limits of a provider kept by another process, and what an engine is given of them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from judgerel_ray.config import Limits
from judgerel_ray.engines import EngineSpec, make_engine
from judgerel_ray.engines.openai.limits import SharedLimits
from judgerel_ray.fleet.limiting import LimitsShare, Providers, RemoteLimiter, share_limits

SPEC = EngineSpec(
    name="j", engine="openai", model="m", base_url="http://h/v1", limits=Limits(concurrency=2)
)


class FakeActor:
    """An actor of this process: its calls are awaited like Ray's."""

    def __init__(self, limits: Limits) -> None:
        self.kept = SharedLimits(limits)
        self.calls: list[str] = []
        for name in ("enter", "leave", "pause"):
            setattr(self, name, SimpleNamespace(remote=self._call(name)))

    def _call(self, name):
        def remote(*values):
            self.calls.append(name)
            return asyncio.ensure_future(getattr(self.kept, name)(*values))

        return remote


def test_requests_of_one_engine_ask_one_after_the_other_and_in_order():
    async def work():
        actor = FakeActor(Limits(concurrency=2))
        limiter = RemoteLimiter(actor, "a")
        order = []

        async def one(number):
            permit = await limiter.enter(1)
            order.append(number)
            await asyncio.sleep(0.01)
            await limiter.leave(permit, 1)

        await asyncio.gather(*(one(i) for i in range(8)))
        await limiter.pause(0.0)
        return order, actor.calls

    order, calls = asyncio.run(work())
    assert order == list(range(8))
    assert (calls.count("enter"), calls.count("leave"), calls.count("pause")) == (8, 8, 1)


def test_a_permit_for_somebody_who_left_is_given_back():
    async def work():
        actor = FakeActor(Limits(concurrency=1))
        limiter = RemoteLimiter(actor, "a")
        held = await limiter.enter(1)
        waiting = asyncio.ensure_future(limiter.enter(1))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await limiter.leave(held, 1)
        return await asyncio.wait_for(limiter.enter(1), 5)

    assert asyncio.run(work())


def test_only_engines_that_ask_a_server_are_given_a_limiter():
    served = make_engine(SPEC)
    own = served.limiter
    share_limits(served, None)
    assert served.limiter is own
    share_limits(served, LimitsShare(None, "a"))
    assert isinstance(served.limiter, RemoteLimiter)
    simulated = EngineSpec(name="j", engine="simulated", model="uniform")
    assert Providers().share_of(simulated, "a") is None
    assert Providers().release(simulated, "a") is None


def ask_until_gone(ray, actor):
    """Ask an actor again and again: its kill is only on its way when `close` returns."""
    for _ in range(600):
        ray.get(actor.pause.remote(0.0))
        time.sleep(0.1)


@pytest.mark.ray
def test_one_actor_keeps_the_limits_of_all_judges_of_a_provider(ray_local):
    providers = Providers()
    first = providers.share_of(SPEC, "one").actor
    same = EngineSpec(name="k", engine="openai", model="n", base_url=SPEC.base_url)
    other = EngineSpec(
        name="l", engine="openai", model="m", base_url=SPEC.base_url, api_key_env="KEY"
    )
    assert providers.share_of(same, "two").actor is first
    assert providers.share_of(other, "three").actor is not first

    async def work():
        one, two = RemoteLimiter(first, "one"), RemoteLimiter(first, "two")
        held = [await one.enter(5), await two.enter(5)]
        third = asyncio.ensure_future(two.enter(5))
        await asyncio.sleep(0.3)
        assert not third.done()
        await one.leave(held[0], 5)
        await asyncio.wait_for(third, 20)
        providers.release(same, "two")  # it was killed, and held both
        return [await asyncio.wait_for(one.enter(5), 20) for _ in range(2)]

    assert asyncio.run(work())
    providers.close()
    with pytest.raises(ray_local.exceptions.RayActorError):
        ask_until_gone(ray_local, first)


@pytest.mark.slow
@pytest.mark.ray
def test_runs_on_one_cluster_share_a_providers_limits(ray_local):
    runs = [Providers(), Providers()]
    one, two = (run.share_of(SPEC, f"actor {place}") for place, run in enumerate(runs))
    assert one.actor._actor_id == two.actor._actor_id

    async def work():
        first, second = (RemoteLimiter(share.actor, share.holder) for share in (one, two))
        held = [await first.enter(5), await second.enter(5)]
        third = asyncio.ensure_future(second.enter(5))
        await asyncio.sleep(0.3)
        assert not third.done()  # two at once, of both runs
        await first.leave(held[0], 5)
        return await asyncio.wait_for(third, 20)

    assert asyncio.run(work())
    runs[0].close()  # the other run still asks
    runs[1].release(SPEC, "actor 1")
    tighter = replace(SPEC, limits=Limits(concurrency=1))
    assert ray_local.get(two.actor.enter.remote(5, "another"), timeout=20)
    later = Providers()
    assert later.share_of(tighter, "a third").actor._actor_id == one.actor._actor_id
    for run in (later, runs[1]):
        run.close()
    with pytest.raises(ray_local.exceptions.RayActorError):
        ask_until_gone(ray_local, two.actor)
    fresh = Providers().share_of(SPEC, "the first of others")
    assert fresh.actor._actor_id != one.actor._actor_id
    ray_local.kill(fresh.actor)
