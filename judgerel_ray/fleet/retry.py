"""What becomes of work that did not land: one pure decision for every kind of failure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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
    """Written to errors/; owed to the next run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What an ask has been through in this run: its requests failed, engines lost under its item.

    What kills an engine is nearly always the prompt, and an item's asks share it: losses are
    counted by item. ``losses`` are all engines that went while the item was before them, whatever
    the reason; ``suspected`` and ``convicted`` say what is made of it (see ``suspicion``).
    """

    failures: int = 0
    losses: int = 0
    suspected: bool = False
    convicted: bool = False


def decide(history: History, *, max_attempts: int) -> Fate:
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
        Nothing is ever dropped: what is recorded stays owed.

    Examples
    --------
    >>> decide(History(losses=1, suspected=True), max_attempts=3)
    <Fate.APART: 'apart'>
    >>> decide(History(losses=4, convicted=True), max_attempts=3)
    <Fate.RECORD: 'record'>
    >>> decide(History(losses=4), max_attempts=3), decide(History(failures=3), max_attempts=3)
    (<Fate.AGAIN: 'again'>, <Fate.RECORD: 'record'>)
    """
    if history.convicted or history.failures >= max_attempts:
        return Fate.RECORD
    return Fate.APART if history.suspected else Fate.AGAIN


def is_loss_of_node(message: str) -> bool:
    """Whether an engine was lost with its node, or with the way to it, and not by what it did.

    Parameters
    ----------
    message : str
        What Ray says of a call that never came back.

    Examples
    --------
    >>> is_loss_of_node("ActorDiedError: The actor died because its node has died. Node Id: 1f")
    True
    >>> is_loss_of_node("ActorDiedError: Worker exit type: SYSTEM_ERROR")
    False
    """
    return any(mark in message for mark in _OF_NODES)


def with_nodes_lost(message: str, n_nodes: int) -> str:
    """What a line of errors/ says, with how many nodes went while its item was on them.

    Examples
    --------
    >>> with_nodes_lost("engine died", 3), with_nodes_lost("engine died", 1)
    ('3 nodes were lost under it: engine died', '1 node was lost under it: engine died')
    >>> with_nodes_lost("engine died", 0)
    'engine died'
    """
    if not n_nodes:
        return message
    return f"{n_nodes} {'node was' if n_nodes == 1 else 'nodes were'} lost under it: {message}"
