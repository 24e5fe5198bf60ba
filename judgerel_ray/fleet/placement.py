"""Which judges have engines now: admission while GPUs fit, release when work is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from judgerel_ray.core import EngineStartError
from judgerel_ray.fleet.cluster import capacity, in_use_by_others, kill_actor, make_actor
from judgerel_ray.fleet.pool import JudgePool, Slot, now

STOP_TIMEOUT_S = 20.0
CAPACITY_EVERY_S = 5.0


class Placement:
    """Judges' engines on the cluster, judge by judge in the order of the sweep.

    A judge gets all the engines it wants before the next one gets any; judges that do not fit wait
    until one ends. The account of what is taken is kept here, because the cluster's own lags
    behind and would let two judges take halves of what each needs.
    """

    def __init__(self, *, pools: Mapping[str, JudgePool], session: int, local: bool) -> None:
        self._pools = pools
        self._session = session
        self._local = local
        self._others = in_use_by_others()
        self._room = capacity()
        self._looked_at = now()
        self._made = 0
        self._leaving: list[tuple[JudgePool, Slot, Any, float]] = []

    def fill(self, keep: frozenset[str]) -> None:
        """Make the engines that fit, and make room for a judge that waits for kept idle ones."""
        self._refresh()
        for pool in self._pools.values():
            if not pool.has_work:
                continue
            wanted = self._wanted(pool)
            while len(pool.slots) < wanted:
                if not self._fits(pool) and not self._must_wait_in_cluster(pool):
                    if not pool.slots:
                        self._evict_idle(keep)
                    break
                self._make(pool)

    def release(self, keep: frozenset[str], is_finished: Callable[[JudgePool], bool]) -> None:
        """Stop engines of judges that are done, but for those needed in a later wave."""
        for pool in self._pools.values():
            if pool.slots and is_finished(pool) and (pool.name not in keep or pool.given_up):
                for slot in list(pool.slots.values()):
                    self._leave(pool, slot)
        self._reap()

    def drop(self, pool: JudgePool, slot: Slot) -> None:
        """Kill an actor at once."""
        pool.slots.pop(slot.name, None)
        kill_actor(slot.handle)

    def close(self) -> None:
        """Stop everything, and wait for it."""
        for pool in self._pools.values():
            for slot in list(pool.slots.values()):
                self._leave(pool, slot)
        while self._leaving:
            self._reap(wait_s=0.5)

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
                        f"judge needs {gpus} GPU{'s' if gpus > 1 else ''}, "
                        f"this machine has {self._room.gpus:.0f}",
                        where={"judge": pool.name},
                        hint="gpus = 0 for the CPU, or --address of a cluster",
                    ),
                )

    def _wanted(self, pool: JudgePool) -> int:
        """Engines a judge wants: as said, or all the GPUs there are, and never idle ones."""
        if pool.replicas is not None:
            wanted = pool.replicas
        elif pool.spec.engine.gpus:
            free = self._room.gpus - self._others.gpus
            wanted = max(1, math.floor(free / pool.spec.engine.gpus))
        else:
            wanted = 1
        return min(wanted, max(1, pool.requests_left))

    def _fits(self, pool: JudgePool) -> bool:
        """Whether one more engine of this judge fits beside what runs."""
        gpus = pool.spec.engine.gpus
        if gpus:
            taken = sum(len(other.slots) * other.spec.engine.gpus for other in self._pools.values())
            taken += sum(leaver.spec.engine.gpus for leaver, _, _, _ in self._leaving)
            return taken + gpus + self._others.gpus <= self._room.gpus
        taken = sum(
            len(other.slots) for other in self._pools.values() if not other.spec.engine.gpus
        )
        taken += sum(not leaver.spec.engine.gpus for leaver, _, _, _ in self._leaving)
        return taken + 1 + self._others.cpus <= max(1.0, self._room.cpus)

    def _must_wait_in_cluster(self, pool: JudgePool) -> bool:
        """Nothing runs and nothing fits: ask the cluster all the same, an autoscaler may hear."""
        if self._local or pool.slots or self._leaving:
            return False
        return not any(other.slots for other in self._pools.values())

    def _make(self, pool: JudgePool) -> None:
        """One more engine."""
        self._made += 1
        name = f"judgerel-{pool.name}-s{self._session:04d}-{self._made:04d}"
        handle = make_actor(pool.spec, name=name, room=self._room)
        pool.slots[name] = Slot(
            name=name, handle=handle, started_at=now(), starting=handle.actor.start.remote()
        )

    def _evict_idle(self, keep: frozenset[str]) -> None:
        """Stop the idle engines kept for a later wave: somebody needs their place now."""
        for pool in self._pools.values():
            if pool.name in keep and not pool.has_work and not pool.at_work:
                for slot in list(pool.slots.values()):
                    self._leave(pool, slot)

    def _leave(self, pool: JudgePool, slot: Slot) -> None:
        """Let an engine end in order; its GPU counts as taken until it has."""
        pool.slots.pop(slot.name, None)
        self._leaving.append((pool, slot, slot.handle.actor.stop.remote(), now() + STOP_TIMEOUT_S))

    def _reap(self, wait_s: float = 0.0) -> None:
        """Kill the actors whose engines have ended, or took too long to."""
        import ray

        still: list[tuple[JudgePool, Slot, Any, float]] = []
        for pool, slot, reference, until in self._leaving:
            done, _ = ray.wait([reference], timeout=wait_s)
            if done or now() > until:
                kill_actor(slot.handle)
            else:
                still.append((pool, slot, reference, until))
        self._leaving = still

    def _refresh(self) -> None:
        """Look again how large the cluster is."""
        if now() - self._looked_at >= CAPACITY_EVERY_S:
            self._room = capacity()
            self._looked_at = now()
