import json

import pytest

from judgerel_ray.benchmarks import load_feedback_collection
from judgerel_ray.core import SweepError

PARTS = {
    "orig_instruction": "Say hello.", "orig_response": "Hello!", "orig_criteria": "Is it kind?",
    "orig_reference_answer": "Hello there!",
    **{f"orig_score{n}_description": f"level {n}" for n in range(1, 6)},
}  # fmt: skip
PROMPT = """###Task Description:
Judge it.

###The instruction to evaluate:
Say hello.

###Response to evaluate:
Hello!

###Reference Answer (Score 5):
Hello there!

###Score Rubrics:
[Is it kind?]
Score 1: level 1
Score 2: level 2
Score 3: level 3
Score 4: level 4
Score 5: level 5

###Feedback: """


def load(tmp_path, *rows):
    file = tmp_path / "feedback_collection.json"
    file.write_text(json.dumps(rows))
    return load_feedback_collection(str(file))


def test_a_response_with_its_rubric(tmp_path):
    (item,) = load(tmp_path, {**PARTS, "orig_score": "4", "instruction": PROMPT})
    assert (item.item_id, item.gold) == ("feedback_collection:0", "4")
    assert item.question == item.category == "Is it kind?"
    assert item.context == (
        "Instruction:\nSay hello.\n\nResponse:\nHello!\n\nReference answer:\nHello there!"
    )
    assert [(option.option_id, option.text) for option in item.options] == [
        (str(n), f"level {n}") for n in range(1, 6)
    ]


def test_a_whole_prompt_says_the_same(tmp_path):
    first, second = load(
        tmp_path, {**PARTS, "gpt4_score": 3}, {"instruction": PROMPT, "gpt4_score": [3, 4, 3]}
    )
    assert (first.question, first.context, first.options) == (
        second.question, second.context, second.options,
    )  # fmt: skip
    assert [rating.label for rating in first.ratings] == ["3"]
    assert [(rating.rater, rating.score) for rating in second.ratings] == [
        ("gpt-4:0", 3.0), ("gpt-4:1", 4.0), ("gpt-4:2", 3.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"instruction": "Say hello."}, "does not hold instruction"),
        ({"output": "x"}, "missing fields orig_instruction"),
        ({**PARTS, "orig_score": "6"}, "'6' is none of the options"),
        ({**PARTS, "gpt4_score": [0]}, "'0' is none of the options"),
    ],
)
def test_other_layouts_are_named(tmp_path, row, message):
    with pytest.raises(SweepError, match=message):
        load(tmp_path, row)
