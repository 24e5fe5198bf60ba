"""One variance component: its estimate, its share of a judgment's variance, and its interval.

Shape suffixes: G = groups of questions left out plus one (the last: none left out), P = components.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from judgerel_ray.stats.component_intervals import (
    all_levels_interval,
    few_draws_interval,
    left_out_interval,
)
from judgerel_ray.stats.confounding import effect_name
from judgerel_ray.stats.facet_sums import Margin
from judgerel_ray.stats.populations import of_one_level
from judgerel_ray.stats.statistic import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponent:
    """One component.

    Attributes
    ----------
    name : str
        Its facets with " x " between, or "residual".
    facets : tuple of str
        Its facets; none for the residual.
    value : float
        The estimate as it is: below 0 where the data show less variance than chance would.
    share : float or None
        Of the variance of one judgment; None where that is not above 0.
    low, high : float or None
        Ends of its interval; None below two questions, where one question carries it alone, and
        where a facet that is drawn from more has two levels.
    n_levels : int
        Levels in the data; for the residual, judgments.
    negative : bool
        Whether the estimate is below 0.
    """

    name: str
    facets: tuple[str, ...]
    value: float
    share: float | None
    low: float | None
    high: float | None
    n_levels: int
    negative: bool


def described(
    estimates_GP: Floats,
    margins: Sequence[Margin],
    squares_P: Sequence[float | None],
    left_out: Mapping[str, tuple[Floats, float]],
    confidence: float,
    *,
    n: int,
    sizes: Mapping[str, int],
    few: Collection[str],
    fixed: Collection[str],
) -> tuple[VarianceComponent, ...]:
    """Give estimates their names, shares and intervals.

    Parameters
    ----------
    estimates_GP : ndarray, shape (groups + 1, n_components)
        With one group of questions left out at a time, and last of all; the residual last.
    margins : sequence of Margin
        Sets of facets of the components, but for the residual.
    squares_P : sequence of (float or None)
        Mean squares of those that rest on drawn levels alone, in units of their components.
    left_out : mapping of str to (ndarray, float)
        By drawn facet: estimates with levels left out, and the share of levels not drawn.
    confidence : float
        Of the intervals.
    n : int
        Judgments.
    sizes : mapping of str to int
        Facets of a known number of levels.
    few : collection of str
        Drawn facets whose levels are too few for any interval.
    fixed : collection of str
        Facets that were taken out first.

    Examples
    --------
    >>> import numpy as np
    >>> [one] = described(np.array([[1.0], [3.0], [2.0]]), [], [], {}, 0.95,
    ...                   n=4, sizes={}, few=(), fixed=())
    >>> one.name, one.value, one.share
    ('residual', 2.0, 1.0)
    """
    facets = [*(one.facets for one in margins), ()]
    levels = [*(one.n_levels for one in margins), n]
    weights = [of_one_level(one, sizes) for one in facets]
    total = float(estimates_GP[-1] @ weights)
    n_levels = {one.facets: one.n_levels for one in margins}
    found = []
    for i, names in enumerate(facets):
        value = float(estimates_GP[-1, i])
        low, high = None, None
        if not few:
            parts = [(estimates_GP[:-1, i], 1.0)]
            parts += [(values[:, i], share) for values, share in left_out.values()]
            low, high = left_out_interval(value, parts, confidence=confidence)
        square = squares_P[i] if i < len(squares_P) else None
        if square is not None and not few:
            free = [n_levels.get((name,), 2) - 1 for name in names if name not in fixed]
            by_levels = few_draws_interval if set(names) & set(left_out) else all_levels_interval
            ends = by_levels(value, square, math.prod(free), confidence=confidence)
            sampled = left_out and by_levels is all_levels_interval
            if ends and sampled and low is not None and high is not None:
                # All levels of one facet, over a few drawn levels of another: the wider of both.
                ends = (min(low, ends[0]), max(high, ends[1]))
            low, high = ends or (low, high)
        found.append(
            VarianceComponent(
                name=effect_name(names),
                facets=names,
                value=value,
                share=value * weights[i] / total if total > 0 else None,
                low=low,
                high=high,
                n_levels=levels[i],
                # What differs from 0 by rounding is 0.
                negative=value < -1e-12 * max(total, 0.0),
            )
        )
    return tuple(found)
