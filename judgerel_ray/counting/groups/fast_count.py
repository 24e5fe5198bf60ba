"""Units counted by a few kinds of rows that are known beforehand: a column of numbers a kind.

A file of judgments mostly has a handful of verdicts. Counting rows of each by unit alone, and not
by unit and verdict, takes a third of the time and half the memory. Columns with one value in all
rows tell nothing apart, and nothing is read of them.

The same pass proves that no unit holds a replication twice: each row adds a number that its
replication makes, and the sum over a unit tells whether its replications are what they should be.

Counts are the digits of one sum. Of some columns at most one is true in any row. If the k-th of
them adds 2^(bits k), the sum over rows has the number of rows of each as a digit, as long as none
of those numbers has more bits.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Protocol

import polars as pl

from judgerel_ray.counting.columns import MOST_EXACT, typed_column
from judgerel_ray.counting.nesting import N

_BITS = 63  # sums are Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Digits:
    """Columns that are counted in one sum."""

    names: tuple[str, ...]  # Columns of booleans; at most one of them is true in any row.
    bits: int  # Of each digit: as many as the number of rows that are summed has.

    @property
    def sum(self) -> str:
        """The column of the sum."""
        return f"{self.names[0]}__digits"

    def packed(self) -> pl.Expr:
        """What a row adds to the sum."""
        added = pl.lit(0, pl.Int64)
        for place, name in enumerate(self.names):
            power = pl.lit(1 << self.bits * place, pl.Int64)
            added = pl.when(name).then(power).otherwise(added)
        return added.alias(self.sum)

    def total(self) -> pl.Expr:
        """The sum."""
        return pl.col(self.sum).sum()

    def unpacked(self, sums: pl.Series) -> list[pl.Series]:
        """The number of rows in which each column was true."""
        packed, most = sums.to_numpy(), (1 << self.bits) - 1
        return [
            pl.Series(name, packed >> self.bits * place & most, dtype=pl.get_index_type())
            for place, name in enumerate(self.names)
        ]


def digits(names: Sequence[str], most: int) -> list[Digits]:
    """Pack columns that are counted over `most` rows at most into as few sums as hold them.

    Examples
    --------
    >>> rows = pl.DataFrame({"a": [True, False, False], "b": [False, True, True]})
    >>> (packed,) = digits(["a", "b"], 3)
    >>> total = rows.with_columns(packed.packed()).select(packed.total()).to_series()
    >>> total.item(), [one.item() for one in packed.unpacked(total)]
    (9, [1, 2])
    """
    bits = most.bit_length()
    width = max(1, _BITS // bits)
    starts = range(0, len(names), width)
    return [Digits(names=tuple(names[start : start + width]), bits=bits) for start in starts]


SUM = "__sum"
_PAGE = "__page"
_POWERS = 127


class Proof(Protocol):
    """A way to show that replications are distinct."""

    keys: Sequence[str]  # What it tells rows apart by, besides the columns of units.

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
        """Compare rows and ones; what no double tells apart is looked at where it stands."""
        if (units[_PAGE] >= MOST_EXACT // _POWERS).any():
            return False
        return bool((units[N] == units[SUM].bitwise_count_ones()).all())


class Ranges:
    """Replications that follow on each other from 0, 1 or another one on, by the sum of hashes.

    Hashes have 64 bits: any other n replications pass once in 10^19 units. What does not pass may
    still be distinct, which `PowersOfTwo` tells.

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
        holds = pl.repeat(False, units.height, eager=True)
        for first in {self.first, self.first or 1}:
            known = pl.int_range(first, first + most, dtype=pl.Int64)
            whole = pl.select(known.hash().cum_sum()).to_series()
            holds |= whole[numbers - 1] == units[SUM]
        return bool(holds.all())


WRONG = "__wrong"
FEW = 12
"""Kinds of rows, or labels, that have a column each."""
_MOST_GUESSED = 4095  # rows of a unit, of which five kinds are digits of one sum
_PROBED = 200_000  # rows in which kinds are looked for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FastCount:
    """Units counted by few kinds of rows."""

    # One row a unit: its columns, `n`, the numbers of rows of each kind, and of rows with a verdict
    # those of each label, in columns that `number_columns` names; with a proof its sums and whether
    # any row cannot be.
    counts: pl.DataFrame
    kinds: pl.DataFrame
    labels: pl.DataFrame
    # Rows that were of another kind or label, few mostly: by unit, kind and label, with `n`.
    rest: pl.DataFrame


