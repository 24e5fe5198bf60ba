"""Risk, coverage and acceptance: against counting by hand and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import acceptance_curve, clopper_pearson, risk_coverage
from judgerel_ray.stats.intervals.ends import logit_ends, t_quantile

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


@pytest.mark.slow
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


def test_the_area_has_an_interval_by_question():
    rng = np.random.default_rng(4)
    scores = rng.choice([0.2, 0.4, 0.6, 0.8], 100)
    right = rng.random(100) < scores
    found = risk_coverage(scores, right)
    assert found.low < found.aurc < found.high
    twice = risk_coverage(
        np.tile(scores, 2), np.tile(right, 2), clusters_N=np.tile(np.arange(100), 2)
    )
    assert (twice.low, twice.high) == pytest.approx((found.low, found.high), abs=0.01)
    # Leaving questions out in turn gives the same error, but for its square in 1 / n.
    left_out = np.array(
        [risk_coverage(np.delete(scores, q), np.delete(right, q)).aurc for q in range(100)]
    )
    error = np.sqrt(99 / 100 * ((left_out - left_out.mean()) ** 2).sum())
    degrees = min((~right).sum(), right.sum())
    ends = logit_ends(found.aurc, t_quantile(degrees, 0.95) * error)
    assert (found.low, found.high) == pytest.approx(ends, abs=0.01)


def test_what_has_no_area_to_speak_of_has_no_interval():
    for right in ([True] * 4, [False] * 4):
        found = risk_coverage([0.9, 0.8, 0.7, 0.6], right)
        assert (found.low, found.high) == (None, None)
    one = risk_coverage([0.9, 0.8], [True, False], clusters_N=["q", "q"])
    assert (one.aurc, one.low) == (0.25, None)


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.025, 0.05])
def test_the_area_of_few_wrong_answers_is_covered(error):
    rng = np.random.default_rng([9, round(1000 * error)])
    level, often = np.array([0.2, 0.4, 0.6, 0.8]), np.full(4, 0.25)
    wrong = 2 * error * (1 - level)  # of each level; the mean is the error
    upto, errors = np.cumsum(often), np.cumsum((often * wrong)[::-1])
    grid = (np.arange(20_000) + 0.5) / 20_000
    truth = np.mean(np.interp(grid, np.append(0, upto), np.append(0, errors)) / grid)
    held = []
    for _ in range(400):
        place = rng.integers(4, size=200)
        right = rng.random(200) >= wrong[place]
        found = risk_coverage(level[place], right)
        if found.low is not None:
            held.append(found.low <= truth <= found.high)
    # Percentiles of resampled areas covered .87 here.
    assert len(held) >= 380
    assert np.mean(held) >= 0.95 - 3 * 0.011


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
            function([0.5], [True], confidence=1.0)
    with pytest.raises(ValueError, match="clusters_N"):
        risk_coverage([0.5], [True], clusters_N=[1, 2])
