"""Kendall's tau-b of items that belong to questions, by counting pairs and never laying them out.

Shape suffixes: N = items, C = clusters (questions), B = sets of weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats, divide

Codes = NDArray[np.intp]
_CELLS = 2_000_000  # weights held at once: 16 MB
_LEAST = 3  # items; any two lie on a line


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConcordantPairs:
    """Kendall's tau-b of items that belong to questions, in time O(N log N).

    Attributes
    ----------
    name : str
        What it is.
    questions_C : ndarray, shape (n_questions,)
        The questions by name, each once, sorted.
    first_N, second_N : ndarray of int, shape (n_items,)
        Places of the items among the different values of each, from :func:`places`.
    number_N : ndarray of int, shape (n_items,)
        The place of each item's question.
    """

    name: str
    questions_C: NDArray[np.generic]  # noqa: N815  a shape, not a case
    first_N: Codes  # noqa: N815
    second_N: Codes  # noqa: N815
    number_N: Codes  # noqa: N815

    def at(self, weights_BC: Floats) -> Floats:
        """Compute it with these weights of the questions, pairs by the product of their items'.

        Examples
        --------
        >>> pairs = ConcordantPairs(name="kendall", questions_C=np.arange(3), number_N=np.arange(3),
        ...                         first_N=np.array([0, 1, 2]), second_N=np.array([0, 2, 1]))
        >>> pairs.at(np.ones((1, 3))).round(6).tolist()
        [0.333333]
        """
        step = max(1, _CELLS // max(1, self.first_N.size))
        parts = [
            self._tau(weights_BC[start : start + step][:, self.number_N])
            for start in range(0, len(weights_BC), step)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def left_out(self) -> Floats:
        """Compute it without each question: its items' pairs go, those among them once only."""
        n, n_questions = self.first_N.size, self.questions_C.size
        one, two, number = self.first_N, self.second_N, self.number_N
        net_N = net_order(one, two, np.ones((1, n)))[0]
        items_3N = np.stack([net_N, n - _equal(one), n - _equal(two)])
        own_3N = np.zeros_like(items_3N)
        sizes_C = np.bincount(number, minlength=n_questions)
        if (sizes_C > 1).any():
            own_3N = self._own(sizes_C[number])
        mine_3C, own_3C = (
            np.stack([np.bincount(number, row, minlength=n_questions) for row in sums])
            for sums in (items_3N, own_3N)
        )
        sums_3C = items_3N.sum(axis=1)[:, None] - 2 * mine_3C + own_3C
        left_C = n - sizes_C
        return np.where(left_C >= _LEAST, ratio(sums_3C, left_C.astype(np.float64) ** 2), np.nan)

    def _own(self, sizes_N: Codes) -> Floats:
        """What pairs inside a question add, whose items sum up to them, shape (3, N)."""
        one, two, opposite = (
            joint_places(number, codes)
            for number, codes in (
                (self.number_N, self.first_N),
                # Who is less by question and by its opposite is of the same.
                (-self.number_N, self.second_N),
                (-self.number_N, -self.second_N),
            )
        )
        ones = np.ones((1, one.size))
        net_N = 2 * (below(one, two, ones) - below(one, opposite, ones))[0]
        return np.stack([net_N, sizes_N - _equal(one), sizes_N - _equal(two)])

    def _tau(self, weights_BN: Floats) -> Floats:
        """Tau-b with these weights of the items."""
        unit = weights_BN.sum(axis=1) ** 2
        concordant, discordant = (
            np.einsum("bn,bn->b", weights_BN, below(self.first_N, second, weights_BN))
            for second in (self.second_N, -self.second_N)
        )
        apart = [
            unit - (value_weights(codes, weights_BN) ** 2).sum(axis=1)
            for codes in (self.first_N, self.second_N)
        ]
        enough = np.count_nonzero(weights_BN, axis=1) >= _LEAST
        sums_3B = np.stack([2 * (concordant - discordant), *apart])
        return np.where(enough, ratio(sums_3B, unit), np.nan)


