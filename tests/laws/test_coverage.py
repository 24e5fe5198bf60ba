"""A few cells of docs/coverage.md, so that intervals and floors cannot lose what it promises."""

from __future__ import annotations

import numpy as np
import pytest

from bench.judges_of_known_truth import TRUTHS, Judge
from judgerel_ray.stats import (
    column_noise_floor,
    count_statistic,
    jackknife_interval,
    noise_floors,
    score_floor,
)

RUNS = 200
NAMES = ("krippendorff_alpha", "percent_agreement", "fleiss_kappa", "gwet_ac1", "brennan_prediger")


def tables(judge: Judge, questions: int, replications: int) -> np.ndarray:
    rng = np.random.default_rng([questions, replications, round(10 * judge.alpha)])
    return judge.counts(questions=questions, replications=replications, runs=RUNS, rng=rng)


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("alpha", "questions", "replications"), [(0.2, 20, 20), (0.5, 27, 5), (0.8, 100, 2)]
)
def test_intervals_cover(name, alpha, questions, replications):
    judge = Judge(base="uniform", alpha=alpha)
    statistic, truth = count_statistic(name, n_values=5), TRUTHS[name](judge, replications)
    found = [
        jackknife_interval(table, statistic) for table in tables(judge, questions, replications)
    ]
    covered = sum(one.low <= truth <= one.high for one in found)
    # .92 less two standard errors of 200 runs is .882.
    assert covered >= 0.882 * RUNS
    # An interval that holds everything holds nothing.
    assert np.mean([one.high - one.low for one in found]) < 0.45


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "icc1"])
@pytest.mark.parametrize(
    ("alpha", "questions", "replications"), [(0.0, 100, 2), (0.2, 20, 20), (0.5, 20, 100)]
)
def test_where_a_dominating_verdict_breaks_coverage_it_is_flagged(
    name, alpha, questions, replications
):
    judge, statistic = Judge(base="pass/fail", alpha=alpha), count_statistic(name, n_values=2)
    found = [
        jackknife_interval(table, statistic) for table in tables(judge, questions, replications)
    ]
    covered = sum(one.low <= alpha <= one.high for one in found)
    assert covered < 0.9 * RUNS  # else the flag has no reason
    assert sum(one.few_informative for one in found) >= 0.9 * RUNS


@pytest.mark.alike(3)
@pytest.mark.parametrize("base", ["uniform", "skewed", "pass/fail"])
def test_noise_is_called_noise(base):
    judge = Judge(base=base, alpha=0.0)
    statistics = [
        count_statistic(name, n_values=judge.rates.size) for name in (*TRUTHS, "flip_rate")
    ]
    floors = [
        noise_floors(table, statistics, n_permutations=39, seed=run)
        for run, table in enumerate(tables(judge, 27, 5)[:100])
    ]
    called = np.mean([[floor.p > 0.05 for floor in row] for row in floors], axis=0)
    # .93 less two standard errors of 100 runs.
    assert called.min() >= 0.879
    # And an exact p is no excuse for calling everything noise.
    assert called[list(TRUTHS).index("krippendorff_alpha")] < 1


def test_noise_of_items_is_called_noise():
    noise = np.random.default_rng(5).normal(size=(RUNS, 27, 6))
    ps = [column_noise_floor(one, "cronbach_alpha", n_permutations=99).p for one in noise]
    assert 0.894 * RUNS <= sum(p > 0.05 for p in ps) < 0.995 * RUNS


@pytest.mark.slow
def test_noise_of_scores_is_called_noise():
    # Heavy tails in units of very different size: no theory of normal scores holds here.
    unit = np.repeat(np.arange(27), [2] * 22 + [40] * 5)
    noise = np.random.default_rng(6).lognormal(sigma=2.0, size=(RUNS, unit.size))
    for name in ("icc1", "krippendorff_alpha"):
        ps = [score_floor(one, unit, name, n_permutations=99).p for one in noise]
        assert 0.894 * RUNS <= sum(p > 0.05 for p in ps) < 0.995 * RUNS
