"""Pairs counted without laying them out, against SciPy and against all pairs."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgerel_ray.stats import correlation
from judgerel_ray.stats.intervals.question_statistic import whole
from judgerel_ray.stats.ratings.correlations import below, net_order, places

seeds = st.integers(0, 2**32 - 1)
SCIPY = {"kendall": stats.kendalltau, "spearman": stats.spearmanr}
N = 60


def drawn(seed: int, n: int = N):
    """Numbers with few or many ties, and weights."""
    rng = np.random.default_rng(seed)
    top = rng.integers(1, 2 * n, size=2)
    return *(rng.integers(0, high, size=n) for high in top), rng.uniform(0, 2, size=(3, n))


@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_what_lies_below_is_what_all_pairs_say(seed):
    first, second, weights = drawn(seed)
    one, two = (np.sign(x[:, None] - x) for x in (places(first), second))
    expected = weights @ ((one > 0) & (two > 0)).T
    assert below(places(first), second, weights) == pytest.approx(expected, abs=1e-12)
    assert net_order(places(first), second, weights) == pytest.approx(
        weights @ (one * two).T, abs=1e-12
    )


@pytest.mark.alike(3)
@pytest.mark.parametrize("n_questions", [N, N // 2, 12, 4])
@pytest.mark.parametrize("name", SCIPY)
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_it_is_scipys_to_twelve_digits_and_so_it_is_without_each_question(name, n_questions, seed):
    first, second, _ = drawn(seed)
    first, second = first / 7, second / 3
    questions = np.random.default_rng(seed).permutation(np.arange(N) % n_questions)
    if np.unique(first).size < 4 or np.unique(second).size < 4:
        first, second = np.arange(N) // 2, np.arange(N)[::-1] // 3
    found = correlation(name, first, second, questions)
    assert whole(found) == pytest.approx(SCIPY[name](first, second)[0], abs=1e-12)
    for question, value in zip(found.questions_C, found.left_out(), strict=True):
        rest = questions != question
        if np.ptp(first[rest]) and np.ptp(second[rest]):
            assert value == pytest.approx(SCIPY[name](first[rest], second[rest])[0], abs=1e-12)


@pytest.mark.parametrize("name", SCIPY)
def test_tens_of_thousands_take_no_table_of_all_pairs(name):
    rng = np.random.default_rng(1)
    first = rng.normal(size=30_000)
    second = first + rng.normal(size=30_000)
    tracemalloc.start()
    found = correlation(name, first, second, np.arange(30_000) // 2)
    left = found.left_out()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100e6  # bytes; a table of 900 million pairs takes 900 million at least
    assert whole(found) == pytest.approx(SCIPY[name](first, second)[0], abs=1e-12)
    assert left[7] == pytest.approx(
        SCIPY[name](*(np.delete(x, [14, 15]) for x in (first, second)))[0], abs=1e-12
    )
