"""What becomes of work that did not land; an item that may kill engines is asked apart.

One pure decision serves every kind of failure. An engine's death says only that one of the items
before it may be deadly. They are split into about sqrt(n) groups, and each group is asked with
nothing beside it. A group that lands is cleared, one whose engine dies is split again, and an item
alone whose engine dies is quarantined::

    600 items in flight, one of them deadly         engines lost
      24 groups of 25: 23 land, one dies                 1 + 1
       5 groups of 5:   4 land, one dies                     1
       3 groups of 2, 2, 1: 2 land, one dies                 1
       2 groups of 1:   1 lands, one dies: quarantined       1

So a deadly item costs 3 + log2(log2(n)) engines, fewer than halving would, and a death by chance
costs sqrt(n) short leases. New groups wait behind the others: for one deadly item no more than
three engines die before something lands. ``max_engine_losses`` counts deaths with nothing landed in
between: from 3 on it is reached by a judge that cannot answer, and never by one deadly item. That
holds where one engine at a time dies of a deadly item. Several such items before several engines
add their deaths up, and so do several engines that have the same item before them, as at the tail,
where an item's replications are shared out.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from judgerel_ray.core import Ask
from judgerel_ray.fleet.lease import item_of

MOST_NODE_LOSSES = 2  # nodes that may die under an item before it is suspected itself

# What Ray says of an actor whose node is gone. A process that dies on a node that lives is told as
# such within a second; an actor that is merely unavailable is one whose node does not answer.
_OF_NODES = ("ActorUnavailableError", "node has died", "actor's node was")


class Fate(StrEnum):
    """What is done with an ask that did not land."""

    AGAIN = "again"
    """Back to the queue."""
    APART = "apart"
    """Again, with none but suspects beside it: it may be what killed the engine."""
    RECORD = "record"
    """Written to errors/; left to the next run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHistory:
    """What an ask has been through in this run: its requests failed, engines lost under its item.

    What kills an engine is nearly always the prompt, and an item's asks share it: losses are
    counted by item. ``losses`` are all engines that went while the item was before them, whatever
    the reason; ``suspected`` and ``convicted`` say what is made of it (see :class:`Suspicion`).
    """

    failures: int = 0
    losses: int = 0
    suspected: bool = False
    convicted: bool = False


def decide(history: AskHistory, *, max_attempts: int) -> Fate:
    """Say what becomes of an ask that did not land.

    An ask whose item may have killed an engine is asked apart, one whose item killed an engine
    alone is quarantined. An ask whose request failed is asked again until it has been asked
    ``max_attempts`` times.

    Parameters
    ----------
    history : History
        With the failure at hand counted.
    max_attempts : int
        How often a request is asked in one run.

    Returns
    -------
    Fate
        Nothing is ever dropped: what is recorded stays pending.

    Examples
    --------
    >>> decide(AskHistory(losses=1, suspected=True), max_attempts=3)
    <Fate.APART: 'apart'>
    >>> decide(AskHistory(losses=4, convicted=True), max_attempts=3)
    <Fate.RECORD: 'record'>
    >>> decide(AskHistory(losses=4), max_attempts=3), decide(AskHistory(failures=3), max_attempts=3)
    (<Fate.AGAIN: 'again'>, <Fate.RECORD: 'record'>)
    """
    if history.convicted or history.failures >= max_attempts:
        return Fate.RECORD
    return Fate.APART if history.suspected else Fate.AGAIN


def is_loss_of_node(message: str) -> bool:
    """Whether an engine was lost with its node, or with the way to it, and not by what it did."""
    return any(mark in message for mark in _OF_NODES)


def with_nodes_lost(message: str, n_nodes: int) -> str:
    """What a line of errors/ says, with how many nodes went while its item was on them."""
    if not n_nodes:
        return message
    return f"{n_nodes} {'node was' if n_nodes == 1 else 'nodes were'} lost under it: {message}"


ItemName = tuple[str, str]


@dataclass(slots=True)
class Suspicion:
    """The items of one judge under which an engine died, and what is still to be asked of them."""

    _groups: deque[tuple[ItemName, ...]] = field(default_factory=deque)
    _asks: dict[ItemName, list[Ask]] = field(default_factory=dict)
    """What waits, of every suspected item; held while its group is at work."""
    _convicted: set[ItemName] = field(default_factory=set)

    @property
    def n_waiting(self) -> int:
        """Groups that nobody asks yet."""
        return len(self._groups)

    def suspects(self, item: ItemName) -> bool:
        """Whether an item may be what killed an engine."""
        return item in self._asks

    def convicts(self, item: ItemName) -> bool:
        """Whether an engine died under this item alone."""
        return item in self._convicted

    def accuse(self, items: Iterable[ItemName]) -> None:
        """An engine died with these before it: ask them in groups."""
        fresh = [one for one in dict.fromkeys(items) if one not in self._asks]
        self._asks.update((one, []) for one in fresh)
        self._groups.extend(split(fresh))

    def join(self, ask: Ask) -> None:
        """Put an ask of a suspected item with the others of that item."""
        self._asks[item_of(ask)].append(ask)

    def take(self) -> tuple[tuple[ItemName, ...], tuple[Ask, ...]]:
        """The next group to ask: its items, and all that is asked of them so far."""
        group = self._groups.popleft()
        asks = tuple(ask for item in group for ask in self._asks[item])
        self._asks.update((item, []) for item in group)
        return group, asks

    def clear(self, group: Iterable[ItemName]) -> list[Ask]:
        """An engine survived these: they are as any other again, with what was held of them."""
        return [ask for item in group for ask in self._asks.pop(item, ())]

    def condemn(self, group: Sequence[ItemName]) -> list[Ask]:
        """An engine died under these alone: split them, or convict the one there is."""
        if len(group) > 1:
            self._groups.extend(split(group))
            return []
        self._convicted.update(group)
        return self.clear(group)

    def put_back(self, group: tuple[ItemName, ...]) -> None:
        """What became of these is not known: ask them as they are."""
        self._groups.appendleft(group)

    def drain(self) -> list[Ask]:
        """All that waits, for a judge that is given up."""
        asks = [ask for held in self._asks.values() for ask in held]
        self._groups.clear()
        self._asks.clear()
        return asks


def split(items: Sequence[ItemName]) -> list[tuple[ItemName, ...]]:
    """Cut items into about sqrt(n) groups of about sqrt(n), neighbours together."""
    size = math.ceil(len(items) / math.ceil(math.sqrt(len(items)))) if items else 1
    return [tuple(items[at : at + size]) for at in range(0, len(items), size)]
