"""Ratings as rows of files have them: scores, verdicts in any spelling, and what is on no scale."""

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.ratings.inter_scale import inter_scale_table, scale_choice
from judgerel_ray.core import Scale, SweepError
from judgerel_ray.core.codes import Flag
from judgerel_ray.counting.columns import outcome_column
from judgerel_ray.counting.groups.rated import rated_groups, rated_rows
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.protocols import load_scale, scale_labels, score_of


def scores(scale, **columns):
    n = len(next(iter(columns.values())))
    rows = pl.LazyFrame({"item_id": [f"q{i}" for i in range(n)], "scale": [scale] * n, **columns})
    return rated_rows(rows)[0]["score"].to_list()


def test_verdicts_are_read_however_they_are_spelled():
    assert scores("points5", verdict=["4", "4.0", "04", None]) == [4.0, 4.0, 4.0, None]
    words = ["agree", "STRONGLY AGREE", "Strongly-disagree", "Neutral"]
    assert scores("likert5", verdict=words) == [3.0, 4.0, 0.0, 2.0]
    assert scores("binary", verdict=["yes", "No"]) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("scale", "columns", "said"),
    [
        ("points5", {"score": [3.5]}, "score 3.5 is not on scale points5, which has whole numbers"),
        ("points5", {"verdict": ["6"]}, "score 6 is not on scale points5"),
        ("points5", {"verdict": ["good"]}, "verdict 'good' is not on scale points5"),
        ("likert5", {"verdict": ["somewhat agree"]}, "verdict 'somewhat agree' is not on scale"),
        ("likert5", {"score": [1.5]}, "which has Strongly Disagree, Disagree, Neutral, Agree"),
    ],
)
def test_what_is_on_no_scale_is_refused(scale, columns, said):
    with pytest.raises(SweepError, match=said):
        scores(scale, **columns)


@pytest.mark.slow
def test_outcomes_that_a_file_leaves_empty_are_told_by_what_was_read(tmp_path):
    told = pl.DataFrame({"outcome": [None, "off_menu", "scored"], "score": [4.0, None, 5.0]})
    assert told.with_columns(outcome_column(told.columns)).columns == ["outcome", "score"]
    rows = [
        {"item_id": f"q{i}", "scale": scale, "replication": r, "score": float(1 + (i + r) % 4)}
        for scale in ("points5", "points10") for i in range(12) for r in range(2)
    ]  # fmt: skip
    full, partly = pl.DataFrame(rows), tmp_path / "partly.parquet"
    full.write_parquet(tmp_path / "full.parquet")
    every_other = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("scored"))
    full.with_columns(outcome=every_other).write_parquet(partly)
    expected = judgerel_ray.scales(tmp_path / "full.parquet")
    found = judgerel_ray.scales(partly)
    assert found.inter_scale.to_dicts() == expected.inter_scale.to_dicts()
    assert found.self_consistency.to_dicts() == expected.self_consistency.to_dicts()
    with pytest.raises(SweepError, match=r"no column 'x' to group by, got columns [a-z_, ]+") as no:
        judgerel_ray.scales(partly, by=["x"])
    assert "literal" not in str(no.value)


@pytest.mark.slow
def test_definitions_and_scales_are_told_from_the_least_to_the_most(tmp_path):
    rows = [
        {"item_id": f"q{i}", "definition": told, "scale": scale, "replication": r,
         "score": float((i + r) % 2) + low}
        for told in ("long", "short", "none") for i in range(4) for r in range(2)
        for scale, low in (("points10", 1), ("binary", 0), ("points5", 1))
    ]  # fmt: skip
    pl.DataFrame(rows).write_parquet(tmp_path / "r.parquet")
    tables = judgerel_ray.scales(tmp_path / "r.parquet")
    own, across = tables.self_consistency, tables.inter_scale
    assert own["definition"].unique(maintain_order=True).to_list() == ["none", "short", "long"]
    assert own["scale"].to_list() == ["binary", "points5", "points10"] * 3
    assert across["definition"].unique(maintain_order=True).to_list() == ["none", "short", "long"]


