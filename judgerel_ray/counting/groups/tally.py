"""Judgments counted in one streaming pass: the only one over the rows, however many they are.

All that agreement rests on is how often each unit received each verdict. The same pass shows that
no replication is there twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import SweepError
from judgerel_ray.counting.columns import (
    FACETS,
    KINDS,
    MOST_EXACT,
    TYPED,
    WHOLE,
    outcome_column,
    typed_column,
)
from judgerel_ray.counting.files.labelled import READ as RIGHT
from judgerel_ray.counting.groups.fast_count import (
    FEW,
    SUM,
    WRONG,
    FastCount,
    PowersOfTwo,
    Proof,
    Ranges,
    count_few,
    count_rows,
    find_few,
    knows_ranges,
    number_columns,
    single_valued,
)
from judgerel_ray.counting.nesting import KIND, PLACES, N, UnitRows, with_codes
from judgerel_ray.counting.verdicts.places import ORDER, SHOWN, place
from judgerel_ray.counting.verdicts.policy import FAILED, SCORED
from judgerel_ray.counting.verdicts.spelling import Spellings

_READ = {"verdict": pl.String(), "score": pl.Float64()}
_ROW = "__row"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """How often each unit received each verdict, and the judgments themselves."""

    rows: pl.LazyFrame  # The judgments with their types set, for what counts do not tell.
    # Counts by item_id, role and block, and the facets recorded; kinds are verdict, score and
    # outcome. With labels and several orders, counts of the places named, too.
    nested: UnitRows
    columns: tuple[str, ...]  # Columns of the judgments.
    # How verdicts of a file are spelled, where spellings of one word are one verdict.
    spellings: Spellings | None = None
    notes: tuple[str, ...] = ()  # What their reader must know of how they were read, a line each.
    is_foreign: bool = False  # Whether columns were read by what they mean.

    @property
    def any_failed(self) -> bool:
        """Whether any request failed for good."""
        seen = self.nested.seen
        return "outcome" in seen.columns and not seen.filter(FAILED).is_empty()


def tally_judgments(frame: pl.LazyFrame, *, extra: Sequence[str] = ()) -> Tally:
    """Count judgments that were checked before.

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
    names = identifying_columns(columns, extra)
    casts = {**_READ, "outcome": pl.String(), SHOWN: pl.String()}
    typed = {name: pl.col(name).cast(kind) for name, kind in casts.items() if name in columns}
    nested, alike, indexed = None, pl.DataFrame(), knows_ranges(frame)
    if indexed:
        # The judge is a category in parts of a run, or told by its commits.
        alike = single_valued(frame, names, no_range=["judge"])
        names = [name for name in names if name not in alike.columns]
    shown = _tally_label_column(columns, names)
    found = _fast_count(frame, names, shown, alike, typed) if indexed else None
    if found:
        nested = _tally_of_few_kinds(found, alike, typed)
    if nested is None:
        counts = count_rows(frame, [*dict.fromkeys((*names, *shown))])
        nested, _ = _nested_tally_by_unit(counts, names, shown, alike, typed)
    return Tally(rows=frame, nested=nested, columns=tuple(columns))


def identifying_columns(columns: Iterable[str], extra: Sequence[str] = ()) -> list[str]:
    """Name the columns by which rows are told apart.

    Examples
    --------
    >>> identifying_columns(["item_id", "replication", "verdict", "template", "cost"])
    ['item_id', 'template', 'verdict']
    """
    known = ("item_id", "role", "block", *FACETS, *KINDS)
    there = [name for name in known if name in columns]
    return list(dict.fromkeys([*there, *(name for name in extra if name in columns)]))


