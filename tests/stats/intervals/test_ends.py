"""Ends of intervals beyond the range of a share, and near chance."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgerel_ray.stats import count_statistic, jackknife_interval, measure
from judgerel_ray.stats.intervals.interval import ends_less_bias, student_ends
from judgerel_ray.stats.intervals.precision import t_quantile


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
    assert words == {"", ", low end on the logit scale"}
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
    low, high, _ = student_ends(value, half, chance_corrected=False)
    mirrored = student_ends(1 - value, half, chance_corrected=False)
    assert (low, high) == pytest.approx((1 - mirrored[1], 1 - mirrored[0]))
    assert 0 <= low < value < high <= 1
    if value - half >= 0 and value + half <= 1:
        assert (low, high) == pytest.approx((value - half, value + half))
    if value - half < 0:
        assert low == 0
    if value + half > 1:
        assert high == 1
    # Never narrower than the contract's plain interval, cut at 0 and 1.
    assert low <= max(0.0, value - half) + 1e-12
    assert high >= min(1.0, value + half) - 1e-12


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
