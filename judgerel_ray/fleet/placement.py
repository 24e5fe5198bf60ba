"""Which judges have engines now: admission while GPUs fit, release when work is done.

At the end of a judge's work, idle engines get what busy ones have not begun, and then leave.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from judgerel_ray.core import EngineStartError, count_of
from judgerel_ray.fleet.cluster import Capacity
from judgerel_ray.fleet.outside import Outside
from judgerel_ray.fleet.pool import Dispatched, JudgePool, Slot

SPARE_AFTER_S = 5.0


def recall_for_idle(pool: JudgePool) -> None:
    """At the tail, ask busy actors for what they have not begun while others idle.

    Effects: calls actors; what they give back comes with their receipts.
    """
    if pool.queue is None or not pool.queue.is_empty or pool.suspicion.n_waiting:
        return
    ready = [slot for slot in pool.slots.values() if slot.ready]
    idle = [slot for slot in ready if not slot.leases]
    if not idle:
        return
    busy = [slot for slot in ready if not slot.apart]
    busy.sort(key=lambda slot: -sum(sent.units for sent in slot.leases.values()))
    for slot in busy[: len(idle)]:
        for dispatched in reversed(slot.leases.values()):
            if _is_lease_divisible(dispatched):
                dispatched.recalled = True
                slot.handle.actor.recall.remote(dispatched.lease.lease, dispatched.lease.attempt)
                break


def spare_engines(pool: JudgePool, *, at: float) -> list[Slot]:
    """Idle engines of a judge whose last leases are at work elsewhere and stay there."""
    idle = [slot for slot in pool.slots.values() if not slot.leases]
    busy = [slot for slot in pool.slots.values() if not slot.apart]
    shared = any(_is_lease_divisible(sent) for slot in busy for sent in slot.leases.values())
    if pool.has_work or not pool.at_work or not idle or shared:
        pool.straggling_since = None
        return []
    if pool.straggling_since is None:
        pool.straggling_since = at
    return idle if at - pool.straggling_since >= SPARE_AFTER_S else []


def _is_lease_divisible(sent: Dispatched) -> bool:
    """Whether a lease could give something back."""
    return sent.lease.n_pieces > 1 and not sent.recalled


STOP_TIMEOUT_S = 20.0
CAPACITY_EVERY_S = 5.0
SPREAD_AFTER_S = 30.0
"""How long an engine larger than every node waits for a larger one before it is spread: nodes that
start together join within seconds of each other."""


class Placement:
    """Judges' engines on the cluster, judge by judge in the order of the sweep.

    A judge gets all the engines it wants before the next one gets any; judges that do not fit wait
    until one ends. The account of what is taken is kept here, because the cluster's own lags
    behind and would let two judges take halves of what each needs. A judge that fits nowhere yet
    takes nothing of it, and is placed as any other once nodes have joined that hold it.
    """

    def __init__(
        self, *, pools: Mapping[str, JudgePool], session: int, local: bool, outside: Outside
    ) -> None:
        self._outside = outside
        self._pools = pools
        self._session = session
        self._local = local
        self._others = self._outside.in_use()
        self._room = self._outside.capacity()
        self._seen_at = self._changed_at = self._grew_at = self._outside.now()
        self._leaving: list[tuple[JudgePool, Slot, Any, float]] = []
        self._demanded: list[dict[str, int]] = []
        self._providers = self._outside.providers()

    def fill(self, keep: frozenset[str]) -> None:
        """Make the engines that fit, and make room for a judge that waits for kept idle ones."""
        self._refresh()
        for pool in self._pools.values():
            if not pool.has_work:
                continue
            pool.wanted = wanted = self._wanted(pool)
            self._drop_surplus(pool, wanted)
            while len(pool.slots) < wanted and self._fits(pool):
                self._make(pool)
            if not _n_actors_with_room(pool):
                self._evict_idle(keep)
        self._ask_cluster()

    def release(self, keep: frozenset[str], is_finished: Callable[[JudgePool], bool]) -> None:
        """Stop engines of judges that are done, but for those needed in a later wave."""
        for pool in self._pools.values():
            if pool.slots and is_finished(pool) and (pool.name not in keep or pool.fatal_error):
                for slot in list(pool.slots.values()):
                    self._leave(pool, slot)
        self._release_spare(keep)
        self._reap()

    def _release_spare(self, keep: frozenset[str]) -> None:
        """Stop engines that idle beside their judge's last leases while another judge waits.

        Those kept for a later wave make way only for a judge that has no engine at all.
        """
        waiting = [pool for pool in self._pools.values() if pool.has_work]
        short = [pool for pool in waiting if _n_actors_with_room(pool) < self._wanted(pool)]
        for pool in self._pools.values():
            spare = spare_engines(pool, at=self._outside.now())
            for other in short:
                if _node_needs_of_actor(other) != _node_needs_of_actor(pool):
                    continue  # a GPU is no use to it, or nothing else is
                if pool.name in keep and _n_actors_with_room(other):
                    continue
                for slot in spare:
                    self._leave(pool, slot)
                break

    def drop(self, pool: JudgePool, slot: Slot) -> None:
        """Kill an actor at once."""
        pool.slots.pop(slot.name, None)
        self._outside.kill_actor(slot.handle)
        self._providers.release(pool.spec.engine, slot.name)
        self._changed_at = self._outside.now()

    def look_again(self) -> None:
        """Look at the cluster before anything else is made: a node of it is gone."""
        self._seen_at = -math.inf

    def close(self) -> None:
        """Stop everything, and wait for it."""
        for pool in self._pools.values():
            for slot in list(pool.slots.values()):
                self._leave(pool, slot)
        while self._leaving:
            self._reap(wait_s=0.5)
        self._providers.close()
        if self._demanded:
            self._outside.demand([])

    def unplaceable(self) -> Iterator[tuple[JudgePool, EngineStartError]]:
        """Judges that need more GPUs than a cluster that cannot grow has."""
        if not self._local:
            return
        for pool in self._pools.values():
            gpus = pool.spec.engine.gpus
            if pool.has_work and gpus > self._room.gpus:
                yield (
                    pool,
                    EngineStartError(
                        f"judge needs {count_of(gpus, 'GPU')}, "
                        f"this machine has {self._room.gpus:.0f}",
                        where={"judge": pool.name},
                        hint="gpus = 0 for the CPU, or --address of a cluster",
                    ),
                )

    def shortfall(self, pool: JudgePool) -> str | None:
        """What a judge waits for that its cluster has not now and may never have.

        An engine of it is asked for all the same, for a cluster may grow; without one it is given
        up only after ``start_timeout_s``, and until then somebody should know why nothing happens.
        """
        gpus = pool.spec.engine.gpus
        if not pool.has_work:
            return None
        if gpus > self._room.gpus:
            return f"{count_of(gpus, 'GPU')}, the cluster has {self._room.gpus:.0f}"
        most = max(self._layout(pool), default=0)
        if most <= self._room.gpus_of_largest_node or any(
            slot.ready for slot in pool.slots.values()
        ):
            return None
        return f"{most} GPUs on one node, the largest has {self._room.gpus_of_largest_node}"

    def _wanted(self, pool: JudgePool) -> int:
        """Engines a judge wants: as said, or all the GPUs there are, and never idle ones."""
        if pool.replicas is not None:
            wanted = pool.replicas
        elif pool.spec.engine.gpus:
            free = self._room.gpus - self._others.gpus
            wanted = max(1, math.floor(free / pool.spec.engine.gpus))
        else:
            wanted = 1
        most = wanted if pool.most is None else pool.most
        return max(1, min(wanted, most, pool.requests_left))

    def _layout(self, pool: JudgePool) -> tuple[int, ...]:
        """How an engine of a judge would be laid out now."""
        engine = pool.spec.engine
        is_early = self._outside.now() - self._grew_at < SPREAD_AFTER_S
        larger_may_come = is_early or engine.gpus <= self._room.largest_type
        return self._room.layout(engine, spread=self._local or not larger_may_come)

    def _fits(self, pool: JudgePool, pieces: tuple[int, ...] | None = None) -> bool:
        """Whether one more engine of this judge fits beside what runs."""
        engines = [(one.spec.engine, slot) for one, slot in self._engines() if not slot.waits]
        if pool.spec.engine.gpus:
            asked = self._layout(pool) if pieces is None else pieces
            held = [piece for _, slot in engines for piece in slot.pieces]
            n_gpus = sum(held) + sum(asked) + self._others.gpus
            return n_gpus <= self._room.gpus and self._room.holds([*held, *asked])
        cpus = pool.spec.engine.cpus
        held_cpus = sum(one.cpus for one, _ in engines)
        return not cpus or held_cpus + cpus + self._others.cpus <= max(1.0, self._room.cpus)

    def _place_again(self) -> None:
        """Look again at engines that no node has taken, in the order of the sweep.

        One that fits by now as it was made is taken for placed. One that fits laid out otherwise is
        made anew: Ray would hold on to the first layout for good.
        """
        queued = [
            (pool, slot)
            for pool in self._pools.values()
            for slot in pool.slots.values()
            if not (slot.ready or slot.placed or self._saw_placed(slot))
        ]
        for _, slot in queued:
            slot.waits = True
        for pool, slot in queued:
            if slot.pieces == self._layout(pool):
                slot.waits = not self._fits(pool)
            elif self._fits(pool):
                self.drop(pool, slot)
                self._make(pool)
            else:
                slot.waits = not self._fits(pool, slot.pieces)

    def _saw_placed(self, slot: Slot) -> bool:
        """Whether an engine is on a node by now; its time to start begins then."""
        if self._outside.is_placed(slot.handle):
            slot.placed, slot.waits, slot.started_at = True, False, self._outside.now()
        return slot.placed

    def _ask_cluster(self) -> None:
        """Tell a cluster that may grow what all judges want, not only those that fit today.

        Where nothing runs and nothing fits, an engine is made all the same and waits there: Ray
        keeps what one run alone demands, but every run's queue counts.
        """
        if self._local:
            return
        wanted = [
            bundle
            for pool in self._pools.values()
            if (pool.has_work or pool.at_work) and any(_node_needs_of_actor(pool))
            for _ in range(min(pool.replicas or 1, max(1, pool.requests_left)))
            for bundle in [{"GPU": gpus} for gpus in pool.spec.engine.stages] or [{"CPU": 1}]
        ]
        if wanted != self._demanded:
            self._demanded = wanted
            self._outside.demand(wanted)
        if self._leaving or any(pool.slots for pool in self._pools.values()):
            return
        for pool in self._pools.values():
            if pool.has_work:
                self._make(pool).waits = True
                return

    def _make(self, pool: JudgePool) -> Slot:
        # Unlike any other, of this process or another: a name is free only some time after its
        # actor's death.
        name = f"judgerel-{pool.name}-s{self._session:04d}-{secrets.token_hex(4)}"
        spec, share = pool.spec, self._providers.share_of(pool.spec.engine, name)
        if share is not None:
            spec = replace(spec, share=share)
        pieces = self._layout(pool)
        handle = self._outside.make_actor(spec, name=name, pieces=pieces)
        pool.slots[name] = Slot(
            name=name,
            handle=handle,
            started_at=self._outside.now(),
            starting=handle.actor.start.remote(),
            pieces=pieces,
        )
        self._changed_at = self._outside.now()
        return pool.slots[name]

    def _drop_surplus(self, pool: JudgePool, wanted: int) -> None:
        """Let go of engines still coming up that are too many by now: a node went, or the work."""
        coming = [slot for slot in pool.slots.values() if not slot.ready]
        for slot in coming[: max(0, len(pool.slots) - wanted)]:
            self.drop(pool, slot)

    def _evict_idle(self, keep: frozenset[str]) -> None:
        """Stop the idle engines kept for a later wave: somebody needs their place now."""
        for pool in self._pools.values():
            if pool.name in keep and not pool.has_work and not pool.at_work:
                for slot in list(pool.slots.values()):
                    self._leave(pool, slot)

    def _leave(self, pool: JudgePool, slot: Slot) -> None:
        """Let an engine end in order; its GPU counts as taken until it has."""
        if not slot.ready:
            self.drop(pool, slot)
            return
        pool.slots.pop(slot.name, None)
        self._leaving.append(
            (pool, slot, slot.handle.actor.stop.remote(), self._outside.now() + STOP_TIMEOUT_S)
        )

    def _reap(self, wait_s: float = 0.0) -> None:
        """Kill the actors whose engines have ended, or took too long to."""
        still: list[tuple[JudgePool, Slot, Any, float]] = []
        for pool, slot, reference, until in self._leaving:
            if self._outside.finished([reference], wait_s) or self._outside.now() > until:
                self._outside.kill_actor(slot.handle)
                self._providers.release(pool.spec.engine, slot.name)
                self._changed_at = self._outside.now()
            else:
                still.append((pool, slot, reference, until))
        self._leaving = still

    def _refresh(self) -> None:
        """Look again how large the cluster is, and what others hold of it."""
        if self._outside.now() - self._seen_at < CAPACITY_EVERY_S:
            return
        self._seen_at = self._outside.now()
        room = self._outside.capacity()
        if room != self._room:
            self._room, self._grew_at = room, self._outside.now()
            for pool in self._pools.values():
                pool.most = None  # other nodes, other luck
        self._place_again()
        slots = [slot for pool in self._pools.values() for slot in pool.slots.values()]
        # The cluster tells ours from others' only once all of ours have theirs, and for a while.
        if (
            all(slot.ready or slot.waits for slot in slots)
            and self._outside.now() - self._changed_at >= CAPACITY_EVERY_S
        ):
            used = self._outside.in_use()
            engines = [held_by(pool, slot) for pool, slot in self._engines() if not slot.waits]
            self._others = Capacity(
                cpus=max(0.0, used.cpus - sum(cpus for cpus, _ in engines)),
                gpus=max(0.0, used.gpus - sum(gpus for _, gpus in engines)),
            )

    def _engines(self) -> Iterator[tuple[JudgePool, Slot]]:
        """All engines of this run, those included that are on their way out."""
        for pool in self._pools.values():
            for slot in pool.slots.values():
                yield pool, slot
        for pool, slot, _, _ in self._leaving:
            yield pool, slot


def _n_actors_with_room(pool: JudgePool) -> int:
    """Engines of a judge that have room, or had it when they were made."""
    return sum(not slot.waits for slot in pool.slots.values())


def _node_needs_of_actor(pool: JudgePool) -> tuple[bool, bool]:
    """What an engine of a judge needs of a node: GPUs, a CPU, or neither."""
    return bool(pool.spec.engine.gpus), bool(pool.spec.engine.cpus)


def held_by(pool: JudgePool, slot: Slot) -> tuple[int, int]:
    """CPUs and GPUs that Ray counts for an engine.

    One on the CPU has a CPU, one on a node its GPUs, and one spread over nodes a CPU beside each;
    one that asks a server has nothing.
    """
    gpus = pool.spec.engine.gpus
    spread = getattr(slot.handle, "group", None) is not None
    return (gpus if spread else pool.spec.engine.cpus), gpus
