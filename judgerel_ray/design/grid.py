"""From an ask to its conditions, wave by wave and item by item.

A wave is a round of requests whose prompts can be written at once. The first waves write candidate
answers where responders are named (one, or two for dialogues), the last asks the judges; confusion
asks them twice, for assessments and for what they make of them, and think_twice first has its
models answer in two steps. All of it is built lazily, one item at a time: a sweep of a million
conditions needs the memory of one item.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from judgerel_ray.protocols.waves.conditions import ItemWork
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice


def build_wave(
    frame: AskFrame,
    wave: int,
    voice: Voice,
    texts: Texts,
    *,
    only: Container[str] | None = None,
) -> Iterator[ItemWork]:
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
    only : container of str, optional
        Names of the items to build; all by default.

    Yields
    ------
    ItemWork
        One for each item that has something to ask in this wave.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.core import Item
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> ask = ask_table(protocol="respond", benchmark="b", path="p", replications=3)
    >>> me = Voice(name="m", fingerprint="0")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), judges=(me,),
    ...                  templates=(load_template("respond", "default"),))
    >>> [ask.n for work in build_wave(frame, 0, me, {}) for ask in work.asks]
    [3]
    """
    # Asked once: the number of waves reads every item.
    answers, protocol = wave < frame.respond_waves, frame.protocol
    work_of = protocol.answering_work if answers else protocol.judging_work
    for item in frame.items:
        if only is not None and item.item_id not in only:
            continue
        work = work_of(frame, wave, voice, item, texts)
        if work is not None:
            yield work