def places(values: NDArray[np.generic]) -> Codes:
    """Number the different values from 0, the lowest.

    Examples
    --------
    >>> places(np.array([2.5, 1.0, 2.5])).tolist()
    [1, 0, 1]
    """
    found: Codes = np.unique(values, return_inverse=True)[1]
    return found


def below(first_N: Codes, second_N: Codes, weights_BN: Floats) -> Floats:
    """Sum the weights of the items that are less than each item by both numbers.

    Parameters
    ----------
    first_N, second_N : ndarray of int, shape (n_items,)
        Whole numbers; the first from 0.
    weights_BN : ndarray of float, shape (n_sets, n_items)
        Weights.

    Returns
    -------
    ndarray of float, shape (n_sets, n_items)

    Notes
    -----
    Items lie sorted by the second number. The values of the first are halved again and again; each
    time, an item of an upper half counts what lies before it of its lower half. Any two values part
    in one halving exactly.

    Examples
    --------
    >>> below(np.array([0, 1, 1, 2]), np.array([5, 6, 5, 9]), np.ones((1, 4))).tolist()
    [[0.0, 1.0, 0.0, 3.0]]
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
    """Compute A / sqrt(b c), NaN where b or c is nothing but rounding of `unit`.

    Examples
    --------
    >>> ratio(np.array([3.0, 9.0, 4.0]), np.array(1.0)).tolist()
    0.5
    """
    across, one, two = sums_3
    varies = (one > 1e-12 * unit) & (two > 1e-12 * unit)
    found = divide(across, np.where(varies, np.sqrt(np.maximum(one * two, 0.0)), 0.0))
    return np.clip(found, -1.0, 1.0)


def net_order(first_N: Codes, second_N: Codes, weights_BN: Floats) -> Floats:
    """Sum the weights of the items in the same order with each by both, less those opposite.

    Parameters
    ----------
    first_N, second_N : ndarray of int, shape (n_items,)
        Whole numbers from 0.
    weights_BN : ndarray of float, shape (n_sets, n_items)
        Weights; an item of weight 0 only asks.

    Returns
    -------
    ndarray of float, shape (n_sets, n_items)

    Examples
    --------
    >>> net_order(np.array([0, 1, 2]), np.array([0, 2, 1]), np.ones((1, 3))).tolist()
    [[2.0, 0.0, 0.0]]
    """
    back_N = first_N.max(initial=0) - first_N
    same = below(first_N, second_N, weights_BN) + below(back_N, -second_N, weights_BN)
    other = below(first_N, -second_N, weights_BN) + below(back_N, second_N, weights_BN)
    return same - other


def joint_places(number_N: Codes, codes_N: Codes) -> Codes:
    """Number items by one number, and by another where that is equal.

    Examples
    --------
    >>> joint_places(np.array([0, 1, 1]), np.array([7, 2, 1])).tolist()
    [0, 2, 1]
    """
    if not codes_N.size:
        return codes_N
    return places(number_N * (np.ptp(codes_N) + 1) + codes_N - codes_N.min())


def value_weights(codes_N: Codes, weights_BN: Floats) -> Floats:
    """Sum the weights of every value that occurs, shape (n_sets, n_values), sorted.

    Examples
    --------
    >>> value_weights(np.array([1, 0, 1]), np.array([[1.0, 2.0, 4.0]])).tolist()
    [[2.0, 5.0]]
    """
    order = np.argsort(codes_N, kind="stable")
    starts = np.flatnonzero(np.diff(codes_N[order], prepend=-1))
    totals: Floats = np.add.reduceat(weights_BN[:, order], starts, axis=1)
    return totals


def _equal(codes_N: Codes) -> Codes:
    """Items that equal each, itself among them."""
    found: Codes = np.bincount(codes_N)[codes_N]
    return found
