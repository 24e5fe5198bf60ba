"""Cells of a design: how often each combination of facets was judged, and the sums of its verdicts.

All that variance components need. Sums are kept about the mean of all judgments, which changes no
component and keeps rounding small. Their squares are those of Henderson's first method: for every
set of facets A, ``T_A`` is the sum over its cells of (sum of verdicts)^2 / judgments. Where all
effects are random, ``E T_A = N mu^2 + sum_B k(A, B) var_B + cells(A) var_residual`` with
``k(A, B) = sum_ab n_ab^2 / n_a``, whatever the balance. Everything is computed for the whole data
and for the data less one group of questions at a time.

Shape suffixes: C = cells (combinations of facet levels), L = levels of a set of facets, G = groups
of questions left out plus one (the last: none left out), V = values (1 for scores), P = pairs of
levels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_one_length, check_shape
from judgerel_ray.stats.counts import Floats, checked_counts

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetCells:
    """Judgments summed by cell.

    Attributes
    ----------
    levels : mapping of str to ndarray of int, shape (n_cells,)
        Level of every facet, as codes from 0.
    n_C : ndarray, shape (n_cells,)
        Judgments of each cell, at least one.
    sums_CV : ndarray, shape (n_cells, n_values)
        Sums of the verdicts (of their indicators, one column a value) about their mean.
    squares_C : ndarray, shape (n_cells,)
        Sums of their squares about their mean, over the values.
    kind : {"labels", "scores"}
        Whether verdicts are names (their indicators are analysed, and components are shares of
        Gini's variance) or numbers.
    """

    levels: Mapping[str, Codes]
    n_C: Floats  # noqa: N815  a shape, not a case
    sums_CV: Floats  # noqa: N815
    squares_C: Floats  # noqa: N815
    kind: Literal["labels", "scores"]


def label_cells(counts_CV: ArrayLike, levels: Mapping[str, ArrayLike]) -> FacetCells:
    """Lay out verdicts that are names.

    Parameters
    ----------
    counts_CV : array-like of int, shape (n_cells, n_values)
        How often each cell received each value.
    levels : mapping of str to array-like, shape (n_cells,)
        Level of every facet in each cell; anything that can be sorted.

    Returns
    -------
    FacetCells
        Without the cells that hold no judgment.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or a facet has not one level a cell.

    Examples
    --------
    >>> cells = label_cells([[2, 0], [1, 1]], {"question": ["q", "r"]})
    >>> cells.n_C.tolist(), cells.sums_CV.tolist(), cells.squares_C.tolist()
    ([2.0, 2.0], [[0.5, -0.5], [-0.5, 0.5]], [0.25, 1.25])
    """
    counts = checked_counts(counts_CV, function="label_cells")
    kept = counts.sum(axis=1) > 0
    counts, n_C = counts[kept], counts[kept].sum(axis=1)
    n = n_C.sum()
    share_V = counts.sum(axis=0) / n if n else np.zeros(counts.shape[1])
    return FacetCells(
        levels=_facet_level_codes(levels, kept, function="label_cells"),
        n_C=n_C,
        sums_CV=counts - n_C[:, None] * share_V,
        # Sum over judgments of |indicator - share|^2 = 1 - 2 share of the value + |share|^2.
        squares_C=n_C * (1 + (share_V**2).sum()) - 2 * counts @ share_V,
        kind="labels",
    )


def score_cells(
    n_C: ArrayLike, sums_C: ArrayLike, squares_C: ArrayLike, levels: Mapping[str, ArrayLike]
) -> FacetCells:
    """Lay out verdicts that are numbers, from how many, their sum, and the sum of their squares.

    Parameters
    ----------
    n_C, sums_C, squares_C : array-like, shape (n_cells,)
        Judgments of each cell, the sum of their scores, and that of their squares.
    levels : mapping of str to array-like, shape (n_cells,)
        As of :func:`label_cells`, and so are the cells given.

    Raises
    ------
    ValueError
        If the shapes differ, or a sum is not finite.

    Examples
    --------
    Scores 1, 3 and 5, 5; their mean is 3.5:

    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"question": ["q", "r"]})
    >>> cells.sums_CV.tolist(), cells.squares_C.tolist()
    ([[-3.0], [3.0]], [6.5, 4.5])
    """
    n, sums, squares = (np.asarray(x, dtype=np.float64) for x in (n_C, sums_C, squares_C))
    check_one_length("score_cells", n_C=n, sums_C=sums, squares_C=squares)
    if not (np.isfinite(sums).all() and np.isfinite(squares).all() and (n >= 0).all()):
        raise ValueError("score_cells: sums must be finite, and counts from 0 on")
    kept = n > 0
    n, sums, squares = n[kept], sums[kept], squares[kept]
    mean = sums.sum() / n.sum() if n.size else 0.0
    return FacetCells(
        levels=_facet_level_codes(levels, kept, function="score_cells"),
        n_C=n,
        sums_CV=(sums - n * mean)[:, None],
        squares_C=squares - 2 * mean * sums + n * mean**2,
        kind="scores",
    )


def _facet_level_codes(
    levels: Mapping[str, ArrayLike], kept: NDArray[np.bool_], *, function: str
) -> dict[str, Codes]:
    """Levels as codes from 0, in sorted order, of the cells kept."""
    codes = {}
    for name, level_values in levels.items():
        column = np.asarray(level_values)
        check_shape(function, kept.shape, **{f"levels of {name!r}": column})
        codes[name] = np.unique(column[kept], return_inverse=True)[1].astype(np.int64)
    return codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """A set of facets: the level of each cell, how many levels, and whether it holds the object."""

    facets: tuple[str, ...]
    levels_C: Codes  # noqa: N815  a shape, not a case
    n_levels: int
    holds_object: bool


def margin(cells: FacetCells, facets: tuple[str, ...], *, object_: str) -> Margin:
    """Combine the levels of several facets into one."""
    codes = np.zeros(cells.n_C.size, dtype=np.int64)
    for name in facets:
        codes = codes * (cells.levels[name].max(initial=0) + 1) + cells.levels[name]
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    n_levels = int(codes.max(initial=-1)) + 1
    return Margin(facets=facets, levels_C=codes, n_levels=n_levels, holds_object=object_ in facets)


def summed(codes: Codes, weights: Floats, n: int) -> Floats:
    """Sum weights by code, for codes 0 ... n - 1."""
    return np.bincount(codes, weights, minlength=n).astype(np.float64)


def less(by_group: Floats) -> Floats:
    """Give totals less each group, and last the totals; groups are on the last axis."""
    total = by_group.sum(axis=-1, keepdims=True)
    return np.concatenate([total - by_group, total], axis=-1)


def group_of_levels(one: Margin, groups_C: Codes) -> Codes | None:
    """Give the group of each level of a margin that holds the object: a level lies in one group."""
    if not one.holds_object:
        return None
    group_L = np.zeros(one.n_levels, dtype=np.int64)
    group_L[one.levels_C] = groups_C
    return group_L


def level_sums(one: Margin, weight_C: Floats, groups_C: Codes, n_groups: int) -> Floats:
    """Sum a weight over the cells of each level, less each group: (n_levels, G)."""
    flat = summed(one.levels_C * n_groups + groups_C, weight_C, one.n_levels * n_groups)
    return less(flat.reshape(one.n_levels, n_groups))


def level_totals(one: Margin, weight_C: Floats, groups_C: Codes, n_groups: int) -> Floats:
    """Sum a weight by level, less each group where levels lie in several: (L,) or (L, G)."""
    if one.holds_object:
        return summed(one.levels_C, weight_C, one.n_levels)
    return level_sums(one, weight_C, groups_C, n_groups)


def sum_levels(of_levels: Floats, group_L: Codes | None, n_groups: int) -> Floats:
    """Sum over levels, less each group: (G,)."""
    if group_L is None:
        total: Floats = of_levels.sum(axis=0)
        return total
    return less(summed(group_L, of_levels, n_groups))


def squares_of(cells: FacetCells, one: Margin, groups_C: Codes, n_groups: int) -> Floats:
    """Compute T_A, less each group."""
    n = level_totals(one, cells.n_C, groups_C, n_groups)
    over = np.zeros_like(n)
    for column in cells.sums_CV.T:
        over += level_totals(one, column, groups_C, n_groups) ** 2
    return sum_levels(_facet_level_ratios(over, n), group_of_levels(one, groups_C), n_groups)


def occupied(cells: FacetCells, one: Margin, groups_C: Codes, n_groups: int) -> Floats:
    """Count levels with a judgment, less each group."""
    filled = level_totals(one, cells.n_C, groups_C, n_groups) > 0
    return sum_levels(filled.astype(np.float64), group_of_levels(one, groups_C), n_groups)


def margin_pairs(one: Margin, other: Margin) -> tuple[Margin, NDArray[np.intp]]:
    """Combine two sets of facets, and give a cell of each pair of levels that occurs."""
    code_C = one.levels_C * other.n_levels + other.levels_C
    _, first_P, pair_C = np.unique(code_C, return_index=True, return_inverse=True)
    levels_C = pair_C.astype(np.int64)
    return Margin(facets=(), levels_C=levels_C, n_levels=first_P.size, holds_object=False), first_P


def margin_overlap(
    cells: FacetCells, one: Margin, other: Margin, paired: tuple[Margin, NDArray[np.intp]],
    groups_C: Codes, n_groups: int,
) -> Floats:  # fmt: skip
    """Compute k(A, B) = sum_ab n_ab^2 / n_a, less each group, from :func:`margin_pairs`."""
    pairs, first_P = paired
    a_P = replace(one, levels_C=one.levels_C[first_P])
    n = level_totals(one, cells.n_C, groups_C, n_groups)
    if one.holds_object or other.holds_object:
        square_P = summed(pairs.levels_C, cells.n_C, first_P.size) ** 2
        over = level_totals(a_P, square_P, groups_C[first_P], n_groups)
    else:
        over = np.zeros_like(n)
        np.add.at(over, a_P.levels_C, level_sums(pairs, cells.n_C, groups_C, n_groups) ** 2)
    return sum_levels(_facet_level_ratios(over, n), group_of_levels(one, groups_C), n_groups)


def _facet_level_ratios(over: Floats, under: Floats) -> Floats:
    """Ratios, 0 where a level is empty."""
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)


_LARGEST_INTERACTION = 3


def checked_terms(
    cells: FacetCells,
    object_: str,
    terms: Sequence[Sequence[str]] | None,
    fixed: Collection[str],
) -> list[tuple[str, ...]]:
    """Give the effects wanted, smaller ones first; by default all up to three facets."""
    names = list(cells.levels)
    if object_ not in names:
        raise ValueError(f"variance_components: object_ must be one of {names}, got {object_!r}")
    if object_ in fixed or set(fixed) - set(names):
        raise ValueError(
            f"variance_components: fixed must be facets of {names} without {object_!r}, "
            f"got {sorted(fixed)}"
        )
    if terms is None:
        ordered = [object_, *(name for name in names if name != object_)]
        largest = min(len(ordered), _LARGEST_INTERACTION)
        return [one for size in range(1, largest + 1) for one in combinations(ordered, size)]
    wanted = [tuple(dict.fromkeys(term)) for term in terms]
    unknown = {name for term in wanted for name in term} - set(names)
    if unknown or not all(wanted) or len({frozenset(term) for term in wanted}) < len(wanted):
        raise ValueError(
            f"variance_components: terms must be distinct sets of {names}, got {terms!r}"
        )
    return sorted(wanted, key=len)


def joint_fixed_margin(
    cells: FacetCells, margins: Sequence[Margin], fixed: Collection[str], *, object_: str
) -> Margin:
    """Put the fixed facets that vary together; none of them where no deviation would be left."""
    single = {one.facets[0] for one in margins if len(one.facets) == 1 and one.n_levels > 1}
    names = tuple(name for name in cells.levels if name in fixed and name in single)
    together = margin(cells, names, object_=object_)
    if together.n_levels < cells.n_C.sum():
        return together
    return margin(cells, (), object_=object_)


def method_in_words(kind: str, fixed: Margin, sizes: Mapping[str, int]) -> str:
    """Say how components were estimated, what was fixed, and what is of a finite number."""
    words = "analysis of variance, Henderson's method I, all facets random"
    if fixed.facets:
        words = (
            f"analysis of variance, {', '.join(fixed.facets)} fixed: sums of squares of deviations "
            "from the means of the fixed levels; all other facets random"
        )
    if sizes:
        known = ", ".join(f"{name} of {size} levels" for name, size in sizes.items())
        words = f"{words}; finite: {known}"
    return f"one-hot (Gini) {words}" if kind == "labels" else words
