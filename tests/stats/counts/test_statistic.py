from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import count_statistic, measure, noise_floors
from judgerel_ray.stats.counts.statistic import CountTable, run_sums

NAMES = ["krippendorff_alpha", "percent_agreement", "fleiss_kappa", "gwet_ac1", "flip_rate"]


@given(
    lengths=st.one_of(
        st.lists(st.integers(1, 12), min_size=1, max_size=12),
        st.builds(lambda n, length: [length] * n, st.integers(1, 12), st.integers(1, 12)),
    ),
    order=st.sampled_from("CF"),
)
def test_stretches_sum_to_what_reduceat_gives(lengths, order):
    values = np.random.default_rng(len(lengths)).normal(size=(sum(lengths), 3))
    values = np.asarray(values, order=order)
    starts = np.cumsum([0, *lengths[:-1]])
    found = run_sums(values, starts, axis=-2)
    np.testing.assert_allclose(found, np.add.reduceat(values, starts, axis=0), atol=1e-12)
    np.testing.assert_allclose(run_sums(values.T, starts), found.T, atol=1e-12)


def test_sums_leave_what_is_summed_alone():
    values = np.arange(6.0)
    assert run_sums(values, np.arange(6)).tolist() == values.tolist()
    run_sums(values, np.array([0, 2, 4]))
    assert values.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("n_units", [40, 3000])
def test_a_table_checked_once_gives_the_numbers_of_its_counts(n_units):
    counts = np.random.default_rng(1).integers(0, 3, (n_units, 3))
    counts[:5] = [[1, 0, 0]] * 5  # units of one rating take part in some coefficients alone
    statistics = [count_statistic(name, n_values=3, n_categories=3) for name in NAMES]
    table = CountTable.of(counts, statistics[0], function="test")
    plain = noise_floors(counts, statistics, n_permutations=5)
    floors = noise_floors(table, statistics, n_permutations=5)
    for statistic, floor, known in zip(statistics, floors, plain, strict=True):
        found, value = measure(table, statistic), measure(counts, statistic)
        assert (found.n_units, found.n_ratings) == (value.n_units, value.n_ratings)
        numbers = [found.value, floor.mean, floor.sd, floor.p]
        assert numbers == pytest.approx([value.value, known.mean, known.sd, known.p], abs=1e-12)
