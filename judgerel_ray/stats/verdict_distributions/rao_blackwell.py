"""Replications that reason first: the distribution at the verdict in place of the letter drawn.

Shape suffixes: U = questions, R = replications (sampled reasonings), V = verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.counts.statistic import Floats, divide
from judgerel_ray.stats.intervals.interval import student_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceSplit:
    """Where a judge's inconsistency arises: in its reasoning, or in the verdict drawn after it.

    All means are over questions with two reasonings or more.

    Attributes
    ----------
    mean_UV : ndarray of float, shape (n_questions, n_values)
        Estimated verdict distribution of each question; NaN without a reasoning.
    agreement : float or None
        How often two replications of a question agree, unbiased.
    reasoning : float or None
        Variance between reasonings, summed over verdicts: what Rao-Blackwellised replications keep.
    verdict : float or None
        Variance of the verdict drawn, given the reasoning. `reasoning` + `verdict` is exactly
        1 - `agreement`.
    ratio : float or None
        `reasoning` over 1 - `agreement`: reasonings needed, as a share of letters drawn, for
        the same error. None where the replications never differ.
    ratio_low, ratio_high : float or None
        Ends of its 95 % jackknife interval over questions, within [0, 1].
    n_questions, n_reasonings : int
        Questions with two reasonings or more, and their reasonings.
    """

    mean_UV: Floats  # noqa: N815  a shape, not a case
    agreement: float | None
    reasoning: float | None
    verdict: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    n_questions: int
    n_reasonings: int


def split_variance(distributions_URV: ArrayLike) -> VarianceSplit:
    r"""Split the variance of verdicts into that of the reasoning and that of the verdict.

    .. math:: 1 - A = \mathrm{E}(1 - |\pi|^2) + \mathrm{tr\,Var}(\pi), \quad
              \hat A_q = \frac{|\sum_i \pi_i|^2 - \sum_i |\pi_i|^2}{m (m - 1)}

    Parameters
    ----------
    distributions_URV : array-like of float, shape (n_questions, n_reasonings, n_values)
        Verdict distribution after each sampled reasoning, rows of sum 1 ("no verdict" is a value
        like others); NaN where a replication is missing.

    Returns
    -------
    VarianceSplit
        Numbers are None where no question has two reasonings.

    Raises
    ------
    ValueError
        If the array has not three dimensions, or a row is no distribution.

    Notes
    -----
    Where the distribution after a reasoning is Dirichlet(s p), the ratio is 1 / (1 + s): with s = 5
    one reasoning is worth six letters.

    Examples
    --------
    Each reasoning settles the verdict: all variance is the reasoning's.

    >>> found = split_variance([[[1.0, 0.0], [0.0, 1.0]]])
    >>> found.agreement, found.reasoning, found.verdict, found.ratio
    (0.0, 1.0, 0.0, 1.0)

    Every reasoning leaves it open in the same way: all of it is the verdict's.

    >>> split_variance([[[0.5, 0.5], [0.5, 0.5]]]).ratio
    0.0
    """
    shares = np.asarray(distributions_URV, dtype=np.float64)
    if shares.ndim != 3:
        raise ValueError(
            f"split_variance: distributions_URV must have 3 dimensions, got {shares.ndim}"
        )
    there = np.asarray(~np.isnan(shares).any(axis=2))
    if (shares[there] < 0).any() or (np.abs(shares[there].sum(axis=-1) - 1) > 1e-6).any():
        raise ValueError("split_variance: distributions_URV must hold rows that sum to 1")
    kept = np.where(there[..., None], shares, 0.0)
    m = there.sum(axis=1).astype(np.float64)
    total, squares = kept.sum(axis=1), (kept**2).sum(axis=(1, 2))
    mean = divide(total, np.broadcast_to(m[:, None], total.shape))
    pair = m >= 2
    m, squares, summed = m[pair], squares[pair], (total[pair] ** 2).sum(axis=1)
    agreement = (summed - squares) / (m * (m - 1))
    verdict = 1 - squares / m
    reasoning = np.maximum(0.0, 1 - agreement - verdict)
    n = int(pair.sum())
    if not n:
        return VarianceSplit(
            mean_UV=mean, agreement=None, reasoning=None, verdict=None, ratio=None,
            ratio_low=None, ratio_high=None, n_questions=0, n_reasonings=0,
        )  # fmt: skip
    split = np.stack([reasoning, reasoning + verdict])
    ratio = _share(split.sum(axis=1))
    ends = student_interval(
        float(ratio), _share(split.sum(axis=1)[:, None] - split), 0.95, chance_corrected=False
    )
    return VarianceSplit(
        mean_UV=mean,
        agreement=float(agreement.mean()),
        reasoning=float(reasoning.mean()),
        verdict=float(verdict.mean()),
        ratio=None if np.isnan(ratio) else float(ratio),
        ratio_low=None if np.isnan(ratio) else ends.low,
        ratio_high=None if np.isnan(ratio) else ends.high,
        n_questions=n,
        n_reasonings=int(m.sum()),
    )


def _share(parts_2: Floats) -> Floats:
    """First over second; NaN where that is rounding."""
    return divide(parts_2[0], np.where(parts_2[1] > 1e-12, parts_2[1], 0.0))
