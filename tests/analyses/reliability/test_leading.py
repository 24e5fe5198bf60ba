"""What leads by the kind of judgment: classes of pass and fail, the error of one rating."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.measuring.reliability import reduce_judgments


def table(rows, *columns) -> pl.LazyFrame:
    return pl.DataFrame(rows, schema=columns, orient="row").lazy()


def ratings(*, shift=0.0, error=0.8, items=80, replications=5, seed=0) -> pl.LazyFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{item}", template, replication, round(level + moved + rng.normal(0, error), 1))
        for item, level in enumerate(rng.normal(5, 2, size=items))
        for template, moved in (("s", 0.0), ("t", shift))
        for replication in range(replications)
    ]
    return table(rows, "item_id", "template", "replication", "score")


def passes(seed=0) -> pl.LazyFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (
            f"q{item}",
            replication,
            "pass" if rng.random() < (0.4 if item % 10 == 0 else 0.97) else "fail",
        )
        for item in range(60)
        for replication in range(4)
    ]
    return table(rows, "item_id", "replication", "verdict")


def value(found: pl.DataFrame, **of) -> dict:
    rows = found.filter(**of)
    assert rows.height == 1
    return rows.row(0, named=True)


def test_agreement_on_each_class_is_counted_by_hand():
    frame = passes().collect()
    found = reduce_judgments(frame.lazy())
    for name in ("pass", "fail"):
        both = all_of = 0
        for _, item in frame.group_by("item_id"):
            says = [verdict == name for verdict in item["verdict"]]
            pairs = [(a, b) for i, a in enumerate(says) for j, b in enumerate(says) if i != j]
            both += sum(a and b for a, b in pairs)
            all_of += sum(a for a, _ in pairs)
        row = value(found, coefficient=f"class_agreement:{name}")
        assert row["value"] == pytest.approx(both / all_of)
        assert row["low"] < row["value"] < row["high"]
    # By chance a judgment of a class meets another of it as often as the class occurs.
    assert value(found, coefficient="class_agreement:fail")["noise_floor"] == pytest.approx(
        (frame["verdict"] == "fail").mean(), abs=0.02
    )


def test_options_of_a_menu_are_no_classes():
    found = reduce_judgments(passes().with_columns(option_order=pl.lit(0)))
    assert not [name for name in found["coefficient"] if name.startswith("class_agreement")]
    three = reduce_judgments(table([("q", 0, "A"), ("q", 1, "B"), ("r", 0, "C")], "item_id",
                                   "replication", "verdict"))  # fmt: skip
    assert "class_agreement:A" not in three["coefficient"].to_list()


@pytest.mark.slow
def test_the_error_of_one_rating_is_what_was_planted():
    found = reduce_judgments(ratings(shift=1.0)).filter(coefficient="standard_error")
    reproduced, repeated = found.to_dicts()
    assert (reproduced["conditions"], repeated["conditions"]) == (
        "reproducibility", "repeatability",
    )  # fmt: skip
    # Of the same prompt .8; with a template at random also half a point either way.
    assert repeated["low"] < 0.8 < repeated["high"]
    assert reproduced["low"] < np.sqrt(0.8**2 + 0.25) < reproduced["high"]
    # Of ratings that ignore their item: the spread of all ratings.
    assert repeated["noise_floor"] == pytest.approx(
        ratings(shift=1.0).collect()["score"].std(), abs=0.01
    )
    assert [reproduced["noise"], repeated["noise"]] == [False, False]


@pytest.mark.slow
def test_its_interval_holds():
    covered = []
    for seed in range(120):
        frame = ratings(items=20, replications=3, seed=seed, error=0.5).filter(
            pl.col("template") == "s"
        )
        row = value(
            reduce_judgments(frame, coefficients=["standard_error"]), coefficient="standard_error"
        )
        # Rounding to tenths adds its own variance.
        covered.append(row["low"] <= np.sqrt(0.25 + 0.01 / 12) <= row["high"])
    assert np.mean(covered) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 120)


@pytest.mark.slow
def test_ratings_lead_with_numbers_and_keep_the_rest():
    names = reduce_judgments(ratings())["coefficient"].to_list()
    assert {"icc1", "standard_error", "krippendorff_alpha", "percent_agreement"} <= set(names)


def test_names_have_no_error_in_points():
    found = reduce_judgments(passes(), coefficients=["standard_error"])
    assert found["undefined"].to_list() == ["no_scores"]
