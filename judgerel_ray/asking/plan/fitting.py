"""Prompts past a judge's context: told by the plan, and landed as failed without any engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from judgerel_ray.asking.plan.resolve import Resolved
from judgerel_ray.core import Item
from judgerel_ray.design import AskFrame, Voice, build_wave, count_stages, voices_of
from judgerel_ray.engines import PromptFit, prompt_fit
from judgerel_ray.engines.sizing import most_tokens
from judgerel_ray.protocols import question_form


def prompt_fits(resolved: Resolved) -> dict[str, PromptFit]:
    """Checks of the judges whose tokenizer and context are known on this machine.

    Effects: may read tokenizers' files. Retry: safe.
    """
    found = {name: prompt_fit(resolved.pinned_spec(name)) for name in resolved.specs}
    return {name: fit for name, fit in found.items() if fit is not None}


def misfits(resolved: Resolved) -> Iterator[str]:
    """Say which prompts do not fit which judge, as far as they are known before any answer.

    Prompts that will hold answers of this run are not among them: only a run knows those.
    """
    fits = prompt_fits(resolved)
    for frame in resolved.frames:
        for voice in voices_of(frame, 0):
            if voice.name in fits:
                yield from _of_one(frame, voice, fits[voice.name])


def _of_one(frame: AskFrame, voice: Voice, fit: PromptFit) -> Iterator[str]:
    """Say how many prompts of an ask's first wave do not fit one judge, if any."""
    one = frame.ask.temperatures[:1]  # prompts are the same at all of them
    once = replace(frame, ask=frame.ask.model_copy(update={"temperatures": one}))
    refused = list(_refused(once, voice, fit))
    if not refused:
        return
    n_tokens, n_new = max(refused)
    asked = (c for c in count_stages([once]) if (c.judge, c.wave) == (voice.name, 0))
    yield (
        f"{len(refused):,} of {sum(count.conditions for count in asked):,} prompts of "
        f"ask[{frame.index}] do not fit judge {voice.name}: longest {n_tokens:,} prompt + "
        f"{n_new:,} new tokens > {fit.longest:,}; they will land as failed without being asked"
    )


def _refused(frame: AskFrame, voice: Voice, fit: PromptFit) -> Iterator[tuple[int, int]]:
    """Tokens of every prompt that does not fit, and of its reply.

    Only items long enough for it are made into prompts: beside its items, prompts of one form of
    question hold the same words.
    """
    forms: dict[str, list[Item]] = {}
    for item in sorted(frame.items, key=_bytes_of, reverse=True):
        forms.setdefault(question_form(item), []).append(item)
    for items in forms.values():
        rest = 0
        for place, item in enumerate(items):
            if place and _bytes_of(item) + rest <= fit.longest:
                break  # the others are shorter still
            once = replace(frame, items=(item,))
            for work in build_wave(once, 0, voice, {}):
                for ask in work.asks:
                    condition = ask.condition
                    room = most_tokens(condition, fit.spare)
                    rest = max(rest, room - _bytes_of(item))
                    if refusal := fit.refusal(condition):
                        yield cast("int", refusal.where["prompt_tokens"]), condition.max_tokens


def _bytes_of(item: Item) -> int:
    """Bytes of what a prompt may hold of an item."""
    texts = [item.question, item.context or "", *item.turns, *(o.text for o in item.options)]
    return sum(len(text.encode()) for text in texts)
