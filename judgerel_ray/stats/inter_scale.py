"""Inter-scale consistency: agreement of a judge with itself across scales.

Each item is a unit, each scale a rater; replications are paired, all of one scale with all of the
other. With one replication a scale this is Krippendorff's alpha.

Shape suffixes: C = clusters (questions), T = terms.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.interval import Interval, student_interval
from judgerel_ray.stats.left_out import check_confidence
from judgerel_ray.stats.question_statistic import QuestionTerms, whole
from judgerel_ray.stats.rated_scales import ScaleRatings

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
    n_units, n_ratings = int(taking.sum()), int(scales_N[taking].sum())
    n_raters = int(scales_N[taking].max(initial=0))
    return Coefficient(
        name="inter_scale_alpha",
        estimator=ratings.estimator,
        value=None if undefined else value,
        undefined=undefined,
        n_units=n_units,
        n_raters=n_raters,
        n_ratings=n_ratings,
        n_missing=n_units * n_raters - n_ratings,
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
    check_confidence(confidence, function="inter_scale_interval")
    terms = inter_scale_terms(ratings)
    value = whole(terms)
    if np.isnan(value):
        return Interval(undefined="undefined")
    found = student_interval(value, terms.left_out(), confidence, chance_corrected=True)
    return found if found.undefined else replace(found, few_informative=_few(ratings))


def inter_scale_terms(ratings: ScaleRatings) -> QuestionTerms:
    """Lay inter-scale alpha out by question.

    Parameters
    ----------
    ratings : ScaleRatings
        From :func:`judgerel_ray.stats.scale_ratings`.

    Returns
    -------
    QuestionTerms
        Of the questions that have an item with scores on two scales.

    Raises
    ------
    ValueError
        If there are too many different scores for the level.

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
        raise ValueError(
            f"inter_scale_alpha: {ratings.axis.n_kinds} different scores of {taking.sum()} items "
            f"are too many to rank, round them or choose the level interval"
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


def _few(ratings: ScaleRatings) -> bool:
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
