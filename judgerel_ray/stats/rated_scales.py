"""Scores of the same items on several scales, brought onto one axis; the paper's three cases.

Shape suffixes: N = items, R = replications.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.cross_scale import ScaleAxis
from judgerel_ray.stats.scale_mapping import (
    ScaleLevel,
    ScaleMapping,
    Tie,
    checked_scores,
    common_points,
    map_scores,
    mapping_level,
)
from judgerel_ray.stats.statistic import Floats

Pairing = Literal["all", "first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleCase:
    """A comparison of scales with all its choices.

    Attributes
    ----------
    scales : tuple of str
        Names of the scales, in their order.
    mapping : {"minmax", "midrank", "fraction", "collapse", "binarise"}
        How scores come onto one axis.
    level : {"nominal", "ordinal", "interval"}
        Level of measurement there.
    tie : {">mid", ">=mid"}
        What the middle of a scale is once binarised.
    """

    scales: tuple[str, ...]
    mapping: ScaleMapping
    level: ScaleLevel
    tie: Tie = ">mid"


SCALE_CASES: Mapping[str, ScaleCase] = MappingProxyType(
    {
        "lee2025_case1": ScaleCase(
            scales=("points5", "points10"), mapping="minmax", level="interval"
        ),
        "lee2025_case2": ScaleCase(
            scales=("points5", "likert5"), mapping="minmax", level="interval"
        ),
        "lee2025_case3": ScaleCase(
            scales=("binary", "points10"), mapping="binarise", level="nominal"
        ),
    }
)
"""The three comparisons of the paper. It tells no mapping but that the third one binarises."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaleRatings:
    """Scores of the same items on several scales, mapped onto one axis.

    Attributes
    ----------
    scores : tuple of ndarray of float, shapes (n_items, n_replications of the scale)
        As they were given; NaN is missing.
    mapped : tuple of ndarray of float
        On the common axis (midranks of all items, where those are the mapping).
    axis : ScaleAxis
        The values of each scale and how far apart they are.
    shares : tuple of ndarray of float, shapes (n_items, n_values of the scale)
        Distribution of each item's scores; 0 where it has none.
    mapping, pairing : str
        The choices made.
    questions_N : ndarray, shape (n_items,)
        The question of each item.
    """

    scores: tuple[Floats, ...]
    mapped: tuple[Floats, ...]
    axis: ScaleAxis
    shares: tuple[Floats, ...]
    mapping: ScaleMapping
    pairing: Pairing
    questions_N: NDArray[np.generic]  # noqa: N815  a shape, not a case

    @property
    def estimator(self) -> str:
        """Which alpha this is, in words."""
        how = "first samples" if self.pairing == "first" else "all replications paired"
        return f"{self.axis.level} alpha of {len(self.scores)} scales, {self.mapping}, {how}"

    def n_scales(self) -> NDArray[np.intp]:
        """Count the scales on which each item has a score, shape (n_items,)."""
        there_MN = np.stack([one.sum(axis=1) > 0 for one in self.shares])
        n_N: NDArray[np.intp] = there_MN.sum(axis=0)
        return n_N


def scale_ratings(
    scores: Sequence[ArrayLike],
    *,
    ranges: Sequence[tuple[float, float]],
    mapping: ScaleMapping = "minmax",
    level: ScaleLevel | None = None,
    tie: Tie = ">mid",
    pairing: Pairing = "all",
    questions_N: ArrayLike | None = None,
) -> ScaleRatings:
    """Bring scores on several scales onto one axis.

    Parameters
    ----------
    scores : sequence of array-like of float, shapes (n_items,) or (n_items, n_replications)
        One array a scale, the same items in the same order; scales may differ in replications, and
        so may items. NaN is missing.
    ranges : sequence of (float, float)
        Lowest and highest point of each scale.
    mapping : {"minmax", "midrank", "fraction", "collapse", "binarise"}
        As of :func:`judgerel_ray.stats.map_scores`; "collapse" to the points of the coarsest scale.
    level : {"nominal", "ordinal", "interval"}, optional
        Level of measurement on the common axis, by default the mapping's own.
    tie : {">mid", ">=mid"}
        What the middle of a scale is once binarised.
    pairing : {"all", "first"}
        All replications of one scale with all of the other; or the first column of each, as if it
        had been asked once (an item without it is missing, whatever its other replications say).
    questions_N : array-like, shape (n_items,), optional
        The question of each item, where several are of one (two responses to it); by default every
        item is its own.

    Returns
    -------
    ScaleRatings

    Raises
    ------
    ValueError
        If there are fewer than two scales, the items differ in number, a score is not on its scale,
        or a choice is unknown or does not fit the scales.

    Examples
    --------
    >>> five, ten = [[1, 2], [5, 5]], [[1], [9]]
    >>> found = scale_ratings([five, ten], ranges=[(1, 5), (1, 10)])
    >>> found.estimator
    'interval alpha of 2 scales, minmax, all replications paired'
    >>> found.mapped[0].tolist()
    [[0.0, 0.25], [1.0, 1.0]]
    """
    name = "scale_ratings"
    if len(scores) < 2 or len(ranges) != len(scores):
        raise ValueError(
            f"{name}: there must be two scales or more, each with its range, got "
            f"{len(scores)} and {len(ranges)}"
        )
    if pairing not in ("all", "first"):
        raise ValueError(f"{name}: pairing must be all or first, got {pairing!r}")
    tables = [_table(one, *ends, pairing) for one, ends in zip(scores, ranges, strict=True)]
    questions = np.arange(len(tables[0])) if questions_N is None else np.asarray(questions_N)
    if len({len(one) for one in tables} | {questions.size}) > 1 or questions.ndim != 1:
        raise ValueError(
            f"{name}: scales and questions must be of the same items, got "
            f"{[len(one) for one in tables]} and {questions.shape}"
        )
    points = common_points(ranges) if mapping == "collapse" else None
    mapped = tuple(
        map_scores(one, mapping, lowest=low, highest=high, points=points, tie=tie)
        for one, (low, high) in zip(tables, ranges, strict=True)
    )
    found = [_shares(one) for one in mapped]
    axis = ScaleAxis(
        values=tuple(values for values, _ in found),
        level=mapping_level(mapping, level),
        ranked=mapping == "midrank",
    )
    return ScaleRatings(
        scores=tuple(tables), mapped=mapped, axis=axis, shares=tuple(one for _, one in found),
        mapping=mapping, pairing=pairing, questions_N=questions,
    )  # fmt: skip


def _table(scores: ArrayLike, lowest: float, highest: float, pairing: Pairing) -> Floats:
    """Scores of one scale, one column a replication that counts."""
    table = checked_scores(scores, lowest=lowest, highest=highest, function="scale_ratings")
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2:
        raise ValueError(
            f"scale_ratings: scores must have shape (n_items,) or (n_items, n_replications), "
            f"got {table.shape}"
        )
    return table[:, :1] if pairing == "first" else table


def _shares(mapped: Floats) -> tuple[Floats, Floats]:
    """The different values of a scale, ascending, and each item's distribution over them."""
    there = ~np.isnan(mapped)
    values, place = np.unique(mapped[there].round(9), return_inverse=True)
    counts = np.zeros((len(mapped), values.size))
    np.add.at(counts, (np.nonzero(there)[0], place), 1.0)
    exact = np.zeros(values.size)
    exact[place] = mapped[there]  # a third stays a third
    return exact, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
