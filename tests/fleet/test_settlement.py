from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.config import FleetTable, Prices
from judgerel_ray.core import SweepError, TokenCounts
from judgerel_ray.engines import EngineSpec
from judgerel_ray.fleet import Board, JudgeBoard, JudgePool, JudgeState, WorkQueue
from judgerel_ray.fleet.lease import FailedAsk, Lease, Receipt, item_of, unlanded
from judgerel_ray.fleet.outside import Outside
from judgerel_ray.fleet.pool import Dispatched, Slot, sum_units
from judgerel_ray.fleet.settlement import Settlement
from judgerel_ray.store import begin_session, close_lease, read_errors, read_ledger


class Account:
    """A settlement with one judge, engines that are only names, and a real run directory."""

    def __init__(self, asking, run, items, **limits) -> None:
        self.run = run
        self.total = len(asking.requests(ask for asks in items for ask in asks))
        begin_session(run)
        self.board = JudgeBoard(asked=self.total)
        self.dropped: list[str] = []
        engine = EngineSpec(name="j", engine="simulated", model="uniform", gpus=2)
        prices = Prices(prompt=1e6, cached_prompt=0.0, completion=2e6)
        spec = SimpleNamespace(engine=engine, prices=prices)
        self.told: Counter[str] = Counter()
        self.pool = JudgePool(name="j", spec=spec, replicas=None, requests_left=self.total)
        self.pool.came_up = True
        self.pool.queue = WorkQueue(source=iter(items), request_size=4)
        self.settlement = Settlement(
            run=run,
            session=1,
            limits=FleetTable(**limits),
            board=Board(sweep="s", session=1, judges={"j": self.board}),
            placement=SimpleNamespace(drop=self._drop, look_again=lambda: None),
            outside=Outside(record=self._record),
        )
        self.n_leases = 0

    def _drop(self, pool: JudgePool, slot: Slot) -> None:
        self.dropped.append(slot.name)
        pool.slots.pop(slot.name, None)

    def _record(self, name: str, judge: str, value: float) -> None:
        assert judge == "j"
        self.told[name] += value

    def slot(self, name: str) -> Slot:
        slot = Slot(name=name, handle=None, started_at=0.0, starting=None, ready=True)
        return self.pool.slots.setdefault(name, slot)

    def send(self, name: str, asks) -> Dispatched:
        self.n_leases += 1
        lease = Lease(lease=self.n_leases, attempt=1, judge="j", asks=tuple(asks))
        sent = Dispatched(lease=lease, units=sum_units(lease.asks), sent_at=0.0, deadline_at=9.0)
        self.slot(name).leases[self.n_leases] = sent
        return sent

    def send_next(self, name: str, units: int = 10_000) -> Dispatched:
        return self.send(name, self.pool.queue.take(name, units))

    def send_suspects(self, name: str) -> Dispatched:
        """Give an engine the next group of suspects, and nothing beside."""
        group, asks = self.pool.suspicion.take()
        self.slot(name).apart = group
        return self.send(name, asks)

    def lose(self, name: str, message: str = "gone") -> None:
        slot = self.pool.slots[name]
        self.settlement.lose(self.pool, slot, kind="engine_lost", message=message)

    def suspects(self) -> list:
        """All that waits among suspects."""
        return [ask for asks in self.pool.suspicion._asks.values() for ask in asks]

    def kinds(self) -> dict[str, int]:
        counts = read_errors(self.run)["kind"].value_counts()
        return dict(counts.iter_rows())

    def check(self) -> None:
        """What is left is what neither landed nor was recorded."""
        assert self.pool.requests_left == self.total - self.board.landed - self.board.failed
        assert read_errors(self.run).height == self.board.failed


@pytest.fixture
def account(asking, run_here):
    def make(items=None, **limits) -> Account:
        return Account(asking, run_here, items or asking.items(4, 6), **limits)

    return make


