"""Probabilities in place of replies: which way of reading a condition asks for, done with vLLM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from judgerel_ray.core import Ask, Completion, Condition, EngineError, TokenLogprob
from judgerel_ray.engines.encoder import PromptEncoder
from judgerel_ray.engines.engine import Prepared
from judgerel_ray.engines.verdict_position import spelled_verdicts, verdict_place
from judgerel_ray.engines.verdict_tree import Explorer, NextTokens, Sampled, explore, listed
from judgerel_ray.engines.vllm_facts import Vocabulary
from judgerel_ray.engines.vllm_passes import Computed, Send
from judgerel_ray.engines.vllm_sampling import (
    Chunk,
    Output,
    check_finished,
    read_output,
    sampling_arguments,
)
from judgerel_ray.engines.vllm_scoring import (
    OneKind,
    first_step,
    score,
    scored,
    scoring_arguments,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A started engine, as far as reading needs it.

    ``send`` sends one request of token ids and sampling parameters; ``kinds`` is shared by all
    passes of the engine.
    """

    send: Send
    kinds: OneKind
    encoder: PromptEncoder
    vocabulary: Vocabulary


async def read_probabilities(ask: Ask, prepared: Prepared, channel: Channel) -> Completion:
    """Read what an ask's condition scores in place of a reply.

    Parameters
    ----------
    ask : Ask
        One replication of a condition with ``scoring``.
    prepared : Prepared
        Its prompt.
    channel : Channel
        The engine.

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
        part = explorer(ask.condition, prepared, channel)
        return scored(prepared, ask, (), await explore(ask.condition, part))
    computed = Computed()
    send, texts = computed.over(channel.send), channel.encoder.token_texts
    found = await score(scoring, prepared, send, channel.kinds, texts)
    return scored(prepared, ask, found, computed=computed.tokens)


async def answer_chunk(
    condition: Condition, prepared: Prepared, chunk: Chunk, channel: Channel
) -> tuple[Completion, ...]:
    """Answer one request of several replications; with verdict scoring, read them there, too.

    Parameters
    ----------
    condition : Condition
        What is asked.
    prepared : Prepared
        Its prompt.
    chunk : Chunk
        The replications.
    channel : Channel
        The engine.

    Returns
    -------
    tuple of Completion
        In the order of the replications. Where the condition scores verdicts, each that has one
        holds the next tokens at its place, and the verdict each would have spelled.

    Raises
    ------
    EngineError
        If the request failed; it stays owed.
    """
    output = await channel.send(prepared.token_ids or (), chunk.parameters)
    made = read_output(cast("Output", output), prepared, chunk)
    scoring = condition.scoring
    if scoring is None:
        return made
    tokens = {sample.index: tuple(sample.token_ids) for sample in output.outputs}
    part = explorer(condition, prepared, channel)
    return tuple(
        [
            replace(one, logprobs=await _at_verdict(condition, tokens[place], part, channel))
            for place, one in enumerate(made)
        ]
    )


async def _at_verdict(
    condition: Condition, tokens: tuple[int, ...], part: Explorer, channel: Channel
) -> tuple[TokenLogprob, ...]:
    """The next tokens where a reply's verdict is written; none where it has none."""
    menu = condition.menu
    if menu is None:
        return ()
    ended = tokens[:-1] if tokens and tokens[-1] in part.end_tokens else tokens
    place = verdict_place(ended, menu=menu, text_of=lambda new: part.text_of(tuple(new)))
    if place is None:
        return ()
    found = await part.look(ended[:place], listed(condition.top_k))
    return spelled_verdicts(
        ended[:place],
        found,
        menu=menu,
        text_of=lambda new: part.text_of(tuple(new)),
        texts=channel.encoder.token_texts(found.tokens),
    )


def explorer(condition: Condition, prepared: Prepared, channel: Channel) -> Explorer:
    """What vLLM does for a tree: pass after pass, each a prefix of the next and cached as such."""
    ids = prepared.token_ids or ()

    async def look(before: tuple[int, ...], n: int) -> NextTokens:
        async with channel.kinds.of("next"):
            output = await channel.send((*ids, *before), scoring_arguments(logprobs=n))
        found = first_step(output, prepared)
        best = sorted(found, key=lambda token: (-found[token].logprob, token))[:n]
        return NextTokens(tuple(best), tuple(found[token].logprob for token in best))

    async def go_on(before: tuple[int, ...], temperature: float, seed: int, most: int) -> Sampled:
        one = replace(condition, temperature=temperature, max_tokens=most, stop=())
        output = await channel.send((*ids, *before), sampling_arguments(one, n=1, seed=seed))
        sample = output.outputs[0]
        ended = check_finished(sample.finish_reason, key=prepared.condition_key)
        return Sampled(sample.text, ended)

    return Explorer(
        look=look,
        go_on=go_on,
        text_of=lambda new: channel.encoder.text_after(ids, new),
        end_tokens=channel.vocabulary.end_tokens,
        n_vocabulary=channel.vocabulary.size,
    )
