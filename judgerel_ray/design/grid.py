"""From an ask to its conditions, wave by wave and item by item.

A wave is a round of requests whose prompts can be written at once. The first waves write candidate
answers where responders are named (one, or two for dialogues), the last asks the judges. All of it
is built lazily, one item at a time: a sweep of a million conditions needs the memory of one item.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from judgerel_ray.design.conditions import ItemWork
from judgerel_ray.design.frame import AskFrame, Texts, Voice
from judgerel_ray.design.judging import answer_names, best_of_work, correctness_work
from judgerel_ray.design.responding import respond_settings, respond_work
from judgerel_ray.protocols import question_form


def build_wave(frame: AskFrame, wave: int, voice: Voice, texts: Texts) -> Iterator[ItemWork]:
    """Everything one wave of an ask asks one judge, item by item.

    Parameters
    ----------
    frame : AskFrame
        The ask.
    wave : int
        From 0 to ``frame.n_waves - 1``.
    voice : Voice
        The judge or responder asked.
    texts : mapping of str to str or None
        Landed texts of the waves before, by request key.

    Yields
    ------
    ItemWork
        One for each item that has something to ask in this wave.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> from judgerel_ray.core import Item
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> ask = AskTable(protocol="respond", benchmark="b", path="p", replications=3)
    >>> me = Voice(name="m", fingerprint="0")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), judges=(me,),
    ...                  templates=(load_template("respond", "default"),))
    >>> [ask.n for work in build_wave(frame, 0, me, {}) for ask in work.asks]
    [3]
    """
    for item in frame.items:
        if wave < frame.respond_waves:
            work = respond_work(frame, wave, voice, item, texts)
        elif frame.ask.protocol == "best_of":
            work = best_of_work(frame, voice, item, texts)
        else:
            work = correctness_work(frame, voice, item, texts)
        if work is not None:
            yield work


def voices_of(frame: AskFrame, wave: int) -> tuple[Voice, ...]:
    """Who is asked in a wave: responders while answers are written, judges after.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> ask = AskTable(protocol="respond", benchmark="b", path="p")
    >>> me = Voice(name="m", fingerprint="0")
    >>> frame = AskFrame(index=0, ask=ask, items=(), templates=(), judges=(me,))
    >>> [voice.name for voice in voices_of(frame, 0)]
    ['m']
    """
    if frame.ask.protocol == "respond" or wave >= frame.respond_waves:
        return frame.judges
    return frame.responders


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCount:
    """How many requests a stage of an ask makes of one judge; known before anything is asked."""

    ask: int
    judge: str
    role: str
    stage: str
    wave: int
    items: int
    conditions: int
    requests: int


def count_stages(frame: AskFrame) -> tuple[StageCount, ...]:
    """Conditions and requests of every stage, without writing a prompt.

    Conditions of a second turn are counted one for each first turn, as their prompts differ.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> from judgerel_ray.core import Item, Option
    >>> from judgerel_ray.protocols import load_template
    >>> options = tuple(Option(option_id=x, text=x) for x in "abc")
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    >>> ask = AskTable(protocol="best_of", benchmark="b", path="p", replications=100,
    ...                temperatures=(1.0, 0.75, 0.5, 0.25, 0.0))
    >>> me = Voice(name="m", fingerprint="0")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), judges=(me,),
    ...                  templates=(load_template("best_of", "default"),))
    >>> [count.requests for count in count_stages(frame)]
    [401]
    """
    counts: list[StageCount] = []
    dialogues = sum(question_form(item) == "dialogue" for item in frame.items)
    written = [settings.n for settings in respond_settings(frame)] if frame.respond_waves else []
    answers = {"answer": (0, len(frame.items) - dialogues), "turn1": (0, dialogues)}
    for wave in range(frame.respond_waves):
        stages = answers if wave == 0 else {"turn2": (1, dialogues)}
        for stage, (_, n_items) in stages.items():
            counts += [
                StageCount(
                    ask=frame.index,
                    judge=voice.name,
                    role="responder",
                    stage=stage,
                    wave=wave,
                    items=n_items,
                    conditions=n_items * (len(written) if wave == 0 else sum(written)),
                    requests=n_items * sum(written),
                )
                for voice in voices_of(frame, wave)
                if n_items
            ]
    if frame.ask.protocol != "respond":
        counts += [_judge_count(frame, voice) for voice in frame.judges]
    return tuple(counts)


def _judge_count(frame: AskFrame, voice: Voice) -> StageCount:
    """Conditions and requests of the judges' stage."""
    ask = frame.ask
    if ask.protocol == "best_of":
        shown = len(frame.items) * ask.option_orders
    else:
        shown = sum(len(answer_names(frame, item)) for item in frame.items)
    per_prompt = sum(frame.replications(temperature) for temperature in ask.temperatures)
    return StageCount(
        ask=frame.index,
        judge=voice.name,
        role="judge",
        stage="judge",
        wave=frame.respond_waves,
        items=len(frame.items),
        conditions=shown * len(frame.templates) * len(ask.temperatures),
        requests=shown * len(frame.templates) * per_prompt,
    )
