"""Candidate answers: one turn, or a second turn from each landed first one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from judgerel_ray.core import Ask, Condition, Item, request_key
from judgerel_ray.protocols.prompts.rendering import question_form, render_respond
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.waves.conditions import ItemWork, blank_condition, keyed_condition
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an answer is written, and how often."""

    template: Template
    temperature: float
    top_k: int
    top_p: float
    max_tokens: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A landed candidate answer: its key ("" where recorded with the item) and text.

    The text is None where the answer can never be had.
    """

    key: str
    text: str | None


def respond_settings(frame: AskFrame) -> Iterator[Settings]:
    """Every way in which this ask has answers written."""
    ask = frame.ask
    if not frame.protocol.traits.judges:
        for template in frame.templates:
            for temperature in ask.temperatures:
                yield Settings(
                    template=template,
                    temperature=temperature,
                    top_k=ask.top_k,
                    top_p=ask.top_p,
                    max_tokens=ask.max_tokens,
                    n=frame.replications(temperature),
                )
    elif frame.respond is not None and frame.respond_template is not None:
        own = frame.respond
        yield Settings(
            template=frame.respond_template,
            temperature=own.temperature,
            top_k=own.top_k,
            top_p=own.top_p,
            max_tokens=own.max_tokens,
            n=1,
        )


def respond_work(
    frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
) -> ItemWork | None:
    """What one responder is asked about one item in wave 0 (first turn) or 1 (second turn)."""
    dialogue = question_form(item) == "dialogue"
    if wave == 1 and not dialogue:
        return None
    asks: list[Ask] = []
    impossible: list[tuple[Ask, str]] = []
    n_blocked = 0
    for settings in respond_settings(frame):
        first = first_turn(voice, item, settings)
        if wave == 0:
            asks.append(Ask(condition=first, first=0, n=settings.n))
            continue
        for r in range(settings.n):
            key = request_key(first.condition_key, r)
            if key not in texts:
                n_blocked += 1
                continue
            text = texts[key]
            ask = Ask(condition=second_turn(voice, item, settings, key, text), first=r, n=1)
            if text is None:
                impossible.append((ask, "its first turn failed"))
            else:
                asks.append(ask)
    return ItemWork.of(voice, item, asks, impossible, n_blocked)


def first_turn(voice: Voice, item: Item, settings: Settings) -> Condition:
    """The condition of an answer, or of the first turn of a dialogue."""
    stage = "turn1" if question_form(item) == "dialogue" else "answer"
    prompt = render_respond(settings.template, item, turn=1)
    return keyed_condition(_blank(voice, item, stage, settings), prompt)


def second_turn(
    voice: Voice, item: Item, settings: Settings, parent: str, first_response: str | None
) -> Condition:
    """The condition of the second turn, given the first turn's key and text."""
    blank = _blank(voice, item, "turn2", settings)
    if first_response is None:
        return keyed_condition(blank, (), parents=(parent,))
    prompt = render_respond(settings.template, item, turn=2, first_response=first_response)
    return keyed_condition(blank, prompt, parents=(parent,))


def written_answer(
    voice: Voice, item: Item, settings: Settings, texts: Texts, *, replication: int = 0
) -> Answer | None:
    """A responder's final text on an item, or None while it has not landed."""
    key = request_key(first_turn(voice, item, settings).condition_key, replication)
    if key not in texts:
        return None
    text = texts[key]
    if question_form(item) != "dialogue":
        return Answer(key=key, text=text)
    final = second_turn(voice, item, settings, key, text)
    final_key = request_key(final.condition_key, replication)
    if final_key not in texts:
        return None
    return Answer(key=final_key, text=texts[final_key])


def _blank(voice: Voice, item: Item, stage: str, settings: Settings) -> Condition:
    """A responder's condition: protocol respond for every judge, so that asks share answers."""
    blank = blank_condition(
        voice, item, protocol="respond", stage=stage, role="responder", template=settings.template
    )
    return replace(
        blank,
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
        max_tokens=settings.max_tokens,
    )
