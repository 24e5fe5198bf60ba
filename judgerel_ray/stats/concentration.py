"""How many questions carry the differences between questions that a coefficient of scores rests on.

Shape suffixes: U = units, V = distinct values, C = clusters (questions).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import CountStatistic, Floats, row_sums

FEWEST_CARRYING = 5.0
"""Fewer effective questions are few: of 20 with normal scores, in one table of twenty."""
_MOST_COUNTED = 10_000  # questions whose distances are summed: up to there a second at worst


def effective_questions(
    counts: Floats, clusters: NDArray[np.intp], statistic: CountStatistic
) -> float | None:
    r"""Compute among how many questions the variance between questions is shared.

    .. math:: n = \Big(\sum_q s_q\Big)^2 \Big/ \sum_q s_q^2

    with :math:`s_q = \sum m_u (\bar x_u - \bar x)^2` over the units of a question: 20 questions
    share it alike where n is 20; two low ones among them make it about 2, a normal sample 8. The
    jackknife's influence of a question on ICC and alpha is this s but for a constant and for what
    its replications scatter; of it n tells one question in ten from normal scores best. Few of them
    say that another sample of questions might give another value, not that this interval is off:
    samples that happen to hold no such question look like any other, and there intervals fail
    (`bench/few_questions.py`).

    Parameters
    ----------
    counts : ndarray of float, shape (n_units, n_values) or (n_units, 3)
        Counts, or moments, as the statistic takes them.
    clusters : ndarray of int, shape (n_units,)
        The question of each unit, numbered from 0 on.
    statistic : CountStatistic
        The coefficient.

    Returns
    -------
    float or None
        None for names, which have no distances; where no two questions differ; and, of scores that
        are counted by value, for more than ten thousand questions, which few hardly carry.

    Examples
    --------
    >>> from judgerel_ray.stats.moments import moment_statistic, moments_from_scores
    >>> moments = moments_from_scores([[1.0, 1.0]] * 18 + [[5.0, 5.0]] * 2)
    >>> n = effective_questions(moments, np.arange(20), moment_statistic("icc1"))
    >>> round(n, 2)
    2.47
    """
    apart_U = _between(counts, clusters, statistic)
    if apart_U is None:
        return None
    apart_C = np.bincount(clusters, np.maximum(apart_U, 0.0))
    squares = float(apart_C @ apart_C)
    return float(apart_C.sum()) ** 2 / squares if squares > 0 else None


def n_distinct(clusters: NDArray[np.intp]) -> int:
    """Count the different ones among sorted clusters.

    Examples
    --------
    >>> n_distinct(np.array([0, 0, 2]))
    2
    """
    return 1 + int(np.count_nonzero(np.diff(clusters))) if clusters.size else 0


def _between(
    counts: Floats, clusters: NDArray[np.intp], statistic: CountStatistic
) -> Floats | None:
    """The number of scores of each unit times the squared distance of their mean from that of all.

    Of distances that are no squares of differences, that between both distributions.
    """
    if not len(counts):
        return None
    if statistic.of_moments:
        m, total, _ = counts.T
        moved: Floats = (total - m * total.sum() / m.sum()) ** 2 / m
        return moved
    totals_V = counts.sum(axis=0)
    if statistic.at_totals is not None:
        statistic = statistic.at_totals(totals_V)
    pairs = statistic.pairs
    if pairs is None or pairs.distances_VV is None or clusters[-1] >= _MOST_COUNTED:
        return None
    m, pool_V = row_sums(counts), totals_V / totals_V.sum()
    far_UV = counts @ pairs.distances_VV
    inside = np.einsum("uv,uv->u", counts, far_UV) / m
    distance: Floats = far_UV @ pool_V - inside / 2 - m * (pool_V @ pairs.distances_VV @ pool_V) / 2
    return distance
