"""Votes are promised by their lower limit, and what is not known says what would tell."""

import numpy as np
import pytest

from judgerel_ray.analyses.advice.panel_worth import VOTES, Reason, Unreachable, Voting
from judgerel_ray.stats import majority_vote, supported_shares


def judged(shares, m, rng):
    ones = rng.binomial(m, shares)
    return np.stack([ones, m - ones], axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize(("questions", "m"), [(55, 2), (55, 5), (200, 5)])
def test_what_cannot_be_had_is_not_promised(questions, m):
    # 80 % unanimous, 20 % coin flips: .9 at any number of votes.
    rng, runs = np.random.default_rng(m), 20
    promised = before = 0
    for _ in range(runs):
        unanimous = rng.random(questions) < 0.8
        counts = judged(np.where(unanimous, rng.random(questions) < 0.5, 0.5), m, rng)
        shares = supported_shares(counts)
        before += any(majority_vote(shares, k).agreement >= 0.95 for k in VOTES)
        promised += Voting(counts, np.arange(questions)).needed(0.95) is not None
    assert before > 0.3 * runs  # what one factor for all questions promised
    assert promised <= 0.05 * runs


@pytest.mark.slow
def test_what_is_within_reach_is_not_called_out_of_reach():
    # Alpha .6 at 50/50 reaches .95 with 31 votes; 55 x 2 was told "not within 51".
    rng = np.random.default_rng(1)
    for _ in range(3):
        votes = Voting(judged(rng.beta(1 / 3, 1 / 3, 55), 2, rng), np.arange(55))
        assert votes.needed(0.95) is None
        why = votes.unreachable(0.95)
        assert (why.n_replications, why.n_questions) == (2, 55)
        assert why.unreachable in (Unreachable.KNOWN_FROM_MORE, Unreachable.NOT_KNOWN_FROM_MORE)


def test_steady_judges_are_promised_what_they_keep():
    rng = np.random.default_rng(2)
    votes = Voting(judged(rng.beta(0.02, 0.02, 300), 10, rng), np.arange(300))
    k = votes.needed(0.95)
    assert k == 1
    assert votes.stability(k).low >= 0.95
    assert votes.stability(k).agreement == pytest.approx(0.98, abs=0.015)


def test_what_never_is_says_so_and_larger_designs_are_offered():
    coins = np.array([[10, 10], [9, 11], [11, 9], [8, 12]] * 50)
    votes = Voting(coins, np.arange(200))
    assert votes.needed(0.95) is None
    assert votes.unreachable(0.95) == Reason(unreachable=Unreachable.TOO_MANY_VOTES)
    half = Voting(np.array([[2, 0]] * 150 + [[1, 1]] * 50), np.arange(200))
    assert half.needed(0.8) is None
    why = half.unreachable(0.8)
    assert why.unreachable is Unreachable.KNOWN_FROM_MORE
    assert (why.n_replications, why.n_questions) == (2, 200)
    assert why.design_replications > 2
    assert why.design_questions % 200 == 0


def test_more_verdicts_than_limits_are_made_for():
    nine = Voting(np.tile(np.eye(9, dtype=np.int64) * 3, (4, 1)), np.arange(36))
    found = nine.stability(3)
    assert (found.low, found.high) == (None, None)
    assert found.agreement > 0.9
    assert nine.needed(0.9) is None
    assert nine.unreachable(0.9) == Reason(unreachable=Unreachable.TOO_MANY_VERDICTS)
    assert not Voting(np.array([[1, 0]]), np.arange(1)).is_known
