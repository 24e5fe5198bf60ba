"""Places: ties name none, menus of their own, and orders asked unequally often."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.advice.advice import advise_judgments
from judgerel_ray.analyses.comparison.comparison import compare_judgments
from judgerel_ray.core import SweepError
from judgerel_ray.counting.verdicts.places import by_place, place, places_in
from judgerel_ray.measuring.reliability import reduce_judgments


def pairs(choose, *, items=100, replications=(3, 3), menu=None, seed=4, judge="j") -> pl.DataFrame:
    """Two options of each question's own in both orders; ``choose`` gives P(shown first)."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        options = menu(rng, item) if menu else (f"q{item}-x", f"q{item}-y")
        likes = choose(rng)
        for order, n in enumerate(replications):
            shown = options if order == 0 else options[::-1]
            for replication in range(n):
                first = rng.random() < likes(order)
                rows.append(
                    (judge, f"q{item}", order, replication, shown[not first], "AB"[not first])
                )
    columns = ["judge", "item_id", "option_order", "replication", "verdict", "label"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def of_six(rng, _item):
    return tuple(f"s{i}" for i in rng.choice(6, size=2, replace=False))


def coin(_rng):
    return lambda _order: 0.5


def first_shown(_rng):
    return lambda _order: 0.97


def content(rng):
    share = rng.beta(0.2, 0.2)
    return lambda order: 1 - share if order else share


def value(found: pl.DataFrame, **of) -> dict:
    return found.filter(**of).row(0, named=True)


@pytest.mark.alike(2)
@pytest.mark.parametrize("menu", [None, of_six])
@pytest.mark.parametrize("choose", [coin, first_shown])
def test_options_of_their_own_make_no_judge_reliable(choose, menu):
    found = reduce_judgments(pairs(choose, menu=menu).lazy())
    alpha = value(found, coefficient="krippendorff_alpha", conditions="reproducibility")
    assert abs(alpha["value"]) < 0.12
    assert alpha["p_noise"] > 0.005
    assert value(found, coefficient="gwet_ac1", conditions="reproducibility")["n_categories"] == 2
    bias = value(found, coefficient="position_bias")
    assert bias["value"] == pytest.approx(0.88 if choose is first_shown else 0.0, abs=0.08)
    assert (bias["p_noise"] > 0.005) == (choose is coin)


@pytest.mark.slow
@pytest.mark.parametrize("menu", [None, pytest.param(of_six, marks=pytest.mark.slow)])
def test_a_judge_that_reads_is_found_whatever_the_menus(menu):
    found = reduce_judgments(pairs(content, menu=menu, items=300).lazy())
    alpha = value(found, coefficient="krippendorff_alpha", conditions="reproducibility")
    assert alpha["low"] < 1 / 1.4 < alpha["high"]  # Beta(.2, .2): 1 / (1 + .4)
    assert value(found, coefficient="position_bias")["noise"]


@pytest.mark.slow
def test_compare_and_advise_take_menus_alike():
    frame = pl.concat([pairs(first_shown, judge="place"), pairs(content, judge="reads")])
    found = compare_judgments(frame.lazy(), by=["judge"], coefficients=["krippendorff_alpha"])
    assert found["standing"].to_list() == ["b higher"]
    assert abs(found["value_a"][0]) < 0.05
    designs = advise_judgments(pairs(coin).lazy()).tables()["designs"]
    assert designs.filter(design="apart")["generalizability"].fill_null(0.0).max() < 0.7


@pytest.mark.slow
def test_orders_asked_unequally_often_are_no_place_preferred():
    def mostly_x(rng):
        right = rng.random() < 0.8
        return lambda order: 0.95 if right != bool(order) else 0.05

    found = reduce_judgments(pairs(mostly_x, replications=(4, 1), items=200).lazy())
    assert value(found, coefficient="position_bias")["noise"]


@pytest.mark.slow
@pytest.mark.parametrize("label", ["tie", None])
def test_a_tie_stands_nowhere(label):
    frame = pairs(coin, menu=lambda _rng, _item: ("x", "y"))
    tie = pl.col("replication") == 2
    frame = frame.with_columns(
        verdict=pl.when(tie).then(pl.lit("tie")).otherwise("verdict"),
        label=pl.when(tie).then(pl.lit(label)).otherwise("label"),
    )
    bias = value(reduce_judgments(frame.lazy()), coefficient="position_bias")
    assert bias["p_noise"] > 0.005
    assert abs(bias["value"]) < 0.05


@pytest.mark.slow
def test_orders_of_four_options_are_a_sample_without_a_declaration():
    rng = np.random.default_rng(3)
    rows = []
    for item in range(120):
        for order in range(2):
            shown = rng.permutation(4)
            for replication in range(3):
                at = 0 if rng.random() < 0.97 else int(rng.integers(1, 4))
                said = ("wxyz"[shown[at]], "ABCD"[at])
                rows.append((f"q{item}", order, replication, *said))
    columns = ["item_id", "option_order", "replication", "verdict", "label"]
    found = reduce_judgments(pl.DataFrame(rows, schema=columns, orient="row").lazy())
    alpha = value(found, coefficient="krippendorff_alpha", conditions="reproducibility")
    assert alpha["noise"]
    assert abs(alpha["value"]) < 0.15


def test_places_are_read_by_word():
    assert (
        places_in(pl.LazyFrame({"item_id": ["q"], "verdict": ["A"]}), ["item_id", "verdict"])
        is None
    )
    frame = pairs(coin, menu=lambda _rng, _item: ("x", "y")).lazy()
    found = places_in(frame, frame.collect_schema().names())
    assert (found.labels, found.orders, found.item_menus) == (("A", "B"), (0, 1), False)
    named = by_place(frame, found).filter(pl.col("option_order") == 0).collect()
    assert (named["verdict"] == named["label"]).all()
    ties = pl.DataFrame({"label": ["NONE", " draw ", "B"]}).select(place()).to_series()
    assert ties.to_list() == [None, None, "B"]


def test_a_label_is_no_nuisance():
    with pytest.raises(SweepError, match="no facet 'label'"):
        reduce_judgments(pairs(coin).lazy(), nuisance=["label"])


def test_sides_of_which_one_was_asked_again_are_not_compared():
    once = pairs(first_shown, replications=(1, 1), judge="once")
    again = pairs(first_shown, replications=(2, 2), judge="again")
    frame = pl.concat([once, again]).lazy()
    found = compare_judgments(frame, by=["judge"], coefficients=["krippendorff_alpha"])
    assert found.select("undefined", "standing").rows() == [("repeats_on_one_side", "undecided")]
