"""Correlations as functions of weighted questions: of moments, of ranks and of pairs.

Kendall's tau-b counts pairs and never lays them out. For Spearman's rho, a midrank less the mean of
all is half the sum of the signs of differences to every item. So leaving a question out takes the
signs of its items away, and the products of signs are counts of pairs.

Shape suffixes: N = items, C = clusters (questions), B = sets of weights, T = terms, P = pairs of
items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts import Floats, QuestionTerms, divide, slices
from judgerel_ray.stats.intervals.question_statistic import QuestionStatistic

Indices = NDArray[np.intp]
_CELLS = 2_000_000  # weights held at once: 16 MB
_LEAST = 3  # items; any two lie on a line


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedItems:
    """Items that belong to questions, by their places among two sets of values."""

    name: str
    # Shape (n_questions,). The questions by name, each once, sorted.
    questions_C: NDArray[np.generic]  # noqa: N815  a shape, not a case
    # Shape (n_items,). Places of the items among the different values of each, sorted by question;
    # from `places`.
    first_N: Indices  # noqa: N815
    second_N: Indices  # noqa: N815
    # Shape (n_items,). The place of each item's question.
    number_N: Indices  # noqa: N815

    def at(self, weights_BC: Floats) -> Floats:
        """Compute it with these weights of the questions, each item having its question's."""
        parts = [np.empty(0)]
        for some in slices(len(weights_BC), self.first_N.size, _CELLS):
            weights_BN = weights_BC[some][:, self.number_N]
            enough = np.count_nonzero(weights_BN, axis=1) >= _LEAST
            parts.append(np.where(enough, ratio(*self._sums(weights_BN)), np.nan))
        return np.concatenate(parts)

    def _sums(self, weights_BN: Floats) -> tuple[Floats, Floats]:
        """Sums of products and of squares with these weights of the items, and their unit."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConcordantPairs(PlacedItems):
    """Kendall's tau-b of items that belong to questions, in time O(N log N)."""

    def left_out(self) -> Floats:
        """Compute it without each question: its items' pairs go, those among them once only."""
        n, n_questions = self.first_N.size, self.questions_C.size
        one, two, number = self.first_N, self.second_N, self.number_N
        net_N = net_order(one, two, np.ones((1, n)))[0]
        items_3N = np.stack([net_N, n - _n_tied_ratings(one), n - _n_tied_ratings(two)])
        within_3N = np.zeros_like(items_3N)
        sizes_C = np.bincount(number, minlength=n_questions)
        if (sizes_C > 1).any():
            within_3N = self._within_questions(sizes_C[number])
        group_3C, within_3C = (
            np.stack([np.bincount(number, row, minlength=n_questions) for row in sums])
            for sums in (items_3N, within_3N)
        )
        sums_3C = items_3N.sum(axis=1)[:, None] - 2 * group_3C + within_3C
        left_C = n - sizes_C
        return np.where(left_C >= _LEAST, ratio(sums_3C, left_C.astype(np.float64) ** 2), np.nan)

    def _within_questions(self, sizes_N: Indices) -> Floats:
        """What pairs inside a question add, whose items sum up to them, shape (3, N)."""
        one = joint_places(self.number_N, self.first_N)
        # Who is less by question and by its opposite is of the same.
        two = joint_places(-self.number_N, self.second_N)
        opposite = joint_places(-self.number_N, -self.second_N)
        ones = np.ones((1, one.size))
        net_N = 2 * (below(one, two, ones) - below(one, opposite, ones))[0]
        return np.stack([net_N, sizes_N - _n_tied_ratings(one), sizes_N - _n_tied_ratings(two)])

    def _sums(self, weights_BN: Floats) -> tuple[Floats, Floats]:
        """Pairs in the same order less those opposite, and pairs apart on either side."""
        unit = weights_BN.sum(axis=1) ** 2
        concordant, discordant = (
            np.einsum("bn,bn->b", weights_BN, below(self.first_N, second, weights_BN))
            for second in (self.second_N, -self.second_N)
        )
        apart = [
            unit - (value_weights(codes, weights_BN) ** 2).sum(axis=1)
            for codes in (self.first_N, self.second_N)
        ]
        return np.stack([2 * (concordant - discordant), *apart]), unit


def places(values: NDArray[np.generic]) -> Indices:
    """Number the different values from 0, the lowest."""
    found: Indices = np.unique(values, return_inverse=True)[1]
    return found


