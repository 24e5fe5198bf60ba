"""Probabilities from vLLM: what it is sent, and how what it answers is read.

Log-probabilities of chosen tokens keep the prefix cache; those of prompt tokens switch it off, so
they are asked for only where a prompt holds the option already.

Passes over a prompt, as vLLM answers them, and what they compute.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from judgerel_ray.core import (
    Ask,
    Completion,
    EngineError,
    RequestRefused,
    Scoring,
    TokenLogprob,
    request_key,
)
from judgerel_ray.engines.engine import JSON, NEUTRAL, Prepared
from judgerel_ray.engines.next_tokens import option_passes, path_logprobs


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


MOST_WANTED = 128  # tokens vLLM gives log-probabilities of in one pass


class OneKind:
    """Lets passes of one kind run together, and never passes of two.

    vLLM's first model runner gives a request for the most probable tokens wrong ones while a
    request for chosen tokens is in the same batch.
    """

    def __init__(self) -> None:
        self._kind = ""
        self._n_running = 0
        self._changed = asyncio.Condition()

    @contextlib.asynccontextmanager
    async def of(self, kind: str) -> AsyncIterator[None]:
        """Wait until no pass of another kind runs."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._kind == kind or not self._n_running)
            self._kind = kind
            self._n_running += 1
        try:
            yield
        finally:
            async with self._changed:
                self._n_running -= 1
                self._changed.notify_all()


def scoring_arguments(**asked: JSON) -> dict[str, JSON]:
    """Sampling parameters of a pass: one greedy token that nobody reads, and what to list."""
    return {
        "n": 1,
        "temperature": 0.0,
        "top_k": 0,
        "top_p": 1.0,
        **NEUTRAL,
        "seed": None,
        "max_tokens": 1,
        "ignore_eos": True,
        "detokenize": False,
        **asked,
    }


async def score(
    scoring: Scoring,
    prepared: Prepared,
    send: Send,
    kinds: OneKind,
    token_texts: Callable[[Sequence[int]], list[str]],
) -> tuple[TokenLogprob, ...]:
    """Make the passes a scoring needs and read them."""
    ids = prepared.token_ids or ()
    if scoring.kind == "next":
        async with kinds.of("next"):
            output = await send(ids, scoring_arguments(logprobs=scoring.top))
        return _most_probable_vllm_tokens(first_step(output, prepared), scoring.top, token_texts)
    if scoring.kind == "inserted":
        (tokens,) = prepared.continuations
        async with kinds.of("inserted"):
            output = await send((*ids, *tokens), scoring_arguments(prompt_logprobs=0))
        return _inserted_vllm_tokens(output, len(ids), tokens, prepared, token_texts)
    seen: dict[tuple[int, ...], dict[int, float]] = {}

    async def look(before: tuple[int, ...], wanted: tuple[int, ...]) -> None:
        for first in range(0, len(wanted), MOST_WANTED):
            part = list(wanted[first : first + MOST_WANTED])
            async with kinds.of("options"):
                output = await send((*ids, *before), scoring_arguments(logprob_token_ids=part))
            found = first_step(output, prepared)
            for token in part:
                seen.setdefault(before, {})[token] = _vllm_token_logprob(
                    found, token, prepared
                ).logprob

    await asyncio.gather(
        *(look(one.before, one.wanted) for one in option_passes(prepared.continuations))
    )
    paths = path_logprobs(prepared.continuations, seen)
    return tuple(
        TokenLogprob(token=text, logprob=logprob, continuation=place)
        for place, (tokens, logprobs) in enumerate(zip(prepared.continuations, paths, strict=True))
        for text, logprob in zip(token_texts(tokens), logprobs, strict=True)
    )


def scored(
    prepared: Prepared,
    ask: Ask,
    logprobs: tuple[TokenLogprob, ...],
    text: str = "",
    *,
    computed: int | None = None,
) -> Completion:
    """Write what was read as the completion of the ask's one replication."""
    if ask.n != 1:
        raise RequestRefused(f"scoring: expected 1 replication, got {ask.n}")
    condition = ask.condition
    return Completion(
        key=request_key(prepared.condition_key, ask.first),
        replication=ask.first,
        seed=None if condition.temperature == 0 else condition.seed_base + ask.first,
        text=text,
        finish_reason="stop",
        prompt_tokens=prepared.prompt_tokens,
        cached_tokens=None if computed is None else max(0, prepared.prompt_tokens - computed),
        completion_tokens=0,
        logprobs=logprobs,
    )


def steps_of(output: ScoredOutput, prepared: Prepared) -> Sequence[Mapping[int, Logprob]]:
    """Log-probabilities at every token a pass made; EngineError where there are none."""
    steps = output.outputs[0].logprobs if output.outputs else None
    if not steps:
        raise EngineError(
            "engine gave no log-probabilities", where={"condition": prepared.condition_key}
        )
    return steps


def first_step(output: ScoredOutput, prepared: Prepared) -> Mapping[int, Logprob]:
    """Log-probabilities at the first token a pass made; EngineError where there are none."""
    return steps_of(output, prepared)[0]


def _vllm_token_logprob(found: Mapping[int, Logprob], token: int, prepared: Prepared) -> Logprob:
    """One token's, or an error that leaves the request pending."""
    if token not in found:
        raise EngineError(
            f"engine left out the log-probability of token {token}",
            where={"condition": prepared.condition_key},
        )
    return found[token]


def _most_probable_vllm_tokens(
    found: Mapping[int, Logprob], top: int, token_texts: Callable[[Sequence[int]], list[str]]
) -> tuple[TokenLogprob, ...]:
    """The most probable tokens, most probable first; ties by token, so that a run repeats."""
    # One more than asked for stands there where the sampled token is not among them.
    best = sorted(found, key=lambda token: (-found[token].logprob, token))[:top]
    return tuple(
        TokenLogprob(token=text, logprob=found[token].logprob, rank=place)
        for place, (token, text) in enumerate(zip(best, token_texts(best), strict=True), start=1)
    )


def _inserted_vllm_tokens(
    output: ScoredOutput,
    n_prompt: int,
    tokens: tuple[int, ...],
    prepared: Prepared,
    token_texts: Callable[[Sequence[int]], list[str]],
) -> tuple[TokenLogprob, ...]:
    """The inserted tokens' own log-probabilities, as parts of the prompt."""
    steps = (output.prompt_logprobs or ())[n_prompt:]
    if len(steps) != len(tokens):
        raise EngineError(
            f"engine gave log-probabilities of {len(steps)} of {len(tokens)} inserted tokens",
            where={"condition": prepared.condition_key},
        )
    return tuple(
        TokenLogprob(
            token=text,
            logprob=_vllm_token_logprob(step or {}, token, prepared).logprob,
            continuation=0,
        )
        for step, token, text in zip(steps, tokens, token_texts(tokens), strict=True)
    )
