"""Waves: prompts are built from what has landed, lazily, and never from what has not.

How far a condition is asked follows from its replications, not from when they landed.
"""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import request_key
from judgerel_ray.design import build_wave, goal_of, voices_of
from judgerel_ray.stats.intervals.stopping import StoppingRule, replay


@st.composite
def rules(draw):
    first = draw(st.integers(1, 6))
    return StoppingRule(
        delta=draw(st.sampled_from([0.01, 0.05, 0.3])),
        first=first,
        most=draw(st.integers(first, 40)),
        step=draw(st.integers(1, 7)),
        width=draw(st.sampled_from([None, 0.6])),
    )


@given(
    rule=rules(),
    shares=st.lists(st.floats(0.05, 1.0), min_size=2, max_size=4),
    seed=st.integers(0, 2**31),
)
def test_whatever_order_replies_land_in_the_same_replications_are_asked(rule, shares, seed):
    rng = np.random.default_rng(seed)
    p = np.array(shares) / sum(shares)
    whole = rng.choice(p.size, size=rule.most, p=p)
    landed: dict[int, int] = {}
    while not (goal := goal_of(landed, p.size, rule)).is_reached:
        missing = [r for r in range(goal.n) if r not in landed]
        assert missing
        # Some of what was asked for lands, in any order; the rest was lost, and is asked again.
        for r in rng.permutation(missing)[: rng.integers(1, len(missing) + 1)]:
            landed[int(r)] = int(whole[r])
    expected = int(replay(whole[None], p.size, rule).used_U[0])
    assert sorted(landed) == list(range(expected))
    assert goal.n == expected
    assert goal.seen == tuple(np.bincount(whole[:expected], minlength=p.size))
    # Ahead of its rounds nothing is looked at: later replications change no decision.
    later = {r: int(v) for r, v in enumerate(whole)}
    assert goal_of(later, p.size, rule) == goal


@given(rule=rules(), seed=st.integers(0, 2**31))
def test_what_is_missing_in_a_whole_block_is_asked_in_that_block(rule, seed):
    rng = np.random.default_rng(seed)
    whole = dict(enumerate(rng.integers(0, 2, size=rule.most).tolist()))
    reached = goal_of(whole, 2, rule)
    lost = int(rng.integers(0, reached.n))
    landed = {r: v for r, v in whole.items() if r != lost}
    goal = goal_of(landed, 2, rule)
    assert not goal.is_reached
    block = 0 if lost < rule.first else 1 + (lost - rule.first) // rule.step
    assert goal.block == block
    assert goal.n > lost


def test_a_verdict_that_could_not_be_drawn_is_an_error():
    with pytest.raises(ValueError, match="verdicts are 0 to 2"):
        goal_of({0: 3}, 3, StoppingRule())


def stages(works):
    return [ask.condition.stage for work in works for ask in work.asks]


def test_items_that_bring_their_options_take_one_wave(make):
    frame = make.frame([make.item("q1")], judges="jk")
    assert (frame.respond_waves, frame.n_waves) == (0, 1)
    assert [voice.name for voice in voices_of(frame, 0)] == ["j", "k"]


def test_answers_take_a_wave_and_dialogues_two(make):
    plain = make.frame([make.item("q1")], responders="xy")
    talk = make.frame([make.item("q1"), make.item("q2", form="dialogue")], responders="xy")
    own = make.frame([make.item("q2", form="dialogue")], protocol="respond")
    assert (plain.respond_waves, plain.n_waves) == (1, 2)
    assert (talk.respond_waves, talk.n_waves) == (2, 3)
    assert (own.respond_waves, own.n_waves) == (2, 2)
    assert [[voice.name for voice in voices_of(talk, wave)] for wave in range(3)] == [
        ["x", "y"],
        ["x", "y"],
        ["j"],
    ]


