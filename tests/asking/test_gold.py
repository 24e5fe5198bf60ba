"""What a plan says and refuses of the right answers in an items file."""

import json

import polars as pl
import pytest

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.core import Item, Option, SweepError
from judgerel_ray.tables import items_to_frame

SWAPPED = [json.dumps({"item_id": "q", "question": "?", "options": ["2", "1"], "gold": "2"})]
BY_TEXT = [
    json.dumps({"item_id": f"q{n}", "question": "?", "options": ["oak", "elm"], "gold": gold})
    for n, gold in enumerate(("elm", "oak", None))
]
REFERENCES = [
    json.dumps({"item_id": f"q{n}", "question": "?", "options": ["oak", "elm"], "gold": "a tree"})
    for n in range(2)
]


def gold_notes(resolved):
    return [note for note in plan_resolved(resolved).notes if "gold" in note]


def test_a_plan_refuses_gold_of_two_meanings(sweep):
    with pytest.raises(SweepError, match="may mean 2 options"):
        sweep(items=SWAPPED)
    right = sweep(items=SWAPPED, asks=['gold_is = "text"'])
    assert [item.gold for item in right.items] == ["1"]
    assert gold_notes(right) == []


def test_a_plan_says_how_gold_is_read(sweep):
    resolved = sweep(items=BY_TEXT)
    assert [item.gold for item in resolved.items] == ["2", "1", None]
    assert gold_notes(resolved) == [
        "ask[0]: gold is taken for the text of the right option, as it is one in all 2 items that "
        "have it"
    ]


def test_gold_that_names_no_option_ends_a_plan_unless_it_is_said_to_be_no_option(sweep):
    with pytest.raises(SweepError, match=r"'a tree' .* names no option .*'oak'"):
        sweep(items=REFERENCES)
    resolved = sweep(items=REFERENCES, asks=['gold_is = "reference"'])
    assert "2 of 2 items is a reference answer and none of their options" in gold_notes(resolved)[0]


@pytest.mark.parametrize("protocol", ["correctness", "respond", "rating"])
def test_protocols_without_a_right_option_leave_gold_as_it_is(sweep, protocol):
    more = 'criteria = ["helpfulness"]' if protocol == "rating" else ""
    resolved = sweep(items=SWAPPED, protocol=protocol, asks=[more])
    assert [item.gold for item in resolved.items] == ["2"]
    assert gold_notes(resolved) == []
    with pytest.raises(SweepError, match="gold_is needs a protocol whose verdicts are"):
        sweep(items=SWAPPED, protocol=protocol, asks=[more + '\ngold_is = "text"'])


def test_asks_of_one_file_read_its_gold_alike(sweep):
    rating = (
        '[[ask]]\nprotocol = "rating"\nbenchmark = "mine"\npath = "items.jsonl"\n'
        'criteria = ["helpfulness"]\n'
    )
    resolved = sweep(items=BY_TEXT, more=rating)
    assert [item.gold for frame in resolved.frames for item in frame.items] == ["2", "1", None] * 2


def test_judges_are_shown_gold_as_it_stands_beside_those_who_choose(sweep):
    shown = '[[ask]]\nprotocol = "correctness"\nbenchmark = "mine"\npath = "items.jsonl"\n'
    resolved = sweep(items=BY_TEXT[:2], more=shown)
    assert [[one.gold for one in frame.items] for frame in resolved.frames] == [
        ["2", "1"],
        ["elm", "oak"],
    ]
    assert [item.gold for item in resolved.items] == ["2", "1"]
    other = '[[ask]]\nprotocol = "best_of"\nbenchmark = "mine"\npath = "items.jsonl"\n'
    other += 'gold_is = "reference"\n'
    with pytest.raises(SweepError, match=r"different items of one name: gold differs .*item=q0"):
        sweep(items=BY_TEXT[:2], more=other)


def test_gold_that_is_not_shown_is_said(sweep):
    resolved = sweep(
        items=[
            json.dumps(
                {
                    "item_id": "q",
                    "question": "?",
                    "option_x": "u",
                    "option_y": "v",
                    "option_z": "w",
                    "gold": "z",
                }
            )
        ],
        asks=['responders = ["x", "y"]'],
    )
    assert any("1 of 1 items is an option that is not shown" in n for n in gold_notes(resolved))


def test_a_table_of_our_own_keeps_its_references_and_a_plan_says_so(sweep, tmp_path):
    options = tuple(Option(option_id=n, text=n * 2) for n in "xy")
    item = Item(item_id="q", benchmark="b", category="c", question="?", options=options, gold="A")
    (tmp_path / "one").mkdir()
    items_to_frame([item]).write_parquet(tmp_path / "one/i.parquet")
    assert pl.read_parquet(tmp_path / "one/i.parquet")["gold"].to_list() == ["A"]
    more = '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "i.parquet"\n'
    resolved = sweep(asks=[], more=more)
    assert [one.gold for one in resolved.items] == ["A"]
    assert "none of their options" in gold_notes(resolved)[0]


def test_what_gold_is_asks_nothing_else(sweep):
    """A run goes on under the same sweep with the reading written down."""
    assert sweep(items=BY_TEXT).identity == sweep(items=BY_TEXT, asks=['gold_is = "text"']).identity
