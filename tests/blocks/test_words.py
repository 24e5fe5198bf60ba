from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.reliability.headlines import group_leads
from judgerel_ray.blocks.words import (
    NOISE,
    coefficient_name,
    conditions,
    ends_of,
    estimate,
    estimator_words,
    explanation,
    missing_policy,
    nuisance,
    number,
    p_value,
    percent,
    percent_interval,
    reason,
    remark,
    remarks,
    replication_words,
    times,
    unit_words,
)
from judgerel_ray.core.codes import Flag, IntervalMethod, NullMethod
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.stats import omega_hierarchical


def said(verdicts: list[list[str]], **columns) -> str:
    rows = [
        {"item_id": f"q{item}", "replication": replication, "verdict": verdict, **columns}
        for item, replies in enumerate(verdicts)
        for replication, verdict in enumerate(replies)
    ]
    ((_, line),) = group_leads(reduce_judgments(pl.LazyFrame(rows)))
    return line


def test_it_says_how_often_the_verdict_is_the_same():
    line = said([["A"] * 4, ["B"] * 4, ["A", "A", "B", "A"], ["B"] * 4], judge="j", temperature=1.0)
    assert line.startswith(
        "j, temperature 1: asked the same prompt again, this judge gives the same verdict 88 %"
    )
    assert "shuffled across the questions would agree" in line
    assert NOISE not in line


def test_it_says_that_noise_is_noise():
    line = said([["A", "B"], ["A", "A"], ["B", "B"], ["B", "A"]])
    assert line.startswith("Asked the same prompt again")
    assert NOISE in line


def test_a_judge_that_always_says_the_same_is_not_praised():
    line = said([["A", "A", "A"]] * 5)
    assert line == (
        "This judge answers A whatever the question is (15 of 15 verdicts, 5 questions): agreement "
        "says nothing about its judgment."
    )


def test_it_says_when_a_judge_contradicts_itself():
    assert "more than chance would" in said([["A", "B"]] * 20)


def test_asked_once_nothing_is_known():
    assert "was asked once" in said([["A"], ["B"]], temperature=0.0)


def test_greedy_repeats_are_no_praise():
    steady = [["A"] * 3, ["B"] * 3, ["A"] * 3]
    told = "At temperature 0 that is how steady the serving is, not the judgment."
    assert told in said(steady, temperature=0.0)
    assert told not in said(steady, temperature=0.5)


def test_nothing_is_called_a_number_that_is_none():
    assert number(None) == "-"
    assert percent(None) == "-"
    assert number(-0.0001) == "0.000"


@pytest.mark.parametrize(("share", "text"), [(0, "0 %"), (0.001, "< 1 %"), (0.5, "50 %")])
def test_shares(share, text):
    assert percent(share) == text


def test_a_value_without_an_interval():
    row = {"value": 1.0, "low": None, "high": None, "undefined": None}
    assert estimate(row) == "1.000 [no interval]"


def test_remarks_are_what_weakens_a_value():
    row = {"noise": False, "no_interval": "too_few_units", "null_method": "closed_form"}
    assert remark(row) == "no interval: too few units"
    assert remark({**row, "undefined": "too_few_units"}) == ""  # said where the value would be


def test_the_sentence_on_a_number_is_made_of_its_codes():
    row = {
        "statistic": "nominal alpha", "interval_method": "percentile_bootstrap", "n_compared": 23,
        "n_resamples": 500, "null_method": "random_reassignments", "n_permutations": 999,
        "flags": ["few_verdicts", "rests_on_few_questions"], "flag_numbers": [[3, 40], [4.21, 23]],
    }  # fmt: skip
    assert estimator_words(row) == (
        "nominal alpha; percentile bootstrap, 500 resamples of 23 questions; rests on few "
        "questions: 4.2 of 23 carry the differences between them; floor of 999 random "
        "reassignments, two-sided; few verdicts: 3 of 40 replies hold one"
    )


@pytest.mark.parametrize("kind", [IntervalMethod, NullMethod, Flag])
def test_every_code_has_words_of_its_own(kind):
    said = [
        one.words([1, 2]) if kind is Flag else one.words(n=7)
        for one in kind
        if one not in ("worst_to_best_case", "bracket_of_worst_and_best_case")
    ]
    assert len({*said}) == len(said)
    assert all(said)


def test_too_few_items_are_two_or_six():
    assert "two at least, six for hierarchical omega" in explanation("too few items")
    scores = np.random.default_rng(0).normal(size=(40, 6)) + np.arange(40)[:, None] / 20
    assert omega_hierarchical(scores[:, :5]).undefined == "too_few_items"
    assert omega_hierarchical(scores).undefined != "too_few_items"


def test_a_bias_is_told_without_a_coverage_that_is_not_known():
    told = explanation("biased by too few questions or replications")
    assert "off by more than a quarter of its standard error" in told
    # Of ordinal alpha, biased as it is at 20 to 60 questions, it is 96 % and more.
    assert "95 %" not in told


def test_an_interval_that_was_drawn_out_to_its_value_says_so():
    rows = {
        "item_id": list("qqqrrrsss"),
        "replication": [0, 1, 2] * 3,
        "verdict": list("AABABBAAB"),
    }
    found = reduce_judgments(pl.LazyFrame(rows), coefficients=["krippendorff_alpha"])
    (row,) = found.to_dicts()
    assert row["low"] == row["value"]
    assert "extended to the value" in remarks(row)
    assert "so few questions say little" in explanation("extended to the value")


def test_numbers_in_words():
    assert [p_value(p) for p in (0.0002, 0.0312, None)] == ["< 0.001", "0.031", "-"]
    assert [times(n) for n in (1, 1000)] == ["once", "1,000 times"]
    assert [percent_interval(0.563, 0.73), percent_interval(None, None)] == ["[56, 73]", ""]
    assert ends_of({"auroc_low": 0.25, "auroc_high": 0.75}, "auroc") == "[0.250, 0.750]"


def test_columns_of_a_row_in_words():
    alpha = {"coefficient": "krippendorff_alpha", "measurement": "interval"}
    assert coefficient_name(alpha) == "Krippendorff's alpha (interval)"
    assert missing_policy({"coefficient": "flip_rate", "missing": "drop"}) == "left out"
    assert reason("no_variance") == "no variance"
    assert unit_words({"cost_unit": "tokens"}) == "tokens a question"
    by_responder = {"n_replications": 2, "unit": "item_id x responder"}
    assert replication_words(by_responder) == "each up to 2 times per responder"


def test_conditions_in_words():
    repeated = {"conditions": "repeatability", "unit": "item_id x option_order"}
    drawn = {"conditions": "reproducibility", "unit": "item_id"}
    assert conditions(drawn, repeated) == (
        "the order of the options drawn at random (reproducibility)"
    )
    assert conditions(repeated) == "the same prompt again (repeatability)"
    assert nuisance({"unit": "item_id"}, {"unit": "item_id x template"}) == ["template"]
