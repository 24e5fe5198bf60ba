"""Asks of one sweep may share items and answers, and never a judgment."""

import re

import pytest

from judgerel_ray.core import SweepError, request_key
from judgerel_ray.design import build_wave, check_asks, count_stages, with_shared_orders


def keys_of(frame, wave, texts):
    return {
        ask.condition.condition_key
        for voice in frame.judges
        for work in build_wave(frame, wave, voice, texts)
        for ask in work.asks
    }


BASE = {"temperatures": (1.0, 0.0)}
RIGHT = {"protocol": "correctness"}
WRITE = {"protocol": "respond"}
PAIRS = [
    # (first ask, second ask, whether they would share a judgment, or what no row would record)
    ({}, {}, True),
    ({}, {"replications": 50}, True),
    ({}, {"reader": "last"}, True),
    ({}, {"temperatures": (0.5, 0.0)}, True),
    ({}, {"temperatures": (0.5,)}, False),
    ({}, {"templates": ("paraphrase",)}, False),
    ({}, {"templates": ("paraphrase", "default")}, True),
    ({}, {"judges": "k"}, False),
    ({}, {"judges": "kj"}, True),
    ({}, {"top_k": 1}, False),
    ({}, {"top_p": 0.5}, False),
    ({}, {"max_tokens": 9}, "max_tokens (150 and 9)"),
    ({}, {"early_stop": True}, "early_stop (false and true)"),
    ({}, {"option_orders": 4}, True),
    ({}, {"recorded": "ab"}, "responders"),
    ({}, {"recorded": "cba"}, True),
    ({}, {"responders": "xy"}, "responders"),
    ({}, RIGHT, False),
    ({"responders": "xy"}, {"responders": "xy"}, True),
    ({"responders": "xy"}, {"responders": "yx"}, True),
    ({"responders": "xy"}, {"responders": "xyz"}, "responders"),
    ({"responders": "xy"}, {"responders": "xy", "respond": {"temperature": 0.5}}, "respond"),
    ({**RIGHT, "recorded": "ab"}, {**RIGHT, "recorded": "bc"}, True),
    ({**RIGHT, "recorded": "a"}, {**RIGHT, "recorded": "bc"}, False),
    (WRITE, {**WRITE, "replications": 9}, True),
    (WRITE, {**WRITE, "temperatures": (0.3,)}, False),
    ({}, {"max_tokens": 9, "temperatures": (0.5,)}, False),
    ({}, {"max_tokens": 9, "order_seed": 7}, False),
    ({}, {"recorded": "ab", "judges": "k"}, False),
    (RIGHT, {**RIGHT, "max_tokens": 9}, "max_tokens (16 and 9)"),
    ({**RIGHT, "responders": "xy"}, {**RIGHT, "responders": "yz", "respond": {"max_tokens": 9}},
     "respond"),
    (WRITE, {**WRITE, "max_tokens": 9}, False),
    ({**WRITE, "judges": "xy"}, {"responders": "xy", "respond": {"temperature": 1}}, False),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "shared"), PAIRS)
def test_what_would_be_asked_twice_is_refused_and_nothing_else(make, first, second, shared):
    items = [make.item("q1"), make.item("q2", form="dialogue")]
    frames = [
        make.frame(items, index=index, **{**BASE, **keys})
        for index, keys in enumerate((first, second))
    ]
    _, texts = make.play(frames)
    one, two = (keys_of(frame, frame.n_waves - 1, texts) for frame in frames)
    if "respond" not in {frame.ask.protocol for frame in frames}:
        assert bool(one & two) is (shared is True)  # the table tells the truth
    if isinstance(shared, str):
        line = f"ask[1] by judge j would be pooled: they differ only in {shared}, which"
        with pytest.raises(SweepError, match=re.escape(line)):
            check_asks(frames)
    elif shared:
        with pytest.raises(SweepError, match=r"ask\[0\] and ask\[1\] ask the same of judge [jk]"):
            check_asks(frames)
    else:
        check_asks(frames)


def test_orders_that_two_seeds_draw_alike_are_asked_and_counted_once(make):
    """Two options have two orders: of 20 items about half are shown alike under two seeds."""
    items = [make.item(f"q{i}", options="ab") for i in range(20)]
    frames = with_shared_orders(
        [
            make.frame(items, index=seed, order_seed=seed, replications=2 + seed, **BASE)
            for seed in range(2)
        ]
    )
    check_asks(frames)
    asked, _ = make.play(frames)
    requests = {
        request_key(ask.condition.condition_key, r)
        for one in asked
        for ask in one.work.asks
        for r in ask.replications
    }
    both = set.intersection(*(keys_of(frame, 0, {}) for frame in frames))
    assert 0 < len(both) < 40
    first, second = count_stages(frames)
    assert first.requests == 20 * (2 + 1)
    # The hot half of what coincides is asked once more by the second, the cold half is there.
    assert second.requests == 20 * (3 + 1) - len(both) // 2 * (2 + 1)
    assert first.requests + second.requests == len(requests)
    assert first.conditions + second.conditions == 2 * 40 - len(both)


def test_an_order_has_one_number_whatever_seed_drew_it(make):
    items = [make.item(f"q{i}", options="abc") for i in range(30)]
    frames = with_shared_orders(
        [
            make.frame(items, index=i, order_seed=seed, option_orders=n)
            for i, (seed, n) in enumerate([(5, 2), (0, 3)])
        ]
    )
    orders, numbers = {}, {}
    for frame in frames:
        for work in build_wave(frame, 0, frame.judges[0], {}):
            for ask in work.asks:
                one = ask.condition
                orders.setdefault((one.item_id, one.option_order), set()).add(one.menu.option_ids)
                numbers.setdefault((one.item_id, one.menu.option_ids), set()).add(one.option_order)
    assert {len(found) for found in (*orders.values(), *numbers.values())} == {1}
    # The lowest seed's come first, whatever the order of the asks.
    assert {n for work in build_wave(frames[1], 0, frames[1].judges[0], {})
            for n in [ask.condition.option_order for ask in work.asks]} == {0, 1, 2}  # fmt: skip


def test_another_seed_that_draws_nothing_new_is_refused(make):
    items = [make.item(f"q{i}", options="ab") for i in range(3)]
    frames = [make.frame(items, index=seed, order_seed=seed, option_orders=2) for seed in range(2)]
    with pytest.raises(SweepError, match=r"ask\[0\] and ask\[1\] ask the same"):
        check_asks(frames)


def test_seeds_of_asks_about_other_items_number_their_own(make):
    frames = with_shared_orders(
        [make.frame([make.item(f"q{i}")], index=i, order_seed=i) for i in range(2)]
    )
    assert [frame.order_draws for frame in frames] == [{}, {}]


def test_asks_about_different_items_may_be_alike(make):
    check_asks([make.frame([make.item(f"q{i}")], index=i) for i in range(5)])
    with pytest.raises(SweepError, match=r"ask\[1\] and ask\[3\] ask the same .*item=q1"):
        check_asks([make.frame([make.item(f"q{i % 2}")], index=i) for i in (0, 1, 3)])


def test_one_name_is_one_item(make):
    frames = [
        make.frame([make.item("q1", gold=gold)], index=index)
        for index, gold in enumerate(("one", "two"))
    ]
    with pytest.raises(SweepError, match=r"ask\[0\] and ask\[1\] have different items of one name"):
        check_asks(frames)
