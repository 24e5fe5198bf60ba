"""The floor of continuous scores: by permutations, and by moments where those are too dear."""

from __future__ import annotations

import numpy as np
import pytest

from judgerel_ray.stats import count_statistic, noise_floor, score_floor
from judgerel_ray.stats.null import noise, score_noise

NAMES = ("icc1", "krippendorff_alpha")
COARSE = 39
"""Permutations: p = (1 + k) / 40 is above .05 in 38 of 40, .95 as of 199 and of 999."""


def test_it_is_the_floor_of_counted_scores():
    scores = np.random.default_rng(9).integers(1, 6, size=(25, 4))
    counts = np.array([[np.sum(unit == v) for v in range(1, 6)] for unit in scores])
    for name in NAMES:
        statistic = count_statistic(name, n_values=5, values=range(1, 6), level="interval")
        counted = noise_floor(counts, statistic)
        summed = score_floor(scores.ravel(), np.repeat(np.arange(25), 4), name)
        assert summed.mean == pytest.approx(counted.mean, abs=0.02)
        assert summed.sd == pytest.approx(counted.sd, rel=0.1)
        assert summed.p == pytest.approx(counted.p, abs=0.05)


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sizes", [[4] * 300, [2] * 280 + [30] * 20])
@pytest.mark.parametrize("tailed", [False, True])
def test_moments_are_those_of_permutations(monkeypatch, name, sizes, tailed):
    rng = np.random.default_rng(len(sizes))
    unit = np.repeat(np.arange(300), sizes)
    scores = rng.exponential(size=unit.size) if tailed else rng.normal(size=unit.size)
    permuted = score_floor(scores, unit, name)
    monkeypatch.setattr(score_noise, "LABELS", 1000)
    monkeypatch.setattr(noise, "MOST_LABELS", 0)
    closed = score_floor(scores, unit, name)
    assert (permuted.n_permutations, closed.n_permutations) == (999, 0)
    # Monte-Carlo errors: sd / 32 of the mean, 2.5 % of the sd.
    assert closed.mean == pytest.approx(permuted.mean, abs=0.12 * permuted.sd)
    assert closed.sd == pytest.approx(permuted.sd, rel=0.1)
    if closed.p is None:  # a few large units, which the tails make skewed
        assert (tailed, len(sizes)) == (True, 300)
        assert sizes[0] == 2
    else:
        assert closed.p == pytest.approx(permuted.p, abs=0.06)


HEAVY = {
    "pareto": lambda rng, n: rng.pareto(1.5, size=n),
    "lognormal": lambda rng, n: rng.lognormal(sigma=2.5, size=n),
    "cauchy": lambda rng, n: rng.standard_cauchy(size=n),
    "t2": lambda rng, n: rng.standard_t(2, size=n),
    "sentinel": lambda rng, n: np.where(rng.random(n) < 2e-4, 999.0, rng.normal(size=n)),
    # No skewness at all: only the fourth moment tells.
    "sentinels": lambda rng, n: np.where(
        rng.permutation(n) < 6, np.tile([999.0, -999.0], n // 2), rng.normal(size=n)
    ),
}


@pytest.mark.alike(5)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", HEAVY)
def test_heavy_tails_are_permuted_or_have_no_p(monkeypatch, name, kind):
    monkeypatch.setattr(score_noise, "LABELS", 199)
    scores, unit = HEAVY[kind](np.random.default_rng(5), 20_000), np.repeat(np.arange(4000), 5)
    permuted = score_floor(scores, unit, name)
    assert (permuted.n_permutations, permuted.method) == (
        199,
        "199 random permutations of the scores, two-sided",
    )
    monkeypatch.setattr(noise, "MOST_LABELS", 0)
    closed = score_floor(scores, unit, name)
    assert (closed.p, closed.n_permutations) == (None, 0)
    assert closed.method.endswith("; no p: too skewed to tell it, too many to permute")
    assert closed.mean == pytest.approx(permuted.mean, abs=0.5 * closed.sd)
    normal = score_floor(np.random.default_rng(1).normal(size=20_000), unit, name)
    assert (normal.p is not None, normal.n_permutations) == (True, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", HEAVY)
@pytest.mark.parametrize("sizes", [[5] * 400, [2] * 900 + [40] * 5])
def test_noise_of_any_shape_is_called_noise(monkeypatch, kind, sizes):
    # As of 100,000 scores and more.
    monkeypatch.setattr(score_noise, "LABELS", 199)
    rng, unit = np.random.default_rng(3), np.repeat(np.arange(len(sizes)), sizes)
    drawn = [HEAVY[kind](rng, unit.size) for _ in range(60)]
    drawn = [one for one in drawn if np.ptp(one) > 0]
    for name in NAMES:
        called = np.mean(
            [score_floor(one, unit, name, n_permutations=COARSE).p > 0.05 for one in drawn]
        )
        # .95 less 3.2 standard errors: 24 comparisons.
        assert called >= 0.86


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_heavy_tails_of_many_scores_are_called_noise(monkeypatch, sigma):
    # Moments where they tell, permutations where tails skew them: as of 100,000 scores and more.
    monkeypatch.setattr(score_noise, "LABELS", 199 * 3000)
    unit = np.repeat(np.arange(1020), [2] * 1000 + [100] * 20)
    draws = np.random.default_rng(8).lognormal(sigma=sigma, size=(80, unit.size))
    for name in NAMES:
        called = sum(score_floor(one, unit, name, n_permutations=COARSE).p > 0.05 for one in draws)
        # .95 less two and a half standard errors.
        assert called >= 0.889 * 80


def test_neither_order_nor_scale_matters():
    rng = np.random.default_rng(1)
    scores, unit = rng.normal(size=300), rng.integers(0, 40, size=300)
    first = score_floor(scores, unit)
    order = rng.permutation(300)
    assert score_floor(scores[order], unit[order]) == first
    scaled = score_floor(1e6 + 1e4 * scores, unit)
    assert (scaled.p, scaled.n_permutations) == (first.p, first.n_permutations)
    assert scaled.mean == pytest.approx(first.mean, abs=1e-9)
    assert score_floor(scores, unit, seed=1) != first


def test_missing_scores_and_units_of_one_take_no_part():
    rng = np.random.default_rng(2)
    scores, unit = rng.normal(size=60), np.repeat(np.arange(20), 3)
    more = np.concatenate([scores, [50.0, np.nan, np.nan]])
    assert score_floor(more, np.concatenate([unit, [20, 21, 3]])) == score_floor(scores, unit)


def test_what_has_no_value_has_no_floor():
    assert score_floor([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1]).p is None
    assert score_floor([1.0, 2.0], [0, 0]).p is None
    assert score_floor([], []).p is None


@pytest.mark.parametrize(
    ("scores", "unit", "n", "what"),
    [
        ([1.0, 2.0], [0], 9, "one length"),
        ([1.0, np.inf], [0, 0], 9, "finite"),
        ([1.0, 2.0], [0, -1], 9, "from 0 on"),
        ([1.0, 2.0], [0, 0], 0, "at least 1"),
    ],
)
def test_what_are_no_scores_is_refused(scores, unit, n, what):
    with pytest.raises(ValueError, match=what):
        score_floor(scores, unit, n_permutations=n)
