from __future__ import annotations

from dataclasses import asdict, replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.measuring.estimates import class_statistic
from judgerel_ray.stats import count_statistic, noise_floors
from judgerel_ray.stats.null.noise import closed_floor
from judgerel_ray.stats.null.pair_null import (
    kernel_of_agreement,
    kernel_of_counts,
    pair_floor,
    pair_moments,
    share_moments,
)

NAMES = (
    "krippendorff_alpha",
    "percent_agreement",
    "flip_rate",
    "fleiss_kappa",
    "gwet_ac1",
    "brennan_prediger",
)
LEVELS = ("ordinal", "interval", "ratio")


def all_permutations(counts: np.ndarray) -> np.ndarray:
    """Every permutation of the verdicts over the units, with its counts."""
    sizes, totals = counts.sum(axis=1), counts.sum(axis=0)
    unit = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.repeat(np.arange(len(totals)), totals)
    tables = np.zeros((0, *counts.shape))
    permuted = {tuple(order) for order in permutations(labels.tolist())}
    tables = np.zeros((len(permuted), *counts.shape))
    for table, order in zip(tables, permuted, strict=True):
        np.add.at(table, (unit, list(order)), 1)
    return tables  # each distinct table stands for equally many permutations


@given(
    table=st.lists(
        st.lists(st.integers(0, 2), min_size=2, max_size=3), min_size=2, max_size=3
    ).filter(lambda rows: len({len(row) for row in rows}) == 1)
)
@settings(max_examples=40, deadline=None)
def test_mean_and_spread_are_those_of_every_permutation(table):
    counts = np.array(table)
    counts = counts[counts.sum(axis=1) >= 2]
    if not 4 <= counts.sum() <= 7:
        return
    tables = all_permutations(counts)
    width = counts.shape[1]
    statistics = [count_statistic(name, n_values=width, n_categories=3) for name in NAMES]
    statistics += [
        count_statistic("krippendorff_alpha", n_values=width, values=[1, 5, 2][:width], level=level)
        for level in LEVELS
    ]
    statistics += [class_statistic("class_agreement", place, width) for place in range(width)]
    for statistic in statistics:
        name = statistic.name
        found = pair_floor(counts.astype(float), statistic)
        if found is None or (name == "gwet_ac1" and np.ptp(counts.sum(axis=1))):
            continue
        null = statistic.value(statistic.terms(tables).sum(axis=-2))
        assert found.mean == pytest.approx(null.mean(), abs=1e-9)
        assert found.sd == pytest.approx(null.std(), abs=1e-7)


def test_each_of_them_has_a_closed_form():
    counts = np.array([[2.0, 1.0], [0.0, 3.0], [1.0, 2.0]])
    statistics = [count_statistic(name, n_values=2) for name in NAMES]
    assert None not in [pair_floor(counts, statistic) for statistic in statistics]


def test_what_rests_on_more_than_pairs_and_shares_has_none():
    counts = np.array([[2.0, 1.0], [0.0, 5.0]])
    assert pair_floor(counts, count_statistic("total_agreement", n_values=2)) is None