def receipt_for(sent: Dispatched, **changes) -> Receipt:
    values = {"landed": True, "rows": sent.lease.n_requests, "seconds": 1.0}
    return Receipt(**{**values, **changes})


def land_outside(sent: Dispatched, make_actor_here) -> None:
    """An actor lands a lease and dies before it can say so."""
    import asyncio

    async def story() -> None:
        actor = make_actor_here()
        await actor.start()
        await actor.run(sent.lease)

    asyncio.run(story())


def test_what_landed_and_what_failed_is_told_as_metrics(account):
    mine = account(max_attempts=1)
    sent, doomed = mine.send_next("a", 60), mine.send_next("a")
    assert doomed.lease.asks
    tokens = TokenCounts(prompt=100, cached=60, generated=5)
    mine.settlement.receipt(mine.pool, sent, receipt_for(sent, tokens=tokens, seconds=3.0))
    mine.settlement.fail(mine.pool, doomed, kind="lease", message="a defect")
    assert mine.told == {
        "judgerel_judgments": sent.lease.n_requests,
        "judgerel_prompt_tokens": 100,
        "judgerel_cached_tokens": 60,
        "judgerel_generated_tokens": 5,
        "judgerel_gpu_seconds": 6.0,
        "judgerel_cost": 40.0 + 10.0,
        "judgerel_failures": doomed.lease.n_requests,
    }


def test_a_receipt_counts_and_gives_back_what_it_withdrew(account):
    mine = account()
    sent = mine.send_next("a")
    back = sent.lease.asks[-1]
    mine.settlement.receipt(
        mine.pool,
        sent,
        receipt_for(sent, rows=sent.lease.n_requests - back.n, withdrawn=(back,)),
    )
    assert mine.board.landed == sent.lease.n_requests - back.n
    assert mine.pool.queue.take("b", 1) == (back,)
    mine.check()


def test_a_failed_request_is_asked_again_and_then_recorded(account):
    mine = account(max_attempts=3)
    for attempt in (1, 2, 3):
        sent = mine.send_next(f"a{attempt}", units=1)
        failed = FailedAsk(ask=sent.lease.asks[0], kind="request", message="no")
        mine.settlement.receipt(mine.pool, sent, receipt_for(sent, rows=0, failed=(failed,)))
        assert mine.board.failed == (sent.lease.n_requests if attempt == 3 else 0)
        mine.check()
    assert mine.kinds() == {"request": 4}


def test_a_receipt_of_a_closed_attempt_counts_for_nothing(account):
    mine = account()
    sent = mine.send_next("a", units=1)
    close_lease(mine.run, session=1, lease=sent.lease.lease, attempt=1)
    mine.settlement.receipt(mine.pool, sent, receipt_for(sent, landed=False))
    assert mine.board.landed == 0
    assert mine.pool.queue.take("b", 1) == sent.lease.asks
    mine.check()


def test_what_landed_before_its_actor_died_is_counted_and_not_asked_again(
    asking, account, make_actor_here
):
    mine = account()
    landed, lost = mine.send_next("a", units=100), mine.send_next("a", units=100)
    land_outside(landed, make_actor_here)
    mine.settlement.lose(mine.pool, mine.pool.slots["a"], kind="engine_lost", message="gone")
    assert mine.board.landed == landed.lease.n_requests == read_ledger(mine.run).n_rows
    assert mine.board.tokens == read_ledger(mine.run).tokens != TokenCounts()
    assert sorted(asking.requests(mine.suspects())) == sorted(asking.requests(lost.lease.asks))
    assert mine.dropped == ["a"]
    mine.check()


def test_engines_that_land_before_they_die_are_not_counted_against_a_judge(
    account, make_actor_here
):
    mine = account(max_engine_losses=1)
    for name in "abc":
        sent = mine.send_next(name, units=1)
        land_outside(sent, make_actor_here)
        mine.lose(name)
        assert mine.pool.losses == 1
    assert mine.pool.fatal_error is None
    mine.check()


