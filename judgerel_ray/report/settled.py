"""Stable verdicts of adaptive runs: as lines, and as a section of the report."""

from __future__ import annotations

import polars as pl

from judgerel_ray.report.markup import Column, key_columns, paragraph, table
from judgerel_ray.report.terminal import plain_table
from judgerel_ray.report.words import Row, cell, percent

_READ = (
    "Every question was asked on until its most frequent verdict was settled, or the most allowed "
    "was reached: then it has no stable verdict. Shares are of the questions asked to the end. A "
    "settled verdict is wrong about the judge's most frequent one with at most the chance stated, "
    "however often it was looked at. Coefficients rest on the first replications alone, which "
    "every question has: later ones were asked where the first disagreed."
)


def settled_text(summary: pl.DataFrame) -> str:
    """How many questions have a stable verdict, and what that took.

    Parameters
    ----------
    summary : DataFrame
        As :func:`judgerel_ray.reduce.settled.settled_summary`.

    Examples
    --------
    >>> settled_text(pl.DataFrame())
    'nothing was asked adaptively'
    """
    if summary.is_empty():
        return "nothing was asked adaptively"
    groups = summary.columns[: summary.columns.index("conditions")]
    rows = summary.to_dicts()
    heads = [*groups, *_HEADS]
    lines = [[*(cell(row[name]) for name in groups), *_cells(row)] for row in rows]
    return f"{plain_table(heads, lines)}\n\n{_READ}"


def settled_section(summary: pl.DataFrame) -> str:
    """The same as a table of the page; nothing where nothing was asked adaptively.

    Examples
    --------
    >>> settled_section(pl.DataFrame())
    ''
    """
    if summary.is_empty():
        return ""
    rows = summary.to_dicts()
    groups = summary.columns[: summary.columns.index("conditions")]
    cells = [_cells(row) for row in rows]
    columns = [
        *key_columns(rows, groups),
        *(
            Column(head=head, cells=[one[i] for one in cells], is_number=True)
            for i, head in enumerate(_HEADS)
        ),
    ]
    return f"{table('Questions with a stable verdict', columns)}{paragraph(_READ, 'soft')}"


_HEADS = (
    "asked",
    "stable verdict",
    "share [95 %]",
    "stably none",
    "no stable verdict",
    "failed",
    "still open",
    "replications",
    "of the most",
)


def _cells(row: Row) -> list[str]:
    """A group's numbers in words."""
    share = "-" if row["settled_share"] is None else percent(row["settled_share"])
    if row["low"] is not None:
        share += f" [{percent(row['low'])}, {percent(row['high'])}]"
    return [
        f"{row['conditions']:,}",
        f"{row['settled']:,}",
        share,
        f"{row['no_verdict']:,}",
        f"{row['unstable']:,}",
        f"{row['failed']:,}",
        f"{row['open']:,}",
        f"{row['replications']:,}",
        "-" if row["used"] is None else percent(row["used"]),
    ]
