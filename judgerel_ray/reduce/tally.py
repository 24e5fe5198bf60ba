"""Judgments counted in one streaming pass: the only one over the rows, however many they are.

All that agreement rests on is how often each unit received each verdict. The same pass shows that
no replication is there twice, from sums over each unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl
from polars.dataframe.group_by import GroupBy

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.columns import FACETS, KINDS, TYPED, WHOLE, outcome_column, typed_column

PAGE = 127
_ROLES = ("role", "block")
_N, _SET, _PAGE, _WRONG = "n", "__set", "__page", "__wrong"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """How often each unit received each verdict, and the judgments themselves.

    Attributes
    ----------
    rows : pl.LazyFrame
        The judgments with their types set, for what counts do not tell.
    counts : pl.DataFrame
        One row a unit and kind of row, in no order: item_id, role and block, the facets recorded,
        verdict, score, outcome, and ``n``, the number of rows.
    columns : tuple of str
        Columns of the judgments.
    """

    rows: pl.LazyFrame
    counts: pl.DataFrame
    columns: tuple[str, ...]


def tally_judgments(frame: pl.LazyFrame, *, extra: Sequence[str] = ()) -> Tally:
    """Count judgments that were checked before.

    Parameters
    ----------
    frame : pl.LazyFrame
        Judgments of a run directory, or from :func:`judgerel_ray.reduce.load_judgments`.
    extra : sequence of str
        Columns to tell rows apart by, besides those that make a unit.

    Returns
    -------
    Tally

    Raises
    ------
    SweepError
        If a column is missing.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "A"]}
    >>> tally_judgments(pl.LazyFrame(rows)).counts.select("verdict", "n").rows()
    [('A', 2)]
    """
    columns = frame.collect_schema().names()
    if "item_id" not in columns or not {"verdict", "score"} & set(columns):
        raise SweepError(
            f"judgments need item_id, and verdict or score, got columns {', '.join(columns)}"
        )
    names = told_apart(columns, extra)
    counts = frame.group_by(names).agg(pl.len().alias(_N)).collect(engine="streaming")
    kinds = [
        pl.col(name).cast(kind)
        for name, kind in (("verdict", pl.String), ("score", pl.Float64))
        if name in columns
    ]
    counts = with_kinds(counts.with_columns(kinds), columns)
    return Tally(rows=frame, counts=counts, columns=tuple(columns))


def told_apart(columns: Iterable[str], extra: Sequence[str] = ()) -> list[str]:
    """Name the columns by which rows are told apart.

    Examples
    --------
    >>> told_apart(["item_id", "replication", "verdict", "template", "cost"])
    ['item_id', 'template', 'verdict']
    """
    known = ("item_id", *_ROLES, *FACETS, *KINDS)
    there = [name for name in known if name in columns]
    return list(dict.fromkeys([*there, *(name for name in extra if name in columns)]))


def with_kinds(counts: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """Add what became of each row: verdict, score and outcome, whichever of them are recorded.

    Examples
    --------
    >>> with_kinds(pl.DataFrame({"item_id": ["q"], "verdict": ["A"], "n": [2]}),
    ...            ["item_id", "verdict"]).rows()
    [('q', 'A', 2, None, 'scored')]
    """
    absent = {"verdict": pl.String(), "score": pl.Float64()}
    blank = [pl.lit(None, kind).alias(name) for name, kind in absent.items() if name not in columns]
    return counts.with_columns(blank).with_columns(outcome_column(columns))


def tally_unchecked(
    frame: pl.LazyFrame, names: Sequence[str], *, indexed: bool
) -> tuple[pl.DataFrame, bool]:
    """Count rows whose columns have the types of their file, and tell whether any is at fault.

    Parameters
    ----------
    frame : pl.LazyFrame
        Judgments as their file has them.
    names : sequence of str
        Columns to tell rows apart by.
    indexed : bool
        Whether the file knows the range of its columns, so that asking whether one has a single
        value costs nothing.

    Returns
    -------
    counts : pl.DataFrame
        The columns in their own types, and ``n``.
    at_fault : bool
        Whether some replication or confidence cannot be, or a unit holds a replication twice.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": [1, 1], "replication": [0, 0], "verdict": ["A", "B"]})
    >>> tally_unchecked(rows, ["item_id", "verdict"], indexed=False)[1]
    True
    """
    schema = dict(frame.collect_schema())
    alike = single_valued(frame, names) if indexed else pl.DataFrame()
    keys = [name for name in names if name not in alike.columns]
    values = [pl.lit(alike[name].first(), kind).alias(name) for name, kind in alike.schema.items()]
    passes: list[_Proof] = [_SETS]
    if indexed and schema["replication"].is_integer():
        # The usual file has all replications from 0 on of every unit, and is read once.
        passes.insert(0, _RANGES)
    for proof in passes:
        counts = _counted(frame, keys, schema, proof)
        at_fault = _WRONG in counts.columns and bool(counts[_WRONG].any())
        at_fault = at_fault or proof.any_twice(counts, keys)
        if not at_fault:
            break
    counts = counts.select(*keys, *values, _N)
    return _retyped(counts, schema, merge=_PAGE in proof.keys), at_fault


def single_valued(frame: pl.LazyFrame, names: Iterable[str]) -> pl.DataFrame:
    """Find columns that have one value in all rows: a frame of one row.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "r"], "judge": ["a", "a"], "stage": ["x", None]})
    >>> single_valued(rows, ["judge", "stage"]).rows(named=True)
    [{'judge': 'a'}]
    """
    schema = frame.collect_schema()
    able = [
        name
        for name in names
        if name not in ("item_id", "verdict")
        and (schema[name].is_numeric() or schema[name] in (pl.String, pl.Boolean))
    ]
    first = frame.select(able).head(1).collect(engine="streaming")
    if first.is_empty():
        return first
    for name in able:
        value = pl.lit(first[name].first(), schema[name])
        # Row groups of Parquet whose least and greatest value are this one are never read.
        other = frame.filter(pl.col(name).ne_missing(value)).select(name).head(1)
        if not other.collect(engine="streaming").is_empty():
            first = first.drop(name)
    return first


def _counted(
    frame: pl.LazyFrame, keys: Sequence[str], schema: Mapping[str, pl.DataType], proof: _Proof
) -> pl.DataFrame:
    """The pass over the rows: numbers of rows, and what proves their replications distinct."""
    replication = pl.col("replication").cast(pl.Int64, strict=False)
    wrong = []
    if not schema["replication"].is_integer():
        number = typed_column("replication", schema["replication"])
        replication = number.cast(pl.Int64, strict=False)
        wrong.append((number != number.floor()) | ~number.is_finite())
    if "confidence" in schema:
        confidence = typed_column("confidence", schema["confidence"])
        wrong.append(~confidence.is_between(0, 1))
    faults = [pl.any_horizontal(wrong).any().alias(_WRONG)] if wrong else []
    return (
        frame.with_columns(*proof.columns(replication))
        .group_by(*keys, *proof.keys)
        .agg(pl.len().alias(_N), pl.col(_SET).sum(), *faults)
        .collect(engine="streaming")
    )


class _Proof(Protocol):
    """A way to show from sums that no unit holds a replication twice."""

    keys: Sequence[str]

    def columns(self, replication: pl.Expr) -> list[pl.Expr]:
        """What is summed, and what else rows are told apart by."""

    def any_twice(self, counts: pl.DataFrame, keys: Sequence[str]) -> bool:
        """Whether the sums leave any doubt."""


class _Sets:
    """Sums of powers of two have as many ones as terms just if no two terms are equal.

    An Int128 holds 127 powers, so replications are taken in pages of as many; a sum that overflows
    loses ones and is found all the same, and so is a replication that is missing or negative.
    """

    keys: Sequence[str] = (_PAGE,)

    def columns(self, replication: pl.Expr) -> list[pl.Expr]:
        """The power, and the page."""
        place = pl.when(replication >= 0).then(replication % PAGE).cast(pl.UInt32)
        power = pl.lit(2, pl.Int128).pow(place)
        return [power.alias(_SET), (replication // PAGE).alias(_PAGE)]

    def any_twice(self, counts: pl.DataFrame, keys: Sequence[str]) -> bool:
        """Whether any unit has more rows than ones."""
        ones = pl.col(_SET).sum().bitwise_count_ones()
        sums = _by_unit(counts, (*keys, _PAGE)).agg(pl.col(_N).sum(), ones)
        return bool((sums[_N] != sums[_SET]).any())


class _Ranges:
    """Replications 0, 1, ... n - 1 of every unit, known by the sum of their hashes.

    Hashes have 64 bits: any other n replications pass once in 10^19 units. Whatever does not pass
    is looked at by `_Sets`.
    """

    keys: Sequence[str] = ()

    def columns(self, replication: pl.Expr) -> list[pl.Expr]:
        """The hash."""
        return [replication.hash().alias(_SET)]

    def any_twice(self, counts: pl.DataFrame, keys: Sequence[str]) -> bool:
        """Whether any unit has others."""
        sums = _by_unit(counts, keys).agg(pl.col(_N).sum(), pl.col(_SET).sum())
        most = int(sums[_N].max())  # type: ignore[arg-type]
        hashes = pl.select(pl.int_range(most, dtype=pl.Int64).hash().cum_sum()).to_series()
        return bool((hashes[sums[_N].cast(pl.Int64) - 1] != sums[_SET]).any())


_SETS, _RANGES = _Sets(), _Ranges()


def _by_unit(counts: pl.DataFrame, keys: Sequence[str]) -> GroupBy:
    """Counts by everything but what became of the rows."""
    return counts.group_by([name for name in keys if name not in KINDS])


def _retyped(
    counts: pl.DataFrame, schema: Mapping[str, pl.DataType], *, merge: bool
) -> pl.DataFrame:
    """Counts by columns in their own types; rows that are alike now become one."""
    keys = [name for name in counts.columns if name != _N]
    known = [name for name in keys if name in TYPED]
    typed = counts.with_columns(typed_column(name, schema[name]) for name in known)
    typed = typed.with_columns(pl.col(name).cast(pl.Int64) for name in known if name in WHOLE)
    nulls = typed.null_count().equals(counts.null_count())
    kept = all(typed.schema[name] == schema[name] for name in known) and nulls
    if kept and not merge:
        return typed
    return typed.group_by(keys).agg(pl.col(_N).sum())
