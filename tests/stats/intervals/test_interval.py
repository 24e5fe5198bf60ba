"""Intervals by leaving out and by drawing questions: what they hold, and where their ends go."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import beta

from judgerel_ray.measuring.estimates import class_statistic
from judgerel_ray.stats import (
    COEFFICIENTS,
    LEVELS,
    bootstrap_interval,
    clopper_pearson,
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
from judgerel_ray.stats.agreement.intraclass import moment_statistic, moments_from_scores
from judgerel_ray.stats.intervals import interval
from judgerel_ray.stats.intervals.ends import (
    alike_ends,
    carried_by_few,
    effective_questions,
    least_mean,
    n_distinct,
    share_ends,
    t_quantile,
)
from judgerel_ray.stats.intervals.interval import (
    bootstrap_weights,
    ends_less_bias,
    student_interval,
)


def covered(name, truth, tables):
    """Share of intervals that hold the truth, and all their words but the number of questions."""
    statistic = count_statistic(name, n_values=tables.shape[2])
    found = [jackknife_interval(counts, statistic) for counts in tables]
    given = [one for one in found if one.low is not None]
    rate = np.mean([one.low <= truth <= one.high for one in given])
    return rate, {one.method.removeprefix("jackknife-t over 20 questions") for one in given}


def test_agreement_near_one_is_covered_by_few_replications():
    # Dirichlet-multinomial, alpha .8, five even options: A = .8 + .2 / 5. Plain: 87 %.
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.full(5, 0.05), size=(500, 20))
    tables = rng.multinomial(2, shares / shares.sum(axis=2, keepdims=True))
    rate, words = covered("percent_agreement", 0.84, tables)
    assert rate > 0.93
    whole = "Clopper-Pearson over 20 questions"
    assert words - {whole} == {"outer ends of jackknife-t and binomial over 20 questions"}
    statistic = count_statistic("flip_rate", n_values=5)
    for counts in (one for one in tables[:50] if one.max(axis=1).min() < 2):
        flip = jackknife_interval(counts, statistic)
        same = jackknife_interval(counts, "percent_agreement")
        assert (same.low, same.high) == pytest.approx((1 - flip.high, 1 - flip.low))


def test_kappa_near_chance_is_covered():
    # Replications that do not depend on their question. About the value as it is: 90 %.
    rng = np.random.default_rng(2)
    tables = rng.multinomial(100, np.full(5, 0.2), size=(500, 20))
    rate, words = covered("fleiss_kappa", 0.0, tables)
    assert rate > 0.91
    assert ", about the value less its bias" in words


def test_kappa_well_above_chance_is_about_its_value():
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.full(5, 0.2), size=(50, 20))
    tables = rng.multinomial(5, shares / shares.sum(axis=2, keepdims=True))
    assert covered("fleiss_kappa", 0.5, tables)[1] == {", logit scale"}


@pytest.mark.parametrize("value", [0.02, 0.4, 0.5, 0.93])
@pytest.mark.parametrize("half", [0.01, 0.1, 0.45, 3.0])
def test_ends_of_shares_mirror_each_other_and_hold_the_plain_interval(value, half):
    error = half / t_quantile(39, 0.95)
    low, high = share_ends(value, error, 40)
    mirrored = share_ends(1 - value, error, 40)
    assert (low, high) == pytest.approx((1 - mirrored[1], 1 - mirrored[0]))
    assert 0 <= low < value < high <= 1
    if value - half < 0:
        assert low == 0
    if value + half > 1:
        assert high == 1
    # Never narrower than the contract's plain interval, cut at 0 and 1, nor than exact trials.
    assert low <= max(0.0, value - half) + 1e-12
    assert high >= min(1.0, value + half) - 1e-12
    trials = value * (1 - value) / error**2
    assert low <= beta.ppf(0.025, value * trials, (1 - value) * trials + 1)
    assert high >= beta.ppf(0.975, value * trials + 1, (1 - value) * trials)


def test_ends_of_a_share_of_single_verdicts_are_nearly_exact():
    low, high = share_ends(0.9, (0.09 / 999) ** 0.5, 1000)
    exact = clopper_pearson(900, 1000)
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-3)
    assert low <= exact.low


@pytest.mark.parametrize("name", ["percent_agreement", "flip_rate", "total_agreement"])
def test_a_share_that_is_alike_on_every_question_has_the_exact_interval(name):
    found = jackknife_interval([[3, 0, 0], [0, 3, 0], [3, 0, 0], [0, 3, 0]], name)
    exact = clopper_pearson(0 if name == "flip_rate" else 4, 4)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    assert (found.n_questions, found.method) == (4, "Clopper-Pearson over 4 questions")
    twice = jackknife_interval([[3, 0], [3, 0], [0, 3], [0, 3]], name, clusters_U=[0, 0, 1, 1])
    assert twice.n_questions == 2  # units of one question are no evidence of their own


def test_a_share_that_is_neither_0_nor_1_on_every_question_has_none():
    assert jackknife_interval([[2, 1]] * 9, "percent_agreement").undefined == "no_spread"


@pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "icc1"])
def test_agreement_beyond_chance_of_1_has_the_exact_interval_of_agreement(name):
    # 20 x 3 verdicts of either value: two drawn at random agree in 19 + 19 of 39 pairs.
    found = jackknife_interval([[4, 0], [0, 4]] * 5, name)
    least = clopper_pearson(10, 10).low
    assert found.low == pytest.approx(1 - (1 - least) / (1 - 19 / 39))
    assert found.high == 1.0
    assert found.method == "Clopper-Pearson over 10 questions, less chance"


def test_ac1_and_scores_of_1_have_no_interval():
    counts = [[4, 0], [0, 4]] * 5
    for name in ("gwet_ac1", "brennan_prediger"):
        assert jackknife_interval(counts, name).undefined == "no_spread"
    scored = jackknife_interval(counts, "krippendorff_alpha", values=[1, 5], level="interval")
    assert scored.undefined == "no_spread"


def test_a_share_of_few_questions_is_never_narrower_than_the_plain_interval():
    rng = np.random.default_rng(4)
    statistic = count_statistic("percent_agreement", n_values=5)
    n_outer = 0
    for _ in range(200):
        shares = rng.dirichlet(np.full(5, 0.2), size=8)
        counts = np.array([rng.multinomial(2, one) for one in shares])
        found = jackknife_interval(counts, statistic)
        if found.low is None:
            continue
        agrees = (counts.max(axis=1) == 2).astype(float)
        half = 2.364624251592785 * agrees.std(ddof=1) / np.sqrt(8)
        low, high = agrees.mean() - half, agrees.mean() + half
        assert found.low <= max(0.0, low) + 1e-9
        assert found.high >= min(1.0, high) - 1e-9
        n_outer += low < 0 or high > 1
    assert n_outer > 20


@pytest.mark.slow
@given(
    st.lists(
        st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(lambda one: sum(one) > 1),
        min_size=3,
        max_size=9,
    )
)
def test_kappa_holds_zero_wherever_its_plain_interval_does(rows):
    counts = np.array(rows)
    statistic = count_statistic("fleiss_kappa", n_values=3)
    found = jackknife_interval(counts, statistic)
    assume(found.low is not None)
    n = len(counts)
    left = [measure(np.delete(counts, i, 0), statistic).value for i in range(n)]
    value, half = measure(counts, statistic).value, t_quantile(n - 1, 0.95)
    half *= np.sqrt((n - 1) ** 2 / n) * np.std(left, ddof=1)
    if value - half <= -1e-9 and value + half >= 1e-9:
        assert found.low <= 0 <= found.high <= 1
        assert "logit" not in found.method


def test_a_shift_by_the_bias_leaves_zero_in():
    low, high, method = ends_less_bias(0.779, 0.865, -0.1)
    assert (low, high) == (0.0, 1.0)
    assert method == "jackknife_less_bias_with_0"
    # Plainly below 0 before: nothing to keep.
    low, high, method = ends_less_bias(-0.5, 0.25, -0.125)
    assert (low, high, method) == (-0.625, -0.125, "jackknife_less_bias")


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
def test_without_a_bootstrap_it_says_why(counts, reason):
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
def test_the_bootstrap_refuses(arguments):
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


def test_permutations_without_a_value_are_made_up_for_and_counted():
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


@pytest.mark.slow
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


STATISTICS = [
    *(
        count_statistic(name, n_values=3)
        for name in COEFFICIENTS
        if name != "valid_rate" and not name.startswith("majority")
    ),
    count_statistic("majority_stability_2", n_values=3),
    count_statistic("icc1", n_values=3, values=[1, 2, 5], level="interval"),
    *(
        count_statistic("krippendorff_alpha", n_values=3, values=[1, 2, 5], level=level)
        for level in LEVELS
    ),
]


def table(seed: int = 0, units: int = 24) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([0.4, 0.3, 0.2], size=units)
    return np.array([rng.multinomial(rng.integers(1, 7), share) for share in shares])


def by_hand(counts, statistic, clusters, confidence=0.95):
    """Leave one question out at a time, computing everything again."""
    value = measure(counts, statistic).value
    taking = clusters[counts.sum(axis=1) >= statistic.min_ratings]
    left = np.array([measure(counts[clusters != c], statistic).value for c in np.unique(taking)])
    n = left.size
    error = math.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
    half = stdtrit(n - 1, (1 + confidence) / 2) * error
    if statistic.chance_corrected and value - half > 0:
        centre, half = math.log(value / (1 - value)), half / value / (1 - value)
        return 1 / (1 + math.exp(half - centre)), 1 / (1 + math.exp(-half - centre))
    if statistic.chance_corrected:
        return value - half, min(1, value + half)
    # Student's t, and as many independent trials as the error is worth: the outer ends of both.
    lost = stdtrit(10**9, (1 + confidence) / 2) / stdtrit(n - 1, (1 + confidence) / 2)
    trials = value * (1 - value) / error**2 * lost**2
    k, tail = value * trials, (1 - confidence) / 2
    exact = beta.ppf(tail, k, trials - k + 1), beta.ppf(1 - tail, k + 1, trials - k)
    low, high = min(value - half, exact[0]), max(value + half, exact[1])
    # One question more, as heavy as uneven weights add, that differs as much as it can.
    weights = np.bincount(clusters, weights=statistic.terms(counts.astype(float))[:, 0])
    weights = weights[np.unique(taking)]
    total, more = weights.sum(), (weights**2).sum() / weights.sum() - weights.mean()
    if more > 1e-9 * weights.mean():
        sums = value * total - left * (total - weights)
        for worst in (0, 1):
            mean = (sums.sum() + more * worst) / (total + more)
            apart = [*(sums - weights * mean), more * (worst - mean)]
            spread = math.sqrt(np.square(apart).sum() * (n + 1) / n) / (total + more)
            end = mean + (2 * worst - 1) * stdtrit(n, (1 + confidence) / 2) * spread
            low, high = min(low, end), max(high, end)
    return max(0, low), min(1, high)


@pytest.mark.alike(3)
@pytest.mark.parametrize("cells", [4_000_000, 7])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: s.estimator)
def test_it_equals_leaving_out_by_hand(statistic, clustered, cells, monkeypatch):
    monkeypatch.setattr(interval, "BLOCK", cells)
    for seed in range(3):
        counts = table(seed)
        clusters = np.arange(24) * 7 % 11 if clustered else np.arange(24)
        found = jackknife_interval(counts, statistic, clusters_U=clusters)
        expected = by_hand(counts, statistic, clusters)
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


def test_clusters_may_have_any_names():
    counts, names = table(), np.array([f"q{i // 2}" for i in range(24)])
    alpha = count_statistic("krippendorff_alpha", n_values=3)
    here = jackknife_interval(counts, alpha, clusters_U=names)
    assert here == jackknife_interval(counts, alpha, clusters_U=np.arange(24) // 2)
    assert here != jackknife_interval(counts, alpha)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([[3, 0, 0], [3, 0, 0]], "undefined"),
        ([[1, 0, 0], [0, 1, 0]], "undefined"),
        ([[2, 1, 0]], "too_few_units"),
        ([[3, 0, 0], [2, 1, 0]], "depends_on_one_question"),
    ],
)
def test_without_an_interval_it_says_why(counts, reason):
    found = jackknife_interval(counts, STATISTICS[0])
    assert (found.low, found.high, found.undefined) == (None, None, reason)


def test_few_informative_questions_are_flagged():
    agreement = STATISTICS[1]
    steady = [[4, 0, 0]] * 20
    assert jackknife_interval([*steady, *[[3, 1, 0]] * 9], agreement).few_informative
    assert not jackknife_interval([*steady, *[[3, 1, 0]] * 10], agreement).few_informative


def table_with_minority(n: int) -> list[list[int]]:
    """Ninety questions that pass, now and then split, and n that fail."""
    return [[5, 0, 0]] * 60 + [[4, 1, 0]] * 30 + [[1, 4, 0]] * n


@pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "icc1", "icck"])
def test_a_minority_of_few_questions_is_flagged_where_chance_rests_on_it(name):
    statistic = count_statistic(name, n_values=3)
    assert jackknife_interval(table_with_minority(4), statistic).few_informative
    assert not jackknife_interval(table_with_minority(5), statistic).few_informative
    # Six units, three of them of one question: four questions.
    again = [*table_with_minority(5), [1, 4, 0]]
    questions = np.array([*range(95), 94])
    questions[93] = 94
    found = jackknife_interval(again, statistic, clusters_U=questions)
    assert found.few_informative


@pytest.mark.parametrize("name", ["percent_agreement", "gwet_ac1", "brennan_prediger"])
def test_a_minority_does_not_matter_where_chance_does_not_rest_on_it(name):
    statistic = count_statistic(name, n_values=3)
    assert not jackknife_interval(table_with_minority(0), statistic).few_informative


@pytest.mark.parametrize("columns", [[0, 1], [1, 0]])
def test_which_verdict_is_the_minority_does_not_matter(columns):
    # Eleven of each: a tie makes neither a minority of none.
    counts = np.array([[4, 1]] * 11 + [[1, 4]] * 11)[:, columns]
    assert not jackknife_interval(counts, count_statistic("icc1", n_values=2)).few_informative


def test_confidence_widens():
    counts = table()
    ends = [jackknife_interval(counts, STATISTICS[0], confidence=c) for c in (0.5, 0.9, 0.99)]
    assert ends[0].low > ends[1].low > ends[2].low
    assert ends[0].high < ends[1].high < ends[2].high


@pytest.mark.parametrize("arguments", [{"confidence": 1.0}, {"clusters_U": [1, 2]}])
def test_it_refuses(arguments):
    with pytest.raises(ValueError, match="jackknife_interval: "):
        jackknife_interval(table(), STATISTICS[0], **arguments)


def test_clopper_pearson_at_the_edges():
    # Nothing in n: the upper end solves (1 - p)^n = .025.
    none, every = clopper_pearson(0, 10), clopper_pearson(10, 10)
    assert (none.low, none.high) == (0.0, pytest.approx(1 - 0.025**0.1))
    assert (every.low, every.high) == (pytest.approx(0.025**0.1), 1.0)
    assert clopper_pearson(0, 0).undefined == "too_few_units"


@pytest.mark.parametrize(("k", "n", "confidence"), [(2, 1, 0.95), (-1, 1, 0.95), (1, 2, 0.0)])
def test_clopper_pearson_refuses(k, n, confidence):
    with pytest.raises(ValueError, match="clopper_pearson: "):
        clopper_pearson(k, n, confidence=confidence)


def at_chance(questions: int, replications: int, seed: int = 5) -> np.ndarray:
    """Verdicts of a judge that does not look at the question."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(replications, [0.2] * 5, size=questions)