def test_the_second_turn_holds_the_landed_first(make):
    frame = make.frame([make.item("q1"), make.item("q2", form="dialogue")], responders="xy")
    asked, texts = make.play([frame])
    turn1 = {one.voice.name: one.work.asks[0].condition for one in asked if one.wave == 0
             and one.work.item_id == "q2"}  # fmt: skip
    turn2 = {one.voice.name: one.work.asks[0].condition for one in asked if one.wave == 1}
    assert turn1.keys() == turn2.keys() == {"x", "y"}
    assert [one.work.item_id for one in asked if one.wave == 1] == ["q2", "q2"]
    for name in "xy":
        key = request_key(turn1[name].condition_key, 0)
        assert (turn1[name].stage, turn2[name].stage) == ("turn1", "turn2")
        assert texts[key] in turn2[name].prompt[0].content
        assert "And then q2?" in turn2[name].prompt[0].content
        assert "And then q2?" not in turn1[name].prompt[0].content
        assert turn2[name].menu is None
        assert turn2[name].responder == name


def test_judges_read_the_last_turns_of_the_named_responders(make):
    frame = make.frame(
        [make.item("q1"), make.item("q2", form="dialogue")], responders="xy", option_orders=2
    )
    asked, texts = make.play([frame])
    for one in (one for one in asked if one.wave == 2):
        first, second = (ask.condition for ask in one.work.asks)
        assert sorted(first.menu.option_ids) == ["x", "y"]
        assert first.menu.option_ids == second.menu.option_ids[::-1]
        last = "turn2" if one.work.item_id == "q2" else "answer"
        written = {
            ask.condition.responder: texts[request_key(ask.condition.condition_key, 0)]
            for other in asked
            for ask in other.work.asks
            if other.work.item_id == one.work.item_id and ask.condition.stage == last
        }
        for condition in (first, second):
            shown = condition.prompt[0].content
            places = [shown.index(written[name]) for name in condition.menu.option_ids]
            assert places == sorted(places)


def test_what_rests_on_answers_is_asked_when_they_have_landed(make):
    frame = make.frame(
        [make.item("q1"), make.item("q2", form="dialogue")],
        responders="xy",
        temperatures=(1.0, 0.0),
        replications=4,
        templates=("default", "paraphrase"),
    )
    [turn2] = build_wave(frame, 1, make.voice("x"), {})
    assert (turn2.asks, turn2.impossible) == ((), ())
    early = list(build_wave(frame, 2, make.voice("j"), {}))
    assert [(work.asks, work.impossible) for work in early] == [((), ())] * 2
    _, texts = make.play([frame])
    [turn2] = build_wave(frame, 1, make.voice("x"), texts)
    works = list(build_wave(frame, 2, make.voice("j"), texts))
    assert sum(ask.n for ask in turn2.asks) == 1
    assert [sum(ask.n for ask in work.asks) for work in works] == [2 * (4 + 1)] * 2


def test_one_landed_answer_of_two_still_blocks_best_of_but_not_correctness(make):
    items = [make.item("q1")]
    best = make.frame(items, responders="xy")
    right = make.frame(items, responders="xy", protocol="correctness", replications=3)
    [mine] = build_wave(best, 0, make.voice("x"), {})
    texts = {request_key(mine.asks[0].condition.condition_key, 0): "an answer"}
    [work] = build_wave(best, 1, make.voice("j"), texts)
    assert (work.asks, work.impossible) == ((), ())
    [work] = build_wave(right, 1, make.voice("j"), texts)
    assert ([ask.condition.responder for ask in work.asks], work.impossible) == (["x"], ())


@pytest.mark.parametrize("protocol", ["best_of", "correctness"])
def test_a_lost_answer_makes_its_judgments_impossible_with_the_reason(make, protocol):
    frame = make.frame(
        [make.item("q1"), make.item("q2", form="dialogue")],
        responders="xy",
        protocol=protocol,
        temperatures=(1.0, 0.5),
        templates=("default", "paraphrase") if protocol == "best_of" else ("default",),
    )
    asked, _ = make.play([frame], write=lambda _: None)
    turn2 = [one.work for one in asked if one.wave == 1]
    assert [work.impossible[0][1] for work in turn2] == ["its first turn failed"] * 2
    judged = [one.work for one in asked if one.wave == 2]
    assert stages(judged) == []
    reasons = {reason for work in judged for _, reason in work.impossible}
    expected = {"best_of": {"no answer of x, y"}}
    assert reasons == expected.get(protocol, {"no answer of x", "no answer of y"})
    keys = [ask.condition.condition_key for work in judged for ask, _ in work.impossible]
    assert len(keys) == 2 * 2 * 2
    assert len(set(keys)) == len(keys)  # or one would land for all


