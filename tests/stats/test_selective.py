"""Risk, coverage and acceptance: against counting by hand and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import acceptance_curve, clopper_pearson, risk_coverage

scored = st.lists(
    st.tuples(st.sampled_from([0.1, 0.4, 0.5, 0.9]), st.booleans()), min_size=1, max_size=12
)


@given(scored)
def test_acceptance_counts_what_reaches_each_score(rows):
    scores, correct = np.array([s for s, _ in rows]), np.array([c for _, c in rows])
    curve = acceptance_curve(scores, correct)
    assert curve.thresholds_T.tolist() == sorted(set(scores.tolist()), reverse=True)
    for t, threshold in enumerate(curve.thresholds_T):
        accepted = scores >= threshold
        errors = int((accepted & ~correct).sum())
        assert curve.n_accepted_T[t] == accepted.sum()
        assert curve.n_errors_T[t] == errors
        ends = clopper_pearson(errors, int(accepted.sum()))
        assert (curve.low_T[t], curve.high_T[t]) == (ends.low, ends.high)
    assert curve.acceptance_T[-1] == 1


def test_a_simultaneous_band_is_wider():
    one = acceptance_curve([0.9, 0.8, 0.8, 0.1], [True, True, False, False])
    all_at_once = acceptance_curve([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0], simultaneous=True)
    assert (all_at_once.high_T - all_at_once.low_T > one.high_T - one.low_T).all()


def test_no_confidence_is_rejected_and_still_counts():
    curve = acceptance_curve([float("nan")] * 3 + [0.5], [True] * 4)
    assert (curve.acceptance_T.tolist(), curve.n) == ([0.25], 4)
    nothing = acceptance_curve([], [])
    assert (nothing.n, nothing.thresholds_T.size) == (0, 0)


@given(scored, st.integers(0, 99))
def test_tied_risk_is_the_mean_over_random_orders(rows, seed):
    scores, correct = np.array([s for s, _ in rows]), np.array([c for _, c in rows])
    rng = np.random.default_rng(seed)
    risks = []
    for _ in range(400):
        order = np.lexsort((rng.random(scores.size), -scores))
        risks.append(np.cumsum(~correct[order]) / np.arange(1, scores.size + 1))
    found = risk_coverage(scores, correct)
    assert found.risk_N == pytest.approx(np.mean(risks, axis=0), abs=0.12)
    assert found.risk_N[-1] == pytest.approx((~correct).mean())
    assert found.aurc == pytest.approx(found.risk_N.mean())
    assert found.excess >= -1e-12


def test_a_perfect_score_has_no_excess_and_the_worst_has_most():
    correct = np.array([True] * 6 + [False] * 2)
    assert risk_coverage(np.arange(8)[::-1], correct).excess == pytest.approx(0)
    worst = risk_coverage(np.arange(8), correct)
    none = risk_coverage(np.zeros(8), correct)
    assert worst.excess > none.excess > 0
    assert none.aurc == pytest.approx(0.25)


def test_risk_at_a_coverage_rounds_up_to_a_judgment():
    curve = risk_coverage([0.9, 0.8, 0.7, 0.6], [True, False, True, True])
    assert (curve.risk_at(0.25), curve.risk_at(0.3), curve.risk_at(1.0)) == (0, 0.5, 0.25)
    assert risk_coverage([float("nan")], [True]).risk_at(0.5) is None
    with pytest.raises(ValueError, match="coverage"):
        curve.risk_at(0.0)


def test_mistakes_are_named():
    for function in (acceptance_curve, risk_coverage):
        with pytest.raises(ValueError, match="one length"):
            function([0.5], [True, False])
    with pytest.raises(ValueError, match="confidence"):
        acceptance_curve([0.5], [True], confidence=1.0)
