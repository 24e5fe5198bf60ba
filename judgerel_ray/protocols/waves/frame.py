"""One ask of the sweep with everything it needs at hand: items, templates, who is asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgerel_ray.core import Item, Scale, SweepError
from judgerel_ray.protocols.ask import AskTable, RespondSettings
from judgerel_ray.protocols.criteria import Criterion
from judgerel_ray.protocols.prompts import Template, question_form
from judgerel_ray.protocols.registry import protocol_named
from judgerel_ray.stats.intervals.stopping import StoppingRule

if TYPE_CHECKING:
    from judgerel_ray.protocols.protocol import Protocol

TURNS = 2  # of a dialogue: what the templates put


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """A judge or responder by name and fingerprint."""

    name: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskFrame:
    """An ask, resolved: sampled items, loaded templates, judges and responders by fingerprint.

    ``recorded`` are option ids of the items to keep (empty: all); ``responders`` are judges of the
    sweep that write the candidate answers first (empty: the items bring them). ``criteria`` and
    ``scales`` are what responses are rated by, and on, in protocol rating. ``order_draws`` are,
    for items by benchmark and id whose options are drawn by several order seeds, every seed of the
    sweep with its number of orders. ``first`` is the number of the first replication of judgments.
    """

    index: int
    ask: AskTable
    items: tuple[Item, ...]
    templates: tuple[Template, ...]
    judges: tuple[Voice, ...]
    responders: tuple[Voice, ...] = ()
    recorded: tuple[str, ...] = ()
    respond: RespondSettings | None = None
    respond_template: Template | None = None
    criteria: tuple[Criterion, ...] = ()
    scales: tuple[Scale, ...] = ()
    order_draws: Mapping[tuple[str, str], tuple[tuple[int, int], ...]] = field(default_factory=dict)
    first: int = 0

    @property
    def has_dialogues(self) -> bool:
        """Whether any item has more than one turn."""
        return any(question_form(item) == "dialogue" for item in self.items)

    @property
    def protocol(self) -> Protocol:
        """What is asked, how, and how replies are read."""
        return protocol_named(self.ask.protocol)

    @property
    def respond_waves(self) -> int:
        """Rounds of requests that write candidate answers."""
        return self.protocol.answer_waves(self)

    @property
    def n_waves(self) -> int:
        """Rounds of requests in all; each is built from the landed texts of the one before."""
        return self.respond_waves + self.protocol.judging_waves(self)

    @property
    def temperatures(self) -> tuple[float, ...]:
        """What prompts are asked at: once for all temperatures where replies are not sampled."""
        return (1.0,) if self.ask.mode == "exact" else self.ask.temperatures

    def replications(self, temperature: float) -> int:
        """How often a condition at this temperature is asked: greedy once, or as said.

        Where replication is adaptive that is the first block, which every condition gets.
        """
        if self.ask.mode == "exact":
            return 1
        if temperature == 0.0:
            return max(1, self.ask.repeat_greedy)
        return self.ask.first_replications

    def most_replications(self, temperature: float) -> int:
        """How often a condition at this temperature is asked at most."""
        rule = self.stopping(temperature)
        return rule.most if rule else self.replications(temperature)

    def stopping(self, temperature: float) -> StoppingRule | None:
        """When a condition at this temperature has been asked enough; None where that is fixed."""
        adaptive = self.ask.adaptive
        if adaptive is None or temperature == 0.0:
            return None
        return StoppingRule(
            delta=adaptive.adaptive,
            first=adaptive.first,
            most=adaptive.max,
            step=adaptive.step,
            width=adaptive.width,
        )

    @property
    def later_waves(self) -> tuple[int, ...]:
        """Waves that ask more, or at all, only as what landed before wants it."""
        return self.protocol.later_waves(self)

    @property
    def judging_wave(self) -> int:
        """The wave whose replies give verdicts."""
        return self.n_waves - 1


def voices_of(frame: AskFrame, wave: int) -> tuple[Voice, ...]:
    """Who is asked in a wave: responders while answers are written, judges after.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> ask = ask_table(protocol="respond", benchmark="b", path="p")
    >>> me = Voice(name="m", fingerprint="0")
    >>> frame = AskFrame(index=0, ask=ask, items=(), templates=(), judges=(me,))
    >>> [voice.name for voice in voices_of(frame, 0)]
    ['m']
    """
    return frame.protocol.voices(frame, wave)


def shared_items(frames: Sequence[AskFrame]) -> Mapping[str, AbstractSet[str]]:
    """Ids of the items that more than one ask is about, by benchmark.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> ask = ask_table(protocol="respond", benchmark="b", path="p")
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), templates=(), judges=())
    >>> dict(shared_items([frame])), dict(shared_items([frame, frame]))
    ({}, {'b': {'q'}})
    """
    seen: dict[str, set[str]] = defaultdict(set)
    shared: dict[str, set[str]] = defaultdict(set)
    for frame in frames if len(frames) > 1 else ():  # one ask names no item twice
        for item in frame.items:
            known = seen[item.benchmark]
            (shared[item.benchmark] if item.item_id in known else known).add(item.item_id)
    return shared


def is_shared(item: Item, shared: Mapping[str, AbstractSet[str]]) -> bool:
    """Whether an item is among those that :func:`shared_items` names."""
    return item.item_id in shared.get(item.benchmark, ())


class CutText(str):
    """A landed text that ended at its limit, and how: what it states last may be half of it.

    >>> CutText("Confidence: 0.9") == "Confidence: 0.9", CutText("").finish_reason
    (True, 'length')
    """

    finish_reason: str
    __slots__ = ("finish_reason",)

    def __new__(cls, text: str, finish_reason: str = "length") -> CutText:
        """Make a text with how it ended."""
        made = super().__new__(cls, text)
        made.finish_reason = finish_reason
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return CutText, (str(self), self.finish_reason)


def finish_reason_of(text: str | None) -> str:
    """How a landed text ended, as its row was read.

    Examples
    --------
    >>> finish_reason_of("Option: 1"), finish_reason_of(CutText("Option"))
    ('stop', 'length')
    """
    return text.finish_reason if isinstance(text, CutText) else "stop"


Texts = Mapping[str, str | None]
"""Landed responders' texts by request key; None where the request can never succeed."""


def check_items(frame: AskFrame) -> None:
    """Refuse items an ask cannot use, before anything is asked.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> ask = ask_table(protocol="best_of", benchmark="b", path="p")
    >>> check_items(AskFrame(index=0, ask=ask, items=(), templates=(), judges=()))
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: no items to ask about [ask=0, benchmark=b]
    """
    ask = frame.ask
    where = {"ask": frame.index, "benchmark": ask.benchmark}
    if not frame.items:
        raise SweepError("no items to ask about", where=where)
    for item in frame.items:
        place = {**where, "item": item.item_id}
        if item.turns and len(item.turns) != TURNS:
            raise SweepError(f"a dialogue has {TURNS} turns, got {len(item.turns)}", where=place)
        frame.protocol.check_item(frame, item, place)