@pytest.mark.parametrize(
    ("name", "questions", "least", "most"),
    [("fleiss_kappa", 20, 32, 40), ("fleiss_kappa", 100, 0, 0), ("krippendorff_alpha", 20, 0, 0)],
)
def test_a_value_that_few_ratings_bias_is_marked(name, questions, least, most):
    statistic = count_statistic(name, n_values=5)
    tables = [at_chance(questions, 20, seed) for seed in range(40)]
    assert least <= sum(jackknife_interval(one, statistic).biased for one in tables) <= most


def test_entropy_of_few_replications_is_marked():
    entropy = count_statistic("entropy_agreement", n_values=5)
    assert jackknife_interval(at_chance(20, 5), entropy).biased
    assert jackknife_interval(at_chance(100, 20), entropy).biased
    assert not jackknife_interval(at_chance(20, 100), entropy).biased


@pytest.mark.parametrize(("level", "few"), [("interval", False), ("ordinal", False),
                                            ("nominal", True)])  # fmt: skip
def test_scores_that_are_seldom_the_same_lack_no_information_where_distances_count(level, few):
    counts = np.zeros((30, 60))
    for place in range(30):
        counts[place, [2 * place, 2 * place + 1]] = 1 + (place < 5), place >= 5
    values = np.arange(60.0)
    statistic = count_statistic("krippendorff_alpha", n_values=60, values=values, level=level)
    found = jackknife_interval(counts, statistic)
    assert found.few_informative == few