@pytest.mark.parametrize(
    "table",
    [
        [[2, 1, 0], [0, 1, 1], [1, 0, 0]],
        [[3, 0, 0], [0, 2, 0], [0, 1, 1]],
        [[1, 0, 0], [0, 1, 0], [0, 2, 2]],
    ],
)
def test_moments_of_shares_are_those_of_every_permutation(table):
    counts = np.array(table)
    statistic = count_statistic("gwet_ac1", n_values=3)
    assert statistic.pairs is not None
    terms = statistic.terms(all_permutations(counts)).sum(axis=-2)
    null = terms[:, [1, 3, 4, 5]]
    sizes, totals = counts.sum(axis=1), counts.sum(axis=0)
    mean, cov, cross = share_moments(sizes, totals, statistic.pairs)
    assert mean == pytest.approx(null[:, 1:].mean(axis=0), abs=1e-12)
    expected = np.cov(null.T, bias=True)
    assert cov == pytest.approx(expected[1:, 1:], abs=1e-12)
    assert cross == pytest.approx(expected[0, 1:], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_spread_where_shares_vary_is_that_of_random_permutations(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, size=300)
    counts = np.array([rng.multinomial(m, [0.8, 0.15, 0.05]) for m in sizes])
    ac1 = count_statistic("gwet_ac1", n_values=3, n_categories=3)
    found = pair_floor(counts.astype(float), ac1)
    assert found is not None
    (permuted,) = noise_floors(counts, [ac1], n_permutations=4000)
    # Monte-Carlo errors: sd / 63 of the mean, 1.1 % of the sd.
    assert found.mean == pytest.approx(permuted.mean, abs=0.08 * permuted.sd)
    assert found.sd == pytest.approx(permuted.sd, rel=0.05)
    assert found.p == pytest.approx(permuted.p, abs=0.05)


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_the_squares_within_that_icc_rests_on_have_the_moments_of_every_permutation(level):
    counts = np.array([[2, 1, 0], [0, 1, 1], [1, 0, 1]])
    icc1 = count_statistic("icc1", n_values=3, values=[1, 5, 2], level=level)
    # Take the squares within alone: ICC(1) is not linear in them.
    within = replace(icc1, value=lambda total: total[..., 3])
    found = pair_floor(counts.astype(float), within)
    null = within.value(icc1.terms(all_permutations(counts)).sum(axis=-2))
    assert found.mean == pytest.approx(null.mean(), abs=1e-9)
    assert found.sd == pytest.approx(null.std(), abs=1e-9)


def test_moments_are_fractions():
    pairs = count_statistic("percent_agreement", n_values=2).pairs
    assert pairs is not None
    mean, variance = pair_moments(np.array([2, 2]), np.array([3, 1]), pairs)
    # Two ordered pairs a unit, each weighing 1/2: the unit with the odd verdict never agrees.
    assert (mean, variance) == (Fraction(1), Fraction(0))


def test_one_value_leaves_no_spread():
    agreement = count_statistic("percent_agreement", n_values=1)
    found = pair_floor(np.array([[3.0], [2.0]]), agreement)
    assert (found.mean, found.sd, found.p) == (1.0, 0.0, 1.0)


@pytest.mark.alike(2)
@pytest.mark.parametrize("level", ["nominal", *LEVELS])
def test_the_floor_is_the_same_on_both_sides_of_the_limit(level):
    rng = np.random.default_rng(3)
    counts = rng.multinomial(4, [0.5, 0.3, 0.2], size=300)
    values = None if level == "nominal" else [1, 2, 5]
    statistics = [
        count_statistic(name, n_values=3, n_categories=3, values=values, level=level)
        for name in (*NAMES, "icc1")
        if level == "nominal"
        or name == "krippendorff_alpha"
        or (name, level) == ("icc1", "interval")
    ]
    if level == "nominal":
        statistics += [class_statistic(f"class {place}", place, 3) for place in range(3)]
    shuffled = noise_floors(counts, statistics, n_permutations=2000)
    for statistic, one in zip(statistics, shuffled, strict=True):
        closed = pair_floor(counts.astype(float), statistic)
        assert closed is not None
        other = closed_floor(closed)
        assert (one.n_permutations, other.n_permutations) == (2000, 0), statistic.name
        # The mean of 2,000 shuffles is off by sd / 45, their sd by 1.6 %.
        assert other.mean == pytest.approx(one.mean, abs=0.1 * one.sd + 1e-12), statistic.name
        assert other.sd == pytest.approx(one.sd, rel=0.08), statistic.name
        assert other.p == pytest.approx(one.p, abs=0.05), statistic.name


def test_many_ratings_are_judged_in_closed_form():
    rng = np.random.default_rng(0)
    noise = rng.multinomial(100, [0.5, 0.3, 0.2], size=2000)
    judge = rng.multinomial(100, [0.5, 0.3, 0.2], size=2000)
    judge[:1000, 0] += np.minimum(8, judge[:1000, 1])
    judge[:1000, 1] -= np.minimum(8, judge[:1000, 1])
    alpha = count_statistic("krippendorff_alpha", n_values=3)
    for counts, is_noise in ((noise, True), (judge, False)):
        (floor,) = noise_floors(counts, [alpha])
        assert floor.method == "all reassignments in closed form, two-sided"
        assert floor.mean == pytest.approx(0.0, abs=1e-12)
        assert (floor.p > 0.05) is is_noise


@settings(max_examples=60, deadline=None)
@given(totals=st.lists(st.integers(1, 400), min_size=2, max_size=150))
def test_power_sums_give_the_moments_that_tables_of_pairs_give(totals):
    totals_V = np.array(totals)
    found = asdict(kernel_of_agreement(totals_V))
    expected = asdict(kernel_of_counts(totals_V, np.eye(totals_V.size)))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
