"""Replies whose form nobody declared: verdict, score, or why there is none."""

from __future__ import annotations

import json
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
    ("I compared {a} and {b}. {\"verdict\": \"A\"}", "A"), ('{"score": 1e1}', 10.0),
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
# Replies that quote another's answer, speak of the verdict, or hold JSON that is none.
READ += [
    (".5", 0.5),
    ("**.75**", 0.75),
    ("(.5)", 0.5),
    ("'.25'", 0.25),
    (".5/1", 0.5),
    ("1e-3", 0.001),
    ('{"score": 1234567890123456789012345678}', 1.2345678901234569e27),
    ('{"score": 1e400}', "unparsed"),
    ("The verdict is clear: B wins.", "unparsed"),
    ("The winner is obvious: Response B.", "unparsed"),
    ("The verdict is below:\n\nB", "unparsed"),
    ("The decision is difficult.", "unparsed"),
    ("My decision is final.", "unparsed"),
    ("If the label is positive, it is right.", "unparsed"),
    ("Student answer: 42. It is wrong.", "unparsed"),
    ("Reference answer: 42\nThe response gives 41. So it is incorrect.", "unparsed"),
    ("Correct answer: Paris\nThe response says London.", "unparsed"),
    ("The response arrives at \\boxed{42}, which is wrong. Verdict: incorrect", "incorrect"),
    ("The response wrote <answer>42</answer>. Verdict: incorrect", "incorrect"),
    ('The output {"result": "ok"} is valid JSON. Score: 5', 5.0),
    ('The output {"answer": 3} is malformed. Verdict: FAIL', "FAIL"),
    ('Response A returned `{"label": "spam"}`, Response B nothing. Winner: A', "conflicting"),
    ("The rubric says [RESULT] 5 is for perfect. Score: 3", "conflicting"),
    ("As noted in [[1]], it holds. Verdict: B", "B"),
    ("Test result: PASS\nBut the code is ugly.", "unparsed"),
    ("Starting score: 10\nDeductions: 3\nFinal score = 10 - 3 = 7", "unparsed"),
    ("Score: A=8, B=7", "unparsed"),
    ("assistant\n\n4", "unparsed"),
    ("Sure!", "unparsed"),
    ("ERROR", "unparsed"),
    ('{"label": "question-7", "correct": false}', "fail"),
    ('{"result": "The model output is great and so on it goes"}', "unparsed"),
    ('{"score": "85%"}', "unparsed"),
    ('{"score":"4 or 5"}', "unparsed"),
    ('{"score":"4-5"}', "unparsed"),
    ('{"score":"4 (good)"}', "unparsed"),
    ('{"score":"Score: 4"}', 4.0),
    ('{"score":"[[4]]"}', 4.0),
    ('{"verdict": "[[A]]"}', "A"),
    ('{"verdict": "A or B"}', "unparsed"),
    ("<score>4 because it's ok</score>", 4.0),
    ("Rating: [[X]]", "unparsed"),
    ("Verdict: TBD.", "unparsed"),
    (
        '{"reason": "he said "no} way" ok", "detail": {"verdict": "PASS"}, "verdict": "FAIL"}',
        "unparsed",
    ),
    ('{reason: "x", detail: {"verdict": "PASS"}, verdict: "FAIL"}', "unparsed"),
    ('{“verdict”: “FAIL”, “detail”: {"verdict": "PASS"}}', "unparsed"),
    ("{'reason': 'brace } in', 'verdict': 'A', 'detail': {'verdict': 'B'}}", "A"),
    (
        'Here it is:\n{"reason": "it shows its </think> mark", "verdict": "FAIL", '
        '"detail": {"verdict": "PASS"}}',
        "FAIL",
    ),
    ('{"verdict": "A", "verdict": "B",}', "conflicting"),
    ('{"verdict": "A" "B"}', "unparsed"),
    ('{"score": 1_0}', "unparsed"),
    ('{"pass": true,}', "pass"),
    ('{"verdict": "A"}\n\nCorrection: my final verdict is [[B]].', "conflicting"),
    ("[[A]]\nFinal verdict: B", "conflicting"),
    ("<score>4</score>\nOn reflection. Score: 2", "conflicting"),
    ('{"score": 2}\nFinal score: 4', "conflicting"),
    ("Score: 4\nSo the score is 4/5.", 4.0),
    ("Verdict: B\nVerdict: b", "B"),
    ("Winner: Response B\nVerdict: B", "Response B"),
    ('{"verdict":"pass"}{"verdict":"PASS"}', "pass"),
    ("### Score\n4", 4.0),
    ("## Verdict\nA", "A"),
    ("**Score**\n\n4/5", 4.0),
    ("Score: 4 stars", 4.0),
    ("Score (1-5): 3", 3.0),
    ("Overall: 7.5/10", 7.5),
    ("A<|im_end|>", "A"),
    ("4</s>", 4.0),
    ('{"finalScore": 4}', 4.0),
    ('{"verdict": null, "score": 3}', 3.0),
    ('{"criteria": [{"score":1}], "total": 3}', 3.0),
    ("\\boxed{\\text{A}}", "A"),
    ("Decision: A > B", "A > B"),
    ("Score: ~4", 4.0),
    ('I compared {"a", "b"}. {"verdict": "A"}', "unparsed"),
]


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


CASES = Path(__file__).parent.parent / "cases/replies.jsonl"


@pytest.mark.parametrize("case", [json.loads(line) for line in CASES.read_text().splitlines()])
def test_a_recorded_case_is_read_right(case):
    reading = read_free_reply(case["content"], finish_reason=case["finish_reason"])
    expected = case["expect"]
    if "outcome" in expected:
        assert reading.outcome == expected["outcome"]
    else:
        right = expected.get("score", expected.get("verdict"))
        # "pass (true)" says what a bool became.
        assert said(reading) == (right.partition(" (")[0] if isinstance(right, str) else right)


def test_nothing_is_read_inside_what_is_nested_too_deep_for_a_parser():
    deep = '[{"a": ' * 2_000
    assert read_free_reply(f'{deep} "\nVerdict: B').outcome == "unparsed"
    assert read_free_reply(f'{deep} {{"verdict": "B"}}').outcome == "unparsed"
    assert read_free_reply(f"Verdict: A\n{deep}\nVerdict: B").verdict == "A"
