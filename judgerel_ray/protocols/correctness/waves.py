"""Correctness: whether an answer is right, given the gold one."""

from __future__ import annotations

from dataclasses import replace

from judgerel_ray.core import Ask, Item
from judgerel_ray.protocols.conditions import ItemWork, blank_condition
from judgerel_ray.protocols.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols.judging import (
    answer_names,
    judged_answer,
    over_temperatures,
    per_condition,
)
from judgerel_ray.protocols.rendering import menu_for, render_correctness

CORRECTNESS_LABELS = ("correct", "incorrect")


def correctness_work(frame: AskFrame, voice: Voice, item: Item, texts: Texts) -> ItemWork:
    """Is this answer right, given the gold one: answer x template x temperature."""
    asks: list[Ask] = []
    impossible: list[tuple[Ask, str]] = []
    n_blocked = 0
    for name in answer_names(frame, item):
        answer = judged_answer(frame, item, name, texts)
        if answer is None:
            n_blocked += len(frame.templates) * per_condition(frame)
            continue
        for template in frame.templates:
            menu = menu_for(
                template, CORRECTNESS_LABELS, labels=CORRECTNESS_LABELS, reader=frame.ask.reader
            )
            blank = blank_condition(
                voice, item, protocol="correctness", stage="judge", role="judge", template=template
            )
            blank = replace(blank, menu=menu, responder=name)
            text = answer.text
            prompt = render_correctness(template, item, text or "")
            parents = (answer.key,) if answer.key else ()
            made = over_temperatures(frame, blank, prompt, parents)
            if text is None:
                impossible += [(each, f"no answer of {name}") for each in made]
            else:
                asks += made
    return ItemWork(
        judge=voice.name,
        item_id=item.item_id,
        asks=tuple(asks),
        impossible=tuple(impossible),
        n_blocked=n_blocked,
    )
