from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from judgerel_ray.stats import (
    Omega,
    cronbach_alpha,
    mcdonald_omega,
    omega_from_correlation,
    omega_hierarchical,
)
from judgerel_ray.stats.internal_consistency.minres import one_factor_minres
from judgerel_ray.stats.internal_consistency.schmid_leiman import minres_factors, oblimin
from judgerel_ray.stats.internal_consistency.scores import item_covariances


def scores_of(matrix, n: int = 200) -> np.ndarray:
    """Scores with exactly these correlations."""
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(n, len(matrix)))
    raw -= raw.mean(axis=0)
    white = raw @ np.linalg.inv(np.linalg.cholesky(raw.T @ raw / (n - 1))).T
    return white @ np.linalg.cholesky(np.asarray(matrix)).T


def one_factor(loadings) -> np.ndarray:
    matrix = np.outer(loadings, loadings)
    np.fill_diagonal(matrix, 1.0)
    return matrix


@pytest.mark.parametrize("estimator", ["minres", "ml"])
def test_a_true_factor_is_found(estimator):
    loadings = [0.9, 0.8, 0.6, 0.5]
    omega = mcdonald_omega(scores_of(one_factor(loadings)), estimator=estimator)
    explained = 2.8**2
    assert omega.value == pytest.approx(explained / (explained + 4 - 2.06), abs=1e-7)
    assert omega.observed == pytest.approx(omega.value, abs=1e-7)
    assert omega.loadings == pytest.approx(loadings, abs=1e-6)
    assert omega.uniquenesses == pytest.approx([0.19, 0.36, 0.64, 0.75], abs=1e-6)
    assert (omega.heywood, omega.bounded, omega.converged) == (False, None, True)
    assert (omega.undefined, omega.n_subjects, omega.n_missing) == (None, 200, 0)


@pytest.mark.parametrize("estimator", ["minres", "ml"])
def test_known_error_covariances_are_no_part_of_the_factor(estimator):
    loadings, errors = np.array([0.8, 0.7, 0.6, 0.5]), np.zeros((4, 4))
    errors[0, 1] = errors[1, 0] = 0.2
    omega = mcdonald_omega(
        scores_of(one_factor(loadings) + errors), estimator=estimator, error_covariances=errors
    )
    explained = 2.6**2
    assert omega.loadings == pytest.approx(loadings, abs=1e-6)
    # Twice .2 in the denominator, as in the formula.
    assert omega.value == pytest.approx(explained / (explained + 4 - 1.74 + 0.4), abs=1e-6)
    assert mcdonald_omega(scores_of(one_factor(loadings) + errors)).value > omega.value


def test_equal_loadings_make_omega_alpha():
    omega = mcdonald_omega(scores_of(one_factor([0.6] * 5)))
    assert omega.value == pytest.approx(omega.alpha, abs=1e-9)


def test_congeneric_items_have_alpha_below_omega():
    omega = mcdonald_omega(scores_of(one_factor([0.9, 0.7, 0.4, 0.3])))
    assert omega.alpha < omega.value - 0.01


def test_a_heywood_case_leads_with_its_admissible_solution():
    # Three items: l_1^2 = r12 r13 / r23 = .8 x .8 / .5 = 1.28.
    matrix = np.array([[1, 0.8, 0.8], [0.8, 1, 0.5], [0.8, 0.5, 1]])
    omega = mcdonald_omega(scores_of(matrix))
    # Held at 1, the others minimise 2 (.8 - l)^2 + (.5 - l^2)^2 each in turn.
    one, same, other = omega.loadings
    assert (one, same) == pytest.approx((1, other), abs=1e-9)
    assert other == pytest.approx((0.8 + 0.5 * other) / (1 + other**2), abs=1e-9)
    explained = (1 + 2 * other) ** 2
    assert omega.value == pytest.approx(explained / (explained + 2 - 2 * other**2), abs=1e-9)
    assert min(omega.uniquenesses) >= 0
    assert (omega.heywood, omega.bounded, omega.undefined) == (True, omega.value, None)
    first, second = np.sqrt(1.28), 0.8 / np.sqrt(1.28)
    explained = (first + 2 * second) ** 2
    assert omega.improper_loadings == pytest.approx([first, second, second], abs=1e-7)
    assert omega.improper == pytest.approx(explained / (explained + 3 - 1.28 - 2 * 0.5), abs=1e-7)
    by_likelihood = mcdonald_omega(scores_of(matrix), estimator="ml")
    assert by_likelihood.heywood
    assert "uniqueness at its bound, .005 of the variance" in by_likelihood.notes


