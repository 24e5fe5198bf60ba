"""Whether any unit holds a replication twice, shown by sums that one pass over the rows gives.

Shape of both proofs: each row adds a number that its replication makes, and the sum over a unit
tells whether its replications are what they should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import polars as pl

from judgerel_ray.reduce.nesting import N

SUM = "__sum"
_PAGE = "__page"
_POWERS = 127


class Proof(Protocol):
    """A way to show that replications are distinct.

    Attributes
    ----------
    keys : sequence of str
        What it tells rows apart by, besides the columns of units.
    """

    keys: Sequence[str]

    def columns(self, replication: pl.Expr) -> list[pl.Expr]:
        """Make what is summed, and the keys."""

    def sums(self) -> pl.Expr:
        """Sum over a unit, to be read by `holds`."""

    def holds(self, units: pl.DataFrame) -> bool:
        """Tell whether number of rows and sum of every unit leave no doubt."""


class PowersOfTwo:
    """Powers of two sum to a number with as many ones as there are terms just if no two are equal.

    An Int128 holds 127 powers, so replications are taken in pages of as many. A sum that overflows
    loses ones and is found all the same, and so is a replication that is missing or negative.

    Examples
    --------
    >>> rows = pl.DataFrame({"replication": [0, 300, 300]})
    >>> proof = PowersOfTwo()
    >>> summed = rows.with_columns(proof.columns(pl.col("replication"))).group_by(proof.keys)
    >>> proof.holds(summed.agg(pl.len().alias("n"), proof.sums()))
    False
    """

    keys: Sequence[str] = (_PAGE,)

    def columns(self, replication: pl.Expr) -> list[pl.Expr]:
        """Make the power, and the page."""
        place = pl.when(replication >= 0).then(replication % _POWERS).cast(pl.UInt32)
        power = pl.lit(2, pl.Int128).pow(place)
        return [power.alias(SUM), (replication // _POWERS).alias(_PAGE)]

    def sums(self) -> pl.Expr:
        """Sum the powers."""
        return pl.col(SUM).sum()

    def holds(self, units: pl.DataFrame) -> bool:
        """Compare rows and ones."""
        return bool((units[N] == units[SUM].bitwise_count_ones()).all())


class Ranges:
    """Replications 0, 1, ... n - 1 of a unit, or others in a row, by the sum of their hashes.

    Hashes have 64 bits: any other n replications pass once in 10^19 units. What does not pass may
    still be distinct, which `PowersOfTwo` tells.

    Parameters
    ----------
    first : int
        The first replication of every unit; the sums are the same whatever it is.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "q", "r"], "replication": [1, 0, 0]})
    >>> proof = Ranges()
    >>> summed = rows.with_columns(proof.columns(pl.col("replication"))).group_by("item_id")
    >>> proof.holds(summed.agg(pl.len().alias("n"), proof.sums()))
    True
    """

    keys: Sequence[str] = ()

    def __init__(self, first: int = 0) -> None:
        self.first = first

    def columns(self, replication: pl.Expr) -> list[pl.Expr]:
        """Make the hash."""
        return [replication.hash().alias(SUM)]

    def sums(self) -> pl.Expr:
        """Sum the hashes."""
        return pl.col(SUM).sum()

    def holds(self, units: pl.DataFrame) -> bool:
        """Compare with the sums of whole ranges."""
        numbers = units[N].cast(pl.Int64)
        most = int(numbers.max() or 0)  # type: ignore[arg-type]
        known = pl.int_range(self.first, self.first + most, dtype=pl.Int64)
        whole = pl.select(known.hash().cum_sum()).to_series()
        return bool((whole[numbers - 1] == units[SUM]).all())
