"""Sections of the page on judges together: panels, and cascades."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from judgerel_ray.report.markup import Column, paragraph, section, table
from judgerel_ray.report.panel_charts import COST_LEGEND, SIZE_LEGEND, cost_figure, size_figure
from judgerel_ray.report.panel_groups import FIRST, by_group
from judgerel_ray.report.panel_text import (
    BEST_HEADS,
    CURVE_HEADS,
    MEMBER_HEADS,
    READ_BEST,
    READ_CASCADE,
    READ_PANELS,
    RULE_HEADS,
    STAGE_HEADS,
    best_cells,
    curve_cells,
    member_cells,
    rule_cells,
    stage_cells,
    unit_words,
    worth_line,
)
from judgerel_ray.report.plot import legend
from judgerel_ray.report.words import Row

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
        Tables of :class:`judgerel_ray.reduce.panel_tables.PanelTables`.
    cascade : mapping of str to DataFrame
        Tables of :class:`judgerel_ray.reduce.cascades.CascadeTables`; empty where nothing says
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
