"""What panels and cascades are worth, and what a cascade did, for terminal and page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from judgerel_ray.analyses.panels.cells import (
    BEST_HEADS,
    CASCADED_HEADS,
    CURVE_HEADS,
    MEMBER_HEADS,
    NEXT_HEADS,
    RULE_HEADS,
    STAGE_HEADS,
    best_cells,
    cascaded_cells,
    curve_cells,
    member_cells,
    next_cells,
    rule_cells,
    stage_cells,
    worth_line,
)
from judgerel_ray.analyses.panels.figures import (
    COST_LEGEND,
    SIZE_LEGEND,
    cost_figure,
    size_figure,
)
from judgerel_ray.blocks.blocks import Block, Figures, Paragraph, Section, Table, row_columns
from judgerel_ray.blocks.words import Row, cell, group_label, number, unit_words
from judgerel_ray.core import count_of

FIRST: Mapping[str, Mapping[str, str]] = {
    "panels": {"members": "member", "panels": "rule", "best": "chosen_by", "next": "n_members",
               "worth": "n_members"},
    "cascade": {"stages": "stage", "curve": "budget"},
}  # fmt: skip
"""The first column of each table behind those of its groups."""


def by_group(
    tables: Mapping[str, pl.DataFrame], first: Mapping[str, str]
) -> list[tuple[str, dict[str, list[Row]]]]:
    """Take tables apart by group, with what the group is in words.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        All start with the columns of the groups.
    first : mapping of str to str
        Of each table, the first column behind those.

    Returns
    -------
    list of (str, dict)
        What tells the group, and its rows by table.

    Examples
    --------
    >>> one = pl.DataFrame({"benchmark": ["b", "b"], "stage": [1, 2]})
    >>> [(label, len(parts["stages"])) for label, parts in by_group({"stages": one},
    ...                                                            {"stages": "stage"})]
    [(' (b)', 2)]
    """
    name, column = next(iter(first.items()))
    columns = tables[name].columns
    keys = columns[: columns.index(column)]
    found: dict[tuple[object, ...], dict[str, list[Row]]] = {}
    for kind in first:
        for row in tables[kind].iter_rows(named=True):
            key = tuple(row[one] for one in keys)
            found.setdefault(key, {each: [] for each in first})[kind].append(row)
    labels = [group_label(parts[name][0], keys) for parts in found.values()]
    return [
        (f" ({label})" if label else "", parts)
        for label, parts in zip(labels, found.values(), strict=True)
    ]


READ_PANELS = (
    "The n-th replies of all members to a question make a panel; replies that not all have are "
    "left out. No verdict counts as wrong; verdicts that tie are drawn by lot (tied), where nobody "
    "votes there is none (silent). Gain: over the best single member, which the other folds chose. "
    "By chance: the panel's verdicts permuted over the questions."
)
READ_BEST = (
    "Chosen on: accuracy on the questions the panel was chosen by, which flatters it; held out: on "
    "questions it was not chosen by (5 folds). Same: folds that chose the same panel."
)
READ_NEXT = (
    "Of all panels of so many of these members, votes counted alike: gain of one more. A second "
    "member can only break the silence of the first."
)
READ_CASCADE = (
    "Thresholds are chosen on other questions than they are tried on (5 folds); the thresholds "
    "shown (any: the member asked there always answers; none: nobody is sure enough) are those of "
    "all questions, and in sample is what they give there, which flatters them. "
    "Answered: share of questions that each stage answers. Random: as many passed on at each "
    "stage, however sure they are. Alone: the best member for that money, x 3 being its majority "
    "of three replies, chosen on other questions, too."
)
READ_CASCADED = (
    "Answered: from the threshold on, an answer counts and nobody else is asked. Accuracy is of "
    "the answers that counted; by chance: the same answers shuffled across questions. Spent: both "
    "steps, of a mean question put to the cascade."
)
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


def panel_sections(found: Together | None, cascaded: pl.DataFrame | None = None) -> list[Block]:
    """Make the sections of a page; none where judges are not held together.

    Examples
    --------
    >>> panel_sections(None)
    []
    """
    sections = []
    if found is not None:
        doubt = [] if not found.cascade else cascade_blocks(found.cascade)
        sections = [
            Section("Judges as a panel", panel_blocks(found.panels)),
            Section("Asking the next one only when in doubt", doubt),
        ]
    if cascaded is not None and not cascaded.is_empty():
        sections.append(Section("What the cascade did", cascaded_blocks(cascaded)))
    return [*sections]


def panel_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say what panels are worth: by their size, then group by group.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of :class:`judgerel_ray.analyses.panels.tables.PanelTables`.

    Examples
    --------
    >>> from judgerel_ray.analyses.panels.tables import panel_tables
    >>> panel_blocks(panel_tables([]).tables())[0].text
    'no two systems answered the same questions'
    """
    if tables["members"].is_empty():
        return [Paragraph("no two systems answered the same questions")]
    groups = by_group(tables, FIRST["panels"])
    figures = [
        size_figure(parts["next"], parts["best"], label=label)
        for label, parts in groups
        if len(parts["next"]) >= _LEAST and parts["best"]
    ]
    steps = [
        table
        for label, parts in groups
        for table in _table(f"Panels by size{label}", NEXT_HEADS, next_cells, parts["next"])
    ]
    found: list[Block] = [
        Paragraph(f"{READ_PANELS} {READ_BEST} {READ_NEXT}"),
        Figures(figures, SIZE_LEGEND, numbers=steps),
    ]
    for label, parts in groups:
        cost = unit_words(parts["members"][0])
        of = f"Members alone{label}; cost in {cost}"
        found += [
            Paragraph(f"Panel{label}: {worth_line(parts['worth'][0])}."),
            *_table(of, MEMBER_HEADS, member_cells, parts["members"]),
            *_table(f"All members together{label}", RULE_HEADS, rule_cells, parts["panels"]),
            *_table(f"Best panels{label}", BEST_HEADS, best_cells, parts["best"]),
        ]
    return found


