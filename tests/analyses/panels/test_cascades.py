"""Cascades from judgments: who is asked, what it costs, and what it is held against."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.panels.cascades import CascadeChoice, cascade_tables
from judgerel_ray.analyses.panels.panels import panel_tables
from judgerel_ray.analyses.panels.voters import read_voters
from judgerel_ray.core import SweepError
from judgerel_ray.measuring.systems import read_systems


def drawn(n=400, *, seed=0, replications=1, skills=(0.5, 0.9), costs=(1.0, 10.0), informed=True):
    """A cheap judge and dearer ones; the confidence of each tells what it knows, or nothing."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 4, n)
    parts = []
    for place, (skill, cost) in enumerate(zip(skills, costs, strict=True)):
        for replication in range(replications):
            knows = rng.random(n) < skill
            said = np.where(knows, gold, (gold + rng.integers(1, 4, n)) % 4)
            told = knows if informed else rng.random(n) < 0.5
            parts.append(
                pl.DataFrame(
                    {"item_id": [f"q{i}" for i in range(n)], "judge": "abcdefgh"[place],
                     "replication": replication, "verdict": said.astype(str),
                     "gold": gold.astype(str), "confidence": np.where(told, 0.9, 0.6),
                     "cost": cost}
                )
            )  # fmt: skip
    return pl.concat(parts).lazy()


def cascades(frame, **choice):
    return cascade_tables(read_voters(read_systems(frame), frame), CascadeChoice(**choice))


def test_who_is_sure_is_believed_and_who_is_not_passes_on():
    found = cascades(drawn())
    assert found.stages.select("stage", "member", "cost").rows() == [(1, "a", 1.0), (2, "b", 10.0)]
    rows = found.curve.to_dicts()
    assert rows[0]["answered"] == "1.000, 0.000"
    assert rows[0]["cost"] == 1.0
    middle = rows[6]  # there is money for what it passes on
    assert middle["thresholds"] == "0.9"
    assert middle["over_random_low"] > 0.1
    # All that the cheap one knows, and nine in ten of the rest.
    assert middle["accuracy"] == pytest.approx(0.95, abs=0.03)
    assert middle["cost"] == pytest.approx(6, abs=0.5)
    assert middle["low"] < middle["accuracy"] < middle["high"]


def test_confidence_that_tells_nothing_is_no_better_than_chance():
    curve = cascades(drawn(informed=False, n=1500)).curve
    row = curve.row(5, named=True)
    assert row["over_random_low"] < 0 < row["over_random_high"]


def test_where_nobody_passes_on_there_is_nothing_to_compare():
    row = cascades(drawn()).curve.row(0, named=True)
    assert row["answered"].startswith("1.000")
    for other in ("over_random", "over_alone"):
        assert (row[other], row[f"{other}_low"], row[f"{other}_high"]) == (0.0, None, None)


def test_it_is_held_against_the_best_member_for_the_same_money():
    rows = cascades(drawn(replications=5, skills=(0.6, 0.9))).curve.to_dicts()
    assert rows[0]["alone"] == "a"
    # Five cheap replies outvote one; a dear one beats both as soon as there is money for it.
    assert rows[4]["budget"] == pytest.approx(1 + 4 * 10 / 9)
    assert rows[4]["alone"].startswith("a x")
    assert rows[4]["alone_cost"] == 5.0
    assert rows[-1]["alone"].startswith("b")
    assert all(row["alone_cost"] <= max(row["budget"], row["cost"]) + 1e-9 for row in rows)


def test_a_person_is_asked_last_and_never_measured():
    found = cascades(drawn(), person_cost=100.0, person_accuracy=0.8)
    person = found.stages.row(2, named=True)
    assert (person["member"], person["cost"], person["accuracy"]) == ("person", 100.0, 0.8)
    assert (person["low"], person["confident"]) == (None, None)
    assert found.curve["answered"].str.split(", ").list.len().unique().to_list() == [3]
    perfect = cascades(drawn(), person_cost=100.0).curve
    assert perfect["accuracy"].max() > 0.99


def test_the_order_is_by_cost_or_as_told():
    frame = drawn(skills=(0.5, 0.7, 0.9), costs=(5.0, 1.0, 9.0))
    assert cascades(frame).stages["member"].to_list() == ["b", "a", "c"]
    told = cascades(frame, order=("c", "b")).stages
    assert told["member"].to_list() == ["c", "b"]


