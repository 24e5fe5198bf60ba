"""What becomes of work that did not land: one pure decision for every kind of failure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MOST_LOSSES = 2  # an item that took two engines with it gets no third


class Fate(StrEnum):
    """What is done with an ask that did not land."""

    AGAIN = "again"
    """Back to the queue."""
    ALONE = "alone"
    """Again, with nothing beside it: it may be what killed the engine."""
    RECORD = "record"
    """Written to errors/; owed to the next run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What an ask has been through in this run: its requests failed, engines lost under its item.

    What kills an engine is nearly always the prompt, and an item's asks share it: losses are
    counted by item, so that one bad item costs two engines whatever the number of its asks.
    """

    failures: int = 0
    losses: int = 0


def decide(history: History, *, max_attempts: int) -> Fate:
    """Say what becomes of an ask that did not land.

    An ask under which one engine died is asked alone; under which two died it is quarantined. An
    ask whose request failed is asked again until it has been asked ``max_attempts`` times.

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
    >>> decide(History(losses=1), max_attempts=3), decide(History(losses=2), max_attempts=3)
    (<Fate.ALONE: 'alone'>, <Fate.RECORD: 'record'>)
    >>> decide(History(failures=3), max_attempts=3)
    <Fate.RECORD: 'record'>
    """
    if history.losses >= MOST_LOSSES or history.failures >= max_attempts:
        return Fate.RECORD
    return Fate.ALONE if history.losses else Fate.AGAIN
