"""Facets of a known number of levels: a pair has two orders, and k options have k!.

A random component is defined by levels drawn from infinitely many. Of N levels, those of which k
enter a mean leave an error of (1 - k / N) / k of their component, which is none where all N do.
What a question is worth over all N levels then holds a part of its interactions with them:

    var_A(N) = sum over B that hold A of var_B / product of N_f, f in B and not in A

(Cornfield and Tukey; Brennan 2001, "finite universes of generalization"). Levels of a facet that is
fixed are all there are: N is their number.

Shape suffixes: P = components.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from judgerel_ray.stats.counts.statistic import Floats
from judgerel_ray.stats.generalizability.facet_cells import FacetCells

Facets = Sequence[str]


def checked_sizes(
    cells: FacetCells, sizes: Mapping[str, int], *, barred: Collection[str]
) -> dict[str, int]:
    """Give the sizes of facets, which must be there and have no more levels than that.

    Raises
    ------
    ValueError
        If a facet is unknown or barred, or has more levels in the data than its size.

    Examples
    --------
    >>> from judgerel_ray.stats.generalizability.facet_cells import label_cells
    >>> cells = label_cells([[1], [1]], {"q": [0, 0], "order": [0, 1]})
    >>> checked_sizes(cells, {"order": 2}, barred=["q"])
    {'order': 2}
    """
    for name, size in sizes.items():
        if name not in cells.levels or name in barred:
            known = [one for one in cells.levels if one not in barred]
            raise ValueError(f"variance_components: sizes must be of {known}, got {name!r}")
        if size < (seen := np.unique(cells.levels[name]).size):
            raise ValueError(
                f"variance_components: {name} has {seen} levels in the data, got a size of {size}"
            )
    return dict(sizes)


def finite_form(facets_P: Sequence[Facets], sizes: Mapping[str, int]) -> Floats:
    """Give the matrix that turns random components into those of facets of these sizes.

    Examples
    --------
    Over two orders, half of question x order is the question's:

    >>> finite_form([("q",), ("order",), ("q", "order"), ()], {"order": 2}).tolist()[0]
    [1.0, 0.0, 0.5, 0.0]
    """
    sets = [frozenset(one) for one in facets_P]
    found = np.eye(len(sets))
    for i, small in enumerate(sets):
        for j, large in enumerate(sets):
            if small and small < large:
                rest = [sizes.get(name, math.inf) for name in large - small]
                found[i, j] = 1 / math.prod(rest)
    return found


def of_one_level(facets: Facets, sizes: Mapping[str, int]) -> float:
    """Give the share of a component that one level of each facet shows, 1 - 1 / N of each.

    Examples
    --------
    >>> of_one_level(("q", "order"), {"order": 2}), of_one_level(("q",), {"order": 2})
    (0.5, 1.0)
    """
    return math.prod((1 - 1 / sizes[name] for name in facets if name in sizes), start=1.0)


def left_as_error(
    facets: Facets, n: int, n_levels: Mapping[str, int], sizes: Mapping[str, int]
) -> float:
    """Give the share of a component that stays in a mean of n judgments as error.

    Parameters
    ----------
    facets : sequence of str
        Facets of the component that make error; none for the residual.
    n : int
        Judgments averaged.
    n_levels : mapping of str to int
        Different levels of each facet among them; 1 where not named. Levels of several facets are
        crossed as far as `n` goes, or else drawn anew for each judgment.
    sizes : mapping of str to int
        How many levels there are; infinitely many where not named.

    Examples
    --------
    >>> [left_as_error(("order",), 4, {"order": k}, {"order": 2}) for k in (1, 2)]
    [0.5, 0.0]
    >>> left_as_error(("order",), 4, {"order": 2}, {}), left_as_error((), 4, {}, {})
    (0.5, 0.25)
    """
    if not facets:
        return 1 / n
    drawn = {name: n_levels.get(name, 1) for name in facets}
    if math.prod(drawn.values()) > n:
        return of_one_level(facets, sizes) / n
    return math.prod((1 - k / sizes.get(name, math.inf)) / k for name, k in drawn.items())
