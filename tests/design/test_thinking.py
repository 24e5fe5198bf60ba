"""Thinking twice and comparing: who is asked what, in which wave, standing on which answers."""

import pytest

from judgerel_ray.config import ask_table
from judgerel_ray.core import Item, Option, SweepError, request_key
from judgerel_ray.design import (
    AskFrame,
    CutText,
    Voice,
    build_wave,
    count_stages,
    voices_of,
)
from judgerel_ray.protocols import load_template
from judgerel_ray.protocols.think_twice import comparing_roles

NAMES = ("ant", "bee", "cat")


def check(made):
    made.protocol.check(made)


def item(name="q", *, n_options=4, gold="2"):
    options = tuple(Option(option_id=str(n), text=f"choice {n}") for n in range(n_options))
    return Item(
        item_id=name, benchmark="b", category="c", question="Which?", options=options, gold=gold
    )


def voice(name):
    return Voice(name=name, fingerprint=f"print-{name}")


def frame(*, items=None, judges=NAMES, responders=NAMES, templates=("default",), **keys):
    ask = ask_table(
        protocol="think_twice",
        benchmark="b",
        path="p",
        templates=templates,
        **{"temperatures": (1.0, 0.5), "replications": 3, **keys},
    )
    return AskFrame(
        index=0,
        ask=ask,
        items=items or (item(), item("r")),
        templates=tuple(load_template("think_twice", name) for name in templates),
        judges=tuple(voice(name) for name in judges),
        responders=tuple(voice(name) for name in responders),
    )


def every(made, wave, texts=None):
    return [
        (ask, reason)
        for one in voices_of(made, wave)
        for work in build_wave(made, wave, one, texts or {})
        for ask, reason in [*((a, None) for a in work.asks), *work.impossible]
    ]


def n_requests(made, wave, texts):
    return sum(ask.n for ask, _ in every(made, wave, texts))


def answered(made, *, select="Option: 1\nJustification: x\n\nOption: 2\nJustification: y",
             choose="Final Answer: 2\nReason: z\nConfidence: 0.8", lost=()):  # fmt: skip
    """Texts of both steps, as a fleet would land them; None of the models named in `lost`."""
    texts = {}
    for wave, text in ((0, select), (1, choose)):
        for ask, reason in every(made, wave, texts):
            gone = reason is not None or ask.condition.judge in lost
            for r in ask.replications:
                said = text(ask.condition.judge) if callable(text) else text
                texts[request_key(ask.condition.condition_key, r)] = None if gone else said
    return texts


def test_the_counts_are_those_of_what_is_built():
    made = frame(temperatures=(1.0, 0.5, 0.0), option_orders=2, templates=("default", "paraphrase"))
    texts = answered(made)
    built = [sum(ask.n for ask, _ in every(made, wave, texts)) for wave in range(made.n_waves)]
    planned = [
        sum(one.requests for one in count_stages([made]) if one.wave == wave) for wave in range(3)
    ]
    # 2 items x 2 templates x (3 + 3 + 1) x 3 models, and for judges x 2 roles x 2 orders.
    assert built == planned == [84, 84, 336]
    roles = {(one.role, one.stage) for one in count_stages([made])}
    assert roles == {
        ("responder", "select"), ("responder", "choose"),
        ("participant", "judge"), ("evaluator_only", "judge"),
    }  # fmt: skip