def test_where_only_the_bound_makes_a_minimum_there_is_no_improper_value():
    # r12 r13 / r23 grows without end: the loading of the first runs away.
    matrix = np.array([[1, 0.5, 0.5], [0.5, 1, 0.0], [0.5, 0.0, 1]])
    omega = mcdonald_omega(scores_of(matrix))
    assert (omega.undefined, omega.converged, omega.heywood) == (None, True, True)
    assert (omega.improper, omega.improper_loadings) == (None, ())
    # Held at 1, the others minimise 2 (.5 - l)^2 + l^4, so l = .5 - l^3 = .4239.
    assert omega.value == pytest.approx(1.8478**2 / (1.8478**2 + 2 * (1 - 0.4239**2)), abs=1e-3)


def test_opposed_items_are_neither_turned_nor_made_positive():
    matrix = np.array([[1, -0.5, -0.4], [-0.5, 1, 0.3], [-0.4, 0.3, 1]])
    omega = mcdonald_omega(scores_of(matrix))
    assert (omega.value, omega.undefined) == (None, "non_positive_covariances")
    assert omega.alpha == pytest.approx(1.5 * (1 - 3 / 1.8), abs=1e-9)
    one = mcdonald_omega(scores_of(one_factor([0.8, 0.7, -0.6, 0.7])))
    assert one.loadings[2] == pytest.approx(-0.6, abs=1e-6)
    assert one.notes == ("negative loadings: 2",)
    assert one.value == pytest.approx(1.6**2 / (1.6**2 + 4 - 1.98), abs=1e-6)


def test_fewer_subjects_than_items():
    scores = np.random.default_rng(1).normal(size=(6, 1)) + 0.3 * np.random.default_rng(2).normal(
        size=(6, 9)
    )
    assert mcdonald_omega(scores, estimator="ml").undefined == "too_few_subjects"
    assert mcdonald_omega(scores).value > 0.8


def test_a_copied_item_makes_likelihood_singular():
    scores = scores_of(one_factor([0.8, 0.7, 0.6]))
    copied = np.column_stack([scores, scores[:, 0]])
    assert mcdonald_omega(copied, estimator="ml").undefined == "singular"


def test_pairs_of_subjects_may_make_no_covariance_matrix():
    nan = np.nan
    rows = [[1, 1, nan], [2, 2, nan], [3, 3, nan], [1, nan, 1], [2, nan, 2], [3, nan, 3]]
    rows += [[nan, 1, 3], [nan, 2, 2], [nan, 3, 1]]
    omega = mcdonald_omega(rows, missing="pairwise")
    assert any(note.startswith("matrix not positive semidefinite") for note in omega.notes)
    assert omega.n_missing == 9
    assert mcdonald_omega(rows).undefined == "too_few_subjects"


@pytest.mark.parametrize(
    "arguments",
    [
        {"estimator": "uls"},
        {"matrix": "cosine"},
        {"missing": "mean"},
        {"error_covariances": np.zeros((2, 2))},
        {"error_covariances": np.triu(np.ones((4, 4)))},
        {"error_covariances": np.full((4, 4), np.nan)},
    ],
)
def test_it_refuses(arguments):
    with pytest.raises(ValueError, match="mcdonald_omega: "):
        mcdonald_omega(scores_of(one_factor([0.9, 0.8, 0.6, 0.5])), **arguments)


def test_omega_is_a_value_or_a_reason():
    with pytest.raises(ValueError, match="exactly one"):
        Omega(value=None, estimator="minres")


