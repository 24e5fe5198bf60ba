"""Swap tests: exchanges by hand, their levels on judges of known alpha, and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.comparison_levels import levels, tables
from judgerel_ray.stats import count_statistic, paired_difference, terms_difference
from judgerel_ray.stats.counts import QuestionTerms
from judgerel_ray.stats.intervals.judge_differences import question_kinds, swap_test
from judgerel_ray.stats.intervals.question_statistic import count_terms

ALPHA = count_statistic("krippendorff_alpha", n_values=2)


def pass_fail(seed, questions=30, replications=4, pass_rate=0.5):
    rng = np.random.default_rng(seed)
    chances = rng.beta(pass_rate, 1 - pass_rate, (2, questions))
    counts = rng.binomial(replications, chances).astype(float)
    return np.stack([counts, replications - counts], axis=-1)


def swapped(first, second, **options):
    return swap_test(ALPHA.terms(first), ALPHA.terms(second), ALPHA.value, **options)


def test_exchanges_by_hand():
    # Means 2 and 5: all three questions differ by 3, so errors are of the borrowed questions alone.
    first = np.array([[1.0, 1], [2, 1], [3, 1]])
    found = swap_test(first, first + np.array([3.0, 0]), lambda t: t[..., 0] / t[..., 1])
    # Each side's questions about the other's mean: -4, -3, -2 and 4, 3, 2, a third of each.
    assert found.error == pytest.approx(np.sqrt(2 / 3 * (2 * (16 + 9 + 4)) / 9))
    assert found.p(3.0) == 0.25
    assert found.method == "all 2^3 exchanges"
    # To exchange none or all of them is as far; the other six leave a difference of 1 either way.
    assert found.tails_S.tolist() == [1.0, 0.25]
    assert found.distances_S[1] == pytest.approx(3 / found.error)


def test_neither_the_order_of_questions_nor_that_of_sides_changes_p():
    first, second = pass_fail(1, 60)
    found = swapped(first, second)
    assert found.method == "4,999 random exchanges"
    order = np.random.default_rng(2).permutation(60)
    for other in (swapped(second, first), swapped(first[order], second[order])):
        assert abs(other.value) == pytest.approx(abs(found.value))
        assert other.p(other.value) == found.p(found.value)
        assert other.reach(0.95) == pytest.approx(found.reach(0.95))


def test_random_exchanges_come_near_all_of_them():
    first, second = pass_fail(5, 16)
    whole, drawn = swapped(first, second), swapped(first, second, draws=999)
    assert whole.method == "all 2^12 exchanges"
    assert drawn.method == "999 random exchanges"
    for difference in (0.1, 0.3, 0.5):
        p = whole.p(difference)
        # Three Monte-Carlo standard errors.
        assert abs(drawn.p(difference) - p) < 3 * np.sqrt(p * (1 - p) / 999) + 1e-3
    assert drawn.reach(0.9) == pytest.approx(whole.reach(0.9), rel=0.1)


def test_many_questions_come_near_students_t(monkeypatch):
    for pass_rate, questions in ((0.5, 600), (0.9, 2500)):
        first, second = pass_fail(3, questions, pass_rate=pass_rate)
        student = swapped(first, second)
        assert student.method == "Student's t"
        monkeypatch.setattr("judgerel_ray.stats.intervals.judge_differences._MANY_ALIKE", np.inf)
        found = swapped(first, second, draws=4999)
        monkeypatch.undo()
        assert found.method == "4,999 random exchanges"
        assert (found.value, found.error) == (student.value, student.error)
        for errors in (0.5, 1.5, 2.5):
            # Three Monte-Carlo standard errors and a little.
            p = student.p(errors * student.error)
            spread = 3 * np.sqrt(p * (1 - p) / 4999)
            assert found.p(errors * found.error) == pytest.approx(p, abs=spread + 1e-3)


def test_of_many_questions_the_error_is_the_plain_one():
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(2, 2500, 1))
    terms = np.concatenate([scores, np.ones_like(scores)], axis=-1)
    found = swap_test(terms[0], terms[1], lambda t: t[..., 0] / t[..., 1])
    apart = scores[1, :, 0] - scores[0, :, 0]
    assert found.method == "Student's t"
    # Two questions of the other side make next to nothing of 2,500.
    assert found.error == pytest.approx(apart.std(ddof=1) / 50, rel=2e-3)


def test_p_beyond_all_draws_is_small_enough_for_many_tests():
    first, second = pass_fail(2, 60)
    second[:50] = [[4, 0], [0, 4]] * 25
    found = swapped(first, second)
    distance = found.value / found.error
    assert found.method == "9,999 random exchanges"
    assert found.distances_S[-1] == pytest.approx(distance)
    assert found.scale >= 1
    assert found.p(found.value) == pytest.approx(
        min(1e-4, 2 * np.exp(-((distance / found.scale) ** 2) / 2))
    )
    assert found.p(1.5 * found.value) < found.p(found.value)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(5, 24), st.sampled_from([0.5, 0.9]))
@settings(max_examples=60, deadline=None)
def test_the_interval_excludes_0_exactly_where_p_is_below_its_level(seed, questions, pass_rate):
    first, second = pass_fail(seed, questions, 3, pass_rate)
    for confidence in (0.9, 0.95):
        found = paired_difference(first, second, ALPHA, confidence=confidence, draws=499)
        if found.low is not None:
            excluded = not found.low <= 0 <= found.high
            assert excluded == (found.p < round(1 - confidence, 12))


def test_a_side_that_exchanges_leave_without_a_value_has_no_interval():
    # One question each way on either side: to exchange one leaves a side with one verdict only.
    first, second = (np.tile([3.0, 0.0], (30, 1)) for _ in "ab")
    first[:2], second[2:4] = [0, 3], [[0, 3], [1, 2]]
    found = paired_difference(first, second, ALPHA)
    assert (found.low, found.high, found.undefined) == (None, None, "too_few_informative")
    assert found.value < 0
    assert found.p > 0.05
    assert found.few_informative


def test_a_few_questions_that_carry_a_number_are_flagged():
    scores = np.random.default_rng(1).normal(size=(2, 60))
    scores[0, :2] = 40, -40
    sides = [
        QuestionTerms(
            name="mean square", questions_C=np.arange(60), value=lambda t: t[..., 0] / t[..., 1],
            terms_CT=np.stack([one**2, np.ones(60)], axis=-1),
        )
        for one in scores
    ]  # fmt: skip
    assert terms_difference(*sides).few_informative
    assert not terms_difference(sides[1], replace(sides[1], terms_CT=sides[1].terms_CT[::-1].copy())
                                ).few_informative  # fmt: skip


def test_any_two_numbers_by_question_are_compared():
    first, second = pass_fail(1, 40)
    by_counts = paired_difference(first, second, ALPHA)
    sides = [count_terms(one, ALPHA) for one in (first, second)]
    by_terms = terms_difference(*sides, few_informative=by_counts.few_informative)
    assert by_terms == by_counts
    # Other questions, in another order: only the common ones count.
    more = QuestionTerms(
        name="krippendorff_alpha", value=ALPHA.value,
        questions_C=np.append(sides[1].questions_C[::-1], 99),
        terms_CT=np.concatenate([sides[1].terms_CT[::-1], [[1.0, 2, 2]]]),
    )  # fmt: skip
    assert terms_difference(sides[0], more) == terms_difference(*sides)
    assert terms_difference(sides[0], more).n_questions == 40


@pytest.mark.parametrize("name", ["percent_agreement", "fleiss_kappa", "gwet_ac1", "icc1"])
def test_other_coefficients_are_compared(name):
    first, second = pass_fail(1, 40)
    second[:30] = np.where(second[:30] >= [[3, 2]], 4, 0)  # all of a question's verdicts are one
    found = paired_difference(first, second, count_statistic(name, n_values=2))
    assert found.p < 0.05
    assert found.low > 0


def test_two_judges_of_one_law_are_not_told_apart_by_few_questions():
    """Of one law at 97/3 the jackknife gave -.6 with p .001, and no caution."""
    first, second = (np.tile([5.0, 0.0], (55, 1)) for _ in "ab")
    first[:3], second[3:6] = [[0, 5], [1, 4], [0, 5]], [[4, 1], [4, 1], [3, 2]]
    found = paired_difference(first, second, ALPHA)
    left_out = [ALPHA.terms(one).sum(axis=0) - ALPHA.terms(one) for one in (first, second)]
    apart = ALPHA.value(left_out[1]) - ALPHA.value(left_out[0])
    error = np.sqrt(54 / 55 * ((apart - apart.mean()) ** 2).sum())
    assert found.value < -0.6
    assert found.value / error < -3.4  # p .001 by Student's t
    assert found.p > 0.05
    assert found.few_informative


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bases", "questions", "replications", "before"),
    [
        (("90/10", "90/10"), 20, 5, 0.09),
        (("97/3", "97/3"), 55, 2, 0.07),
        (("50/50", "90/10"), 20, 2, 0.12),
        (("50/50", "97/3"), 55, 2, 0.15),
        (("five", "five"), 20, 5, 0.0),
    ],
)
def test_judges_of_equal_alpha_are_told_apart_at_the_level(bases, questions, replications, before):
    rng = np.random.default_rng([1, questions, replications])
    both = tables(bases, (0.5, 0.5), questions, replications, shared=False, runs=300, rng=rng)
    found = levels(*both, 0.0)
    assert found.before >= before  # by the jackknife, else there was nothing to mend
    assert found.now <= 0.07
    assert bases[0] != bases[1] or found.higher <= 0.07  # else agreement truly differs
    assert found.covered >= 0.93


@pytest.mark.slow
def test_different_judges_are_told_apart_as_often_as_before():
    rng = np.random.default_rng(8)
    both = tables(("50/50", "50/50"), (0.3, 0.6), 55, 5, shared=False, runs=150, rng=rng)
    found = levels(*both, 0.3)
    assert found.now > found.before - 0.05
    assert found.now > 0.75
    assert found.width < 1.05 * found.width_before


def mean_of(values):
    return QuestionTerms(
        name="mean", questions_C=np.arange(len(values)), value=lambda t: t[..., 0] / t[..., 1],
        terms_CT=np.stack([np.asarray(values, dtype=np.float64), np.ones(len(values))], axis=-1),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("questions", [20, 55])
def test_questions_of_ordinary_spread_are_not_few(questions):
    """Sums of fourth powers counted a third of them: 20 questions of pure noise were few."""
    flagged = [
        terms_difference(*map(mean_of, np.random.default_rng(seed).normal(size=(2, questions))))
        .few_informative
        for seed in range(40)
    ]  # fmt: skip
    assert sum(flagged) <= 2


def test_questions_that_all_say_the_same_are_not_few():
    # Each question of one side agrees, each of the other is split: none carries more than another.
    found = terms_difference(mean_of([1.0] * 20), mean_of([0.5] * 20))
    assert found.n_differing == 20
    assert not found.few_informative


@pytest.mark.parametrize(("n_odd", "few"), [(2, True), (4, True), (12, False)])
def test_a_few_odd_questions_carry_a_mean(n_odd, few):
    rng = np.random.default_rng(n_odd)
    first, second = rng.normal(size=(2, 80))
    second[:n_odd] += 25 * rng.choice([-1, 1], n_odd)
    assert terms_difference(mean_of(first), mean_of(second)).few_informative == few


def test_questions_that_sides_share_do_not_count_as_exchanged():
    first, second = np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [2.0], [1.0]])
    assert question_kinds(first, second).effective(lambda t: t[..., 0]) == pytest.approx(2.0)
