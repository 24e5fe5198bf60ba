"""Correlations as functions of weighted questions: moments, ranks and concordant pairs.

Shape suffixes: N = items, C = clusters (questions), B = sets of weights, T = terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
_CELLS = 2_000_000  # weights held at once: 16 MB
_LEAST = 3  # items; any two lie on a line


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankPairs:
    """Spearman's rho or Kendall's tau-b of items that belong to questions.

    Attributes
    ----------
    name : str
        What it is.
    questions_C : ndarray, shape (n_questions,)
        The questions by name, each once, sorted.
    first_N, second_N : ndarray of float, shape (n_items,)
        What is correlated, sorted by question.
    number_N : ndarray of int, shape (n_items,)
        The place of each item's question.
    kendall : bool
        Whether it is tau-b.
    """

    name: str
    questions_C: NDArray[np.generic]  # noqa: N815  a shape, not a case
    first_N: Floats  # noqa: N815
    second_N: Floats  # noqa: N815
    number_N: NDArray[np.intp]  # noqa: N815
    kendall: bool = False

    def at(self, weights_BC: Floats) -> Floats:
        """Compute it with these weights of the questions.

        Examples
        --------
        >>> pairs = RankPairs(name="spearman", questions_C=np.arange(3), number_N=np.arange(3),
        ...                   first_N=np.array([1.0, 2.0, 3.0]), second_N=np.array([1.0, 3.0, 2.0]))
        >>> pairs.at(np.ones((1, 3))).round(6).tolist()
        [0.5]
        """
        step = max(1, _CELLS // max(1, self.first_N.size))
        compute = self._tau if self.kendall else self._rho
        starts = range(0, len(weights_BC), step)
        parts = [compute(weights_BC[start : start + step][:, self.number_N]) for start in starts]
        return np.concatenate(parts) if parts else np.empty(0)

    def left_out(self) -> Floats:
        """Compute it without each question in turn."""
        n = self.questions_C.size
        if self.kendall:
            return self._tau_left_out()
        step = max(1, _CELLS // max(1, self.first_N.size))
        parts = [
            self.at(1.0 - np.eye(min(step, n - start), n, start)) for start in range(0, n, step)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def _rho(self, weights_BN: Floats) -> Floats:
        """Correlation of the midranks that items have by their weights."""
        n = weights_BN.sum(axis=1)
        ranks = [
            _weighted_ranks(x, weights_BN) - n[:, None] / 2 for x in (self.first_N, self.second_N)
        ]
        sums_3B = np.stack(
            [
                np.einsum("bn,bn,bn->b", weights_BN, ranks[i], ranks[j])
                for i, j in ((0, 1), (0, 0), (1, 1))
            ]
        )
        enough = np.count_nonzero(weights_BN, axis=1) >= _LEAST
        return np.where(enough, _ratio(sums_3B, n**3), np.nan)

    def _tau(self, weights_BN: Floats) -> Floats:
        """Tau-b, pairs weighted by the product of their items' weights."""
        sums_3B = np.zeros((3, len(weights_BN)))
        step = max(1, _CELLS // max(1, self.first_N.size))
        for start in range(0, self.first_N.size, step):
            rows = slice(start, start + step)
            for i, signs in enumerate(self._signs(rows)):
                sums_3B[i] += np.einsum("bn,bn->b", weights_BN[:, rows], weights_BN @ signs.T)
        enough = np.count_nonzero(weights_BN, axis=1) >= _LEAST
        return np.where(enough, _ratio(sums_3B, weights_BN.sum(axis=1) ** 2), np.nan)

    def _tau_left_out(self) -> Floats:
        """Tau-b without each question: its items' pairs go, those among them once only."""
        n, n_questions = self.first_N.size, self.questions_C.size
        total_3, mine_3C, own_3C = (
            np.zeros(3),
            np.zeros((3, n_questions)),
            np.zeros((3, n_questions)),
        )
        step = max(1, _CELLS // max(1, n))
        for start in range(0, n, step):
            rows = slice(start, start + step)
            number = self.number_N[rows]
            same = number[:, None] == self.number_N
            for i, signs in enumerate(self._signs(rows)):
                sums = signs.sum(axis=1)
                total_3[i] += sums.sum()
                mine_3C[i] += np.bincount(number, weights=sums, minlength=n_questions)
                inside = (signs * same).sum(axis=1)
                own_3C[i] += np.bincount(number, weights=inside, minlength=n_questions)
        left = n - np.bincount(self.number_N, minlength=n_questions)
        sums_3C = total_3[:, None] - 2 * mine_3C + own_3C
        return np.where(left >= _LEAST, _ratio(sums_3C, left.astype(np.float64) ** 2), np.nan)

    def _signs(self, rows: slice) -> tuple[Floats, Floats, Floats]:
        """Whether pairs agree in order (1, -1, 0), and whether they are apart by each."""
        one, two = (np.sign(x[rows, None] - x) for x in (self.first_N, self.second_N))
        return one * two, one**2, two**2


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
        return RankPairs(
            name=name, questions_C=questions, number_N=number, first_N=first.round(9),
            second_N=second.round(9), kendall=name == "kendall",
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


def _weighted_ranks(x_N: Floats, weights_BN: Floats) -> Floats:
    """Weight below, and half of that of equals, shape (B, N)."""
    distinct, place = np.unique(x_N, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(distinct.size))
    if not distinct.size:
        return np.zeros_like(weights_BN)
    totals = np.add.reduceat(weights_BN[:, order], starts, axis=1)
    ranks: Floats = (np.cumsum(totals, axis=1) - totals / 2)[:, place]
    return ranks


def _ratio(sums_3: Floats, unit: Floats) -> Floats:
    """A / sqrt(b c), NaN where b or c is nothing but rounding of `unit`."""
    across, one, two = sums_3
    varies = (one > 1e-12 * unit) & (two > 1e-12 * unit)
    found = divide(across, np.where(varies, np.sqrt(np.maximum(one * two, 0.0)), 0.0))
    return np.clip(found, -1.0, 1.0)


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
