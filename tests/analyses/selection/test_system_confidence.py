"""Confidences of answers: agreement and support against counting, tables beside the answers."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import SweepError
from judgerel_ray.measuring.systems import with_confidences

replies = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["1", "2", "3", None])),
    min_size=1,
    max_size=12,
)


def _frame(rows):
    schema = {"item_id": pl.String, "verdict": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row").with_row_index("n")


@given(replies)
def test_agreement_and_support_are_of_the_others(rows):
    found = with_confidences(_frame(rows), unit=["item_id"]).sort("n")
    for n, (item, verdict) in enumerate(rows):
        others = [v for k, (i, v) in enumerate(rows) if i == item and k != n]
        spoken = Counter(v for v in others if v is not None)
        most = max(spoken.values(), default=0)
        told = found.row(n, named=True)
        expected = most / len(others) if others else None
        assert told["agreement"] == (None if expected is None else pytest.approx(expected))
        mine = spoken[verdict] / len(others) if others and verdict is not None else None
        assert told["support"] == (None if mine is None else pytest.approx(mine))


def test_chances_lie_beside_the_answers_and_fill_what_they_do_not_say():
    rows = _frame([("a", "1"), ("b", "2"), ("c", "1")]).with_columns(
        probability=pl.Series([0.9, None, None])
    )
    by_verdict = pl.DataFrame(
        {"item_id": ["a", "b", "b"], "verdict": ["1", "1", "2"], "probability": [0.1, 0.2, 0.8]}
    )
    margins = pl.DataFrame({"item_id": ["c", "a"], "margin": [0.3, 0.4]})
    found = with_confidences(rows, unit=["item_id"], chances=[by_verdict, margins]).sort("n")
    assert found["probability"].to_list() == [0.9, 0.8, None]
    assert found["margin"].to_list() == [0.4, None, 0.3]
    assert found.height == 3


def test_confidence_out_of_range_is_refused():
    rows = _frame([("a", "1")]).with_columns(confidence=pl.lit(1.5))
    with pytest.raises(SweepError, match="stated confidence must be between 0 and 1"):
        with_confidences(rows, unit=["item_id"])
    odd = pl.DataFrame({"item_id": ["a"], "margin": [-0.1]})
    with pytest.raises(SweepError, match="margin confidence"):
        with_confidences(_frame([("a", "1")]), unit=["item_id"], chances=[odd])
