"""What a run is of: an item's content is the whole item."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.asking.plan.identity import _plan_identity_item_content, ask_identity
from judgerel_ray.config import ask_table
from judgerel_ray.core import HumanRating, Item, Option, digest
from judgerel_ray.design import AskFrame

words = st.text(max_size=8)


@pytest.mark.slow
@given(
    st.builds(
        Item,
        item_id=words,
        benchmark=words,
        category=words,
        question=words,
        context=st.none() | words,
        turns=st.lists(words, max_size=2).map(tuple),
        options=st.lists(st.builds(Option, option_id=words, text=words), max_size=3).map(tuple),
        gold=st.none() | words,
        ratings=st.lists(
            st.builds(
                HumanRating,
                rater=words,
                score=st.none() | st.floats(0, 5),
                label=words,
                responder=st.none() | words,
            ),
            max_size=2,
        ).map(tuple),
    )
)
def test_the_content_of_an_item_is_every_field_of_it(item):
    content = asdict(item)
    for rating in content["ratings"]:
        if rating["responder"] is None:  # as before ratings could name one
            del rating["responder"]
    assert digest(_plan_identity_item_content(item)) == digest(content)


def test_thresholds_are_said_of_what_lands_and_ask_nothing():
    def identity(**said):
        ask = ask_table(protocol="confusion", benchmark="b", path="p", **said)
        return ask_identity(AskFrame(index=0, ask=ask, items=(), templates=(), judges=()))

    assert identity(thresholds=(0.7,)) == identity()
    assert identity(mode="paper") != identity()
