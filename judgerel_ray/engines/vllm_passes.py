"""Passes over a prompt, as vLLM answers them, and what they compute."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from judgerel_ray.engines.engine import JSON


class Logprob(Protocol):
    """A token's log-probability, as vLLM gives it."""

    logprob: float
    rank: int | None


class ScoredSample(Protocol):
    """A sample of a request; of a pass there is one."""

    index: int
    token_ids: Sequence[int]
    text: str
    finish_reason: str | None
    logprobs: Sequence[Mapping[int, Logprob]] | None


class ScoredOutput(Protocol):
    """A finished pass."""

    outputs: Sequence[ScoredSample]
    num_cached_tokens: int | None
    prompt_logprobs: Sequence[Mapping[int, Logprob] | None] | None


Send = Callable[[tuple[int, ...], dict[str, JSON]], Awaitable[ScoredOutput]]


class Computed:
    """Counts the prompt tokens that passes compute, as the engine tells of each.

    ``tokens`` is None once an output did not tell.

    Examples
    --------
    >>> computed = Computed()
    >>> computed.add(100, 96)
    >>> computed.tokens
    4
    """

    def __init__(self) -> None:
        self.tokens: int | None = 0

    def add(self, n_prompt: int, n_cached: int | None) -> None:
        """Add a pass over so many tokens, of which so many were cached."""
        if self.tokens is not None:
            self.tokens = None if n_cached is None else self.tokens + n_prompt - n_cached

    def over(self, send: Send) -> Send:
        """Send as before, and count."""

        async def counted(ids: tuple[int, ...], asked: dict[str, JSON]) -> ScoredOutput:
            output = await send(ids, asked)
            self.add(len(ids), output.num_cached_tokens)
            return output

        return counted
