"""Figures of ratings: consistency by scale and by pair of scales, and judges ranked."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.analyses.ratings.cells import MEASURES, rank_cell
from judgerel_ray.analyses.reliability.figures import row_figure
from judgerel_ray.blocks.blocks import Axis, Figure, Mark
from judgerel_ray.blocks.columns import varying_groups
from judgerel_ray.blocks.words import Row, cell, group_label

_WITHIN = ("definition",)


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
            found.append(row_figure(lines, title=title, label=label or "all ratings"))
    return found


def _line(row: Row, of: str, varying: Sequence[str], *, ways: bool) -> str:
    """What a line is called."""
    within = [cell(row[name]) for name in _WITHIN if name in varying and row[name] is not None]
    how = [str(row["mapping"])] if ways and row["mapping"] != "minmax" else []
    return ", ".join([str(row[of]), *how, *within])


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
