"""One ask of the sweep with everything it needs at hand: items, templates, who is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judgerel_ray.config import AskTable, RespondSettings
from judgerel_ray.core import Item, Scale, SweepError
from judgerel_ray.design.orders import most_orders
from judgerel_ray.protocols import Criterion, Template, question_form
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
    sweep with its number of orders.
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

    @property
    def has_dialogues(self) -> bool:
        """Whether any item has more than one turn."""
        return any(question_form(item) == "dialogue" for item in self.items)

    @property
    def respond_waves(self) -> int:
        """Rounds of requests that write candidate answers: 0, 1, or 2 where there are dialogues.

        Of think_twice 2, its steps; of a cascade 2 for each of its models.
        """
        if self.ask.protocol == "think_twice":
            return 2 if self.ask.cascade is None else 2 * len(self.responders)
        if self.ask.protocol != "respond" and not self.responders:
            return 0
        return 2 if self.has_dialogues else 1

    @property
    def n_waves(self) -> int:
        """Rounds of requests in all; each is built from the landed texts of the one before."""
        judging = {"respond": 0, "confusion": 2}.get(self.ask.protocol, 1)
        if self.ask.cascade is not None:
            judging = 0
        return self.respond_waves + judging

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
        if self.ask.cascade is not None:
            return tuple(range(2, self.n_waves))
        return () if self.ask.adaptive is None else (self.judging_wave,)

    @property
    def judging_wave(self) -> int:
        """The wave whose replies give verdicts."""
        return self.n_waves - 1


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
    if frame.ask.cascade is not None:
        return (frame.responders[wave // 2],)
    return frame.responders


class CutText(str):
    """A landed text that ended at its limit: what it states last may be half of it.

    >>> CutText("Confidence: 0.9") == "Confidence: 0.9"
    True
    """

    __slots__ = ()


Texts = Mapping[str, str | None]
"""Landed responders' texts by request key; None where the request can never succeed."""


def check_items(frame: AskFrame) -> None:
    """Refuse items an ask cannot use, before anything is asked.

    Raises
    ------
    SweepError
        Naming the item and what it lacks.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> ask = AskTable(protocol="best_of", benchmark="b", path="p")
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
        if ask.protocol not in ("respond", "think_twice"):
            _check_answers(frame, item, place)


def _check_answers(frame: AskFrame, item: Item, place: Mapping[str, object]) -> None:
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
    if ask.protocol == "best_of" and n_options < 2:
        raise SweepError(
            f"best_of needs at least 2 options, got {n_options}",
            where=place,
            hint="use protocol correctness for single answers",
        )
    if ask.option_orders > (most := most_orders(n_options)):
        raise SweepError(
            f"option_orders must be at most {most} for {n_options} options, "
            f"got {ask.option_orders}",
            where=place,
        )
    if ask.protocol == "confusion":
        _check_confusion(item, n_options, place)
    if ask.protocol == "correctness" and not item.gold:
        raise SweepError(
            "correctness needs a gold answer, the item has none",
            where=place,
            hint="add a gold column, or use best_of",
        )


def _check_confusion(item: Item, n_options: int, place: Mapping[str, object]) -> None:
    """Refuse an item whose options an assessment cannot be written for."""
    if n_options < 2:
        raise SweepError(
            f"confusion needs at least 2 options, got {n_options}",
            where=place,
            hint="nothing can be confused with the only option there is",
        )
    if item.turns:
        raise SweepError(
            "confusion judges a question with its options, the item is a dialogue",
            where=place,
            hint="give the turns as the item's context",
        )
