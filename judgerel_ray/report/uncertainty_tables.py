"""Tables of uncertainty on the page: what every figure shows, in numbers."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.report.label_charts import GROUP, told_columns
from judgerel_ray.report.markup import Column, counts, key_columns, table
from judgerel_ray.report.uncertainty import LABEL_SHARES, transfer_cells
from judgerel_ray.report.words import Row, escape, group_label, interval, number

OPTIMISTIC = "optimistic"


def folded(summary: str, body: str) -> str:
    """Fold what would fill the page.

    Examples
    --------
    >>> folded("Numbers", "<p>1</p>")
    '<details><summary>Numbers</summary><p>1</p></details>'
    """
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def label_columns(rows: Sequence[Row]) -> list[Column]:
    """Make the columns of accuracy by label and share of low, with intervals and counts.

    Examples
    --------
    >>> label_columns([])[0].head
    'accuracy of low'
    """
    return [
        Column(
            head=head,
            cells=[number(row[name]) for row in rows],
            small=[_beside(row, name) for row in rows],
            is_number=True,
        )
        for name, head in LABEL_SHARES.items()
    ]


def _beside(row: Row, name: str) -> str:
    """Interval and number of judgments of a share."""
    low, high = row[f"{name}_from"], row[f"{name}_to"]
    ends = "" if low is None else f"[{number(low)}, {number(high)}] "
    return f"{ends}of {row[f'n_{name}']}"


def labels_table(labels: pl.DataFrame, *, by_criterion: bool) -> str:
    """Tabulate accuracy by label and share of low, every way of labelling a row.

    Parameters
    ----------
    labels : pl.DataFrame
        From :func:`judgerel_ray.reduce.uncertainty_curves.label_table`.
    by_criterion : bool
        Rows of each criterion, in place of all together; nothing where there are none.

    Examples
    --------
    >>> labels_table(pl.DataFrame({"criterion": [None], "kind": ["x"]}), by_criterion=True)
    ''
    """
    kept = labels.filter(pl.col("criterion").is_null())
    if by_criterion:
        kept = labels.filter(pl.col("criterion").is_not_null(), pl.col("kind") != "in-sample")
    if kept.is_empty():
        return ""
    names = [*told_columns(kept), *(["criterion"] if by_criterion else [])]
    rows = kept.to_dicts()
    columns = [
        *key_columns(rows, names),
        Column(head="labelled by", cells=[_how(row) for row in rows], kind="prose"),
        *label_columns(rows),
        Column(
            head="remark",
            cells=[OPTIMISTIC if row["kind"] == "in-sample" else "" for row in rows],
            kind="remark",
        ),
    ]
    what = "by criterion" if by_criterion else "of all judgments whose right option is known"
    return table(
        f"Accuracy by label and share of low uncertainty {what}, as shares with 95 % intervals",
        columns,
        cards=True,
    )


def _how(row: Row) -> str:
    """How labels were chosen, in short."""
    if row["kind"] == "in-sample":
        return f"threshold {number(row['threshold'], 2)}, the best on these judgments"
    return str(row["how"])


def curve_tables(curves: pl.DataFrame) -> list[str]:
    """Tabulate what every twentieth of the threshold gives, a folded table a group.

    Parameters
    ----------
    curves : pl.DataFrame
        From :func:`judgerel_ray.reduce.uncertainty_curves.threshold_curves`.

    Examples
    --------
    >>> curve_tables(pl.DataFrame())
    []
    """
    if curves.is_empty():
        return []
    told, found = told_columns(curves), []
    fifths = (pl.col("threshold") * 100).round().cast(pl.Int64) % 5 == 0
    for _, part in curves.filter(fifths).group_by(*GROUP, maintain_order=True):
        rows, name = part.to_dicts(), group_label(part.row(0, named=True), told)
        columns = [
            Column(
                head="threshold",
                cells=[number(row["threshold"], 2) for row in rows],
                is_number=True,
            ),
            *label_columns(rows),
        ]
        caption = f"Accuracy by label and share of low at thresholds, {name}"
        found.append(folded(f"Numbers by threshold: {name}", table(caption, columns)))
    return found


def acceptance_tables(acceptance: pl.DataFrame) -> list[str]:
    """Tabulate share wrong against share accepted, a folded table a group.

    Parameters
    ----------
    acceptance : pl.DataFrame
        From :func:`judgerel_ray.reduce.uncertainty_curves.acceptance_table`.

    Examples
    --------
    >>> acceptance_tables(pl.DataFrame())
    []
    """
    if acceptance.is_empty():
        return []
    told, found = told_columns(acceptance), []
    for _, part in acceptance.group_by(*GROUP, maintain_order=True):
        name = group_label(part.row(0, named=True), told)
        rows = part.gather_every(max(1, part.height // 10)).to_dicts()
        columns = [
            Column(head="margin from", cells=[number(r["margin"]) for r in rows], is_number=True),
            counts("accepted", [row["n_accepted"] for row in rows]),
            Column(head="share", cells=[number(r["accepted"], 2) for r in rows], is_number=True),
            counts("wrong", [row["n_errors"] for row in rows]),
            Column(
                head="share wrong",
                cells=[number(row["error"]) for row in rows],
                small=[interval(row) for row in rows],
                is_number=True,
            ),
        ]
        caption = f"Share wrong among the surest judgments, {name}"
        found.append(folded(f"Numbers by acceptance: {name}", table(caption, columns)))
    return found


def transfer_tables(transfer: pl.DataFrame) -> list[str]:
    """Tabulate thresholds carried elsewhere, a square a comparison.

    Parameters
    ----------
    transfer : pl.DataFrame
        From :func:`judgerel_ray.reduce.uncertainty_transfer.transfer_table`.

    Examples
    --------
    >>> transfer_tables(pl.DataFrame())
    []
    """
    if transfer.is_empty():
        return []
    found = []
    for (across, within), part in transfer.group_by("across", "within", maintain_order=True):
        heads, lines = transfer_cells(part.to_dicts())
        columns = [
            Column(head="chosen in", cells=[line[0] for line in lines]),
            *(
                Column(
                    head=f"used in {head}",
                    cells=[line[place].split(", share ")[0] for line in lines],
                    small=[f"share {line[place].split(', share ')[1]}" for line in lines],
                    is_number=True,
                )
                for place, head in enumerate(heads, start=1)
            ),
        ]
        told = (
            f"Accuracy of low, with 95 % interval, and share of low: threshold carried across "
            f"{across}s of {within}".replace("criterions", "criteria")
        )
        found.append(table(told, columns))
    return found