def hierarchical(gamma=(0.8, 0.7, 0.6), own=0.8) -> np.ndarray:
    pattern = np.kron(np.eye(3), np.full((3, 1), own))
    between = np.outer(gamma, gamma)
    np.fill_diagonal(between, 1.0)
    matrix = pattern @ between @ pattern.T
    np.fill_diagonal(matrix, 1.0)
    return matrix


def test_schmid_and_leiman_by_hand():
    matrix = hierarchical()
    omega = omega_from_correlation(matrix)
    total = matrix.sum()
    assert omega.value == pytest.approx(1 - 9 * 0.36 / total, abs=1e-8)
    assert omega.hierarchical == pytest.approx((3 * 0.8 * 2.1) ** 2 / total, abs=1e-6)
    common = total - 9 * 0.36
    assert omega.limit == pytest.approx(omega.hierarchical * total / common, abs=1e-12)
    assert omega.loadings == pytest.approx(np.repeat([0.64, 0.56, 0.48], 3), abs=1e-6)
    assert omega.uniquenesses == pytest.approx([0.36] * 9, abs=1e-8)
    group = np.sort(np.abs(np.array(omega.group_loadings)).max(axis=0))
    assert group == pytest.approx(0.8 * np.sqrt(1 - np.array([0.64, 0.49, 0.36])), abs=1e-5)
    correlations = np.sort(np.array(omega.factor_correlations)[np.triu_indices(3, 1)])
    assert correlations == pytest.approx([0.42, 0.48, 0.56], abs=1e-5)
    assert (omega.heywood, omega.converged, omega.notes) == (False, True, ())


def test_turned_items_are_reported_and_the_rest_is_as_before():
    key = np.ones(9)
    key[[1, 7]] = -1
    plain = omega_from_correlation(hierarchical())
    turned = omega_from_correlation(hierarchical() * np.outer(key, key))
    assert turned.flipped == (1, 7)
    assert turned.notes == ("items turned round: 1, 7",)
    assert turned.value == pytest.approx(plain.value, abs=1e-9)
    assert turned.hierarchical == pytest.approx(plain.hierarchical, abs=1e-6)


def test_an_improper_general_factor_stands_beside_the_admissible_one():
    # gamma_1^2 = .8 x .8 / .5.
    between = np.array([[1, 0.8, 0.8], [0.8, 1, 0.5], [0.8, 0.5, 1]])
    pattern = np.kron(np.eye(3), np.full((3, 1), 0.7))
    matrix = pattern @ between @ pattern.T
    np.fill_diagonal(matrix, 1.0)
    omega = omega_from_correlation(matrix)
    assert omega.heywood
    beyond = 2.1 * (np.sqrt(1.28) + 1.6 / np.sqrt(1.28))
    assert omega.improper == pytest.approx(beyond**2 / matrix.sum(), abs=1e-5)
    assert max(omega.improper_loadings) == pytest.approx(0.7 * np.sqrt(1.28), abs=1e-5)
    within = one_factor_minres(between[None]).loadings_BK[0]
    assert within.max() == 1
    expected = (2.1 * within.sum()) ** 2 / matrix.sum()
    assert omega.hierarchical == pytest.approx(expected, abs=1e-5)
    assert omega.limit == pytest.approx(expected / omega.value, abs=1e-5)


