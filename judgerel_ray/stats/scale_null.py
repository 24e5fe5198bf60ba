"""Moments of agreement between scales over all deals of scores to questions, in closed form.

What dealing changes is a sum over questions of products of what they have on two scales. Of one
pair of scales its first three moments over all permutations are exact; pairs of three scales are
uncorrelated, and only the three pairs of a triangle have a third moment of their own.

Shape suffixes: Q = questions, D = numbers of a question on one scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats

_WIDEST = 24  # numbers of a question, whose third powers are held


@dataclass(frozen=True, slots=True, kw_only=True)
class DealtProducts:
    """Moments of the sum, over items and pairs of scales, of the products across scales.

    Attributes
    ----------
    mean, variance, third : float
        Mean and central moments over all deals.
    fourth : float
        The fourth cumulant, at most about: what terms of one question alone would make.
    """

    mean: float
    variance: float
    third: float
    fourth: float


def dealt_products(vectors: list[Floats], blocks: list[NDArray[np.intp]]) -> DealtProducts | None:
    """Compute the moments over all deals of every scale's vectors to the questions.

    Parameters
    ----------
    vectors : list of ndarray of float, shape (n_items, n_numbers)
        What items have on each scale; all have something on all.
    blocks : list of ndarray of int, shape (n_questions, n_items_of_each)
        Questions that may swap, by their number of items.

    Returns
    -------
    DealtProducts or None
        None where questions have too many numbers to hold their third powers.

    Examples
    --------
    Two questions: what they have on the second scale stays, or is swapped.

    >>> two = [np.array([[0.0], [1.0]]), np.array([[0.0], [3.0]])]
    >>> found = dealt_products(two, [np.array([[0], [1]])])
    >>> found.mean, found.variance
    (1.5, 2.25)
    """
    width = max(block.shape[1] for block in blocks) * vectors[0].shape[1]
    if width > _WIDEST:
        return None
    mean = variance = third = 0.0
    fourths = np.zeros(len(vectors) * (len(vectors) - 1) // 2)
    for block in blocks:
        rows = [one[block].reshape(len(block), -1) for one in vectors]
        n = len(block)
        mean += n * sum(float(x.mean(axis=0) @ y.mean(axis=0)) for x, y in combinations(rows, 2))
        if n < 2:
            continue
        centred = [one - one.mean(axis=0) for one in rows]
        squares = [one.T @ one for one in centred]
        variance += sum(float((x * y).sum()) for x, y in combinations(squares, 2)) / (n - 1)
        fours = [float(((one**2).sum(axis=1) ** 2).sum()) for one in centred]
        fourths += np.array([x * y for x, y in combinations(fours, 2)]) / n
        third += (
            6
            * sum(float(np.trace(x @ y @ z)) for x, y, z in combinations(squares, 3))
            / (n - 1) ** 2
        )
        if n > 2:
            cubes = [np.einsum("qa,qb,qc->abc", one, one, one, optimize=True) for one in centred]
            pairs = sum(float((x * y).sum()) for x, y in combinations(cubes, 2))
            third += n / (n - 1) / (n - 2) * pairs
    fourth = float((fourths**0.5).sum()) ** 2
    return DealtProducts(mean=mean, variance=variance, third=third, fourth=fourth)
