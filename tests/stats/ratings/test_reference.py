"""Values other programs computed once; tests/reference/how.md says how."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from judgerel_ray.stats import (
    brennan_prediger,
    cronbach_alpha,
    fleiss_kappa,
    icc,
    krippendorff_alpha,
    mcdonald_omega,
    omega_from_correlation,
    omega_hierarchical,
)

FOLDER = Path(__file__).resolve().parents[2] / "reference"


def data(name: str) -> np.ndarray:
    return np.loadtxt(FOLDER / f"{name}.csv", delimiter=",", skiprows=1)


def rows() -> list[dict[str, str]]:
    with (FOLDER / "values.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


ROWS = rows()


def values(name: str) -> dict[str, float]:
    return {row["quantity"]: float(row["value"]) for row in ROWS if row["set"] == name}


def general(name: str) -> list[float]:
    found = values(name)
    return [found[f"psych_general_{i}"] for i in range(len(data(name).T))]


MADE = ("congeneric", "five_points", "hierarchical", "one_reversed")


@pytest.mark.parametrize("name", MADE)
def test_alpha_and_icc(name):
    scores, found = data(name), values(name)
    for quantity, value in (
        ("alpha_raw", cronbach_alpha(scores).value),
        ("cronbach_alpha", cronbach_alpha(scores).value),
        ("alpha_standardized", cronbach_alpha(scores, standardized=True).value),
        ("icc_1_1", icc(scores).value),
        ("icc_1_k", icc(scores, k=scores.shape[1]).value),
    ):
        assert value == pytest.approx(found[quantity], abs=1e-10)


@pytest.mark.parametrize("estimator", ["minres", "ml"])
@pytest.mark.parametrize("name", MADE)
def test_one_factor(name, estimator):
    found = values(name)
    omega = mcdonald_omega(data(name), estimator=estimator)
    loadings = [found[f"loading_{estimator}_{i}"] for i in range(len(omega.loadings))]
    # R's optimiser stops at a gradient some digits short of ours.
    assert omega.loadings == pytest.approx(loadings, abs=5e-6)
    assert omega.value == pytest.approx(found[f"omega_{estimator}_correlation"], abs=1e-6)
    assert omega.observed == pytest.approx(found[f"observed_{estimator}_correlation"], abs=1e-6)
    assert (omega.converged, omega.heywood) == (True, False)


@pytest.mark.parametrize("name", MADE)
def test_likelihood_of_covariances(name):
    omega = mcdonald_omega(data(name), estimator="ml", matrix="covariance")
    assert omega.value == pytest.approx(values(name)["omega_ml_covariance"], abs=2e-6)


def test_schmid_leiman_of_thurstones_abilities():
    found, matrix = values("thurstone"), data("thurstone")
    omega = omega_from_correlation(matrix)
    assert omega.value == pytest.approx(found["psych_total"], abs=1e-6)
    assert omega.hierarchical == pytest.approx(found["psych_hierarchical"], abs=2e-6)
    assert omega.limit == pytest.approx(found["psych_limit"], abs=2e-6)
    assert omega.alpha == pytest.approx(found["psych_alpha"], abs=1e-10)
    assert omega.loadings == pytest.approx(general("thurstone"), abs=1e-5)
    assert (omega.flipped, omega.heywood, omega.converged) == ((), False, True)


@pytest.mark.parametrize(("n_factors", "tolerance"), [(1, 1e-6), (2, 1e-6)])
def test_other_numbers_of_factors(n_factors, tolerance):
    found = values("thurstone")
    omega = omega_from_correlation(data("thurstone"), n_factors=n_factors)
    assert omega.value == pytest.approx(found[f"psych_total_{n_factors}"], abs=tolerance)
    if n_factors == 2:
        assert omega.hierarchical == pytest.approx(found["psych_hierarchical_2"], abs=tolerance)


@pytest.mark.parametrize(("name", "tolerance"), [("hierarchical", 5e-6), ("five_points", 2e-5)])
def test_schmid_leiman_of_scores(name, tolerance):
    found = values(name)
    omega = omega_hierarchical(data(name))
    assert omega.value == pytest.approx(found["psych_total"], abs=tolerance)
    assert omega.hierarchical == pytest.approx(found["psych_hierarchical"], abs=tolerance)
    assert omega.loadings == pytest.approx(general(name), abs=2 * tolerance)


def test_an_improper_general_factor_is_held_and_said():
    omega = omega_hierarchical(data("congeneric"))
    assert omega.value == pytest.approx(values("congeneric")["psych_total"], abs=1e-4)
    # Without the bound there is no minimum. psych holds the loading at sqrt(.995), here it is at 1.
    assert (omega.improper, omega.heywood) == (None, True)
    held = values("congeneric")["psych_hierarchical"]
    assert omega.hierarchical == pytest.approx(held, abs=0.01)


@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
def test_gaps(missing):
    found = values("gaps")
    value = cronbach_alpha(data("gaps"), missing=missing).value
    assert value == pytest.approx(found[f"alpha_raw_{missing}"], abs=1e-10)
    assert value == pytest.approx(found[f"cronbach_alpha_{missing}"], abs=1e-10)


def test_agreement():
    counts, found = data("counts"), values("counts")
    assert fleiss_kappa(counts).value == pytest.approx(found["fleiss_kappa"], abs=1e-10)
    assert brennan_prediger(counts).value == pytest.approx(found["brennan_prediger"], abs=1e-10)
    for level in ("nominal", "ordinal", "interval", "ratio"):
        value = krippendorff_alpha(counts, values=[1, 2, 3, 4], level=level).value
        assert value == pytest.approx(found[f"alpha_{level}"], abs=1e-10)
