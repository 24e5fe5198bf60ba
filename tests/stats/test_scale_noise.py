"""The floor of agreement between two scales."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from judgerel_ray.stats import LEVELS, counts_from_ratings, krippendorff_alpha, scale_noise_floor


def alpha(first, second, level):
    counts, values = counts_from_ratings(np.column_stack([first, second]))
    return krippendorff_alpha(counts, values=values, level=level).value


@pytest.mark.parametrize("level", LEVELS)
def test_it_is_the_null_one_can_enumerate(level):
    first, second = [1.0, 2, 2, 4, 5], [1.0, 3, 2, 5, 4]
    null = np.array([alpha(first, other, level) for other in permutations(second)])
    value = alpha(first, second, level)
    floor = scale_noise_floor(first, second, level=level, n_permutations=4000)
    assert floor.mean == pytest.approx(null.mean(), abs=5 * null.std() / np.sqrt(4000))
    assert floor.sd == pytest.approx(null.std(), rel=0.05)
    # Few values, and a mean that is drawn: those as far on the other side may be in or out.
    least, most = (
        (np.abs(null - null.mean()) >= abs(value - null.mean()) + off).mean()
        for off in (0.04, -0.04)
    )
    assert least - 0.02 <= floor.p <= most + 0.02


def test_scales_that_are_used_differently_have_a_floor_below_0():
    rng = np.random.default_rng(0)
    low, high = rng.integers(1, 4, size=60), rng.integers(4, 7, size=60)
    floor = scale_noise_floor(low, high)
    assert floor.mean < -0.3
    assert floor.p > 0.05


def test_noise_is_called_noise():
    drawn = np.random.default_rng(1).integers(1, 6, size=(150, 2, 30))
    ps = [scale_noise_floor(*one, level="ordinal", n_permutations=99).p for one in drawn]
    # .95 less two and a half standard errors.
    assert 0.905 * 150 <= sum(p > 0.05 for p in ps) < 150


def test_neither_order_nor_missing_items_matter():
    rng = np.random.default_rng(2)
    first = rng.integers(1, 6, size=40).astype(float)
    second = np.clip(first + rng.integers(-2, 3, size=40), 1, 5)
    order = rng.permutation(40)
    found = scale_noise_floor(first, second)
    assert scale_noise_floor(first[order], second[order]) == found
    more = np.append(first, [np.nan, 3]), np.append(second, [2, np.nan])
    assert scale_noise_floor(*more) == found


def test_without_two_values_there_is_none():
    assert scale_noise_floor([3, 3], [3, 3]).p is None
    assert scale_noise_floor([], []).p is None


@pytest.mark.parametrize(
    ("first", "second", "n", "what"),
    [
        ([1, 2], [1], 9, "one score an item"),
        ([1, 2], [1, 2], 0, "at least 1"),
        (np.arange(3000), np.arange(3000), 9, "too many"),
    ],
)
def test_what_are_no_two_scales_is_refused(first, second, n, what):
    with pytest.raises(ValueError, match=what):
        scale_noise_floor(first, second, n_permutations=n)
