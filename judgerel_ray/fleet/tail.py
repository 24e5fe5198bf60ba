"""The end of a judge's work: idle engines get what busy ones have not begun, then they leave."""

from __future__ import annotations

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
            if _is_divisible(dispatched):
                dispatched.recalled = True
                slot.handle.actor.recall.remote(dispatched.lease.lease, dispatched.lease.attempt)
                break


def spare_engines(pool: JudgePool, *, at: float) -> list[Slot]:
    """Idle engines of a judge whose last leases are at work elsewhere and stay there.

    Parameters
    ----------
    pool : JudgePool
        Its ``straggling_since`` is kept here: for a moment after the last recall, something may
        still come back for the idle.
    at : float
        Now, in seconds.
    """
    idle = [slot for slot in pool.slots.values() if not slot.leases]
    busy = [slot for slot in pool.slots.values() if not slot.apart]
    shared = any(_is_divisible(sent) for slot in busy for sent in slot.leases.values())
    if pool.has_work or not pool.at_work or not idle or shared:
        pool.straggling_since = None
        return []
    if pool.straggling_since is None:
        pool.straggling_since = at
    return idle if at - pool.straggling_since >= SPARE_AFTER_S else []


def _is_divisible(sent: Dispatched) -> bool:
    """Whether a lease could give something back."""
    return sent.lease.n_pieces > 1 and not sent.recalled
