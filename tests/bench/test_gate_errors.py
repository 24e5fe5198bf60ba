"""The gate's error rates: intervals are the gate's own, and rates keep what it promises."""

from functools import partial

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from bench.gate_errors import DESIGNS, ends, rates
from judgerel_ray.stats import count_statistic

gate = partial(judgerel_ray.gate, exact_values=True)


@pytest.mark.parametrize("name", ["krippendorff_alpha", "percent_agreement", "valid_rate"])
def test_simulated_intervals_are_the_gate_s(name):
    rng = np.random.default_rng(5)
    first = rng.random((1, 40, 5)) < rng.beta(0.8, 0.5, (1, 40, 1))
    verdict = np.where(first, "x", None if name == "valid_rate" else "y").ravel()
    rows = pl.DataFrame({
        "item_id": np.repeat([f"q{one:02}" for one in range(40)], 5),
        "replication": np.tile(np.arange(5), 40), "verdict": pl.Series(verdict.tolist()),
    })  # fmt: skip
    found = gate(rows, require=f"{name} >= .5").requirements.row(0, named=True)
    hits = first.sum(axis=2)
    counts = np.stack([hits, 5 - hits], axis=2).astype(float)
    low, high = ends(counts, count_statistic(name, n_values=2), 0.95)
    assert (found["low"], found["high"]) == pytest.approx((low[0], high[0]), abs=1e-9)


def test_looking_often_errs_as_rarely_as_promised():
    """Of 200 pull requests at five looks, at most 2.5 %, give or take three errors of that."""
    found = rates(DESIGNS[0], 200, 5, seed=3)
    most = 0.025 + 3 * (0.025 * 0.975 / 200) ** 0.5
    assert found["ledger PASS"] <= most
    assert found["ledger FAIL"] <= most
    assert found["re-rolled PASS"] > 0.06
