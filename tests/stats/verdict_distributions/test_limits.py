"""Limits of infinitely many replications: what finite ones tend to, of verdicts and of scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from judgerel_ray.stats import (
    brennan_prediger,
    count_statistic,
    gwet_ac1,
    krippendorff_alpha,
    limit_coefficients,
    majority_stability,
    percent_agreement,
    split_variance,
    weighted_scores,
)
from judgerel_ray.stats.intervals.ends import share_ends
from judgerel_ray.stats.verdict_distributions.limits import score_limit, weighted_bounds


def law(rng, n, k, *, silent=0.0):
    """Distributions of n units on k values, a share without a score."""
    shares = rng.dirichlet(np.full(k, 0.7), size=n)
    return shares * (1 - silent * rng.uniform(size=(n, 1)))


@given(st.integers(2, 12), st.integers(2, 6), st.integers(0, 10_000))
def test_interval_alpha_is_variance_between_over_all(n, k, seed):
    rng = np.random.default_rng(seed)
    p, x = law(rng, n, k), np.sort(rng.choice(20, size=k, replace=False)).astype(float)
    means = p @ x
    within = (p @ x**2 - means**2).mean()
    found = score_limit(p, x, level="interval")
    assert found.value == pytest.approx(1 - within / (within + means.var()))


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_many_replications_tend_to_it(level):
    rng = np.random.default_rng(4)
    x = np.array([1.0, 2.0, 5.0, 6.0])
    p = law(rng, 300, 4, silent=0.6)
    counts = np.array([rng.multinomial(4000, [*row, 1 - row.sum()])[:4] for row in p])
    drawn = krippendorff_alpha(counts, values=x, level=level).value
    limit = score_limit(p, x, level=level)
    assert limit.value == pytest.approx(drawn, abs=0.006)
    # Silent units count less: without that it would be another number.
    even = score_limit(p / p.sum(axis=1, keepdims=True), x, level=level).value
    assert abs(even - limit.value) > 0.001
    assert limit.low < limit.value < limit.high


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_the_interval_leaves_out_one_question_at_a_time(level):
    rng = np.random.default_rng(5)
    p, x = law(rng, 30, 3), np.array([3.0, 1.0, 2.0])
    questions = np.repeat(np.arange(15), 2)
    found = score_limit(p, x, level=level, clusters_U=questions)
    left = np.array([score_limit(p[questions != q], x, level=level).value for q in range(15)])
    error = np.sqrt(14 / 15 * ((left - left.mean()) ** 2).sum())
    half = 2.1448 * error
    slope = found.value * (1 - found.value)
    logit = np.log(found.value / (1 - found.value))
    ends = 1 / (1 + np.exp(-(logit + np.array([-1, 1]) * half / slope)))
    assert [found.low, found.high] == pytest.approx(list(ends), abs=1e-4)


def test_two_values_are_nominal_at_every_level():
    p = law(np.random.default_rng(6), 20, 2)
    nominal = next(
        one for one in limit_coefficients(p, majorities=()) if one.name == "krippendorff_alpha"
    )
    for level in ("ordinal", "interval"):
        assert score_limit(p, [0, 1], level=level).value == pytest.approx(nominal.value)


def test_nothing_to_tell_apart_is_undefined():
    assert (
        score_limit([[0.0, 1.0], [0.0, 0.5]], [1, 2], level="interval").undefined == "no_variance"
    )
    assert score_limit([[0.0, 0.0]], [1, 2], level="ordinal").undefined == "no_verdicts"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: score_limit([[0.5, 0.5]], [1], level="interval"), "one finite value a column"),
        (lambda: score_limit([[0.7, 0.7]], [1, 2], level="interval"), "sum 1 at most"),
        (lambda: score_limit([[0.5, 0.5]], [1, 1], level="interval"), "values must differ"),
        (lambda: score_limit([[0.5, 0.5]], [1, 2], level="nominal"), "level must be one of"),
        (lambda: score_limit([[0.5, 0.5]], [1, 2], level="ordinal", clusters_U=[1, 2]), "shape"),
        (lambda: score_limit([[0.5, 0.5]], [1, 2], level="ordinal", confidence=1), "between 0"),
    ],
)
def test_wrong_input_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()


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
def test_wrong_bounds_are_named(low, high, said):
    with pytest.raises(ValueError, match=said):
        weighted_bounds(low, high, [1, 5])


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


def test_mistakes_in_a_split_are_named():
    with pytest.raises(ValueError, match="3 dimensions"):
        split_variance([[0.5, 0.5]])
    with pytest.raises(ValueError, match="sum to 1"):
        split_variance([[[0.5, 0.6]]])


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
    error = float(a.std(ddof=1) / np.sqrt(12))
    assert (found.low, found.high) == pytest.approx(share_ends(float(a.mean()), error, 12))


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
