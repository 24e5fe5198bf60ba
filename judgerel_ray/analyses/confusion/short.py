"""The short answer of ``uncertainty``: what the labels low and high are worth, a row a group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import polars as pl

from judgerel_ray.analyses.confusion.confusion import UncertaintyTables
from judgerel_ray.blocks.blocks import Block
from judgerel_ray.blocks.short import (
    GRAVE,
    HARMFUL,
    PLAIN,
    WEAK,
    Groups,
    Remark,
    Row,
    findings_of_row,
    groups_of,
    short_blocks,
    short_table,
)
from judgerel_ray.blocks.words import cell, group_label, number, percent, reason
from judgerel_ray.core import count_of

_OPTIMISTIC = "best_in_sample"
_HOW = {
    "threshold_given": "given",
    "cross_fitted": "cross-fitted",
    _OPTIMISTIC: "best of these",
}
_GUARANTEED = "guaranteed_threshold"


def uncertainty_short(found: UncertaintyTables, command: str | None) -> list[Block]:
    """Lay the short answer out: accuracy of judgments of low and of high uncertainty.

    Examples
    --------
    >>> from judgerel_ray import example, uncertainty
    >>> uncertainty_short(uncertainty(example("run")), None)[0].text[:43]
    'uncertainty of 2 single judgments, labelled'
    """
    labels = found.labels.filter(pl.col("criterion").is_null())
    every = [*labels.iter_rows(named=True)]
    keys = labels.columns[: labels.columns.index("kind")]
    groups = groups_of(every, [*keys, "kind"])
    columns = {
        "threshold": lambda row: f"{number(row['threshold'], 2)} {_HOW.get(str(row['how']), '')}",
        "accuracy of low": lambda row: _uncertain_share_cell(row, "low"),
        "of high": lambda row: _uncertain_share_cell(row, "high"),
        "of all": lambda row: _uncertain_share_cell(row, "all"),
        "share low": lambda row: percent(row["share"]),
    }
    findings = [
        *(one for row in every for one in _uncertainty_label_remarks(row, groups)),
        *_confusion_margin_remarks(found.worth),
        *_confusion_score_remarks(found.scores),
        *_confusion_people_remarks(found.against_people),
    ]
    n = found.judgments.height
    return short_blocks(
        f"uncertainty of {count_of(n, 'single judgment')}, labelled low or high by the margin"
        f"{groups.shared}",
        short_table(every, groups, columns, what="row"),
        findings,
        ("see how steady the judge is", command),
        everyone=groups.labels.values(),
    )


def _uncertain_share_cell(row: Row, name: str) -> str:
    """A share of some judgments, with its interval."""
    if row[name] is None:
        return "-"
    n = row["n_share"] if name == "share" else row[f"n_{name}"]
    low, high = row[f"{name}_from"], row[f"{name}_to"]
    ends = "" if low is None else f" [{number(low, 2)}, {number(high, 2)}]"
    return f"{number(row[name], 2)}{ends} of {n:,}"


def _uncertainty_label_remarks(row: Row, groups: Groups) -> Iterator[Remark]:
    """Whether the labels were chosen where they are scored, and tell right from wrong."""
    who = groups.of(row)
    if row["how"] == _OPTIMISTIC:
        text = "optimistic: the threshold was chosen on the judgments it is scored on"
        yield Remark(text=text, who=who, severity=HARMFUL)
    if not row["n_low"] or not row["n_high"]:
        text = f"no judgment is of {'low' if not row['n_low'] else 'high'} uncertainty"
        yield Remark(text=text, who=who, severity=HARMFUL)


def _confusion_margin_remarks(worth: pl.DataFrame) -> Iterator[Remark]:
    """How well the margin ranks, what it can promise, and what keeps it from that."""
    if worth.is_empty():
        text = "no right options are known: nothing shows what labels are worth"
        yield Remark(text=text, severity=GRAVE)
        return
    keys = worth.columns[: worth.columns.index("n_matrices")]
    groups = groups_of([*worth.iter_rows(named=True)], keys)
    lacking: dict[tuple[str, str], int] = {}
    for row in worth.iter_rows(named=True):
        who = group_label(row, groups.varying) if groups.varying else ""
        if row["quantity"] == "auroc" and row["value"] is not None:
            ends = "" if row["low"] is None else f" [{number(row['low'])}, {number(row['high'])}]"
            sure = row["low"] is not None and cast(float, row["low"]) > 0.5
            text = f"AUROC of the margin {number(row['value'])}{ends}"
            text += "" if sure else ": that it ranks right above wrong is not shown"
            yield Remark(text=text, who=who, severity=PLAIN if sure else HARMFUL, kind="auroc")
        elif row["quantity"] == _GUARANTEED:
            lacks = f"no threshold can be promised: {reason(row['undefined'])}"
            text = lacks if row["value"] is None else (
                f"from margin {number(row['value'], 2)} on the share wrong is bounded "
                f"({row['estimator']})"
            )  # fmt: skip
            severity = HARMFUL if row["value"] is None else PLAIN
            yield Remark(text=text, who=who, severity=severity, kind=_GUARANTEED)
        elif row["undefined"]:
            key = (who, str(row["undefined"]))
            lacking[key] = lacking.get(key, 0) + 1
        yield from findings_of_row({**row, "no_interval": None}, who)
    for (who, code), n in lacking.items():
        text = f"{count_of(n, 'quantity', 'quantities')} without a value: {reason(code)}"
        yield Remark(text=text, who=who, severity=WEAK, kind=code)


def _confusion_score_remarks(scores: pl.DataFrame) -> Iterator[Remark]:
    """Which score ranks right above wrong judgments best, and which have none."""
    keys = scores.columns[: scores.columns.index("score")]
    every = [*scores.iter_rows(named=True)]
    groups = groups_of(every, keys)
    best: dict[str, Row] = {}
    lacking: dict[tuple[str, str], list[str]] = {}
    for row in every:
        who = group_label(row, groups.varying) if groups.varying else ""
        if row["auroc"] is None:
            code = str(row["undefined"])
            lacking.setdefault((who, code), []).append(str(row["score"]).replace("_", " "))
        elif who not in best or row["auroc"] > best[who]["auroc"]:
            best[who] = row
    for who, first in best.items():
        name = str(first["score"]).replace("_", " ")
        few = " (fewer than 10 texts are wrong, or right)" if first["few"] else ""
        text = f"largest AUROC of all scores: {name}, {number(first['auroc'])}{few}"
        yield Remark(text=text, who=who, severity=WEAK if few else PLAIN, kind="score")
    for (who, code), names in lacking.items():
        text = f"no AUROC of {', '.join(dict.fromkeys(names))}: {reason(code)}"
        yield Remark(text=text, who=who, severity=WEAK, kind=code)


def _confusion_people_remarks(people: pl.DataFrame) -> Iterator[Remark]:
    """How near the judge is to people, beside a person held out."""
    for row in people.filter(pl.col("label") == "all", pl.col("criterion").is_null()).iter_rows(
        named=True
    ):
        who = cell(row["raters"]) if row["raters"] else ""
        if row["undefined"]:
            text = f"not held against people: {reason(row['undefined'])}"
            yield Remark(text=text, who=who, severity=WEAK)
            continue
        text = (
            f"gives the label of a person {percent(row['judge_share'])} of the time, a person "
            f"{percent(row['person_share'])}"
        )
        yield Remark(text=text, who=who, kind="people")
        yield from findings_of_row(row, who, "agreement with people")
