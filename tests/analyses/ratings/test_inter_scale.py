"""Ratings of the same things on several scales, as the statistics see them."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.ratings.cells import ACROSS
from judgerel_ray.analyses.ratings.inter_scale import ScaleChoice, inter_scale_table, scale_choice
from judgerel_ray.core import Scale, SweepError
from judgerel_ray.counting.groups.rated import rated_groups, rated_rows
from judgerel_ray.stats import (
    SCALE_CASES,
    SCALE_MAPPINGS,
    disattenuated_alpha,
    inter_scale_alpha,
    inter_scale_interval,
    quantisation_ceiling,
    scale_rank_correlation,
    scale_ratings,
    scale_shift,
)
from judgerel_ray.stats.ratings.scale_noise import inter_scale_floor

ENDS = {"points5": (1, 5), "points10": (1, 10), "likert5": (0, 4), "binary": (0, 1)}
WORDS = {
    "likert5": ("Strongly Disagree", "Disagree", "Neither Agree nor Disagree", "Agree",
                "Strongly Agree"),
    "binary": ("No", "Yes"),
}  # fmt: skip


def asked(judge, latent_N, noise, rng, *, criterion="helpfulness", temperature=1.0, k=3):
    """Scores on every scale, (n_items, k) each, and their rows; two responders an item."""
    scores, rows = {}, []
    for name, (low, high) in ENDS.items():
        said = latent_N[:, None] + noise * rng.normal(size=(latent_N.size, k))
        scores[name] = np.clip(np.rint(low + (high - low) * said), low, high)
        for n, line in enumerate(scores[name]):
            for r, score in enumerate(line):
                if n == 3 and r == 1:
                    scores[name][n, r] = np.nan
                rows.append(
                    {
                        "judge": judge, "benchmark": "b", "item_id": f"q{n // 2}",
                        "responder": "xy"[n % 2], "criterion": criterion, "definition": "short",
                        "scale": name, "temperature": temperature, "replication": r,
                        "score": None if np.isnan(scores[name][n, r]) else float(score),
                    }
                )  # fmt: skip
    return scores, rows


@pytest.fixture
def one():
    rng = np.random.default_rng(5)
    return asked("j", rng.uniform(size=40), 0.1, rng)


def laid_out(rows):
    return rated_groups(*rated_rows(pl.DataFrame(rows, infer_schema_length=None).lazy()))


def test_groups_hold_the_scores_of_every_scale_by_item_and_responder(one):
    scores, rows = one
    [group] = laid_out(rows)
    assert list(group.scales) == ["binary", "likert5", "points5", "points10"]
    where = {(f"q{n // 2}", "xy"[n % 2]): n for n in range(40)}
    order = [where[key] for key in group.units.select("item_id", "responder").rows()]
    for name, table in scores.items():
        np.testing.assert_array_equal(group.scores[name], table[order])
    assert group.questions_N.tolist() == group.units["item_id"].to_list()


@pytest.mark.alike(3)
@pytest.mark.parametrize("mapping", SCALE_MAPPINGS)
def test_every_number_is_that_of_the_statistics(one, mapping):
    choice = scale_choice(mapping=mapping)
    [group] = laid_out(one[1])
    found = {row["scales"]: row for row in inter_scale_table([group], choice).to_dicts()}
    assert len(found) == 7
    pair = ("points5", "points10")
    row = found[" / ".join(pair)]
    ratings = scale_ratings(
        [group.scores[name] for name in pair],
        ranges=[ENDS[name] for name in pair],
        mapping=mapping,
        questions_N=group.questions_N,
    )
    interval, floor = inter_scale_interval(ratings), inter_scale_floor(ratings)
    assert (row["value"], row["low"], row["high"]) == (
        inter_scale_alpha(ratings).value, interval.low, interval.high
    )  # fmt: skip
    assert (row["noise_floor"], row["p_noise"]) == (floor.mean, floor.p)
    ceiling = quantisation_ceiling([ENDS[name] for name in pair], mapping=mapping)
    assert (row["ceiling"], row["ceiling_of"]) == (ceiling.value, "uniform_to_points")
    for name, one_of in (
        ("disattenuated", disattenuated_alpha(ratings)),
        ("shift", scale_shift(ratings)),
        ("rank_correlation", scale_rank_correlation(ratings)),
    ):
        ends = (row[name], row[f"{name}_low"], row[f"{name}_high"])
        assert ends == (one_of.value, one_of.low, one_of.high), name
    own = np.sqrt(row["own_first"] * row["own_second"])
    assert row["disattenuated"] == pytest.approx(row["value"] / own)
    assert (row["n_items"], row["n_units"], row["mapping"]) == (20, 40, mapping)
    assert (row["tie"] is None) == (mapping != "binarise")


def test_scales_that_do_not_allow_a_mapping_say_so_and_leave_the_others(one):
    declared = {"three": Scale(name="three", level="interval", lowest=1, highest=3)}
    told = [{"item_id": "q", "scale": name, "score": 2} for name in ("points5", "three")]
    rows = pl.DataFrame(told)
    found = inter_scale_table(
        rated_groups(*rated_rows(rows.lazy(), scales=declared)), scale_choice(mapping="collapse")
    )
    assert found["undefined"].to_list() == ["does_not_apply"]
    assert found["value"].to_list() == [None]
    assert found.select("flags", "flag_numbers").row(0) == (
        ["no_equal_groups_of_points"], [[5.0, 3.0]]
    )  # fmt: skip
    words = "5 points cannot collapse to 3 equal groups of points"
    assert found["estimator"].to_list() == [words]
    assert ACROSS["remark"](found.row(0, named=True)) == words
    assert one


@pytest.mark.parametrize("preset", SCALE_CASES)
def test_a_preset_is_one_comparison_with_all_its_choices(one, preset):
    case = SCALE_CASES[preset]
    [row] = inter_scale_table(laid_out(one[1]), scale_choice(preset=preset)).to_dicts()
    assert row["scales"] == " / ".join(case.scales)
    assert (row["mapping"], row["level"]) == (case.mapping, case.level)


@pytest.mark.slow
def test_the_first_of_each_is_as_if_asked_once(one):
    choice = scale_choice(pairing="first")
    once = [row for row in one[1] if row["replication"] == 0]
    first, alone = (
        inter_scale_table(laid_out(rows), choice).filter(scales="likert5 / points5").to_dicts()[0]
        for rows in (one[1], once)
    )
    assert first["value"] == alone["value"]
    assert first["own_first"] is not None
    assert alone["own_first"] is None


@pytest.mark.slow
def test_no_order_and_no_partition_of_rows_matters(one):
    rows = one[1]
    turned = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    assert inter_scale_table(laid_out(rows), ScaleChoice()).equals(
        inter_scale_table(laid_out(turned), ScaleChoice())
    )


def test_what_varies_in_a_group_is_part_of_the_unit_and_never_pooled():
    rows = [
        {"item_id": "q", "template": t, "scale": s, "replication": 0, "score": 1}
        for t in "ab"
        for s in ("points5", "binary")
    ]
    [group] = laid_out(rows)
    assert group.units.rows() == [("q", "a"), ("q", "b")]
    assert group.questions_N.tolist() == ["q", "q"]


@pytest.mark.slow
def test_a_truth_known_by_its_law_lies_in_the_interval():
    rng = np.random.default_rng(11)
    many = asked("j", rng.uniform(size=4000), 0.12, rng, k=2)[0]
    pair = ("points5", "points10")
    truth = inter_scale_alpha(
        scale_ratings([many[name] for name in pair], ranges=[ENDS[name] for name in pair])
    ).value
    inside = 0
    for _ in range(20):
        rows = asked("j", rng.uniform(size=40), 0.12, rng)[1]
        found = inter_scale_table(laid_out(rows), scale_choice(preset="lee2025_case1"))
        inside += found["low"][0] <= truth <= found["high"][0]
    assert inside >= 16  # of 20 at 95 %: fewer has a chance below 1 in 300


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"item_id": ["q"], "score": [1]}, "need columns item_id and scale"),
        ({"item_id": ["q"], "scale": ["stars"], "score": [1]}, "nothing tells the ends of scale"),
        ({"item_id": ["q"], "scale": ["points5"], "score": [6]}, "score 6 is not on scale points5"),
        ({"item_id": ["q"], "scale": [None], "score": [6]}, "no row of a judge names a scale"),
    ],
)
def test_what_cannot_be_read_is_one_line(rows, said):
    with pytest.raises(SweepError, match=said):
        rated_rows(pl.DataFrame(rows, schema_overrides={"scale": pl.String}).lazy())


@pytest.mark.parametrize(
    "wrong",
    [{"mapping": "log"}, {"preset": "case1"}, {"pairing": "last"},
     {"mapping": "minmax", "preset": "lee2025_case1"}],
)  # fmt: skip
def test_a_choice_that_is_none_is_one_line(wrong):
    with pytest.raises(SweepError, match=r"must be one of|maps by"):
        scale_choice(**wrong)