@pytest.mark.parametrize("name", ["gwet_ac1", "brennan_prediger", "krippendorff_alpha", "icc1"])
def test_no_low_end_is_below_what_agreement_beyond_chance_can_be(name):
    found = jackknife_interval([[3, 1], [0, 4], [4, 0]], count_statistic(name, n_values=2))
    assert found.low is not None
    assert found.low >= -1


def test_an_interval_about_a_value_less_its_bias_holds_the_value():
    found = interval.student_interval(
        -0.5, np.array([-0.26, -0.25]), 0.95, chance_corrected=True, less_bias=True
    )
    assert found.high == -0.5
    assert found.method.endswith("extended to the value")


def test_two_low_questions_of_twenty_share_the_variance():
    moments = moments_from_scores([[1.0, 1.0]] * 18 + [[5.0, 5.0]] * 2)
    found = effective_questions(moments, np.arange(20), moment_statistic("icc1"))
    # 18 questions at .4 from the mean, 2 at 3.6.
    assert found == pytest.approx((18 * 0.16 + 2 * 12.96) ** 2 / (18 * 0.16**2 + 2 * 12.96**2))


def test_sorted_clusters_are_counted():
    assert [n_distinct(np.array(one, dtype=int)) for one in ([], [3], [0, 0, 2])] == [0, 1, 2]


