import gzip
import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.benchmarks import load_generic, load_items
from judgerel_ray.core import HumanRating, Item, Option, SweepError
from judgerel_ray.tables import frame_to_items, items_to_frame


def lines(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_two_columns_are_enough(tmp_path):
    (item,) = load_generic("mine", lines(tmp_path / "a.jsonl", {"item_id": 3, "question": "Why?"}))
    assert item == Item(item_id="3", benchmark="mine", category="all", question="Why?")


@pytest.mark.parametrize(
    "given_as",
    [
        {"options": ["x", ""]},
        {"options": [{"option_id": "1", "text": "x"}, {"option_id": 2, "text": ""}]},
        {"option_1": "x", "option_2": "", "option_3": None},
        {"response_1": "x", "response_2": ""},
    ],
)
def test_options_in_every_form(tmp_path, given_as):
    row = {"item_id": "a", "question": "?", **given_as}
    (item,) = load_generic("mine", lines(tmp_path / "a.jsonl", row))
    assert item.options == (Option(option_id="1", text="x"), Option(option_id="2", text=""))


def test_csv_with_json_cells_bom_and_crlf(tmp_path):
    file = tmp_path / "a.csv.gz"
    text = (
        "item_id,question,options,turns,gold\r\n"
        '1,"Which,\r\nnow?","[""x"", ""y""]","[""Which"", ""And""]",\r\n'
    )
    file.write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.encode()))
    (item,) = load_generic("mine", str(file))
    assert item.question == "Which,\r\nnow?"
    assert [option.text for option in item.options] == ["x", "y"]
    assert item.turns == ("Which", "And")
    assert item.gold is None


def test_csv_options_in_columns_skip_empty_cells(tmp_path):
    (tmp_path / "a.csv").write_text("item_id,question,option_b,option_a\n1,?,x,y\n2,?,x,\n")
    one, two = load_generic("mine", str(tmp_path / "a.csv"))
    assert [option.option_id for option in one.options] == ["b", "a"]
    assert [option.option_id for option in two.options] == ["b"]


texts = st.text(st.characters(codec="utf-8"), max_size=8)
names = st.text("abcxyz", min_size=1, max_size=4)
ratings = st.builds(
    HumanRating,
    rater=names,
    criterion=st.none() | names,
    score=st.floats(-9, 9),
    label=st.none() | texts,
)
items = st.builds(
    Item,
    item_id=names,
    benchmark=names,
    category=names,
    question=names,
    context=st.none() | texts,
    turns=st.lists(texts, max_size=2).map(tuple),
    options=st.dictionaries(names, texts, max_size=3).map(
        lambda d: tuple(Option(option_id=k, text=v) for k, v in d.items())
    ),
    gold=st.none() | texts.filter(str.strip),
    ratings=st.lists(ratings, max_size=2).map(tuple),
)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(items, min_size=1, max_size=4, unique_by=lambda item: item.item_id))
def test_items_file_comes_back_whole(tmp_path_factory, written):
    folder = tmp_path_factory.mktemp("items")
    frame = items_to_frame(written)
    frame.write_parquet(folder / "items.parquet")
    frame.write_ndjson(folder / "items.jsonl")
    assert load_items("bbh", str(folder / "items.parquet")) == tuple(written)
    # What our own Parquet says of gold, JSON Lines of anybody's does not: there it must be said.
    lines_of_it = str(folder / "items.jsonl")
    assert load_items("other", lines_of_it, gold_is="reference") == tuple(written)


