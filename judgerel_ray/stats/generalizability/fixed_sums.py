"""Sums of squares of a design, some facets fixed or none, and what they are expected to be.

The levels of a fixed facet are all there are (the temperatures that were chosen): their effects are
numbers and no draws, so a sum of squares that holds them has no expectation in variances unless the
design is balanced. Henderson's third method takes them out first. So do these: with ``M y`` the
deviations from the mean of each combination x of fixed levels, and ``Z_A`` the indicators of a set
of facets A,

    T_A = y' M Z_A (Z_A' Z_A)^-1 Z_A' M y,    E T_A = sum_B var_B |(Z_A' Z_A)^-1/2 Z_A' M Z_B|^2,

free of every fixed effect whatever the balance. What the fixed effects themselves come to is told
by the means of the x, each of weight one, less what chance and other effects add to them. Where no
facet is fixed, all judgments are one x, and the equations are those of Henderson's first method,
each less that of the mean.

Leaving out questions shows what other questions would have given. It says nothing of other levels
(a fifth template beside the four there are), of which there are few, so that they decide more.
Components that hold the question, and what is made of them, have their levels left out in turn as
the questions are, and both variances add up. A component of levels alone is a variance of few
draws, known by its mean square: see :mod:`judgerel_ray.stats.generalizability.component`.

Shape suffixes: C = cells of the design, L = levels of a set of facets, X = combinations of fixed
levels, G = groups of questions left out plus one (the last: none left out), H = groups of levels,
V = values, E = equations, P = components.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.generalizability.facet_cells import (
    Codes,
    FacetCells,
    Margin,
    group_of_levels,
    less,
    level_sums,
    level_totals,
    margin_overlap,
    margin_pairs,
    occupied,
    squares_of,
    sum_levels,
    summed,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CrossedFacets:
    """A set of facets against the fixed combinations; a level of it is in one group, or in many.

    Arrays over L have groups on a second axis only where the set does not hold the object.
    """

    one: Margin
    counts_X: tuple[Floats, ...]  # noqa: N815
    ratios_X: tuple[Floats, ...]  # noqa: N815
    group_L: Codes | None  # noqa: N815
    n_groups: int

    def products(self, first: Sequence[Floats]) -> Floats:
        """Sums over levels of products with the counts, (X, X, G)."""
        return np.array(
            [[sum_levels(a * b, self.group_L, self.n_groups) for b in self.counts_X] for a in first]
        )


def equations(
    cells: FacetCells,
    margins: Sequence[Margin],
    fixed: Margin,
    groups_C: Codes,
    n_groups: int,
) -> tuple[Floats, Floats]:
    """Set up the equations for the variances of the margins, of the residual, and mu^2.

    Where no facet is fixed all judgments are one combination.

    coefficients_GEE (n_groups + 1, n_equations, n_equations): Rows: the margins, all deviations,
    the mean of the fixed combinations; columns: the variances of the margins, that of the residual,
    mu^2. The last of the first axis leaves nothing out.

    squares_GE (n_groups + 1, n_equations): What the rows came to.

    Examples
    --------
    Two questions judged twice each: T_q = 2 var_q + var_e, of deviations from the mean.

    >>> from judgerel_ray.stats.generalizability.facet_cells import margin, score_cells
    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"q": [0, 1]})
    >>> sets = [margin(cells, names, object_="q") for names in (("q",), ())]
    >>> found = equations(cells, sets[:1], sets[1], np.array([0, 1]), 2)
    >>> (found[0][-1] * 4).tolist()
    [[2.0, 1.0, 0.0], [2.0, 3.0, 0.0], [2.0, 1.0, 4.0]]
    >>> (found[1][-1] * 4).tolist()
    [9.0, 11.0, 0.0]
    """
    n_XG = level_sums(fixed, cells.n_C, groups_C, n_groups)
    there_XG, n_G = (n_XG > 0).astype(np.float64), n_XG.sum(axis=0)
    inverse_XG = np.divide(1.0, n_XG, out=np.zeros_like(n_XG), where=n_XG > 0)
    together_XXG, filled_G = inverse_XG[:, None] * inverse_XG[None], there_XG.sum(axis=0)
    crossed = {
        i: _counts_at_fixed_facets(cells, one, fixed, groups_C, n_groups)
        for i, one in enumerate(margins)
        if not set(one.facets) <= set(fixed.facets)
    }
    levels = {i: one.products(one.counts_X) for i, one in crossed.items()}
    size = len(margins) + 2
    coefficients, squares = np.zeros((n_groups + 1, size, size)), np.zeros((n_groups + 1, size))
    total, mean = len(margins), len(margins) + 1
    centred = _cells_centred_by_facets(cells, fixed)
    sums = _means_of_fixed_facets(centred, fixed, groups_C, inverse_XG)
    for i, row in crossed.items():
        shares = row.products(row.ratios_X)
        squares[:, i] = _facet_sums_of_squares(centred, row, sums, shares, groups_C)
        found_sum = np.einsum("xxg,xg->g", shares, inverse_XG)
        coefficients[:, i, -2] = occupied(cells, row.one, groups_C, n_groups) - found_sum
        for j, column in crossed.items():
            paired = margin_pairs(row.one, column.one)
            both = _facet_level_pair_sums(cells, row, column, paired, groups_C)
            coefficients[:, i, j] = (
                margin_overlap(cells, row.one, column.one, paired, groups_C, n_groups)
                - 2 * (both * inverse_XG).sum(axis=0)
                + (shares * together_XXG * levels[j]).sum(axis=(0, 1))
            )
        coefficients[:, total, i] = n_G - np.einsum("xxg,xg->g", levels[i], inverse_XG)
    coefficients[:, total, -2] = n_G - filled_G
    all_G = less(summed(groups_C, centred.squares_C, n_groups))
    squares[:, total] = all_G - np.einsum("vxg,vxg,xg->g", sums, sums, n_XG)
    coefficients /= np.maximum(n_G, 1)[:, None, None]
    squares /= np.maximum(n_G, 1)[:, None]
    means = _means_of_fixed_facets(cells, fixed, groups_C, inverse_XG)
    for i in [i for i in range(mean + 1) if i not in crossed and i != total]:
        levels_C = margins[i].levels_C if i < total else np.zeros_like(groups_C)
        same = _fixed_facet_projection(_equal(levels_C, fixed), there_XG)
        for j, one in enumerate(margins):
            coefficients[:, i, j] = (
                (same * levels[j] * together_XXG).sum(axis=(0, 1))
                if j in crossed
                else (same * _equal(one.levels_C, fixed)).sum(axis=(0, 1))
            )
        coefficients[:, i, -2] = np.einsum("xxg,xg->g", same, inverse_XG)
        coefficients[:, i, -1] = filled_G
        squares[:, i] = np.einsum("xyg,vxg,vyg->g", same, means, means)
        coefficients[:, i] /= np.maximum(filled_G, 1)[:, None]
        squares[:, i] /= np.maximum(filled_G, 1)
    return coefficients, squares


def _means_of_fixed_facets(
    cells: FacetCells, fixed: Margin, groups_C: Codes, inverse_XG: Floats
) -> Floats:
    """Means of the fixed combinations, less each group: (V, X, G)."""
    n_groups = inverse_XG.shape[1] - 1
    return np.array(
        [level_sums(fixed, column, groups_C, n_groups) * inverse_XG for column in cells.sums_CV.T]
    )


def _cells_centred_by_facets(cells: FacetCells, fixed: Margin) -> FacetCells:
    """Centre cells by the mean of their fixed-facet combination, for numerical stability."""
    n_X = summed(fixed.levels_C, cells.n_C, fixed.n_levels)
    sums = [summed(fixed.levels_C, column, fixed.n_levels) / n_X for column in cells.sums_CV.T]
    mean_CV = np.array(sums).T[fixed.levels_C]
    moved_C = (mean_CV * (cells.n_C[:, None] * mean_CV - 2 * cells.sums_CV)).sum(axis=1)
    return replace(
        cells,
        sums_CV=cells.sums_CV - cells.n_C[:, None] * mean_CV,
        squares_C=cells.squares_C + moved_C,
    )


def _counts_at_fixed_facets(
    cells: FacetCells, one: Margin, fixed: Margin, groups_C: Codes, n_groups: int
) -> _CrossedFacets:
    """Judgments of each level of a set of facets at each fixed combination."""
    n = level_totals(one, cells.n_C, groups_C, n_groups)
    counts = [
        level_totals(one, np.where(fixed.levels_C == x, cells.n_C, 0.0), groups_C, n_groups)
        for x in range(fixed.n_levels)
    ]
    ratios = [np.divide(c, n, out=np.zeros_like(c), where=n > 0) for c in counts]
    return _CrossedFacets(
        one=one, counts_X=tuple(counts), ratios_X=tuple(ratios),
        group_L=group_of_levels(one, groups_C), n_groups=n_groups,
    )  # fmt: skip


def _facet_level_pair_sums(
    cells: FacetCells, row: _CrossedFacets, column: _CrossedFacets,
    paired: tuple[Margin, NDArray[np.intp]], groups_C: Codes,
) -> Floats:  # fmt: skip
    """Sum over pairs of levels a, c of n_ac n_ax n_cx / n_a, less each group: (X, G)."""
    n_groups = row.n_groups
    pairs, first = paired
    a_P, c_P, group_P = row.one.levels_C[first], column.one.levels_C[first], groups_C[first]
    found = []
    if row.group_L is None and column.group_L is None:
        n_PG = level_sums(pairs, cells.n_C, groups_C, n_groups)
        for ratio, count in zip(row.ratios_X, column.counts_X, strict=True):
            found.append((n_PG * ratio[a_P] * count[c_P]).sum(axis=0))
        return np.array(found)
    n_P = summed(pairs.levels_C, cells.n_C, first.size)
    for ratio, count in zip(row.ratios_X, column.counts_X, strict=True):
        if row.group_L is not None and column.group_L is not None:
            found.append(less(summed(group_P, n_P * ratio[a_P] * count[c_P], n_groups)))
            continue
        # The side that holds the object adds up by group; the other is what is left without it.
        inner, at_P = (ratio[a_P], c_P) if row.group_L is not None else (count[c_P], a_P)
        other = count if row.group_L is not None else ratio
        flat = summed(at_P * n_groups + group_P, n_P * inner, len(other) * n_groups)
        found.append((less(flat.reshape(len(other), n_groups)) * other).sum(axis=0))
    return np.array(found)


def _facet_sums_of_squares(
    centred: FacetCells, row: _CrossedFacets, means: Floats, shares_XXG: Floats, groups_C: Codes
) -> Floats:
    """T_A: the sums of squares of deviations from the means that hold without each group."""
    found_sum = squares_of(centred, row.one, groups_C, row.n_groups)
    crossed = np.zeros_like(found_sum)
    for column, mean_XG in zip(centred.sums_CV.T, means, strict=True):
        sums = level_totals(row.one, column, groups_C, row.n_groups)
        for ratio, mean_G in zip(row.ratios_X, mean_XG, strict=True):
            crossed += mean_G * sum_levels(ratio * sums, row.group_L, row.n_groups)
    total: Floats = found_sum - 2 * crossed + np.einsum("xyg,vxg,vyg->g", shares_XXG, means, means)
    return total


def _equal(levels_C: Codes, fixed: Margin) -> Floats:
    """1 where two fixed combinations have one level of a set of fixed facets: (X, X, 1)."""
    level_X = np.zeros(fixed.n_levels, dtype=np.int64)
    level_X[fixed.levels_C] = levels_C
    same: Floats = (level_X[:, None] == level_X[None]).astype(np.float64)[:, :, None]
    return same


def _fixed_facet_projection(equal_XX1: Floats, there_XG: Floats) -> Floats:
    """Projection onto the levels of some fixed facets, over the combinations there: (X, X, G)."""
    count_XG = np.maximum(equal_XX1[:, :, 0] @ there_XG, 1.0)
    shared: Floats = equal_XX1 * there_XG[:, None] * there_XG[None] / count_XG[:, None]
    return shared


FEWEST_LEVELS = 3
"""Below, leaving one out leaves none to compare it with, and no interval is given."""
_MOST_GROUPS = 20


def solved(coefficients_GEE: Floats, squares_GE: Floats) -> Floats:
    """Solve equations, NaN where leaving something out leaves them dependent."""
    size = coefficients_GEE.shape[-1]
    full = np.linalg.matrix_rank(coefficients_GEE, tol=1e-9) == size
    found: Floats = np.full(squares_GE.shape, np.nan)
    found[full] = np.linalg.solve(coefficients_GEE[full], squares_GE[full][..., None])[..., 0]
    return found


def estimates_left_out(
    cells: FacetCells, name: str, margins: Sequence[Margin], *, fixed: Margin
) -> Floats:
    """Estimate components with levels of a facet left out in turn, in twenty groups at most.

    Shape (n_groups, n_terms + 1). The residual last; NaN where too little is left.
    """
    level_C = cells.levels[name]
    n_levels = int(level_C.max()) + 1
    n_groups = min(n_levels, _MOST_GROUPS)
    groups_C = (np.random.default_rng(0).permutation(n_levels) % n_groups)[level_C]
    # What is left out is levels of this facet: it stands where the question stands elsewhere.
    sets = [replace(one, holds_object=name in one.facets) for one in margins]
    return solved(*equations(cells, sets, fixed, groups_C, n_groups))[:-1, :-1]


def mean_square(
    facets: tuple[str, ...],
    margins: Sequence[Margin],
    coefficients_EE: Floats,
    squares_E: Floats,
    *,
    fixed: Collection[str],
) -> float | None:
    """Compute the mean square of an effect of levels alone, in units of its component.

    That is the component plus what chance and other effects add to the variance of its levels'
    means; None where the design lacks a part of it.
    """
    places = {frozenset(one.facets): i for i, one in enumerate(margins)}
    squares, coefficient = 0.0, 0.0
    found_sum = places[frozenset(facets)]
    for size in range(len(facets) + 1):
        for part in combinations(facets, size):
            if set(part) <= set(fixed):
                continue
            place = places.get(frozenset(part))
            if place is None:
                return None
            sign = (-1) ** (len(facets) - size)
            squares += sign * squares_E[place]
            coefficient += sign * coefficients_EE[place, found_sum]
    return float(squares / coefficient) if coefficient > 1e-9 else None


def drawn_facets(
    cells: FacetCells, names: Collection[str], sizes: Mapping[str, int]
) -> dict[str, float]:
    """Tell facets that vary and are drawn from more, with the share of levels not drawn."""
    seen = {name: np.unique(cells.levels[name]).size for name in cells.levels if name in names}
    found = {name: 1 - n / sizes[name] if name in sizes else 1.0 for name, n in seen.items()}
    return {name: share for name, share in found.items() if seen[name] > 1 and share > 0}


def few_levels(cells: FacetCells, drawn: Mapping[str, float]) -> tuple[str, ...]:
    """Name the facets drawn from more whose levels are too few for an interval."""
    return tuple(name for name in drawn if 1 < np.unique(cells.levels[name]).size < FEWEST_LEVELS)
