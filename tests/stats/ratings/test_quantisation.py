"""The ceiling of two scales: exact, and what brute force finds."""

from __future__ import annotations

import numpy as np
import pytest

from judgerel_ray.stats import inter_scale_alpha, quantisation_ceiling, scale_ratings

FIVE, TEN, LIKERT, BINARY = (1, 5), (1, 10), (0, 4), (0, 1)


def brute_force(ranges, rounding: str, steps, **choices) -> float:
    """A fine grid of latent scores, answered without noise."""
    latent = (np.arange(40_000) + 0.5) / 40_000
    scores = []
    for (low, high), step in zip(ranges, steps, strict=True):
        n = round((high - low) / step)
        place = np.rint(latent * n) if rounding == "nearest" else np.floor(latent * (n + 1))
        scores.append(low + step * place)
    return inter_scale_alpha(scale_ratings(scores, ranges=ranges, **choices)).value


@pytest.mark.alike(4)
@pytest.mark.parametrize("rounding", ["nearest", "equal"])
@pytest.mark.parametrize(
    ("ranges", "choices"),
    [
        ([FIVE, TEN], {}),
        ([FIVE, TEN], {"level": "ordinal"}),
        ([FIVE, TEN], {"level": "nominal"}),
        ([FIVE, TEN], {"mapping": "midrank"}),
        ([FIVE, TEN], {"mapping": "fraction"}),
        ([FIVE, TEN], {"mapping": "collapse"}),
        ([FIVE, TEN], {"mapping": "binarise"}),
        ([FIVE, TEN], {"mapping": "binarise", "tie": ">=mid"}),
        ([FIVE, TEN, LIKERT], {}),
        ([(0, 100), FIVE], {}),
        ([BINARY, TEN], {}),
    ],
)
def test_it_is_what_brute_force_finds(ranges, choices, rounding):
    expected = brute_force(ranges, rounding, [1] * len(ranges), **choices)
    found = quantisation_ceiling(ranges, rounding=rounding, **choices)
    assert found.value == pytest.approx(expected, abs=1e-3)


def test_decimals_are_finer_steps():
    steps = [0.5, 0.1]
    found = quantisation_ceiling([FIVE, TEN], steps=steps)
    assert found.value == pytest.approx(brute_force([FIVE, TEN], "nearest", steps), abs=1e-3)
    assert found.value > quantisation_ceiling([FIVE, TEN]).value


@pytest.mark.parametrize(
    ("ranges", "mapping", "printed"),
    [
        ([FIVE, TEN], "minmax", 0.965),
        ([FIVE, TEN], "fraction", 0.945),
        ([FIVE, TEN], "binarise", 0.746),
        ([BINARY, TEN], "binarise", 1.0),
        ([FIVE, LIKERT], "minmax", 1.0),
    ],
)
def test_the_figures_of_the_design(ranges, mapping, printed):
    assert round(quantisation_ceiling(ranges, mapping=mapping).value, 3) == printed


def test_five_against_ten_by_hand():
    # 5 points change at (k + 1/2) / 4, 10 at (k + 1/2) / 9; the mean of both is 1/2.
    edges = np.unique([0, 1, *((np.arange(4) + 0.5) / 4), *((np.arange(9) + 0.5) / 9)])
    t, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    one, two = np.rint(4 * t) / 4, np.rint(9 * t) / 9
    observed = width @ (one - two) ** 2
    expected = 2 * (width @ (one**2 + two**2) / 2 - 0.25)
    found = quantisation_ceiling([FIVE, TEN])
    assert found.value == pytest.approx(1 - observed / expected, abs=1e-12)
    assert (found.level, found.n_segments, found.undefined) == ("interval", 14, None)
    assert found.estimator == (
        "interval alpha, minmax, latent score uniform on the scale's range, rounded to the nearest "
        "point"
    )


def test_ten_halved_are_five_of_equal_share():
    assert quantisation_ceiling([FIVE, TEN], mapping="collapse", rounding="equal").value == 1.0


def test_a_hundred_points_of_ranks_are_not_too_many():
    assert 0.99 < quantisation_ceiling([(0, 100), (0, 10)], mapping="midrank").value < 1


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: quantisation_ceiling([FIVE, (1, 5.5)]), "whole steps"),
        (lambda: quantisation_ceiling([FIVE, (5, 1)]), "whole steps"),
        (lambda: quantisation_ceiling([FIVE, (0, 10_000)]), "at most 1000"),
        (lambda: quantisation_ceiling([FIVE, TEN], steps=[1]), "a step a scale"),
        (lambda: quantisation_ceiling([FIVE, TEN], steps=[1, 0]), "whole steps"),
        (lambda: quantisation_ceiling([FIVE, TEN], rounding="up"), "rounding"),
        (lambda: quantisation_ceiling([FIVE]), "two scales"),
        (lambda: quantisation_ceiling([FIVE, TEN], mapping="x"), "mapping"),
    ],
)
def test_what_has_no_ceiling_is_refused(call, what):
    with pytest.raises(ValueError, match=what):
        call()
