from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.fleet import WorkQueue
from judgerel_ray.fleet.lease import ask_units, item_of, rest_of, split_leased_ask


def queue_of(items, request_size=4) -> WorkQueue:
    return WorkQueue(source=iter(items), request_size=request_size)


def take_all(queue: WorkQueue, actor: str, units: int) -> list:
    taken = []
    while asks := queue.take(actor, units):
        taken.append(asks)
    return taken


@given(
    seed=st.integers(0, 10_000),
    n_items=st.integers(0, 6),
    n=st.integers(1, 9),
    request_size=st.integers(1, 5),
    actors=st.integers(1, 4),
)
def test_every_request_is_taken_once_whatever_happens(
    asking, seed, n_items, n, request_size, actors
):
    draw = random.Random(seed)
    items = asking.items(n_items, n, temperatures=(1.0, 0.5))
    queue = queue_of(items, request_size)
    held: dict[str, list] = {f"a{i}": [] for i in range(actors)}
    landed: list = []
    for _ in range(200):
        actor = draw.choice(list(held))
        step = draw.random()
        if step < 0.5:
            held[actor] += queue.take(actor, draw.choice([1, 20, 60, 500]))
        elif step < 0.7 and held[actor]:
            landed.append(held[actor].pop(0))
        elif step < 0.8 and held[actor]:
            queue.give_back([held[actor].pop()])
        elif step < 0.9:
            queue.forget(actor)
            queue.give_back(held[actor])
            held[actor] = []
        else:
            assert queue.is_empty in (True, False)
    for actor, asks in held.items():
        landed += asks
        landed += [ask for lease in take_all(queue, actor, 30) for ask in lease]
    assert queue.is_empty
    assert Counter(asking.requests(landed)) == Counter(
        asking.requests(ask for item in items for ask in item)
    )
    assert all(ask.n <= request_size for ask in landed)


@given(seed=st.integers(0, 1000), taken=st.integers(0, 12))
def test_what_is_drained_is_what_was_not_taken(asking, seed, taken):
    draw = random.Random(seed)
    items = asking.items(4, 5, temperatures=(1.0, 0.5))
    queue = queue_of(items)
    mine = [ask for _ in range(taken) for ask in queue.take(draw.choice("ab"), 1)]
    assert isinstance(queue.is_empty, bool)
    rest = list(queue.drain())
    assert queue.is_empty
    assert sorted(asking.requests(mine + rest)) == sorted(
        asking.requests(ask for item in items for ask in item)
    )


@given(looks=st.booleans(), actors=st.integers(1, 3), units=st.integers(1, 80))
def test_an_item_stays_with_one_actor_while_others_have_items(asking, looks, actors, units):
    n_items = 12
    queue = queue_of(asking.items(n_items, 4, temperatures=(1.0, 0.5, 0.25)), request_size=2)
    owners: dict[tuple[str, str], set[str]] = {}
    seen_items: set[tuple[str, str]] = set()
    while len(seen_items) < n_items - actors:
        for i in range(actors):
            if looks:
                assert not queue.is_empty
            for ask in queue.take(f"a{i}", units):
                owners.setdefault(item_of(ask), set()).add(f"a{i}")
                seen_items.add(item_of(ask))
    started = [item for item in owners if item in seen_items]
    assert started
    assert all(len(owner) == 1 for owner in owners.values()), owners


def test_what_an_actor_gave_back_stays_together(asking):
    queue = queue_of(asking.items(4, 4), request_size=1)
    first = queue.take("dead", 1000)
    queue.give_back(first)
    queue.forget("dead")
    mine = queue.take("a", 1)
    theirs = queue.take("b", 1)
    assert item_of(mine[0]) != item_of(theirs[0])
    assert item_of(queue.take("a", 1)[0]) == item_of(mine[0])


def test_given_back_comes_first_and_in_order(asking):
    queue = queue_of(asking.items(3, 2), request_size=1)
    taken = queue.take("a", 1000)
    queue.give_back(taken[:3])
    assert queue.take("a", 1000)[:3] == taken[:3]


def test_the_last_item_is_shared_when_nothing_else_is_left(asking):
    queue = queue_of(asking.items(1, 8), request_size=1)
    mine, theirs = queue.take("a", 1), queue.take("b", 1)
    assert mine
    assert theirs
    assert not set(asking.requests(mine)) & set(asking.requests(theirs))


def test_a_lease_is_about_as_large_as_asked(asking):
    queue = queue_of(asking.items(20, 8), request_size=4)
    units = ask_units(asking.ask(n=4))
    assert len(queue.take("a", 3 * units)) == 3
    assert len(queue.take("a", 1)) == 1
    assert queue.take("a", 0) == ()


def test_the_source_is_read_no_further_than_needed(asking):
    read = []

    def source():
        for asks in asking.items(100, 2):
            read.append(asks)
            yield asks

    queue = WorkQueue(source=source(), request_size=4)
    assert read == []
    assert not queue.is_empty
    assert not queue.is_empty
    assert len(read) == 1
    queue.take("a", 1)
    assert len(read) == 1


def test_items_that_have_nothing_pending_are_passed_over():
    assert queue_of([(), ()]).is_empty
    assert queue_of([]).take("a", 10) == ()


@given(first=st.integers(0, 50), n=st.integers(1, 100), size=st.integers(1, 40))
def test_a_split_ask_asks_the_same(asking, first, n, size):
    ask = asking.ask(first=first, n=n)
    pieces = split_leased_ask(ask, size)
    assert asking.requests(pieces) == asking.requests([ask])
    assert all(1 <= piece.n <= size for piece in pieces)
    assert {piece.condition for piece in pieces} == {ask.condition}


def test_a_prompt_counts_once_an_ask_and_new_tokens_once_a_replication(asking):
    one, ten = ask_units(asking.ask(n=1)), ask_units(asking.ask(n=10))
    assert ten - one == 9 * asking.condition().max_tokens
    assert one > asking.condition().max_tokens


@pytest.mark.parametrize("n_actors", [2, 3])
def test_actors_that_died_leave_nothing_behind(asking, n_actors):
    queue = queue_of(asking.items(5, 6), request_size=2)
    for i in range(n_actors):
        queue.take(f"a{i}", 1)
        queue.forget(f"a{i}")
    rest = [ask for lease in take_all(queue, "last", 10) for ask in lease]
    assert len(asking.requests(rest)) == 5 * 6 - n_actors * 2


def test_a_source_may_have_nothing_for_now(asking):
    one, two, three = asking.items(3, 1)
    queue = queue_of([one, (), (), two, three])
    assert queue.take("a", 10_000) == one
    assert queue.is_empty  # the second pause is over, too
    assert queue.take("a", 10_000) == (*two, *three)
    assert queue.is_empty


def test_the_rest_of_an_ask_is_all_but_its_first_replication(asking):
    ask = asking.ask(first=3, n=5)
    assert [(one.first, one.n) for one in rest_of(ask)] == [(4, 4)]
    assert rest_of(asking.ask(first=3, n=1)) == ()
