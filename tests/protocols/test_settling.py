"""A settled verdict is that of every whole reply that begins so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.core import Menu, SweepError
from judgerel_ray.protocols import (
    load_scale,
    read_verdict,
    scale_labels,
    settled_reading,
    shipped_scales,
)

FRAGMENTS = (
    "Best Response:", "best response : ", "[[", "]]", "[", "]", "A", "B", "F", "letter", "Better",
    " ", "\n", " and ", ", ", " or ", ".", "**", "is", "(", ")", "none", "correct", "incorrect",
    "not ", "?", "I cannot judge",
)  # fmt: skip
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=9).map("".join)


def menu_of(**changes) -> Menu:
    fields = {"labels": ("A", "B"), "option_ids": ("x", "y"), "form": "best_response"}
    return Menu(**{**fields, **changes})


CORRECTNESS = menu_of(
    labels=("correct", "incorrect"), option_ids=("correct", "incorrect"), form="correctness"
)


@pytest.mark.slow
@settings(max_examples=400)
@given(texts, texts, st.sampled_from(["stop", "length"]))
def test_nothing_that_follows_changes_it(text, rest, finish_reason):
    for opening in ("", "Best Response: [[A]]", "Best Response: [[F", "Best Response: A"):
        for menu in (menu_of(), CORRECTNESS):
            settled = settled_reading(opening + text, finish_reason=None, menu=menu)
            whole = read_verdict(opening + text + rest, finish_reason=finish_reason, menu=menu)
            assert settled in (None, whole)


RATED = (
    "Rating:", "rating : ", "Rating: [[", "]]", "[[", "[", "]", "4", "5", "10", ".", "Agree",
    "Strongly ", " ", "\n", " and ", ", ", " or ", "/10", "out of", "**", "rating", "(", ")",
    "none", "four", "-", " because it is all that a reader could ask for", "I cannot rate", "Yes",
)  # fmt: skip
ratings = st.lists(st.sampled_from(RATED), max_size=7).map("".join)


@pytest.mark.slow
@settings(max_examples=400)
@given(ratings, ratings, ratings, st.sampled_from(shipped_scales()))
def test_nothing_that_follows_changes_a_rating(before, after, rest, name):
    labels = scale_labels(load_scale(name))
    menu = menu_of(labels=labels, option_ids=labels, form="rating", scale=load_scale(name))
    text = f"{before}Rating: [[{labels[0]}]]{after}"
    settled = settled_reading(text, finish_reason=None, menu=menu)
    for finish_reason in ("stop", "length"):
        whole = read_verdict(text + rest, finish_reason=finish_reason, menu=menu)
        assert settled in (None, whole)


@pytest.mark.parametrize("before", ["Rating: 4. ", "rating : 1.  and rating"])
def test_an_earlier_statement_without_brackets_keeps_a_rating_open(before):
    labels = scale_labels(load_scale("points5"))
    menu = menu_of(labels=labels, option_ids=labels, form="rating", scale=load_scale("points5"))
    text = f"{before}Rating: [[5]]"
    readings = [read_verdict(text, finish_reason=one, menu=menu) for one in ("stop", "length")]
    assert readings[0] != readings[1]
    assert settled_reading(text, finish_reason=None, menu=menu) is None


@given(texts, st.sampled_from(["stop", "length"]))
def test_an_ended_reply_is_read_as_it_is(text, finish_reason):
    for reader in ("first", "last", "unanimous"):
        menu = menu_of(reader=reader)
        assert settled_reading(text, finish_reason=finish_reason, menu=menu) == read_verdict(
            text, finish_reason=finish_reason, menu=menu
        )


@pytest.mark.parametrize("reader", ["last", "unanimous", "schroeder2024"])
def test_other_policies_wait_for_the_end(reader):
    text = "Best Response: [[A]]"
    assert settled_reading(text, finish_reason=None, menu=menu_of(reader=reader)) is None


def test_a_verdict_that_was_not_on_offer_is_settled_too():
    found = settled_reading("Best Response: [[F]]", finish_reason=None, menu=menu_of())
    assert (found.label, found.outcome.value) == (None, "off_menu")


def test_an_unknown_form_is_named():
    with pytest.raises(SweepError, match="unknown verdict form"):
        settled_reading("x", finish_reason=None, menu=menu_of(form="essay"))