def cascade_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say what cascades buy: by their cost, then group by group.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of :class:`judgerel_ray.analyses.panels.cascades.CascadeTables`.

    Examples
    --------
    >>> cascade_blocks({"stages": pl.DataFrame(), "curve": pl.DataFrame()})[0].text
    'nothing to pass on'
    """
    if tables["stages"].is_empty():
        return [Paragraph("nothing to pass on")]
    groups = by_group(tables, FIRST["cascade"])
    figures = [
        cost_figure(parts["curve"], parts["stages"], label=label)
        for label, parts in groups
        if parts["curve"]
    ]
    found: list[Block] = [Paragraph(READ_CASCADE), Figures(figures, COST_LEGEND)]
    for label, parts in groups:
        first = parts["stages"][0]
        cost = f"{label}; cost in {unit_words(first)}"
        order = f"Who is asked, in order{cost}, {count_of(cast(int, first['n_items']), 'question')}"
        found += [
            *_table(order, STAGE_HEADS, stage_cells, parts["stages"]),
            *_table(f"Cascades by budget{cost}", CURVE_HEADS, curve_cells, parts["curve"]),
        ]
    return found


def cascaded_blocks(rows: pl.DataFrame) -> list[Block]:
    """Say what cascades did, a table a group.

    Examples
    --------
    >>> from judgerel_ray.analyses.panels.cascades import SCHEMA
    >>> cascaded_blocks(pl.DataFrame(schema=SCHEMA))[0].text
    'no cascade was asked'
    """
    if rows.is_empty():
        return [Paragraph("no cascade was asked")]
    tables = [
        table
        for name, lines in _groups(rows)
        for table in _table(name, CASCADED_HEADS, cascaded_cells, lines)
    ]
    return [Paragraph(READ_CASCADED), *tables]


def _table(
    caption: str, heads: Sequence[str], write: Callable[[Row], list[str]], rows: Sequence[Row]
) -> list[Table]:
    """A table of rows, where there are any."""
    if not rows:
        return []
    columns = row_columns(heads, [write(row) for row in rows], words=_WORDS)
    return [Table(caption, columns, cards=True)]


def _groups(rows: pl.DataFrame) -> list[tuple[str, Sequence[Mapping[str, object]]]]:
    """The rows of every cascade, with its name."""
    keys = ("benchmark", "template", "temperature")
    return [
        (
            f"Cascade ({cell(key[0])}, {cell(key[1])}, temperature {cell(key[2])}, from confidence "
            f"{number(part['threshold'][0])} on)",
            part.to_dicts(),
        )
        for key, part in rows.group_by(keys, maintain_order=True)
    ]
