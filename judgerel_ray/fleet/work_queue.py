"""A judge's work, item by item: what is owed, cut into leases as actors ask for more."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from judgerel_ray.core import Ask
from judgerel_ray.fleet.lease import Unwritten, Work, ask_units, item_of, split_ask, written


@dataclass(slots=True)
class WorkQueue:
    """Owed asks of one judge in the order of the sweep, an item's asks side by side.

    An actor that was given the first asks of an item gets the rest of it too, while others take
    other items: one engine computes an item's prompt once. Only when nothing else is left does an
    actor take from another's item.

    Parameters
    ----------
    source : iterator of tuple of Ask or Unwritten
        Items' asks, read lazily; an item that is unwritten is written here only where a lease has
        no room for all of it.
    request_size : int
        Replications asked in one request, at most.
    next_round : callable, optional
        Gives what is asked next, judging by what landed; None once that is nothing.
    """

    source: Iterator[tuple[Work, ...]]
    request_size: int
    next_round: Callable[[], Iterator[tuple[Work, ...]] | None] | None = None
    _hands: dict[str, deque[Work]] = field(default_factory=dict)
    _returned: deque[Work] = field(default_factory=deque)
    _ahead: list[Work] | None = None

    def take(self, actor: str, units: int) -> tuple[Work, ...]:
        """Cut the next lease for an actor: at least one ask, at most about `units` of work."""
        taken: list[Work] = []
        room = units
        while room > 0:
            ask = self._next(actor)
            if ask is None:
                break
            if isinstance(ask, Unwritten) and ask.n_pieces > 1 and ask.units > room:
                self._hands[actor].extendleft(reversed(ask.write()))
                continue
            taken.append(ask)
            room -= ask_units(ask)
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
            yield from written([ask])

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
        """Pieces of the next item that owes anything, or None at the end."""
        for asks in self.source:
            pieces: list[Work] = []
            for ask in asks:
                if isinstance(ask, Unwritten):
                    pieces.append(ask)
                else:
                    pieces += split_ask(ask, self.request_size)
            if pieces:
                return pieces
        return None
