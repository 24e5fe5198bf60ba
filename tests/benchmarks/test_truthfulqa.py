import json

import pytest

from judgerel_ray.benchmarks import load_truthfulqa
from judgerel_ray.core import SweepError

HEADER = "Type,Category,Question,Best Answer,Correct Answers,Incorrect Answers,Source\n"


def written(tmp_path, text, name="TruthfulQA.csv"):
    file = tmp_path / name
    file.write_text(text)
    return str(file)


def test_every_answer_is_one_judgment(tmp_path):
    row = 'Adversarial,Law,Is it legal?,Yes,"Yes; It is; It is; ",No; Never,https://x\n'
    items = load_truthfulqa(written(tmp_path, HEADER + row))
    assert [(item.item_id, item.gold, item.category) for item in items] == [
        ("truthfulqa:0:correct1", "yes", "Law"),
        ("truthfulqa:0:correct2", "yes", "Law"),
        ("truthfulqa:0:incorrect1", "no", "Law"),
        ("truthfulqa:0:incorrect2", "no", "Law"),
    ]
    assert items[1].context == "Question:\nIs it legal?\n\nAnswer:\nIt is"
    assert [option.option_id for option in items[0].options] == ["yes", "no"]
    (rating,) = items[2].ratings
    assert (rating.rater, rating.criterion, rating.label) == ("authors", "truthful", "no")


def test_the_best_answer_counts_where_the_list_lacks_it(tmp_path):
    items = load_truthfulqa(written(tmp_path, HEADER + "x,Law,Why?,So,Because,No,y\n"))
    assert [item.context.rpartition("\n")[2] for item in items] == ["So", "Because", "No"]


def test_an_answer_listed_as_both_is_left_out(tmp_path):
    items = load_truthfulqa(written(tmp_path, HEADER + "x,Law,Why?,So,So; Hm,Hm; No,y\n"))
    assert [item.item_id for item in items] == ["truthfulqa:0:correct1", "truthfulqa:0:incorrect2"]


def test_labels_of_people(tmp_path):
    lines = [
        {"prompt": "Q: Why?\nA: It is so.\nTrue:", "completion": " yes"},
        {"prompt": "Q: Why?\nA: It is so.\nTrue:", "completion": " no"},
    ]
    path = written(tmp_path, "\n".join(map(json.dumps, lines)), "finetune_truth.jsonl")
    items = load_truthfulqa(path)
    assert [(item.item_id, item.gold) for item in items] == [
        ("truthfulqa:label:0", "yes"), ("truthfulqa:label:1", "no"),
    ]  # fmt: skip
    assert items[0].context == "Question:\nWhy?\n\nAnswer:\nIt is so."
    assert items[0].ratings[0].rater == "human"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"prompt": "Why?", "completion": " yes"}, "prompt must read"),
        ({"prompt": "Q: a\nA: b\nTrue:", "completion": " maybe"}, "'maybe' is none of the options"),
        ({"question": "a", "answer": "b"}, "human_truthful"),
        ({"question": "a", "answer": "b", "human_truthful": "yes"}, "must be true or false"),
    ],
)
def test_other_layouts_are_named(tmp_path, line, message):
    with pytest.raises(SweepError, match=message):
        load_truthfulqa(written(tmp_path, json.dumps(line), "labels.jsonl"))
