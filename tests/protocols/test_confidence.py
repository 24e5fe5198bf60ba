"""Confidences are read as written, or not at all."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.protocols import read_confidence


def read(text, *, form="final_answer", finish_reason="stop", reader="first"):
    return read_confidence(text, finish_reason=finish_reason, form=form, reader=reader)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0.85", 0.85), (".85", 0.85), ("0.850", 0.85), ("1", 1.0), ("1.0", 1.0), ("0", 0.0),
        ("85%", 0.85), ("85 %", 0.85), ("85 percent", 0.85), ("99.5%", 0.995), ("100%", 1.0),
        ("**0.9**", 0.9), ("[0.9]", 0.9), ("`0.9`", 0.9), ("~0.9", 0.9), ("0.9.", 0.9),
        ("0.9 (fairly sure)", 0.9), ("0.9\nthat is all", 0.9), ("one", 1.0),
        ("1%", 0.01), ("0.5%", 0.005), ("ninety percent", 0.9), ("0.9, since it fits", 0.9),
        ("85", None), ("150%", None), ("1.2", None), ("-0.5", None), ("-20%", None),
        ("high", None), ("0.8-0.9", None), ("0.8 - 0.9", None), ("0.8 – 0.9", None),
        ("0.8 to 0.9", None), ("8/10", None), ("0.9/1", None), ("0,85", None),
        ("0.9 out of 1", None), ("between 0.8 and 0.9", None), ("<probability>", None),
        ("0.85abc", None), ("0.8.5", None), ("NaN", None), ("", None), ("1e-1", None),
    ],
)  # fmt: skip
def test_what_is_written_is_read(written, value):
    assert read(f"Final Answer: 2\nReason: it fits.\nConfidence: {written}") == value
    assert read(f"Judge Confidence: {written}", form="correct_answer") == value


def test_confidences_quoted_of_others_are_not_the_judges_own():
    reply = "Model 0: Confidence: 0.99 is too much.\nCorrect Answer: 1\nJudge Confidence: 0.6"
    assert read(reply, form="correct_answer") == 0.6
    assert read("Confidence: 0.7", form="correct_answer") is None
    assert read("Judge  Confidence: 0.7") is None


def test_the_first_stated_counts():
    assert read("Confidence: 0.4\nConfidence: 0.9") == 0.4
    assert read("Confidence: unsure\nConfidence: 0.9") is None


def test_a_number_at_a_cut_may_be_half_of_one():
    assert read("Confidence: 0.8", finish_reason="length") is None
    assert read("Confidence: 0.8.", finish_reason="length") is None
    assert read("Confidence: 0.8\nSo", finish_reason="length") == 0.8
    assert read(None) is None


def test_the_confidence_is_that_of_the_answer_the_reader_counts():
    reply = "Final Answer: 1\nConfidence: 0.4\nNo.\nFinal Answer: 2\nConfidence: 0.9"
    assert [read(reply, reader=one) for one in ("first", "last", "unanimous")] == [0.4, 0.9, None]
    assert read("Confidence: 0.4\nConfidence: 40%", reader="unanimous") == 0.4
    assert read("Confidence: 0.4\nConfidence: unsure", reader="last") is None
    assert read("Confidence: 0.4\nConfidence: 0.", reader="last", finish_reason="length") is None


@pytest.mark.parametrize("end", [" ", "  ", "\t", "\u00a0", " \n ", " - I am fairly sure"])
def test_what_follows_the_number_may_be_blank(end):
    assert read(f"Confidence: 0.9{end}") == 0.9


def test_percentages_are_the_probabilities_they_spell_and_torn_numbers_are_none():
    assert read("Confidence: 56.7%") == 0.567
    assert read("Confidence: 0. 9") is None
    assert read("Judge_Confidence: 0.9", form="correct_answer") == 0.9
    assert read("Judge_Confidence: 0.9") is None


@given(st.text(alphabet="Confidence: 0123456789.,%-/tojudge\n*[](){}", max_size=60))
def test_no_confidence_is_read_that_is_not_written(text):
    value = read(f"Confidence: {text}")
    if value is None:
        return
    assert 0 <= value <= 1
    numbers = [float(one) for one in re.findall(r"\d*\.?\d+", text.partition("\n")[0] or text)]
    numbers += [float(one) for one in re.findall(r"\d*\.?\d+", text)]
    spelled = {"one": 1, "nine": 9, "ten": 10, "nineteen": 19}  # of the letters drawn
    numbers += [n for word, n in spelled.items() if word in text.casefold()]
    assert any(abs(value - n) < 1e-12 or abs(value - n / 100) < 1e-12 for n in numbers)
