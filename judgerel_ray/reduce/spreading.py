"""Judgments spread over the levels of facets, as they can be bought.

A level is one of a known number (half of the judgments in each order of a pair) or new each time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgerel_ray.reduce.facets import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """So many judgments of each question, each combination of finite levels equally often.

    Attributes
    ----------
    n_judgments : int
        A whole multiple of the combinations of levels of facets of a known size.
    levels : mapping of str to int
        Different levels of each facet.
    sizes : mapping of str to int
        How many levels there are of those facets whose number is known.
    """

    n_judgments: int
    levels: Mapping[str, int]
    sizes: Mapping[str, int]

    @property
    def n_prompts(self) -> int:
        """Different prompts of a question."""
        finite = math.prod(k for name, k in self.levels.items() if name in self.sizes)
        return finite if set(self.levels) <= set(self.sizes) else self.n_judgments

    @property
    def exhausted(self) -> Mapping[str, int] | None:
        """Levels of the facets of a known size, where all of each are there."""
        return self.sizes if all(self.levels[name] == n for name, n in self.sizes.items()) else None

    def row(self) -> Row:
        """Give the levels as columns: facets, levels of each, and how many there are of each.

        Examples
        --------
        >>> spread_over(3, ["option_order", "template"], {"option_order": 2}).row()
        {'facets': 'option_order, template', 'levels': [2, 4], 'levels_of': [2, None]}
        """
        return {
            "facets": ", ".join(self.levels),
            "levels": list(self.levels.values()),
            "levels_of": [self.sizes.get(name) for name in self.levels],
        }


def spread_over(at_least: int, facets: Sequence[str], sizes: Mapping[str, int]) -> Spread:
    """Spread the fewest judgments, not below a number, over the levels of facets.

    Parameters
    ----------
    at_least : int
        Judgments.
    facets : sequence of str
        Facets of which every judgment has a new level, or all levels have as many.
    sizes : mapping of str to int
        Facets of a known number of levels, the smallest of which are taken first.

    Returns
    -------
    Spread

    Examples
    --------
    >>> [spread_over(n, ["order"], {"order": 2}).n_judgments for n in (1, 2, 3, 5)]
    [1, 2, 4, 6]
    >>> spread_over(5, ["order", "template"], {"order": 2, "template": 3}).levels
    {'order': 2, 'template': 3}
    """
    levels = {}
    wanted = at_least
    for name in sorted((name for name in facets if name in sizes), key=lambda name: sizes[name]):
        levels[name] = min(wanted, sizes[name])
        wanted = -(-wanted // levels[name])
    n = wanted * math.prod(levels.values())
    return Spread(
        n_judgments=n,
        levels={name: levels.get(name, n) for name in facets},
        sizes={name: sizes[name] for name in facets if name in sizes},
    )
