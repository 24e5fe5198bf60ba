"""Verbal bands are of intervals, and of reliabilities alone."""

import polars as pl
import pytest

from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.measuring.tolerance import with_bands


@pytest.mark.parametrize(
    ("name", "missing", "low", "high", "band"),
    [
        ("krippendorff_alpha", "drop", 0.91, 0.99, "Excellent"),
        (
            "mcdonald_omega",
            "drop",
            0.55,
            0.65,
            "no one band: the interval spans Poor to Questionable",
        ),
        ("schroeder2024_omega", None, None, None, "no band: there is no interval"),
        ("krippendorff_alpha", "bounds", 0.91, 0.99, None),
        ("percent_agreement", "drop", 0.91, 0.99, None),
    ],
)
def test_the_interval_has_the_band(name, missing, low, high, band):
    schema = {"coefficient": pl.String, "missing": pl.String, "low": pl.Float64, "high": pl.Float64}
    rows = pl.DataFrame([(name, missing, low, high)], schema=schema, orient="row")
    assert with_bands(rows)["band"].to_list() == [band]


def test_a_point_never_has_one():
    # Leaving out any of four unanimous questions changes nothing: a value without an interval.
    rows = {"item_id": [*"qqrrsstt"], "replication": [0, 1] * 4, "verdict": [*"AABBAABB"]}
    found = with_bands(reduce_judgments(pl.LazyFrame(rows), coefficients=["krippendorff_alpha"]))
    assert found.select("value", "low", "band").row(0) == (
        1.0,
        None,
        "no band: there is no interval",
    )
