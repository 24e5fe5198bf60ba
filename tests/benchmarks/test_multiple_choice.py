import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.benchmarks import load_items, load_multiple_choice
from judgerel_ray.core import SweepError

ROW = {"question": "Which is a fruit?", "options": ["oak", "apple", "fir"]}


def load(tmp_path, *rows):
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return load_multiple_choice(str(file))


@pytest.mark.parametrize(
    "answer",
    [
        {"answer": "B"},
        {"answer": " b "},
        {"answer": "apple"},
        {"answer_letter": "B"},
        {"answer_text": "apple"},
        {"answer_from_0": 1},
        {"answer_from_1": "2"},
    ],
)
def test_an_answer_in_each_of_its_forms(tmp_path, answer):
    (item,) = load(tmp_path, {**ROW, **answer})
    assert (item.item_id, item.benchmark, item.category, item.gold) == (
        "multiple_choice:0", "multiple_choice", "all", "1",
    )  # fmt: skip
    assert [(o.option_id, o.text) for o in item.options] == [
        ("0", "oak"), ("1", "apple"), ("2", "fir"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("A,B,C,D", "oak,apple,,"),
        ("option_1,option_2,option_3", "oak,apple,"),
        ("option_0,option_1", "oak,apple"),
        ("option_2,option_1", "apple,oak"),
        ("options", '"[""oak"", ""apple""]"'),
    ],
)
def test_options_in_a_list_and_in_columns(tmp_path, header, cells):
    file = tmp_path / "mine.csv"
    file.write_text(f"item_id,category,question,{header},answer\nq7,plants,Which?,{cells},apple\n")
    (item,) = load_items("multiple_choice", str(file))
    assert (item.item_id, item.category, item.gold) == ("q7", "plants", "1")
    assert [option.text for option in item.options] == ["oak", "apple"]


def test_ten_numbered_columns_are_in_the_order_of_their_numbers(tmp_path):
    columns = {f"option_{n}": f"text {n}" for n in (10, 9, 8, 7, 6, 5, 4, 3, 2, 1)}
    (item,) = load(tmp_path, {"question": "?", **columns, "answer": "J"})
    assert item.options[int(item.gold)].text == "text 10"


def test_a_number_that_can_only_be_a_text_is_one(tmp_path):
    (item,) = load(tmp_path, {"question": "6 * 7?", "options": ["41", "42"], "answer": "42"})
    assert item.gold == "1"
    (item,) = load(tmp_path, {"question": "6 * 7?", "options": ["41", "42"], "answer": 42})
    assert item.gold == "1"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": 1}, "'1' is a number, and does not say what it counts from"),
        ({"answer": 3}, "does not say what it counts from"),
        ({"answer": "0"}, "does not say what it counts from"),
        ({"answer_index": 1}, "answer_index does not say what it counts from"),
        ({"options": ["3", "4", "2"], "answer": "3"}, "does not say .* or answer_text"),
        ({"options": ["B", "oak"], "answer": "B"}, "got text 'B', which is 2 of them"),
        ({"options": ["oak", "oak"], "answer": "oak"}, "which is 2 of them"),
        ({"answer": "D"}, "one of its 3 options, got text 'D', which is none of them"),
        ({"answer": "pear"}, "got text 'pear', which is none"),
        ({"answer_letter": "D"}, "a letter A to C of its 3 options, got text 'D'"),
        ({"answer_from_0": 3}, "answer_from_0 must be 0 to 2 of its 3 options, got number 3"),
        ({"answer_from_1": 0}, "answer_from_1 must be 1 to 3 of its 3 options, got number 0"),
        ({"answer_from_1": 1.5}, "whole number, got number 1.5"),
        ({"answer": "A", "answer_from_0": 0}, "given twice: in answer and in answer_from_0"),
        ({"answer": None}, "answer must name the right option, got nothing"),
        ({}, "missing column: expected one of answer answer_letter"),
        ({"options": ["oak"], "answer": "A"}, "options must be 2 to 26 texts, got 1"),
        ({"options": ["oak", None], "answer": "A"}, r"options\[1\] must be text, got null"),
        ({"A": "oak", "answer": "A"}, "options are given twice: in options and in A"),
        ({"question": " ", "answer": "A"}, "is empty"),
    ],
)
def test_a_mistake_is_one_line_with_row_field_expected_and_got(tmp_path, changes, message):
    with pytest.raises(SweepError, match=message) as caught:
        load(tmp_path, {**ROW, "answer": "B"}, {**ROW, **changes})
    assert "line=2" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"A": "oak", "C": "fir"}, "must be A, B, ... on, got A C"),
        ({"option_2": "oak", "option_3": "fir"}, "numbered from 0 or 1 without a gap"),
        ({"option_1": "oak", "option_3": "fir"}, "without a gap, got option_1 option_3"),
        ({"A": "oak", "B": None, "C": "fir"}, "B is empty, and an option stands behind it"),
        ({"choices": ["oak", "fir"]}, "expected the options in a list options, or in columns"),
    ],
)
def test_columns_that_are_no_options(tmp_path, columns, message):
    with pytest.raises(SweepError, match=message):
        load(tmp_path, {"question": "Which?", **columns, "answer": "A"})


def test_an_items_file_is_still_one(tmp_path):
    file = tmp_path / "plain.jsonl"
    file.write_text(json.dumps({"item_id": "q", "question": "?", "options": ["x", "y"]}))
    (item,) = load_items("multiple_choice", str(file))
    assert [option.option_id for option in item.options] == ["1", "2"]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.text("xyz0123", min_size=1, max_size=2), min_size=2, max_size=6),
    st.data(),
)
def test_an_answer_is_read_as_what_it_is_or_refused(tmp_path_factory, options, data):
    right = data.draw(st.integers(0, len(options) - 1))
    texts = [text.strip() for text in options]
    for name, value in (("answer", options[right]), ("answer_text", options[right])):
        row = {"question": "?", "options": options, name: value}
        try:
            (item,) = load(tmp_path_factory.mktemp("one"), row)
        except SweepError:
            number = name == "answer" and texts[right].isdecimal()
            assert texts.count(texts[right]) > 1 or number
        else:
            assert item.gold == str(right)
