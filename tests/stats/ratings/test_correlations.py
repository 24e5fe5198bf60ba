"""Correlations of weighted questions, against SciPy and definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgerel_ray.stats import correlation
from judgerel_ray.stats.intervals.question_statistic import whole
from judgerel_ray.stats.ratings.correlations import CORRELATIONS

seeds = st.integers(0, 2**32 - 1)


def by_definition(name: str, x, y) -> float:
    if name in ("pearson", "spearman", "kendall"):
        functions = {
            "pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau,
        }  # fmt: skip
        return float(functions[name](x, y)[0])
    table = np.stack([x, y], axis=1)
    n, centre = len(x), table.mean()
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0)
    between = 2 * ((rows - centre) ** 2).sum() / (n - 1)
    judges = n * ((columns - centre) ** 2).sum()
    error = ((table - rows - columns + centre) ** 2).sum() / (n - 1)
    extra = 2 / n * (judges - error) if name == "icc_agreement" else 0.0
    return (between - error) / (between + error + extra)


def drawn(seed: int):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 8, size=24).astype(float)
    return x, x + rng.integers(-2, 4, size=24), rng.integers(0, 10, size=24), rng


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", CORRELATIONS)
@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_it_is_scipys_and_so_it_is_without_each_question(name, seed):
    x, y, questions, _ = drawn(seed)
    found = correlation(name, x, y, questions)
    assert whole(found) == pytest.approx(by_definition(name, x, y), abs=1e-10)
    assert found.questions_C.tolist() == sorted(set(questions))
    for question, value in zip(found.questions_C, found.left_out(), strict=True):
        rest = questions != question
        assert value == pytest.approx(by_definition(name, x[rest], y[rest]), abs=1e-10)


@pytest.mark.parametrize("name", CORRELATIONS)
@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_a_weight_is_a_repetition(name, seed):
    x, y, questions, rng = drawn(seed)
    found = correlation(name, x, y, questions)
    weights = rng.integers(0, 3, size=(3, found.questions_C.size))
    for row, value in zip(weights, found.at(weights.astype(float)), strict=True):
        rows = np.repeat(np.arange(24), row[np.searchsorted(found.questions_C, questions)])
        if np.unique(x[rows]).size > 1 and np.unique(y[rows]).size > 1 and np.unique(rows).size > 2:
            assert value == pytest.approx(by_definition(name, x[rows], y[rows]), abs=1e-10)


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize(
    ("x", "y"), [([], []), ([1.0], [1.0]), ([1.0, 2.0], [1.0, 3.0]), ([0.1] * 5, [0.3] * 5)]
)
def test_there_is_none_of_too_few_or_of_one_value(name, x, y):
    found = correlation(name, np.array(x), np.array(y), np.arange(len(x)))
    assert np.isnan(whole(found))
    assert np.isnan(found.left_out()).all()


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_one_side_without_variance_has_none(name):
    found = correlation(name, np.full(9, 1 / 3), np.arange(9.0), np.arange(9))
    assert np.isnan(whole(found))


def test_a_shift_costs_agreement_only():
    x = np.arange(12.0)
    questions = np.arange(12)
    assert whole(correlation("icc_consistency", x, x + 5, questions)) == pytest.approx(1)
    # MSR = 2 x 13, MSE = 0, MSC = 12 x 25 / 2: 26 / (26 + 2 / 12 x 150).
    found = whole(correlation("icc_agreement", x, x + 5, questions))
    assert found == pytest.approx(26 / 51)
