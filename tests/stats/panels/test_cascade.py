"""Cascades against asking one by one, and their honest worth against every threshold tried."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.panels.cascade import (
    CascadeStages,
    best_cascades,
    policy_grid,
    simulate_cascade,
)
from judgerel_ray.stats.panels.panel import panel_votes, question_means
from judgerel_ray.stats.panels.search import best_affordable, vote_methods

NAN = float("nan")


def drawn(seed, *, n=60, levels=3, questions=None):
    """Stages of which later ones are dearer and better, confidence telling something."""
    rng = np.random.default_rng(seed)
    right = (rng.random((n, levels)) < np.linspace(0.5, 0.9, levels)).astype(float)
    sure = np.round(0.5 + 0.2 * right + 0.3 * rng.random((n, levels)), 1)
    sure[rng.random((n, levels)) < 0.1] = NAN
    spent = rng.random((n, levels)) + 10.0 ** np.arange(levels)
    return CascadeStages(
        confidence_UL=sure, right_UL=right, spent_UL=spent,
        questions_U=np.arange(n) if questions is None else questions,
    )  # fmt: skip


def asked(stages, thresholds, unit):
    """One question by hand: who answers, whether right, and what it cost."""
    spent = 0.0
    last = stages.confidence_UL.shape[1] - 1
    for stage in range(last + 1):
        spent += stages.spent_UL[unit, stage]
        sure = stages.confidence_UL[unit, stage]
        needed = None if stage == last else thresholds[stage]
        if stage == last or needed == -np.inf or (not np.isnan(sure) and sure >= needed):
            return stage, stages.right_UL[unit, stage], spent
    raise AssertionError("someone answers")


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.lists(st.sampled_from([-np.inf, 0.5, 0.7, 0.9, np.inf]),
                                       min_size=2, max_size=2))  # fmt: skip
def test_everyone_is_asked_until_someone_is_sure(seed, thresholds):
    stages = drawn(seed, n=20)
    found = simulate_cascade(stages, thresholds)
    expected = [asked(stages, thresholds, unit) for unit in range(20)]
    assert found.stage_U.tolist() == [stage for stage, _, _ in expected]
    assert found.right_U.tolist() == [right for _, right, _ in expected]
    assert found.spent_U == pytest.approx([spent for _, _, spent in expected])


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31))
def test_costs_that_differ_by_rounding_alone_choose_the_same(seed):
    """The cheapest of equals was the one whose sum was rounded down: another at every reading."""
    stages = drawn(seed, n=20)
    prices = np.array([0.0003945, 0.0010986666666666667, 0.0018125])
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(3):
        noise = 1 + 1e-15 * rng.integers(-3, 4, stages.spent_UL.shape)
        noisy = replace(stages, spent_UL=prices * noise)
        found.append(best_cascades(noisy, [prices[0], prices[:2].sum(), prices.sum()]))
    for points in zip(*found, strict=True):
        assert len({point.thresholds for point in points}) == 1
        assert len({tuple(point.right_Q.tolist()) for point in points}) == 1


def test_who_states_no_confidence_passes_on_and_the_last_always_answers():
    stages = CascadeStages(
        confidence_UL=np.array([[NAN, NAN], [0.2, 0.1]]), right_UL=np.array([[1.0, 0.0]] * 2),
        spent_UL=np.ones((2, 2)), questions_U=np.arange(2),
    )  # fmt: skip
    assert simulate_cascade(stages, [0.0]).stage_U.tolist() == [1, 0]
    assert simulate_cascade(stages, [np.inf]).stage_U.tolist() == [1, 1]
    assert simulate_cascade(stages, [-np.inf]).stage_U.tolist() == [0, 0]


def test_thresholds_are_those_of_the_other_folds():
    rng = np.random.default_rng(2)
    questions = np.sort(np.r_[np.arange(40), rng.integers(0, 40, 25)])
    stages = drawn(9, n=65, levels=2, questions=questions)
    policies = policy_grid(stages.confidence_UL)
    outcomes = [simulate_cascade(stages, one) for one in policies]
    right = np.stack([question_means(one.right_U, questions) for one in outcomes])
    spent = np.stack([question_means(one.spent_U, questions) for one in outcomes])

    def best(inside, budget):
        fits = np.flatnonzero(spent[:, inside].mean(axis=1) <= budget)
        score = right[fits][:, inside].mean(axis=1)
        ties = fits[score >= score.max() - 1e-9]
        return ties[spent[ties][:, inside].mean(axis=1).argmin()]

    budgets = [3.0, 6.0, 20.0]
    fold = grouped_folds(np.arange(40), n_folds=4, seed=1)
    for point, budget in zip(
        best_cascades(stages, budgets, n_folds=4, seed=1), budgets, strict=True
    ):
        whole = best(np.ones(40, bool), budget)
        assert point.thresholds == policies[whole]
        assert point.in_sample == pytest.approx(right[whole].mean())
        assert point.in_sample_cost == pytest.approx(spent[whole].mean())
        assert point.in_sample_cost <= budget
        chosen = [best(fold != k, budget) for k in range(4)]
        assert point.n_alike == sum(place == whole for place in chosen)
        for k, place in enumerate(chosen):
            assert point.right_Q[fold == k] == pytest.approx(right[place][fold == k])
            assert point.spent_Q[fold == k] == pytest.approx(spent[place][fold == k])
        assert point.answered_L.sum() == pytest.approx(1.0)


def test_passing_on_at_random_is_what_confidence_that_tells_nothing_gives():
    rng = np.random.default_rng(4)
    n = 4000
    right = (rng.random((n, 2)) < [0.4, 0.9]).astype(float)
    stages = CascadeStages(
        confidence_UL=np.round(rng.random((n, 2)), 1), right_UL=right,
        spent_UL=np.tile([1.0, 10.0], (n, 1)), questions_U=np.arange(n),
    )  # fmt: skip
    [point] = best_cascades(stages, [6.0])
    difference = point.right_Q - point.random_Q
    assert abs(difference.mean()) < 3 * difference.std() / np.sqrt(n)
    assert point.right_Q.mean() == pytest.approx(0.65, abs=0.04)


def test_confidence_that_knows_buys_more_than_chance():
    rng = np.random.default_rng(5)
    n = 1000
    right = (rng.random((n, 2)) < [0.5, 0.9]).astype(float)
    sure = np.column_stack([np.where(right[:, 0] > 0, 0.9, 0.4), np.ones(n)])
    stages = CascadeStages(
        confidence_UL=sure, right_UL=right, spent_UL=np.tile([1.0, 10.0], (n, 1)),
        questions_U=np.arange(n),
    )  # fmt: skip
    [point] = best_cascades(stages, [6.5])
    assert point.thresholds == (0.9,)
    assert point.right_Q.mean() - point.random_Q.mean() > 0.15


def test_choosing_on_the_same_questions_looks_better_than_it_is():
    seen, honest = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        right = (rng.random((40, 2)) < 0.5).astype(float)
        stages = CascadeStages(
            confidence_UL=np.round(rng.random((40, 2)), 2), right_UL=right,
            spent_UL=np.ones((40, 2)), questions_U=np.arange(40),
        )  # fmt: skip
        [point] = best_cascades(stages, [2.0])
        seen.append(point.in_sample)
        honest.append(point.right_Q.mean())
    assert np.mean(seen) > 0.56
    assert abs(np.mean(honest) - 0.5) < 3 * np.std(honest) / np.sqrt(30)


def test_many_stages_have_thresholds_thinned_alike():
    rng = np.random.default_rng(6)
    grid = policy_grid(rng.random((500, 4)), most=1000)
    each = [sorted({one[stage] for one in grid}) for stage in range(3)]
    assert [len(one) for one in each] == [10, 10, 10]
    assert all((one[0], one[-1]) == (-np.inf, np.inf) for one in each)
    assert len(grid) == 1000


def test_a_budget_below_the_first_stage_is_what_that_costs():
    stages = drawn(3, levels=2)
    [point] = best_cascades(stages, [0.1])
    assert point.answered_L.tolist() == [1.0, 0.0]


def test_mistakes_of_shape_are_named():
    ones = np.ones((3, 2))
    with pytest.raises(ValueError, match="2 stages or more"):
        CascadeStages(confidence_UL=np.ones((3, 1)), right_UL=np.ones((3, 1)),
                      spent_UL=np.ones((3, 1)), questions_U=np.arange(3))  # fmt: skip
    with pytest.raises(ValueError, match="no cost below 0"):
        CascadeStages(confidence_UL=ones, right_UL=ones, spent_UL=-ones, questions_U=np.arange(3))
    good = CascadeStages(
        confidence_UL=ones, right_UL=ones, spent_UL=ones, questions_U=np.zeros(3, int)
    )
    with pytest.raises(ValueError, match="expected 1 thresholds"):
        simulate_cascade(good, [0.5, 0.5])
    with pytest.raises(ValueError, match="needs 2 questions"):
        best_cascades(good, [1.0])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31))
def test_methods_in_a_budget_are_chosen_by_other_folds(seed):
    rng = np.random.default_rng(seed)
    right, costs = rng.random((4, 12)).round(1), np.array([1.0, 2.0, 3.0, 9.0])
    found = best_affordable(right, costs, 3.0, n_folds=3, seed=seed)
    fold = grouped_folds(np.arange(12), n_folds=3, seed=seed)
    for k in range(3):
        score = right[:3, fold != k].sum(axis=1)
        best = int(np.flatnonzero(score >= score.max() - 1e-9)[0])
        assert found.right_Q[fold == k].tolist() == right[best, fold == k].tolist()
    assert best_affordable(right, costs, 0.5).place is None


def test_a_model_outvotes_itself_as_often_as_all_choices_say():
    votes = np.array([[0, 1, 1, 2], [1, 1, 0, -1]])
    found = vote_methods(votes, [1, 0])
    assert found[0].tolist() == [0.5, 0.25]
    assert found[3].tolist() == panel_votes(votes, [1, 0]).credit_U.tolist()
