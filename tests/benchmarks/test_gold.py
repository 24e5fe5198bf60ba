"""Gold of a plain file is read in one way, or not at all."""

import json
import string

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgerel_ray.benchmarks import load_items
from judgerel_ray.benchmarks.admission import READINGS, resolve_gold
from judgerel_ray.benchmarks.generic import read_generic
from judgerel_ray.benchmarks.source import Record
from judgerel_ray.core import Item, Option, SweepError

PLACE = Record(fields={}, place={"file": "f"})


def write(folder, *rows):
    file = folder / "mine.jsonl"
    full = [{"item_id": f"q{n}", "question": "?", **row} for n, row in enumerate(rows)]
    file.write_text("".join(json.dumps(row) + "\n" for row in full))
    return str(file)


def golds(path, **options):
    return [item.gold for item in load_items("mine", path, **options)]


def test_a_number_that_is_another_options_text_is_refused_with_both_readings(tmp_path):
    path = write(tmp_path, {"options": ["2", "1"], "gold": "2"})
    with pytest.raises(SweepError) as caught:
        load_items("mine", path)
    said = str(caught.value)
    assert "by id or number option 2, which is '2' ('1')" in said
    assert "by text option 1, which is '1' ('2')" in said
    assert 'gold_is = "id" or gold_is = "text"' in said
    assert "mine.jsonl, line=1" in said
    assert "\n" not in said
    assert golds(path, gold_is="id") == golds(path, gold_is="number") == ["2"]
    assert golds(path, gold_is="text") == ["1"]


ONE_WAY = [
    # options, golds, the reading that is left, the ids
    (["oak", "elm"], ["elm", "oak"], "text", ["2", "1"]),
    (["oak", "elm"], ["B", "(a)"], "letter", ["2", "1"]),
    (["oak", "elm"], ["1", "2"], "id", ["1", "2"]),
    (["oak", "elm"], [0, 1], "index", ["1", "2"]),
    (["oak", "elm"], [1.0, 2.0], "id", ["1", "2"]),
    ([True, False], [False, True], "text", ["2", "1"]),
    ([2.5, 7], [7, 2.5], "text", ["2", "1"]),
    ([7.0, 9.0], [9, 7], "text", ["2", "1"]),
]


@pytest.mark.parametrize(("options", "given_as", "reading", "right"), ONE_WAY)
def test_the_one_reading_of_a_whole_file_is_taken(tmp_path, options, given_as, reading, right):
    path = write(tmp_path, *({"options": options, "gold": gold} for gold in given_as))
    found = read_generic("mine", path)
    assert [item.gold for item in found.items] == right
    assert (found.gold.reading, found.gold.declared, found.gold.n_items) == (reading, False, 2)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"options": ["x", "y"], "gold": "1"}], "by id or number option 1.*by index option 2"),
        ([{"options": ["B", "A"], "gold": "A"}], "by text option 2.*by letter option 1"),
        ([{"option_b": "u", "option_a": "v", "gold": "a"}], "by id option 2.*by letter option 1"),
        (
            [{"options": ["oak", "elm"], "gold": "ash"}],
            r"gold 'ash' of item 'q0' names no option .* '1' \('oak'\), '2' \('elm'\)",
        ),
        (
            [{"options": ["oak", "oak"], "gold": "oak"}],
            "gold 'oak' of item 'q0' names 2 options by text; .*Try: give its id, letter or number",
        ),
        ([{"options": ["oak", "elm"], "gold": "Z"}], "gold 'Z' of item 'q0' names no option"),
        (
            [{"options": ["oak", "elm"], "gold": "elm"}, {"options": ["oak", "elm"], "gold": "B"}],
            "by text 'B' of item 'q1' is none; by letter 'elm' of item 'q0' is none"
            '.*gold_is = "text"',
        ),
    ],
)
def test_what_names_no_option_or_several_is_refused(tmp_path, rows, said):
    with pytest.raises(SweepError, match=said) as caught:
        load_items("mine", write(tmp_path, *rows))
    assert "\n" not in str(caught.value)


@given(st.lists(st.text(max_size=300), min_size=2, max_size=9), st.text(min_size=1, max_size=300))
def test_a_refusal_stays_a_line_however_long_the_texts(texts, gold):
    options = tuple(Option(option_id=text + str(n), text=text) for n, text in enumerate(texts))
    item = Item(item_id=gold, benchmark="b", category="c", question="?", options=options, gold=gold)
    try:
        resolve_gold([item], [Record(fields={}, place={"file": "f.jsonl", "line": 1})])
    except SweepError as error:
        said = str(error)
    else:
        return
    assert len(said) <= 400
    assert "\n" not in said


