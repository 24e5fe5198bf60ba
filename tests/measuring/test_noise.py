"""Serving noise inside a run, and between two: against pairs walked over one by one."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.analyses.advice.advice import advise_judgments
from judgerel_ray.analyses.comparison.comparison import compare_judgments
from judgerel_ray.core.codes import Flag
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.correctness import correctness_by_question
from judgerel_ray.measuring.reliability import reduce_judgments, with_tolerance
from judgerel_ray.measuring.serving import (
    SERVING,
    hashed_texts,
    serving_noise,
    serving_of,
    shared_requests,
)
from judgerel_ray.measuring.tables import Coefficients
from judgerel_ray.measuring.unstable import least_stable

SERVING_NOISE, LEFT_OUT = Flag.SERVING_NOISE.value, Flag.GREEDY_LEFT_OUT.value

GROUPS = ["judge", "temperature"]


def frame(cells, *, temperature=0.0, judge="j"):
    """Judgments of lists of (verdict, text), one list a question; None is no verdict."""
    rows = [
        {
            "key": f"{judge}:{temperature}:{q}:{r}", "judge": judge, "benchmark": "b",
            "item_id": f"q{q}", "temperature": temperature, "replication": r, "role": "judge",
            "seed": None if temperature == 0 else r, "verdict": verdict, "score": None,
            "outcome": "scored" if verdict else "unparsed", "text": text,
        }
        for q, replies in enumerate(cells)
        for r, (verdict, text) in enumerate(replies)
    ]  # fmt: skip
    kinds = {"score": pl.Float64(), "seed": pl.Int64(), "verdict": pl.String(), "text": pl.String()}
    return pl.DataFrame(rows, schema_overrides=kinds)


def noise(rows, *, texts=True, groups=GROUPS):
    read = hashed_texts(rows.lazy().select("key", "text")) if texts else None
    return serving_noise(rows.drop("text").lazy(), groups=groups, texts=read)


def differing_pairs(cells, place):
    shares = [
        [one[place] != other[place] for one, other in combinations(replies, 2)]
        for replies in cells
        if len(replies) > 1
    ]
    mean = sum(sum(pairs) / len(pairs) for pairs in shares) / len(shares)
    return mean, sum(any(pairs) for pairs in shares) / len(shares)


reply = st.tuples(st.sampled_from(["A", "B", None]), st.sampled_from(["x", "y", "z"]))
asked = st.lists(st.lists(reply, min_size=1, max_size=4), min_size=1, max_size=6)


@pytest.mark.slow
@given(asked.filter(lambda cells: any(len(replies) > 1 for replies in cells)), st.randoms())
def test_pairs_of_replies_are_compared_whatever_their_order(cells, random):
    rows = frame(cells)
    order = list(range(rows.height))
    random.shuffle(order)
    found = noise(rows[order])
    value = dict(found.select("coefficient", "value").iter_rows())
    assert list(value) == list(SERVING)
    verdicts, texts = differing_pairs(cells, 0), differing_pairs(cells, 1)
    assert list(value.values()) == [pytest.approx(one) for one in (*verdicts, *texts)]
    assert found["n_items"][0] == sum(len(replies) > 1 for replies in cells)
    assert found["n_judgments"][0] == sum(len(one) for one in cells if len(one) > 1)
    for name in ("value", "low", "high"):
        assert found[name].is_not_nan().all()
        assert found[name].null_count() == 0
    assert found.filter(
        (pl.col("low") > pl.col("value")) | (pl.col("high") < pl.col("value"))
    ).is_empty()
    assert found["flags"].list.contains(SERVING_NOISE).all()


@pytest.mark.slow
@given(st.integers(1, 20), st.integers(2, 5))
def test_identical_replies_are_0_with_an_interval(n, replications):
    found = noise(frame([[("A", "x")] * replications] * n))
    assert found["value"].to_list() == [0.0] * 4
    assert found["low"].to_list() == [0.0] * 4
    assert (found["high"] > 0).all()


def test_temperature_0_asked_once_and_others_have_none():
    once, warm = frame([[("A", "x")]] * 3), frame([[("A", "x"), ("B", "y")]] * 3, temperature=1.0)
    for rows in (once, warm, pl.concat([once, warm])):
        assert noise(rows).is_empty()
        assert noise(rows).columns == noise(frame([[("A", "x")] * 2])).columns
    without = Snapshot(frame=warm.lazy().drop("temperature", "text"))
    assert serving_of(without, Coefficients.frame(groups={"judge": pl.String()})).is_empty()


def test_failed_requests_and_other_blocks_are_no_replies():
    rows = frame([[("A", "x"), ("A", "x"), ("B", "y")]]).with_columns(block=pl.lit(0))
    late = rows.with_columns(block=pl.Series([0, 0, 1]))
    assert noise(late)["value"][0] == 0
    assert serving_noise(late.lazy(), groups=GROUPS, block="all")["value"][0] == pytest.approx(
        2 / 3
    )
    failed = rows.with_columns(
        outcome=pl.Series(["scored", "scored", "failed"]), verdict=pl.Series(["A", "A", None])
    )
    assert noise(failed)["value"][0] == 0


def test_groups_are_those_asked_for():
    rows = pl.concat([frame([[("A", "x"), ("B", "x")]]), frame([[("A", "x")] * 2], judge="k")])
    assert noise(rows, groups=["judge"]).select("judge", "value").rows()[::4] == [
        ("j", 1.0),
        ("k", 0.0),
    ]
    [first, *_] = noise(rows, groups=[]).to_dicts()
    assert (first["value"], first["unit"]) == (0.5, "item_id x judge")


# ---- never among what is sampled -------------------------------------------------------------

WARM = [[("A", ""), ("A", ""), ("B", "")], [("B", ""), ("B", ""), ("B", "")], [("A", "")] * 3]
COLD = [[("A", "")] * 9, [("B", "")] * 9, [("B", ""), *[("A", "")] * 8]]


def both():
    return pl.concat([frame(WARM, temperature=1.0), frame(COLD)]).drop("text")


def numbers(table):
    return table.drop("estimator", "flags", "flag_numbers", "n_categories").rows()


def test_repeats_at_0_enter_no_number_of_another_temperature():
    names = ["krippendorff_alpha", "percent_agreement", "icc1", "valid_rate", "schroeder2024_alpha"]
    sampled = frame(WARM, temperature=1.0).lazy().drop("text")
    for by in ([], ["judge"], ["judge", "benchmark"]):
        apart = reduce_judgments(both().lazy(), by=by, coefficients=names)
        assert numbers(apart) == numbers(reduce_judgments(sampled, by=by, coefficients=names))
        assert apart["flags"].list.contains(LEFT_OUT).all()
    default = reduce_judgments(both().lazy(), coefficients=names)
    warm = default.filter(pl.col("temperature") == 1)
    assert numbers(warm) == numbers(reduce_judgments(sampled, coefficients=names))
    assert not default.filter(pl.col("temperature") == 1)["estimator"].str.contains("serving").any()


def test_rows_of_repeats_at_0_say_what_they_are():
    found = reduce_judgments(both().lazy()).filter(pl.col("temperature") == 0)
    said = dict(found.select("coefficient", pl.col("flags").list.contains(SERVING_NOISE)).rows())
    assert said.pop("valid_rate") is False
    assert set(said.values()) == {True}


def test_temperature_0_asked_once_stays_where_it_was():
    once = frame([[("A", "")], [("B", "")], [("A", "")]]).drop("text")
    rows = pl.concat([both().filter(pl.col("temperature") == 1), once]).lazy()
    found = reduce_judgments(rows, by=["judge"], coefficients=["valid_rate", "gwet_ac1"])
    assert found["n_judgments"].to_list() == [12, 12]
    assert not found["estimator"].str.contains("temperature 0").any()


def test_only_groups_that_sampled_lose_it():
    cold = frame(COLD, judge="k").drop("text")
    found = reduce_judgments(
        pl.concat([both(), cold]).lazy(), by=["judge"], coefficients=["flip_rate"]
    )
    mine, other = found.to_dicts()
    assert mine["n_judgments"] == 9
    assert LEFT_OUT in mine["flags"]
    assert other["n_judgments"] == 27
    assert SERVING_NOISE in other["flags"]


def test_temperatures_as_items_keep_theirs_and_agreement_does_not():
    rows = both().with_columns(score=pl.when(pl.col("verdict") == "A").then(1.0).otherwise(0.0))
    names = ["cronbach_alpha", "percent_agreement"]
    found = reduce_judgments(rows.lazy(), items="temperature", coefficients=names)
    alpha, agreement = (
        found.row(by_predicate=pl.col("coefficient") == one, named=True) for one in names
    )
    assert (alpha["n_judgments"], agreement["n_judgments"]) == (36, 9)
    assert alpha["value"] is not None
    assert LEFT_OUT in agreement["flags"]
    assert LEFT_OUT not in alpha["flags"]


def test_no_tolerance_is_given_to_a_server():
    found = reduce_judgments(both().lazy(), coefficients=["krippendorff_alpha", "icc1"])
    judged = with_tolerance(found, {"krippendorff_alpha": 0.1})
    cold, warm = (judged.filter(pl.col("temperature") == at) for at in (0.0, 1.0))
    assert cold["standing"].null_count() == cold["tolerance"].null_count() == cold.height
    assert warm["standing"].drop_nulls().len() == 1


def test_what_wavers_at_0_is_no_unstable_question():
    assert set(least_stable(both().lazy())["temperature"]) == {1.0}
    assert set(
        correctness_by_question(both().lazy()).filter(pl.col("temperature") == 0)["undefined"]
    ) == {"no_gold; serving_noise"}


@pytest.mark.slow
def test_nobody_is_advised_to_buy_repeats_at_0():
    advice = advise_judgments(both().lazy())
    assert set(advice.designs["temperature"]) == set(advice.needs["temperature"]) == {1.0}
    cold = advice.components.filter(pl.col("temperature") == 0)
    assert cold["flags"].list.contains(SERVING_NOISE).all()
    assert advise_judgments(both().lazy(), by=["judge"]).components["n_judgments"][0] == 9


def test_comparisons_say_whose_repeats_are_the_servers():
    between = compare_judgments(both().lazy(), both().lazy(), coefficients=["percent_agreement"])
    said = dict(between.select("temperature", "flags").rows())
    assert SERVING_NOISE in said[0.0]
    assert SERVING_NOISE not in said[1.0]
    inside = compare_judgments(
        both().lazy(), by=["temperature"], coefficients=["percent_agreement"]
    )
    sides = dict(zip(inside["flags"][0], inside["flag_sides"][0], strict=True))
    assert inside[sides[SERVING_NOISE]][0] == "0"
    assert inside["estimator"][0].endswith("; serving noise, not sampling (0)")
    pooled = compare_judgments(both().lazy(), both().lazy(), by=["judge"])
    assert pooled["flags"].list.contains(LEFT_OUT).all()
    assert pooled["n_judgments_a"].to_list() == [9, 9]


# ---- between two runs ----------------------------------------------------------------------------


def texts_of(*frames):
    return tuple(hashed_texts(one.lazy().select("key", "text")) for one in frames)


@pytest.mark.slow
@given(asked, st.data())
def test_requests_of_one_key_are_compared_one_by_one(cells, data):
    again = [[data.draw(reply) for _ in replies] for replies in cells]
    one, other = (pl.concat([frame(c), frame(c, temperature=1.0)]) for c in (cells, again))
    found = shared_requests(one.lazy(), other.lazy(), texts=texts_of(one, other))
    n = sum(map(len, cells))
    rows = {(row["temperature"], row["what"]): row for row in found.to_dicts()}
    for place, what in enumerate(("verdicts", "texts")):
        k = sum(
            a[place] != b[place]
            for mine, theirs in zip(cells, again, strict=True)
            for a, b in zip(mine, theirs, strict=True)
        )
        for temperature in (0.0, 1.0):
            row = rows[temperature, what]
            assert (row["n_requests"], row["n_differing"], row["matched"]) == (n, k, "key")
            assert row["value"] == pytest.approx(k / n)
            assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1


def test_other_keys_are_compared_at_0_alone_and_only_of_judges_asked_alike():
    cells = [[("A", "x"), ("B", "y")]] * 3
    one = pl.concat([frame(cells), frame(cells, temperature=1.0)])
    other = one.with_columns(key=pl.lit("other") + pl.col("key"), verdict=pl.lit("A"))
    assert shared_requests(one.lazy(), other.lazy()).is_empty()
    found = shared_requests(one.lazy(), other.lazy(), judges=["j"])
    assert found.select("temperature", "matched", "n_requests", "n_differing").rows() == [
        (0.0, "prompt", 6, 3)
    ]


def test_files_without_keys_share_nothing():
    one = frame([[("A", "x")]]).drop("key").lazy()
    assert shared_requests(one, one).is_empty()
