"""Every coefficient against a second implementation, as plain as it can be, on 500 data sets.

`make test` has 50 of them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats import (
    COEFFICIENTS,
    cronbach_alpha,
    icc,
    icc1,
    icck,
    krippendorff_alpha,
    majority_stability,
    mcdonald_omega,
    measure,
    moment_statistic,
    moments_from_scores,
    omega_from_correlation,
)

MANY = settings(max_examples=50 if settings.get_current_profile_name() == "quick" else 500)
Table = list[list[int]]


@st.composite
def tables(draw: st.DrawFn, *, most: int = 4, values: int = 4) -> Table:
    n_values = draw(st.integers(1, values))
    row = st.lists(st.integers(0, most), min_size=n_values, max_size=n_values)
    return draw(st.lists(row, min_size=1, max_size=6))


def rated(table: Table, least: int = 2) -> list[list[int]]:
    """The ratings of each unit that has enough of them."""
    units = [[v for v, n in enumerate(row) for _ in range(n)] for row in table]
    return [unit for unit in units if len(unit) >= least]


def agreement(table: Table) -> Fraction | None:
    """Pairs of one unit's ratings, counted one by one."""
    shares = []
    for unit in rated(table):
        pairs = list(combinations(unit, 2))
        shares.append(Fraction(sum(a == b for a, b in pairs), len(pairs)))
    return sum(shares, Fraction(0)) / len(shares) if shares else None


def beyond(table: Table, chance: Fraction | None) -> Fraction | None:
    observed = agreement(table)
    if observed is None or chance is None or chance == 1:
        return None
    return (observed - chance) / (1 - chance)


def fleiss(table: Table) -> Fraction | None:
    pool = [v for unit in rated(table) for v in unit]
    chance = sum((Fraction(pool.count(v), len(pool)) ** 2 for v in set(pool)), Fraction(0))
    return beyond(table, chance)


def gwet(table: Table) -> Fraction | None:
    units, k = rated(table, 1), len(table[0])
    if not units or k < 2:
        return None
    pi = [sum(Fraction(u.count(v), len(u)) for u in units) / len(units) for v in range(k)]
    return beyond(table, sum(p * (1 - p) for p in pi) / (k - 1))


def brennan(table: Table) -> Fraction | None:
    return beyond(table, Fraction(1, len(table[0])))


def valid(table: Table) -> Fraction | None:
    units = [[*row, 0][:2] for row in table]
    n = sum(map(sum, units))
    return Fraction(sum(row[0] for row in units), n) if n else None


def entropy(table: Table) -> float | None:
    units, k = rated(table), len(table[0])
    if not units or k < 2:
        return None
    found = []
    for unit in units:
        shares = [unit.count(v) / len(unit) for v in set(unit)]
        bias = (len(shares) - 1) / (2 * len(unit))
        found.append(-sum(p * math.log(p) for p in shares) + bias)
    return 1 - sum(found) / len(found) / math.log(k)


def unanimous(table: Table) -> Fraction | None:
    units = rated(table)
    return Fraction(sum(len(set(unit)) == 1 for unit in units), len(units)) if units else None


def variance_table(units: list[list[list[Fraction]]]) -> tuple[Fraction, Fraction, Fraction] | None:
    """MSB, MSW and m0 of vectors, summed over their coordinates."""
    n, q = sum(map(len, units)), len(units)
    if q < 2:
        return None
    ssb = ssw = Fraction(0)
    for coordinate in range(len(units[0][0])):
        scores = [[vector[coordinate] for vector in unit] for unit in units]
        grand = sum(sum(unit) for unit in scores) / Fraction(n)
        for unit in scores:
            mean = sum(unit) / Fraction(len(unit))
            ssb += len(unit) * (mean - grand) ** 2
            ssw += sum((score - mean) ** 2 for score in unit)
    m0 = (n - sum(Fraction(len(unit)) ** 2 for unit in units) / n) / (q - 1)
    return ssb / (q - 1), ssw / (n - q), m0


