"""Tables of judgments whose columns have names of their own."""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from judgerel_ray.core import ReadingWarning, SweepError, count_of
from judgerel_ray.core.files import read_bytes
from judgerel_ray.counting.columns import FACETS, TYPED, is_no_value, typed_columns
from judgerel_ray.counting.doubtful_names import renamed_lines, unread_lines
from judgerel_ray.counting.files.records import (
    is_nested,
    names_inside,
    refuse_inside,
    value_at,
    values_series,
)
from judgerel_ray.counting.files.source import Source, names_told, read_source, readable
from judgerel_ray.counting.files.understood import understood
from judgerel_ray.counting.judgments import columns_meant, refuse_text
from judgerel_ray.counting.right_answers import gold_strangers
from judgerel_ray.counting.verdicts.spelling import spellings_of

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
            if name not in _KNOWN:
                near = get_close_matches(name, _KNOWN, n=1)
                raise SweepError(
                    f"judgments have no column {name!r}", hint=near[0] if near else None
                )


def read_mapping(path: str) -> TableMapping:
    r"""Read what the columns of a table stand for from a TOML file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "map.toml")
    ...     _ = file.write_text('repeats = "s?"\n[columns]\nitem_id = ["set", "question"]')
    ...     read_mapping(str(file)).columns
    {'item_id': 'set,question'}
    """
    where = {"file": path}
    try:
        given = tomllib.loads(read_bytes(path).decode())
    except ValueError as error:
        raise SweepError(f"no TOML: {error}", where=where) from error
    known = tuple(one.name for one in fields(TableMapping))
    for name, value in given.items():
        kind = _MAPPED.get(name)
        if kind is None:
            near = get_close_matches(name, known, n=1)
            raise SweepError(
                f"unknown key {name!r}, expected one of {', '.join(known)}",
                where=where, hint=near[0] if near else None,
            )  # fmt: skip
        inside: Iterable[object] = value.values() if isinstance(value, dict) else value
        if not isinstance(value, kind):
            raise SweepError(f"{name} must be {_MAPPED_AS[kind]}, got {value!r}", where=where)
        texts = [one for part in inside for one in (part if isinstance(part, list) else [part])]
        if not all(isinstance(one, str) for one in texts):
            raise SweepError(f"{name} must be {_MAPPED_AS[kind]}, got {value!r}", where=where)
    named: Mapping[str, str | list[str]] = given.get("columns", {})
    columns = {name: one if isinstance(one, str) else ",".join(one) for name, one in named.items()}
    lists: dict[str, Any] = {
        name: tuple(given[name]) for name in ("missing", "order") if name in given
    }
    options: dict[str, Any] = {**given, **lists, "columns": columns}
    return TableMapping(**options)


