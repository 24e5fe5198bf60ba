"""Sections of the page on ratings: on each scale, across scales, against a reference, ranked.

Figures of ratings: consistency by scale and by pair of scales, and judges ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import polars as pl

from judgerel_ray.analyses.ratings.show import (
    ACROSS_HEADS,
    MEASURES,
    OWN_HEADS,
    READ_ACROSS,
    READ_ALIGNED,
    READ_RANKS,
    across_cells,
    agreement_line,
    aligned_columns,
    cells_said,
    mapped,
    own_cells,
    rank_cell,
    rank_cells,
)
from judgerel_ray.analyses.reliability.page import alpha_charts
from judgerel_ray.blocks.columns import told_groups
from judgerel_ray.blocks.markup import Column, key_columns, paragraph, section, table
from judgerel_ray.blocks.plot import Plane, axes, curve, dot, figure, legend, segment, text
from judgerel_ray.blocks.words import Row, cell, estimate, group_label, number

_ROW = 20.0  # height of a line in a figure
_BAND = 1.96  # standard deviations on either side: where 95 % of noise falls
_WITHIN = ("definition",)
_QUARTERS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)


def own_figures(own: pl.DataFrame) -> list[str]:
    """Draw self-consistency: a figure a judge and criterion, a line a scale and definition.

    Parameters
    ----------
    own : pl.DataFrame
        Self-consistency, with a column ``scale``.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    groups = [*own.columns[: own.columns.index("coefficient")]]
    names = [name for name in groups if name not in ("scale", *_WITHIN)]
    return _figures(own, names, told_groups(own, "coefficient"), of="scale", title="Alpha by scale")


def across_figures(across: pl.DataFrame) -> list[str]:
    """Draw inter-scale consistency: a figure a judge and criterion, a line a pair and definition.

    Parameters
    ----------
    across : pl.DataFrame
        From :func:`judgerel_ray.analyses.ratings.inter_scale.inter_scale_table`.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    groups = [*across.columns[: across.columns.index("scales")]]
    names = [name for name in groups if name not in _WITHIN]
    told = told_groups(across, "scales")
    return _figures(across, names, told, of="scales", title="Alpha across scales")


def _figures(
    frame: pl.DataFrame, names: Sequence[str], told: Sequence[str], *, of: str, title: str
) -> list[str]:
    """A figure for each group of rows that has any value."""
    found = []
    parts = frame.partition_by(names, maintain_order=True) if names else [frame]
    ways = "mapping" in frame.columns and frame["mapping"].n_unique() > 1
    for part in parts:
        rows = part.filter(pl.col("value").is_not_null()).to_dicts()
        if rows:
            label = group_label(rows[0], [n for n in names if n == "judge" or n in told])
            lines = [(_line(row, of, told, ways=ways), row) for row in rows]
            found.append(_row_figure(lines, title=title, label=label or "all ratings"))
    return found


def _line(row: Row, of: str, told: Sequence[str], *, ways: bool) -> str:
    """What a line is called."""
    within = [cell(row[name]) for name in _WITHIN if name in told and row[name] is not None]
    how = [str(row["mapping"])] if ways and row["mapping"] != "minmax" else []
    return ", ".join([str(row[of]), *how, *within])


def _row_figure(lines: Sequence[tuple[str, Row]], *, title: str, label: str) -> str:
    """One figure: alpha with its interval, the band of noise, and the ceiling where there is."""
    start = max(-1.0, min(0.0, *(_least(row) for _, row in lines)))
    longest = max(len(name) for name, _ in lines)
    plane = Plane(
        width=230.0 + 5.6 * longest,
        height=52.0 + _ROW * len(lines),
        left=12.0 + 5.6 * longest,
        x_from=start,
    )
    shapes = list(axes(plane, across="alpha", xs=[q for q in _QUARTERS if q >= start]))
    for place, (name, row) in enumerate(lines):
        y = plane.top + _ROW * (place + 0.5)
        shapes.append(text(plane.left - 8, y + 4, name, "end"))
        shapes.extend(_marks(plane, y, name, row))
    told = "; ".join(f"{name}: {_said(row)}" for name, row in lines)
    return figure(plane, shapes, label=f"{title}, {label}", told=told, caption=label)


def _least(row: Row) -> float:
    """The lowest number drawn on a line."""
    floor = _number(row, "noise_floor", 0.0) - _BAND * _number(row, "noise_floor_sd", 0.0)
    return min(_number(row, "low", 0.0), _number(row, "value", 0.0), floor)


def _marks(plane: Plane, y: float, name: str, row: Row) -> Iterator[str]:
    """What stands on one line."""
    if row["noise_floor"] is not None:
        middle, half = _number(row, "noise_floor", 0.0), _BAND * _number(row, "noise_floor_sd", 0.0)
        left, right = plane.x(middle - half), plane.x(middle + half)
        ends = f"{left:.1f},{y - 6:.1f} {right:.1f},{y - 6:.1f} {right:.1f},{y + 6:.1f}"
        yield f'<polygon class="band" points="{ends} {left:.1f},{y + 6:.1f}"/>'
    if row.get("ceiling") is not None:
        x = plane.x(_number(row, "ceiling", 1.0))
        yield segment("stated", x, y - 8, x, y + 8)
    if row["low"] is not None:
        low, high = plane.x(_number(row, "low", 0.0)), plane.x(_number(row, "high", 0.0))
        yield segment("interval", low, y, high, y)
    kind = "noise" if row["noise"] else "point"
    yield dot(kind, plane.x(_number(row, "value", 0.0)), y, f"{name}: {_said(row)}")


def _said(row: Row) -> str:
    """A value with its interval, and its ceiling where there is one."""
    ceiling = row.get("ceiling")
    return estimate(row) + ("" if ceiling is None else f", ceiling {number(ceiling)}")


def _number(row: Row, name: str, otherwise: float) -> float:
    """A number of a row, or another where there is none."""
    value = row[name]
    return otherwise if value is None else cast(float, value)


def rank_figures(ranks: pl.DataFrame) -> list[str]:
    """Draw judges ranked: a figure a temperature, a line a judge, a column a measure.

    Parameters
    ----------
    ranks : pl.DataFrame
        Of :class:`judgerel_ray.analyses.ratings.judge_ranks.JudgeRanks`.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    found = []
    for part in ranks.partition_by("temperature", maintain_order=True):
        heat = part["temperature"][0]
        label = "all ratings" if heat is None else f"temperature {cell(heat)}"
        found.append(_rank_figure(part, label))
    return found


