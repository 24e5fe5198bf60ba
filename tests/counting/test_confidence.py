"""Intervals at another confidence: every coefficient's, wherever it is made."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.counting.intervals import AUTO, IntervalChoice
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.stats import DEFAULT_COEFFICIENTS, count_statistic, jackknife_interval
from judgerel_ray.stats.intervals.ends import share_ends

NAMES = (
    *DEFAULT_COEFFICIENTS, "icc1", "entropy_agreement", "accuracy",
    "class_agreement", "swap_consistency", "order_effect", "position_bias", "first_place",
)  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> pl.LazyFrame:
    """Thirty questions in two orders, four replications each, of an unsteady judge."""
    rng = np.random.default_rng(4)
    n = 30 * 2 * 4
    question = np.repeat(np.arange(30), 8)
    verdict = np.where(rng.random(n) < 0.25 + 0.5 * (question % 2), "x", "y")
    missing = rng.random(n) < 0.1
    order = np.tile(np.repeat([0, 1], 4), 30)
    label = np.where((verdict == "x") == (order == 0), "A", "B")
    return pl.LazyFrame({
        "item_id": [f"q{one}" for one in question], "replication": np.tile(np.arange(4), 60),
        "option_order": order, "gold": np.where(question % 2, "x", "y"),
        "verdict": np.where(missing, None, verdict), "label": np.where(missing, None, label),
    })  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "bootstrap"])
def test_a_higher_confidence_widens_every_interval(rows, method):
    found = [
        reduce_judgments(
            rows, coefficients=NAMES, intervals=IntervalChoice(method=method, confidence=at)
        )
        for at in (0.95, 0.999)
    ]
    assert set(found[0]["coefficient"].str.split(":").list.first()) == set(NAMES)
    for usual, wide in zip(*(one.iter_rows(named=True) for one in found), strict=True):
        assert (usual["coefficient"], usual["value"]) == (wide["coefficient"], wide["value"])
        if usual["low"] is not None and 0 < usual["value"] < 1:
            assert wide["low"] < usual["low"] or wide["low"] == 0, usual
            assert wide["high"] > usual["high"] or wide["high"] == 1, usual


def test_scores_widen_too():
    rng = np.random.default_rng(1)
    told = pl.LazyFrame({
        "item_id": np.repeat([f"q{one}" for one in range(12)], 3),
        "replication": np.tile([0, 1, 2], 12), "score": rng.normal(size=36),
    })  # fmt: skip
    ends = [
        reduce_judgments(
            told, coefficients=["standard_error", "icc1"], intervals=IntervalChoice(confidence=at)
        ).select("low", "high")
        for at in (0.95, 0.99)
    ]
    assert (ends[1]["low"] < ends[0]["low"]).all()
    assert (ends[1]["high"] > ends[0]["high"]).all()


def test_one_reply_a_question_stays_exact():
    told = pl.LazyFrame({
        "item_id": list("qrstu"), "replication": [0] * 5, "verdict": ["a", "b", "a", None, "a"],
    })  # fmt: skip
    usual, wide = (
        reduce_judgments(told, coefficients=["valid_rate"], intervals=one).row(0, named=True)
        for one in (AUTO, IntervalChoice(confidence=0.999))
    )
    assert usual["interval_method"] == wide["interval_method"] == "clopper_pearson"
    assert wide["low"] < usual["low"]


def test_the_posterior_widens_as_far_as_its_draws_cannot_tell():
    """Few questions differ: at 99.99 % no interval may end where the last of 400 draws does."""
    counts = np.array([[6, 0]] * 26 + [[0, 6]] * 4 + [[5, 1], [2, 4], [3, 3]])
    alpha = count_statistic("krippendorff_alpha", n_values=2)
    clusters = np.arange(len(counts))
    usual, wide = (
        IntervalChoice(confidence=at).interval(counts, alpha, clusters) for at in (0.95, 0.9999)
    )
    assert usual.kind == wide.kind == IntervalMethod.POSTERIOR
    left_out = jackknife_interval(counts, alpha, confidence=0.9999)
    assert wide.low <= left_out.low < usual.low
    assert wide.high >= left_out.high


def test_where_one_question_decides_a_high_confidence_has_no_interval():
    counts = np.array([[4, 0]] * 20 + [[0, 4]])
    alpha = count_statistic("krippendorff_alpha", n_values=2)
    usual, wide = (
        IntervalChoice(confidence=at).interval(counts, alpha, np.arange(21))
        for at in (0.95, 0.9999)
    )
    assert usual.low is not None
    assert wide.undefined == "depends_on_one_question"


@pytest.mark.slow
@pytest.mark.parametrize("at", [0.95, 0.9])
def test_tables_have_the_standard_errors_that_intervals_were_laid_with(rows, at):
    choice = IntervalChoice(confidence=at)
    usual, found = (
        reduce_judgments(rows, coefficients=NAMES, intervals=one)
        for one in (choice, replace(choice, with_errors=True))
    )
    assert found.drop("standard_error").equals(usual)
    of_shares = pl.col("interval_method") == IntervalMethod.JACKKNIFE_AND_BINOMIAL.value
    laid = found.filter(of_shares, pl.col("low") > 0, pl.col("high") < 1)
    assert {"percent_agreement", "swap_consistency"} <= set(laid["coefficient"])
    for one in laid.iter_rows(named=True):
        ends = share_ends(one["value"], one["standard_error"], one["n_compared"], confidence=at)
        assert (one["low"], one["high"]) == pytest.approx(ends)
    posterior = pl.col("interval_method").str.contains("posterior|clopper")
    assert found.filter(posterior)["standard_error"].is_null().all()
