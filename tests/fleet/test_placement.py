"""Admission of judges to GPUs, with actors that are only names."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import EngineError
from judgerel_ray.engines import EngineSpec
from judgerel_ray.fleet import JudgePool, JudgeSpec, Outside, WorkQueue
from judgerel_ray.fleet.cluster import Capacity
from judgerel_ray.fleet.placement import (
    CAPACITY_EVERY_S,
    SPREAD_AFTER_S,
    STOP_TIMEOUT_S,
    Placement,
    held_by,
)
from judgerel_ray.fleet.pool import Slot


def engine_of(gpus: int, engine: str = "simulated") -> EngineSpec:
    url = "http://h/v1" if engine == "openai" else None
    return EngineSpec(name="j", engine=engine, model="uniform", gpus=gpus, base_url=url)


class World:
    """A cluster that does as it is told, and the actors made on it."""

    def __init__(self, nodes=(4,), cpus=2.0) -> None:
        self.nodes, self.cpus = nodes, cpus
        self.used = Capacity(cpus=0.0, gpus=0.0)
        self.made: dict[str, JudgeSpec] = {}
        self.shares: dict[str, tuple[str | None, str]] = {}
        """What of a provider's limits an actor holds."""
        self.killed: list[str] = []
        self.stopped: set[str] = set()
        self.largest_type = 0
        self.places = True
        """Whether actors get onto nodes, but for those that are queued."""
        self.queued: set[str] = set()
        self.pieces: dict[str, tuple[int, ...]] = {}
        self.moment = 1000.0
        self.demanded: list[list[dict[str, int]]] = []

    @property
    def outside(self) -> Outside:
        return Outside(
            capacity=lambda: self.room,
            in_use=lambda: self.used,
            demand=self.demanded.append,
            make_actor=self._make,
            kill_actor=lambda handle: self.killed.append(handle.name),
            is_placed=lambda handle: self.places and handle.name not in self.queued,
            finished=lambda names, _: [name for name in names if name in self.stopped],
            providers=lambda: self,
            now=lambda: self.moment,
        )

    @property
    def room(self) -> Capacity:
        return Capacity(
            cpus=self.cpus,
            gpus=float(sum(self.nodes)),
            nodes=tuple(self.nodes),
            largest_type=self.largest_type,
        )

    def share_of(self, spec, holder):
        if spec.engine != "openai":
            return None
        self.shares[holder] = (spec.base_url, holder)
        return self.shares[holder]

    def release(self, _spec, holder) -> None:
        self.shares.pop(holder, None)

    def close(self) -> None:
        assert not self.shares

    def _make(self, spec, *, name, pieces):
        self.made[name], self.pieces[name] = spec, pieces
        call = SimpleNamespace(remote=lambda: name)
        return SimpleNamespace(name=name, actor=SimpleNamespace(start=call, stop=call))


class Room:
    """Pools of judges in a world, driven as the scheduler drives them."""

    def __init__(self, world: World, asking, judges, *, local=True) -> None:
        self.world = world
        self.pools = {}
        for name, (gpus, replicas) in judges.items():
            engine = "openai" if name.startswith("served") else "simulated"
            spec = JudgeSpec(
                engine=engine_of(gpus, engine), run=None, session=1, visibility_token=""
            )
            pool = JudgePool(name=name, spec=spec, replicas=replicas, requests_left=1000)
            pool.queue = WorkQueue(source=iter(asking.items(100, 10)), request_size=4)
            self.pools[name] = pool
        self.placement = Placement(pools=self.pools, session=1, local=local, outside=world.outside)

    def fill(self, keep=frozenset()) -> dict[str, int]:
        self.placement.fill(frozenset(keep))
        return self.slots

    @property
    def slots(self) -> dict[str, int]:
        return {name: len(pool.slots) for name, pool in self.pools.items()}

    @property
    def held(self) -> list[int]:
        """GPUs that engines take of a node at a time, but for engines that wait for room."""
        slots = [slot for pool in self.pools.values() for slot in pool.slots.values()]
        return [gpus for slot in slots if not slot.waits for gpus in slot.pieces]

    def join(self, *nodes: int) -> dict[str, int]:
        """Nodes join, and the cluster is looked at again."""
        self.world.nodes = (*self.world.nodes, *nodes)
        return self.later(CAPACITY_EVERY_S + 1)

    def later(self, seconds: float) -> dict[str, int]:
        self.world.moment += seconds
        return self.fill()

    def come_up(self) -> None:
        for pool in self.pools.values():
            for slot in pool.slots.values():
                slot.ready, slot.starting = True, None

    def finish(self, name: str, keep=frozenset()) -> None:
        """A judge's work is done; its engines end when told to."""
        self.pools[name].queue = None
        self.world.stopped.update(self.pools[name].slots)
        self.placement.release(frozenset(keep), lambda pool: not pool.has_work)


