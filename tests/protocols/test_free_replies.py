"""Replies whose form nobody declared: verdict, score, or why there is none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.protocols import read_free_reply

READ = [
    ("Verdict: A", "A"), ("**Verdict:** PASS", "PASS"), ("Final verdict is: A", "A"),
    ("The verdict is A.", "A"), ("Winner: Model A", "Model A"), ("Verdict: A>B", "A>B"),
    ("Grade: B-.", "B-"), ("7", 7.0), ("**4**", 4.0), ("Yes.", "Yes"), ("-2", -2.0),
    ("Score: 4", 4.0), ("Score: -0.5 out of 1", -0.5), ("Score: 4 because it is good", 4.0),
    ("Score: four", 4.0), ("Score:4/5 points.", 4.0), ("score = 3.25", 3.25),
    ("Accuracy score: 3\nStyle score: 5\nOverall score: 4", 4.0), ("Verdict: A\nScore: 4", "A"),
    ("<score>4</score>", 4.0), ("<answer>B</answer> <score>2</score>", 2.0),
    ("Good. [RESULT] 3", 3.0), ("[RESULT] (score: 3)", 3.0), (r"So \boxed{A}", "A"),
    ("[[9]] out of [[10]]", 9.0), ("Rating: [[rating]], so Rating: [[-1]]", -1.0),
    ('{"pass": true}', "pass"), ('{"verdict": "FAIL", "score": 2}', "FAIL"),
    ('{"score": "4/5"}', 4.0), ('{"score": {"value": 4, "reason": "x"}}', 4.0),
    ('{"result": {"verdict": "PASS"}}', "PASS"), ('[{"verdict": "A"}, {"verdict": "A"}]', "A"),
    ("{'score': 4, 'ok': True}", 4.0), ('{"score": 4,}', 4.0),
    ('{"Overall Score": 3, "parts": [{"score": 1}]}', 3.0),
    ('I compared {"a", "b"}. {"verdict": "A"}', "A"), ('{"score": 1e1}', 10.0),
    ("Score: 3\nScore: 4", "conflicting"), ("[[A]] or [[B]]", "conflicting"),
    ('{"verdict": "A", "verdict": "B"}', "conflicting"), ('{"verdict": ["A", "B"]}', "conflicting"),
    ('{"a": {"score": 1}, "b": {"score": 5}}', "conflicting"),
    ("no idea at all", "unparsed"), ("I like this answer.", "unparsed"), ("", "unparsed"),
    ("a good answer overall", "unparsed"), ("Score: 1-5", "unparsed"), ("Score: 4,5", "unparsed"),
    ("Verdict: Not sure", "unparsed"), ('{"verdict": "PA', "unparsed"), ('{"score": 1', "unparsed"),
    ('{"score": null}', "unparsed"), ('{"detail": {"verdict": "PASS"}, "verdict": "FA', "unparsed"),
    ('{"a": nope, "detail": {"verdict": "PASS"}}', "unparsed"), ("Score: 3 criteria", "unparsed"),
    ("I cannot judge this.", "refused"), ("I can't rate it.", "refused"),
]  # fmt: skip


def said(reading):
    if reading.outcome != "scored":
        return reading.outcome.value
    return reading.score if reading.verdict is None else reading.verdict


@pytest.mark.parametrize(("text", "expected"), READ)
def test_a_reply_is_read_by_its_form(text, expected):
    assert said(read_free_reply(text)) == expected
    # Nobody knows what a reply that was cut off would have said.
    assert read_free_reply(text, finish_reason="length").outcome == "truncated"


@pytest.mark.parametrize(("text", "expected"), READ)
def test_a_thought_changes_nothing(text, expected):
    for thought in ("<think>[[Z]] or Score: 99</think>", '{"verdict": "Z"} hm</think>\n'):
        assert said(read_free_reply(thought + text)) == expected


def test_denominators_are_kept():
    assert [read_free_reply(text).out_of for text in ("4/5", "Score: 4 out of 10", "4")] == [
        5,
        10,
        None,
    ]


@given(
    st.sampled_from(["A", "PASS", "B>A", "tie"]) | st.integers(-99, 999) | st.booleans(),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.just("}{\"']["),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
            st.sampled_from(["score", "verdict", "reason", "x"]), inner, max_size=3),
        max_leaves=9,
    ),
    st.sampled_from(["{}", "```json\n{}\n```", "Here it is:\n{}\nDone.", "<think>{{</think>{}"]),
)  # fmt: skip
def test_the_outermost_field_counts_whatever_is_inside(value, rest, around):
    before = {"reason": rest, "detail": {"verdict": "inner", "score": 77}}
    for written in ({**before, "verdict": value}, {"verdict": value, **before}):
        reading = read_free_reply(around.format(json.dumps(written)))
        expected = {True: "pass", False: "fail"}[value] if isinstance(value, bool) else value
        assert said(reading) == expected


@given(st.text(alphabet='{}[]":,Sscore 0123AB\\n<>/=think', max_size=60))
def test_any_text_is_read_or_has_a_reason(text):
    reading = read_free_reply(text)
    assert (reading.outcome == "scored") == (
        reading.verdict is not None or reading.score is not None
    )


def cases():
    """Replies that went wrong, beside the recordings."""
    data = os.environ.get("JUDGEREL_DATA")
    path = Path(data).parent / "cases" / "replies.jsonl" if data else None
    if path is None or not path.is_file():
        return [pytest.param(None, marks=pytest.mark.skip("JUDGEREL_DATA names no recordings"))]
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("case", cases())
def test_a_recorded_case_is_read_right(case):
    reading = read_free_reply(case["content"], finish_reason=case["finish_reason"])
    expected = case["expect"]
    if "outcome" in expected:
        assert reading.outcome == expected["outcome"]
    else:
        right = expected.get("score", expected.get("verdict"))
        # "pass (true)" says what a bool became.
        assert said(reading) == (right.partition(" (")[0] if isinstance(right, str) else right)