def find_few(frame: pl.LazyFrame, columns: Sequence[str]) -> pl.DataFrame | None:
    """Find what the first rows say in some columns.

    None, where there is more than a dozen of it, or a value that cannot be compared.

    Examples
    --------
    >>> find_few(pl.LazyFrame({"verdict": ["A", "A"]}), ["verdict"]).rows()
    [('A',)]
    """
    schema = frame.collect_schema()
    if not columns or not all(_is_counted_kind_comparable(schema[name]) for name in columns):
        return None
    with little_read_ahead():
        found = frame.select(columns).head(_PROBED).unique().collect(engine="streaming")
    return found if 0 < found.height <= FEW else None


def count_few(
    frame: pl.LazyFrame,
    unit: Sequence[str],
    kinds: pl.DataFrame,
    *,
    verdicts: Sequence[str] = (),
    labels: pl.DataFrame | None = None,
    proof: Proof | None = None,
) -> FastCount:
    """Count rows by unit, one column a kind and one a label.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.fast_count import Ranges
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "A"]})
    >>> found = count_few(rows, ["item_id"], find_few(rows, ["verdict"]), proof=Ranges())
    >>> found.counts.select("item_id", "n", *number_columns(found.kinds)).rows()
    [('q', 2, 2)]
    """
    labels = pl.DataFrame() if labels is None else labels
    kind_columns, shown = number_columns(kinds), number_columns(labels)
    scored = pl.any_horizontal(pl.lit(False), *verdicts)
    frame = _rows_with_value_columns(frame, kinds)
    known, complete = pl.any_horizontal(kind_columns), pl.sum_horizontal(kind_columns) == pl.col(N)
    if shown:
        frame = _rows_with_value_columns(frame, labels, scored)
        known &= ~scored | pl.any_horizontal(shown)
        complete &= pl.sum_horizontal(shown) == pl.sum_horizontal(pl.lit(0), *verdicts)
    counts = _count_true(frame, unit, (kind_columns, shown), proof)
    rest = pl.DataFrame()
    if not counts.select(complete.all()).item():
        rest = count_rows(
            frame.filter(~known), [*dict.fromkeys((*unit, *kinds.columns, *labels.columns))]
        )
    return FastCount(counts=counts, kinds=kinds, labels=labels, rest=rest)


def _rows_with_value_columns(
    frame: pl.LazyFrame, values: pl.DataFrame, where: pl.Expr | None = None
) -> pl.LazyFrame:
    """Rows with one column for each of some values: whether they say that."""
    are = [_counted_row_says(one, values.schema) for one in values.rows(named=True)]
    return frame.with_columns(
        (one if where is None else one & where).alias(name)
        for one, name in zip(are, number_columns(values), strict=True)
    )


def _count_true(
    frame: pl.LazyFrame, unit: Sequence[str], families: Sequence[list[str]], proof: Proof | None
) -> pl.DataFrame:
    """Count rows by unit, and by column of each family those in which it is true.

    A group-by takes its time for every sum, so a family is summed as the digits of one number.
    """
    most = _most_counted_unit_rows(frame)
    while True:
        packed = [part for names in families for part in digits(names, most)]
        rows = frame.with_columns(part.packed() for part in packed)
        counts = count_rows(rows, unit, proof, *(part.total() for part in packed))
        found = int(counts[N].max() or 0)  # type: ignore[arg-type]
        if found <= most:
            break
        most = found  # a replication more than once: no digit may run over
    sums = [one for part in packed for one in part.unpacked(counts[part.sum])]
    return counts.drop(part.sum for part in packed).with_columns(sums)


def _most_counted_unit_rows(frame: pl.LazyFrame) -> int:
    """How many rows a unit has if none of its replications, numbered from 0 on, is there twice."""
    kind = frame.collect_schema().get("replication", pl.Null)
    if kind == pl.String:
        return _MOST_GUESSED
    last = pl.col("replication").max() if kind.is_integer() else pl.lit(None, pl.Int64)
    with little_read_ahead():
        ends = frame.select(n=pl.len(), last=last.cast(pl.Int64)).collect(engine="streaming")
    n, greatest = ends.row(0)
    return max(1, int(n if greatest is None else min(n, greatest + 1)))


def number_columns(values: pl.DataFrame) -> list[str]:
    """Name the columns of numbers.

    Examples
    --------
    >>> number_columns(pl.DataFrame({"verdict": ["A", "B"]}))
    ['__verdict0', '__verdict1']
    """
    return [f"__{values.columns[0]}{place}" for place in range(values.height)]


def count_rows(
    frame: pl.LazyFrame, keys: Sequence[str], proof: Proof | None = None, *sums: pl.Expr
) -> pl.DataFrame:
    """Count rows by some columns: the pass over all of them.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.fast_count import Ranges
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "replication": [0.0, 0.5]})
    >>> count_rows(rows, ["item_id"], Ranges()).select("n", "__wrong").rows()
    [(2, True)]
    """
    if proof is None:
        query = frame.group_by(keys).agg(pl.len().alias(N), *sums)
    else:
        query = _count_with_proof_sums(frame, keys, proof, sums)
    with little_read_ahead():
        return query.collect(engine="streaming")


