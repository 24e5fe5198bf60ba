"""The work of a judge: a queue of items, leases cut from it, and receipts; never replies.

An item whose first wave is pending as a whole travels as the item itself: the actor
writes the prompts and hashes the keys. A driver that did it for a thousand engines would be what
they wait for.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from judgerel_ray.core import Ask, HumanRating, Item, Option, SweepError, TokenCounts
from judgerel_ray.design import AskFrame, Voice, build_wave
from judgerel_ray.stats.intervals.stopping import StoppingRule
from judgerel_ray.store.records import Range, gaps


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwritten:
    """All that the first wave of an ask asks a judge about one item, no prompt written yet.

    ``frame`` is the ask, of which other items are left out on the way to an actor; at most
    ``request_size`` replications go into a request. ``n`` replications in ``n_pieces`` requests
    and ``units`` of work are what :meth:`write` will make; units are an estimate. Of the condition
    ``begun`` the first replication is asked elsewhere.
    """

    frame: AskFrame
    voice: Voice
    item: Item
    request_size: int
    n: int = 0
    n_pieces: int = 0
    units: int = 0
    begun: str = ""

    def write(self) -> tuple[Ask, ...]:
        """The requests, with their prompts, keys and seeds; the same wherever it is done."""
        alone = replace(self.frame, items=(self.item,))
        queued: dict[str, int] = {}
        return tuple(
            growing(piece, self.frame, self.request_size)
            for work in build_wave(alone, 0, self.voice, {})
            for ask in work.asks
            for fresh in unqueued(ask, queued)
            for rest in (rest_of(fresh) if ask.condition.condition_key == self.begun else (fresh,))
            for piece in split_leased_ask(rest, self.request_size)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Of plain values ten times as many are pickled in a second as of dataclasses.
        item = self.item
        plain = [getattr(item, name) for name in _ITEM]
        options = [[getattr(one, name) for name in _OPTION] for one in item.options]
        ratings = [[getattr(one, name) for name in _RATING] for one in item.ratings]
        rest = {name: getattr(self, name) for name in _BESIDE_ITEM}
        return _unpacked_lease_work, (plain, options, ratings, rest)


_OPTION = tuple(one.name for one in fields(Option))
_RATING = tuple(one.name for one in fields(HumanRating))
_ITEM = tuple(one.name for one in fields(Item) if one.name not in ("options", "ratings"))
_BESIDE_ITEM = tuple(one.name for one in fields(Unwritten) if one.name != "item")


def _unpacked_lease_work(
    plain: Sequence[Any],
    options: Sequence[Sequence[Any]],
    ratings: Sequence[Sequence[Any]],
    rest: Mapping[str, Any],
) -> Unwritten:
    """What :meth:`Unwritten.__reduce__` took apart."""
    item = Item(
        **dict(zip(_ITEM, plain, strict=True)),
        options=tuple(Option(**dict(zip(_OPTION, one, strict=True))) for one in options),
        ratings=tuple(HumanRating(**dict(zip(_RATING, one, strict=True))) for one in ratings),
    )
    return Unwritten(item=item, **rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingAsk(Ask):
    """The first block of a condition, which its actor asks on while `rule` wants more.

    Cut into pieces or given back it is an ask like any other, and the driver asks on.
    """

    rule: StoppingRule


def growing(part: Ask, frame: AskFrame, request_size: int) -> Ask:
    """A part of what is asked; the whole first block of an adaptive condition grows by itself."""
    rule = frame.stopping(part.condition.temperature)
    if rule is None or part.condition.role != "judge":  # answers are written once
        return part
    if (part.first, part.n) != (0, rule.first) or part.n > request_size:
        return part
    return GrowingAsk(condition=part.condition, first=0, n=part.n, rule=rule)


Work = Ask | Unwritten


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Work given to one actor: asks of one judge, an item's asks side by side.

    ``lease`` numbers it within its session. ``attempt`` is 1 plus how often, in this session, what
    it holds was asked before without landing: requests that failed, and engines or nodes lost while
    its item was before them (the most of any of its asks). Asks given back unasked do not count,
    and another session counts from 1 again. It is the lease's fence: once the driver has closed an
    attempt, nothing that attempt writes is ever read.
    """

    lease: int
    attempt: int
    judge: str
    asks: tuple[Work, ...]

    @property
    def n_requests(self) -> int:
        """Replications in all."""
        return sum(ask.n for ask in self.asks)

    @property
    def n_pieces(self) -> int:
        """Asks in all, once they are written."""
        return sum(one.n_pieces if isinstance(one, Unwritten) else 1 for one in self.asks)

    def written(self) -> tuple[Ask, ...]:
        """Its asks, each with its prompt."""
        return write_asks(self.asks)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAsk:
    """An ask that did not land because its request failed; it stays pending."""

    ask: Ask
    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What an actor did with a lease attempt.

    ``landed`` is False where the driver had closed the attempt before its commit; nothing of it
    counts then. ``withdrawn`` are asks given back unasked after a recall. ``mistake`` is why
    nothing more can be asked of the judge: the caller must change something. ``unsettled`` are the
    items of conditions that may want more than was asked of them.
    """

    landed: bool
    rows: int
    outcomes: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[FailedAsk, ...] = ()
    withdrawn: tuple[Ask, ...] = ()
    unsettled: tuple[str, ...] = ()
    tokens: TokenCounts = field(default_factory=TokenCounts)
    seconds: float = 0.0
    mistake: SweepError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorFacts:
    """Where an actor runs and what it holds, told once when its engine is up."""

    node: str
    max_num_seqs: int | None
    log: str | None = None
    """Where its engine writes what goes wrong, as ``node:path``."""


def write_asks(work: Iterable[Work]) -> tuple[Ask, ...]:
    """Asks, each with its prompt."""
    return tuple(
        ask for one in work for ask in (one.write() if isinstance(one, Unwritten) else (one,))
    )


def unqueued(ask: Ask, queued: dict[str, int]) -> Iterator[Ask]:
    """The replications that no ask before has queued: asks may share their responders' answers.

    Yields
    ------
    Ask
        At most one. ``queued`` holds the end of each condition's replications, and is kept.
    """
    key, end = ask.condition.condition_key, ask.first + ask.n
    first = max(ask.first, queued.get(key, ask.first))
    if first < end:
        queued[key] = end
        yield Ask(condition=ask.condition, first=first, n=end - first)


def unlanded(ask: Ask, landed: Iterable[Range]) -> list[Ask]:
    """The replications of an ask that are in none of the ranges that landed, as asks."""
    return [
        Ask(condition=ask.condition, first=max(first, ask.first), n=n - max(0, ask.first - first))
        for first, n in gaps(landed, ask.first + ask.n)
        if first + n > ask.first
    ]


def ranges_by_condition(asks: Iterable[Ask]) -> dict[str, list[Range]]:
    """The replications of asks, by condition."""
    conditions: dict[str, list[Range]] = {}
    for ask in asks:
        conditions.setdefault(ask.condition.condition_key, []).append((ask.first, ask.n))
    return conditions


def rest_of(ask: Ask) -> tuple[Ask, ...]:
    """All replications of an ask but its first; nothing where that is all."""
    if ask.n == 1:
        return ()
    return (Ask(condition=ask.condition, first=ask.first + 1, n=ask.n - 1),)


def ask_units(ask: Work) -> int:
    """Work of an ask in token-equivalents: new tokens at most, and its prompt once.

    A prompt is counted by characters / 4; it only has to be proportional, not exact.
    """
    if isinstance(ask, Unwritten):
        return ask.units
    prompt = sum(len(message.content) for message in ask.condition.prompt) // 4
    return ask.n * ask.condition.max_tokens + prompt


def item_of(ask: Work) -> tuple[str, str]:
    """Name the item an ask is about: benchmark and id."""
    if isinstance(ask, Unwritten):
        return ask.item.benchmark, ask.item.item_id
    return ask.condition.benchmark, ask.condition.item_id


def split_leased_ask(ask: Ask, size: int) -> tuple[Ask, ...]:
    """Cut an ask into pieces of at most `size` replications; keys and seeds do not change.

    One that is no larger stays as it is.
    """
    if ask.n <= size:
        return (ask,)
    return tuple(
        Ask(condition=ask.condition, first=first, n=min(size, ask.first + ask.n - first))
        for first in range(ask.first, ask.first + ask.n, size)
    )


@dataclass(slots=True)
class WorkQueue:
    """Pending asks of one judge in the order of the sweep, an item's asks side by side.

    An actor that was given the first asks of an item gets the rest of it too, while others take
    other items: one engine computes an item's prompt once. Only when nothing else is left does an
    actor take from another's item.

    Parameters
    ----------
    source : iterator of tuple of Ask or Unwritten
        Items' asks, read lazily; an item that is unwritten is written here only where a lease has
        no room for all of it. An empty tuple says that there is nothing until more has landed, or
        the next round begins.
    request_size : int
        Replications asked in one request, at most.
    next_round : callable, optional
        Gives what is asked next, judging by what landed; None once that is nothing.
    most_in_lease : callable, optional
        Gives how many asks a lease may hold by now, whatever their size; None for any number.
    """

    source: Iterator[tuple[Work, ...]]
    request_size: int
    next_round: Callable[[], Iterator[tuple[Work, ...]] | None] | None = None
    most_in_lease: Callable[[], int | None] = lambda: None
    _hands: dict[str, deque[Work]] = field(default_factory=dict)
    _returned: deque[Work] = field(default_factory=deque)
    _ahead: list[Work] | None = None

    def take(self, actor: str, units: int, requests: float = math.inf) -> tuple[Work, ...]:
        """Cut the next lease for an actor: at least one ask, at most about `units` of work.

        It holds no more than so many `requests`, but for those of a single ask.
        """
        taken: list[Work] = []
        room, most = units, self.most_in_lease()
        while room > 0 and requests > 0 and (most is None or len(taken) < most):
            ask = self._next(actor)
            if ask is None:
                break
            too_large = ask.n > requests or ask_units(ask) > room
            if isinstance(ask, Unwritten) and ask.n_pieces > 1 and too_large:
                self._hands[actor].extendleft(reversed(ask.write()))
                continue
            taken.append(ask)
            room -= ask_units(ask)
            requests -= ask.n
        return tuple(taken)

    def give_back(self, asks: Iterable[Work]) -> None:
        """Put asks back to be taken first, in their order."""
        self._returned.extendleft(reversed(tuple(asks)))

    def forget(self, actor: str) -> None:
        """Free what an actor that is gone had before it."""
        hand = self._hands.pop(actor, None)
        if hand:
            self.give_back(hand)

    def refill(self) -> None:
        """Go on with the next round, if there is one: only after all of this one has settled.

        A judge's rounds follow each other while its engines are up, whatever other judges do.
        """
        if self.next_round is None:
            return
        source = self.next_round()
        if source is None:
            self.next_round = None
        else:
            self.source = source

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to take, by anyone."""
        if self._returned or any(self._hands.values()):
            return False
        if self._ahead is None:
            self._ahead = self._pull()
        return self._ahead is None

    def drain(self) -> Iterator[Ask]:
        """Everything that is left, for a judge that is given up."""
        while True:
            ask = self._next("")
            if ask is None:
                return
            yield from write_asks([ask])

    def _next(self, actor: str) -> Work | None:
        """One ask: of the item in hand, else one given back, else a new item, else another's."""
        hand = self._hands.setdefault(actor, deque())
        if hand:
            return hand.popleft()
        if self._returned:
            ask = self._returned.popleft()
            while self._returned and item_of(self._returned[0]) == item_of(ask):
                hand.append(self._returned.popleft())
            return ask
        pieces, self._ahead = self._ahead or self._pull(), None
        if pieces is not None:
            hand.extend(pieces)
            return hand.popleft()
        largest = max(self._hands.values(), key=len, default=hand)
        return largest.pop() if largest else None

    def _pull(self) -> list[Work] | None:
        """Pieces of the next item of which anything is pending, or None while there is none."""
        for asks in self.source:
            if not asks:
                return None
            pieces: list[Work] = []
            for ask in asks:
                if isinstance(ask, Unwritten):
                    pieces.append(ask)
                else:
                    pieces += split_leased_ask(ask, self.request_size)
            if pieces:
                return pieces
        return None
