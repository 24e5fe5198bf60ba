"""The noise floor of schroeder2024, against its closed form and planted relations."""

import numpy as np
import pytest

from judgerel_ray.papers import (
    estimator,
    independence_alpha,
    schroeder2024,
    schroeder2024_noise_floor,
)


def dice(seed, *shape):
    return np.random.default_rng(seed).integers(1, 7, size=shape).astype(float)


def test_the_closed_form_is_the_mean_absolute_correlation():
    drawn = np.random.default_rng(0).normal(size=(4000, 100, 2))
    drawn -= drawn.mean(axis=1, keepdims=True)
    r = (drawn[..., 0] * drawn[..., 1]).sum(1) / np.sqrt((drawn**2).sum(1).prod(1))
    e = independence_alpha(n_varying=2, n_constant=0, n_replications=100) / 2
    e = e / (1 - e)  # alpha of two questions is 2 e / (1 + e)
    assert e == pytest.approx(0.08039, abs=5e-6)
    assert np.abs(r).mean() == pytest.approx(e, abs=4 * np.abs(r).std() / np.sqrt(len(r)))


@pytest.mark.slow
@pytest.mark.parametrize(("k", "c"), [(8, 0), (20, 0), (20, 7)])
def test_the_null_of_alpha_is_its_closed_form(k, c):
    codes = np.hstack([np.random.default_rng(k).normal(size=(100, k)), np.ones((100, c))])
    noise = schroeder2024_noise_floor(codes, observed=schroeder2024(codes), n_permutations=60)
    expected = independence_alpha(n_varying=k, n_constant=c, n_replications=100)
    assert noise.alpha.mean == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("wrong", [(0, 0, 10), (2, -1, 10), (2, 0, 2)])
def test_the_closed_form_needs_enough(wrong):
    k, c, n = wrong
    with pytest.raises(ValueError, match="independence_alpha"):
        independence_alpha(n_varying=k, n_constant=c, n_replications=n)


@pytest.mark.slow
def test_independent_noise_is_called_noise():
    # Of 15 data sets of noise, fewer than 12 inside has probability 0.005 at 95 %.
    noises = [
        schroeder2024_noise_floor(dice(seed, 40, 6), n_permutations=39, seed=seed)
        for seed in range(15)
    ]
    assert sum(noise.alpha.p > 0.05 for noise in noises) >= 12
    assert sum(noise.omega.p > 0.05 for noise in noises) >= 12


@pytest.mark.slow
def test_questions_that_move_together_are_not_noise():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(60, 1)) + rng.normal(size=(60, 6))
    noise = schroeder2024_noise_floor(codes, n_permutations=40)
    assert noise.alpha.p == noise.omega.p == pytest.approx(1 / 41)
    assert noise.omega.mean < schroeder2024(codes).omega


@pytest.mark.slow
def test_the_floor_depends_on_nothing_but_the_table():
    codes = dice(0, 30, 5)
    rng = np.random.default_rng(1)
    first = schroeder2024_noise_floor(codes, n_permutations=15)
    moved = codes[rng.permutation(30)][:, rng.permutation(5)]
    second = schroeder2024_noise_floor(moved, n_permutations=15)
    assert (first.alpha.mean, first.alpha.sd) == (second.alpha.mean, second.alpha.sd)
    assert (first.omega.mean, first.omega.sd) == (second.omega.mean, second.omega.sd)
    other = schroeder2024_noise_floor(codes, n_permutations=15, seed=1)
    assert other.alpha.mean != first.alpha.mean


@pytest.mark.parametrize(
    "codes",
    [np.ones((5, 3)), np.full((5, 3), 6.0), np.empty((0, 3)), [[1.0, 1.0], [2.0, 1.0]]],
)
def test_where_nothing_varies_there_is_no_floor(codes):
    noise = schroeder2024_noise_floor(codes)
    for null in (noise.alpha, noise.omega):
        assert (null.mean, null.sd, null.p, null.n_permutations) == (None, None, None, 0)


def test_shuffles_that_fail_are_counted():
    # Two questions of three replications: a shuffle puts the same codes together one time in three.
    codes = [[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]]
    noise = schroeder2024_noise_floor(codes, n_permutations=60)
    assert noise.alpha.n_permutations == 60
    assert 8 <= noise.omega.n_failed <= 32
    assert noise.omega.n_permutations + noise.omega.n_failed == 60
    # What a shuffle that failed would have given nobody knows: it counts against the judge.
    assert noise.omega.p is None or noise.omega.p >= (1 + noise.omega.n_failed) / 61
    assert f"({noise.omega.n_failed} more failed)" in noise.omega.method or noise.omega.p is None


def test_failed_shuffles_count_as_being_as_far():
    null = np.append(np.linspace(-1, 1, 79), [np.nan] * 20)
    found = estimator._paper_estimate_summary(5.0, null)
    assert (found.n_permutations, found.n_failed) == (79, 20)
    assert found.p == pytest.approx(21 / 100)
    assert found.method == "79 shuffles inside each question (20 more failed), two-sided"


def test_no_permutations_are_refused():
    with pytest.raises(ValueError, match="n_permutations must be at least 1, got 0"):
        schroeder2024_noise_floor(dice(0, 5, 3), n_permutations=0)
