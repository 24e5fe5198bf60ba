"""Counted judgments by unit: what kinds of rows each unit has, and how many of each.

There are a few kinds (a verdict with its outcome) and as many units as questions times facets, so
one row a unit with two short lists takes a fraction of one row a unit and kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

N, KIND, PLACES = "n", "__kind", "__places"


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitRows:
    """Counted judgments, nested by unit."""

    # In no order: columns that tell units apart, and two lists as long as each other, `__kind`
    # (places in `kinds`) and `n` (numbers of rows, which may be 0).
    units: pl.DataFrame
    kinds: pl.DataFrame  # What a row may be, one row a kind, sorted.
    # Where labels were counted, the places that options of rows with a verdict stood in (a tie
    # stands in none): `__places` lists how often each, unit by unit.
    places: tuple[str, ...] | None = None

    def by_place(self) -> UnitRows:
        """Rows whose verdict names a place, of kinds that are the places (``label``).

        Examples
        --------
        >>> units = pl.DataFrame({"item_id": ["q"], "__places": [[2, 1]]})
        >>> rows = UnitRows(units=units, kinds=pl.DataFrame(), places=("A", "B"))
        >>> rows.by_place().long(["item_id"]).rows()
        [('q', 'A', 2), ('q', 'B', 1)]
        """
        kinds = pl.DataFrame({"label": self.places or ()}, schema={"label": pl.String})
        every = pl.lit(pl.Series([range(kinds.height)], dtype=pl.List(pl.UInt32))).first()
        units = self.units.with_columns(every.alias(KIND), pl.col(PLACES).alias(N))
        return UnitRows(units=units, kinds=kinds)

    def long(self, columns: Sequence[str]) -> pl.DataFrame:
        """One row a unit and kind: some columns of units, those of kinds, and ``n``.

        Examples
        --------
        >>> rows = pl.DataFrame({"item_id": ["q", "q"], "verdict": ["A", "B"], "n": [2, 1]})
        >>> nest_rows(rows, unit=["item_id"], kinds=["verdict"]).long(["item_id"]).rows()
        [('q', 'A', 2), ('q', 'B', 1)]
        """
        rows = self.units.select(*columns, KIND, N).explode(KIND, N).filter(pl.col(N) > 0)
        # Kinds of a unit that are told apart by its columns alone are one in fewer columns.
        rows = rows.group_by(*columns, KIND, maintain_order=True).agg(pl.col(N).sum())
        named = self.kinds.with_row_index(KIND)
        return rows.join(named, on=KIND, maintain_order="left").select(
            *columns, *self.kinds.columns, N
        )

    @cached_property
    def seen(self) -> pl.DataFrame:
        """Kinds of which there is a row.

        Examples
        --------
        >>> rows = pl.DataFrame({"item_id": ["q", "q"], "verdict": ["A", "B"], "n": [2, 0]})
        >>> nest_rows(rows, unit=["item_id"], kinds=["verdict"]).seen.rows()
        [('A',)]
        """
        return self.kinds.filter(pl.Series(self.totals > 0, dtype=pl.Boolean))

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """Rows of each kind, over all units.

        Examples
        --------
        >>> rows = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["A", "A"], "n": [2, 3]})
        >>> nest_rows(rows, unit=["item_id"], kinds=["verdict"]).totals.tolist()
        [5]
        """
        code, n = self.units[KIND].explode().to_numpy(), self.units[N].explode().to_numpy()
        return np.bincount(code, weights=n, minlength=self.kinds.height).astype(np.int64)

    def n_rows(self, kind: pl.Expr) -> int:
        """Count rows of the kinds for which an expression is true.

        Examples
        --------
        >>> rows = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["A", "B"], "n": [2, 3]})
        >>> nest_rows(rows, unit=["item_id"], kinds=["verdict"]).n_rows(pl.col("verdict") == "B")
        3
        """
        chosen = self.kinds.select(kind).to_series().to_numpy()
        return int(self.totals[chosen].sum())


def nest_rows(rows: pl.DataFrame, *, unit: Sequence[str], kinds: Sequence[str]) -> UnitRows:
    """Nest counted rows by unit.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "q"], "verdict": ["A", "B"], "n": [2, 1]})
    >>> found = nest_rows(rows, unit=["item_id"], kinds=["verdict"])
    >>> found.units.rows(), found.kinds.rows()
    ([('q', [0, 1], [2, 1])], [('A',), ('B',)])
    """
    known = rows.select(kinds).unique().sort(kinds)
    coded = with_codes(rows, known).select(*unit, KIND, N)
    return UnitRows(units=coded.group_by(unit, maintain_order=True).agg(KIND, N), kinds=known)


def with_codes(rows: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Add the kind of each row, its place among those known.

    Examples
    --------
    >>> rows = pl.DataFrame({"verdict": ["B", None, "A"]})
    >>> with_codes(rows, pl.DataFrame({"verdict": [None, "A", "B"]}))["__kind"].to_list()
    [2, 0, 1]
    """
    varying = [name for name in known.columns if known[name].n_unique() > 1]
    if not varying:
        return rows.with_columns(pl.lit(0, pl.UInt32).alias(KIND))
    codes = known.select(varying).with_row_index(KIND)
    return rows.join(codes, on=varying, nulls_equal=True, how="left", maintain_order="left")
