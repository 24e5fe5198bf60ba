"""Panels drawn at random from judges that there are: what each further one adds, exactly.

Shape suffixes: U = units, J = judges, K = sizes of panel (1 to J).
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.statistic import Floats
from judgerel_ray.stats.votes import checked_votes, first_places


def random_panels(votes_UJ: ArrayLike, right_U: ArrayLike) -> Floats:
    """Compute how often the majority of panels of each size is right, over all panels there are.

    Parameters
    ----------
    votes_UJ : array-like of int, shape (n_units, n_judges)
        Code of each judge's verdict; negative for none.
    right_U : array-like of int, shape (n_units,)
        Code of the right verdict; negative where no judge's is.

    Returns
    -------
    ndarray of float, shape (n_units, n_judges)
        Column k - 1: mean over all panels of k judges; verdicts that tie are drawn by lot.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Notes
    -----
    No panel is drawn: a panel's votes are hypergeometric, and how many verdicts tie is counted by
    a generating function, once for each pattern of counts.

    Examples
    --------
    Two of three are right. Pairs tie twice out of three times:

    >>> random_panels([[0, 0, 1]], [0]).round(3).tolist()
    [[0.667, 0.667, 1.0]]
    """
    votes, right = checked_votes(votes_UJ, right_U, function="random_panels")
    n_judges = votes.shape[1]
    first = np.where(votes >= 0, first_places(votes), -1)
    counts = np.stack([(first == j).sum(axis=1) for j in range(n_judges)], axis=1)
    mine = (votes == right[:, None]) & (right >= 0)[:, None]
    # The right verdict's votes, then those of all others, the most first: units alike in these
    # are alike in all.
    place = np.where(mine, first, -1).max(axis=1, initial=-1)
    known = np.flatnonzero(place >= 0)
    counts[known, place[known]] = 0
    others = -np.sort(-counts, axis=1)
    patterns = np.column_stack([mine.sum(axis=1), others])
    distinct, pattern_U = np.unique(patterns, axis=0, return_inverse=True)
    shares = [
        _right_shares(int(row[0]), tuple(int(n) for n in row[:0:-1] if n), n_judges)
        for row in distinct
    ]
    return np.array(shares).reshape(-1, n_judges)[pattern_U.ravel()]


@lru_cache(maxsize=4096)
def _right_shares(n_right: int, others: tuple[int, ...], n_judges: int) -> tuple[float, ...]:
    """Shares right of panels of 1, 2, ... judges, of whom so many give each verdict."""
    silent = n_judges - n_right - sum(others)
    ways = [0.0] * n_judges
    for g in range(1, n_right + 1):
        for votes, ties, count in _outvoted(others, g):
            for absent in range(silent + 1):
                size = g + votes + absent
                many = comb(n_right, g) * count * comb(silent, absent)
                ways[size - 1] += many / (1 + ties)
    return tuple(way / comb(n_judges, size) for size, way in enumerate(ways, start=1))


@lru_cache(maxsize=65536)
def _outvoted(others: tuple[int, ...], g: int) -> tuple[tuple[int, int, int], ...]:
    """Ways in which no other verdict gets more than `g` votes: votes, ties with it, count."""
    found: dict[tuple[int, int], int] = {(0, 0): 1}
    for n in others:
        grown: dict[tuple[int, int], int] = {}
        for (votes, ties), count in found.items():
            for x in range(min(n, g) + 1):
                key = (votes + x, ties + (x == g))
                grown[key] = grown.get(key, 0) + count * comb(n, x)
        found = grown
    return tuple((votes, ties, count) for (votes, ties), count in found.items())