# Correlations of 40 simulated subjects, one factor; rounded.
SIX = [
    [1.0, 0.38, 0.28, 0.38, 0.54, 0.25], [0.38, 1.0, 0.25, 0.25, 0.43, 0.43],
    [0.28, 0.25, 1.0, 0.23, -0.07, 0.01], [0.38, 0.25, 0.23, 1.0, 0.18, 0.19],
    [0.54, 0.43, -0.07, 0.18, 1.0, 0.18], [0.25, 0.43, 0.01, 0.19, 0.18, 1.0],
]  # fmt: skip
SEVEN = [
    [1.0, 0.35, 0.14, -0.09, 0.45, 0.41, 0.25], [0.35, 1.0, 0.42, -0.06, 0.42, 0.46, 0.25],
    [0.14, 0.42, 1.0, 0.13, 0.29, 0.3, 0.37], [-0.09, -0.06, 0.13, 1.0, -0.03, 0.13, 0.31],
    [0.45, 0.42, 0.29, -0.03, 1.0, 0.38, 0.19], [0.41, 0.46, 0.3, 0.13, 0.38, 1.0, 0.22],
    [0.25, 0.25, 0.37, 0.31, 0.19, 0.22, 1.0],
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("matrix", "misfit", "hierarchical"), [(SIX, 0.008443, 0.50293), (SEVEN, 0.014757, 0.38590)]
)
def test_the_lowest_minimum_of_many_starts_is_found(matrix, misfit, hierarchical):
    # Starts of a half and of squared multiple correlations stop at .010065 and .015459, where
    # omega hierarchical is .37736 and .65247.
    matrix = np.array(matrix)

    def half_of_squares(psi):
        roots, vectors = np.linalg.eigh(matrix - np.diag(psi))
        return (roots[:-3] ** 2).sum() / 2, -(vectors[:, :-3] ** 2) @ roots[:-3]

    rng, lowest = np.random.default_rng(0), np.inf
    for _ in range(40):
        bounds = [(0.005, 1.0)] * len(matrix)
        start = rng.uniform(0.005, 1, len(matrix))
        found = minimize(half_of_squares, start, jac=True, method="L-BFGS-B", bounds=bounds)
        lowest = min(lowest, found.fun)
    psi = minres_factors(matrix[None], n_factors=3).uniquenesses_BK[0]
    assert half_of_squares(psi)[0] == pytest.approx(misfit, abs=1e-6)
    assert half_of_squares(psi)[0] <= lowest + 1e-9
    omega = omega_from_correlation(matrix)
    assert omega.hierarchical == pytest.approx(hierarchical, abs=1e-4)
    order = np.random.default_rng(1).permutation(len(matrix))
    mixed = omega_from_correlation(matrix[np.ix_(order, order)])
    assert mixed.hierarchical == pytest.approx(omega.hierarchical, abs=1e-6)


def test_six_items_have_as_many_loadings_as_correlations():
    note = "as many loadings as correlations: other solutions may fit as well"
    assert note in omega_from_correlation(np.array(SIX)).notes
    assert note not in omega_from_correlation(np.array(SEVEN)).notes


@pytest.mark.slow
@pytest.mark.parametrize("items", [4, 6])
def test_noise_of_one_factor_has_its_lowest_admissible_minimum(items):
    rng = np.random.default_rng(items)
    matrices = np.array([np.corrcoef(rng.normal(size=(items, 30))) for _ in range(12)])
    matrices = matrices[matrices.sum(axis=(1, 2)) > items]
    fit = one_factor_minres(matrices)
    assert fit.converged_B.all()
    assert np.abs(fit.loadings_BK).max() <= 1

    for matrix, loadings in zip(matrices, fit.loadings_BK, strict=True):

        def misfit(x, matrix=matrix):
            residual = matrix - np.outer(x, x)
            np.fill_diagonal(residual, 0)
            return (residual**2).sum(), -4 * residual @ x

        tried = [
            minimize(misfit, rng.uniform(-1, 1, items), jac=True, bounds=[(-1, 1)] * items).fun
            for _ in range(15)
        ]
        assert misfit(loadings)[0] <= min(tried) + 1e-6


def test_pairwise_correlations_have_the_standard_deviations_of_their_pairs():
    rng = np.random.default_rng(8)
    scores = rng.normal(size=(40, 1)) + rng.normal(size=(40, 4))
    # The extremes of the second item are missing on the first.
    scores[np.abs(scores[:, 1]) > 1.2, 0] = np.nan
    scores[:6, 2] = np.nan
    expected = np.eye(4)
    for i, j in np.argwhere(~np.eye(4, dtype=bool)):
        both = ~np.isnan(scores[:, [i, j]]).any(axis=1)
        expected[i, j] = np.corrcoef(scores[both, i], scores[both, j])[0, 1]
    found = item_covariances(scores, missing="pairwise")
    assert found.correlation_KK == pytest.approx(expected, abs=1e-12)
    # As R's cov(use = "pairwise"): an item's own variance is of all its scores.
    variances = np.nanvar(scores, axis=0, ddof=1)
    assert np.diagonal(found.covariance_KK) == pytest.approx(variances, abs=1e-12)
    omega = mcdonald_omega(scores, missing="pairwise")
    loadings = one_factor_minres(expected[None]).loadings_BK[0]
    assert omega.loadings == pytest.approx(loadings, abs=1e-9)
    assert omega.alpha == pytest.approx(4 / 3 * (1 - 4 / expected.sum()), abs=1e-12)


