"""Sections of the page on ratings: on each scale, across scales, against a reference, ranked.

Figures of ratings: consistency by scale and by pair of scales, and judges ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    key_columns,
)
from judgerel_ray.blocks.columns import told_groups
from judgerel_ray.blocks.words import Row, cell, estimate, group_label, number

_ROW = 20.0  # height of a line in a figure
_BAND = 1.96  # standard deviations on either side: where 95 % of noise falls
_WITHIN = ("definition",)
_QUARTERS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)


def own_figures(own: pl.DataFrame) -> list[Figure]:
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


def across_figures(across: pl.DataFrame) -> list[Figure]:
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
) -> list[Figure]:
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


def _row_figure(lines: Sequence[tuple[str, Row]], *, title: str, label: str) -> Figure:
    """One figure: alpha with its interval, the band of noise, and the ceiling where there is."""
    start = max(-1.0, min(0.0, *(_least(row) for _, row in lines)))
    drawn = _row_frame(lines)
    floors = drawn.drop_nulls("noise_low")
    return Figure(
        title=f"{title}, {label}",
        told="; ".join(f"{name}: {_said(row)}" for name, row in lines),
        caption=label,
        x=Axis(title="alpha", start=start, values=[q for q in _QUARTERS if q >= start], grid=True),
        y=Axis(start=len(lines), end=0, shown=False),
        width=206,
        height=_ROW * len(lines),
        marks=[
            Mark(shape="text", style="name_before", data=drawn, y="row", told="name"),
            *(
                Mark(shape="bar", style="band", data=floors, x="noise_low", x2="noise_high",
                     y="row")
                for _ in floors.head(1).rows()
            ),
            Mark(shape="rule", style="stated", data=drawn, x="ceiling", y="above", y2="below"),
            Mark(shape="rule", style="interval", data=drawn, x="low", x2="high", y="row"),
            Mark(shape="point", style="point", data=drawn, x="alpha", y="row", told="told",
                 hollow="noise"),
        ],
    )  # fmt: skip


def _row_frame(lines: Sequence[tuple[str, Row]]) -> pl.DataFrame:
    """What stands on each line."""
    numbers = ("row", "above", "below", "alpha", "low", "high", "ceiling", "noise_low",
               "noise_high")  # fmt: skip
    kinds = dict.fromkeys(numbers, pl.Float64())
    words = {"name": pl.String(), "told": pl.String(), "noise": pl.Boolean()}
    rows = []
    for place, (name, row) in enumerate(lines):
        floor, half = _number(row, "noise_floor", 0.0), _BAND * _number(row, "noise_floor_sd", 0.0)
        ends = [None, None] if row["noise_floor"] is None else [floor - half, floor + half]
        rows.append(
            {
                "row": place + 0.5, "above": place + 0.1, "below": place + 0.9,
                "alpha": row["value"], "low": row["low"], "high": row["high"],
                "ceiling": row.get("ceiling"), "noise_low": ends[0], "noise_high": ends[1],
                "name": name, "told": f"{name}: {_said(row)}", "noise": bool(row["noise"]),
            }
        )  # fmt: skip
    return pl.DataFrame(rows, schema={**kinds, **words})


def _least(row: Row) -> float:
    """The lowest number drawn on a line."""
    floor = _number(row, "noise_floor", 0.0) - _BAND * _number(row, "noise_floor_sd", 0.0)
    return min(_number(row, "low", 0.0), _number(row, "value", 0.0), floor)


def _said(row: Row) -> str:
    """A value with its interval, and its ceiling where there is one."""
    ceiling = row.get("ceiling")
    return estimate(row) + ("" if ceiling is None else f", ceiling {number(ceiling)}")


def _number(row: Row, name: str, otherwise: float) -> float:
    """A number of a row, or another where there is none."""
    value = row[name]
    return otherwise if value is None else cast(float, value)


def rank_figures(ranks: pl.DataFrame) -> list[Figure]:
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


def _rank_figure(part: pl.DataFrame, label: str) -> Figure:
    """Judges at one temperature; rank 1 stands on top."""
    measures = part["measure"].unique(maintain_order=True).to_list()
    judges = part["judge"].unique(maintain_order=True).to_list()
    ranked = part.filter(pl.col("rank").is_not_null())
    told = [
        f"{row['judge']}, {MEASURES.get(row['measure'], row['measure'])}: {rank_cell(row)}"
        for row in ranked.iter_rows(named=True)
    ]
    place = pl.col("measure").replace_strict(
        measures, range(len(measures)), return_dtype=pl.Float64
    )
    drawn = ranked.select("judge", "rank", place=place, told=pl.Series(told, dtype=pl.String))
    heads = pl.DataFrame(
        [{"place": float(n), "name": MEASURES.get(name, name)} for n, name in enumerate(measures)]
    ).with_columns(rank=pl.lit(len(judges) + 0.9))
    last = drawn.group_by("judge", maintain_order=True).agg(pl.col("place", "rank").last())
    return Figure(
        title=f"Ranks of judges, {label}",
        told="; ".join(told),
        caption=label,
        x=Axis(end=max(1.0, len(measures) - 1.0), shown=False),
        y=Axis(title="rank", start=len(judges) + 0.5, end=0.5,
               values=range(1, len(judges) + 1)),
        width=90.0 * max(1, len(measures) - 1),
        height=26.0 * len(judges),
        marks=[
            *(
                Mark(shape="line", style="join", data=mine, x="place", y="rank")
                for mine in drawn.partition_by("judge", maintain_order=True)
            ),
            Mark(shape="point", style="point", data=drawn, x="place", y="rank", told="told"),
            Mark(shape="text", style="name_behind", data=last, x="place", y="rank", told="judge"),
            Mark(shape="text", style="name_at", data=heads, x="place", told="name"),
        ],
    )  # fmt: skip


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


def rating_sections(found: Rated | None) -> list[Block]:
    """Write the sections; none where nothing was rated.

    Examples
    --------
    >>> rating_sections(None)
    []
    """
    if found is None:
        return []
    return [
        Section("Consistency on each scale", _own(found.own)),
        Section("Consistency across scales", _across(found.across)),
        Section("Ratings against temperature", _heats(found)),
        *alignment_section(found.aligned),
        Section("Judges ranked", _ranked(found)),
    ]


def _own(own: pl.DataFrame) -> list[Block]:
    """Self-consistency by judge, criterion, definition and scale."""
    if own.is_empty():
        return []
    marks = [("point", "alpha"), ("noise", "alpha, not distinguishable from noise")]
    told = Paragraph(f"{_OWN_TEXT} Bars are 95 % intervals, the band is where 95 % of noise falls.")
    rows = _table("Self-consistency", own, "coefficient", (), OWN_HEADS, own_cells)
    return [told, Figures(own_figures(own), marks), rows]


def _across(across: pl.DataFrame) -> list[Block]:
    """Inter-scale consistency by pair of scales."""
    if across.is_empty():
        return []
    told = Paragraph(f"{mapped(across).capitalize()}. {READ_ACROSS}")
    marks = [
        ("point", "alpha across scales"),
        ("noise", "the same, not distinguishable from noise"),
        ("stated", "ceiling of a judge without noise"),
    ]
    extra = ("scales", "mapping", "level")
    rows = _table("Inter-scale consistency", across, "scales", extra, ACROSS_HEADS, across_cells)
    return [told, Figures(across_figures(across), marks), rows]


def _heats(found: Rated) -> list[Block]:
    """Both against temperature, a column each, where several were asked."""
    if "temperature" not in found.own.columns or found.own["temperature"].n_unique() < 2:
        return []
    tables: list[Block] = [_by_heat("Self-consistency by temperature", found.own, "coefficient")]
    if not found.across.is_empty():
        caption = "Inter-scale consistency by temperature"
        tables.append(_by_heat(caption, found.across, "scales", ("scales", "mapping")))
        figures = alpha_charts(_as_coefficients(found.across))
        tables += [Figures(figures)] if len(figures) <= _MOST_CHARTS else []
    return tables


def _as_coefficients(across: pl.DataFrame) -> pl.DataFrame:
    """Inter-scale rows of pairs as coefficients, for the chart of alpha against temperature."""
    groups = across.columns[: across.columns.index("scales")]
    kept = ("value", "low", "high", "noise_floor", "noise_floor_sd", "noise", "n_replications",
            "undefined")  # fmt: skip
    pairs = across.filter(pl.col("n_scales") == 2)
    named = pl.lit("krippendorff_alpha").alias("coefficient")
    return pairs.select(*groups, "scales", "mapping", named, *kept)


def _by_heat(caption: str, frame: pl.DataFrame, until: str, extra: Sequence[str] = ()) -> Table:
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
    return Table(caption, [*key_columns(firsts, groups), *columns, course])


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


def alignment_section(aligned: pl.DataFrame) -> list[Block]:
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
    rows = _table(caption, aligned, "coefficient", (), heads, cells)
    title = f"Alignment with {aligned['reference'][0]}"
    return [Section(title, [Paragraph(READ_ALIGNED), rows])]


def _ranked(found: Rated) -> list[Block]:
    """Judges by every measure."""
    if found.ranks.is_empty():
        return []
    body: list[Block] = [Paragraph(READ_RANKS), Figures(rank_figures(found.ranks))]
    for part in found.ranks.partition_by("temperature", maintain_order=True):
        heads, lines = rank_cells(part, found.mean_ranks)
        columns = [
            Column(head=head, cells=[line[place] for line in lines])
            for place, head in enumerate(heads)
        ]
        heat = part["temperature"][0]
        at = "" if heat is None else f", temperature {cell(heat)}"
        body.append(Table(f"Ranks{at}: {'; '.join(cells_said(part))}", columns))
    said = [agreement_line(row) for row in found.agreements.iter_rows(named=True)]
    return [*body, *(Paragraph(line, "soft") for line in said if line)]


def _table(
    caption: str,
    frame: pl.DataFrame,
    until: str,
    extra: Sequence[str],
    heads: Sequence[str],
    cells: Callable[[Row], list[str]],
) -> Table:
    """The rows of a frame, as the terminal shows them."""
    rows = frame.to_dicts()
    lines = [cells(row) for row in rows]
    names = [*frame.columns[: frame.columns.index(until)], *extra]
    columns = [
        Column(head=head, cells=[line[place] for line in lines], is_number="[95 %]" in head,
               kind="remark" if head == "remark" else "")
        for place, head in enumerate(heads)
    ]  # fmt: skip
    return Table(caption, [*key_columns(rows, names), *columns])
