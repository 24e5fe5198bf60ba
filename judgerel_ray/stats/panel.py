"""Panels: how many judges a panel is worth when their errors go together, and what one more adds.

Shape suffixes: N, U = questions, J = judges, V = distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.component_intervals import left_out_interval
from judgerel_ray.stats.statistic import Floats
from judgerel_ray.stats.verdict_shares import drawn_together, majority_vote


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveJudges:
    """What a panel is worth.

    Attributes
    ----------
    n_judges : int
        Judges whose errors vary.
    n_questions : int
        Questions that all of them judged.
    correlation : float or None
        Mean correlation of the errors of two judges.
    value : float or None
        Independent judges that would do as well: J / (1 + (J - 1) correlation); None where
        `undefined` is set.
    low, high : float or None
        Its interval, by leaving questions out.
    most : float or None
        What endless judges of this kind would be worth: 1 / correlation; None at or below 0.
    undefined : str or None
        "too_few_judges", "too_few_units", or "no_bound": errors so opposed that they cancel.
    """

    n_judges: int
    n_questions: int
    correlation: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    most: float | None = None
    undefined: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelStep:
    """A panel of some size.

    Attributes
    ----------
    n_judges : int
        Its size.
    agreement : float
        Chance that the majorities of two such panels of other judges of this kind agree.
    gain : float or None
        What the last judge added to it; None for the first.
    """

    n_judges: int
    agreement: float
    gain: float | None


def effective_judges(
    errors_NJ: ArrayLike, *, within_NJ: ArrayLike | None = None, confidence: float = 0.95
) -> EffectiveJudges:
    r"""Compute how many independent judges a panel is worth.

    .. math:: n_{eff} = J / (1 + (J - 1) \bar\rho)

    Parameters
    ----------
    errors_NJ : array-like of float, shape (n_questions, n_judges)
        Errors of each judge on each question: score less the true one, or 1 where the verdict is
        wrong. Means of several judgments will do, with `within_NJ`. Rows with NaN are left out, and
        so are judges that never vary.
    within_NJ : array-like of float, shape (n_questions, n_judges), optional
        Variance of the judgments behind each mean, so that it is single judgments whose
        correlation is told; by default 0.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    EffectiveJudges

    Raises
    ------
    ValueError
        If `errors_NJ` is not two-dimensional, `within_NJ` is of another shape, or the confidence
        is not in (0, 1).

    Examples
    --------
    Two judges that always err together are one:

    >>> effective_judges([[1, 1], [0, 0], [1, 1], [0, 0]]).value
    1.0
    """
    errors: Floats = np.asarray(errors_NJ, dtype=np.float64)
    if errors.ndim != 2:
        raise ValueError(f"effective_judges: errors_NJ must have 2 dimensions, got {errors.ndim}")
    if not 0 < confidence < 1:
        raise ValueError(
            f"effective_judges: confidence must be between 0 and 1, got {confidence!r}"
        )
    within = np.zeros_like(errors) if within_NJ is None else np.asarray(within_NJ, np.float64)
    if within.shape != errors.shape:
        raise ValueError(
            f"effective_judges: within_NJ must have shape {errors.shape}, got {within.shape}"
        )
    rows = ~np.isnan(errors).any(axis=1)
    errors, within = errors[rows], within[rows]
    if len(errors):
        judges = (np.ptp(errors, axis=0) > 0) | (within > 0).any(axis=0)
        errors, within = errors[:, judges], within[:, judges]
    n, n_judges = errors.shape
    if n < 2 or n_judges < 2:
        undefined = "too_few_units" if n < 2 else "too_few_judges"
        return EffectiveJudges(n_judges=n_judges, n_questions=n, undefined=undefined)
    products_NJJ = errors[:, :, None] * errors[:, None, :] + within[:, :, None] * np.eye(n_judges)
    sums, products = errors.sum(axis=0), products_NJJ.sum(axis=0)
    correlation = float(_mean_correlation(sums, products, n))
    left_out_N = _mean_correlation(sums - errors, products - products_NJJ, n - 1)
    worth = 1 + (n_judges - 1) * correlation
    if worth < 1e-9:
        return EffectiveJudges(
            n_judges=n_judges, n_questions=n, correlation=correlation, undefined="no_bound"
        )
    low, high = left_out_interval(correlation, [(left_out_N, 1.0)], confidence=confidence)
    return EffectiveJudges(
        n_judges=n_judges,
        n_questions=n,
        correlation=correlation,
        value=n_judges / worth,
        low=None if high is None else n_judges / (1 + (n_judges - 1) * min(1.0, high)),
        high=_worth(n_judges, low),
        most=1 / correlation if correlation > 0 else None,
    )


def panel_steps(counts_UJV: ArrayLike, *, most: int) -> tuple[PanelStep, ...]:
    """Compute what each further judge adds to the agreement of majority verdicts.

    Every judge of a panel judges once. Judges count as drawn from one kind: those of the counts,
    and others like them.

    Parameters
    ----------
    counts_UJV : array-like of int, shape (n_units, n_judges, n_values)
        How often each judge gave each value to each question.
    most : int
        Largest panel.

    Returns
    -------
    tuple of PanelStep
        Panels of 1, 2, ... `most`; empty where no question has two judges. Ties are split evenly,
        so a second judge adds nothing: what counts is the next odd size.

    Raises
    ------
    ValueError
        If the counts have not three dimensions or are negative, or `most` is below 1.

    Notes
    -----
    The agreement of one judgment with one of another judge is unbiased; larger panels follow from
    shares drawn together until they show it, as in :func:`supported_shares`.

    Examples
    --------
    >>> steps = panel_steps([[[1, 0], [1, 0]], [[1, 0], [0, 1]], [[0, 1], [0, 1]]], most=3)
    >>> [round(step.agreement, 3) for step in steps]
    [0.667, 0.667, 0.76]
    """
    if most < 1:
        raise ValueError(f"panel_steps: most must be at least 1, got {most}")
    counts: Floats = np.asarray(counts_UJV, dtype=np.float64)
    if counts.ndim != 3 or (counts < 0).any():
        raise ValueError("panel_steps: counts_UJV must be counts in 3 dimensions")
    m_UJ = counts.sum(axis=2)
    shares_UJV = np.divide(
        counts, m_UJ[..., None], out=np.zeros_like(counts), where=m_UJ[..., None] > 0
    )
    n_U = (m_UJ > 0).sum(axis=1)
    shares_UJV, n_U = shares_UJV[n_U >= 2], n_U[n_U >= 2].astype(np.float64)
    if not n_U.size:
        return ()
    sums_UV = shares_UJV.sum(axis=1)
    pairs_U = (sums_UV**2).sum(axis=1) - (shares_UJV**2).sum(axis=(1, 2))
    disagreement = float(1 - (pairs_U / (n_U * (n_U - 1))).mean())
    shares = drawn_together(sums_UV / n_U[:, None], disagreement)
    agreements = [majority_vote(shares, k).agreement for k in range(1, most + 1)]
    gains = [None, *(after - before for before, after in pairwise(agreements))]
    return tuple(
        PanelStep(n_judges=k, agreement=agreement, gain=gain)
        for k, (agreement, gain) in enumerate(zip(agreements, gains, strict=True), start=1)
    )


def _mean_correlation(sums: Floats, products: Floats, n: int) -> Floats:
    """Mean off-diagonal correlation from sums (..., J) and sums of products (..., J, J)."""
    covariance = products / n - sums[..., :, None] * sums[..., None, :] / n**2
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    deviation = np.sqrt(np.where(variance > 1e-15, variance, np.nan))
    correlation = covariance / (deviation[..., :, None] * deviation[..., None, :])
    n_judges = sums.shape[-1]
    trace = np.trace(correlation, axis1=-2, axis2=-1)
    mean: Floats = (correlation.sum(axis=(-2, -1)) - trace) / (n_judges * (n_judges - 1))
    return mean


def _worth(n_judges: int, correlation: float | None) -> float | None:
    """J / (1 + (J - 1) rho); None where there is no bound."""
    if correlation is None or 1 + (n_judges - 1) * correlation < 1e-9:
        return None
    return n_judges / (1 + (n_judges - 1) * correlation)
