"""Probability-weighted scores, in lines and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import polars as pl

from judgerel_ray.report.markup import Column, counts, key_columns, paragraph, table
from judgerel_ray.report.ratings import WIDTH, shared, told_groups
from judgerel_ray.report.terminal import plain_table
from judgerel_ray.report.words import Row, cell, number, percent

HEADS = (
    "mean score", "least", "greatest", "replies with a score", "certain width, mean", "largest",
    "responses", "items",
)  # fmt: skip
_READ = (
    "The score of a response is the mean of the scale's values, each weighted by its probability: "
    "what the mean of replications would tend to if they never ended, replies without a score left "
    "out. Words count from 0. Certain width: how far the score could still move, whichever way the "
    "probability falls that was not followed to a rating."
)


def weighted_text(summary: pl.DataFrame) -> str:
    """Write a summary of probability-weighted scores.

    Parameters
    ----------
    summary : DataFrame
        As :func:`judgerel_ray.reduce.weighted.weighted_summary`.

    Examples
    --------
    >>> weighted_text(pl.DataFrame())
    'no rating has been explored'
    """
    if summary.is_empty():
        return "no rating has been explored"
    names = told_groups(summary, "n_items", always=("scale",))
    lines = [
        [*(cell(row[name]) for name in names), *_cells(row)]
        for row in summary.iter_rows(named=True)
    ]
    rows = plain_table([*names, *HEADS], lines)
    return (
        f"probability-weighted scores\n{shared(summary, 'n_items')}{rows}\n\n{fill(_READ, WIDTH)}"
    )


def weighted_body(summary: pl.DataFrame) -> str:
    """Write the page's section on probability-weighted scores; empty where there are none.

    Parameters
    ----------
    summary : DataFrame
        As :func:`judgerel_ray.reduce.weighted.weighted_summary`.

    Examples
    --------
    >>> weighted_body(pl.DataFrame())
    ''
    """
    if summary.is_empty():
        return ""
    rows = summary.to_dicts()
    lines = [_cells(row) for row in rows]
    columns = [
        *key_columns(rows, summary.columns[: summary.columns.index("n_items")]),
        *(_column(head, [line[place] for line in lines]) for place, head in enumerate(HEADS[:-2])),
        counts("responses", [row["n_responses"] for row in rows]),
        counts("items", [row["n_items"] for row in rows]),
    ]
    return paragraph(_READ) + table("Probability-weighted scores of responses", columns, cards=True)


def _column(head: str, cells: Sequence[str]) -> Column:
    """A column of numbers."""
    return Column(head=head, cells=list(cells), is_number=True)


def _cells(row: Row) -> list[str]:
    """One group."""
    return [
        *(number(row[name]) for name in ("mean", "least", "greatest")),
        percent(row["mass"]),
        *(_tiny(row[name]) for name in ("width", "largest_width")),
        f"{row['n_responses']:,}",
        f"{row['n_items']:,}",
    ]


def _tiny(value: object) -> str:
    """A width that is often next to nothing."""
    if not isinstance(value, int | float):
        return "-"
    return "0" if value < 1e-9 else f"{value:.2g}"
