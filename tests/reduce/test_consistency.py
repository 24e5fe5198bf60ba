"""Rows of coefficients of distinct items."""

import numpy as np
import pytest

from judgerel_ray.reduce.consistency import CONSISTENCY, ItemScores, consistency_rows
from judgerel_ray.reduce.intervals import IntervalChoice
from judgerel_ray.report.words import remarks


@pytest.mark.parametrize("n_items", [6, 2])
def test_each_row_names_the_omega_that_it_is(n_items):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, 1)) + rng.normal(size=(60, n_items))
    found = ItemScores(
        scores_NK=scores, clusters_N=np.arange(60), subject=("item_id",), column="template"
    )
    said = {
        row["coefficient"]: row["estimator"] for row in consistency_rows(found, CONSISTENCY, {})
    }
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
    assert "no interval: too few subjects" in row["estimator"]
    assert "WARNING: 28 of 30 subjects left out" in row["estimator"]
    assert any("28 of 30" in one for one in remarks({**row, "noise": None}))


@pytest.mark.parametrize("name", ["cronbach_alpha", "mcdonald_omega"])
def test_identical_items_are_not_questions_that_are_alike(name):
    scores = np.repeat(np.random.default_rng(2).normal(size=(30, 1)), 6, axis=1)
    found = ItemScores(
        scores_NK=scores, clusters_N=np.arange(30), subject=("item_id",), column="template"
    )
    row = next(consistency_rows(found, [name], {}))
    assert (row["value"], row["low"]) == (pytest.approx(1.0), None)
    assert "all 30 questions have the same score on every item" in row["estimator"]
    assert "alike" not in row["estimator"]
