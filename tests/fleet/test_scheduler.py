"""The scheduler in a world of its own: engines that answer, fail, hang and die by a drawn fate.

Time is a number there, so hundreds of runs take seconds, and one that stands still is seen.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from judgerel_ray.config import FleetTable
from judgerel_ray.core import TokenCounts
from judgerel_ray.core.errors import (
    EngineError,
    EngineLost,
    EngineStartError,
    StoreError,
    SweepError,
)
from judgerel_ray.engines import EngineSpec
from judgerel_ray.fleet import Board, Fleet, JudgeBoard, JudgePool, JudgeState, Outside, WorkQueue
from judgerel_ray.fleet.cluster import Capacity
from judgerel_ray.fleet.lease import ActorFacts, FailedAsk, Lease, Receipt, item_of
from judgerel_ray.fleet.pool import FIRST_LEASES_AHEAD, LEASES_AHEAD

FOREVER = 10_000_000.0
FACTS = ActorFacts(node="n", max_num_seqs=None)


@dataclass(eq=False)
class Call:
    """A call of an actor: when it ends, and with what."""

    at: float
    end: Any
    """Called once, when the result is looked at."""


@dataclass
class Fates:
    """How likely what is, for each lease; the rest lands whole."""

    dies: float = 0.0
    dies_landed: float = 0.0
    """It lands and dies before it can say so."""
    fails_some: float = 0.0
    fails_whole: float = 0.0
    loses_receipt: float = 0.0
    """It lands, and what it says of it is lost on the way; its engine lives."""
    hangs: float = 0.0
    start_fails: float = 0.0
    poison: frozenset[str] = frozenset()


@dataclass
class World:
    """Cluster, engines, clock and store."""

    draw: random.Random
    fates: dict[str, Fates]
    nodes: tuple[int, ...] = (4,)
    cpus: float = 2.0
    grows: bool = False
    now: float = 0.0
    steps: int = 0
    actors: dict[str, Actor] = field(default_factory=dict)
    landed: Counter = field(default_factory=Counter)
    errors: Counter = field(default_factory=Counter)
    error_kinds: Counter = field(default_factory=Counter)
    settled: dict[int, SimpleNamespace | None] = field(default_factory=dict)
    deaths: Counter = field(default_factory=Counter)
    """Engines of a judge that died, by what was asked of them."""
    taken_over_at: int | None = None
    """How much has landed when another run takes the directory over."""

    @property
    def room(self) -> Capacity:
        return Capacity(cpus=self.cpus, gpus=float(sum(self.nodes)), nodes=self.nodes)

    @property
    def outside(self) -> Outside:
        return Outside(
            capacity=lambda: self.room,
            in_use=lambda: Capacity(cpus=0.0, gpus=0.0),
            demand=lambda _: None,
            make_actor=self.make_actor,
            kill_actor=self.kill,
            is_placed=lambda handle: self.room.holds([self.actors[handle.name].gpus]),
            finished=self.finished,
            result_of=lambda call: call.end(),
            now=lambda: self.now,
            sleep=self.sleep,
            close_lease=self.close_lease,
            record_errors=self.record_errors,
            is_superseded=self.is_superseded,
        )

    def finished(self, calls, wait_s):
        self.steps += 1
        assert self.steps < 60_000, "it does not end"
        if wait_s and not any(call.at <= self.now for call in calls):
            soonest = min(call.at for call in calls)
            self.now = min(soonest, self.now + wait_s)
        done = [call for call in calls if call.at <= self.now]
        self.draw.shuffle(done)
        return done

    def sleep(self, seconds: float) -> None:
        self.steps += 1
        assert self.steps < 60_000, "it does not end"
        self.now += seconds

    def make_actor(self, spec, *, name, pieces):
        assert sum(pieces) == spec.engine.gpus
        actor = Actor(world=self, name=name, judge=spec.name, gpus=spec.engine.gpus)
        self.actors[name] = actor
        alive = [one.gpus for one in self.actors.values() if one.alive and one.gpus]
        assert self.room.holds(alive) or (self.grows and len(alive) == 1)
        return SimpleNamespace(actor=actor.handle, name=name)

    def kill(self, handle) -> None:
        self.actors[handle.name].alive = False

    def land(self, lease: Lease, asks) -> bool:
        """Land asks of a lease unless it was closed."""
        if lease.lease in self.settled:
            assert self.settled[lease.lease] is None, "a lease lands once"
            return False
        conditions: dict[str, list[tuple[int, int]]] = {}
        for ask in asks:
            conditions.setdefault(ask.condition.condition_key, []).append((ask.first, ask.n))
            for replication in ask.replications:
                self.landed[lease.judge, ask.condition.condition_key, replication] += 1
        self.settled[lease.lease] = SimpleNamespace(
            rows=sum(ask.n for ask in asks),
            outcomes={"scored": sum(ask.n for ask in asks)},
            tokens=TokenCounts(generated=sum(ask.n for ask in asks)),
            seconds=1.0,
            conditions=conditions,
        )
        return True

    def close_lease(self, run, *, session, lease, attempt):
        assert (run.url, session) == ("nowhere", 1)
        assert attempt >= 1
        return self.settled.setdefault(lease, None)

    def is_superseded(self, run, session) -> bool:
        assert (run.url, session) == ("nowhere", 1)
        return self.taken_over_at is not None and self.landed.total() >= self.taken_over_at

    def record_errors(self, run, *, session, judge, rows) -> None:
        assert (run.url, session) == ("nowhere", 1)
        for key, replication in rows.select("condition_key", "replication").iter_rows():
            self.errors[judge, key, replication] += 1
        self.error_kinds.update(rows["kind"].to_list())


@dataclass
class Actor:
    """An engine whose fate is drawn lease by lease."""

    world: World
    name: str
    judge: str
    gpus: int
    alive: bool = True
    calls: dict[int, Call] = field(default_factory=dict)
    leases: dict[int, Lease] = field(default_factory=dict)
    free_at: float = 0.0
    batch: int | None = None
    dies_at: float = FOREVER
    recalled: set[int] = field(default_factory=set)

    @property
    def handle(self) -> SimpleNamespace:
        def method(function):
            return SimpleNamespace(remote=function)

        return SimpleNamespace(
            start=method(self.start),
            run=method(self.run),
            recall=method(self.recall),
            ping=method(self.ping),
            stop=method(self.stop),
        )

    @property
    def fates(self) -> Fates:
        return self.world.fates[self.judge]

    def start(self) -> Call:
        fails = self.world.draw.random() < self.fates.start_fails
        self.batch = self.world.draw.choice([None, 2, 256])
        came_up = replace(FACTS, max_num_seqs=self.batch)
        end = EngineStartError("told not to") if fails else came_up
        return Call(at=self.world.now + self.world.draw.uniform(1, 30), end=lambda: end)

    def stop(self) -> Call:
        return Call(at=self.world.now + self.world.draw.uniform(0, 3), end=lambda: None)

    def ping(self) -> Call:
        assert self.alive, "killed by the driver, and asked"
        there = self.dies_at > self.world.now
        return Call(at=self.world.now, end=lambda: None if there else EngineLost("died"))

    def recall(self, lease: int, attempt: int) -> None:
        assert attempt >= 1
        self.recalled.add(lease)

    def run(self, lease: Lease) -> Call:
        assert self.alive, "killed by the driver, and asked"
        if self.dies_at < FOREVER:  # on its way to its end, or there; the driver cannot know
            return Call(at=max(self.world.now, self.dies_at), end=lambda: EngineLost("died"))
        running = [one for n, one in self.leases.items() if self.calls[n].at > self.world.now]
        most = LEASES_AHEAD if self.batch is None else FIRST_LEASES_AHEAD
        assert len(running) < most, "two leases before an actor, or a few at first, no more"
        items = {item_of(ask)[1] for one in [*running, lease] for ask in one.asks}
        seconds = 0.02 * lease.n_requests
        self.free_at = max(self.world.now, self.free_at) + seconds
        call = Call(at=self.free_at, end=lambda: self._end(lease))
        self.leases[lease.lease], self.calls[lease.lease] = lease, call
        fate = self.world.draw.random()
        told = self.fates
        if items & told.poison or fate < told.dies:
            self._die(call)
        elif fate < told.dies + told.dies_landed:
            self.world.land(lease, lease.asks)
            self._die(call)
        elif fate < told.dies + told.dies_landed + told.hangs:
            call.at = FOREVER
        return call

    def _die(self, call: Call) -> None:
        """Everything this actor does ends when this call does, without a word."""
        self.world.deaths[self.judge] += 1
        self.dies_at = call.at
        for other in self.calls.values():
            if other.at > self.world.now:
                other.at = min(other.at, call.at)
                other.end = lambda: EngineLost("died")

    def _end(self, lease: Lease) -> object:
        told, draw = self.fates, self.world.draw
        if draw.random() < told.fails_whole:
            return EngineError("ValueError: a defect")
        asks = list(lease.asks)
        withdrawn = asks[1:] if lease.lease in self.recalled else []
        asks = asks[: len(asks) - len(withdrawn)]
        failed = [ask for ask in asks if draw.random() < told.fails_some]
        done = [ask for ask in asks if ask not in failed]
        landed = self.world.land(lease, done) if done else True
        if told.loses_receipt and draw.random() < told.loses_receipt:
            return EngineError("its result was lost with an object store")
        return Receipt(
            landed=landed,
            rows=sum(ask.n for ask in done),
            outcomes={"scored": sum(ask.n for ask in done)},
            failed=tuple(FailedAsk(ask=ask, kind="request", message="no") for ask in failed),
            withdrawn=tuple(withdrawn),
            seconds=0.02 * sum(ask.n for ask in done) or 0.0,
        )


class Silent:
    """A display nobody looks at; what judges waited for is kept."""

    def __init__(self) -> None:
        self.waited: set[tuple[str, str | None]] = set()

    def show(self, board: Board, *, last: bool = False) -> None:
        """Look at nothing, but see that the numbers are sane."""
        assert not last
        for judge in board.judges.values():
            assert 0 <= judge.landed <= judge.asked
            assert judge.landed + judge.failed <= judge.asked
        self.waited.update((name, judge.waits_for) for name, judge in board.judges.items())


@dataclass
class Play:
    """A world with a fleet in it."""

    world: World
    fleet: Fleet
    pools: dict[str, JudgePool]
    board: Board
    display: Silent

    def wave(self, work: dict[str, list], *, later=(), size: int = 8) -> None:
        for name, items in work.items():
            self.pools[name].requests_left = sum(ask.n for asks in items for ask in asks)
        queues = {n: WorkQueue(source=iter(items), request_size=size) for n, items in work.items()}
        self.fleet.run_wave(queues, later=later)


@pytest.fixture
def play():
    def make(
        judges: dict[str, tuple[int, int | None]],
        fates: dict[str, Fates],
        *,
        seed: int = 0,
        asked: dict[str, int] | None = None,
        nodes: tuple[int, ...] = (4,),
        local: bool = True,
        **limits: Any,
    ) -> Play:
        draw = random.Random(seed)
        fates = {name: fates.get(name, Fates()) for name in judges}
        world = World(draw=draw, fates=fates, nodes=nodes, grows=not local)
        pools = {}
        for name, (gpus, replicas) in judges.items():
            engine = EngineSpec(name=name, engine="simulated", model="uniform", gpus=gpus)
            spec = SimpleNamespace(name=name, engine=engine, prices=None)
            pools[name] = JudgePool(name=name, spec=spec, replicas=replicas)
        boards = {name: JudgeBoard(asked=(asked or {}).get(name, 10**9)) for name in judges}
        board = Board(sweep="s", session=1, judges=boards)
        display = Silent()
        run = SimpleNamespace(url="nowhere", identity="", write_text=lambda *_: None)
        fleet = Fleet(
            run=run,
            session=1,
            pools=pools,
            limits=FleetTable(**limits),
            board=board,
            display=display,
            local=local,
            outside=world.outside,
        )
        return Play(world=world, fleet=fleet, pools=pools, board=board, display=display)

    return make


def wanted(asking, judge: str, items: list) -> Counter:
    """Every request of a judge, once."""
    asked = asking.requests(ask for asks in items for ask in asks)
    return Counter((judge, key, replication) for key, replication in asked)


def check_all_settled(asking, one: Play, work: dict[str, list]) -> None:
    """Every request landed or is recorded, and none twice; what was never asked may be neither."""
    settled = one.world.landed + one.world.errors
    assert {judge for judge, _, _ in settled} <= work.keys()
    for name, items in work.items():
        board, pool = one.board.judges[name], one.pools[name]
        mine = Counter({key: n for key, n in settled.items() if key[0] == name})
        if pool.fatal_error is not None and not pool.came_up:
            # No engine of it ever came up: nothing was asked, so nothing landed and nothing failed.
            assert mine == Counter()
            continue
        assert mine == wanted(asking, name, items)
        assert pool.requests_left == 0
        assert pool.suspicion.drain() == []
        assert board.landed == sum(n for key, n in one.world.landed.items() if key[0] == name)
        assert board.failed == sum(n for key, n in one.world.errors.items() if key[0] == name)


@pytest.mark.alike(3)
@pytest.mark.parametrize("seed", range(60))
def test_whatever_happens_every_request_is_settled_once(asking, play, seed):
    draw = random.Random(seed)
    judges = {
        name: (draw.choice([0, 1, 1, 2]), draw.choice([None, 1, 2, 3]))
        for name in "abc"[: draw.randint(1, 3)]
    }
    fates = {
        name: Fates(
            dies=draw.choice([0, 0, 0.03, 0.2]),
            dies_landed=draw.choice([0, 0.03]),
            fails_some=draw.choice([0, 0.05, 0.3]),
            fails_whole=draw.choice([0, 0.1]),
            loses_receipt=draw.choice([0, 0.1]),
            hangs=draw.choice([0, 0.03]),
            start_fails=draw.choice([0, 0, 0.3, 1.0]),
            poison=frozenset(draw.sample(["q1", "q5", "q9"], draw.randint(0, 2))),
        )
        for name in judges
    }
    work = {
        name: asking.items(draw.randint(1, 25), draw.randint(1, 40), temperatures=(1.0, 0.5))
        for name in judges
    }
    one = play(judges, fates, seed=seed, lease_seconds=2.0, deadline_s=30.0)
    one.wave(work)
    check_all_settled(asking, one, work)
    one.fleet.close()
    assert not any(pool.slots for pool in one.pools.values())


@pytest.mark.parametrize("seed", range(5))
def test_without_trouble_everything_lands_and_engines_end_together(asking, play, seed):
    work = {"a": asking.items(200, 20)}
    one = play({"a": (1, 4)}, {}, seed=seed, lease_seconds=5.0)
    one.wave(work)
    check_all_settled(asking, one, work)
    assert not one.world.errors
    assert len(one.world.actors) == 4
    ends = [max(call.at for call in actor.calls.values()) for actor in one.world.actors.values()]
    assert max(ends) - min(ends) < 8  # of about 20 + start


@pytest.mark.parametrize("n_asks", [1, 17])
def test_a_poisonous_item_costs_few_engines_however_often_it_is_asked(asking, play, n_asks):
    temperatures = tuple(1 + i / 100 for i in range(n_asks))
    work = {"a": asking.items(30, 10, temperatures=temperatures)}
    one = play({"a": (1, 2)}, {"a": Fates(poison=frozenset({"q3"}))})
    one.wave(work)
    check_all_settled(asking, one, work)
    assert 2 <= one.world.deaths["a"] <= 2 + math.ceil(math.log2(30))
    assert one.pools["a"].fatal_error is None
    assert len(one.world.errors) == 10 * n_asks
    assert set(one.world.error_kinds) == {"quarantined"}


@pytest.mark.alike(3)
@pytest.mark.parametrize("engines", [1, 4])
@pytest.mark.parametrize("deadly", ["q0", "q299", "q599"])
def test_one_deadly_item_among_many_in_flight_is_found_within_the_limits(
    asking, play, engines, deadly
):
    """600 items in one lease: halving them one engine at a time would be far too many deaths."""
    work = {"a": asking.items(600, 1)}
    one = play({"a": (1, engines)}, {"a": Fates(poison=frozenset({deadly}))}, max_engine_losses=3)
    one.wave(work, size=1)
    check_all_settled(asking, one, work)
    assert one.pools["a"].fatal_error is None
    assert [key[1] for key in one.world.errors] == [f"{deadly}@1.0"]
    assert one.world.deaths["a"] <= 2 + math.ceil(math.log2(600))


def test_several_deadly_items_are_found_too(asking, play):
    poison = frozenset({"q17", "q18", "q233", "q550"})
    work = {"a": asking.items(600, 2)}
    one = play({"a": (1, 2)}, {"a": Fates(poison=poison)})
    one.wave(work)
    check_all_settled(asking, one, work)
    assert one.pools["a"].fatal_error is None
    assert {key[1].split("@")[0] for key in one.world.errors} == poison
    assert one.world.deaths["a"] <= len(poison) * (2 + math.ceil(math.log2(600)))


def test_a_death_by_chance_costs_few_leases_and_no_request(asking, play, monkeypatch):
    """What was in flight is asked again in about sqrt(n) leases, not one for each item."""
    work = {"a": asking.items(600, 1)}
    one = play({"a": (1, 1)}, {})
    told: list[int] = []

    def run(self, lease: Lease) -> Call:
        told.append(len(lease.asks))
        if len(told) == 1:
            call = Call(at=self.world.now + 1, end=lambda: EngineLost("died"))
            self.dies_at = call.at
            return call
        return before(self, lease)

    before = Actor.run
    monkeypatch.setattr(Actor, "run", run)
    one.wave(work, size=1)
    check_all_settled(asking, one, work)
    assert not one.world.errors
    in_flight = told[0] + told[1]
    assert in_flight > 100
    again = told[2 : 2 + math.ceil(math.sqrt(in_flight))]
    assert sum(again) >= in_flight


@pytest.mark.parametrize("hung", [False, True])
def test_suspects_are_not_blamed_for_an_engine_that_was_dead_before_them(
    asking, play, monkeypatch, hung
):
    """The first engine dies by chance; the second died, or hung, while it had nothing to do."""
    work = {"a": asking.items(1, 4)}
    one = play({"a": (1, 2)}, {}, deadline_s=30.0)
    before_run, before_ping = Actor.run, Actor.ping
    first: list[str] = []

    def run(self, lease: Lease) -> Call:
        if first:
            return before_run(self, lease)
        first.append(self.name)
        # Nobody hears about it: an idle engine's death shows when something is asked of it.
        for other in self.world.actors.values():
            other.dies_at = self.world.now
        return Call(at=self.world.now + 1, end=lambda: EngineLost("died"))

    def ping(self) -> Call:
        call = before_ping(self)
        if hung and self.dies_at < FOREVER:
            call.at = FOREVER
        return call

    monkeypatch.setattr(Actor, "run", run)
    monkeypatch.setattr(Actor, "ping", ping)
    # Both are up before anything is sent.
    monkeypatch.setattr(Actor, "start", lambda self: Call(at=self.world.now, end=lambda: FACTS))
    one.wave(work)
    check_all_settled(asking, one, work)
    assert not one.world.errors
    assert one.pools["a"].fatal_error is None
    assert len(one.world.actors) in (3, 4)


@pytest.mark.slow
def test_engines_idle_beside_a_long_last_lease_go_to_a_judge_that_waits(asking, play, monkeypatch):
    """One lease of judge a takes an hour; b need not wait for it."""
    work = {"a": asking.items(8, 4), "b": asking.items(8, 4)}
    one = play({"a": (1, None), "b": (1, None)}, {}, deadline_s=10_000.0)
    before = Actor.run
    ends: dict[str, float] = {}

    def run(self, lease: Lease) -> Call:
        call = before(self, lease)
        if lease.judge == "a" and lease.lease == 1:
            call.at = 3600.0
        ends[lease.judge] = max(ends.get(lease.judge, 0.0), call.at)
        return call

    monkeypatch.setattr(Actor, "run", run)
    one.wave(work)
    check_all_settled(asking, one, work)
    assert ends["a"] >= 3600.0
    assert ends["b"] < 600


@pytest.mark.slow
def test_engines_idle_for_a_moment_are_kept_while_nobody_waits(asking, play, monkeypatch):
    one = play({"a": (1, 4)}, {}, deadline_s=10_000.0)
    before = Actor.run

    def run(self, lease: Lease) -> Call:
        call = before(self, lease)
        call.at = 900.0 if lease.lease == 1 else call.at
        return call

    monkeypatch.setattr(Actor, "run", run)
    one.wave({"a": asking.items(8, 4)}, later=["a"])
    assert len(one.pools["a"].slots) == 4


def test_an_engine_that_dies_now_and_then_loses_no_request(asking, play):
    """Innocent items that were in flight are asked alone and land."""
    work = {"a": asking.items(300, 10)}
    one = play({"a": (1, 3)}, {"a": Fates(dies=0.1)}, seed=4, max_engine_losses=1000)
    one.wave(work)
    check_all_settled(asking, one, work)
    assert one.world.deaths["a"] >= 1
    assert len(one.world.errors) <= 10 * one.world.deaths["a"]


@pytest.mark.parametrize("landed", [1, 600])
def test_a_run_that_was_taken_over_never_ends_as_if_all_had_landed(asking, play, landed):
    """However late: what the last leases land after another's session counts for nobody."""
    one = play({"a": (1, 3)}, {})
    one.world.taken_over_at = landed
    with pytest.raises(StoreError, match="another run took this directory over"):
        one.wave({"a": asking.items(60, 10)})


