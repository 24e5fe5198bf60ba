"""A settled verdict is that of every whole reply that begins so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.core import Menu, SweepError
from judgerel_ray.protocols import read_verdict, settled_reading

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


@settings(max_examples=400)
@given(texts, texts, st.sampled_from(["stop", "length"]))
def test_nothing_that_follows_changes_it(text, rest, finish_reason):
    for opening in ("", "Best Response: [[A]]", "Best Response: [[F", "Best Response: A"):
        for menu in (menu_of(), CORRECTNESS):
            settled = settled_reading(opening + text, finish_reason=None, menu=menu)
            whole = read_verdict(opening + text + rest, finish_reason=finish_reason, menu=menu)
            assert settled in (None, whole)


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
