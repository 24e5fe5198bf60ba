"""Ratings in lines: consistency on and across scales, alignment with a reference, ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import cast

import polars as pl

from judgerel_ray.report.terminal import plain_table
from judgerel_ray.report.words import Row, cell, estimate, number, p_value, reason, remark

WIDTH = 100
COEFFICIENTS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "icc_agreement": "ICC(A,1)",
    "icc_consistency": "ICC(C,1)",
}
ACROSS_HEADS = (
    "alpha [95 %]", "noise floor", "ceiling", "on its own: first", "second", "disattenuated",
    "shift", "rank correlation", "items", "remark",
)  # fmt: skip
ALIGNED_HEADS = (
    "coefficient", "single [95 %]", "averaged [95 %]", "gain [95 %]", "p", "averaged over", "items",
    "remark",
)  # fmt: skip
READ_ACROSS = (
    "Alpha: 1 where a judge says the same on all scales, 0 where its score on one tells nothing of "
    "that on another. Ceiling: what a judge without noise reaches, whose latent score is uniform "
    "on the scale's range: rounding to both scales takes the rest. On its own: self-consistency of "
    "each scale on the same axis. Disattenuated: alpha of all replications over the root of their "
    "product, a heuristic that may exceed 1. Shift: second scale less first, on the common axis."
)
_WEIGHTED_HEAD = "weighted [95 %]"
READ_ALIGNED = (
    "Single: the mean over replications of what each gives by itself; averaged: of the mean of all "
    "replications; weighted: of the mean of the scale's values, weighted by their probabilities, "
    "where these were computed. Scores are compared as they are: ICC needs a reference on the same "
    "scale. A reference is the mean of all its scores of a response, on the same scale where it "
    "rated on several, whatever its template and temperature; its own noise lowers every "
    "coefficient."
)


def scales_text(own: pl.DataFrame, across: pl.DataFrame) -> str:
    """Write consistency on each scale, and across scales.

    Parameters
    ----------
    own : DataFrame
        As :func:`judgerel_ray.reduce.reduce_judgments`.
    across : DataFrame
        As :func:`judgerel_ray.reduce.inter_scale.inter_scale_table`.

    Examples
    --------
    >>> empty = pl.DataFrame()
    >>> scales_text(empty, empty)
    'no scales to compare'
    """
    if across.is_empty():
        return "no scales to compare"
    names = told_groups(own, "coefficient", always=("scale",))
    lines = [
        [*(cell(row[name]) for name in names), *own_cells(row)] for row in own.iter_rows(named=True)
    ]
    first = plain_table([*names, *OWN_HEADS], lines)
    names = told_groups(across, "scales")
    lines = [
        [*(cell(row[name]) for name in names), str(row["scales"]), *across_cells(row)]
        for row in across.iter_rows(named=True)
    ]
    second = plain_table([*names, "scales", *ACROSS_HEADS], lines)
    return (
        f"self-consistency: Krippendorff's alpha of replications\n{shared(own, 'coefficient')}"
        f"{first}\n\ninter-scale consistency: {mapped(across)}\n{shared(across, 'scales')}{second}"
        f"\n\n{fill(READ_ACROSS, WIDTH)}"
    )


OWN_HEADS = ("level", "alpha [95 %]", "noise floor", "items", "replications", "remark")


def own_cells(row: Row) -> list[str]:
    """Write self-consistency of one group on one scale.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    return [
        str(row["measurement"]),
        estimate(row),
        floor(row),
        f"{row['n_items']:,}",
        cell(row["n_replications"]),
        remark(row),
    ]


