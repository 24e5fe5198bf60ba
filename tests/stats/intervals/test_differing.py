"""How often replies that should be the same differ, and the interval of that."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import clopper_pearson, count_statistic, jackknife_interval, measure
from judgerel_ray.stats.intervals.differing import (
    bounded_mean_interval,
    differing_replies,
    differing_requests,
)

counts_of = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=8)


def by_pairs(counts, clusters):
    """The share of pairs by walking over all of them, and the questions with any that differ."""
    shares, questions, differing = [], set(), set()
    for row, cluster in zip(counts, clusters, strict=True):
        replies = [value for value, n in enumerate(row) for _ in range(n)]
        pairs = [one != other for one, other in combinations(replies, 2)]
        if pairs:
            shares.append(sum(pairs) / len(pairs))
            questions.add(cluster)
            differing |= {cluster} if any(pairs) else set()
    return (sum(shares) / len(shares) if shares else None), len(questions), len(differing)


@given(counts_of, st.data())
def test_all_pairs_are_compared(counts, data):
    clusters = data.draw(st.lists(st.integers(0, 3), min_size=len(counts), max_size=len(counts)))
    found = differing_replies(counts, clusters_U=clusters)
    value, n, k = by_pairs(counts, clusters)
    assert (found.n_questions, found.n_differing) == (n, k)
    if value is None:
        assert found.pairs is None
        assert found.questions is None
        return
    assert found.pairs == pytest.approx(value)
    assert found.pairs == pytest.approx(
        measure(counts, count_statistic("flip_rate", n_values=3)).value
    )
    assert found.questions == k / n
    for ends, inside in (
        (found.pairs_interval, found.pairs),
        (found.questions_interval, found.questions),
    ):
        assert 0 <= ends.low <= inside <= ends.high <= 1
        assert ends.high > ends.low


@given(st.integers(1, 60), st.integers(2, 9), st.booleans())
def test_replies_all_alike_are_0_with_an_interval(n, replications, in_one_column):
    column = [replications] if in_one_column else [0, replications]
    found = differing_replies([column] * n)
    exact = clopper_pearson(0, n)
    assert (found.pairs, found.questions, found.n_differing) == (0.0, 0.0, 0)
    assert (found.pairs_interval.low, found.pairs_interval.high) == (0.0, pytest.approx(exact.high))
    assert found.questions_interval == exact


def test_nothing_asked_twice_is_no_number():
    for counts in ([[1, 0], [0, 1]], np.zeros((0, 2), dtype=int)):
        found = differing_replies(counts)
        assert (found.pairs, found.questions, found.n_units, found.n_replies) == (None, None, 0, 0)


def test_the_interval_is_students_where_enough_questions_differ_and_agree():
    counts = [[6, 2]] * 12 + [[8, 0]] * 30 + [[5, 3]] * 5
    found = differing_replies(counts)
    students = jackknife_interval(counts, count_statistic("flip_rate", n_values=2))
    assert found.pairs_interval.low == pytest.approx(students.low)
    assert found.pairs_interval.high == pytest.approx(students.high)
    few = differing_replies([[6, 2]] * 9 + [[8, 0]] * 30)
    assert few.pairs_interval.method == "Chernoff-Hoeffding over 39 questions"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9))
def test_requests_asked_twice_are_units_of_two_replies(questions):
    asked = [max(pair) for pair in questions]
    differing = [min(pair) for pair in questions]
    found = differing_requests(differing, asked)
    rows = [
        ([1, 1] if i < k else [2, 0], q)
        for q, (k, n) in enumerate(zip(differing, asked, strict=True))
        for i in range(n)
    ]
    table = [row for row, _ in rows] or np.zeros((0, 2), dtype=int)
    one_by_one = differing_replies(table, clusters_U=[q for _, q in rows])
    assert found.pairs == (None if one_by_one.pairs is None else pytest.approx(one_by_one.pairs))
    assert (found.n_units, found.n_questions, found.n_differing, found.n_replies) == (
        one_by_one.n_units, one_by_one.n_questions, one_by_one.n_differing, one_by_one.n_replies,
    )  # fmt: skip
    assert found.pairs_interval.low == pytest.approx(
        one_by_one.pairs_interval.low, nan_ok=True
    ) or (one_by_one.pairs_interval.low is None)


@given(st.floats(0, 1), st.floats(0.5, 500), st.floats(0.5, 0.99))
def test_ends_of_a_bounded_mean_hold_it_and_narrow_with_more(mean, n, confidence):
    found = bounded_mean_interval(mean, n, confidence=confidence)
    assert 0 <= found.low <= mean <= found.high <= 1
    more = bounded_mean_interval(mean, 2 * n, confidence=confidence)
    assert found.low <= more.low
    assert more.high <= found.high


def test_a_bounded_mean_by_hand():
    # At 0 the bound is n ln(1 / (1 - p)) = ln 40: p = 1 - 40^(-1/16).
    assert bounded_mean_interval(0.0, 16).high == pytest.approx(1 - 40 ** (-1 / 16))
    assert bounded_mean_interval(1.0, 16).low == pytest.approx(40 ** (-1 / 16))
    found = bounded_mean_interval(0.25, 16)
    for end in (found.low, found.high):
        divergence = 0.25 * np.log(0.25 / end) + 0.75 * np.log(0.75 / (1 - end))
        assert 16 * divergence == pytest.approx(np.log(40))


def test_the_interval_covers_few_that_differ():
    """Sixteen questions, a tenth of which waver: Student's interval often holds 0 alone."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        flips = np.where(rng.random(16) < 0.1, 0.3, 0.0)
        k = rng.binomial(8, flips)
        ends = differing_replies(np.stack([8 - k, k], axis=1)).pairs_interval
        held += ends.low <= 0.1 * 2 * 0.3 * 0.7 <= ends.high
    assert held >= 190


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: differing_replies([[1, -1]]), "differing_replies"),
        (lambda: differing_replies([[2]], clusters_U=[0, 1]), "clusters_U must have shape"),
        (lambda: differing_requests([2], [1]), "0 <= differing_Q <= asked_Q"),
        (lambda: differing_requests([0, 0], [1]), "0 <= differing_Q <= asked_Q"),
        (lambda: bounded_mean_interval(1.5, 3), "mean must be between 0 and 1"),
        (lambda: bounded_mean_interval(0.5, 0), "n must be above 0"),
        (lambda: bounded_mean_interval(0.5, 3, confidence=1), "confidence must be between"),
    ],
)
def test_what_is_no_count_is_refused(call, why):
    with pytest.raises(ValueError, match=why):
        call()
