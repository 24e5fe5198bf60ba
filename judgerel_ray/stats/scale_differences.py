"""Beside inter-scale alpha: how far two scales are apart, and what noise alone takes away.

Alpha mixes a shift of one scale against the other, another order of the items, and the noise that
each scale has by itself. Here they are apart, for two scales.

Shape suffixes: N = items, C = clusters (questions), T = terms, P = parts, B = sets of weights.
"""

from __future__ import annotations

import numpy as np

from judgerel_ray.stats.correlations import correlation
from judgerel_ray.stats.inter_scale import inter_scale_terms
from judgerel_ray.stats.krippendorff import alpha_statistic
from judgerel_ray.stats.left_out import Estimate, IntervalScale, estimate
from judgerel_ray.stats.question_statistic import (
    Combined,
    QuestionStatistic,
    QuestionTerms,
    count_terms,
    whole,
)
from judgerel_ray.stats.rated_scales import ScaleRatings
from judgerel_ray.stats.statistic import Floats, divide


def disattenuated_alpha(ratings: ScaleRatings, *, confidence: float = 0.95) -> Estimate:
    """Divide inter-scale alpha by what the scales' own consistency leaves of it at most.

    alpha_IC / sqrt(alpha_SC1 alpha_SC2), all three at the same mapping and level. A heuristic: the
    formula is that of correlations, and rounding to points is no random error. It may exceed 1.

    Parameters
    ----------
    ratings : ScaleRatings
        Of two scales, with all replications.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Estimate
        Its interval leaves each question out of all three at once. ``undefined`` is
        "single_replication" where a scale was asked once, "undefined_alpha" where one of the three
        has no value, "no_consistency" where a scale's own alpha is 0 or below.

    Raises
    ------
    ValueError
        If there are not two scales, or the confidence is not in (0, 1).

    Examples
    --------
    >>> from judgerel_ray.stats import scale_ratings
    >>> rng = np.random.default_rng(0)
    >>> latent = rng.uniform(1, 10, size=(80, 1))
    >>> ten = np.clip(np.rint(latent + rng.normal(size=(80, 3))), 1, 10)
    >>> five = np.clip(np.rint(1 + (latent + rng.normal(size=(80, 3)) - 1) * 4 / 9), 1, 5)
    >>> found = disattenuated_alpha(scale_ratings([five, ten], ranges=[(1, 5), (1, 10)]))
    >>> found.low < 1 < found.high, found.heuristic
    (True, True)
    """
    _check_two(ratings, function="disattenuated_alpha")
    across = inter_scale_terms(ratings)
    own = [self_consistency_terms(ratings, place) for place in (0, 1)]
    joint = Combined(name="disattenuated_alpha", parts=(across, *own), combine=_disattenuate)
    undefined = None
    if not all(part.questions_C.size for part in own):
        undefined = "single_replication" if across.questions_C.size else "single_scale"
    elif np.isnan([whole(part) for part in joint.parts]).any():
        undefined = "undefined_alpha"
    elif min(whole(part) for part in own) <= 0:
        undefined = "no_consistency"
    return _told(
        joint, ratings, undefined, confidence=confidence, unit="1 is all that noise leaves",
        estimator=f"alpha_IC / sqrt(alpha_SC1 alpha_SC2), {ratings.axis.level} alpha, "
        f"{ratings.mapping}",
        heuristic=True,
    )  # fmt: skip


def scale_shift(ratings: ScaleRatings, *, confidence: float = 0.95) -> Estimate:
    """Compute how much higher the same items come out on the second scale than on the first.

    Parameters
    ----------
    ratings : ScaleRatings
        Of two scales.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Estimate
        Mean over items of the difference of their mean scores on the common axis, second minus
        first. ``undefined`` is "ranks_have_no_location" of midranks, "single_scale" where no item
        has a score on both.

    Raises
    ------
    ValueError
        If there are not two scales, or the confidence is not in (0, 1).

    Examples
    --------
    Mapped to 0 0, 1/4 1/3 and 1/2 2/3: a mean of 1/12.

    >>> from judgerel_ray.stats import scale_ratings
    >>> ratings = scale_ratings([[1, 2, 3], [1, 4, 7]], ranges=[(1, 5), (1, 10)])
    >>> round(scale_shift(ratings).value, 6)
    0.083333
    """
    _check_two(ratings, function="scale_shift")
    taking = ratings.n_scales() >= 2
    first, second = (_means(one[taking]) for one in ratings.mapped)
    names, number = np.unique(ratings.questions_N[taking], return_inverse=True)
    sums = [np.bincount(number, weights=w, minlength=names.size) for w in (second - first, None)]
    shift = QuestionTerms(
        name="scale_shift",
        questions_C=names,
        terms_CT=np.stack(sums, axis=1).astype(np.float64),
        value=lambda total: divide(total[..., 0], total[..., 1]),
    )
    undefined = "ranks_have_no_location" if ratings.mapping == "midrank" else None
    unit = "points" if ratings.mapping == "collapse" else "the common axis, of length 1"
    return _told(
        shift, ratings, undefined if taking.any() else "single_scale", confidence=confidence,
        unit=unit, estimator=f"mean difference by item, second less first, {ratings.mapping}",
    )  # fmt: skip


