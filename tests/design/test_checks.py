"""Asks of one sweep may share items and answers, and never a judgment.

A form passes the check exactly where every word, written by its example, is read back.
"""

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from judgerel_ray.config import ask_table
from judgerel_ray.core import Item, Option, SweepError, request_key
from judgerel_ray.design import (
    AskFrame,
    build_wave,
    check_asks,
    check_declared_forms,
    count_stages,
    with_shared_orders,
)
from judgerel_ray.engines.simulated.replies import declared_reply
from judgerel_ray.protocols import Template, fill_example, load_template, read_verdict
from judgerel_ray.protocols.best_of import best_of_menu
from judgerel_ray.protocols.registry import protocol_named
from judgerel_ray.protocols.replies.declared_forms import declared_form

TABLES = [
    {"pattern": r"\[\[(?P<verdict>[^\]]+)\]\]", "example": "It is [[{verdict}]]."},
    {"pattern": r"(?m)^Answer: (?P<verdict>.*)$", "example": "So.\nAnswer: {verdict}\nDone."},
    {"pattern": r"(?P<verdict>\w+)\W*\z", "example": "My verdict: {verdict}"},
    {"json": "a[0].winner", "example": '{"a": [{"winner": "{verdict}", "why": "so"}]} ok'},
]
words = st.text(st.sampled_from(list("AaBb1 .*+?()[]{}|^$\\\"'`-_#<>/éß")), min_size=1, max_size=5)
readers = st.sampled_from(["first", "last", "unanimous"])


def frame_of(table, names, tie, reader):
    """An ask about one item, by a template with that form; None where words clash."""
    try:
        own = declared_form(
            {**table, "options": names, "tie": tie}, kind=protocol_named("best_of"), where={}
        )
    except SweepError:
        return None
    options = tuple(Option(option_id=f"o{i}", text=f"{i}") for i in range(len(names)))
    item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    template = Template(
        name="t",
        protocol="best_of",
        form="own",
        verdict_first=False,
        texts={},
        sha="",
        declared=own,
    )
    ask = ask_table(protocol="best_of", benchmark="b", path="p", reader=reader)
    return AskFrame(index=0, ask=ask, items=(item,), templates=(template,), judges=())


@pytest.mark.slow
@settings(max_examples=300)
@given(st.sampled_from(TABLES), st.lists(words, min_size=2, max_size=4), words, readers)
def test_what_passes_is_read_back_and_what_is_refused_is_not(table, names, tie, reader):
    frame = frame_of(table, names, tie, reader)
    if frame is None:
        return
    menu = best_of_menu(frame, frame.templates[0], frame.items[0].options)
    replies = [declared_reply(label, menu) for label in menu.labels]
    assert replies == [fill_example(menu.declared, word) for (word,) in menu.words]
    found = [read_verdict(one, finish_reason="stop", menu=menu).label for one in replies]
    refused = None
    try:
        check_declared_forms(frame)
    except SweepError as error:
        refused = str(error)
    assert (refused is None) == (tuple(found) == menu.labels)
    assert "\n" not in (refused or "")


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
    ({}, {"reader": "last", "order_seed": 7}, False),
    (RIGHT, {**RIGHT, "order_seed": 7}, True),
    (RIGHT, {**RIGHT, "order_seed": 7, "temperatures": (1.0, 0.5)}, True),
    (RIGHT, {**RIGHT, "order_seed": 7, "temperatures": (0.5,)}, False),
    (WRITE, {**WRITE, "order_seed": 7, "temperatures": (1.0, 0.5)}, True),
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


def test_orders_drawn_alike_are_not_read_by_two_rules(make):
    """What coincides is one row, and its verdict was read by one of the readers alone."""
    items = [make.item(f"q{i}", options="ab") for i in range(20)]
    frames = [
        make.frame(items, index=seed, order_seed=seed, reader=reader)
        for seed, reader in enumerate(("first", "unanimous"))
    ]
    with pytest.raises(
        SweepError, match=r"they differ only in reader \(first and unanimous\), which"
    ):
        check_asks(frames)


def alike(protocol, name, *forms):
    """A template of its own that puts items of these forms as the default one does."""
    default = load_template(protocol, "default")
    texts = {
        form: text if form in forms else f"{text}\n({name})" for form, text in default.texts.items()
    }
    return replace(default, name=name, texts=texts)


@pytest.mark.parametrize("protocol", ["best_of", "correctness"])
def test_two_templates_with_the_same_words_for_some_items_are_refused(make, protocol):
    shipped = (load_template(protocol, "default"), alike(protocol, "mine", "question"))
    items = {form: make.item(f"q-{form}", form=form) for form in ("context", "question")}
    ask = {"protocol": protocol, "shipped": shipped}
    check_asks([make.frame([items["context"]], **ask)])
    with pytest.raises(SweepError, match=r"templates default and mine put the same words .*q-ques"):
        check_asks([make.frame(items.values(), **ask)])


