from __future__ import annotations

from math import exp, factorial

import pytest

from judgerel_ray.stats.null.closed_null import ClosedNull


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 1.0, 3.0, 10.0])
def test_rare_events_are_poisson(rate):
    law = [exp(-rate) * rate**k / factorial(k) for k in range(60)]
    for value in range(int(rate + 4 * rate**0.5) + 2):
        far = abs(value - rate) - 1e-9
        exact = sum(p for k, p in enumerate(law) if abs(k - rate) >= far)
        null = ClosedNull(value=value, mean=rate, sd=rate**0.5, skewness=rate**-0.5, step=1.0)
        assert null.tells_p
        assert null.settled
        assert null.p == pytest.approx(min(1.0, exact), abs=1e-6)


@pytest.mark.parametrize("free", [4, 50])
def test_chi_square_is_met_exactly(free):
    from scipy.special import chdtrc

    null = ClosedNull(value=free * 2.5, mean=free, sd=(2 * free) ** 0.5, skewness=(8 / free) ** 0.5)
    # Nothing of it lies as far below.
    assert null.p == pytest.approx(float(chdtrc(free, free * 2.5)), rel=1e-9)
    mirrored = ClosedNull(
        value=-free * 2.5, mean=-free, sd=(2 * free) ** 0.5, skewness=-((8 / free) ** 0.5)
    )
    assert mirrored.p == pytest.approx(null.p, rel=1e-12)


def test_beyond_some_skewness_or_kurtosis_moments_tell_no_p():
    told = [
        ClosedNull(value=0.0, mean=0.0, sd=1.0, skewness=skewness, kurtosis=kurtosis).tells_p
        for skewness, kurtosis in ((0.4, 0.5), (0.6, 0.0), (-0.6, 0.0), (0.0, 2.0))
    ]
    assert told == [True, False, False, False]


def test_without_spread_only_the_mean_is_noise():
    there = ClosedNull(value=0.5, mean=0.5, sd=0.0, skewness=0.0)
    away = ClosedNull(value=0.6, mean=0.5, sd=0.0, skewness=0.0)
    assert (there.p, away.p) == (1.0, 0.0)