def test_a_rating_may_name_the_option_it_is_of(tmp_path):
    options = (Option(option_id="x", text="this"), Option(option_id="y", text="that"))
    given = (
        HumanRating(rater="1", score=4.0, responder="x"),
        HumanRating(rater="1", score=2.0, responder="y"),
        HumanRating(rater="1", score=3.0),
    )
    item = Item(
        item_id="q", benchmark="b", category="c", question="?", options=options, ratings=given
    )
    frame = items_to_frame([item])
    frame.write_parquet(tmp_path / "items.parquet")
    assert load_items("b", str(tmp_path / "items.parquet")) == frame_to_items(frame) == (item,)
    options_of_row = [{"option_id": "x", "text": "this"}, {"option_id": "y", "text": "that"}]
    rating = {"rater": "1", "score": 4, "responder": "z"}
    row = {"item_id": "q", "question": "?", "options": options_of_row, "ratings": [rating]}
    (tmp_path / "items.jsonl").write_text(json.dumps(row))
    with pytest.raises(SweepError, match="responder must be of x y, got 'z'"):
        load_items("other", str(tmp_path / "items.jsonl"))


OK = {"item_id": "a", "question": "?"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question": "?"}, "missing column item_id"),
        ({"item_id": "b"}, "missing column question"),
        ({"item_id": "b", "Question": "?"}, "rename 'Question' to 'question'"),
        ({"item_id": "a", "question": "?"}, "item_id 'a' stands twice"),
        ({"item_id": " ", "question": "?"}, "item_id must not be empty"),
        ({"item_id": 1.5, "question": "?"}, "item_id must be text, got number 1.5"),
        ({"item_id": None, "question": "?"}, "item_id must be text, got null"),
        ({"item_id": "b", "question": ""}, "the question of item 'b' is empty"),
        ({"item_id": "b", "question": 3}, "question must be text, got number 3"),
        ({"item_id": "b", "question": "\ud83d"}, "half of a surrogate pair"),
        ({"item_id": "b", "question": "?", "gold": ["x"]}, "gold must be text, got a list"),
        ({"item_id": "b", "question": "?", "turns": "a"}, "turns must be a list"),
        ({"item_id": "b", "question": "?", "options": {"a": 1}}, "options must be a list"),
        (
            {"item_id": "b", "question": "?", "options": ["x", {"option_id": "1", "text": "y"}]},
            "expected an object, got text 'x'",
        ),
        ({"item_id": "b", "question": "?", "options": [{"text": "x"}]}, "missing field option_id"),
        (
            {"item_id": "b", "question": "?", "options": [{"option_id": "", "text": "x"}]},
            "option_id must not be empty",
        ),
        (
            {"item_id": "b", "question": "?", "options": [{"option_id": "1", "text": "y"}] * 2},
            "option_id '1' stands twice",
        ),
        ({"item_id": "b", "question": "?", "option_": "x"}, "empty option_id"),
        ({"item_id": "b", "question": "?", "option_a": ["x"]}, "option_a must be text"),
        ({"item_id": "b", "question": "?", "options": ["x", None]}, "options[1] must be text"),
        ({"item_id": "b", "question": "?", "options": ["x"], "option_a": "x"}, "given twice"),
        ({"item_id": "b", "question": "?", "option_a": "x", "response_a": "y"}, "stands twice"),
        ({"item_id": "b", "question": "?", "ratings": [{"rater": "r"}]}, "a score or a label"),
        (
            {"item_id": "b", "question": "?", "ratings": [{"rater": "r", "score": "3"}]},
            "score must be a finite number",
        ),
    ],
)
def test_malformed_row_is_named(tmp_path, row, said):
    with pytest.raises(SweepError, match=r"a\.jsonl, line=2") as caught:
        load_generic("mine", lines(tmp_path / "a.jsonl", OK, row))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parquet_row_is_named(tmp_path):
    pl.DataFrame({"item_id": ["a", "a"], "question": ["?", "?"]}).write_parquet(
        tmp_path / "a.parquet"
    )
    with pytest.raises(SweepError, match=r"row=2, first=row 1"):
        load_generic("mine", str(tmp_path / "a.parquet"))


def test_a_score_that_is_no_number_is_refused(tmp_path):
    frame = pl.DataFrame(
        {"item_id": ["a"], "question": ["?"], "ratings": [[{"rater": "r", "score": float("nan")}]]}
    )
    frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(SweepError, match="finite number, got number nan"):
        load_generic("mine", str(tmp_path / "a.parquet"))
