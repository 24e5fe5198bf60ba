"""Reproducibility of frames: what leads, what it is of, and what it refuses."""

import json

import numpy as np
import polars as pl
import pytest

from judgerel_ray import compare, reduce
from judgerel_ray.core import SweepError
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.stats import reproducibility

ALPHA = ["krippendorff_alpha"]


def asked(choose, *, items=40, orders=2, replications=3, seed=0, **columns) -> pl.DataFrame:
    """Rows of a judge: ``choose(rng, item, order)`` gives the option."""
    rng = np.random.default_rng(seed)
    rows = [
        {"item_id": f"q{item}", "option_order": order, "replication": replication,
         "verdict": verdict, "label": "AB"["xy".index(verdict) ^ (order % 2)]}
        for item in range(items)
        for order in range(orders)
        for replication in range(replications)
        for verdict in [choose(rng, item, order)]
    ]  # fmt: skip
    return pl.DataFrame(rows).with_columns(**{name: pl.lit(of) for name, of in columns.items()})


def by_place(rng, _item, order):
    return "xy"[(rng.random() < 0.03) ^ (order % 2)]


def by_content(rng, item, _order):
    return "xy"[(rng.random() < 0.1) ^ (item % 2)]


def test_reproducibility_leads_and_repeatability_stands_beside_it():
    found = reduce_judgments(asked(by_place).lazy())
    alpha = found.filter(coefficient="krippendorff_alpha")
    assert alpha.select("conditions", "unit").rows() == [
        ("reproducibility", "item_id"),
        ("repeatability", "item_id x option_order"),
    ]
    reproduced, repeated = alpha["value"].to_list()
    assert abs(reproduced) < 0.05
    assert repeated > 0.8
    assert alpha["noise"].to_list() == [True, False]
    of_order = found.filter(pl.col("coefficient").is_in(["swap_consistency", "position_bias"]))
    assert of_order["value"].to_list() == pytest.approx([0.06, 0.88], abs=0.08)
    assert of_order["noise"].to_list() == [True, False]
    assert set(found["conditions"]) == {"reproducibility", "repeatability", None}


def test_a_judge_that_reads_reproduces_what_it_repeats():
    found = reduce_judgments(asked(by_content).lazy(), coefficients=ALPHA)
    reproduced, repeated = found["value"].to_list()
    assert reproduced == pytest.approx(repeated, abs=0.05)
    assert found["noise"].to_list() == [False, False]


def test_where_nothing_varies_there_is_repeatability_alone():
    found = reduce_judgments(asked(by_content, orders=1).lazy())
    assert set(found["conditions"]) == {"repeatability", None}
    assert "swap_consistency" not in found["coefficient"].to_list()


def test_frames_give_what_arrays_give():
    frame = asked(by_place, items=7, seed=3)
    counts = frame.group_by("item_id", "option_order").agg(
        x=(pl.col("verdict") == "x").sum(), y=(pl.col("verdict") == "y").sum()
    )
    items = counts["item_id"].str.slice(1).cast(int).to_numpy()
    for name in ("krippendorff_alpha", "percent_agreement", "gwet_ac1", "icc1"):
        row = reduce_judgments(frame.lazy(), coefficients=[name]).row(0, named=True)
        expected = reproducibility(
            name, counts.select("x", "y").to_numpy(), items, counts["option_order"].to_numpy()
        )
        assert row["value"] == pytest.approx(expected.value, abs=1e-12)


def test_facets_in_the_groups_are_held_and_others_can_be_named():
    frame = pl.concat(asked(by_content, template=name, seed=1, orders=1) for name in "st")
    held = reduce_judgments(frame.lazy(), by=["template"], coefficients=ALPHA)
    assert set(held["conditions"]) == {"repeatability"}
    of_tone = frame.rename({"template": "tone"})
    plain = reduce_judgments(of_tone.lazy(), coefficients=["percent_agreement"], nuisance=["tone"])
    assert plain.select("conditions", "unit").rows() == [
        ("reproducibility", "item_id"),
        ("repeatability", "item_id x tone"),
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"nuisance": ["nothing"]}, "no facet 'nothing'"),
        ({"nuisance": ["verdict"]}, "no facet 'verdict'"),
        ({"nuisance": ["template"], "by": ["template"]}, "both a nuisance facet and a column"),
    ],
)
def test_a_nuisance_that_is_none_is_refused(options, said):
    frame = asked(by_content, template="t")
    with pytest.raises(SweepError, match=said):
        reduce_judgments(frame.lazy(), **options)


def test_orders_asked_once_are_compared_with_each_other_alone():
    frame = asked(by_place, replications=1)
    found = reduce_judgments(frame.lazy(), coefficients=["percent_agreement"])
    assert found["undefined"].to_list() == [None, "single_replication"]
    assert found["value"][0] < 0.2
    assert "no prompt was asked twice" in found["estimator"][0]


