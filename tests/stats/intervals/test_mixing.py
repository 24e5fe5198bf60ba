"""The posterior of the mixing distribution, the interval of alpha from it, supported shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import (
    count_statistic,
    jackknife_interval,
    majority_vote,
    percent_agreement,
    posterior_interval,
    supported_shares,
)
from judgerel_ray.stats.intervals.mixing import distinct_rows, mixing_states, posterior_shares

ALPHA = count_statistic("krippendorff_alpha", n_values=2)
NAMES = ("krippendorff_alpha", "fleiss_kappa", "icc1")


def judged(shares, m, rng):
    ones = rng.binomial(m, shares)
    return np.stack([ones, m - ones], axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "alpha"), [(0.9, 0.2), (0.97, 0.2)])
def test_it_covers_where_one_verdict_dominates_and_the_jackknife_does_not(rate, alpha):
    rng, s, runs = np.random.default_rng(2), (1 - alpha) / alpha, 50
    covered = np.zeros(2, dtype=int)
    for _ in range(runs):
        counts = judged(rng.beta(s * rate, s * (1 - rate), 20), 2, rng)
        found = posterior_interval(counts, ALPHA)
        if found.undefined:  # one verdict is all there is: no alpha, no interval
            covered += 1
            continue
        assert -1 <= found.low <= found.high <= 1
        left_out = jackknife_interval(counts, ALPHA)
        covered[0] += (left_out.low or 0) <= alpha <= (left_out.high or 0)
        covered[1] += found.low <= alpha <= found.high
    # bench.skewed_coverage writes the whole table; .93 less two and a half standard errors is .85.
    assert covered[0] < 0.8 * runs
    assert covered[1] >= 0.85 * runs


@pytest.mark.slow
def test_questions_of_two_kinds_are_covered():
    rng, runs, covered = np.random.default_rng(3), 40, 0
    for _ in range(runs):
        unanimous = rng.random(55) < 0.8
        counts = judged(np.where(unanimous, rng.random(55) < 0.95, 0.5), 5, rng)
        found = posterior_interval(counts, ALPHA)
        covered += found.low <= 1 - 0.05 / (0.86 * 0.14) <= found.high
    assert covered >= 0.85 * runs


@pytest.mark.slow
def test_noise_keeps_0_and_a_value_below_it():
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(40):
        counts = judged(np.full(20, 0.9), 5, rng)
        found = posterior_interval(counts, ALPHA)
        held += found.low <= 0
        value = ALPHA.value(ALPHA.terms(counts.astype(float)).sum(axis=0))
        assert found.low <= value <= found.high
    assert held >= 0.85 * 40
    below = posterior_interval([[2, 0]] * 15 + [[1, 1]] * 5, ALPHA)
    assert below.low == pytest.approx(1 - 0.25 / (2 * 35 * 5 / (40 * 39)))
    assert below.method.endswith("extended to the value")
    assert "may be noise" in posterior_interval([[2, 1]] * 9 + [[3, 0]], ALPHA, p_noise=0.5).method


def test_it_is_the_same_whatever_the_order_of_questions_and_verdicts():
    rng = np.random.default_rng(5)
    counts = np.array([rng.multinomial(m, [0.7, 0.2, 0.1]) for m in rng.integers(2, 9, 40)])
    statistic = count_statistic("krippendorff_alpha", n_values=3)
    found = posterior_interval(counts, statistic)
    assert found == posterior_interval(counts, statistic)
    again = posterior_interval(counts[rng.permutation(40)][:, [2, 0, 1]], statistic)
    assert (again.low, again.high) == pytest.approx((found.low, found.high))
    shares = posterior_shares(counts)
    assert np.array_equal(shares, posterior_shares(counts[::-1][:, ::-1]))


def test_alpha_kappa_and_icc_of_labels_share_it_and_nothing_else_has_it():
    counts = judged(np.random.default_rng(6).beta(0.9, 0.1, 30), 4, np.random.default_rng(6))
    ends = [
        posterior_interval(counts, count_statistic(name, n_values=2), p_noise=0.0) for name in NAMES
    ]
    assert ends[0].high == ends[1].high == ends[2].high
    for name in ("gwet_ac1", "percent_agreement", "icck", "majority_stability_2"):
        assert posterior_interval(counts, count_statistic(name, n_values=2)) is None
    numbers = count_statistic("krippendorff_alpha", n_values=2, values=[0, 1], level="interval")
    assert posterior_interval(counts, numbers) is None
    # Two units of a question are no two questions.
    assert posterior_interval(counts, ALPHA, clusters_U=np.arange(30) // 2) is None
    assert posterior_interval(counts, ALPHA, clusters_U=np.arange(30)) is not None


def test_a_hundred_thousand_questions_cost_what_their_different_counts_do():
    rng = np.random.default_rng(7)
    shares = rng.beta(0.9, 0.1, 100_000)
    few = posterior_interval(judged(shares[:2000], 5, rng), ALPHA)
    many = posterior_interval(judged(shares, 5, rng), ALPHA)
    # A fiftieth of the questions: seven times the width.
    assert 5 < (few.high - few.low) / (many.high - many.low) < 10
    assert many.low <= 0.5 <= many.high
    unique, numbers = distinct_rows(judged(shares, 5, rng).astype(float))
    assert (len(unique), numbers.sum()) == (6, 100_000)


def test_shares_keep_two_kinds_of_questions_apart():
    rng = np.random.default_rng(8)
    shares = posterior_shares(judged(np.where(np.arange(400) < 320, 1.0, 0.5), 20, rng))
    top = shares.max(axis=1)
    assert (top > 0.95).mean() == pytest.approx(0.8, abs=0.03)
    assert (top < 0.75).mean() == pytest.approx(0.2, abs=0.05)
    assert np.allclose(shares.sum(axis=1), 1)
    assert posterior_shares([[1, 0], [0, 1]]).shape == (0, 2)


def test_weights_and_atoms_are_distributions():
    states = mixing_states(np.array([[3, 0], [1, 2]]), np.array([[4, 1], [1, 9]]),
                           np.random.default_rng(0))  # fmt: skip
    weights, atoms = next(states)
    assert (weights.shape, atoms.shape) == ((2, 20), (2, 20, 2))
    assert np.allclose(weights.sum(axis=-1), 1)
    assert np.allclose(atoms.sum(axis=-1), 1)


def test_a_confidence_that_is_none_is_refused():
    with pytest.raises(ValueError, match="confidence must be between 0 and 1, got 95"):
        posterior_interval([[2, 0]], ALPHA, confidence=95)
    assert posterior_interval([[2, 0], [3, 0]], ALPHA).undefined == "undefined"


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


@pytest.mark.slow
def test_known_shares_are_estimated_from_few_replications():
    # Majorities of three from five replications a question, against the truth of the same judge.
    rng = np.random.default_rng(5)
    truth, plugged, supported = [], [], []
    for _ in range(200):
        shares = rng.dirichlet(np.full(3, 1 / 3), 100)
        counts = np.array([rng.multinomial(5, p) for p in shares])
        truth.append(majority_vote(shares, 3).agreement)
        plugged.append(majority_vote(counts / 5, 3).agreement)
        supported.append(majority_vote(supported_shares(counts), 3).agreement)
    bias, plug_in_bias = np.mean(supported) - np.mean(truth), np.mean(plugged) - np.mean(truth)
    assert plug_in_bias > 0.02
    assert abs(bias) < 0.006


def test_distances_have_the_shape_of_the_values():
    with pytest.raises(ValueError, match="distances_VV must have shape"):
        supported_shares([[2, 0]], distances_VV=[[0.0]])
