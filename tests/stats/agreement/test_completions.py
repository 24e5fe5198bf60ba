"""Worst and best cases against all ways to fill in, tried one by one."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from judgerel_ray.stats import count_statistic, measure
from judgerel_ray.stats.agreement import completions
from judgerel_ray.stats.agreement.completions import (
    RATIOS,
    completed_range,
    extremes,
    mean_range,
)
from judgerel_ray.stats.counts import count_vectors


@st.composite
def holes(draw, widths=(2, 3)):
    """Counts of up to four units with up to two missing verdicts each."""
    width = draw(st.sampled_from(widths))
    units = draw(st.lists(st.tuples(*[st.integers(0, 2)] * (width + 1)), min_size=1, max_size=4))
    table = np.array(units)
    assume(table[:, -1].any())
    return table[:, :-1], table[:, -1]


def tried(name, seen, missing):
    """The least and the greatest value of all ways; None without any."""
    return _tried(name, tuple(map(tuple, seen.tolist())), tuple(missing.tolist()))


@cache
def _tried(name, rows, missing):
    seen = np.array(rows)
    width = seen.shape[1]
    statistic = count_statistic(name, n_values=width)
    ways = product(*[list(count_vectors(int(one), width)) for one in missing])
    values = [measure(seen + np.array(way), statistic).value for way in ways]
    known = [one for one in values if one is not None]
    return (min(known), max(known)) if known else (None, None)


@pytest.mark.parametrize("name", RATIOS)
@settings(max_examples=40, deadline=None)
@given(data=holes())
@pytest.mark.slow
def test_walking_all_totals_finds_what_trying_all_ways_does(name, data):
    found = completed_range(name, *data)
    assert (found.low, found.high) == pytest.approx(tried(name, *data), abs=1e-9)
    assert found.exact


@pytest.mark.parametrize("most", [{"_MOST_STEPS": 0}, {"_MOST_STEPS": 0, "_MOST_MISSING": 0}])
@pytest.mark.parametrize("name", RATIOS)
@pytest.mark.slow
def test_no_way_goes_beyond_a_bracket(monkeypatch, name, most):
    for limit, value in most.items():
        monkeypatch.setattr(completions, limit, value)
    rng = np.random.default_rng(3)
    n = 0
    while n < 60:
        width = int(rng.integers(2, 4))
        seen = rng.integers(0, 3, (int(rng.integers(2, 5)), width))
        missing = rng.integers(0, 3, len(seen))
        low, high = tried(name, seen, missing)
        found = completed_range(name, seen, missing)
        if low is None or found.low is None or not missing.any():
            continue
        n += 1
        assert not found.exact
        assert found.low <= low + 1e-9
        assert high - 1e-9 <= found.high


def test_two_values_are_told_to_a_unit_however_many_are_missing():
    rng = np.random.default_rng(1)
    seen = rng.multinomial(8, [0.7, 0.3], size=300)
    missing = rng.integers(0, 3, 300)
    exact = completed_range("krippendorff_alpha", seen, missing)
    many = np.repeat(seen, 100, axis=0), np.repeat(missing, 100)
    near = completed_range("krippendorff_alpha", *many)
    assert (exact.exact, near.exact) == (True, False)
    assert (near.low, near.high) == pytest.approx((exact.low, exact.high), abs=0.005)
    assert near.high - near.low < 0.6


@settings(max_examples=15, deadline=None)
@given(data=holes(widths=(2,)))
def test_majorities_and_entropy_have_their_extremes_at_the_ends(data):
    seen, missing = data
    statistic = count_statistic("majority_stability_1", n_values=seen.shape[1])
    low, high, exact = mean_range(statistic, seen, missing)
    assert exact
    assert (low, high) == pytest.approx(tried("majority_stability_1", seen, missing), abs=1e-9)
    entropy = count_statistic("entropy_agreement", n_values=seen.shape[1])
    ends = [measure(case, entropy).value for case in extremes(seen, missing)]
    assert ends == pytest.approx(tried("entropy_agreement", seen, missing), abs=1e-9)


def test_units_with_too_many_ways_count_as_nothing_and_as_all():
    statistic = count_statistic("majority_stability_3", n_values=5)
    seen, missing = np.array([[6, 0, 0, 0, 0], [3, 0, 0, 0, 0]]), np.array([0, 40])
    assert mean_range(statistic, seen, missing) == (0.5, 1.0, False)
    assert mean_range(statistic, seen[1:], np.array([0])) == (None, None, True)


def test_nothing_to_tell_apart_has_no_ends():
    one = np.array([[2], [1]])
    assert completed_range("krippendorff_alpha", one, np.array([0, 1])).low is None
    alone = np.array([[2, 1]])
    assert completed_range("icc1", alone, np.array([1])).low is None
    with pytest.raises(ValueError, match="name must be one of"):
        completed_range("icck", alone, np.array([1]))
