from __future__ import annotations

import numpy as np
import pytest

from judgerel_ray.stats import Omega, mcdonald_omega, omega_from_correlation
from judgerel_ray.stats.minres import one_factor_minres
from judgerel_ray.stats.rotation import oblimin


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


def test_a_heywood_case_is_told_and_both_values_given():
    # Three items: l_1^2 = r12 r13 / r23 = .8 x .8 / .5 = 1.28.
    matrix = np.array([[1, 0.8, 0.8], [0.8, 1, 0.5], [0.8, 0.5, 1]])
    omega = mcdonald_omega(scores_of(matrix))
    first, second = np.sqrt(1.28), 0.8 / np.sqrt(1.28)
    explained = (first + 2 * second) ** 2
    assert omega.heywood
    assert omega.loadings == pytest.approx([first, second, second], abs=1e-7)
    assert omega.uniquenesses[0] == pytest.approx(-0.28, abs=1e-7)
    assert omega.value == pytest.approx(explained / (explained + 3 - 1.28 - 2 * 0.5), abs=1e-7)
    # Held at 1, the others minimise 2 (.8 - l)^2 + (.5 - l^2)^2 each in turn.
    within = one_factor_minres(matrix[None], bounded=True).loadings_BK[0]
    assert within[0] == pytest.approx(1, abs=1e-12)
    assert within[1] == pytest.approx((0.8 + 0.5 * within[2]) / (1 + within[2] ** 2), abs=1e-9)
    assert omega.bounded < omega.value
    by_likelihood = mcdonald_omega(scores_of(matrix), estimator="ml")
    assert by_likelihood.heywood
    assert "uniqueness at its bound, .005 of the variance" in by_likelihood.notes


def test_where_no_minimum_is_there_is_no_value():
    # r12 r13 / r23 grows without end: the loading of the first runs away.
    matrix = np.array([[1, 0.5, 0.5], [0.5, 1, 0.0], [0.5, 0.0, 1]])
    omega = mcdonald_omega(scores_of(matrix))
    assert (omega.value, omega.undefined, omega.converged) == (None, "not_converged", False)
    assert omega.heywood
    # Held at 1, the others minimise 2 (.5 - l)^2 + l^4, so l = .5 - l^3 = .4239.
    assert omega.bounded == pytest.approx(1.8478**2 / (1.8478**2 + 2 * (1 - 0.4239**2)), abs=1e-3)


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


def test_an_improper_general_factor_has_both_values():
    # gamma_1^2 = .8 x .8 / .5.
    between = np.array([[1, 0.8, 0.8], [0.8, 1, 0.5], [0.8, 0.5, 1]])
    pattern = np.kron(np.eye(3), np.full((3, 1), 0.7))
    matrix = pattern @ between @ pattern.T
    np.fill_diagonal(matrix, 1.0)
    omega = omega_from_correlation(matrix)
    assert omega.heywood
    assert omega.hierarchical == pytest.approx(
        (2.1 * (np.sqrt(1.28) + 1.6 / np.sqrt(1.28))) ** 2 / matrix.sum(), abs=1e-5
    )
    assert omega.hierarchical_bounded < omega.hierarchical


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
    found = oblimin(loadings)

    def complexity(pattern):
        squares = pattern**2
        return (squares * (squares.sum(axis=1, keepdims=True) - squares)).sum()

    assert found.converged
    assert np.diagonal(found.correlations_FF) == pytest.approx(np.ones(3))
    # The same communalities, whatever the rotation.
    common = found.pattern_KF @ found.correlations_FF @ found.pattern_KF.T
    assert common == pytest.approx(loadings @ loadings.T, abs=1e-9)
    root = np.linalg.cholesky(found.correlations_FF)
    for _ in range(50):
        near = root + 1e-3 * rng.normal(size=(3, 3))
        near = near / np.sqrt((near**2).sum(axis=1, keepdims=True))
        moved = found.pattern_KF @ root @ np.linalg.inv(near)
        assert complexity(moved) >= complexity(found.pattern_KF) - 1e-9
