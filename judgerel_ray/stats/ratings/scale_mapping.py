"""Declared mappings of scores onto one axis, so that scales of different ranges may be compared.

A score of 4 means one thing on five points and another on ten; agreement between scales is only
defined once it is said how one is read as the other. The mapping says which level of measurement
is left, too.

Shape suffixes: N = items, R = replications; ``...`` = any axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.stats.arguments import check_choice
from judgerel_ray.stats.counts import Floats

ScaleMapping = Literal["minmax", "midrank", "fraction", "collapse", "binarise"]
ScaleLevel = Literal["nominal", "ordinal", "interval"]
Tie = Literal[">mid", ">=mid"]
SCALE_MAPPINGS: Mapping[ScaleMapping, ScaleLevel] = MappingProxyType(
    {
        "minmax": "interval",
        "midrank": "interval",
        "fraction": "interval",
        "collapse": "ordinal",
        "binarise": "nominal",
    }
)
"""Every mapping, the default first, and the level of measurement that it leaves."""
_ROUNDING = 1e-9


class MappingError(ValueError):
    """Scales that do not allow a mapping: why as a code with its numbers, and in words."""

    def __init__(self, function: str, flag: Flag, *numbers: float) -> None:
        super().__init__(f"{function}: {flag.note(numbers)}")
        self.noted: Noted = (flag, numbers)


def map_scores(
    scores: ArrayLike,
    mapping: ScaleMapping = "minmax",
    *,
    lowest: float,
    highest: float,
    points: int | None = None,
    tie: Tie = ">mid",
) -> Floats:
    """Map the scores of one scale onto the axis that all scales share.

    Parameters
    ----------
    scores : array-like of float, shape (n_items,) or (n_items, n_replications)
        Scores as they were given; NaN is missing. Of a scale of words a score is the word's place,
        the lowest being 0.
    mapping : {"minmax", "midrank", "fraction", "collapse", "binarise"}
        "minmax": (s - lowest) / (highest - lowest). "midrank": the midrank among all scores of this
        scale over the items, as a share (0 to 1); an item's replications count as one score
        together. "fraction": s / highest, which maps the lowest points of five and of ten to .2 and
        .1: never a default. "collapse": onto `points` equal groups of points, numbered from 1 on
        (ten to five by ceil(s / 2)). "binarise": 1 above the middle of the range, else 0.
    lowest, highest : float
        Ends of the scale.
    points : int, optional
        For "collapse", how many points are left; by default as many as the scale has.
    tie : {">mid", ">=mid"}
        For "binarise", what the middle itself is: 0 by ">mid", 1 by ">=mid". Only scales with an
        odd number of points have one.

    Returns
    -------
    ndarray of float, of the shape of `scores`
        In [0, 1], or 1 ... `points`; NaN where a score is missing.

    Raises
    ------
    ValueError
        If a score is outside the scale, or a choice is unknown; a MappingError if the scale does
        not allow the mapping.

    Examples
    --------
    >>> map_scores([1, 4, 5], lowest=1, highest=5).tolist()
    [0.0, 0.75, 1.0]
    >>> map_scores([1, 2, 9, 10], "collapse", lowest=1, highest=10, points=5).tolist()
    [1.0, 1.0, 5.0, 5.0]
    >>> map_scores([2, 3, 4], "binarise", lowest=1, highest=5).tolist()
    [0.0, 0.0, 1.0]
    >>> map_scores([2, 3, 4], "binarise", lowest=1, highest=5, tie=">=mid").tolist()
    [0.0, 1.0, 1.0]
    >>> map_scores([7, 7, 9], "midrank", lowest=1, highest=10).round(3).tolist()
    [0.333, 0.333, 0.833]
    """
    values = checked_scale_scores(scores, lowest=lowest, highest=highest, function="map_scores")
    check_choice("map_scores", SCALE_MAPPINGS, mapping=mapping)
    check_choice("map_scores", (">mid", ">=mid"), tie=tie)
    if mapping == "minmax":
        return (values - lowest) / (highest - lowest)
    if mapping == "midrank":
        return _midranks_of_scale_scores(values)
    if mapping == "fraction":
        if lowest < 0:
            raise MappingError("map_scores", Flag.SCALE_BELOW_0, lowest)
        return values / highest
    if mapping == "collapse":
        return _scores_in_point_groups(values, lowest, highest, points)
    middle = (lowest + highest) / 2
    above = values > middle + _ROUNDING if tie == ">mid" else values >= middle - _ROUNDING
    return np.where(np.isnan(values), np.nan, above.astype(np.float64))


def mapping_level(mapping: ScaleMapping, level: ScaleLevel | None = None) -> ScaleLevel:
    """Give the level of measurement of mapped scores.

    Parameters
    ----------
    mapping : {"minmax", "midrank", "fraction", "collapse", "binarise"}
        The mapping.
    level : {"nominal", "ordinal", "interval"}, optional
        What is asked for; by default the mapping's own.

    Returns
    -------
    {"nominal", "ordinal", "interval"}

    Raises
    ------
    ValueError
        If a choice is unknown, or midranks are not taken as what they are, intervals.

    Examples
    --------
    >>> mapping_level("collapse"), mapping_level("collapse", "interval")
    ('ordinal', 'interval')
    """
    check_choice("mapping_level", SCALE_MAPPINGS, mapping=mapping)
    if level is None:
        return SCALE_MAPPINGS[mapping]
    check_choice("mapping_level", ("nominal", "ordinal", "interval"), level=level)
    if mapping == "midrank" and level != "interval":
        raise ValueError(f"mapping_level: midranks are intervals already, got {level!r}")
    return level


def common_points(ranges: Sequence[tuple[float, float]]) -> int:
    """Give the number of points of the coarsest scale: what "collapse" leaves of all of them."""
    if not ranges:
        raise ValueError("common_points: there must be at least one scale")
    return min(_n_rating_scale_points(*ends) for ends in ranges)


def checked_scale_scores(
    scores: ArrayLike, *, lowest: float, highest: float, function: str
) -> Floats:
    """Read scores, refusing what is not on the scale (ValueError)."""
    if not (np.isfinite(lowest) and np.isfinite(highest) and lowest < highest):
        raise ValueError(
            f"{function}: the scale's lowest must be below its highest, got {lowest!r}, {highest!r}"
        )
    values = np.asarray(scores, dtype=np.float64)
    outside = values[(values < lowest - _ROUNDING) | (values > highest + _ROUNDING)]
    if outside.size:
        raise ValueError(
            f"{function}: scores must be within [{lowest:g}, {highest:g}], got {outside[0]:g}"
        )
    return values


def _scores_in_point_groups(
    values: Floats, lowest: float, highest: float, points: int | None
) -> Floats:
    """ceil((s - lowest + 1) / w), w points in a group."""
    n = _n_rating_scale_points(lowest, highest)
    left = n if points is None else points
    if left < 1 or n % left:
        raise MappingError("map_scores", Flag.UNEQUAL_GROUPS, n, left)
    grouped: Floats = np.ceil((values - lowest + 1) / (n // left) - _ROUNDING)
    return np.clip(grouped, 1, left)


def _n_rating_scale_points(lowest: float, highest: float) -> int:
    """Whole points of a scale."""
    if lowest % 1 or highest % 1 or not lowest < highest:
        raise MappingError("map_scores", Flag.SCALE_NOT_WHOLE, lowest, highest)
    return int(highest - lowest) + 1


def _midranks_of_scale_scores(values: Floats) -> Floats:
    """(weight below + half of one's own) / weight of all; an item's replications weigh 1."""
    table = values[:, None] if values.ndim == 1 else values
    if table.ndim != 2:
        raise ValueError(
            f"map_scores: midrank needs scores of shape (n_items,) or (n_items, n_replications), "
            f"got {values.shape}"
        )
    there = ~np.isnan(table)
    weight = there / np.maximum(there.sum(axis=1, keepdims=True), 1)
    distinct, place = np.unique(table[there].round(9), return_inverse=True)
    totals = np.bincount(place, weights=weight[there], minlength=distinct.size)
    ranks = np.full(table.shape, np.nan)
    ranks[there] = ((np.cumsum(totals) - totals / 2) / max(totals.sum(), 1e-300))[place]
    return ranks.reshape(values.shape)
