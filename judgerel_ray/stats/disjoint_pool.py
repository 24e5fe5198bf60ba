"""Two disjoint samples of k as one sample of 2 k that is parted at random: a sum over its tables.

Drawing k and k again is drawing 2 k and dealing them out, so the probability that both samples have
one majority is a mean over what the 2 k may be, s = (s_1 ... s_V) with hypergeometric weights. What
two halves of s do is the same for every row of counts and is computed once. All that is left of a
row is a bilinear form in the weights of half of its values and those of the others: a matrix
product. All terms are positive: nothing cancels.

Shape suffixes: N = rows, V = values, S = ratings of a value drawn, L, R = vectors of counts of the
left and the right half of the values.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, e

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.disjoint import disjoint_agreement
from judgerel_ray.stats.statistic import Floats

_MOST_TABLES = 400_000  # what 2 k ratings of so many values may be; 3 MB
_FEWEST_ROWS = 300  # there are about as many sorted tables, whose halves come first
_LARGEST_K = 400  # weights stay within the range of numbers
_CELLS = 2_000_000  # weights held at once


def pooled_agreement(counts_NV: Floats, k: int) -> Floats:
    """Compute what :func:`judgerel_ray.stats.disjoint.disjoint_agreement` does, for many rows.

    Parameters
    ----------
    counts_NV : ndarray of float, shape (n_rows, n_values)
        How often each row received each value; at least 2 k ratings a row.
    k : int
        Ratings in each of the two samples, at least 1.

    Returns
    -------
    ndarray of float, shape (n_rows,)
        Equal to the other's up to rounding.

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
        mine = n_values_N == n_values
        rows = rows_NV[mine, :n_values]
        few_tables = comb(2 * k + n_values - 1, n_values - 1) <= _MOST_TABLES
        if few_tables and k <= _LARGEST_K and len(rows) >= _FEWEST_ROWS:
            found[mine] = _pooled(rows, k)
        else:
            found[mine] = disjoint_agreement(rows.astype(np.float64), k)
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
