"""Limits of endless replications: what finite ones tend to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import (
    brennan_prediger,
    count_statistic,
    gwet_ac1,
    krippendorff_alpha,
    limit_coefficients,
    majority_stability,
    percent_agreement,
)


@st.composite
def distributions(draw: st.DrawFn) -> np.ndarray:
    n, k = draw(st.integers(2, 8)), draw(st.integers(2, 5))
    cells = draw(st.lists(st.floats(0.0, 1), min_size=n * k, max_size=n * k))
    rows = np.array(cells).reshape(n, k) + 1e-3
    return rows / rows.sum(axis=1, keepdims=True)


def by_name(rows, **options):
    return {one.name: one for one in limit_coefficients(rows, **options)}


@given(distributions())
def test_by_their_formulas(p):
    found = by_name(p, majorities=(3,))
    agreement, mean, k = (p**2).sum(axis=1).mean(), p.mean(axis=0), p.shape[1]
    chance = (mean**2).sum()
    assert found["percent_agreement"].value == pytest.approx(agreement)
    assert found["flip_rate"].value == pytest.approx(1 - agreement)
    alpha = found["krippendorff_alpha"].value
    assert alpha == pytest.approx(1 - (1 - agreement) / (1 - chance))
    # The share of one-hot variance that is between questions.
    assert alpha == pytest.approx(p.var(axis=0).sum() / (mean * (1 - mean)).sum())
    gamma = (1 - chance) / (k - 1)
    assert found["gwet_ac1"].value == pytest.approx((agreement - gamma) / (1 - gamma))
    assert found["brennan_prediger"].value == pytest.approx((agreement - 1 / k) / (1 - 1 / k))
    entropy = -(p * np.log(p)).sum(axis=1).mean()
    assert found["entropy_agreement"].value == pytest.approx(1 - entropy / np.log(k))
    known = majority_stability(p, 3, known=True)
    assert found["majority_stability_3"].value == pytest.approx(known.value)
    for one in found.values():
        if one.low is not None:
            assert one.low <= one.value <= one.high


@pytest.mark.slow
def test_finite_replications_of_many_questions_tend_to_them():
    rng = np.random.default_rng(5)
    p = rng.dirichlet([0.8, 0.5, 0.2], size=4000)
    counts = np.array([rng.multinomial(20, row) for row in p])
    found = by_name(p, majorities=())
    for function in (percent_agreement, krippendorff_alpha, gwet_ac1, brennan_prediger):
        drawn = function(counts)
        assert drawn.value == pytest.approx(found[drawn.name].value, abs=0.01)


def test_intervals_are_those_of_leaving_one_question_out():
    rng = np.random.default_rng(2)
    p = rng.dirichlet([0.8, 0.5, 0.2], size=12)
    found = by_name(p, majorities=())["percent_agreement"]
    a = (p**2).sum(axis=1)
    half = 2.200985 * a.std(ddof=1) / np.sqrt(12)
    assert (found.low, found.high) == pytest.approx((a.mean() - half, a.mean() + half), abs=1e-5)


@pytest.mark.slow
def test_coverage_over_questions():
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(400):
        # Dirichlet(s pi) has alpha 1 / (1 + s) over all questions.
        p = rng.dirichlet(2.0 * np.array([0.4, 0.3, 0.2, 0.1]), size=40)
        alpha = by_name(p, majorities=())["krippendorff_alpha"]
        held += alpha.low <= 1 / 3 <= alpha.high
    assert held / 400 >= 0.92


def test_units_of_a_question_stand_together():
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    apart = by_name(p)["percent_agreement"]
    together = by_name(np.repeat(p, 5, axis=0), clusters_U=np.repeat(np.arange(4), 5))
    assert together["percent_agreement"].low == pytest.approx(apart.low)


def test_what_cannot_be_said_says_why():
    one = by_name([[1.0, 0.0], [1.0, 0.0]])
    assert one["krippendorff_alpha"].undefined == "no_variance"
    assert one["percent_agreement"].value == 1
    assert one["majority_stability_11"].value == pytest.approx(1)
    lone = by_name([[1.0], [1.0]])
    assert {lone[name].undefined for name in ("gwet_ac1", "brennan_prediger")} == {"no_variance"}
    nothing = by_name([[np.nan, np.nan]])
    assert {coefficient.undefined for coefficient in nothing.values()} == {"no_verdicts"}
    assert by_name([[0.5, 0.5], [np.nan, np.nan]])["percent_agreement"].n_units == 1


def test_declared_categories_count():
    few, many = by_name([[0.9, 0.1]] * 2), by_name([[0.9, 0.1]] * 2, n_categories=5)
    assert many["brennan_prediger"].value > few["brennan_prediger"].value
    assert count_statistic("percent_agreement", n_values=2).name in few


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="sum to 1"):
        limit_coefficients([[0.5, 0.6]])
    with pytest.raises(ValueError, match="clusters_U"):
        limit_coefficients([[0.5, 0.5]], clusters_U=[1, 2])
    with pytest.raises(ValueError, match="2 dimensions"):
        limit_coefficients([0.5, 0.5])
    with pytest.raises(ValueError, match="majorities"):
        limit_coefficients([[0.5, 0.5]], majorities=(0,))
    with pytest.raises(ValueError, match="confidence"):
        limit_coefficients([[0.5, 0.5]], confidence=1.0)
