from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from judgerel_ray.core import Ask, Completion, TableError, TokenCounts, TokenLogprob
from judgerel_ray.core.errors import (
    EngineError,
    EngineLost,
    EngineStartError,
    StoreError,
    SweepError,
)
from judgerel_ray.design import goal_of
from judgerel_ray.engines import EngineFacts, Fingerprint, Prepared, judge_fingerprint
from judgerel_ray.fleet import judge_actor, landed_rows, landing
from judgerel_ray.fleet.judge_actor import JudgeActor
from judgerel_ray.fleet.landing import failure_rows, read_by_condition
from judgerel_ray.fleet.lease import GrowingAsk, Lease, Receipt
from judgerel_ray.stats.intervals.stopping import StoppingRule
from judgerel_ray.store import (
    begin_session,
    close_lease,
    read_errors,
    read_ledger,
    record_errors,
    scan_completions,
    scan_judgments,
    verify_run,
)


def lease_of(asks: Sequence[Ask], lease: int = 1, attempt: int = 1) -> Lease:
    return Lease(lease=lease, attempt=attempt, judge="j", asks=tuple(asks))


class HeldEngine:
    """An engine that answers a request when it is told to, and takes one sequence at a time."""

    def __init__(self, inner, max_num_seqs: int = 1, kv_tokens: int | None = None) -> None:
        self.inner = inner
        self.bounds = {"max_num_seqs": max_num_seqs, "kv_tokens": kv_tokens}
        self.asked: list[Ask] = []
        self.go = asyncio.Event()
        self.problems: dict[str, BaseException] = {}
        self.unprepared: dict[str, BaseException] = {}

    async def start(self) -> EngineFacts:
        facts = await self.inner.start()
        values = {name: getattr(facts, name) for name in facts.__slots__}
        return EngineFacts(**{**values, **self.bounds})

    def prepare(self, condition) -> Prepared:
        if condition.item_id in self.unprepared:
            raise self.unprepared[condition.item_id]
        return self.inner.prepare(condition)

    async def complete(self, prepared: Prepared, ask: Ask) -> tuple[Completion, ...]:
        self.asked.append(ask)
        await self.go.wait()
        if ask.condition.item_id in self.problems:
            raise self.problems[ask.condition.item_id]
        return await self.inner.complete(prepared, ask)

    def counters(self) -> TokenCounts:
        return self.inner.counters()

    async def stop(self) -> None:
        await self.inner.stop()


def held(actor: JudgeActor, max_num_seqs: int = 1, kv_tokens: int | None = None) -> HeldEngine:
    engine = HeldEngine(actor._engine, max_num_seqs, kv_tokens)
    actor._engine = engine
    return engine


async def turns(n: int = 30) -> None:
    for _ in range(n):
        await asyncio.sleep(0)


def play(story, *arguments):
    """Run a coroutine function in a loop of its own."""
    return asyncio.run(story(*arguments))


def test_a_lease_lands_whole_and_says_so(asking, run_here, make_actor_here):
    asks = [ask for item in asking.items(3, 5, temperatures=(1.0, 0.0)) for ask in item]

    async def story() -> Receipt:
        actor = make_actor_here()
        await actor.start()
        return await actor.run(lease_of(asks))

    begin_session(run_here)
    receipt = play(story)
    assert (receipt.landed, receipt.rows, receipt.failed, receipt.withdrawn) == (True, 30, (), ())
    assert receipt.outcomes == {"scored": 30}
    ledger = read_ledger(run_here)
    assert ledger.n_rows == 30
    assert ledger.tokens == receipt.tokens
    assert scan_completions(run_here).collect()["text"].null_count() == 0
    assert verify_run(run_here) == []


def test_rows_are_laid_out_beside_the_loop(asking, run_here, make_actor_here, monkeypatch):
    """A large lease's rows take a second; meanwhile the engine must be fed."""
    begin_session(run_here)
    places: list[bool] = []

    def watched(*args, **given):
        places.append(threading.current_thread() is threading.main_thread())
        return landed_rows(*args, **given)

    monkeypatch.setattr(judge_actor, "landed_rows", watched)

    async def story() -> Receipt:
        actor = make_actor_here()
        await actor.start()
        return await actor.run(lease_of([asking.ask(n=5)]))

    assert asyncio.run(story()).rows == 5
    assert places == [False]


def test_an_actor_that_sees_another_directory_says_so_and_loads_nothing(make_actor_here):
    async def story() -> None:
        await make_actor_here(visibility_token="another").start()

    with pytest.raises(StoreError, match="not the same on every node"):
        play(story)


