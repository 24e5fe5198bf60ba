"""Scores of the same items on several scales, brought onto one axis; the paper's three cases.

Disagreement across scales is a sum over items. An item's scores on one scale are a distribution
over that scale's columns (its replications count as one score together), and pairs are of all of
one scale's with all of another's.

A judge that knows exactly what an item deserves still says 4 of 5 and 7 of 10, and these are not
the same place on any common axis. What such a judge reaches is the quantisation ceiling of
inter-scale alpha: how far two scales can agree at all, once a score is rounded to both.

Shape suffixes: N = items, R = replications, M = scales, V = columns (all values of all scales),
G = different values on the common axis, T = terms, S = segments of the latent score; ``...`` = any
leading batch axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_choice
from judgerel_ray.stats.counts import Floats, divide, slices
from judgerel_ray.stats.ratings.scale_mapping import (
    ScaleLevel,
    ScaleMapping,
    Tie,
    checked_scale_scores,
    common_points,
    map_scores,
    mapping_level,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaleAxis:
    """Columns of several scales on one axis, and how far apart they are."""

    values: tuple[Floats, ...]  # The different mapped values of each scale, ascending.
    level: ScaleLevel  # Level of measurement of the common axis.
    # Whether a value is worth its midrank within its own scale, over the items: the values then
    # only order a scale's columns, and distances follow from the totals.
    ranked: bool = False

    @property
    def n_columns(self) -> int:
        """How many columns all scales have."""
        return sum(one.size for one in self.values)

    @property
    def n_kinds(self) -> int:
        """How many columns differ: by value, or by scale and value where they are ranks."""
        return self.n_columns if self.ranked else self._groups()[0].size

    def terms(self, shares: Sequence[Floats]) -> Floats:
        """Compute what each item adds, from its distribution on each scale.

        Shape (n_items, n_terms).
        """
        there_NM = np.stack([one.sum(axis=1) > 0 for one in shares], axis=1)
        there_NM &= (there_NM.sum(axis=1) >= 2)[:, None]
        n_N = there_NM.sum(axis=1)
        weight_N = np.where(n_N >= 2, 1 / np.maximum(n_N - 1, 1), 0.0)
        shares = [one * there_NM[:, [j]] for j, one in enumerate(shares)]
        if self.level == "interval" and not self.ranked:
            return self._square_terms(shares, there_NM, weight_N)
        kinds_NMG = np.stack(self._by_kind(shares), axis=1)
        totals_NG = kinds_NMG.sum(axis=1)
        if self.level == "nominal":
            same = (totals_NG**2).sum(axis=1) - (kinds_NMG**2).sum(axis=(1, 2))
            apart = np.maximum(n_N - same * weight_N, 0.0)
            return np.concatenate([apart[:, None], totals_NG], axis=1)
        pairs = totals_NG[:, :, None] * totals_NG[:, None, :]
        pairs -= np.einsum("nmg,nmh->ngh", kinds_NMG, kinds_NMG)
        flat = (pairs * weight_N[:, None, None]).reshape(len(pairs), self.n_kinds**2)
        return np.concatenate([flat, totals_NG], axis=1)

    def value(self, total: Floats, *, limit: bool = False) -> Floats:
        """Compute alpha from sums of terms.

        Shape (...). 1 - Do / De; NaN where all scores are one value.

        Shapes: ``total`` (..., n_terms).
        """
        observed, expected, n = self._disagreement(total)
        return 1 - divide((n if limit else n - 1) * observed, expected)

    def slope(self, total: Floats) -> Floats:
        """Compute by how much alpha falls where items disagree by 1 more and totals stay."""
        _, expected, n = self._disagreement(total)
        return divide(n - 1, expected)

    def vectors(self, shares: Sequence[Floats], total_T: Floats) -> list[Floats]:
        """Give vectors whose products across scales are all that permuting scores changes."""
        if self.level == "nominal":
            return [one / np.sqrt(2) for one in self._by_kind(shares)]
        if self.level == "interval" and not self.ranked:
            centre = self._centre()
            return [
                (one @ (x - centre))[:, None] for one, x in zip(shares, self.values, strict=True)
            ]
        place = self._ranks(total_T[self.n_kinds**2 :])
        return [(one @ place)[:, None] for one in self._by_kind(shares)]

    def _disagreement(self, total: Floats) -> tuple[Floats, Floats, Floats]:
        """Sums over pairs inside items and over pairs of all scores, and how many scores."""
        if self.level == "interval" and not self.ranked:
            observed, n, first, second = np.moveaxis(total, -1, 0)
            spread = n * second - first**2
            # A spread that is rounding of its parts is none: one value is all there is.
            expected = 2 * np.where(spread <= 1e-12 * n * second, 0.0, spread)
        elif self.level == "nominal":
            observed, c = total[..., 0], total[..., 1:]
            n = c.sum(axis=-1)
            expected = n**2 - (c**2).sum(axis=-1)
            expected = np.where(expected <= 1e-12 * n**2, 0.0, expected)
        else:
            size = self.n_kinds
            pairs, c = np.split(total, [size**2], axis=-1)
            n = c.sum(axis=-1)
            place = self._ranks(c)
            distances = (place[..., :, None] - place[..., None, :]) ** 2
            observed = (pairs.reshape(distances.shape) * distances).sum(axis=(-2, -1))
            expected = np.einsum("...g,...h,...gh->...", c, c, distances)
            # Midranks of one value are all the same, but for rounding.
            expected = np.where(expected <= 1e-12 * n**2, 0.0, expected)
        return observed, expected, n

    def _square_terms(
        self, shares: Sequence[Floats], there_NM: NDArray[np.bool_], weight_N: Floats
    ) -> Floats:
        """[sum of mean squared distances of ordered pairs / (m - 1), m, sum x, sum x^2]."""
        centre = self._centre()
        centred = [x - centre for x in self.values]
        mean_NM = np.stack([p @ x for p, x in zip(shares, centred, strict=True)], axis=1)
        square_NM = np.stack([p @ x**2 for p, x in zip(shares, centred, strict=True)], axis=1)
        spread_NM = np.maximum(square_NM - mean_NM**2, 0.0)
        apart_N = np.zeros(len(mean_NM))
        for j in range(mean_NM.shape[1]):
            for k in range(j):  # not by sums of squares: equal means must leave exactly 0
                both = there_NM[:, j] & there_NM[:, k]
                squared = (mean_NM[:, j] - mean_NM[:, k]) ** 2
                apart_N += 2 * both * (squared + spread_NM[:, j] + spread_NM[:, k])
        columns = [apart_N * weight_N, there_NM.sum(axis=1), mean_NM.sum(axis=1)]
        return np.stack([*columns, square_NM.sum(axis=1)], axis=1)

    def _centre(self) -> float:
        """Middle of the axis: squares about it lose fewer digits."""
        every = np.concatenate(self.values)
        return float(every.min() + every.max()) / 2 if every.size else 0.0

    def _groups(self) -> tuple[Floats, NDArray[np.intp]]:
        """The different values of all scales, and which of them each column is."""
        return np.unique(np.concatenate(self.values).round(9), return_inverse=True)

    def _by_kind(self, shares: Sequence[Floats]) -> list[Floats]:
        """Distributions over the columns that differ, alike for all scales."""
        kind_V = np.arange(self.n_columns) if self.ranked else self._groups()[1]
        parts = np.split(kind_V, np.cumsum([one.size for one in self.values])[:-1])
        found = []
        for share_NV, kinds in zip(shares, parts, strict=True):
            wide = np.zeros((len(share_NV), self.n_kinds))
            wide[:, kinds] = share_NV
            found.append(wide)
        return found

    def _ranks(self, c: Floats) -> Floats:
        """Midranks of all scores together, or within each scale, as shares of their number."""
        if not self.ranked:
            return _shared_midranks(c)
        ends = np.cumsum([one.size for one in self.values])[:-1]
        return np.concatenate([_shared_midranks(one) for one in np.split(c, ends, -1)], axis=-1)


def _shared_midranks(c: Floats) -> Floats:
    """(cumsum - c / 2) / sum, 0 where there are none."""
    n = c.sum(axis=-1, keepdims=True)
    ranks: Floats = (np.cumsum(c, axis=-1) - c / 2) / np.where(n > 0, n, 1.0)
    return ranks


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
    check_choice(name, ("all", "first"), pairing=pairing)
    tables = [
        _rating_scale_scores(one, *ends, pairing) for one, ends in zip(scores, ranges, strict=True)
    ]
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
    found = [_scale_value_shares(one) for one in mapped]
    axis = ScaleAxis(
        values=tuple(values for values, _ in found),
        level=mapping_level(mapping, level),
        ranked=mapping == "midrank",
    )
    return ScaleRatings(
        scores=tuple(tables), mapped=mapped, axis=axis, shares=tuple(one for _, one in found),
        mapping=mapping, pairing=pairing, questions_N=questions,
    )  # fmt: skip


def _rating_scale_scores(
    scores: ArrayLike, lowest: float, highest: float, pairing: Pairing
) -> Floats:
    """Scores of one scale, one column a replication that counts."""
    table = checked_scale_scores(scores, lowest=lowest, highest=highest, function="scale_ratings")
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2:
        raise ValueError(
            f"scale_ratings: scores must have shape (n_items,) or (n_items, n_replications), "
            f"got {table.shape}"
        )
    return table[:, :1] if pairing == "first" else table


def _scale_value_shares(mapped: Floats) -> tuple[Floats, Floats]:
    """The different values of a scale, ascending, and each item's distribution over them."""
    there = ~np.isnan(mapped)
    values, place = np.unique(mapped[there].round(9), return_inverse=True)
    counts = np.zeros((len(mapped), values.size))
    np.add.at(counts, (np.nonzero(there)[0], place), 1.0)
    exact = np.zeros(values.size)
    exact[place] = mapped[there]  # a third stays a third
    return exact, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)


