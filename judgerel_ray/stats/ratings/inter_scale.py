"""Inter-scale consistency: agreement of a judge with itself across scales.

Each item is a unit, each scale a rater; replications are paired, all of one scale with all of the
other. With one replication a scale this is Krippendorff's alpha.

Alpha mixes a shift of one scale against the other, another order of the items, and the noise that
each scale has by itself. For two scales they are told apart here, too.

Shape suffixes: N = items, C = clusters (questions), T = terms, P = parts, B = sets of weights.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerel_ray.core.codes import Flag
from judgerel_ray.stats.agreement.krippendorff import alpha_statistic
from judgerel_ray.stats.arguments import check_fraction
from judgerel_ray.stats.counts import (
    Coefficient,
    Floats,
    QuestionTerms,
    coefficient_of_units,
    divide,
    row_means,
)
from judgerel_ray.stats.intervals.interval import Interval, student_interval
from judgerel_ray.stats.intervals.paired import Estimate, IntervalScale, estimate_by_question
from judgerel_ray.stats.intervals.question_statistic import (
    Combined,
    QuestionStatistic,
    count_terms,
    mean_terms,
    whole,
)
from judgerel_ray.stats.ratings.correlations import correlation
from judgerel_ray.stats.ratings.rated_scales import ScaleRatings
from judgerel_ray.stats.ratings.scale_mapping import MappingError

_CELLS = 40_000_000  # terms held at once: 320 MB
_FEW, _MINORITY = 10, 5


def inter_scale_alpha(ratings: ScaleRatings) -> Coefficient:
    r"""Compute Krippendorff's alpha across scales.

    .. math:: \alpha = 1 - D_o / D_e

    Do is the mean over items of the mean squared distance between scores on different scales, all
    replications of one with all of the other. De is Krippendorff's, over the pooled scores, each
    weighted by one over the replications that its item has on its scale, so that n is items times
    scales. Of more than two scales, items with a score on some of them count with those (at least
    two), each weighted by how many they are, as units with missing ratings do in Krippendorff's.

    Parameters
    ----------
    ratings : ScaleRatings
        From :func:`judgerel_ray.stats.scale_ratings`.

    Returns
    -------
    Coefficient
        Raters are the scales, ratings the items' scales. ``undefined`` is "no_verdicts" where there
        are no scores, "single_scale" where no item has them on two scales, "no_variance" where all
        are one value on the common axis.

    Raises
    ------
    ValueError
        If there are too many different scores for the level.

    Examples
    --------
    Mapped to 0 0, 1/4 1/3, 1 1: Do = (1/12)^2 / 3, De = 2 x 1.061343 / 5, from the squares about
    the mean of all six.

    >>> from judgerel_ray.stats import scale_ratings
    >>> alpha = inter_scale_alpha(scale_ratings([[1, 2, 5], [1, 4, 10]], ranges=[(1, 5), (1, 10)]))
    >>> round(alpha.value, 6), alpha.n_units, alpha.n_raters
    (0.994547, 3, 2)
    """
    value = whole(inter_scale_terms(ratings))
    scales_N = ratings.n_scales()
    taking = scales_N >= 2
    undefined = None
    if np.isnan(value):
        undefined = "no_variance" if taking.any() else "single_scale"
        undefined = undefined if scales_N.any() else "no_verdicts"
    return coefficient_of_units(
        "inter_scale_alpha", ratings.estimator, scales_N[taking], value=value, undefined=undefined
    )


def inter_scale_interval(ratings: ScaleRatings, *, confidence: float = 0.95) -> Interval:
    """Compute an interval of inter-scale alpha by leaving one question out at a time.

    Parameters
    ----------
    ratings : ScaleRatings
        From :func:`judgerel_ray.stats.scale_ratings`.
    confidence : float
        Coverage asked for, in (0, 1).

    Returns
    -------
    Interval
        On the logit scale where the plain interval excludes 0. Flagged where fewer than ten
        questions show any disagreement between scales, or fewer than five have another mean score
        than most.

    Raises
    ------
    ValueError
        If the confidence is not in (0, 1), or there are too many different scores for the level.

    Notes
    -----
    Ranks are ranks among the questions that are left. Deterministic.

    Examples
    --------
    >>> from judgerel_ray.stats import scale_ratings
    >>> rng = np.random.default_rng(0)
    >>> ten = rng.integers(1, 11, size=(60, 3))
    >>> five = np.clip(np.ceil(ten / 2) + rng.integers(-1, 2, size=(60, 3)), 1, 5)
    >>> found = inter_scale_interval(scale_ratings([five, ten], ranges=[(1, 5), (1, 10)]))
    >>> found.method
    'jackknife-t over 60 questions, logit scale'
    """
    check_fraction("inter_scale_interval", confidence=confidence)
    terms = inter_scale_terms(ratings)
    value = whole(terms)
    if np.isnan(value):
        return Interval(undefined="undefined")
    found = student_interval(value, terms.left_out(), confidence, chance_corrected=True)
    return (
        found if found.undefined else replace(found, few_informative=_scales_rest_on_few(ratings))
    )


def inter_scale_terms(ratings: ScaleRatings) -> QuestionTerms:
    """Lay inter-scale alpha out by question.

    Parameters
    ----------
    ratings : ScaleRatings
        As of :func:`inter_scale_alpha`, also what is refused.

    Returns
    -------
    QuestionTerms
        Of the questions that have an item with scores on two scales.

    Examples
    --------
    >>> from judgerel_ray.stats import scale_ratings
    >>> found = inter_scale_terms(scale_ratings([[1, 5, 3], [1, 9, None]], ranges=[(1, 9)] * 2))
    >>> found.questions_C.tolist(), found.terms_CT.shape
    ([0, 1], (2, 4))
    """
    taking = ratings.n_scales() >= 2
    of_pairs = ratings.axis.ranked or ratings.axis.level == "ordinal"
    cells = int(taking.sum()) * ratings.axis.n_kinds**2
    if of_pairs and cells > _CELLS:
        n_items = int(taking.sum())
        raise MappingError(
            "inter_scale_alpha", Flag.TOO_MANY_TO_RANK, ratings.axis.n_kinds, n_items
        )
    names, number = np.unique(ratings.questions_N[taking], return_inverse=True)
    order = np.argsort(number, kind="stable")
    terms = ratings.axis.terms([one[taking][order] for one in ratings.shares])
    starts = np.searchsorted(number[order], np.arange(names.size))
    return QuestionTerms(
        name="inter_scale_alpha",
        questions_C=names,
        terms_CT=np.add.reduceat(terms, starts, axis=0) if names.size else terms,
        value=ratings.axis.value,
    )


def _scales_rest_on_few(ratings: ScaleRatings) -> bool:
    """Whether few questions disagree between scales, or few differ from most."""
    taking = ratings.n_scales() >= 2
    shares = [one[taking] for one in ratings.shares]
    question = np.unique(ratings.questions_N[taking], return_inverse=True)[1]
    # By value on the common axis, whatever the level.
    axis = ratings.axis if not ratings.axis.ranked else replace(ratings.axis, ranked=False)
    terms = replace(axis, level="interval").terms(shares)
    disagreeing = np.unique(question[terms[:, 0] > 1e-12]).size
    means = (terms[:, 2] / terms[:, 1]).round(9)
    distinct, place = np.unique(means, return_inverse=True)
    usual = np.bincount(place, minlength=distinct.size).argmax()
    return disagreeing < _FEW or np.unique(question[place != usual]).size < _MINORITY


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
    consistencies = [self_consistency_terms(ratings, place) for place in (0, 1)]
    joint = Combined(
        name="disattenuated_alpha",
        parts=(across, *consistencies),
        combine=_disattenuated_correlation,
    )
    undefined = None
    if not all(part.questions_C.size for part in consistencies):
        undefined = "single_replication" if across.questions_C.size else "single_scale"
    elif np.isnan([whole(part) for part in joint.parts]).any():
        undefined = "undefined_alpha"
    elif min(whole(part) for part in consistencies) <= 0:
        undefined = "no_consistency"
    return _scale_agreement_interval(
        joint, ratings, undefined, confidence=confidence, unit="1 is all that noise leaves",
        estimator=f"alpha_IC / sqrt(alpha_SC1 alpha_SC2), {ratings.axis.level} alpha, "
        f"{ratings.mapping}",
        heuristic=True,
    )  # fmt: skip


def scale_shift(ratings: ScaleRatings, *, confidence: float = 0.95) -> Estimate:
    """Compute how much higher the same items come out on the second scale than on the first.

    Parameters
    ----------
    ratings, confidence
        As of :func:`disattenuated_alpha`, also what is refused.

    Returns
    -------
    Estimate
        Mean over items of the difference of their mean scores on the common axis, second minus
        first. ``undefined`` is "ranks_have_no_location" of midranks, "single_scale" where no item
        has a score on both.

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
    first, second = (row_means(one[taking]) for one in ratings.mapped)
    shift = mean_terms("scale_shift", second - first, ratings.questions_N[taking])
    undefined = "ranks_have_no_location" if ratings.mapping == "midrank" else None
    unit = "points" if ratings.mapping == "collapse" else "the common axis, of length 1"
    return _scale_agreement_interval(
        shift, ratings, undefined if taking.any() else "single_scale", confidence=confidence,
        unit=unit, estimator=f"mean difference by item, second less first, {ratings.mapping}",
    )  # fmt: skip