def test_items_asked_in_one_order_each_are_not_crossed():
    frame = asked(by_content).filter(
        pl.col("option_order") == pl.col("item_id").str.slice(1).cast(int) % 2
    )
    found = reduce_judgments(frame.lazy(), coefficients=["percent_agreement"])
    assert found["undefined"].to_list() == [None, "facets_not_crossed"]


def test_options_declared_say_how_many_orders_there_are():
    """Two of 120 orders, a judge that takes what is shown first: chance, not one half and more."""
    rng = np.random.default_rng(4)
    rows = []
    for item in range(60):
        first = rng.permutation(5)[:2]  # what two random orders show first
        for order in range(2):
            said = "vwxyz"[first[order]]
            rows += [(f"q{item}", "b", order, replication, said) for replication in range(3)]
    frame = pl.DataFrame(
        rows,
        schema=["item_id", "benchmark", "option_order", "replication", "verdict"],
        orient="row",
    )
    said = reduce_judgments(frame.lazy(), coefficients=ALPHA, n_categories={"b": 5})
    unsaid = reduce_judgments(frame.lazy(), coefficients=ALPHA)
    assert said["value"][0] < 0.02 < 0.3 < unsaid["value"][0]


def test_missing_verdicts_have_both_policies_and_scores_their_level():
    rows = {
        "item_id": ["q", "r"] * 8,
        "template": ["s"] * 8 + ["t"] * 8,
        "replication": [0, 0, 1, 1, 2, 2, 3, 3] * 2,
        "score": [1.0, 4.0, 1.0, 5.0, 2.0, 4.0, 1.0, None] + [2.0, 5.0, 1.0, 5.0] * 2,
    }
    found = reduce_judgments(pl.LazyFrame(rows))
    alpha = found.filter(coefficient="krippendorff_alpha", conditions="reproducibility")
    assert alpha.select("measurement", "missing", "undefined").rows() == [
        ("interval", "category", "category_needs_nominal"),
        ("interval", "drop", None),
    ]
    drop = alpha.row(1, named=True)
    assert drop["n_missing"] == 1
    assert 0.5 < drop["value"] < 1.0


def test_continuous_scores_are_reproduced_by_their_sums():
    rng = np.random.default_rng(5)
    rows = [
        (f"q{item}", template, replication, item + shift + rng.normal(0, 0.5))
        for item in range(30)
        for template, shift in (("s", 0.0), ("t", 4.0))
        for replication in range(5)
    ]
    frame = pl.DataFrame(rows, schema=["item_id", "template", "replication", "score"], orient="row")
    found = reduce_judgments(frame.lazy(), coefficients=["icc1", "krippendorff_alpha"])
    reproduced = found.filter(conditions="reproducibility")
    # Var(item) = 77.5, of the shift 4, of a replication .25.
    assert reproduced["value"].to_list() == pytest.approx([77.5 / 81.75] * 2, abs=0.02)
    assert reproduced["noise"].to_list() == [False, False]


def test_no_order_of_rows_matters():
    frame = asked(by_place, items=9)
    first = reduce_judgments(frame.lazy())
    again = reduce_judgments(frame.sample(fraction=1, shuffle=True, seed=1).lazy())
    assert json.dumps(first.to_dicts()) == json.dumps(again.to_dicts())


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("options", "orders", "said"),
    [
        (4, 2, "2 of 24"),
        (3, 2, "2 of 6"),
        (3, 6, None),
        (2, 2, None),
        (9, 2, "2 of 40,320 or more"),
    ],
)
def test_how_many_of_all_orders_were_recorded_is_said_where_they_are_few(options, orders, said):
    rng = np.random.default_rng(options)
    item, order, replication = np.indices((12, orders, 2)).reshape(3, -1)
    verdict = rng.integers(0, options, item.size)
    verdict[:options] = range(options)
    rows = pl.LazyFrame(
        {
            "item_id": [f"q{i}" for i in item],
            "option_order": order,
            "replication": replication,
            "verdict": [f"o{k}" for k in verdict],
            "n_options": np.full(item.size, options),
        }
    )
    found = reduce(rows, verdict_names="option", coefficients="percent_agreement")
    estimators = dict(found.select("conditions", "estimator").rows())
    flag = f"orders recorded: {said} a question, the others taken to be like them"
    assert (flag in estimators["reproducibility"]) is (said is not None)
    assert ("orders recorded" in estimators["reproducibility"]) is (said is not None)
    assert "orders recorded" not in estimators["repeatability"]
    both = pl.concat([rows.with_columns(judge=pl.lit(one)) for one in "ab"])
    compared = compare(both, by="judge", verdict_names="option")
    of_agreement = compared.filter(coefficient="percent_agreement")["estimator"][0]
    assert ("orders recorded" in of_agreement) is (said is not None)
