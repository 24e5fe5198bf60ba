"""A judge whose truth is known: it answers from a stated distribution, on no hardware.

What it answers to one replication depends on its seed, the condition's key and the replication
alone, so any number of engines, in any order, give the same completion for the same key. It also
fails in the ways engines fail, on demand, and counts tokens as an engine with a prefix cache does.

What a simulated judge may answer, at every temperature: its stated distribution, exactly.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, NoReturn

from judgerel_ray.core import (
    Ask,
    Completion,
    Condition,
    EngineError,
    EngineLost,
    EngineStartError,
    Menu,
    RequestRefused,
    TokenCounts,
    TokenLogprob,
    request_key,
)
from judgerel_ray.engines.engine import EngineFacts, EngineSpec, Prepared, cut_after
from judgerel_ray.engines.fingerprint import SIMULATION_VERSION
from judgerel_ray.engines.simulated.options import SimulatedOptions, simulated_options
from judgerel_ray.engines.simulated.replies import (
    CHARACTERS_PER_TOKEN,
    THINKING_FORMS,
    count_tokens,
    draw_replies,
    thinking_replies,
)
from judgerel_ray.engines.simulated.truth import (
    judged_thing,
    option_log_weights,
    reasoned,
    tempered,
)
from judgerel_ray.protocols import as_plain, read_verdict

_NEVER = -1e4  # log-probability of what cannot be: infinities do not survive every file format


def scored_logprobs(
    model: str, options: SimulatedOptions, condition: Condition
) -> tuple[TokenLogprob, ...]:
    """Log-probabilities a condition's scoring asks for, each option being one token."""
    menu, scoring = condition.menu, condition.scoring
    if menu is None or scoring is None:
        raise RequestRefused("simulated: nothing to score", where={"item": condition.item_id})
    weights = option_log_weights(model, options, item_id=condition.item_id, menu=menu)
    moved = tuple(
        weight + (options.suggestibility if option_id == condition.argued else 0.0)
        for weight, option_id in zip(weights, menu.option_ids, strict=True)
    )
    spoken = 1 - options.refuse - options.unparsed
    probable = [_simulated_token_log(share * spoken) for share in tempered(moved, 1.0)]
    if scoring.kind == "next":
        best = sorted(range(len(probable)), key=lambda place: -probable[place])[: scoring.top]
        return tuple(
            TokenLogprob(token=menu.labels[place], logprob=probable[place], rank=rank)
            for rank, place in enumerate(best, start=1)
        )
    return tuple(
        TokenLogprob(
            token=text, logprob=probable[_simulated_option_place(text, menu)], continuation=number
        )
        for number, text in enumerate(scoring.continuations)
    )


def simulated_logprobs(
    model: str, options: SimulatedOptions, condition: Condition, replication: int
) -> tuple[TokenLogprob, ...]:
    """Log-probabilities of the options where a reply writes its verdict, before any temperature.

    Tempered at the condition's temperature they are the distribution its verdict was drawn from.
    """
    menu = condition.menu
    if menu is None:
        return ()
    weights = option_log_weights(model, options, item_id=condition.item_id, menu=menu)
    shares = reasoned(tempered(weights, condition.temperature), options, condition, replication)
    # Raised to the temperature, so that tempering gives them back; greedy ones are as they are.
    raw = tempered(weights, 1.0)
    if condition.temperature > 0:
        powers = [share**condition.temperature for share in shares]
        raw = tuple(power / sum(powers) for power in powers)
    best = sorted(range(len(raw)), key=lambda place: -raw[place])
    return tuple(
        TokenLogprob(
            token=menu.labels[p], logprob=_simulated_token_log(raw[p]), rank=rank, continuation=p
        )
        for rank, p in enumerate(best, start=1)
    )


def _simulated_option_place(text: str, menu: Menu) -> int:
    """The option a continuation stands for: the longest label it begins with."""
    begun: Sequence[int] = [n for n, label in enumerate(menu.labels) if text.startswith(label)]
    if not begun:
        raise RequestRefused(f"simulated: {text!r} begins with no label of {menu.labels}")
    return max(begun, key=lambda n: len(menu.labels[n]))


def _simulated_token_log(probability: float) -> float:
    """Natural log, bounded below."""
    return max(math.log(probability), _NEVER) if probability > 0 else _NEVER


