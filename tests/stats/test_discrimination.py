"""AUROC: against all pairs, and how often its interval holds the truth."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgerel_ray.stats import auroc

scored = st.lists(
    st.tuples(st.sampled_from([0.1, 0.4, 0.5, 0.9]), st.booleans()), min_size=2, max_size=14
)


@given(scored)
def test_it_is_the_share_of_pairs_in_order(rows):
    right = [s for s, c in rows if c]
    wrong = [s for s, c in rows if not c]
    assume(right and wrong)
    pairs = [(a > b) + (a == b) / 2 for a in right for b in wrong]
    found = auroc([s for s, _ in rows], [c for _, c in rows])
    assert found.value == pytest.approx(np.mean(pairs))
    turned = auroc([-s for s, _ in rows], [c for _, c in rows])
    assert turned.value == pytest.approx(1 - found.value)
    if found.low is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_what_cannot_be_said_says_why():
    assert auroc([0.5, 0.6], [True, True]).undefined == "no_variance"
    assert auroc([], []).undefined == "no_verdicts"
    missing = auroc([0.9, 0.1, float("nan")], [True, False, True])
    assert (missing.value, missing.n_missing, missing.low) == (1, 1, None)


def test_doubling_every_question_gives_no_certainty():
    rng = np.random.default_rng(4)
    scores, right = rng.random(80), rng.random(80) < 0.6
    once = auroc(scores, right)
    twice = auroc(np.tile(scores, 2), np.tile(right, 2), clusters_N=np.tile(np.arange(80), 2))
    assert twice.value == pytest.approx(once.value)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))


@pytest.mark.slow
def test_coverage_of_the_interval():
    rng = np.random.default_rng(11)
    truth = NormalDist().cdf(1 / np.sqrt(2))
    held = 0
    for _ in range(600):
        right = rng.random(120) < 0.6
        found = auroc(rng.normal(size=120) + right, right)
        held += found.low <= truth <= found.high
    # Binomial error of a true 95 % over 600 runs is 0.9 %.
    assert 0.93 <= held / 600 <= 0.975


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="one length"):
        auroc([0.5], [True, False])
    with pytest.raises(ValueError, match="clusters_N"):
        auroc([0.5, 0.1], [True, False], clusters_N=[1])
    with pytest.raises(ValueError, match="confidence"):
        auroc([0.5, 0.1], [True, False], confidence=0.0)


def test_stated_confidence_of_a_recorded_judge(recordings):
    import polars as pl

    judged = pl.read_parquet(recordings / "seed004/monolithic_claude.parquet")
    right = (judged["selected_option"] == judged["correct_answer"]).fill_null(False)
    found = auroc(judged["confidence"].fill_null(float("nan")).to_numpy(), right.to_numpy())
    assert found.value == pytest.approx(0.606, abs=5e-4)
    assert (found.low, found.high) == pytest.approx((0.563, 0.652), abs=0.004)
