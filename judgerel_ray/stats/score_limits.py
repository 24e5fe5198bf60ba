"""Krippendorff's alpha of endless ratings, from their distributions: ordinal and interval.

Shape suffixes: U = units, V = values of a scale, C = clusters (questions).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.interval import student_interval
from judgerel_ray.stats.statistic import Floats, divide

NumericLevel = Literal["ordinal", "interval"]
_LEVELS: tuple[NumericLevel, ...] = get_args(NumericLevel)


def score_limit(
    distributions_UV: ArrayLike,
    values_V: ArrayLike,
    *,
    level: NumericLevel,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    r"""Compute what alpha of scores tends to with endless replications, those without one dropped.

    .. math:: \alpha = 1 - \frac{\sum_u w_u \mathrm{Var}_u(x)}{\sum_u w_u \, \mathrm{Var}(x)}

    with :math:`w_u` the probability that a reply of the unit has a score: so often it is there. At
    the ordinal level :math:`x` are the values' midranks in the mean distribution.

    Parameters
    ----------
    distributions_UV : array-like of float, shape (n_units, n_values)
        Probability of each value; what is left to 1 is no score.
    values_V : array-like of float, shape (n_values,)
        The scores, all different.
    level : {"ordinal", "interval"}
        Of the differences.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default each is its own.
    confidence : float
        Of the jackknife interval, in (0, 1).

    Returns
    -------
    Coefficient
        krippendorff_alpha. ``undefined`` is "no_verdicts" where no reply has a score, and
        "no_variance" where all have the same. ``n_raters`` and ``n_ratings`` are 0.

    Raises
    ------
    ValueError
        If shapes do not fit, a row is no distribution, values repeat, or the level is unknown.

    Examples
    --------
    Var within: (0 + 1) / 2; of all: scores 1 with .75 and 3 with .25, so .75.

    >>> found = score_limit([[1.0, 0.0], [0.5, 0.5]], [1, 3], level="interval")
    >>> round(found.value, 4)
    0.3333
    """
    shares, values, clusters = _checked(distributions_UV, values_V, clusters_U, level)
    if not 0 < confidence < 1:
        raise ValueError(f"score_limit: confidence must be between 0 and 1, got {confidence!r}")
    mass_U = shares.sum(axis=1)
    taking = mass_U > 0
    shares, mass_U, clusters = shares[taking], mass_U[taking], clusters[taking]
    questions, number_U = np.unique(clusters, return_inverse=True)
    by_CV = np.zeros((questions.size, values.size))
    np.add.at(by_CV, number_U, shares)
    total_V = by_CV.sum(axis=0)
    whole = _alphas(total_V[None, :], shares, mass_U, None, values, level)[0]
    undefined = None if not np.isnan(whole) else "no_variance" if taking.any() else "no_verdicts"
    found = Coefficient(
        name="krippendorff_alpha",
        value=None if undefined else float(whole),
        undefined=undefined,
        estimator=f"limit of endless replications, exact from distributions, {level} scores, "
        "replies without one left out",
        n_units=int(taking.sum()),
        n_raters=0,
        n_ratings=0,
        n_missing=0,
    )
    if undefined:
        return found
    left_out_C = _alphas(total_V - by_CV, shares, mass_U, number_U, values, level)
    ends = student_interval(found.value or 0.0, left_out_C, confidence, chance_corrected=True)
    return replace(found, low=ends.low, high=ends.high)


def _alphas(
    totals_CV: Floats,
    shares_UV: Floats,
    mass_U: Floats,
    number_U: NDArray[np.intp] | None,
    values: Floats,
    level: NumericLevel,
) -> Floats:
    """Alpha of all units (one row of totals), or with the units of each question left out."""
    x_CV = np.broadcast_to(values, totals_CV.shape)
    if level == "ordinal":
        x_CV = np.cumsum(totals_CV, axis=1) - totals_CV / 2
    mass_C = totals_CV.sum(axis=1)
    mean_C = divide((totals_CV * x_CV).sum(axis=1), mass_C)
    # About the mean, for the squares of far values lose digits.
    x_CV = x_CV - np.nan_to_num(mean_C)[:, None]
    square_C = (totals_CV * x_CV**2).sum(axis=1)
    # Mean of squares less squares of means, of the units that stay: sum over units of (p x)^2 / w.
    scaled_UV = shares_UV / np.sqrt(mass_U)[:, None]
    moments_VV = scaled_UV.T @ scaled_UV
    means_C = np.einsum("cv,vw,cw->c", x_CV, moments_VV, x_CV, optimize=True)
    if number_U is not None:
        mine_U = (scaled_UV * x_CV[number_U]).sum(axis=1) ** 2
        means_C = means_C - np.bincount(number_U, mine_U, minlength=len(totals_CV))
    within_C = np.maximum(0.0, square_C - means_C)
    width_C = x_CV.max(axis=1) - x_CV.min(axis=1)
    spread = square_C > 1e-12 * mass_C * width_C**2
    return 1 - divide(within_C, np.where(spread, square_C, 0.0))


def _checked(
    distributions_UV: ArrayLike, values_V: ArrayLike, clusters_U: ArrayLike | None, level: str
) -> tuple[Floats, Floats, NDArray[np.generic]]:
    """Shares in the order of the values, the values, and each unit's question."""
    if level not in _LEVELS:
        raise ValueError(f"score_limit: level must be one of {', '.join(_LEVELS)}, got {level!r}")
    shares, values = np.asarray(distributions_UV, np.float64), np.asarray(values_V, np.float64)
    if shares.ndim != 2 or values.shape != shares.shape[1:] or not np.isfinite(values).all():
        raise ValueError(
            f"score_limit: there must be one finite value a column, got {values.shape} for "
            f"{shares.shape}"
        )
    if np.unique(values).size < values.size:
        raise ValueError("score_limit: values must differ")
    sums = shares.sum(axis=1)
    if not np.isfinite(shares).all() or (shares < 0).any() or (sums > 1 + 1e-6).any():
        raise ValueError("score_limit: rows must be probabilities, of sum 1 at most")
    clusters = np.arange(len(shares)) if clusters_U is None else np.asarray(clusters_U)
    if clusters.shape != shares.shape[:1]:
        raise ValueError(
            f"score_limit: clusters_U must have shape ({len(shares)},), got {clusters.shape}"
        )
    order = np.argsort(values)
    return shares[:, order], values[order], clusters