def _count_with_proof_sums(
    frame: pl.LazyFrame, keys: Sequence[str], proof: Proof, sums: Sequence[pl.Expr]
) -> pl.LazyFrame:
    """The count with the sums of a proof, and whether any row cannot be."""
    schema = frame.collect_schema()
    replication = pl.col("replication").cast(pl.Int64, strict=False)
    wrong = []
    # No text but that of a whole number has its hash, so that ranges need no other check.
    if not schema["replication"].is_integer() and (
        proof.keys or schema["replication"] != pl.String
    ):
        number = typed_column("replication", schema["replication"])
        replication = number.cast(pl.Int64, strict=False)
        wrong.append((number != number.floor()) | ~number.is_finite())
    if "confidence" in schema:
        confidence = typed_column("confidence", schema["confidence"])
        wrong.append(~confidence.is_between(0, 1))
    faults = [pl.any_horizontal(wrong).any().alias(WRONG)] if wrong else []
    return (
        frame.with_columns(*proof.columns(replication))
        .group_by(*keys, *proof.keys)
        .agg(pl.len().alias(N), proof.sums(), *faults, *sums)
    )


def _is_counted_kind_comparable(kind: pl.DataType) -> bool:
    """Whether a value read from the file can be looked for in it."""
    return kind == pl.String or kind.is_numeric()


def _counted_row_says(values: dict[str, object], schema: pl.Schema) -> pl.Expr:
    """Whether a row says this; never null."""
    equal = [pl.col(name).eq_missing(pl.lit(one, schema[name])) for name, one in values.items()]
    return pl.all_horizontal(equal)


@contextmanager
def little_read_ahead() -> Iterator[None]:
    """One row group of Parquet ready for every two threads, unless the environment says otherwise.

    By default eight or more are held, of a million rows each where pyarrow wrote them: 100 MB more
    and no faster.

    Examples
    --------
    >>> with little_read_ahead():
    ...     pl.LazyFrame({"a": [1]}).collect().height
    1
    """
    name = "POLARS_ROW_GROUP_PREFETCH_SIZE"
    if name in os.environ:
        yield
        return
    os.environ[name] = str(max(1, pl.thread_pool_size() // 2))
    try:
        yield
    finally:
        del os.environ[name]


_CONSTANTS_PROBED = (
    10_000  # rows in which columns are seen to vary, before all of the file is asked
)


def knows_ranges(frame: pl.LazyFrame) -> bool:
    """Tell whether files of this machine know the range of each column, so that asking is cheap.

    Examples
    --------
    >>> knows_ranges(pl.LazyFrame({"judge": ["a"]}))
    False
    """
    # Other sources (a bucket, rows joined to rows) would be read once more for every question.
    plan = frame.explain(optimized=False)
    return "Parquet SCAN" in plan and not any(word in plan for word in ("PYTHON", "JOIN"))


def single_valued(
    frame: pl.LazyFrame, names: Iterable[str], *, no_range: Collection[str] = ()
) -> pl.DataFrame:
    """Find columns that have one value in all rows: a frame of one row.

    Of the columns `no_range` files do not know the range, so they are read.

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
    with little_read_ahead():
        begin = frame.select(able).head(_CONSTANTS_PROBED).collect(engine="streaming")
    if begin.is_empty():
        return begin.select()
    able = [name for name in able if begin[name].n_unique() == 1]
    first = begin.select(able).head(1)
    # Row groups whose least and greatest values are these are never read, unless a column is
    # among those asked about that has no range, as numbers have none that may be NaN.
    read = [
        name
        for name in able
        if name in no_range or (schema[name].is_float() and first[name].null_count() == 0)
    ]
    for together in (read, [name for name in able if name not in read]):
        varying = _varying_counted_columns(frame, first.select(together))
        first = first.drop(varying)
    return first


def _varying_counted_columns(frame: pl.LazyFrame, first: pl.DataFrame) -> list[str]:
    """Columns with other values than the first row's; files are opened until none has any."""
    varying: list[str] = []
    while first.width > 0:
        other = (
            frame.filter(_counted_row_differs(first, first.columns)).select(first.columns).head(1)
        )
        with little_read_ahead():
            found = other.collect(engine="streaming")
        if found.is_empty():
            break
        new = [
            name
            for name in first.columns
            if found.select(_counted_row_differs(first, [name])).item()
        ]
        varying += new
        first = first.drop(new)
    return varying


def _counted_row_differs(first: pl.DataFrame, names: Sequence[str]) -> pl.Expr:
    """Whether a row has another value in any of these columns."""
    return reduce(
        or_,
        (
            pl.col(name).ne_missing(pl.lit(first[name].first(), first.schema[name]))
            for name in names
        ),
    )
