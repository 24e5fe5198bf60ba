from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.fleet.retry import Suspicion, split


def name(i: int) -> tuple[str, str]:
    return "b", f"q{i}"


@given(n=st.integers(0, 2000))
def test_groups_hold_every_item_once_and_are_about_its_root(n):
    items = [name(i) for i in range(n)]
    groups = split(items)
    assert [item for group in groups for item in group] == items
    root = math.ceil(math.sqrt(n))
    assert len(groups) <= root
    assert all(1 <= len(group) <= root for group in groups)
    assert n < 2 or max(map(len, groups)) < n


@pytest.mark.slow
@given(n=st.integers(1, 700), data=st.data())
def test_one_deadly_item_costs_few_engines_and_nobody_else(asking, n, data):
    """As the scheduler does it: groups in turn, an engine dies under each that holds the item."""
    deadly = name(data.draw(st.integers(0, n - 1)))
    suspicion = Suspicion()
    suspicion.accuse(name(i) for i in range(n))
    for i in range(n):
        suspicion.join(asking.ask(f"q{i}"))
    deaths, in_a_row, worst, asked, cleared = 1, 1, 1, 0, 0
    while suspicion.n_waiting:
        group, asks = suspicion.take()
        asked += 1
        if deadly in group:
            deaths, in_a_row = deaths + 1, in_a_row + 1
            worst = max(worst, in_a_row)
            assert suspicion.condemn(group) == []
            if len(group) > 1:
                for ask in asks:
                    suspicion.join(ask)
        else:
            in_a_row = 0
            assert suspicion.clear(group) == []
            cleared += len(asks)
    assert suspicion.convicts(deadly)
    assert cleared == n - 1
    assert deaths <= 3 + (math.log2(math.log2(n)) + 1 if n > 2 else 0)
    assert deaths <= 2 + math.ceil(math.log2(n))
    assert worst <= 3
    assert asked <= 2 + 3 * math.sqrt(n)


def test_what_comes_while_a_group_is_asked_waits_and_is_free_with_it(asking):
    suspicion = Suspicion()
    suspicion.accuse([name(1)])
    suspicion.join(asking.ask("q1"))
    group, asks = suspicion.take()
    assert asks == (asking.ask("q1"),)
    assert suspicion.suspects(name(1))
    suspicion.join(asking.ask("q1", first=1))
    assert suspicion.n_waiting == 0
    assert suspicion.clear(group) == [asking.ask("q1", first=1)]
    assert not suspicion.suspects(name(1))
    assert not suspicion.convicts(name(1))


def test_what_comes_while_a_deadly_item_is_asked_is_handed_back_with_the_verdict(asking):
    suspicion = Suspicion()
    suspicion.accuse([name(1)])
    suspicion.join(asking.ask("q1"))
    group, _ = suspicion.take()
    suspicion.join(asking.ask("q1", first=1))
    assert suspicion.condemn(group) == [asking.ask("q1", first=1)]
    assert suspicion.convicts(name(1))
    assert not suspicion.suspects(name(1))


def test_an_item_already_suspected_keeps_its_place(asking):
    suspicion = Suspicion()
    suspicion.accuse([name(1), name(2)])
    suspicion.join(asking.ask("q1"))
    suspicion.accuse([name(2), name(3)])
    groups = [suspicion.take()[0] for _ in range(suspicion.n_waiting)]
    assert groups == [(name(1),), (name(2),), (name(3),)]


def test_a_group_whose_node_died_is_asked_as_it_was(asking):
    suspicion = Suspicion()
    suspicion.accuse([name(i) for i in range(4)])
    for i in range(4):
        suspicion.join(asking.ask(f"q{i}"))
    group, asks = suspicion.take()
    suspicion.put_back(group)
    for ask in asks:
        suspicion.join(ask)
    assert suspicion.take() == (group, asks)
    assert len(suspicion.drain()) == 2
    assert suspicion.n_waiting == 0
