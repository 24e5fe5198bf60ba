"""How precise alpha will be, by questions and replications.

Shape suffixes: U = units (questions), V = distinct values, C = clusters (questions).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.ends import t_quantile

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
