"""How many levels facets have: those recorded, as many as declared, or unlimited.

Orders of k options are k!.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import factorial
from typing import Literal

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.facets import COUNTED_OPTIONS
from judgerel_ray.counting.verdicts.places import NO_OPTION, ORDER

FacetSize = int | Literal["fixed", "unlimited"]
"""A number of levels, those recorded (fixed), or infinitely many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Populations:
    """How many levels facets have."""

    # What is declared. Orders of k options are k! in any case, where k is known.
    sizes: Mapping[str, FacetSize] = field(default_factory=dict)
    # Options of each question that are declared, by benchmark.
    n_options: Mapping[str, int] = field(default_factory=dict)
    # Whether every question has drawn its orders by itself, as those of a run have.
    own_orders: bool = False

    def options(self, part: pl.DataFrame) -> int | None:
        """Give the options of each question of a group, where all have as many.

        Examples
        --------
        >>> rows = pl.DataFrame({"benchmark": ["b"]})
        >>> Populations(n_options={"b": 2}).options(rows), Populations().options(rows)
        (2, None)
        """
        names = part["benchmark"].unique() if "benchmark" in part.columns else [""]
        found = {self.n_options.get(name) for name in names}
        return found.pop() if len(found) == 1 else None


def checked_facet_sizes(
    sizes: Mapping[str, FacetSize], *, known: Collection[str], columns: Sequence[str]
) -> None:
    """Refuse sizes of facets that are not there, or whose levels are what is judged or chosen.

    Examples
    --------
    >>> checked_facet_sizes({"template": 3}, known=["template"], columns=["template"])
    """
    there = [name for name in known if name in columns]
    for name, size in sizes.items():
        if name not in there:
            near = get_close_matches(name, there, n=1)
            raise SweepError(
                f"the size of {name!r} is of no facet here that should not matter and makes no "
                f"group, expected one of {', '.join(there) or 'none'}",
                hint=f"--facet-size {near[0]}={size}" if near else None,
            )
        if size not in ("fixed", "unlimited") and not (isinstance(size, int) and size >= 1):
            raise SweepError(
                f"the size of {name} must be a whole number from 1 on, fixed or unlimited, "
                f"got {size!r}"
            )


def group_sizes(
    part: pl.DataFrame,
    drawn: Sequence[str],
    sizes: Mapping[str, FacetSize],
    *,
    n_labels: int | None = None,
    n_options: int | None = None,
) -> dict[str, int]:
    """Tell the facets of one group that have a known number of levels, and how many.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "q"], "option_order": [0, 1], "verdict": ["x", "y"]})
    >>> group_sizes(rows, ["option_order"], {}), group_sizes(rows, ["option_order"],
    ...                                                      {"option_order": "unlimited"})
    ({'option_order': 2}, {})
    """
    found = {}
    for name in drawn:
        seen, size = part[name].n_unique(), sizes.get(name)
        if size is None and name == ORDER:
            size = _orders(part, seen, n_labels=n_labels, n_options=n_options)
        elif isinstance(size, int) and size < seen:
            raise SweepError(
                f"{name} has {seen} levels in these judgments, more than the {size} declared",
                hint=f"--facet-size {name}={seen}",
            )
        if size == "fixed":
            size = seen
        if isinstance(size, int):
            found[name] = size
    return found


def labels_chosen(frame: pl.LazyFrame, groups: Sequence[str]) -> dict[tuple[object, ...], int]:
    """Count the different labels that were chosen in each group; none where none is recorded.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "r"], "label": ["A", "B"]})
    >>> labels_chosen(rows, []), labels_chosen(rows.drop("label"), [])
    ({(): 2}, {})
    """
    columns = frame.collect_schema().names()
    if "label" not in columns:
        return {}
    label = pl.col("label").cast(pl.String)
    chosen = label.filter(~label.str.to_lowercase().is_in(NO_OPTION)).drop_nulls().n_unique()
    judged, counted = frame.filter(is_judge(columns)), chosen.alias("__labels")
    found = (judged.group_by(groups).agg(counted) if groups else judged.select(counted)).collect(
        engine="streaming"
    )
    return {
        tuple(row[name] for name in groups): row["__labels"]
        for row in found.iter_rows(named=True)
        if row["__labels"]
    }


def _orders(
    part: pl.DataFrame, seen: int, *, n_labels: int | None, n_options: int | None
) -> int | None:
    """Orders of the options; None where nothing tells how many options there are."""
    if n_options is None:
        verdict = pl.col("verdict").cast(pl.String)
        read = part.filter(~verdict.str.to_lowercase().is_in(NO_OPTION))
        each = read.group_by("item_id").agg(verdict.n_unique())["verdict"].max()
        least = next((k for k in range(COUNTED_OPTIONS + 1) if factorial(k) >= seen), None)
        if not isinstance(each, int) or least is None:
            return None
        least = max(least, each)
        # Names of options may be each question's own: without labels shown they count only where
        # no question can have fewer than all questions together.
        if n_labels is None and read["verdict"].n_unique() > least:
            return None
        n_options = max(least, n_labels or 0)
    if n_options > COUNTED_OPTIONS or factorial(n_options) < seen:
        return None
    return factorial(n_options)
