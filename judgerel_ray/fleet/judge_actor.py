"""A judge at work: one engine, its leases, and the parts it writes.

A plain class, whether it runs as a Ray actor or in the driver's process. One lease's way::

    Lease(asks=[T=1.0 r0-31, T=1.0 r32-49, T=0 r0])          from the driver
      -> written      prompts and keys of items that came without
      -> prepare      token ids once an ask; too long -> a `failed` row, no engine time
      -> gate         waits until tokens and sequences in flight leave room
      -> complete     Completion(r0..r31) ...                 from the engine
      -> next block   of a condition that is asked adaptively: Ask(T=1.0 r5-9), until it is enough
      -> landed_rows  verdicts read; judgments and texts laid out
      -> land         parts, then the commit record           exactly once, or not at all
      -> by halves    what no row can hold is found, reported and left out
      -> Receipt(rows, outcomes, failed, withdrawn, tokens)   to the driver; no text travels
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import NamedTuple

import polars as pl

from judgerel_ray.config import Prices
from judgerel_ray.core import (
    Ask,
    Completion,
    EngineError,
    EngineLost,
    EngineStartError,
    Outcome,
    RequestRefused,
    StoreError,
    SweepError,
    TokenCounts,
)
from judgerel_ray.design import goal_of
from judgerel_ray.engines import (
    Engine,
    EngineSpec,
    Fingerprint,
    PartlyAnswered,
    judge_fingerprint,
    make_engine,
)
from judgerel_ray.engines.engine import all_or_first_error
from judgerel_ray.engines.fingerprint import fingerprint_differences
from judgerel_ray.fleet.engine_log import (
    ECHO,
    error_log,
    error_log_tail,
    last_error_line,
)
from judgerel_ray.fleet.gate import AskLoad, TokenGate
from judgerel_ray.fleet.landing import (
    Rows,
    landed_rows,
    never_sent,
    read_by_condition,
    split_answers,
)
from judgerel_ray.fleet.lease import (
    ActorFacts,
    FailedAsk,
    GrowingAsk,
    Lease,
    Receipt,
    ranges_by_condition,
    split_leased_ask,
)
from judgerel_ray.fleet.limiting import LimitsShare, seen_backends, share_limits
from judgerel_ray.fleet.telemetry import record
from judgerel_ray.store import RunDirectory, encode_rows, land, load_writers, read_token
from judgerel_ray.tables import count_outcomes

# An ask makes room only when the last of its replies ends: a tenth more than the engine runs at
# once, as Ray advises for single requests, left its batch a third empty. Of the cache, too: a
# reply that is under way holds half of its tokens on average.
OVERFILL = 2
DEFAULT_SEQUENCES = 256
DEFAULT_TOKENS_EACH = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSpec:
    """All an actor needs to be a judge; plain data."""

    engine: EngineSpec
    run: RunDirectory
    session: int
    visibility_token: str
    fingerprint: Fingerprint | None = None
    """Who the driver took the judge for; a node on which it is another is refused."""
    prices: Prices | None = None
    share: LimitsShare | None = None
    """Its part in the limits of the judge's provider, where it has one."""
    in_process: bool = False
    """Whether the actor is in the driver's process, which has no log or metrics of its own."""


class _Answer(NamedTuple):
    """An ask with what came of it: completions, a failure, or nothing (withdrawn)."""

    ask: Ask
    completions: tuple[Completion, ...] | None = None
    failure: FailedAsk | None = None


_Answered = tuple[Ask, tuple[Completion, ...]]


@dataclass(slots=True)
class _Progress:
    """A lease's state while it runs."""

    recalled: bool = False
    waiting: set[asyncio.Future[None]] = field(default_factory=set)
    """Asks at the gate."""
    unsettled: set[str] = field(default_factory=set)
    """Items of conditions that were not asked on to their end."""


