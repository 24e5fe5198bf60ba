"""Providers of judges: their limits, shared by all actors that ask them, and what serves there.

The limits of a provider are kept by one small Ray actor, for all runs on a cluster.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from hashlib import blake2b
from typing import Any, NamedTuple

from judgerel_ray.config import Limits
from judgerel_ray.core import EngineError
from judgerel_ray.engines import Engine, EngineSpec
from judgerel_ray.engines.openai.engine import OpenAIEngine
from judgerel_ray.engines.openai.limits import SharedLimits

MOST_WAITING = 10_000  # calls of one provider's actor at once: one a judge actor, and those leaving
NAMESPACE = "judgerel"  # of the names under which runs find a provider's actor
PART_S = 30.0
TRIES = 5  # to join an actor: it may be about to end with the last run before
Provider = tuple[str | None, str | None]


class LimitsShare(NamedTuple):
    """What keeps a provider's limits, an actor or an object, and the name to ask it under."""

    actor: Any
    holder: str


class HeldLimiter:
    """A provider's limits, kept on this loop, for one of those who hold permits."""

    def __init__(self, limits: SharedLimits, holder: str) -> None:
        self._holder = holder
        self._limits, self.leave, self.pause = limits, limits.leave, limits.pause

    async def enter(self, tokens: int) -> int:
        """Wait until a request of at most so many tokens may be sent; its permit."""
        return await self._limits.enter(tokens, self._holder)


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
        return int(await self._actor.enter.remote(tokens, self._holder))

    def _give_back(self, asked: asyncio.Future[int]) -> None:
        """A permit that came too late is nobody's."""
        if not asked.cancelled() and asked.exception() is None:
            self._actor.leave.remote(asked.result(), 0)


class ProviderLimits(SharedLimits):
    """A provider's limits and the runs that keep to them; one Ray actor of a cluster."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._runs: set[str] = set()
        self._ends = False

    async def join(self, run: str, limits: Limits) -> bool:
        """Count a run in; False where the last one has left meanwhile.

        The limits of the run that joined last hold for all.
        """
        self._runs.add(run)
        self._limits = limits
        return not self._ends

    async def part(self, run: str) -> bool:
        """Count a run out; whether it was the last."""
        self._runs.discard(run)
        self._ends = not self._runs
        return self._ends


class Providers:
    """The actors that keep the limits of the providers that a run asks.

    Runs on one cluster share them. The last run ends them; one that was killed leaves them there,
    idle and without a CPU of their own.
    """

    def __init__(self) -> None:
        self._actors: dict[Provider, Any] = {}
        self._run = secrets.token_hex(8)

    def share_of(self, spec: EngineSpec, holder: str) -> LimitsShare | None:
        """A judge actor's part in the limits of its provider; None for a judge with none.

        Effects: joins the cluster's actor of the provider, or makes it.
        """
        if spec.engine != "openai":
            return None
        provider = (spec.base_url, spec.api_key_env)
        if provider not in self._actors:
            self._actors[provider] = self._joined(provider, spec.limits or Limits())
        return LimitsShare(self._actors[provider], holder)

    def _joined(self, provider: Provider, limits: Limits) -> Any:
        """The actor of a provider, this run counted in."""
        import ray

        name = blake2b(repr(provider).encode(), digest_size=16).hexdigest()
        options: dict[str, Any] = {
            "name": f"limits-{name}",
            "namespace": NAMESPACE,
            "get_if_exists": True,
            "lifetime": "detached",
            "num_cpus": 0,
            "max_concurrency": MOST_WAITING,
            # A new one starts with empty minutes, and is better than a judge that is given up.
            "max_restarts": -1,
            "max_task_retries": -1,
        }
        for _ in range(TRIES):
            actor = ray.remote(ProviderLimits).options(**options).remote(limits)
            try:
                if ray.get(actor.join.remote(self._run, limits)):
                    return actor
            except ray.exceptions.ActorDiedError:
                continue
        raise EngineError("limits of a provider: its actor ended again and again")

    def release(self, spec: EngineSpec, holder: str) -> None:
        """Take back what a judge actor that was killed held."""
        actor = self._actors.get((spec.base_url, spec.api_key_env))
        if actor is not None:
            actor.release.remote(holder)

    def close(self) -> None:
        """Leave the actors; those that no other run asks end."""
        import ray

        for actor in self._actors.values():
            # One that does not answer is on a node that is gone; Ray makes it again for others.
            with suppress(ray.exceptions.RayError):
                if ray.get(actor.part.remote(self._run), timeout=PART_S):
                    ray.kill(actor)
        self._actors.clear()


def seen_backends(engine: Engine) -> dict[str, object]:
    """What a server said was behind its model's name so far; nothing of other engines."""
    known = sorted(engine.backends) if isinstance(engine, OpenAIEngine) else []
    return {"backends": known} if known else {}


def share_limits(engine: Engine, share: LimitsShare | None) -> None:
    """Let an engine ask what keeps its provider's limits, where there is one."""
    if share is not None and isinstance(engine, OpenAIEngine):
        is_here = isinstance(share.actor, SharedLimits)
        engine.limiter = (HeldLimiter if is_here else RemoteLimiter)(share.actor, share.holder)
