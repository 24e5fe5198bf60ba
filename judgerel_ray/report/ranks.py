"""Ranks of judges in lines."""

from __future__ import annotations

from textwrap import fill

import polars as pl

from judgerel_ray.report.terminal import plain_table
from judgerel_ray.report.words import Row, cell, number, reason

WIDTH = 100
MEASURES = {
    "self_consistency": "self-consistency",
    "inter_scale": "inter-scale",
    "alignment": "alignment",
    "outside": "outside score",
}
READ_RANKS = (
    "Rank 1 is best. The ranks in brackets hold at 95 %: 1 and one more for every judge that is "
    "surely better, down to those surely worse. Few to decide: fewer than ten questions tell it "
    "from some other judge. A measure is the mean over the cells (benchmark, "
    "criterion, definition, scale or pair) where all judges have a value that have any; alignment "
    "is Pearson's r of the mean scores of each response with the reference."
)


def ranking_text(ranks: pl.DataFrame, mean_ranks: pl.DataFrame, agreements: pl.DataFrame) -> str:
    """Write the ranks of judges.

    Parameters
    ----------
    ranks, mean_ranks, agreements : DataFrame
        Of :class:`judgerel_ray.reduce.judge_ranks.JudgeRanks`.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    blocks = []
    for part in ranks.partition_by("temperature", maintain_order=True):
        heat = part["temperature"][0]
        heads, lines = rank_cells(part, mean_ranks)
        at = "" if heat is None else f"temperature {cell(heat)}\n"
        cells = "; ".join(cells_said(part))
        blocks.append(f"{at}{plain_table(heads, lines)}\n{cells}")
    pairs = [line for row in agreements.iter_rows(named=True) if (line := agreement_line(row))]
    return "\n\n".join(filter(None, [*blocks, "\n".join(pairs), fill(READ_RANKS, WIDTH)]))


def rank_cells(part: pl.DataFrame, mean_ranks: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Lay the ranks of one temperature out: a line a judge, a column a measure.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    measures = part["measure"].unique(maintain_order=True).to_list()
    heads = ["judge", *(MEASURES.get(name, name) for name in measures), "mean rank"]
    heat = part["temperature"][0]
    means = mean_ranks.filter(pl.col("temperature").eq_missing(pl.lit(heat, pl.Float64)))
    lines = []
    for row in means.iter_rows(named=True):
        mine = part.filter(pl.col("judge") == row["judge"])
        by_measure = {one["measure"]: one for one in mine.iter_rows(named=True)}
        lines.append(
            [row["judge"], *(rank_cell(by_measure[name]) for name in measures), _mean_rank(row)]
        )
    return heads, lines


def rank_cell(row: Row) -> str:
    """Write one rank: with the ranks it may be, and the value it rests on.

    Examples
    --------
    >>> rank_cell({"rank": 1.0, "low": 1, "high": 2, "value": 0.5, "few": False,
    ...            "undefined": None})
    '1 [1, 2] at 0.500'
    """
    if row["rank"] is None:
        return f"- ({reason(row['undefined'])})" if row["undefined"] else "-"
    ends = "" if row["low"] is None else f" [{cell(row['low'])}, {cell(row['high'])}]"
    few = ", few to decide" if row["few"] else ""
    return f"{cell(row['rank'])}{ends} at {number(row['value'])}{few}"


def cells_said(part: pl.DataFrame) -> list[str]:
    """Say how many cells each measure is the mean of, who has none, and what mean ranks average.

    Examples
    --------
    >>> cells_said(pl.DataFrame({
    ...     "measure": ["inter_scale"] * 2, "judge": ["a", "b"], "rank": [1.0, None],
    ...     "n_cells": [6, 6], "n_left_out": [1, 1]}))
    ['inter-scale: mean of 6 cells, 1 left out that some judge lacks, no value of b in any']
    """
    found = []
    for name, rows in part.group_by("measure", maintain_order=True):
        n_cells, lost = rows.row(0, named=True)["n_cells"], rows["n_left_out"][0]
        if n_cells is None:
            continue
        more = f", {lost} left out that some judge lacks" if lost else ""
        none = rows.filter(pl.col("rank").is_null())["judge"].to_list()
        if n_cells and none:
            more += f", no value of {', '.join(none)} in any"
        found.append(f"{_called(name[0])}: mean of {_counted(n_cells)}{more}")
    averaged = averaged_measures(part)
    if averaged and len(averaged) < part["measure"].n_unique():
        found.append(f"mean rank: over {' and '.join(map(_called, averaged))} alone")
    return found


def averaged_measures(part: pl.DataFrame) -> list[str]:
    """Name the measures that mean ranks average: those by which every ranked judge has a rank.

    Examples
    --------
    >>> averaged_measures(pl.DataFrame({
    ...     "measure": ["self_consistency", "self_consistency", "outside", "outside"],
    ...     "judge": ["a", "b"] * 2, "rank": [1.0, 2.0, None, 1.0]}))
    ['self_consistency']
    """
    given = part.filter(pl.col("rank").is_not_null())
    drawn = given.filter(pl.col("measure") != "outside")
    ranked = (given if drawn.is_empty() else drawn)["judge"].unique().to_list()
    mine = given.filter(pl.col("judge").is_in(ranked))
    counts = mine.group_by("measure", maintain_order=True).agg(pl.col("judge").n_unique())
    return counts.filter(pl.col("judge") == len(ranked))["measure"].to_list()


def _counted(n_cells: int) -> str:
    """How many cells, in words."""
    return f"{n_cells} cell{'' if n_cells == 1 else 's'}"


def _called(measure: object) -> str:
    """The name of a measure in words."""
    return MEASURES.get(str(measure), str(measure))


def agreement_line(row: Row) -> str:
    """Say how far two measures rank judges alike; nothing where they rank nobody.

    Examples
    --------
    >>> agreement_line({"temperature": None, "first": "inter_scale", "second": "outside",
    ...                 "tau": 0.6, "low": None, "high": None, "n_judges": 5})
    "inter-scale and outside score: Kendall's tau-b 0.600 over 5 judges"
    """
    if row["tau"] is None:
        return ""
    heat = "" if row["temperature"] is None else f"temperature {cell(row['temperature'])}, "
    pair = " and ".join(
        MEASURES.get(str(row[name]), str(row[name])) for name in ("first", "second")
    )
    ends = "" if row["low"] is None else f" [{number(row['low'])}, {number(row['high'])}]"
    return f"{heat}{pair}: Kendall's tau-b {number(row['tau'])}{ends} over {row['n_judges']} judges"


def _mean_rank(row: Row) -> str:
    """A mean rank with its interval."""
    if row["value"] is None:
        return "-"
    ends = "" if row["low"] is None else f" [{number(row['low'], 1)}, {number(row['high'], 1)}]"
    return f"{number(row['value'], 1)}{ends}"
