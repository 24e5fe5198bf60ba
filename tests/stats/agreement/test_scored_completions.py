"""Worst and best cases of numbers against all ways to fill in, tried one by one."""

from itertools import product

import numpy as np
import pytest

from judgerel_ray.stats import count_statistic, measure
from judgerel_ray.stats.agreement import completions as scored_completions
from judgerel_ray.stats.agreement.completions import scored_range
from judgerel_ray.stats.counts import count_vectors

CASES = [
    ("krippendorff_alpha", "ordinal"),
    ("krippendorff_alpha", "interval"),
    ("krippendorff_alpha", "ratio"),
    ("icc1", "interval"),
]
VALUES = np.array([4.0, 1.0, 2.0])


def tables(seed, n):
    """Small tables with holes."""
    rng = np.random.default_rng(seed)
    while n:
        seen = rng.integers(0, 3, (int(rng.integers(2, 5)), 3))
        missing = rng.integers(0, 3, len(seen))
        if missing.any():
            n -= 1
            yield seen, missing


def tried(name, level, seen, missing):
    """The least and the greatest value of all ways; None without any."""
    statistic = count_statistic(name, n_values=3, values=VALUES, level=level)
    ways = product(*[list(count_vectors(int(one), 3)) for one in missing])
    values = [measure(seen + np.array(way), statistic).value for way in ways]
    known = [one for one in values if one is not None]
    return (min(known), max(known)) if known else (None, None)


@pytest.mark.alike(2)
@pytest.mark.parametrize(("name", "level"), CASES)
def test_the_extremes_are_those_of_all_ways(name, level):
    for seen, missing in tables(1, 8):
        found = scored_range(name, seen, missing, values=VALUES, level=level)
        assert found.exact
        assert (found.low, found.high) == pytest.approx(tried(name, level, seen, missing))


@pytest.mark.alike(2)
@pytest.mark.parametrize(("name", "level"), CASES)
def test_no_way_goes_beyond_a_bracket(name, level, monkeypatch):
    n_ends = 0
    for seen, missing in tables(2, 60):
        monkeypatch.setattr(scored_completions, "_MOST_SUMS", 6 * 10**6)
        exact = scored_range(name, seen, missing, values=VALUES, level=level)
        monkeypatch.setattr(scored_completions, "_MOST_SUMS", 0)
        found = scored_range(name, seen, missing, values=VALUES, level=level)
        if found.low is None or exact.low is None:
            continue
        n_ends += 1
        assert not found.exact
        assert found.low <= exact.low + 1e-9
        assert exact.high - 1e-9 <= found.high <= 1 + 1e-9
    assert n_ends > 20


def test_a_bracket_of_few_missing_says_something():
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.full(5, 0.2), size=400)
    seen = np.array([rng.multinomial(5, one) for one in shares])
    missing = (np.arange(400) % 20 == 0).astype(int)
    values = np.arange(5.0)
    known = count_statistic("krippendorff_alpha", n_values=5, values=values, level="interval")
    found = scored_range("krippendorff_alpha", seen, missing, values=values, level="interval")
    assert not found.exact
    assert found.low < measure(seen, known).value < found.high < found.low + 0.1


def test_what_has_no_ends_has_none():
    seen, missing = np.array([[2, 1, 0]]), np.array([1])
    assert scored_range("icc1", seen, missing, values=VALUES, level="interval").low is None
    with pytest.raises(ValueError, match="name must be one of"):
        scored_range("icck", seen, missing, values=VALUES, level="interval")
    with pytest.raises(ValueError, match="level must be of numbers"):
        scored_range("icc1", seen, missing, values=VALUES, level="nominal")