def test_a_scale_of_decimals_does_not_collapse():
    tenths = Scale(name="tenths", level="interval", lowest=1, highest=10, decimals=True)
    rows = pl.LazyFrame({"item_id": ["q", "r"] * 2, "scale": ["points5"] * 2 + ["tenths"] * 2,
                         "score": [1.0, 5.0, 1.5, 9.9]})  # fmt: skip
    groups = rated_groups(*rated_rows(rows, scales={"tenths": tenths}))
    [row] = inter_scale_table(groups, scale_choice(mapping="collapse")).to_dicts()
    assert (row["undefined"], row["ceiling"]) == ("does_not_apply", None)
    assert (row["flags"], row["statistic"]) == (["scale_of_decimals"], None)
    assert row["estimator"] == "collapse is of whole points, and a scale has decimals"
    [row] = inter_scale_table(groups, scale_choice()).to_dicts()
    assert row["ceiling_of"] == "uniform_to_points_and_tenths"


def test_ratings_on_one_scale_say_where_their_consistency_is():
    rows = pl.LazyFrame({"item_id": ["q"], "scale": ["points5"], "score": [4.0]})
    with pytest.raises(SweepError, match="two scales or more, got ratings on points5") as said:
        inter_scale_table(rated_groups(*rated_rows(rows)), scale_choice())
    assert "judgerel reduce for self-consistency" in str(said.value)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("scale", "level"), [("likert5", "ordinal"), ("points5", "interval"), ("binary", "nominal")]
)
def test_verdicts_of_a_known_scale_are_reduced_at_its_level(tmp_path, scale, level):
    known = load_scale(scale)
    labels = scale_labels(known)
    rng = np.random.default_rng(5)
    place = np.clip(rng.integers(0, len(labels), (30, 1)) + rng.integers(-1, 2, (30, 3)), 0, None)
    place = np.minimum(place, len(labels) - 1)
    rows = [
        {"item_id": f"q{i}", "scale": scale, "replication": r, "verdict": labels[place[i, r]]}
        for i in range(30) for r in range(3)
    ]  # fmt: skip
    verdicts = pl.DataFrame(rows)
    verdicts.write_parquet(tmp_path / "verdicts.parquet")
    scores = [score_of(one, known) for one in verdicts["verdict"]]
    verdicts.with_columns(score=pl.Series(scores)).write_parquet(tmp_path / "scores.parquet")
    found = [
        judgerel_ray.reduce(tmp_path / name, coefficients=["krippendorff_alpha"])
        for name in ("verdicts.parquet", "scores.parquet")
    ]
    assert set(found[0]["measurement"]) == {level}
    assert found[0].equals(found[1])


def test_kappa_of_ratings_says_how_many_labels_are_no_numbers():
    rows = pl.LazyFrame({
        "item_id": [*"qqrrsstt"], "replication": [0, 1] * 4,
        "score": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 1.0, 1.0],
        "gold": ["1", "1", "2", "2", "3", "3", "good", "good"],
    })  # fmt: skip
    found = reduce_judgments(rows, coefficients=["accuracy", "cohen_kappa"])
    kappa = found.row(by_predicate=pl.col("coefficient") == "cohen_kappa", named=True)
    accuracy = found.row(by_predicate=pl.col("coefficient") == "accuracy", named=True)
    assert (kappa["value"], kappa["n_compared"], accuracy["value"]) == (1.0, 3, 0.75)
    flag = Flag(kappa["flags"][kappa["flags"].index("labels_no_numbers")])
    numbers = kappa["flag_numbers"][kappa["flags"].index(flag)]
    assert flag.note(numbers).startswith(
        "labels that are no numbers: kappa of ratings leaves out 1"
    )
    numbered = rows.with_columns(gold=pl.col("gold").replace("good", "1"))
    found = reduce_judgments(numbered, coefficients=["cohen_kappa"])
    assert "labels_no_numbers" not in found["flags"][0]
