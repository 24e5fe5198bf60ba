"""Two sides whose nuisance facets vary: what is compared of them is reproducibility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.reduce.grouping import varying_facets
from judgerel_ray.reduce.matrix import unit_counts
from judgerel_ray.reduce.places import ORDER, place
from judgerel_ray.reduce.policy import SCORED
from judgerel_ray.reduce.reproducibility import NUISANCE, level_distances
from judgerel_ray.stats import Level
from judgerel_ray.stats.facet_agreement import (
    FacetLevels,
    PairCoefficient,
    reproducibility_terms,
)
from judgerel_ray.stats.order_effects import position_terms, swap_terms
from judgerel_ray.stats.question_statistic import QuestionTerms

SIDE = "__side"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSides:
    """Counted judgments of two sides, told apart by the column ``__side``.

    Attributes
    ----------
    rows : pl.DataFrame
        Counted judgments of both, with the number of rows in ``n``.
    unit : tuple of str
        Columns that make a unit, the side first.
    nuisance : tuple of str
        Of them, those that should not matter and vary in either side.
    n_orders : float, optional
        How many orders of the options are possible, where it is known.
    """

    rows: pl.DataFrame
    unit: tuple[str, ...]
    nuisance: tuple[str, ...]
    n_orders: float | None = None

    @property
    def held(self) -> tuple[str, ...]:
        """Columns of what agreement is about: the item and facets that matter."""
        return tuple(name for name in self.unit if name not in (SIDE, *self.nuisance))

    @property
    def cluster(self) -> tuple[str, ...]:
        """Columns of a question, which is left out or exchanged as one."""
        return tuple(name for name in self.held if name in ("item_id", "benchmark"))

    def _numbers(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """A number for each unit by some of its columns, the same on both sides."""
        found = unit_counts(self.rows, pl.lit(0), unit=self.unit, cluster=columns)
        return found.clusters_U

    def of_coefficient(
        self, name: PairCoefficient, value: pl.Expr, level: Level, n_categories: int
    ) -> tuple[QuestionTerms, QuestionTerms]:
        """Reproducibility of both sides, by question."""
        found = unit_counts(self.rows, value, unit=self.unit, cluster=self.cluster)
        known = self.n_orders is not None and ORDER in self.nuisance
        facets = FacetLevels(
            items_U=self._numbers(self.held),
            levels_U=self._numbers(self.nuisance),
            orders_U=self._numbers([ORDER]) if known else None,
            n_orders=self.n_orders if known else None,
        )
        numbers = np.asarray(found.values, dtype=np.float64) if level != "nominal" else None
        distances = level_distances(found.counts_UV, numbers, level, facets)
        first, second = (
            reproducibility_terms(
                name,
                found.counts_UV[half],
                facets.of_units(half),
                distances_VV=distances,
                n_categories=n_categories,
                clusters_U=found.clusters_U[half],
            )
            for half in self._halves()
        )
        return first, second

    def of_swaps(self, value: pl.Expr) -> tuple[QuestionTerms, QuestionTerms]:
        """Swap consistency of both sides, by question."""
        found = unit_counts(self.rows, value, unit=self.unit, cluster=self.cluster)
        kept = [name for name in self.unit if name not in (SIDE, ORDER)]
        questions, orders = self._numbers(kept), self._numbers([ORDER])
        first, second = (
            swap_terms(
                found.counts_UV[half],
                questions[half],
                orders[half],
                clusters_U=found.clusters_U[half],
            )
            for half in self._halves()
        )
        return first, second

    def of_places(self, n_places: int) -> tuple[QuestionTerms, QuestionTerms]:
        """Position bias of both sides, by question."""
        unit = (SIDE, *self.cluster, ORDER)
        shown = pl.when(SCORED).then(place())
        found = unit_counts(self.rows, shown, unit=unit, cluster=self.cluster)
        spare = max(0, n_places - found.counts_UV.shape[1])
        labels = np.pad(found.counts_UV, ((0, 0), (0, spare)))
        n_first = self.rows.filter(pl.col(SIDE) == 0).select(pl.struct(unit).n_unique()).item()
        first, second = (
            position_terms(labels[half], questions_Q=found.clusters_U[half])
            for half in (slice(None, n_first), slice(n_first, None))
        )
        return first, second

    def _halves(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Units of the first side, and of the second; those of the first are sorted before."""
        n_first = self.rows.filter(pl.col(SIDE) == 0).select(pl.struct(self.unit).n_unique()).item()
        n = self.rows.select(pl.struct(self.unit).n_unique()).item()
        return np.arange(n_first), np.arange(n_first, n)


def compared_sides(
    both: pl.DataFrame, unit: Sequence[str], n_orders: float | None
) -> ComparedSides | None:
    """Find what should not matter and varies inside either of two sides alike.

    None where nothing varies on both: then the same prompt again is all that both have.

    Examples
    --------
    >>> rows = pl.DataFrame({"__side": [0, 0, 1, 1], "item_id": ["q"] * 4, "n": [1] * 4,
    ...                      "template": ["s", "t"] * 2})
    >>> compared_sides(rows, ["__side", "item_id", "template"], None).nuisance
    ('template',)
    """
    recorded = [name for name in NUISANCE if name in unit]
    varying = [varying_facets(both.filter(pl.col(SIDE) == side), recorded) for side in (0, 1)]
    # One that varies on one side alone is held there: its levels are units of their own.
    shared = tuple(name for name in varying[0] if name in varying[1])
    if not shared:
        return None
    return ComparedSides(rows=both, unit=tuple(unit), nuisance=shared, n_orders=n_orders)
