"""Judgments counted in one streaming pass: the only one over the rows, however many they are.

All that agreement rests on is how often each unit received each verdict. The same pass proves that
no replication is there twice: the powers of two of a unit's replications sum to a number with as
many ones as the unit has rows just if no two of them are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.columns import FACETS, KINDS, TYPED, WHOLE, outcome_column, typed_column

PAGE = 127  # powers of two that an Int128 holds
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
    replication, wrong = _replication(schema["replication"])
    if "confidence" in schema:
        confidence = typed_column("confidence", schema["confidence"])
        wrong |= ~confidence.is_between(0, 1).fill_null(True)
    paged = not indexed or _reaches(frame, replication)
    told = [*keys, _PAGE] if paged else keys
    place = (replication % PAGE if paged else replication).cast(pl.UInt32, strict=False)
    counts = (
        frame.with_columns(
            # Int128 holds 127 powers; sums that overflow lose ones and are found all the same.
            (pl.lit(2, pl.Int128).pow(place)).alias(_SET),
            *([(replication // PAGE).alias(_PAGE)] if paged else []),
            wrong.fill_null(True).alias(_WRONG),
        )
        .group_by(told)
        .agg(pl.len().alias(_N), pl.col(_SET).sum(), pl.col(_WRONG).any())
        .collect(engine="streaming")
    )
    at_fault = bool(counts[_WRONG].any()) or _any_twice(counts, told)
    values = [pl.lit(alike[name].first(), kind).alias(name) for name, kind in alike.schema.items()]
    counts = counts.select(*keys, *values, _N)
    return _retyped(counts, schema, merge=paged), at_fault


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


def _replication(kind: pl.DataType) -> tuple[pl.Expr, pl.Expr]:
    """The replication as a whole number, and whether it is none."""
    if kind.is_integer():
        number = pl.col("replication")
        return number, number.is_null() | (number < 0)
    number = typed_column("replication", kind)
    whole = (number == number.floor()) & (number >= 0) & number.is_finite()
    return number.cast(pl.Int64, strict=False), ~whole.fill_null(False)


def _reaches(frame: pl.LazyFrame, replication: pl.Expr) -> bool:
    """Whether any replication needs a second page."""
    beyond = frame.filter(replication >= PAGE).select("replication").head(1)
    return not beyond.collect(engine="streaming").is_empty()


def _any_twice(counts: pl.DataFrame, told: Sequence[str]) -> bool:
    """Whether any unit holds a replication twice."""
    unit = [name for name in told if name not in KINDS]
    sums = counts.group_by(unit).agg(pl.col(_N).sum(), pl.col(_SET).sum().bitwise_count_ones())
    return bool((sums[_N] != sums[_SET]).any())


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
