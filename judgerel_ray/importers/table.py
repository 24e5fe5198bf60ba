"""Tables of judgments whose columns have names of their own."""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.core.files import read_bytes
from judgerel_ray.core.text import nearest_name
from judgerel_ray.counting.columns import FACETS, TYPED, is_nested, typed_columns
from judgerel_ray.counting.doubtful_columns import renamed_lines, unread_lines
from judgerel_ray.counting.files.cells import refuse_inside
from judgerel_ray.counting.files.counted_rows import COUNT
from judgerel_ray.counting.files.laid_out import as_numbers, filled_down, once_each
from judgerel_ray.counting.files.source import Source, quote_names, read_source, readable
from judgerel_ray.counting.files.understood import understood, with_its_sheet
from judgerel_ray.counting.judgments import refuse_text, refuse_twice
from judgerel_ray.counting.right_answers import find_unmatched_gold
from judgerel_ray.counting.verdicts.spelling import spellings_of
from judgerel_ray.importers.logs.reading import finite_number

REPLICATION = "replication"
_GOLD = "gold"
_VERDICT_COLUMNS = ("verdict", "score")
_FIRST = ("judge", "item_id", REPLICATION, *_VERDICT_COLUMNS, _GOLD)
_SINGLE = (*_VERDICT_COLUMNS, _GOLD, "label")
"""Columns whose text is no object or list either; an item may be called anything."""
_MAPPED: Mapping[str, type] = {
    "columns": dict,
    "values": dict,
    "repeats": str,
    "missing": list,
    "order": list,
}
_MAPPED_AS: Mapping[type, str] = {dict: "a table of texts", str: "a text", list: "a list of texts"}
_KEY = ("item_id", *FACETS, "block", REPLICATION)
_KNOWN = (*_FIRST, *sorted(TYPED - {*_FIRST}))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMapping:
    """What the columns of a table stand for.

    Attributes
    ----------
    columns : mapping of str to str
        Columns of judgments by where their values stand: a column (``question_id``); several with
        commas between (``subset,item``), which are joined by colons; or a column and a regular
        expression (``pair:^([^;]+)``), of which the first group is taken. A dotted name reaches
        into objects and lists, and into text that holds them (``gradingResult.pass``,
        ``choices.0.text``). Columns that have the name they need are taken as they are.
    repeats : str, optional
        Columns that are replications side by side, as a shell pattern (``s[0-9]``); they are
        numbered in the order of the table. Numbers are scores, anything else verdicts.
    values : mapping of str to str
        What a column holds where the table says nothing.
    missing : tuple of str
        What stands in place of a verdict or score that is not there.
    order : tuple of str
        Verdicts from lowest to highest: the score of each is its place, from 0.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    repeats: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (*self.columns, *self.values):
            if name not in (*_KNOWN, COUNT):
                raise SweepError(
                    f"judgments have no column {name!r}", hint=nearest_name(name, _KNOWN)
                )


def read_mapping(path: str) -> TableMapping:
    r"""Read what the columns of a table stand for from a TOML file."""
    where = {"file": path}
    try:
        mapping = tomllib.loads(read_bytes(path).decode())
    except ValueError as error:
        raise SweepError(f"no TOML: {error}", where=where) from error
    known = tuple(one.name for one in fields(TableMapping))
    for name, value in mapping.items():
        kind = _MAPPED.get(name)
        if kind is None:
            raise SweepError(
                f"unknown key {name!r}, expected one of {', '.join(known)}",
                where=where, hint=nearest_name(name, known),
            )  # fmt: skip
        inside: Iterable[object] = value.values() if isinstance(value, dict) else value
        if not isinstance(value, kind):
            raise SweepError(f"{name} must be {_MAPPED_AS[kind]}, got {value!r}", where=where)
        texts = [one for part in inside for one in (part if isinstance(part, list) else [part])]
        if not all(isinstance(one, str) for one in texts):
            raise SweepError(f"{name} must be {_MAPPED_AS[kind]}, got {value!r}", where=where)
    named: Mapping[str, str | list[str]] = mapping.get("columns", {})
    columns = {name: one if isinstance(one, str) else ",".join(one) for name, one in named.items()}
    lists: dict[str, Any] = {
        name: tuple(mapping[name]) for name in ("missing", "order") if name in mapping
    }
    options: dict[str, Any] = {**mapping, **lists, "columns": columns}
    return TableMapping(**options)


def import_table(path: str | Sequence[str], mapping: TableMapping | None = None) -> pl.DataFrame:
    r"""Read a table of judgments, its columns named by what they stand for.

    Parameters
    ----------
    path : str or sequence of str
        As for :func:`judgerel_ray.counting.files.source.read_source`.
    mapping : TableMapping, optional
        What stands where; by default every column has the name it needs.

    Returns
    -------
    pl.DataFrame
        The columns of judgments that the table has, and gold; others are left out. Where there is
        no outcome, a row without verdict and score is ``unparsed`` to ``reduce``. Where no column
        may be the replication, rows alike in item and facets are numbered in their order.

    Raises
    ------
    SweepError
        If the table cannot be read, a column named is not there or holds objects or lists, no
        column is the item or what was said, one that may be the replication is not named, rows to
        be numbered differ in a column that is not read, or a verdict is not in the order.

    Warns
    -----
    ReadingWarning
        What was read as what, where that was not stated; where rows were numbered, and more.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> mapping = TableMapping(columns={"item_id": "question"}, repeats="s?", missing=("-1",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "log.jsonl")
    ...     _ = file.write_text('{"question": 7, "s0": 4, "s1": -1}')
    ...     import_table(str(file), mapping).rows()
    [('7', 0, 4.0), ('7', 1, None)]
    """
    mapping = mapping or TableMapping()
    source = read_source(with_its_sheet(path, mapping.columns) if isinstance(path, str) else path)
    path = source.name
    beside: tuple[str, ...] = ()
    if mapping.repeats is not None:
        beside = _imported_repeats_note(source.rows.collect_schema().names(), mapping.repeats)
    with readable(source.where):
        source = understood(
            _imported_rows_with_values(source, mapping), mapping.columns,
            repeats=mapping.repeats, missing=mapping.missing,
        )  # fmt: skip
        names = source.rows.collect_schema().names()
        rows = source.rows.with_columns(_imported_without_missing(names, mapping.missing))
        rows, read = as_numbers(rows)
        rows, filled = filled_down(rows, names)
        table = rows.collect()
        if table.select(name for name in _KEY if name in names).is_duplicated().any():
            once, copies = once_each(rows, names)
            table, read = once.collect(), [*read, *copies]
    found = table.select(sorted((name for name in names if name in _KNOWN), key=_KNOWN.index))
    found = found.with_columns(_imported_with_defaults(found.columns, mapping.values))
    if mapping.order:
        found = found.with_columns(_scores_by_place(found, mapping.order, path))
    for column in found:
        if is_nested(column.dtype) or column.name in _SINGLE:
            refuse_inside(column, name=column.name, where={"file": path})
    refuse_text(replace(source, rows=found.lazy()))
    with readable(source.where):
        typed = found.with_columns(typed_columns(found.schema))
        _require_ids(typed, path)
        _require_whole(typed, path)
        others = table.select(name for name in names if name not in _KNOWN)
        both = pl.concat([typed, others], how="horizontal").lazy()
        refuse_twice(both, source)
        unit = [name for name in ("item_id", *FACETS) if name in typed.columns]
        unread = unread_lines(Source(rows=both), unit)
        verdicts = typed.select(name for name in _VERDICT_COLUMNS if name in typed.columns)
        renamed = renamed_lines(Source(rows=pl.concat([verdicts, others], how="horizontal").lazy()))
        notes = (*source.notes, *beside, *read, *filter(None, [filled]), *unread, *renamed)
    for note in (*notes, *_imported_gold_notes(typed)):
        warnings.warn(ReadingWarning(note), stacklevel=2)
    return typed.cast({REPLICATION: pl.Int64})


def _imported_rows_with_values(source: Source, mapping: TableMapping) -> Source:
    """The rows with what is stated of all of them, where no column says it."""
    there = {*source.rows.collect_schema(), *mapping.columns}
    stated = {name: text for name, text in mapping.values.items() if name not in there}
    rows = source.rows.with_columns(pl.lit(text).alias(name) for name, text in stated.items())
    return replace(source, rows=rows) if stated else source


def _imported_gold_notes(typed: pl.DataFrame) -> tuple[str, ...]:
    """What of gold is no verdict of the table, however the words are spelled."""
    if _GOLD not in typed.columns:
        return ()
    answers = typed.select(name for name in _VERDICT_COLUMNS if name in typed.columns).unique()
    counted = typed.group_by(_GOLD).len("n")
    if "verdict" in answers.columns:
        seen = typed.group_by(text="verdict").len("n").drop_nulls("text")
        spelled = spellings_of(seen.cast({"text": pl.String}))
        answers = answers.cast({"verdict": pl.String}).with_columns(spelled.verdict())
        counted = counted.with_columns(spelled.compared(_GOLD))
    unmatched = find_unmatched_gold(counted, answers)
    return () if unmatched is None else (unmatched.line(),)


def _imported_repeats_note(columns: Sequence[str], pattern: str) -> tuple[str, ...]:
    """Warn of columns side by side that go by names, as those of several judges do."""
    beside = [name for name in columns if fnmatchcase(name, pattern)]
    fixed = re.split(r"[*?]|\[[^]]*\]", pattern)
    marks = [name.removeprefix(fixed[0]).removesuffix(fixed[-1]).strip("_-. ") for name in beside]
    if len(beside) < 2 or all(len(one) <= 1 or one.isdecimal() for one in marks):
        return ()
    return (
        f"{quote_names(beside)} are read as repeats of one judge; where each is of a judge of its "
        f"own, import each by itself: --column verdict={beside[0]} --value judge={beside[0]}",
    )


def _require_ids(typed: pl.DataFrame, path: str) -> None:
    """Refuse rows that belong to no question or are no numbered reply."""
    for name in ("item_id", REPLICATION):
        lacking = typed[name].is_null().arg_true()
        if lacking.len():
            raise SweepError(f"{name} is missing", where={"file": path, "row": lacking[0] + 1})


def _require_whole(typed: pl.DataFrame, path: str) -> None:
    """Refuse a replication that a whole number would not be."""
    number = pl.col(REPLICATION)
    wrong = typed.with_row_index("__row").filter(number != number.floor())
    if not wrong.is_empty():
        raise SweepError(
            f"{REPLICATION} must be a whole number, got {wrong[REPLICATION][0]:g}",
            where={"file": path, "row": wrong["__row"][0] + 1},
        )


def _imported_without_missing(columns: Sequence[str], missing: Sequence[str]) -> list[pl.Expr]:
    """Verdicts and scores, null where another value says that there is none."""
    numbers = [number for text in missing if (number := finite_number(text)) is not None]
    gone = {
        "verdict": pl.col("verdict").cast(pl.String).is_in(list(missing)),
        "score": pl.col("score").cast(pl.Float64, strict=False).is_in(numbers)
        | pl.col("score").cast(pl.String).is_in(list(missing)),
    }
    return [
        pl.when(~gone[name].fill_null(False)).then(pl.col(name)).alias(name)
        for name in _VERDICT_COLUMNS
        if missing and name in columns
    ]


def _imported_with_defaults(columns: Sequence[str], values: Mapping[str, str]) -> list[pl.Expr]:
    """Columns with what they hold where the table says nothing."""
    return [
        (pl.col(name).cast(pl.String).fill_null(text) if name in columns else pl.lit(text)).alias(
            name
        )
        for name, text in values.items()
    ]


def _scores_by_place(found: pl.DataFrame, order: Sequence[str], path: str) -> pl.Expr:
    """Scores of verdicts by their place in an order."""
    if "verdict" not in found.columns or "score" in found.columns:
        raise SweepError(
            "an order gives scores to verdicts, the table has "
            f"{'scores' if 'score' in found.columns else 'no verdict'}",
            where={"file": path},
        )
    verdicts = found["verdict"].cast(pl.String).drop_nulls().unique().sort().to_list()
    if unknown := [text for text in verdicts if text not in order]:
        raise SweepError(
            f"verdict {unknown[0]!r} is not in the order {', '.join(order)}", where={"file": path}
        )
    places = {text: float(place) for place, text in enumerate(order)}
    verdict = pl.col("verdict").cast(pl.String)
    return verdict.replace_strict(places, default=None, return_dtype=pl.Float64).alias("score")
