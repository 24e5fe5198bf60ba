"""The whole confidence interval must meet a tolerance."""

import polars as pl
import pytest

from judgerel_ray.asking.plan.resolve import check_tolerance
from judgerel_ray.core import SweepError
from judgerel_ray.measuring.reliability import with_tolerance


@pytest.mark.parametrize(
    ("name", "low", "high", "standing"),
    [
        ("krippendorff_alpha", 0.70, 0.90, "meets"),
        ("krippendorff_alpha", 0.667, 0.90, "meets"),
        ("krippendorff_alpha", 0.60, 0.90, "undecided"),
        ("krippendorff_alpha", 0.20, 0.60, "fails"),
        ("krippendorff_alpha", None, None, "undecided"),
        ("flip_rate", 0.01, 0.05, "meets"),
        ("flip_rate", 0.04, 0.06, "undecided"),
        ("flip_rate", 0.06, 0.10, "fails"),
        ("gwet_ac1", 0.10, 0.20, None),
    ],
)
def test_the_interval_decides(name, low, high, standing):
    schema = {"coefficient": pl.String, "low": pl.Float64, "high": pl.Float64}
    others = [("krippendorff_alpha", 0.0, 0.0), ("flip_rate", 0.0, 0.0)]
    rows = pl.DataFrame([(name, low, high), *others], schema=schema, orient="row")
    tolerance = {"krippendorff_alpha": 0.667, "flip_rate": 0.05}
    judged = with_tolerance(rows, tolerance).row(0, named=True)
    assert (judged["standing"], judged["tolerance"]) == (standing, tolerance.get(name))


def test_mistakes_are_refused():
    rows = pl.DataFrame({"coefficient": ["flip_rate"], "low": [0.1], "high": [0.2]})
    with pytest.raises(SweepError, match="expected one of flip_rate"):
        with_tolerance(rows, {"alpha": 0.5})
    with pytest.raises(SweepError, match="finite number"):
        with_tolerance(rows, {"flip_rate": float("nan")})


@pytest.mark.parametrize("least", [2, 67.0])
def test_a_tolerance_that_nothing_can_meet_is_refused(least):
    rows = pl.DataFrame({"coefficient": ["krippendorff_alpha"], "low": [0.1], "high": [0.2]})
    for refuse in (lambda told: with_tolerance(rows, told), check_tolerance):
        with pytest.raises(SweepError, match=f"must be at most 1, .* got {least:g}. Try: "):
            refuse({"krippendorff_alpha": least})
        refuse({"krippendorff_alpha": 1.0})