def test_a_dead_actors_item_in_hand_goes_to_others(asking, account):
    mine = account(asking.items(1, 12))
    sent = mine.send_next("a", units=1)
    mine.settlement.lose(mine.pool, mine.pool.slots["a"], kind="engine_lost", message="gone")
    rest = mine.pool.queue.take("b", 10_000)
    assert len(asking.requests(rest)) == 12 - sent.lease.n_requests
    mine.check()


def test_an_item_that_kills_an_engine_alone_is_recorded_whole_and_never_asked_again(
    asking, account
):
    mine = account(asking.items(3, 12))
    mine.send_next("a", units=1)  # one ask of q0; others follow
    mine.lose("a")
    alone = mine.send_suspects("b")
    mine.lose("b")
    item = alone.lease.asks[0].condition.item_id
    assert {ask.condition.item_id for ask in alone.lease.asks} == {item}
    assert mine.kinds() == {"quarantined": 4}
    assert mine.pool.losses == 2
    left = mine.suspects()
    while taken := mine.pool.queue.take("c", 10_000):
        left += mine.settlement.untainted(mine.pool, taken)
    assert all(ask.condition.item_id != item for ask in left)
    errors = read_errors(mine.run)
    assert errors.height == 12
    assert set(errors["item_id"]) == {item}
    mine.check()


def test_what_was_held_of_an_item_is_recorded_with_it(asking, account):
    mine = account(asking.items(1, 12))
    mine.send_next("a", units=1)
    mine.lose("a")
    mine.send_suspects("b")
    assert mine.settlement.untainted(mine.pool, mine.pool.queue.take("c", 10_000)) == ()
    mine.lose("b")
    assert mine.kinds() == {"quarantined": 12}
    assert not mine.pool.has_work
    mine.check()


def test_the_rest_of_a_suspected_item_is_asked_with_it(asking, account):
    mine = account(asking.items(2, 12))
    mine.send_next("a", units=1)
    mine.lose("a")
    clean = mine.settlement.untainted(mine.pool, mine.pool.queue.take("b", 10_000))
    assert {ask.condition.item_id for ask in clean} == {"q1"}
    assert mine.send_suspects("b").lease.n_requests == 12
    mine.check()


def test_suspects_that_land_are_as_any_others_again(asking, account):
    mine = account(asking.items(1, 12))
    mine.send_next("a", units=1)
    mine.lose("a")
    alone = mine.send_suspects("b")
    assert mine.settlement.untainted(mine.pool, mine.pool.queue.take("c", 10_000)) == ()
    slot = mine.pool.slots["b"]
    slot.leases.clear()
    mine.settlement.clear(mine.pool, slot)
    mine.settlement.receipt(mine.pool, alone, receipt_for(alone))
    assert slot.apart == ()
    rest = mine.settlement.untainted(mine.pool, mine.pool.queue.take("c", 10_000))
    assert mine.board.landed + len(asking.requests(rest)) == 12
    assert not mine.pool.has_work
    mine.check()


def test_a_group_whose_engine_dies_is_split_until_one_is_left(asking, account):
    mine = account(asking.items(9, 2))
    mine.send_next("a")
    mine.lose("a")
    sizes = []
    for name in "bcd":
        while True:  # the first group dies each time, all others land
            group = mine.send_suspects(name)
            items = {ask.condition.item_id for ask in group.lease.asks}
            if "q0" in items:
                break
            slot = mine.pool.slots.pop(name)
            mine.settlement.clear(mine.pool, slot)
            mine.settlement.receipt(mine.pool, group, receipt_for(group))
        sizes.append(len(items))
        mine.lose(name)
    assert sizes == [3, 2, 1]
    assert set(read_errors(mine.run)["item_id"]) == {"q0"}
    assert mine.kinds() == {"quarantined": 2}
    mine.check()


