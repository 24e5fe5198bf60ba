"""A judge's actors and the work before them: what the scheduler knows of one judge."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from judgerel_ray.config import Limits
from judgerel_ray.core import Ask
from judgerel_ray.fleet.board import JudgeState
from judgerel_ray.fleet.cluster import ActorHandle
from judgerel_ray.fleet.judge_actor import JudgeSpec
from judgerel_ray.fleet.lease import Lease, Unwritten, Work, WorkQueue, ask_units, item_of
from judgerel_ray.fleet.retry import MOST_NODE_LOSSES, AskHistory, ItemName, Suspicion

FIRST_LEASE_UNITS = 8_192  # tokens: seconds on a CPU, less than one on a GPU; then rates decide
LEASES_AHEAD = 2  # one at work, one waiting, so that an engine never idles for a round trip
FIRST_LEASES_AHEAD = 8  # at most, while they are small for want of a rate
BATCHES_AHEAD = 4  # of an engine's, in its first leases: two inside its gate, two waiting
UNITS_EACH = 600  # of a request, before any was sent
SHARERS = 4  # judges that may wait for the limits of one provider at once
FEW_REQUESTS = 8  # a lease behind an API may hold, whatever is left
SERVED_LEASE_S = 3.0  # of work in a lease behind an API, and more where much is left
MOST_LEASES = 64  # of what is left, behind an API
TAIL_SHARE = 4  # no lease larger than this share of an actor's part of what is left, or the least
SHORTEST_LEASE_S = 1.0  # or engines wait for their next lease: landing and the way take .1 s


@dataclass(slots=True)
class Dispatched:
    """A lease at work, with what bounds it."""

    lease: Lease
    units: int
    sent_at: float
    deadline_at: float
    recalled: bool = False


@dataclass(slots=True)
class Slot:
    """One actor: coming up, or at work on its leases."""

    name: str
    handle: ActorHandle
    started_at: float
    starting: Any
    pieces: tuple[int, ...] = ()
    """GPUs it takes of a node at a time."""
    waits: bool = False
    """Made for room that is not there: what it will hold is not taken yet."""
    placed: bool = False
    """On a node, as was seen; one that is not waits in Ray's queue."""
    ready: bool = False
    log: str | None = None
    """Where its engine writes what goes wrong."""
    ping: Any = None
    """Whether it is there is asked before it gets suspects: an idle engine dies unseen."""
    ping_until: float = 0.0
    apart: tuple[ItemName, ...] = ()
    """The suspected items it is asked, with nothing beside them."""
    leases: dict[Any, Dispatched] = field(default_factory=dict)

    @property
    def awaited(self) -> list[Any]:
        """Calls of this actor that have not been settled."""
        return [one for one in (self.starting, self.ping, *self.leases) if one is not None]

    def is_late(self, at: float) -> bool:
        """Whether it should have answered a lease, or whether it is there, before `at`."""
        late = any(at > sent.deadline_at for sent in self.leases.values())
        return late or (self.ping is not None and at > self.ping_until)


