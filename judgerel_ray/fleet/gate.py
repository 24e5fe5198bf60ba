"""How much an actor has in flight: bounded by tokens and by sequences, first come first served."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass


@dataclass(slots=True)
class _Waiting:
    tokens: int
    sequences: int
    turn: asyncio.Future[None]


class TokenGate:
    """Admit asks in order while tokens and sequences in flight stay within bounds.

    First come first served keeps an item's asks adjacent in time, while its prefix is hot. An ask
    larger than the bounds is admitted alone, never refused.

    Parameters
    ----------
    tokens : int
        Prompt and new tokens in flight, at most.
    sequences : int
        Replications in flight, at most.
    """

    def __init__(self, *, tokens: int, sequences: int) -> None:
        self._max_tokens = tokens
        self._max_sequences = sequences
        self._tokens = 0
        self._sequences = 0
        self._queue: deque[_Waiting] = deque()

    async def enter(self, *, tokens: int, sequences: int) -> None:
        """Wait for room."""
        if not self._queue and self._fits(tokens, sequences):
            self._take(tokens, sequences)
            return
        waiting = _Waiting(
            tokens=tokens, sequences=sequences, turn=asyncio.get_running_loop().create_future()
        )
        self._queue.append(waiting)
        try:
            await waiting.turn
        except asyncio.CancelledError:
            if waiting.turn.cancelled():
                self._wake()  # it may have stood before one that fits
            else:
                self.leave(tokens=tokens, sequences=sequences)
            raise

    def leave(self, *, tokens: int, sequences: int) -> None:
        """Give the room back."""
        self._tokens -= tokens
        self._sequences -= sequences
        self._wake()

    def _fits(self, tokens: int, sequences: int) -> bool:
        """Whether there is room, or nothing else is in flight."""
        if self._sequences == 0:
            return True
        return (
            self._tokens + tokens <= self._max_tokens
            and self._sequences + sequences <= self._max_sequences
        )

    def _take(self, tokens: int, sequences: int) -> None:
        """Count an ask as in flight."""
        self._tokens += tokens
        self._sequences += sequences

    def _wake(self) -> None:
        """Admit as many of those that wait as there is room for, in order."""
        while self._queue:
            waiting = self._queue[0]
            # Cancelled a moment ago; its own coroutine may not have run since.
            if not waiting.turn.cancelled():
                if not self._fits(waiting.tokens, waiting.sequences):
                    return
                self._take(waiting.tokens, waiting.sequences)
                waiting.turn.set_result(None)
            self._queue.popleft()
