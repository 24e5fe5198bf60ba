"""What the starts of a fit miss, counted as bench/omega_starts.py counts it."""

import pytest

from bench.omega_starts import correlations, of_one_factor, of_three_factors


@pytest.mark.slow
def test_two_starts_miss_minima_that_the_fit_finds():
    matrices = correlations("three groups", items=6, subjects=40, sets=20, seed=1)
    before, shipped, _ = of_three_factors(matrices, starts=40, seed=1)
    missed, off = before.split(" of 20 | ")
    assert int(missed) >= 2
    assert float(off) > 0.02
    assert shipped == "0 of 20 | 0.000"


def test_one_factor_misses_nothing():
    matrices = correlations("one factor", items=4, subjects=40, sets=20, seed=1)
    assert of_one_factor(matrices, starts=20, seed=1).startswith("0 of 20 | ")
