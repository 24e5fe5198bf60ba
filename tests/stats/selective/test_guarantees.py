"""Guarantees hold as often as they promise, on judges whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import conformal_rule, conformal_sets, learn_then_test


def draw(rng, n):
    """Scores in (0, 1); a judgment is wrong with probability 0.6 (1 - score)."""
    scores = rng.random(n)
    return scores, rng.random(n) >= 0.6 * (1 - scores)


def risk_above(threshold: float) -> float:
    """True share wrong among scores from a threshold on: mean of .6 (1 - s) over (t, 1)."""
    return 0.6 * (1 - threshold) / 2


def flat(rng, n):
    """The score says nothing, and the risk is just above the bound everywhere."""
    return rng.random(n), rng.random(n) >= 0.1501


def tied(rng, n):
    """Stated confidence: few values, many ties."""
    scores = rng.choice(4, n, p=[0.1, 0.2, 0.4, 0.3])
    return scores, rng.random(n) >= np.array([0.5, 0.3, 0.15, 0.05])[scores]


def tied_risk(threshold: float) -> float:
    share, wrong = np.array([0.1, 0.2, 0.4, 0.3]), np.array([0.5, 0.3, 0.15, 0.05])
    taken = np.arange(4) >= threshold
    return (share * wrong)[taken].sum() / share[taken].sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "truth", "least_share"),
    [(draw, risk_above, 0.2), (flat, lambda _: 0.1501, 0.0), (tied, tied_risk, 0.5)],
)
def test_the_risk_exceeds_its_bound_as_rarely_as_promised(sample, truth, least_share):
    rng = np.random.default_rng(2024)
    risk, delta, runs = 0.15, 0.1, 1000
    broken, shares = 0, []
    for _ in range(runs):
        found = learn_then_test(*sample(rng, 400), risk=risk, delta=delta)
        broken += found.threshold is not None and truth(found.threshold) > risk
        shares.append(found.n_accepted / 400)
    # 1,000 runs of exactly delta have a standard error of 0.95 %.
    assert broken / runs <= delta + 2 * np.sqrt(delta * (1 - delta) / runs)
    assert np.mean(shares) > least_share


def together(rng, n_questions):
    """Four judgments of one question share their score, and mostly whether they are right."""
    scores = rng.random(n_questions)
    hard = rng.random(n_questions) < 0.6 * (1 - scores)
    clusters = np.repeat(np.arange(n_questions), 4)
    return scores[clusters], ~hard[clusters], clusters


@pytest.mark.slow
def test_judgments_of_one_question_prove_no_more_than_one():
    rng = np.random.default_rng(11)
    risk, delta, runs = 0.15, 0.1, 1000
    broken = as_if_independent = 0
    for run in range(runs):
        scores, correct, clusters = together(rng, 100)
        found = learn_then_test(scores, correct, risk=risk, delta=delta, clusters_N=clusters,
                                seed=run)  # fmt: skip
        assert found.n == 100
        broken += found.threshold is not None and risk_above(found.threshold) > risk
        plain = learn_then_test(scores, correct, risk=risk, delta=delta)
        as_if_independent += plain.threshold is not None and risk_above(plain.threshold) > risk
    assert broken / runs <= delta + 2 * np.sqrt(delta * (1 - delta) / runs)
    assert as_if_independent / runs > delta + 3 * np.sqrt(delta * (1 - delta) / runs)


def test_one_judgment_a_question_changes_nothing():
    rng = np.random.default_rng(12)
    scores, correct = draw(rng, 200)
    asked = {"risk": 0.2, "delta": 0.1}
    assert learn_then_test(scores, correct, **asked) == learn_then_test(
        scores, correct, **asked, clusters_N=rng.permutation(200)
    )
    shares = rng.dirichlet(np.ones(3), size=200)
    right = rng.integers(0, 3, 200)
    assert conformal_rule(shares, right) == conformal_rule(shares, right, clusters_N=np.arange(200))
    twice = conformal_rule(
        np.repeat(shares, 2, axis=0), np.repeat(right, 2), clusters_N=np.repeat(np.arange(200), 2)
    )
    assert twice == conformal_rule(shares, right)


@pytest.mark.slow
def test_a_chosen_threshold_without_test_breaks_its_bound():
    rng = np.random.default_rng(7)
    broken = 0
    for _ in range(200):
        scores, correct = draw(rng, 400)
        loose = min(t for t in scores if (~correct[scores >= t]).mean() <= 0.15)
        broken += risk_above(loose) > 0.15
    assert broken / 200 > 0.4


def test_the_sequence_stops_at_the_first_failure():
    scores = np.repeat([0.9, 0.5, 0.1], 100)
    correct = np.concatenate([np.ones(100), np.zeros(100), np.ones(100)]).astype(bool)
    found = learn_then_test(scores, correct, risk=0.4, delta=0.05)
    assert (found.threshold, found.n_accepted, found.n_errors) == (0.9, 100, 0)
    all_right = learn_then_test(scores, np.ones(300, bool), risk=0.1, delta=0.05)
    assert (all_right.threshold, all_right.n_accepted) == (0.1, 300)


def test_why_there_is_no_threshold():
    few = learn_then_test([0.9] * 20, [True] * 20, risk=0.1, delta=0.05)
    assert (few.threshold, few.undefined) == (None, "too_few_judgments")
    bad = learn_then_test([0.9] * 50, [False] * 50, risk=0.1, delta=0.05)
    assert (bad.threshold, bad.undefined) == (None, "risk_too_high")
    nothing = learn_then_test([float("nan")] * 50, [True] * 50, risk=0.1, delta=0.05)
    assert nothing.undefined == "too_few_judgments"


def test_thresholds_may_be_given():
    found = learn_then_test(
        np.linspace(0, 1, 101), np.ones(101, bool), risk=0.1, delta=0.05, thresholds=(0.2, 0.5)
    )
    assert found.threshold == 0.2


@pytest.mark.slow
@pytest.mark.parametrize("ordered", [False, True])
def test_sets_hold_the_right_option_as_often_as_promised(ordered):
    rng = np.random.default_rng(3)
    held = []
    for _ in range(60):
        shares = rng.dirichlet(np.full(5, 0.6), size=400)
        right = np.array([rng.choice(5, p=row) for row in shares])
        rule = conformal_rule(shares[:200], right[:200], error=0.1, ordered=ordered)
        sets = conformal_sets(shares[200:], rule)
        held.append(sets[np.arange(200), right[200:]].mean())
    # Over both draws at least 90 %, at most 90 % + 1/201; the mean of 60 has an error near 0.4 %.
    assert 0.885 <= np.mean(held) <= 0.92


@given(st.lists(st.floats(0, 1), min_size=2, max_size=7), st.floats(0, 1))
def test_sets_of_a_scale_are_intervals_around_the_best(shares, reach):
    from judgerel_ray.stats import ConformalRule

    rule = ConformalRule(reach=reach, error=0.1, ordered=True, n=10)
    (inside,) = conformal_sets([shares], rule)
    places = np.flatnonzero(inside)
    assert np.argmax(shares) in places
    assert (np.diff(places) == 1).all()


def test_too_few_items_give_sets_of_everything():
    rule = conformal_rule([[0.9, 0.1]] * 5, [0] * 5, error=0.1)
    assert rule.reach == float("inf")
    assert conformal_sets([[0.9, 0.1]], rule).all()


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="risk and delta"):
        learn_then_test([0.5], [True], risk=0.0, delta=0.1)
    with pytest.raises(ValueError, match="right_N"):
        conformal_rule([[0.5, 0.5]], [2])
    with pytest.raises(ValueError, match="error"):
        conformal_rule([[0.5, 0.5]], [1], error=1.0)
    with pytest.raises(ValueError, match="not negative"):
        conformal_rule([[-0.5, 0.5]], [1])
    with pytest.raises(ValueError, match="2 dimensions"):
        conformal_rule([0.5], [1])
    for call in (
        lambda: learn_then_test([0.5], [True], risk=0.1, delta=0.1, clusters_N=[1, 2]),
        lambda: conformal_rule([[0.5, 0.5]], [1], clusters_N=[1, 2]),
    ):
        with pytest.raises(ValueError, match="clusters_N"):
            call()
