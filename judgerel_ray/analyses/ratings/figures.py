"""Figures of ratings: consistency by scale and by pair of scales, and judges ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import polars as pl

from judgerel_ray.analyses.ratings.cells import MEASURES, rank_cell
from judgerel_ray.blocks.blocks import Axis, Figure, Mark
from judgerel_ray.blocks.columns import varying_groups
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
    return _figures(
        own, names, varying_groups(own, "coefficient"), of="scale", title="Alpha by scale"
    )


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
    varying = varying_groups(across, "scales")
    return _figures(across, names, varying, of="scales", title="Alpha across scales")


def _figures(
    frame: pl.DataFrame, names: Sequence[str], varying: Sequence[str], *, of: str, title: str
) -> list[Figure]:
    """A figure for each group of rows that has any value."""
    found = []
    parts = frame.partition_by(names, maintain_order=True) if names else [frame]
    ways = "mapping" in frame.columns and frame["mapping"].n_unique() > 1
    for part in parts:
        rows = part.filter(pl.col("value").is_not_null()).to_dicts()
        if rows:
            label = group_label(rows[0], [n for n in names if n == "judge" or n in varying])
            lines = [(_line(row, of, varying, ways=ways), row) for row in rows]
            found.append(_row_figure(lines, title=title, label=label or "all ratings"))
    return found


def _line(row: Row, of: str, varying: Sequence[str], *, ways: bool) -> str:
    """What a line is called."""
    within = [cell(row[name]) for name in _WITHIN if name in varying and row[name] is not None]
    how = [str(row["mapping"])] if ways and row["mapping"] != "minmax" else []
    return ", ".join([str(row[of]), *how, *within])


def _row_figure(lines: Sequence[tuple[str, Row]], *, title: str, label: str) -> Figure:
    """One figure: alpha with its interval, the band of noise, and the ceiling where there is."""
    start = max(-1.0, min(0.0, *(_least(row) for _, row in lines)))
    drawn = _row_frame(lines)
    floors = drawn.drop_nulls("noise_low")
    return Figure(
        title=f"{title}, {label}",
        description="; ".join(f"{name}: {_value_text(row)}" for name, row in lines),
        caption=label,
        x=Axis(title="alpha", start=start, values=[q for q in _QUARTERS if q >= start], grid=True),
        y=Axis(start=len(lines), end=0, shown=False),
        width=206,
        height=_ROW * len(lines),
        marks=[
            Mark(shape="text", style="name_before", data=drawn, y="row", label="name"),
            *(
                Mark(shape="bar", style="band", data=floors, x="noise_low", x2="noise_high",
                     y="row")
                for _ in floors.head(1).rows()
            ),
            Mark(shape="rule", style="stated", data=drawn, x="ceiling", y="above", y2="below"),
            Mark(shape="rule", style="interval", data=drawn, x="low", x2="high", y="row"),
            Mark(shape="point", style="point", data=drawn, x="alpha", y="row", label="label",
                 hollow="noise"),
        ],
    )  # fmt: skip


def _row_frame(lines: Sequence[tuple[str, Row]]) -> pl.DataFrame:
    """What stands on each line."""
    numbers = ("row", "above", "below", "alpha", "low", "high", "ceiling", "noise_low",
               "noise_high")  # fmt: skip
    kinds = dict.fromkeys(numbers, pl.Float64())
    words = {"name": pl.String(), "label": pl.String(), "noise": pl.Boolean()}
    rows = []
    for place, (name, row) in enumerate(lines):
        floor, half = _number(row, "noise_floor", 0.0), _BAND * _number(row, "noise_floor_sd", 0.0)
        ends = [None, None] if row["noise_floor"] is None else [floor - half, floor + half]
        rows.append(
            {
                "row": place + 0.5, "above": place + 0.1, "below": place + 0.9,
                "alpha": row["value"], "low": row["low"], "high": row["high"],
                "ceiling": row.get("ceiling"), "noise_low": ends[0], "noise_high": ends[1],
                "name": name, "label": f"{name}: {_value_text(row)}", "noise": bool(row["noise"]),
            }
        )  # fmt: skip
    return pl.DataFrame(rows, schema={**kinds, **words})


def _least(row: Row) -> float:
    """The lowest number drawn on a line."""
    floor = _number(row, "noise_floor", 0.0) - _BAND * _number(row, "noise_floor_sd", 0.0)
    return min(_number(row, "low", 0.0), _number(row, "value", 0.0), floor)


def _value_text(row: Row) -> str:
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
    texts = [
        f"{row['judge']}, {MEASURES.get(row['measure'], row['measure'])}: {rank_cell(row)}"
        for row in ranked.iter_rows(named=True)
    ]
    place = pl.col("measure").replace_strict(
        measures, range(len(measures)), return_dtype=pl.Float64
    )
    drawn = ranked.select("judge", "rank", place=place, label=pl.Series(texts, dtype=pl.String))
    heads = pl.DataFrame(
        [{"place": float(n), "name": MEASURES.get(name, name)} for n, name in enumerate(measures)]
    ).with_columns(rank=pl.lit(len(judges) + 0.9))
    last = drawn.group_by("judge", maintain_order=True).agg(pl.col("place", "rank").last())
    return Figure(
        title=f"Ranks of judges, {label}",
        description="; ".join(texts),
        caption=label,
        x=Axis(end=max(1.0, len(measures) - 1.0), shown=False),
        y=Axis(title="rank", start=len(judges) + 0.5, end=0.5,
               values=range(1, len(judges) + 1)),
        width=90.0 * max(1, len(measures) - 1),
        height=26.0 * len(judges),
        marks=[
            *(
                Mark(shape="line", style="join", data=of_judge, x="place", y="rank")
                for of_judge in drawn.partition_by("judge", maintain_order=True)
            ),
            Mark(shape="point", style="point", data=drawn, x="place", y="rank", label="label"),
            Mark(shape="text", style="name_behind", data=last, x="place", y="rank", label="judge"),
            Mark(shape="text", style="name_at", data=heads, x="place", label="name"),
        ],
    )  # fmt: skip
