"""A table as judgments: as it is, by what its columns mean, or refused with what would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from shlex import quote

from judgerel_ray.core import SweepError
from judgerel_ray.counting.files.laid_out import filled_down, laid_out
from judgerel_ray.counting.files.meaning import REPLICATION, VALUES, Meaning, meaning_of
from judgerel_ray.counting.files.source import Source, names_told

_MOST_TOLD = 4


class ColumnsMissing(SweepError):  # noqa: N818  what a table lacks, which doctor helps with
    """A table in which something that judgments need is not there, or may be several things."""

    meaning: Meaning
    there: tuple[str, ...]


def understood(source: Source, stated: Mapping[str, str] | None = None) -> Source:
    """The rows with the columns of judgments; ColumnsMissing where these cannot be told.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.LazyFrame({"prompt_id": ["p", "p"], "trial": [0, 1], "winner": ["x", "y"]})
    >>> understood(Source(rows=rows)).rows.collect().columns
    ['item_id', 'replication', 'verdict']
    """
    columns = source.rows.collect_schema().names()
    if not stated and is_ours(columns):
        rows, line = filled_down(source.rows, columns)
        return source if line is None else replace(
            source, rows=rows, notes=(*source.notes, line), indexed=False
        )  # fmt: skip
    if not stated:
        _refuse_log(source)
    for role, place in (stated or {}).items():
        _check_place(place, role, source, columns)
    meaning = meaning_of(source.rows, stated)
    if meaning.is_numbered and len(source.files) > 1 and meaning.telling is None:
        meaning = replace(meaning, telling="(the file)")
    if not meaning.is_whole:
        raise _refusal(source, meaning, columns)
    return laid_out(source, meaning)


_LOGS = "judgerel_ray.importers.logs.asked:log_name"
"""Who knows the logs of tools, a room above: asked by its name, of a table with foreign columns."""


def _refuse_log(source: Source) -> None:
    """Refuse the log of a tool, which is imported: its columns mean what its tool says."""
    path = source.where.get("file")
    if not isinstance(path, str) or source.files[1:] or "://" in path:
        return
    if name := resolve_name(_LOGS)(path):
        raise SweepError(
            f"a log of {name} is imported first",
            where=source.where,
            hint=f"judgerel import auto {quote(path)} --out judgments.parquet",
        )


def is_ours(columns: Sequence[str]) -> bool:
    """Whether the columns that judgments need have their own names."""
    return {"item_id", REPLICATION} <= set(columns) and bool(set(VALUES) & set(columns))


def _check_place(place: str, role: str, source: Source, columns: Sequence[str]) -> None:
    """Refuse a column that is stated and not there."""
    from difflib import get_close_matches

    if place in columns:
        return
    parts = place.partition(":")[0].split(",")
    lacking = [one for one in parts if one not in columns and one.partition(".")[0] not in columns]
    if not lacking:
        return
    near = get_close_matches(lacking[0], columns, n=1)
    place = lacking[0]
    raise SweepError(
        f"no column {place!r} for {role}, got {names_told(columns)}",
        where=source.where,
        hint=f"--column {role}={near[0]}" if near else None,
    )


def _refusal(source: Source, meaning: Meaning, columns: Sequence[str]) -> ColumnsMissing:
    """Why a table cannot be read as judgments, and the flags that would settle it."""
    if values := [role for role in VALUES if role in meaning.open]:
        places = [(role, place) for role in values for place in meaning.open[role]]
        names = " and ".join(dict.fromkeys(place for _, place in places))
        problem = f"several columns may hold what the judge said: {names}"
        hint = " or ".join(f"--column {role}={place}" for role, place in places[:_MOST_TOLD])
    elif meaning.open:
        role, found = next(iter(meaning.open.items()))
        problem = f"several columns may be {role}: {' and '.join(found)}"
        hint = " or ".join(f"--column {role}={place}" for place in found[:_MOST_TOLD])
    elif meaning.lacking:
        free = [name for name, why in meaning.unused.items() if why == "no name of judgments"]
        problem = f"column missing: {', '.join(meaning.lacking)}; got {names_told(columns)}"
        wanted = [one.partition(" or ")[0] for one in meaning.lacking]
        some = names_told(free) if free else "the table"
        hint = f"{' '.join(f'--column {one}=COLUMN' for one in wanted)}, COLUMN one of {some}"
    elif meaning.telling == "(the file)":
        problem = "the files are of one table each, and no column says what tells them apart"
        hint = (
            "a folder each that says it, such as FOLDER/judge=NAME/FILE, and read FOLDER; or files "
            "whose names differ by a number alone, which are repeats"
        )
    else:
        name = meaning.telling
        problem = f"rows of one item differ in column {name}, not read: they may be no repeats"
        hint = (
            f"--column template={name}, where it names a prompt; judge={name}, where it says who "
            f"judged; replication={name}, where it numbers repeats; criterion={name}, what is asked"
        )
    error = ColumnsMissing(problem, where=source.where, hint=hint)
    error.meaning, error.there = meaning, tuple(columns)
    return error
