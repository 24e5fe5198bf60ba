"""The level of a rating is its scale's, and other levels are there when asked for."""

from __future__ import annotations

import krippendorff
import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.comparison.comparison import compare_judgments
from judgerel_ray.core import Scale
from judgerel_ray.counting.verdicts.policy import known_scale, level_of_scales, values_on
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.protocols.replies.scales import scale_labels, scale_values

LEVELS = ("nominal", "ordinal", "interval")
OWN = {"points5": "interval", "points10": "interval", "likert5": "ordinal", "binary": "nominal"}
STARS = Scale(name="stars", level="ordinal", lowest=1, highest=4)


def ratings(name: str, *, items: int = 30, k: int = 4, seed: int = 1, lost: float = 0.0):
    """Rows of a judge of a latent quality, on a shipped scale, as a run lays them out."""
    scale, rng = known_scale(name, {"stars": STARS}), np.random.default_rng(seed)
    labels, values = scale_labels(scale), scale_values(scale)
    latent = rng.uniform(0, 1, items)[:, None] + rng.normal(0, 0.15, (items, k))
    place = np.clip(np.floor(latent * len(values)), 0, len(values) - 1).astype(int)
    read = rng.uniform(size=(items, k)) >= lost
    rows = [
        {
            "judge": "j", "protocol": "rating", "criterion": "c", "scale": name,
            "item_id": f"q{i}", "replication": r, "temperature": 1.0,
            "verdict": labels[place[i, r]] if read[i, r] else None,
            "label": labels[place[i, r]] if read[i, r] else None,
            "score": values[place[i, r]] if read[i, r] else None,
            "outcome": "scored" if read[i, r] else "off_menu",
        }
        for i in range(items) for r in range(k)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"score": pl.Float64})


def alpha_of(rows: pl.DataFrame, level: str) -> float:
    """The package's alpha of the scores, or of the labels as codes where nominal."""
    wide = rows.pivot("replication", index="item_id", values="score").drop("item_id")
    data = wide.to_numpy().astype(float).T
    return float(krippendorff.alpha(data, level_of_measurement=level))


def alphas(rows: pl.DataFrame, **options) -> dict[str, float]:
    found = reduce_judgments(
        rows.lazy(), coefficients=["krippendorff_alpha"], missing=["drop"], **options
    )
    return dict(found.select("measurement", "value").rows())


@pytest.mark.alike(3)
@pytest.mark.parametrize("lost", [0.0, 0.2])
@pytest.mark.parametrize("name", OWN)
def test_all_levels_equal_the_package_and_the_scales_own_is_the_default(name, lost):
    rows = ratings(name, lost=lost)
    every = alphas(rows, measurement=LEVELS)
    assert list(every) == list(LEVELS)
    for level in LEVELS:
        assert every[level] == pytest.approx(alpha_of(rows, level), abs=1e-12)
    assert alphas(rows) == {OWN[name]: every[OWN[name]]}


def test_levels_differ_where_they_should_and_agree_on_two_values():
    five, binary = (alphas(ratings(name), measurement=LEVELS) for name in ("points5", "binary"))
    assert len({round(value, 6) for value in five.values()}) == 3
    assert max(binary.values()) - min(binary.values()) < 1e-12


def test_scales_of_one_run_are_apart_each_with_its_own_level_and_number_of_values():
    rows = pl.concat([ratings(name, seed=n) for n, name in enumerate(OWN)])
    found = reduce_judgments(
        rows.lazy(), coefficients=["krippendorff_alpha", "brennan_prediger"], missing=["drop"]
    )
    alpha = found.filter(coefficient="krippendorff_alpha")
    assert dict(alpha.select("scale", "measurement").rows()) == OWN
    chance = found.filter(coefficient="brennan_prediger")
    assert dict(chance.select("scale", "n_categories").rows()) == {
        "points5": 5, "points10": 10, "likert5": 5, "binary": 2,
    }  # fmt: skip


def test_a_scale_of_which_one_value_was_never_given_has_it_all_the_same():
    rows = ratings("points5").filter(pl.col("score") != 5)
    found = reduce_judgments(rows.lazy(), coefficients=["brennan_prediger"])
    assert found["n_categories"].to_list() == [5]
    # Worst and best case too: a missing rating may have been the value nobody gave.
    missing = rows.with_columns(
        pl.when(pl.col("replication") > 0).then(pl.col(name)).alias(name)
        for name in ("verdict", "label", "score")
    ).with_columns(outcome=pl.when(pl.col("replication") > 0).then("outcome").otherwise(
        pl.lit("off_menu")))  # fmt: skip
    ends = reduce_judgments(
        missing.lazy(), coefficients=["krippendorff_alpha"], missing=["bounds"]
    ).row(0, named=True)
    assert ends["measurement"] == "interval"
    assert ends["low"] < ends["high"]


def test_two_values_of_a_longer_scale_keep_its_level():
    rows = ratings("points10").filter(pl.col("score").is_in([3.0, 4.0]))
    assert list(alphas(rows)) == ["interval"]


def test_scales_together_have_the_weakest_level():
    rows = pl.concat([ratings("points5"), ratings("likert5", seed=2)])
    assert list(alphas(rows, by=["judge"])) == ["ordinal"]
    with_binary = pl.concat([rows, ratings("binary")])
    assert list(alphas(with_binary, by=["judge"])) == ["nominal"]
    assert level_of_scales(["binary", "points5"]) == "nominal"


def test_a_declared_scale_has_its_declared_level():
    rows = ratings("stars")
    assert list(alphas(rows)) == ["interval"]
    assert list(alphas(rows, scales={"stars": STARS})) == ["ordinal"]
    found = reduce_judgments(
        rows.filter(pl.col("score") < 4).lazy(),
        coefficients=["brennan_prediger"],
        scales={"stars": STARS},
    )
    assert found["n_categories"].to_list() == [4]


def test_an_unknown_scale_of_words_is_ordinal_and_counts_only_its_own_values():
    words = ratings("likert5").with_columns(scale=pl.lit("mine"))
    assert list(alphas(words)) == ["ordinal"]
    both = pl.concat([words, ratings("points10")])
    found = reduce_judgments(both.lazy(), coefficients=["brennan_prediger"])
    assert dict(found.select("scale", "n_categories").rows()) == {"mine": 5, "points10": 10}


def test_values_outside_a_scale_are_counted_as_they_are():
    rows = ratings("points5").with_columns(
        score=pl.col("score") + 3, verdict=(pl.col("score") + 3).cast(pl.Int64).cast(pl.String)
    )
    found = reduce_judgments(rows.lazy(), measurement=["nominal", "interval"])
    values = found.filter(coefficient="krippendorff_alpha").select("measurement", "value").rows()
    for level, value in values:
        assert value == pytest.approx(alpha_of(rows, level), abs=1e-12)


def test_judges_are_compared_at_the_level_of_the_scale():
    rows = pl.concat(
        [ratings("likert5"), ratings("likert5", seed=4).with_columns(judge=pl.lit("k"))]
    )
    found = compare_judgments(rows.lazy(), by=["judge"], coefficients=["krippendorff_alpha"])
    assert found["measurement"].to_list() == ["ordinal"]


def test_values_of_several_scales_are_all_there():
    assert values_on(["binary", "points5"]) == (7, (0.0, 1.0, 2.0, 3.0, 4.0, 5.0))
    assert values_on([]) is None
    assert values_on(["points5", "unheard-of"]) is None
