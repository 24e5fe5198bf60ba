import json

import polars as pl
import pytest

from judgerel_ray.benchmarks import load_lima
from judgerel_ray.core import SweepError


def load(tmp_path, row):
    file = tmp_path / "train.jsonl"
    file.write_text(json.dumps(row))
    return load_lima(str(file))[0]


def test_one_turn(tmp_path):
    item = load(tmp_path, {"conversations": ["Name a colour.", "Red."], "source": "wikihow"})
    assert (item.item_id, item.category, item.question) == ("lima:0", "wikihow", "Name a colour.")
    assert [(o.option_id, o.text) for o in item.options] == [("lima", "Red.")]
    assert (item.context, item.gold) == (None, None)


def test_earlier_turns_are_context(tmp_path):
    item = load(tmp_path, {"conversations": ["A?", "B.", "C?", "D."]})
    assert (item.question, item.options[0].text, item.category) == ("C?", "D.", "all")
    assert item.context == "Human:\nA?\n\nAssistant:\nB."


@pytest.mark.parametrize("history", [[["A?", "B."]], '[["A?", "B."]]'])
def test_the_other_layout_says_the_same(tmp_path, history):
    row = {"item": 3, "instruction": "C", "input": "of that", "output": "D.", "history": history}
    item = load(tmp_path, row)
    assert (item.item_id, item.question) == ("lima:3", "C\n\nof that")
    assert item.context == "Human:\nA?\n\nAssistant:\nB."


def test_lists_of_a_table(tmp_path):
    rows = {"conversations": [["A?", "B."], ["C?", "D."]], "source": ["x", "y"]}
    pl.DataFrame(rows).write_parquet(tmp_path / "train.parquet")
    items = load_lima(str(tmp_path / "train.parquet"))
    assert [(item.category, item.question) for item in items] == [("x", "A?"), ("y", "C?")]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"conversations": ["A?"]}, "must end with a response, got 1 turns.*train.jsonl"),
        ({"conversations": []}, "must end with a response, got 0 turns"),
        ({"conversations": ["A?", " "]}, "must end with a response"),
        ({"instruction": "A?", "output": "B.", "history": ["A?"]}, "a list of pairs of texts"),
        ({"instruction": "A?", "output": "B.", "history": [["A?", 3]]}, "must hold texts, got num"),
        ({"question": "A?"}, "missing columns instruction, output"),
    ],
)
def test_other_layouts_are_named(tmp_path, row, what):
    with pytest.raises(SweepError, match=what):
        load(tmp_path, row)
