"""Spearman's rho of items that belong to questions, and without each question in turn.

A midrank less the mean of all is half the sum of the signs of differences to every item. So leaving
a question out takes the signs of its items away, and the products of signs are counts of pairs.

Shape suffixes: N = items, C = clusters (questions), B = sets of weights, P = pairs of items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.concordance import Codes, joint_places, net_order, ratio, value_weights
from judgerel_ray.stats.statistic import Floats

_CELLS = 2_000_000  # weights held at once: 16 MB
_LEAST = 3  # items; any two lie on a line
_DENSER = 8  # a pair inside a question costs as much as so many weights


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Midranks:
    """Spearman's rho of items that belong to questions.

    Attributes
    ----------
    name : str
        What it is.
    questions_C : ndarray, shape (n_questions,)
        The questions by name, each once, sorted.
    first_N, second_N : ndarray of int, shape (n_items,)
        Places of the items among the different values of each, sorted by question; from
        :func:`judgerel_ray.stats.concordance.places`.
    number_N : ndarray of int, shape (n_items,)
        The place of each item's question.
    """

    name: str
    questions_C: NDArray[np.generic]  # noqa: N815  a shape, not a case
    first_N: Codes  # noqa: N815
    second_N: Codes  # noqa: N815
    number_N: Codes  # noqa: N815

    def at(self, weights_BC: Floats) -> Floats:
        """Compute it with these weights of the questions.

        Examples
        --------
        >>> ranks = Midranks(name="spearman", questions_C=np.arange(3), number_N=np.arange(3),
        ...                  first_N=np.array([0, 1, 2]), second_N=np.array([0, 2, 1]))
        >>> ranks.at(np.ones((1, 3))).round(6).tolist()
        [0.5]
        """
        step = max(1, _CELLS // max(1, self.first_N.size))
        starts = range(0, len(weights_BC), step)
        parts = [self._rho(weights_BC[start : start + step][:, self.number_N]) for start in starts]
        return np.concatenate(parts) if parts else np.empty(0)

    def left_out(self) -> Floats:
        """Compute it without each question in turn; O(N log N) where questions have few items."""
        n, n_questions = self.first_N.size, self.questions_C.size
        sizes_C = np.bincount(self.number_N, minlength=n_questions)
        if _DENSER * int((sizes_C**2).sum()) <= n * n_questions:
            left_C = n - sizes_C
            rho = ratio(self._sums_left_out(sizes_C), left_C.astype(np.float64) ** 3)
            return np.where(left_C >= _LEAST, rho, np.nan)
        step = max(1, _CELLS // max(1, n))
        return np.concatenate(
            [
                self.at(1.0 - np.eye(min(step, n_questions - start), n_questions, start))
                for start in range(0, n_questions, step)
            ]
            or [np.empty(0)]
        )

    def _rho(self, weights_BN: Floats) -> Floats:
        """Correlation of the midranks that items have by their weights."""
        n = weights_BN.sum(axis=1)
        one, two = (_centred(codes, weights_BN) for codes in (self.first_N, self.second_N))
        sums_3B = np.stack(
            [
                np.einsum("bn,bn,bn->b", weights_BN, first, second)
                for first, second in ((one, two), (one, one), (two, two))
            ]
        )
        enough = np.count_nonzero(weights_BN, axis=1) >= _LEAST
        return np.where(enough, ratio(sums_3B, n**3), np.nan)

    def _sums_left_out(self, sizes_C: Codes) -> Floats:
        """Sums of products and of squares of midranks without each question, shape (3, C)."""
        number, ends = self.number_N, (self.first_N, self.second_N)
        ones = np.ones((1, number.size))
        one, two = (_centred(codes, ones)[0] for codes in ends)
        # Midranks of items among those of their question, less the mean of these.
        own_one, own_two = (_inside(number, codes, sizes_C) for codes in ends)
        shift_N = (
            (one - own_one) * (two - own_two)
            + _half_signs(self.first_N, two)
            + _half_signs(self.second_N, one)
        )
        # Sums of products of signs, one to each item of two of a question.
        rows_P, columns_P = _pairs(sizes_C)
        weights = np.concatenate([ones, np.zeros((1, rows_P.size))], axis=1)
        first = np.concatenate([self.first_N, self.first_N[rows_P]])
        second = np.concatenate([self.second_N, self.second_N[columns_P]])
        products_P = net_order(first, second, weights)[0, number.size :] / 4
        across_C = (
            one @ two
            - np.bincount(number, shift_N, minlength=sizes_C.size)
            + np.bincount(number[rows_P], products_P, minlength=sizes_C.size)
        )
        squares = [_squares_left_out(number, codes, sizes_C) for codes in ends]
        return np.stack([across_C, *squares])


def _centred(codes_N: Codes, weights_BN: Floats) -> Floats:
    """Weight below, and half of that of equals, less half of all; shape (B, N)."""
    if not codes_N.size:
        return np.zeros_like(weights_BN)
    totals = value_weights(codes_N, weights_BN)
    ranks = np.cumsum(totals, axis=1) - totals / 2 - weights_BN.sum(axis=1)[:, None] / 2
    found: Floats = ranks[:, codes_N]
    return found


def _inside(number_N: Codes, codes_N: Codes, sizes_C: Codes) -> Floats:
    """Midranks of items among those of their question, less their mean."""
    together = _centred(joint_places(number_N, codes_N), np.ones((1, number_N.size)))[0]
    # Of all items in the order of questions, the middle of each question's.
    middle_C = np.cumsum(sizes_C) - sizes_C / 2 - number_N.size / 2
    found: Floats = together - middle_C[number_N]
    return found


def _half_signs(codes_N: Codes, weights_N: Floats) -> Floats:
    """Sum of weights of who is above each item, less of who is below, halved."""
    above_N: Floats = -_centred(codes_N, weights_N[None, :])[0]
    return above_N


def _pairs(sizes_C: Codes) -> tuple[Codes, Codes]:
    """All ordered pairs of items of one question, each with itself too; items sorted by it."""
    often_N = np.repeat(sizes_C, sizes_C)
    rows_P = np.repeat(np.arange(often_N.size), often_N)
    start_N = np.repeat(np.cumsum(sizes_C) - sizes_C, sizes_C)
    nth_P = np.arange(rows_P.size) - np.repeat(np.cumsum(often_N) - often_N, often_N)
    return rows_P, start_N[rows_P] + nth_P


def _squares_left_out(number_N: Codes, codes_N: Codes, sizes_C: Codes) -> Floats:
    """Sums of squares of midranks without each question: (n^3 - sum of t^3) / 12, of t equals."""
    ties_V = np.bincount(codes_N)
    together = joint_places(number_N, codes_N)
    mine_J = np.bincount(together)
    _, item_J = np.unique(together, return_index=True)
    all_J = ties_V[codes_N[item_J]]
    less_C = np.bincount(
        number_N[item_J], all_J**3.0 - (all_J - mine_J) ** 3.0, minlength=sizes_C.size
    )
    left_C = (codes_N.size - sizes_C).astype(np.float64)
    found: Floats = (left_C**3 - (ties_V**3.0).sum() + less_C) / 12
    return found