def import_table(path: str, mapping: TableMapping | None = None) -> pl.DataFrame:
    r"""Read a table of judgments, its columns named by what they stand for.

    Parameters
    ----------
    path : str
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
        Where rows were numbered: how many, and how often a question is there.

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
    source = read_source(path)
    beside: tuple[str, ...] = ()
    with readable(source.where):
        if mapping.repeats is None:
            source = understood(_with_values(source, mapping), mapping.columns)
            mapping = replace(mapping, columns={})
        table = source.rows.collect()
    if mapping.repeats is not None:
        beside = _beside_note(table.columns, mapping.repeats)
        table = _stacked_replications(table, mapping, path)
    found = _renamed(table, mapping, path)
    found = found.with_columns(_without_missing(found.columns, mapping.missing))
    found = found.with_columns(_with_defaults(found.columns, mapping.values))
    if mapping.order:
        found = found.with_columns(_scores_by_place(found, mapping.order, path))
    unnumbered = _require(found.columns, replace(source, rows=table.lazy()))
    for column in found:
        if is_nested(column.dtype) or column.name in _SINGLE:
            refuse_inside(column, name=column.name, where={"file": path})
    refuse_text(replace(source, rows=found.lazy()))
    with readable(source.where):
        typed = found.with_columns(typed_columns(found.schema))
        typed = _in_row_order(typed) if unnumbered else typed
        _require_ids(typed, path)
        _require_whole(typed, path)
        not_read = _not_read(table, mapping)
        if unnumbered:
            _require_alike(typed, table.select(not_read), path)
        else:
            _require_once(typed, table.select(not_read), path)
        unit = ["item_id", *(name for name in FACETS if name in typed.columns)]
        both = pl.concat([typed.select(unit), table.select(not_read)], how="horizontal")
        unread = unread_lines(Source(rows=both.lazy()), unit)
        own = typed.select(name for name in _VERDICT_COLUMNS if name in typed.columns)
        beside_own = pl.concat([own, table.select(not_read)], how="horizontal")
        renamed = renamed_lines(Source(rows=beside_own.lazy()))
        counted = (_numbered_note(typed, not_read),) if unnumbered else tuple(unread)
    for note in (*source.notes, *beside, *counted, *renamed, *_gold_notes(typed)):
        warnings.warn(ReadingWarning(note), stacklevel=2)
    return typed.cast({REPLICATION: pl.Int64})


def _with_values(source: Source, mapping: TableMapping) -> Source:
    """The rows with what is stated of all of them, where no column says it."""
    there = {*source.rows.collect_schema(), *mapping.columns}
    stated = {name: text for name, text in mapping.values.items() if name not in there}
    rows = source.rows.with_columns(pl.lit(text).alias(name) for name, text in stated.items())
    return replace(source, rows=rows) if stated else source


def _gold_notes(typed: pl.DataFrame) -> tuple[str, ...]:
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
    strangers = gold_strangers(counted, answers)
    return () if strangers is None else (strangers.line(),)


def _stacked_replications(table: pl.DataFrame, mapping: TableMapping, path: str) -> pl.DataFrame:
    """Replications that stand side by side, one below the other."""
    pattern = str(mapping.repeats)
    beside = [name for name in table.columns if fnmatchcase(name, pattern)]
    if not beside:
        raise SweepError(
            f"no column is like {pattern!r}, got {names_told(table.columns)}", where={"file": path}
        )
    # By what they hold, for a CSV has text alone.
    for name in beside:
        refuse_inside(table[name], name="verdict", where={"file": path})
    texts = table.select(pl.col(beside).cast(pl.String).str.strip_chars())
    held = pl.concat([texts[name].alias("held") for name in beside]).drop_nulls().to_frame()
    kept = ~is_no_value(pl.col("held")) & ~pl.col("held").is_in(list(mapping.missing))
    numbers = not held.filter(kept)["held"].cast(pl.Float64, strict=False).has_nulls()
    commas = kept.and_(pl.col("held").str.contains(",", literal=True))
    if not numbers and (got := held.filter(commas)["held"].head(1).to_list()):
        pointed = held.filter(kept)["held"].str.replace(",", ".", literal=True)
        if not pointed.cast(pl.Float64, strict=False).has_nulls():
            raise SweepError(
                f"repeats must be numbers or words, got {got[0]!r}: a number with a comma",
                where={"file": path},
                hint=f"write {got[0].replace(',', '.')}: a point, no comma",
            )
    value = "score" if numbers else "verdict"
    taken = {REPLICATION, value} & {*table.columns, *mapping.columns}
    if taken:
        raise SweepError(
            f"repeats give {REPLICATION} and {value}, {' and '.join(sorted(taken))} is there",
            where={"file": path},
        )
    rest = [name for name in table.columns if name not in beside]
    kind = pl.Float64() if numbers else pl.String()
    cells = pl.col(beside).cast(pl.String).str.strip_chars().cast(kind, strict=False)
    long = table.with_columns(cells).unpivot(
        beside, index=rest, variable_name=REPLICATION, value_name=value
    )
    place = {name: number for number, name in enumerate(beside)}
    return long.with_columns(pl.col(REPLICATION).replace_strict(place, return_dtype=pl.Int64))


def _beside_note(columns: Sequence[str], pattern: str) -> tuple[str, ...]:
    """Say that columns side by side go by names, as columns of several judges do, not by numbers.

    Examples
    --------
    >>> _beside_note(["id", "s1", "s2"], "s*")
    ()
    >>> print(*_beside_note(["id", "by_ann", "by_bo"], "by_*"))
    by_ann, by_bo are read as repeats of one judge; where each is of a judge of its own, import \