def test_six_effective_questions_are_few_where_they_lie_on_one_side():
    icc, at = moment_statistic("icc1"), np.arange(20)
    moments = moments_from_scores([[k % 5] * 2 for k in range(18)] + [[7.0, 7.0]] * 2)
    n = effective_questions(moments, at, icc)
    assert n == pytest.approx(6.2, abs=0.05)
    assert carried_by_few(moments, at, icc, n)


def test_students_t_is_that_of_two_sides():
    assert t_quantile(10, 0.95) == pytest.approx(2.228139, abs=1e-6)
    assert t_quantile(10**6, 0.95) == pytest.approx(1.959966, abs=1e-6)


def worst_mean(weights, confidence=0.95, steps=40):
    """The least weighted mean of which all ones are as probable as half of what may be missed."""
    tail, least = (1 - confidence) / 2, 1.0
    grid = np.exp(np.linspace(0, math.log(tail), steps))
    for first in product(grid, repeat=len(weights) - 1):
        rest = tail / math.prod(first)
        if rest <= 1:
            least = min(least, float(np.average([*first, rest], weights=weights)))
    return least


@pytest.mark.parametrize("weights", [(1, 1, 1), (5, 1, 1), (9, 3, 1), (2, 2, 1), (100, 1), (1, 1)])
def test_a_share_of_one_has_the_least_mean_that_its_weights_allow(weights):
    found = least_mean(np.array(weights, float), 0.95)
    assert found == pytest.approx(worst_mean(weights), abs=5e-3)
    assert found <= worst_mean(weights) + 1e-9