def test_a_group_that_landed_before_its_engine_died_is_cleared(asking, account, make_actor_here):
    mine = account(asking.items(4, 2))
    mine.send_next("a")
    mine.lose("a")
    group = mine.send_suspects("b")
    land_outside(group, make_actor_here)
    mine.lose("b")
    assert mine.board.landed == group.lease.n_requests
    assert len(asking.requests(mine.suspects())) == 8 - group.lease.n_requests
    assert mine.pool.suspicion.n_waiting == 1
    mine.check()


NODE_LOST = "ActorDiedError: The actor died because its node has died. Node Id: 1f"


def test_a_lost_node_makes_no_suspects_and_counts_no_engine(asking, account):
    mine = account(asking.items(4, 6), max_engine_losses=1)
    for name in "ab":
        sent = mine.send_next(name)
        mine.lose(name, NODE_LOST)
        assert mine.suspects() == []
    assert mine.pool.losses == 0
    assert mine.pool.history(sent.lease.asks[0]).losses == 2
    assert len(asking.requests(mine.pool.queue.take("c", 10_000))) == 24
    mine.check()


def test_a_group_whose_node_is_lost_is_asked_as_it_was(asking, account):
    mine = account(asking.items(4, 2))
    mine.send_next("a")
    mine.lose("a")
    group = mine.send_suspects("b")
    mine.lose("b", NODE_LOST)
    assert mine.kinds() == {}
    assert mine.send_suspects("c").lease.asks == group.lease.asks
    mine.check()


def test_an_item_that_loses_nodes_again_and_again_is_recorded_with_how_many(asking, account):
    mine = account([*asking.items(1, 12), (asking.ask("other", n=2),)])
    for name in "abc":
        mine.send_next(name, units=1)
        mine.lose(name, NODE_LOST)  # two may go, the third makes it a suspect
    assert mine.suspects() != []
    mine.send_suspects("d")
    mine.lose("d", NODE_LOST)
    assert mine.settlement.untainted(mine.pool, mine.pool.queue.take("e", 1)) == ()
    mine.settlement.give_up(mine.pool, RuntimeError("no more"))
    errors = read_errors(mine.run)
    told = {item: set(some["message"]) for (item,), some in errors.group_by("item_id")}
    assert set(errors["kind"]) == {"quarantined", "judge_failed"}
    assert all(one.startswith("4 nodes were lost under it: ") for one in told["q0"])
    assert told["other"] == {"no more"}
    mine.check()


def test_a_lease_that_failed_whole_is_pending_and_its_engine_kept(account):
    mine = account(max_attempts=2)
    for name in "ab":
        sent = mine.send_next(name, units=1)
        mine.settlement.fail(mine.pool, sent, kind="lease", message="defect")
    assert mine.kinds() == {"lease": 4}
    assert mine.dropped == []
    mine.check()


def test_a_judge_nothing_more_can_be_asked_of_ends_when_its_leases_have(asking, account):
    mine = account(asking.items(10, 6))
    first, second = mine.send_next("a", units=50), mine.send_next("a", units=50)
    failed = tuple(FailedAsk(ask=ask, kind="request", message="no") for ask in first.lease.asks)
    receipt = Receipt(landed=True, rows=0, failed=failed, mistake=SweepError("no money left"))
    del mine.pool.slots["a"].leases[1]
    mine.settlement.receipt(mine.pool, first, receipt)
    assert mine.pool.fatal_error is None  # what is answered in the other lease may still land
    assert isinstance(mine.pool.mistake, SweepError)
    del mine.pool.slots["a"].leases[2]
    mine.settlement.receipt(mine.pool, second, replace(receipt, failed=()))
    assert mine.pool.fatal_error is mine.pool.mistake
    assert mine.board.error == "no money left"
    assert mine.dropped == ["a"]


