from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import (
    Coefficient,
    count_statistic,
    counts_from_ratings,
    measure,
    noise_floors,
)
from judgerel_ray.stats.counts import CountTable, run_sums

WHOLE = Coefficient(
    name="flip_rate", estimator="e", n_units=1, n_raters=2, n_ratings=2, n_missing=0, value=0.0
)


def test_it_has_the_fields_of_the_contract():
    fields = {field.name for field in dataclasses.fields(Coefficient)}
    assert fields == {
        "name", "value", "low", "high", "noise_floor", "noise_floor_sd", "p_noise", "n_units",
        "n_raters", "n_ratings", "n_missing", "estimator", "undefined",
        # how it was made
        "interval_method", "standard_error", "no_interval", "null_method", "n_permutations",
    }  # fmt: skip


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        WHOLE.value = 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"undefined": "no_variance"},
        {"value": None},
        {"value": float("nan")},
        {"low": float("inf")},
        {"p_noise": float("nan")},
    ],
)
def test_it_refuses_what_no_coefficient_is(change):
    with pytest.raises(ValueError):
        dataclasses.replace(WHOLE, **change)


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


def test_numbers_with_gaps():
    counts, values = counts_from_ratings(np.array([[1, 2, np.nan], [2, 2, 1], [np.nan] * 3]))
    assert values == (1.0, 2.0)
    assert counts.tolist() == [[1, 1], [1, 2], [0, 0]]


def test_declared_values_keep_their_order_and_their_empty_columns():
    counts, values = counts_from_ratings([["yes", "no"]], values=["no", "perhaps", "yes"])
    assert values == ("no", "perhaps", "yes")
    assert counts.tolist() == [[1, 0, 1]]


def test_nothing_rated_has_no_values():
    counts, values = counts_from_ratings([[None, None]])
    assert values == ()
    assert counts.shape == (1, 0)


@pytest.mark.parametrize(
    ("ratings", "values"),
    [
        (["A", "B"], None),
        ([["A", "B"]], ["A"]),
        ([["A", 1]], None),
        ([["A", "A"]], ["A", "A"]),
    ],
)
def test_it_refuses(ratings, values):
    with pytest.raises(ValueError, match=r"counts_from_ratings: .* must"):
        counts_from_ratings(ratings, values=values)