Rounding = Literal["nearest", "equal"]
_MOST_POINTS = 1000
_CELLS = 4_000_000  # terms held at once: 32 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantisationCeiling:
    """Inter-scale alpha of a judge without noise.

    Attributes
    ----------
    value : float or None
        Of infinitely many items.
    level : {"nominal", "ordinal", "interval"}
        Level of measurement on the common axis.
    n_segments : int
        Stretches of the latent score on which no scale's score changes.
    estimator : str
        The latent score, the rounding and the mapping, in words.
    undefined : str or None
        "no_variance" where all scores become one value.
    """

    value: float | None
    level: ScaleLevel
    n_segments: int
    estimator: str
    undefined: str | None = None


def quantisation_ceiling(
    ranges: Sequence[tuple[float, float]],
    *,
    mapping: ScaleMapping = "minmax",
    level: ScaleLevel | None = None,
    tie: Tie = ">mid",
    rounding: Rounding = "nearest",
    steps: Sequence[float] | None = None,
) -> QuantisationCeiling:
    """Compute inter-scale alpha of a perfect judge, exactly.

    The latent score is uniform on the scales' range (0 the lowest point of each scale, 1 the
    highest), and rounded to a point of each.

    Parameters
    ----------
    ranges : sequence of (float, float)
        Lowest and highest point of each scale, two scales or more.
    mapping, level, tie
        As of :func:`judgerel_ray.stats.scale_ratings`.
    rounding : {"nearest", "equal"}
        To the nearest point, so that the two end points have half the share of the others; or all
        points have the same share.
    steps : sequence of float, optional
        Distance of neighbouring points of each scale, by default 1 (decimals: .1, or .5).

    Returns
    -------
    QuantisationCeiling

    Raises
    ------
    ValueError
        If a scale is not of whole steps, has too many points, or does not allow the mapping.

    Notes
    -----
    No scale's score changes between two neighbouring break points of all scales, so that the
    integrals are sums over at most as many segments as the scales have points together.

    Examples
    --------
    Ten points against yes and no: both change at the middle.

    >>> quantisation_ceiling([(0, 1), (1, 10)], mapping="binarise").value
    1.0

    Five points against ten, binarised: the 3 of five is no, though half of what deserves it is
    above the middle. 1 - 2 (1/8) / (4 (7/16) (9/16)).

    >>> round(quantisation_ceiling([(1, 5), (1, 10)], mapping="binarise").value, 6)
    0.746032
    """
    steps = [1.0] * len(ranges) if steps is None else steps
    if len(steps) != len(ranges):
        raise ValueError(
            f"quantisation_ceiling: there must be a step a scale, got {len(steps)} for "
            f"{len(ranges)}"
        )
    check_choice("quantisation_ceiling", ("nearest", "equal"), rounding=rounding)
    sizes = [_n_rating_scale_steps(*ends, step) for ends, step in zip(ranges, steps, strict=True)]
    breaks = [_rounding_breaks_of_scale(size, rounding) for size in sizes]
    edges = np.unique(np.concatenate([[0.0, 1.0], *breaks]).round(12))
    middle_S, width_S = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    scores = [
        low + step * np.searchsorted(one, middle_S)
        for one, (low, _), step in zip(breaks, ranges, steps, strict=True)
    ]
    ratings = scale_ratings(scores, ranges=ranges, mapping=mapping, level=level, tie=tie)
    # Segments are items that are met as often as they are wide.
    value = float(ratings.axis.value(_terms_weighted_by_width(ratings, width_S), limit=True))
    how = "the nearest point" if rounding == "nearest" else "points of equal share"
    return QuantisationCeiling(
        value=None if np.isnan(value) else value,
        level=ratings.axis.level,
        n_segments=middle_S.size,
        estimator=f"{ratings.axis.level} alpha, {mapping}, latent score uniform on the scale's "
        f"range, rounded to {how}",
        undefined="no_variance" if np.isnan(value) else None,
    )


def _terms_weighted_by_width(ratings: ScaleRatings, width_S: Floats) -> Floats:
    """Sums of terms, each segment by its width; a few segments at a time."""
    sums = [
        width_S[some] @ ratings.axis.terms([one[some] for one in ratings.shares])
        for some in slices(width_S.size, ratings.axis.n_kinds**2, _CELLS)
    ]
    total_T: Floats = np.sum(sums, axis=0)
    return total_T


def _n_rating_scale_steps(lowest: float, highest: float, step: float) -> int:
    n = (highest - lowest) / step if step > 0 else 0.0
    if not 1 <= n <= _MOST_POINTS or abs(n - round(n)) > 1e-6:
        raise ValueError(
            f"quantisation_ceiling: the scale must be of whole steps, at most {_MOST_POINTS}, got "
            f"{lowest!r} to {highest!r} by {step!r}"
        )
    return round(n)


def _rounding_breaks_of_scale(n_steps: int, rounding: Rounding) -> Floats:
    """Where the score goes up by one step, of a latent score in [0, 1]."""
    if rounding == "nearest":
        return (np.arange(n_steps) + 0.5) / n_steps
    return np.arange(1, n_steps + 1) / (n_steps + 1)
