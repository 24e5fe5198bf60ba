"""Two judges on the same questions: exchanged where that means something, else by pseudo-values."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

from judgerel_ray.stats import count_statistic, count_terms, mean_of, rank_judges
from judgerel_ray.stats.counts import QuestionTerms
from judgerel_ray.stats.intervals import judge_differences
from judgerel_ray.stats.intervals.judge_differences import judge_difference, swap_test
from judgerel_ray.stats.intervals.question_statistic import Remembered, mean_terms, whole

mean = partial(mean_terms, "mean")

ALPHA = count_statistic("krippendorff_alpha", n_values=2)


def passes(rng, n, base, alpha=0.5, m=5, statistic=ALPHA):
    shape = (1 - alpha) / alpha
    passed = rng.binomial(m, rng.beta(base * shape, (1 - base) * shape, n))
    return count_terms(np.stack([passed, m - passed], axis=1), statistic)


def test_of_means_it_is_the_paired_t_test_where_questions_are_evenly_spread():
    rng = np.random.default_rng(3)
    first, second = rng.uniform(size=(2, 40))
    found = judge_difference(mean(first), mean(second))
    assert found.p == pytest.approx(ttest_rel(first, second).pvalue)
    assert not found.few


def test_few_questions_that_decide_leave_few_degrees_of_freedom():
    # Four of a hundred differ. Their kurtosis is 23.04, so t = 2.03 has 200 / 22.04 degrees.
    first, second = np.zeros(100), np.where(np.arange(100) < 4, 1.0, 0.0)
    found = judge_difference(mean(first), mean(second))
    assert found.p == pytest.approx(2 * t.sf(0.04 / second.std(ddof=1) * 10, 200 / 22.0417), 1e-4)
    assert found.few
    assert ttest_rel(first, second).pvalue < 0.05 < found.p


def test_coefficients_of_one_statistic_are_exchanged():
    rng = np.random.default_rng(5)
    first, second = (passes(rng, 30, 0.8, alpha) for alpha in (0.3, 0.7))
    test = swap_test(first.terms_CT, second.terms_CT, first.value, draws=1999)
    assert judge_difference(first, second).p == test.p(test.value)
    # A mean of one cell is that cell, and values computed once are the same values.
    alone = [mean_of("m", [Remembered(of=one).of]) for one in (first, second)]
    assert judge_difference(*map(lambda one: Remembered(of=one), alone)).p == test.p(test.value)


def test_what_may_not_be_exchanged_is_not():
    rng = np.random.default_rng(6)
    other = count_statistic("krippendorff_alpha", n_values=2)
    first, second = passes(rng, 60, 0.5, 0.4), passes(rng, 60, 0.5, 0.6, statistic=other)
    apart, exchanged = judge_difference(first, second), judge_difference(
        first, QuestionTerms(
            name="alpha", questions_C=second.questions_C, terms_CT=second.terms_CT,
            value=ALPHA.value, layout=ALPHA,
        ),
    )  # fmt: skip
    assert apart.p != exchanged.p
    assert apart.p == pytest.approx(exchanged.p, abs=0.05)
    agreement = count_statistic("percent_agreement", n_values=2)
    assert passes(rng, 9, 0.5, statistic=agreement).layout is None


def test_a_question_that_one_judge_lacks_is_exchanged_too():
    rng = np.random.default_rng(7)
    first, second = (passes(rng, 30, 0.5, alpha) for alpha in (0.3, 0.7))
    less = QuestionTerms(
        name="alpha", questions_C=second.questions_C[5:], terms_CT=second.terms_CT[5:],
        value=second.value, layout=ALPHA,
    )  # fmt: skip
    filled = np.concatenate([np.zeros((5, second.terms_CT.shape[1])), second.terms_CT[5:]])
    test = swap_test(first.terms_CT, filled, first.value, draws=1999)
    assert test.value == pytest.approx(whole(less) - whole(first))
    assert judge_difference(first, less).p == test.p(test.value)


def test_the_mean_of_several_cells_is_exchanged_as_one():
    rng = np.random.default_rng(8)
    judges = [[passes(rng, 40, base, alpha) for base in (0.5, 0.7)] for alpha in (0.3, 0.7)]
    first, second = (mean_of("m", cells) for cells in judges)
    found = judge_difference(first, second)
    sides = [np.concatenate([cell.terms_CT for cell in cells], axis=1) for cells in judges]
    width = sides[0].shape[1] // 2
    test = swap_test(
        *sides, lambda t: (ALPHA.value(t[..., :width]) + ALPHA.value(t[..., width:])) / 2,
        draws=1999,
    )  # fmt: skip
    assert test.value == pytest.approx(whole(second) - whole(first))
    assert found.p == test.p(test.value) < 0.2


def test_exchanges_are_kept_for_what_they_may_change(monkeypatch):
    rng = np.random.default_rng(13)
    monkeypatch.setattr(judge_differences, "swap_test", None)  # would raise
    alike = [passes(rng, 30, 0.5) for _ in "ab"]
    assert judge_difference(*alike).p > 0.2
    apart = [passes(rng, 300, 0.5, alpha) for alpha in (0.2, 0.8)]
    assert judge_difference(*apart).p < 1e-6
    many = [passes(rng, 401, 0.5, alpha) for alpha in (0.48, 0.52)]
    assert judge_difference(*many).p is not None


def test_judges_that_no_question_tells_apart():
    same = passes(np.random.default_rng(9), 20, 0.5)
    assert judge_difference(same, same).p == 1.0
    numbers = np.random.default_rng(9).uniform(size=12)
    assert judge_difference(mean(numbers), mean(numbers)).p == 1.0
    # Better by the same in each of twelve questions: as sure as twelve tosses.
    assert judge_difference(mean(numbers), mean(numbers + 0.5)).p == 0.5**11


def test_a_judge_that_hangs_on_one_question_is_not_told_from_others(hangs_on_one_question):
    found = judge_difference(hangs_on_one_question, mean(np.arange(30.0)))
    assert (found.p, found.few) == (None, True)


@pytest.mark.slow
def test_equal_judges_are_seldom_wrongly_placed():
    rng = np.random.default_rng(11)
    placed = given = 0
    for run in range(60):
        judges = [passes(rng, 20, 0.9) for _ in range(5)]
        found = rank_judges(list("abcde"), {"m": judges}, n_resamples=100, seed=run).ranks
        n = sum(one.value is not None for one in found)
        told = [one for one in found if one.low is not None]
        placed += sum(one.low > 1 or one.high < n for one in told)
        given += len(told)
    assert given > 200
    # By the largest resampled difference it was .25; these judges are worth about 100.
    assert placed / given <= 0.05 + 2 * 0.02


def test_judges_that_differ_are_told_apart():
    rng = np.random.default_rng(12)
    judges = [passes(rng, 200, 0.7, alpha) for alpha in (0.1, 0.5, 0.9)]
    found = rank_judges(list("abc"), {"m": judges}, n_resamples=50).ranks
    assert [(one.low, one.high) for one in found] == [(3, 3), (2, 2), (1, 1)]
    few = [passes(rng, 8, 0.5, alpha) for alpha in (0.3, 0.9)]
    assert all(one.few for one in rank_judges(["a", "b"], {"m": few}, n_resamples=50).ranks)
