"""Coefficients may be given by name, by function, or taken apart: the digits are the same."""

from functools import partial

import numpy as np
import pytest

from judgerel_ray.stats import (
    COEFFICIENTS,
    bootstrap_interval,
    count_statistic,
    gwet_ac1,
    jackknife_interval,
    krippendorff_alpha,
    noise_floor,
)

COUNTS = np.random.default_rng(0).multinomial(24, [0.5, 0.3, 0.2], size=30)
FRONT_DOORS = (
    jackknife_interval,
    partial(bootstrap_interval, n_resamples=50),
    partial(noise_floor, n_permutations=20),
)


@pytest.mark.parametrize("door", FRONT_DOORS)
@pytest.mark.parametrize("name", sorted(set(COEFFICIENTS) - {"valid_rate"}))
def test_a_function_and_its_name_are_the_coefficient(door, name):
    taken_apart = door(COUNTS, count_statistic(name, n_values=3))
    assert door(COUNTS, name) == taken_apart
    assert door(COUNTS, COEFFICIENTS[name]) == taken_apart


@pytest.mark.parametrize("door", FRONT_DOORS)
def test_levels_and_categories_go_with_names_and_functions(door):
    numbers = {"values": [0.0, 1.0, 5.0], "level": "interval"}
    expected = door(COUNTS, count_statistic("krippendorff_alpha", n_values=3, **numbers))
    assert expected != door(COUNTS, "krippendorff_alpha")
    for given in ("krippendorff_alpha", krippendorff_alpha):
        assert door(COUNTS, given, **numbers) == expected
    assert door(COUNTS, partial(krippendorff_alpha, **numbers)) == expected
    seven = door(COUNTS, count_statistic("gwet_ac1", n_values=3, n_categories=7))
    assert door(COUNTS, gwet_ac1, n_categories=7) == seven != door(COUNTS, gwet_ac1)


def test_what_is_no_coefficient_is_one_line():
    with pytest.raises(ValueError, match="statistic must be a name, a function"):
        jackknife_interval(COUNTS, 3)
    with pytest.raises(ValueError, match="name must be one of"):
        jackknife_interval(COUNTS, len)
    with pytest.raises(ValueError, match="go with a name or a function"):
        jackknife_interval(COUNTS, count_statistic("icc1", n_values=3), level="interval")
