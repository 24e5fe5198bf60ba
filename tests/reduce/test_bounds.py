"""Worst and best case over missing verdicts, as rows."""

import polars as pl
import pytest

from judgerel_ray.reduce import reduce_judgments

NAMES = (
    "krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "icc1", "entropy_agreement",
    "majority_stability_3", "percent_agreement",
)  # fmt: skip


def judged(values, n=6):
    """Questions of n replies each; "-" is a refusal."""
    return pl.DataFrame(
        {
            "item_id": [f"q{i}" for i in range(len(values) // n) for _ in range(n)],
            "replication": list(range(n)) * (len(values) // n),
            "verdict": [None if one == "-" else one for one in values],
            "outcome": ["refused" if one == "-" else "scored" for one in values],
        }
    )


def bounds(frame):
    """Rows of bounds by coefficient."""
    table = reduce_judgments(frame.lazy(), missing=["bounds"], coefficients=NAMES)
    return {row["coefficient"]: row for row in table.to_dicts() if row["missing"] == "bounds"}


def test_coefficients_with_chance_of_their_own_have_bounds():
    # One verdict is missing: the two ways are A, and B.
    known = "AAAAAB" + "BBBBAB" + "AABAB"
    found = bounds(judged(known + "-"))
    whole = [reduce_judgments(judged(known + one).lazy(), coefficients=NAMES) for one in "AB"]
    for name in NAMES:
        values = [one.filter(coefficient=name)["value"].item() for one in whole]
        row = found[name]
        assert (row["low"], row["high"]) == pytest.approx((min(values), max(values)))
        assert row["estimator"].startswith("worst and best case over 1 missing")
        assert (row["value"], row["undefined"]) == (None, "worst_to_best_case")


def test_a_bracket_says_that_it_is_one():
    # 5 categories and 60 missing: too many totals to walk.
    found = bounds(judged("ABCDE-" * 60))
    row = found["krippendorff_alpha"]
    assert row["estimator"].startswith("bracket of the worst and the best case over 60")
    assert -1 < row["low"] < row["high"] <= 0
    assert "bracket" not in found["percent_agreement"]["estimator"]


def test_what_has_no_bounds_says_so():
    table = reduce_judgments(judged("AABAB-" * 2).lazy(), missing=["bounds"], coefficients=["icck"])
    assert table.filter(missing="bounds").select("low", "undefined").row(0) == (None, "no_bounds")
