"""What an interval is laid with: its error, where both ends lie by it, and how few carry it.

Ends lie on the scale itself, on another, or in trials. A coefficient of scores rests on differences
between questions, which few questions may carry.

Shape suffixes: U = units, V = distinct values, C = clusters (questions).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.stats.counts import CountStatistic, Floats, row_sums

_MANY_TRIALS = 10**9
FEWEST_CARRYING = 5.0
"""Fewer effective questions are few: of 20 with normal scores, in one table of twenty."""
SKEWED_CARRYING = 15.0
"""Fewer are few where they lie on one side: of 30 with normal scores, in one table of ten."""
_SKEWED = 1.645  # standard errors of the skewness of as many normal scores
_MOST_COUNTED = 10_000  # questions whose distances are summed: up to there a second at worst


def jackknife_error(left_out_C: Floats) -> float:
    """Compute the standard error from values without each question in turn."""
    n = left_out_C.size
    return math.sqrt((n - 1) / n * float(((left_out_C - left_out_C.mean()) ** 2).sum()))


def t_quantile(degrees: float, confidence: float) -> float:
    """Give Student's t that a two-sided interval needs."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))


def student_ends(value: float, half: float) -> tuple[float, float, IntervalMethod]:
    """Lay an interval about a coefficient that is corrected for chance, at most 1.

    On the logit scale where the plain one excludes 0: there 0 could never be covered.

    Examples
    --------
    >>> low, high, method = student_ends(0.5, 0.25)
    >>> round(low, 3), round(high, 3), method.value
    (0.269, 0.731, 'jackknife_logit')
    >>> student_ends(0.5, 0.625)[:2]
    (-0.125, 1.0)
    """
    low, high = value - half, value + half
    if low > 0 and value < 1:
        return *logit_ends(value, half), IntervalMethod.JACKKNIFE_LOGIT
    return low, min(1.0, high), IntervalMethod.JACKKNIFE


def logit_ends(value: float, half: float) -> tuple[float, float]:
    """Lay an interval about a value in (0, 1) on the logit scale.

    Examples
    --------
    >>> [round(end, 3) for end in logit_ends(0.9, 0.1)]
    [0.748, 0.965]
    """
    # As tanh: exp could be too large for a double near 0 and 1.
    centre = math.log(value / (1 - value))
    reach = half / (value * (1 - value))
    return (1 + math.tanh((centre - reach) / 2)) / 2, (1 + math.tanh((centre + reach) / 2)) / 2


def share_ends(
    value: float, error: float, n_questions: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Lay the interval of a share about its value, by its standard error over questions.

    Each end is the outer one of two: that of Student's t, within [0, 1] (where the other end is cut
    off there, on the logit scale if that is farther out), and that of as many independent trials as
    the error is worth [1]_. Near 0 and 1 few questions differ, and a sample without them shows less
    spread, too, so that t excludes a truth nearer the middle too often (docs/decisions/008, 021).

    References
    ----------
    .. [1] Korn, E. L. and Graubard, B. I. (1998), Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data, Survey Methodology 24.

    Examples
    --------
    >>> [round(end, 3) for end in share_ends(0.9, 0.03, 40)]
    [0.821, 0.961]
    >>> low, high = share_ends(0.95, 0.04, 20)
    >>> round(low, 3), high
    (0.765, 1.0)
    >>> share_ends(1.0, 0.25, 20)[1]
    1.0
    """
    if not (error > 0 and n_questions > 1 and math.isfinite(value)):
        raise ValueError(
            "share_ends: expected a value, an error above 0 and two questions, "
            f"got {value}, {error}, {n_questions}"
        )
    half = t_quantile(n_questions - 1, confidence) * error
    low, high = value - half, value + half
    if not 0 < value < 1:
        return max(0.0, low), min(1.0, high)
    inner_low, inner_high = logit_ends(value, half)
    if high > 1 and low >= 0:
        low = min(low, inner_low)
    elif low < 0 and high <= 1:
        high = max(high, inner_high)
    by_trials = binomial_ends(value, error, n_questions, confidence=confidence)
    return max(0.0, min(low, by_trials[0])), min(1.0, max(high, by_trials[1]))


def binomial_ends(
    value: float, error: float, n_questions: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Give Clopper and Pearson's ends for as many trials as the error of a share is worth.

    References
    ----------
    .. [1] Korn and Graubard (1998), as of :func:`share_ends`.

    Examples
    --------
    >>> [round(end, 3) for end in binomial_ends(0.9, 0.03, 40)]
    [0.821, 0.952]
    """
    lost = t_quantile(_MANY_TRIALS, confidence) / t_quantile(n_questions - 1, confidence)
    worth = value * (1 - value) / error**2 * lost**2
    return trial_ends(value * worth, worth, confidence)


