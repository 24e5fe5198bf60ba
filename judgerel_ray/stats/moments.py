"""Continuous scores by number, sum and sum of squares of each unit: all that a stream need keep.

Shape suffixes: U = units, R = raters (replications), 3 = number, sum, sum of squares; ``...`` = any
leading batch axes.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.anova import mean_rating, moment_terms, one_rating, stepped_up
from judgerel_ray.stats.krippendorff import interval_alpha
from judgerel_ray.stats.statistic import CountStatistic, Floats


def moment_statistic(
    name: Literal["icc", "icc1", "icck", "krippendorff_alpha"], *, k: int = 1
) -> CountStatistic:
    """Take a coefficient of continuous scores apart, by name.

    Its values and intervals are those of counts: :func:`judgerel_ray.stats.measure`,
    :func:`judgerel_ray.stats.jackknife_interval` and :func:`judgerel_ray.stats.bootstrap_interval`
    read moments of shape (n_units, 3) in place of counts.

    Parameters
    ----------
    name : {"icc", "icc1", "icck", "krippendorff_alpha"}
        "icc" is of the mean of `k`, "icck" of the mean of all of a unit's scores; alpha is at level
        "interval".
    k : int
        For "icc", of the mean of how many scores, at least 1.

    Returns
    -------
    CountStatistic

    Raises
    ------
    ValueError
        If the name is unknown, or k is below 1.

    Examples
    --------
    Scores 1 1, 1 3, 4 4: 1 - (2/3) / (34/15).

    >>> from judgerel_ray.stats import measure
    >>> alpha = measure([[2, 2, 2], [2, 4, 10], [2, 8, 32]], moment_statistic("krippendorff_alpha"))
    >>> round(alpha.value, 6)
    0.705882
    """
    if k < 1:
        raise ValueError(f"{name}: k must be at least 1, got {k}")
    if name == "krippendorff_alpha":
        return CountStatistic(
            name=name,
            estimator="interval alpha",
            terms=_alpha_terms,
            value=interval_alpha,
            of_moments=True,
            has_floor=False,
        )
    if name not in ("icc", "icc1", "icck"):
        raise ValueError(f"moment_statistic: name must be a coefficient of scores, got {name!r}")
    k = 1 if name == "icc1" else k
    return CountStatistic(
        name=name if name == "icck" else f"icc{k}",
        estimator=f"one-way ANOVA of scores, ICC({'k' if name == 'icck' else k})",
        terms=moment_terms,
        value=mean_rating if name == "icck" else lambda total: stepped_up(one_rating(total), k),
        min_units=2,
        of_moments=True,
        has_floor=False,
    )


def moments_from_scores(scores_UR: ArrayLike) -> Floats:
    """Sum each unit's scores and their squares, about the mean of all scores.

    Parameters
    ----------
    scores_UR : array-like of float, shape (n_units, n_raters)
        NaN is missing.

    Returns
    -------
    ndarray of float, shape (n_units, 3)
        Number, sum and sum of squares of each unit's scores less the mean of all.

    Raises
    ------
    ValueError
        If the scores are not two-dimensional or not finite.

    Examples
    --------
    >>> moments_from_scores([[1, 3], [5, float("nan")]]).tolist()
    [[2.0, -2.0, 4.0], [1.0, 2.0, 4.0]]
    """
    scores = np.asarray(scores_UR, dtype=np.float64)
    if scores.ndim != 2:
        raise ValueError(f"icc: scores_UR must have 2 dimensions, got {scores.ndim}")
    if np.isinf(scores).any():
        raise ValueError("icc: scores_UR must be finite or NaN")
    there = ~np.isnan(scores)
    centre = scores[there].mean() if there.any() else 0.0
    scores = np.where(there, scores - centre, 0.0)
    return np.stack([there.sum(axis=1), scores.sum(axis=1), (scores**2).sum(axis=1)], axis=1)


def _alpha_terms(moments_U3: Floats) -> Floats:
    """[m, sum x, sum x^2, m SS / (m - 1)] of units with two scores or more."""
    terms = moment_terms(moments_U3)
    m, within, squares, total = (terms[..., i] for i in (1, 3, 4, 5))
    weighted = m * within / np.where(m >= 2, m - 1, 1.0)
    return np.stack([m, total, squares, weighted], axis=-1)