def test_an_actor_that_sees_no_token_says_so(run_here, make_actor_here):
    actor = make_actor_here()
    run_here.remove("commits/token")

    async def story() -> None:
        await actor.start()

    with pytest.raises(StoreError, match="cannot be seen"):
        play(story)


def test_a_failed_request_leaves_its_neighbours_alone(asking, run_here, make_actor_here):
    asks = [ask for item in asking.items(3, 2) for ask in item]

    async def story() -> Receipt:
        actor = make_actor_here(fails_on=[3])  # within the second ask
        await actor.start()
        return await actor.run(lease_of(asks))

    begin_session(run_here)
    receipt = play(story)
    assert [(failed.ask, failed.kind) for failed in receipt.failed] == [(asks[1], "request")]
    assert "simulated request failed" in receipt.failed[0].message
    assert receipt.rows == 4
    assert set(scan_judgments(run_here).collect()["item_id"]) == {"q0", "q2"}


@pytest.mark.parametrize("where", ["prepare", "complete"])
def test_a_defect_in_one_ask_leaves_its_neighbours_alone(asking, run_here, make_actor_here, where):
    asks = [ask for item in asking.items(3, 2) for ask in item]

    async def story() -> Receipt:
        actor = make_actor_here()
        engine = held(actor, 50)
        engine.go.set()
        troubles = engine.unprepared if where == "prepare" else engine.problems
        troubles["q1"] = ZeroDivisionError("by none")
        await actor.start()
        return await actor.run(lease_of(asks))

    begin_session(run_here)
    receipt = play(story)
    assert [(failed.ask, failed.kind) for failed in receipt.failed] == [(asks[1], "defect")]
    assert receipt.failed[0].message == "ZeroDivisionError: by none"
    assert read_ledger(run_here).n_rows == 4


def test_what_can_never_be_answered_lands_as_failed(asking, run_here, make_actor_here):
    asks = [asking.ask("q1", n=2), asking.ask("q2", n=2, max_tokens=500)]

    async def story() -> Receipt:
        actor = make_actor_here(max_model_len=100)
        await actor.start()
        return await actor.run(lease_of(asks))

    begin_session(run_here)
    receipt = play(story)
    assert receipt.outcomes == {"scored": 2, "failed": 2}
    assert receipt.failed == ()
    failed = scan_judgments(run_here).collect().filter(item_id="q2")
    assert failed["finish_reason"][0].startswith("refused: prompt_too_long")
    stated = int(failed["finish_reason"][0].split()[2])
    assert set(failed["prompt_tokens"]) == {stated}


def test_a_lost_engine_lands_nothing_of_its_lease(asking, run_here, make_actor_here):
    asks = [ask for item in asking.items(4, 2) for ask in item]

    async def story() -> None:
        actor = make_actor_here(dies_on=5, dies="raise")
        await actor.start()
        await actor.run(lease_of(asks))

    begin_session(run_here)
    with pytest.raises(EngineLost):
        play(story)
    assert read_ledger(run_here).n_rows == 0
    assert run_here.names("data") == ()


def test_recall_gives_back_what_was_not_begun(asking, run_here, make_actor_here):
    asks = [ask for item in asking.items(5, 1) for ask in item]

    async def story() -> tuple[Receipt, list[Ask], bool]:
        actor = make_actor_here()
        engine = held(actor)
        await actor.start()
        running = asyncio.ensure_future(actor.run(lease_of(asks)))
        await turns()
        begun = list(engine.asked)
        known = await actor.recall(1, 1)
        await turns()
        engine.go.set()
        return await running, begun, known

    begin_session(run_here)
    receipt, begun, known = play(story)
    assert known
    assert begun == asks[:2]  # twice what the engine runs at once
    assert receipt.withdrawn == tuple(asks[2:])
    assert receipt.rows == 2
    landed = scan_judgments(run_here).collect()
    assert landed["item_id"].to_list() == ["q0", "q1"]


RULE = StoppingRule(delta=0.05, first=3, most=23, step=4)


def growing(asking, *items: str) -> list[GrowingAsk]:
    return [
        GrowingAsk(condition=asking.condition(item), first=0, n=RULE.first, rule=RULE)
        for item in items
    ]


def drawn(run) -> dict[str, list[tuple[int, int, str]]]:
    """Replication, block and verdict of everything landed, by item."""
    rows = scan_judgments(run).collect().sort("item_id", "replication")
    found: dict[str, list[tuple[int, int, str]]] = {}
    for row in rows.select("item_id", "replication", "block", "verdict").iter_rows():
        found.setdefault(row[0], []).append(row[1:])
    return found


