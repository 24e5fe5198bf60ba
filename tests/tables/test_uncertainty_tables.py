"""The tables of matrices and distributions: their columns, and what they refuse."""

from __future__ import annotations

import polars as pl
import pytest

from judgerel_ray.tables import Confusions, Distributions

QUESTION = {
    "judge": "j",
    "benchmark": "b",
    "item_id": "q",
    "template": "default",
    "criterion": None,
}


def matrix(**changes) -> pl.DataFrame:
    rows = [
        {**QUESTION, "temperature": 0.0, "mode": "columns", "assessment_option": a,
         "verdict_option": o, "probability": p}
        for a, o, p in (("x", "x", 0.9), ("x", "y", 0.05), ("y", "x", None), ("y", "y", None))
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=Confusions.create_empty().schema)
    return frame.with_columns(**{name: pl.lit(value) for name, value in changes.items()})


def distribution(*probabilities, **changes) -> pl.DataFrame:
    rows = [
        {**QUESTION, "option_order": 0, "temperature": 1.0, "verdict": verdict,
         "probability": p, "low": p, "high": p}
        for verdict, p in zip(("x", "y", None), probabilities, strict=True)
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=Distributions.create_empty().schema)
    return frame.with_columns(**{name: pl.lit(value) for name, value in changes.items()})


def test_the_columns_are_those_of_the_contract():
    assert Confusions.create_empty().columns == [
        "judge", "benchmark", "item_id", "template", "criterion", "temperature", "mode",
        "assessment_option", "verdict_option", "probability",
    ]  # fmt: skip
    assert Distributions.create_empty().columns == [
        "judge", "benchmark", "item_id", "template", "criterion", "option_order", "temperature",
        "verdict", "probability", "low", "high", "responder", "definition", "scale",
    ]  # fmt: skip


def test_an_assessment_that_is_not_there_is_null_for_every_option():
    assert Confusions.is_valid(matrix())
    half = matrix().with_columns(
        probability=pl.when(verdict_option="x").then(0.5).otherwise("probability")
    )
    assert not Confusions.is_valid(half)


@pytest.mark.parametrize(
    "changes",
    [{"mode": "rows"}, {"mode": "single"}, {"probability": 1.5}, {"verdict_option": "x"}],
)
def test_what_is_no_matrix_is_refused(changes):
    assert not Confusions.is_valid(matrix(**changes))


def test_one_prompt_with_all_assessments_has_no_column_names():
    rows = matrix(mode="single").filter(assessment_option="x")
    assert Confusions.is_valid(rows.with_columns(assessment_option=pl.lit(None, dtype=pl.String)))


def test_a_distribution_counts_replies_without_a_verdict():
    assert Distributions.is_valid(distribution(0.5, 0.25, 0.25))
    assert not Distributions.is_valid(distribution(0.5, 0.25, 0.0))


@pytest.mark.parametrize("changes", [{"low": 0.6}, {"high": 0.2}, {"verdict": "x"}, {"low": -0.1}])
def test_what_is_no_distribution_is_refused(changes):
    assert not Distributions.is_valid(distribution(0.5, 0.25, 0.25, **changes))