@pytest.mark.parametrize("measure", [mcdonald_omega, omega_hierarchical, cronbach_alpha])
def test_items_never_scored_together_have_no_pairwise_value(measure):
    scores = np.random.default_rng(9).normal(size=(40, 7))
    scores[:20, 0] = scores[20:, 1] = np.nan
    found = measure(scores, missing="pairwise")
    assert (found.value, found.undefined) == (None, "no_common_subjects")


def test_two_factors_that_oppose_have_no_general_one():
    between = np.array([[1, -0.3], [-0.3, 1]])
    pattern = np.kron(np.eye(2), np.full((4, 1), 0.8))
    matrix = pattern @ between @ pattern.T
    np.fill_diagonal(matrix, 1.0)
    omega = omega_from_correlation(matrix, n_factors=2)
    assert omega.hierarchical is None or omega.flipped
    assert omega.converged


@pytest.mark.parametrize(("p", "n_factors"), [(5, 3), (4, 2), (2, 1)])
def test_too_few_items_for_the_factors(p, n_factors):
    matrix = one_factor(np.full(p, 0.7))
    assert omega_from_correlation(matrix, n_factors=n_factors).undefined == "too_few_items"


def test_singular_matrices_have_omega_total():
    scores = np.random.default_rng(3).normal(size=(7, 2)) @ np.random.default_rng(4).normal(
        size=(2, 9)
    ) + np.random.default_rng(5).normal(size=(7, 9))
    omega = omega_from_correlation(np.corrcoef(scores.T))
    assert omega.undefined is None
    assert omega.heywood


@pytest.mark.parametrize(
    ("matrix", "n_factors"),
    [
        (np.eye(3), 0),
        (np.ones((2, 3)), 1),
        (np.array([[1, 0.5], [0.4, 1]]), 1),
        (2 * np.eye(6), 1),
        (np.full((6, 6), np.nan), 1),
    ],
)
def test_what_is_no_correlation_matrix_is_refused(matrix, n_factors):
    with pytest.raises(ValueError, match="omega_from_correlation: "):
        omega_from_correlation(matrix, n_factors=n_factors)


def test_oblimin_is_at_a_minimum():
    rng = np.random.default_rng(6)
    loadings = rng.uniform(-0.6, 0.6, size=(9, 3))
    rotated = oblimin(loadings[None])
    pattern, between = rotated.pattern_BKF[0], rotated.correlations_BFF[0]

    def complexity(turned):
        squares = turned**2
        return (squares * (squares.sum(axis=1, keepdims=True) - squares)).sum()

    assert rotated.converged_B.all()
    assert np.diagonal(between) == pytest.approx(np.ones(3))
    # The same communalities, whatever the rotation.
    common = pattern @ between @ pattern.T
    assert common == pytest.approx(loadings @ loadings.T, abs=1e-9)
    root = np.linalg.cholesky(between)
    for _ in range(50):
        near = root + 1e-3 * rng.normal(size=(3, 3))
        near = near / np.sqrt((near**2).sum(axis=1, keepdims=True))
        moved = pattern @ root @ np.linalg.inv(near)
        assert complexity(moved) >= complexity(pattern) - 1e-9


def test_two_items_of_unequal_spread_have_no_negative_uniqueness():
    # sd .5 and 2, covariance .8: equal loadings would be sqrt(.8) = .894.
    matrix = np.array([[0.25, 0.8], [0.8, 4.0]])
    omega = mcdonald_omega(scores_of(matrix), matrix="covariance")
    assert omega.loadings == pytest.approx([0.5, 1.6], abs=1e-9)
    assert omega.uniquenesses == pytest.approx([0.0, 1.44], abs=1e-9)
    assert omega.value == pytest.approx(2.1**2 / (2.1**2 + 1.44), abs=1e-9)
