"""A sheet of a workbook as the text that a CSV of it holds."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from shlex import quote

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.core.text import install_hint
from judgerel_ray.counting.files.delimited import read_delimited
from judgerel_ray.counting.files.names import repeats_by_name, roles_of

WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
_REPLICATION, SHEET = "replication", "sheet"
"""Columns that tell sheets of a workbook apart."""
_AS_CSV = "save the sheet as CSV"


def sheets_as_csv(content: bytes, where: Mapping[str, object]) -> dict[str, bytes]:
    """The sheets that have rows, by name, as the CSV of them."""
    try:
        import fastexcel
    except ImportError as error:
        hint = f"{install_hint('excel')}; or {_AS_CSV}"
        raise SweepError("a workbook is read by fastexcel", where=where, hint=hint) from error
    try:
        sheets = pl.read_excel(
            io.BytesIO(content), sheet_id=0, has_header=False, infer_schema_length=0,
            raise_if_empty=False, drop_empty_rows=False,
        )  # fmt: skip
    except fastexcel.FastExcelError as error:
        problem = f"the workbook cannot be read: {str(error).splitlines()[0]}"
        raise SweepError(problem, where=where, hint=_AS_CSV) from error
    return {
        name: sheet.write_csv(include_header=False).encode()
        for name, sheet in sheets.items() if not sheet.is_empty()
    }  # fmt: skip


def chosen_sheets(
    sheets: Mapping[str, bytes], asked: str, where: Mapping[str, object]
) -> dict[str, bytes]:
    """The sheets that are asked for, separated by commas; else the one that has rows.

    Examples
    --------
    >>> chosen_sheets({"one": b"", "two": b""}, "two", {})
    {'two': b''}
    """
    names = _names_in(asked, sheets)
    if not asked and len(sheets) == 1:
        names = [*sheets]
    if missing := [name for name in names if name not in sheets]:
        book = str(where.get("file", "FILE")).removesuffix(f"#{asked}")
        there = ", ".join(sheets) or "none"
        problem = f"expected a workbook of which one sheet has rows, got {there}"
        if asked:
            problem = f"no sheet {missing[0]!r} has rows, got {there}"
        first = next(iter(sheets), None)
        hint = first and f"{quote(f'{book}#{first}')} for the sheet {first}"
        raise SweepError(problem, where=where, hint=hint or _AS_CSV)
    return {name: sheets[name] for name in names}


def _names_in(asked: str, sheets: Collection[str]) -> list[str]:
    """Names of sheets between commas, which may hold commas themselves."""
    if asked in sheets:
        return [asked]
    for name in sorted(sheets, key=len, reverse=True):
        if asked.startswith(f"{name},"):
            return [name, *_names_in(asked[len(name) + 1 :], sheets)]
    first, comma, rest = asked.partition(",")
    return [first, *(_names_in(rest, sheets) if comma else [])]


def read_sheets(
    sheets: Mapping[str, bytes], asked: str, where: Mapping[str, object]
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    r"""Read a sheet, or several of the same columns with the sheet of each; how, it says in notes.

    Examples
    --------
    >>> rows, notes = read_sheets({"a": b"id,verdict\nq,x\n", "b": b""}, "a", {})
    >>> rows.collect().rows(), notes
    ([('q', 'x')], ('read the sheet a; not read: b',))
    """
    chosen = chosen_sheets(sheets, asked, where)
    read = {name: read_delimited(content, where) for name, content in chosen.items()}
    frames = {name: rows for name, (rows, _) in read.items()}
    columns = [rows.collect_schema().names() for rows in frames.values()]
    if odd := sorted({name for one in columns for name in {*one} ^ {*columns[0]}}):
        raise SweepError(
            f"sheets differ in their columns: {odd[0]} is not in all of {', '.join(chosen)}",
            where=where, hint="read sheets of different tables one at a time",
        )  # fmt: skip
    repeats = repeats_by_sheet([*chosen], columns[0])
    facts: list[int] | list[str] = repeats or ([*chosen] if len(chosen) > 1 else [])
    facet = _REPLICATION if repeats else SHEET
    if facts and facet in columns[0]:
        raise SweepError(f"a column {facet} is in the sheets, and would say which each is",
                         where=where, hint="read one at a time, or rename it")  # fmt: skip
    parts = [rows.select(columns[0]) for rows in frames.values()]
    if facts:
        parts = [
            rows.with_columns(pl.lit(fact).alias(facet))
            for rows, fact in zip(parts, facts, strict=True)
        ]
    rest = [name for name in sheets if name not in chosen]
    what = f"read the sheet{'s' * (len(chosen) > 1)} {', '.join(chosen)}"
    what += f" as one table, with a column {facet}" if facts else ""
    what += f"; not read: {', '.join(rest)}" if rest else ""
    notes = dict.fromkeys((*(note for _, lines in read.values() for note in lines), what))
    return pl.concat(parts), tuple(notes)


def repeats_by_sheet(sheets: Sequence[str], columns: Iterable[str]) -> list[int]:
    """Give the repeat of each sheet, where its name says so; numbers alone are of any sheet.

    Examples
    --------
    >>> repeats_by_sheet(["Run 2", "Run 1"], ["id"]), repeats_by_sheet(["Sheet1", "Sheet2"], [])
    ([1, 0], [])
    """
    words = [re.sub(r"[\W\d_]+", "", name) for name in sheets]
    is_repeat = all("replication" in roles_of(word) for word in words)
    return repeats_by_name(sheets, columns) if is_repeat else []
