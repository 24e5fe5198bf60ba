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