def single(units: list[list[list[Fraction]]]) -> Fraction | None:
    found = variance_table(units)
    if found is None:
        return None
    between, within, m0 = found
    under = between + (m0 - 1) * within
    return (between - within) / under if under else None


def averaged(units: list[list[list[Fraction]]]) -> Fraction | None:
    found = variance_table(units)
    return 1 - found[1] / found[0] if found and found[0] else None


def one_hot(table: Table) -> list[list[list[Fraction]]]:
    k = len(table[0])
    return [[[Fraction(v == w) for w in range(k)] for v in unit] for unit in rated(table)]


def majority(ratings: tuple[int, ...]) -> dict[int, Fraction]:
    """The vote each value gets, ties shared."""
    times = {v: ratings.count(v) for v in ratings}
    top = [v for v, n in times.items() if n == max(times.values())]
    return {v: Fraction(1, len(top)) for v in top}


def two_majorities(table: Table, k: int) -> Fraction | None:
    """Every pair of disjoint samples, weighted by the ways to draw it."""
    shares = []
    for row in table:
        if sum(row) < 2 * k:
            continue
        agree = Fraction(0)
        for first in product(*(range(min(n, k) + 1) for n in row)):
            if sum(first) != k:
                continue
            rest = [n - a for n, a in zip(row, first, strict=True)]
            ways = math.prod(map(math.comb, row, first))
            vote = majority(tuple(v for v, a in enumerate(first) for _ in range(a)))
            for second in product(*(range(min(n, k) + 1) for n in rest)):
                if sum(second) != k:
                    continue
                other = majority(tuple(v for v, b in enumerate(second) for _ in range(b)))
                same = sum(share * other.get(v, 0) for v, share in vote.items())
                agree += ways * math.prod(map(math.comb, rest, second)) * same
        shares.append(agree / (math.comb(sum(row), k) * math.comb(sum(row) - k, k)))
    return sum(shares, Fraction(0)) / len(shares) if shares else None


PLAIN = {
    "percent_agreement": agreement,
    "flip_rate": lambda table: None if agreement(table) is None else 1 - agreement(table),
    "fleiss_kappa": lambda table: fleiss(table) if rated(table) else None,
    "gwet_ac1": gwet,
    "brennan_prediger": brennan,
    "valid_rate": valid,
    "entropy_agreement": entropy,
    "total_agreement": unanimous,
    "icc1": lambda table: single(one_hot(table)),
    "icck": lambda table: averaged(one_hot(table)),
}


def same(found: float | None, expected: Fraction | float | None) -> None:
    # Near a pole of the step-up formula values are in the thousands, and rounding grows with them.
    exact = None if expected is None else float(expected)
    assert found == (None if exact is None else pytest.approx(exact, rel=1e-9, abs=1e-9))


def test_every_coefficient_has_a_second_implementation():
    elsewhere = {"krippendorff_alpha"} | {f"majority_stability_{k}" for k in (3, 5, 11)}
    assert PLAIN.keys() | elsewhere == COEFFICIENTS.keys()


@pytest.mark.alike(5)
@pytest.mark.parametrize("name", sorted(PLAIN))
@given(table=tables())
@MANY
def test_coefficients_of_counts(name, table):
    rows = [[*row, 0][:2] for row in table] if name == "valid_rate" else table
    same(COEFFICIENTS[name](rows).value, PLAIN[name](table))


@pytest.mark.slow
@pytest.mark.parametrize(("k", "most", "values"), [(1, 4, 4), (2, 4, 3), (3, 5, 3)])
@given(data=st.data())
@MANY
def test_majorities_of_every_pair_of_samples(k, most, values, data):
    table = data.draw(tables(most=most, values=values))
    same(majority_stability(table, k).value, two_majorities(table, k))


