"""Judgments counted in one streaming pass: the only one over the rows, however many they are.

All that agreement rests on is how often each unit received each verdict. The same pass shows that
no replication is there twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.census import WRONG, count_few, count_rows, kind_columns
from judgerel_ray.reduce.columns import FACETS, KINDS, TYPED, WHOLE, outcome_column, typed_column
from judgerel_ray.reduce.constants import knows_ranges, single_valued
from judgerel_ray.reduce.distinctness import SUM, PowersOfTwo, Proof, Ranges
from judgerel_ray.reduce.nesting import KIND, N, UnitRows, with_codes
from judgerel_ray.reduce.spelling import Spellings

_READ = {"verdict": pl.String(), "score": pl.Float64()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """How often each unit received each verdict, and the judgments themselves.

    Attributes
    ----------
    rows : pl.LazyFrame
        The judgments with their types set, for what counts do not tell.
    nested : UnitRows
        Counts by item_id, role and block, and the facets recorded; kinds are verdict, score and
        outcome.
    columns : tuple of str
        Columns of the judgments.
    spellings : Spellings, optional
        How verdicts of a file are spelled, where spellings of one word are one verdict.
    notes : tuple of str
        What their reader must know of how they were read, a line each.
    """

    rows: pl.LazyFrame
    nested: UnitRows
    columns: tuple[str, ...]
    spellings: Spellings | None = None
    notes: tuple[str, ...] = ()


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
    >>> tally_judgments(pl.LazyFrame(rows)).nested.long(["item_id"]).rows()
    [('q', 'A', None, 'scored', 2)]
    """
    columns = frame.collect_schema().names()
    if "item_id" not in columns or not set(_READ) & set(columns):
        raise SweepError(
            f"judgments need item_id, and verdict or score, got columns {', '.join(columns)}"
        )
    names = told_apart(columns, extra)
    casts = {**_READ, "outcome": pl.String()}
    typed = {name: pl.col(name).cast(kind) for name, kind in casts.items() if name in columns}
    nested, alike = None, pl.DataFrame()
    if knows_ranges(frame):
        # The judge is a category in parts of a run, or told by its commits.
        alike = single_valued(frame, names, no_range=["judge"])
        names = [name for name in names if name not in alike.columns]
        unit, kinds = _apart(names)
        few = count_few(frame, unit=unit, kinds=kinds) if unit else None
        nested = _laid_out(*few, alike, typed) if few else None
    if nested is None:
        nested, _ = _nested(count_rows(frame, names), alike, typed)
    return Tally(rows=frame, nested=nested, columns=tuple(columns))


def told_apart(columns: Iterable[str], extra: Sequence[str] = ()) -> list[str]:
    """Name the columns by which rows are told apart.

    Examples
    --------
    >>> told_apart(["item_id", "replication", "verdict", "template", "cost"])
    ['item_id', 'template', 'verdict']
    """
    known = ("item_id", "role", "block", *FACETS, *KINDS)
    there = [name for name in known if name in columns]
    return list(dict.fromkeys([*there, *(name for name in extra if name in columns)]))


def tally_unchecked(
    frame: pl.LazyFrame, names: Sequence[str], *, indexed: bool
) -> tuple[UnitRows, bool]:
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
    nested : UnitRows
        Counts, the columns in their own types.
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
    typed = {name: typed_column(name, schema[name]) for name in names if name in TYPED}
    typed |= {name: typed[name].cast(pl.Int64) for name in WHOLE if name in typed}
    told = [name for name in names if name not in alike.columns]
    if indexed and schema["replication"].is_integer():
        # The usual file has few kinds of rows, and replications from 0 on of every unit.
        unit, kinds = _apart(told)
        few = count_few(frame, unit=unit, kinds=kinds, proof=Ranges())
        laid_out = _laid_out(*few, alike, typed) if few else None
        if few and laid_out:
            return laid_out, not _shown(frame, unit, few[0]) or _any_wrong(few[0])
    proofs: list[Proof] = [PowersOfTwo()]
    if indexed and schema["replication"].is_integer():
        proofs.insert(0, Ranges())
    for proof in proofs:
        counts = count_rows(frame, told, proof)
        nested, holds = _nested(counts, alike, typed, proof)
        if holds and not _any_wrong(counts):
            return nested, False
    return nested, True


