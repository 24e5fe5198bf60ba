"""The law of temperature 0: its repeats, whatever they say, are in no number of another."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.analyses.advice.advice import advise_judgments
from judgerel_ray.analyses.comparison.comparison import compare_judgments
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.papers import PUBLISHED
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.measuring.unstable import least_stable
from judgerel_ray.stats import COEFFICIENTS
from judgerel_ray.stats.internal_consistency import CONSISTENCY

SERVING_NOISE, LEFT_OUT = Flag.SERVING_NOISE.value, Flag.GREEDY_LEFT_OUT.value

NAMES = sorted({*COEFFICIENTS, *PUBLISHED})
verdicts = st.lists(st.sampled_from(["A", "B", "C", None]), min_size=2, max_size=4)
sampled = st.lists(verdicts, min_size=2, max_size=4)
repeated = st.lists(
    st.lists(st.sampled_from(["A", "B", "D", None]), min_size=2, max_size=5), min_size=1, max_size=4
)


def judgments(cells, temperature):
    rows = [
        {"judge": "j", "item_id": f"q{q}", "temperature": temperature, "replication": r,
         "verdict": verdict}
        for q, replies in enumerate(cells)
        for r, verdict in enumerate(replies)
    ]  # fmt: skip
    return pl.LazyFrame(rows, schema_overrides={"verdict": pl.String, "temperature": pl.Float64})


def told(table):
    """What a table says, but for words."""
    words = ("estimator", "flags", "flag_numbers", "flag_sides")
    return table.drop([name for name in words if name in table.columns]).rows()


# The menu is the distinct values of a file, so that a verdict no other reply gives adds an option.
MENU = {"b": 4}


@pytest.mark.slow
@given(sampled, sampled, repeated)
@settings(max_examples=30)
def test_no_coefficient_of_a_group_that_sampled_moves(warm, hot, cold):
    without = pl.concat([judgments(warm, 0.5), judgments(hot, 1.0)]).with_columns(
        benchmark=pl.lit("b")
    )
    rows = pl.concat([without, judgments(cold, 0.0).with_columns(benchmark=pl.lit("b"))])
    asked = {"coefficients": NAMES, "missing": ["category", "drop"], "n_categories": MENU}
    for by in (["judge"], ["judge", "benchmark"], []):
        pooled = reduce_judgments(rows, by=by, **asked)
        assert pooled["flags"].list.contains(LEFT_OUT).all()
        # Whether any reply lacks a verdict is asked of the whole file, and adds a category.
        names = pl.col("coefficient").is_in(["gwet_ac1", "brennan_prediger", "entropy_agreement"])
        expected = reduce_judgments(without, by=by, **asked)
        assert told(pooled.filter(~names)) == told(expected.filter(~names))
    apart = reduce_judgments(rows, coefficients=["percent_agreement", "icc1", "flip_rate"])
    for temperature in (0.5, 1.0):
        mine = pl.col("temperature") == temperature
        expected = reduce_judgments(
            without, coefficients=["percent_agreement", "icc1", "flip_rate"]
        )
        assert told(apart.filter(mine)) == told(expected.filter(mine))
    said = apart.filter(pl.col("temperature") == 0)["flags"]
    assert said.list.contains(SERVING_NOISE).all()


@pytest.mark.slow
@given(sampled, repeated)
@settings(max_examples=15)
def test_no_advice_no_comparison_and_no_list_moves(warm, cold):
    without = judgments(warm, 1.0)
    rows = pl.concat([without, judgments(cold, 0.0)])
    assert told(least_stable(rows, by=["judge"])) == told(least_stable(without, by=["judge"]))
    mine, expected = (advise_judgments(frame, by=["judge"]).tables() for frame in (rows, without))
    for name in mine:
        assert told(mine[name]) == told(expected[name])
    both = [
        compare_judgments(frame, frame, by=["judge"], coefficients=["percent_agreement"])
        for frame in (rows, without)
    ]
    assert told(both[0]) == told(both[1])


@pytest.mark.parametrize("name", NAMES)
def test_every_coefficient_of_replications_says_whose_they_are(name):
    found = reduce_judgments(judgments([["A", "A"], ["B", "C"]], 0.0), coefficients=[name])
    said = found["flags"].list.contains(SERVING_NOISE)
    assert said.all() is (name != "valid_rate")


def test_items_are_no_replications():
    rows = judgments([["A", "A"], ["B", "B"]], 0.0).with_columns(
        template=pl.lit("x"), score=pl.when(pl.col("verdict") == "A").then(1.0).otherwise(0.0)
    )
    found = reduce_judgments(
        pl.concat([rows, rows.with_columns(template=pl.lit("y"))]),
        items="template", coefficients=list(CONSISTENCY),
    )  # fmt: skip
    assert not found["flags"].list.contains(SERVING_NOISE).any()
