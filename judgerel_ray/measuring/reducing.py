"""Coefficients of opened judgments by one set of options, against the tolerances that are set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.counting.gold import with_gold
from judgerel_ray.counting.groups.grouping import BlockChoice
from judgerel_ray.counting.intervals import AUTO, IntervalChoice
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.measuring.tolerance import with_tolerance
from judgerel_ray.stats import DEFAULT_COEFFICIENTS
from judgerel_ray.stats.agreement.agreement import OF_GOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceOptions:
    """What ``reduce`` computes; None is the default of ARCHITECTURE 3.1."""

    by: tuple[str, ...] | None = None
    measurement: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ("category", "drop")
    coefficients: tuple[str, ...] | None = None
    block: str = "0"
    items: str | None = None
    nuisance: tuple[str, ...] = ()
    tolerance: Mapping[str, float] | None = None
    intervals: IntervalChoice = AUTO

    def __post_init__(self) -> None:
        if self.block not in ("0", "all"):
            raise SweepError(f"block must be 0 or all, got {self.block!r}")

    @property
    def counted_block(self) -> BlockChoice:
        """The block that counts, or all of them."""
        return "all" if self.block == "all" else 0

    @property
    def extra_keys(self) -> list[str]:
        """Columns that tell rows apart, besides those that make a unit."""
        right = [GOLD] if set(self.coefficients or ()) & set(OF_GOLD) else []
        return [*(self.by or ()), *([self.items] if self.items else []), *self.nuisance, *right]


def tolerated(judged: Snapshot, options: ReduceOptions) -> pl.DataFrame:
    """Coefficients by the options, against the tolerances given, or those of the run's own sweep.

    Without coefficients of choice, those that have a tolerance are among them.
    """
    stated = {} if options.tolerance else judged.tolerance
    if (
        options.coefficients is None
        and not options.items
        and not set(stated) <= set(DEFAULT_COEFFICIENTS)
    ):
        more = tuple(name for name in stated if name not in DEFAULT_COEFFICIENTS)
        options = replace(options, coefficients=(*DEFAULT_COEFFICIENTS, *more))
    by_default = options.coefficients is None and not options.items
    if by_default or set(options.coefficients or ()) & set(OF_GOLD):
        judged = with_gold(judged)
    found = reduce_judged(judged, options)
    if options.tolerance:
        return with_tolerance(found, options.tolerance)
    there = set(found["coefficient"])
    stated = {name: value for name, value in stated.items() if name in there}
    return with_tolerance(found, stated) if stated else found


def reduce_judged(judged: Snapshot, options: ReduceOptions) -> pl.DataFrame:
    """Coefficients by the options: of each protocol by itself, where menus differ."""
    apart = options.by is None or "protocol" in options.by
    found = [
        reduce_judgments(
            one.source,
            by=options.by,
            measurement=options.measurement,
            missing=options.missing,
            coefficients=options.coefficients,
            block=options.counted_block,
            n_categories=one.n_categories,
            items=options.items,
            nuisance=options.nuisance,
            intervals=options.intervals,
            scales=one.scales,
            verdicts_known=one.verdicts_known,
            n_options=one.n_options,
        )
        for one in (judged.by_menu() if apart else [judged])
    ]
    return pl.concat(found, how="diagonal_relaxed") if len(found) > 1 else found[0]
