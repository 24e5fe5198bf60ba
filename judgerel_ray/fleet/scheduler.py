"""The fleet: judges x actors, leases out, receipts in, deaths survived.

One loop on the driver. It admits judges while their GPUs fit, keeps two leases before every actor,
and settles what comes back. Whatever happens to a lease attempt, it is settled in the store before
its work is given to anyone else: the driver closes the attempt, and either finds that it had landed
or knows that it never will.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from judgerel_ray.config import FleetTable
from judgerel_ray.core import (
    Ask,
    EngineError,
    EngineLost,
    JudgeRelError,
    StoreError,
    SweepError,
    TokenCounts,
)
from judgerel_ray.fleet.board import Board, JudgeState
from judgerel_ray.fleet.display import Display
from judgerel_ray.fleet.landing import error_rows
from judgerel_ray.fleet.lease import ActorFacts, FailedAsk, Lease, Receipt, split_ask
from judgerel_ray.fleet.placement import Placement
from judgerel_ray.fleet.pool import LEASES_AHEAD, Dispatched, JudgePool, Slot, now, units_of
from judgerel_ray.fleet.retry import Fate, decide
from judgerel_ray.fleet.work_queue import WorkQueue
from judgerel_ray.store import RunDirectory, close_lease, record_errors

TICK_S = 0.25
HEARTBEAT_S = 2.0
MAX_START_FAILURES = 2
ERROR_BATCH = 2_000


@dataclass(slots=True)
class Clockwork:
    """When the driver last did what it does now and then."""

    heartbeat_at: float = 0.0


class Fleet:
    """Judge actors on a Ray cluster, for as many waves of work as a run has.

    Parameters
    ----------
    run : RunDirectory
        Where everything lands.
    session : int
        The run's session: its fence against earlier ones.
    pools : mapping of str to JudgePool
        Judges in the order of the sweep.
    limits : FleetTable
        Deadlines and attempts.
    board : Board
        The numbers shown; kept up to date here.
    display : Display
        Who shows them.
    """

    def __init__(
        self,
        *,
        run: RunDirectory,
        session: int,
        pools: Mapping[str, JudgePool],
        limits: FleetTable,
        board: Board,
        display: Display,
        local: bool,
    ) -> None:
        self._run = run
        self._session = session
        self._pools = dict(pools)
        self._limits = limits
        self._board = board
        self._display = display
        self._placement = Placement(pools=self._pools, session=session, local=local)
        self._clock = Clockwork()
        self._next_lease = 1

    def run_wave(self, work: Mapping[str, WorkQueue], *, later: Iterable[str] = ()) -> None:
        """Work through one wave: every judge's queue, until all has landed or is recorded.

        Effects: makes and kills actors; parts, commits and errors are written.
        Retry: safe; what has landed is never asked again.

        Raises
        ------
        StoreError
            If the run directory fails, is not seen by an actor, or another run took it over.
        """
        keep = frozenset(later)
        for name, queue in work.items():
            self._pools[name].queue = queue
        while self._is_going():
            self._give_up_unplaceable()
            self._placement.fill(keep)
            self._send_leases()
            self._settle_ready()
            self._enforce_deadlines()
            self._recall_for_idle()
            self._placement.release(keep, self._is_finished)
            self._tick()
        for name in work:
            self._pools[name].queue = None

    def close(self) -> None:
        """Stop every engine and free its GPUs."""
        self._placement.close()

    def next_lease(self) -> int:
        """A lease number of this session nobody has had."""
        number = self._next_lease
        self._next_lease += 1
        return number

    def count_landed(self, judge: str, rows: int, outcomes: Mapping[str, int]) -> None:
        """Count rows the driver landed itself, without an engine."""
        self._pools[judge].requests_left -= rows
        self._board.judges[judge].count(
            rows=rows, outcomes=outcomes, tokens=TokenCounts(), busy_s=0.0
        )

    def _is_going(self) -> bool:
        """Whether any judge has work before it or at work."""
        return any(not self._is_finished(pool) for pool in self._pools.values())

    def _is_finished(self, pool: JudgePool) -> bool:
        """Whether a judge has nothing left in this wave."""
        return not pool.has_work and not pool.at_work

    # ---- sending -----------------------------------------------------------------------------

    def _send_leases(self) -> None:
        """Keep two leases before every actor that is up."""
        for pool in self._pools.values():
            if pool.queue is None or pool.given_up:
                continue
            ready = [slot for slot in pool.slots.values() if slot.ready]
            # One actor is kept free for asks that must run alone; the others go on.
            reserved = ready[0] if pool.suspects and ready else None
            for slot in sorted(ready, key=lambda slot: len(slot.leases)):
                if slot is reserved:
                    self._send_suspect(pool, slot)
                    continue
                while not slot.alone and len(slot.leases) < LEASES_AHEAD:
                    size = pool.lease_units(self._limits.lease_seconds)
                    asks = pool.queue.take(slot.name, size)
                    if not asks:
                        break
                    self._send(pool, slot, asks)

    def _send_suspect(self, pool: JudgePool, slot: Slot) -> None:
        """Give an idle actor one ask that may have killed an engine, and nothing beside it."""
        if slot.leases:
            return
        slot.alone = True
        self._send(pool, slot, (pool.suspects.popleft(),))

    def _send(self, pool: JudgePool, slot: Slot, asks: tuple[Ask, ...]) -> None:
        """Send a new lease."""
        units = units_of(asks)
        attempt = 1 + max(pool.history(ask).failures + pool.history(ask).losses for ask in asks)
        lease = Lease(lease=self.next_lease(), attempt=attempt, judge=pool.name, asks=asks)
        sent_at = now()
        deadline_at = sent_at + pool.deadline_s(units, self._limits.deadline_s)
        reference = slot.handle.actor.run.remote(lease)
        slot.leases[reference] = Dispatched(
            lease=lease, units=units, sent_at=sent_at, deadline_at=deadline_at
        )

    def _recall_for_idle(self) -> None:
        """At the tail, ask busy actors for what they have not begun while others idle."""
        for pool in self._pools.values():
            if pool.queue is None or not pool.queue.is_empty or pool.suspects:
                continue
            ready = [slot for slot in pool.slots.values() if slot.ready]
            idle = [slot for slot in ready if not slot.leases]
            if not idle:
                continue
            busy = sorted(ready, key=lambda slot: -sum(d.units for d in slot.leases.values()))
            for slot in busy[: len(idle)]:
                for dispatched in reversed(slot.leases.values()):
                    if len(dispatched.lease.asks) > 1 and not dispatched.recalled:
                        dispatched.recalled = True
                        slot.handle.actor.recall.remote(
                            dispatched.lease.lease, dispatched.lease.attempt
                        )
                        break

    # ---- settling ----------------------------------------------------------------------------

    def _settle_ready(self) -> None:
        """Wait a moment for anything to come back, and settle all that has."""
        import ray

        owners: dict[Any, tuple[JudgePool, Slot]] = {}
        for pool in self._pools.values():
            for slot in pool.slots.values():
                if slot.starting is not None:
                    owners[slot.starting] = (pool, slot)
                owners.update(dict.fromkeys(slot.leases, (pool, slot)))
        if not owners:
            return
        ready, _ = ray.wait(list(owners), num_returns=1, timeout=TICK_S)
        if ready:
            ready, _ = ray.wait(list(owners), num_returns=len(owners), timeout=0)
        for reference in ready:
            pool, slot = owners[reference]
            if slot.name not in pool.slots:
                continue  # lost a moment ago, with all its leases
            if reference is slot.starting or reference == slot.starting:
                self._settle_start(pool, slot, reference)
            elif reference in slot.leases:
                self._settle_lease(pool, slot, reference)

    def _settle_start(self, pool: JudgePool, slot: Slot, reference: Any) -> None:
        """An engine came up, or did not."""
        result = _result(reference)
        if isinstance(result, ActorFacts):
            slot.starting, slot.ready = None, True
            pool.start_failures = 0
            return
        if isinstance(result, StoreError):
            raise result
        self._placement.drop(pool, slot)
        pool.start_failures += 1
        # The caller's mistake does not go away by trying again.
        if isinstance(result, SweepError) or pool.start_failures >= MAX_START_FAILURES:
            self._give_up(pool, result if isinstance(result, Exception) else EngineError("?"))

    def _settle_lease(self, pool: JudgePool, slot: Slot, reference: Any) -> None:
        """A lease came back: landed, failed in part, or its engine is gone."""
        result = _result(reference)
        if isinstance(result, StoreError):
            raise result
        if isinstance(result, Receipt):
            dispatched = slot.leases.pop(reference)
            slot.alone = slot.alone and bool(slot.leases)
            self._settle_receipt(pool, dispatched, result)
        elif isinstance(result, EngineLost) or not isinstance(result, JudgeRelError):
            kind = "engine_lost" if isinstance(result, EngineLost) else type(result).__name__
            self._lose(pool, slot, kind=kind, message=str(result))
        else:
            dispatched = slot.leases.pop(reference)
            slot.alone = slot.alone and bool(slot.leases)
            self._close(pool, dispatched, kind=type(result).__name__, message=str(result), loss=0)

    def _settle_receipt(self, pool: JudgePool, dispatched: Dispatched, receipt: Receipt) -> None:
        """Count what landed; what failed or was withdrawn is owed."""
        if not receipt.landed:
            self._close(pool, dispatched, kind="closed", message="closed before it landed", loss=0)
            return
        pool.note_done(dispatched, receipt.seconds)
        pool.requests_left -= receipt.rows
        self._board.judges[pool.name].count(
            rows=receipt.rows,
            outcomes=receipt.outcomes,
            tokens=receipt.tokens,
            busy_s=receipt.seconds,
        )
        if pool.queue is not None:
            pool.queue.give_back(receipt.withdrawn)
        for failed in receipt.failed:
            self._decide(pool, failed, dispatched.lease, losses=0)

    def _close(
        self, pool: JudgePool, dispatched: Dispatched, *, kind: str, message: str, loss: int
    ) -> None:
        """Settle an attempt that did not report: fence it, keep what landed, owe the rest."""
        lease = dispatched.lease
        record = close_lease(
            self._run, session=self._session, lease=lease.lease, attempt=lease.attempt
        )
        if record is not None:
            pool.requests_left -= record.rows
            self._board.judges[pool.name].count(
                rows=record.rows,
                outcomes=record.outcomes,
                tokens=record.tokens,
                busy_s=record.seconds,
            )
        landed = {} if record is None else record.conditions
        for ask in lease.asks:
            for rest in _not_landed(ask, landed.get(ask.condition.condition_key, ())):
                failed = FailedAsk(ask=rest, kind=kind, message=message)
                self._decide(pool, failed, lease, losses=loss)

    def _decide(self, pool: JudgePool, failed: FailedAsk, lease: Lease, *, losses: int) -> None:
        """Ask again, ask alone, or record."""
        history = pool.remember(failed.ask, losses=losses, failures=0 if losses else 1)
        fate = decide(history, max_attempts=self._limits.max_attempts)
        if fate is Fate.RECORD or pool.given_up:
            kind = "quarantined" if history.losses >= 2 else failed.kind
            self._record(pool, [failed.ask], lease=lease, kind=kind, message=failed.message)
        elif fate is Fate.ALONE:
            pool.suspects.append(failed.ask)
        elif pool.queue is not None:
            pool.queue.give_back([failed.ask])

    def _lose(self, pool: JudgePool, slot: Slot, *, kind: str, message: str) -> None:
        """An actor is gone: fence all it had, and let another take it on."""
        self._placement.drop(pool, slot)
        pool.losses += 1
        if pool.queue is not None:
            pool.queue.forget(slot.name)
        if pool.losses > self._limits.max_engine_losses:
            self._give_up(pool, EngineLost(f"{pool.losses} engines died, the last by: {message}"))
        for dispatched in slot.leases.values():
            self._close(pool, dispatched, kind=kind, message=message, loss=1)
        slot.leases.clear()

    def _give_up(self, pool: JudgePool, error: Exception) -> None:
        """One judge ends; all it still owes is recorded, and the others go on."""
        pool.given_up = error
        board = self._board.judges[pool.name]
        board.state, board.error = JudgeState.FAILED, str(error).splitlines()[0][:300]
        for slot in list(pool.slots.values()):
            self._placement.drop(pool, slot)
            for dispatched in slot.leases.values():
                self._close(pool, dispatched, kind="judge_failed", message=str(error), loss=0)
            slot.leases.clear()
        owed = list(pool.suspects)
        pool.suspects.clear()
        if pool.queue is not None:
            for ask in pool.queue.drain():
                owed.append(ask)
                if len(owed) >= ERROR_BATCH:
                    self._record(pool, owed, lease=None, kind="judge_failed", message=str(error))
                    owed.clear()
        if owed:
            self._record(pool, owed, lease=None, kind="judge_failed", message=str(error))

    def _give_up_unplaceable(self) -> None:
        """A judge that no node of a local cluster could ever hold fails at once."""
        for pool, error in self._placement.unplaceable():
            self._give_up(pool, error)

    def _record(
        self, pool: JudgePool, asks: Sequence[Ask], *, lease: Lease | None, kind: str, message: str
    ) -> None:
        """Write to errors/; the requests stay owed."""
        rows = error_rows(
            asks,
            lease="" if lease is None else f"s{self._session:04d}-l{lease.lease:06d}",
            attempt=1 if lease is None else lease.attempt,
            kind=kind,
            message=message,
            failed_at=datetime.now(UTC),
        )
        record_errors(self._run, session=self._session, judge=pool.name, rows=rows)
        pool.requests_left -= rows.height
        self._board.judges[pool.name].failed += rows.height

    # ---- watching ----------------------------------------------------------------------------

    def _enforce_deadlines(self) -> None:
        """An actor that is late with a lease, or with coming up, is taken for dead."""
        late = now()
        for pool in self._pools.values():
            for slot in list(pool.slots.values()):
                waited = late - slot.started_at
                if slot.starting is not None and waited > self._limits.start_timeout_s:
                    self._placement.drop(pool, slot)
                    pool.start_failures += 1
                    if pool.start_failures >= MAX_START_FAILURES:
                        self._give_up(pool, EngineError(f"no engine came up in {waited:.0f} s"))
                elif any(late > d.deadline_at for d in slot.leases.values()):
                    message = "a lease was not answered by its deadline"
                    self._lose(pool, slot, kind="deadline", message=message)

    def _tick(self) -> None:
        """Show how it stands, leave it in progress.json, and see that the run is still ours."""
        for pool in self._pools.values():
            board = self._board.judges[pool.name]
            board.actors = sum(slot.ready for slot in pool.slots.values())
            board.state = _state(pool, board.state, finished=self._is_finished(pool))
        self._display.show(self._board)
        if now() - self._clock.heartbeat_at >= HEARTBEAT_S:
            self._clock.heartbeat_at = now()
            self._run.write_text("progress.json", self._board.as_text())
            if self._run.exists(f"commits/session-{self._session + 1:04d}.json"):
                raise StoreError(
                    "another run took this directory over; nothing more of this one would be read",
                    where={"run": self._run.url},
                )


def _state(pool: JudgePool, before: JudgeState, *, finished: bool) -> JudgeState:
    """What a judge is doing, in a word."""
    if pool.given_up:
        return JudgeState.FAILED
    if finished:
        return JudgeState.DONE if pool.requests_left <= 0 else before
    if any(slot.ready for slot in pool.slots.values()):
        return JudgeState.RUNNING
    return JudgeState.STARTING if pool.slots else JudgeState.WAITING


def _result(reference: Any) -> object:
    """What a call returned, or the error it ended with; the only place that catches everything."""
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        return error.cause if isinstance(error.cause, JudgeRelError) else error
    except Exception as error:  # noqa: BLE001  every way an actor can fail is settled the same
        return EngineLost(f"{type(error).__name__}: {error}".splitlines()[0])


def _not_landed(ask: Ask, landed: Sequence[tuple[int, int]]) -> list[Ask]:
    """The parts of an ask that a commit's ranges do not cover."""
    done = {r for first, n in landed for r in range(first, first + n)}
    rest: list[Ask] = []
    for piece in split_ask(ask, 1):
        if piece.first in done:
            continue
        if rest and rest[-1].first + rest[-1].n == piece.first:
            rest[-1] = Ask(condition=ask.condition, first=rest[-1].first, n=rest[-1].n + 1)
        else:
            rest.append(piece)
    return rest
