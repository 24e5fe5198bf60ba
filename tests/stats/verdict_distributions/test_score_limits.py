"""Alpha of endless ratings: what finite ones tend to, and the formula at the interval level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import krippendorff_alpha, limit_coefficients
from judgerel_ray.stats.verdict_distributions.limits import score_limit


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
