"""Shift, rank correlation, and alpha less the noise of each scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from judgerel_ray.stats import (
    counts_from_ratings,
    disattenuated_alpha,
    inter_scale_alpha,
    krippendorff_alpha,
    scale_rank_correlation,
    scale_ratings,
    scale_shift,
)
from judgerel_ray.stats.intervals.paired import Estimate

FIVE, TEN = (1, 5), (1, 10)
EVERY = (disattenuated_alpha, scale_shift, scale_rank_correlation)


def drawn(seed: int = 0, items: int = 80):
    rng = np.random.default_rng(seed)
    latent = rng.uniform(size=(items, 1))
    five, ten = (
        np.clip(np.rint(1 + (n - 1) * (latent + rng.normal(scale=0.15, size=(items, 3)))), 1, n)
        for n in (5, 10)
    )
    five[:, 1:][rng.random((items, 2)) < 0.1] = np.nan
    return five, ten


@pytest.mark.parametrize(
    ("mapping", "level"),
    [
        ("minmax", "interval"),
        ("minmax", "ordinal"),
        ("collapse", "ordinal"),
        ("binarise", "nominal"),
    ],
)
def test_alpha_is_divided_by_that_of_each_scale_with_itself(mapping, level):
    ratings = scale_ratings(drawn(), ranges=[FIVE, TEN], mapping=mapping, level=level)
    own = []
    for mapped in ratings.mapped:
        counts, values = counts_from_ratings(mapped)
        own.append(krippendorff_alpha(counts, values=values, level=level).value)
    found = disattenuated_alpha(ratings)
    expected = inter_scale_alpha(ratings).value / np.sqrt(own[0] * own[1])
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.low < found.value < found.high
    assert found.heuristic
    assert found.estimator == f"alpha_IC / sqrt(alpha_SC1 alpha_SC2), {level} alpha, {mapping}"


def test_its_interval_leaves_a_question_out_of_all_three():
    five, ten = drawn(items=30)
    questions = np.repeat(np.arange(15), 2)
    whole = disattenuated_alpha(
        scale_ratings([five, ten], ranges=[FIVE, TEN], questions_N=questions)
    )
    left = np.array(
        [
            disattenuated_alpha(
                scale_ratings([five[questions != q], ten[questions != q]], ranges=[FIVE, TEN])
            ).value
            for q in range(15)
        ]
    )
    error = np.sqrt(14 / 15 * ((left - left.mean()) ** 2).sum())
    assert whole.high - whole.low == pytest.approx(2 * 2.144787 * error, rel=1e-5)
    assert (whole.n_units, whole.n_questions) == (30, 15)


def test_a_shift_is_that_of_the_items_means():
    five, ten = drawn()
    found = scale_shift(scale_ratings([five, ten], ranges=[FIVE, TEN]))
    apart = np.nanmean((ten - 1) / 9, axis=1) - np.nanmean((five - 1) / 4, axis=1)
    apart = apart[~np.isnan(apart)]
    assert found.value == pytest.approx(apart.mean(), abs=1e-12)
    error = apart.std(ddof=1) / np.sqrt(apart.size)
    assert found.high - found.low == pytest.approx(2 * 1.99 * error, rel=0.01)
    assert found.unit == "the common axis, of length 1"
    collapsed = scale_ratings([five, ten], ranges=[FIVE, TEN], mapping="collapse")
    assert scale_shift(collapsed).unit == "points"


def test_ranks_have_no_location():
    found = scale_shift(scale_ratings(drawn(), ranges=[FIVE, TEN], mapping="midrank"))
    assert (found.value, found.low, found.undefined) == (None, None, "ranks_have_no_location")


@pytest.mark.parametrize("mapping", ["minmax", "binarise"])
def test_the_rank_correlation_is_spearmans_before_any_mapping(mapping):
    five, ten = drawn()
    found = scale_rank_correlation(scale_ratings([five, ten], ranges=[FIVE, TEN], mapping=mapping))
    there = ~np.isnan(five).all(axis=1)
    expected = spearmanr(np.nanmean(five[there], axis=1), ten[there].mean(axis=1))[0]
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert (found.name, found.unit) == ("scale_rank_correlation", "dimensionless")
    assert -1 < found.low < found.value < found.high < 1


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize("mapping", ["minmax", "midrank", "collapse", "binarise"])
@pytest.mark.parametrize(
    "tables",
    [
        ([], []),
        ([np.nan], [1]),
        ([1, 2], [np.nan, 3]),
        ([[1, 1]], [[2, 2]]),
        ([[1, 1], [1, 1], [1, 1]], [[2, 2], [2, 2], [2, 2]]),
        ([[1, 5], [5, 1], [1, 5]], [[1, 9], [9, 1], [9, 1]]),
        ([1, 2, 5], [1, 4, 10]),
    ],
)
def test_degenerate_scores_never_raise(function, mapping, tables):
    found = function(scale_ratings(tables, ranges=[FIVE, TEN], mapping=mapping))
    assert isinstance(found, Estimate)
    assert (found.value is None) == (found.undefined is not None)
    assert (found.low is None) == (found.no_interval is not None)


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (([1, 2, 5], [1, 4, 10]), "single_replication"),
        (([[1, 1]], [[np.nan, np.nan]]), "single_scale"),
        (([[1, 1], [1, 1]], [[2, 2], [3, 3]]), "undefined_alpha"),
        (([[1, 5], [5, 1], [1, 5]], [[1, 9], [9, 1], [9, 1]]), "no_consistency"),
    ],
)
def test_without_consistency_nothing_can_be_divided_by_it(tables, reason):
    assert disattenuated_alpha(scale_ratings(tables, ranges=[FIVE, TEN])).undefined == reason


@pytest.mark.parametrize("function", EVERY)
def test_two_scales_are_asked_for(function):
    with pytest.raises(ValueError, match="two scales, got 3"):
        function(scale_ratings([[1], [1], [1]], ranges=[FIVE] * 3))
    with pytest.raises(ValueError, match="confidence"):
        function(scale_ratings(drawn(), ranges=[FIVE, TEN]), confidence=2)