@pytest.fixture
def world():
    return World


def test_two_judges_of_two_share_four_gpus_and_the_third_waits(world, asking):
    room = Room(world(), asking, {"a": (1, 2), "b": (1, 2), "c": (1, 2)})
    assert room.fill() == {"a": 2, "b": 2, "c": 0}
    assert room.fill() == {"a": 2, "b": 2, "c": 0}
    room.come_up()
    room.finish("b")
    assert room.fill() == {"a": 2, "b": 0, "c": 2}


def test_judges_behind_an_api_take_no_cpu_and_wait_for_none(world, asking):
    here = world(cpus=1.0)
    judges = {"a": (0, 1), "served1": (0, 3), "served2": (0, None), "b": (0, 1)}
    room = Room(here, asking, judges, local=False)
    assert room.fill() == {"a": 1, "served1": 3, "served2": 1, "b": 0}
    assert here.demanded == [[{"CPU": 1}, {"CPU": 1}]]
    for pool in room.pools.values():
        for slot in pool.slots.values():
            assert held_by(pool, slot) == (int(pool.name == "a"), 0)


def test_actors_of_one_provider_are_given_the_same_limiter(world, asking):
    room = Room(world(), asking, {"served1": (0, 1), "served2": (0, 1)})
    room.fill()
    made, shares = room.world.made, room.world.shares
    assert [spec.share for spec in made.values()] == [("http://h/v1", name) for name in made]
    assert [pool.spec.share for pool in room.pools.values()] == [None, None]
    (pool, other) = room.pools.values()
    (slot,) = pool.slots.values()
    room.placement.drop(pool, slot)
    assert list(shares) == list(other.slots)


def test_gpus_count_as_taken_until_their_engines_have_ended(world, asking):
    here = world()
    room = Room(here, asking, {"a": (1, 4), "b": (1, 4)})
    room.fill()
    room.come_up()
    room.pools["a"].queue = None
    room.placement.release(frozenset(), lambda pool: not pool.has_work)
    assert room.fill() == {"a": 0, "b": 0}
    assert here.killed == []
    here.stopped.update(here.made)
    room.placement.release(frozenset(), lambda pool: not pool.has_work)
    assert len(here.killed) == 4
    assert room.fill() == {"a": 0, "b": 4}


def test_an_engine_that_will_not_end_is_killed(world, asking):
    here = world()
    room = Room(here, asking, {"a": (1, 4)})
    room.fill()
    room.come_up()
    room.pools["a"].queue = None
    room.placement.release(frozenset(), lambda pool: not pool.has_work)
    here.moment += STOP_TIMEOUT_S + 1
    room.placement.release(frozenset(), lambda pool: not pool.has_work)
    assert len(here.killed) == 4


def test_auto_takes_all_gpus_one_judge_after_the_other(world, asking):
    room = Room(world(), asking, {"a": (1, None), "b": (2, None)})
    assert room.fill() == {"a": 4, "b": 0}
    room.come_up()
    room.finish("a")
    assert room.fill() == {"a": 0, "b": 2}


def test_no_more_engines_than_requests(world, asking):
    room = Room(world(), asking, {"a": (1, None), "b": (1, 3)})
    room.pools["a"].requests_left = 2
    room.pools["b"].requests_left = 1
    assert room.fill() == {"a": 2, "b": 1}


def test_an_engine_is_whole_on_one_node(world, asking):
    room = Room(world(nodes=(3, 3)), asking, {"a": (2, None), "b": (1, None)})
    assert room.fill() == {"a": 2, "b": 2}


