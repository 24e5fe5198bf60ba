"""Sums of squares of a design and what they are expected to be: Henderson's first method.

For every set of facets A, ``T_A`` is the sum over its cells of (sum of verdicts)^2 / judgments.
Where all effects are random, ``E T_A = N mu^2 + sum_B k(A, B) var_B + cells(A) var_residual`` with
``k(A, B) = sum_ab n_ab^2 / n_a``, whatever the balance. Everything is computed for the whole data
and for the data less one group of questions at a time.

Shape suffixes: C = cells of the design, L = levels of a set of facets, G = groups of questions
left out plus one (the last: none left out), V = values, E = equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgerel_ray.stats.facet_cells import Codes, FacetCells
from judgerel_ray.stats.statistic import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """A set of facets: the level of each cell, how many levels, and whether it holds the object."""

    facets: tuple[str, ...]
    levels_C: Codes  # noqa: N815  a shape, not a case
    n_levels: int
    holds_object: bool


def margin(cells: FacetCells, facets: tuple[str, ...], *, object_: str) -> Margin:
    """Combine the levels of several facets into one.

    Examples
    --------
    >>> from judgerel_ray.stats.facet_cells import label_cells
    >>> cells = label_cells([[1], [1]], {"q": ["a", "b"], "order": [0, 0]})
    >>> margin(cells, ("q", "order"), object_="q").n_levels
    2
    """
    codes = np.zeros(cells.n_C.size, dtype=np.int64)
    for name in facets:
        codes = codes * (cells.levels[name].max(initial=0) + 1) + cells.levels[name]
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    n_levels = int(codes.max(initial=-1)) + 1
    return Margin(facets=facets, levels_C=codes, n_levels=n_levels, holds_object=object_ in facets)


def equations(
    cells: FacetCells, margins: Sequence[Margin], groups_C: Codes, n_groups: int
) -> tuple[Floats, Floats]:
    """Set up the equations for the variances of the margins, of the residual, and mu^2.

    Parameters
    ----------
    cells : FacetCells
        The judgments.
    margins : sequence of Margin
        Sets of facets that have a variance each.
    groups_C : ndarray of int, shape (n_cells,)
        Which group of questions each cell belongs to.
    n_groups : int
        Groups.

    Returns
    -------
    coefficients_GEE : ndarray, shape (n_groups + 1, n_equations, n_equations)
        Rows: the margins, all judgments, their mean; columns: the variances of the margins, that
        of the residual, mu^2. The last of the first axis leaves nothing out.
    squares_GE : ndarray, shape (n_groups + 1, n_equations)
        What the rows came to.

    Examples
    --------
    Two questions judged twice each: T_q = N mu^2 + 4 var_q + 2 var_e.

    >>> from judgerel_ray.stats.facet_cells import score_cells
    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"q": [0, 1]})
    >>> found = equations(cells, [margin(cells, ("q",), object_="q")], np.array([0, 1]), 2)
    >>> (found[0][-1] * 4).tolist()
    [[4.0, 2.0, 4.0], [4.0, 4.0, 4.0], [2.0, 1.0, 4.0]]
    >>> (found[1][-1] * 4).tolist()
    [9.0, 11.0, 0.0]
    """
    none = np.zeros(cells.n_C.size, dtype=np.int64)
    mean = Margin(facets=(), levels_C=none, n_levels=1, holds_object=False)
    n_G = less(summed(groups_C, cells.n_C, n_groups))
    rows = [*margins, mean]
    n_equations = len(margins) + 2
    coefficients = np.empty((n_groups + 1, n_equations, n_equations))
    squares = np.empty((n_groups + 1, n_equations))
    places = [*range(len(margins)), n_equations - 1]
    for place, one in zip(places, rows, strict=True):
        for column, other in enumerate(margins):
            coefficients[:, place, column] = overlap(cells, one, other, groups_C, n_groups)
        coefficients[:, place, -2] = occupied(cells, one, groups_C, n_groups)
        coefficients[:, place, -1] = n_G
        squares[:, place] = squares_of(cells, one, groups_C, n_groups)
    coefficients[:, -2, :] = n_G[:, None]
    squares[:, -2] = less(summed(groups_C, cells.squares_C, n_groups))
    safe = np.where(n_G > 0, n_G, 1.0)
    return coefficients / safe[:, None, None], squares / safe[:, None]


def summed(codes: Codes, weights: Floats, n: int) -> Floats:
    """Sum weights by code, for codes 0 ... n - 1.

    Examples
    --------
    >>> summed(np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [1.0, 5.0, 0.0]
    """
    summed: Floats = np.bincount(codes, weights, minlength=n).astype(np.float64)
    return summed


def less(by_group: Floats) -> Floats:
    """Give totals less each group, and last the totals; groups are on the last axis.

    Examples
    --------
    >>> less(np.array([1.0, 2.0])).tolist()
    [2.0, 1.0, 3.0]
    """
    total = by_group.sum(axis=-1, keepdims=True)
    return np.concatenate([total - by_group, total], axis=-1)


def _group_of(levels_C: Codes, groups_C: Codes, n_levels: int) -> Codes:
    """The group of each level of a margin that holds the object (a level lies in one group)."""
    group_L = np.zeros(n_levels, dtype=np.int64)
    group_L[levels_C] = groups_C
    return group_L


def by_group(one: Margin, weight_C: Floats, groups_C: Codes, n_groups: int) -> Floats:
    """Sum a weight over the cells of each level, less each group: (n_levels, G).

    Examples
    --------
    >>> code = np.array([0, 0, 1])
    >>> one = Margin(facets=("t",), levels_C=code, n_levels=2, holds_object=False)
    >>> by_group(one, np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1]), 2).tolist()
    [[2.0, 1.0, 3.0], [3.0, 0.0, 3.0]]
    """
    flat = summed(one.levels_C * n_groups + groups_C, weight_C, one.n_levels * n_groups)
    return less(flat.reshape(one.n_levels, n_groups))


def squares_of(cells: FacetCells, one: Margin, groups_C: Codes, n_groups: int) -> Floats:
    """Compute T_A, less each group.

    Examples
    --------
    >>> from judgerel_ray.stats.facet_cells import score_cells
    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"q": [0, 1]})
    >>> squares_of(cells, margin(cells, ("q",), object_="q"), np.array([0, 1]), 2).tolist()
    [4.5, 4.5, 9.0]
    """
    if one.holds_object:
        n_L = summed(one.levels_C, cells.n_C, one.n_levels)
        over_L = np.zeros(one.n_levels)
        for column in cells.sums_CV.T:
            over_L += summed(one.levels_C, column, one.n_levels) ** 2
        group_L = _group_of(one.levels_C, groups_C, one.n_levels)
        return less(summed(group_L, over_L / n_L, n_groups))
    n_LG = by_group(one, cells.n_C, groups_C, n_groups)
    over_LG = np.zeros(n_LG.shape)
    for column in cells.sums_CV.T:
        over_LG += by_group(one, column, groups_C, n_groups) ** 2
    return _ratios_summed(over_LG, n_LG)


def occupied(cells: FacetCells, one: Margin, groups_C: Codes, n_groups: int) -> Floats:
    """Count levels with a judgment, less each group.

    Examples
    --------
    >>> from judgerel_ray.stats.facet_cells import score_cells
    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"q": [0, 1]})
    >>> occupied(cells, margin(cells, ("q",), object_="q"), np.array([0, 1]), 2).tolist()
    [1.0, 1.0, 2.0]
    """
    if one.holds_object:
        group_L = _group_of(one.levels_C, groups_C, one.n_levels)
        return less(summed(group_L, np.ones(group_L.size), n_groups))
    n_LG = by_group(one, cells.n_C, groups_C, n_groups)
    filled: Floats = (n_LG > 0).sum(axis=0).astype(np.float64)
    return filled


def overlap(
    cells: FacetCells, one: Margin, other: Margin, groups_C: Codes, n_groups: int
) -> Floats:
    """Compute k(A, B) = sum_ab n_ab^2 / n_a, less each group.

    Examples
    --------
    >>> from judgerel_ray.stats.facet_cells import score_cells
    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"q": [0, 1]})
    >>> one = margin(cells, ("q",), object_="q")
    >>> overlap(cells, one, one, np.array([0, 1]), 2).tolist()
    [2.0, 2.0, 4.0]
    """
    pair_C = one.levels_C * other.n_levels + other.levels_C
    _, first, pair_C = np.unique(pair_C, return_index=True, return_inverse=True)
    both = Margin(facets=(), levels_C=pair_C, n_levels=first.size, holds_object=True)
    level_P = one.levels_C[first]
    if not (one.holds_object or other.holds_object):
        square_PG = by_group(both, cells.n_C, groups_C, n_groups) ** 2
        over_LG = np.zeros((one.n_levels, n_groups + 1))
        np.add.at(over_LG, level_P, square_PG)
        return _ratios_summed(over_LG, by_group(one, cells.n_C, groups_C, n_groups))
    square_P = summed(pair_C, cells.n_C, first.size) ** 2
    group_P = groups_C[first]
    if one.holds_object:
        n_L = summed(one.levels_C, cells.n_C, one.n_levels)
        return less(summed(group_P, square_P / n_L[level_P], n_groups))
    flat = summed(level_P * n_groups + group_P, square_P, one.n_levels * n_groups)
    over_LG = less(flat.reshape(one.n_levels, n_groups))
    return _ratios_summed(over_LG, by_group(one, cells.n_C, groups_C, n_groups))


def _ratios_summed(over_LG: Floats, under_LG: Floats) -> Floats:
    """Sum over levels of over / under, 0 where a level is empty."""
    ratio_LG = np.divide(over_LG, under_LG, out=np.zeros_like(over_LG), where=under_LG > 0)
    summed: Floats = ratio_LG.sum(axis=0)
    return summed