def test_keys_differ_wherever_anything_does():
    made = frame(temperatures=(1.0, 0.5, 0.0), option_orders=2, templates=("default", "paraphrase"))
    texts = answered(made)
    keys = [
        request_key(ask.condition.condition_key, r)
        for wave in range(3)
        for ask, _ in every(made, wave, texts)
        for r in ask.replications
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("n_options", [4, 0])
def test_keys_know_nothing_of_the_order_of_models_in_the_file(n_options):
    def keys(names):
        asked = item(n_options=n_options, gold=None)
        made = frame(judges=names, responders=names, option_orders=2, items=(asked,))
        texts = answered(
            made,
            select=lambda name: f"Option: 1 by {name}",
            choose=lambda name: f"Final Answer: 1 by {name}",
        )
        return {
            (one.condition.judge, one.condition.role, one.condition.condition_key)
            for wave in range(3)
            for one, _ in every(made, wave, texts)
        }

    assert keys(NAMES) == keys(NAMES[::-1])


def test_the_second_step_goes_on_from_its_own_first_reply():
    made = frame()
    texts = answered(made)
    for number, key in enumerate(sorted(texts)):
        texts[key] = f"{texts[key]} #{number}" if texts[key].startswith("Option") else texts[key]
    for ask, _ in every(made, 1, texts):
        (parent,) = ask.condition.parents
        assert ask.n == 1
        assert ask.condition.prompt[1].content == texts[parent]
        assert ask.condition.menu.labels == ("1", "2")
        assert ask.condition.menu.option_ids == ("1", "2")


def test_after_a_selection_that_cannot_be_read_every_option_is_on_the_menu():
    made = frame()
    texts = answered(made, select="I like all of them.")
    assert all(len(ask.condition.menu.labels) == 4 for ask, _ in every(made, 1, texts))


def test_a_number_at_the_end_of_a_cut_selection_may_be_half_of_one():
    made = frame()
    whole, cut = (answered(made, select=text) for text in ("Option: 1", CutText("Option: 1")))
    assert {ask.condition.menu.labels for ask, _ in every(made, 1, whole)} == {("1",)}
    assert {len(ask.condition.menu.labels) for ask, _ in every(made, 1, cut)} == {4}


def test_judges_compare_the_first_replication_at_one_temperature():
    made = frame(answer_temperature=0.5)
    texts = answered(made)
    landed = {
        request_key(ask.condition.condition_key, r): (ask.condition, r)
        for wave in (0, 1)
        for ask, _ in every(made, wave, texts)
        for r in ask.replications
    }
    compared = every(made, 2, texts)
    for ask, _ in compared:
        mine = ask.condition
        stood_on = [landed[key] for key in mine.parents]
        assert {(one.temperature, r) for one, r in stood_on} == {(0.5, 0)}
        whose = {one.judge for one, _ in stood_on}
        assert whose == set(NAMES) - ({mine.judge} if mine.role == "evaluator_only" else set())
        assert mine.prompt[0].content.count("\nModel ") >= len(whose)
    assert {ask.condition.role for ask, _ in compared} == {"participant", "evaluator_only"}


@pytest.mark.slow
def test_the_order_of_the_models_is_drawn_by_item_and_the_same_for_every_judge():
    def shown(made, role):
        texts = answered(
            made,
            select=lambda name: f"Option: 1 by {name}",
            choose=lambda name: f"Final Answer: 1\nby {name}",
        )
        return {
            (ask.condition.item_id, ask.condition.judge): [
                line.removeprefix("by ")
                for line in ask.condition.prompt[0].content.splitlines()
                if line.startswith("by ")
            ]
            for ask, _ in every(made, 2, texts)
            if ask.condition.role == role
        }

    many = tuple(item(f"q{n}") for n in range(12))
    orders = shown(frame(items=many), "participant")
    assert len({tuple(order) for order in orders.values()}) > 3
    for name in {name for name, _ in orders}:
        assert len({tuple(orders[name, judge]) for judge in NAMES}) == 1
    assert shown(frame(items=many), "participant") == orders
    assert shown(frame(items=many, order_seed=7), "participant") != orders


def test_what_has_not_landed_is_waited_for_and_what_never_will_costs_its_own_rows():
    made = frame()
    texts = answered(made)
    firsts = {request_key(a.condition.condition_key, r) for a, _ in every(made, 0)
              for r in a.replications}  # fmt: skip
    assert every(made, 1) == []
    assert n_requests(made, 1, {key: texts[key] for key in firsts}) == 36
    assert every(made, 2, {key: texts[key] for key in firsts}) == []
    assert n_requests(made, 2, texts) == 72
    lost = answered(made, lost=("bee",))
    second = every(made, 1, lost)
    assert {a.condition.judge for a, reason in second if reason} == {"bee"}
    third = every(made, 2, lost)
    never = {(a.condition.judge, a.condition.role) for a, reason in third if reason}
    assert never == {("bee", "participant")}
    asked = [ask for ask, reason in third if reason is None]
    assert all(ask.condition.prompt[0].content.count("Final Answer: 2") < 3 for ask in asked)
    assert n_requests(made, 2, lost) == 72
    nobody = every(made, 2, answered(made, lost=NAMES))
    assert all(reason for _, reason in nobody)


def test_rows_of_two_roles_never_share_a_key_where_answers_are_lost():
    made = frame(option_orders=2)
    third = every(made, 2, answered(made, lost=("bee", "cat")))
    keys = [ask.condition.condition_key for ask, _ in third]
    assert len(set(keys)) == len(keys)


def test_an_open_question_has_its_judges_choose_among_the_models():
    made = frame(items=(item(n_options=0, gold=None),))
    texts = answered(
        made,
        select="Candidate: 1\nAnswer: red\nJustification: x\n\nCandidate: 2\nAnswer: blue",
        choose="Final Answer: 1\nReason: z\nConfidence: 0.8",
    )
    first, *_ = every(made, 0)
    assert first[0].condition.menu.form == "candidates"
    for ask, _ in every(made, 2, texts):
        mine = ask.condition
        assert set(mine.menu.option_ids) <= set(NAMES)
        assert len(mine.menu.labels) == (3 if mine.role == "participant" else 2)
        assert "Best Answer:" in mine.prompt[0].content


def test_who_answered_nothing_only_evaluates():
    made = frame(judges=("dog",))
    assert comparing_roles(made, voice("dog")) == ("evaluator_only",)
    assert {a.condition.role for a, _ in every(made, 2, answered(made))} == {"evaluator_only"}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"responders": ("ant",), "judges": ("ant",), "roles": ("evaluator_only",)},
         "nobody's answers are left to compare"),
        ({"items": (item(n_options=1),)}, "at least 2 options, got 1"),
        ({"items": (item(),), "candidates": 5}, "selects 5 of at least 2 options, got 4"),
        ({"items": (item(gold="x"),)}, "gold must be the id of an option"),
        ({"option_orders": 3}, "option_orders must be at most 2 for evaluator_only"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(keys, said):
    with pytest.raises(SweepError, match=said):
        check(frame(**keys))


def test_dialogues_are_refused():
    talk = Item(item_id="d", benchmark="b", category="c", question="a", turns=("a", "b"))
    with pytest.raises(SweepError, match="dialogue"):
        check(frame(items=(talk,)))
