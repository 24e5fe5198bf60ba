"""How far people agree: by kind of people, by criterion, however many rated."""

import polars as pl
import pytest

from judgerel_ray.analyses.confusion.confusion import people_labels, people_table
from judgerel_ray.core import HumanRating, Item, Option
from judgerel_ray.tables import items_to_frame


def rated(name, labels, criterion=None, kind=""):
    ratings = tuple(
        HumanRating(rater=f"{kind}{n}", criterion=criterion, label=label)
        for n, label in enumerate(labels)
    )
    return Item(item_id=name, benchmark="b", category="c", question="?", ratings=ratings)


def test_pairs_of_an_item_that_agree_averaged_over_items():
    found = people_table(
        items_to_frame([rated("p", "112"), rated("q", "33"), rated("r", "4"), rated("s", "")])
    ).row(0, named=True)
    assert found["value"] == pytest.approx((1 / 3 + 1) / 2)
    assert (found["n_items"], found["n_ratings"]) == (2, 5)
    assert (found["raters"], found["criterion"]) == (None, None)


def test_kinds_of_people_and_criteria_stand_apart():
    items = [
        rated(f"{criterion}{n}", labels, criterion, kind)
        for kind, labels in (("expert:", "11"), ("turker:", "12"))
        for criterion in ("fit", "flow")
        for n in range(3)
    ]
    merged = {}
    for item in items:
        before = merged.get(item.item_id)
        ratings = (*(before.ratings if before else ()), *item.ratings)
        merged[item.item_id] = Item(
            item_id=item.item_id, benchmark="b", category="c", question="?", ratings=ratings
        )
    found = people_table(items_to_frame(merged.values()))
    told = {(row["raters"], row["criterion"]): row["value"] for row in found.iter_rows(named=True)}
    assert told == {
        ("expert", None): 1.0, ("expert", "fit"): 1.0, ("expert", "flow"): 1.0,
        ("turker", None): 0.0, ("turker", "fit"): 0.0, ("turker", "flow"): 0.0,
    }  # fmt: skip


def test_ratings_of_two_responses_are_no_two_ratings_of_one():
    given = [("x", "1"), ("x", "1"), ("y", "2"), ("y", "2"), ("z", "3")]
    ratings = tuple(
        HumanRating(rater=str(n), label=label, responder=responder)
        for n, (responder, label) in enumerate(given)
    )
    item = Item(item_id="q", benchmark="b", category="c", question="?", ratings=ratings)
    found = people_table(items_to_frame([item])).row(0, named=True)
    assert (found["value"], found["n_items"], found["n_ratings"]) == (1.0, 2, 4)


def test_without_two_ratings_of_anything_there_is_nothing():
    assert people_table(items_to_frame([rated("p", "1"), rated("q", "")])).is_empty()


def test_items_about_one_thing_are_one_piece_of_evidence():
    items = items_to_frame([rated(f"q{n}", "11" if n // 4 % 2 else "12") for n in range(24)])
    about = items.select("benchmark", "item_id").with_columns(
        text=pl.Series([str(n // 4) for n in range(24)])
    )
    alone, together = people_table(items), people_table(items, about)
    assert alone["value"][0] == together["value"][0] == 0.5
    assert together["low"][0] < alone["low"][0] < alone["high"][0] < together["high"][0]


def test_labels_of_an_item_are_of_what_it_is_judged_by():
    given = [
        ("expert:0", "fit", "1", None), ("expert:1", "fit", "2", None),
        ("expert:0", "flow", "2", None), ("turker:0", None, "2", None),
        ("turker:1", "fit", "9", None), ("turker:2", "fit", "1", "1"),
        ("turker:3", "fit", None, None),
    ]  # fmt: skip
    ratings = tuple(
        HumanRating(rater=rater, criterion=criterion, label=label, responder=responder)
        for rater, criterion, label, responder in given
    )
    options = tuple(Option(option_id=one, text=one) for one in "12")
    item = Item(
        item_id="q", benchmark="b", category="c", question="?", options=options, ratings=ratings
    )
    found = people_labels(items_to_frame([item, rated("r", "")]))
    assert found.rows() == [("b", "q", "expert", ["1", "2"]), ("b", "q", "turker", ["2"])]