def _rank_figure(part: pl.DataFrame, label: str) -> str:
    """Judges at one temperature."""
    measures = part["measure"].unique(maintain_order=True).to_list()
    judges = part["judge"].unique(maintain_order=True).to_list()
    longest = max(map(len, judges))
    plane = Plane(
        width=72.0 + 90.0 * len(measures) + 6.0 * longest,
        height=60.0 + 26.0 * len(judges),
        left=56.0,
        right=50.0 + 6.0 * longest,
        x_to=max(1.0, len(measures) - 1.0),
        y_from=-len(judges) - 0.5,
        y_to=-0.5,
    )
    shapes = [
        text(plane.left - 12, plane.y(-place) + 4, str(place), "end")
        for place in range(1, len(judges) + 1)
    ]
    shapes += [
        text(plane.x(place), plane.height - 14, MEASURES.get(name, name))
        for place, name in enumerate(measures)
    ]
    told = []
    for judge in judges:
        mine = {row["measure"]: row for row in part.filter(pl.col("judge") == judge).to_dicts()}
        # Rank 1 stands on top.
        points = [
            (float(place), None if mine[name]["rank"] is None else -mine[name]["rank"])
            for place, name in enumerate(measures)
        ]
        shapes.append(curve(plane, "join", points))
        for (x, rank), name in zip(points, measures, strict=True):
            if rank is not None:
                said = f"{judge}, {MEASURES.get(name, name)}: {rank_cell(mine[name])}"
                shapes.append(dot("point", plane.x(x), plane.y(rank), said))
                told.append(said)
        ranked = [(x, rank) for x, rank in points if rank is not None]
        if ranked:
            x, rank = ranked[-1]
            shapes.append(text(plane.x(x) + 10, plane.y(rank) + 4, judge, "start"))
    return figure(
        plane, shapes, label=f"Ranks of judges, {label}", told="; ".join(told), caption=label
    )


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
        Self-consistency, from :func:`.reduce_judgments`.
    across : pl.DataFrame
        From :func:`judgerel_ray.analyses.ratings.inter_scale.inter_scale_table`.
    aligned : pl.DataFrame
        From :func:`judgerel_ray.analyses.ratings.alignment.alignment_table`.
    ranks, mean_ranks, agreements : pl.DataFrame
        Of :class:`judgerel_ray.analyses.ratings.judge_ranks.JudgeRanks`.
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
        From :func:`judgerel_ray.analyses.ratings.alignment.alignment_table`.

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