class JudgeActor:
    """One engine of one judge."""

    def __init__(self, spec: JudgeSpec) -> None:
        self._spec = spec
        self._engine: Engine = make_engine(spec.engine)
        share_limits(self._engine, spec.share)
        self._mistake: SweepError | None = None
        self._gate = TokenGate(tokens=1, sequences=1)
        self._running: dict[tuple[int, int], _Progress] = {}
        self._reported = TokenCounts()
        self._marked = time.monotonic()
        self._facts: dict[str, object] = {}

    async def start(self) -> ActorFacts:
        """Prove that the run directory is in sight, then load the model.

        Effects: reads the token the driver left; starts the engine's processes.
        Retry: not safe; make a new actor.
        """
        seen = read_token(self._spec.run)
        node = os.uname().nodename
        if seen != self._spec.visibility_token:
            raise StoreError(
                "the run directory is not the same on every node: an actor does not see what the "
                "driver wrote there",
                where={"run": self._spec.run.url, "node": node},
                hint="a shared file system or a bucket (s3://...) for --out",
            )
        self._check_identity(node)
        load_writers()
        try:
            facts = await self._engine.start()
        except EngineStartError as error:
            if self._spec.in_process:
                raise
            raise _actor_log_error(error, node) from error
        sequences = (facts.max_num_seqs or DEFAULT_SEQUENCES) * OVERFILL
        longest = facts.max_model_len or DEFAULT_TOKENS_EACH
        tokens = (facts.kv_tokens or 0) * OVERFILL or sequences * longest
        self._gate = TokenGate(tokens=tokens, sequences=sequences)
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        log = None if self._spec.in_process else error_log()
        here = {"node": node, "pid": os.getpid(), "visible_devices": visible}
        self._facts = asdict(facts) | here
        return ActorFacts(
            node=node,
            max_num_seqs=facts.max_num_seqs,
            log=None if log is None else f"{node}:{log}",
        )

    def _check_identity(self, node: str) -> None:
        """Refuse a node whose files or vLLM are not those that were fingerprinted."""
        expected = self._spec.fingerprint
        if expected is None:
            return
        # A hub id stays the commit the driver resolved; everything else is looked at here.
        found = judge_fingerprint(self._spec.engine, known=expected.parts)
        wrong = fingerprint_differences(expected.parts, found.parts)
        if wrong:
            raise SweepError(
                f"the judge is another one on this node: {'; '.join(wrong)}",
                where={"judge": self._spec.engine.name, "node": node},
                hint="the same model files and vLLM on every node",
            )

    async def run(self, lease: Lease) -> Receipt:
        """Answer a lease and land it.

        Effects: engine time; writes one part pair and one commit record.
        Retry: with a higher attempt only, after the driver closed this one.
        """
        if not self._running:
            self._marked = time.monotonic()
        progress = _Progress()
        self._running[lease.lease, lease.attempt] = progress
        self._tell_load(lease.judge)
        try:
            asks = await asyncio.to_thread(lease.written)
            answers = await all_or_first_error(self._answers(ask, progress) for ask in asks)
        finally:
            del self._running[lease.lease, lease.attempt]
            self._tell_load(lease.judge)
        receipt = await self._land(lease, [one for each in answers for one in each])
        unsettled = tuple(sorted(progress.unsettled))
        return replace(receipt, mistake=self._mistake, unsettled=unsettled)

    def _tell_load(self, judge: str) -> None:
        """Tell how many leases are before the engine."""
        if not self._spec.in_process:
            record("judgerel_leases_at_work", judge, len(self._running))

    async def ping(self) -> None:
        """Say that the engine is there: EngineLost where it is not."""
        if not self._engine.is_alive():
            raise EngineLost("engine died while nothing was asked of it")

    async def recall(self, lease: int, attempt: int) -> bool:
        """Ask for what a lease has not begun; its receipt gives that back as withdrawn."""
        progress = self._running.get((lease, attempt))
        if progress is None:
            return False
        progress.recalled = True
        for entering in progress.waiting:
            entering.cancel()
        return True

    async def stop(self) -> None:
        """Release the engine and its processes."""
        await self._engine.stop()

    async def _answers(self, ask: Ask, progress: _Progress) -> list[_Answer]:
        """An ask, and the blocks after it where it grows, up to one that failed.

        A block that was withdrawn is not reported: nobody sent it, and the driver asks it.
        """
        block, verdicts = await self._answer(ask, progress), dict[int, int]()
        answers = list(block)
        # A block of which some failed is in several parts.
        while isinstance(ask, GrowingAsk) and len(block) == 1:
            try:
                more = _next_block(ask, block[0].completions, verdicts)
            except Exception:  # noqa: BLE001  a reply that cannot be read; landing says which
                progress.unsettled.add(ask.condition.item_id)
                break
            if more is None:
                break
            block = await self._answer(more, progress)
            if any(one.completions is None for one in block):
                progress.unsettled.add(ask.condition.item_id)
            answers += [one for one in block if one.completions or one.failure]
        return answers

    async def _answer(self, ask: Ask, progress: _Progress) -> tuple[_Answer, ...]:
        """One ask: refused without engine time, withdrawn, failed, or answered; or in parts."""
        try:
            prepared = self._engine.prepare(ask.condition)
            most = ask.condition.max_tokens
            load = AskLoad(prompt=prepared.prompt_tokens, new=ask.n * most, sequences=ask.n)
            if progress.recalled or not await self._admitted(load, progress):
                return (_Answer(ask),)
            try:
                completions = await self._engine.complete(prepared, ask)
                counts = [one.completion_tokens for one in completions]
                took = [min(count, most) for count in counts if count]  # as a server counts them
                self._gate.learn(allowed=most * len(took), taken=sum(took))
                return (_Answer(ask, completions=completions),)
            finally:
                self._gate.leave(load)
        except EngineLost:
            raise
        except PartlyAnswered as part:
            answered = {one.replication: one for one in part.completions}
            pieces = [
                _Answer(one, completions=(answered[one.first],))
                if one.first in answered
                else self._failed(one, part.errors[one.first])
                for one in split_leased_ask(ask, 1)
            ]
            return _joined_actor_asks(pieces)
        except Exception as error:  # noqa: BLE001  one ask's defect must not fail its neighbours
            return (self._failed(ask, error),)

    def _failed(self, ask: Ask, error: Exception) -> _Answer:
        """An ask that was not answered: it never can be, or it stays pending."""
        if isinstance(error, RequestRefused):
            return _Answer(ask, completions=never_sent(ask, error.problem, error.where))
        if isinstance(error, SweepError):  # a server that takes nothing of this judge
            self._mistake = error
        if isinstance(error, SweepError | EngineError):
            return _Answer(ask, failure=FailedAsk(ask=ask, kind="request", message=str(error)))
        message = f"{type(error).__name__}: {error}"
        return _Answer(ask, failure=FailedAsk(ask=ask, kind="defect", message=message))

    async def _admitted(self, load: AskLoad, progress: _Progress) -> bool:
        """Wait at the gate; False where the lease was recalled first."""
        entering = asyncio.ensure_future(self._gate.enter(load))
        progress.waiting.add(entering)
        try:
            await entering
        except asyncio.CancelledError:
            # Cancelled after it was let in: nobody else would give the room back.
            if entering.done() and not entering.cancelled():
                self._gate.leave(load)
                raise
            if progress.recalled:
                return False
            raise
        finally:
            progress.waiting.discard(entering)
        return True

    async def _land(self, lease: Lease, answers: list[_Answer]) -> Receipt:
        """Write what was answered, commit it, and say what was not."""
        answered = [(a.ask, a.completions) for a in answers if a.completions is not None]
        failed = tuple(a.failure for a in answers if a.failure is not None)
        withdrawn = tuple(a.ask for a in answers if a.completions is None and a.failure is None)
        receipt = Receipt(landed=True, rows=0, failed=failed, withdrawn=withdrawn)
        if not answered:
            # What the engine spent meanwhile is told by the next lease that has a record for it.
            return receipt
        tokens, seconds = self._spent()
        try:
            # All of landing is off the loop: for a second the engine would get no new requests.
            rows, landed = await asyncio.to_thread(
                self._written, lease, answered, tokens=tokens, seconds=seconds
            )
        except StoreError:
            raise
        except Exception:
            # Nothing was written, and it fails again however often it is asked: land the others.
            fit, unfit = await asyncio.to_thread(
                split_answers, answered, lambda some: self._check(lease, some)
            )
            if not unfit:
                raise
            self._reported, self._marked = self._reported - tokens, self._marked - seconds
            rest = [one for one in answers if one.completions is None]
            rest += [_Answer(ask, failure=_unfit_actor_reply(ask, error)) for ask, error in unfit]
            return await self._land(lease, [*(_Answer(*one) for one in fit), *rest])
        return replace(
            receipt,
            landed=landed,
            rows=rows.height,
            outcomes=count_outcomes(rows),
            tokens=tokens,
            seconds=seconds,
        )

    def _rows(self, lease: Lease, answered: Sequence[_Answered]) -> Rows:
        return landed_rows(
            answered, attempt=lease.attempt, prices=self._spec.prices, landed_at=datetime.now(UTC)
        )

    def _check(self, lease: Lease, answered: Sequence[_Answered]) -> None:
        """Do all of landing but the writing."""
        rows = self._rows(lease, answered)
        places = lease.judge, lease.attempt, ranges_by_condition(ask for ask, _ in answered)
        encode_rows(rows.judgments, rows.completions, *places)

    def _written(
        self, lease: Lease, answered: Sequence[_Answered], *, tokens: TokenCounts, seconds: float
    ) -> tuple[pl.DataFrame, bool]:
        """Write what was answered and commit it; its judgments, and whether they landed."""
        rows = self._rows(lease, answered)
        landed = land(
            self._spec.run,
            session=self._spec.session,
            lease=lease.lease,
            attempt=lease.attempt,
            judge=lease.judge,
            judgments=rows.judgments,
            completions=rows.completions,
            conditions=ranges_by_condition(ask for ask, _ in answered),
            tokens=tokens,
            seconds=seconds,
            engine=self._facts | seen_backends(self._engine),
            parents={key for ask, _ in answered for key in ask.condition.parents},
        )
        return rows.judgments, landed

    def _spent(self) -> tuple[TokenCounts, float]:
        """Tokens and busy seconds since the last receipt.

        Leases overlap in time: each receipt reports what was not reported yet, so sums are right.
        """
        counted, now = self._engine.counters(), time.monotonic()
        tokens, seconds = counted - self._reported, now - self._marked
        self._reported, self._marked = counted, now
        return tokens, seconds


