"""A sheet of a workbook as the text that a CSV of it holds."""

from __future__ import annotations

import io
from collections.abc import Mapping

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.core.text import install_hint

WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
_AS_CSV = "save the sheet as CSV"


def sheet_as_csv(content: bytes, where: Mapping[str, object]) -> tuple[bytes, str]:
    """The one sheet that has rows, as CSV, and its name; SweepError where several have rows."""
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
    filled = {name: sheet for name, sheet in sheets.items() if not sheet.is_empty()}
    if len(filled) != 1:
        names = ", ".join(filled) or "none"
        raise SweepError(
            f"expected a workbook of which one sheet has rows, got {names}",
            where=where, hint=_AS_CSV.replace("the sheet", "the one with the judgments"),
        )  # fmt: skip
    [(name, sheet)] = filled.items()
    return sheet.write_csv(include_header=False).encode(), name
