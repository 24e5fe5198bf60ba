"""Paired accuracy: the table of agreement by hand, and how often the interval holds."""

from __future__ import annotations

import numpy as np
import pytest

from judgerel_ray.stats import mcnemar_exact
from judgerel_ray.stats.selective.systems import paired_accuracy


def test_the_four_kinds_of_questions():
    found = paired_accuracy([1, 1, 1, 0, 0, 0, 0], [1, 0, 0, 1, 1, 1, 0])
    assert (found.both, found.first_only, found.second_only, found.neither) == (1, 2, 3, 1)
    assert found.difference == pytest.approx(1 / 7)
    assert found.p == mcnemar_exact(2, 3)


def test_published_counts_are_significant_or_not_by_the_pairs():
    # 431 against 399 of 600: net 32. Of 180 questions that differ it is beyond chance, of 400 not.
    few = paired_accuracy([1] * 74 + [0] * 106 + [1] * 325 + [0] * 95,
                          [0] * 74 + [1] * 106 + [1] * 325 + [0] * 95)  # fmt: skip
    assert (few.first_only, few.second_only) == (74, 106)
    assert few.p == pytest.approx(0.021, abs=5e-4)
    many = mcnemar_exact(184, 216)
    assert many > 0.1


def test_several_answers_a_question_go_by_question():
    rng = np.random.default_rng(6)
    first, second = rng.integers(0, 4, size=(2, 50)) / 3
    found = paired_accuracy(first, second)
    assert (found.both, found.method) == (None, "t over questions")
    assert found.low < found.difference < found.high
    same = paired_accuracy(first, first)
    assert (same.difference, same.low, same.p) == (0.0, None, None)


def test_without_a_difference_there_are_ends_still():
    found = paired_accuracy([1, 1, 0], [1, 1, 0])
    assert (found.difference, found.p) == (0.0, 1.0)
    assert found.low == pytest.approx(-found.high)
    assert found.high > 0
    assert paired_accuracy([], []).difference is None


@pytest.mark.parametrize("n", [30, 300])
def test_coverage_of_the_interval(n):
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(400):
        kind = rng.choice(4, size=n, p=[0.5, 0.1, 0.2, 0.2])  # both, first, second, neither
        found = paired_accuracy(kind <= 1, (kind == 0) | (kind == 2))
        held += found.low <= 0.1 <= found.high
    assert 0.92 <= held / 400 <= 0.985


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="one length"):
        paired_accuracy([1], [1, 0])
    with pytest.raises(ValueError, match="shares must be"):
        paired_accuracy([2], [1])
    with pytest.raises(ValueError, match="confidence"):
        paired_accuracy([1], [1], confidence=0)