def test_hanging_engines_are_replaced_at_the_deadline(asking, play):
    work = {"a": asking.items(40, 10)}
    one = play({"a": (1, 2)}, {"a": Fates(hangs=0.05)}, seed=3, deadline_s=20.0)
    one.wave(work)
    check_all_settled(asking, one, work)
    assert one.world.now < FOREVER


def test_a_start_that_fails_twice_gives_the_judge_up_and_the_others_go_on(asking, play):
    work = {"a": asking.items(4, 5), "b": asking.items(4, 5)}
    one = play({"a": (1, 1), "b": (1, 1)}, {"a": Fates(start_fails=1.0)})
    one.wave(work)
    check_all_settled(asking, one, work)
    assert isinstance(one.pools["a"].fatal_error, EngineStartError)
    assert one.board.judges["a"].state is JudgeState.FAILED
    assert one.board.judges["b"].landed == 20


NODE_DIED = "ActorDiedError: the actor's node was terminated unexpectedly: health check failed."


def test_nodes_that_die_under_engines_coming_up_are_nobodys_fault(asking, play, monkeypatch):
    """Two go one after the other; nothing is sent to one that is known to be gone."""
    one = play({"a": (4, 1), "b": (2, 1)}, {}, nodes=(4, 4, 2), local=False)
    before = Actor.start

    def start(self) -> Call:
        def lose() -> EngineLost:
            world.nodes, self.alive = (*world.nodes[1:-1], 2), False
            if world.nodes == (2,):
                world.nodes = (2, 4)  # another joins
            lost.append(self.name)
            return EngineLost(NODE_DIED)

        if self.judge == "a" and len(lost) < 2:
            return Call(at=self.world.now, end=lose)
        return before(self)

    world, lost = one.world, []
    monkeypatch.setattr(Actor, "start", start)
    work = {"a": asking.items(4, 5), "b": asking.items(4, 5)}
    one.wave(work)
    check_all_settled(asking, one, work)
    assert len(lost) == 2
    assert one.pools["a"].fatal_error is None
    assert one.board.judges["a"].landed == 20


