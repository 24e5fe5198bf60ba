"""Columns of other people's files that bear names of ours and mean something else.

What nobody asks for is not looked at. ``role`` and ``block`` choose rows, so they are ours only
where they hold what ours hold; else they are left out, and a line says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import get_args

import polars as pl

from judgerel_ray.core import Role, SweepError
from judgerel_ray.counting.columns import is_no_value
from judgerel_ray.counting.files.records import is_nested
from judgerel_ray.counting.files.source import Source

_ROLES = frozenset(get_args(Role))
_LONGEST = 4  # values told
_OURS = {
    "role": f"roles are {', '.join(get_args(Role))}",
    "block": "blocks are whole numbers from 0 on, and 0 is one of them",
}


def own_columns(
    source: Source, *, named: Collection[str], reads: Collection[str] | None = None
) -> Source:
    """Leave out columns that are not used, or that only by their name are ours.

    Parameters
    ----------
    source : Source
        Rows as they are there.
    named : collection of str
        Columns that a person named: one of them is never left out unasked.
    reads : collection of str, optional
        Columns that are used besides those that tell rows apart; by default any.

    Returns
    -------
    Source
        Roles in the spelling that ours have.

    Raises
    ------
    SweepError
        If a column that was named is not what its name says.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q"], "role": ["assistant"], "confidence": ["high"]})
    >>> found = own_columns(Source(rows=rows), named=(), reads=())
    >>> found.rows.collect().columns, found.notes[0][:60]
    (['item_id'], "column role is not read: its values are 'assistant', and rol")
    """
    schema = source.rows.collect_schema()
    rows, notes = source.rows, list(source.notes)
    if reads is not None:
        unused = set(_SELDOM) - {*reads, *named}
        rows = rows.drop(
            name for name in schema if name in unused and (_SELDOM[name] or is_nested(schema[name]))
        )
    for name, own in _CHECKS.items():
        if name not in schema:
            continue
        values = rows.select(name).unique().collect(engine="streaming")[name]
        spelled = own(values)
        if spelled is None:
            rows = rows.drop(name)
            notes.append(_not_read(name, values, source, named))
        elif not spelled.equals(values):
            rows = rows.with_columns(pl.col(name).cast(pl.String).replace(values, spelled))
            pairs = zip(values, spelled, strict=True)
            words = sorted(f"{one!r} as {other}" for one, other in pairs if one != other)
            notes.append(f"column {name}: read {', '.join(words)}")
    return replace(source, rows=rows, notes=tuple(notes))


_SELDOM = {"confidence": True, "gold": False, "key": False, "finish_reason": False}
"""Columns that only some of what reads judgments looks at, and whether it says so in `reads`."""


def _roles(values: pl.Series) -> pl.Series | None:
    """Roles as ours are spelled; None where none of them is ours."""
    if values.dtype != pl.String:
        return values if values.dtype == pl.Null else None
    bare = values.str.strip_chars().str.to_lowercase().str.replace_all(r"[\s-]+", "_")
    if values.drop_nulls().filter(bare.drop_nulls() != "").is_empty():
        return values
    own = bare.is_in(list(_ROLES)).fill_null(False)
    return None if not own.any() else bare.zip_with(own, values)


def _blocks(values: pl.Series) -> pl.Series | None:
    """Blocks as they are; None where they are no blocks of ours."""
    if values.dtype.is_nested() or values.dtype.is_temporal() or values.dtype == pl.Boolean:
        return None
    text = values.cast(pl.String).str.strip_chars().alias("text")
    text = text.to_frame().filter(~is_no_value(pl.col("text")))["text"]
    number = text.cast(pl.Float64, strict=False)
    whole = (number >= 0) & (number == number.floor()) & number.is_finite()
    if not whole.fill_null(False).all():
        return None
    return values if len(text) < len(values) or (number == 0).any() else None


_CHECKS: dict[str, Callable[[pl.Series], pl.Series | None]] = {"role": _roles, "block": _blocks}


def _not_read(name: str, values: pl.Series, source: Source, named: Collection[str]) -> str:
    """The line of a column that is left out; SweepError where a person named it."""
    nested = values.dtype.is_nested()
    seen = [] if nested else sorted(values.drop_nulls().to_list())
    some = ", ".join(map(repr, seen[:_LONGEST])) + (", ..." if len(seen) > _LONGEST else "")
    got = f"its values are {some}" if some else "its values are lists or objects"
    if name in named:
        raise SweepError(
            f"column {name} cannot be used: {got}, and {_OURS[name]}",
            where=source.where,
            hint=f"rename the column; without a column {name} every row counts",
        )
    return f"column {name} is not read: {got}, and {_OURS[name]}"
