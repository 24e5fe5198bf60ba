"""Sections of the page on judges together: panels, and cascades.

Figures of panels by their size, and of cascades by their cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import cast

import polars as pl

from judgerel_ray.analyses.panels.show import (
    BEST_HEADS,
    CURVE_HEADS,
    FIRST,
    MEMBER_HEADS,
    READ_BEST,
    READ_CASCADE,
    READ_PANELS,
    RULE_HEADS,
    STAGE_HEADS,
    best_cells,
    by_group,
    curve_cells,
    member_cells,
    rule_cells,
    share,
    stage_cells,
    worth_line,
)
from judgerel_ray.blocks.markup import Column, paragraph, section, table
from judgerel_ray.blocks.plot import Plane, area, axes, curve, dot, figure, legend, segment
from judgerel_ray.blocks.words import Row, costing, unit_words

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


def size_figure(steps: Sequence[Row], best: Sequence[Row], *, label: str) -> str:
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
    >>> "1 members: 0.500" in size_figure([step, {**step, "n_members": 2}], [], label="b")
    True
    """
    sized = [row for row in best if row["chosen_by"] == "size"]
    lowest = min(_value(row, "low") for row in (*steps, *sized))
    n = len(steps)
    plane = Plane(x_from=0.5, x_to=n + 0.5, y_from=_floor(lowest), y_to=1.0)
    every = max(1, ceil(n / 7))
    shapes = [*axes(plane, across="members", xs=range(1, n + 1, every), ys=_ys(plane))]
    points = [(_value(row, "n_members"), row) for row in steps]
    shapes.append(area(plane, [(x, _end(row, "low"), _end(row, "high")) for x, row in points]))
    shapes.append(curve(plane, "line", [(x, _value(row, "accuracy")) for x, row in points]))
    for row in sized:
        x, said = plane.x(_value(row, "limit")), f"{row['members']}: {share(row)}"
        if row["low"] is not None:
            low, high = plane.y(_value(row, "low")), plane.y(_value(row, "high"))
            shapes.append(segment("interval", x, low, x, high))
        shapes.append(dot("point", x, plane.y(_value(row, "accuracy")), said))
        if row["limit"] == 1:
            y = plane.y(_value(row, "accuracy"))
            shapes.append(segment("other", plane.left, y, plane.width - plane.right, y))
    told = [f"{row['n_members']} members: {share(row)}" for row in steps]
    told += [f"best of size {row['limit']:.0f} ({row['members']}): {share(row)}" for row in sized]
    return figure(
        plane, shapes, label=f"Accuracy against size of panel{label}", told="; ".join(told),
        caption=label.strip(" ()") or "all members",
    )  # fmt: skip


def cost_figure(curve_rows: Sequence[Row], stages: Sequence[Row], *, label: str) -> str:
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
    plane = Plane(x_from=0.0, x_to=1.05 * most or 1.0, y_from=_floor(lowest), y_to=1.0)
    xs = [float(f"{most * part / _STEPS:.2g}") for part in range(_STEPS + 1)]
    across = f"cost, {unit_words(rows[0])}"
    shapes = [*axes(plane, across=across, xs=xs, ys=_ys(plane))]
    costs = [_value(row, "cost") for row in rows]
    ends = [(_end(row, "low"), _end(row, "high")) for row in rows]
    shapes.append(area(plane, [(x, *one) for x, one in zip(costs, ends, strict=True)]))
    alone = {row["alone_cost"]: row["alone_accuracy"] for row in rows if row["alone"] is not None}
    shapes.append(curve(plane, "share", sorted(cast("dict[float, float]", alone).items())))
    for kind, name in (("other", "random"), ("line", "accuracy")):
        shapes.append(
            curve(plane, kind, [(x, _end(row, name)) for x, row in zip(costs, rows, strict=True)])
        )
    for row in stages:
        x, y = plane.x(_value(row, "cost")), plane.y(_value(row, "accuracy"))
        said = f"{row['member']} alone: {share(row)} for {costing(row['cost'])}"
        shapes.append(dot("noise", x, y, said))
    told = "; ".join(
        f"{costing(row['cost'])}: {share(row)}, over random {share(row, 'over_random')}"
        for row in rows
    )
    return figure(
        plane, shapes, label=f"Accuracy against cost{label}", told=told,
        caption=label.strip(" ()") or "all questions",
    )  # fmt: skip


