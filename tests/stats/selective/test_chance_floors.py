"""Accuracy and ranking by chance: the closed forms against all deals, and against random ones."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats.selective.discrimination import accuracy_floor, ranking_floor

tables = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(-1, 2)),
    min_size=2,
    max_size=6,
)


def replies(counts):
    """The replies behind counts, and one without a verdict."""
    question, verdict = (np.repeat(one.ravel(), counts.ravel()) for one in np.indices(counts.shape))
    return np.append(verdict, -1), np.append(question, 0)


@given(tables)
def test_the_floor_of_accuracy_is_that_of_all_deals(rows):
    counts = np.array([row[:3] for row in rows])
    gold = np.array([row[3] for row in rows])
    n = int(counts.sum()) + 1
    dealt = [
        sum(counts[q, gold[r]] for q, r in enumerate(deal) if gold[r] >= 0) / n
        for deal in permutations(range(len(rows)))
    ]
    found = accuracy_floor(*replies(counts), np.where(gold < 0, 7, gold))
    assert found.mean == pytest.approx(np.mean(dealt))
    assert found.sd == pytest.approx(np.std(dealt), abs=1e-9)


@given(tables)
def test_any_coding_of_verdicts_gives_the_same_floor(rows):
    counts, gold = np.array([row[:3] for row in rows]), np.array([row[3] for row in rows])
    verdicts, questions = replies(counts)
    found = accuracy_floor(verdicts, questions, gold)
    again = accuracy_floor(np.where(verdicts < 0, -1, verdicts * 10**9), questions, gold * 10**9)
    assert (again.mean, again.sd, again.p) == (found.mean, found.sd, found.p)


def test_a_judge_that_says_one_thing_is_right_by_chance():
    gold = np.array([0] * 70 + [1] * 30)
    found = accuracy_floor(np.zeros(100), np.arange(100), gold)
    assert (found.mean, found.sd) == pytest.approx((0.7, 0.0))
    assert found.p is None
    informed = accuracy_floor(gold, np.arange(100), gold)
    assert informed.p < 1e-6


def test_chance_is_called_chance():
    rng = np.random.default_rng(8)
    p = []
    for _ in range(300):
        verdicts, gold = rng.integers(0, 4, size=(2, 80))
        p.append(accuracy_floor(verdicts, np.arange(80), gold).p)
    # 5 % of 300 is 15, with a spread of 4; half a step makes the test a little shy.
    assert 3 <= sum(one < 0.05 for one in p) <= 27


def test_the_floor_of_ranking_is_that_of_all_deals():
    scores, right = [0.9, 0.9, 0.5, 0.3, 0.2], [1, 0, 1, 0, 0]
    values = []
    for deal in permutations(scores):
        pairs = [
            (a > b) + (a == b) / 2
            for a, x in zip(deal, right, strict=True)
            for b, y in zip(deal, right, strict=True)
            if x and not y
        ]
        values.append(np.mean(pairs))
    found = ranking_floor([*scores, np.nan], [*right, 1])
    assert found.mean == pytest.approx(np.mean(values)) == 0.5
    assert found.sd == pytest.approx(np.std(values))


@pytest.mark.parametrize("replications", [1, 4])
def test_noise_is_no_ranking_however_often_it_is_asked(replications):
    rng = np.random.default_rng(3)
    found = []
    for _ in range(200):
        scores, right = rng.random(60), rng.random(60) < 0.6
        found.append(
            ranking_floor(
                np.repeat(scores, replications),
                np.repeat(right, replications),
                clusters_N=np.repeat(np.arange(60), replications),
            )
        )
    assert 3 <= sum(one.p < 0.05 for one in found) <= 20


def test_what_has_no_floor_has_none():
    assert accuracy_floor([0], [0], [0]).mean is None
    assert ranking_floor([0.5, 0.6], [1, 1]).mean is None
    assert ranking_floor([0.5, 0.5], [1, 0]).mean is None


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="questions_N must name one of 2"):
        accuracy_floor([0, 1], [0, 2], [0, 1])
    with pytest.raises(ValueError, match="clusters_N"):
        ranking_floor([0.5, 0.6], [1, 0], clusters_N=[1])
