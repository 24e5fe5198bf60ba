import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import Menu
from judgerel_ray.engines.next_tokens import (
    NextTokens,
    closed_label,
    spelled_verdicts,
    verdict_place,
)

MENU = Menu(labels=("A", "B", "AA"), option_ids=("x", "y", "z"), form="best_response")
WORDS = ["so", " it", " is", " Best Response: [[", "A", "B", "]]", ".", " Best", " Response: [["]


def text_of(tokens):
    return "".join(WORDS[token] for token in tokens)


@given(
    st.lists(st.sampled_from([0, 1, 2, 7]), max_size=12),
    st.sampled_from([4, 5]),
    st.lists(st.integers(0, len(WORDS) - 1), max_size=8),
)
def test_the_place_is_that_of_the_label(before, label, after):
    reply = [*before, 3, label, 6, *after]
    place = verdict_place(reply, menu=MENU, text_of=text_of)
    assert place == len(before) + 1
    assert closed_label(text_of(reply[:place]), MENU) is None


@pytest.mark.parametrize("reply", [[], [0, 1], [3], [3, 7], [4, 5]])
def test_a_reply_without_a_verdict_has_no_place(reply):
    assert verdict_place(reply, menu=MENU, text_of=text_of) is None


def test_a_label_of_two_tokens_is_placed_at_its_second():
    reply = [0, 3, 4, 4, 6]
    assert verdict_place(reply, menu=MENU, text_of=text_of) == 3


def test_tokens_spell_options_or_none():
    found = NextTokens((5, 0, 4), (-0.1, -2.0, -3.0))
    read = spelled_verdicts([3], found, menu=MENU, text_of=text_of, texts=["B", "so", "A"])
    assert [(one.token, one.rank, one.continuation) for one in read] == [
        ("B", 1, 1), ("so", 2, None), ("A", 3, 0)
    ]  # fmt: skip
