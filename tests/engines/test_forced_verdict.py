"""The rating behind a form taken for said: what the reader reads between its brackets."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.core import Menu, Scale
from judgerel_ray.engines.next_tokens import verdict_right_behind_form
from judgerel_ray.protocols import load_scale, read_verdict, scale_labels, shipped_scales

START = "Rating: [["
PIECES = (
    "4", "5", "10", "1", "0", "7", ".", "/5", "/10", " out of ", "four", "ten", "minus ", "Agree",
    "agree", "Strongly", " ", "-", "Dis", "neutral", "yes", "No", "**", '"', "%", "½", "４", " or ",
)  # fmt: skip
contents = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)


def menu_on(name):
    scale = load_scale(name)
    labels = scale_labels(scale)
    return Menu(labels=labels, option_ids=labels, form="rating", scale=scale)


def behind(text, menu, finish_reason=None):
    return verdict_right_behind_form(text, menu=menu, start=START, finish_reason=finish_reason)


@pytest.mark.slow
@settings(max_examples=500)
@given(contents, st.sampled_from(shipped_scales()))
def test_whenever_it_is_settled_it_is_what_the_reader_reads(content, name):
    menu = menu_on(name)
    label = read_verdict(f"{START}{content}]]", finish_reason="stop", menu=menu).label
    whole = -1 if label is None else menu.labels.index(label)
    for n in range(len(content) + 1):
        assert behind(content[:n], menu) in (None, whole)
    assert behind(f"{content}]", menu) == behind(f"{content}]] It is.", menu) == whole


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("1", None), ("10", None), ("1]", 0), ("10]]", 9), ("1.", None), ("1.5]", -1), ("11", -1),
     ("1\n", 0), ("four", None), ("four]]", 3), ("good", -1), ("７", None), ("\ufffd", None),
     ("\n1]", 0)],
)  # fmt: skip
def test_a_number_is_read_to_its_end(text, verdict):
    assert behind(text, menu_on("points10")) == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("Strongly", None), ("Strongly ", None), ("strongly agree]]", 4), ("Agree", None),
     ("Agree]", 3), ("Agree somewhat]", -1), ("4", -1)],
)  # fmt: skip
def test_words_of_several_tokens_are_read_to_their_end(text, verdict):
    assert behind(text, menu_on("likert5")) == verdict


def test_a_reply_that_ends_is_read_as_it_stands():
    menu = menu_on("points5")
    assert behind("4", menu, "stop") == 3
    assert behind("4", menu, "length") == behind("", menu, "stop") == -1
    assert behind("4" + " " * 90, menu) == -1


def test_words_of_any_script_are_read_with_marks_that_stand_apart():
    labels = ("\u00fcberhaupt nicht", "gro\u00df", "\u0920\u0940\u0915", "tr\u00e8s bien")
    menu = Menu(labels=labels, option_ids=labels, form="rating",
                scale=Scale(name="s", level="ordinal", labels=labels))  # fmt: skip
    for place, label in enumerate(labels):
        for written in (label, label.upper(), normalize("NFD", label)):
            assert all(behind(written[:n], menu) is None for n in range(len(written) + 1))
            assert behind(f"{written}]", menu) == place
    assert behind("uber", menu) == -1
