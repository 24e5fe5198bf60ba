"""A sheet of a workbook as the text that a CSV of it holds."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping
from shlex import quote

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.core.text import install_hint

WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
_SHEET = re.compile(r"(?i)^(.+?\.(?:xlsx|xlsm|xls|ods)(?:\.(?:gz|bz2|xz|zst))?)#(.+)$")
_AS_CSV = "save the sheet as CSV"


def book_of(path: str) -> tuple[str, str]:
    """The workbook of a path, and what stands behind it: ``book.xlsx#Sheet2``.

    Examples
    --------
    >>> book_of("logs/book.xlsx#Sheet2"), book_of("a#b.csv")
    (('logs/book.xlsx', 'Sheet2'), ('a#b.csv', ''))
    """
    found = None if "://" in path or os.path.exists(path) else _SHEET.match(path)
    return (found[1], found[2]) if found else (path, "")


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
    names = [asked] if asked in sheets else asked.split(",")
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