def test_a_judge_given_up_records_all_that_is_pending(asking, account, make_actor_here):
    mine = account(asking.items(10, 6))
    landed = mine.send_next("a", units=50)
    mine.send_next("a", units=50)
    mine.send_next("b", units=50)
    suspected = mine.pool.queue.take("c", 30)
    mine.pool.suspicion.accuse([item_of(ask) for ask in suspected])
    assert mine.settlement.untainted(mine.pool, suspected) == ()
    land_outside(landed, make_actor_here)
    mine.settlement.give_up(mine.pool, RuntimeError("first\nsecond"))
    assert mine.pool.slots == {}
    assert sorted(mine.dropped) == ["a", "b"]
    assert mine.board.landed == landed.lease.n_requests
    assert mine.pool.requests_left == 0
    assert not mine.pool.has_work
    assert mine.board.state is JudgeState.FAILED
    assert mine.board.error == "first"
    assert mine.kinds() == {"judge_failed": 60 - mine.board.landed}
    assert read_errors(mine.run)["key"].n_unique() == 60 - mine.board.landed
    mine.check()


def test_a_judge_of_which_no_engine_came_up_failed_nothing(account):
    mine = account()
    mine.pool.came_up = False
    mine.settlement.give_up(mine.pool, RuntimeError("no GPU"))
    assert mine.kinds() == {}
    assert (mine.board.failed, mine.board.owed) == (0, mine.total)
    assert not mine.pool.has_work
    assert (mine.board.state, mine.board.error) == (JudgeState.FAILED, "no GPU")
    mine.check()


def test_too_many_deaths_give_the_judge_up(asking, account):
    mine = account(asking.items(40, 4), max_engine_losses=3)
    for n in range(4):
        mine.send_next(f"a{n}", units=1)
        slot = mine.pool.slots[f"a{n}"]
        mine.settlement.lose(mine.pool, slot, kind="engine_lost", message="gone")
    assert "4 engines died" in str(mine.pool.fatal_error)
    assert mine.board.failed == 160
    assert read_errors(mine.run)["key"].n_unique() == 160
    mine.check()


@given(
    first=st.integers(0, 20),
    n=st.integers(1, 20),
    landed=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10)), max_size=4),
)
def test_what_did_not_land_is_what_is_left(asking, first, n, landed):
    ask = asking.ask(first=first, n=n)
    done = {r for start, length in landed for r in range(start, start + length)}
    rest = unlanded(ask, landed)
    assert [r for piece in rest for r in piece.replications] == [
        r for r in ask.replications if r not in done
    ]
    assert all(a.first + a.n < b.first for a, b in itertools.pairwise(rest))


def test_engines_lost_with_something_landed_in_between_do_not_add_up(asking, account):
    books = account(asking.items(20, 2), max_engine_losses=1)
    for k in range(4):
        lost = books.send_next(f"dead{k}", units=1)
        books.settlement.lose(books.pool, books.slot(f"dead{k}"), kind="engine_lost", message="x")
        assert lost.lease.n_requests > 0
        done = books.send_next(f"well{k}", units=1)
        if books.pool.fatal_error or not done.lease.asks:
            break
        books.settlement.receipt(books.pool, done, receipt_for(done))
    assert books.pool.fatal_error is None


def test_what_fails_together_is_recorded_in_one_file(asking, account):
    books = account(asking.items(1, 40), max_attempts=1)
    sent = books.send_next("a")
    failed = tuple(FailedAsk(ask=ask, kind="request", message="no") for ask in sent.lease.asks)
    assert len(failed) > 5
    books.settlement.receipt(books.pool, sent, receipt_for(sent, rows=0, failed=failed))
    assert len(books.run.names("errors/judge=j")) == 1
    assert books.kinds() == {"request": sum(each.ask.n for each in failed)}


def test_an_engine_that_dies_is_said_once_with_its_judge_and_its_log(account):
    mine = account()
    mine.send_next("a")
    mine.pool.slots["a"].log = "n1:/tmp/w.err"
    mine.lose("a", "ActorDiedError: End of file.")
    assert mine.settlement.board.notices == [
        "j: an engine died: ActorDiedError: End of file. Its log: n1:/tmp/w.err"
    ]