def test_judges_on_the_cpu_share_the_cpus(world, asking):
    room = Room(world(nodes=(), cpus=3.0), asking, {"a": (0, 2), "b": (0, 2), "c": (0, None)})
    assert room.fill() == {"a": 2, "b": 1, "c": 0}


def test_a_machine_without_a_whole_cpu_still_runs_one(world, asking):
    room = Room(world(nodes=(), cpus=0.0), asking, {"a": (0, 2)})
    assert room.fill() == {"a": 1}


def test_idle_engines_kept_for_later_make_way_for_a_judge_that_waits(world, asking):
    here = world()
    room = Room(here, asking, {"a": (1, 4), "b": (1, 2)})
    room.fill()
    room.come_up()
    room.pools["a"].queue = None
    room.placement.release(frozenset({"a"}), lambda pool: not pool.has_work)
    assert room.slots == {"a": 4, "b": 0}  # kept
    here.stopped.update(here.made)
    room.fill(keep={"a"})
    room.placement.release(frozenset({"a"}), lambda pool: not pool.has_work)
    assert room.fill(keep={"a"}) == {"a": 0, "b": 2}


def test_what_others_hold_is_left_to_them_and_taken_when_they_go(world, asking):
    here = world()
    here.used = Capacity(cpus=0.0, gpus=3.0)
    room = Room(here, asking, {"a": (1, None)})
    assert room.fill() == {"a": 1}
    room.come_up()
    here.moment += CAPACITY_EVERY_S + 1
    here.used = Capacity(cpus=0.0, gpus=1.0)  # ours alone
    assert room.fill() == {"a": 4}


def test_engines_on_their_way_out_are_not_taken_for_others(world, asking):
    here = world()
    room = Room(here, asking, {"a": (1, 2), "b": (1, 2), "c": (1, 2)})
    room.fill()
    room.come_up()
    here.used = Capacity(cpus=0.0, gpus=4.0)
    room.pools["a"].queue = None
    room.placement.release(frozenset(), lambda pool: not pool.has_work)
    assert room.slots == {"a": 0, "b": 2, "c": 0}  # a's still end, and hold their GPUs
    here.moment += CAPACITY_EVERY_S + 1
    room.fill()
    here.stopped.update(here.made)
    room.placement.release(frozenset(), lambda pool: not pool.has_work)
    assert room.fill() == {"a": 0, "b": 2, "c": 2}  # at once, no second look needed


@pytest.mark.parametrize(
    ("gpus", "group", "held"), [(0, None, (1, 0)), (2, None, (0, 2)), (4, "g", (4, 4))]
)
def test_what_an_engine_holds_is_what_ray_counts(gpus, group, held):
    pool = JudgePool(name="j", spec=SimpleNamespace(engine=engine_of(gpus)), replicas=1)
    slot = Slot(name="s", handle=SimpleNamespace(group=group), started_at=0.0, starting=None)
    assert held_by(pool, slot) == held


def test_engines_still_coming_up_are_not_taken_for_others(world, asking):
    here = world()
    room = Room(here, asking, {"a": (1, 2), "b": (1, 2)})
    room.fill()
    here.used = Capacity(cpus=0.0, gpus=4.0)
    for _ in range(3):
        here.moment += CAPACITY_EVERY_S + 1
        assert room.fill() == {"a": 2, "b": 2}
    room.come_up()
    room.finish("a")
    assert room.fill()["b"] == 2


def test_a_node_that_goes_takes_its_waiting_engines_along(world, asking):
    here = world(nodes=(2, 2))
    room = Room(here, asking, {"a": (1, None)})
    assert room.fill() == {"a": 4}
    first = list(room.pools["a"].slots.values())[:2]
    for slot in first:
        slot.ready, slot.starting = True, None
    here.nodes = (2,)
    here.moment += CAPACITY_EVERY_S + 1
    assert room.fill() == {"a": 2}
    assert set(room.pools["a"].slots) == {slot.name for slot in first}
    assert len(here.killed) == 2


def test_a_node_that_comes_is_used(world, asking):
    here = world(nodes=(2,))
    room = Room(here, asking, {"a": (1, None)})
    assert room.fill() == {"a": 2}
    room.pools["a"].most = 1  # after a failure; other nodes, other luck
    here.nodes = (2, 2)
    here.moment += CAPACITY_EVERY_S + 1
    assert room.fill() == {"a": 4}


