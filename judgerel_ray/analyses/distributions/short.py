"""The short answer of ``distributions``: the limits of a group in one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from judgerel_ray.blocks.blocks import Block, Paragraph
from judgerel_ray.blocks.short import (
    WEAK,
    Remark,
    Row,
    findings_of_row,
    groups_of,
    short_blocks,
    short_table,
    span,
)
from judgerel_ray.blocks.words import (
    coefficient_name,
    estimate,
    explanation,
    group_columns,
    number,
    reason,
)
from judgerel_ray.core import count_of

_SHOWN = {
    "krippendorff_alpha": "alpha [95 %]",
    "percent_agreement": "agreement [95 %]",
    "majority_stability_11": "majority of 11",
}


def limits_short(limits: pl.DataFrame, command: str | None) -> list[Block]:
    """Lay the limits of infinitely many replications out, a row a group.

    Examples
    --------
    >>> from judgerel_ray import distributions, example
    >>> limits_short(distributions(example("run")).rows, None)[0].text[:52]
    'limits of infinitely many replications, 8 questions '
    """
    every = [*limits.iter_rows(named=True)]
    if not every:
        return short_blocks("no verdict distributions", [], [])
    groups = groups_of(every, group_columns(limits))
    rows: list[Row] = [
        {**part[0], "of": {row["coefficient"]: row for row in part}}
        for part in groups.apart(every).values()
    ]
    columns = {
        **{head: _distribution_limit_cell(name) for name, head in _SHOWN.items()},
        "left open": lambda row: number(row["undecided"]),
    }
    asked = span(row["n_items"] for row in every)
    names = [coefficient_name({**one, "measurement": None}) for one in every
             if str(one["coefficient"]) not in _SHOWN]  # fmt: skip
    n = len(dict.fromkeys(names))
    more = f"; {count_of(n, 'more coefficient')} in --full" if n else ""
    return short_blocks(
        f"limits of infinitely many replications, {asked} questions{groups.shared}",
        [
            *short_table(rows, groups, columns),
            Paragraph(f"left open: probability of no known verdict, at most{more}", kind="below"),
        ],
        [one for row in every for one in _distribution_remarks(row, groups.of(row))],
        ("see how replies themselves agree", command),
        everyone=groups.labels.values(),
    )


def _distribution_limit_cell(name: str) -> Callable[[Row], str]:
    def write(row: Row) -> str:
        of = row["of"].get(name)
        if of is None or of["undefined"]:
            return "-"
        return number(of["value"]) if name not in _WIDE else estimate(of)

    return write


_WIDE = ("krippendorff_alpha", "percent_agreement")


def _distribution_remarks(row: Row, who: str) -> Iterator[Remark]:
    """Why a coefficient has no value, and what weakens one."""
    if row["undefined"]:
        text = explanation(reason(row["undefined"]))
        if row["undefined"] == "temperature_0":
            text = "temperature 0 draws nothing, so it has no agreement to measure"
        yield Remark(text=text, who=who, severity=WEAK)
    yield from findings_of_row(row, who)
