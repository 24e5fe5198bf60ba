import json
import os
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.benchmarks import load_bergman2025, load_items, load_mmlu_pro
from judgerel_ray.core import SweepError

ROW = {
    "question_id": 70, "question": "Which?", "options": ["oak", "apple", "fir"], "answer": "B",
    "answer_index": 1, "cot_content": "", "category": "biology", "src": "ori",
}  # fmt: skip
RECORDED = Path(os.environ.get("JUDGEREL_DATA", "/nonexistent"), "seed004")
recorded = pytest.mark.skipif(
    "JUDGEREL_DATA" not in os.environ, reason="JUDGEREL_DATA names no recordings"
)


def load(tmp_path, *rows):
    file = tmp_path / "test.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return load_mmlu_pro(str(file))


def test_a_question_with_its_options(tmp_path):
    (item,) = load(tmp_path, ROW)
    assert (item.item_id, item.benchmark, item.category, item.gold) == (
        "mmlu_pro:70", "mmlu_pro", "biology", "1",
    )  # fmt: skip
    assert [(o.option_id, o.text) for o in item.options] == [
        ("0", "oak"), ("1", "apple"), ("2", "fir"),
    ]  # fmt: skip


def test_padding_is_dropped_and_an_option_that_looks_like_it_is_not(tmp_path):
    padded, inside = load(
        tmp_path,
        {**ROW, "options": ["oak", "apple", "N/A", "N/A"]},
        {**ROW, "question_id": 71, "options": ["N/A", "apple", "fir"]},
    )
    assert [option.text for option in padded.options] == ["oak", "apple"]
    assert [option.text for option in inside.options] == ["N/A", "apple", "fir"]
    assert inside.gold == "1"


def test_parquet_as_it_is_published(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    pl.DataFrame([ROW]).write_parquet(data / "test-00000-of-00001.parquet")
    pl.DataFrame([{**ROW, "question_id": 0}]).write_parquet(
        data / "validation-00000-of-00001.parquet"
    )
    for path in (tmp_path, data, data / "test-00000-of-00001.parquet"):
        assert [item.item_id for item in load_items("mmlu_pro", str(path))] == ["mmlu_pro:70"]


def test_a_folder_without_a_test_file_is_refused(tmp_path):
    (tmp_path / "validation.jsonl").write_text(json.dumps(ROW))
    with pytest.raises(SweepError, match=r"files test\*\.parquet"):
        load_mmlu_pro(str(tmp_path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": "D"}, "answer must be a letter A to C of its 3 options, got text 'D'"),
        ({"answer_index": 2}, "answer_index must be 1, as answer is 'B', got 2"),
        ({"answer_index": 7}, "answer_index must be 0 to 2 of its 3 options, got number 7"),
        ({"options": ["oak", "N/A"], "answer_index": 1}, "'B', which is N/A"),
        ({"options": "oak"}, "options must be a list"),
        ({"options": [], "answer": "A"}, "options must be 2 to 26 texts, got 0"),
        ({"category": None}, "category must be text, got null"),
    ],
)
def test_a_bad_row_is_one_line(tmp_path, changes, message):
    with pytest.raises(SweepError, match=message) as caught:
        load(tmp_path, {**ROW, "question_id": 1}, {**ROW, **changes})
    assert "line=2" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_question_may_stand_once(tmp_path):
    with pytest.raises(SweepError, match="'mmlu_pro:70' stands twice"):
        load(tmp_path, ROW, ROW)


def results(tmp_path, options, answer="1"):
    file = tmp_path / "monolithic_m.csv"
    rows = pl.DataFrame(
        {"question_id": ["70"], "question": ["?"], "options": [options], "category": ["law"],
         "correct_answer": [answer]}
    )  # fmt: skip
    rows.write_csv(file)
    return load_bergman2025(str(file))


def test_options_of_a_result_file_may_have_several_lines(tmp_path):
    (item,) = results(tmp_path, "0. oak\nor elm\n1. 7. apple\n\n2. fir")
    assert [option.text for option in item.options] == ["oak\nor elm", "7. apple\n", "fir"]


@pytest.mark.parametrize(
    ("options", "answer", "message"),
    [
        ("A. oak\nB. apple", "1", "options must start with '0. ', got text 'A. oak'"),
        ("0. oak\n1. apple", "2", "correct_answer must be 0 to 1 of its 2 options"),
        ("0. oak", "0", "options must be 2 to 26 texts, got 1"),
    ],
)
def test_a_bad_row_of_a_result_file(tmp_path, options, answer, message):
    with pytest.raises(SweepError, match=message):
        results(tmp_path, options, answer)


@recorded
def test_the_600_recorded_questions():
    items = load_items("bergman2025", str(RECORDED / "monolithic_claude.parquet"))
    assert len(items) == 600
    assert {item.benchmark for item in items} == {"mmlu_pro"}
    assert len({item.category for item in items}) == 14
    assert max(len(item.options) for item in items) == 10
    # The letters of the other file are of the same options, of an earlier release of the answers.
    letters = pl.read_parquet(RECORDED / "mmlu_pro_predictions.parquet")
    gold = dict(letters.select("question_id", "answer").cast(str).iter_rows())
    same = Counter(
        "ABCDEFGHIJ".index(gold[item.item_id.removeprefix("mmlu_pro:")]) == int(item.gold)
        for item in items
    )
    assert same == {True: 589, False: 11}
