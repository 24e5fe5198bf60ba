"""How much an actor has in flight: bounded by tokens and by sequences, first come first served."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple


class AskLoad(NamedTuple):
    """What one ask lays upon an engine."""

    prompt: int
    """Tokens of its prompt, which its replications share."""

    new: int
    """Tokens that its replications may have at most, together."""

    sequences: int
    """Replications."""


@dataclass(slots=True)
class _Waiting:
    load: AskLoad
    turn: asyncio.Future[None]


class TokenGate:
    """Admit asks in order while tokens and sequences in flight stay within bounds.

    First come first served keeps an item's asks adjacent in time, while its prefix is hot. An ask
    larger than the bounds is admitted alone, never refused.

    New tokens count by the share of their maximum that replies have taken so far, and in full
    until there are replies to go by: a judge that may think for 4,096 tokens and answers in 50
    would otherwise leave its engine nearly empty. Where replies turn out longer than those before
    them, the engine puts the last ones off.
    """

    def __init__(self, *, tokens: int, sequences: int) -> None:
        self._max_tokens = tokens
        self._max_sequences = sequences
        self._inside = AskLoad(0, 0, 0)
        self._allowed = self._taken = 0
        self._queue: deque[_Waiting] = deque()

    async def enter(self, load: AskLoad) -> None:
        """Wait for room."""
        if not self._queue and self._fits(load):
            self._count(load, 1)
            return
        waiting = _Waiting(load, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        try:
            await waiting.turn
        except asyncio.CancelledError:
            if waiting.turn.cancelled():
                self._wake()  # it may have stood before one that fits
            else:
                self.leave(load)
            raise

    def learn(self, *, allowed: int, taken: int) -> None:
        """Count tokens of replies that ended: what they were allowed to take, and what they took.

        Felt by those that wait when the next one leaves.
        """
        self._allowed += allowed
        self._taken += taken

    def leave(self, load: AskLoad) -> None:
        """Give the room back."""
        self._count(load, -1)
        self._wake()

    def _fits(self, load: AskLoad) -> bool:
        """Whether there is room, or nothing else is in flight."""
        inside = self._inside
        if inside.sequences == 0:
            return True
        share = self._taken / self._allowed if self._taken else 1
        return (
            inside.prompt + load.prompt + share * (inside.new + load.new) <= self._max_tokens
            and inside.sequences + load.sequences <= self._max_sequences
        )

    def _count(self, load: AskLoad, sign: int) -> None:
        """Count an ask as in flight (``sign`` 1), or no longer (-1)."""
        self._inside = AskLoad(*(a + sign * b for a, b in zip(self._inside, load, strict=True)))

    def _wake(self) -> None:
        """Admit as many of those that wait as there is room for, in order."""
        while self._queue:
            waiting = self._queue[0]
            # Cancelled a moment ago; its own coroutine may not have run since.
            if not waiting.turn.cancelled():
                if not self._fits(waiting.load):
                    return
                self._count(waiting.load, 1)
                waiting.turn.set_result(None)
            self._queue.popleft()
