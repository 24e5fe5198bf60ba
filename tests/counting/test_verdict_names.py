"""What a verdict names, of files that show options in several orders."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.counting.groups.tally import tally_judgments
from judgerel_ray.counting.verdict_names import TAKEN, UNKNOWN, named_verdicts
from judgerel_ray.counting.verdicts.places import first_of
from judgerel_ray.measuring.reliability import reduce_judgments

ACROSS = ("swap_consistency", "place_consistency", "position_bias", "first_place", "order_effect")


def places(seed=0, *, items=12, orders=(0, 1), names="AB", **columns):
    """A file whose verdicts are the places that a judge of position likes."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        [
            {"item_id": f"q{item}", "option_order": order, "replication": replication,
             "verdict": names[int(rng.random() < 0.3)], **columns}
            for item, order, replication in itertools.product(range(items), orders, range(3))
        ]
    )  # fmt: skip


def written(frame: pl.DataFrame, folder: Path) -> str:
    path = folder / "rows.parquet"
    frame.write_parquet(path)
    return str(path)


def values(frame: pl.DataFrame, name: str) -> list:
    return frame.filter(coefficient=name)["value"].to_list()


def refused(capsys, *arguments: str) -> str:
    assert main([*arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    return told.err


def test_nothing_that_compares_orders_has_a_number_until_it_is_said(tmp_path):
    path = written(places(), tmp_path)
    found = judgerel_ray.reduce(path)
    across = found.filter(
        (pl.col("conditions") == "reproducibility") | pl.col("coefficient").is_in(ACROSS)
    )
    assert across.height == 7
    assert set(across["undefined"]) == {UNKNOWN}
    numbers = ("value", "low", "high", "noise_floor", "noise_floor_sd", "p_noise", "noise")
    assert all(across[name].null_count() == across.height for name in numbers)
    same = found.filter(conditions="repeatability", coefficient="percent_agreement")
    assert same["value"].null_count() == 0
    assert set(found["lead"]) == {UNKNOWN}
    for name in ("swap_consistency", "order_effect"):
        named = judgerel_ray.reduce(path, coefficients=name)
        assert named["undefined"].to_list() == [UNKNOWN]


@pytest.mark.slow
def test_a_label_that_repeats_the_verdict_tells_nothing(tmp_path, capsys):
    rows = places().with_columns(label="verdict")
    path = written(rows, tmp_path)
    with pytest.warns(judgerel_ray.ReadingWarning, match="repeats the verdict"):
        found = judgerel_ray.reduce(path)
    assert set(found.filter(pl.col("coefficient").is_in(ACROSS))["undefined"]) == {UNKNOWN}
    assert main(["report", path, "--out", str(tmp_path / "page.html")]) == 0
    capsys.readouterr()
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "same place in another order" not in page.replace("-", " ") or "verdict names" in page
    assert "--verdict-names option" in page
    as_places = judgerel_ray.reduce(path, verdict_names="place")
    assert as_places.equals(judgerel_ray.reduce(written(places(), tmp_path), verdict_names="place"))


@pytest.mark.alike(2)
@pytest.mark.parametrize("names", ["AB", "BA", "12", ("first", "second")])
def test_places_are_what_options_with_labels_say(names, tmp_path):
    """By hand: in order 1 the option at the first place is the one listed second."""
    rows = places(names=names)
    low, high = sorted(names)
    turned = pl.col("verdict").replace_strict({low: high, high: low})
    stood = pl.when(pl.col("option_order") == 0).then("verdict").otherwise(turned)
    by_hand = rows.with_columns(label=pl.col("verdict"), verdict=stood)
    asked = judgerel_ray.reduce(written(rows, tmp_path), verdict_names="place")
    labelled = judgerel_ray.reduce(written(by_hand, tmp_path))
    assert asked.equals(labelled)
    (kept,), (option,) = values(asked, "place_consistency"), values(asked, "swap_consistency")
    assert kept + option == pytest.approx(1)  # of two options in two orders
    assert kept > option


def test_options_and_places_are_two_readings(tmp_path):
    path = written(places(), tmp_path)
    option = judgerel_ray.reduce(path, verdict_names="option")
    place = judgerel_ray.reduce(path, verdict_names="place")
    (as_option,), (as_place,) = (values(one, "swap_consistency") for one in (option, place))
    assert as_option + as_place == pytest.approx(1)
    assert values(option, "position_bias") == []  # the places are not known
    assert len(values(place, "position_bias")) == 1
    again = [one.filter(conditions="repeatability", coefficient="percent_agreement")
             for one in (option, place)]  # fmt: skip
    assert again[0]["value"].equals(again[1]["value"])


def test_a_judge_of_one_place_is_one_of_two(tmp_path):
    rows = places().with_columns(verdict=pl.lit("A"))
    found = judgerel_ray.reduce(written(rows, tmp_path), verdict_names="place")
    assert values(found, "swap_consistency") == [0.0]
    assert values(found, "position_bias") == [1.0]
    assert values(found, "first_place") == [1.0]
    assert set(found["lead"]) == {"one_place:A"}


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows.with_columns(verdict=pl.Series(["A", "B", "C"] * (rows.height // 3))),
         "got 3 places (A, B, C) in 2 orders"),
        (lambda rows: pl.concat([rows, rows.filter(pl.col("option_order") == 1).with_columns(
            option_order=pl.lit(2, pl.Int64))]),
         "got 2 places (A, B) in 3 orders"),
        (lambda rows: rows.with_columns(
            option_order=pl.when(pl.col("option_order") == 1).then("option_order")),
         "some rows have none"),
        (lambda rows: rows.with_columns(verdict=pl.lit("gpt")), "needs two places, got 1 place"),
        (lambda _: labelled(), "the column label holds other places than verdict"),
    ],
)  # fmt: skip
def test_places_that_tell_no_option_are_refused(change, said, tmp_path, capsys):
    path = written(change(places()), tmp_path)
    for verb in (["reduce"], ["advise"], ["compare", "--by", "option_order"]):
        told = refused(capsys, verb[0], path, *verb[1:], "--verdict-names", "place")
        assert said in told
        assert "Try: " in told


def test_ties_stand_nowhere(tmp_path):
    rows = places()
    tied = rows.with_columns(
        verdict=pl.when(pl.col("replication") == 0).then(pl.lit("tie")).otherwise("verdict")
    )
    found = judgerel_ray.reduce(written(tied, tmp_path), verdict_names="place")
    alone = rows.filter(pl.col("replication") > 0)
    without = judgerel_ray.reduce(written(alone, tmp_path), verdict_names="place")
    assert values(found, "first_place") == pytest.approx(values(without, "first_place"))


def test_what_is_not_asked_in_two_orders_is_taken_for_options(tmp_path):
    each_its_own = places().filter(
        pl.col("option_order") == pl.col("item_id").str.slice(1).cast(pl.Int64) % 2
    )
    with pytest.warns(judgerel_ray.ReadingWarning, match="each item in one"):
        found = judgerel_ray.reduce(written(each_its_own, tmp_path))
    assert UNKNOWN not in found["undefined"].to_list()
    scored = places().with_columns(score=pl.col("verdict").replace_strict({"A": 1.0, "B": 2.0}))
    rated = judgerel_ray.reduce(written(scored.drop("verdict"), tmp_path))
    assert UNKNOWN not in rated["undefined"].to_list()


@pytest.mark.slow
def test_advice_comparisons_and_accuracy_ask_too(tmp_path, capsys):
    some = [places(n, items=4, judge=judge) for n, judge in enumerate("xy")]
    rows = pl.concat(some).with_columns(gold=pl.lit("A"))
    path = written(rows, tmp_path)
    for arguments in (
        ["advise", path], ["compare", path, "--by", "judge"], ["questions", path],
        ["panels", path],
    ):  # fmt: skip
        told = refused(capsys, *arguments)
        assert "nothing says whether a verdict names an option or a place" in told
        assert "label" in told.partition("Try: ")[2]
    # For one target: how many votes are stable is worked out long, and asks nothing of names.
    for arguments in (["advise", path, "--target", "generalizability=0.8"],
                      ["compare", path, "--by", "judge"],
                      ["questions", path]):  # fmt: skip
        for names in ("option", "place"):
            assert main([*arguments, "--verdict-names", names]) == 0
    capsys.readouterr()
    accuracy = judgerel_ray.reduce(path, coefficients="accuracy")
    assert set(accuracy["undefined"]) == {UNKNOWN}
    as_place = judgerel_ray.reduce(path, coefficients="accuracy", verdict_names="place")
    right = (rows["verdict"] == "A") == (rows["option_order"] == 0)
    assert as_place["value"].mean() == pytest.approx(right.mean())


@pytest.mark.slow
def test_the_page_reads_places_as_the_coefficients_do(tmp_path, capsys):
    path = written(places(), tmp_path)
    out = tmp_path / "page.html"
    assert main(["report", path, "--out", str(out), "--verdict-names", "place"]) == 0
    assert main(["reduce", path, "--verdict-names", "place", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out.partition("\n")[2])
    page = out.read_text(encoding="utf-8").replace("\u00a0", " ")
    heads = {"same option in another order": "swap_consistency",
             "same place in another order": "place_consistency"}  # fmt: skip
    for head, name in heads.items():
        (value,) = (row["value"] for row in rows if row["coefficient"] == name)
        assert f'data-head="{head}">{100 * value:.0f} % ' in page


def test_a_hint_never_asks_for_what_the_file_has(tmp_path, capsys):
    path = written(places(), tmp_path)
    told = refused(capsys, "reduce", path, "--coefficient", "position_bias")
    assert "needs the column label" in told
    assert "option_orders = 2" not in told
    assert "--verdict-names place" in told
    bare = written(places(orders=(0,)).drop("option_order"), tmp_path)
    assert "option_orders = 2" in refused(capsys, "reduce", bare, "--coefficient", "order_effect")


def test_an_unknown_choice_is_one_line(tmp_path, capsys):
    path = written(places(), tmp_path)
    assert "must be option or place" in refused(capsys, "reduce", path, "--verdict-names", "side")
    with pytest.raises(SystemExit):  # ratings name no options
        main(["scales", path, "--verdict-names", "place"])
    assert "no such option: --verdict-names" in capsys.readouterr().err
    with pytest.raises(SweepError, match="option or place"):
        judgerel_ray.reduce(path, verdict_names="side")


JUDGED = st.tuples(st.sampled_from("qr"), st.integers(0, 2), st.sampled_from("xy"),
                   st.sampled_from("AB"))  # fmt: skip
N_JUDGES = 20


@pytest.mark.slow
@settings(max_examples=5)
@given(st.lists(st.lists(JUDGED, min_size=2, max_size=25), min_size=N_JUDGES, max_size=N_JUDGES))
def test_pairs_of_two_orders_are_counted_by_hand(judges):
    """Mean over questions, and in them over pairs of orders, of the pairs that agree.

    Many judges at once: a call takes as long for all of them as for one.
    """
    names = ["judge", "item_id", "option_order", "verdict", "label"]
    rows = [(f"{n:02d}", *row) for n, mine in enumerate(judges) for row in mine]
    assume(len({row[2] for row in rows}) > 1)
    frame = pl.DataFrame(rows, schema=names, orient="row").lazy()
    found = reduce_judgments(
        frame, by=["judge"], coefficients=["swap_consistency", "place_consistency"]
    )
    for n, mine in enumerate(judges):
        check_by_hand(found.filter(judge=f"{n:02d}"), mine)


def check_by_hand(found, rows):
    """Hold the two coefficients of one judge against a count of its pairs."""
    for name, column in (("swap_consistency", 2), ("place_consistency", 3)):
        means = []
        for item in "qr":
            mine = [row for row in rows if row[0] == item]
            apart = [
                np.mean([a[column] == b[column] for a in mine for b in mine
                         if (a[1], b[1]) == (one, other)])
                for one, other in itertools.combinations(sorted({row[1] for row in mine}), 2)
            ]  # fmt: skip
            means += [np.mean(apart)] if apart else []
        expected = pytest.approx(np.mean(means)) if means else None
        assert values(found, name) == [expected]


@pytest.mark.parametrize(
    ("seen", "first"),
    [(["A", "B"], 0), (["B"], None), (["2", "3"], None), (["left", "right"], 0),
     (["second", "first"], 1), (["model x", "model y"], 0), (["10", "9", "1"], 2)],
)  # fmt: skip
def test_the_first_place_is_known_by_name(seen, first):
    assert first_of(seen) == first


def test_the_share_of_the_first_place_weighs_orders_alike():
    rows = [("q", 0, "x", "A")] * 6 + [("q", 1, "x", "B")] * 2
    rows += [("r", 0, "x", "A")] * 2 + [("r", 1, "y", "A")] * 2
    frame = pl.DataFrame(rows, schema=["item_id", "option_order", "verdict", "label"], orient="row")
    found = reduce_judgments(frame.lazy(), coefficients=["first_place"]).row(0, named=True)
    assert found["value"] == pytest.approx((1 / 2 + 1) / 2)
    assert (found["noise_floor"], found["measurement"]) == (0.5, "nominal")
    assert found["n_missing"] == 0


TURNED = {"A": "B", "B": "A"}
RENAMED = {
    "lower case": pl.col("verdict").str.to_lowercase(),
    "words": pl.col("verdict").replace({"A": "first", "B": "second"}),
    "longer": pl.concat_str(pl.lit("Response "), "verdict"),
    "what is right": pl.col("item_id").replace_strict({f"q{i}": "AB"[i % 2] for i in range(12)}),
}


def labelled(seed=0, **columns):
    """A file whose verdicts name options and whose labels name places, as they should."""
    turned = pl.col("verdict").replace_strict(TURNED)
    stood = pl.when(pl.col("option_order") == 0).then("verdict").otherwise(turned)
    option = pl.concat_str(pl.lit("option "), stood)
    return places(seed, **columns).with_columns(label=pl.col("verdict"), verdict=option)


def across_orders(found: pl.DataFrame) -> set:
    rows = found.filter(coefficient="swap_consistency")
    return {*rows["undefined"], *rows["value"]}


@pytest.mark.alike(2)
@pytest.mark.parametrize("said", RENAMED)
def test_a_label_that_stays_where_the_order_changes_is_no_place(said, tmp_path, capsys):
    """Of two options one that is named in both orders stood at two places."""
    path = written(places().with_columns(label=RENAMED[said]), tmp_path)
    assert main(["reduce", path, "--format", "json"]) == 0
    told = capsys.readouterr()
    assert {row["lead"] for row in json.loads(told.out)} == {UNKNOWN}
    line = "label: it stays the same where the order of the options changes"
    if said == "what is right":
        line = "it says what is right, not which place was chosen"
    assert line in told.err


@pytest.mark.slow
def test_labels_of_a_part_of_the_verdicts_tell_nothing_of_the_others(tmp_path):
    whole = labelled()
    assert UNKNOWN not in across_orders(judgerel_ray.reduce(written(whole, tmp_path)))
    for kept in (1, whole.height // 2, whole.height - 1):
        some = whole.with_columns(label=pl.when(pl.int_range(pl.len()) < kept).then("label"))
        with pytest.warns(judgerel_ray.ReadingWarning, match="only a part of the verdicts"):
            found = judgerel_ray.reduce(written(some, tmp_path))
        assert across_orders(found) == {None, UNKNOWN}
        said = judgerel_ray.reduce(written(some, tmp_path), verdict_names="option")
        assert UNKNOWN not in across_orders(said)


def test_labels_of_one_judge_tell_nothing_of_another(tmp_path):
    other = places(1, judge="other").with_columns(label=pl.lit(None, pl.String))
    rows = pl.concat([labelled(judge="one"), other.select(labelled(judge="one").columns)])
    with pytest.warns(judgerel_ray.ReadingWarning, match="only a part of the verdicts"):
        found = judgerel_ray.reduce(written(rows, tmp_path))
    assert across_orders(found.filter(judge="other")) == {None, UNKNOWN}


@pytest.mark.slow
@pytest.mark.parametrize("word", ["tie", "equally good"])
def test_ties_need_no_label(word, tmp_path):
    tied = pl.int_range(pl.len()) % 5 == 0
    rows = labelled().with_columns(
        verdict=pl.when(tied).then(pl.lit(word)).otherwise("verdict"),
        label=pl.when(~tied).then("label"),
    )
    assert UNKNOWN not in across_orders(judgerel_ray.reduce(written(rows, tmp_path)))


def test_ratings_beside_named_verdicts_keep_their_numbers(tmp_path):
    """What a verdict names is asked of groups that hold names; a rating is one in any order."""
    rated = places(2, protocol="rating").with_columns(
        score=pl.col("verdict").replace_strict({"A": 1.0, "B": 2.0}),
        verdict=pl.lit(None, pl.String),
    )
    named = places(protocol="best_of").with_columns(score=pl.lit(None, pl.Float64))
    both = written(pl.concat([named, rated.select(named.columns)]), tmp_path)
    found = judgerel_ray.reduce(both, by="protocol")
    ratings = found.filter(protocol="rating")
    alone = judgerel_ray.reduce(written(rated, tmp_path), by="protocol")
    assert UNKNOWN not in ratings["undefined"].to_list()
    keys = ["coefficient", "measurement", "conditions", "missing", "value", "low", "high"]
    assert ratings["value"].null_count() < ratings.height
    assert ratings.select(keys).equals(alone.select(keys))
    across = found.filter(pl.col("conditions") == "reproducibility", protocol="best_of")
    assert set(across["undefined"]) == {UNKNOWN}


@pytest.mark.slow
def test_chance_is_none_where_verdicts_of_other_orders_are_in_it(tmp_path):
    """A judge of the first place: chance is .8 if verdicts are options, and .5 if places."""
    path = written(places(), tmp_path)
    found = {name: judgerel_ray.reduce(path, verdict_names=name).filter(
        conditions="repeatability") for name in ("option", "place", None)}  # fmt: skip
    for row in found[None].iter_rows(named=True):
        two = [found[name].filter(coefficient=row["coefficient"]).row(0, named=True)
               for name in ("option", "place")]  # fmt: skip
        if row["value"] is None:
            assert row["undefined"] == UNKNOWN
            assert two[0]["value"] != pytest.approx(two[1]["value"])
        else:
            assert [one["value"] for one in two] == [pytest.approx(row["value"])] * 2
        assert row["noise_floor"] is row["p_noise"] is row["noise"] is None
    valued = found[None].filter(pl.col("value").is_not_null())["coefficient"]
    assert set(valued) == {"percent_agreement", "flip_rate", "brennan_prediger"}


def test_verdicts_of_items_in_one_order_each_are_taken_for_options_and_it_is_said():
    rows = [
        {"item_id": f"q{item}", "replication": again, "option_order": item % 2, "verdict": "A"}
        for item in range(6)
        for again in range(2)
    ]
    found = named_verdicts(tally_judgments(pl.LazyFrame(rows)), None, {})
    assert found.known
    assert found.notes == (TAKEN,)
    told = [{**row, "label": "AB"[row["option_order"]]} for row in rows]
    assert named_verdicts(tally_judgments(pl.LazyFrame(told)), None, {}).notes == ()
    assert named_verdicts(tally_judgments(pl.LazyFrame(rows)), "option", {}).notes == ()


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (
            places().drop("option_order").unique(["item_id", "replication"]),
            "has no column option_order",
        ),
        (places(orders=(0,)), "has one option_order"),
        (
            places().with_columns(score=pl.lit(1.0), verdict=pl.lit("1")),
            "has no verdict that is a name",
        ),
    ],
)
def test_what_verdicts_are_said_to_name_is_not_swallowed(frame, why, tmp_path, capsys):
    path = written(frame, tmp_path)
    assert main(["reduce", path, "--verdict-names", "place", "--format", "json"]) == 0
    told, line = capsys.readouterr(), f"--verdict-names place changes nothing: {path} {why}"
    assert line in told.err
    assert main(["reduce", path, "--format", "json"]) == 0
    assert capsys.readouterr().out == told.out
