"""Rows of coefficients of distinct items."""

import numpy as np
import pytest

from judgerel_ray.blocks.words import estimator_words, remarks
from judgerel_ray.counting.intervals import IntervalChoice
from judgerel_ray.measuring.consistency import ItemScores, consistency_rows
from judgerel_ray.stats import cronbach_alpha, mcdonald_omega
from judgerel_ray.stats.internal_consistency import CONSISTENCY


@pytest.mark.parametrize("n_items", [pytest.param(6, marks=pytest.mark.slow), 2])
def test_each_row_names_the_omega_that_it_is(n_items):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, 1)) + rng.normal(size=(60, n_items))
    found = ItemScores(
        scores_NK=scores, clusters_N=np.arange(60), subject=("item_id",), column="template"
    )
    rows = consistency_rows(found, CONSISTENCY, {})
    said = {row["coefficient"]: estimator_words(row) for row in rows}
    assert "omega hierarchical" in said["omega_hierarchical"]
    assert "omega total" not in said["omega_hierarchical"]
    assert "hierarchical" not in said["mcdonald_omega"]


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_an_alpha_of_two_subjects_says_why_it_has_no_interval_and_who_was_left_out(method):
    scores = np.random.default_rng(1).normal(size=(30, 6))
    scores[2:, 0] = np.nan
    found = ItemScores(
        scores_NK=scores, clusters_N=np.arange(30), subject=("item_id",), column="template"
    )
    choice = IntervalChoice(method=method)
    row = next(consistency_rows(found, ["cronbach_alpha"], {}, choice))
    assert row["value"] is not None
    assert (row["low"], row["high"]) == (None, None)
    assert "no interval: too few subjects" in estimator_words(row)
    assert "WARNING: 28 of 30 subjects left out" in estimator_words(row)
    assert any("28 of 30" in one for one in remarks({**row, "noise": None}))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cronbach_alpha", "mcdonald_omega"])
def test_identical_items_are_not_questions_that_are_alike(name):
    scores = np.repeat(np.random.default_rng(2).normal(size=(30, 1)), 6, axis=1)
    found = ItemScores(
        scores_NK=scores, clusters_N=np.arange(30), subject=("item_id",), column="template"
    )
    row = next(consistency_rows(found, [name], {}))
    assert (row["value"], row["low"]) == (pytest.approx(1.0), None)
    assert "all 30 questions have the same score on every item" in estimator_words(row)
    assert "alike" not in estimator_words(row)


@pytest.mark.slow
def test_alpha_and_omega_of_one_matrix_stand_side_by_side():
    rng = np.random.default_rng(3)
    # Unequal variances, so that raw and standardized differ.
    scores = (rng.normal(size=(80, 1)) + rng.normal(size=(80, 5))) * [1, 2, 3, 4, 8]
    found = ItemScores(
        scores_NK=scores, clusters_N=np.arange(80), subject=("item_id",), column="template"
    )
    rows = {row["coefficient"]: row for row in consistency_rows(found, CONSISTENCY, {})}
    raw, standard = rows["cronbach_alpha"], rows["mcdonald_omega"]
    assert raw["value"] == cronbach_alpha(scores).value
    omega = mcdonald_omega(scores, matrix="covariance").value
    assert estimator_words(raw).startswith("raw alpha of 5 items")
    assert f"raw omega of the same covariances {omega:.3f}" in estimator_words(raw)
    alpha = cronbach_alpha(scores, standardized=True).value
    assert standard["value"] == mcdonald_omega(scores).value
    assert estimator_words(standard).startswith("standardized omega of one factor")
    assert f"standardized alpha of the same correlations {alpha:.3f}" in estimator_words(standard)
    assert abs(raw["value"] - alpha) > 0.01


@pytest.mark.slow
def test_a_heywood_case_is_a_remark_with_the_improper_value():
    # Three items, the first correlated .8 with both of two that correlate .5.
    rng = np.random.default_rng(4)
    white = np.linalg.qr(rng.normal(size=(50, 3)))[0]
    white = np.linalg.qr(white - white.mean(axis=0))[0]
    matrix = np.array([[1, 0.8, 0.8], [0.8, 1, 0.5], [0.8, 0.5, 1]])
    found = ItemScores(
        scores_NK=white @ np.linalg.cholesky(matrix).T,
        clusters_N=np.arange(50),
        subject=("item_id",),
        column="template",
    )
    row = next(consistency_rows(found, ["mcdonald_omega"], {}))
    omega = mcdonald_omega(found.scores_NK)
    assert row["value"] == omega.value < omega.improper
    said = f"held at its bound, {omega.improper:.3f} without it"
    assert any(said in one for one in remarks({**row, "noise": None}))