def below(first_N: Indices, second_N: Indices, weights_BN: Floats) -> Floats:
    """Sum the weights of the items that are less than each item by both numbers.

    Shape (n_sets, n_items).

    Notes
    -----
    Items lie sorted by the second number. The values of the first are halved again and again; each
    time, an item of an upper half counts what lies before it of its lower half. Any two values part
    in one halving exactly.
    """
    found = np.zeros_like(weights_BN)
    # Of equals by the second number the greater come first, so that none counts the less.
    order = np.lexsort((-first_N, second_N))
    for bit in reversed(range(int(first_N.max(initial=0)).bit_length())):
        codes = first_N[order]
        upper = (codes >> bit) & 1 == 1
        lower_BN = np.where(upper, 0.0, weights_BN[:, order])
        before_BN = np.cumsum(lower_BN, axis=1)
        halved = codes >> (bit + 1)
        starts = np.flatnonzero(np.diff(halved, prepend=-1))
        earlier = np.repeat(
            before_BN[:, starts] - lower_BN[:, starts], np.diff(starts, append=codes.size), axis=1
        )
        found[:, order] += np.where(upper, before_BN - earlier, 0.0)
        order = order[np.argsort(codes >> bit, kind="stable")]
    return found


def ratio(sums_3: Floats, unit: Floats) -> Floats:
    """Compute A / sqrt(b c), NaN where b or c is nothing but rounding of `unit`."""
    across, one, two = sums_3
    varies = (one > 1e-12 * unit) & (two > 1e-12 * unit)
    found = divide(across, np.where(varies, np.sqrt(np.maximum(one * two, 0.0)), 0.0))
    return np.clip(found, -1.0, 1.0)


def net_order(first_N: Indices, second_N: Indices, weights_BN: Floats) -> Floats:
    """Sum the weights of the items in the same order with each by both, less those opposite.

    Shape (n_sets, n_items).
    """
    back_N = first_N.max(initial=0) - first_N
    same = below(first_N, second_N, weights_BN) + below(back_N, -second_N, weights_BN)
    other = below(first_N, -second_N, weights_BN) + below(back_N, second_N, weights_BN)
    return same - other


def joint_places(number_N: Indices, codes_N: Indices) -> Indices:
    """Number items by one number, and by another where that is equal."""
    if not codes_N.size:
        return codes_N
    return places(number_N * (np.ptp(codes_N) + 1) + codes_N - codes_N.min())


def value_weights(codes_N: Indices, weights_BN: Floats) -> Floats:
    """Sum the weights of every value that occurs, shape (n_sets, n_values), sorted."""
    order = np.argsort(codes_N, kind="stable")
    starts = np.flatnonzero(np.diff(codes_N[order], prepend=-1))
    return np.add.reduceat(weights_BN[:, order], starts, axis=1)


def _n_tied_ratings(codes_N: Indices) -> Indices:
    """Items that equal each, itself among them."""
    return np.bincount(codes_N)[codes_N]


_DENSER = 8  # a pair inside a question costs as much as so many weights


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Midranks(PlacedItems):
    """Spearman's rho of items that belong to questions."""

    def left_out(self) -> Floats:
        """Compute it without each question in turn; O(N log N) where questions have few items."""
        n, n_questions = self.first_N.size, self.questions_C.size
        sizes_C = np.bincount(self.number_N, minlength=n_questions)
        if _DENSER * int((sizes_C**2).sum()) <= n * n_questions:
            left_C = n - sizes_C
            rho = ratio(self._sums_left_out(sizes_C), left_C.astype(np.float64) ** 3)
            return np.where(left_C >= _LEAST, rho, np.nan)
        parts = [np.empty(0)]
        for some in slices(n_questions, n, _CELLS):
            without = np.eye(some.stop - some.start, n_questions, some.start)
            parts.append(self.at(1.0 - without))
        return np.concatenate(parts)

    def _sums(self, weights_BN: Floats) -> tuple[Floats, Floats]:
        """Of the midranks that items have by their weights."""
        one, two = (
            _centred_rank_weights(codes, weights_BN) for codes in (self.first_N, self.second_N)
        )
        pairs = ((one, two), (one, one), (two, two))
        sums = [np.einsum("bn,bn,bn->b", weights_BN, *pair) for pair in pairs]
        return np.stack(sums), weights_BN.sum(axis=1) ** 3

    def _sums_left_out(self, sizes_C: Indices) -> Floats:
        """Sums of products and of squares of midranks without each question, shape (3, C)."""
        number, ends = self.number_N, (self.first_N, self.second_N)
        ones = np.ones((1, number.size))
        one, two = (_centred_rank_weights(codes, ones)[0] for codes in ends)
        # Midranks of items among those of their question, less the mean of these.
        midranks_one, midranks_two = (_question_midranks(number, codes, sizes_C) for codes in ends)
        shift_N = (
            (one - midranks_one) * (two - midranks_two)
            + _half_signs(self.first_N, two)
            + _half_signs(self.second_N, one)
        )
        # Sums of products of signs, one to each item of two of a question.
        rows_P, columns_P = question_pairs(sizes_C)
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