def _apart(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Columns of units, and of kinds."""
    return (
        [name for name in names if name not in KINDS],
        [name for name in names if name in KINDS],
    )


def _any_wrong(counts: pl.DataFrame) -> bool:
    """Whether any row cannot be."""
    return WRONG in counts.columns and bool(counts[WRONG].any())


def _shown(frame: pl.LazyFrame, unit: Sequence[str], counts: pl.DataFrame) -> bool:
    """Whether replications are distinct: whole ranges, or what another pass tells."""
    if Ranges().holds(counts):
        return True
    first = frame.select(pl.col("replication").min()).collect(engine="streaming").item()
    if first is not None and first > 0 and Ranges(first).holds(counts):
        return True
    proof = PowersOfTwo()
    return proof.holds(count_rows(frame, unit, proof))


def _nested(
    counts: pl.DataFrame,
    alike: pl.DataFrame,
    typed: Mapping[str, pl.Expr],
    proof: Proof | None = None,
) -> tuple[UnitRows, bool]:
    """Counts by unit in the types that columns have by their names, and whether a proof holds.

    `alike` are the columns with one value in all rows, which were not counted by.
    """
    raw = counts.select(name for name in KINDS if name in counts.columns).unique()
    rows = with_codes(counts, raw).drop(raw.columns)
    kinds, meant = _kinds(raw, alike, typed)
    if not meant.equals(pl.Series(range(len(meant)), dtype=meant.dtype)):
        rows = rows.with_columns(meant[rows[KIND]].alias(KIND))
    rows = rows.with_columns(typed[name] for name in rows.columns if name in typed)
    keys = proof.keys if proof else ()
    unit = [name for name in rows.columns if name not in (*keys, KIND, N, SUM, WRONG)]
    holds = True
    if proof and keys:
        holds = proof.holds(rows.group_by(*unit, *keys).agg(pl.col(N).sum(), proof.sums()))
    elif proof:
        # Lists and sums in one go: finding the units is what takes long.
        total = pl.col(N).sum().alias("__total")
        units = rows.group_by(unit).agg(KIND, N, proof.sums(), total)
        holds = proof.holds(units.select(SUM, pl.col("__total").alias(N)))
        units = units.drop(SUM, "__total")
    if not proof or keys:
        units = rows.group_by(unit).agg(KIND, N)
    return UnitRows(units=_with_alike(units, alike, typed), kinds=kinds), holds


def _laid_out(
    counts: pl.DataFrame, raw: pl.DataFrame, alike: pl.DataFrame, typed: Mapping[str, pl.Expr]
) -> UnitRows | None:
    """Counts of few kinds in the types that columns have by their names.

    None where units that differ in the file may be the same in those types.
    """
    columns = kind_columns(raw)
    found = counts.drop(N, SUM, WRONG, *columns, strict=False)
    units = found.with_columns(typed[name] for name in found.columns if name in typed)
    for name, kind in found.schema.items():
        if not kind.is_integer() and not units[name].equals(found[name], check_dtypes=True):
            return None
    kinds, meant = _kinds(raw, alike, typed)
    numbers_UK = np.zeros((units.height, kinds.height), dtype=np.uint32)
    for column, kind in zip(columns, meant.to_list(), strict=True):
        numbers_UK[:, kind] += counts[column].to_numpy()
    every_UK = np.tile(np.arange(kinds.height, dtype=np.uint32), (units.height, 1))
    units = units.with_columns(
        pl.Series(KIND, every_UK).arr.to_list(), pl.Series(N, numbers_UK).arr.to_list()
    )
    return UnitRows(units=_with_alike(units, alike, typed), kinds=kinds)


def _with_alike(
    units: pl.DataFrame, alike: pl.DataFrame, typed: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Units with the columns that have one value in all rows."""
    one = alike.select(name for name in alike.columns if name not in KINDS)
    one = one.with_columns(typed[name] for name in one.columns if name in typed)
    values = [pl.lit(one[name].first(), kind).alias(name) for name, kind in one.schema.items()]
    return units.with_columns(values)


def _kinds(
    raw: pl.DataFrame, alike: pl.DataFrame, typed: Mapping[str, pl.Expr]
) -> tuple[pl.DataFrame, pl.Series]:
    """Kinds in their own types, sorted, and which of them each of those in the file is."""
    # Where all that rows say is alike, the kinds have no columns and yet there is one.
    told = (raw if raw.width else alike.select(pl.lit(0).alias(KIND))).with_columns(
        pl.lit(alike[name].first(), kind).alias(name)
        for name, kind in alike.schema.items()
        if name in KINDS
    )
    recorded = [name for name in told.columns if name != KIND]
    told = told.with_columns(typed[name] for name in recorded)
    told = told.with_columns(
        pl.lit(None, kind).alias(name) for name, kind in _READ.items() if name not in recorded
    )
    told = told.select(*_READ, outcome_column(recorded).alias("outcome"))
    kinds = told.unique().sort(KINDS)
    return kinds, with_codes(told, kinds)[KIND]