def _value(row: Row, name: str) -> float:
    """A number of a row; its accuracy where an end is not there."""
    value = row[name]
    return cast(float, row["accuracy"] if value is None else value)


def _end(row: Row, name: str) -> float | None:
    """A number of a row, where there is one."""
    return cast("float | None", row[name])


def _floor(lowest: float) -> float:
    """Where the vertical axis starts: a tenth."""
    return max(0.0, floor(lowest * 10) / 10)


def _ys(plane: Plane) -> list[float]:
    """Grid lines of shares."""
    step = 0.1 if plane.y_from >= 0.5 else 0.2
    n = round((1.0 - plane.y_from) / step)
    return sorted(round(1.0 - step * place, 1) for place in range(n + 1))


_LEAST = 2  # sizes of which a figure tells anything
_WORDS = (
    "member", "votes count", "within", "panel", "stage", "asked", "answered", "thresholds",
    "alone",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Together:
    """What a page says of judges together.

    Attributes
    ----------
    panels : mapping of str to DataFrame
        Tables of :class:`judgerel_ray.analyses.panels.tables.PanelTables`.
    cascade : mapping of str to DataFrame
        Tables of :class:`.CascadeTables`; empty where nothing says
        who is asked first, or when to pass on.
    """

    panels: Mapping[str, pl.DataFrame]
    cascade: Mapping[str, pl.DataFrame]


def panel_sections(found: Together | None) -> list[str]:
    """Write the sections; none where judges are not held together.

    Examples
    --------
    >>> panel_sections(None)
    []
    """
    if found is None:
        return []
    return [
        section("Judges as a panel", _panels(found.panels)),
        section("Asking the next one only when in doubt", _cascades(found.cascade)),
    ]


def _panels(tables: Mapping[str, pl.DataFrame]) -> str:
    """Panels: figures by size, then tables a group."""
    groups = by_group(tables, FIRST["panels"])
    figures = [
        size_figure(parts["next"], parts["best"], label=label)
        for label, parts in groups
        if len(parts["next"]) >= _LEAST and parts["best"]
    ]
    drawn = f'{legend(SIZE_LEGEND)}<div class="charts">{"".join(figures)}</div>' if figures else ""
    pieces = [paragraph(f"{READ_PANELS} {READ_BEST}"), drawn]
    for label, parts in groups:
        cost = unit_words(parts["members"][0])
        pieces += [
            paragraph(f"Panel{label}: {worth_line(parts['worth'][0])}."),
            _table(
                f"Members alone{label}; cost in {cost}",
                MEMBER_HEADS,
                member_cells,
                parts["members"],
            ),
            _table(f"All members together{label}", RULE_HEADS, rule_cells, parts["panels"]),
            _table(f"Best panels{label}", BEST_HEADS, best_cells, parts["best"]),
        ]
    return "".join(pieces)


def _cascades(tables: Mapping[str, pl.DataFrame]) -> str:
    """Cascades: a figure and two tables a group."""
    if not tables:
        return ""
    groups = [
        (label, parts) for label, parts in by_group(tables, FIRST["cascade"]) if parts["curve"]
    ]
    if not groups:
        return ""
    figures = [cost_figure(parts["curve"], parts["stages"], label=one) for one, parts in groups]
    pieces = [
        paragraph(READ_CASCADE),
        f'{legend(COST_LEGEND)}<div class="charts">{"".join(figures)}</div>',
    ]
    for label, parts in groups:
        told = f"{label}; cost in {unit_words(parts['stages'][0])}"
        pieces += [
            _table(f"Who is asked, in order{told}", STAGE_HEADS, stage_cells, parts["stages"]),
            _table(f"Cascades by budget{told}", CURVE_HEADS, curve_cells, parts["curve"]),
        ]
    return "".join(pieces)


def _table(
    caption: str, heads: Sequence[str], write: Callable[[Row], list[str]], rows: Sequence[Row]
) -> str:
    """A table of cells as they are printed."""
    if not rows:
        return ""
    cells = [write(row) for row in rows]
    columns = [
        Column(head=head, cells=[line[place] for line in cells], is_number=head not in _WORDS)
        for place, head in enumerate(heads)
    ]
    return table(caption, columns, cards=True)