def test_two_asks_share_the_answers_of_their_responders(make):
    items = [make.item("q1"), make.item("q2", form="dialogue")]
    best = make.frame(items, responders="xy")
    right = make.frame(items, responders="xy", protocol="correctness", index=1)
    own = make.frame(items, judges="xy", protocol="respond", index=2)
    asked, _ = make.play([best, right, own])
    written = {}
    for one in asked:
        for ask in one.work.asks:
            if ask.condition.role == "responder":
                written.setdefault(one.frame.index, set()).add(ask.condition.condition_key)
    assert written[0] == written[1] == written[2]
    assert len(written[0]) == 2 + 4


def test_correctness_asks_about_every_answer_alone(make):
    frame = make.frame([make.item("q1")], protocol="correctness", temperatures=(1.0, 0.0))
    [work] = build_wave(frame, 0, make.voice("j"), {})
    facts = [(ask.condition.responder, ask.condition.temperature, ask.n) for ask in work.asks]
    assert facts == [(name, t, n) for name in "abc" for t, n in ((1.0, 5), (0.0, 1))]
    for ask in work.asks:
        menu, prompt = ask.condition.menu, ask.condition.prompt[0].content
        assert menu.labels == menu.option_ids == ("correct", "incorrect")
        assert f"{ask.condition.responder} on q1" in prompt
        assert sum(f"{name} on q1" in prompt for name in "abc") == 1
        assert ask.condition.option_order is None


def test_recorded_responders_are_the_only_options_shown(make):
    frame = make.frame([make.item("q1")], recorded=("a", "c"))
    [work] = build_wave(frame, 0, make.voice("j"), {})
    assert sorted(work.asks[0].condition.menu.option_ids) == ["a", "c"]
    assert "b on q1" not in work.asks[0].condition.prompt[0].content


def test_an_early_stop_stops_at_every_verdict_on_the_menu(make):
    [work] = build_wave(make.frame([make.item("q1")], early_stop=True), 0, make.voice("j"), {})
    assert work.asks[0].condition.stop == tuple(f"Best Response: [[{one}]]" for one in "ABC")


def test_temperatures_of_a_prompt_stand_side_by_side_and_share_it(make):
    frame = make.frame([make.item("q1")], temperatures=(1.0, 0.5, 0.0), option_orders=2)
    [work] = build_wave(frame, 0, make.voice("j"), {})
    prompts = [ask.condition.prompt for ask in work.asks]
    assert len(set(prompts[:3])) == len(set(prompts[3:])) == 1
    assert prompts[0] != prompts[3]
    assert [ask.n for ask in work.asks] == [5, 5, 1, 5, 5, 1]


class Items(tuple):
    """Items that count how often one of them is looked at."""

    looks = 0

    def __iter__(self):
        for item in super().__iter__():
            self.looks += 1
            yield item


@pytest.mark.parametrize("responders", ["", "xy"])
def test_the_first_work_of_many_items_is_there_at_once(make, responders):
    items = Items([make.item("q1")] * 10_000)
    frame = replace(make.frame([], responders=responders), items=items)
    first = next(build_wave(frame, 0, make.voice("x" if responders else "j"), {}))
    assert first.item_id == "q1"
    once = len(items) if responders else 0
    assert items.looks <= once + 10  # one look at the items where answers come first
    items.looks = 0
    works = list(islice(build_wave(frame, 0, make.voice("x"), {}), 200))
    assert len(works) == 200
    assert items.looks <= once + 210  # and not one look for every item
