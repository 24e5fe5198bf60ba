"""Rows of coefficients of distinct items."""

import numpy as np
import pytest

from judgerel_ray.reduce.consistency import CONSISTENCY, ItemScores, consistency_rows


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
