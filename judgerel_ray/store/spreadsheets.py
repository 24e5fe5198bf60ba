"""Tables as CSV that a spreadsheet may open: lists as JSON text, and no text that it would run."""

from __future__ import annotations

import json
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# What a spreadsheet runs: a text that begins so, blanks and quotes before it passed over.
_FORMULA = r"""^[\s'"]*[=+\-@\t\r＝＋－＠]|^[\t\r\n]"""


def csv_of(frame: pl.DataFrame, *, raw_cells: bool = False) -> bytes:
    """A table as CSV; an apostrophe stands before each text that a spreadsheet would run."""
    flat, data = _flat(frame), BytesIO()
    (flat if raw_cells else _without_formulas(flat)).write_csv(data)
    return data.getvalue()


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """A table with lists and objects as JSON text, which a cell of CSV can hold."""
    import polars as pl

    def texts(name: str) -> list[str | None]:
        return [
            None if one is None else json.dumps(one, default=str) for one in frame[name].to_list()
        ]

    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    return frame.with_columns(pl.Series(name, texts(name), pl.String) for name in nested)


def _without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """A table whose texts no spreadsheet runs: an apostrophe stands before those that it would."""
    import polars as pl

    text = pl.col(pl.String)
    runs = text.str.contains(_FORMULA) & text.cast(pl.Float64, strict=False).is_null()
    guarded = frame.with_columns(pl.when(runs).then(pl.lit("'") + text).otherwise(text).name.keep())
    heads = pl.Series(frame.columns, dtype=pl.String)
    begins = heads.str.contains(_FORMULA).to_list()
    return guarded.rename(
        {name: f"'{name}" for name, runs_too in zip(heads, begins, strict=True) if runs_too}
    )