def test_a_judge_too_large_for_this_machine_is_named_and_the_others_run(world, asking):
    room = Room(world(), asking, {"big": (8, None), "a": (1, 2)})
    assert room.fill() == {"big": 0, "a": 2}
    [(pool, error)] = room.placement.unplaceable()
    assert pool.name == "big"
    assert "needs 8 GPUs, this machine has 4" in str(error)
    pool.fatal_error = error
    assert list(room.placement.unplaceable()) == []


def test_a_cluster_may_grow_so_a_large_judge_asks_it_once_nothing_else_runs(world, asking):
    here = world()
    room = Room(here, asking, {"big": (8, 1), "a": (1, 2)}, local=False)
    assert list(room.placement.unplaceable()) == []
    assert room.fill() == {"big": 0, "a": 2}
    room.come_up()
    room.finish("a")
    assert room.fill() == {"big": 1, "a": 0}


def test_a_judge_that_waits_for_a_large_node_leaves_smaller_ones_to_others(world, asking):
    here = world(nodes=(), cpus=0.0)
    here.places = False
    room = Room(here, asking, {"big": (4, 1), "a": (1, 1), "b": (2, 1)}, local=False)
    assert room.fill() == {"big": 1, "a": 0, "b": 0}
    assert room.join(1) == {"big": 1, "a": 1, "b": 0}
    assert room.join(2) == {"big": 1, "a": 1, "b": 1}
    assert sorted(room.held) == [1, 2]
    assert room.placement.shortfall(room.pools["big"]) == "4 GPUs, the cluster has 3"
    assert room.join(1) == {"big": 1, "a": 1, "b": 1}
    assert room.placement.shortfall(room.pools["big"]) == "4 GPUs on one node, the largest has 2"
    assert room.join(4) == {"big": 1, "a": 1, "b": 1}
    assert sorted(room.held) == [1, 2, 4]
    assert here.killed == []  # it was whole from the first on, and Ray grants it the node
    assert room.placement.shortfall(room.pools["big"]) is None


def test_an_engine_that_no_node_will_hold_is_made_again_over_several(world, asking):
    here = world(nodes=(), cpus=0.0)
    here.places = False
    room = Room(here, asking, {"a": (2, 1)}, local=False)
    room.fill()
    [first] = here.made
    assert room.join(1, 1) == {"a": 1}
    assert (room.held, here.killed) == ([], [])  # others may still join
    room.later(SPREAD_AFTER_S)
    assert here.killed == [first]
    [second] = room.pools["a"].slots
    assert (here.pieces[first], here.pieces[second]) == ((2,), (1, 1))
    assert room.held == [1, 1]
    room.join(2)  # it is not on any node yet, so a node that holds it whole comes in time
    [third] = room.pools["a"].slots
    assert here.pieces[third] == (2,)
    here.places = True
    room.later(CAPACITY_EVERY_S + 1)
    room.join(2)
    assert list(room.pools["a"].slots) == [third]


def test_where_a_node_type_holds_an_engine_it_waits_for_one(world, asking):
    here = world(nodes=(1, 1))
    here.places, here.largest_type = False, 4
    room = Room(here, asking, {"a": (4, 1), "b": (8, 1)}, local=False)
    room.later(10 * SPREAD_AFTER_S)
    assert set(here.pieces.values()) == {(4,)}
    room.join(4)
    assert room.held == [4]


def test_stages_of_a_pipeline_are_placed_at_once(world, asking):
    here = world(nodes=(2, 2))
    room = Room(here, asking, {"a": (4, 1)}, local=False)
    pool = room.pools["a"]
    pool.spec = replace(pool.spec, engine=replace(pool.spec.engine, pipeline_parallel_size=2))
    assert room.fill() == {"a": 1}
    assert room.held == [2, 2]
    assert here.demanded == [[{"GPU": 2}, {"GPU": 2}]]


def test_an_engine_that_has_a_node_is_left_there_while_others_are_placed(world, asking):
    here = world(nodes=(2,))
    room = Room(here, asking, {"a": (2, 1), "b": (2, 1)}, local=False)
    room.fill()
    [first] = here.made
    room.join(1)
    assert list(room.pools["a"].slots) == [first]
    assert room.pools["a"].slots[first].placed
    assert room.join(2) == {"a": 1, "b": 1}
    assert here.killed == []


