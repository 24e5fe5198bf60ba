from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from judgerel_ray.stats import (
    bootstrap_interval,
    column_noise_floor,
    count_statistic,
    cronbach_alpha,
    item_bootstrap,
    item_interval,
    jackknife_interval,
    mcdonald_omega,
    measure,
    omega_bootstrap,
)
from judgerel_ray.stats.intervals.interval import bootstrap_weights

ALPHA = count_statistic("krippendorff_alpha", n_values=3)
RNG = np.random.default_rng(0)
COUNTS = np.array([RNG.multinomial(5, p) for p in RNG.dirichlet([0.4, 0.3, 0.2], size=60)])
SCORES = RNG.normal(size=(50, 1)) + RNG.normal(size=(50, 4))


def weights(n: int, n_resamples: int, seed: int = 0) -> np.ndarray:
    return np.concatenate(list(bootstrap_weights(n, n_resamples=n_resamples, seed=seed)))


def test_weights_are_draws_with_replacement_and_repeat_by_seed():
    drawn = weights(7, 3000)
    assert drawn.shape == (3000, 7)
    assert (drawn.sum(axis=1) == 7).all()
    # Binomial(7, 1/7): variance 6/7.
    assert drawn.var() == pytest.approx(6 / 7, abs=0.03)
    assert np.array_equal(weights(7, 900), drawn[:900])
    assert not np.array_equal(weights(7, 900, seed=1), drawn[:900])


def test_it_is_computing_every_resample_anew():
    drawn = weights(60, 200).astype(int)
    values = [measure(np.repeat(COUNTS, row, axis=0), ALPHA).value for row in drawn]
    found = bootstrap_interval(COUNTS, ALPHA, n_resamples=200)
    assert (found.low, found.high) == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=1e-12)
    basic = bootstrap_interval(COUNTS, ALPHA, n_resamples=200, method="basic")
    value = measure(COUNTS, ALPHA).value
    assert (basic.low, basic.high) == pytest.approx((2 * value - found.high, 2 * value - found.low))


def test_it_agrees_with_the_jackknife_on_many_questions():
    bootstrap, jackknife = bootstrap_interval(COUNTS, ALPHA), jackknife_interval(COUNTS, ALPHA)
    assert bootstrap.low == pytest.approx(jackknife.low, abs=0.03)
    assert bootstrap.high == pytest.approx(jackknife.high, abs=0.03)
    assert bootstrap.few_informative == jackknife.few_informative


def test_units_of_one_question_are_drawn_together():
    twice = np.repeat(COUNTS, 2, axis=0)
    clustered = bootstrap_interval(twice, ALPHA, clusters_U=np.repeat(np.arange(60), 2))
    alone = bootstrap_interval(twice, ALPHA)
    assert clustered.n_questions == 60
    assert clustered.high - clustered.low > 1.2 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([[3, 0, 0], [3, 0, 0]], "undefined"),
        ([[2, 1, 0]], "too_few_units"),
        ([[3, 0, 0], [0, 3, 0]], "undefined_resamples"),
        ([[5, 0, 0]] * 30 + [[0, 5, 0]] * 30, "no_spread"),
    ],
)
def test_without_an_interval_it_says_why(counts, reason):
    found = bootstrap_interval(counts, ALPHA)
    assert (found.low, found.high, found.undefined) == (None, None, reason)


def test_shares_stay_shares():
    agreement = count_statistic("percent_agreement", n_values=2)
    found = bootstrap_interval([[2, 0]] * 8 + [[1, 1]], agreement, method="basic")
    assert found.high == 1.0


@pytest.mark.parametrize(
    "arguments",
    [{"confidence": 0}, {"n_resamples": 0}, {"method": "bca"}, {"clusters_U": [1, 2]}],
)
def test_it_refuses(arguments):
    with pytest.raises(ValueError, match="bootstrap_interval: "):
        bootstrap_interval(COUNTS, ALPHA, **arguments)


@pytest.mark.parametrize("matrix", ["correlation", "covariance"])
@pytest.mark.parametrize("items", [2, 4])
def test_every_resample_of_omega_is_a_fit_of_its_own(items, matrix):
    scores = SCORES[:, :items]
    found = omega_bootstrap(scores, n_resamples=25, seed=3, matrix=matrix)
    for value, row in zip(found.values_B, weights(50, 25, seed=3).astype(int), strict=True):
        alone = mcdonald_omega(np.repeat(scores, row, axis=0), matrix=matrix).value
        assert value == pytest.approx(alone, abs=1e-9)
    ends = np.quantile(found.values_B, [0.025, 0.975])
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)
    assert found.n_undefined == 0


def test_undefined_and_improper_resamples_are_counted():
    noise = np.random.default_rng(1).normal(size=(12, 3))
    found = omega_bootstrap(noise, n_resamples=300)
    assert found.n_undefined == np.isnan(found.values_B).sum()
    assert found.n_undefined > 15
    assert found.n_heywood > 0
    assert found.interval.undefined in {"undefined", "undefined_resamples"}


