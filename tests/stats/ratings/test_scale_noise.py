"""The floor of agreement between two scales."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from judgerel_ray.stats import (
    LEVELS,
    counts_from_ratings,
    inter_scale_alpha,
    inter_scale_floor,
    krippendorff_alpha,
    scale_noise_floor,
    scale_ratings,
)


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


TABLES = (
    [[1, 2, 5], [4, 4, None], [5, 5, 3], [2, 1, 3], [3, None, None]],
    [[3, 1], [9, 10], [8, None], [2, 5], [6, 6]],
)
RANGES = [(1, 5), (1, 10)]


@pytest.mark.alike(2)
@pytest.mark.parametrize("mapping", ["minmax", "midrank", "collapse", "binarise"])
def test_with_replications_it_is_the_null_one_can_enumerate(mapping):
    first, second = TABLES
    null = np.array(
        [
            inter_scale_alpha(
                scale_ratings([first, list(other)], ranges=RANGES, mapping=mapping)
            ).value
            for other in permutations(second)
        ]
    )
    ratings = scale_ratings(TABLES, ranges=RANGES, mapping=mapping)
    floor = inter_scale_floor(ratings, n_permutations=4000)
    assert floor.mean == pytest.approx(null.mean(), abs=5 * null.std() / np.sqrt(4000))
    assert floor.sd == pytest.approx(null.std(), rel=0.05)


@pytest.mark.slow
def test_of_three_scales_two_are_permuted_within_the_items_that_have_them():
    gap = [1.0, 2, 5, 3, np.nan]
    tables = [[1.0, 2, 4, 5, 5], [1.0, 3, 4, 4, 5], gap]
    null = [
        inter_scale_alpha(
            scale_ratings([tables[0], list(two), [*three, np.nan]], ranges=[(1, 5)] * 3)
        ).value
        for two in permutations(tables[1])
        for three in permutations(gap[:4])
    ]
    floor = inter_scale_floor(scale_ratings(tables, ranges=[(1, 5)] * 3), n_permutations=4000)
    assert floor.mean == pytest.approx(np.mean(null), abs=5 * np.std(null) / np.sqrt(4000))
    assert floor.sd == pytest.approx(np.std(null), rel=0.05)


def test_items_of_a_question_are_permuted_together():
    rng = np.random.default_rng(4)
    questions = np.repeat(np.arange(30), 2)
    # What makes a question good is on both scales, of the same questions in another order.
    one, two = (np.repeat(rng.integers(1, 6, size=30), 2) for _ in range(2))
    by_item = inter_scale_floor(scale_ratings([one, two], ranges=[(1, 5)] * 2))
    grouped = scale_ratings([one, two], ranges=[(1, 5)] * 2, questions_N=questions)
    assert inter_scale_floor(grouped).sd == pytest.approx(by_item.sd * np.sqrt(2), rel=0.15)


def test_the_order_of_questions_does_not_matter_to_the_permutations():
    rng = np.random.default_rng(5)
    tables = rng.integers(1, 6, size=(2, 20, 3)).astype(float)
    order = rng.permutation(20)
    found = inter_scale_floor(scale_ratings(tables, ranges=[(1, 5)] * 2), n_permutations=99)
    again = inter_scale_floor(
        scale_ratings(tables[:, order], ranges=[(1, 5)] * 2), n_permutations=99
    )
    assert again.p == found.p
    assert again.mean == pytest.approx(found.mean, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("mapping", ["minmax", "midrank", "binarise"])
def test_noise_on_replicated_scales_is_called_noise(mapping):
    rng = np.random.default_rng(6)
    ps = [
        inter_scale_floor(
            scale_ratings(
                [rng.integers(1, 6, size=(20, 3)), rng.integers(1, 11, size=(20, 2))],
                ranges=RANGES, mapping=mapping,
            ),
            n_permutations=59,
        ).p
        for _ in range(150)
    ]  # fmt: skip
    # .95 less two and a half standard errors.
    assert 0.905 * 150 <= sum(p > 0.05 for p in ps) < 150


def test_what_has_no_alpha_has_no_floor():
    for tables in ([[], []], [[3, 3], [3, 3]], [[1, np.nan], [np.nan, 1]]):
        assert inter_scale_floor(scale_ratings(tables, ranges=[(1, 5)] * 2)).p is None
    with pytest.raises(ValueError, match="at least 1"):
        inter_scale_floor(scale_ratings([[1], [1]], ranges=[(1, 5)] * 2), n_permutations=0)