@pytest.mark.slow
@pytest.mark.parametrize("k", [5, 11])
@given(data=st.data())
@MANY
def test_majorities_of_many(k, data):
    table = data.draw(tables(most=2 * k, values=2))
    same(majority_stability(table, k).value, two_majorities(table, k))


@pytest.mark.slow
@given(weights=st.lists(st.integers(0, 6), min_size=1, max_size=3), k=st.integers(1, 5))
@MANY
def test_majorities_of_known_distributions(weights, k):
    total = sum(weights)
    if not total:
        return
    shares = [Fraction(w, total) for w in weights]
    wins = [Fraction(0)] * len(shares)
    for draws in product(range(len(shares)), repeat=k):
        for v, share in majority(draws).items():
            wins[v] += share * math.prod(shares[d] for d in draws)
    found = majority_stability([[float(p) for p in shares]], k, known=True)
    same(found.value, sum(win**2 for win in wins))


@st.composite
def score_units(draw: st.DrawFn) -> list[list[int]]:
    return draw(st.lists(st.lists(st.integers(1, 9), max_size=4), min_size=1, max_size=6))


@pytest.mark.slow
@given(units=score_units(), k=st.integers(1, 6))
@MANY
def test_intraclass_correlation_of_scores(units, k):
    width = max(1, *map(len, units)) if len(units) > 1 else max(1, len(units[0]))
    matrix = np.array([unit + [np.nan] * (width - len(unit)) for unit in units], dtype=float)
    vectors = [[[Fraction(x)] for x in unit] for unit in units if len(unit) >= 2]
    expected = single(vectors) if vectors else None
    same(icc(matrix).value, expected)
    if expected is not None and 1 + (k - 1) * expected > 0:
        same(icc(matrix, k=k).value, k * expected / (1 + (k - 1) * expected))
    counts = [[unit.count(v) for v in range(1, 10)] for unit in units]
    same(icc1(counts, values=range(1, 10), level="interval").value, expected)
    same(icck(counts, values=range(1, 10), level="interval").value, averaged(vectors))
    alpha = krippendorff_alpha(counts, values=range(1, 10), level="interval").value
    same(measure(moments_from_scores(matrix), moment_statistic("krippendorff_alpha")).value, alpha)


@pytest.mark.slow
@given(scores=st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=2, max_size=7))
@MANY
def test_cronbach(scores):
    columns = [list(map(Fraction, c)) for c in zip(*scores, strict=True) if len(set(c)) > 1]

    def variance(x: list[Fraction]) -> Fraction:
        mean = sum(x) / len(x)
        return sum((one - mean) ** 2 for one in x) / (len(x) - 1)

    total = variance([sum(row) for row in zip(*columns, strict=True)]) if columns else 0
    p, expected = len(columns), None
    if p > 1 and total:
        expected = Fraction(p, p - 1) * (1 - sum(map(variance, columns)) / total)
    same(cronbach_alpha(scores).value, expected)