def _joined_actor_asks(pieces: Sequence[_Answer]) -> tuple[_Answer, ...]:
    """Neighbouring replications of an ask that were all answered, or failed alike, as one ask."""
    joined: list[_Answer] = []
    for _, alike in groupby(
        pieces, key=lambda one: one.failure and (one.failure.kind, one.failure.message)
    ):
        some = list(alike)
        ask, failure = replace(some[0].ask, n=len(some)), some[0].failure
        completions = tuple(reply for one in some for reply in one.completions or ())
        joined.append(_Answer(ask, completions or None, failure and replace(failure, ask=ask)))
    return tuple(joined)


def _unfit_actor_reply(ask: Ask, error: Exception) -> FailedAsk:
    """A reply that no row can hold: which, and why."""
    last = ask.first + ask.n - 1
    which = f"{ask.first}" if ask.n == 1 else f"{ask.first}-{last}"
    message = (
        f"no row can hold the reply to replication {which} of condition "
        f"{ask.condition.condition_key}, item {ask.condition.item_id}: "
        f"{type(error).__name__}: {' '.join(str(error).split())}"
    )
    return FailedAsk(ask=ask, kind="defect", message=message)


def _next_block(
    ask: GrowingAsk, completions: tuple[Completion, ...] | None, verdicts: dict[int, int]
) -> Ask | None:
    """What is asked of a condition next, given its last replies; None where nothing is.

    `verdicts` are those of all its replications so far, by code, and are kept here.
    """
    menu = ask.condition.menu
    if completions is None or menu is None:
        return None
    codes = {option_id: code for code, option_id in enumerate(menu.option_ids)}
    for one in completions:
        read = read_by_condition(ask.condition, one.text, one.finish_reason)
        # Do not extend a condition that contains a permanent failure.
        if read.outcome == Outcome.FAILED.value:
            return None
        code = len(codes) if read.verdict is None else codes[read.verdict]
        verdicts[one.replication] = code
    goal, n = goal_of(verdicts, len(codes) + 1, ask.rule), len(verdicts)
    if goal.is_reached:
        return None
    return Ask(condition=replace(ask.condition, block=goal.block), first=n, n=goal.n - n)


def _actor_log_error(error: EngineStartError, node: str) -> EngineStartError:
    """Why an engine did not come up, with the cause that its log names and where that log lies."""
    log, cause = error_log(), last_error_line(error_log_tail())
    problem = error.problem
    if cause and ECHO in problem:  # which says no more than that there is a cause elsewhere
        problem = problem.partition(ECHO)[0] + cause
    elif cause and cause not in problem:
        problem = f"{problem}; first in its log: {cause}"
    where = {**error.where, "node": node}
    if log is None:
        return EngineStartError(problem, where=where, hint=None if cause else error.hint)
    return EngineStartError(problem, where=where, hint=f"read its log, {log} on {node}")
