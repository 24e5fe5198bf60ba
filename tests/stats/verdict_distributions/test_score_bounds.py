"""Bounds of expected scores: no distribution within bounds leaves them, and they are reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from judgerel_ray.stats import weighted_scores
from judgerel_ray.stats.verdict_distributions.limits import weighted_bounds


def bounds_around(rng, n, k):
    """Distributions with "no score" last, and bounds around them."""
    p = rng.dirichlet(np.full(k + 1, 0.6), size=n)
    below, above = rng.uniform(size=(2, n, k + 1)) * 0.3
    return p, np.maximum(0, p - below), np.minimum(1, p + above)


@given(st.integers(1, 5), st.integers(0, 10_000))
def test_no_distribution_within_the_bounds_leaves_them(k, seed):
    rng = np.random.default_rng(seed)
    p, low, high = bounds_around(rng, 6, k)
    x = rng.normal(size=k)
    found = weighted_bounds(low, high, x)
    scores = weighted_scores(p[:, :k], x).scores_N
    assert (found.low_N <= scores + 1e-9).all()
    assert (scores <= found.high_N + 1e-9).all()


@pytest.mark.parametrize("seed", range(8))
def test_they_are_those_of_a_linear_programme(seed):
    rng = np.random.default_rng(seed)
    k = 4
    _, low, high = bounds_around(rng, 1, k)
    x = rng.normal(size=k)
    found = weighted_bounds(low, high, x)
    # Charnes and Cooper: y = p / mass, t = 1 / mass.
    for sign, end in ((1, found.low_N[0]), (-1, found.high_N[0])):
        eye = np.eye(k + 1)
        upper = np.vstack([np.hstack([eye, -high.T]), np.hstack([-eye, low.T])])
        equal = [[*np.ones(k), 0, 0], [*np.ones(k + 1), -1]]
        best = linprog([*(sign * x), 0, 0], A_ub=upper, b_ub=np.zeros(2 * k + 2), A_eq=equal,
                       b_eq=[1, 0], bounds=(0, None))  # fmt: skip
        assert sign * best.fun == pytest.approx(end, abs=1e-7)


def test_settled_bounds_are_a_point_and_silence_has_none():
    found = weighted_bounds([[0.25, 0.75, 0.0], [0, 0, 1]], [[0.25, 0.75, 0.0], [0, 0, 1]], [1, 5])
    assert found.low_N[0] == found.high_N[0] == 4.0
    assert np.isnan([found.low_N[1], found.high_N[1]]).all()
    open_ = weighted_bounds([[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]], [1, 5])
    assert (open_.low_N[0], open_.high_N[0]) == (1.0, 5.0)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ([[0.5, 0.5]], [[1, 1]], "a column a value and one more"),
        ([[0.9, 0.9, 0]], [[1, 1, 1]], "no distribution within"),
        ([[0, 0, 0]], [[0.1, 0.1, 0.1]], "no distribution within"),
        ([[0, 0, np.nan]], [[1, 1, 1]], "must be finite"),
    ],
)
def test_wrong_input_is_named(low, high, said):
    with pytest.raises(ValueError, match=said):
        weighted_bounds(low, high, [1, 5])
