"""A judge with a known latent score and known noise, asked on every scale: what is true of it.

An item deserves t, uniform on [0, 1] (0 the lowest point of every scale, 1 the highest). Each reply
is t plus normal noise, rounded to the nearest point of the scale asked, the ends taking what is
beyond them; in words the judge agrees too readily, by a tenth of the scale. All truths are of
infinitely many items, by Gauss-Legendre integration over t, no simulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from judgerel_ray.stats import SCALE_CASES, map_scores
from judgerel_ray.stats.ratings.rated_scales import ScaleAxis
from judgerel_ray.stats.ratings.scale_mapping import ScaleLevel, ScaleMapping

Floats = NDArray[np.float64]
NODES = 16  # of each segment: the integrands are smooth between break points


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedScale:
    """A scale by its ends, the level its own consistency is told at, and how kind it makes."""

    lowest: int
    highest: int
    level: ScaleLevel
    lift: float = 0.0

    @property
    def points(self) -> Floats:
        return np.arange(self.lowest, self.highest + 1, dtype=np.float64)

    @property
    def breaks(self) -> Floats:
        """Where the nearest point changes, on the latent axis."""
        steps = self.highest - self.lowest
        return (np.arange(steps) + 0.5) / steps


SCALES: Mapping[str, AskedScale] = {
    "points5": AskedScale(lowest=1, highest=5, level="interval"),
    "points10": AskedScale(lowest=1, highest=10, level="interval"),
    "likert5": AskedScale(lowest=0, highest=4, level="ordinal", lift=0.1),
    "binary": AskedScale(lowest=0, highest=1, level="nominal"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingJudge:
    """Noise of each reply, on the latent axis."""

    noise: float

    def replies(
        self, latent: Floats, scale: AskedScale, *, replications: int, rng: np.random.Generator
    ) -> Floats:
        """Scores, shape (*latent.shape, replications)."""
        seen = (
            latent[..., None]
            + scale.lift
            + rng.normal(scale=self.noise, size=(*latent.shape, replications))
        )
        steps = scale.highest - scale.lowest
        return scale.lowest + np.clip(np.rint(seen * steps), 0, steps)

    def shares(self, latent: Floats, scale: AskedScale) -> Floats:
        """Probability of each point, shape (len(latent), points)."""
        below = ndtr((scale.breaks - scale.lift - latent[:, None]) / self.noise)
        edges = np.concatenate([np.zeros((len(latent), 1)), below, np.ones((len(latent), 1))], 1)
        return np.diff(edges, axis=1)


def nodes(judge: RatingJudge) -> tuple[Floats, Floats]:
    """Latent scores and their weights: in segments no longer than the noise, or a sixteenth."""
    n = int(max(16, np.ceil(1 / judge.noise)))
    points, weights = np.polynomial.legendre.leggauss(NODES)
    starts = np.arange(n)[:, None] / n
    return ((starts + (points + 1) / 2 / n).ravel(), np.tile(weights / 2 / n, n))


def consistency(judge: RatingJudge, scale: AskedScale) -> float:
    """Alpha of one scale with its own replications: two replies that share nothing but t."""
    latent, weights = nodes(judge)
    shares = judge.shares(latent, scale)
    axis = ScaleAxis(values=(scale.points, scale.points), level=scale.level)
    return float(axis.value(weights @ axis.terms([shares, shares]), limit=True))


def across(
    judge: RatingJudge, scales: Sequence[AskedScale], mapping: ScaleMapping, level: ScaleLevel
) -> float:
    """Inter-scale alpha: replies on different scales that share nothing but t."""
    latent, weights = nodes(judge)
    shares = [judge.shares(latent, one) for one in scales]
    if mapping == "binarise":
        mapped = [
            map_scores(one.points, mapping, lowest=one.lowest, highest=one.highest)
            for one in scales
        ]
        shares = [
            np.stack([one[:, values == bit].sum(axis=1) for bit in (0, 1)], axis=1)
            for one, values in zip(shares, mapped, strict=True)
        ]
        values = (np.array([0.0, 1.0]),) * len(scales)
    else:
        values = tuple(
            map_scores(one.points, mapping, lowest=one.lowest, highest=one.highest)
            for one in scales
        )
    axis = ScaleAxis(values=values, level=level)
    return float(axis.value(weights @ axis.terms(shares), limit=True))


def _moment(judge: RatingJudge, scale: AskedScale) -> Floats:
    """Mean, variance of the mean score by item, mean variance within, covariance with t."""
    latent, weights = nodes(judge)
    shares = judge.shares(latent, scale)
    mean = shares @ scale.points
    within = shares @ scale.points**2 - mean**2
    centre = weights @ mean
    return np.array(
        [
            centre,
            weights @ (mean - centre) ** 2,
            weights @ within,
            weights @ ((mean - centre) * (latent - 0.5)),
        ]
    )


def pearson(judge: RatingJudge, scale: AskedScale, *, averaged: int) -> float:
    """Correlation of the mean of so many replies with t itself."""
    _, between, within, product = _moment(judge, scale)
    return float(product / np.sqrt((between + within / averaged) / 12))


def shift(judge: RatingJudge, first: AskedScale, second: AskedScale) -> float:
    """Difference of the mean scores, min-max, second less first."""
    means = [
        (_moment(judge, one)[0] - one.lowest) / (one.highest - one.lowest)
        for one in (first, second)
    ]
    return float(means[1] - means[0])


def case(judge: RatingJudge, name: str) -> float:
    """Inter-scale alpha of one of the paper's cases."""
    found = SCALE_CASES[name]
    return across(judge, [SCALES[one] for one in found.scales], found.mapping, found.level)


def disattenuated(judge: RatingJudge, name: str) -> float:
    """The same over the root of both scales' own alpha, at its mapping and level."""
    found = SCALE_CASES[name]
    scales = [SCALES[one] for one in found.scales]
    own = [across(judge, [one, one], found.mapping, found.level) for one in scales]
    return case(judge, name) / float(np.sqrt(own[0] * own[1]))
