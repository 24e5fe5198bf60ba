"""Coefficients of endless replications, from known verdict distributions.

Shape suffixes: U = units, V = verdicts, C = clusters (questions), T = terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.interval import student_interval
from judgerel_ray.stats.majority import majority_probabilities
from judgerel_ray.stats.statistic import Floats, divide

LIMITS = (
    "percent_agreement",
    "krippendorff_alpha",
    "gwet_ac1",
    "brennan_prediger",
    "entropy_agreement",
    "flip_rate",
)
_SIGNED = {"krippendorff_alpha", "gwet_ac1", "brennan_prediger", "entropy_agreement"}


def limit_coefficients(
    distributions_UV: ArrayLike,
    *,
    n_categories: int | None = None,
    clusters_U: ArrayLike | None = None,
    majorities: Sequence[int] = (3, 5, 11),
    confidence: float = 0.95,
) -> tuple[Coefficient, ...]:
    r"""Compute what coefficients tend to with endless replications, with intervals by question.

    .. math:: A = \frac{1}{Q} \sum_q \sum_v p_{qv}^2, \quad
              \alpha = 1 - \frac{1 - A}{1 - \sum_v \bar p_v^2}

    No verdict was drawn, so the intervals hold only what other questions would change.

    Parameters
    ----------
    distributions_UV : array-like of float, shape (n_units, n_values)
        Probability of each verdict, rows of sum 1; a row with NaN takes no part. "No verdict" is
        a column of its own, or rows are scaled to sum 1 without it.
    n_categories : int, optional
        Declared categories of AC1, Brennan-Prediger and entropy; by default the columns.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default each is its own.
    majorities : sequence of int
        Replications that vote, for majority stability; each at least 1.
    confidence : float
        Of the jackknife intervals, in (0, 1).

    Returns
    -------
    tuple of Coefficient
        percent_agreement, krippendorff_alpha (of nominal verdicts; also Fleiss's kappa and icc1 in
        the limit), gwet_ac1, brennan_prediger, entropy_agreement, flip_rate, then
        majority_stability_k. ``undefined`` is "no_verdicts" without rows, "no_variance" where
        chance cannot be told. ``n_raters`` and ``n_ratings`` are 0: nothing was sampled.

    Raises
    ------
    ValueError
        If a row is no distribution, there is not one cluster a row, or an option is out of range.

    Notes
    -----
    Replications of finite number estimate the same values, whatever that number, but for terms of
    the order of one over the number of questions in alpha.

    Examples
    --------
    A = (1 + .5) / 2 and the mean distribution is (.75, .25): alpha = 1 - .25 / .375.

    >>> found = limit_coefficients([[1.0, 0.0], [0.5, 0.5]], majorities=())
    >>> [(one.name, round(one.value, 4)) for one in found[:2]]
    [('percent_agreement', 0.75), ('krippendorff_alpha', 0.3333)]
    """
    shares, clusters = _checked(distributions_UV, clusters_U)
    n_values = n_categories if n_categories is not None else shares.shape[1]
    if n_values < 1 or any(k < 1 for k in majorities):
        raise ValueError("limit_coefficients: n_categories and majorities must be at least 1")
    if not 0 < confidence < 1:
        raise ValueError(
            f"limit_coefficients: confidence must be between 0 and 1, got {confidence!r}"
        )
    stability = [(majority_probabilities(shares, k) ** 2).sum(axis=1) for k in majorities]
    logs = np.log(np.where(shares > 0, shares, 1.0))
    terms = np.column_stack(
        [np.ones(len(shares)), (shares**2).sum(axis=1), -(shares * logs).sum(axis=1), *stability,
         shares]
    )  # fmt: skip
    by_C = _by_cluster(terms, clusters)
    names = (*LIMITS, *(f"majority_stability_{k}" for k in majorities))
    total = by_C.sum(axis=0)
    values = _values(total, n_values, len(majorities))
    left_out = _values(total - by_C, n_values, len(majorities))
    return tuple(
        _coefficient(name, float(values[i]), left_out[:, i], len(shares), confidence)
        for i, name in enumerate(names)
    )


def _values(total_T: Floats, n_categories: int, n_majorities: int) -> Floats:
    """Every coefficient from sums of [1, sum p^2, entropy, stabilities, p]."""
    q = total_T[..., 0]
    agreement = divide(total_T[..., 1], q)
    shares = total_T[..., 3 + n_majorities :]
    mean = divide(shares, np.broadcast_to(q[..., None], shares.shape))
    together = (mean**2).sum(axis=-1)
    full = np.full_like(agreement, n_categories)
    by_ac1 = divide(1 - together, full - 1)
    chance = np.stack([together, by_ac1, np.where(full > 1, 1 / full, np.nan)])
    # One value alone: chance agreement is certain, and nothing can exceed it.
    under = np.where(1 - chance > 1e-12, 1 - chance, 0.0)
    alpha, ac1, prediger = divide(agreement - chance, under)
    entropy = 1 - divide(divide(total_T[..., 2], q), np.log(full))
    stability = divide(
        np.moveaxis(total_T[..., 3 : 3 + n_majorities], -1, 0),
        np.broadcast_to(q, (n_majorities, *q.shape)),
    )
    return np.stack([agreement, alpha, ac1, prediger, entropy, 1 - agreement, *stability], axis=-1)


def _coefficient(
    name: str, value: float, left_out_C: Floats, n_units: int, confidence: float
) -> Coefficient:
    """One coefficient with its interval, or the reason why there is none."""
    undefined = None if not np.isnan(value) else "no_variance" if n_units else "no_verdicts"
    found = Coefficient(
        name=name,
        value=None if undefined else value,
        undefined=undefined,
        estimator="limit of endless replications, exact from distributions",
        n_units=n_units,
        n_raters=0,
        n_ratings=0,
        n_missing=0,
    )
    if undefined:
        return found
    ends = student_interval(value, left_out_C, confidence, chance_corrected=name in _SIGNED)
    return replace(found, low=ends.low, high=ends.high)


def _by_cluster(terms_UT: Floats, clusters_U: NDArray[np.generic]) -> Floats:
    """Sums of terms by question, shape (C, T)."""
    known, number = np.unique(clusters_U, return_inverse=True)
    summed = np.zeros((known.size, terms_UT.shape[1]))
    np.add.at(summed, number, terms_UT)
    return summed


def _checked(
    distributions_UV: ArrayLike, clusters_U: ArrayLike | None
) -> tuple[Floats, NDArray[np.generic]]:
    """Rows without NaN, each a distribution, and their questions."""
    shares = np.asarray(distributions_UV, dtype=np.float64)
    if shares.ndim != 2 or not shares.shape[1]:
        raise ValueError(
            f"limit_coefficients: distributions_UV must have 2 dimensions, got {shares.shape}"
        )
    clusters = np.arange(len(shares)) if clusters_U is None else np.asarray(clusters_U)
    if clusters.shape != shares.shape[:1]:
        raise ValueError(
            f"limit_coefficients: clusters_U must have shape ({len(shares)},), got {clusters.shape}"
        )
    there = ~np.isnan(shares).any(axis=1)
    kept = shares[there]
    if (kept < 0).any() or (np.abs(kept.sum(axis=1) - 1) > 1e-6).any():
        raise ValueError("limit_coefficients: distributions_UV must hold rows that sum to 1")
    return kept, clusters[there]
