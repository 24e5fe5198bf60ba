"""Scores on one axis, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from judgerel_ray.core.codes import Flag
from judgerel_ray.stats import SCALE_MAPPINGS, map_scores, mapping_level
from judgerel_ray.stats.ratings.scale_mapping import MappingError, common_points

FIVE = {"lowest": 1, "highest": 5}
TEN = {"lowest": 1, "highest": 10}


def test_min_max_is_the_default_and_takes_ends_to_ends():
    assert next(iter(SCALE_MAPPINGS)) == "minmax"
    assert map_scores([1, 3, 5], **FIVE).tolist() == [0.0, 0.5, 1.0]
    assert map_scores([0, 4], lowest=0, highest=4).tolist() == [0.0, 1.0]
    assert map_scores([-2, 0, 2], lowest=-2, highest=2).tolist() == [0.0, 0.5, 1.0]


def test_a_fraction_leaves_the_lowest_points_apart():
    assert map_scores([1, 5], "fraction", **FIVE).tolist() == [0.2, 1.0]
    assert map_scores([1, 10], "fraction", **TEN).tolist() == [0.1, 1.0]


def test_ten_collapse_to_five_by_halves_rounded_up():
    ten = np.arange(1, 11)
    found = map_scores(ten, "collapse", points=5, **TEN)
    assert found.tolist() == np.ceil(ten / 2).tolist()
    assert map_scores([1, 5], "collapse", **FIVE).tolist() == [1.0, 5.0]
    # Places from 0 on count as points, and decimals belong to the group they reach into.
    assert map_scores([0, 4], "collapse", lowest=0, highest=4).tolist() == [1.0, 5.0]
    assert map_scores([2.0, 2.5, 3.0], "collapse", points=5, **TEN).tolist() == [1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("ends", "scores", "above", "from_it_on"),
    [
        (FIVE, [2, 3, 4], [0, 0, 1], [0, 1, 1]),
        (TEN, [5, 5.5, 6], [0, 0, 1], [0, 1, 1]),
        ({"lowest": 0, "highest": 1}, [0, 1], [0, 1], [0, 1]),
    ],
)
def test_the_middle_is_no_or_yes_as_the_rule_says(ends, scores, above, from_it_on):
    assert map_scores(scores, "binarise", **ends).tolist() == above
    assert map_scores(scores, "binarise", tie=">=mid", **ends).tolist() == from_it_on


@given(st.lists(st.integers(1, 5), min_size=1, max_size=20))
def test_midranks_are_those_of_scipy_as_shares(scores):
    expected = (rankdata(scores) - 0.5) / len(scores)
    assert map_scores(scores, "midrank", **FIVE) == pytest.approx(expected, abs=1e-12)


def test_an_items_replications_are_one_score_among_the_ranks():
    # 1 weighs 1; 3 and 5 of one item a half each: (1/2, 1 + 1/4, 3/2 + 1/4) / 2.
    found = map_scores([[1, np.nan], [3, 5]], "midrank", **FIVE)
    assert found[0, 0] == 0.25
    assert found[1].tolist() == [0.625, 0.875]
    assert np.isnan(found[0, 1])


@pytest.mark.parametrize("mapping", SCALE_MAPPINGS)
def test_missing_stays_missing_and_order_stays(mapping):
    found = map_scores([[1, np.nan], [4, 5]], mapping, **FIVE)
    assert np.isnan(found).tolist() == [[False, True], [False, False]]
    assert found[0, 0] <= found[1, 0] <= found[1, 1]
    assert map_scores([], mapping, **FIVE).shape == (0,)
    assert np.isnan(map_scores([np.nan], mapping, **FIVE)).all()


def test_each_mapping_leaves_a_level():
    assert dict(SCALE_MAPPINGS) == {
        "minmax": "interval",
        "midrank": "interval",
        "fraction": "interval",
        "collapse": "ordinal",
        "binarise": "nominal",
    }
    assert mapping_level("minmax", "ordinal") == "ordinal"
    assert mapping_level("binarise") == "nominal"
    assert common_points([(0, 4), (1, 10), (0, 100)]) == 5


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: map_scores([6], **FIVE), r"within \[1, 5\], got 6"),
        (lambda: map_scores([float("inf")], **FIVE), "within"),
        (lambda: map_scores([1], "best", **FIVE), "mapping must be one of minmax"),
        (lambda: map_scores([1], "binarise", tie="mid", **FIVE), "tie must be"),
        (lambda: map_scores([1], lowest=1, highest=1), "below its highest"),
        (lambda: map_scores([1], lowest=1, highest=float("nan")), "below its highest"),
        (lambda: map_scores([1], "collapse", points=3, **TEN), "10 points cannot collapse to 3"),
        (lambda: map_scores([1], "collapse", points=0, **TEN), "cannot collapse to 0"),
        (lambda: map_scores([1], "collapse", lowest=0.5, highest=5), "whole points"),
        (lambda: map_scores([0], "fraction", lowest=-1, highest=1), "from 0 on"),
        (lambda: map_scores([[[1]]], "midrank", **FIVE), "shape"),
        (lambda: mapping_level("midrank", "ordinal"), "intervals already"),
        (lambda: mapping_level("minmax", "ratio"), "level must be"),
        (lambda: mapping_level("best"), "mapping must be"),
        (lambda: common_points([]), "at least one"),
    ],
)
def test_what_is_no_mapping_is_refused(call, what):
    with pytest.raises(ValueError, match=what):
        call()


def test_a_refused_mapping_says_why_by_code_and_in_words():
    error = MappingError("map_scores", Flag.UNEQUAL_GROUPS, 5, 2)
    assert error.noted == (Flag.UNEQUAL_GROUPS, (5, 2))
    assert str(error) == "map_scores: 5 points cannot collapse to 2 equal groups of points"
