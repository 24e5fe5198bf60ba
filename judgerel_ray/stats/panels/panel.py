"""Panels: how many judges a panel is worth when their errors go together, and what one more adds.

What each further judge adds is exact: the mean over all panels that can be drawn from those there
are.

Shape suffixes: N, U = questions, J = judges, K = sizes of panel (1 to J), V = distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.agreement.majority import drawn_together, majority_vote
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.generalizability.component import left_out_interval
from judgerel_ray.stats.panels.votes import checked_votes, first_places


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
        What infinitely many judges of this kind would be worth: 1 / correlation; None at or
        below 0.
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


def random_panels(votes_UJ: ArrayLike, right_U: ArrayLike) -> Floats:
    """Compute how often the majority of panels of each size is right, over all panels there are.

    Parameters
    ----------
    votes_UJ : array-like of int, shape (n_units, n_judges)
        Code of each judge's verdict; negative for none.
    right_U : array-like of int, shape (n_units,)
        Code of the right verdict; negative where no judge's is.

    Returns
    -------
    ndarray of float, shape (n_units, n_judges)
        Column k - 1: mean over all panels of k judges; verdicts that tie are drawn by lot.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Notes
    -----
    No panel is drawn: a panel's votes are hypergeometric, and how many verdicts tie is counted by
    a generating function, once for each pattern of counts.

    Examples
    --------
    Two of three are right. Pairs tie twice out of three times:

    >>> random_panels([[0, 0, 1]], [0]).round(3).tolist()
    [[0.667, 0.667, 1.0]]
    """
    votes, right = checked_votes(votes_UJ, right_U, function="random_panels")
    n_judges = votes.shape[1]
    first = np.where(votes >= 0, first_places(votes), -1)
    counts = np.stack([(first == j).sum(axis=1) for j in range(n_judges)], axis=1)
    is_right = (votes == right[:, None]) & (right >= 0)[:, None]
    # The right verdict's votes, then those of all others, the most first: units alike in these
    # are alike in all.
    place = np.where(is_right, first, -1).max(axis=1, initial=-1)
    known = np.flatnonzero(place >= 0)
    counts[known, place[known]] = 0
    others = -np.sort(-counts, axis=1)
    patterns = np.column_stack([is_right.sum(axis=1), others])
    distinct, pattern_U = np.unique(patterns, axis=0, return_inverse=True)
    shares = [
        _right_shares(int(row[0]), tuple(int(n) for n in row[:0:-1] if n), n_judges)
        for row in distinct
    ]
    return np.array(shares).reshape(-1, n_judges)[pattern_U.ravel()]


@lru_cache(maxsize=4096)
def _right_shares(n_right: int, others: tuple[int, ...], n_judges: int) -> tuple[float, ...]:
    """Shares right of panels of 1, 2, ... judges, of whom so many give each verdict."""
    silent = n_judges - n_right - sum(others)
    ways = [0.0] * n_judges
    for g in range(1, n_right + 1):
        for votes, ties, count in _outvoted(others, g):
            for absent in range(silent + 1):
                size = g + votes + absent
                many = comb(n_right, g) * count * comb(silent, absent)
                ways[size - 1] += many / (1 + ties)
    return tuple(way / comb(n_judges, size) for size, way in enumerate(ways, start=1))


@lru_cache(maxsize=65536)
def _outvoted(others: tuple[int, ...], g: int) -> tuple[tuple[int, int, int], ...]:
    """Ways in which no other verdict gets more than `g` votes: votes, ties with it, count."""
    found: dict[tuple[int, int], int] = {(0, 0): 1}
    for n in others:
        grown: dict[tuple[int, int], int] = {}
        for (votes, ties), count in found.items():
            for x in range(min(n, g) + 1):
                key = (votes + x, ties + (x == g))
                grown[key] = grown.get(key, 0) + count * comb(n, x)
        found = grown
    return tuple((votes, ties, count) for (votes, ties), count in found.items())
