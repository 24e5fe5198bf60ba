"""Sections of the page on ratings: on each scale, across scales, against a reference, ranked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import polars as pl

from judgerel_ray.report.chart import alpha_charts
from judgerel_ray.report.markup import Column, key_columns, paragraph, section, table
from judgerel_ray.report.plot import legend
from judgerel_ray.report.ranks import READ_RANKS, agreement_line, cells_said, rank_cells
from judgerel_ray.report.rating_charts import across_figures, own_figures, rank_figures
from judgerel_ray.report.ratings import (
    ACROSS_HEADS,
    OWN_HEADS,
    READ_ACROSS,
    READ_ALIGNED,
    across_cells,
    aligned_columns,
    mapped,
    own_cells,
)
from judgerel_ray.report.words import Row, cell, estimate

_LEAST = 2  # temperatures to compare
_MOST_CHARTS = 24  # more figures than this are no longer looked at one by one
_OWN_TEXT = (
    "Krippendorff's alpha of the replications of the same prompt, at each scale's own level. "
    "Replies that hold no rating are left out."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """What a page says of ratings; a frame is empty where there is nothing of the kind.

    Attributes
    ----------
    own : pl.DataFrame
        Self-consistency, from :func:`judgerel_ray.reduce.reduce_judgments`.
    across : pl.DataFrame
        From :func:`judgerel_ray.reduce.inter_scale.inter_scale_table`.
    aligned : pl.DataFrame
        From :func:`judgerel_ray.reduce.alignment.alignment_table`.
    ranks, mean_ranks, agreements : pl.DataFrame
        Of :class:`judgerel_ray.reduce.judge_ranks.JudgeRanks`.
    """

    own: pl.DataFrame
    across: pl.DataFrame
    aligned: pl.DataFrame
    ranks: pl.DataFrame
    mean_ranks: pl.DataFrame
    agreements: pl.DataFrame


def rating_sections(found: Rated | None) -> list[str]:
    """Write the sections; none where nothing was rated.

    Examples
    --------
    >>> rating_sections(None)
    []
    """
    if found is None:
        return []
    return [
        section("Consistency on each scale", _own(found.own)),
        section("Consistency across scales", _across(found.across)),
        section("Ratings against temperature", _heats(found)),
        *alignment_section(found.aligned),
        section("Judges ranked", _ranked(found)),
    ]


def _own(own: pl.DataFrame) -> str:
    """Self-consistency by judge, criterion, definition and scale."""
    if own.is_empty():
        return ""
    marks = [("point", "alpha"), ("noise", "alpha, not distinguishable from noise")]
    told = paragraph(f"{_OWN_TEXT} Bars are 95 % intervals, the band is where 95 % of noise falls.")
    drawn = legend(marks) + _charts(own_figures(own))
    rows = _table("Self-consistency", own, "coefficient", (), OWN_HEADS, own_cells)
    return told + drawn + rows


def _across(across: pl.DataFrame) -> str:
    """Inter-scale consistency by pair of scales."""
    if across.is_empty():
        return ""
    told = paragraph(f"{mapped(across).capitalize()}. {READ_ACROSS}")
    marks = [
        ("point", "alpha across scales"),
        ("noise", "the same, not distinguishable from noise"),
        ("stated", "ceiling of a judge without noise"),
    ]
    drawn = legend(marks) + _charts(across_figures(across))
    extra = ("scales", "mapping", "level")
    return (
        told
        + drawn
        + _table("Inter-scale consistency", across, "scales", extra, ACROSS_HEADS, across_cells)
    )


def _heats(found: Rated) -> str:
    """Both against temperature, a column each, where several were asked."""
    if "temperature" not in found.own.columns or found.own["temperature"].n_unique() < 2:
        return ""
    tables = _by_heat("Self-consistency by temperature", found.own, "coefficient")
    if not found.across.is_empty():
        tables += _by_heat(
            "Inter-scale consistency by temperature", found.across, "scales", ("scales", "mapping")
        )
        figures = alpha_charts(_as_coefficients(found.across))
        tables += _charts(list(figures)) if len(figures) <= _MOST_CHARTS else ""
    return tables


def _as_coefficients(across: pl.DataFrame) -> pl.DataFrame:
    """Inter-scale rows of pairs as coefficients, for the chart of alpha against temperature."""
    groups = across.columns[: across.columns.index("scales")]
    kept = ("value", "low", "high", "noise_floor", "noise_floor_sd", "noise", "n_replications",
            "undefined")  # fmt: skip
    pairs = across.filter(pl.col("n_scales") == 2)
    named = pl.lit("krippendorff_alpha").alias("coefficient")
    return pairs.select(*groups, "scales", "mapping", named, *kept)


def _by_heat(caption: str, frame: pl.DataFrame, until: str, extra: Sequence[str] = ()) -> str:
    """A table with a column for each temperature."""
    groups = [
        name
        for name in (*frame.columns[: frame.columns.index(until)], *extra)
        if name != "temperature"
    ]
    heats = frame["temperature"].unique().sort().to_list()
    parts = [
        {row["temperature"]: row for row in part.to_dicts()}
        for part in frame.partition_by(groups, maintain_order=True)
    ]
    firsts: list[Row] = [next(iter(part.values())) for part in parts]
    columns = [
        Column(
            head=f"temperature {cell(heat)}",
            cells=[estimate(part[heat]) if heat in part else "-" for part in parts],
            is_number=True,
        )
        for heat in heats
    ]
    course = Column(
        head="as temperature rises", cells=[heat_course(list(part.values())) for part in parts]
    )
    return table(caption, [*key_columns(firsts, groups), *columns, course])


def heat_course(rows: Sequence[Row]) -> str:
    """Say whether a number falls as the temperature rises, and if not, where it does not.

    Examples
    --------
    >>> rows = [{"temperature": heat, "value": value, "low": value - 0.1, "high": value + 0.1}
    ...         for heat, value in ((0.1, 0.9), (0.4, 0.5), (1.0, 0.6))]
    >>> heat_course(rows[:2]), heat_course(rows)
    ('falls', 'does not fall from 0.4 to 1 (intervals overlap)')
    """
    told = sorted(
        (row for row in rows if row["value"] is not None and row["temperature"] is not None),
        key=lambda row: cast(float, row["temperature"]),
    )
    if len(told) < _LEAST:
        return "-"
    found = []
    for one, other in pairwise(told):
        if cast(float, other["value"]) > cast(float, one["value"]):
            low, high = other["low"], one["high"]
            near = low is None or high is None or cast(float, low) <= cast(float, high)
            said = f"from {cell(one['temperature'])} to {cell(other['temperature'])}"
            found.append(f"{said} ({'intervals overlap' if near else 'intervals apart'})")
    if found:
        return f"does not fall {', '.join(found)}"
    return "stays" if told[0]["value"] == told[-1]["value"] else "falls"


def alignment_section(aligned: pl.DataFrame) -> list[str]:
    """Write agreement with a reference: single, averaged, weighted; nothing where there is none.

    Parameters
    ----------
    aligned : pl.DataFrame
        From :func:`judgerel_ray.reduce.alignment.alignment_table`.

    Examples
    --------
    >>> alignment_section(pl.DataFrame())
    []
    """
    if aligned.is_empty():
        return []
    heads, cells = aligned_columns(aligned)
    caption = "Agreement with the reference"
    body = paragraph(READ_ALIGNED) + _table(caption, aligned, "coefficient", (), heads, cells)
    return [section(f"Alignment with {aligned['reference'][0]}", body)]


def _ranked(found: Rated) -> str:
    """Judges by every measure."""
    if found.ranks.is_empty():
        return ""
    body = paragraph(READ_RANKS) + _charts(rank_figures(found.ranks))
    for part in found.ranks.partition_by("temperature", maintain_order=True):
        heads, lines = rank_cells(part, found.mean_ranks)
        columns = [
            Column(head=head, cells=[line[place] for line in lines])
            for place, head in enumerate(heads)
        ]
        heat = part["temperature"][0]
        at = "" if heat is None else f", temperature {cell(heat)}"
        body += table(f"Ranks{at}: {'; '.join(cells_said(part))}", columns)
    said = [agreement_line(row) for row in found.agreements.iter_rows(named=True)]
    return body + "".join(paragraph(line, "soft") for line in said if line)


def _table(
    caption: str,
    frame: pl.DataFrame,
    until: str,
    extra: Sequence[str],
    heads: Sequence[str],
    cells: Callable[[Row], list[str]],
) -> str:
    """The rows of a frame, as the terminal shows them."""
    rows = frame.to_dicts()
    lines = [cells(row) for row in rows]
    names = [*frame.columns[: frame.columns.index(until)], *extra]
    columns = [
        Column(head=head, cells=[line[place] for line in lines], is_number="[95 %]" in head,
               kind="remark" if head == "remark" else "")
        for place, head in enumerate(heads)
    ]  # fmt: skip
    return table(caption, [*key_columns(rows, names), *columns])


def _charts(figures: Sequence[str]) -> str:
    """Figures side by side."""
    return f'<div class="charts">{"".join(figures)}</div>' if figures else ""
