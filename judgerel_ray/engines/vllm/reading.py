"""Probabilities in place of replies: which way of reading a condition asks for, done with vLLM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from judgerel_ray.core import Ask, Completion, Condition, EngineError, TokenLogprob
from judgerel_ray.engines.engine import Prepared
from judgerel_ray.engines.next_tokens import (
    Explorer,
    NextTokens,
    Sampled,
    explore,
    listed_tokens,
    spelled_verdicts,
    verdict_place,
)
from judgerel_ray.engines.tokenization import PromptEncoder
from judgerel_ray.engines.vllm.sampling import (
    Chunk,
    Vocabulary,
    check_finished,
    read_output,
    sampling_arguments,
)
from judgerel_ray.engines.vllm.scoring import (
    Computed,
    OneKind,
    Send,
    score,
    scored,
    scoring_arguments,
    steps_of,
)

AHEAD = 6  # tokens a pass of a tree goes on for: the form up to its label


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChannel:
    """A started engine, as far as reading needs it.

    ``send`` sends one request of token ids and sampling parameters; ``kinds`` is shared by all
    passes of the engine.
    """

    send: Send
    kinds: OneKind
    encoder: PromptEncoder
    vocabulary: Vocabulary


async def read_probabilities(ask: Ask, prepared: Prepared, channel: EngineChannel) -> Completion:
    """Read what an ask's condition scores in place of a reply."""
    scoring = ask.condition.scoring
    if scoring is None:
        raise EngineError("nothing is to be read", where={"condition": prepared.condition_key})
    if scoring.kind == "tree":
        # Behind a forced form a label is one token, or few.
        part = explorer(ask.condition, prepared, channel, ahead=1 if scoring.start else AHEAD)
        return scored(prepared, ask, (), await explore(ask.condition, part))
    computed = Computed()
    send, texts = computed.over(channel.send), channel.encoder.token_texts
    found = await score(scoring, prepared, send, channel.kinds, texts)
    return scored(prepared, ask, found, computed=computed.tokens)


async def answer_chunk(
    condition: Condition, prepared: Prepared, chunk: Chunk, channel: EngineChannel
) -> tuple[Completion, ...]:
    """Answer one request of several replications; with verdict scoring, read them there, too.

    In the order of the replications. Where the condition scores verdicts, each that has one holds
    the next tokens at its place, and the verdict each would have spelled.
    """
    output = await channel.send(prepared.token_ids or (), chunk.parameters)
    made = read_output(output, prepared, chunk)
    scoring = condition.scoring
    if scoring is None:
        return made
    tokens = {sample.index: tuple(sample.token_ids) for sample in output.outputs}
    part = explorer(condition, prepared, channel)
    return tuple(
        [
            replace(
                one, logprobs=await _vllm_tokens_at_verdict(condition, tokens[place], part, channel)
            )
            for place, one in enumerate(made)
        ]
    )


async def _vllm_tokens_at_verdict(
    condition: Condition, tokens: tuple[int, ...], part: Explorer, channel: EngineChannel
) -> tuple[TokenLogprob, ...]:
    """The next tokens where a reply's verdict is written; none where it has none."""
    menu = condition.menu
    if menu is None:
        return ()
    ended = tokens[:-1] if tokens and tokens[-1] in part.end_tokens else tokens
    place = verdict_place(ended, menu=menu, text_of=lambda new: part.text_of(tuple(new)))
    if place is None:
        return ()
    found = await part.look(ended[:place], listed_tokens(condition.top_k))
    return spelled_verdicts(
        ended[:place],
        found,
        menu=menu,
        text_of=lambda new: part.text_of(tuple(new)),
        texts=channel.encoder.token_texts(found.tokens),
    )


def explorer(
    condition: Condition, prepared: Prepared, channel: EngineChannel, *, ahead: int = 1
) -> Explorer:
    """What vLLM does for a tree: pass after pass, each a prefix of the next and cached as such.

    A pass computes the prompt's last, part-filled block again, so it goes on for ``ahead`` tokens,
    the most probable ones, at one token each: they are the prefixes most often asked next.
    """
    ids = prepared.token_ids or ()
    seen: dict[tuple[int, ...], NextTokens] = {}

    async def look(before: tuple[int, ...], n: int) -> NextTokens:
        if before in seen:
            return seen.pop(before)
        most = max(1, min(ahead, condition.max_tokens - len(before)))
        asked = scoring_arguments(logprobs=n, max_tokens=most, ignore_eos=most == 1)
        async with channel.kinds.of("next"):
            output = await channel.send((*ids, *before), asked)
        path = tuple(output.outputs[0].token_ids)
        for place, found in enumerate(steps_of(output, prepared)):
            best = sorted(found, key=lambda token: (-found[token].logprob, token))[:n]
            listing = NextTokens(tuple(best), tuple(found[token].logprob for token in best))
            seen[(*before, *path[:place])] = listing
        return seen.pop(before)

    async def go_on(before: tuple[int, ...], temperature: float, seed: int, most: int) -> Sampled:
        one = replace(condition, temperature=temperature, max_tokens=most, stop=())
        asked = sampling_arguments(one, n=1, seed=seed)
        asked["skip_special_tokens"] = not prepared.may_think
        output = await channel.send((*ids, *before), asked)
        sample = output.outputs[0]
        ended = check_finished(sample.finish_reason, key=prepared.condition_key)
        return Sampled(sample.text, ended)

    def text_of(new: Sequence[int]) -> str:
        # Kept special tokens mark thoughts; the one that ends the reply is no part of it.
        ended = prepared.may_think and new and new[-1] in channel.vocabulary.end_tokens
        spoken = channel.encoder.text_after(
            ids, new[:-1] if ended else new, special=prepared.may_think
        )
        return prepared.opened + spoken

    return Explorer(
        look=look,
        go_on=go_on,
        text_of=text_of,
        end_tokens=channel.vocabulary.end_tokens,
        n_vocabulary=channel.vocabulary.size,
    )
