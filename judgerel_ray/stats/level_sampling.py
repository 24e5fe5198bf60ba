"""Levels of a facet as a sample of more: what components would be with other levels.

Leaving out questions shows what other questions would have given. It says nothing of other levels
(a fifth template beside the four there are), of which there are few, so that they decide more.
Components that hold the question, and what is made of them, have their levels left out in turn as
the questions are, and both variances add up. A component of levels alone is a variance of few
draws, known by its mean square: see :mod:`judgerel_ray.stats.component_intervals`.

Shape suffixes: C = cells, H = groups of levels, P = components.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from judgerel_ray.stats.facet_cells import FacetCells
from judgerel_ray.stats.facet_sums import Margin, equations
from judgerel_ray.stats.fixed_sums import equations_within
from judgerel_ray.stats.statistic import Floats

FEWEST_LEVELS = 3
"""Below, leaving one out leaves none to compare it with, and no interval is given."""
_MOST_GROUPS = 20


def solved(coefficients_GEE: Floats, squares_GE: Floats) -> Floats:
    """Solve equations, NaN where leaving something out leaves them dependent.

    Examples
    --------
    >>> solved(np.array([[[2.0]], [[0.0]]]), np.array([[4.0], [4.0]])).tolist()
    [[2.0], [nan]]
    """
    size = coefficients_GEE.shape[-1]
    full = np.linalg.matrix_rank(coefficients_GEE, tol=1e-9) == size
    found: Floats = np.full(squares_GE.shape, np.nan)
    found[full] = np.linalg.solve(coefficients_GEE[full], squares_GE[full][..., None])[..., 0]
    return found


def estimates_left_out(
    cells: FacetCells, name: str, margins: Sequence[Margin], *, fixed: Margin | None = None
) -> Floats:
    """Estimate components with levels of a facet left out in turn, in twenty groups at most.

    Parameters
    ----------
    cells : FacetCells
        The judgments.
    name : str
        The facet.
    margins : sequence of Margin
        Effects, all of which the whole design tells apart.
    fixed : Margin, optional
        Fixed facets that are taken out first.

    Returns
    -------
    ndarray, shape (n_groups, n_terms + 1)
        The residual last; NaN where too little is left.

    Examples
    --------
    Three orders of two questions; without one of them two are left:

    >>> from judgerel_ray.stats.facet_cells import score_cells
    >>> from judgerel_ray.stats.facet_sums import margin
    >>> levels = {"q": [0, 0, 0, 1, 1, 1], "o": [0, 1, 2] * 2}
    >>> cells = score_cells([1] * 6, [1, 1, 1, 3, 3, 3], [1, 1, 1, 9, 9, 9], levels)
    >>> estimates_left_out(cells, "o", [margin(cells, ("q",), object_="q")]).tolist()
    [[2.0, 0.0], [2.0, 0.0], [2.0, 0.0]]
    """
    level_C = cells.levels[name]
    n_levels = int(level_C.max()) + 1
    n_groups = min(n_levels, _MOST_GROUPS)
    groups_C = (np.random.default_rng(0).permutation(n_levels) % n_groups)[level_C]
    # What is left out is levels of this facet: it stands where the question stands elsewhere.
    sets = [replace(one, holds_object=name in one.facets) for one in margins]
    if fixed is None:
        both = equations(cells, sets, groups_C, n_groups)
    else:
        both = equations_within(cells, sets, fixed, groups_C, n_groups)
    return solved(*both)[:-1, :-1]


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

    Parameters
    ----------
    facets : tuple of str
        Facets of the effect, none of them the question.
    margins : sequence of Margin
        Sets of facets, in the order of the equations.
    coefficients_EE, squares_E : ndarray
        Equations of the whole design, those of all judgments and of the mean last.
    fixed : collection of str
        Fixed facets taken out first, of which no sum of squares is left.

    Examples
    --------
    >>> from judgerel_ray.stats.facet_cells import score_cells
    >>> from judgerel_ray.stats.facet_sums import margin
    >>> levels = {"q": [0, 0, 1, 1], "o": [0, 1, 0, 1]}
    >>> cells = score_cells([1] * 4, [0, 2, 0, 2], [0, 4, 0, 4], levels)
    >>> margins = [margin(cells, (name,), object_="q") for name in "qo"]
    >>> both = equations(cells, margins, np.zeros(4, dtype=np.int64), 1)
    >>> mean_square(("o",), margins, both[0][-1], both[1][-1], fixed=())
    2.0
    """
    places = {frozenset(one.facets): i for i, one in enumerate(margins)}
    if not fixed:
        places[frozenset()] = len(margins) + 1
    squares, coefficient = 0.0, 0.0
    own = places[frozenset(facets)]
    for size in range(len(facets) + 1):
        for part in combinations(facets, size):
            if set(part) <= set(fixed) and fixed:
                continue
            place = places.get(frozenset(part))
            if place is None:
                return None
            sign = (-1) ** (len(facets) - size)
            squares += sign * squares_E[place]
            coefficient += sign * coefficients_EE[place, own]
    return float(squares / coefficient) if coefficient > 1e-9 else None


def drawn_facets(
    cells: FacetCells, names: Collection[str], sizes: Mapping[str, int]
) -> dict[str, float]:
    """Tell facets that vary and are drawn from more, with the share of levels not drawn.

    Examples
    --------
    >>> from judgerel_ray.stats.facet_cells import label_cells
    >>> cells = label_cells([[1], [1]], {"q": [0, 0], "order": [0, 1], "t": [0, 1]})
    >>> drawn_facets(cells, ["order", "t"], {"order": 2})
    {'t': 1.0}
    """
    seen = {name: np.unique(cells.levels[name]).size for name in cells.levels if name in names}
    found = {name: 1 - n / sizes[name] if name in sizes else 1.0 for name, n in seen.items()}
    return {name: share for name, share in found.items() if seen[name] > 1 and share > 0}


def few_levels(cells: FacetCells, drawn: Mapping[str, float]) -> tuple[str, ...]:
    """Name the facets drawn from more whose levels are too few for an interval.

    Examples
    --------
    >>> from judgerel_ray.stats.facet_cells import label_cells
    >>> cells = label_cells([[1], [1]], {"q": [0, 0], "order": [0, 1]})
    >>> few_levels(cells, {"order": 1.0})
    ('order',)
    """
    return tuple(name for name in drawn if 1 < np.unique(cells.levels[name]).size < FEWEST_LEVELS)
