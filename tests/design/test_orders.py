"""Orders are drawn once an item, held, distinct, and fair."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from judgerel_ray.core import Item, Option, SweepError
from judgerel_ray.design import build_wave, option_orders


def ids(order):
    return "".join(option.option_id for option in order)


def test_an_order_is_held_across_judges_templates_temperatures_and_replications(make):
    items = [make.item(f"q{i}", options="abcde") for i in range(10)]
    frame = make.frame(
        items, judges="jk", temperatures=(1.0, 0.0), templates=("default", "paraphrase")
    )
    shown = {}
    for voice in frame.judges:
        for work in build_wave(frame, 0, voice, {}):
            for ask in work.asks:
                shown.setdefault(work.item_id, set()).add(ask.condition.menu.option_ids)
    assert {len(orders) for orders in shown.values()} == {1}
    assert len(set().union(*shown.values())) > 5  # and items differ


@given(
    n=st.integers(2, 6),
    most=st.integers(1, 40),
    seed=st.integers(-(2**70), 2**70),
    name=st.text(max_size=5),
)
def test_orders_are_distinct_and_the_first_k_stay(n, most, seed, name):
    options = tuple(Option(option_id=str(i), text="t") for i in range(n))
    item = Item(item_id=name, benchmark="b", category="c", question="?", options=options)
    n_orders = min(most, len(list(permutations(range(n)))))
    orders = option_orders(item, n_orders=n_orders, seed=seed)
    assert len({ids(order) for order in orders}) == n_orders
    assert all(sorted(order, key=lambda o: o.option_id) == list(options) for order in orders)
    for k in range(1, n_orders):
        assert option_orders(item, n_orders=k, seed=seed) == orders[:k]


def test_every_order_can_be_had(make):
    orders = option_orders(make.item("q", options="abcd"), n_orders=24, seed=5)
    assert {ids(order) for order in orders} == {"".join(p) for p in permutations("abcd")}


def test_more_than_there_are_is_refused(make):
    with pytest.raises(SweepError, match="at most 6 for 3 options, got 7"):
        option_orders(make.item("q"), n_orders=7, seed=0)
    with pytest.raises(SweepError, match="without options"):
        option_orders(make.item("q", options=""), n_orders=1, seed=0)


def test_the_draw_does_not_hang_on_the_order_of_the_options(make):
    one, two = make.item("q", options="abcde"), make.item("q", options="ecabd")
    first = [ids(order) for order in option_orders(one, n_orders=4, seed=0)]
    assert [ids(order) for order in option_orders(two, n_orders=4, seed=0)] == first


def test_seed_item_and_benchmark_each_draw_anew(make):
    item = make.item("q", options="abcdefghij")
    drawn = {
        ids(option_orders(one, n_orders=1, seed=seed)[0])
        for one, seed in [
            (item, 0),
            (item, 1),
            (make.item("r", options="abcdefghij"), 0),
            (replace(item, benchmark="other"), 0),
        ]
    }
    assert len(drawn) == 4


@pytest.mark.slow
@pytest.mark.parametrize("place_of_order", [0, 1])
def test_options_are_uniform_over_places(make, place_of_order):
    """3,000 items of 5 options: 600 expected in each cell of option x place."""
    counts = {(option, place): 0 for option in "abcde" for place in range(5)}
    for i in range(3000):
        item = make.item(f"item {i}", options="abcde")
        order = option_orders(item, n_orders=2, seed=0)[place_of_order]
        for place, option in enumerate(order):
            counts[option.option_id, place] += 1
    # Rows and columns are fixed, which leaves 16 of 25 - 1 degrees of freedom. The draw is fixed
    # too, so this holds for ever or never did.
    assert chisquare(list(counts.values()), ddof=8).pvalue > 0.001
