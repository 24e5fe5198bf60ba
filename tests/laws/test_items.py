"""Laws of the coefficients of distinct items, each saying which apply to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats import (
    column_noise_floor,
    cronbach_alpha,
    icc,
    mcdonald_omega,
    omega_hierarchical,
)


def _alpha(scores: np.ndarray):
    return cronbach_alpha(scores)


def _standard(scores: np.ndarray):
    return cronbach_alpha(scores, standardized=True)


def _ml(scores: np.ndarray):
    return mcdonald_omega(scores, estimator="ml")


def _covariance(scores: np.ndarray):
    return mcdonald_omega(scores, matrix="covariance")


def _total(scores: np.ndarray):
    return omega_hierarchical(scores)


ITEMS = {
    "alpha": _alpha,
    "standardized alpha": _standard,
    "omega": mcdonald_omega,
    "omega of covariances": _covariance,
    "omega by likelihood": _ml,
    "omega total": _total,
}
LAWS = {
    "alpha": {"order", "shift", "constant", "duplicate"},
    "standardized alpha": {"order", "shift", "scale", "constant", "duplicate"},
    "omega": {"order", "shift", "scale", "constant", "duplicate"},
    "omega of covariances": {"order", "shift", "constant", "duplicate"},
    "omega by likelihood": {"order", "shift", "scale", "constant"},  # undefined if singular
    "omega total": {"order", "shift", "scale", "constant"},  # three factors of copies: none
}


def having(law: str) -> list[str]:
    return sorted(name for name in ITEMS if law in LAWS[name])


def made(seed: int, n: int = 120, p: int = 9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1, 2], p // 3)
    shared = rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, 3))[:, group]
    return shared + rng.normal(size=(n, p)) * rng.uniform(0.6, 1.2, p)


seeds = st.integers(0, 10**6)
FEW = settings(max_examples=20)


def test_every_coefficient_of_items_declares_its_laws():
    assert LAWS.keys() == ITEMS.keys()
    assert all(LAWS.values())


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", having("order"))
@given(seed=seeds)
@FEW
def test_neither_order_matters(name, seed):
    scores, rng = made(seed), np.random.default_rng(seed)
    mixed = scores[rng.permutation(len(scores))][:, rng.permutation(scores.shape[1])]
    tolerance = 1e-6 if name == "omega total" else 1e-8
    assert ITEMS[name](mixed).value == pytest.approx(ITEMS[name](scores).value, abs=tolerance)


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", having("shift"))
@given(seed=seeds, shift=st.floats(-100, 100))
@FEW
def test_an_items_origin_does_not_matter(name, seed, shift):
    scores = made(seed)
    moved = scores + shift * np.arange(scores.shape[1])
    tolerance = 1e-6 if name == "omega total" else 1e-8
    assert ITEMS[name](moved).value == pytest.approx(ITEMS[name](scores).value, abs=tolerance)


@pytest.mark.alike(2)
@pytest.mark.parametrize("name", having("scale"))
@given(seed=seeds, scale=st.floats(0.01, 100))
@FEW
def test_an_items_unit_does_not_matter(name, seed, scale):
    scores = made(seed)
    stretched = scores * np.where(np.arange(scores.shape[1]) % 2, scale, 1.0)
    tolerance = 1e-6 if name == "omega total" else 1e-8
    assert ITEMS[name](stretched).value == pytest.approx(ITEMS[name](scores).value, abs=tolerance)


@pytest.mark.parametrize("name", having("constant"))
def test_a_constant_item_is_dropped_and_said(name):
    scores = made(1)
    wider = np.insert(scores, 4, 3.0, axis=1)
    found, expected = ITEMS[name](wider), ITEMS[name](scores)
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    if name.endswith("alpha"):
        assert found.estimator.endswith("constant items dropped: 4")
        assert found.n_raters == 9
    else:
        assert found.dropped == (4,)
        assert found.kept == (0, 1, 2, 3, 5, 6, 7, 8, 9)
        assert "constant items dropped: 4" in found.notes


@pytest.mark.parametrize("name", having("duplicate"))
def test_copies_of_one_item_are_perfectly_consistent(name):
    column = np.random.default_rng(2).normal(size=(30, 1))
    assert ITEMS[name](np.repeat(column, 4, axis=1)).value == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", sorted(ITEMS))
@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (np.ones((10, 4)), "no_variance"),
        (np.array([[1.0, 2], [1, 3], [1, 4]]), "too_few_items"),
        (np.full((5, 3), np.nan), "too_few_subjects"),
        (np.array([[1.0, 2, 3, 4]]), "too_few_subjects"),
    ],
)
def test_without_a_value_it_says_why(name, scores, reason):
    found = ITEMS[name](scores)
    assert (found.value, found.undefined) == (None, reason)


@pytest.mark.parametrize("name", sorted(ITEMS))
@pytest.mark.parametrize("scores", [np.ones(3), np.full((3, 3), np.inf)])
def test_what_is_no_table_of_scores_is_refused(name, scores):
    with pytest.raises(ValueError, match="scores_NK must"):
        ITEMS[name](scores)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cronbach_alpha", "mcdonald_omega"])
def test_noise_is_called_noise(name):
    called = []
    for seed in range(60):
        scores = np.random.default_rng(seed).normal(size=(30, 5))
        p = column_noise_floor(scores, name, n_permutations=99).p
        called.append(p is None or p > 0.05)
    # 57 of 60 on average; below 52 once in 100 tries.
    assert sum(called) >= 52


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cronbach_alpha", "mcdonald_omega", "omega_total"])
def test_a_common_factor_is_no_noise(name):
    floor = column_noise_floor(made(3), name, n_permutations=99)
    assert floor.p <= 0.05
    assert floor.mean < 0.6


@pytest.mark.parametrize(("rho", "k"), [(0.2, 5), (0.5, 5), (0.8, 5), (0.5, 12)])
def test_of_exchangeable_replications_all_are_one(rho, k):
    # Replications given the question are independent: omega = alpha = ICC(1, k), and says nothing
    # of one judgment. 400 questions; each coefficient's standard error is below .02 here.
    rng = np.random.default_rng(int(10 * rho) + k)
    scores = np.sqrt(rho) * rng.normal(size=(400, 1)) + np.sqrt(1 - rho) * rng.normal(size=(400, k))
    expected = k * rho / (1 + (k - 1) * rho)
    stepped_up = icc(scores, k=k).value
    assert stepped_up == pytest.approx(expected, abs=0.06)
    assert cronbach_alpha(scores).value == pytest.approx(stepped_up, abs=0.01)
    for matrix in ("correlation", "covariance"):
        assert mcdonald_omega(scores, matrix=matrix).value == pytest.approx(stepped_up, abs=0.02)
    assert _ml(scores).value == pytest.approx(stepped_up, abs=0.02)
