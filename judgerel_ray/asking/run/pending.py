"""Pending requests of a wave at one judge: those that the landed texts call for, less those landed.

Items of which nothing has landed go to actors unwritten. Items of one form of question with equally
many options are asked alike: the first of them is written here, and the others are counted by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import polars as pl

from judgerel_ray.asking.plan.planning import item_bytes
from judgerel_ray.asking.run.rounds import Asks, Rounds
from judgerel_ray.core import Ask, Completion, Item, RequestRefused, TokenCounts
from judgerel_ray.design import (
    AskFrame,
    CutText,
    Texts,
    Voice,
    build_wave,
    count_stages,
    is_shared,
    shared_items,
)
from judgerel_ray.engines import PromptFit
from judgerel_ray.engines.sizing import most_tokens
from judgerel_ray.fleet import Fleet, Unwritten, Work, growing, landed_rows, never_sent, unqueued
from judgerel_ray.fleet.lease import ranges_by_condition, rest_of, unlanded
from judgerel_ray.fleet.pool import sum_units
from judgerel_ray.protocols import question_form
from judgerel_ray.store import Ledger, RunDirectory, land, reading, scan_completions, scan_judgments

CHARACTERS_PER_UNIT = 4
WorkItems = Iterator[tuple[Work, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """The first item of a form: what it asks, its length, and the room its longest prompt takes."""

    n: int
    n_pieces: int
    units: int
    n_bytes: int
    room: int


@dataclass(slots=True)
class Unwriting:
    """Items of an ask as work that is yet to be written."""

    frame: AskFrame
    voice: Voice
    request_size: int
    fit: PromptFit | None
    _forms: dict[tuple[str, int], _Form] = field(default_factory=dict)

    def of(self, item: Item, begun: Ask | None = None) -> Unwritten | None:
        """An item as work; None where it asks nothing, or may not fit the judge's context.

        The first replication of what is `begun` is asked elsewhere.

        Examples
        --------
        >>> from judgerel_ray.config import ask_table
        >>> from judgerel_ray.protocols import load_template
        >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
        >>> ask = ask_table(protocol="respond", benchmark="b", path="p", replications=70)
        >>> me = Voice(name="m", fingerprint="0")
        >>> frame = AskFrame(index=0, ask=ask, items=(item,), judges=(me,),
        ...                  templates=(load_template("respond", "default"),))
        >>> work = Unwriting(frame, me, 32, None).of(item)
        >>> work.n, [ask.n for ask in work.write()]
        (70, [32, 32, 6])
        """
        if self.frame.items:
            self.frame = replace(self.frame, items=(), order_draws={})
        kind = question_form(item), len(item.options)
        form = self._forms.get(kind)
        if form is None:
            form = self._forms[kind] = self._written(item)
        longer = item_bytes(item) - form.n_bytes
        if not form.n or (self.fit is not None and form.room + longer > self.fit.longest):
            return None
        n, n_pieces, key = form.n, form.n_pieces, ""
        if begun is not None:
            n, key = n - 1, begun.condition.condition_key
            n_pieces -= begun.n % self.request_size == 1 or self.request_size == 1
        if not n:
            return None
        return Unwritten(
            frame=self.frame,
            voice=self.voice,
            item=item,
            request_size=self.request_size,
            n=n,
            n_pieces=n_pieces,
            units=max(n, form.units + n_pieces * longer // CHARACTERS_PER_UNIT),
            begun=key,
        )

    def _written(self, item: Item) -> _Form:
        """Write an item out, and measure what it makes."""
        asks = Unwritten(
            frame=self.frame, voice=self.voice, item=item, request_size=self.request_size
        ).write()
        spare = 0 if self.fit is None else self.fit.spare
        return _Form(
            n=sum(ask.n for ask in asks),
            n_pieces=len(asks),
            units=sum_units(asks),
            n_bytes=item_bytes(item),
            room=max((most_tokens(ask.condition, spare) for ask in asks), default=0),
        )


IMPOSSIBLE_BATCH = 2_000
_OF_ANSWERS = ("key", "role", "finish_reason")


def landed_texts(run: RunDirectory, ledger: Ledger) -> dict[str, str | None]:
    """Texts that later prompts hold, by key; None for a request that can never succeed.

    The files of judgments' texts are not opened: nothing that is asked needs them.
    """
    responders = [one for one in ledger.commits if one.holds_answers or one.outcomes.get("failed")]
    answers = replace(ledger, commits=tuple(responders))
    written = replace(ledger, commits=tuple(one for one in responders if one.holds_answers))
    with reading(run.url):
        roles = pl.col("role").is_in(["responder", "assessor"])
        keys = scan_judgments(run, columns=_OF_ANSWERS, ledger=answers).filter(roles)
        texts = scan_completions(run, columns=("key", "text"), ledger=written)
        frame = keys.select("key", "finish_reason").join(texts, on="key", how="left").collect()
    return {
        key: CutText(text, why) if text is not None and why.startswith("length") else text
        for key, why, text in frame.select("key", "finish_reason", "text").iter_rows()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverSent:
    """Lands requests of a judge that can never be sent as failed rows, many at a time."""

    run: RunDirectory
    session: int
    fleet: Fleet
    _waiting: list[tuple[Ask, tuple[Completion, ...]]] = field(default_factory=list, init=False)

    def add(self, ask: Ask, reason: str | RequestRefused) -> None:
        """Land a request, with its reason, together with others of its judge that are to come."""
        known = reason.where if isinstance(reason, RequestRefused) else None
        why = reason.problem if isinstance(reason, RequestRefused) else reason
        self._waiting.append((ask, never_sent(ask, why, known)))
        if len(self._waiting) >= IMPOSSIBLE_BATCH:
            self.land()

    def land(self) -> None:
        """Land those that wait, as an engine's refusal would.

        Effects: a part pair and a commit record. Retry: safe, under a new lease.
        """
        if not self._waiting:
            return
        asks = [ask for ask, _ in self._waiting]
        judge = asks[0].condition.judge
        rows = landed_rows(self._waiting, attempt=1, prices=None, landed_at=datetime.now(UTC))
        self._waiting.clear()
        land(
            self.run,
            session=self.session,
            lease=self.fleet.next_lease(),
            attempt=1,
            judge=judge,
            judgments=rows.judgments,
            completions=rows.completions,
            conditions=ranges_by_condition(asks),
            tokens=TokenCounts(),
            seconds=0.0,
            engine={"engine": "none"},
            parents={key for ask in asks for key in ask.condition.parents},
        )
        n_rows = rows.judgments.height
        self.fleet.count_landed(judge, n_rows, {"failed": n_rows})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """One wave of one judge, over all asks of the sweep."""

    asked: tuple[tuple[AskFrame, Voice], ...]
    wave: int
    texts: Texts
    ledger: Ledger
    rounds: Rounds | None = None
    request_size: int | None = None
    fit: PromptFit | None = None
    stopped: set[int] = field(default_factory=set)
    """Places among `asked` of the asks of which nothing more is wanted."""
    sent_first: dict[str, int] = field(default_factory=dict)
    """Replications that are asked by themselves before all else, by condition key."""
    _begun: dict[int, dict[str, Ask]] = field(default_factory=dict, init=False, repr=False)
    """Asks with a replication that goes first, by number of the ask and name of the item."""
    _pending: list[set[str]] = field(default_factory=list, init=False, repr=False)
    _whole: list[set[str]] = field(default_factory=list, init=False, repr=False)

    def count(self) -> int:
        """How many requests are pending.

        Writing prompts and hashing keys is what building a wave costs, so that is left to
        :meth:`asks` where nothing has landed yet. Else it is done here, and again only for the
        items of which anything is pending.
        """
        if (planned := self._planned()) is not None:
            return planned
        n_pending = 0
        pending: list[set[str]] = [set() for _ in self.asked]
        whole: list[set[str]] = [set() for _ in self.asked]
        for place, item_id, every, parts in self._items():
            n = sum(part.n for part, _ in parts)
            n_pending += n
            if n:
                pending[place].add(item_id)
            if n and _pending_ask_extents(part for part, _ in parts) == _pending_ask_extents(
                ask for ask, _ in every
            ):
                whole[place].add(item_id)
        self._pending[:], self._whole[:] = pending, whole
        return n_pending

    def count_later(self) -> int:
        """How many of the pending requests are beyond their conditions' first blocks."""
        return sum(
            part.n for *_, parts in self._items() for part, _ in parts if part.condition.block
        )

    def _planned(self) -> int | None:
        """What is pending before anything landed, from the plan's counts; None if that may err."""
        if not self._is_fresh or self._only is not None:
            return None
        name = self._name
        if self.wave > 1 and any(
            frame.protocol.cascade(frame.ask) is not None for frame, _ in self.asked
        ):
            return None  # what goes on to a later model depends on the ones before
        counts = count_stages([frame for frame, _ in self.asked])
        before = sum(one.requests for one in counts if one.wave < self.wave)
        if before != len(self.texts):  # what is to be judged may be missing
            return None
        return sum(one.requests for one in counts if (one.judge, one.wave) == (name, self.wave))

    @property
    def _name(self) -> str:
        """Who is asked."""
        return self.asked[0][1].name if self.asked else ""

    @property
    def _is_fresh(self) -> bool:
        """Whether nothing of the judge has landed."""
        totals = self.ledger.judges.get(self._name)
        return totals is None or not totals.rows

    def take_first(self, place: int, ask: Ask) -> tuple[Ask, ...]:
        """Take the first replication of an ask out, to ask it before all else.

        Nothing where it has landed, or was taken by another ask.
        """
        condition_key, first = ask.condition.condition_key, replace(ask, n=1)
        if condition_key in self.sent_first or not pending_parts(first, self.ledger):
            return ()
        self.sent_first[condition_key] = ask.first
        self._begun.setdefault(place, {})[ask.condition.item_id] = ask
        return (first,)

    def _but_first(self, part: Ask) -> tuple[Ask, ...]:
        """A pending part without the replication that was taken out of it."""
        is_first = self.sent_first.get(part.condition.condition_key) == part.first
        return rest_of(part) if is_first else (part,)

    def asks(self, never: NeverSent) -> WorkItems:
        """What can be asked, item by item; what never can lands as failed on the way."""
        rest: list[set[str] | None] = [None for _ in self.asked]
        if self.request_size is not None and self.wave == 0 and self._only is None:
            shared = shared_items([frame for frame, _ in self.asked])
            for place, (frame, voice) in enumerate(self.asked):
                if not self._grows_whole(frame):
                    continue
                writing = Unwriting(frame, voice, self.request_size, self.fit)
                left = rest[place] = set()
                for item in frame.items:
                    if place in self.stopped:
                        break
                    whole = item.item_id in self._whole[place] if self._whole else self._is_fresh
                    begun = self._begun.get(place, {}).get(item.item_id)
                    if begun is not None and frame.ask.adaptive is not None:
                        whole = False  # actors ask on only what they are sent from its beginning
                    whole = whole and not is_shared(item, shared)
                    work = writing.of(item, begun) if whole else None
                    if work is None:
                        left.add(item.item_id)
                    else:
                        yield (work,)
        for place, _, _, parts in self._items(rest):
            frame = self.asked[place][0]
            for part, reason in parts:
                if reason is not None:
                    never.add(part, reason)
            size = self.request_size or 0
            pending = tuple(growing(part, frame, size) for part, reason in parts if reason is None)
            if pending:
                yield pending

    def _grows_whole(self, frame: AskFrame) -> bool:
        """Whether actors ask every condition of an ask to its end: no first block is cut."""
        return frame.ask.adaptive is None or frame.ask.adaptive.first <= (self.request_size or 0)

    def _items(
        self, rest: Sequence[AbstractSet[str] | None] = ()
    ) -> Iterator[tuple[int, str, Asks, list[tuple[Ask, str | None]]]]:
        """Asks of every item and their pending parts, with reasons why they can never be sent.

        With the place among the asks and the item's name. Only the items named in `rest`, ask by
        ask, are gone through where it names any.
        """
        queued: dict[str, int] = {}
        for place, (frame, voice) in enumerate(self.asked):
            if place in self.stopped:
                continue
            only: AbstractSet[str] | None = self._pending[place] if self._pending else self._only
            left = rest[place] if rest else None
            if left is not None:
                only = left if only is None else only & left
            for item_id, every in self._built(place, frame, voice, only):
                if len(self.asked) == 1:  # keys name their item: only another ask has them again
                    queued.clear()
                parts = [
                    (part, reason)
                    for ask, reason in every
                    for wanted in self._wanted(frame, ask)
                    for fresh in unqueued(wanted, queued)
                    for owed in pending_parts(fresh, self.ledger)
                    for part in self._but_first(owed)
                    if self.rounds is None or not self.rounds.has_failed(part)
                ]
                if self.rounds is not None:
                    self.rounds.keep(place, item_id, every)
                if place in self.stopped:
                    break
                yield place, item_id, every, parts

    def _built(
        self, place: int, frame: AskFrame, voice: Voice, only: AbstractSet[str] | None
    ) -> Iterator[tuple[str, Asks]]:
        """All that an ask asks about the items of which anything may be pending, built or kept."""
        if self.rounds is not None and self.rounds.ready is not None:
            for (other, item_id), asks in self.rounds.ready.items():
                if other == place and (only is None or item_id in only):
                    yield item_id, asks
            return
        for work in build_wave(frame, self.wave, voice, self.texts, only=only):
            yield work.item_id, [*((ask, None) for ask in work.asks), *work.impossible]

    @property
    def _only(self) -> frozenset[str] | None:
        """Names of the items of which anything can be pending; None where all can."""
        return None if self.rounds is None else self.rounds.only

    def _wanted(self, frame: AskFrame, ask: Ask) -> Iterator[Ask]:
        """An ask as far as its condition is asked for now."""
        wanted = ask if self.rounds is None else self.rounds.grown(frame, ask)
        if wanted is not None:
            yield wanted


def _pending_ask_extents(asks: Iterable[Ask]) -> list[tuple[str, int, int]]:
    """What asks ask: of which conditions, from where, and how much."""
    return [(ask.condition.condition_key, ask.first, ask.n) for ask in asks]


def pending_parts(ask: Ask, ledger: Ledger) -> list[Ask]:
    """The replications of an ask that have not landed, as ranges."""
    return unlanded(ask, ledger.landed.get(ask.condition.condition_key, ()))
