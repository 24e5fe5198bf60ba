"""Planned standard errors against simulated ones, and budgets split by them."""

import numpy as np
import pytest

from judgerel_ray.stats import count_statistic, krippendorff_alpha
from judgerel_ray.stats.generalizability.dstudy import budget_splits
from judgerel_ray.stats.intervals.precision import AlphaPrecision, alpha_precision


@pytest.fixture(scope="module")
def planned():
    """Of judges with five equally frequent verdicts and a known alpha."""
    rng = np.random.default_rng(1)
    return {
        alpha: alpha_precision(rng.dirichlet(np.full(5, (1 / alpha - 1) / 5), 20_000))
        for alpha in (0.2, 0.5, 0.8)
    }


# Simulated standard errors of alpha from 2,000 judgments, by alpha and replications.
PRINTED = {
    (0.5, 2): 0.020, (0.5, 3): 0.018, (0.5, 5): 0.019, (0.5, 10): 0.024, (0.5, 20): 0.030,
    (0.5, 100): 0.062, (0.2, 5): 0.0135, (0.2, 100): 0.033, (0.8, 2): 0.015, (0.8, 100): 0.058,
}  # fmt: skip


@pytest.mark.parametrize(("alpha", "m"), PRINTED)
def test_planned_errors_are_near_simulated_ones(planned, alpha, m):
    assert planned[alpha].alpha == pytest.approx(alpha, abs=0.01)
    error = planned[alpha].standard_error(n_questions=2000 // m, n_replications=m)
    # First order over questions: up to a tenth low with few of them.
    assert error == pytest.approx(PRINTED[alpha, m], rel=0.11)


@pytest.mark.slow
def test_planned_errors_are_those_of_a_simulation_of_uneven_verdicts():
    rng = np.random.default_rng(2)
    shares = rng.dirichlet([1.2, 0.5, 0.3], 20_000)
    found = []
    for _ in range(400):
        drawn = shares[rng.integers(0, len(shares), 200)]
        counts = np.array([rng.multinomial(3, p) for p in drawn])
        found.append(krippendorff_alpha(counts).value)
    error = alpha_precision(shares).standard_error(n_questions=200, n_replications=3)
    assert error == pytest.approx(np.std(found), rel=0.12)  # three Monte-Carlo s.e.


def test_scores_are_planned_by_their_distances():
    rng = np.random.default_rng(3)
    values = np.array([1.0, 2.0, 3.0, 5.0])
    distances = (values[:, None] - values) ** 2
    shares = rng.dirichlet([0.6, 0.6, 0.6, 0.6], 20_000)
    statistic = count_statistic("krippendorff_alpha", n_values=4, values=values, level="interval")
    found = []
    for _ in range(400):
        drawn = shares[rng.integers(0, len(shares), 150)]
        counts = np.array([rng.multinomial(4, p) for p in drawn], dtype=float)
        found.append(float(statistic.value(statistic.terms(counts).sum(0))))
    planned = alpha_precision(shares, distances_VV=distances)
    assert planned.alpha == pytest.approx(np.mean(found), abs=0.01)
    error = planned.standard_error(n_questions=150, n_replications=4)
    assert error == pytest.approx(np.std(found), rel=0.12)


def test_units_of_one_question_are_no_independent_evidence():
    rng = np.random.default_rng(4)
    shares = rng.dirichlet(np.full(3, 0.5), 500)
    once = alpha_precision(shares)
    twice = alpha_precision(np.repeat(shares, 2, axis=0), clusters_U=np.repeat(np.arange(500), 2))
    assert twice.between == pytest.approx(once.between)
    assert twice.first == pytest.approx(once.first / 2)
    assert twice.second == pytest.approx(once.second / 2)


def test_the_width_that_was_asked_for_is_kept(planned):
    for m in (2, 5):
        n = planned[0.5].questions_for(0.1, n_replications=m)
        for questions, narrow in ((n, True), (n - 1, False)):
            error = planned[0.5].standard_error(n_questions=questions, n_replications=m)
            assert (2 * 1.965 * error <= 0.1 * 1.001) is narrow or abs(questions - n) == 1
        # 2 x 1.96 x sqrt(v / Q) = .1
        v = planned[0.5].standard_error(n_questions=1, n_replications=m) ** 2
        assert n == pytest.approx((2 * 1.96 / 0.1) ** 2 * v, rel=0.02)
    assert planned[0.5].questions_for(1e-9, n_replications=2) is None


def test_the_best_split_has_few_replications_and_a_dear_prompt_asks_for_more(planned):
    splits = budget_splits(planned[0.5], 2000)
    [best] = [one for one in splits if one.best]
    assert best.n_replications in (3, 4)
    assert best.width == min(one.width for one in splits)
    assert [one.n_questions * one.n_replications for one in splits] == [one.cost for one in splits]
    worst = splits[-1]
    assert worst.n_replications == 100
    assert 3 < worst.standard_error / best.standard_error < 4
    # A prompt of 500 tokens shared by replies of 20: questions are dear, replications cheap.
    [dear] = [
        one
        for one in budget_splits(planned[0.5], 1_000_000, per_question=500, per_judgment=20)
        if one.best
    ]
    assert dear.n_replications > 8
    assert dear.cost == dear.n_questions * (500 + 20 * dear.n_replications) <= 1_000_000


def test_only_the_questions_there_are_can_be_asked(planned):
    splits = budget_splits(planned[0.5], 2000, most_questions=50)
    assert max(one.n_questions for one in splits) == 50
    assert budget_splits(planned[0.5], 3) == ()


def test_mistakes_are_refused():
    one = AlphaPrecision(alpha=0.5, between=0.1, first=0.1, second=0.1)
    with pytest.raises(ValueError, match="n_replications >= 2"):
        one.standard_error(n_questions=5, n_replications=1)
    with pytest.raises(ValueError, match="width > 0"):
        one.questions_for(0, n_replications=2)
    with pytest.raises(ValueError, match="budget > 0"):
        budget_splits(one, 0)
    with pytest.raises(ValueError, match="two or more questions"):
        alpha_precision([[1.0, 0.0]])
    with pytest.raises(ValueError, match="more than one value"):
        alpha_precision([[1.0, 0.0], [1.0, 0.0]])


@pytest.mark.alike(3)
@pytest.mark.parametrize("per_question", [0.0, 3.7, 400.0])
@pytest.mark.parametrize("most_questions", [None, 30])
def test_the_best_split_is_the_best_of_all_numbers_of_replications(per_question, most_questions):
    for between, first, second in ((0.0004, 0.06, 0.2), (0.03, 0.001, 0.3), (0.2, 0.0, 0.01)):
        precise = AlphaPrecision(alpha=0.5, between=between, first=first, second=second)
        costs = {"per_question": per_question, "most_questions": most_questions}
        known = budget_splits(precise, 5000.0, **costs)
        tried = budget_splits(precise, 5000.0, replications=range(2, 2501), **costs)
        [best] = [one for one in known if one.best]
        assert best.width == min(one.width for one in tried)
        assert [one.n_replications for one in known] == sorted(
            {2, 3, 4, 5, 8, 10, 20, 50, 100} & {one.n_replications for one in tried}
            | {best.n_replications}
        )
