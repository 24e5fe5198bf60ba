"""Costs, tokens and probabilities in a file: numeric columns that only some verbs read and check.

Other verbs leave these columns alone, whatever stands in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.counting.columns import is_no_value
from judgerel_ray.counting.snapshot import Snapshot

TOKENS = ("prompt_tokens", "completion_tokens")
COST = "cost"
SPENT = (*TOKENS, COST)
"""What an answer took."""
CHANCES = ("margin", "probability")
"""Confidences that lie between 0 and 1."""
_SIGNS = "$\u20ac\u00a3\u00a5 "
_WHOLE = 100.0


def with_numbers(judged: Snapshot, names: Sequence[str]) -> Snapshot:
    """The judgments, with these columns of a file as numbers; null where it has no value.

    Examples
    --------
    >>> rows = pl.LazyFrame({"cost": ["0.5", "N/A"]})
    >>> with_numbers(Snapshot(frame=rows), ["cost"]).frame.collect()["cost"].to_list()
    [0.5, None]
    """
    schema = judged.frame.collect_schema()
    there = [name for name in names if name in schema]
    if judged.run is not None or not there:
        return judged
    numbers = {name: _measured_column_as_number(name, schema[name], judged.where) for name in there}
    for name, number in numbers.items():
        _refuse_others(judged, name, number)
    return replace(judged, frame=judged.frame.with_columns(**numbers))


def cost_unit(judgments: pl.LazyFrame) -> tuple[str, pl.Expr]:
    """Tell what costs are counted in, and the cost of a row.

    That is money where every row has a ``cost``, none below 0 and not all 0; else tokens, where
    every row has them; else every row is one request.

    Examples
    --------
    >>> cost_unit(pl.LazyFrame({"cost": [2.0, 0.0]}))[0], cost_unit(pl.LazyFrame({"cost": [0]}))[0]
    ('cost', 'requests')
    """
    there = [name for name in SPENT if name in judgments.collect_schema()]
    cost = pl.col(COST).cast(pl.Float64)
    is_charged = (cost.min() >= 0) & (cost.max() > 0) if COST in there else pl.lit(False)
    found = judgments.select(pl.col(there).null_count(), __charged=is_charged).collect()
    whole = {name for name in there if not found[name].item()}
    if COST in whole and found["__charged"].item():
        return COST, cost
    if set(TOKENS) <= whole:
        return "tokens", pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in TOKENS)
    return "requests", pl.lit(1.0)


def unused_line(judgments: pl.LazyFrame, counted: pl.Expr, unit: str) -> str | None:
    """Say why costs that rows have are not used, and of which row; None where they have none.

    Examples
    --------
    >>> rows = pl.LazyFrame({"cost": [2.0, None]})
    >>> unused_line(rows, pl.lit(True), "requests")
    'column cost is not used, as 1 of 2 rows has none (row 2): answers are counted in requests'
    """
    if COST not in judgments.collect_schema():
        return None
    rows = judgments.select(COST, counted=counted).with_row_index("row").filter("counted")
    costs = rows.select("row", COST).collect(engine="streaming").sort("row")
    known = costs[COST].drop_nulls()
    if known.is_empty():
        return None
    for what, is_so in (("none", pl.col(COST).is_null()), ("one below 0", pl.col(COST) < 0)):
        found = costs.filter(is_so)
        if found.height:
            has = "has" if found.height == 1 else "have"
            first = "row" if found.height == 1 else "the first is row"
            why = f"as {found.height:,} of {costs.height:,} rows {has} {what} "
            why += f"({first} {found['row'][0] + 1})"
            break
    else:
        why = "as all are 0"
    return f"column {COST} is not used, {why}: answers are counted in {unit}"


def _measured_column_as_number(
    name: str, kind: pl.DataType, where: Mapping[str, object]
) -> pl.Expr:
    """A column as numbers, null where a text is none."""
    column = pl.col(name)
    if kind.is_float():
        return column.fill_nan(None)
    if kind.is_numeric() or kind == pl.Null:
        return column
    if not isinstance(kind, pl.String | pl.Categorical | pl.Enum):
        raise SweepError(
            f"{name}: expected a number, got a column of {str(kind).partition('(')[0]}",
            where=where,
            hint=f"rename the column if it is no {name}",
        )
    text = column.cast(pl.String).str.strip_chars()
    known = pl.when(~is_no_value(text)).then(text)
    return known.cast(pl.Float64, strict=False).fill_nan(None)


def _refuse_others(judged: Snapshot, name: str, number: pl.Expr) -> None:
    """Refuse the first value of a column that is no number, or none that can be."""
    text = pl.col(name).cast(pl.String).str.strip_chars()
    empty = is_no_value(text).fill_null(True)
    value = number.cast(pl.Float64)
    bounded = number.is_between(0, 1) if name in CHANCES else value.is_finite()
    if name in TOKENS:
        bounded &= value == value.floor()
    wrong = ~empty & ~bounded.fill_null(False)
    rows = judged.frame if judged.tally is None else judged.tally.rows
    first = (
        rows.select(got=text, wrong=wrong, number=value)
        .with_row_index("row").filter("wrong").head(1).collect(engine="streaming")
    )  # fmt: skip
    if first.is_empty():
        return
    row, got, _, found = first.row(0)
    expected = "a number between 0 and 1" if name in CHANCES else "a number"
    if name in TOKENS:
        expected = "a whole number"
    raise SweepError(
        f"{name}: expected {expected}, got {got!r}",
        where={**judged.where, "row": row + 1},
        hint=_mended_column_number_hint(name, got, found),
    )


def _mended_column_number_hint(name: str, got: str, value: float | None) -> str:
    """How to write it, where that can be told."""
    if name in TOKENS and re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+", got):
        return f"write {got.replace('.', '')}: digits without points"
    if name in TOKENS and value is not None and isfinite(value):
        return "write tokens as they were counted, without a point"
    if value is not None and 1 < value <= _WHOLE:
        return "divide percentages by 100"
    bare = got.strip(_SIGNS).removesuffix("%").strip(_SIGNS)
    digits = bare.replace(",", "")
    if name in CHANCES and got.endswith("%") and _is_column_text_number(bare):
        return f"write {float(bare) / _WHOLE:g}: a share of 1, not a percentage"
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+", bare):
        either = bare.count(",") == 1 and name == COST
        point = f", or {bare.replace(',', '.')} where a point is meant" if either else ""
        return f"write {digits}: digits without commas{point}"
    if bare.count(",") == 1 and digits.strip("+-").isdecimal():
        bare = bare.replace(",", ".")
        if name not in CHANCES or 0 <= float(bare) <= 1:
            return f"write {bare}: a point, no comma"
    if name not in CHANCES and _is_column_text_number(bare) and not got.endswith("%"):
        return f"write {bare}: a number, no sign around it"
    return f"leave it empty where there is no {name}, or rename the column if it is none of ours"


def _is_column_text_number(text: str) -> bool:
    """Whether it is written as a number."""
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text) is not None