def tree_findings(model: str, options: SimulatedOptions, condition: Condition) -> str:
    """Write down the distribution, as :func:`judgerel_ray.engines.next_tokens.explore` does."""
    menu, scoring = condition.menu, condition.scoring
    if menu is None or scoring is None:
        raise RequestRefused("simulated: nothing to explore", where={"item": condition.item_id})
    weights = option_log_weights(model, options, item_id=judged_thing(condition), menu=menu)
    silent = options.refuse + options.unparsed
    low = []
    for temperature in scoring.temperatures:
        # As it draws replies: whether there is a verdict does not depend on the temperature, but
        # for the greedy reply, which is of the likeliest kind.
        none = silent
        if temperature == 0:
            none = 0.0 if 1 - silent >= max(options.refuse, options.unparsed) else 1.0
        low.append([*(share * (1 - none) for share in tempered(weights, temperature)), none])
    return json.dumps(
        {
            "temperatures": list(scoring.temperatures),
            "verdicts": [*menu.option_ids, None],
            "low": low,
            "high": low,
            "estimate": None,
            "undecided": [0.0] * len(low),
            "passes": 1,
        }
    )


BLOCK_TOKENS = 16
_EXIT_STATUS = 70


class SimulatedEngine:
    """An engine without a model."""

    def __init__(self, spec: EngineSpec) -> None:
        self.spec = spec
        self.options = simulated_options(spec)
        self._counts = TokenCounts()
        self._cached_blocks: set[bytes] = set()
        self._n_asked = 0
        self._lost = False
        self._busy_until = 0.0

    def __repr__(self) -> str:
        return f"SimulatedEngine({self.spec.name!r})"

    async def start(self) -> EngineFacts:
        """Say what it is; EngineStartError where ``fails_start`` is set."""
        if self.options.fails_start:
            raise EngineStartError(
                "engine did not start: told not to", where={"judge": self.spec.name}
            )
        return EngineFacts(
            engine="simulated",
            engine_version=str(SIMULATION_VERSION),
            model=self.spec.model,
            device="none",
            max_model_len=self.spec.max_model_len,
            block_size=BLOCK_TOKENS,
            prefix_caching=True,
            engine_seed=self.options.seed,
            start_seconds=0.0,
        )

    def prepare(self, condition: Condition) -> Prepared:
        """Write the prompt as plain text and estimate its tokens."""
        if condition.scoring is not None and not self.options.logprobs:
            raise RequestRefused("no_logprobs: the engine gives no log-probabilities")
        text = as_plain(condition.prompt)
        n_tokens = count_tokens(text)
        longest = self.spec.max_model_len
        if longest is not None and n_tokens + condition.max_tokens > longest:
            raise RequestRefused(
                f"prompt_too_long: {n_tokens} prompt + {condition.max_tokens} new tokens > "
                f"{longest}",
                where={"prompt_tokens": n_tokens},
            )
        return Prepared(
            condition_key=condition.condition_key,
            text=text,
            token_ids=None,
            prompt_tokens=n_tokens,
        )

    async def complete(self, prepared: Prepared, ask: Ask) -> tuple[Completion, ...]:
        """Draw every replication of an ask.

        Notes
        -----
        Effects: may leave the process (``dies = "exit"``). Retry: safe; a key's answer is fixed.
        """
        await self._misfortune(ask)
        scoring = ask.condition.scoring
        if scoring is not None and scoring.kind != "verdict":
            return (await self._scored(prepared, ask),)
        menu = ask.condition.menu
        draw = thinking_replies if menu and menu.form in THINKING_FORMS else draw_replies
        replies = draw(self.spec.model, self.options, ask)
        cached = self._prefill(prepared, ask.n)
        cut = {
            reply: _cut_simulated_reply(ask.condition, reply) for reply in dict.fromkeys(replies)
        }
        completions = tuple(
            _simulated_completion(
                ask.condition, replication, cut[reply], prepared.prompt_tokens, hit
            )
            for replication, reply, hit in zip(ask.replications, replies, cached, strict=True)
        )
        if scoring is not None:
            completions = tuple(self._with_logprobs(ask.condition, one) for one in completions)
        generated = sum(completion.completion_tokens or 0 for completion in completions)
        await self._take_time(generated)
        self._counts += TokenCounts(
            prompt=ask.n * prepared.prompt_tokens, cached=sum(cached), generated=generated
        )
        return completions

    def _with_logprobs(self, condition: Condition, reply: Completion) -> Completion:
        """A reply with the probabilities at its verdict; none where it has no verdict."""
        menu = condition.menu
        if (
            menu is None
            or read_verdict(reply.text, finish_reason=reply.finish_reason, menu=menu).label is None
        ):
            return reply
        found = simulated_logprobs(self.spec.model, self.options, condition, reply.replication)
        return replace(reply, logprobs=found)

    async def _scored(self, prepared: Prepared, ask: Ask) -> Completion:
        """Read probabilities instead of drawing; costs the prompt once."""
        model, options, condition = self.spec.model, self.options, ask.condition
        is_tree = condition.scoring is not None and condition.scoring.kind == "tree"
        found = () if is_tree else scored_logprobs(model, options, condition)
        text = tree_findings(model, options, condition) if is_tree else ""
        (cached,) = self._prefill(prepared, 1)
        await self._take_time(1)
        self._counts += TokenCounts(prompt=prepared.prompt_tokens, cached=cached, generated=1)
        nothing = _cut_simulated_reply(ask.condition, "")
        whole = _simulated_completion(
            ask.condition, ask.first, nothing, prepared.prompt_tokens, cached
        )
        return replace(whole, text=text, logprobs=found)

    def counters(self) -> TokenCounts:
        """Tokens since the start."""
        return self._counts

    def is_alive(self) -> bool:
        """Whether it has neither died nor been stopped."""
        return not self._lost

    async def stop(self) -> None:
        """Nothing is held; afterwards it answers no more."""
        self._lost = True

    async def _misfortune(self, ask: Ask) -> None:
        """Fail as told, counting each replication as a request."""
        where = {"judge": self.spec.name, "item": ask.condition.item_id}
        if self._lost:
            raise EngineLost("simulated engine is gone", where=where)
        asked = range(self._n_asked + 1, self._n_asked + ask.n + 1)
        self._n_asked += ask.n
        options = self.options
        poisoned = options.poison is not None and options.poison in ask.condition.item_id
        if poisoned or (options.dies_on in asked and self._first_to_die()):
            self._die(where)
        if options.hangs_on in asked:
            await asyncio.Event().wait()
        if any(request in asked for request in options.fails_on):
            raise EngineError("simulated request failed", where=where)

    def _first_to_die(self) -> bool:
        """Whether no engine before this one died of ``dies_on``, where only one may."""
        if self.options.dies_once is None:
            return True
        try:
            Path(self.options.dies_once).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _die(self, where: dict[str, str]) -> NoReturn:
        """Take the process along, as a crashed engine core does, or only say so."""
        self._lost = True
        if self.options.dies == "exit":
            os._exit(_EXIT_STATUS)
        raise EngineLost("simulated engine died", where=where)

    def _prefill(self, prepared: Prepared, n: int) -> list[int]:
        """Prompt tokens found in the prefix cache by each of n samples; the last is never found."""
        text, size = prepared.text, BLOCK_TOKENS * CHARACTERS_PER_TOKEN
        block, blocks = b"", []
        for start in range(0, len(text) - size + 1, size):
            content = text[start : start + size].encode()
            block = blake2b(block + content, digest_size=16).digest()
            blocks.append(block)
        n_usable = (prepared.prompt_tokens - 1) // BLOCK_TOKENS if prepared.prompt_tokens else 0
        n_found = 0
        while n_found < min(n_usable, len(blocks)) and blocks[n_found] in self._cached_blocks:
            n_found += 1
        self._cached_blocks.update(blocks)
        later = min(n_usable, len(blocks))
        return [n_found * BLOCK_TOKENS] + [later * BLOCK_TOKENS] * (n - 1) if n else []

    async def _take_time(self, n_tokens: int) -> None:
        """Wait as long as an engine of this speed, shared by all its asks, would take."""
        if not self.options.latency_ms and self.options.tokens_per_s is None:
            return
        now = asyncio.get_running_loop().time()
        if self.options.tokens_per_s is not None:
            self._busy_until = max(now, self._busy_until) + n_tokens / self.options.tokens_per_s
        wait = max(self._busy_until - now, 0.0) + self.options.latency_ms / 1000
        await asyncio.sleep(wait)


class _Cut(NamedTuple):
    """A reply as an engine gives it, with why it ended and its tokens."""

    text: str
    finish_reason: str
    tokens: int


def _cut_simulated_reply(condition: Condition, reply: str) -> _Cut:
    """Cut a reply where an engine would: after a stop string, or at the token limit."""
    text = cut_after(reply, condition.stop)
    limit = condition.max_tokens * CHARACTERS_PER_TOKEN
    ended = "stop" if len(text) <= limit else "length"
    return _Cut(text[:limit], ended, count_tokens(text[:limit]))


def _simulated_completion(
    condition: Condition, replication: int, cut: _Cut, prompt_tokens: int, cached: int
) -> Completion:
    """A reply as what came back for one replication."""
    return Completion(
        key=request_key(condition.condition_key, replication),
        replication=replication,
        seed=None if condition.temperature == 0 else condition.seed_base + replication,
        text=cut.text,
        finish_reason=cut.finish_reason,
        prompt_tokens=prompt_tokens,
        cached_tokens=cached,
        completion_tokens=cut.tokens,
    )