def test_omega_of_rows_of_one_question():
    twice = np.repeat(SCORES, 2, axis=0)
    clustered = omega_bootstrap(twice, clusters_N=np.repeat(np.arange(50), 2)).interval
    assert clustered == omega_bootstrap(SCORES).interval or clustered.low == pytest.approx(
        omega_bootstrap(SCORES).interval.low, abs=1e-9
    )


def test_missing_scores_and_constant_items_are_left_out():
    wider = np.insert(SCORES, 2, 1.0, axis=1)
    gappy = np.vstack([wider, np.full((3, 5), np.nan)])
    assert omega_bootstrap(gappy, n_resamples=50).interval == pytest.approx(
        omega_bootstrap(SCORES, n_resamples=50).interval
    )
    nothing = omega_bootstrap(np.ones((5, 3)))
    assert (nothing.interval.undefined, nothing.values_B.size) == ("undefined", 0)


@pytest.mark.parametrize(
    "arguments", [{"confidence": 1}, {"matrix": "cosine"}, {"clusters_N": [1]}, {"n_resamples": 0}]
)
def test_omega_bootstrap_refuses(arguments):
    with pytest.raises(ValueError, match="omega_bootstrap: "):
        omega_bootstrap(SCORES, **arguments)


@pytest.mark.parametrize("arguments", [{"name": "fleiss_kappa"}, {"n_permutations": 0}])
def test_column_noise_refuses(arguments):
    with pytest.raises(ValueError, match="column_noise_floor: "):
        column_noise_floor(SCORES, **{"name": "cronbach_alpha", **arguments})


def test_column_noise_of_nothing_is_nothing():
    assert column_noise_floor(np.ones((5, 3)), "cronbach_alpha").p is None
    opposed = np.array([[1.0, -1], [2, -2], [3, -3]])
    assert column_noise_floor(opposed, "mcdonald_omega").p is None


def test_deals_without_a_value_are_made_up_for_and_counted():
    noise = np.random.default_rng(4).normal(size=(40, 5)) + 0.2 * np.arange(40)[:, None]
    floor = column_noise_floor(noise, "mcdonald_omega", n_permutations=199)
    assert floor.n_permutations == 199
    # About half of all noise.
    assert 100 < floor.n_undefined < 8 * 199
    assert floor.p <= 0.05


@pytest.mark.slow
def test_noise_with_a_value_is_called_noise_however_much_has_none():
    noise = np.random.default_rng(6).normal(size=(150, 27, 5))
    floors = [column_noise_floor(one, "mcdonald_omega", n_permutations=99) for one in noise]
    given = [floor.p for floor in floors if floor.p is not None]
    assert 40 < len(given) < 110
    # .95 less two and a half standard errors; with the valueless counted as nearer it is .9.
    assert sum(p > 0.05 for p in given) / len(given) >= 0.89


def test_equal_seeds_give_equal_floors():
    first = column_noise_floor(SCORES, "mcdonald_omega", n_permutations=50)
    assert column_noise_floor(SCORES, "mcdonald_omega", n_permutations=50) == first
    assert column_noise_floor(SCORES, "mcdonald_omega", n_permutations=50, seed=1) != first


@pytest.mark.parametrize("matrix", ["correlation", "covariance"])
@pytest.mark.parametrize("name", ["cronbach_alpha", "mcdonald_omega"])
def test_item_intervals_leave_out_one_question_at_a_time(name, matrix):
    clusters = np.arange(50) // 2

    def value(scores):
        if name == "mcdonald_omega":
            return mcdonald_omega(scores, matrix=matrix).value
        return cronbach_alpha(scores, standardized=matrix == "correlation").value

    left = np.array([value(SCORES[clusters != c]) for c in range(25)])
    error = np.sqrt(24 / 25 * ((left - left.mean()) ** 2).sum())
    whole = value(SCORES)
    half = stdtrit(24, 0.975) * error / (whole * (1 - whole))
    expected = 1 / (1 + np.exp(-(np.log(whole / (1 - whole)) + np.array([-half, half]))))
    found = item_interval(SCORES, name, matrix=matrix, clusters_N=clusters)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
    assert found.n_questions == 25


def test_items_without_an_interval_say_why():
    assert item_interval(np.ones((5, 3)), "cronbach_alpha").undefined == "undefined"
    spike = np.eye(4)[:, :2] + np.arange(4)[:, None] * [0, 1]
    assert item_interval(spike, "cronbach_alpha").undefined == "depends_on_one_question"


@pytest.mark.parametrize(
    "arguments", [{"name": "fleiss_kappa"}, {"confidence": 0}, {"clusters_N": [1]}]
)
def test_item_interval_refuses(arguments):
    with pytest.raises(ValueError, match="item_interval: "):
        item_interval(SCORES, **{"name": "cronbach_alpha", **arguments})


def test_items_are_drawn_as_omega_draws_them():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(40, 1)) + rng.normal(size=(40, 5))
    drawn = {"n_resamples": 300, "seed": 4, "clusters_N": np.arange(40) // 2}
    omega = omega_bootstrap(scores, **drawn).interval
    found = item_bootstrap(scores, "mcdonald_omega", **drawn)
    assert (found.low, found.high, found.method) == (omega.low, omega.high, omega.method)
    assert found.n_questions == 20
    assert item_bootstrap(scores[:3], "cronbach_alpha", clusters_N=[0, 0, 0]).undefined
