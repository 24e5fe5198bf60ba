"""Correlations as functions of weighted questions: of moments, of ranks and of pairs.

Shape suffixes: N = items, C = clusters (questions), B = sets of weights, T = terms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.concordance import ConcordantPairs, places
from judgerel_ray.stats.midranks import Midranks
from judgerel_ray.stats.question_statistic import QuestionStatistic, QuestionTerms
from judgerel_ray.stats.statistic import Floats, divide

Correlation = Literal["pearson", "spearman", "kendall", "icc_agreement", "icc_consistency"]
CORRELATIONS: tuple[Correlation, ...] = (
    "pearson",
    "spearman",
    "kendall",
    "icc_agreement",
    "icc_consistency",
)
_LEAST = 3  # items; any two lie on a line


def correlation(
    name: Correlation, first_N: Floats, second_N: Floats, questions_N: NDArray[np.generic]
) -> QuestionStatistic:
    """Lay a correlation of items out by question.

    Parameters
    ----------
    name : {"pearson", "spearman", "kendall", "icc_agreement", "icc_consistency"}
        Which.
    first_N, second_N : ndarray of float, shape (n_items,)
        Finite numbers.
    questions_N : ndarray, shape (n_items,)
        The question of each item.

    Returns
    -------
    QuestionStatistic
        NaN where fewer than three items are left, or one of both does not vary.

    Examples
    --------
    >>> from judgerel_ray.stats.question_statistic import whole
    >>> x, y = np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4])
    >>> [round(whole(correlation(name, x, y, np.arange(4))), 4)
    ...  for name in ("pearson", "spearman", "kendall")]
    [0.8, 0.8, 0.6667]
    """
    questions, number = np.unique(questions_N, return_inverse=True)
    order = np.argsort(number, kind="stable")
    first, second, number = first_N[order], second_N[order], number[order]
    if name in ("spearman", "kendall"):
        # Equal but for rounding is a tie.
        kind = ConcordantPairs if name == "kendall" else Midranks
        return kind(
            name=name, questions_C=questions, number_N=number, first_N=places(first.round(9)),
            second_N=places(second.round(9)),
        )  # fmt: skip
    centre = first.mean() if first.size else 0.0
    x, y = first - centre, second - (second.mean() if name == "pearson" and second.size else centre)
    terms = np.stack([np.ones_like(x), x, y, x**2, y**2, x * y], axis=1)
    starts = np.searchsorted(number, np.arange(questions.size))
    return QuestionTerms(
        name=name,
        questions_C=questions,
        terms_CT=np.add.reduceat(terms, starts, axis=0) if questions.size else terms,
        value=_of_moments[name],
    )


def _moments(total: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """n, sums of squares and products about the means, and the difference of the means."""
    n, x, y, xx, yy, xy = np.moveaxis(total, -1, 0)
    safe = np.where(n > 0, n, 1.0)
    one, two, across = xx - x**2 / safe, yy - y**2 / safe, xy - x * y / safe
    one = np.where(one <= 1e-12 * xx, 0.0, one)
    two = np.where(two <= 1e-12 * yy, 0.0, two)
    return n, one, two, across, (x - y) / safe


def _pearson(total: Floats) -> Floats:
    """Sum of products over the root of the sums of squares."""
    n, one, two, across, _ = _moments(total)
    found = divide(across, np.sqrt(np.maximum(one * two, 0.0)))
    return np.where(n > _LEAST - 0.5, np.clip(found, -1.0, 1.0), np.nan)


def _icc(total: Floats, *, agreement: bool) -> Floats:
    """(MSR - MSE) / (MSR + MSE + 2 (MSC - MSE) / n), without the last part for consistency."""
    n, one, two, across, shift = _moments(total)
    degrees = np.where(n > 1, n - 1, 1.0)
    rows, error = (one + two + 2 * across) / 2 / degrees, (one + two - 2 * across) / 2 / degrees
    under = rows + error
    if agreement:
        under = under + shift**2 - 2 * error / np.where(n > 0, n, 1.0)
    # Where neither varies there is nothing to agree on, whatever their means.
    found = divide(rows - error, np.where(one + two > 0, under, 0.0))
    return np.where(n > _LEAST - 0.5, found, np.nan)


_of_moments: dict[Correlation, Callable[[Floats], Floats]] = {
    "pearson": _pearson,
    "icc_agreement": partial(_icc, agreement=True),
    "icc_consistency": partial(_icc, agreement=False),
}