def test_a_condition_is_asked_on_until_its_rule_has_enough(asking, run_here, make_actor_here):
    names = [f"q{i}" for i in range(8)]

    async def story() -> Receipt:
        actor = make_actor_here()
        await actor.start()
        return await actor.run(lease_of([*growing(asking, *names), asking.ask("plain", n=3)]))

    begin_session(run_here)
    receipt = play(story)
    landed = drawn(run_here)
    assert receipt.rows == sum(map(len, landed.values())) > 27
    assert receipt.unsettled == ()
    assert [row[0] for row in landed.pop("plain")] == [0, 1, 2]
    for rows in landed.values():
        assert [row[0] for row in rows] == list(range(len(rows)))
        assert [row[1] for row in rows] == [max(0, (r + 1) // 4) for r in range(len(rows))]
        codes = {row[0]: "xyz".index(row[2]) for row in rows}
        assert goal_of(codes, 4, RULE).is_reached
        del codes[len(rows) - 1]
        assert not goal_of(codes, 4, RULE).is_reached
    assert verify_run(run_here) == []


def test_a_recalled_condition_keeps_the_blocks_it_has(asking, run_here, make_actor_here):
    async def story() -> Receipt:
        actor = make_actor_here()
        engine = held(actor)
        await actor.start()
        lease = asyncio.ensure_future(actor.run(lease_of(growing(asking, "q1"))))
        await turns()
        assert await actor.recall(1, 1)
        engine.go.set()
        return await lease

    begin_session(run_here)
    receipt = play(story)
    assert (receipt.rows, receipt.withdrawn, receipt.failed) == (3, (), ())
    assert receipt.unsettled == ("q1",)
    assert [row[:2] for row in drawn(run_here)["q1"]] == [(0, 0), (1, 0), (2, 0)]


def test_a_block_that_fails_leaves_those_before_it(asking, run_here, make_actor_here):
    class FailsLater(HeldEngine):
        """An engine whose second request of a condition fails."""

        async def complete(self, prepared: Prepared, ask: Ask) -> tuple[Completion, ...]:
            if ask.first:
                raise EngineError("too busy")
            return await self.inner.complete(prepared, ask)

    async def story() -> Receipt:
        actor = make_actor_here()
        actor._engine = FailsLater(actor._engine)
        await actor.start()
        return await actor.run(lease_of(growing(asking, "q1")))

    begin_session(run_here)
    receipt = play(story)
    assert receipt.rows == 3
    (failed,) = receipt.failed
    assert (failed.ask.first, failed.ask.n, failed.ask.condition.block) == (3, 4, 1)
    assert receipt.unsettled == ("q1",)


def test_a_lease_recalled_before_any_of_it_began_comes_back_at_once(asking, make_actor_here):
    async def story() -> tuple[Receipt, Receipt]:
        actor = make_actor_here()
        engine = held(actor)
        await actor.start()
        full = [asking.ask(f"q{n}") for n in range(judge_actor.OVERFILL)]
        first = asyncio.ensure_future(actor.run(lease_of(full)))
        second = asyncio.ensure_future(actor.run(lease_of([asking.ask("waits")], lease=2)))
        await turns()
        assert engine.asked == full
        assert await actor.recall(2, 1)
        back = await asyncio.wait_for(second, 5)
        assert not first.done()
        engine.go.set()
        return back, await first

    back, landed = play(story)
    assert (back.landed, back.rows, len(back.withdrawn)) == (True, 0, 1)
    assert back.tokens == TokenCounts()
    assert landed.rows == judge_actor.OVERFILL


def test_replies_shorter_than_they_may_be_let_more_asks_in(asking, run_here, make_actor_here):
    """First what replies may take has to fit the cache twice over, then what they do take."""
    asks = [asking.ask(f"q{n}", max_tokens=400) for n in range(40)]
    condition = asks[0].condition

    async def story() -> tuple[int, int]:
        actor = make_actor_here()
        inner = actor._engine
        await inner.start()
        prompt = inner.prepare(condition).prompt_tokens
        engine = held(actor, 100, kv_tokens=2 * (prompt + condition.max_tokens))
        await actor.start()
        running = asyncio.ensure_future(actor.run(lease_of(asks)))
        await turns()
        at_first = len(engine.asked)
        engine.go.set()
        await turns(2)  # the first asks end, and those after them are let in
        engine.go.clear()
        await turns()
        later = len(engine.asked) - at_first
        engine.go.set()
        assert (await running).rows == 40
        return at_first, later

    begin_session(run_here)
    at_first, later = play(story)
    assert at_first == 2 * judge_actor.OVERFILL
    assert later > 2 * at_first


def test_an_actor_says_whether_its_engine_is_there(make_actor_here):
    async def story() -> None:
        actor = make_actor_here()
        await actor.start()
        assert await actor.ping() is None
        await actor.stop()
        await actor.ping()

    with pytest.raises(EngineLost, match="while nothing was asked of it"):
        play(story)


def test_recalling_a_lease_that_is_not_there_does_nothing(make_actor_here):
    async def story() -> bool:
        return await make_actor_here().recall(7, 1)

    assert play(story) is False


def test_tokens_of_overlapping_leases_add_up_to_the_engines(asking, run_here, make_actor_here):
    items = asking.items(12, 3, temperatures=(1.0, 0.5))

    async def story() -> tuple[list[Receipt], TokenCounts]:
        actor = make_actor_here(latency_ms=2, tokens_per_s=50_000, fails_on=[7])
        await actor.start()
        leases = [lease_of(asks, lease=n) for n, asks in enumerate(items, start=1)]
        receipts = await asyncio.gather(*(actor.run(lease) for lease in leases))
        return list(receipts), actor._engine.counters()

    begin_session(run_here)
    receipts, counted = play(story)
    assert sum((receipt.tokens for receipt in receipts), TokenCounts()) == counted
    assert read_ledger(run_here).tokens == counted
    assert all(receipt.seconds >= 0 for receipt in receipts)


def test_tokens_spent_while_a_lease_failed_whole_are_told_by_the_next(
    asking, run_here, make_actor_here
):
    async def story() -> tuple[Receipt, Receipt, TokenCounts]:
        actor = make_actor_here(fails_on=[4])
        await actor.start()
        first = asyncio.ensure_future(actor.run(lease_of([asking.ask("q1", n=3)])))
        failed = asyncio.ensure_future(actor.run(lease_of([asking.ask("q2", n=3)], lease=2)))
        return await first, await failed, actor._engine.counters()

    begin_session(run_here)
    first, failed, counted = play(story)
    assert len(failed.failed) == 1
    assert failed.rows == 0
    assert first.tokens + failed.tokens == counted
    assert read_ledger(run_here).tokens == counted


def test_seconds_of_overlapping_leases_are_not_counted_twice(asking, run_here, make_actor_here):
    async def story() -> tuple[list[Receipt], float]:
        actor = make_actor_here(latency_ms=300)
        await actor.start()
        asks = [asking.ask(f"q{i}") for i in range(4)]
        began = time.monotonic()
        running = [actor.run(lease_of([ask], lease=n)) for n, ask in enumerate(asks, 1)]
        return list(await asyncio.gather(*running)), time.monotonic() - began

    begin_session(run_here)
    receipts, passed = play(story)
    assert 0.29 < sum(receipt.seconds for receipt in receipts) <= passed  # counted apart: 1.2


def test_an_attempt_closed_meanwhile_does_not_land(asking, run_here, make_actor_here):
    async def story() -> Receipt:
        actor = make_actor_here()
        engine = held(actor)
        await actor.start()
        running = asyncio.ensure_future(actor.run(lease_of([asking.ask("q1", n=2)])))
        await turns()
        assert close_lease(run_here, session=1, lease=1, attempt=1) is None
        engine.go.set()
        return await running

    begin_session(run_here)
    receipt = play(story)
    assert not receipt.landed
    assert read_ledger(run_here).n_rows == 0
    assert run_here.files.sizes("data") == {}


def test_an_actor_goes_on_after_a_lease_ended_in_an_error(asking, run_here, make_actor_here):
    """What waited at the gate for a lease that ended leaves no trace there."""

    async def story() -> Receipt:
        actor = make_actor_here()
        engine = held(actor)
        await actor.start()
        engine.problems["q0"] = EngineLost("gone")
        asks = [ask for item in asking.items(6, 1) for ask in item]
        ended = asyncio.ensure_future(actor.run(lease_of(asks)))
        await turns()
        engine.go.set()
        with pytest.raises(EngineLost):
            await ended
        again = lease_of([ask for ask in asks if ask.condition.item_id != "q0"], lease=2)
        return await asyncio.wait_for(actor.run(again), 10)

    begin_session(run_here)
    assert play(story).rows == 5


def test_in_flight_is_bounded_by_the_engines_sequences(asking, run_here, make_actor_here):
    async def story() -> tuple[int, Receipt]:
        actor = make_actor_here()
        engine = held(actor, max_num_seqs=20)
        await actor.start()
        asks = [ask for item in asking.items(10, 5) for ask in item]
        running = asyncio.ensure_future(actor.run(lease_of(asks)))
        await turns(100)
        in_flight = sum(ask.n for ask in engine.asked)
        engine.go.set()
        return in_flight, await running

    begin_session(run_here)
    in_flight, receipt = play(story)
    assert in_flight == 40  # twice what it runs at once: eight asks of five
    assert receipt.rows == 50


def test_stop_ends_the_engine(asking, make_actor_here):
    async def story() -> None:
        actor = make_actor_here()
        await actor.start()
        await actor.stop()
        with pytest.raises(EngineLost):
            await actor.run(lease_of([asking.ask()]))

    play(story)


def test_a_node_with_another_judge_is_refused_before_its_engine_starts(make_actor_here):
    async def story(digest_of) -> None:
        actor = make_actor_here()
        seen = judge_fingerprint(actor._spec.engine)
        parts = {**seen.parts, **digest_of}
        fingerprint = Fingerprint(digest=seen.digest, parts=parts)
        actor._spec = replace(actor._spec, fingerprint=fingerprint)
        await actor.start()
        await actor.stop()

    play(lambda: story({}))
    with pytest.raises(SweepError, match=r"another one on this node: engine_version: expected 0"):
        play(lambda: story({"engine_version": 0}))


@pytest.mark.parametrize(
    ("raised", "written", "said"),
    [
        (
            "engine did not start: RuntimeError: Engine core initialization failed. See root cause "
            "above. Failed core proc(s): {}",
            "(EngineCore pid=1) ERROR SafetensorError: invalid header",
            "engine did not start: SafetensorError: invalid header [",
        ),
        ("engine did not start: OSError: gone", "", "engine did not start: OSError: gone ["),
    ],
)
def test_an_engine_that_does_not_start_names_a_log_that_is_there(
    make_actor_here, monkeypatch, tmp_path, raised, written, said
):
    log = tmp_path / "worker.err"
    log.write_text(written)
    monkeypatch.setattr("judgerel_ray.fleet.engine_log.error_log", lambda: log)
    monkeypatch.setattr(judge_actor, "error_log", lambda: log)

    async def fails():
        raise EngineStartError(raised, where={"judge": "j"}, hint="the log above")

    async def story() -> None:
        actor = make_actor_here()
        monkeypatch.setattr(actor._engine, "start", fails, raising=False)
        await actor.start()

    with pytest.raises(EngineStartError) as caught:
        play(story)
    text = str(caught.value)
    assert text.startswith(said)
    assert f"read its log, {log} on " in text
    assert "above" not in text


class Spoiling(HeldEngine):
    """An engine whose replies to some requests hold what no table can."""

    def __init__(self, inner, bad: dict[tuple[str, int], dict[str, object]]) -> None:
        super().__init__(inner, max_num_seqs=1000)
        self.bad = bad
        self.go.set()

    async def complete(self, prepared: Prepared, ask: Ask) -> tuple[Completion, ...]:
        found = await super().complete(prepared, ask)
        item = ask.condition.item_id
        return tuple(replace(one, **self.bad.get((item, one.replication), {})) for one in found)


SPOILT: list[dict[str, object]] = [
    {"text": "half \ud800 of one"},
    {"prompt_tokens": 2**33},
    {"completion_tokens": 2**33},
    {"logprobs": (TokenLogprob(token="A", logprob=None),)},  # type: ignore[arg-type]
    {"finish_reason": None},
]


@pytest.mark.slow
@pytest.mark.parametrize("value", SPOILT)
def test_a_reply_that_no_row_can_hold_costs_that_reply_alone(
    asking, run_here, make_actor_here, value
):
    """Of 200 items, three replications each, three replies are bad: 597 land, three are named."""
    items = asking.items(200, 3)
    asks = [ask for item in items for ask in item]
    bad = {("q7", 0): value, ("q120", 1): value, ("q199", 2): value}

    async def story() -> tuple[Receipt, TokenCounts, int]:
        actor = make_actor_here()
        actor._engine = engine = Spoiling(actor._engine, bad)
        await actor.start()
        receipt = await actor.run(lease_of(asks))
        return receipt, engine.counters(), len(engine.asked)

    begin_session(run_here)
    receipt, spent, n_asked = play(story)
    assert (receipt.landed, receipt.rows, n_asked) == (True, 597, 200)
    assert receipt.tokens == spent == read_ledger(run_here).tokens
    failed = {(one.ask.condition.item_id, one.ask.first, one.ask.n) for one in receipt.failed}
    assert failed == {(item, replication, 1) for item, replication in bad}
    for one in receipt.failed:
        assert one.kind == "defect"
        assert f"replication {one.ask.first} of condition" in one.message
        assert f"item {one.ask.condition.item_id}: " in one.message
        assert "\n" not in one.message
    ledger = read_ledger(run_here)
    assert (ledger.n_rows, len(ledger.commits)) == (597, 1)
    assert verify_run(run_here) == []  # and no file is left that no record names
    rows = failure_rows(
        [one.ask for one in receipt.failed],
        lease="s0001-l000001",
        attempt=1,
        kind="defect",
        message=f"{receipt.failed[0].message} \ud800",
        failed_at=datetime.now(UTC),
    )
    record_errors(run_here, session=1, judge="j", rows=rows)
    assert read_errors(run_here)["key"].n_unique() == 3


def test_a_lease_of_bad_replies_alone_lands_nothing_and_names_them(
    asking, run_here, make_actor_here
):
    async def story() -> tuple[Receipt, Receipt, TokenCounts]:
        actor = make_actor_here()
        bad = {("q1", n): {"prompt_tokens": 2**33} for n in range(2)}
        actor._engine = engine = Spoiling(actor._engine, bad)
        await actor.start()
        spoilt = await actor.run(lease_of([asking.ask("q1", n=2)]))
        sound = await actor.run(lease_of([asking.ask("q2", n=2)], lease=2))
        return spoilt, sound, engine.counters()

    begin_session(run_here)
    spoilt, sound, spent = play(story)
    assert (spoilt.landed, spoilt.rows, [one.ask.n for one in spoilt.failed]) == (True, 0, [1, 1])
    assert (spoilt.tokens, sound.tokens) == (TokenCounts(), spent)  # told by the next with a record
    assert read_ledger(run_here).tokens == spent
    assert verify_run(run_here) == []


def test_what_is_wrong_with_no_reply_alone_fails_the_lease_and_leaves_nothing(
    asking, run_here, make_actor_here
):
    """One replication that was asked twice: each is sound, and no one can say which is wrong."""

    async def story() -> None:
        actor = make_actor_here()
        await actor.start()
        await actor.run(lease_of([asking.ask("q1", n=2), asking.ask("q1", first=1, n=2)]))

    begin_session(run_here)
    with pytest.raises(TableError):
        play(story)
    assert read_ledger(run_here).n_rows == 0
    assert verify_run(run_here) == []


def test_a_store_that_fails_is_no_replys_fault(asking, make_actor_here, monkeypatch):
    laid_out = []

    def fails(*_args, **_given):
        raise StoreError("disk full")

    def counted(*args, **given):
        laid_out.append(1)
        return landed_rows(*args, **given)

    monkeypatch.setattr(judge_actor, "land", fails)
    monkeypatch.setattr(judge_actor, "landed_rows", counted)

    async def story() -> None:
        actor = make_actor_here()
        await actor.start()
        await actor.run(lease_of([asking.ask(f"q{i}") for i in range(8)]))

    with pytest.raises(StoreError, match="disk full"):
        play(story)
    assert len(laid_out) == 1


def test_a_growing_condition_with_a_bad_reply_keeps_its_neighbours(
    asking, run_here, make_actor_here, monkeypatch
):
    def reads(condition, text, finish_reason):
        if condition.item_id == "q1":
            raise ZeroDivisionError("by none")
        return read_by_condition(condition, text, finish_reason)

    monkeypatch.setattr(judge_actor, "read_by_condition", reads)
    monkeypatch.setattr(landing, "read_by_condition", reads)

    async def story() -> Receipt:
        actor = make_actor_here()
        await actor.start()
        return await actor.run(lease_of(growing(asking, "q1", "q2")))

    begin_session(run_here)
    receipt = play(story)
    assert {one.ask.condition.item_id for one in receipt.failed} == {"q1"}
    assert sum(one.ask.n for one in receipt.failed) == RULE.first
    assert "ZeroDivisionError: by none" in receipt.failed[0].message
    assert receipt.unsettled == ("q1",)
    assert receipt.rows == len(drawn(run_here)["q2"]) > RULE.first
