from __future__ import annotations

import polars as pl
import pytest

from judgerel_ray.core import OUTCOMES
from judgerel_ray.counting.outcomes import outcome_table

FRAME = pl.LazyFrame(
    {
        "judge": ["a"] * 8 + ["b"],
        "item_id": ["q1"] * 4 + ["q2"] * 4 + ["q1"],
        "replication": [0, 1, 2, 3, 0, 1, 2, 3, 0],
        "verdict": ["A", "A", None, None, "A", "B", "B", "A", "A"],
        "outcome": ["scored", "scored", "refused", "failed", *["scored"] * 4, "scored"],
    }
)


def test_it_counts_every_outcome():
    a, b = outcome_table(FRAME).to_dicts()
    assert {name: a[name] for name in OUTCOMES if a[name]} == {
        "scored": 6,
        "refused": 1,
        "failed": 1,
    }
    assert (a["judge"], a["n_items"], a["n_landed"]) == ("a", 2, 8)
    # A request that failed got no reply: 6 of 7.
    assert a["valid_rate"] == pytest.approx(6 / 7)
    assert (b["valid_rate"], b["low"], b["high"]) == (1.0, pytest.approx(0.025), 1.0)


def test_the_interval_is_by_question():
    a = outcome_table(FRAME).row(0, named=True)
    # Two questions, rates 2/3 and 1: t with one degree of freedom covers all there is.
    assert (a["low"], a["high"]) == (0.0, 1.0)


def test_a_group_of_failures_has_no_rate():
    frame = FRAME.with_columns(outcome=pl.lit("failed"), verdict=pl.lit(None, pl.String))
    assert outcome_table(frame, by=["judge"])["valid_rate"].to_list() == [None, None]