def scale_rank_correlation(ratings: ScaleRatings, *, confidence: float = 0.95) -> Estimate:
    """Compute Spearman's rho of the items' mean scores on two scales, before any mapping.

    Parameters
    ----------
    ratings : ScaleRatings
        Of two scales.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Estimate
        ``undefined`` is "too_few_units" with fewer than three items on both scales, "no_variance"
        where all means on one scale are the same.

    Raises
    ------
    ValueError
        If there are not two scales, or the confidence is not in (0, 1).

    Examples
    --------
    >>> from judgerel_ray.stats import scale_ratings
    >>> ratings = scale_ratings([[1, 2, 3, 5], [2, 3, 9, 9]], ranges=[(1, 5), (1, 10)])
    >>> round(scale_rank_correlation(ratings).value, 4)
    0.9487
    """
    _check_two(ratings, function="scale_rank_correlation")
    taking = ratings.n_scales() >= 2
    first, second = (_means(one[taking]) for one in ratings.scores)
    rho = correlation("spearman", first, second, ratings.questions_N[taking])
    undefined = None
    if first.size < 3:
        undefined = "too_few_units"
    elif np.isnan(whole(rho)):
        undefined = "no_variance"
    return _told(
        rho, ratings, undefined, confidence=confidence, unit="dimensionless",
        estimator="Spearman's rho of mean scores by item", scale="fisher",
    )  # fmt: skip


def self_consistency_terms(ratings: ScaleRatings, place: int) -> QuestionTerms:
    """Lay the alpha of one scale with its own replications out by question.

    Parameters
    ----------
    ratings : ScaleRatings
        From :func:`judgerel_ray.stats.scale_ratings`.
    place : int
        Which scale.

    Returns
    -------
    QuestionTerms
        At the mapping and level of the ratings; midranks are those of ordinal alpha.

    Examples
    --------
    >>> from judgerel_ray.stats import scale_ratings
    >>> ratings = scale_ratings([[[1, 1], [5, 5]], [1, 5]], ranges=[(1, 5), (1, 5)])
    >>> whole(self_consistency_terms(ratings, 0))
    1.0
    """
    mapped, values = ratings.mapped[place], ratings.axis.values[place]
    level = "ordinal" if ratings.axis.ranked else ratings.axis.level
    statistic = alpha_statistic(n_values=values.size, values=values, level=level)
    n_N = (~np.isnan(mapped)).sum(axis=1)
    counts = np.rint(ratings.shares[place] * n_N[:, None])
    return count_terms(counts, statistic, questions_U=ratings.questions_N)


def _told(
    statistic: QuestionStatistic, ratings: ScaleRatings, undefined: str | None, *,
    confidence: float, unit: str, estimator: str, heuristic: bool = False,
    scale: IntervalScale = "plain",
) -> Estimate:  # fmt: skip
    """The value with its interval, or why there is none."""
    return estimate(
        statistic, name="scale_rank_correlation" if statistic.name == "spearman" else None,
        undefined=undefined, unit=unit, estimator=estimator, heuristic=heuristic, scale=scale,
        n_units=int((ratings.n_scales() >= 2).sum()), confidence=confidence,
    )  # fmt: skip


def _check_two(ratings: ScaleRatings, *, function: str) -> None:
    """Refuse more than two scales (ValueError)."""
    if len(ratings.scores) != 2:
        raise ValueError(f"{function}: there must be two scales, got {len(ratings.scores)}")


def _means(scores: Floats) -> Floats:
    """Mean score of each item; every one has some."""
    there = ~np.isnan(scores)
    means: Floats = np.where(there, scores, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return means


def _disattenuate(alphas_PB: Floats) -> Floats:
    """First over the root of the product of the others; NaN where one of those is not above 0."""
    across, one, two = alphas_PB
    usable = (one > 0) & (two > 0)
    return divide(across, np.where(usable, np.sqrt(np.maximum(one * two, 0.0)), 0.0))
