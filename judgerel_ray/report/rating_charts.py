"""Figures of ratings: consistency by scale and by pair of scales, and judges ranked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import polars as pl

from judgerel_ray.report.plot import Plane, axes, curve, dot, figure, segment, text
from judgerel_ray.report.ranks import MEASURES, rank_cell
from judgerel_ray.report.ratings import told_groups
from judgerel_ray.report.words import Row, cell, estimate, group_label, number

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
        From :func:`judgerel_ray.reduce.inter_scale.inter_scale_table`.

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
        Of :class:`judgerel_ray.reduce.judge_ranks.JudgeRanks`.

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
