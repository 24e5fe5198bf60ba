"""The scheduler: leases go out to judge actors, receipts come back, lost actors are replaced.

One loop on the driver. It admits judges while their GPUs fit, keeps two leases before every actor,
and settles what comes back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from judgerel_ray.config import FleetTable
from judgerel_ray.core import (
    EngineError,
    EngineLost,
    EngineStartError,
    StoreError,
    SweepError,
    TokenCounts,
)
from judgerel_ray.fleet.board import Board, Display
from judgerel_ray.fleet.lease import ActorFacts, Lease, Receipt, Work, WorkQueue
from judgerel_ray.fleet.outside import Outside
from judgerel_ray.fleet.placement import Placement, recall_for_idle
from judgerel_ray.fleet.pool import FIRST_LEASES_AHEAD, Dispatched, JudgePool, Slot, sum_units
from judgerel_ray.fleet.retry import is_loss_of_node
from judgerel_ray.fleet.settlement import Settlement
from judgerel_ray.store import JudgeTotals, RunDirectory

TICK_S, HEARTBEAT_S = 0.25, 2.0
MAX_START_FAILURES = 2
APART_SHARE = 4  # one actor in so many narrows suspects down while the others go on


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
    local : bool
        Whether the cluster is this machine alone and cannot grow.
    outside : Outside, optional
        Cluster, clock and store; as ``Fleet.outside`` says where nothing is given.
    """

    outside: ClassVar[Outside] = Outside()
    """The world of fleets that are given none: Ray, the machine's clock, the run's directory."""

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
        outside: Outside | None = None,
    ) -> None:
        self._run = run
        self._session = session
        self._pools = dict(pools)
        self._limits = limits
        self._board = board
        self._display = display
        self._outside = Fleet.outside if outside is None else outside
        self._placement = Placement(
            pools=self._pools, session=session, local=local, outside=self._outside
        )
        self._settlement = Settlement(
            run=run,
            session=session,
            limits=limits,
            board=board,
            placement=self._placement,
            outside=self._outside,
        )
        self._heartbeat_at = 0.0
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
            pool = self._pools[name]
            pool.queue = queue
            if pool.fatal_error:  # in an earlier wave
                self._settlement.give_up(pool, pool.fatal_error)
        while not all(map(self._is_finished, self._pools.values())):
            for pool, error in self._placement.unplaceable():
                self._settlement.give_up(pool, error)
            self._placement.fill(keep)
            if self._outside.may_send(self._pools, self._board):
                self._send_leases()
            self._settle_ready()
            self._enforce_deadlines()
            for pool in self._pools.values():
                pool.refill()
                recall_for_idle(pool)
            self._placement.release(keep, self._is_finished)
            self._tick()
        self._check_session()  # between two looks the last leases may have landed for nobody
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
        made = JudgeTotals(rows=rows, outcomes=outcomes, tokens=TokenCounts(), seconds=0.0)
        self._settlement.count(self._pools[judge], made)

    def _is_finished(self, pool: JudgePool) -> bool:
        """Whether a judge has nothing left in this wave."""
        return not pool.has_work and not pool.at_work

    # ---- sending -----------------------------------------------------------------------------

    def _send_leases(self) -> None:
        """Keep two leases before every actor that is up, or some small ones at first."""
        for pool in self._pools.values():
            if pool.queue is None or pool.fatal_error or pool.mistake:
                continue
            ready = [slot for slot in pool.slots.values() if slot.ready]
            ready = ready[self._send_suspects(pool, ready) :]
            for ahead in range(1, FIRST_LEASES_AHEAD + 1):
                for slot in ready:
                    if pool.wants_lease(slot, ahead):
                        self._send_next(pool, slot, pool.queue)

    def _send_next(self, pool: JudgePool, slot: Slot, queue: WorkQueue) -> None:
        """Send an actor the next lease there is for it, if any."""
        size = pool.lease_units(self._limits.lease_seconds)
        while taken := queue.take(slot.name, size, pool.lease_requests()):
            if asks := self._settlement.untainted(pool, taken):
                self._send(pool, slot, asks)
                return

    def _send_suspects(self, pool: JudgePool, ready: Sequence[Slot]) -> int:
        """Keep actors for groups of suspects, one each; say how many.

        A part of the actors is kept free for them; the others go on while there is other work. They
        are asked first whether they are there: suspects are not to blame for what died idle.
        """
        waiting = pool.suspicion.n_waiting
        if not waiting or pool.queue is None:
            return 0
        most = len(ready) if pool.queue.is_empty else math.ceil(len(ready) / APART_SHARE)
        kept = ready[: min(most, waiting + sum(bool(slot.apart) for slot in ready))]
        for slot in kept:
            if not slot.leases and slot.ping is None:
                slot.ping = slot.handle.actor.ping.remote()
                slot.ping_until = self._outside.now() + self._limits.deadline_s
        return len(kept)

    def _send(self, pool: JudgePool, slot: Slot, asks: tuple[Work, ...]) -> None:
        """Send a new lease."""
        units = sum_units(asks)
        if not pool.at_work:
            self._board.judges[pool.name].resume()
        attempt = 1 + max(pool.history(ask).failures + pool.history(ask).losses for ask in asks)
        lease = Lease(lease=self.next_lease(), attempt=attempt, judge=pool.name, asks=asks)
        pool.note_sent(lease, units)
        sent_at = self._outside.now()
        deadline_at = sent_at + pool.deadline_s(units, lease.n_requests, self._limits.deadline_s)
        reference = slot.handle.actor.run.remote(lease)
        slot.leases[reference] = Dispatched(
            lease=lease, units=units, sent_at=sent_at, deadline_at=deadline_at
        )

    # ---- settling ----------------------------------------------------------------------------

    def _settle_ready(self) -> None:
        """Wait a moment for anything to come back, and settle all that has."""
        owners: dict[Any, tuple[JudgePool, Slot]] = {}
        for pool in self._pools.values():
            for slot in pool.slots.values():
                owners.update(dict.fromkeys(slot.awaited, (pool, slot)))
        if not owners:
            self._outside.sleep(TICK_S)  # waiting for an engine that is leaving, or for the cluster
            return
        for reference in self._outside.finished(list(owners), TICK_S):
            pool, slot = owners[reference]
            if slot.name not in pool.slots:
                continue  # lost a moment ago, with all its leases
            if reference == slot.starting:
                self._settle_start(pool, slot, reference)
            elif reference == slot.ping:
                self._settle_ping(pool, slot, reference)
            elif reference in slot.leases:
                self._settle_lease(pool, slot, reference)

    def _settle_start(self, pool: JudgePool, slot: Slot, reference: Any) -> None:
        """An engine came up, or did not."""
        result = self._outside.result_of(reference)
        if isinstance(result, ActorFacts):
            slot.starting, slot.ready, slot.log = None, True, result.log
            slot.placed, slot.waits = True, False
            pool.start_failures, pool.start_node_losses, pool.came_up = 0, 0, True
            pool.batch = result.max_num_seqs or 0
            took = self._outside.now() - slot.started_at
            self._outside.span(
                "judgerel.engine_start", took, judge=pool.name, engine=slot.name, node=result.node
            )
            return
        if isinstance(result, StoreError):
            raise result
        error = result if isinstance(result, Exception) else EngineError(repr(result))
        self._start_failed(pool, slot, error)

    def _start_failed(self, pool: JudgePool, slot: Slot, error: Exception) -> None:
        """Try again, go on with the engines there are, or give the judge up.

        A node's death is nobody's fault here either, unless too many went in a row.
        """
        self._placement.drop(pool, slot)
        if is_loss_of_node(str(error)):
            self._placement.look_again()
            pool.start_node_losses += 1
            if pool.start_node_losses <= self._limits.max_engine_losses:
                return
        pool.start_failures += 1
        # The caller's mistake does not go away by trying again.
        tries = 1 if isinstance(error, SweepError) else MAX_START_FAILURES
        if pool.start_failures >= tries and not pool.slots:
            self._settlement.give_up(pool, error)
        elif pool.start_failures >= tries:
            pool.start_failures, pool.most = 0, len(pool.slots)

    def _settle_ping(self, pool: JudgePool, slot: Slot, reference: Any) -> None:
        """An idle actor is there and gets the next suspects, or died unseen."""
        slot.ping, result = None, self._outside.result_of(reference)
        if isinstance(result, Exception):
            self._settlement.lose(pool, slot, kind="engine_lost", message=str(result))
        elif pool.suspicion.n_waiting and not slot.leases:
            slot.apart, asks = pool.suspicion.take()
            self._send(pool, slot, asks)

    def _settle_lease(self, pool: JudgePool, slot: Slot, reference: Any) -> None:
        """A lease came back: landed, failed in part, or its engine is gone."""
        result = self._outside.result_of(reference)
        if isinstance(result, EngineLost):
            self._settlement.lose(pool, slot, kind="engine_lost", message=str(result))
            return
        dispatched = slot.leases.pop(reference)
        self._settlement.clear(pool, slot)
        if isinstance(result, Receipt):
            self._settlement.receipt(pool, dispatched, result)
        else:
            self._settlement.fail(pool, dispatched, kind="lease", message=str(result))

    # ---- watching ----------------------------------------------------------------------------

    def _enforce_deadlines(self) -> None:
        """An actor that is late with a lease, or with coming up, is taken for dead."""
        late = self._outside.now()
        any_up = any(slot.ready for pool in self._pools.values() for slot in pool.slots.values())
        for pool in self._pools.values():
            for slot in list(pool.slots.values()):
                if not slot.placed and any_up:
                    slot.started_at = late  # those that are up may be what it waits for
                waited = late - slot.started_at
                if slot.starting is not None and waited > self._limits.start_timeout_s:
                    error = EngineStartError(f"no engine came up in {waited:.0f} s")
                    self._start_failed(pool, slot, error)
                elif slot.is_late(late):
                    message = "a lease was not answered by its deadline"
                    self._settlement.lose(pool, slot, kind="deadline", message=message)

    def _tick(self) -> None:
        """Show how it stands, leave it in progress.json, and see that the run is still ours."""
        for pool in self._pools.values():
            board = self._board.judges[pool.name]
            board.actors = sum(slot.ready for slot in pool.slots.values())
            self._outside.record("judgerel_engines", pool.name, board.actors)
            self._outside.record("judgerel_queue_depth", pool.name, pool.requests_left)
            board.waits_for = self._placement.shortfall(pool)
            board.state = pool.state(
                board.state,
                finished=self._is_finished(pool),
                settled=board.owed <= board.failed,
            )
        self._display.show(self._board)
        if self._outside.now() - self._heartbeat_at >= HEARTBEAT_S:
            self._heartbeat_at = self._outside.now()
            self._check_session()
            self._run.write_text("progress.json", self._board.as_text(self._run.identity))

    def _check_session(self) -> None:
        """Refuse to go on where a newer session was opened: nothing landed since counts."""
        if self._outside.is_superseded(self._run, self._session):
            raise StoreError(
                "another run took this directory over; nothing more of this one would be read",
                where={"run": self._run.url},
            )
