"""Scores of many values: the same numbers as arrays give, in any order, and never counted."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.blocks.words import remarks
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.stats import icc

NAMES = ["krippendorff_alpha", "icc1", "icck"]


def drawn(n_questions, m, *, spread=1.0, seed=0):
    rng = np.random.default_rng(seed)
    scores = spread * rng.normal(size=(n_questions, 1)) + rng.normal(size=(n_questions, m))
    return scores


def frame(scores, **columns):
    n_questions, m = scores.shape
    rows = pl.DataFrame(
        {
            "item_id": np.repeat([f"q{i:05}" for i in range(n_questions)], m),
            "replication": np.tile(np.arange(m), n_questions),
            "score": scores.ravel(),
            **columns,
        }
    )
    return rows.with_columns(pl.col("score").fill_nan(None))


def reduced(rows, names=NAMES, **options):
    found = reduce_judgments(rows.lazy(), coefficients=names, **options)
    return {row["coefficient"]: row for row in found.iter_rows(named=True)}


def test_values_are_those_of_arrays():
    scores = drawn(60, 5)
    found = reduced(frame(scores))
    assert found["icc1"]["value"] == pytest.approx(icc(scores).value, abs=1e-12)
    assert found["icck"]["value"] == pytest.approx(icc(scores, k=5).value, abs=1e-12)
    # Interval alpha of complete data: 1 - MSW / MST.
    within = scores.var(axis=1, ddof=1).mean()
    alpha = 1 - within / scores.var(ddof=1)
    assert found["krippendorff_alpha"]["value"] == pytest.approx(alpha, abs=1e-12)
    assert all(row["low"] < row["value"] < row["high"] for row in found.values())
    assert [found[name]["noise"] for name in NAMES] == [False, False, None]
    assert "by number, sum and sum of squares" in found["icc1"]["estimator"]


def test_intervals_and_floors_are_near_those_of_counted_scores():
    rounded = np.clip(drawn(50, 8).round(1), -3, 3)  # 61 values: counted
    many = rounded + 1e-7 * np.arange(400).reshape(50, 8)  # 400: summed
    counted, summed = reduced(frame(rounded)), reduced(frame(many))
    for name in NAMES:
        for column in ("value", "low", "high"):
            assert summed[name][column] == pytest.approx(counted[name][column], abs=1e-4)
    for name in NAMES[:2]:
        assert summed[name]["noise_floor"] == pytest.approx(counted[name]["noise_floor"], abs=0.005)
        ratio = summed[name]["noise_floor_sd"] / counted[name]["noise_floor_sd"]
        assert ratio == pytest.approx(1, abs=0.1)


@pytest.mark.slow
def test_noise_is_called_noise():
    called = [reduced(frame(drawn(30, 10, spread=0, seed=seed)), NAMES[:2]) for seed in range(20)]
    for name in NAMES[:2]:
        assert np.mean([found[name]["noise"] for found in called]) >= 0.85


@pytest.mark.slow
def test_noise_with_tails_is_called_noise_where_some_questions_are_asked_more_often():
    items = np.repeat([f"q{i:02}" for i in range(40)], [2] * 35 + [100] * 5)
    called = []
    for seed in range(60):
        scores = np.random.default_rng(seed).lognormal(sigma=1.5, size=items.size)
        rows = pl.DataFrame(
            {"item_id": items, "replication": np.arange(items.size), "score": scores}
        )
        called.append([row["noise"] for row in reduced(rows, NAMES[:2]).values()])
    # .95 less two and a half standard errors of 60 runs.
    assert np.mean(called, axis=0).min() >= 0.88


def test_the_order_of_rows_does_not_matter():
    rows = frame(drawn(40, 6))
    one = reduced(rows)
    for seed in range(3):
        other = reduced(rows.sample(fraction=1.0, shuffle=True, seed=seed))
        for name in NAMES:
            for column in ("value", "low", "high", "noise_floor", "p_noise"):
                assert other[name][column] == one[name][column]


@pytest.mark.slow
def test_many_questions_are_no_matter():
    found = reduced(frame(drawn(5_000, 3)), ["icc1", "percent_agreement", "valid_rate"])
    assert found["icc1"]["value"] == pytest.approx(0.5, abs=0.05)
    assert found["percent_agreement"]["undefined"] == "continuous_scores"
    assert found["valid_rate"]["value"] == 1.0
    assert (found["icc1"]["n_items"], found["icc1"]["n_judgments"]) == (5_000, 15_000)


def test_missing_scores_are_left_out_and_no_category():
    scores = drawn(60, 5)
    scores[::7, 0] = np.nan
    rows = frame(scores)
    found = reduce_judgments(rows.lazy(), coefficients=["icc1"])
    said = found.select("missing", "undefined", "n_missing").rows()
    assert said == [("category", "category_needs_nominal", 9), ("drop", None, 9)]
    assert found["value"][1] == pytest.approx(icc(scores).value, abs=1e-12)


def test_levels_other_than_interval_say_so():
    found = reduce_judgments(
        frame(drawn(60, 5)).lazy(),
        coefficients=["krippendorff_alpha"],
        measurement=["ordinal", "interval"],
    )
    assert found["undefined"].to_list() == ["continuous_scores", None]


def test_groups_are_told_apart():
    both = pl.concat(
        [frame(drawn(60, 5), judge=["j"] * 300), frame(drawn(60, 5, seed=1), judge=["k"] * 300)]
    )
    found = reduce_judgments(both.lazy(), coefficients=["icc1"])
    alone = [icc(drawn(60, 5, seed=seed)).value for seed in (0, 1)]
    assert found["value"].to_list() == pytest.approx(alone, abs=1e-12)


def test_scores_that_rest_on_few_questions_say_so():
    rng = np.random.default_rng(0)
    means = np.zeros((100, 1))
    means[:3] = -8.0
    found = reduced(frame(means + rng.normal(size=(100, 5))))
    for name in NAMES:
        said = [part for part in found[name]["estimator"].split("; ") if part.startswith("rests")]
        assert said == ["rests on few questions: 3.8 of 100 carry the differences between them"]
        assert any(one in remarks({**found[name], "noise": None}) for one in said)
    normal = reduced(frame(drawn(100, 5)))
    assert not any("rests on few" in row["estimator"] for row in normal.values())


@pytest.mark.parametrize(("level", "said"), [("interval", True), ("ordinal", False)])
def test_points_that_rest_on_few_questions_say_so_too(level, said):
    # In ranks the two low ones are no farther off than others.
    rng = np.random.default_rng(1)
    points = np.where(np.arange(40) < 2, 1, 8)[:, None] + rng.integers(0, 3, (40, 5))
    found = reduced(frame(points.astype(float)), ["krippendorff_alpha"], measurement=[level])
    assert ("rests on few questions" in found["krippendorff_alpha"]["estimator"]) == said
    spread = np.arange(40)[:, None] % 8 + rng.integers(0, 3, (40, 5))
    found = reduced(frame(spread.astype(float)), ["krippendorff_alpha"], measurement=[level])
    assert "rests on few questions" not in found["krippendorff_alpha"]["estimator"]
