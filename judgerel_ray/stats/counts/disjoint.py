"""Two disjoint random samples of a unit's ratings: how often they have one majority.

The probability is a ratio of coefficients of polynomials in x and y: a value rated n times gives a
and b of its ratings to the two samples in C(n, a) C(n - a, b) ways, marked x^a y^b. What is asked
is the coefficient of x^k y^k where one value is on top of both samples, so for every pair of
winning counts c and d the polynomials of the values are multiplied, cut at x^(k-c) y^(k-d). All
terms are positive: nothing cancels.

Shape suffixes: N = rows, V = values, A, B = ratings given to the two samples.

Two disjoint samples of k as one sample of 2 k that is parted at random: a sum over its tables.

Drawing k and k again is drawing 2 k and splitting them, so the probability that both samples have
one majority is a mean over what the 2 k may be, s = (s_1 ... s_V) with hypergeometric weights. What
two halves of s do is the same for every row of counts and is computed once. All that is left of a
row is a bilinear form in the weights of half of its values and those of the others: a matrix
product. All terms are positive: nothing cancels.

Shape suffixes: N = rows, V = values, S = ratings of a value drawn, L, R = vectors of counts of the
left and the right half of the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb, e

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts.statistic import Floats

_BATCH = 512  # rows multiplied at once: the polynomials of a batch stay in a processor's cache
Top = tuple[int, float, float]  # a winning count, and a node and a weight of its ties


def disjoint_agreement(counts_NV: Floats, k: int) -> Floats:
    """Compute how often two disjoint random samples of k ratings have the same majority.

    Parameters
    ----------
    counts_NV : ndarray of float, shape (n_rows, n_values)
        How often each row received each value; at least 2 k ratings a row.
    k : int
        Ratings in each of the two samples, at least 1.

    Returns
    -------
    ndarray of float, shape (n_rows,)

    Examples
    --------
    >>> disjoint_agreement(np.array([[3.0, 1.0], [4.0, 0.0]]), 1).tolist()
    [0.5, 1.0]
    """
    if not len(counts_NV):
        return np.zeros(0)
    # The order of values does not matter, so sorted rows repeat; rare values leave columns of 0.
    ordered = -np.sort(-counts_NV.astype(np.int64), axis=1)
    rows_NV, back = np.unique(ordered, axis=0, return_inverse=True)
    found = np.empty(len(rows_NV))
    for start in range(0, len(rows_NV), _BATCH):
        batch = rows_NV[start : start + _BATCH]
        found[start : start + _BATCH] = _agreement(batch[:, (batch > 0).any(axis=0)], k)
    agreement: Floats = found[back.reshape(-1)]
    return agreement


@lru_cache(maxsize=1024)
def tie_nodes(c: int, k: int) -> tuple[tuple[float, float], ...]:
    """Give nodes z and weights w with sum w z^t = 1 / (t + 1) for all ties t possible at c of k.

    Gauss and Legendre's rule on [0, 1], exact for polynomials: 1 / (t + 1) is the integral of z^t.

    Examples
    --------
    >>> [(round(z, 12), round(w, 12)) for z, w in tie_nodes(2, 3)]
    [(0.5, 1.0)]
    """
    nodes, weights = np.polynomial.legendre.leggauss((k // c - 1) // 2 + 1)
    return tuple(zip(((nodes + 1) / 2).tolist(), (weights / 2).tolist(), strict=True))


def _agreement(rows_NV: NDArray[np.int64], k: int) -> Floats:
    """The agreement of a batch of rows, their values from the most frequent on."""
    seen, index_NV = np.unique(rows_NV, return_inverse=True)
    index_VN = index_NV.reshape(rows_NV.shape).T
    ways_VABN = np.moveaxis(_ways(seen, k)[:, :, index_VN], 2, 0)
    largest_V = rows_NV.max(axis=0)
    total = np.zeros(len(rows_NV))
    for left, right, weight in _pairs(k, rows_NV.shape[1]):
        total += weight * _tops(ways_VABN, largest_V, k, left, right)
    return total / [float(comb(m, k) * comb(m - k, k)) for m in rows_NV.sum(axis=1).tolist()]


def _pairs(k: int, n_values: int) -> Iterator[tuple[Top, Top, float]]:
    """Pairs of winning counts with their weights; the samples are alike, so each pair but once."""
    tops = [(c, *node) for c in range(-(-k // n_values), k + 1) for node in tie_nodes(c, k)]
    for i, left in enumerate(tops):
        for j, right in enumerate(tops[: i + 1]):
            yield left, right, left[2] * right[2] * (1 if i == j else 2)


def _ways(seen_C: NDArray[np.int64], k: int) -> Floats:
    """C(n, a) C(n - a, b) for a, b = 0 ... k and every count n, shape (k + 1, k + 1, counts)."""
    ways = np.zeros((k + 1, k + 1, len(seen_C)))
    ways[0, 0] = 1.0
    n = seen_C.astype(np.float64)
    for a in range(k + 1):
        if a:
            ways[a, 0] = ways[a - 1, 0] * np.maximum(n - a + 1, 0) / a
        for b in range(1, k + 1):
            ways[a, b] = ways[a, b - 1] * np.maximum(n - a - b + 1, 0) / b
    return ways


def _tops(ways_VABN: Floats, largest_V: NDArray[np.int64], k: int, left: Top, right: Top) -> Floats:
    """Ways to draw two samples that one value tops, c times in the first and d in the second."""
    (c, y, _), (d, z, _) = left, right
    shape = (k - c + 1, k - d + 1)
    # What a value that does not win may get: a tie at c or d is marked by its node.
    cut_VABN = ways_VABN[:, : min(c + 1, shape[0]), : min(d + 1, shape[1])].copy()
    cut_VABN[:, c:] *= y
    cut_VABN[:, :, d:] *= z
    win_VN = ways_VABN[:, c, d]
    none_yet = np.zeros((*shape, ways_VABN.shape[-1]))
    none_yet[0, 0] = 1.0
    one_won = np.zeros_like(none_yet)
    for cut, win, largest in zip(cut_VABN[:-1], win_VN[:-1], largest_V[:-1].tolist(), strict=True):
        one_won = _product(one_won, cut, largest)
        one_won += none_yet * win
        none_yet = _product(none_yet, cut, largest)
    # Of the last product only the highest coefficient counts.
    last = cut_VABN[-1]
    high = one_won[::-1, ::-1][: last.shape[0], : last.shape[1]]
    found: Floats = (high * last).sum(axis=(0, 1)) + none_yet[-1, -1] * win_VN[-1]
    return found


def _product(left_IJN: Floats, right_ABN: Floats, largest: int) -> Floats:
    """Product of polynomials, cut at the degrees of the first; a + b is at most `largest`."""
    product = left_IJN.copy()  # the coefficient of x^0 y^0 is 1
    n_i, n_j, _ = left_IJN.shape
    for a in range(right_ABN.shape[0]):
        for b in range(min(right_ABN.shape[1], largest - a + 1)):
            if a or b:
                product[a:, b:] += left_IJN[: n_i - a, : n_j - b] * right_ABN[a, b]
    return product


_MOST_TABLES = 400_000  # what 2 k ratings of so many values may be; 3 MB
_FEWEST_ROWS = 300  # there are about as many sorted tables, whose halves come first
_LARGEST_K = 400  # weights stay within the range of numbers
_CELLS = 2_000_000  # weights held at once


def pooled_agreement(counts_NV: Floats, k: int) -> Floats:
    """Compute what :func:`.disjoint_agreement` does, up to rounding, for many rows.

    Examples
    --------
    >>> pooled_agreement(np.array([[3.0, 1.0], [4.0, 0.0]]), 1).tolist()
    [0.5, 1.0]
    """
    if not len(counts_NV):
        return np.zeros(0)
    # The order of values does not matter, so sorted rows repeat.
    ordered = -np.sort(-counts_NV.astype(np.int64), axis=1)
    rows_NV, back = np.unique(ordered, axis=0, return_inverse=True)
    n_values_N = (rows_NV > 0).sum(axis=1)
    found = np.empty(len(rows_NV))
    for n_values in np.unique(n_values_N).tolist():
        same_width = n_values_N == n_values
        rows = rows_NV[same_width, :n_values]
        few_tables = comb(2 * k + n_values - 1, n_values - 1) <= _MOST_TABLES
        if few_tables and k <= _LARGEST_K and len(rows) >= _FEWEST_ROWS:
            found[same_width] = _pooled(rows, k)
        else:
            found[same_width] = disjoint_agreement(rows.astype(np.float64), k)
    agreement: Floats = found[back.reshape(-1)]
    return agreement


def _pooled(rows_NV: NDArray[np.int64], k: int) -> Floats:
    """The agreement of rows without zeros."""
    n_values = rows_NV.shape[1]
    n_left = n_values // 2
    blocks = _halves(k, n_values)
    width = sum(left.shape[0] + right.shape[0] for left, right, _ in blocks)
    step = max(1, _CELLS // width)
    found = np.empty(len(rows_NV))
    for start in range(0, len(rows_NV), step):
        weights_VSN = _weights(rows_NV[start : start + step].T, k)
        total = np.zeros(weights_VSN.shape[-1])
        for left_LV, right_RV, agreement_RL in blocks:
            of_left_LN = _products(weights_VSN[:n_left], left_LV)
            of_right_RN = _products(weights_VSN[n_left:-1], right_RV)
            total += ((agreement_RL @ of_left_LN) * of_right_RN).sum(axis=0)
        found[start : start + step] = total / weights_VSN[-1, -1]
    return found


def _weights(rows_VN: NDArray[np.int64], k: int) -> Floats:
    """C(n, s) of every count and, last, of its row's sum, times a power of s that cancels."""
    sums_N = rows_VN.sum(axis=0)
    n_VN = np.vstack([rows_VN, sums_N]).astype(np.float64)
    weights = np.ones((len(n_VN), 2 * k + 1, n_VN.shape[1]))
    for s in range(1, 2 * k + 1):
        # 2 k / e makes up for (2 k)!, which would be too large for a number.
        factor = np.maximum(n_VN - (s - 1), 0) / sums_N * (2 * k / e / s)
        weights[:, s] = weights[:, s - 1] * factor
    return weights


