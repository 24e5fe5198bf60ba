"""JSON documents that hold no list of records: columns, and levels of keys."""

import json

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.counting.judgments import tally_file

pytestmark = pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
ROWS = [("q1", 0, "pass"), ("q1", 1, "fail"), ("q2", 0, "fail"), ("q2", 1, "fail")]
NAMES = ["question_id", "run", "verdict"]
JUDGED = {"gpt-4o": {"q1": ["pass", "fail"], "q2": ["fail", "fail"]}}


def rows_of(tmp_path, document) -> pl.DataFrame:
    (path := tmp_path / "mine.json").write_text(json.dumps(document))
    return tally_file(str(path)).rows.collect().sort("item_id", "replication")


@pytest.mark.parametrize("document", [
    {"columns": NAMES, "data": [[*row] for row in ROWS]},
    {"columns": NAMES, "index": [0, 1, 2, 3], "data": [[*row] for row in ROWS]},
    {name: {str(n): row[place] for n, row in enumerate(ROWS)} for place, name in enumerate(NAMES)},
    {name: [row[place] for row in ROWS] for place, name in enumerate(NAMES)},
    JUDGED,
    {item: {"gpt-4o": words} for item, words in JUDGED["gpt-4o"].items()},
    {"gpt-4o": {item: {f"run{n}": one for n, one in enumerate(words)}
                for item, words in JUDGED["gpt-4o"].items()}},
    {"gpt-4o": {item: [{"verdict": one} for one in words]
                for item, words in JUDGED["gpt-4o"].items()}},
    {"features": [{"name": "id"}],
     "rows": [dict(zip(NAMES, row, strict=True)) for row in ROWS]},
])  # fmt: skip
def test_columns_and_levels_of_keys_are_read_whole(tmp_path, document):
    found = rows_of(tmp_path, document)
    assert found.select("item_id", "replication", "verdict").rows() == ROWS


def test_several_judges_below_keys_are_judges_each(tmp_path):
    found = rows_of(tmp_path, {"gpt-4o": {"q1": 4, "q2": 2}, "claude-3": {"q1": 5, "q2": 1}})
    assert sorted(found.select("judge", "item_id", "score").rows()) == [
        ("claude-3", "q1", 5), ("claude-3", "q2", 1), ("gpt-4o", "q1", 4), ("gpt-4o", "q2", 2),
    ]  # fmt: skip


@pytest.mark.parametrize("document", [
    {"q1": {"first": "a", "second": "b"}, "q2": {"first": "b", "second": "b"}},  # orders, or rounds
    {"q1": {"x": 1, "y": 2}, "q2": {"x": 2, "y": 2}},
    {"gpt-4o": {"1": "a", "2": "b"}, "claude": {"1": "a", "2": "a"}, "o3": 4},
    {"gpt-4o": {"clarity": 4, "tone": 2}},
    {"examples": [{"id": 1}], "more": [{"id": 2}]},
])  # fmt: skip
def test_levels_of_keys_that_may_tell_several_things_are_asked(tmp_path, document):
    (path := tmp_path / "mine.json").write_text(json.dumps(document))
    assert main(["reduce", str(path)]) == 2