def tally_unchecked(
    frame: pl.LazyFrame, names: Sequence[str], *, indexed: bool, held: bool = False
) -> tuple[UnitRows, bool]:
    """Count rows whose columns have the types of their file, and tell whether any is at fault.

    nested: Counts, the columns in their own types.

    at_fault: Whether some replication or confidence cannot be, or a unit holds a replication twice.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": [1, 1], "replication": [0, 0], "verdict": ["A", "B"]})
    >>> tally_unchecked(rows, ["item_id", "verdict"], indexed=False)[1]
    True
    """
    schema = dict(frame.collect_schema())
    alike = single_valued(frame, names) if indexed else pl.DataFrame()
    if indexed and "confidence" in schema:
        stated = single_valued(frame, ["confidence"])
        if stated.width and stated.item() is None:
            frame = frame.drop("confidence")  # nobody stated any: there is nothing to check
    typed = {name: typed_column(name, schema[name]) for name in schema if name in TYPED}
    typed |= {name: typed[name].cast(pl.Int64) for name in WHOLE if name in names}
    varying = [name for name in names if name not in alike.columns]
    shown = _tally_label_column(schema, varying)
    proofs: list[Proof] = [PowersOfTwo()]
    # Rows in memory are few: one pass that leaves nothing open. Other files have mostly few kinds
    # of rows, and replications from 0 or 1 on of every unit.
    if not held and (schema["replication"].is_integer() or schema["replication"] == pl.String):
        proofs.insert(0, Ranges())
        found = _fast_count(frame, varying, shown, alike, typed, Ranges())
        laid_out = _tally_of_few_kinds(found, alike, typed) if found else None
        if found and laid_out:
            distinct = _all_distinct(
                frame, _wanted_columns(_tally_unit_and_kind(varying)[0]), found.counts
            )
            return laid_out, not distinct or _any_tally_row_wrong(found.counts)
    for proof in proofs:
        counts = count_rows(frame, [*dict.fromkeys((*varying, *shown))], proof)
        nested, holds = _nested_tally_by_unit(counts, varying, shown, alike, typed, proof)
        if holds and not _any_tally_row_wrong(counts):
            return nested, False
    return nested, True


def _wanted_columns(unit: Sequence[str]) -> list[str]:
    """Columns of units without what is right: it tells no replication from another."""
    return [name for name in unit if name not in RIGHT]


