"""Majority votes: juries, and their disjoint samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from judgerel_ray.stats import (
    Coefficient,
    majority_probabilities,
    majority_stability,
)
from judgerel_ray.stats.agreement import majority
from judgerel_ray.stats.agreement.majority import (
    disjoint_agreement,
    majority_vote,
    pooled_agreement,
)


@given(
    rows=st.lists(st.lists(st.integers(0, 40), min_size=4, max_size=4), min_size=1, max_size=8),
    k=st.integers(1, 5),
)
@settings(max_examples=40, deadline=None)
def test_parted_samples_agree_as_samples_drawn_apart(rows, k):
    counts = np.array(rows, dtype=float)
    counts = counts[counts.sum(axis=1) >= 2 * k]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(majority, "_FEWEST_ROWS", 1)
        patch.setattr(majority, "_CELLS", 200)
        pooled = pooled_agreement(counts, k)
    apart = disjoint_agreement(counts, k) if len(counts) else np.zeros(0)
    assert pooled.tolist() == pytest.approx(apart.tolist(), abs=1e-12)


def test_many_votes_of_many_ratings_stay_in_range(monkeypatch):
    monkeypatch.setattr(majority, "_FEWEST_ROWS", 1)
    counts = np.array([[600_000.0, 400_000.0], [1e6, 0.0], [300.0, 300.0]])
    found = pooled_agreement(counts, 31)
    # Of a million ratings .6 to .4 a jury of 31 errs once in 8: 1 - 2 x .125 x .875.
    errs = sum(math.comb(31, k) * 0.6**k * 0.4 ** (31 - k) for k in range(16))
    assert found[0] == pytest.approx(1 - 2 * errs * (1 - errs), abs=1e-4)
    assert found[1] == pytest.approx(1, abs=1e-12)
    assert 0.4 < found[2] < 0.5


def test_hundreds_of_replications_are_parted_and_not_multiplied(monkeypatch):
    def refuse(rows: np.ndarray, k: int) -> np.ndarray:
        assert rows.sum(axis=1).max() == 2 * k, "rows of counts were multiplied out"
        return disjoint_agreement(rows, k)

    majority._halves_of_sampled_ratings.cache_clear()
    monkeypatch.setattr(majority, "disjoint_agreement", refuse)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(500, [0.4, 0.3, 0.2, 0.1], size=400).astype(float)
    found = pooled_agreement(counts, 5)
    assert found[:3].tolist() == pytest.approx(
        disjoint_agreement(counts[:3], 5).tolist(), abs=1e-12
    )


def dirichlet_shares(rng, alpha, n, n_values=5):
    return rng.dirichlet(np.full(n_values, (1 / alpha - 1) / n_values), n)


def alpha_of(shares):
    agreement = (shares**2).sum(1).mean()
    return 1 - (1 - agreement) / (1 - (shares.mean(0) ** 2).sum())


@pytest.mark.slow
def test_majority_labels_do_not_follow_spearman_and_brown():
    # Forty questions, five verdicts, alpha .43: Spearman-Brown promises .694 .791 .893 .941.
    rng = np.random.default_rng(0)
    near = [
        s
        for s in (dirichlet_shares(rng, 0.43, 40) for _ in range(1200))
        if abs(alpha_of(s) - 0.43) < 0.002
    ]
    assert len(near) > 15
    printed = {3: 0.544, 5: 0.625, 11: 0.736, 21: 0.814}
    for k, value in printed.items():
        found = [majority_vote(shares, k).alpha for shares in near]
        assert np.mean(found) == pytest.approx(value, abs=0.02)
        assert max(found) < k * 0.43 / (1 + (k - 1) * 0.43)


def test_one_vote_is_the_judge_itself_and_one_label_has_no_alpha():
    shares = np.array([[0.7, 0.3], [0.1, 0.9]])
    assert majority_vote(shares, 1).agreement == pytest.approx((shares**2).sum(1).mean())
    assert majority_vote(shares, 1).alpha == pytest.approx(alpha_of(shares))
    assert majority_vote([[1.0, 0.0]], 3) == (1.0, None)


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match="sum to 1"):
        majority_vote([[0.5, 0.4]], 3)
    with pytest.raises(ValueError, match="at least one unit"):
        majority_vote(np.empty((0, 2)), 3)
    with pytest.raises(ValueError, match="k must be at least 1"):
        majority_vote([[1.0]], 0)


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


@pytest.mark.alike(4)
@pytest.mark.parametrize("k", [170, 171, 172, 501])
def test_votes_whose_factorial_is_no_double_are_counted(k):
    shares = np.array([[0.55, 0.45], [0.001, 0.999], [1.0, 0.0]])
    wins = majority_probabilities(shares, k)
    for one, (p, _) in zip(wins, shares, strict=True):
        tied = binom.pmf(k // 2, k, p) / 2 if k % 2 == 0 else 0.0
        assert one == pytest.approx(
            [binom.sf(k // 2, k, p) + tied, binom.cdf((k - 1) // 2, k, p) + tied]
        )


def test_large_votes_are_scaled_to_the_same_chances(monkeypatch):
    shares = np.array([[0.1] * 10, [0.4, 0.3, 0.2, 0.1, *[0.0] * 6]])
    plain = majority_probabilities(shares, 40)
    monkeypatch.setattr(majority, "_SMALL_VOTE", 0)
    np.testing.assert_allclose(majority_probabilities(shares, 40), plain, rtol=1e-12)
