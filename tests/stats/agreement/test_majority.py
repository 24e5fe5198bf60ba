from __future__ import annotations

import numpy as np
import pytest

from judgerel_ray.stats import Coefficient, majority_probabilities, majority_stability


def test_all_its_fields():
    assert majority_stability([[4, 0], [2, 1], [3, 1]], 2) == Coefficient(
        name="majority_stability_2",
        value=0.75,  # 1 and 1/2; the unit of three takes no part
        estimator="two disjoint samples of 2, unbiased",
        n_units=2,
        n_raters=4,
        n_ratings=8,
        n_missing=0,
    )


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([[0, 0]], "no_verdicts"),
        ([[1, 0]], "single_replication"),
        ([[3, 2]], "too_few_replications"),
    ],
)
def test_without_a_value_it_says_why(counts, reason):
    found = majority_stability(counts, 3)
    assert (found.value, found.undefined, found.n_units) == (None, reason, 0)


def test_it_is_unbiased_where_the_plug_in_is_not():
    # Ten draws from (.6, .4): every table of counts, weighted by its probability.
    from math import comb

    truth = majority_stability([[0.6, 0.4]], 3, known=True).value
    weights = [comb(10, n) * 0.6**n * 0.4 ** (10 - n) for n in range(11)]
    unbiased = [majority_stability([[n, 10 - n]], 3).value for n in range(11)]
    plugged = [majority_stability([[n / 10, 1 - n / 10]], 3, known=True).value for n in range(11)]
    assert np.dot(weights, unbiased) == pytest.approx(truth, abs=1e-12)
    assert np.dot(weights, plugged) > truth + 0.03


def test_majorities_of_eleven_from_a_hundred_replications():
    shares = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    counts = np.random.default_rng(0).multinomial(100, shares, size=400)
    truth = majority_stability([shares], 11, known=True).value
    found = majority_stability(counts, 11).value
    assert found == pytest.approx(truth, abs=0.02)


def test_probabilities_sum_to_one():
    shares = np.random.default_rng(1).dirichlet(np.ones(6), size=5)
    for k in (1, 2, 4, 11):
        wins = majority_probabilities(shares, k)
        assert wins.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-12)
    assert majority_probabilities(shares, 1) == pytest.approx(shares, abs=1e-15)


def test_unknown_distributions_take_no_part():
    found = majority_stability([[np.nan, np.nan], [1.0, 0.0]], 5, known=True)
    assert (found.value, found.n_units) == (1.0, 1)
    nothing = majority_stability(np.full((1, 2), np.nan), 5, known=True)
    assert (nothing.value, nothing.undefined) == (None, "no_verdicts")


@pytest.mark.parametrize(
    ("rows", "k", "known"),
    [
        ([[1, 2]], 0, False),
        ([[0.5, 1.5]], 1, False),
        ([[0.5, 0.4]], 1, True),
        ([[1.5, -0.5]], 1, True),
        ([0.5, 0.5], 1, True),
    ],
)
def test_it_refuses(rows, k, known):
    with pytest.raises(ValueError, match="majority_stability"):
        majority_stability(rows, k, known=known)
