"""Intervals of ratings cover what is true of a judge whose latent score and noise are known."""

from __future__ import annotations

import numpy as np
import pytest

from bench import rating_truths as truths
from bench.rating_coverage import own_interval
from bench.rating_truths import SCALES, RatingJudge
from judgerel_ray.stats import (
    SCALE_CASES,
    counts_from_ratings,
    disattenuated_alpha,
    inter_scale_alpha,
    inter_scale_interval,
    krippendorff_alpha,
    quantisation_ceiling,
    reference_agreement,
    scale_ratings,
    scale_shift,
)

pytestmark = pytest.mark.slow

RUNS = 200
ITEMS = 60


def asked(judge: RatingJudge, *, items: int, rng: np.random.Generator, replications: int = 5):
    latent = rng.uniform(size=items)
    return latent, {
        name: judge.replies(latent, scale, replications=replications, rng=rng)
        for name, scale in SCALES.items()
    }


def rated(scores, name: str):
    chosen = SCALE_CASES[name]
    return scale_ratings(
        [scores[one] for one in chosen.scales],
        ranges=[(SCALES[one].lowest, SCALES[one].highest) for one in chosen.scales],
        mapping=chosen.mapping, level=chosen.level, tie=chosen.tie,
    )  # fmt: skip


@pytest.mark.parametrize("noise", [0.05, 0.2])
def test_truths_are_what_brute_force_finds(noise):
    judge = RatingJudge(noise=noise)
    rng = np.random.default_rng(1)
    latent, scores = asked(judge, items=40_000, rng=rng, replications=3)
    for name, scale in SCALES.items():
        counts, values = counts_from_ratings(scores[name])
        found = krippendorff_alpha(counts, values=values, level=scale.level).value
        assert truths.consistency(judge, scale) == pytest.approx(found, abs=0.01)
    for name in SCALE_CASES:
        ratings = rated(scores, name)
        assert truths.case(judge, name) == pytest.approx(inter_scale_alpha(ratings).value, abs=0.01)
        assert truths.disattenuated(judge, name) == pytest.approx(
            disattenuated_alpha(ratings).value, abs=0.01
        )
    found = scale_shift(rated(scores, "lee2025_case2")).value
    assert truths.shift(judge, SCALES["points5"], SCALES["likert5"]) == pytest.approx(
        found, abs=0.005
    )
    agreement = reference_agreement(scores["points5"], latent)
    for averaged, one in ((1, agreement.single), (3, agreement.averaged)):
        expected = truths.pearson(judge, SCALES["points5"], averaged=averaged)
        assert expected == pytest.approx(one.value, abs=0.005)


def test_without_noise_the_truth_is_the_ceiling():
    judge = RatingJudge(noise=1e-3)
    ceiling = quantisation_ceiling([(1, 5), (1, 10)]).value
    assert truths.case(judge, "lee2025_case1") == pytest.approx(ceiling, abs=2e-3)


@pytest.mark.parametrize("noise", [0.05, 0.15, 0.3])
def test_self_consistency_is_covered_on_every_scale(noise):
    judge, rng = RatingJudge(noise=noise), np.random.default_rng([7, round(100 * noise)])
    runs = [asked(judge, items=ITEMS, rng=rng)[1] for _ in range(RUNS)]
    for name, scale in SCALES.items():
        truth = truths.consistency(judge, scale)
        found = [own_interval(scores[name], name) for scores in runs]
        covered = [one.low <= truth <= one.high for one in found if one.low is not None]
        # .91 less two standard errors of 200 runs.
        assert np.mean(covered) >= 0.87, name
        if name == "binary" and noise == 0.05:  # few items are ever split: it says so
            assert np.mean([one.few_informative for one in found]) > 0.5
        elif name != "binary":
            assert len(covered) == RUNS


@pytest.mark.parametrize("name", SCALE_CASES)
@pytest.mark.parametrize("noise", [0.15, 0.3])
def test_inter_scale_alpha_is_covered(name, noise):
    judge, rng = RatingJudge(noise=noise), np.random.default_rng([8, round(100 * noise)])
    truth = truths.case(judge, name)
    found = [
        inter_scale_interval(rated(asked(judge, items=ITEMS, rng=rng)[1], name))
        for _ in range(RUNS)
    ]
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.89
    assert np.mean([one.high - one.low for one in found]) < 0.25


def test_the_gain_of_averaging_is_covered():
    judge, rng = RatingJudge(noise=0.2), np.random.default_rng(9)
    one, five = (truths.pearson(judge, SCALES["points5"], averaged=k) for k in (1, 5))
    covered = 0
    for _ in range(RUNS):
        latent, scores = asked(judge, items=ITEMS, rng=rng)
        gain = reference_agreement(scores["points5"], latent).gain
        covered += gain.low <= five - one <= gain.high
    assert covered >= 0.89 * RUNS