def across_cells(row: Row) -> list[str]:
    """Write inter-scale consistency of one group and comparison.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    said = remark({**row, "estimator": row["estimator"] or ""})
    if row["undefined"] == "does_not_apply":
        said = str(row["estimator"])
    return [
        estimate(row),
        floor(row),
        number(row["ceiling"]),
        number(row["own_first"]),
        number(row["own_second"]),
        around(row, "disattenuated"),
        around(row, "shift"),
        around(row, "rank_correlation"),
        cell(row["n_items"]),
        said,
    ]


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
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    ends = "" if low is None else f" [{number(low)}, {number(high)}]"
    return f"{number(row[name])}{ends}"


def mapped(across: pl.DataFrame) -> str:
    """Say how scores came onto one axis, each way once.

    Examples
    --------
    >>> mapped(pl.DataFrame({"mapping": ["binarise"], "level": ["nominal"], "pairing": ["all"],
    ...                      "tie": [">mid"]}))
    'scores mapped by binarise (1 where > the middle), nominal alpha, all replications paired'
    """
    said = []
    for row in across.select("mapping", "level", "pairing", "tie").unique(
        maintain_order=True
    ).iter_rows(named=True):  # fmt: skip
        tie = f" (1 where {row['tie'].removesuffix('mid')} the middle)" if row["tie"] else ""
        how = "all replications" if row["pairing"] == "all" else "first replications"
        said.append(f"scores mapped by {row['mapping']}{tie}, {row['level']} alpha, {how} paired")
    return "; ".join(said)


def alignment_text(found: pl.DataFrame) -> str:
    """Write alignment with a reference.

    Parameters
    ----------
    found : DataFrame
        As :func:`judgerel_ray.reduce.alignment.alignment_table`.

    Examples
    --------
    >>> alignment_text(pl.DataFrame())
    'nothing to align'
    """
    if found.is_empty():
        return "nothing to align"
    names = told_groups(found, "coefficient", always=("scale",))
    heads, cells = aligned_columns(found)
    lines = [
        [*(cell(row[name]) for name in names), *cells(row)] for row in found.iter_rows(named=True)
    ]
    table = plain_table([*names, *heads], lines)
    where = shared(found, "coefficient")
    return f"agreement with {found['reference'][0]}\n{where}{table}\n\n{fill(READ_ALIGNED, WIDTH)}"


def aligned_columns(found: pl.DataFrame) -> tuple[list[str], Callable[[Row], list[str]]]:
    """Give the heads of alignment, and what writes a row under them.

    Parameters
    ----------
    found : DataFrame
        As :func:`judgerel_ray.reduce.alignment.alignment_table`.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    place = ALIGNED_HEADS.index("gain [95 %]")
    if found["weighted"].null_count() == found.height:
        return list(ALIGNED_HEADS), aligned_cells

    def cells(row: Row) -> list[str]:
        written = aligned_cells(row)
        return [*written[:place], around(row, "weighted"), *written[place:]]

    return [*ALIGNED_HEADS[:place], _WEIGHTED_HEAD, *ALIGNED_HEADS[place:]], cells


def aligned_cells(row: Row) -> list[str]:
    """Write one coefficient of one group.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    single = around(row, "single")
    return [
        COEFFICIENTS.get(str(row["coefficient"]), str(row["coefficient"])),
        f"undefined: {reason(row['undefined'])}" if row["undefined"] else single,
        around(row, "averaged"),
        around(row, "gain"),
        p_value(row["p_gain"]),
        "-" if row["n_averaged"] is None else f"{cast(float, row['n_averaged']):.3g}",
        f"{row['n_items']:,}",
        remark(row),
    ]


def told_groups(frame: pl.DataFrame, until: str, *, always: Sequence[str] = ()) -> list[str]:
    """Name the columns of groups that tell rows apart.

    Examples
    --------
    >>> told_groups(pl.DataFrame({"judge": ["a", "a"], "scale": ["x", "y"], "v": [1, 2]}), "v")
    ['scale']
    """
    names = frame.columns[: frame.columns.index(until)]
    return [name for name in names if name in always or frame[name].n_unique() > 1]


def shared(frame: pl.DataFrame, until: str) -> str:
    """Say in a line what all rows share; nothing where that is nothing.

    Examples
    --------
    >>> shared(pl.DataFrame({"judge": ["a", "a"], "v": [1, 2]}), "v").strip()
    'judge a'
    """
    names = frame.columns[: frame.columns.index(until)]
    first: Mapping[str, object] = frame.row(0, named=True)
    alike = [name for name in names if name != "scale" and frame[name].n_unique() == 1]
    said = ", ".join(f"{name} {cell(first[name])}" for name in alike if first[name] is not None)
    return f"{said}\n" if said else ""
