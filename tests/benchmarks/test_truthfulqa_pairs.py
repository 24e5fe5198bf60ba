from collections import Counter

import pytest

from judgerel_ray.benchmarks import load_items, load_truthfulqa_pairs
from judgerel_ray.core import SweepError

HEAD = "Category,Question,Best Answer,Correct Answers,Incorrect Answers\n"
WRONG = [f"w{n}" for n in range(4)]


def write(tmp_path, *rows):
    file = tmp_path / "TruthfulQA.csv"
    file.write_text(HEAD + "\n".join(rows))
    return str(file)


def test_the_best_answer_and_one_that_is_false(tmp_path):
    (item,) = load_truthfulqa_pairs(write(tmp_path, "Maths,Is 7 prime?,Yes,It is; Yes,No; It is"))
    assert (item.item_id, item.benchmark) == ("truthfulqa:0:incorrect1", "truthfulqa_pairs")
    assert [(o.option_id, o.text) for o in item.options] == [
        ("correct", "Yes"),
        ("incorrect", "No"),
    ]
    assert item.gold == "correct"


def test_the_draw_goes_by_the_seed_and_by_the_question_alone(tmp_path):
    rows = [f"c,q{n}?,b,b,{'; '.join(WRONG)}" for n in range(200)]
    path = write(tmp_path, *rows)
    first = load_truthfulqa_pairs(path, seed=1)
    assert first == load_truthfulqa_pairs(path) == load_items("truthfulqa_pairs", path)
    other = load_items("truthfulqa_pairs", path, seed=2)
    # Another false answer is another item: two draws may stand in one sweep.
    ids = [{item.item_id: item for item in draw} for draw in (first, other)]
    assert all(ids[1].get(name, item) == item for name, item in ids[0].items())
    assert load_truthfulqa_pairs(write(tmp_path, *rows[:50]), seed=1) == first[:50]
    assert 0 < sum(a == b for a, b in zip(first, other, strict=True)) < 100
    drawn = Counter(item.options[1].text for item in first)
    assert sorted(drawn) == WRONG
    assert min(drawn.values()) > 30


def test_no_best_answer_takes_the_first_correct_one(tmp_path):
    (item,) = load_truthfulqa_pairs(write(tmp_path, "c,q?,,It is; Yes,No"))
    assert item.options[0].text == "It is"


@pytest.mark.parametrize(("row", "kind"), [("c,q?,,,No", "correct"), ("c,q?,b,b,b", "incorrect")])
def test_a_question_without_either_kind_is_refused(tmp_path, row, kind):
    with pytest.raises(SweepError, match=f"no {kind} answer"):
        load_truthfulqa_pairs(write(tmp_path, row))
