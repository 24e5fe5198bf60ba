"""Intervals of chosen panels and of cascades cover what is true of judges whose law is known."""

import numpy as np
import pytest

from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.panels.cascade import CascadeStages, best_cascades
from judgerel_ray.stats.panels.panel import mean_interval, panel_votes
from judgerel_ray.stats.panels.search import PanelPrices, search_panels

pytestmark = pytest.mark.slow
N_RUNS, N = 300, 150
SKILLS = np.array([0.45, 0.5, 0.55, 0.6, 0.62])


def drawn(rng, n):
    """Judges that err independently, and in part together: some questions are hard for all."""
    right = rng.integers(0, 4, n)
    hard = rng.random(n)[:, None] < 0.3
    knows = rng.random((n, SKILLS.size)) < np.where(hard, SKILLS / 3, SKILLS)
    return np.where(knows, right[:, None], rng.integers(0, 4, (n, SKILLS.size))), right


def test_held_out_accuracy_is_covered_and_in_sample_accuracy_is_not():
    votes, right = drawn(np.random.default_rng(0), 100_000)
    known = {}

    def truth(panel):
        if panel not in known:
            known[panel] = panel_votes(votes[:, list(panel)], right).credit_U.mean()
        return known[panel]

    prices = PanelPrices(needs_JP=np.eye(SKILLS.size, dtype=bool), prices_P=np.ones(SKILLS.size))
    covered, optimism = [], []
    fold = grouped_folds(np.arange(N), n_folds=5, seed=0)
    share = np.bincount(fold) / N
    for seed in range(1, N_RUNS + 1):
        mine, gold = drawn(np.random.default_rng(seed), N)
        [best] = search_panels(mine, gold, np.arange(N), prices, budgets=[3]).best
        true = sum(part * truth(panel) for part, panel in zip(share, best.by_fold, strict=True))
        ends = mean_interval(best.credit_Q)
        covered.append(ends.low <= true <= ends.high)
        optimism.append(best.in_sample - truth(best.members))
    assert 0.9 <= np.mean(covered) <= 0.98
    assert np.mean(optimism) > 0.02


def test_a_cascade_by_a_confidence_of_no_use_gains_nothing_over_chance():
    covered = []
    for seed in range(N_RUNS):
        rng = np.random.default_rng(seed)
        right = (rng.random((N, 2)) < [0.5, 0.8]).astype(float)
        stages = CascadeStages(
            confidence_UL=np.round(rng.random((N, 2)), 1), right_UL=right,
            spent_UL=np.tile([1.0, 10.0], (N, 1)), questions_U=np.arange(N),
        )  # fmt: skip
        [point] = best_cascades(stages, [6.0])
        ends = mean_interval(point.right_Q - point.random_Q, is_share=False)
        covered.append(ends.low <= 0 <= ends.high)
    assert 0.91 <= np.mean(covered) <= 0.99