def test_two_templates_that_think_twice_in_the_same_first_words_are_refused(make):
    def both(*forms, item=None):
        items = (item or make.item("q"),)
        shipped = (load_template("think_twice", "default"), alike("think_twice", "mine", *forms))
        return make.frame(items, protocol="think_twice", shipped=shipped, responders="xy")

    said = "templates default and mine put the same words"
    with pytest.raises(SweepError, match=said):
        # Other words for judges alone: the first steps would be asked once and pending for ever.
        check_asks([both("question", "select", "choose")])
    check_asks([both("question", "choose", "compare")])
    check_asks([both("select", "choose", "compare")])
    open_question = make.item("o", options="", gold=None)
    with pytest.raises(SweepError, match=said):
        check_asks([both("open_question", "open_select", item=open_question)])
    check_asks([both("question", "select", item=open_question)])


def test_orders_drawn_alike_in_the_same_words_under_two_names_are_refused(make):
    """One key would be one row, under the name of one of the two templates."""
    items = [make.item(f"q{i}", options="ab") for i in range(20)]
    templates = (load_template("best_of", "default"), alike("best_of", "mine", "question"))
    frames = [
        make.frame(items, index=seed, order_seed=seed, shipped=templates[seed : seed + 1])
        for seed in range(2)
    ]
    with pytest.raises(SweepError, match=r"ask\[0\] and ask\[1\] ask the same"):
        check_asks(frames)


def test_an_early_stop_that_no_form_has_makes_no_other_request(make):
    """A verdict of one word has no end to stop at: with or without, the keys are the same."""
    default = load_template("best_of", "default")
    items = [make.item("q1")]
    frames = [
        make.frame(
            items,
            index=i,
            early_stop=bool(i),
            shipped=[replace(default, name=name, form="correctness")],
        )
        for i, name in enumerate(("one", "two"))
    ]
    assert keys_of(frames[0], 0, {}) == keys_of(frames[1], 0, {})
    with pytest.raises(SweepError, match=r"ask\[0\] and ask\[1\] ask the same"):
        check_asks(frames)


@st.composite
def asks(draw):
    """Keys of an ask that has much in common with every other one."""
    protocol = draw(st.sampled_from(["best_of", "best_of", "correctness", "respond"]))
    best_of = protocol == "best_of"
    reader = draw(st.sampled_from(["first", "first", "last"]))
    shipped = (load_template(protocol, "default"), alike(protocol, "mine", "question"))
    temperatures = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=3, unique=True)
    return {
        "names": draw(st.lists(st.sampled_from("pqrst"), min_size=1, max_size=4, unique=True)),
        "judges": draw(st.sampled_from(["j", "j", "k", "jk"])),
        "responders": "" if protocol == "respond" else draw(st.sampled_from(["", "", "xy"])),
        "protocol": protocol,
        "temperatures": tuple(draw(temperatures)),
        "replications": draw(st.integers(1, 3)),
        "reader": reader,
        "shipped": draw(st.sampled_from([shipped[:1], shipped[1:], shipped])),
        "option_orders": draw(st.integers(1, 2)) if best_of else 1,
        "order_seed": draw(st.integers(0, 2)),
        "early_stop": best_of and reader == "first" and draw(st.booleans()),
        "max_tokens": draw(st.sampled_from([9, 9, 8])),
    }


FORMS = {"p": "question", "q": "question", "r": "context", "s": "context", "t": "dialogue"}


def accepted(make, drawn):
    """The frames of a sweep of these asks, or nothing where it is refused."""
    frames = with_shared_orders(
        [
            make.frame(
                [make.item(name, form=FORMS[name], options="ab") for name in keys["names"]],
                index=index,
                **{key: value for key, value in keys.items() if key != "names"},
            )
            for index, keys in enumerate(drawn)
        ]
    )
    try:
        check_asks(frames)
    except SweepError:
        return ()
    return frames


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.lists(asks(), min_size=2, max_size=3))
def test_of_every_sweep_that_is_accepted_the_plan_counts_each_key_once(make, drawn):
    frames = accepted(make, drawn)
    assume(frames)
    keys, rows, readers = {}, {}, {}
    for one in make.play(frames)[0]:
        for ask in one.work.asks:
            what = ask.condition
            facets = (what.judge, what.item_id, what.protocol, what.stage, what.responder)
            facets += (what.template, what.temperature, what.option_order, bool(what.menu))
            for r in ask.replications:
                key = request_key(what.condition_key, r)
                keys[key] = (what.judge, what.stage)
                if what.role == "judge":
                    rows.setdefault((*facets, r), set()).add(key)
                    readers.setdefault(key, set()).add(what.menu.reader)
    counted = Counter()
    for count in count_stages(frames):
        counted[count.judge, count.stage] += count.requests
    assert +counted == Counter(keys.values())
    # No two judgments look alike in the table, and none is read by two rules.
    assert {len(found) for found in (*rows.values(), *readers.values())} <= {1}
