"""Errors among the accepted: against the plain curve, and how often intervals and bands hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import acceptance_curve
from judgerel_ray.stats.selective.selective import accepted_errors

scored = st.lists(
    st.tuples(st.sampled_from([0.1, 0.4, 0.5, 0.9, float("nan")]), st.booleans()),
    min_size=1,
    max_size=14,
)


@given(scored)
def test_it_is_the_acceptance_curve_with_both_kinds_of_ends(rows):
    scores, right = np.array([s for s, _ in rows]), np.array([r for _, r in rows])
    found = accepted_errors(scores, right)
    plain = acceptance_curve(scores, right)
    band = acceptance_curve(scores, right, simultaneous=True)
    assert found.thresholds_T.tolist() == plain.thresholds_T.tolist()
    assert found.error_T.tolist() == plain.error_T.tolist()
    assert found.low_T == pytest.approx(plain.low_T)
    assert found.band_high_T == pytest.approx(band.high_T)
    assert found.n == len(rows)


def test_thresholds_are_thinned_by_acceptance_alone():
    rng = np.random.default_rng(0)
    scores, right = rng.random(500), rng.random(500) < 0.5
    found = accepted_errors(scores, right, most=10)
    assert found.n_accepted_T.tolist() == list(range(50, 501, 50))
    turned = accepted_errors(scores, ~right, most=10)
    assert found.thresholds_T.tolist() == turned.thresholds_T.tolist()


def test_replications_do_not_narrow_the_interval():
    rng = np.random.default_rng(1)
    scores, right = rng.choice([0.5, 0.8, 0.9], 90), rng.random(90) < 0.6
    once = accepted_errors(scores, right)
    often = accepted_errors(
        np.repeat(scores, 6), np.repeat(right, 6), clusters_N=np.repeat(np.arange(90), 6)
    )
    assert often.method == "by question"
    width, wide = once.high_T - once.low_T, often.high_T - often.low_T
    assert wide == pytest.approx(width, rel=0.12)


def test_a_band_is_named_by_its_code_and_says_how_far_it_is_off():
    found = accepted_errors([0.9, 0.5], [True, False], band="dkw")
    assert (found.band, found.off) == ("dkw", pytest.approx(np.log(80) ** 0.5 / 2))
    plain = accepted_errors([0.9, 0.5], [True, False])
    assert (plain.band, plain.off) == ("bonferroni", None)


def test_nothing_accepted_is_an_empty_curve():
    found = accepted_errors([np.nan, np.nan], [True, False])
    assert (found.thresholds_T.size, found.n) == (0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("band", ["bonferroni", "dkw"])
def test_the_band_holds_at_all_thresholds_together(band):
    rng = np.random.default_rng(5)
    levels = np.array([0.5, 0.6, 0.7, 0.8, 0.9])
    accuracy = np.array([0.4, 0.5, 0.65, 0.7, 0.9])
    truth = 1 - np.cumsum(accuracy[::-1]) / np.arange(1, 6)  # of equally frequent scores
    together = 0
    for _ in range(300):
        place = rng.integers(0, 5, size=150)
        found = accepted_errors(levels[place], rng.random(150) < accuracy[place], band=band)
        together += bool(((found.band_low_T <= truth) & (truth <= found.band_high_T)).all())
    assert together / 300 >= 0.93


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="one length"):
        accepted_errors([0.5], [True, False])
    with pytest.raises(ValueError, match="clusters_N"):
        accepted_errors([0.5], [True], clusters_N=[1, 2])
    with pytest.raises(ValueError, match="band dkw needs one judgment"):
        accepted_errors([0.5, 0.6], [True, True], clusters_N=[1, 1], band="dkw")
    for choice in ({"confidence": 1.0}, {"most": 0}, {"band": "wide"}):
        with pytest.raises(ValueError, match="must be between 0 and 1, most at least 1"):
            accepted_errors([0.5], [True], **choice)
