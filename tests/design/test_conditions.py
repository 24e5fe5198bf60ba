"""Keys and seeds follow from what is asked, and from nothing else."""

from dataclasses import replace

import pytest

from judgerel_ray.core import Message, Option, request_key
from judgerel_ray.design import build_wave
from judgerel_ray.protocols.waves.work import keyed_condition


def conditions_of(frame, wave=0):
    return [
        ask.condition
        for voice in frame.judges
        for work in build_wave(frame, wave, voice, {})
        for ask in work.asks
    ]


def facts(conditions):
    """What identifies a condition, by key."""
    return {
        one.condition_key: (one.judge, one.item_id, one.temperature, one.seed_base)
        for one in conditions
    }


def test_keys_are_unique_over_a_sweep(make):
    items = [make.item(f"q{i}") for i in range(20)]
    frame = make.frame(
        items,
        judges="jkl",
        temperatures=(1.0, 0.5, 0.0),
        option_orders=3,
        templates=("default", "paraphrase"),
        replications=7,
    )
    keys = [
        request_key(ask.condition.condition_key, r)
        for voice in frame.judges
        for work in build_wave(frame, 0, voice, {})
        for ask in work.asks
        for r in ask.replications
    ]
    assert len(keys) == 20 * 3 * 3 * 2 * (7 + 7 + 1)
    assert len(set(keys)) == len(keys)


@pytest.mark.slow
def test_all_seed_bases_of_ten_thousand_conditions_differ(make):
    items = [make.item(f"q{i}") for i in range(1250)]
    frame = make.frame(items, judges="jk", temperatures=(1.0, 0.75, 0.5, 0.25))
    bases = [one.seed_base for one in conditions_of(frame)]
    assert len(bases) == 10_000
    assert len(set(bases)) == 10_000
    assert min(bases) > 0
    # base + replication stays exact in a double, and a signed 64-bit integer, for any sweep
    assert max(bases) + 100_000 < 2**53


def test_neither_order_nor_number_changes_what_is_asked(make):
    items = [make.item(f"q{i}") for i in range(5)]
    keys = {"temperatures": (1.0, 0.0), "templates": ("default", "paraphrase"), "option_orders": 2}
    one = facts(conditions_of(make.frame(items, judges="jk", replications=3, **keys)))
    other = make.frame(items[::-1], judges="kj", replications=50, index=4, **keys)
    assert facts(conditions_of(other)) == one
    fewer = facts(conditions_of(make.frame(items[2:3], judges="k", **keys)))
    assert fewer.items() <= one.items()


def test_who_stands_first_in_the_sweep_changes_no_judgment_of_answers(make):
    items = [make.item("q1", options=""), make.item("q2", form="dialogue", options="")]
    keys = []
    for responders in ("xyz", "zxy"):
        asked, _ = make.play([make.frame(items, responders=responders, option_orders=2)])
        keys.append({ask.condition.condition_key for one in asked for ask in one.work.asks})
    assert keys[0] == keys[1]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"temperatures": (0.5,)}, False),
        ({"top_k": 49}, False),
        ({"top_p": 0.9}, False),
        ({"max_tokens": 151}, False),
        ({"early_stop": True}, False),
        ({"templates": ("paraphrase",)}, False),
        ({"order_seed": 3}, False),
        # How often, and how a reply is read, are no part of the question.
        ({"replications": 99}, True),
        ({"reader": "last"}, True),
        ({"benchmark": "other-name"}, True),
    ],
)
def test_a_key_changes_with_everything_that_is_asked(make, change, same):
    items = [make.item("q1", options="abcdefg")]
    base = {"temperatures": (1.0,)}
    before = facts(conditions_of(make.frame(items, **base)))
    after = facts(conditions_of(make.frame(items, **{**base, **change})))
    assert (before == after) is same
    assert bool(before.keys() & after.keys()) is same


@pytest.mark.parametrize(
    "change",
    [
        {"judge": "k"},
        {"judge_fingerprint": "other"},
        {"benchmark": "c"},
        {"item_id": "q2"},
        {"protocol": "correctness"},
        {"stage": "turn1"},
        {"responder": "x"},
        {"temperature": 0.75},
        {"top_k": 10},
        {"top_p": 0.5},
        {"max_tokens": 7},
    ],
)
def test_each_part_of_a_condition_is_in_its_key_and_seed(make, change):
    [one] = conditions_of(make.frame([make.item("q1")]))
    other = keyed_condition(replace(one, **change), one.prompt)
    assert other.condition_key != one.condition_key
    assert other.seed_base != one.seed_base


def test_a_stop_is_another_request_with_the_same_seed(make):
    items = [make.item(f"q{i}") for i in range(5)]
    whole, stopped = (
        conditions_of(make.frame(items, temperatures=(1.0, 0.5), early_stop=early))
        for early in (False, True)
    )
    assert all(one.stop for one in stopped)
    assert not {one.condition_key for one in whole} & {one.condition_key for one in stopped}
    assert [one.seed_base for one in whole] == [one.seed_base for one in stopped]


def test_prompt_parents_and_roles_of_messages_are_in_the_key(make):
    [one] = conditions_of(make.frame([make.item("q1")]))
    text = one.prompt[0].content
    prompts = [
        one.prompt,
        (Message(role="user", content=text + " "),),
        (Message(role="system", content=text),),
        (Message(role="user", content=text[:5]), Message(role="user", content=text[5:])),
    ]
    keys = {keyed_condition(one, prompt).condition_key for prompt in prompts}
    keys |= {
        keyed_condition(one, one.prompt, parents=parents).condition_key for parents in ("a", "b")
    }
    assert len(keys) == 6


def test_options_of_equal_texts_keep_their_orders_apart(make):
    twins = replace(
        make.item("q1"),
        options=(Option(option_id="x", text="same"), Option(option_id="y", text="same")),
    )
    one, two = conditions_of(make.frame([twins], option_orders=2))
    assert one.prompt == two.prompt
    assert one.menu.option_ids == two.menu.option_ids[::-1]
    assert one.condition_key != two.condition_key


def test_seeds_are_base_plus_replication_and_not_shared_by_temperatures(make):
    frame = make.frame([make.item("q1")], temperatures=(1.0, 0.9, 0.8), replications=100)
    bases = [one.seed_base for one in conditions_of(frame)]
    streams = [set(range(base, base + 100)) for base in bases]
    assert not streams[0] & streams[1]
    assert not streams[1] & streams[2]


def test_a_condition_says_what_it_is(make):
    frame = make.frame([make.item("q1")], temperatures=(0.5,), top_k=7, top_p=0.9, max_tokens=9)
    [one] = conditions_of(frame)
    assert (one.judge, one.judge_fingerprint) == ("j", "print of j")
    assert (one.protocol, one.stage, one.role) == ("best_of", "judge", "judge")
    assert (one.temperature, one.top_k, one.top_p, one.max_tokens) == (0.5, 7, 0.9, 9)
    assert (one.template, one.option_order, one.responder, one.block) == ("default", 0, None, 0)
    assert one.menu.labels == ("A", "B", "C")
    assert sorted(one.menu.option_ids) == ["a", "b", "c"]
    assert (one.menu.form, one.menu.reader, one.stop) == ("best_response", "first", ())
