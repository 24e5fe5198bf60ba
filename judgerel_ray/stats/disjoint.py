"""Two disjoint random samples of a unit's ratings: how often they have one majority.

The probability is a ratio of coefficients of polynomials in x and y: a value rated n times gives a
and b of its ratings to the two samples in C(n, a) C(n - a, b) ways, marked x^a y^b. What is asked
is the coefficient of x^k y^k where one value is on top of both samples, so for every pair of
winning counts c and d the polynomials of the values are multiplied, cut at x^(k-c) y^(k-d). All
terms are positive: nothing cancels.

Shape suffixes: N = rows, V = values, A, B = ratings given to the two samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats

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