def test_a_declared_reading_that_fits_not_is_refused_with_what_there_is(tmp_path):
    path = write(tmp_path, {"options": ["oak", "elm"], "gold": "elm"})
    with pytest.raises(SweepError, match=r"gold 'elm' .* names no option by letter; .*'2' \('elm"):
        load_items("mine", path, gold_is="letter")


def test_items_without_gold_or_without_options_stay_as_they_are(tmp_path):
    rows = [
        {"options": ["oak", "elm"], "gold": None},
        {"options": ["oak", "elm"], "gold": " "},
        {"gold": "a tree"},
        {"options": ["oak", "elm"], "gold": "elm"},
    ]
    assert golds(write(tmp_path, *rows)) == [None, None, "a tree", "2"]
    pl.DataFrame({"item_id": ["a", "b"], "question": ["?", "?"], "option_x": ["u", "u"],
                  "option_y": ["v", "v"], "gold": [float("nan"), 1.0]}).write_parquet(
        tmp_path / "mine.parquet")  # fmt: skip
    assert golds(str(tmp_path / "mine.parquet"), gold_is="number") == [None, "x"]


def test_a_reference_answer_stays_what_it_is(tmp_path):
    path = write(tmp_path, {"options": ["oak", "elm"], "gold": "Any tree."})
    assert golds(path, gold_is="reference") == ["Any tree."]


def test_benchmarks_with_a_layout_of_their_own_take_no_other(tmp_path):
    file = tmp_path / "test.jsonl"
    row = {"question_id": 1, "question": "?", "options": ["1", "0"], "answer": "B", "category": "c"}
    file.write_text(json.dumps(row))
    assert load_items("mmlu_pro", str(file))[0].gold == "1"
    with pytest.raises(SweepError, match="mmlu_pro has its own way"):
        load_items("mmlu_pro", str(file), gold_is="text")


def test_a_written_items_file_is_read_back_as_it_is(tmp_path):
    from judgerel_ray.importers.verb import items

    path = write(tmp_path, {"options": ["2", "1"], "gold": "2"})
    items("mine", path, out=str(tmp_path / "items.parquet"), gold_is="text")
    assert golds(str(tmp_path / "items.parquet")) == ["1"]


# Spellings by the meaning that somebody had in mind.
SPELLINGS = {
    "id": lambda item, n: item.options[n].option_id,
    "text": lambda item, n: item.options[n].text,
    "letter": lambda _, n: string.ascii_uppercase[n],
    "number": lambda _, n: str(n + 1),
    "index": lambda _, n: str(n),
}
words = st.sampled_from(["0", "1", "2", "3", "A", "B", "C", "oak", "elm", "1.0"])


@st.composite
def written(draw):
    """Items, with gold by a reading that only their author knows, and what he meant."""
    reading = draw(st.sampled_from(READINGS))
    items, right = [], []
    for n in range(draw(st.integers(1, 4))):
        texts = draw(st.lists(words, min_size=2, max_size=4, unique=True))
        names = draw(
            st.just([str(i) for i in range(1, len(texts) + 1)])
            | st.lists(words, min_size=len(texts), max_size=len(texts), unique=True)
        )
        options = tuple(Option(option_id=a, text=b) for a, b in zip(names, texts, strict=True))
        item = Item(item_id=f"q{n}", benchmark="b", category="c", question="?", options=options)
        place = draw(st.integers(0, len(texts) - 1))
        spelt = SPELLINGS[reading](item, place)
        items.append(Item(item_id=f"q{n}", benchmark="b", category="c", question="?",
                          options=options, gold=spelt))  # fmt: skip
        right.append(options[place].option_id)
    return reading, items, right


@given(written())
def test_gold_is_what_was_meant_or_is_refused(case):
    reading, items, right = case
    try:
        resolved, how = resolve_gold(items, [PLACE] * len(items))
    except SweepError:
        return
    assert [item.gold for item in resolved] == right
    assert how.reading == reading or reading in how.alike


@given(written())
def test_a_declared_gold_is_what_was_meant(case):
    reading, items, right = case
    resolved, how = resolve_gold(items, [PLACE] * len(items), gold_is=reading)
    assert [item.gold for item in resolved] == right
    assert how.declared


@given(written(), st.permutations(range(4)))
def test_the_order_of_a_file_changes_no_reading(case, order):
    _, items, _ = case
    turned = [items[n] for n in order if n < len(items)]
    assume(len(turned) == len(items))

    def told(items):
        try:
            resolved, how = resolve_gold(items, [PLACE] * len(items))
        except SweepError:
            return None
        return {item.item_id: item.gold for item in resolved}, how

    assert told(items) == told(turned)
