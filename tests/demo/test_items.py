"""The shipped items: valid, varied, and in step with their source."""

from __future__ import annotations

from collections import Counter

from demo.judge_design import quality
from demo.judge_truth import design_of
from demo.write_items import quality_words, read_items
from judgerel_ray.protocols import question_form


def test_shipped_items_are_those_of_the_source(items) -> None:
    assert items == read_items()


def test_items_come_in_three_forms(items) -> None:
    assert Counter(question_form(item) for item in items) == {
        "question": 6,
        "context": 5,
        "dialogue": 5,
    }
    assert all(item.category == question_form(item) for item in items)
    assert {item.benchmark for item in items} == {"demo"}


def test_every_item_has_the_same_five_responders(items) -> None:
    responders = {frozenset(option.option_id for option in item.options) for item in items}
    assert len(responders) == 1
    assert {len(item.options) for item in items} == {5}


def test_gold_is_the_one_best_option(items) -> None:
    for item in items:
        qualities = {o.option_id: quality(quality_words(o.text)) for o in item.options}
        assert item.gold == max(qualities, key=qualities.__getitem__)
        assert list(qualities.values()).count(qualities[item.gold]) == 1


def test_some_items_are_clear_cut_and_some_near_ties(items) -> None:
    bests = []
    for item in items:
        law = design_of(item, temperature=1.0)
        bests.append(sorted(law.values(), reverse=True)[:2])
    assert sum(first > 0.7 for first, _ in bests) >= 3
    assert sum(first - second < 0.1 for first, second in bests) >= 3


def test_only_options_carry_quality_words(items) -> None:
    for item in items:
        asked = " ".join([item.question, item.context or "", *item.turns])
        assert quality_words(asked) == []
        assert all(quality_words(option.text) for option in item.options)