def test_a_judge_that_brings_down_every_node_it_starts_on_is_given_up(asking, play, monkeypatch):
    one = play({"a": (4, 1)}, {}, max_engine_losses=5)
    error = EngineLost(NODE_DIED)
    monkeypatch.setattr(Actor, "start", lambda self: Call(at=self.world.now, end=lambda: error))
    one.wave({"a": asking.items(2, 2)})
    assert one.pools["a"].fatal_error is error
    assert len(one.world.actors) == 5 + 2


def test_a_mistake_of_the_caller_is_not_tried_again(asking, play, monkeypatch):
    one = play({"a": (1, 1)}, {})
    wrong = SweepError("model must be a folder")
    monkeypatch.setattr(Actor, "start", lambda self: Call(at=self.world.now, end=lambda: wrong))
    one.wave({"a": asking.items(2, 2)})
    assert len(one.world.actors) == 1
    assert one.pools["a"].fatal_error is wrong


def test_a_directory_not_seen_ends_the_run(asking, play, monkeypatch):
    one = play({"a": (1, 1), "b": (1, 1)}, {})
    error = StoreError("not the same on every node")
    monkeypatch.setattr(Actor, "start", lambda self: Call(at=self.world.now, end=lambda: error))
    with pytest.raises(StoreError, match="not the same"):
        one.wave({"a": asking.items(2, 2), "b": asking.items(2, 2)})


