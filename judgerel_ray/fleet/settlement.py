"""What becomes of leases: counted where they landed, pending where they did not.

Whatever happens to a lease attempt, it is settled in the store before its work is given to anyone
else: the driver closes the attempt, and finds that it had landed or knows that it never will.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from judgerel_ray.config import FleetTable
from judgerel_ray.core import Ask, EngineLost
from judgerel_ray.fleet.board import Board, JudgeState, LandedRows
from judgerel_ray.fleet.engine_log import loss_line
from judgerel_ray.fleet.judge_actor import JudgeSpec
from judgerel_ray.fleet.landing import failure_rows
from judgerel_ray.fleet.lease import (
    FailedAsk,
    Lease,
    Receipt,
    Work,
    item_of,
    unlanded,
    write_asks,
)
from judgerel_ray.fleet.outside import Outside
from judgerel_ray.fleet.placement import Placement
from judgerel_ray.fleet.pool import Dispatched, JudgePool, Slot
from judgerel_ray.fleet.retry import Fate, decide, is_loss_of_node, with_nodes_lost
from judgerel_ray.store import RunDirectory

ERROR_BATCH = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The driver's account of what landed, what is pending, and what was given up."""

    run: RunDirectory
    session: int
    limits: FleetTable
    board: Board
    placement: Placement
    outside: Outside

    def receipt(self, pool: JudgePool, dispatched: Dispatched, receipt: Receipt) -> None:
        """Count what landed; what failed or was withdrawn is pending."""
        if not receipt.landed:
            self.fail(pool, dispatched, kind="closed", message="closed before it landed")
            return
        pool.unsettled.update(receipt.unsettled)
        pool.unsettled.update(item_of(failed.ask)[1] for failed in receipt.failed)
        n_failed = sum(failed.ask.n for failed in receipt.failed)
        reported = receipt.rows + n_failed + sum(ask.n for ask in receipt.withdrawn)
        self._count_grown(pool, reported - dispatched.lease.n_requests)
        pool.note_done(dispatched, rows=receipt.rows, busy_s=receipt.seconds)
        self._span(pool, dispatched, rows=receipt.rows, failed=len(receipt.failed))
        self.count(pool, receipt)
        if receipt.rows:
            pool.losses = 0  # what counts is engines lost with nothing landed in between
        if pool.queue is not None:
            pool.queue.give_back(receipt.withdrawn)
        for failed in receipt.failed:
            pool.note_failure(failed.ask)
        self._decide(pool, receipt.failed, dispatched.lease)
        pool.mistake = pool.mistake or receipt.mistake
        self._end_mistaken(pool)

    def fail(self, pool: JudgePool, dispatched: Dispatched, *, kind: str, message: str) -> None:
        """Settle an attempt that failed as a whole while its engine goes on."""
        rest = self._fence(pool, dispatched)
        self._span(pool, dispatched, error=message)
        for ask in rest:
            pool.note_failure(ask)
        failed = [FailedAsk(ask=ask, kind=kind, message=message) for ask in rest]
        self._decide(pool, failed, dispatched.lease)
        self._end_mistaken(pool)

    def lose(self, pool: JudgePool, slot: Slot, *, kind: str, message: str) -> None:
        """An actor is gone: fence all it had, and let another take it on."""
        self.board.notices.append(loss_line(pool.name, message, log=slot.log))
        self.placement.drop(pool, slot)
        if pool.queue is not None:
            pool.queue.forget(slot.name)
        for dispatched in slot.leases.values():
            self._span(pool, dispatched, error=message)
        rests = [(d.lease, self._fence(pool, d)) for d in slot.leases.values()]
        slot.leases.clear()
        asks = [ask for _, rest in rests for ask in rest]
        of_node = is_loss_of_node(message)
        if of_node:
            self.placement.look_again()
        blamed = pool.note_loss(asks, of_node=of_node)
        if pool.losses > self.limits.max_engine_losses:
            self.give_up(pool, EngineLost(f"{pool.losses} engines died, the last by: {message}"))
        else:
            self._suspect(pool, slot, asks, blamed=blamed)
        for lease, rest in rests:
            self._decide(
                pool, [FailedAsk(ask=ask, kind=kind, message=message) for ask in rest], lease
            )
        self._end_mistaken(pool)

    def clear(self, pool: JudgePool, slot: Slot) -> None:
        """An engine answered the suspects it was given, and lives: they are none."""
        group, slot.apart = slot.apart, ()
        held = pool.suspicion.clear(group)
        if pool.queue is not None:
            pool.queue.give_back(held)

    def _suspect(self, pool: JudgePool, slot: Slot, asks: Sequence[Ask], *, blamed: bool) -> None:
        """Narrow down which item an engine died of, before its asks are given out again."""
        if not slot.apart:
            if blamed:
                pool.suspicion.accuse(item_of(ask) for ask in asks)
        elif {item_of(ask) for ask in asks} != set(slot.apart):
            self.clear(pool, slot)  # some of them landed: it died of something else
        elif blamed:
            self._quarantine(pool, pool.suspicion.condemn(slot.apart))
        else:
            pool.suspicion.put_back(slot.apart)
        slot.apart = ()

    def _quarantine(self, pool: JudgePool, asks: Sequence[Ask]) -> None:
        """Record asks of an item that killed an engine, without asking them."""
        message = "not asked: an engine died of this item alone"
        self._record(pool, asks, lease=None, kind="quarantined", message=message)

    def untainted(self, pool: JudgePool, asks: Sequence[Work]) -> tuple[Work, ...]:
        """Those of `asks` that may be asked beside others: their items are not suspected."""
        clean: list[Work] = []
        deadly: list[Ask] = []
        for ask in asks:
            item = item_of(ask)
            if pool.suspicion.convicts(item):
                deadly += write_asks([ask])
            elif pool.suspicion.suspects(item):
                for one in write_asks([ask]):
                    pool.suspicion.join(one)
            else:
                clean.append(ask)
        self._quarantine(pool, deadly)
        return tuple(clean)

    def _fence(self, pool: JudgePool, dispatched: Dispatched) -> list[Ask]:
        """Close an attempt that did not report: count what landed, say what never will."""
        lease = dispatched.lease
        record = self.outside.close_lease(
            self.run, session=self.session, lease=lease.lease, attempt=lease.attempt
        )
        pool.unsettled.update(item_of(ask)[1] for ask in lease.asks)
        landed = {} if record is None else record.conditions
        rest = [
            part
            for ask in lease.written()
            for part in unlanded(ask, landed.get(ask.condition.condition_key, ()))
        ]
        if record is not None:
            n_rest = sum(part.n for part in rest)
            self._count_grown(pool, record.rows + n_rest - lease.n_requests)
            self.count(pool, record)
            if record.rows:
                pool.losses = 0  # as where a receipt comes: something landed in between
        return rest

    def _count_grown(self, pool: JudgePool, n: int) -> None:
        """Count what an actor asked of itself, beyond what it was sent."""
        pool.requests_left += n
        self.board.judges[pool.name].asked += n

    def _decide(self, pool: JudgePool, failed: Sequence[FailedAsk], lease: Lease) -> None:
        """Ask again, ask apart, or record; one file for all of a kind."""
        recorded: dict[tuple[str, str], list[Ask]] = {}
        again: list[Ask] = []
        for each in failed:
            history = pool.history(each.ask)
            fate = decide(history, max_attempts=self.limits.max_attempts)
            if fate is Fate.RECORD or pool.fatal_error:
                kind = "quarantined" if history.convicted else each.kind
                recorded.setdefault((kind, each.message), []).append(each.ask)
            elif fate is Fate.APART:
                pool.suspicion.join(each.ask)
            else:
                again.append(each.ask)
        for (kind, message), asks in recorded.items():
            self._record(pool, asks, lease=lease, kind=kind, message=message)
        if pool.queue is not None:
            pool.queue.give_back(again)

    def _end_mistaken(self, pool: JudgePool) -> None:
        """Give up a judge of which nothing more can be asked, once what was answered has landed."""
        if pool.mistake is not None and not pool.fatal_error and not pool.at_work:
            self.give_up(pool, pool.mistake)

    def give_up(self, pool: JudgePool, error: Exception) -> None:
        """One judge ends, and the others go on; what of it is still pending is recorded.

        Where no engine of it came up, nothing was asked and nothing failed: all is simply pending.
        """
        pool.fatal_error = error
        board = self.board.judges[pool.name]
        board.state, board.error = JudgeState.FAILED, str(error).splitlines()[0][:300]
        for slot in list(pool.slots.values()):
            self.placement.drop(pool, slot)
            for dispatched in slot.leases.values():
                rest, lease = self._fence(pool, dispatched), dispatched.lease
                self._record(pool, rest, lease=lease, kind="judge_failed", message=str(error))
            slot.leases.clear()
        left = pool.suspicion.drain()
        if pool.queue is not None and pool.came_up:
            for ask in pool.queue.drain():
                left.append(ask)
                if len(left) >= ERROR_BATCH:
                    self._record(pool, left, lease=None, kind="judge_failed", message=str(error))
                    left.clear()
        self._record(pool, left, lease=None, kind="judge_failed", message=str(error))

    def _record(
        self, pool: JudgePool, asks: Sequence[Ask], *, lease: Lease | None, kind: str, message: str
    ) -> None:
        """Write to errors/; the requests stay pending. One file, but where nodes were lost."""
        by_nodes: dict[int, list[Ask]] = {}
        for ask in asks:
            by_nodes.setdefault(pool.item_node_losses[item_of(ask)], []).append(ask)
        for n_nodes, some in by_nodes.items():
            rows = failure_rows(
                some,
                lease="" if lease is None else f"s{self.session:04d}-l{lease.lease:06d}",
                attempt=1 if lease is None else lease.attempt,
                kind=kind,
                message=with_nodes_lost(message, n_nodes),
                failed_at=datetime.now(UTC),
            )
            self.outside.record_errors(self.run, session=self.session, judge=pool.name, rows=rows)
            pool.requests_left -= rows.height
            self.outside.record("judgerel_failures", pool.name, rows.height)
            self.board.judges[pool.name].failed += rows.height

    def _span(self, pool: JudgePool, dispatched: Dispatched, **known: object) -> None:
        """Tell how long a lease took, and how it ended."""
        lease = dispatched.lease
        self.outside.span(
            "judgerel.lease",
            self.outside.now() - dispatched.sent_at,
            judge=pool.name,
            lease=lease.lease,
            attempt=lease.attempt,
            requests=lease.n_requests,
            **known,
        )

    def count(self, pool: JudgePool, made: LandedRows) -> None:
        """Count rows that landed."""
        pool.requests_left -= made.rows
        self.board.judges[pool.name].count(made)
        for name, value in counts_of(made, pool.spec).items():
            self.outside.record(name, pool.name, value)


def counts_of(made: LandedRows, judge: JudgeSpec) -> dict[str, float]:
    """What metrics count of rows that landed."""
    tokens, prices, cost = made.tokens, judge.prices, 0.0
    if prices is not None:
        cost = prices.cost(tokens.prompt, tokens.cached, tokens.generated)
    return {
        "judgerel_judgments": made.rows,
        "judgerel_prompt_tokens": tokens.prompt,
        "judgerel_cached_tokens": tokens.cached,
        "judgerel_generated_tokens": tokens.generated,
        "judgerel_gpu_seconds": made.seconds * judge.engine.gpus,
        "judgerel_cost": cost,
    }
