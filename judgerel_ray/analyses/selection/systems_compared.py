"""All that is compared between systems: pairs, equal acceptance, matched cost, self-preference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from judgerel_ray.analyses.selection.systems import System
from judgerel_ray.analyses.selection.systems_cost import Spending, matched_table
from judgerel_ray.analyses.selection.systems_paired import ComparisonOptions, pair_tables
from judgerel_ray.analyses.selection.systems_preference import preference_table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SystemComparison:
    """Systems compared on the questions they share.

    Attributes
    ----------
    pairs : DataFrame
        As of :func:`judgerel_ray.analyses.selection.systems_paired.pair_tables`.
    equal_acceptance : DataFrame
        Their errors where both accept the same share.
    matched_cost : DataFrame
        As of :func:`judgerel_ray.analyses.selection.systems_cost.matched_table`.
    self_preference : DataFrame
        As of :func:`judgerel_ray.analyses.selection.systems_preference.preference_table`.
    """

    pairs: pl.DataFrame
    equal_acceptance: pl.DataFrame
    matched_cost: pl.DataFrame
    self_preference: pl.DataFrame

    def tables(self) -> dict[str, pl.DataFrame]:
        """Give the tables by name."""
        return {
            "pairs": self.pairs,
            "equal_acceptance": self.equal_acceptance,
            "matched_cost": self.matched_cost,
            "self_preference": self.self_preference,
        }


def compare_systems(
    systems: Sequence[System], spending: Spending, options: ComparisonOptions | None = None
) -> SystemComparison:
    """Compare systems in every way there is.

    Examples
    --------
    >>> from judgerel_ray.analyses.selection.systems import read_systems
    >>> rows = pl.LazyFrame({"judge": ["a", "a", "b", "b"], "item_id": ["q", "r", "r", "q"],
    ...                      "verdict": ["1", "1", "2", "1"], "gold": ["1", "2", "2", "1"]})
    >>> found = compare_systems(read_systems(rows), Spending(unit="requests"))
    >>> found.pairs["p"].to_list(), found.matched_cost.height
    ([1.0], 0)
    """
    pairs, shares = pair_tables(systems, options)
    return SystemComparison(
        pairs=pairs,
        equal_acceptance=shares,
        matched_cost=matched_table(systems, spending, options),
        self_preference=preference_table(systems, options),
    )
