"""How precise alpha will be, by questions and replications.

A coefficient of scores rests on differences between questions, which few questions may carry.

Shape suffixes: U = units (questions), V = distinct values, C = clusters (questions).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import CountStatistic, Floats, row_sums

MOST_QUESTIONS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaPrecision:
    """What alpha's error is made of.

    Attributes
    ----------
    alpha : float
        Krippendorff's alpha in the limit of infinitely many replications and questions.
    between : float
        Variance, over questions, of what a question adds: goes with 1 / questions alone.
    first, second : float
        Variances inside a question: go with 1 / (questions x replications), and with 1 /
        (questions x pairs of replications).
    """

    alpha: float
    between: float
    first: float
    second: float

    def standard_error(self, *, n_questions: int, n_replications: int) -> float:
        r"""Predict the standard error of alpha.

        .. math:: \sqrt{(b + (4 (m - 2) v_1 + 2 v_2) / (m (m - 1))) / Q}

        Parameters
        ----------
        n_questions : int
            Questions Q, at least 1.
        n_replications : int
            Replications m of each, at least 2.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If there are too few of either.

        Examples
        --------
        >>> planned = AlphaPrecision(alpha=0.5, between=0.03, first=0.0, second=0.01)
        >>> round(planned.standard_error(n_questions=100, n_replications=2), 6)
        0.02
        """
        if n_questions < 1 or n_replications < 2:
            raise ValueError(
                f"standard_error: expected n_questions >= 1 and n_replications >= 2, "
                f"got {n_questions}, {n_replications}"
            )
        m = n_replications
        inside = (4 * (m - 2) * self.first + 2 * self.second) / (m * (m - 1))
        return math.sqrt((self.between + inside) / n_questions)

    def questions_for(
        self, width: float, *, n_replications: int, confidence: float = 0.95
    ) -> int | None:
        """Compute how many questions an interval of this width takes.

        Parameters
        ----------
        width : float
            From end to end, above 0.
        n_replications : int
            Replications of each question, at least 2.
        confidence : float
            Of the interval, in (0, 1).

        Returns
        -------
        int or None
            At least 2; None above 10^9.

        Raises
        ------
        ValueError
            If the width is not above 0, there are too few replications, or the confidence is not
            in (0, 1).

        Examples
        --------
        Half of .2 is about 1.96 x sqrt(.04 / Q), so Q is about 15.4; Student's t asks for more:

        >>> planned = AlphaPrecision(alpha=0.5, between=0.03, first=0.0, second=0.01)
        >>> planned.questions_for(0.2, n_replications=2)
        18
        """
        if not (width > 0 and 0 < confidence < 1):
            raise ValueError(
                f"questions_for: expected width > 0 and confidence in (0, 1), "
                f"got {width!r}, {confidence!r}"
            )

        def wide(n: int) -> bool:
            error = self.standard_error(n_questions=n, n_replications=n_replications)
            return 2 * t_quantile(n - 1, confidence) * error > width

        return smallest_enough(lambda n: not wide(n), least=2, most=MOST_QUESTIONS)


def smallest_enough(enough: Callable[[int], bool], *, least: int = 1, most: int) -> int | None:
    """Find the smallest number that is enough, of a property that stays once it holds.

    None where no power of two times the least, up to the most, is enough.

    Examples
    --------
    >>> smallest_enough(lambda n: n * n > 50, most=100)
    8
    """
    high = least
    while not enough(high):
        high *= 2
        if high > most:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def alpha_precision(
    shares_UV: ArrayLike,
    *,
    distances_VV: ArrayLike | None = None,
    clusters_U: ArrayLike | None = None,
) -> AlphaPrecision:
    r"""Take the sampling error of Krippendorff's alpha apart.

    To first order a question adds the U-statistic of a kernel of two of its replications,
    ``-d(x, y) / De + Do / De^2 (g(x) + g(y))`` with g(x) the mean distance of x from all verdicts;
    its variance given the question is Hoeffding's.

    Parameters
    ----------
    shares_UV : array-like, shape (n_units, n_values)
        Probability of each verdict, known or from :func:`supported_shares`.
    distances_VV : array-like, shape (n_values, n_values), optional
        Squared distances between values; by default 1 between different ones (nominal alpha).
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit, where questions have several; by default every unit is its own.

    Returns
    -------
    AlphaPrecision

    Raises
    ------
    ValueError
        If the shares are no table, there is one question only, or one value is all there is.

    Notes
    -----
    Good from about 20 questions on; exact variances inside a question, first order over questions.

    Examples
    --------
    >>> planned = alpha_precision([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    >>> round(planned.alpha, 3)
    0.361
    """
    shares: Floats = np.asarray(shares_UV, dtype=np.float64)
    clusters = np.arange(len(shares)) if clusters_U is None else np.asarray(clusters_U)
    if shares.ndim != 2 or clusters.shape != shares.shape[:1] or np.unique(clusters).size < 2:
        raise ValueError(
            f"alpha_precision: shares_UV must have rows of two or more questions, "
            f"got shapes {shares.shape} and {clusters.shape}"
        )
    n_values = shares.shape[1]
    matrix = 1.0 - np.eye(n_values) if distances_VV is None else distances_VV
    distances: Floats = np.asarray(matrix, dtype=np.float64)
    mean_V = shares.mean(axis=0)
    far_V = distances @ mean_V
    expected = float(mean_V @ far_V)
    if expected <= 1e-15:
        raise ValueError("alpha_precision: shares_UV must hold more than one value")
    observed = float(((shares @ distances) * shares).sum(axis=1).mean())
    kernel = -distances / expected + observed / expected**2 * (far_V[:, None] + far_V[None, :])
    projected_UV = shares @ kernel
    mean_U = (projected_UV * shares).sum(axis=1)
    first_U = (projected_UV**2 * shares).sum(axis=1) - mean_U**2
    second_U = ((shares @ kernel**2) * shares).sum(axis=1) - mean_U**2
    codes = np.unique(clusters, return_inverse=True)[1]
    per_question = len(shares) / (codes.max() + 1)
    question_C = np.bincount(codes, mean_U - mean_U.mean()) / per_question
    return AlphaPrecision(
        alpha=1 - observed / expected,
        between=float(question_C.var(ddof=1)),
        first=float(first_U.mean() / per_question),
        second=float(second_U.mean() / per_question),
    )


def jackknife_error(left_out_C: Floats) -> float:
    """Compute the standard error from values without each question in turn."""
    n = left_out_C.size
    return math.sqrt((n - 1) / n * float(((left_out_C - left_out_C.mean()) ** 2).sum()))


def t_quantile(degrees: float, confidence: float) -> float:
    """Give Student's t that a two-sided interval needs."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))


FEWEST_CARRYING = 5.0
"""Fewer effective questions are few: of 20 with normal scores, in one table of twenty."""
SKEWED_CARRYING = 15.0
"""Fewer are few where they lie on one side: of 30 with normal scores, in one table of ten."""
_SKEWED = 1.645  # standard errors of the skewness of as many normal scores
_MOST_COUNTED = 10_000  # questions whose distances are summed: up to there a second at worst


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
