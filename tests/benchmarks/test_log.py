"""Items of a log that people hold: answers fixed, repeats merged."""

import json

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.benchmarks import load_items
from judgerel_ray.core import SweepError
from judgerel_ray.tables import frame_to_items

ROWS = [
    {"id": "a", "input": "2 + 2?", "output": "4", "epoch": 1, "verdict": "pass"},
    {"id": "a", "input": "2 + 2?", "output": "4", "epoch": 1, "verdict": "fail"},
    {"id": "a", "input": "2 + 2?", "output": "four", "epoch": 2, "verdict": "pass"},
    {"id": "b", "input": "Why?", "output": "", "target": "because", "epoch": 1, "verdict": "fail"},
]


@pytest.fixture
def log(tmp_path):
    def written(rows=ROWS):
        text = "\n".join(map(json.dumps, rows))
        (tmp_path / "log.jsonl").write_text(text, encoding="utf-8")
        return str(tmp_path / "log.jsonl")

    return written


def test_distinct_answers_are_options_and_repeats_are_none(log):
    a, b = load_items("log", log())
    assert [(one.option_id, one.text) for one in a.options] == [
        ("answer", "4"),
        ("answer 2", "four"),
    ]
    assert [(one.option_id, one.text) for one in b.options] == [("answer", "")]
    assert (a.benchmark, a.gold, b.gold) == ("log", None, "because")


def test_answers_are_named_by_who_gave_them(log):
    rows = [{"item_id": "a", "question": "q?", "answer": text, "model": who, "verdict": "x"}
            for who, text in (("m", "1"), ("n", "1"), ("m", "2"), ("m", "1"))]  # fmt: skip
    (item,) = load_items("log", log(rows))
    assert [(one.option_id, one.text) for one in item.options] == [
        ("m", "1"), ("n", "1"), ("m 2", "2")
    ]  # fmt: skip


def test_a_responder_called_as_a_number_made_another_is_an_option_of_its_own(log):
    rows = [{"item_id": "a", "question": "q?", "answer": text, "model": who}
            for who, text in (("m", "1"), ("m", "2"), ("m 2", "3"), ("m 2", "3"))]  # fmt: skip
    (item,) = load_items("log", log(rows))
    assert [(one.option_id, one.text) for one in item.options] == [
        ("m", "1"), ("m 2", "2"), ("m 2 2", "3")
    ]  # fmt: skip


def test_items_of_a_log_are_written_for_a_sweep(log, tmp_path):
    out = tmp_path / "items.parquet"
    assert judgerel_ray.items("log", log(), out=out) == 2
    assert [one.item_id for one in frame_to_items(pl.read_parquet(out))] == ["a", "b"]
    # They are later asked for as items, under any name.
    for name in ("log", "mine"):
        assert load_items(name, str(out))[0].options[1].text == "four"


def test_a_log_with_the_columns_of_items_is_one(log):
    rows = [{"item_id": "a", "question": "q?", "answer": text} for text in "xy"]
    (item,) = load_items("log", log(rows))
    assert [one.text for one in item.options] == ["x", "y"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input": "?", "output": "x"}, "a log needs a column item_id"),
        ({"id": "a", "output": "x"}, "a log needs a column question"),
        ({"id": "a", "input": "2 + 2?"}, "a log needs a column answer"),
        ({"id": "a", "input": "3 + 3?", "output": "6"}, "item 'a' has two questions"),
        ({"id": "a", "input": "2 + 2?", "output": "6", "context": "x"}, "'a' has two contexts"),
        ({"id": "b", "input": "Why?", "output": "6", "target": "not"}, "'b' has two references"),
    ],
)
def test_a_log_without_what_was_judged_is_refused(log, row, message):
    with pytest.raises(SweepError, match=message):
        load_items("log", log([*ROWS, row]))


def test_several_answers_of_a_row_are_options_and_the_right_one_is_gold(log):
    rows = [
        {"prompt": "Why?", "answer_a": "So.", "answer_b": "Thus.", "winner": "answer_b"},
        {"prompt": "Why?", "answer_a": "x", "answer_b": "y", "winner": "A"},
        {"prompt": "How?", "answer_a": "x", "answer_b": None, "winner": "tie"},
    ]
    first, second, third = load_items("log", log(rows))
    assert [(one.option_id, one.text) for one in first.options] == [("a", "So."), ("b", "Thus.")]
    assert [one.item_id for one in (first, second, third)] == ["1", "2", "3"]  # a row, an item
    assert (first.gold, second.gold, third.gold) == ("b", "a", None)
    assert [one.option_id for one in third.options] == ["a"]
    # So they are under the names of items, too; columns of items stay those of items.
    named = [{"item_id": "q", "question": "Why?", "output_1": "x", "output_2": "y"}]
    assert [one.option_id for one in load_items("log", log(named))[0].options] == ["1", "2"]
    plain = [{"item_id": "q", "question": "?", "option_a": "x", "option_b": "y", "gold": "y"}]
    assert load_items("log", log(plain))[0].gold == "b"


PAIR = {"prompt": "Why?", "answer_a": "So.", "answer_b": "Thus."}


@pytest.mark.parametrize(
    ("winner", "gold"),
    [("model_a", "a"), ("Response B", "b"), ("answer_a", "a"), ("B", "b"), ("1", "a"), (2, "b"),
     ("model_2", "b"), ("m2", "b"), ("tie", None), ("tie (bothbad)", None), ("", None)],
)  # fmt: skip
def test_the_right_answer_is_named_in_many_ways(log, winner, gold):
    row = {**PAIR, "winner": winner, "model_a": "m1", "model_b": "M2", "reference": "Because."}
    assert load_items("log", log([row]))[0].gold == gold


def test_what_names_no_answer_is_refused_and_a_reference_is_none(log):
    with pytest.raises(SweepError, match=r"label must name one of the answers .*got .*good.*line"):
        load_items("log", log([{**PAIR, "label": "good", "reference": "Because."}]))
    assert load_items("log", log([{**PAIR, "reference": "Because."}]))[0].gold is None
    named = {"prompt": "?", "response_2": "x", "response_1": "y", "winner": "1"}
    assert load_items("log", log([named]))[0].gold == "1"


def test_all_rows_say_whether_and_what_names_them(log):
    with pytest.raises(SweepError, match="a log needs a column item_id"):
        load_items("log", log([PAIR, {**PAIR, "id": "q"}]))
    first = {"prompt": "Why?", "answer_a": "x"}
    assert [len(one.options) for one in load_items("log", log([first, PAIR]))] == [1, 2]


def test_a_log_without_ids_has_an_item_a_question(log):
    rows = [{"input": text, "output": text.lower()} for text in ("A?", "B?", "A?")]
    items = load_items("log", log(rows))
    assert [(one.item_id, one.question) for one in items] == [("1", "A?"), ("2", "B?")]


def test_what_only_begins_as_an_answer_is_none(log):
    rows = [{"id": "a", "input": "?", "output_tokens": 3, "output_cost": 0.1}]
    with pytest.raises(SweepError, match="a log needs a column answer"):
        load_items("log", log(rows))
