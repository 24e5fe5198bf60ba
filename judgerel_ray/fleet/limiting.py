"""Providers of judges: their limits, shared by all actors that ask them, and what serves there.

The limits of a provider are kept by one small Ray actor.
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from judgerel_ray.config import Limits
from judgerel_ray.engines import Engine, EngineSpec
from judgerel_ray.engines.openai.engine import OpenAIEngine
from judgerel_ray.engines.openai.limits import SharedLimits

MOST_WAITING = 10_000  # calls of one provider's actor at once: one a judge actor, and those leaving
Provider = tuple[str | None, str | None]


class Share(NamedTuple):
    """The actor that keeps a provider's limits, and the name under which one asks it."""

    actor: Any
    holder: str


class RemoteLimiter:
    """A provider's limits, kept by another process.

    One request at a time asks for its turn, so that those of one engine stay in order.
    """

    def __init__(self, actor: Any, holder: str) -> None:
        self._actor = actor
        self._holder = holder
        self._turn = asyncio.Lock()

    async def enter(self, tokens: int) -> int:
        """Wait until a request of at most so many tokens may be sent; its permit."""
        async with self._turn:
            asked = asyncio.ensure_future(self._ask(tokens))
            try:
                return await asyncio.shield(asked)
            except asyncio.CancelledError:
                asked.add_done_callback(self._give_back)
                raise

    async def leave(self, permit: int, tokens: int) -> None:
        """Give a permit back; `tokens` are those the request took in the end."""
        self._actor.leave.remote(permit, tokens)  # nobody waits for it

    async def pause(self, seconds: float) -> None:
        """Let nothing through for so long: the server said to come back later."""
        await self._actor.pause.remote(seconds)

    async def _ask(self, tokens: int) -> int:
        """Ask for a permit."""
        return int(await self._actor.enter.remote(tokens, self._holder))

    def _give_back(self, asked: asyncio.Future[int]) -> None:
        """A permit that came too late is nobody's."""
        if not asked.cancelled() and asked.exception() is None:
            self._actor.leave.remote(asked.result(), 0)


class Providers:
    """The actors that keep the limits of a run's providers; the driver holds them."""

    def __init__(self) -> None:
        self._actors: dict[Provider, Any] = {}

    def share_of(self, spec: EngineSpec, holder: str) -> Share | None:
        """A judge actor's part in the limits of its provider; None for a judge with none.

        Effects: makes the actor where it is the first judge of its provider.
        """
        import ray

        if spec.engine != "openai":
            return None
        provider = (spec.base_url, spec.api_key_env)
        if provider not in self._actors:
            options = {
                "num_cpus": 0,
                "max_concurrency": MOST_WAITING,
                # A new one starts with empty minutes, and is better than a judge that is given up.
                "max_restarts": -1,
                "max_task_retries": -1,
            }
            kept = ray.remote(SharedLimits).options(**options)
            self._actors[provider] = kept.remote(spec.limits or Limits())
        return Share(self._actors[provider], holder)

    def release(self, spec: EngineSpec, holder: str) -> None:
        """Take back what a judge actor that was killed held."""
        actor = self._actors.get((spec.base_url, spec.api_key_env))
        if actor is not None:
            actor.release.remote(holder)

    def close(self) -> None:
        """End the actors."""
        import ray

        for actor in self._actors.values():
            ray.kill(actor)
        self._actors.clear()


def seen_backends(engine: Engine) -> dict[str, object]:
    """What a server said was behind its model's name so far; nothing of other engines.

    Examples
    --------
    >>> from judgerel_ray.engines import make_engine
    >>> seen_backends(make_engine(EngineSpec(name="j", engine="simulated", model="uniform")))
    {}
    """
    known = sorted(engine.backends) if isinstance(engine, OpenAIEngine) else []
    return {"backends": known} if known else {}


def share_limits(engine: Engine, share: Share | None) -> None:
    """Let an engine ask the actor that keeps its provider's limits, where there is one.

    Examples
    --------
    >>> from judgerel_ray.engines import make_engine
    >>> share_limits(make_engine(EngineSpec(name="j", engine="simulated", model="uniform")), None)
    """
    if share is not None and isinstance(engine, OpenAIEngine):
        engine.limiter = RemoteLimiter(share.actor, share.holder)
