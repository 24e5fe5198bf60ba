from __future__ import annotations

import numpy as np
import pytest

from judgerel_ray.stats import (
    Coefficient,
    bootstrap_interval,
    count_statistic,
    icc,
    icc1,
    icc_from_moments,
    icck,
    jackknife_interval,
    measure,
    moment_statistic,
    moments_from_scores,
)

RNG = np.random.default_rng(4)
SCORES = RNG.normal(size=(30, 1)) + RNG.normal(size=(30, 5))


def test_all_its_fields():
    # Units 1 2, 3 -, 5 5 6: the unit of one takes no part. n = 5, means 1.5 and 16/3, grand 3.8.
    # SSB = 2 x 2.3^2 + 3 x (16/3 - 3.8)^2 = 17.6333, SSW = .5 + 2/3, m0 = (5 - 13/5) / 1 = 2.4.
    nan = np.nan
    found = icc([[1, 2, nan], [3, nan, nan], [5, 5, 6]])
    between, within = 10.58 + 3 * (16 / 3 - 3.8) ** 2, (0.5 + 2 / 3) / 3
    assert found.value == pytest.approx((between - within) / (between + 1.4 * within))
    assert found == Coefficient(
        name="icc1",
        value=found.value,
        estimator="one-way ANOVA of scores, ICC(1)",
        n_units=2,
        n_raters=3,
        n_ratings=5,
        n_missing=1,
    )


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([[np.nan, np.nan]], "no_verdicts"),
        ([[1, np.nan], [2, np.nan]], "single_replication"),
        ([[1, 2]], "too_few_units"),
        ([[2, 2], [2, 2]], "no_variance"),
        (np.full((4, 3), 1e8 + 0.1), "no_variance"),
    ],
)
def test_without_a_value_it_says_why(scores, reason):
    found = icc(scores)
    assert (found.value, found.undefined) == (None, reason)


def test_no_mean_of_many_is_reliable_where_units_are_too_alike():
    # Every unit holds 0 and 1: rho = -1, and 1 + (3 - 1) rho is below 0.
    found = icc([[0, 1], [1, 0], [0, 1]])
    assert found.value == pytest.approx(-1)
    assert icc([[0, 1], [1, 0]], k=3).undefined == "no_variance"
    assert icck([[1, 1], [1, 1]]).undefined == "no_variance"


def test_two_categories_of_names_are_numbers():
    counts = [[3, 1], [0, 4], [2, 0], [1, 1]]
    numbers = icc1(counts, values=[0, 1], level="interval")
    assert icc1(counts).value == pytest.approx(numbers.value, abs=1e-12)
    assert numbers.estimator == "one-way ANOVA of scores, ICC(1)"


def test_moments_are_scores():
    moments = moments_from_scores(SCORES)
    for k in (1, 3):
        assert icc_from_moments(moments, k=k) == icc(SCORES, k=k)
    far = icc(SCORES + 1e6).value
    assert far == pytest.approx(icc(SCORES).value, abs=1e-6)
    assert measure(moments, moment_statistic("icck")).value == pytest.approx(
        icc(SCORES, k=5).value, abs=1e-12
    )


@pytest.mark.parametrize("name", ["icc1", "icck", "krippendorff_alpha"])
def test_intervals_of_moments_are_those_of_counts(name):
    values = np.arange(1, 8)
    ratings = np.clip(np.round(SCORES + 4), 1, 7).astype(int)
    counts = np.array([[np.sum(unit == v) for v in values] for unit in ratings])
    of_counts = count_statistic(name, n_values=7, values=values, level="interval")
    moments, of_moments = moments_from_scores(ratings), moment_statistic(name)
    for interval in (jackknife_interval, bootstrap_interval):
        here, there = interval(counts, of_counts), interval(moments, of_moments)
        assert (here.low, here.high) == pytest.approx((there.low, there.high), abs=1e-9)
        assert (here.method, here.n_questions) == (there.method, there.n_questions)


@pytest.mark.parametrize(
    "moments",
    [[[2, 3]], [[2.5, 1, 1]], [[-1, 0, 0]], [[2, 4, 1]], [[1, np.nan, 1]]],
)
def test_impossible_moments_are_refused(moments):
    with pytest.raises(ValueError, match="moments_U3 must"):
        icc_from_moments(moments)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: icc(SCORES, k=0),
        lambda: icc([1, 2]),
        lambda: icc([[1, np.inf]]),
        lambda: icc1([[1, 2]], level="interval"),
        lambda: icc1([[1, 2]], values=["no", "yes"], level="ordinal"),
        lambda: icc1([[1, 2]], level="cardinal"),
        lambda: icck([[1, 2]], n_categories=0),
        lambda: moment_statistic("fleiss_kappa"),
    ],
)
def test_it_refuses(wrong):
    with pytest.raises(ValueError):
        wrong()
