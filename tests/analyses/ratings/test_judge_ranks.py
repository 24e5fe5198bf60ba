"""Judges ranked by what their ratings are."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.ratings.alignment import judge_reference
from judgerel_ray.analyses.ratings.inter_scale import ScaleChoice, inter_scale_table
from judgerel_ray.analyses.ratings.judge_ranks import (
    rank_table,
    self_consistency_by_question,
    self_consistency_measure,
)
from judgerel_ray.analyses.ratings.show import ranking_blocks
from judgerel_ray.blocks.terminal import printed
from judgerel_ray.core import SweepError
from judgerel_ray.counting.groups.rated import rated_groups, rated_rows
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.stats.intervals.question_statistic import whole

N, K = 40, 3


def as_text(found):
    return " ".join(printed(ranking_blocks(found)).split())


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(2)
    latent = rng.uniform(size=(N, 1))
    rows = []
    for judge, noise in (("steady", 0.05), ("middling", 0.25), ("wild", 0.8)):
        for scale, low, high in (("points5", 1, 5), ("points10", 1, 10), ("likert5", 0, 4)):
            said = low + (high - low) * (latent + noise * rng.normal(size=(N, K)))
            table = np.clip(np.rint(said), low, high)
            rows += [
                {"judge": judge, "item_id": f"q{n}", "scale": scale, "temperature": 1.0,
                 "replication": r, "score": table[n, r]}
                for n in range(N) for r in range(K)
            ]  # fmt: skip
    return rated_rows(pl.DataFrame(rows).lazy())


@pytest.mark.slow
def test_measures_are_means_of_the_tables(ratings):
    rows, scales = ratings
    groups = rated_groups(rows, scales)
    found = rank_table(groups, ScaleChoice(), outside={"steady": 1.0, "wild": 3.0})
    value = {(row["measure"], row["judge"]): row["value"] for row in found.ranks.to_dicts()}
    across = inter_scale_table(groups, ScaleChoice()).filter(n_scales=2)
    own = reduce_judgments(
        rows.lazy(), by=["judge", "scale"], missing=("drop",), coefficients=["krippendorff_alpha"]
    )
    for judge in ("steady", "middling", "wild"):
        pairs = across.filter(judge=judge)["value"].mean()
        assert value["inter_scale", judge] == pytest.approx(pairs, abs=1e-12)
        alone = own.filter(judge=judge)["value"].mean()
        assert value["self_consistency", judge] == pytest.approx(alone, abs=1e-12)
    assert value["outside", "middling"] is None
    ranks = found.ranks.filter(measure="self_consistency").select("judge", "rank", "low", "high")
    assert sorted(ranks.rows()) == [("middling", 2, 2, 2), ("steady", 1, 1, 1), ("wild", 3, 3, 3)]
    assert found.ranks.filter(measure="inter_scale")["n_cells"].unique().to_list() == [3]
    taus = {(row["first"], row["second"]): row["tau"] for row in found.agreements.to_dicts()}
    assert taus["self_consistency", "inter_scale"] == 1.0
    assert taus["self_consistency", "outside"] == -1.0


def test_own_consistency_is_that_of_the_coefficients(ratings):
    rows, scales = ratings
    own = reduce_judgments(
        rows.lazy(), by=["judge", "scale"], missing=("drop",), coefficients=["krippendorff_alpha"]
    )
    for group in rated_groups(rows, scales):
        for name in scales:
            [row] = own.filter(judge=group.key["judge"], scale=name).to_dicts()
            assert whole(self_consistency_by_question(group, name)) == pytest.approx(
                row["value"], abs=1e-12
            )
            assert row["measurement"] == scales[name].level


def test_judges_share_a_table_of_values_and_keep_their_own_alpha(ratings):
    rows, scales = ratings
    # The last judge never gives the highest scores.
    lower = rows.filter((pl.col("judge") != "wild") | (pl.col("score") <= 3))
    groups = rated_groups(lower, scales)
    measure = self_consistency_measure(groups)
    for name in scales:
        found = [measure(group)[name] for group in groups]
        assert len({id(one.layout) for one in found}) == 1
        assert len({one.terms_CT.shape[1] for one in found}) == 1
        for group, one in zip(groups, found, strict=True):
            assert whole(one) == pytest.approx(
                whole(self_consistency_by_question(group, name)), abs=1e-12
            )


def test_a_reference_is_not_ranked_and_the_closer_judge_leads(ratings):
    rows, scales = ratings
    found = rank_table(
        rated_groups(rows, scales), ScaleChoice(), reference=judge_reference(rows, "steady"),
        name="steady",
    )  # fmt: skip
    aligned = found.ranks.filter(measure="alignment").sort("rank")
    assert aligned["judge"].to_list() == ["middling", "wild"]
    assert found.mean_ranks["judge"].to_list() == ["middling", "wild"]


def test_cells_that_some_judge_lacks_are_left_out(ratings):
    rows, scales = ratings
    fewer = rows.filter((pl.col("judge") != "wild") | (pl.col("scale") != "likert5"))
    found = rank_table(rated_groups(fewer, scales), ScaleChoice()).ranks
    counted = found.filter(measure="self_consistency").select("n_cells", "n_left_out").unique()
    assert counted.rows() == [(2, 1)]


def test_one_judge_is_not_ranked(ratings):
    rows, scales = ratings
    alone = rated_groups(rows.filter(judge="wild"), scales)
    with pytest.raises(SweepError, match="takes two of them"):
        rank_table(alone, ScaleChoice())


@pytest.mark.slow
def test_a_judge_that_always_says_the_same_is_not_in_the_way_of_the_others(ratings):
    rows, scales = ratings
    lowest = pl.when(pl.col("scale") == "likert5").then(0.0).otherwise(1.0)
    constant = rows.filter(judge="wild").with_columns(judge=pl.lit("one"), score=lowest)
    with_one = rank_table(rated_groups(pl.concat([rows, constant]), scales), ScaleChoice())
    without = rank_table(rated_groups(rows, scales), ScaleChoice())
    kept = pl.col("judge") != "one"
    assert with_one.ranks.filter(kept).equals(without.ranks)
    assert with_one.mean_ranks.filter(kept).equals(without.mean_ranks)
    left = with_one.ranks.filter(judge="one")
    assert left["rank"].null_count() == left.height == 2
    assert left["undefined"].unique().to_list() == ["undefined"]
    assert with_one.mean_ranks.filter(judge="one")["value"].to_list() == [None]
    text = as_text(with_one)
    assert (
        "self-consistency: the mean over 3 combinations of criterion and scales; none has a value "
        "of one"
    ) in " ".join(text.split())


@pytest.mark.slow
def test_a_mean_rank_says_what_it_averages(ratings):
    rows, scales = ratings
    outside = {"steady": 1.0, "wild": 3.0}
    found = rank_table(rated_groups(rows, scales), ScaleChoice(), outside=outside)
    text = as_text(found)
    assert "mean rank: over self-consistency and inter-scale alone" in text
    assert "alignment is Pearson's r of the mean scores" in " ".join(text.split())
    found = rank_table(rated_groups(rows, scales), ScaleChoice())
    assert "alone" not in as_text(found)


def test_scores_from_outside_of_nobody_there_are_refused(ratings):
    groups = rated_groups(*ratings)
    with pytest.raises(SweepError, match="rated have middling, steady, wild, scores are of gpt"):
        rank_table(groups, ScaleChoice(), outside={"gpt": 1.0})