@given(st.lists(st.integers(1, 50), min_size=2, max_size=30), st.sampled_from([0.9, 0.95, 0.99]))
def test_weights_move_the_end_of_a_share_of_one_as_they_should(weights, confidence):
    w = np.array(weights, float)
    found = least_mean(w, confidence)
    assert found == pytest.approx(least_mean(7 * w, confidence))
    assert found == pytest.approx(least_mean(np.array([*w, 0.0, 0.0]), confidence))
    alike = clopper_pearson(len(w), len(w), confidence=confidence).low
    assert found <= alike + 1e-9
    assert least_mean(np.ones(len(w)), confidence) == pytest.approx(alike)
    assert alike_ends(0.0, w, confidence) == pytest.approx(
        (0.0, 1 - alike_ends(1, w, confidence)[0])
    )


@given(st.integers(0, 10_000))
def test_uneven_weights_only_widen_the_interval_of_a_share(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 20, size=12).astype(float)
    hits = rng.binomial(weights.astype(int), 0.7).astype(float)
    value, left_out = hits.sum() / weights.sum(), (hits.sum() - hits) / (weights.sum() - weights)
    plain = student_interval(value, left_out, 0.95, chance_corrected=False)
    found = student_interval(value, left_out, 0.95, chance_corrected=False, weights_C=weights)
    if plain.undefined:
        return
    assert found.low <= plain.low <= value <= plain.high <= found.high
    equal = student_interval(value, left_out, 0.95, chance_corrected=False, weights_C=np.ones(12))
    assert (equal.low, equal.high, equal.kind) == (plain.low, plain.high, plain.kind)


@pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "icc1"])
def test_alpha_of_one_is_never_given_less_than_it_can_be(name):
    found = jackknife_interval([[100, 0]] * 10 + [[0, 2]] * 2, name)
    assert (found.low, found.high) == (-1.0, 1.0)
    assert found.method == "exact over 12 questions of unequal weight, less chance"


def test_agreement_on_a_class_rests_on_the_questions_that_have_it():
    counts = [[4, 0]] * 10 + [[0, 4]] * 2
    found = jackknife_interval(counts, class_statistic("class_agreement:B", 1, 2))
    assert (found.low, found.high) == pytest.approx((0.025**0.5, 1.0))
    assert found.n_questions == 2


@pytest.mark.parametrize("bad", [(0.5, 0.0, 5), (math.nan, 0.1, 5), (0.5, 0.1, 1)])
def test_ends_of_a_share_without_an_error_are_refused(bad):
    with pytest.raises(ValueError, match="share_ends"):
        share_ends(*bad)