def test_models_alone_are_asked_where_judges_compare_them():
    models = drawn(40).collect().with_columns(role=pl.lit("responder"), stage=pl.lit("choose"))
    judge = models.filter(judge="a").with_columns(
        role=pl.lit("participant"), stage=pl.lit("judge"), cost=pl.lit(3.0)
    )
    frame = pl.concat([models, judge]).lazy()
    assert cascades(frame).stages["member"].to_list() == ["a responder", "b responder"]
    told = cascades(frame, order=("a responder", "a participant")).stages
    assert told["cost"].to_list() == [1.0, 3.0 + 1.0 + 10.0]


def test_a_judge_costs_what_it_took_on_each_question():
    frame = drawn(n=50).with_columns(
        cost=pl.when(pl.col("judge") == "a").then(
            pl.when(pl.col("item_id") == "q0").then(51.0).otherwise(1.0)
        ).otherwise(10.0)
    )  # fmt: skip
    assert cascades(frame).stages["cost"].to_list() == [2.0, 10.0]


@pytest.mark.parametrize(
    ("frame", "choice", "message"),
    [
        (drawn(9, costs=(1.0, 1.0)), {}, "members cost alike.*--order A,B names it"),
        (drawn(9), {"order": ("a", "z")}, "the order names a, z, expected .* got a, b"),
        (drawn(9), {"order": ("a",)}, "2 to 6 stages, got 1"),
        (drawn(9), {"order": ("a", "a")}, "names a member twice"),
        (drawn(9), {"person_cost": -1.0}, "at least 0"),
        (drawn(9), {"person_accuracy": 1.5}, "between 0 and 1"),
        (
            drawn(9).with_columns(confidence=pl.lit(None, pl.Float64)), {},
            "a states no confidence, so nothing says when to pass on",
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(frame, choice, message):
    with pytest.raises(SweepError, match=message):
        cascades(frame, **choice)


def test_the_last_needs_no_confidence_unless_a_person_follows():
    mute = pl.when(pl.col("judge") == "a").then(pl.col("confidence"))
    frame = drawn(40).with_columns(confidence=mute)
    assert cascades(frame).curve.height == 10
    with pytest.raises(SweepError, match="b states no confidence"):
        cascades(frame, person_cost=5.0)


def test_of_one_question_there_is_no_curve():
    found = cascades(drawn(1))
    assert (found.stages.height, found.curve.height) == (2, 0)


def test_the_order_of_rows_changes_nothing():
    frame = drawn(60, replications=2)
    turned = frame.collect().sample(fraction=1.0, shuffle=True, seed=3).lazy()
    for one, other in zip(
        cascades(frame).tables().values(), cascades(turned).tables().values(), strict=True
    ):
        assert one.equals(other)


def test_agreement_is_paid_for_by_each_stage_that_may_pass_on():
    frame = drawn(n=60, replications=4)
    groups = read_voters(read_systems(frame), frame, confidence="agreement")
    found = cascade_tables(groups, CascadeChoice())
    assert found.stages["cost"].to_list() == [4.0, 10.0]
    assert found.curve["cost"].min() >= 4.0
    person = cascade_tables(groups, CascadeChoice(person_cost=100.0)).stages
    assert person["cost"].to_list() == [4.0, 40.0, 100.0]
    panel = panel_tables(groups).panels
    assert dict(panel.select("rule", "cost").iter_rows()) == {
        "majority": 11.0, "confidence": 44.0, "accuracy": 11.0,
    }  # fmt: skip
    assert cascades(frame).stages["cost"].to_list() == [1.0, 10.0]


def test_agreement_of_a_model_that_selects_first_pays_for_its_selections():
    choose = drawn(n=20, replications=3).with_columns(role=pl.lit("responder"))
    select = choose.with_columns(
        stage=pl.lit("select"), cost=pl.lit(0.5), verdict=pl.lit(None, pl.String)
    )
    frame = pl.concat([choose.with_columns(stage=pl.lit("choose")), select], how="diagonal")
    groups = read_voters(read_systems(frame), frame, confidence="support")
    assert cascade_tables(groups, CascadeChoice()).stages["cost"].to_list() == [4.5, 10.5]
