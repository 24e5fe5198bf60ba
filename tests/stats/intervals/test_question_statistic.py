"""Numbers by question: left out, weighted, combined."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from judgerel_ray.stats import count_statistic, count_terms, jackknife_interval, mean_of
from judgerel_ray.stats.intervals.ends import jackknife_error
from judgerel_ray.stats.intervals.interval import student_interval
from judgerel_ray.stats.intervals.paired import (
    estimate_by_question,
    left_out_difference,
    left_out_interval,
)
from judgerel_ray.stats.intervals.question_statistic import mean_terms, whole

mean = partial(mean_terms, "mean")

ALPHA = count_statistic("krippendorff_alpha", n_values=3)


def test_counts_by_question_give_the_shipped_interval():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(4, [0.5, 0.3, 0.2], size=40)
    counts[3] = [1, 0, 0]  # one rating is no pair
    questions = rng.permutation(np.repeat(np.arange(20) * 7, 2))
    terms = count_terms(counts, ALPHA, questions_U=questions)
    found = student_interval(whole(terms), terms.left_out(), 0.95, chance_corrected=True)
    expected = jackknife_interval(counts, ALPHA, clusters_U=questions)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert terms.questions_C.tolist() == sorted(set(questions))


def test_questions_without_pairs_take_no_part():
    terms = count_terms([[2, 0, 0], [1, 0, 0], [0, 2, 0]], ALPHA, questions_U=["b", "x", "a"])
    assert terms.questions_C.tolist() == ["a", "b"]
    assert whole(count_terms(np.zeros((0, 3)), ALPHA)) != whole(terms)
    assert np.isnan(whole(count_terms(np.zeros((0, 3)), ALPHA)))


def test_a_mean_of_parts_leaves_a_question_out_of_those_that_have_it():
    first, second = mean([1, 2, 6], ["a", "b", "c"]), mean([10, 20], ["b", "d"])
    both = mean_of("both", [first, second])
    assert both.questions_C.tolist() == ["a", "b", "c", "d"]
    assert whole(both) == 9.0
    # Without a: (4 + 15) / 2; b: (3.5 + 20) / 2; c: (1.5 + 15) / 2; d: (3 + 10) / 2.
    assert both.left_out().tolist() == [9.5, 11.75, 8.25, 6.5]
    assert both.at(np.array([[0.0, 1, 1, 1]])).tolist() == [9.5]


def test_the_interval_of_a_mean_is_students():
    numbers = [1.0, 4.0, 2.0, 9.0]
    error = np.std(numbers, ddof=1) / 2
    assert jackknife_error(mean(numbers).left_out()) == pytest.approx(error)
    found = left_out_interval(mean(numbers))
    assert found.high - 4 == pytest.approx(3.182446 * error, abs=1e-5)
    assert (found.n_questions, found.few_informative) == (4, True)


def test_fishers_ends_stay_within_one():
    found = left_out_interval(mean([0.9, 0.99, 0.5]), scale="fisher")
    assert -1 < found.low < 0.5 < found.high < 1
    assert found.method.endswith("Fisher's z")


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [([], "undefined"), ([1], "too_few_units"), ([2, 2, 2], "no_spread")],
)
def test_what_has_no_interval_says_why(numbers, reason):
    found = estimate_by_question(
        mean(numbers), undefined=None, unit="1", estimator="mean", n_units=len(numbers)
    ) if numbers else left_out_interval(mean(numbers))  # fmt: skip
    assert getattr(found, "no_interval", None) == reason or found.undefined == reason


def test_a_perfect_correlation_has_no_spread_on_fishers_scale():
    assert left_out_interval(mean([0.5, 1.5]), scale="fisher").undefined == "no_spread"


def test_a_difference_is_that_of_pairs():
    one, two = np.array([1.0, 2, 4, 3]), np.array([2.0, 2, 5, 7])
    found = left_out_difference("mean", mean(one), mean(two))
    error = (two - one).std(ddof=1) / 2
    assert (found.first, found.second, found.value) == (2.5, 4.0, 1.5)
    assert found.standard_error == pytest.approx(error)
    assert found.high - found.low == pytest.approx(2 * 3.182446 * error, abs=1e-5)
    assert left_out_difference("mean", mean(one), mean(one + 1)).undefined == "no_spread"
    assert left_out_difference("mean", mean([]), mean([])).undefined == "undefined_first"


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: count_terms([[1, 0, 0]], ALPHA, questions_U=[1, 2]), "shape"),
        (lambda: mean_of("x", []), "at least one"),
        (lambda: left_out_interval(mean([1, 2]), confidence=0), "confidence"),
        (lambda: left_out_interval(mean([1, 2]), scale="log"), "plain or fisher"),
        (lambda: left_out_difference("x", mean([1]), mean([1, 2])), "same questions"),
    ],
)
def test_mistakes_are_refused(call, what):
    with pytest.raises(ValueError, match=what):
        call()