def factor_scores(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    p = int(rng.integers(4, 9))
    loadings = rng.uniform(0.4, 0.8, p)
    n = int(rng.integers(60, 200))
    own = rng.normal(size=(n, p)) * np.sqrt(1 - loadings**2)
    return rng.normal(size=(n, 1)) * loadings + own


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
@MANY
def test_standardized_alpha_is_that_of_the_mean_correlation(seed):
    scores = factor_scores(seed)
    p = scores.shape[1]
    mean = np.mean([np.corrcoef(a, b)[0, 1] for a, b in combinations(scores.T, 2)])
    found = cronbach_alpha(scores, standardized=True).value
    assert found == pytest.approx(p * mean / (1 + (p - 1) * mean), abs=1e-9)


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
@MANY
def test_omega_counts_covariances_of_errors_as_error(seed):
    rng = np.random.default_rng(seed)
    scores = factor_scores(seed)
    target = np.cov(scores.T)
    errors = np.zeros_like(target)
    errors[0, 1] = errors[1, 0] = rng.uniform(-0.1, 0.1)
    omega = mcdonald_omega(scores, matrix="covariance", error_covariances=errors)
    without = target - errors
    # At its bound a loading solves no such equation; the solution without the bound does.
    proper = omega.improper is None
    loadings = np.array(omega.loadings if proper else omega.improper_loadings)
    value = omega.value if proper else omega.improper
    # Harman and Jones: each loading is the regression of its covariances on the others.
    for i in range(len(loadings)):
        rest = np.arange(len(loadings)) != i
        expected = without[i, rest] @ loadings[rest] / (loadings[rest] ** 2).sum()
        assert loadings[i] == pytest.approx(expected, abs=1e-6)
    unique = np.diagonal(target) - loadings**2
    true = loadings.sum() ** 2
    assert value == pytest.approx(true / (true + unique.sum() + errors.sum()), abs=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(("estimator", "tolerance"), [("minres", 1e-4), ("ml", 1e-4)])
def test_one_factor_equals_factor_analyzer(estimator, tolerance):
    package = pytest.importorskip("factor_analyzer", reason="extra [legacy] is not installed")
    compared = 0
    for seed in range(500):
        scores = factor_scores(seed)
        omega = mcdonald_omega(scores, estimator=estimator)
        if omega.heywood:  # theirs is then held at its bound
            continue
        fit = package.FactorAnalyzer(1, rotation=None, method=estimator)
        fit.fit(scores)
        loadings = fit.loadings_[:, 0] * np.sign(fit.loadings_[:, 0].sum())
        assert omega.converged
        assert omega.loadings == pytest.approx(loadings, abs=tolerance)
        theirs = loadings.sum() ** 2 / (loadings.sum() ** 2 + (1 - loadings**2).sum())
        assert omega.value == pytest.approx(theirs, abs=tolerance)
        compared += 1
    assert compared > 480


@pytest.mark.slow
@pytest.mark.parametrize("matrix", ["correlation", "covariance"])
def test_minres_equals_a_general_minimiser(matrix):
    from scipy.optimize import minimize

    for seed in range(500):
        scores = factor_scores(seed) * np.random.default_rng(seed + 1).uniform(0.5, 3)
        omega = mcdonald_omega(scores, matrix=matrix)
        target = np.cov(scores.T) if matrix == "covariance" else np.corrcoef(scores.T)

        def misfit(x, target=target):
            residual = target - np.outer(x, x)
            np.fill_diagonal(residual, 0)
            return (residual**2).sum(), -4 * residual @ x

        best = minimize(misfit, np.sqrt(np.diagonal(target)) / 2, jac=True, method="BFGS")
        assert misfit(np.array(omega.loadings))[0] <= best.fun + 1e-12
        if not omega.heywood:
            assert omega.loadings == pytest.approx(best.x, abs=1e-4)


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
@MANY
def test_schmid_leiman_recovers_what_a_matrix_was_made_of(seed):
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1, 2], rng.integers(3, 5, size=3))
    gamma, own = rng.uniform(0.5, 0.9, 3), rng.uniform(0.4, 0.85, group.size)
    pattern = np.zeros((group.size, 3))
    pattern[np.arange(group.size), group] = own
    between = np.outer(gamma, gamma)
    np.fill_diagonal(between, 1.0)
    matrix = pattern @ between @ pattern.T
    np.fill_diagonal(matrix, 1.0)
    omega = omega_from_correlation(matrix)
    total = matrix.sum()
    assert omega.value == pytest.approx(1 - (1 - own**2).sum() / total, abs=1e-6)
    assert omega.hierarchical == pytest.approx((own * gamma[group]).sum() ** 2 / total, abs=1e-5)
    assert omega.loadings == pytest.approx(own * gamma[group], abs=1e-4)
