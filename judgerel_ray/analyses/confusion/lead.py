"""What a page says first of the uncertainty of single judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from judgerel_ray.analyses.confusion.figures import varying_columns
from judgerel_ray.blocks.blocks import Block, Column, Paragraph, Table, counts, key_columns
from judgerel_ray.blocks.words import Row, flag_words, number, percent, percent_interval

if TYPE_CHECKING:  # pages without matrices load nothing of how they are scored
    from judgerel_ray.analyses.confusion.tables import UncertaintyTables


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertain:
    """What the page says of uncertainty.

    Attributes
    ----------
    tables : UncertaintyTables
        From :func:`judgerel_ray.analyses.confusion.tables.uncertainty_tables`.
    replies : pl.DataFrame
        judge, benchmark, ``role`` (judge for its own verdicts, assessor for assessments),
        ``outcome`` (null for an assessment written) and ``n``.
    """

    tables: UncertaintyTables
    replies: pl.DataFrame


def uncertainty_lead(found: Uncertain) -> list[Block]:
    """Say first how accuracy differs by label, and whether the margin tells right from wrong.

    Examples
    --------
    See ``tests/analyses/confusion/test_show.py``.
    """
    worth = found.tables.worth
    if worth.is_empty():
        return []
    varying = varying_columns(worth)
    groups = worth.partition_by(varying, maintain_order=True)
    rows = [_leading(part) for part in groups]
    first = [part.row(0, named=True) for part in groups]

    def shown(head: str, name: str) -> Column:
        quantities = [row.get(name) for row in rows]
        return Column(
            head=head,
            cells=["-" if one is None else percent(one["value"]) for one in quantities],
            small=[
                "" if one is None else percent_interval(one["low"], one["high"])
                for one in quantities
            ],
            is_number=True,
        )

    ranks = [row.get("auroc") for row in rows]
    columns = [
        *key_columns(first, varying),
        counts("judgments", [(row.get("accuracy") or {}).get("n") for row in rows]),
        shown("right", "accuracy"),
        shown("right where uncertainty is low", "accuracy_low"),
        shown("right where it is high", "accuracy_high"),
        shown("share of low", "share_low"),
        Column(
            head="AUROC of the margin",
            cells=["-" if one is None else number(one["value"], 2) for one in ranks],
            small=[_ends(one) for one in ranks],
            is_number=True,
        ),
        Column(head="remark", cells=[_remark(row) for row in rows], kind="remark"),
    ]
    caption = "Right judgments by label of uncertainty, in percent with 95 % intervals"
    how = Paragraph(
        "A judge wrote an assessment for every option in turn, and read the probability of every "
        "option after each. Uncertainty is low where one option stays likely whatever was argued, "
        "and it is the judge's own verdict. Labels are by thresholds chosen on other judgments "
        "(cross-fitted). AUROC: how often a right judgment has the larger margin than a wrong one; "
        "0.5 tells nothing.",
        "soft",
    )
    return [Table(caption, columns, cards=True), how]


def _leading(part: pl.DataFrame) -> dict[str, Row]:
    """The first row of each quantity: the labels that lead come first."""
    found: dict[str, Row] = {}
    for row in part.iter_rows(named=True):
        found.setdefault(str(row["quantity"]), row)
    return found


def _ends(row: Row | None) -> str:
    """The interval of a number that is no percentage."""
    if row is None or row["low"] is None:
        return ""
    return f"[{number(row['low'], 2)}, {number(row['high'], 2)}]"


def _remark(row: Mapping[str, Row | None]) -> str:
    """What a reader must know of a group."""
    rank = row.get("auroc")
    left_out = row.get("no_majority")
    if left_out is not None:
        text = f"{left_out['k']} of {left_out['n']} without a label that most people gave left out"
        return "; ".join(one for one in (text, _remark({**row, "no_majority": None})) if one)
    if (row.get("accuracy") or {}).get("undefined") == "no_right_option":
        return "nobody knows the right options"
    if rank is None or rank["low"] is None:
        return ""
    low, high = float(str(rank["low"])), float(str(rank["high"]))
    text = ""
    if high < 0.5:
        text = "the surer, the more often wrong"
    elif low <= 0.5:
        text = "margin not shown to tell right from wrong"
    return "; ".join(part for part in (text, *flag_words(rank)) if part)