def scale_rank_correlation(ratings: ScaleRatings, *, confidence: float = 0.95) -> Estimate:
    """Compute Spearman's rho of the items' mean scores on two scales, before any mapping.

    Parameters
    ----------
    ratings, confidence
        As of :func:`scale_shift`.

    Returns
    -------
    Estimate
        ``undefined`` is "too_few_units" with fewer than three items on both scales, "no_variance"
        where all means on one scale are the same.

    Examples
    --------
    >>> from judgerel_ray.stats import scale_ratings
    >>> ratings = scale_ratings([[1, 2, 3, 5], [2, 3, 9, 9]], ranges=[(1, 5), (1, 10)])
    >>> round(scale_rank_correlation(ratings).value, 4)
    0.9487
    """
    _check_two(ratings, function="scale_rank_correlation")
    taking = ratings.n_scales() >= 2
    first, second = (row_means(one[taking]) for one in ratings.scores)
    rho = correlation("spearman", first, second, ratings.questions_N[taking])
    undefined = None
    if first.size < 3:
        undefined = "too_few_units"
    elif np.isnan(whole(rho)):
        undefined = "no_variance"
    return _scale_agreement_interval(
        rho, ratings, undefined, confidence=confidence, unit="dimensionless",
        estimator="Spearman's rho of mean scores by item", scale="fisher",
    )  # fmt: skip


