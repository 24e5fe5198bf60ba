"""Which effects a design can tell apart.

Shape suffixes: C = cells, E = equations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgerel_ray.stats.facet_cells import Codes
from judgerel_ray.stats.facet_sums import Margin
from judgerel_ray.stats.statistic import Floats

RESIDUAL = "residual"


def effect_name(facets: Sequence[str]) -> str:
    """Name an effect by its facets.

    Examples
    --------
    >>> effect_name(("item_id", "option_order")), effect_name(())
    ('item_id x option_order', 'residual')
    """
    return " x ".join(facets) if facets else RESIDUAL


def told_apart(margins: Sequence[Margin], n: int) -> tuple[list[Margin], dict[str, str]]:
    """Sort out the effects with levels of their own, and what the others are confounded with.

    `n` is the number of judgments: an effect with as many levels is the residual. A facet that
    does not vary is left out; so is the interaction of a facet with one that it is nested in.

    Examples
    --------
    >>> code = np.array([0, 1])
    >>> twins = [Margin(facets=(x,), levels_C=code, n_levels=2, holds_object=False) for x in "ab"]
    >>> kept, confounded = told_apart(twins, 4)
    >>> [one.facets for one in kept], confounded
    ([('a',)], {'b': 'a'})
    """
    kept: list[Margin] = []
    confounded: dict[str, str] = {}
    for one in margins:
        if one.n_levels == 1:  # a facet that does not vary
            continue
        if one.n_levels == n:
            confounded[effect_name(one.facets)] = RESIDUAL
            continue
        # Codes of equal partitions differ at most in their order.
        same = (other for other in kept if _same_partition(one.levels_C, other.levels_C))
        twin = next(same, None)
        if twin is None:
            kept.append(one)
        elif not set(twin.facets) <= set(one.facets) or len(one.facets) == len(twin.facets):
            confounded[effect_name(one.facets)] = effect_name(twin.facets)
    return kept, confounded


def _same_partition(first_C: Codes, second_C: Codes) -> bool:
    """Whether two codings put the same cells together."""
    if first_C.max(initial=0) != second_C.max(initial=0):
        return False
    pairs = np.unique(np.stack([first_C, second_C]), axis=1).shape[1]
    return bool(pairs == first_C.max(initial=0) + 1)


def solvable(
    coefficients_EE: Floats, margins: Sequence[Margin]
) -> tuple[list[int], dict[str, str]]:
    """Find the effects whose equations, taken in order, are independent, and those whose are not.

    The last two equations are those of the residual and of the mean.

    Examples
    --------
    >>> solvable(np.eye(2), [])
    ([], {})
    """
    ends = [len(margins), len(margins) + 1]
    kept: list[int] = []
    dependent: dict[str, str] = {}
    for i, one in enumerate(margins):
        rows = [*kept, i, *ends]
        if np.linalg.matrix_rank(coefficients_EE[np.ix_(rows, rows)], tol=1e-9) == len(rows):
            kept.append(i)
        else:
            dependent[effect_name(one.facets)] = "other effects"
    return kept, dependent
