"""Limits of majority stability over all mixing distributions that fit."""

from itertools import permutations
from math import exp, log, prod

import numpy as np
import pytest
from scipy.optimize import brentq

from judgerel_ray.stats import majority_vote, vote_limits
from judgerel_ray.stats.intervals.mixing import partitions, sorted_likelihood, thinned
from judgerel_ray.stats.intervals.vote_limits import expected_limits


def mixture(questions, m, rng):
    """80 % unanimous, 20 % coin flips: stability .9 of any number of votes."""
    shares = np.where(rng.random(questions) < 0.8, rng.random(questions) < 0.5, 0.5)
    ones = rng.binomial(m, shares)
    return np.stack([ones, m - ones], axis=-1)


def test_two_replications_bound_every_vote_by_the_share_that_agrees():
    # 1 - s_k(p) <= 2 p (1 - p), with equality for coin flips: the lower limit is that of the share
    # of agreeing pairs, a binomial one at a twentieth of the likelihood.
    split, n = 12, 60
    best = split / n

    def fits(d):
        gain = split * log(best / d) + (n - split) * log((1 - best) / (1 - d))
        return gain - log(20)

    most = brentq(fits, best, 0.499)
    found = vote_limits([[2, 0]] * (n - split) + [[1, 1]] * split)
    for k in (1, 5, 51):
        assert found.stability(k).low == pytest.approx(1 - most, abs=2e-3)
    assert found.stability(1).high == pytest.approx(1 - brentq(fits, 1e-6, best), abs=2e-3)
    assert found.stability(51).high > 0.999


def test_none_in_n_questions_is_three_over_n():
    # Unanimous pairs: at most 3 / n of pairs split, (1 - d)^n = 1 / 20.
    found = vote_limits([[2, 0]] * 30 + [[0, 2]] * 30).stability(1)
    assert found.low == pytest.approx(exp(-log(20) / 60), abs=2e-3)
    assert found.high == pytest.approx(1.0, abs=1e-6)


def test_infinitely_many_questions_leave_what_replications_do_not_tell():
    shares = np.array([[1.0, 0.0]] * 8 + [[0.5, 0.5]] * 2)
    found = [
        expected_limits(shares, n_questions=1e7, n_replications=m).stability(51)
        for m in (2, 5, 11, 21, 51)
    ]
    assert all(low == pytest.approx(0.9, abs=3e-3) for low, _ in found)
    highs = [high for _, high in found]
    assert highs[0] > 0.99
    assert highs == sorted(highs, reverse=True)
    assert highs[-1] == pytest.approx(0.9, abs=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("questions", "m"), [(55, 2), (55, 5), (200, 5)])
def test_the_truth_of_two_kinds_of_questions_is_held(questions, m):
    rng, runs = np.random.default_rng(questions + m), 25
    held = 0
    for _ in range(runs):
        found = vote_limits(mixture(questions, m, rng))
        held += all(low <= 0.9 <= high for low, high in map(found.stability, (3, 11, 51)))
    assert held >= 0.9 * runs


def test_five_options_and_unequal_replications():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.full(5, 0.1), 300)
    counts = np.array([rng.multinomial(m, p) for m, p in zip(rng.integers(1, 6, 300), shares,
                                                              strict=True)])  # fmt: skip
    found = vote_limits(counts)
    for k in (1, 3, 11):
        low, high = found.stability(k)
        assert low <= majority_vote(shares, k).agreement <= high
        assert high - low < 0.35
    assert vote_limits(np.eye(9, dtype=int) * 2) is None
    assert vote_limits([[1, 0], [0, 1]]) is None


def test_units_of_one_question_count_as_one():
    counts = [[5, 0]] * 60 + [[3, 2]] * 20
    alone, together = vote_limits(counts), vote_limits(counts, n_questions=20)
    assert together.stability(3).low < alone.stability(3).low - 0.02


def test_likelihoods_of_sorted_counts_sum_over_who_got_which():
    rng = np.random.default_rng(2)
    rows, shares = np.array([[3.0, 1, 0, 0], [2, 1, 1, 0]]), rng.dirichlet(np.ones(4), 3)
    by_hand = [
        [sum(prod(p[v] ** c for v, c in zip(order, row, strict=True))
             for order in permutations(range(4))) for p in shares]
        for row in rows
    ]  # fmt: skip
    assert sorted_likelihood(rows, shares) == pytest.approx(np.array(by_hand))
    # All that may be seen of six draws of three values is seen for certain.
    found = expected_limits(rng.dirichlet(np.ones(3), 50), n_questions=100, n_replications=6)
    assert found._n == pytest.approx(100)
    assert len(partitions(6, 3)) == 7


def test_many_different_counts_are_thinned():
    rng = np.random.default_rng(3)
    shares = rng.beta(0.5, 0.5, 400)
    m = rng.integers(40, 90, 400)
    ones = rng.binomial(m, shares)
    counts = np.stack([ones, m - ones], axis=-1)
    few = thinned(counts.astype(float), 30)
    assert set(few.sum(axis=1)) == {30.0}
    low, high = vote_limits(counts).stability(11)
    assert low <= majority_vote(np.stack([shares, 1 - shares], axis=1), 11).agreement <= high
    assert high - low < 0.08


@pytest.mark.parametrize("n_values", [2, 3, 8])
def test_of_thousands_of_replications_a_hundred_are_told_apart(n_values):
    shares = np.random.default_rng(n_values).dirichlet(np.ones(n_values), 5)
    found = vote_limits((shares * 6_000).round())
    for k in (1, 11):
        low, high = found.stability(k)
        assert low <= majority_vote(shares, k).agreement <= high
