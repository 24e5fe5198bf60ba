"""How sure a judge is of each unit: the entropy of its verdicts, and whether all of them agree.

Shape suffixes: U = units, V = distinct values, T = terms; ``...`` = any leading batch axes.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_at_least_1
from judgerel_ray.stats.counts import (
    Coefficient,
    CountStatistic,
    Floats,
    PermutedTerm,
    divide,
    measure,
    refuse_few_categories,
)


def entropy_agreement(counts_UV: ArrayLike, *, n_categories: int | None = None) -> Coefficient:
    r"""Compute one minus the mean entropy of a unit's verdicts, as a share of the largest.

    .. math:: 1 - \frac{1}{Q \log K} \sum_q \left(\hat H_q + \frac{K_q - 1}{2 m_q}\right)

    The entropy of observed shares is too low; the second term (Miller and Madow's), with K_q the
    values the unit received, mends it to the first order. With few replications the mended entropy
    may exceed log K: the value is then negative, and is left so.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; units with fewer than two ratings take no part.
    n_categories : int, optional
        Declared categories K; by default the columns of `counts_UV`.

    Returns
    -------
    Coefficient
        At most 1 (all verdicts on a unit agree), 0 where all K categories are equally frequent.
        ``undefined`` and errors as of :func:`judgerel_ray.stats.gwet_ac1`.

    References
    ----------
    .. [1] Miller, G. A. (1955). Note on the bias of information estimates.

    Examples
    --------
    One unit agrees, one is split evenly over four replications: H = log 2 + 1/8, so
    1 - (0 + 1 + 0.18) / 2:

    >>> round(entropy_agreement([[4, 0], [2, 2]]).value, 6)
    0.409832
    """
    check_at_least_1("entropy_agreement", n_categories=n_categories)
    refuse_few_categories("entropy_agreement", counts_UV, n_categories)
    n_values = np.shape(counts_UV)[-1] if np.ndim(counts_UV) == 2 else 0
    return measure(counts_UV, entropy_statistic(n_values if n_categories is None else n_categories))


def total_agreement(counts_UV: ArrayLike, *, n_categories: int | None = None) -> Coefficient:
    """Compute the share of units whose replications all agree.

    It falls with the number of replications, whatever the judge: compare it only at equal numbers.

    Parameters
    ----------
    counts_UV, n_categories
        As of :func:`judgerel_ray.stats.percent_agreement`.

    Returns
    -------
    Coefficient
        In [0, 1]. ``undefined`` as of :func:`judgerel_ray.stats.flip_rate`.

    Examples
    --------
    >>> total_agreement([[3, 0], [2, 1], [0, 2], [1, 0]]).value
    0.6666666666666666
    """
    check_at_least_1("total_agreement", n_categories=n_categories)
    return measure(counts_UV, unanimity_statistic())


def entropy_statistic(n_categories: int) -> CountStatistic:
    """Take :func:`entropy_agreement` apart."""
    return CountStatistic(
        name="entropy_agreement",
        estimator="1 - mean entropy / log K, Miller-Madow",
        terms=entropy_terms,
        value=lambda total: _entropy_value(total, n_categories),
        needs_replications=True,
        permuted=PermutedTerm(mean=_permuted_entropy),
        pooled=True,
        monotone=True,
    )


def unanimity_statistic() -> CountStatistic:
    """Take :func:`total_agreement` apart."""
    return CountStatistic(
        name="total_agreement",
        estimator="share of units whose replications all agree",
        terms=_unanimity_terms,
        value=lambda total: divide(total[..., 1], total[..., 0]),
        chance_corrected=False,
        permuted=PermutedTerm(mean=_permuted_unanimity, indicator=True),
        pooled=True,
        monotone=True,
    )


def entropy_terms(counts: Floats) -> Floats:
    """Lay out [has a pair, entropy in nats by Miller and Madow]."""
    m = counts.sum(axis=-1)
    paired = m >= 2
    m = np.where(paired, m, 1.0)
    share = np.where(paired[..., None], counts / m[..., None], 0.0)
    plain = -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=-1)
    seen = (counts > 0).sum(axis=-1)
    entropy = np.where(paired, plain + (seen - 1) / (2 * m), 0.0)
    return np.stack([paired.astype(np.float64), entropy], axis=-1)


def _entropy_value(total: Floats, n_categories: int) -> Floats:
    """1 - mean entropy / log K; NaN with one category."""
    if n_categories < 2:
        return np.full(total.shape[:-1], np.nan)
    return 1 - divide(total[..., 1], total[..., 0]) / log(n_categories)


def _unanimity_terms(counts: Floats) -> Floats:
    """[has a pair, all its ratings are one value]."""
    m = counts.sum(axis=-1)
    paired = m >= 2
    agreed = paired & (counts.max(axis=-1, initial=0.0) == m)
    return np.stack([paired, agreed], axis=-1).astype(np.float64)


def _permuted_unanimity(sizes_S: NDArray[np.int64], totals_V: NDArray[np.int64]) -> Floats:
    """How often a unit that gets m of all ratings gets one value: sum C(c, m) / C(n, m)."""
    drawn_D = np.arange(sizes_S.max(initial=0))[:, None]
    chance_DV = np.maximum(totals_V - drawn_D, 0) / (totals_V.sum() - drawn_D)
    never_broken: Floats = np.cumprod(chance_DV, axis=0).sum(axis=-1)
    return never_broken[sizes_S - 1]


def _permuted_entropy(sizes_S: NDArray[np.int64], totals_V: NDArray[np.int64]) -> Floats:
    """The mean entropy of a unit that gets m of all ratings: each value is hypergeometric."""
    n, rest_V = int(totals_V.sum()), totals_V.sum() - totals_V
    most = int(sizes_S.max(initial=0))
    chosen_DV, left_DV = _log_falling(totals_V, most), _log_falling(rest_V, most)
    all_D = _log_falling(np.array([n]), most)[:, 0]
    factorial_D = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    means = np.empty(sizes_S.size)
    for place, m in enumerate(sizes_S.tolist()):
        k_D = np.arange(m + 1)
        ways_D = factorial_D[m] - factorial_D[k_D] - factorial_D[m - k_D]
        chance_DV = np.exp(ways_D[:, None] + chosen_DV[k_D] + left_DV[m - k_D] - all_D[m])
        share_D = k_D / m
        plain_D = -share_D * np.log(np.where(share_D > 0, share_D, 1.0))
        seen = (1 - chance_DV[0]).sum()
        means[place] = (plain_D @ chance_DV).sum() + (seen - 1) / (2 * m)
    return means


def _log_falling(numbers_V: NDArray[np.int64], most: int) -> Floats:
    """Logarithms of c (c - 1) ... (c - k + 1), k = 0 ... most, shape (most + 1, V)."""
    factor_DV = np.maximum(numbers_V - np.arange(most)[:, None], 0)
    log_DV = np.full(factor_DV.shape, -np.inf)
    np.log(factor_DV, out=log_DV, where=factor_DV > 0)
    return np.vstack([np.zeros(len(numbers_V)), np.cumsum(log_DV, axis=0)])
