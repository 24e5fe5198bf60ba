"""Where verdicts fall among the places that options were shown in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import polars as pl

from judgerel_ray.report.markup import Column, key_columns, paragraph, table
from judgerel_ray.report.ordering import natural
from judgerel_ray.report.words import (
    Row,
    percent,
    percent_interval,
)

_MOST_LABELS = 12


def place_section(positions: pl.DataFrame | None) -> str:
    """Tabulate how often verdicts name each place, or each answer where places are not known.

    Parameters
    ----------
    positions : pl.DataFrame, optional
        From :func:`judgerel_ray.report.positions.verdict_positions`.

    Examples
    --------
    >>> place_section(None)
    ''
    """
    if positions is None or positions.is_empty():
        return ""
    # What one scale calls 5 is another thing on the next: each has a table of its own.
    parts = [positions]
    if "scale" in positions.columns:
        parts = positions.partition_by("scale", maintain_order=True)
    tables = [(part, shown) for part in parts if (shown := _place_table(part))]
    places = [part for part, _ in tables if part["is_place"].any()]
    told = dict.fromkeys(_orders_told(part.to_dicts()) for part in places)
    return "".join([*map(paragraph, told), *(shown for _, shown in tables)])


def _place_table(positions: pl.DataFrame) -> str:
    """Tabulate the shares of one scale; nothing where it has more values than a table shows."""
    rows = positions.to_dicts()
    shares = [_by_label(row) for row in rows]
    labels = sorted({label for mine in shares for label in mine}, key=natural)
    if len(labels) > _MOST_LABELS:
        return ""
    names = positions.columns[: positions.columns.index("n_verdicts")]
    columns = [
        *key_columns(rows, names),
        Column(head="verdicts", cells=[f"{row['n_verdicts']:,}" for row in rows], is_number=True),
        *(
            Column(
                head=label,
                cells=[percent(mine[label][0]) if label in mine else "0 %" for mine in shares],
                small=[_around(*mine[label]) if label in mine else "" for mine in shares],
                is_number=True,
            )
            for label in labels
        ),
        Column(
            head="even",
            cells=[percent(1 / n) if (n := row["n_options"]) else "-" for row in rows],
            is_number=True,
        ),
    ]
    if not any(row["is_place"] for row in rows):
        return table("Share of verdicts that give each answer, with 95 % intervals", columns)
    return table("Share of verdicts that name each place, with 95 % intervals", columns)


def _by_label(row: Row) -> dict[str, tuple[object, object]]:
    """Share and half its interval, by label."""
    shares = cast("list[dict[str, object]]", row["shares"])
    return {str(one["label"]): (one["share"], one["half"]) for one in shares}


def _orders_told(rows: Sequence[Row]) -> str:
    """What the orders asked can show."""
    if any(cast(int, row["n_orders"]) > 1 for row in rows):
        return (
            "Questions were asked with their options in several orders, drawn at random. A judge "
            "that goes by the options names the same option in another order, and every place "
            "about as often; one that goes by the place names the same place."
        )
    return (
        "Every question was asked with its options in one order, the same in all replications; "
        "orders differ between questions, drawn at random. A judge that goes by the options names "
        "every place about as often. What it would say in another order was not asked: "
        "option_orders = 2 or more asks it."
    )


def _around(share: object, half: object) -> str:
    """The interval of a share from half its width."""
    if half is None:
        return ""
    middle, width = cast(float, share), cast(float, half)
    return percent_interval(max(0.0, middle - width), min(1.0, middle + width))
