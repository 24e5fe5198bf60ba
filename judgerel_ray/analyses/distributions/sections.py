"""Sections of the page on verdict distributions: limits of coefficients, and their certainty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import polars as pl

from judgerel_ray.blocks.blocks import (
    Axis,
    Block,
    Column,
    Figure,
    Figures,
    Mark,
    Paragraph,
    Section,
    Table,
    counts,
    key_columns,
)
from judgerel_ray.blocks.words import (
    Row,
    cell,
    estimate,
    group_columns,
    group_label,
    interval,
    number,
    reason,
)

_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_ALPHA = "krippendorff_alpha"
_DRAWN = (("percent_agreement", "noise"), (_ALPHA, "point"))
_LEGEND = [
    ("point", "Krippendorff's alpha (in the limit also Fleiss' kappa and ICC(1))"),
    ("noise", "how often two replications agree"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distributed:
    """What the page says of verdict distributions.

    Attributes
    ----------
    limits : pl.DataFrame
        From :func:`judgerel_ray.analyses.distributions.distributions.limit_table`.
    widths : pl.DataFrame
        From :func:`judgerel_ray.analyses.distributions.distributions.width_table`.
    weighted : pl.DataFrame
        From :func:`.weighted_summary`; empty without ratings.
    aligned : pl.DataFrame
        From :func:`.alignment_table`, where no rating was sampled.
    """

    limits: pl.DataFrame
    widths: pl.DataFrame
    weighted: pl.DataFrame = field(default_factory=pl.DataFrame)
    aligned: pl.DataFrame = field(default_factory=pl.DataFrame)


def distribution_sections(found: Distributed) -> list[Block]:
    """Write the sections.

    Examples
    --------
    >>> distribution_sections(Distributed(limits=pl.DataFrame(), widths=pl.DataFrame()))
    []
    """
    if found.limits.is_empty():
        return []
    return [
        Section("Infinitely many replications", _limits(found.limits)),
        Section("How certain the distributions are", _widths(found.widths)),
    ]


def _limits(limits: pl.DataFrame) -> list[Block]:
    """Coefficients against temperature."""
    told = Paragraph(
        "Nothing was sampled here: the probability of every verdict was computed at every "
        "temperature, and these are the coefficients that replications would tend to if they never "
        "ended. Bars are 95 % intervals over questions, the only thing left to chance. Temperature "
        "0 draws nothing, so it has no agreement to measure, and none is shown."
    )
    figures = [
        _figure(part)
        for part in limits.partition_by(
            *(name for name in group_columns(limits) if name != "temperature"), maintain_order=True
        )
        if part["temperature"].n_unique() > 1
    ]
    return [told, Figures(figures, _LEGEND), _limit_table(limits)]


def _limit_table(limits: pl.DataFrame) -> Table:
    """Every coefficient, a row a judge, benchmark, way of rating and temperature."""
    by = group_columns(limits)
    parts = limits.partition_by(by, maintain_order=True)
    found = [{row["coefficient"]: row for row in part.iter_rows(named=True)} for part in parts]
    first = [part.row(0, named=True) for part in parts]

    def column(name: str) -> Column:
        rows = [group_rows[name] for group_rows in found]
        return Column(
            head=reason(name),
            cells=[
                number(row["value"]) if row["undefined"] is None else reason(row["undefined"])
                for row in rows
            ],
            small=[interval(row) for row in rows],
            is_number=True,
        )

    levels = [group_rows[_ALPHA]["measurement"] for group_rows in found]
    columns = [
        *key_columns(first, by),
        counts("questions", [row["n_items"] for row in first]),
        Column(
            head="level of alpha",
            cells=["" if set(levels) == {"nominal"} else str(level) for level in levels],
        ),
        *(column(name) for name in found[0]),
    ]
    caption = (
        "Coefficients in the limit of infinitely many replications, with 95 % intervals over "
        "questions"
    )
    return Table(caption, columns, cards=True)


def _figure(part: pl.DataFrame) -> Figure:
    """Agreement and alpha of one judge on one benchmark."""
    label = group_label(
        part.row(0, named=True), [name for name in group_columns(part) if name != "temperature"]
    )
    drawn = part.sort("temperature").filter(
        pl.col("value").is_not_null(), pl.col("coefficient").is_in([name for name, _ in _DRAWN])
    )
    told = [_said(row) for row in drawn.iter_rows(named=True)]
    drawn = drawn.with_columns(told=pl.Series(told, dtype=pl.String))
    heats = part["temperature"].unique().sort().to_list()
    least = drawn.select(pl.min_horizontal("value", "low").min()).item() or 0.0
    marks = []
    for name, style in _DRAWN:
        mine = drawn.filter(pl.col("coefficient") == name)
        marks += [
            Mark(shape="line", style="join", data=mine, x="temperature", y="value"),
            Mark(shape="rule", style="interval", data=mine, x="temperature", y="low", y2="high"),
            Mark(shape="point", style=style, data=mine, x="temperature", y="value", told="told"),
        ]
    return Figure(
        title=f"Limits of agreement and alpha against temperature, {label}",
        told="; ".join(told),
        caption=label,
        x=Axis(title="temperature", end=max(1.0, *heats), values=heats),
        y=Axis(start=max(-1.0, min(0.0, least)), values=_QUARTERS, grid=True),
        marks=marks,
    )


def _said(row: Row) -> str:
    """One point in words."""
    name = reason(row["coefficient"])
    return f"temperature {cell(row['temperature'])}: {name} {estimate(row)}"


def _widths(widths: pl.DataFrame) -> list[Block]:
    """How wide the certified bounds are."""
    if widths.is_empty():
        return []
    told = Paragraph(
        "Every probability lies between bounds that are certain. The width is how far a verdict's "
        "are apart; open is the probability of replies that were not followed to a verdict."
    )
    rows = widths.to_dicts()

    def small(head: str, name: str) -> Column:
        return Column(
            head=head, cells=[_tiny(cast(float, row[name])) for row in rows], is_number=True
        )

    columns = [
        *key_columns(rows, widths.columns[: widths.columns.index("n_questions")]),
        counts("questions", [row["n_questions"] for row in rows]),
        small("width, mean", "mean_width"),
        small("width, largest", "largest_width"),
        small("open, mean", "mean_open"),
        small("open, largest", "largest_open"),
        counts("questions settled", [row["n_settled"] for row in rows]),
    ]
    caption = (
        "Certain bounds on the probability of verdicts, in probability; settled: whichever way the "
        "rest falls, the most probable verdict stays the same"
    )
    return [told, Table(caption, columns, cards=True)]


def _tiny(value: float) -> str:
    """A probability that is often next to nothing."""
    return "0" if value < 1e-9 else f"{value:.2g}"