def self_consistency_terms(ratings: ScaleRatings, place: int) -> QuestionTerms:
    """Lay the alpha of one scale with its own replications out by question."""
    mapped, values = ratings.mapped[place], ratings.axis.values[place]
    level = "ordinal" if ratings.axis.ranked else ratings.axis.level
    statistic = alpha_statistic(n_values=values.size, values=values, level=level)
    n_N = (~np.isnan(mapped)).sum(axis=1)
    counts = np.rint(ratings.shares[place] * n_N[:, None])
    return count_terms(counts, statistic, questions_U=ratings.questions_N)


def _scale_agreement_interval(
    statistic: QuestionStatistic, ratings: ScaleRatings, undefined: str | None, *,
    confidence: float, unit: str, estimator: str, heuristic: bool = False,
    scale: IntervalScale = "plain",
) -> Estimate:  # fmt: skip
    """The value with its interval, or why there is none."""
    return estimate_by_question(
        statistic, name="scale_rank_correlation" if statistic.name == "spearman" else None,
        undefined=undefined, unit=unit, estimator=estimator, heuristic=heuristic, scale=scale,
        n_units=int((ratings.n_scales() >= 2).sum()), confidence=confidence,
    )  # fmt: skip


def _check_two(ratings: ScaleRatings, *, function: str) -> None:
    """Refuse more than two scales (ValueError)."""
    if len(ratings.scores) != 2:
        raise ValueError(f"{function}: there must be two scales, got {len(ratings.scores)}")


def _disattenuated_correlation(alphas_PB: Floats) -> Floats:
    """First over the root of the product of the others; NaN where one of those is not above 0."""
    across, one, two = alphas_PB
    usable = (one > 0) & (two > 0)
    return divide(across, np.where(usable, np.sqrt(np.maximum(one * two, 0.0)), 0.0))
