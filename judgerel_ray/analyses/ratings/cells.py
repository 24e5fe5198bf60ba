"""Cells of the tables on ratings, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import polars as pl

from judgerel_ray.blocks.words import Row, cell, ends_of, estimate, number, p_value, reason, remark
from judgerel_ray.core import count_of

COEFFICIENTS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "icc_agreement": "ICC(A,1)",
    "icc_consistency": "ICC(C,1)",
}
_TIES = {">mid": ">", ">=mid": ">="}


def floor(row: Row) -> str:
    """Write a noise floor with its spread.

    Examples
    --------
    >>> floor({"noise_floor": -0.01, "noise_floor_sd": 0.05}), floor({"noise_floor": None})
    ('-0.010 ± 0.050', '-')
    """
    if row["noise_floor"] is None:
        return "-"
    return f"{number(row['noise_floor'])} ± {number(row['noise_floor_sd'])}"


def around(row: Row, name: str) -> str:
    """Write a number with its interval, a dash where there is none.

    Examples
    --------
    >>> around({"shift": 0.5, "shift_low": 0.25, "shift_high": 0.75}, "shift")
    '0.500 [0.250, 0.750]'
    """
    if row[name] is None:
        return "-"
    return f"{number(row[name])} {ends_of(row, name)}".rstrip()


def mapped(across: pl.DataFrame) -> str:
    """Say how scores came onto one axis, each way once.

    Examples
    --------
    >>> mapped(pl.DataFrame({"mapping": ["binarise"], "level": ["nominal"], "pairing": ["all"],
    ...                      "tie": [">mid"]}))
    'scores mapped by binarise (1 where > the middle), nominal alpha, all replications paired'
    """
    ways = []
    for row in across.select("mapping", "level", "pairing", "tie").unique(
        maintain_order=True
    ).iter_rows(named=True):  # fmt: skip
        tie = f" (1 where {_TIES[row['tie']]} the middle)" if row["tie"] else ""
        how = "all replications" if row["pairing"] == "all" else "first replications"
        ways.append(f"scores mapped by {row['mapping']}{tie}, {row['level']} alpha, {how} paired")
    return "; ".join(ways)


Columns = Mapping[str, Callable[[Row], str]]
"""The heads of a table, each with what writes a row's cell under it."""
SELF_CONSISTENCY: Columns = {
    "level": lambda row: str(row["measurement"]),
    "alpha [95 %]": estimate,
    "noise floor": floor,
    "items": lambda row: f"{row['n_items']:,}",
    "replications": lambda row: cell(row["n_replications"]),
    "remark": remark,
}
ACROSS: Columns = {
    "alpha [95 %]": estimate,
    "noise floor": floor,
    "ceiling": lambda row: number(row["ceiling"]),
    "on its own: first": lambda row: number(row["own_first"]),
    "second": lambda row: number(row["own_second"]),
    "disattenuated": lambda row: around(row, "disattenuated"),
    "shift": lambda row: around(row, "shift"),
    "rank correlation": lambda row: around(row, "rank_correlation"),
    "items": lambda row: cell(row["n_items"]),
    "remark": remark,
}
_ALIGNED: Columns = {
    "coefficient": lambda row: COEFFICIENTS.get(str(row["coefficient"]), str(row["coefficient"])),
    "single [95 %]": lambda row: (
        f"undefined: {reason(row['undefined'])}" if row["undefined"] else around(row, "single")
    ),
    "averaged [95 %]": lambda row: around(row, "averaged"),
    "weighted [95 %]": lambda row: around(row, "weighted"),
    "gain [95 %]": lambda row: around(row, "gain"),
    "p": lambda row: p_value(row["p_gain"]),
    "averaged over": lambda row: (
        "-" if row["n_averaged"] is None else f"{cast(float, row['n_averaged']):.3g}"
    ),
    "items": lambda row: f"{row['n_items']:,}",
    "remark": remark,
}


def aligned_columns(found: pl.DataFrame) -> Columns:
    """Give the columns of alignment; of weighted scores where there are any.

    Examples
    --------
    >>> [*aligned_columns(pl.DataFrame({"weighted": [None]}))][2:4]
    ['averaged [95 %]', 'gain [95 %]']
    """
    hidden = "weighted [95 %]" if found["weighted"].null_count() == found.height else ""
    return {head: write for head, write in _ALIGNED.items() if head != hidden}


MEASURES = {
    "self_consistency": "self-consistency",
    "inter_scale": "inter-scale",
    "alignment": "alignment",
    "outside": "outside score",
}


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
        of_judge = part.filter(pl.col("judge") == row["judge"])
        by_measure = {one["measure"]: one for one in of_judge.iter_rows(named=True)}
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


def rank_sentences(part: pl.DataFrame) -> list[str]:
    """Say what each measure is the mean of, who has no value, and what mean ranks average.

    Examples
    --------
    >>> rank_sentences(pl.DataFrame({
    ...     "measure": ["inter_scale"] * 2, "judge": ["a", "b"], "rank": [1.0, None],
    ...     "n_cells": [6, 6], "n_left_out": [1, 1]}))
    ['inter-scale: the mean over 6 combinations of criterion and scales, without 1 that not every \
judge has; none has a value of b']
    """
    found = []
    for name, rows in part.group_by("measure", maintain_order=True):
        n_cells, lost = rows.row(0, named=True)["n_cells"], rows["n_left_out"][0]
        if n_cells is None:
            continue
        more = f", without {lost} that not every judge has" if lost else ""
        none = rows.filter(pl.col("rank").is_null())["judge"].to_list()
        if n_cells and none:
            more += f"; none has a value of {', '.join(none)}"
        if n_cells != 1 or more:
            mean = f"the mean over {count_of(n_cells, 'combination')} of criterion and scales"
            found.append(f"{rank_measure_in_words(name[0])}: {mean}{more}")
    averaged = averaged_measures(part)
    if averaged and len(averaged) < part["measure"].n_unique():
        found.append(f"mean rank: over {' and '.join(map(rank_measure_in_words, averaged))} alone")
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
    with_rank = part.filter(pl.col("rank").is_not_null())
    drawn = with_rank.filter(pl.col("measure") != "outside")
    ranked = (with_rank if drawn.is_empty() else drawn)["judge"].unique().to_list()
    of_ranked = with_rank.filter(pl.col("judge").is_in(ranked))
    counts = of_ranked.group_by("measure", maintain_order=True).agg(pl.col("judge").n_unique())
    return counts.filter(pl.col("judge") == len(ranked))["measure"].to_list()


def rank_measure_in_words(measure: object) -> str:
    """Name a measure in words.

    Examples
    --------
    >>> rank_measure_in_words("inter_scale")
    'inter-scale'
    """
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
