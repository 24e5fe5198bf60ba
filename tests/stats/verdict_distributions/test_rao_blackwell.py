"""Reasoning and verdict: the split is exact, and as large as a known judge makes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import percent_agreement, split_variance


@given(st.integers(1, 5), st.integers(2, 6), st.integers(2, 4), st.integers(0, 10**6))
def test_the_parts_make_up_the_whole(n, m, k, seed):
    pi = np.random.default_rng(seed).dirichlet(np.full(k, 0.7), size=(n, m))
    found = split_variance(pi)
    # Chance that two different reasonings of a question give one verdict.
    agreement = np.mean(
        [pi[q, i] @ pi[q, j] for q in range(n) for i in range(m) for j in range(m) if i != j]
    )
    assert found.agreement == pytest.approx(agreement)
    assert found.reasoning + found.verdict == pytest.approx(1 - found.agreement)
    assert found.reasoning == pytest.approx(pi.var(axis=1, ddof=1).sum(axis=1).mean())
    assert found.verdict == pytest.approx((1 - (pi**2).sum(axis=2)).mean())
    assert found.mean_UV == pytest.approx(pi.mean(axis=1))


@given(st.integers(1, 4), st.integers(2, 6), st.integers(0, 10**6))
def test_letters_are_the_case_where_reasoning_settles_all(n, m, seed):
    letters = np.random.default_rng(seed).integers(0, 3, size=(n, m))
    found = split_variance(np.eye(3)[letters])
    counts = np.stack([np.bincount(row, minlength=3) for row in letters])
    assert found.agreement == pytest.approx(percent_agreement(counts).value)
    assert found.verdict == pytest.approx(0)
    assert found.ratio in (None, pytest.approx(1.0))


@pytest.mark.slow
@pytest.mark.parametrize("s", [0.5, 2.0, 5.0])
def test_a_simulated_judge_has_the_ratio_it_was_made_with(s):
    rng = np.random.default_rng(int(10 * s))
    p = np.array([0.4, 0.3, 0.2, 0.1])
    held, values, means, letters = 0, [], [], []
    for _ in range(200):
        pi = rng.dirichlet(s * p, size=(40, 10))
        found = split_variance(pi)
        values.append(found.ratio)
        held += found.ratio_low <= 1 / (1 + s) <= found.ratio_high
        means.append(found.mean_UV[:, 0])
        drawn = (pi.cumsum(axis=2) < rng.random((40, 10, 1))).sum(axis=2)
        letters.append((drawn == 0).mean(axis=1))
    assert np.mean(values) == pytest.approx(1 / (1 + s), abs=0.01)
    assert held / 200 >= 0.90
    # The same mean as letters, at the ratio of their variance.
    means, letters = np.concatenate(means), np.concatenate(letters)
    assert means.mean() == pytest.approx(letters.mean(), abs=0.01)
    assert means.var() / letters.var() == pytest.approx(1 / (1 + s), abs=0.03)


def test_gaps_and_what_cannot_be_said():
    gap = [[[1.0, 0.0], [0.0, 1.0], [np.nan, np.nan]], [[1.0, 0.0], [np.nan] * 2, [np.nan] * 2]]
    found = split_variance(gap)
    assert (found.n_questions, found.n_reasonings, found.agreement) == (1, 2, 0)
    assert found.mean_UV.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    single = split_variance([[[0.5, 0.5]]])
    assert (single.agreement, single.ratio, single.n_questions) == (None, None, 0)
    still = split_variance([[[1.0, 0.0], [1.0, 0.0]]])
    assert (still.agreement, still.ratio, still.ratio_low) == (1, None, None)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="3 dimensions"):
        split_variance([[0.5, 0.5]])
    with pytest.raises(ValueError, match="sum to 1"):
        split_variance([[[0.5, 0.6]]])
