"""Worst and best case over missing verdicts, as rows."""

import polars as pl
import pytest

from judgerel_ray.measuring.reliability import reduce_judgments

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


@pytest.mark.parametrize("seen", ["----", "A-A-", "AA--"])
def test_a_judge_that_never_answered_is_certified_nothing(seen):
    # No menu is declared, and one verdict at most was seen: what is missing may be anything.
    found = bounds(judged(seen * 3, n=4))
    assert set(found) == set(NAMES)
    for row in found.values():
        assert (row["low"], row["high"], row["undefined"]) == (None, None, "no_bounds")
        assert "not all values" in row["estimator"]


def test_declared_options_bound_even_what_was_never_seen():
    frame = judged("----" * 3, n=4).with_columns(benchmark=pl.lit("b"))
    found = reduce_judgments(
        frame.lazy(), missing=["bounds"], coefficients=NAMES, n_categories={"b": 2}
    ).filter(coefficient="percent_agreement", missing="bounds")
    assert found.select("low", "high").row(0) == pytest.approx((1 / 3, 1.0))


def scored(values, n=4):
    """Questions of n scores each; "-" is a refusal."""
    frame = judged(values, n)
    score = [None if one == "-" else float(one) for one in values]
    return frame.drop("verdict").with_columns(score=pl.Series(score, dtype=pl.Float64))


@pytest.mark.slow
@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_bounds_are_of_the_level_asked_for(level):
    known = "112" + "-" + "23341144231"
    names = ["krippendorff_alpha", "icc1", "percent_agreement"]
    asked = {"coefficients": names, "measurement": [level]}
    found = reduce_judgments(scored(known + "-").lazy(), missing=["bounds"], **asked)
    rows = {row["coefficient"]: row for row in found.to_dicts() if row["missing"] == "bounds"}
    whole = [
        reduce_judgments(scored((known + last).replace("-", first)).lazy(), **asked)
        for first in "1234"
        for last in "1234"
    ]
    for name in names:
        values = [one.filter(coefficient=name)["value"].item() for one in whole]
        row = rows[name]
        assert (row["low"], row["high"]) == pytest.approx((min(values), max(values)))
        expected = whole[0].filter(coefficient=name)["measurement"].item()
        assert row["measurement"] == expected
    assert "one of the 4 scores of the file" in rows["icc1"]["estimator"]


def test_levels_without_bounds_say_which():
    frame = scored("112-2334").with_columns(benchmark=pl.lit("b"))
    asked = {"missing": ["bounds"], "measurement": ["ordinal"], "coefficients": NAMES[:1]}
    row = reduce_judgments(frame.lazy(), n_categories={"b": 7}, **asked).to_dicts()[0]
    assert (row["low"], row["undefined"], row["measurement"]) == (None, "no_bounds", "ordinal")
    assert "not all values" in row["estimator"]
    assert "(ordinal level)" in row["estimator"]
    named = reduce_judgments(judged("AAB-AB").lazy(), **asked).to_dicts()[0]
    assert (named["low"], named["undefined"], named["measurement"]) == (
        None,
        "no_scores",
        "ordinal",
    )


def test_continuous_scores_have_no_bounds_and_say_so():
    n = 600
    frame = pl.DataFrame(
        {
            "item_id": [f"q{i // 2}" for i in range(n)],
            "replication": [i % 2 for i in range(n)],
            "score": [None if i == 7 else i * 0.37 for i in range(n)],
            "outcome": ["refused" if i == 7 else "scored" for i in range(n)],
        }
    )
    found = reduce_judgments(
        frame.lazy(), missing=["bounds"], coefficients=["icc1", "flip_rate"]
    ).filter(missing="bounds")
    assert found.select("low", "undefined").rows() == [(None, "no_bounds")] * 2
    assert found["estimator"].str.contains("continuous").all()
