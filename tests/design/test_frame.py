"""Items an ask cannot use are refused before anything is asked."""

from dataclasses import replace

import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.design import check_items


def test_items_that_fit_pass(make):
    items = [make.item(form, form=form) for form in ("question", "context", "dialogue")]
    check_items(make.frame(items))
    check_items(make.frame(items, protocol="correctness"))
    check_items(make.frame([make.item("q", options="", gold=None)], protocol="respond"))
    check_items(make.frame([make.item("q", options="", gold=None)], responders="xy"))
    check_items(make.frame(items, option_orders=6))


@pytest.mark.parametrize(
    ("item", "keys", "words"),
    [
        ({"options": ""}, {}, "no candidate answers"),
        ({"options": "a"}, {}, "best_of needs at least 2 options, got 1"),
        ({}, {"responders": "x"}, "best_of needs at least 2 options, got 1"),
        ({}, {"recorded": "a"}, "best_of needs at least 2 options, got 1"),
        ({}, {"recorded": "az"}, "neither a judge nor an option of the item: ['z']"),
        ({}, {"option_orders": 7}, "option_orders must be at most 6 for 3 options, got 7"),
        ({}, {"option_orders": 3, "responders": "xy"}, "at most 2 for 2 options"),
        ({}, {"option_orders": 3, "recorded": "ab"}, "at most 2 for 2 options"),
        ({"gold": None}, {"protocol": "correctness"}, "correctness needs a gold answer"),
        ({"gold": ""}, {"protocol": "correctness"}, "correctness needs a gold answer"),
    ],
)
def test_an_item_that_lacks_something_is_named(make, item, keys, words):
    frame = make.frame([make.item("fine"), make.item("q7", **item)], index=2, **keys)
    if keys.get("option_orders") or keys.get("responders") or keys.get("recorded"):
        frame = replace(frame, items=frame.items[1:])
    with pytest.raises(SweepError) as refused:
        check_items(frame)
    assert words in str(refused.value)
    assert "ask=2, benchmark=b, item=q7" in str(refused.value)


@pytest.mark.parametrize("protocol", ["best_of", "respond", "correctness"])
@pytest.mark.parametrize("turns", [("one?",), ("one?", "two?", "three?")])
def test_a_dialogue_has_two_turns(make, protocol, turns):
    item = replace(make.item("q7", form="dialogue"), turns=turns)
    with pytest.raises(SweepError, match=f"a dialogue has 2 turns, got {len(turns)}"):
        check_items(make.frame([item], protocol=protocol))


def test_no_items_are_refused(make):
    with pytest.raises(SweepError, match="no items to ask about"):
        check_items(make.frame([], protocol="respond"))
