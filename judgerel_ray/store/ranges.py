"""Replications of a condition as ranges (first, n): sorted, apart, and never empty."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[int, int]
"""``n`` consecutive replications from ``first`` on, as (first, n)."""


def union(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Merge ranges into the fewest that hold the same replications.

    Examples
    --------
    >>> union([(5, 5), (0, 3), (3, 2), (20, 1)])
    ((0, 10), (20, 1))
    """
    merged: list[Range] = []
    for first, n in sorted(ranges):
        if n <= 0:
            continue
        if merged and first <= sum(merged[-1]):
            start, length = merged[-1]
            merged[-1] = (start, max(length, first + n - start))
        else:
            merged.append((first, n))
    return tuple(merged)


def gaps(ranges: Iterable[Range], n: int) -> tuple[Range, ...]:
    """Name the replications of 0 .. n - 1 that are in none of the ranges.

    Examples
    --------
    >>> gaps([(2, 3)], 10)
    ((0, 2), (5, 5))
    """
    missing: list[Range] = []
    start = 0
    for first, length in union(ranges):
        stop = min(first, n)
        if stop > start:
            missing.append((start, stop - start))
        start = max(start, first + length)
    if start < n:
        missing.append((start, n - start))
    return tuple(missing)


def overlap(ranges: Iterable[Range], new: Range) -> tuple[int, ...]:
    """Name the replications of `new` that are in one of the ranges, in order.

    Examples
    --------
    >>> overlap([(0, 3), (8, 10)], (2, 8))
    (2, 8, 9)
    """
    first, n = new
    return tuple(
        replication
        for start, length in union(ranges)
        for replication in range(max(start, first), min(start + length, first + n))
    )