def least_mean(weights_C: Floats, confidence: float) -> float:
    r"""Give the low end of a weighted mean of [0, 1] that is 1 on every question.

    The least :math:`\sum w_c p_c / \sum w_c` of which the chance of all ones, at most
    :math:`\prod p_c`, is still half of what may be missed: :math:`p_c = \min(1, \lambda / w_c)`.
    Of equal weights it is Clopper and Pearson's end of n of n.

    Examples
    --------
    >>> round(least_mean(np.ones(60), 0.95), 3)
    0.94

    A question that weighs as much as all others together may fail, whatever these do:

    >>> round(least_mean(np.array([59.0, *np.ones(59)]), 0.95), 3)
    0.513
    """
    w_C = np.sort(weights_C[weights_C > 0])[::-1]
    reach = -math.log((1 - confidence) / 2)
    # With the k heaviest above it, the level is where their logarithms make up the reach.
    levels = np.exp((np.cumsum(np.log(w_C)) - reach) / np.arange(1, w_C.size + 1))
    is_above = levels >= np.append(w_C[1:], 0.0) * (1 - 1e-12)
    level = levels[int(np.argmax(is_above))]
    return float(np.minimum(w_C, level).sum() / w_C.sum())


def one_more_ends(
    value: float, left_out_C: Floats, weights_C: Floats, *, confidence: float = 0.95
) -> tuple[float, float]:
    r"""Give ends of a weighted mean of [0, 1] with one question more, which differs as it may most.

    It weighs what uneven weights add: :math:`\sum w^2 / \sum w` less the mean weight [1]_, nothing
    where all weigh alike. Where a few heavy questions carry a share, how far these vary shows in
    few of them (docs/decisions/021).

    References
    ----------
    .. [1] Kish, L. (1965), Survey Sampling, section 11.7: the loss by unequal weights.

    Examples
    --------
    >>> left_out = (13 - np.array([10.0, 1, 1, 1, 0])) / (14 - np.array([10.0, 1, 1, 1, 1]))
    >>> weights = np.array([10.0, 1, 1, 1, 1])
    >>> [round(end, 2) for end in one_more_ends(13 / 14, left_out, weights)]
    [0.02, 1.0]
    """
    total = float(weights_C.sum())
    sums_C = value * total - left_out_C * (total - weights_C)
    sums_C, w_C = sums_C[weights_C > 0], weights_C[weights_C > 0]
    n, more = w_C.size, float((w_C**2).sum()) / total - total / w_C.size
    ends = []
    for worst in (0.0, 1.0):
        mean = (value * total + more * worst) / (total + more)
        apart = float(((sums_C - w_C * mean) ** 2).sum()) + (more * (worst - mean)) ** 2
        error = math.sqrt(apart * (n + 1) / n) / (total + more)
        end = mean + (2 * worst - 1) * t_quantile(n, confidence) * error
        ends.append(min(1.0, max(0.0, end)))
    return ends[0], ends[1]


def alike_ends(value: float, weights_C: Floats, confidence: float) -> tuple[float, float]:
    """Give the exact ends of a weighted mean of [0, 1] that is 1, or 0, on every question.

    Examples
    --------
    >>> [round(end, 3) for end in alike_ends(0.0, np.ones(20), 0.95)]
    [0.0, 0.168]
    """
    if is_uneven(weights_C):
        least = least_mean(weights_C, confidence)
        return (least, 1.0) if value else (0.0, 1 - least)
    n = int((weights_C > 0).sum())
    return trial_ends(value * n, n, confidence)


