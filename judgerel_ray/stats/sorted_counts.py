"""Counts and distributions whose values have no names: sorted from the most frequent on.

Shape suffixes: U = units, V = distinct values, D = distinct rows of counts, J = distributions, S =
different counts.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from judgerel_ray.stats.mixing import distinct_rows
from judgerel_ray.stats.statistic import Floats

PARTITIONS = 150
"""Distributions of three and more values, at most, besides those of two."""


def sorted_likelihood(rows_DV: Floats, shares_JV: Floats) -> Floats:
    """Sum, over all ways to give the counts of a row to the values, what each is likely.

    Up to a factor of the row, shape (n_rows, n_distributions).

    Examples
    --------
    Both ways of .9 x .9 x .1, and of .5 x .5 x .5:

    >>> rows, shares = np.array([[2.0, 1.0]]), np.array([[0.9, 0.1], [0.5, 0.5]])
    >>> sorted_likelihood(rows, shares).round(6).tolist()
    [[0.09, 0.25]]
    """
    n_values = rows_DV.shape[1]
    seen, index = np.unique(rows_DV, return_inverse=True)
    index_DV = index.reshape(rows_DV.shape)
    power_VJS = np.moveaxis(shares_JV, 1, 0)[..., None] ** seen
    # The permanent of a matrix, by the sets of values that have got a count: nothing cancels.
    sums = {0: np.ones((len(rows_DV), len(shares_JV)))}
    for place in range(n_values):
        longer: dict[int, Floats] = {}
        for taken, found_DJ in sums.items():
            for v in range(n_values):
                if not taken >> v & 1:
                    more_DJ = found_DJ * power_VJS[v].T[index_DV[:, place]]
                    key = taken | 1 << v
                    longer[key] = longer[key] + more_DJ if key in longer else more_DJ
        sums = longer
    whole: Floats = sums[(1 << n_values) - 1]
    return whole


def sorted_rows(counts: Floats) -> tuple[Floats, Floats]:
    """List distinct rows, sorted from the most frequent value on, and how often each occurs.

    Examples
    --------
    >>> rows, numbers = sorted_rows(np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]]))
    >>> rows.tolist(), numbers.tolist()
    ([[1.0, 1.0], [2.0, 0.0]], [1.0, 2.0])
    """
    ordered = -np.sort(-counts, axis=1)
    rows, numbers = distinct_rows(ordered)
    rows = -np.sort(-rows, axis=1)
    if rows.shape[1] < 2:
        rows = np.hstack([rows, np.zeros_like(rows)])
    return rows.astype(np.float64), numbers.astype(np.float64)


def thinned(counts: Floats, most: int) -> Floats:
    """Draw at most so many ratings of each unit at random; the order of units does not matter.

    Examples
    --------
    >>> thinned(np.array([[9.0, 0.0], [1.0, 2.0]]), 5).sum(axis=1).tolist()
    [5.0, 3.0]
    """
    rng = np.random.default_rng(0)
    rows = -np.sort(-counts.astype(np.int64), axis=1)
    rows = rows[np.lexsort(rows.T)]
    left, wanted = rows.sum(axis=1), np.minimum(rows.sum(axis=1), most)
    kept = np.zeros_like(rows)
    for v in range(rows.shape[1]):
        left = left - rows[:, v]
        kept[:, v] = rng.hypergeometric(rows[:, v], left, wanted)
        wanted = wanted - kept[:, v]
    found: Floats = kept.astype(np.float64)
    return found


@lru_cache(maxsize=8)
def sorted_distributions(n_values: int) -> Floats:
    """List sorted distributions, finer towards unanimity: (n_distributions, n_values).

    Examples
    --------
    >>> sorted_distributions(2)[[0, -1]].round(3).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    top = np.sin(np.linspace(np.pi / 4, np.pi / 2, 65)) ** 2
    two = np.zeros((top.size, n_values))
    two[:, 0], two[:, 1] = top, 1 - top
    if n_values == 2:
        return two
    parts = 1
    while len(partitions(parts + 1, n_values)) <= PARTITIONS:
        parts += 1
    more = np.array(partitions(parts, n_values), dtype=np.float64) / parts
    distributions: Floats = np.unique(np.vstack([two, more]).round(12), axis=0)
    return distributions


def partitions(n: int, n_parts: int, most: int | None = None) -> list[list[int]]:
    """List all ways to write n as a sum of so many parts, the largest first.

    Examples
    --------
    >>> partitions(3, 2)
    [[3, 0], [2, 1]]
    """
    most = n if most is None else min(n, most)
    if n_parts == 1:
        return [[n]] if n <= most else []
    return [
        [first, *rest]
        for first in range(most, -1, -1)
        if first * n_parts >= n
        for rest in partitions(n - first, n_parts - 1, first)
    ]
