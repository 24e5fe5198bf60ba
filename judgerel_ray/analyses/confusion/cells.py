"""Tables of uncertainty labels, scores and people: what figures show, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

import polars as pl

from judgerel_ray.analyses.confusion.figures import GROUP, named_groups, varying_columns
from judgerel_ray.analyses.confusion.groups import How
from judgerel_ray.analyses.confusion.worth import (
    ENTROPY_OF_REPLICATIONS,
    OWN_PROBABILITY,
    SHARE_OF_REPLICATIONS,
)
from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Folded,
    Table,
    counts,
    estimates,
    key_columns,
    rounded,
    texts,
)
from judgerel_ray.blocks.words import (
    NOISE,
    Row,
    ends_of,
    group_label,
    interval,
    number,
    numbers,
    reason,
)
from judgerel_ray.core import count_of

_LABEL_SHARES = {
    "low": "accuracy of low",
    "high": "accuracy of high",
    "all": "accuracy of all",
    "share": "share of low",
}
_OF_SAMPLE = {SHARE_OF_REPLICATIONS: "share", ENTROPY_OF_REPLICATIONS: "entropy"}
_PLACES = {"judge": "judge", "person": "person held out"}


def _label_columns(rows: Sequence[Row]) -> list[Column]:
    """Columns of accuracy by label and share of low, with intervals and counts."""
    return [
        estimates(head, rows, name, partial(_beside, name=name))
        for name, head in _LABEL_SHARES.items()
    ]


def _beside(row: Row, name: str) -> str:
    """Interval and number of judgments of a share."""
    low, high = row[f"{name}_from"], row[f"{name}_to"]
    ends = "" if low is None else f"[{number(low)}, {number(high)}] "
    return f"{ends}of {row[f'n_{name}']}"


def labels_table(labels: pl.DataFrame, *, by_criterion: bool) -> list[Block]:
    """Tabulate accuracy by label and share of low, every way of labelling a row.

    Examples
    --------
    >>> labels_table(pl.DataFrame({"criterion": [None], "kind": ["x"]}), by_criterion=True)
    []
    """
    kept = labels.filter(pl.col("criterion").is_null())
    if by_criterion:
        kept = labels.filter(pl.col("criterion").is_not_null(), pl.col("kind") != "in-sample")
    if kept.is_empty():
        return []
    names = [*varying_columns(kept), *(["criterion"] if by_criterion else [])]
    rows = kept.to_dicts()
    columns = [
        *key_columns(rows, names),
        texts("labelled by", rows, _how, "prose"),
        *_label_columns(rows),
        texts("remark", rows, lambda row: "optimistic" * (row["kind"] == "in-sample"), "remark"),
    ]
    what = "by criterion" if by_criterion else "of all judgments whose right option is known"
    caption = (
        f"Accuracy by label and share of low uncertainty {what}, as shares with 95 % intervals"
    )
    return [Table(caption, columns, cards=True)]


def _how(row: Row) -> str:
    """How labels were chosen, in short."""
    if row["kind"] == "in-sample":
        return f"threshold {number(row['threshold'], 2)}, the best on these judgments"
    threshold, n_folds = cast(float | None, row["threshold"]), cast(int | None, row["n_folds"])
    return How(str(row["how"])).words(threshold=threshold, n_folds=n_folds)


def curve_tables(curves: pl.DataFrame) -> list[Block]:
    """Tabulate what every twentieth of the threshold gives, a folded table a group.

    Examples
    --------
    >>> curve_tables(pl.DataFrame())
    []
    """
    found: list[Block] = []
    fifths = (pl.col("threshold") * 100).round().cast(pl.Int64) % 5 == 0
    for name, part in named_groups(curves):
        rows = part.filter(fifths).to_dicts()
        columns = [rounded("threshold", rows, "threshold", 2), *_label_columns(rows)]
        caption = f"Accuracy by label and share of low at thresholds, {name}"
        found.append(Folded(f"Numbers by threshold: {name}", [Table(caption, columns)]))
    return found


def acceptance_tables(acceptance: pl.DataFrame) -> list[Block]:
    """Tabulate share wrong against share accepted, a folded table a group.

    Examples
    --------
    >>> acceptance_tables(pl.DataFrame())
    []
    """
    found: list[Block] = []
    for name, part in named_groups(acceptance):
        rows = part.gather_every(max(1, part.height // 10)).to_dicts()
        columns = [
            rounded("margin from", rows, "margin"),
            counts("accepted", [row["n_accepted"] for row in rows]),
            rounded("share", rows, "accepted", 2),
            counts("wrong", [row["n_errors"] for row in rows]),
            estimates("share wrong", rows, "error"),
        ]
        caption = f"Share wrong among the surest judgments, {name}"
        found.append(Folded(f"Numbers by acceptance: {name}", [Table(caption, columns)]))
    return found


def transfer_tables(transfer: pl.DataFrame) -> list[Block]:
    """Tabulate thresholds carried elsewhere, a square a comparison.

    Examples
    --------
    >>> transfer_tables(pl.DataFrame())
    []
    """
    if transfer.is_empty():
        return []
    return [
        _transfer(part.to_dicts(), str(across), str(within))
        for (across, within), part in transfer.group_by("across", "within", maintain_order=True)
    ]


def _transfer(rows: Sequence[Row], across: str, within: str) -> Table:
    """One comparison as a square: a line for each place of choice."""
    targets = list(dict.fromkeys(str(row["target"]) for row in rows))
    lines: dict[str, list[Row]] = {}
    for row in rows:
        lines.setdefault(str(row["source"]), []).append(row)
    columns = [
        Column(head="chosen in", cells=list(lines)),
        *(
            Column(
                head=f"used in {target}",
                cells=[_carried(line[place]) for line in lines.values()],
                small=[_share_carried(line[place]) for line in lines.values()],
                is_number=True,
            )
            for place, target in enumerate(targets)
        ),
    ]
    caption = (
        f"Accuracy of low, with 95 % interval, and share of low: threshold carried across "
        f"{across}s of {within}".replace("criterions", "criteria")
    )
    return Table(caption, columns)


def _carried(row: Row) -> str:
    """Accuracy of low by a threshold that was carried, and of how many."""
    return " ".join(
        filter(None, [number(row["accuracy_low"]), interval(row), f"of {row['n_low']}"])
    )


def _share_carried(row: Row) -> str:
    """Share of low by a threshold that was carried, and which that is."""
    how = "cross-fitted" if row["cross_fitted"] else f"at {number(row['threshold'], 2)}"
    return f"share {number(row['share_low'])} ({how})"


def scores_tables(scores: pl.DataFrame) -> list[Block]:
    """Tabulate every score of a judgment: its mean, how well it ranks, what it takes.

    A folded table a group.

    Examples
    --------
    >>> scores_tables(pl.DataFrame())
    []
    """
    return [_scores(part.to_dicts(), name) for name, part in named_groups(scores)]


def _scores(rows: Sequence[Row], name: str) -> Folded:
    """Scores of one group."""
    columns = [
        texts("score", rows, score_words),
        texts("surer where", rows, lambda row: str(row["surer"])),
        estimates("mean", rows, "mean", partial(ends_of, name="mean")),
        Column(
            head="AUROC",
            cells=[
                number(row["auroc"]) if row["undefined"] is None else reason(row["undefined"])
                for row in rows
            ],
            small=[ends_of(row, "auroc") for row in rows],
            is_number=True,
        ),
        estimates("AURC", rows, "aurc", partial(ends_of, name="aurc")),
        counts("judgments", [row["n"] for row in rows]),
        rounded("tokens an item", rows, "tokens", 0),
        texts("remark", rows, lambda row: reason(row["few"] or ""), "remark"),
    ]
    caption = (
        "Scores of single judgments, with 95 % intervals; entropy and mutual information in nats"
    )
    return Folded(f"All scores: {name}", [Table(caption, columns, cards=True)])


def score_words(row: Row) -> str:
    """Name a score, with the replications it is of.

    Examples
    --------
    >>> score_words({"score": "share_of_replications", "of_replications": 4, "drawn_at": 0.7})
    'share of 4 replications at temperature 0.7'
    >>> score_words({"score": "signed_margin", "of_replications": None})
    'signed margin'
    """
    if row["score"] == OWN_PROBABILITY:
        return "probability of the verdict, no assessment shown"
    n = row["of_replications"]
    if n is None:
        return reason(row["score"])
    what = _OF_SAMPLE[str(row["score"])]
    return f"{what} of {count_of(cast(int, n), 'replication')} at temperature {row['drawn_at']:g}"


def quantity_tables(worth: pl.DataFrame) -> list[Block]:
    """Tabulate every quantity of a group, folded.

    Examples
    --------
    >>> quantity_tables(pl.DataFrame())
    []
    """
    found: list[Block] = []
    for name, part in named_groups(worth):
        rows = part.to_dicts()
        columns = [
            texts("quantity", rows, _quantity),
            _values("value", rows),
            Column(head="of", cells=[_trials(row) for row in rows], is_number=True),
            texts("how", rows, lambda row: str(row["estimator"] or ""), "prose"),
        ]
        caption = f"Quantities of {rows[0]['n_matrices']} matrices, with 95 % intervals"
        whole = Table(caption, columns, cards=True)
        found.append(Folded(f"All quantities: {name}", [whole]))
    return found


def _values(head: str, rows: Sequence[Row]) -> Column:
    """Values with their intervals, or why there is none."""
    found = [numbers(row) for row in rows]
    return Column(
        head=head,
        cells=[reason(value) for value, _ in found],
        small=[ends for _, ends in found],
        is_number=True,
    )


def _quantity(row: Row) -> str:
    """A quantity, with the threshold of the labels it is of."""
    at = row.get("threshold")
    return reason(row["quantity"]) + ("" if at is None else f" at {at:g}")


def _trials(row: Row) -> str:
    """How many of how many, where that is known."""
    if row["k"] is not None:
        return f"{row['k']} of {row['n']}"
    return "" if row["n"] is None else str(row["n"])


def people_blocks(people: pl.DataFrame) -> list[Block]:
    """Tabulate how far people agree.

    Examples
    --------
    >>> people_blocks(pl.DataFrame())
    []
    """
    if people.is_empty():
        return []
    rows = people.to_dicts()
    columns = [
        *key_columns(rows, ["benchmark", "raters"]),
        texts("criterion", rows, lambda row: str(row["criterion"] or "all")),
        _values("same rating", rows),
        counts("items", [row["n_items"] for row in rows]),
        counts("ratings", [row["n_ratings"] for row in rows]),
    ]
    caption = "How often two people who rate the same give the same rating (share)"
    return [Table(caption, columns)]


def matched_tables(matched: pl.DataFrame) -> list[Block]:
    """Tabulate how judges and people match people, a row a group and kind of judgments.

    Examples
    --------
    >>> matched_tables(pl.DataFrame())
    []
    """
    if matched.is_empty():
        return []
    varying = [*varying_columns(matched), "raters"]
    parts = matched.partition_by(*GROUP, "raters", maintain_order=True)
    rows = [row for part in parts for row in part.to_dicts()]
    columns = [
        texts("", rows, partial(group_label, columns=varying)),
        texts("judgments", rows, _judgments),
        *(
            estimates(head, rows, f"{name}_share", partial(ends_of, name=name))
            for name, head in _PLACES.items()
        ),
        estimates("judge - person", rows, "difference", partial(ends_of, name="difference")),
        Column(
            head="by chance: judge, person",
            is_number=True,
            cells=[f"{number(r['noise_floor'])}, {number(r['person_floor'])}" for r in rows],
        ),
        counts("items", [row["n_items"] for row in rows]),
        counts("split", [row["n_split"] for row in rows]),
        counts("ratings", [row["n_ratings"] for row in rows]),
        texts("remark", rows, _remark, "remark"),
    ]
    caption = "How often a label is that of a person, as shares with 95 % intervals"
    return [Table(caption, columns, cards=True)]


def _judgments(row: Row) -> str:
    """Which judgments a row is of."""
    if row["criterion"] is not None:
        return str(row["criterion"])
    return "all" if row["label"] == "all" else f"{row['label']} uncertainty"


def _remark(row: Row) -> str:
    """What a reader must know of a row."""
    parts = [
        reason(row["undefined"]) if row["undefined"] else "",
        NOISE if row["noise"] else "",
        f"{row['n_single']} items of one person left out" if row["n_single"] else "",
    ]
    return "; ".join(part for part in parts if part)