def is_uneven(weights_C: Floats) -> bool:
    """Whether questions that count differ in their weight."""
    taking = weights_C[weights_C > 0]
    return bool(taking.size and np.ptp(taking) > 1e-9 * taking.max())


def trial_ends(k: float, n: float, confidence: float) -> tuple[float, float]:
    """Give Clopper and Pearson's ends of k successes in n trials, which need not be whole.

    Examples
    --------
    >>> [round(end, 3) for end in trial_ends(4.5, 5, 0.95)]
    [0.371, 1.0]
    """
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if k <= 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k >= n else float(betaincinv(k + 1, n - k, 1 - tail))
    return low, high


def effective_questions(
    counts: Floats, clusters: NDArray[np.intp], statistic: CountStatistic
) -> float | None:
    r"""Compute among how many questions the variance between questions is shared.

    .. math:: n = \Big(\sum_q s_q\Big)^2 \Big/ \sum_q s_q^2

    with :math:`s_q = \sum m_u (\bar x_u - \bar x)^2` over the units of a question: 20 questions
    share it alike where n is 20; two low ones among them make it about 2, a normal sample 8. The
    jackknife's influence of a question on ICC and alpha is this s but for a constant and for what
    its replications scatter. Few of them say that another sample of questions might give another
    value, not that this interval is off: samples that happen to hold no such question look like any
    other, and there intervals fail (`bench/few_questions.py`).

    None for names, which have no distances; where no two questions differ; and, of scores that are
    counted by value, for more than ten thousand questions, which few hardly carry.

    Shapes: ``counts`` (n_units, n_values), ``clusters`` (n_units,).
    """
    apart_U = _squared_distance_of_means(counts, clusters, statistic)
    if apart_U is None:
        return None
    apart_C = np.bincount(clusters, np.maximum(apart_U, 0.0))
    squares = float(apart_C @ apart_C)
    return float(apart_C.sum()) ** 2 / squares if squares > 0 else None


def carried_by_few(
    counts: Floats, clusters: NDArray[np.intp], statistic: CountStatistic, n: float | None
) -> bool:
    """Tell whether few questions carry the variance between questions.

    Fewer than five do; or fewer than fifteen that lie on one side of the others, so that the
    skewness of their means is beyond 1.645 of its standard error under normal scores. One question
    in ten that is low is told from normal scores by it best (docs/coverage.md).
    """
    if n is None or n < FEWEST_CARRYING or n >= SKEWED_CARRYING:
        return n is not None and n < FEWEST_CARRYING
    means = _unit_score_means(counts, statistic)
    n_questions = n_distinct(clusters)
    if means is None or n_questions <= 2:
        return False
    m_U, mean_U = means
    apart_U = mean_U - m_U @ mean_U / m_U.sum()
    squares, cubes = m_U @ apart_U**2, m_U @ apart_U**3
    skewness = cubes * math.sqrt(m_U.sum()) / squares**1.5
    error = 6 * (n_questions - 2) / ((n_questions + 1) * (n_questions + 3))
    return bool(abs(skewness) > _SKEWED * math.sqrt(error))


def _unit_score_means(counts: Floats, statistic: CountStatistic) -> tuple[Floats, Floats] | None:
    """Number and mean of the scores of each unit; None where distances are not those of scores."""
    if statistic.of_moments:
        return counts[:, 0], counts[:, 1] / counts[:, 0]
    if statistic.pairs is None or statistic.pairs.distances_VV is None:
        return None
    distances = statistic.pairs.distances_VV
    value_V = np.sqrt(distances[0])  # scores are sorted, so all lie on one side of the first
    if not np.allclose((value_V[:, None] - value_V) ** 2, distances):
        return None
    m_U = row_sums(counts)
    mean_U: Floats = counts @ value_V / m_U
    return m_U, mean_U


def n_distinct(clusters: NDArray[np.intp]) -> int:
    """Count the different ones among sorted clusters."""
    return 1 + int(np.count_nonzero(np.diff(clusters))) if clusters.size else 0


def _squared_distance_of_means(
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