def _centred_rank_weights(codes_N: Indices, weights_BN: Floats) -> Floats:
    """Weight below, and half of that of equals, less half of all; shape (B, N)."""
    if not codes_N.size:
        return np.zeros_like(weights_BN)
    totals = value_weights(codes_N, weights_BN)
    ranks = np.cumsum(totals, axis=1) - totals / 2 - weights_BN.sum(axis=1)[:, None] / 2
    found: Floats = ranks[:, codes_N]
    return found


def _question_midranks(number_N: Indices, codes_N: Indices, sizes_C: Indices) -> Floats:
    """Midranks of items among those of their question, less their mean."""
    together = _centred_rank_weights(joint_places(number_N, codes_N), np.ones((1, number_N.size)))[
        0
    ]
    # Of all items in the order of questions, the middle of each question's.
    middle_C = np.cumsum(sizes_C) - sizes_C / 2 - number_N.size / 2
    found: Floats = together - middle_C[number_N]
    return found


def _half_signs(codes_N: Indices, weights_N: Floats) -> Floats:
    """Sum of weights of who is above each item, less of who is below, halved."""
    above_N: Floats = -_centred_rank_weights(codes_N, weights_N[None, :])[0]
    return above_N


def question_pairs(sizes_C: Indices) -> tuple[Indices, Indices]:
    """Pair all items of a question in both orders, each with itself too; items sorted by it."""
    often_N = np.repeat(sizes_C, sizes_C)
    rows_P = np.repeat(np.arange(often_N.size), often_N)
    start_N = np.repeat(np.cumsum(sizes_C) - sizes_C, sizes_C)
    nth_P = np.arange(rows_P.size) - np.repeat(np.cumsum(often_N) - often_N, often_N)
    return rows_P, start_N[rows_P] + nth_P


def _squares_left_out(number_N: Indices, codes_N: Indices, sizes_C: Indices) -> Floats:
    """Sums of squares of midranks without each question: (n^3 - sum of t^3) / 12, of t equals."""
    ties_V = np.bincount(codes_N)
    together = joint_places(number_N, codes_N)
    groups_J = np.bincount(together)
    _, item_J = np.unique(together, return_index=True)
    all_J = ties_V[codes_N[item_J]]
    less_C = np.bincount(
        number_N[item_J], all_J**3.0 - (all_J - groups_J) ** 3.0, minlength=sizes_C.size
    )
    left_C = (codes_N.size - sizes_C).astype(np.float64)
    found: Floats = (left_C**3 - (ties_V**3.0).sum() + less_C) / 12
    return found


Correlation = Literal["pearson", "spearman", "kendall", "icc_agreement", "icc_consistency"]
CORRELATIONS: tuple[Correlation, ...] = get_args(Correlation)


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
    >>> from judgerel_ray.stats.intervals.question_statistic import whole
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


def _paired_rating_moments(total: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """n, sums of squares and products about the means, and the difference of the means."""
    n, x, y, xx, yy, xy = np.moveaxis(total, -1, 0)
    safe = np.where(n > 0, n, 1.0)
    one, two, across = xx - x**2 / safe, yy - y**2 / safe, xy - x * y / safe
    one = np.where(one <= 1e-12 * xx, 0.0, one)
    two = np.where(two <= 1e-12 * yy, 0.0, two)
    return n, one, two, across, (x - y) / safe


def _pearson_correlation(total: Floats) -> Floats:
    """Sum of products over the root of the sums of squares."""
    n, one, two, across, _ = _paired_rating_moments(total)
    found = divide(across, np.sqrt(np.maximum(one * two, 0.0)))
    return np.where(n > _LEAST - 0.5, np.clip(found, -1.0, 1.0), np.nan)


def _intraclass_correlation(total: Floats, *, agreement: bool) -> Floats:
    """(MSR - MSE) / (MSR + MSE + 2 (MSC - MSE) / n), without the last part for consistency."""
    n, one, two, across, shift = _paired_rating_moments(total)
    degrees = np.where(n > 1, n - 1, 1.0)
    rows, error = (one + two + 2 * across) / 2 / degrees, (one + two - 2 * across) / 2 / degrees
    under = rows + error
    if agreement:
        under = under + shift**2 - 2 * error / np.where(n > 0, n, 1.0)
    # Where neither varies there is nothing to agree on, whatever their means.
    found = divide(rows - error, np.where(one + two > 0, under, 0.0))
    return np.where(n > _LEAST - 0.5, found, np.nan)


_of_moments: dict[Correlation, Callable[[Floats], Floats]] = {
    "pearson": _pearson_correlation,
    "icc_agreement": partial(_intraclass_correlation, agreement=True),
    "icc_consistency": partial(_intraclass_correlation, agreement=False),
}
