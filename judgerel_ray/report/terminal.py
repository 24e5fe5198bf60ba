"""Coefficients on a terminal, as plain text, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from judgerel_ray.report.words import (
    cell,
    coefficient_name,
    estimate,
    group_columns,
    missing_policy,
    number,
    remark,
)

_HEADS = ("coefficient", "no verdict", "value [95 %]", "noise floor", "items x reps", "remark")


def print_coefficients(coefficients: pl.DataFrame, *, console: Console | None = None) -> None:
    """Print coefficients: a table on a terminal, aligned plain text anywhere else.

    What is the same in every row (the judge, the unit) is said once, above.

    Parameters
    ----------
    coefficients : pl.DataFrame
        From :func:`judgerel_ray.reduce.reduce_judgments`.
    console : rich.console.Console, optional
        Where to print; standard output by default.

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.reduce import reduce_judgments
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", None]}
    >>> found = reduce_judgments(pl.LazyFrame(rows), coefficients=["valid_rate"])
    >>> print_coefficients(found)  # doctest: +ELLIPSIS
    unit: item_id
    <BLANKLINE>
    coefficient     no verdict  value [95 %]          noise floor  items x reps  remark
    valid verdicts  -           0.750 [0.000, 1.000]  -            2 x 2         few ...
    """
    console = console or Console()
    shared, heads, lines = _layout(coefficients)
    for name, value in shared:
        console.print(f"{name}: {value}", markup=False, highlight=False, soft_wrap=True)
    if console.is_terminal:
        table = Table(*heads, header_style="bold", show_edge=False)
        for line in lines:
            # Item and judge names may hold what Rich reads as markup.
            table.add_row(*(escape(text) for text in line))
        console.print(table)
    else:
        text = f"\n{plain_table(heads, lines)}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def plain_table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Align columns with spaces.

    Examples
    --------
    >>> print(plain_table(["a", "value"], [["long", "1"]]))
    a     value
    long  1
    """
    columns = zip(heads, *lines, strict=True)
    widths = [max(len(text) for text in column) for column in columns]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in (heads, *lines)
    )


def coefficients_json(coefficients: pl.DataFrame) -> str:
    """Write coefficients as a JSON list, one object a row; null where there is no number.

    Raises
    ------
    ValueError
        If a number is NaN or infinite: reducers give null.

    Examples
    --------
    >>> print(coefficients_json(pl.DataFrame({"value": [None], "undefined": ["no_variance"]})))
    [
     {"value": null, "undefined": "no_variance"}
    ]
    """
    rows = [json.dumps(row, allow_nan=False, default=str) for row in coefficients.to_dicts()]
    return "[\n" + ",\n".join(f" {row}" for row in rows) + "\n]" if rows else "[]"


def _layout(
    coefficients: pl.DataFrame,
) -> tuple[list[tuple[str, str]], list[str], list[list[str]]]:
    """What is said once, the heads, and the cells of every row."""
    labels = [*group_columns(coefficients), "unit"]
    told = [name for name in labels if coefficients[name].n_unique() > 1]
    shared = [
        (name.replace("_", " "), cell(coefficients[name][0]))
        for name in labels
        if name not in told and coefficients.height
    ]
    lines = [
        [
            *(cell(row[name]) for name in told),
            coefficient_name(row),
            missing_policy(row),
            estimate(row),
            number(row["noise_floor"]),
            f"{row['n_items']} x {row['n_replications']}",
            remark(row),
        ]
        for row in coefficients.iter_rows(named=True)
    ]
    return shared, [*told, *_HEADS], lines
