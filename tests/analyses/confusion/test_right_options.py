"""What a judged text is about: the cluster of its judgments, whatever the benchmark."""

import csv
import json

import pytest

from judgerel_ray.analyses.confusion.from_run import right_options
from judgerel_ray.benchmarks import load_items
from judgerel_ray.benchmarks.criterion import first_part, under_headings
from judgerel_ray.core import HumanRating, Item, Option
from judgerel_ray.tables import items_to_frame

HEADERS = ("Category", "Question", "Best Answer", "Correct Answers", "Incorrect Answers")


def clusters(items):
    found = right_options(items_to_frame(items))
    return dict(found.select("item_id", "text").iter_rows())


def test_answers_to_one_question_are_one_cluster(tmp_path):
    file = tmp_path / "TruthfulQA.csv"
    with file.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(HEADERS)
        table.writerow(["Maths", "Is 7 prime?", "Yes", "Yes; It is", "No; Never"])
        table.writerow(["Maths", "Is 8 prime?", "No", "No", "Yes"])
    found = clusters(load_items("truthfulqa", str(file)))
    assert len(found) == 6
    assert len(set(found.values())) == 2
    assert {text for item, text in found.items() if item.startswith("truthfulqa:0")} == {
        "Question:\nIs 7 prime?"
    }


def test_criteria_of_one_text_are_one_cluster(tmp_path):
    file = tmp_path / "mine.jsonl"
    rows = [
        {"text": text, "criterion": criterion, "options": ["1", "2"], "gold": "1"}
        for text in ("first", "second")
        for criterion in ("fluent", "relevant")
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    assert sorted(clusters(load_items("criterion", str(file))).values()) == [
        "first", "first", "second", "second"
    ]  # fmt: skip


def test_who_rates_one_option_does_not_say_which_is_right():
    options = tuple(Option(option_id=one, text=one) for one in "12")
    ratings = (
        HumanRating(rater="a", label="2"),
        HumanRating(rater="b", label="1", responder="1"),
        HumanRating(rater="c", label="1", responder="2"),
    )
    item = Item(
        item_id="q", benchmark="b", category="c", question="?", options=options, ratings=ratings
    )
    assert right_options(items_to_frame([item]))["right"].to_list() == ["2"]


@pytest.mark.parametrize(
    ("context", "about"),
    [
        (under_headings(Article="A.\n\nB.", Summary="s"), "Article:\nA.\n\nB."),
        (under_headings(Question="Why?"), "Question:\nWhy?"),
        ("Can we meet?\n\nSure: at noon.", "Can we meet?\n\nSure: at noon."),
        ("", ""),
    ],
)
def test_the_first_part(context, about):
    assert first_part(context) == about