@dataclass(slots=True)
class JudgePool:
    """One judge of a run."""

    name: str
    spec: JudgeSpec
    replicas: int | None
    """Engines wanted; None takes as many as the GPUs allow."""
    wanted: int = 1
    """Engines it is to have by now, of those: never idle ones."""
    queue: WorkQueue | None = None
    slots: dict[str, Slot] = field(default_factory=dict)
    suspicion: Suspicion = field(default_factory=Suspicion)
    failures: Counter[tuple[str, int]] = field(default_factory=Counter)
    unsettled: set[str] = field(default_factory=set)
    """Items that may want more replications than their actors asked."""
    item_losses: Counter[ItemName] = field(default_factory=Counter)
    item_node_losses: Counter[ItemName] = field(default_factory=Counter)
    losses: int = 0
    """Engines that died with nothing landed since; those that went with their node not counted."""
    start_failures: int = 0
    start_node_losses: int = 0
    """Nodes that went under engines still coming up, since the last that did come up."""
    came_up: bool = False
    """Whether any of its engines ever did, so that something may have been asked of it."""
    batch: int = 0
    """Requests that one of its engines has at once; 0 where it does not say."""
    most: int | None = None
    """Engines to be content with, after others did not come up."""
    units_done: float = 0.0
    busy_s: float = 0.0
    requests_left: int = 0
    fatal_error: Exception | None = None
    mistake: Exception | None = None
    """Why nothing more is sent to it: it ends when its leases have."""
    straggling_since: float | None = None
    """Since when some of its engines idle while the last leases are at work on others."""
    _units_sent: int = 0
    _requests_sent: int = 0
    _requests_done: int = 0
    _rows_done: int = 0

    def state(self, before: JudgeState, *, finished: bool, settled: bool) -> JudgeState:
        """What the judge is doing, in a word; `before` stands between two waves of work.

        `finished` says that this wave has nothing left for it, `settled` that no wave has.
        """
        if self.fatal_error:
            return JudgeState.FAILED
        if finished:
            return JudgeState.DONE if settled else before
        if any(slot.ready for slot in self.slots.values()):
            return JudgeState.RUNNING
        return JudgeState.STARTING if self.slots else JudgeState.WAITING

    @property
    def has_work(self) -> bool:
        """Whether anything is left to dispatch."""
        if self.queue is None or self.fatal_error:
            return False
        return bool(self.suspicion.n_waiting) or not self.queue.is_empty

    @property
    def at_work(self) -> bool:
        """Whether any actor holds a lease."""
        return any(slot.leases for slot in self.slots.values())

    def refill(self) -> None:
        """Take on the next round of its queue, where all of this one has settled."""
        if self.queue is not None and not (self.fatal_error or self.has_work or self.at_work):
            self.queue.refill()

    def history(self, ask: Work) -> AskHistory:
        """What an ask has been through; one that was never written, nothing but its item's."""
        if isinstance(ask, Unwritten):
            failures = 0
        else:
            failures = self.failures[ask.condition.condition_key, ask.first]
        return AskHistory(
            failures=failures,
            losses=self.item_losses[item_of(ask)],
            suspected=self.suspicion.suspects(item_of(ask)),
            convicted=self.suspicion.convicts(item_of(ask)),
        )

    def note_failure(self, ask: Ask) -> None:
        """Count a request that failed, its engine still there."""
        self.failures[ask.condition.condition_key, ask.first] += 1

    def note_loss(self, asks: Iterable[Ask], *, of_node: bool) -> bool:
        """Count an engine that is gone, and say whether what was asked of it is to blame.

        A node's death is nobody's fault, but an item that sees too many is suspected all the same:
        it might be what brings nodes down. Of a judge behind an API no item kills what asks it.
        """
        items = {item_of(ask) for ask in asks}
        self.item_losses.update(items)
        if self.spec.engine.base_url is not None:
            self.losses += not of_node
            return False
        if of_node:
            self.item_node_losses.update(items)
            if all(self.item_node_losses[item] <= MOST_NODE_LOSSES for item in items):
                return False
        self.losses += 1
        return True

    @property
    def units_per_s(self) -> float | None:
        """Work one actor does in a second, measured so far."""
        return self.units_done / self.busy_s if self.busy_s > 0 and self.units_done else None

    def lease_units(self, lease_seconds: float) -> int:
        """Size of the next lease: some seconds of work, and small at the tail.

        Leases shrink as work runs out, so that engines end together; not below what fills one, nor
        below a second of work, or its part of what is left: an engine with half a batch takes
        nearly as long, and one that waits for its next lease does nothing.
        """
        rate, grown = self.units_per_s, max(1.0, self._rows_done / max(1, self._requests_done))
        wanted = FIRST_LEASE_UNITS if rate is None else max(1, int(rate * lease_seconds / grown))
        each = self._units_sent / self._requests_sent if self._requests_sent else UNITS_EACH
        tail_share = TAIL_SHARE
        if self.spec.engine.base_url is not None:
            # A server takes as long for one request as for all it may have at once: leases that
            # held fewer would make the rate by which the next are cut.
            wanted = max(wanted, int(each * (self.spec.engine.limits or Limits()).concurrency))
            tail_share = 1
        if not self._requests_sent:
            return wanted
        part = self.requests_left * each / max(1, len(self.slots))
        second = (rate or 0.0) * SHORTEST_LEASE_S / grown
        least = max(min(part, self.batch * each), min(part / LEASES_AHEAD, second))
        share = max(part / (tail_share * LEASES_AHEAD), least)
        return max(1, min(wanted, int(share)))

    def lease_requests(self) -> float:
        """How many requests the next lease may hold: of a judge behind an API few, or some seconds.

        What a killed process had asked and not landed was paid for. A long run has larger ones, or
        its parts would be too many; all that an engine holds fill its server all the same.
        """
        if self.spec.engine.base_url is None:
            return math.inf
        filling = 2 * (self.spec.engine.limits or Limits()).concurrency / FIRST_LEASES_AHEAD
        each = self._units_sent / self._requests_sent if self._requests_sent else UNITS_EACH
        by_rate = (self.units_per_s or 0.0) * SERVED_LEASE_S / each
        return math.ceil(max(FEW_REQUESTS, filling, by_rate, self.requests_left / MOST_LEASES))

    def wants_lease(self, slot: Slot, ahead: int) -> bool:
        """Whether an engine that is up is to have its `ahead`-th lease.

        Its first leases are small, whatever it can do: it gets more of them, until it holds some
        batches, or it would be idle by the time that the first has landed. Behind an API leases
        may stay small.
        """
        if slot.apart or len(slot.leases) >= ahead:
            return False
        n_requests = sum(sent.lease.n_requests for sent in slot.leases.values())
        is_small = self.units_per_s is None or self.spec.engine.base_url is not None
        starting = is_small and n_requests < BATCHES_AHEAD * self.batch
        return ahead <= LEASES_AHEAD or starting

    def deadline_s(self, units: int, requests: int, shortest: float) -> float:
        """How long a lease may take: far more than it should, and never less than `shortest`.

        Behind an API it is the last resort: each request ends by a deadline of its own, and the
        limits that many share say how late it may begin.
        """
        if self.spec.engine.base_url is not None:
            limits = self.spec.engine.limits or Limits()
            alone = limits.lease_seconds(requests, 4 * units)
            return shortest + SHARERS * FIRST_LEASES_AHEAD * max(1, len(self.slots)) * alone
        rate = self.units_per_s
        return shortest if rate is None else max(shortest, 20.0 * LEASES_AHEAD * units / rate)

    def note_sent(self, lease: Lease, units: int) -> None:
        """Count a lease sent, to know what a request takes on average."""
        self._units_sent += units
        self._requests_sent += lease.n_requests

    def note_done(self, dispatched: Dispatched, *, rows: int, busy_s: float) -> None:
        """Count what a lease landed, for the rate; what it gave back is no work done."""
        if rows:
            self._requests_done += dispatched.lease.n_requests
            self._rows_done += rows
            self.units_done += dispatched.units * rows / dispatched.lease.n_requests
            self.busy_s += max(busy_s, 1e-3)


def sum_units(asks: tuple[Work, ...]) -> int:
    """Work of several asks."""
    return sum(ask_units(ask) for ask in asks)


def now() -> float:
    """Seconds of a clock that never goes back."""
    return time.monotonic()
