from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats import count_statistic, noise_floors
from judgerel_ray.stats.pair_null import pair_floor, pair_moments

NAMES = (
    "krippendorff_alpha",
    "percent_agreement",
    "flip_rate",
    "fleiss_kappa",
    "gwet_ac1",
    "brennan_prediger",
)


def all_deals(counts: np.ndarray) -> np.ndarray:
    """Every deal of the verdicts to the units, with its counts."""
    sizes, totals = counts.sum(axis=1), counts.sum(axis=0)
    unit = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.repeat(np.arange(len(totals)), totals)
    tables = np.zeros((0, *counts.shape))
    dealt = {tuple(order) for order in permutations(labels.tolist())}
    tables = np.zeros((len(dealt), *counts.shape))
    for table, order in zip(tables, dealt, strict=True):
        np.add.at(table, (unit, list(order)), 1)
    return tables  # each distinct deal stands for equally many permutations


@given(
    table=st.lists(
        st.lists(st.integers(0, 2), min_size=2, max_size=3), min_size=2, max_size=3
    ).filter(lambda rows: len({len(row) for row in rows}) == 1)
)
@settings(max_examples=40, deadline=None)
def test_mean_and_spread_are_those_of_every_deal(table):
    counts = np.array(table)
    counts = counts[counts.sum(axis=1) >= 2]
    if not 4 <= counts.sum() <= 7:
        return
    tables = all_deals(counts)
    for name in NAMES:
        statistic = count_statistic(name, n_values=counts.shape[1], n_categories=3)
        found = pair_floor(counts.astype(float), statistic)
        if found is None:
            continue
        null = statistic.value(statistic.terms(tables).sum(axis=-2))
        assert found[0] == pytest.approx(null.mean(), abs=1e-9)
        assert found[1] == pytest.approx(null.std(), abs=1e-9)


def test_each_of_them_has_a_closed_form():
    counts = np.array([[2.0, 1.0], [0.0, 3.0], [1.0, 2.0]])
    statistics = [count_statistic(name, n_values=2) for name in NAMES]
    assert None not in [pair_floor(counts, statistic) for statistic in statistics]


def test_shares_that_dealing_changes_have_none():
    # The mean shares of AC1 depend on which unit a verdict lands in, where units weigh differently.
    counts = np.array([[2.0, 1.0], [0.0, 5.0]])
    assert pair_floor(counts, count_statistic("gwet_ac1", n_values=2)) is None
    assert pair_floor(counts, count_statistic("total_agreement", n_values=2)) is None


def test_moments_are_fractions():
    pairs = count_statistic("percent_agreement", n_values=2).pairs
    assert pairs is not None
    mean, variance = pair_moments(np.array([2, 2]), np.array([3, 1]), pairs)
    # Two ordered pairs a unit, each weighing 1/2: the unit with the odd verdict never agrees.
    assert (mean, variance) == (Fraction(1), Fraction(0))


def test_one_value_leaves_no_spread():
    agreement = count_statistic("percent_agreement", n_values=1)
    assert pair_floor(np.array([[3.0], [2.0]]), agreement) == (1.0, 0.0, 1.0)


def test_many_ratings_are_judged_in_closed_form():
    rng = np.random.default_rng(0)
    noise = rng.multinomial(500, [0.5, 0.3, 0.2], size=400)
    judge = rng.multinomial(500, [0.5, 0.3, 0.2], size=400)
    judge[:200, 0] += 50
    judge[:200, 1] -= 50
    alpha = count_statistic("krippendorff_alpha", n_values=3)
    for counts, is_noise in ((noise, True), (judge, False)):
        (floor,) = noise_floors(counts, [alpha])
        assert floor.method == "all reassignments in closed form, two-sided"
        assert floor.mean == pytest.approx(0.0, abs=1e-12)
        assert (floor.p > 0.05) is is_noise