@pytest.mark.slow
def test_a_judge_goes_on_with_the_engines_that_came_up(asking, play, monkeypatch):
    """A third engine never finds its place; that is no reason to give up the two at work."""
    one = play({"a": (1, 3)}, {}, start_timeout_s=50.0)
    before = Actor.start
    made: list[str] = []

    def start(self) -> Call:
        made.append(self.name)
        call = before(self)
        if len(made) >= 3:
            call.at = FOREVER
        return call

    monkeypatch.setattr(Actor, "start", start)
    work = {"a": asking.items(1000, 20)}
    one.wave(work)
    check_all_settled(asking, one, work)
    assert one.pools["a"].fatal_error is None
    assert len(made) == 4  # two tries, and no more


def test_engines_stay_for_the_next_wave_unless_another_judge_waits(asking, play):
    one = play({"a": (1, 2), "b": (1, 2), "c": (4, 1)}, {})
    first = asking.items(10, 5)
    one.wave({"a": first}, later=["a", "b"])
    kept = set(one.pools["a"].slots)
    assert len(kept) == 2
    one.wave({"c": asking.items(4, 5)}, later=["a"])
    assert one.board.judges["c"].landed == 20
    assert not kept & set(one.pools["a"].slots)
    one.wave({"a": asking.items(3, 5)})
    assert one.board.judges["a"].landed == 65
    assert one.pools["a"].slots == {}