def test_idle_engines_make_way_for_a_judge_whose_engine_waits_in_vain(world, asking):
    here = world(nodes=(1,))
    here.places = False
    room = Room(here, asking, {"big": (4, 1), "a": (1, 4)}, local=False)
    assert room.fill() == {"big": 0, "a": 1}
    room.come_up()
    room.pools["a"].queue, queue = None, room.pools["a"].queue
    room.finish("a")
    assert room.fill() == {"big": 1, "a": 0}
    room.pools["a"].queue = queue
    assert room.fill() == {"big": 1, "a": 1}
    next(iter(room.pools["a"].slots.values())).ready = True
    room.pools["a"].queue = None
    room.placement.fill(frozenset({"a"}))
    assert room.slots == {"big": 1, "a": 0}


def test_an_empty_cluster_is_asked_for_one_engine(world, asking):
    here = world(nodes=(), cpus=0.0)
    room = Room(here, asking, {"a": (1, 4), "b": (1, 1)}, local=False)
    assert room.fill() == {"a": 1, "b": 0}
    assert room.fill() == {"a": 1, "b": 0}


def test_a_cluster_that_may_grow_hears_once_what_all_judges_want(world, asking):
    here = world()
    room = Room(here, asking, {"a": (1, 3), "b": (2, 2), "c": (0, None)}, local=False)
    for _ in range(3):
        room.fill()
    assert here.demanded == [[{"GPU": 1}] * 3 + [{"GPU": 2}] * 2 + [{"CPU": 1}]]
    room.come_up()
    room.finish("a")
    room.fill()
    assert here.demanded[1:] == [[{"GPU": 2}] * 2 + [{"CPU": 1}]]
    here.stopped.update(here.made)
    room.placement.close()
    assert here.demanded[2:] == [[]]


def test_a_machine_of_its_own_is_asked_for_nothing(world, asking):
    here = world()
    room = Room(here, asking, {"a": (1, 8)})
    room.fill()
    room.placement.close()
    assert here.demanded == []


def test_closing_ends_engines_in_order_and_kills_those_not_up(world, asking):
    here = world()
    room = Room(here, asking, {"a": (1, 2), "b": (1, 2)})
    room.fill()
    for slot in room.pools["a"].slots.values():
        slot.ready, slot.starting = True, None
    here.stopped.update(here.made)
    room.placement.close()
    assert room.slots == {"a": 0, "b": 0}
    assert sorted(here.killed) == sorted(here.made)


def test_names_of_actors_are_never_used_twice(world, asking):
    here = world()
    for _ in range(3):
        Room(here, asking, {"a": (1, 4)}).fill()
    assert len(set(here.made)) == 12


@pytest.mark.slow
@given(
    nodes=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    judges=st.lists(
        st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from([None, 1, 2, 3])),
        min_size=1,
        max_size=5,
    ),
    order=st.randoms(use_true_random=False),
)
def test_every_judge_that_fits_gets_its_turn_and_gpus_are_never_given_twice(
    asking, nodes, judges, order
):
    here = World(nodes=tuple(nodes))
    named = {f"j{i}": judge for i, judge in enumerate(judges)}
    room = Room(here, asking, named)
    done: set[str] = set()
    for pool, _ in list(room.placement.unplaceable()):
        pool.fatal_error = EngineError("too large")
        done.add(pool.name)
    while done < set(named):
        slots = room.fill()
        assert here.room.holds(room.held)
        running = [name for name, n in slots.items() if n]
        assert running, "nobody runs and somebody waits"
        room.come_up()
        name = order.choice(running)
        room.finish(name)
        done.add(name)
    assert done == set(named)


def test_a_cluster_that_may_grow_hears_what_all_judges_want(world, asking):
    here = world(nodes=())
    room = Room(here, asking, {"a": (1, 2), "b": (4, 1)}, local=False)
    room.fill()
    assert here.demanded == [[{"GPU": 1}, {"GPU": 1}, {"GPU": 4}]]
    room.fill()
    assert len(here.demanded) == 1
    here.stopped.update(name for pool in room.pools.values() for name in pool.slots)
    room.placement.close()
    assert here.demanded[-1] == []
