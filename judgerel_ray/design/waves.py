"""From an ask to its conditions, wave by wave, and how far each condition is asked for.

A wave is a round of requests whose prompts can be written at once. The first waves write candidate
answers where responders are named (one, or two for dialogues), the last asks the judges; confusion
asks them twice, for assessments and for what they make of them, and think_twice first has its
models answer in two steps. All of it is built lazily, one item at a time: a sweep of a million
conditions needs the memory of one item.

Where replication is adaptive, a condition's replications are looked at in their order, after the
first block and after every round. What was decided at a look follows from the replications before
it and from nothing else, so a run that is killed and goes on decides the same, wherever and
whenever its replies landed.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols.waves.work import ItemWork
from judgerel_ray.stats.intervals.stopping import StoppingRule, more_replications


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """How far a condition is asked for now.

    Attributes
    ----------
    n : int
        Replications 0 .. n - 1 are asked for.
    block : int
        Which block the last of them are: 0 for the first, 1 for the round after it, and so on.
    is_reached : bool
        Whether all of them have landed; then no more are wanted.
    seen : tuple of int
        Verdicts at the last look that was whole, by code; all 0 before the first.
    """

    n: int
    block: int
    is_reached: bool
    seen: tuple[int, ...] = ()


def goal_of(landed: Mapping[int, int], n_verdicts: int, rule: StoppingRule) -> Goal:
    """Tell how far a condition is asked for, given what landed of it.

    Parameters
    ----------
    landed : mapping of int to int
        Verdict of each landed replication, from 0 to `n_verdicts` - 1; a reply without a verdict
        is one of its own.
    n_verdicts : int
        Verdicts that could be drawn.
    rule : StoppingRule
        When it has been asked often enough.

    Returns
    -------
    Goal
        Of the first look whose replications have not all landed, or which asks for no more.

    Raises
    ------
    ValueError
        If a verdict is none of those that could be drawn.

    Examples
    --------
    >>> rule = StoppingRule(first=5, most=100, step=5)
    >>> goal_of({0: 1, 1: 1}, 3, rule)
    Goal(n=5, block=0, is_reached=False, seen=(0, 0, 0))
    >>> goal_of(dict.fromkeys(range(6), 1), 3, rule)
    Goal(n=10, block=1, is_reached=False, seen=(0, 5, 0))
    >>> goal_of(dict.fromkeys(range(10), 1), 3, rule)
    Goal(n=10, block=1, is_reached=True, seen=(0, 10, 0))
    """
    counts = [0] * n_verdicts
    whole = tuple(counts)
    n, block, seen = rule.first, 0, 0
    while True:
        while seen < n and seen in landed:
            code = landed[seen]
            if not 0 <= code < n_verdicts:
                raise ValueError(f"goal_of: verdicts are 0 to {n_verdicts - 1}, got {code}")
            counts[code] += 1
            seen += 1
        if seen < n:
            return Goal(n=n, block=block, is_reached=False, seen=whole)
        whole = tuple(counts)
        more = more_replications(counts, rule)
        if not more:
            return Goal(n=n, block=block, is_reached=True, seen=whole)
        n, block = n + more, block + 1
