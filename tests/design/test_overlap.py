"""Asks of one sweep may share items and answers, and never a judgment."""

import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.design import build_wave, check_asks


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
    # (first ask, second ask, whether they would share a judgment)
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
    ({}, {"max_tokens": 9}, False),
    ({}, {"early_stop": True}, False),
    ({}, {"option_orders": 4}, True),
    ({}, {"recorded": "ab"}, False),
    ({}, {"recorded": "cba"}, True),
    ({}, {"responders": "xy"}, False),
    ({}, RIGHT, False),
    ({"responders": "xy"}, {"responders": "xy"}, True),
    ({"responders": "xy"}, {"responders": "yx"}, True),
    ({"responders": "xy"}, {"responders": "xyz"}, False),
    ({"responders": "xy"}, {"responders": "xy", "respond": {"temperature": 0.5}}, False),
    ({**RIGHT, "recorded": "ab"}, {**RIGHT, "recorded": "bc"}, True),
    ({**RIGHT, "recorded": "a"}, {**RIGHT, "recorded": "bc"}, False),
    (WRITE, {**WRITE, "replications": 9}, True),
    (WRITE, {**WRITE, "temperatures": (0.3,)}, False),
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
        assert bool(one & two) is shared  # the table tells the truth
    if shared:
        with pytest.raises(SweepError, match=r"ask\[0\] and ask\[1\] ask the same of judge [jk]"):
            check_asks(frames)
    else:
        check_asks(frames)


def test_orders_that_coincide_by_chance_are_refused(make):
    """Two options have two orders: of 20 items about half are shown alike under two seeds."""
    items = [make.item(f"q{i}", options="ab") for i in range(20)]
    frames = [make.frame(items, index=seed, order_seed=seed) for seed in range(2)]
    with pytest.raises(SweepError, match="ask the same"):
        check_asks(frames)


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
