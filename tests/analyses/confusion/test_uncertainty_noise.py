"""Matrices that say nothing: a threshold chosen on the data looks good there, and only there."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.confusion.confusion import label_table
from judgerel_ray.analyses.confusion.groups import judged_groups, transfer_table
from judgerel_ray.analyses.confusion.matrices import UncertaintyOptions, scored_matrices
from judgerel_ray.analyses.confusion.worth import model_quantities
from judgerel_ray.tables import Confusions

OPTIONS = ("yes", "no")
N_ITEMS, SHARE_RIGHT = 50, 0.6


def noise(seed, benchmarks=("b",)):
    """Matrices of any certainty; whether the judge is right has nothing to do with them."""
    rng = np.random.default_rng(seed)
    cells, own, right = [], [], []
    for benchmark in benchmarks:
        for n in range(N_ITEMS):
            sure = rng.uniform(0.5, 0.99)
            place = {"judge": "j", "benchmark": benchmark, "item_id": str(n), "template": "t",
                     "temperature": 0.0}  # fmt: skip
            cells += [
                {**place, "criterion": None, "mode": "columns", "assessment_option": argued,
                 "verdict_option": option, "probability": p}
                for argued in OPTIONS
                for option, p in zip(OPTIONS, (sure, 1 - sure), strict=True)
            ]  # fmt: skip
            own.append({**place, "verdict": "yes"})
            answer = OPTIONS[int(rng.random() > SHARE_RIGHT)]
            right.append({"benchmark": benchmark, "item_id": str(n), "text": f"{benchmark}{n}",
                          "right": answer})  # fmt: skip
    table = pl.DataFrame(cells, schema=Confusions.create_empty().schema)
    options = UncertaintyOptions(seed=seed)
    matrices = scored_matrices(table, pl.DataFrame(own), pl.DataFrame(right), options)
    return judged_groups(tuple(matrices), options), options


@pytest.mark.slow
def test_the_threshold_of_the_paper_is_lucky_and_what_is_cross_fitted_is_not():
    counts = {"in-sample": [], "cross-fitted": []}
    for seed in range(40):
        table = label_table(*noise(seed))
        for row in table.iter_rows(named=True):
            counts[row["kind"]].append((row["k_low"], row["n_low"]))
    in_sample = np.mean([k / n for k, n in counts["in-sample"] if n])
    right, of = np.sum(counts["cross-fitted"], axis=0)
    # What is low is right in 60 % of the cases, whatever the threshold.
    assert in_sample > SHARE_RIGHT + 0.12
    assert right / of == pytest.approx(SHARE_RIGHT, abs=3 * np.sqrt(0.24 / of))


@pytest.mark.slow
def test_a_threshold_carried_elsewhere_is_worth_nothing_there():
    rows = pl.concat([transfer_table(*noise(seed, ("b", "c"))) for seed in range(40)])
    assert set(rows["cross_fitted"]) == {True, False}
    for part in rows.partition_by("cross_fitted"):
        right = (part["accuracy_low"].fill_null(0) * part["n_low"]).sum()
        of = part["n_low"].sum()
        assert right / of == pytest.approx(SHARE_RIGHT, abs=3 * np.sqrt(0.24 / of))


@pytest.mark.slow
def test_a_model_of_matrices_that_say_nothing_ranks_like_a_coin():
    found = []
    for seed in range(60):
        (group,), options = noise(seed)
        rows = {row["quantity"]: row for row in model_quantities(group, options)}
        found.append(rows["auroc_model"])
    values = [row["value"] for row in found]
    # Pairs across folds, whose models move against the fold's own share, would make it .45.
    assert np.mean(values) == pytest.approx(0.5, abs=3 * np.std(values) / np.sqrt(60))
    assert np.mean(values) > 0.47
    assert sum(not row["low"] <= 0.5 <= row["high"] for row in found) <= 6
    assert "inside folds" in found[0]["estimator"]
