"""Calibration: bins by hand, the error beside that of calibrated confidence, the Brier score."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats.selective.calibration import (
    brier_score,
    calibration_error,
    reliability_bins,
)

stated = st.lists(
    st.tuples(st.sampled_from([0.0, 0.3, 0.7, 0.75, 0.95, 1.0]), st.booleans()),
    min_size=1,
    max_size=30,
)


def _drawn(n, seed, *, replications=1):
    """Calibrated confidences of few distinct values; replications of a question right together."""
    rng = np.random.default_rng(seed)
    confidences = rng.choice([0.55, 0.7, 0.85, 0.95], size=n)
    right = rng.random(n) < confidences
    return (
        np.repeat(confidences, replications),
        np.repeat(right, replications),
        np.repeat(np.arange(n), replications),
    )


@given(stated, st.integers(1, 12), st.sampled_from(["width", "mass"]))
def test_the_error_is_the_weighted_mean_of_the_gaps(rows, n_bins, binning):
    confidences, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    bins = reliability_bins(confidences, right, n_bins=n_bins, binning=binning)
    assert sum(one.accuracy.n for one in bins) == len(rows)
    gaps = [one.accuracy.n * abs(one.accuracy.value - one.confidence) for one in bins]
    found = calibration_error(confidences, right, n_bins=n_bins, binning=binning)
    assert found.value == pytest.approx(sum(gaps) / len(rows))
    assert found.n_bins == len(bins) <= n_bins
    assert all(a.high < b.low for a, b in pairwise(bins))


def test_a_tenth_belongs_to_the_bin_it_ends():
    bins = reliability_bins([0.7, 0.3, 0.0, 0.1, 0.71], [True] * 5)
    assert [(one.low, one.high) for one in bins] == [
        (0.0, 0.1), (0.3, 0.3), (0.7, 0.7), (0.71, 0.71)
    ]  # fmt: skip


def test_equal_mass_parts_no_tie():
    confidences = np.repeat([0.5, 0.8, 0.9], [10, 80, 10])
    bins = reliability_bins(confidences, np.ones(100, dtype=bool), n_bins=4, binning="mass")
    assert [one.accuracy.n for one in bins] == [10, 80, 10]


def test_what_has_no_confidence_takes_no_part():
    found = calibration_error([0.9, np.nan], [True, False])
    assert (found.n, round(found.value, 6)) == (1, 0.1)
    assert calibration_error([np.nan], [True]).value is None
    assert brier_score([np.nan], [True]).undefined == "no_verdicts"


@pytest.mark.parametrize("replications", [1, 4])
def test_calibrated_confidence_lies_at_its_floor(replications):
    found = [
        calibration_error(c, r, clusters_N=q)
        for c, r, q in (_drawn(150, seed, replications=replications) for seed in range(60))
    ]
    values = [one.value for one in found]
    assert np.mean(values) == pytest.approx(np.mean([one.floor for one in found]), rel=0.1)
    assert np.std(values) == pytest.approx(np.mean([one.floor_sd for one in found]), rel=0.35)
    assert 0 < sum(one.p < 0.1 for one in found) < 15


def test_overconfidence_is_no_floor():
    confidences, right, _ = _drawn(300, 1)
    sure = calibration_error(np.minimum(1, confidences + 0.15), right)
    assert sure.p < 0.01
    assert sure.value > sure.floor + 4 * sure.floor_sd


@given(stated)
def test_brier_is_the_mean_square_and_its_floor_all_permutations(rows):
    confidences, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    found = brier_score(confidences, right)
    assert found.value == pytest.approx(np.mean((confidences - right) ** 2))
    shuffled = np.mean([(c - r) ** 2 for c in confidences for r in right])
    assert found.noise_floor == pytest.approx(shuffled)


def test_brier_counts_questions_not_replications():
    confidences, right, _ = _drawn(60, 3)
    once = brier_score(confidences, right)
    again = brier_score(
        np.repeat(confidences, 5), np.repeat(right, 5), clusters_N=np.repeat(np.arange(60), 5)
    )
    assert (again.low, again.high) == pytest.approx((once.low, once.high))


def test_mistakes_are_named():
    for function in (reliability_bins, calibration_error, brier_score):
        with pytest.raises(ValueError, match="in \\[0, 1\\], got 85"):
            function([85.0], [True])
        with pytest.raises(ValueError, match="one length"):
            function([0.5], [True, False])
        with pytest.raises(ValueError, match="clusters_N"):
            function([0.5], [True], clusters_N=[1, 2])
    for choice in ({"n_bins": 0}, {"binning": "quantile"}):
        with pytest.raises(ValueError, match="n_bins must be at least 1"):
            calibration_error([0.5], [True], **choice)
