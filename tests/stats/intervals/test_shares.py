"""Intervals of shares: exact where trials are independent, by question where they are not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.special import stdtrit

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.stats import jackknife_interval, label_accuracy
from judgerel_ray.stats.intervals.ends import share_ends
from judgerel_ray.stats.intervals.shares import (
    clustered_mean,
    clustered_share,
    difference_ends,
    weighted_share_interval,
)


@given(st.integers(1, 40), st.data())
def test_one_trial_a_question_is_exact(n, data):
    k = data.draw(st.integers(0, n))
    hits = np.arange(n) < k
    known = scipy_stats.binomtest(k, n).proportion_ci(0.95, method="exact")
    for clusters in (None, np.arange(n)[::-1]):
        found = clustered_share(hits, clusters_N=clusters)
        assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-9)
        assert (found.k, found.n, found.n_questions) == (k, n, n)
        assert found.method == "exact binomial"


@given(st.lists(st.booleans(), min_size=2, max_size=12), st.integers(2, 5), st.floats(0.5, 0.99))
def test_repeating_every_trial_adds_nothing(hits, times, confidence):
    once = clustered_share(hits, confidence=confidence)
    often = clustered_share(
        np.repeat(hits, times),
        clusters_N=np.repeat(np.arange(len(hits)), times),
        confidence=confidence,
    )
    assert (often.n, often.n_questions) == (times * len(hits), len(hits))
    assert often.value == pytest.approx(once.value)
    # Wider by what the spread of few questions hides, never narrower than the questions alone.
    assert often.low <= once.low + 1e-9
    assert often.high >= once.high - 1e-9


def test_the_ends_hold_the_value_and_questions_that_differ_widen_them():
    mixed = np.tile([True, True, True, False], 15)
    clusters = np.repeat(np.arange(15), 4)
    within = clustered_share(mixed, clusters_N=clusters)
    between = clustered_share(np.sort(mixed), clusters_N=clusters)
    assert within.low < within.value < within.high
    assert within.high - within.low < between.high - between.low
    alone = clustered_share(mixed)
    assert (within.low, within.high) == pytest.approx((alone.low, alone.high))


def test_nothing_and_one_question_have_no_ends():
    assert clustered_share([]).value is None
    one = clustered_share([True, False], clusters_N=["q", "q"])
    assert (one.value, one.low, one.high, one.n_questions) == (0.5, None, None, 1)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.5, 0.95])
@pytest.mark.parametrize("correlation", [0.3, 0.8])
@pytest.mark.parametrize(("n_questions", "most"), [(20, 6), (60, 6), (200, 2)])
def test_coverage_where_judgments_of_a_question_go_together(p, correlation, n_questions, most):
    rng = np.random.default_rng(1)
    s = 1 / correlation - 1
    held = held_as_if_independent = 0
    for _ in range(400):
        sizes = rng.integers(1, most + 1, n_questions) if most > 2 else np.full(n_questions, 2)
        clusters = np.repeat(np.arange(n_questions), sizes)
        hits = rng.random(clusters.size) < rng.beta(p * s, (1 - p) * s, n_questions)[clusters]
        found, plain = clustered_share(hits, clusters_N=clusters), clustered_share(hits)
        held += found.low <= p <= found.high
        held_as_if_independent += plain.low <= p <= plain.high
    # 400 runs at .95 have a standard error of 1.1 %.
    assert held / 400 >= 0.928
    assert held_as_if_independent < held


def test_labels_are_told_by_question():
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(30), 6)
    correct = np.repeat(rng.random(30) < 0.7, 6)
    low = rng.random(180) < 0.5
    plain, found = label_accuracy(low, correct), label_accuracy(low, correct, clusters_N=clusters)
    for name in ("low", "high", "all"):
        one, other = getattr(plain, name), getattr(found, name)
        assert (one.k, one.n) == (other.k, other.n)
        assert other.high - other.low > 1.4 * (one.high - one.low)
    assert found.share_low.method == "by 30 questions"


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="one length"):
        clustered_share([True], clusters_N=[1, 2])
    with pytest.raises(ValueError, match="confidence"):
        clustered_share([True], confidence=1.0)
    with pytest.raises(ValueError, match="one length"):
        label_accuracy([True], [True], clusters_N=[1, 2])


def test_a_mean_of_rare_whole_differences_is_not_called_small_too_often():
    """Few questions lose their answer wholly, and others waver: Student's t misses the truth."""
    rng = np.random.default_rng(0)
    n, share, times = 40, 0.05, 3000
    wavering = 1 - 0.05 * rng.random((times, n))
    before = rng.binomial(4, wavering) / 4
    after = np.where(rng.random((times, n)) < share, 0, rng.binomial(4, wavering) / 4)
    drop, truth = before - after, share * 0.975
    value, error = drop.mean(axis=1), drop.std(axis=1, ddof=1) / n**0.5
    ends = [difference_ends(*one, n) for one in zip(value.tolist(), error.tolist(), strict=True)]
    student = value + stdtrit(n - 1, 0.975) * error
    assert (student < truth).mean() > 0.1
    assert np.mean([high < truth for _, high in ends]) < 0.035
    assert np.mean([low > truth for low, _ in ends]) < 0.025


def test_ends_of_a_difference_are_alike_on_both_sides_and_in_reach():
    low, high = difference_ends(0.1, 0.04, 30)
    assert difference_ends(-0.1, 0.04, 30) == pytest.approx((-high, -low))
    assert difference_ends(0.9, 0.3, 5)[1] == 1.0
    plain = 0.1 + stdtrit(9999, 0.975) * 0.04
    assert difference_ends(0.1, 0.04, 10_000)[1] == pytest.approx(plain, abs=2e-4)


def test_ends_of_a_share_are_those_of_as_many_trials_as_its_error_is_worth():
    lost = scipy_stats.norm.ppf(0.975) / stdtrit(39, 0.975)
    n = 0.9 * 0.1 / 0.03**2 * lost**2
    low, high = scipy_stats.beta.ppf([0.025, 0.975], [0.9 * n, 0.9 * n + 1], [0.1 * n + 1, 0.1 * n])
    half = float(scipy_stats.t.ppf(0.975, 39)) * 0.03
    outer = (min(low, 0.9 - half), max(high, 0.9 + half))  # and never shorter than Student's t
    assert share_ends(0.9, 0.03, 40) == pytest.approx(outer, abs=1e-6)


def test_a_share_of_one_is_worth_no_more_than_its_heaviest_question():
    """A question of a thousand trials beside 59 of one may fail, whatever these do."""
    hits, clusters = np.ones(1059), np.r_[np.zeros(1000), np.arange(1, 60)]
    by_trials = clustered_share(hits, clusters_N=clusters)
    weighted = weighted_share_interval(clustered_mean(hits, clusters_N=clusters))
    jackknifed = jackknife_interval([[1000, 0]] + [[1, 0]] * 59, "valid_rate")
    assert by_trials.low == pytest.approx(weighted.low) == pytest.approx(jackknifed.low)
    assert by_trials.low < 0.1
    assert weighted.kind is IntervalMethod.EXACT_WEIGHTED


def test_a_mean_of_no_number_is_refused():
    with pytest.raises(ValueError, match="clustered_mean"):
        clustered_mean([1.0, math.nan])
