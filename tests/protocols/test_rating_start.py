"""What the start of a rating may become: never ruled out where a reader would read it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.core import Menu, Scale
from judgerel_ray.protocols import load_scale, read_verdict, scale_labels, shipped_scales
from judgerel_ray.protocols.replies.rating_form import may_be_rating

PIECES = (
    "4", "5", "10", "1", "0", "7", ".", "/", "/5", " out of ", "four", "ten", "minus ", "twenty",
    " point ", " and a half", "Agree", "agree", "Strongly", "ly", "-", " ", "dis", "neither ",
    "Neutral", "yes", "No", "**", '"', "`", "\\", "rating", "%", "+", "½", "“", "４", "a hundred",
)  # fmt: skip
contents = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)


def menu_on(scale):
    labels = scale_labels(scale)
    return Menu(labels=labels, option_ids=labels, form="rating", scale=scale)


@pytest.mark.slow
@settings(max_examples=500)
@given(contents, st.sampled_from(shipped_scales()))
def test_every_start_of_a_rating_may_be_one(content, name):
    scale = load_scale(name)
    text = f"Rating: [[{content}]]"
    if read_verdict(text, finish_reason="stop", menu=menu_on(scale)).label is not None:
        assert all(may_be_rating(content[:n], scale) for n in range(len(content) + 1))


@pytest.mark.parametrize("name", shipped_scales())
def test_every_label_may_be_one_and_talk_may_not(name):
    scale = load_scale(name)
    for label in scale_labels(scale):
        assert all(may_be_rating(label[:n], scale) for n in range(len(label) + 1))
    for talk in ("Quite", "C", "I think", "(", "?"):
        assert not may_be_rating(talk, scale)


def test_numbers_beyond_the_scale_are_ruled_out():
    scale = Scale(name="s", level="interval", lowest=-2, highest=20)
    told = {text: may_be_rating(text, scale) for text in ("-", "-2", "1", "20", "012", "21", "3")}
    assert told == {"-": True, "-2": True, "1": True, "20": True, "012": True, "21": False,
                    "3": True}  # fmt: skip
