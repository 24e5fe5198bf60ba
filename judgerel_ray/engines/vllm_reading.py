"""Probabilities in place of replies: which way of reading a condition asks for, done with vLLM."""

from __future__ import annotations

from dataclasses import replace

from judgerel_ray.core import Ask, Completion, Condition, EngineError
from judgerel_ray.engines.encoder import PromptEncoder
from judgerel_ray.engines.engine import Prepared
from judgerel_ray.engines.verdict_tree import Explorer, NextTokens, Sampled, explore
from judgerel_ray.engines.vllm_facts import Vocabulary
from judgerel_ray.engines.vllm_sampling import check_finished, sampling_arguments
from judgerel_ray.engines.vllm_scoring import (
    OneKind,
    Send,
    first_step,
    score,
    scored,
    scoring_arguments,
)


async def read_probabilities(
    ask: Ask,
    prepared: Prepared,
    send: Send,
    kinds: OneKind,
    encoder: PromptEncoder,
    vocabulary: Vocabulary,
) -> Completion:
    """Read what an ask's condition scores.

    Parameters
    ----------
    ask : Ask
        One replication of a condition with ``scoring``.
    prepared : Prepared
        Its prompt.
    send : callable
        Sends one request of token ids and sampling parameters.
    kinds : OneKind
        Shared by all passes of the engine.
    encoder : PromptEncoder
        The engine's.
    vocabulary : Vocabulary
        The model's.

    Returns
    -------
    Completion
        With ``logprobs``, or for a tree with its findings as text.

    Raises
    ------
    EngineError
        If the engine left out what was asked for; the request stays owed.
    RequestRefused
        If it can never be read.
    """
    scoring = ask.condition.scoring
    if scoring is None:
        raise EngineError("nothing is to be read", where={"condition": prepared.condition_key})
    if scoring.kind == "tree":
        part = explorer(ask.condition, prepared, send, kinds, encoder, vocabulary)
        return scored(prepared, ask, (), await explore(ask.condition, part))
    return scored(prepared, ask, await score(scoring, prepared, send, kinds, encoder.token_texts))


def explorer(
    condition: Condition,
    prepared: Prepared,
    send: Send,
    kinds: OneKind,
    encoder: PromptEncoder,
    vocabulary: Vocabulary,
) -> Explorer:
    """What vLLM does for a tree: pass after pass, each a prefix of the next and cached as such."""
    ids = prepared.token_ids or ()

    async def look(before: tuple[int, ...], n: int) -> NextTokens:
        async with kinds.of("next"):
            output = await send((*ids, *before), scoring_arguments(logprobs=n))
        found = first_step(output, prepared)
        best = sorted(found, key=lambda token: (-found[token].logprob, token))[:n]
        return NextTokens(tuple(best), tuple(found[token].logprob for token in best))

    async def go_on(before: tuple[int, ...], temperature: float, seed: int, most: int) -> Sampled:
        one = replace(condition, temperature=temperature, max_tokens=most, stop=())
        output = await send((*ids, *before), sampling_arguments(one, n=1, seed=seed))
        sample = output.outputs[0]
        ended = check_finished(sample.finish_reason, key=prepared.condition_key)
        return Sampled(sample.text, ended)

    return Explorer(
        look=look,
        go_on=go_on,
        text_of=lambda new: encoder.text_after(ids, new),
        end_tokens=vocabulary.end_tokens,
        n_vocabulary=vocabulary.size,
    )
