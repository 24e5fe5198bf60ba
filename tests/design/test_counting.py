"""Counts made before anything is asked are what is then asked."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgerel_ray.core import request_key
from judgerel_ray.design import count_stages
from judgerel_ray.protocols.ask import AdaptiveReplications

FIXTURES = [HealthCheck.function_scoped_fixture]
FORMS = ("question", "context", "dialogue")
TEMPLATES = {
    "best_of": ("default", "paraphrase"),
    "correctness": ("default",),
    "rating": ("default", "terse"),
}
RATED = {
    "criteria": st.sampled_from([("factuality",), ("factuality", "helpfulness")]),
    "definitions": st.sampled_from([("none",), ("short", "long")]),
    "scales": st.sampled_from([("points5",), ("binary", "likert5", "points10")]),
}


@st.composite
def asks(draw):
    """Keys of an ask, its items' forms, its judges and its responders."""
    protocol = draw(st.sampled_from(["best_of", "correctness", "respond", "rating"]))
    temperatures = draw(
        st.lists(st.sampled_from([0.0, 0.25, 0.75, 1.0]), min_size=1, max_size=3, unique=True)
    )
    names = TEMPLATES.get(protocol, ("default",))
    return {
        "forms": draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=4)),
        "judges": draw(st.sampled_from(["j", "jk"])),
        "responders": draw(st.sampled_from(["", "xy"])) if protocol != "respond" else "",
        "protocol": protocol,
        "temperatures": tuple(temperatures),
        "replications": draw(st.integers(1, 4)),
        "repeat_greedy": draw(st.integers(0, 3)) if 0.0 in temperatures else 0,
        "templates": draw(st.sampled_from([names[:1], names])),
        "option_orders": draw(st.integers(1, 2)) if protocol == "best_of" else 1,
        **({key: draw(values) for key, values in RATED.items()} if protocol == "rating" else {}),
    }


def frames_of(make, drawn):
    """Frames whose items share names where their forms do, as asks of one sweep would."""
    return [
        make.frame(
            [make.item(f"{form}-{i}", form=form) for i, form in enumerate(keys["forms"])],
            index=index,
            **{key: value for key, value in keys.items() if key != "forms"},
        )
        for index, keys in enumerate(drawn)
    ]


def asked_by_stage(asked):
    """Distinct requests by ask, judge, stage and wave, each counted where it comes first."""
    seen, requests, conditions = set(), Counter(), Counter()
    for one in asked:
        for ask in one.work.asks:
            stage = ask.condition.stage
            place = (one.frame.index, one.voice.name, stage, one.wave)
            for r in ask.replications:
                key = request_key(ask.condition.condition_key, r)
                requests[place] += key not in seen
                seen.add(key)
            conditions[place] += 1
    return +requests, conditions


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=FIXTURES)
@given(asks())
def test_counts_of_one_ask_are_what_its_waves_yield(make, keys):
    frames = frames_of(make, [keys])
    asked, _ = make.play(frames)
    requests, conditions = asked_by_stage(asked)
    counted = {
        (count.ask, count.judge, count.stage, count.wave): count for count in count_stages(frames)
    }
    assert {place: count.requests for place, count in counted.items()} == requests
    assert {place: count.conditions for place, count in counted.items()} == conditions


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=FIXTURES)
@given(st.lists(asks(), min_size=2, max_size=3))
def test_answers_that_asks_share_are_counted_once(make, drawn):
    frames = frames_of(make, drawn)
    # Judges' stages may coincide here, which a sweep refuses: only answers are compared.
    requests = Counter()
    for place, n in asked_by_stage(make.play(frames)[0])[0].items():
        requests[place[1:3]] += n if place[2] != "judge" else 0
    counted = Counter()
    for count in count_stages(frames):
        counted[count.judge, count.stage] += count.requests if count.role == "responder" else 0
    assert +counted == +requests


def test_the_grid_of_the_paper_is_66165_requests(make):
    items = [make.item(f"q{i}", options="abcde") for i in range(55)]
    frame = make.frame(
        items, judges="stl", temperatures=(1.0, 0.75, 0.5, 0.25, 2.2e-16), replications=100
    )
    counts = count_stages([frame])
    assert [count.requests for count in counts] == [55 * 401] * 3
    assert sum(count.requests for count in counts) == 66_165
    assert [count.conditions for count in counts] == [55 * 5] * 3


def test_answers_and_judgments_from_the_beginning(make):
    items = [make.item(f"q{i}", form="dialogue" if i < 8 else "question") for i in range(55)]
    frame = make.frame(
        items,
        judges="stl",
        responders="vwxyz",
        temperatures=(1.0, 0.75, 0.5, 0.25, 0.0),
        replications=100,
    )
    by_stage = Counter()
    for count in count_stages([frame]):
        by_stage[count.stage, count.wave] += count.requests
    assert by_stage == {
        ("answer", 0): 47 * 5,
        ("turn1", 0): 8 * 5,
        ("turn2", 1): 8 * 5,
        ("judge", 2): 66_165,
    }


def test_a_later_ask_adds_only_the_answers_it_wants_more(make):
    items = [make.item("q1"), make.item("q2")]
    respond = {"protocol": "respond", "temperatures": (0.75,)}
    few = make.frame(items[:1], judges="x", index=0, replications=2, **respond)
    more = make.frame(items, judges="x", index=1, replications=5, **respond)
    first, second = count_stages([few, more])
    assert (first.items, first.conditions, first.requests) == (1, 1, 2)
    # q1 needs three more of a condition that is there; q2 is new.
    assert (second.items, second.conditions, second.requests) == (2, 1, 3 + 5)


def test_nothing_is_left_to_count_where_all_is_shared(make):
    items = [make.item("q1")]
    first = make.frame(items, responders="xy", index=0)
    second = make.frame(items, responders="xy", index=1, protocol="correctness")
    counts = [(count.ask, count.judge, count.stage) for count in count_stages([first, second])]
    assert counts == [(0, "x", "answer"), (0, "y", "answer"), (0, "j", "judge"), (1, "j", "judge")]


def test_greedy_is_asked_once_or_as_often_as_said(make):
    items = [make.item("q1")]
    once = make.frame(items, temperatures=(0.0,), replications=100)
    thrice = make.frame(items, temperatures=(0.0,), replications=100, repeat_greedy=3)
    assert [count.requests for count in count_stages([once])] == [1]
    assert [count.requests for count in count_stages([thrice])] == [3]


def test_adaptive_asks_count_the_first_block_and_the_most(make):
    items = [make.item("p"), make.item("q")]
    rule = AdaptiveReplications(adaptive=0.05, first=4, max=30)
    frame = make.frame(items, temperatures=(1.0, 0.5, 0.0), replications=rule)
    (count,) = count_stages([frame])
    assert count.requests == 2 * (2 * 4 + 1)
    assert count.requests_at_most == 2 * (2 * 30 + 1)
    fixed = make.frame(items, temperatures=(1.0, 0.5, 0.0), replications=7)
    assert {one.requests == one.requests_at_most for one in count_stages([fixed])} == {True}
