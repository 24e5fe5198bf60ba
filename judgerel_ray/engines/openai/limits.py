"""What a provider may be asked at once and in a minute, kept for all who ask it.

A request counts from when it is let through. When it reaches the server is not known, but no later
than it is answered: so it counts until a minute after that, or after :data:`ARRIVAL_S` where the
answer takes longer than any request takes to arrive.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from judgerel_ray.config import Limits

WINDOW_S = 60.0
ARRIVAL_S = 5.0
FORGOTTEN_S = 30.0  # past its timeout: the process that held the permit is gone


class Limiter(Protocol):
    """Lets requests through while a provider's limits leave room."""

    async def enter(self, tokens: int) -> int:
        """Wait until a request of at most so many tokens may be sent; its permit."""
        ...

    async def leave(self, permit: int, tokens: int) -> None:
        """Give a permit back; `tokens` are those the request took in the end."""
        ...

    async def pause(self, seconds: float) -> None:
        """Let nothing through for so long: the server said to come back later."""
        ...


@dataclass(slots=True)
class _Held:
    """A request at the server."""

    since: float
    tokens: int
    holder: str


class SharedLimits:
    """A provider's limits, of one event loop; first come, first served."""

    def __init__(self, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._held: dict[int, _Held] = {}
        self._sent: list[float] = []
        self._spent: deque[tuple[float, int]] = deque()
        self._tokens = 0
        self._paused_until = 0.0
        self._gone: set[str] = set()
        self._last = random.getrandbits(48)  # of one that was lost, none is given back here

    async def enter(self, tokens: int, holder: str = "") -> int:
        """Wait until a request of at most so many tokens may be sent; its permit.

        `holder` is who sends it, of many.
        """
        async with self._turn:
            while holder not in self._gone and (wait := self._wait_for(tokens)) != 0.0:
                self._changed.clear()
                try:
                    async with asyncio.timeout(wait):
                        await self._changed.wait()
                except TimeoutError:
                    continue
            self._last += 1
            if holder not in self._gone:  # else nobody will send it
                self._held[self._last] = _Held(self._clock(), tokens, holder)
                self._tokens += tokens
            return self._last

    async def leave(self, permit: int, tokens: int) -> None:
        """Give a permit back; `tokens` are those the request took in the end."""
        self._end(permit, tokens)
        self._changed.set()

    async def release(self, holder: str) -> None:
        """Take back all permits of one who died: its connections went with it."""
        self._gone.add(holder)
        for permit, held in list(self._held.items()):
            if held.holder == holder:
                self._end(permit, held.tokens)
        self._changed.set()

    async def pause(self, seconds: float) -> None:
        """Let nothing through for so long: the server said to come back later."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _end(self, permit: int, tokens: int) -> None:
        """A request is no longer at the server; it counts a minute more."""
        held = self._held.pop(permit, None)
        if held is None:  # taken for lost meanwhile
            return
        now = self._clock()
        if self._limits.requests_per_minute is not None:
            self._sent.append(min(now, held.since + ARRIVAL_S) + WINDOW_S)
        self._spent.append((now + WINDOW_S, tokens))
        self._tokens += tokens - held.tokens

    def _wait_for(self, tokens: int) -> float:
        """Seconds until there may be room, at the latest; 0 is now."""
        now = self._clock()
        self._forget(now)
        if now < self._paused_until:
            return self._paused_until - now
        limits, waits = self._limits, [0.0]
        if len(self._held) >= limits.concurrency:
            return self._until_lost(now)
        if limits.requests_per_minute is not None:
            waits.append(self._until_sent(now, limits.requests_per_minute))
        most = limits.tokens_per_minute
        if most is not None and self._tokens and self._tokens + tokens > most:
            # One larger than the limit goes alone: nothing else would ever let it.
            waits.append(self._spent[0][0] - now if self._spent else self._until_lost(now))
        return max(waits)

    def _until_sent(self, now: float, most: float) -> float:
        """Seconds until one more request is within the limit of requests."""
        # Those at the server count as well: a minute from when they surely were there.
        held = [one.since + ARRIVAL_S + WINDOW_S for one in self._held.values()]
        until = [*self._sent, *(one for one in held if one > now)]
        return 0.0 if len(until) + 1 <= most else max(1e-3, min(until) - now)

    def _until_lost(self, now: float) -> float:
        """Seconds until the oldest request is taken for lost, unless it ends before."""
        first = min(held.since for held in self._held.values())
        return max(1e-3, first + self._limits.timeout + FORGOTTEN_S - now)

    def _forget(self, now: float) -> None:
        """Drop what no longer counts, and permits whose holders died."""
        for permit, held in list(self._held.items()):
            if now > held.since + self._limits.timeout + FORGOTTEN_S:
                self._end(permit, held.tokens)
        self._sent = [until for until in self._sent if until > now]
        while self._spent and self._spent[0][0] <= now:
            self._tokens -= self._spent.popleft()[1]