def test_kept_engines_are_used_again(asking, play):
    one = play({"a": (1, 2)}, {})
    one.wave({"a": asking.items(10, 5)}, later=["a"])
    kept = set(one.pools["a"].slots)
    one.wave({"a": asking.items(10, 5, temperatures=(0.3,))})
    assert set(one.world.actors) == kept


def test_a_judge_given_up_in_one_wave_is_asked_nothing_in_a_later_one(asking, play):
    one = play({"a": (1, 1), "b": (1, 1)}, {"a": Fates(start_fails=1.0)})
    one.wave({"a": asking.items(4, 5)}, later=["a", "b"])
    later = {
        "a": asking.items(3, 5, temperatures=(0.3,)),
        "b": asking.items(3, 5, temperatures=(0.3,)),
    }
    one.wave(later)
    # Nothing of it was ever asked, so nothing failed: all of it is pending.
    assert (one.board.judges["a"].failed, one.board.judges["a"].landed) == (0, 0)
    assert not one.world.errors
    assert one.board.judges["b"].landed == 15


def test_more_judges_than_gpus_all_get_their_turn(asking, play):
    names = [f"j{i}" for i in range(7)]
    work = {name: asking.items(5, 5) for name in names}
    one = play({name: (i % 4 + 1, None) for i, name in enumerate(names)}, {})
    one.wave(work)
    check_all_settled(asking, one, work)
    assert not one.world.errors


@pytest.mark.slow
def test_a_judge_too_large_does_not_hold_up_the_others_of_a_cluster(asking, play, monkeypatch):
    work = {"big": asking.items(2, 5), "a": asking.items(5, 5)}
    one = play({"big": (16, 1), "a": (1, 2)}, {}, local=False)
    before = Actor.start
    start = {"big": FOREVER}

    def slow(self) -> Call:
        call = before(self)
        call.at = max(call.at, start.get(self.judge, 0.0))
        if self.judge == "big":
            done_at.append(one.board.judges["a"].landed)
        return call

    done_at: list[int] = []
    monkeypatch.setattr(Actor, "start", slow)
    one.wave(work)
    # It might come yet, so it is waited for; but not without a word.
    assert one.display.waited == {("a", None), ("big", "16 GPUs, the cluster has 4"), ("big", None)}
    assert one.board.judges["a"].landed == 25
    assert done_at == [25, 25]  # asked of the cluster only once the other was done
    assert isinstance(one.pools["big"].fatal_error, EngineStartError)
    check_all_settled(asking, one, work)