each by itself: --column verdict=by_ann --value judge=by_ann
    """
    beside = [name for name in columns if fnmatchcase(name, pattern)]
    fixed = re.split(r"[*?]|\[[^]]*\]", pattern)
    marks = [name.removeprefix(fixed[0]).removesuffix(fixed[-1]).strip("_-. ") for name in beside]
    if len(beside) < 2 or all(len(one) <= 1 or one.isdecimal() for one in marks):
        return ()
    return (
        f"{names_told(beside)} are read as repeats of one judge; where each is of a judge of its "
        f"own, import each by itself: --column verdict={beside[0]} --value judge={beside[0]}",
    )


def _renamed(table: pl.DataFrame, mapping: TableMapping, path: str) -> pl.DataFrame:
    """Columns by the names of judgments."""
    chosen = {name: table[name] for name in table.columns if name in _KNOWN}
    for name, source in mapping.columns.items():
        chosen[name] = _source(table, name, source, path)
    ordered = sorted(chosen, key=_KNOWN.index)
    return pl.DataFrame([chosen[name].alias(name) for name in ordered])


def _source(table: pl.DataFrame, name: str, source: str, path: str) -> pl.Series:
    """The values of a column."""
    if source in table.columns:
        refuse_inside(table[source], name=name, where={"file": path})
        return table[source]
    column, sign, pattern = source.partition(":")
    joined = [column] if column in table.columns else column.split(",")
    parts = [_values(table, name, one, path) for one in joined]
    if len(parts) == 1 and not sign:
        return parts[0]
    text = pl.select(pl.concat_str([one.cast(pl.String) for one in parts], separator=":"))
    if not sign:
        return text.to_series()
    _check_pattern(pattern)
    return text.to_series().str.extract(pattern, 1)


def _values(table: pl.DataFrame, name: str, source: str, path: str) -> pl.Series:
    """The values of one column, or what a dotted name reaches inside one."""
    if source in table.columns:
        if is_nested(table[source].dtype):
            refuse_inside(table[source], name=name, where={"file": path})
        return table[source]
    parts = source.split(".")
    for n in range(len(parts) - 1, 0, -1):
        column = ".".join(parts[:n])
        if column not in table.columns:
            continue
        values, there = value_at(table[column], parts[n:])
        inside = names_inside(table[column])
        if not there:
            near = get_close_matches(source, inside, n=1)
            got = f"it holds {', '.join(inside)}" if inside else "it holds no objects"
            raise SweepError(
                f"no value of column {column} has {'.'.join(parts[n:])!r}, {got}",
                where={"file": path},
                hint=f"--column {name}={near[0]}" if near else None,
            )
        found = values_series(source, values)
        if any(isinstance(value, dict | list) for value in values):
            refuse_inside(found, name=name, where={"file": path})
        return found
    near = get_close_matches(source, table.columns, n=1)
    raise SweepError(
        f"no column {source!r} for {name}, got {names_told(table.columns)}",
        where={"file": path},
        hint=f"--column {name}={near[0]}" if near else None,
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


def _check_pattern(pattern: str) -> None:
    """Refuse a regular expression without a group."""
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise SweepError(f"no regular expression: {pattern!r}: {error}") from error
    if groups < 1:
        raise SweepError(
            f"the regular expression {pattern!r} takes nothing out", hint=f"({pattern})"
        )


def _without_missing(columns: Sequence[str], missing: Sequence[str]) -> list[pl.Expr]:
    """Verdicts and scores, null where another value says that there is none."""
    numbers = [number for text in missing if (number := _number(text)) is not None]
    gone = {
        "verdict": pl.col("verdict").cast(pl.String).is_in(list(missing)),
        "score": pl.col("score").cast(pl.Float64, strict=False).is_in(numbers),
    }
    return [
        pl.when(~gone[name].fill_null(False)).then(pl.col(name)).alias(name)
        for name in _VERDICT_COLUMNS
        if missing and name in columns
    ]


def _with_defaults(columns: Sequence[str], values: Mapping[str, str]) -> list[pl.Expr]:
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


def _in_row_order(typed: pl.DataFrame) -> pl.DataFrame:
    """Number the rows of each unit from 0, in their order."""
    unit = ["item_id", *(name for name in FACETS if name in typed.columns)]
    return typed.with_columns(pl.int_range(pl.len()).over(unit).alias(REPLICATION))


def _not_read(table: pl.DataFrame, mapping: TableMapping) -> list[str]:
    """Columns that stand for nothing, one of which may tell rows apart."""
    parts = [part for one in mapping.columns.values() for part in re.split("[,:]", one)]
    named = {*mapping.columns.values(), *parts, *(part.partition(".")[0] for part in parts)}
    return [name for name in table.columns if name not in _KNOWN and name not in named]


def _require_once(typed: pl.DataFrame, others: pl.DataFrame, path: str) -> None:
    """Refuse rows of one repeat that a column which is not read may tell apart."""
    unit = [name for name in ("item_id", *FACETS, "block", REPLICATION) if name in typed.columns]
    twice = typed.select(unit).is_duplicated()
    if not twice.any():
        return
    rows = typed.select(unit).with_columns(others.rename(lambda name: f"_{name}")).filter(twice)
    for name, column in zip(others.columns, others, strict=True):
        if is_nested(column.dtype) or column.n_unique() > max(2, typed.height // 5):
            continue  # a time or an id tells all rows apart
        if not rows.select(*unit, f"_{name}").is_duplicated().any():
            shown = rows.select(unit).with_columns(pl.col(REPLICATION).cast(pl.Int64))
            first = {k: v for k, v in shown.row(0, named=True).items() if v is not None}
            raise SweepError(
                f"rows of one repeat differ in column {name}, not read",
                where={"file": path, **first},
                hint=f"--column judge={name}, where it says who judged; or criterion, template, "
                "option_order: what tells the rows apart",
            )


def _require_alike(typed: pl.DataFrame, others: pl.DataFrame, path: str) -> None:
    """Refuse repeats that a column which is not read may tell apart, as an order or a prompt does.

    Its values come again and are no spelling of the verdict, unlike times, costs and replies.
    """
    unit = ["item_id", *(name for name in FACETS if name in typed.columns)]
    verdict_columns = [name for name in _VERDICT_COLUMNS if name in typed.columns]
    for name, column in zip(others.columns, others, strict=True):
        if is_nested(column.dtype) or column.n_unique() > max(2, typed.height // 5):
            continue
        rows = typed.select(*unit, *verdict_columns).with_columns(column.alias("_other"))
        varies = (rows.group_by(unit).agg(pl.col("_other").n_unique())["_other"] > 1).any()
        spelled = (
            rows.group_by("_other").agg(pl.struct(verdict_columns).n_unique().alias("n"))["n"].max()
        )
        if varies and spelled != 1:
            raise SweepError(
                f"rows of one item that no column numbers differ in column {name}, not read",
                where={"file": path},
                hint=f"--column judge={name}, where it says who judged; replication={name}, where "
                f"it numbers repeats; template={name}, where it names a prompt; or leave the "
                "column out of the file, and they count as the same prompt again",
            )


def _numbered_note(typed: pl.DataFrame, not_read: Sequence[str]) -> str:
    """Say how repeats were numbered that no column numbers, and what might tell them apart."""
    n, most = typed.height, typed.select(pl.col(REPLICATION).max()).item()
    items = typed["item_id"].n_unique()
    often = "each once" if not most else f"up to {most + 1} times the same"
    return (
        f"no column says which repeat a row is: {count_of(n, 'row')} of "
        f"{count_of(items, 'question')} numbered in their order, {often}"
        + (f"; not read: {names_told(not_read)}" if not_read else "")
    )


def _require(columns: Sequence[str], source: Source) -> bool:
    """Refuse a table without the columns that reliability needs.

    Returns whether nothing but the replication is lacking, and no column may be meant by it.
    """
    lacking = [name for name in ("item_id", REPLICATION) if name not in columns]
    if not set(_VERDICT_COLUMNS) & set(columns):
        lacking.append("verdict or score")
    if lacking:
        meant = columns_meant(source, lacking)
        if lacking == [REPLICATION] and isinstance(meant[REPLICATION], str):
            return True
        hints = [
            one if isinstance(one, str) else f"--column {one[0]}={one[1]}" for one in meant.values()
        ]
        if isinstance(meant.get(REPLICATION), str):
            hints.append("--repeats PATTERN where repeats of one judge stand side by side")
        raise SweepError(
            f"no column for {', '.join(lacking)}; got {names_told(source.rows.collect().columns)}",
            where=source.where,
            hint="; ".join(hints),
        )
    return False


def _number(text: str) -> float | None:
    """A text as a number, where it is one."""
    try:
        return float(text)
    except ValueError:
        return None
