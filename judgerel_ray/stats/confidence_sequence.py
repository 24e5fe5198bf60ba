"""How well a verdict distribution is known, however often one looks.

Shape suffixes: V = verdicts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.statistic import Floats


def distribution_interval(
    counts_V: ArrayLike, *, delta: float = 0.05, prior: float = 1.0
) -> tuple[Floats, Floats]:
    r"""Bound every verdict's probability at once, however often one looks.

    The distributions p that are kept are those with

    .. math:: \frac{B(a + n)}{B(a)} \Big/ \prod_v p_v^{n_v} < \frac{1}{\delta};

    the ends are the least and the most each p can have among them.

    Parameters
    ----------
    counts_V : array-like of int, shape (n_values,)
        Draws of each verdict that could be drawn.
    delta : float
        Chance that the true distribution is ever outside; in (0, 1).
    prior : float
        Weight a of each verdict in the mixture, above 0.

    Returns
    -------
    low_V, high_V : ndarray of float, shape (n_values,)

    Raises
    ------
    ValueError
        If there is no verdict, the counts are no whole numbers, or an option is out of range.

    References
    ----------
    .. [1] Lindon and Malek (2022), Anytime-Valid Inference for Multinomial Count Data,
       arXiv:2011.03567.

    Examples
    --------
    >>> low, high = distribution_interval([0, 0])
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0], [1.0, 1.0])
    >>> low, high = distribution_interval([30, 10])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.512, 0.086], [0.914, 0.488])
    """
    from scipy.special import gammaln

    counts = checked_draws(counts_V, delta, function="distribution_interval")
    if not prior > 0:
        raise ValueError(f"distribution_interval: prior must be above 0, got {prior!r}")
    n, weight = counts.sum(), prior * counts.size
    mixed = (gammaln(counts + prior) - gammaln(prior)).sum() + gammaln(weight) - gammaln(weight + n)
    # Given one share, the likelihood is largest with the others in proportion to their counts.
    rest = n - counts
    others = np.array([_entropy_sum(np.delete(counts, v)) for v in range(counts.size)])
    least = mixed + np.log(delta) - others
    return _edge(counts, rest, least, lower=True), _edge(counts, rest, least, lower=False)


def _entropy_sum(counts: Floats) -> float:
    """Sum of n log(n / total)."""
    there = counts[counts > 0]
    return float((there * np.log(there / there.sum())).sum())


def _edge(counts: Floats, rest: Floats, least: Floats, *, lower: bool) -> Floats:
    """Where n log p + rest log(1 - p) falls to `least`, below or above its top, by bisection."""
    from scipy.special import xlog1py, xlogy

    n = counts + rest
    top = np.divide(counts, n, out=np.full(counts.size, 0.5), where=n > 0)
    inside, outside = top.copy(), np.full(counts.size, 0.0 if lower else 1.0)
    for _ in range(60):
        middle = (inside + outside) / 2
        kept = xlogy(counts, middle) + xlog1py(rest, -middle) >= least
        inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
    return outside


def checked_draws(counts_V: ArrayLike, delta: float, *, function: str) -> Floats:
    """Read the draws of each verdict, refusing what is none.

    Raises
    ------
    ValueError
        If there is no verdict, the counts are no whole numbers, or delta is out of range.

    Examples
    --------
    >>> checked_draws([3, 1], 0.05, function="mode_is_settled").tolist()
    [3.0, 1.0]
    """
    counts = np.asarray(counts_V, dtype=np.float64)
    if counts.ndim != 1 or not counts.size or (counts < 0).any() or (counts % 1 != 0).any():
        raise ValueError(f"{function}: counts_V must hold whole numbers from 0 on")
    if not 0 < delta < 1:
        raise ValueError(f"{function}: delta must be between 0 and 1, got {delta!r}")
    return counts
