"""Two systems: right answers in pairs, and equal acceptance joined by question."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import mcnemar_exact, risk_coverage
from judgerel_ray.stats.selective import systems
from judgerel_ray.stats.selective.systems import (
    OrderedAnswers,
    checked_answers,
    equal_acceptance,
    paired_accuracy,
)


def test_the_four_kinds_of_questions():
    found = paired_accuracy([1, 1, 1, 0, 0, 0, 0], [1, 0, 0, 1, 1, 1, 0])
    assert (found.both, found.first_only, found.second_only, found.neither) == (1, 2, 3, 1)
    assert found.difference == pytest.approx(1 / 7)
    assert found.p == mcnemar_exact(2, 3)


def test_published_counts_are_significant_or_not_by_the_pairs():
    # 431 against 399 of 600: net 32. Of 180 questions that differ it is beyond chance, of 400 not.
    few = paired_accuracy([1] * 74 + [0] * 106 + [1] * 325 + [0] * 95,
                          [0] * 74 + [1] * 106 + [1] * 325 + [0] * 95)  # fmt: skip
    assert (few.first_only, few.second_only) == (74, 106)
    assert few.p == pytest.approx(0.021, abs=5e-4)
    many = mcnemar_exact(184, 216)
    assert many > 0.1


def test_several_answers_a_question_go_by_question():
    rng = np.random.default_rng(6)
    first, second = rng.integers(0, 4, size=(2, 50)) / 3
    found = paired_accuracy(first, second)
    assert (found.both, found.method) == (None, "t over questions")
    assert found.low < found.difference < found.high
    same = paired_accuracy(first, first)
    assert (same.difference, same.low, same.p) == (0.0, None, None)


def test_without_a_difference_there_are_ends_still():
    found = paired_accuracy([1, 1, 0], [1, 1, 0])
    assert (found.difference, found.p) == (0.0, 1.0)
    assert found.low == pytest.approx(-found.high)
    assert found.high > 0
    assert paired_accuracy([], []).difference is None


@pytest.mark.parametrize("n", [30, 300])
def test_coverage_of_the_interval(n):
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(400):
        kind = rng.choice(4, size=n, p=[0.5, 0.1, 0.2, 0.2])  # both, first, second, neither
        found = paired_accuracy(kind <= 1, (kind == 0) | (kind == 2))
        held += found.low <= 0.1 <= found.high
    assert 0.92 <= held / 400 <= 0.985


def test_mistakes_in_pairs_are_named():
    with pytest.raises(ValueError, match="one length"):
        paired_accuracy([1], [1, 0])
    with pytest.raises(ValueError, match="shares must be"):
        paired_accuracy([2], [1])
    with pytest.raises(ValueError, match="confidence"):
        paired_accuracy([1], [1], confidence=0)


scored = st.lists(
    st.tuples(st.sampled_from([0.1, 0.4, 0.5, 0.9]), st.booleans()), min_size=2, max_size=15
)


@given(scored)
def test_errors_are_those_of_the_risk_coverage_curve(rows):
    scores, right = np.array([s for s, _ in rows]), np.array([r for _, r in rows])
    side = OrderedAnswers(checked_answers(scores, right), np.arange(len(rows)))
    shares = np.arange(1, len(rows) + 1) / len(rows)
    whole = np.ones((1, len(rows)))
    curve = risk_coverage(scores, right)
    assert side.errors(whole, shares)[0] == pytest.approx(curve.risk_N)


def test_resamples_summed_a_few_at_a_time_are_the_same(monkeypatch):
    rng = np.random.default_rng(6)
    scores, right = rng.choice([0.2, 0.4, 0.6, 0.8], 90), rng.random(90) < 0.6
    names, weights = np.repeat(np.arange(30), 3), rng.integers(0, 3, (7, 30)).astype(float)
    side = OrderedAnswers(checked_answers(scores, right, names), np.arange(30))
    grid = np.array([0.1, 0.35, 1.0])
    at_once = side.errors(weights, grid)
    monkeypatch.setattr(systems, "_CELLS", 200)
    assert side.errors(weights, grid) == pytest.approx(at_once, nan_ok=True)


@pytest.mark.slow
@given(scored, st.randoms(use_true_random=False))
def test_the_order_of_rows_means_nothing(rows, random):
    scores, right = np.array([s for s, _ in rows]), np.array([r for _, r in rows])
    names = np.array([f"q{i}" for i in range(len(rows))])
    order = list(range(len(rows)))
    random.shuffle(order)
    first = checked_answers(scores, right, names)
    other = checked_answers(1 - scores, right, names)
    shuffled = checked_answers((1 - scores)[order], right[order], names[order])
    plain = equal_acceptance(first, other, n_resamples=20)
    again = equal_acceptance(first, shuffled, n_resamples=20)
    assert again.value_G == pytest.approx(plain.value_G)
    assert again.mean_low == pytest.approx(plain.mean_low)


@pytest.mark.slow
@given(scored, scored)
def test_first_and_second_are_mirror_images(rows, others):
    sides = [
        checked_answers([s for s, _ in one], [r for _, r in one], np.arange(len(one)))
        for one in (rows, others)
    ]
    ahead, back = equal_acceptance(*sides, n_resamples=30), equal_acceptance(
        *sides[::-1], n_resamples=30
    )  # fmt: skip
    assert ahead.value_G == pytest.approx(-back.value_G)
    assert ahead.n_questions == back.n_questions == min(len(rows), len(others))
    if ahead.mean_low is not None:
        assert (ahead.mean_low, ahead.p) == pytest.approx((-back.mean_high, back.p))


def test_a_system_is_no_better_than_itself_however_its_rows_lie():
    rng = np.random.default_rng(2)
    scores, right = rng.choice([0.5, 0.7, 0.9], 120), rng.random(120) < 0.6
    order = rng.permutation(120)
    found = equal_acceptance(
        checked_answers(scores, right, np.arange(120)),
        checked_answers(scores[order], right[order], np.arange(120)[order]),
        n_resamples=50,
    )
    assert (found.mean, found.mean_low, found.p) == (0.0, None, None)


def test_a_share_that_one_rejects_is_not_compared():
    rng = np.random.default_rng(3)
    scores = rng.random(100)
    right = rng.random(100) < scores
    half = np.where(scores < np.median(scores), np.nan, scores)
    found = equal_acceptance(
        checked_answers(scores, right), checked_answers(half, right), n_resamples=30
    )
    assert found.acceptance_G.max() == 0.5
    assert found.value_G == pytest.approx(np.zeros(found.value_G.size))


def test_a_share_that_half_of_the_resamples_reject_has_no_interval():
    rng = np.random.default_rng(3)
    scores = rng.random(100)
    right = rng.random(100) < 0.6
    half = np.where(scores < np.median(scores), np.nan, scores)
    found = equal_acceptance(
        checked_answers(scores, right), checked_answers(half, ~right), shares=[0.5], n_resamples=200
    )
    assert found.mean == pytest.approx(found.second_G[0] - found.first_G[0])
    assert np.isnan(found.low_G).all()
    assert (found.mean_low, found.mean_high) == (None, None)


def test_a_system_that_rejects_a_few_still_has_an_interval():
    rng = np.random.default_rng(7)
    scores, other = rng.random(120), rng.random(120)
    right = rng.random(120) < scores
    scores[rng.permutation(120)[:5]] = np.nan
    found = equal_acceptance(
        checked_answers(scores, right), checked_answers(other, right), n_resamples=200
    )
    assert found.acceptance_G.max() == 0.95
    assert found.mean_low < found.mean < found.mean_high
    assert found.p is not None


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 200])
def test_the_interval_excludes_nothing_where_p_does_not(n):
    told = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        first, second = rng.random(n) < 0.5, rng.random(n) < 0.7
        found = equal_acceptance(
            checked_answers(np.ones(n), first), checked_answers(np.ones(n), second), shares=[1.0],
            n_resamples=1999,
        )  # fmt: skip
        told.append((found.mean_low > 0 or found.mean_high < 0, found.p < 0.05))
    assert sum(a != b for a, b in told) <= 1  # ends stand on steps of the resamples
    assert {b for _, b in told} >= ({False} if n == 6 else {True})


def test_where_nothing_varies_there_is_no_interval():
    right = [True, False] * 20
    one = checked_answers(np.linspace(0, 1, 40), right)
    found = equal_acceptance(one, one, n_resamples=50)
    assert (found.mean, found.mean_low, found.mean_high, found.p) == (0.0, None, None, None)
    assert np.isnan(found.low_G).all()
    assert np.isnan(found.high_G).all()


def test_a_plain_difference_outlives_a_family_of_36():
    rng = np.random.default_rng(5)
    first, second = rng.random(400) < 0.9, rng.random(400) < 0.5
    found = equal_acceptance(
        checked_answers(rng.random(400), first),
        checked_answers(rng.random(400), second),
        n_resamples=200,
    )
    assert found.p < 0.001 / 36
    assert found.mean_low > 0


def test_what_cannot_be_compared_says_why():
    one = checked_answers([0.5], [True], ["a"])
    assert (
        equal_acceptance(one, checked_answers([0.5], [True], ["b"])).undefined
        == "no_common_questions"
    )
    silent = checked_answers([np.nan], [True], ["a"])
    assert equal_acceptance(one, silent).undefined == "nothing_accepted"


@pytest.mark.slow
def test_two_systems_of_one_law_with_few_errors_differ_as_seldom_as_they_should():
    rng = np.random.default_rng(8)
    alarms = 0
    for run in range(300):
        sides = [
            checked_answers(rng.choice([0.5, 0.7, 0.9], 100), rng.random(100) >= 0.05) for _ in "ab"
        ]
        p = equal_acceptance(*sides, n_resamples=200, seed=run).p
        alarms += p is not None and p < 0.05
    # As wide as 100 questions make it, whatever the number of errors, it was 30 of 300.
    assert alarms <= 15 + 2 * 3.8


@pytest.mark.slow
def test_coverage_of_the_difference_at_equal_acceptance():
    rng = np.random.default_rng(9)
    held = means = 0
    for _ in range(200):
        hard = rng.random(200)  # shared by both systems, so a pair tells more than two halves
        sides = []
        for skill in (0.0, 0.1):
            right = rng.random(200) < np.clip(1.05 - hard + skill, 0, 1)
            sides.append(checked_answers(1 - hard, right))
        found = equal_acceptance(*sides, shares=[0.5], n_resamples=300)
        # Of the easier half: error E max(0, h - .05) against E max(0, h - .15), h uniform to .5.
        truth = (0.35**2 - 0.45**2) / 2 / 0.5
        held += found.low_G[0] <= truth <= found.high_G[0]
        means += found.value_G[0] / 200
    assert means == pytest.approx(truth, abs=0.011)
    assert 0.9 <= held / 200 <= 0.99


def test_mistakes_are_named():
    one = checked_answers([0.5], [True])
    for choice in ({"shares": [0.0]}, {"n_resamples": 0}, {"confidence": 1.0}):
        with pytest.raises(ValueError, match="equal_acceptance: confidence"):
            equal_acceptance(one, one, **choice)
    with pytest.raises(ValueError, match="questions_N"):
        checked_answers([0.5], [True], [1, 2])
