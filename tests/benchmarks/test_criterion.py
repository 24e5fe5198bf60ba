import json

import pytest

from judgerel_ray.benchmarks import load_criterion_items, load_items, sample_items
from judgerel_ray.core import SweepError

ROW = {"text": "Sure, at noon.", "criterion": "relevance", "options": ["Yes", "No"]}


def load(tmp_path, *rows):
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return load_criterion_items(str(file))


def test_the_least_a_row_needs(tmp_path):
    (item,) = load(tmp_path, ROW)
    assert (item.item_id, item.benchmark, item.category) == (
        "criterion:0", "criterion", "relevance",
    )  # fmt: skip
    assert (item.question, item.context, item.gold, item.ratings) == (
        "relevance", "Sure, at noon.", None, (),
    )  # fmt: skip
    assert [option.option_id for option in item.options] == ["Yes", "No"]


def test_people_may_answer_in_three_ways(tmp_path):
    several, one, named = load(
        tmp_path,
        {**ROW, "labels": ["Yes", "No", None]},
        {**ROW, "label": "No", "gold": "No"},
        {**ROW, "label_ann": "Yes", "label_bob": None},
    )
    assert [(r.rater, r.label) for r in several.ratings] == [("1", "Yes"), ("2", "No")]
    assert [(r.rater, r.label) for r in one.ratings] == [("human", "No")]
    assert [(r.rater, r.label) for r in named.ratings] == [("ann", "Yes")]
    assert one.gold == "No"


def test_numbers_are_options_with_scores(tmp_path):
    (item,) = load(tmp_path, {**ROW, "options": [1, 2, 3], "labels": [2, 3]})
    assert [rating.score for rating in item.ratings] == [2.0, 3.0]


def test_twenty_six_options_and_one(tmp_path):
    letters = [{"option_id": chr(65 + n), "text": f"answer {n}"} for n in range(26)]
    many, single = load(tmp_path, {**ROW, "options": letters}, {**ROW, "options": ["Only"]})
    assert (len(many.options), len(single.options)) == (26, 1)


def test_a_csv_writes_lists_as_json(tmp_path):
    (tmp_path / "mine.csv").write_text(
        "item_id,text,context,criterion,options,label_a,label_b\n"
        'q1,Noon.,When?,natural,"[""Yes"",""No""]",Yes,\n'
    )
    (item,) = load_criterion_items(str(tmp_path / "mine.csv"))
    assert (item.item_id, item.context) == ("q1", "When?\n\nNoon.")
    assert [(r.rater, r.label) for r in item.ratings] == [("a", "Yes")]


def test_a_draw_has_every_criterion_alike(tmp_path):
    items = load(tmp_path, *({**ROW, "criterion": c} for c in "aaabbb"))
    drawn = sample_items(items, per="category", n=2, seed=1)
    assert [item.category for item in drawn] == ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"options": []}, "options is empty"),
        ({"options": ["Yes", "Yes"]}, "stands twice"),
        ({"labels": ["Perhaps"]}, "'Perhaps' is none of the options Yes No"),
        ({"gold": "Maybe"}, "'Maybe' is none of the options"),
        ({"text": None}, "text must be text"),
    ],
)
def test_mistakes_are_named(tmp_path, changes, message):
    with pytest.raises(SweepError, match=message):
        load(tmp_path, {**ROW, **changes})


def test_a_file_with_names_and_questions_keeps_its_texts(tmp_path):
    file = tmp_path / "mine.jsonl"
    row = {"item_id": "q1", "question": "Does it fit?", "text": "So.", "criterion": "fit"}
    file.write_text(json.dumps({**row, "options": ["yes", "no"], "gold": "no"}))
    (item,) = load_items("criterion", str(file))
    assert (item.item_id, item.question, item.context) == ("q1", "Does it fit?", "So.")
    assert item.gold == "no"
    assert [option.option_id for option in item.options] == ["yes", "no"]
