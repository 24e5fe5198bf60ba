from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats.agreement import majority
from judgerel_ray.stats.agreement.majority import disjoint_agreement, pooled_agreement


@given(
    rows=st.lists(st.lists(st.integers(0, 40), min_size=4, max_size=4), min_size=1, max_size=8),
    k=st.integers(1, 5),
)
@settings(max_examples=40, deadline=None)
def test_parted_samples_agree_as_samples_drawn_apart(rows, k):
    counts = np.array(rows, dtype=float)
    counts = counts[counts.sum(axis=1) >= 2 * k]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(majority, "_FEWEST_ROWS", 1)
        patch.setattr(majority, "_CELLS", 200)
        pooled = pooled_agreement(counts, k)
    apart = disjoint_agreement(counts, k) if len(counts) else np.zeros(0)
    assert pooled.tolist() == pytest.approx(apart.tolist(), abs=1e-12)


def test_many_votes_of_many_ratings_stay_in_range(monkeypatch):
    monkeypatch.setattr(majority, "_FEWEST_ROWS", 1)
    counts = np.array([[600_000.0, 400_000.0], [1e6, 0.0], [300.0, 300.0]])
    found = pooled_agreement(counts, 31)
    # Of a million ratings .6 to .4 a jury of 31 errs once in 8: 1 - 2 x .125 x .875.
    errs = sum(math.comb(31, k) * 0.6**k * 0.4 ** (31 - k) for k in range(16))
    assert found[0] == pytest.approx(1 - 2 * errs * (1 - errs), abs=1e-4)
    assert found[1] == pytest.approx(1, abs=1e-12)
    assert 0.4 < found[2] < 0.5


def test_hundreds_of_replications_are_parted_and_not_multiplied(monkeypatch):
    def refuse(rows: np.ndarray, k: int) -> np.ndarray:
        assert rows.sum(axis=1).max() == 2 * k, "rows of counts were multiplied out"
        return disjoint_agreement(rows, k)

    majority._halves.cache_clear()
    monkeypatch.setattr(majority, "disjoint_agreement", refuse)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(500, [0.4, 0.3, 0.2, 0.1], size=400).astype(float)
    found = pooled_agreement(counts, 5)
    assert found[:3].tolist() == pytest.approx(
        disjoint_agreement(counts[:3], 5).tolist(), abs=1e-12
    )
