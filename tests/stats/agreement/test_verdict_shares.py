"""Shares that counts support, and majority labels from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import percent_agreement
from judgerel_ray.stats.agreement.majority import majority_vote, supported_shares


def dirichlet_shares(rng, alpha, n, n_values=5):
    return rng.dirichlet(np.full(n_values, (1 / alpha - 1) / n_values), n)


def alpha_of(shares):
    agreement = (shares**2).sum(1).mean()
    return 1 - (1 - agreement) / (1 - (shares.mean(0) ** 2).sum())


@given(st.integers(0, 500))
def test_drawn_shares_show_the_agreement_that_pairs_show(seed):
    rng = np.random.default_rng(seed)
    counts = np.array([rng.multinomial(m, p) for m, p in zip(
        rng.integers(2, 9, 15), rng.dirichlet([0.4, 0.4, 0.4], 15), strict=True)])  # fmt: skip
    shares = supported_shares(counts)
    np.testing.assert_allclose(shares.sum(1), 1)
    assert (shares >= -1e-12).all()
    shown, chance = (shares**2).sum(1).mean(), (shares.mean(0) ** 2).sum()
    # Unless units agree less than chance: then they are all the mean.
    expected = max(percent_agreement(counts).value, chance)
    assert shown == pytest.approx(expected, abs=1e-12)


def test_many_replications_are_left_as_they_are():
    counts = np.array([[60_000, 40_000], [10_000, 90_000]])
    np.testing.assert_allclose(supported_shares(counts), counts / 100_000, atol=1e-4)
    assert supported_shares([[1, 0]]).shape == (0, 2)


def test_known_shares_are_estimated_from_few_replications():
    # Majorities of three from five replications a question, against the truth of the same judge.
    rng = np.random.default_rng(5)
    truth, plugged, supported = [], [], []
    for _ in range(200):
        shares = dirichlet_shares(rng, 0.5, 100, 3)
        counts = np.array([rng.multinomial(5, p) for p in shares])
        truth.append(majority_vote(shares, 3).agreement)
        plugged.append(majority_vote(counts / 5, 3).agreement)
        supported.append(majority_vote(supported_shares(counts), 3).agreement)
    bias, plug_in_bias = np.mean(supported) - np.mean(truth), np.mean(plugged) - np.mean(truth)
    assert plug_in_bias > 0.02
    assert abs(bias) < 0.006


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
    with pytest.raises(ValueError, match="distances_VV must have shape"):
        supported_shares([[2, 0]], distances_VV=[[0.0]])
