"""Figures of panels by their size, and of cascades by their cost."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import cast

import polars as pl

from judgerel_ray.analyses.panels.cells import share
from judgerel_ray.blocks.blocks import Axis, Figure, Mark
from judgerel_ray.blocks.words import Row, costing, unit_words
from judgerel_ray.core import count_of

SIZE_LEGEND = (
    ("line", "panels drawn at random from the members, with its 95 % interval"),
    ("point", "the best panel of the size, on questions it was not chosen by"),
    ("other", "the best member alone"),
)
COST_LEGEND = (
    ("line", "the cascade, with its 95 % interval"),
    ("other", "as many passed on at random"),
    ("share", "the best member alone for the money"),
    ("noise", "each member alone"),
)
_STEPS = 4


def size_figure(steps: Sequence[Row], best: Sequence[Row], *, label: str) -> Figure:
    """Draw accuracy against the size of a panel.

    Parameters
    ----------
    steps, best : sequence of mapping
        Rows of one group of the tables ``next`` and ``best`` of
        :class:`judgerel_ray.analyses.panels.tables.PanelTables`.
    label : str
        The group.

    Examples
    --------
    >>> step = {"n_members": 1, "accuracy": 0.5, "low": 0.4, "high": 0.6}
    >>> figure = size_figure([step, {**step, "n_members": 2}], [], label="b")
    >>> "1 member: 0.500" in figure.description
    True
    """
    sized = [row for row in best if row["chosen_by"] == "size"]
    lowest = min(_value(row, "low") for row in (*steps, *sized))
    n = len(steps)
    texts = [f"{count_of(cast(int, row['n_members']), 'member')}: {share(row)}" for row in steps]
    texts += [f"best of size {row['limit']:.0f} ({row['members']}): {share(row)}" for row in sized]
    drawn = _frame(steps, "n_members", "accuracy", "low", "high")
    chosen = _frame(sized, "limit", "accuracy", "low", "high").with_columns(
        label=pl.Series([f"{row['members']}: {share(row)}" for row in sized], dtype=pl.String)
    )
    start = _floor(lowest)
    return Figure(
        title=f"Accuracy against size of panel{label}",
        description="; ".join(texts),
        caption=label.strip(" ()") or "all members",
        x=Axis(title="members", start=0.5, end=n + 0.5,
               values=range(1, n + 1, max(1, ceil(n / 7)))),
        y=Axis(title="accuracy", start=start, values=_ys(start), grid=True),
        marks=[
            Mark(shape="area", style="area", data=drawn, x="n_members", y="low", y2="high"),
            Mark(shape="line", style="line", data=drawn, x="n_members", y="accuracy"),
            Mark(shape="rule", style="interval", data=chosen, x="limit", y="low", y2="high"),
            Mark(shape="point", style="point", data=chosen, x="limit", y="accuracy", label="label"),
            Mark(shape="rule", style="other", data=chosen.filter(pl.col("limit") == 1),
                 y="accuracy"),
        ],
    )  # fmt: skip


def cost_figure(curve_rows: Sequence[Row], stages: Sequence[Row], *, label: str) -> Figure:
    """Draw accuracy against cost.

    Parameters
    ----------
    curve_rows, stages : sequence of mapping
        Rows of one group of the tables of :class:`.CascadeTables`.
    label : str
        The group.

    Examples
    --------
    See ``tests/analyses/panels/test_sections.py``.
    """
    rows = sorted(curve_rows, key=lambda row: _value(row, "cost"))
    most = max(_value(row, "cost") for row in (*rows, *stages))
    lowest = min(
        *(_value(row, "low") for row in rows), *(_value(row, "accuracy") for row in stages)
    )
    description = "; ".join(
        f"{costing(row['cost'])}: {share(row)}, over random {share(row, 'over_random')}"
        for row in rows
    )
    drawn = _frame(rows, "cost", "accuracy", "low", "high", "random")
    alone = {row["alone_cost"]: row["alone_accuracy"] for row in rows if row["alone"] is not None}
    members = _frame(stages, "cost", "accuracy").with_columns(
        label=pl.Series(
            [f"{row['member']} alone: {share(row)} for {costing(row['cost'])}" for row in stages],
            dtype=pl.String,
        )
    )
    start = _floor(lowest)
    return Figure(
        title=f"Accuracy against cost{label}",
        description=description,
        caption=label.strip(" ()") or "all questions",
        x=Axis(
            title=f"cost, {unit_words(rows[0])}",
            end=1.05 * most or 1.0,
            values=[float(f"{most * part / _STEPS:.2g}") for part in range(_STEPS + 1)],
        ),
        y=Axis(title="accuracy", start=start, values=_ys(start), grid=True),
        marks=[
            Mark(shape="area", style="area", data=drawn, x="cost", y="low", y2="high"),
            Mark(shape="line", style="share", x="cost", y="accuracy",
                 data=pl.DataFrame(sorted(alone.items()), orient="row",
                                   schema={"cost": pl.Float64, "accuracy": pl.Float64})),
            Mark(shape="line", style="other", data=drawn, x="cost", y="random"),
            Mark(shape="line", style="line", data=drawn, x="cost", y="accuracy"),
            Mark(shape="point", style="noise", data=members, x="cost", y="accuracy", label="label"),
        ],
    )  # fmt: skip


def _frame(rows: Sequence[Row], *names: str) -> pl.DataFrame:
    """Numbers of rows as a frame."""
    kinds = dict.fromkeys(names, pl.Float64())
    return pl.DataFrame([{name: row[name] for name in names} for row in rows], schema=kinds)


def _value(row: Row, name: str) -> float:
    """A number of a row; its accuracy where an end is not there."""
    value = row[name]
    return cast(float, row["accuracy"] if value is None else value)


def _floor(lowest: float) -> float:
    """Where the vertical axis starts: a tenth."""
    return max(0.0, floor(lowest * 10) / 10)


def _ys(start: float) -> list[float]:
    """Grid lines of shares."""
    step = 0.1 if start >= 0.5 else 0.2
    n = round((1.0 - start) / step)
    return sorted(round(1.0 - step * place, 1) for place in range(n + 1))