def _products(weights_VSN: Floats, drawn_LV: NDArray[np.int64]) -> Floats:
    """Weights of vectors of counts: products over their values."""
    product = np.ones((len(drawn_LV), weights_VSN.shape[-1]))
    for weights_SN, drawn_L in zip(weights_VSN, drawn_LV.T, strict=True):
        product *= weights_SN[drawn_L]
    return product


@lru_cache(maxsize=32)
def _halves(
    k: int, n_values: int
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64], Floats], ...]:
    """What 2 k ratings may be, by how many are of the left values, and what their halves do."""
    n_left = n_values // 2
    blocks = []
    for t in range(2 * k + 1):
        left_LV, right_RV = count_vectors(t, n_left), count_vectors(2 * k - t, n_values - n_left)
        if len(left_LV):
            blocks.append((left_LV, right_RV))
    tables = np.vstack(
        [
            np.hstack([np.tile(left, (len(right), 1)), np.repeat(right, len(left), axis=0)])
            for left, right in blocks
        ]
    )
    agreement = disjoint_agreement(tables.astype(np.float64), k)
    parts = np.split(agreement, np.cumsum([len(left) * len(right) for left, right in blocks])[:-1])
    return tuple(
        (left, right, part.reshape(len(right), len(left)))
        for (left, right), part in zip(blocks, parts, strict=True)
    )


def count_vectors(total: int, n_values: int) -> NDArray[np.int64]:
    """List all vectors of whole numbers that sum to a total, shape (vectors, n_values).

    Examples
    --------
    >>> count_vectors(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    if n_values == 0:
        return np.zeros((int(total == 0), 0), dtype=np.int64)
    if n_values == 1:
        return np.array([[total]], dtype=np.int64)
    return np.vstack(
        [
            np.hstack([np.full((len(rest), 1), first), rest])
            for first in range(total + 1)
            for rest in [count_vectors(total - first, n_values - 1)]
        ]
    )
