"""One ask of the sweep with everything it needs at hand: items, templates, who is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from judgerel_ray.core import Ask, Item, Menu, Message, Scale, SweepError
from judgerel_ray.protocols.ask import AskKind, AskTable, RespondSettings
from judgerel_ray.protocols.criteria import Criterion
from judgerel_ray.protocols.prompts import Template, labels_for, menu_for, question_form
from judgerel_ray.protocols.replies.declared_forms import TIE
from judgerel_ray.protocols.waves.orders import most_orders
from judgerel_ray.stats.intervals.stopping import StoppingRule

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
    def protocol(self) -> Waves:
        """What is asked, how, and how replies are read."""
        kind = self.ask.kind
        assert isinstance(kind, Waves)
        return kind

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemWork:
    """All that one wave asks one judge about one item.

    ``impossible`` pairs an ask with the reason why it can never be sent (an earlier stage failed).
    What rests on answers that have not landed yet is in neither: it stays pending.
    """

    judge: str
    item_id: str
    asks: tuple[Ask, ...]
    impossible: tuple[tuple[Ask, str], ...] = ()

    @classmethod
    def of(cls, voice: Voice, item: Item, every: Iterable[tuple[Ask, str | None]]) -> ItemWork:
        """Collect what a wave asks a judge about an item, each with why it can never be sent."""
        pairs = tuple(every)
        return cls(
            judge=voice.name,
            item_id=item.item_id,
            asks=tuple(ask for ask, never in pairs if never is None),
            impossible=tuple((ask, never) for ask, never in pairs if never is not None),
        )

    @property
    def every(self) -> tuple[Ask, ...]:
        """All asks, those that can never be sent among them."""
        return (*self.asks, *(ask for ask, _ in self.impossible))


def verdict_ids(frame: AskFrame, item: Item, template: Template) -> tuple[str, ...]:
    """Name what a verdict of best_of may be: an answer, or a tie where the template declares one.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.protocols import load_template
    >>> from judgerel_ray.core import Option
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?",
    ...             options=(Option(option_id="x", text="1"), Option(option_id="y", text="2")))
    >>> ask = ask_table(protocol="best_of", benchmark="b", path="p")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), templates=(), judges=())
    >>> verdict_ids(frame, item, load_template("best_of", "default"))
    ('x', 'y')
    """
    names = answer_names(frame, item)
    return (*names, TIE) if template.declared is not None and template.declared.ties else names


def answer_names(frame: AskFrame, item: Item) -> tuple[str, ...]:
    """Whose answers are judged, by option id.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.core import Option
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?",
    ...             options=(Option(option_id="x", text="1"), Option(option_id="y", text="2")))
    >>> ask = ask_table(protocol="best_of", benchmark="b", path="p")
    >>> answer_names(AskFrame(index=0, ask=ask, items=(item,), templates=(), judges=()), item)
    ('x', 'y')
    """
    if frame.responders:
        return tuple(voice.name for voice in frame.responders)
    return frame.recorded or tuple(option.option_id for option in item.options)


FrameKey = tuple[object, ...]
Asked = Iterator[tuple[Ask, str | None]]
"""What is asked, each with the reason why it can never be sent; None where it can be."""
SettingsMapping = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCount:
    """How many requests a stage of an ask makes of one judge; known before anything is asked.

    ``requests`` are made whatever is answered; adaptive replication goes up to
    ``requests_at_most``.
    """

    ask: int
    judge: str
    role: str
    stage: str
    wave: int
    items: int
    conditions: int
    requests: int
    requests_at_most: int


class Waves(AskKind, ABC):
    """What a protocol asks of its frames, wave by wave, and what it refuses before.

    What is put into words and keys, and is made of the functions beside, is in
    :class:`~judgerel_ray.protocols.protocol.Protocol`.
    """

    # Waves.

    def answer_waves(self, frame: AskFrame) -> int:
        """Waves that write candidate answers: 0, 1, or 2 where there are dialogues."""
        if self.traits.judges and not frame.responders:
            return 0
        return 2 if frame.has_dialogues else 1

    def judging_waves(self, frame: AskFrame) -> int:
        """Waves that ask judges."""
        return 1 if self.traits.judges else 0

    def later_waves(self, frame: AskFrame) -> tuple[int, ...]:
        """Waves that ask more, or at all, only as what landed before wants it."""
        return () if frame.ask.adaptive is None else (frame.judging_wave,)

    def voices(self, frame: AskFrame, wave: int) -> tuple[Voice, ...]:
        """Who is asked in a wave: responders while answers are written, judges after."""
        judging = not self.traits.judges or wave >= frame.respond_waves
        return frame.judges if judging else frame.responders

    @abstractmethod
    def answering_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> Asked | None:
        """What a responder is asked about one item; None where a wave asks nothing."""

    @abstractmethod
    def judging_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> Asked:
        """What a judge is asked about one item, given the texts of the waves before."""

    def prompt(self, template: Template, item: Item, answer: str) -> tuple[Message, ...]:
        """Put one answer to a judge, where each is judged by itself."""
        raise NotImplementedError(f"{type(self).__name__}.prompt")

    def menu(self, frame: AskFrame, item: Item, template: Template) -> Menu:
        """What a judge may say of one answer."""
        labels = self.labels(frame, item)
        return menu_for(template, labels, labels=labels, reader=frame.ask.reader)

    # What is asked, before any prompt is written.

    @abstractmethod
    def counts(
        self, frame: AskFrame, written: dict[FrameKey, int], judged: dict[FrameKey, int]
    ) -> Iterator[StageCount]:
        """Requests of every stage, less those that asks before it `written` and `judged`."""

    def shown(self, frame: AskFrame, item: Item) -> Sequence[FrameKey]:
        """Everything that a template and a temperature put to a judge: here, each answer."""
        return [(name,) for name in answer_names(frame, item)]

    def n_shown(self, frame: AskFrame, item: Item) -> int:
        """How many prompts a template makes of an item."""
        return len(answer_names(frame, item))

    def wording(self, frame: AskFrame, item: Item, template: Template) -> object:
        """The words in which a template puts an item."""
        return template.texts.get(question_form(item))

    def first_texts(self, item: Item) -> tuple[str, ...]:
        """Texts of a template that make the first prompt of an item."""
        return (question_form(item),)

    def labels(self, frame: AskFrame, item: Item) -> tuple[str, ...]:
        """Labels of the verdicts on an item."""
        return labels_for(len(answer_names(frame, item)))

    def verdicts(self, frame: AskFrame, item: Item, template: Template) -> tuple[str, ...]:
        """What a verdict may be recorded as."""
        return verdict_ids(frame, item, template)

    @abstractmethod
    def marks(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, str, int, int]]:
        """All that is asked about an item; with all that is in its key but the judge."""

    @abstractmethod
    def rows(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, SettingsMapping]]:
        """What rows about an item record, and what else is in their keys."""

    def menus(
        self, frame: AskFrame, template: Template, where: Mapping[str, object]
    ) -> Iterator[tuple[Menu, Mapping[str, object]]]:
        """Every menu by which a template's own form is read, and where it is of."""
        for item in frame.items[:1]:
            yield self.menu(frame, item, template), where

    # What is refused, and remarked, before anything is asked.

    def check_item(self, frame: AskFrame, item: Item, place: Mapping[str, object]) -> None:
        """Refuse an item without the answers that judges need."""
        ask = frame.ask
        ids = {option.option_id for option in item.options}
        unknown = [name for name in frame.recorded if name not in ids]
        if unknown:
            raise SweepError(
                f"responders name neither a judge nor an option of the item: {unknown}, "
                f"its options are {sorted(ids)}",
                where=place,
            )
        if not frame.responders and not ids:
            raise SweepError(
                "the item has no candidate answers",
                where=place,
                hint="name responders that write them, or give the items options",
            )
        n_options = len(frame.responders) or len(frame.recorded) or len(ids)
        self.check_answers(item, n_options, place)
        if ask.option_orders > (most := most_orders(n_options)):
            raise SweepError(
                f"option_orders must be at most {most} for {n_options} options, "
                f"got {ask.option_orders}",
                where=place,
            )

    def check_answers(self, item: Item, n_options: int, place: Mapping[str, object]) -> None:
        """Refuse an item whose answers cannot be judged."""

    def check(self, frame: AskFrame) -> None:
        """Refuse an ask that its items, judges and wordings do not allow."""

    def check_together(self, frames: Sequence[AskFrame]) -> None:
        """Refuse asks of this protocol that do not go together."""

    def check_options(self, frame: AskFrame) -> None:
        """Refuse options whose probabilities could not be told apart, or read back."""

    def remarks(self, frame: AskFrame) -> Iterator[str]:
        """What a person should know of an ask before running it."""
        yield from ()