def _tally_sums_by_columns(counts: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Numbers of rows and sums of a proof by fewer columns."""
    sums = pl.col(N, SUM).sum()
    return counts.group_by(keys).agg(sums) if keys else counts.select(sums)


def _tally_unit_and_kind(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Columns of units, and of kinds."""
    return (
        [name for name in names if name not in KINDS],
        [name for name in names if name in KINDS],
    )


def _tally_label_column(columns: Collection[str], varying: Sequence[str]) -> list[str]:
    """The column of labels, where they are counted: questions have several orders, maybe."""
    return [SHOWN] if SHOWN in columns and ORDER in varying else []


def _fast_count(
    frame: pl.LazyFrame,
    varying: Sequence[str],
    shown: Sequence[str],
    alike: pl.DataFrame,
    typed: Mapping[str, pl.Expr],
    proof: Proof | None = None,
) -> FastCount | None:
    """Rows by unit and kind, and those with a verdict by label, where there are few of both."""
    unit, kinds = _tally_unit_and_kind(varying)
    found, labels = find_few(frame, kinds), find_few(frame, shown)
    if found is None or not unit or (shown and labels is None):
        return None
    known, meant = _sorted_tally_kinds(found, alike, typed)
    scored = known[meant].select(SCORED.fill_null(False)).to_series()
    verdicts = [name for name, one in zip(number_columns(found), scored, strict=True) if one]
    return count_few(frame, unit, found, verdicts=verdicts, labels=labels, proof=proof)


def _any_tally_row_wrong(counts: pl.DataFrame) -> bool:
    """Whether any row cannot be."""
    return WRONG in counts.columns and bool(counts[WRONG].any())


def _all_distinct(frame: pl.LazyFrame, unit: Sequence[str], counts: pl.DataFrame) -> bool:
    """Whether replications are distinct: whole ranges, or what another pass tells."""
    if set(RIGHT) & set(counts.columns):
        counts = _tally_sums_by_columns(counts, unit)
    if Ranges().holds(counts):
        return True
    if frame.collect_schema()["replication"].is_integer():
        first = frame.select(pl.col("replication").min()).collect(engine="streaming").item()
        if first is not None and 0 < first < MOST_EXACT // 2 and Ranges(first).holds(counts):
            return True
    proof = PowersOfTwo()
    found = count_rows(frame, unit, proof)
    return proof.holds(found) and not _any_tally_row_wrong(found)


def _nested_tally_by_unit(
    counts: pl.DataFrame,
    varying: Sequence[str],
    shown: Sequence[str],
    alike: pl.DataFrame,
    typed: Mapping[str, pl.Expr],
    proof: Proof | None = None,
) -> tuple[UnitRows, bool]:
    """Counts by unit in the types that columns have by their names, and whether a proof holds.

    `varying` are the columns that tell rows apart (labels only where they are among them); `alike`
    are the columns with one value in all rows, which were not counted by.
    """
    raw = counts.select(name for name in KINDS if name in counts.columns).unique()
    rows = with_codes(counts, raw).drop(raw.columns)
    kinds, meant = _sorted_tally_kinds(raw, alike, typed)
    if not meant.equals(pl.Series(range(len(meant)), dtype=meant.dtype)):
        rows = rows.with_columns(meant[rows[KIND]].alias(KIND))
    rows = rows.with_columns(typed[name] for name in rows.columns if name in typed)
    labelled = rows
    if not set(shown) <= set(varying):
        others = [name for name in rows.columns if name not in (SHOWN, N, SUM, WRONG)]
        rows = rows.group_by(others).agg(pl.col(N, SUM).sum() if proof else pl.col(N).sum())
    keys = proof.keys if proof else ()
    unit = [name for name in rows.columns if name not in (*keys, KIND, N, SUM, WRONG)]
    holds = True
    if proof and keys:
        holds = proof.holds(_tally_sums_by_columns(rows, [*_wanted_columns(unit), *keys]))
    elif proof:
        # Lists and sums in one go: finding the units is what takes long.
        total = pl.col(N).sum().alias("__total")
        units = rows.group_by(unit).agg(KIND, N, proof.sums(), total)
        sums, asked = units.select(*unit, SUM, pl.col("__total").alias(N)), _wanted_columns(unit)
        holds = proof.holds(_tally_sums_by_columns(sums, asked) if len(asked) < len(unit) else sums)
        units = units.drop(SUM, "__total")
    if not proof or keys:
        units = rows.group_by(unit).agg(KIND, N)
    nested = UnitRows(units=_units_with_alike_columns(units, alike, typed), kinds=kinds)
    if not shown:
        return nested, holds
    labels = labelled.select(shown).unique()
    numbers_UL = np.zeros((units.height, labels.height), dtype=np.uint32)
    _add_labels(numbers_UL, _rows_with_tally_unit(labelled, units, unit), kinds, labels)
    return _tally_with_places(nested, labels, numbers_UL), holds


def _tally_of_few_kinds(
    few: FastCount, alike: pl.DataFrame, typed: Mapping[str, pl.Expr]
) -> UnitRows | None:
    """Counts of few kinds in the types that columns have by their names.

    None where units that differ in the file may be the same in those types, and where there are
    more kinds than a few.
    """
    counts, labels = few.counts, few.labels
    kind_columns, shown = number_columns(few.kinds), number_columns(labels)
    found = counts.drop(N, SUM, WRONG, *kind_columns, *shown, strict=False)
    units = found.with_columns(typed[name] for name in found.columns if name in typed)
    changed = [name for name, kind in found.schema.items()
               if not kind.is_integer()
               and not units[name].equals(found[name], check_dtypes=True)]  # fmt: skip
    if changed and units.is_duplicated().any():
        return None
    raw, rest = few.kinds, few.rest
    if rest.height:
        raw = pl.concat([raw, rest.select(raw.columns)]).unique(maintain_order=True)
        labels = pl.concat([labels, rest.select(labels.columns)]).unique(maintain_order=True)
        rest = _rows_with_tally_unit(rest, found, found.columns)
    if max(raw.height, labels.height) > FEW:
        return None
    kinds, meant = _sorted_tally_kinds(raw, alike, typed)
    numbers_UK = np.zeros((units.height, kinds.height), dtype=np.uint32)
    for column, kind in zip(kind_columns, meant.to_list(), strict=False):
        numbers_UK[:, kind] += counts[column].to_numpy()
    numbers_UL = np.zeros((units.height, labels.height), dtype=np.uint32)
    for number, column in enumerate(shown):
        numbers_UL[:, number] = counts[column].to_numpy()
    if rest.height:
        code = with_codes(rest, raw)[KIND]
        rest = rest.with_columns(meant[code].alias(KIND))
        new = rest.filter(code >= len(kind_columns))
        np.add.at(numbers_UK, (new[_ROW].to_numpy(), new[KIND].to_numpy()), new[N].to_numpy())
        if shown:
            _add_labels(numbers_UL, rest, kinds, labels)
    every_UK = np.tile(np.arange(kinds.height, dtype=np.uint32), (units.height, 1))
    units = units.with_columns(
        pl.Series(KIND, every_UK).arr.to_list(), pl.Series(N, numbers_UK).arr.to_list()
    )
    nested = UnitRows(units=_units_with_alike_columns(units, alike, typed), kinds=kinds)
    if not shown:
        return nested
    return _tally_with_places(nested, labels.with_columns(typed[SHOWN]), numbers_UL)


def _rows_with_tally_unit(
    rows: pl.DataFrame, units: pl.DataFrame, unit: Sequence[str]
) -> pl.DataFrame:
    """Rows with the row of their unit."""
    return rows.join(units.select(unit).with_row_index(_ROW), on=unit, nulls_equal=True)


def _add_labels(
    numbers_UL: NDArray[np.uint32], rows: pl.DataFrame, kinds: pl.DataFrame, labels: pl.DataFrame
) -> None:
    """Add the labels of those rows that have a verdict."""
    scored = rows.filter(kinds[rows[KIND]].select(SCORED.fill_null(False)).to_series())
    code = with_codes(scored.select(labels.columns), labels)[KIND]
    np.add.at(numbers_UL, (scored[_ROW].to_numpy(), code.to_numpy()), scored[N].to_numpy())


def _tally_with_places(
    nested: UnitRows, labels: pl.DataFrame, numbers_UL: NDArray[np.uint32]
) -> UnitRows:
    """Counts of labels as those of places: a tie stands in none."""
    place_L = labels.select(place()).to_series()
    places = place_L.drop_nulls().unique().sort()
    numbers_UP = np.zeros((len(numbers_UL), places.len()), dtype=np.uint32)
    for number_U, name in zip(numbers_UL.T, place_L, strict=True):
        if name is not None:
            numbers_UP[:, places.index_of(name)] += number_U
    units = nested.units.with_columns(pl.Series(PLACES, numbers_UP).arr.to_list())
    return replace(nested, units=units, places=tuple(places))


def _units_with_alike_columns(
    units: pl.DataFrame, alike: pl.DataFrame, typed: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Units with the columns that have one value in all rows."""
    one = alike.select(name for name in alike.columns if name not in KINDS)
    one = one.with_columns(typed[name] for name in one.columns if name in typed)
    values = [pl.lit(one[name].first(), kind).alias(name) for name, kind in one.schema.items()]
    return units.with_columns(values)


def _sorted_tally_kinds(
    raw: pl.DataFrame, alike: pl.DataFrame, typed: Mapping[str, pl.Expr]
) -> tuple[pl.DataFrame, pl.Series]:
    """Kinds in their own types, sorted, and which of them each of those in the file is."""
    # Where all that rows say is alike, the kinds have no columns and yet there is one.
    table = raw if raw.width else alike.select(pl.lit(0).alias(KIND))
    constant = [pl.lit(alike[name].first(), kind).alias(name)
                for name, kind in alike.schema.items() if name in KINDS]  # fmt: skip
    recorded = [name for name in KINDS if name in (*raw.columns, *alike.columns)]
    absent = [pl.lit(None, kind).alias(name) for name, kind in _READ.items()
              if name not in recorded]  # fmt: skip
    rows = table.lazy().with_columns(constant)
    rows = rows.with_columns(*(typed[name] for name in recorded), *absent)
    rows = rows.select(*_READ, outcome_column(recorded).alias("outcome"))
    found = rows.collect(engine="in-memory")
    kinds = found.unique().sort(KINDS)
    return kinds, with_codes(found, kinds)[KIND]
