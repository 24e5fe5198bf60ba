"""Quantisation ceiling: how far two scales can agree at all, once a score is rounded to both.

A judge that knows exactly what an item deserves still says 4 of 5 and 7 of 10, and these are not
the same place on any common axis. What such a judge reaches is the ceiling of inter-scale alpha.

Shape suffixes: S = segments of the latent score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgerel_ray.stats.rated_scales import ScaleRatings, scale_ratings
from judgerel_ray.stats.scale_mapping import ScaleLevel, ScaleMapping, Tie
from judgerel_ray.stats.statistic import Floats

Rounding = Literal["nearest", "equal"]
_MOST_POINTS = 1000
_CELLS = 4_000_000  # terms held at once: 32 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantisationCeiling:
    """Inter-scale alpha of a judge without noise.

    Attributes
    ----------
    value : float or None
        Of endlessly many items.
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
    if rounding not in ("nearest", "equal"):
        raise ValueError(
            f"quantisation_ceiling: rounding must be nearest or equal, got {rounding!r}"
        )
    sizes = [_n_steps(*ends, step) for ends, step in zip(ranges, steps, strict=True)]
    breaks = [_breaks(size, rounding) for size in sizes]
    edges = np.unique(np.concatenate([[0.0, 1.0], *breaks]).round(12))
    middle_S, width_S = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    scores = [
        low + step * np.searchsorted(one, middle_S)
        for one, (low, _), step in zip(breaks, ranges, steps, strict=True)
    ]
    ratings = scale_ratings(scores, ranges=ranges, mapping=mapping, level=level, tie=tie)
    # Segments are items that are met as often as they are wide.
    value = float(ratings.axis.value(_weighted(ratings, width_S), endless=True))
    how = "the nearest point" if rounding == "nearest" else "points of equal share"
    return QuantisationCeiling(
        value=None if np.isnan(value) else value,
        level=ratings.axis.level,
        n_segments=middle_S.size,
        estimator=f"{ratings.axis.level} alpha, {mapping}, latent score uniform on the scale's "
        f"range, rounded to {how}",
        undefined="no_variance" if np.isnan(value) else None,
    )


def _weighted(ratings: ScaleRatings, width_S: Floats) -> Floats:
    """Sums of terms, each segment by its width; a few segments at a time."""
    step = max(1, _CELLS // ratings.axis.n_kinds**2)
    sums = [
        width_S[start : start + step]
        @ ratings.axis.terms([one[start : start + step] for one in ratings.shares])
        for start in range(0, width_S.size, step)
    ]
    total_T: Floats = np.sum(sums, axis=0)
    return total_T


def _n_steps(lowest: float, highest: float, step: float) -> int:
    """Steps from the lowest to the highest point."""
    n = (highest - lowest) / step if step > 0 else 0.0
    if not 1 <= n <= _MOST_POINTS or abs(n - round(n)) > 1e-6:
        raise ValueError(
            f"quantisation_ceiling: the scale must be of whole steps, at most {_MOST_POINTS}, got "
            f"{lowest!r} to {highest!r} by {step!r}"
        )
    return round(n)


def _breaks(n_steps: int, rounding: Rounding) -> Floats:
    """Where the score goes up by one step, of a latent score in [0, 1]."""
    if rounding == "nearest":
        return (np.arange(n_steps) + 0.5) / n_steps
    return np.arange(1, n_steps + 1) / (n_steps + 1)
