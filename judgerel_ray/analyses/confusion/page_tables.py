"""Tables of uncertainty on the page: what every figure shows, in numbers.

Tables of scores, of people and of matrices on the page, folded where they are long.

Single confusion matrices as tables whose cells are tinted by their probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import polars as pl

from judgerel_ray.analyses.confusion.label_charts import GROUP, told_columns
from judgerel_ray.analyses.confusion.text import (
    LABEL_SHARES,
    around,
    quantity_name,
    transfer_cells,
    trials,
)
from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Folded,
    Heat,
    Table,
    Tint,
    counts,
    key_columns,
)
from judgerel_ray.blocks.words import Row, group_label, interval, number, numbers, reason

OPTIMISTIC = "optimistic"


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


def labels_table(labels: pl.DataFrame, *, by_criterion: bool) -> list[Block]:
    """Tabulate accuracy by label and share of low, every way of labelling a row.

    Parameters
    ----------
    labels : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.curves.label_table`.
    by_criterion : bool
        Rows of each criterion, in place of all together; nothing where there are none.

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
    caption = (
        f"Accuracy by label and share of low uncertainty {what}, as shares with 95 % intervals"
    )
    return [Table(caption, columns, cards=True)]


def _how(row: Row) -> str:
    """How labels were chosen, in short."""
    if row["kind"] == "in-sample":
        return f"threshold {number(row['threshold'], 2)}, the best on these judgments"
    return str(row["how"])


def curve_tables(curves: pl.DataFrame) -> list[Block]:
    """Tabulate what every twentieth of the threshold gives, a folded table a group.

    Parameters
    ----------
    curves : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.curves.threshold_curves`.

    Examples
    --------
    >>> curve_tables(pl.DataFrame())
    []
    """
    if curves.is_empty():
        return []
    told = told_columns(curves)
    found: list[Block] = []
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
        found.append(Folded(f"Numbers by threshold: {name}", [Table(caption, columns)]))
    return found


def acceptance_tables(acceptance: pl.DataFrame) -> list[Block]:
    """Tabulate share wrong against share accepted, a folded table a group.

    Parameters
    ----------
    acceptance
        As of :func:`.acceptance_figures`.

    Examples
    --------
    >>> acceptance_tables(pl.DataFrame())
    []
    """
    if acceptance.is_empty():
        return []
    told = told_columns(acceptance)
    found: list[Block] = []
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
        found.append(Folded(f"Numbers by acceptance: {name}", [Table(caption, columns)]))
    return found


def transfer_tables(transfer: pl.DataFrame) -> list[Block]:
    """Tabulate thresholds carried elsewhere, a square a comparison.

    Parameters
    ----------
    transfer : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.groups.transfer_table`.

    Examples
    --------
    >>> transfer_tables(pl.DataFrame())
    []
    """
    if transfer.is_empty():
        return []
    found: list[Block] = []
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
        found.append(Table(told, columns))
    return found


def scores_tables(scores: pl.DataFrame) -> list[Block]:
    """Tabulate every score of a judgment: its mean, how well it ranks, what it takes.

    A folded table a group.

    Parameters
    ----------
    scores : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.worth.score_table`.

    Examples
    --------
    >>> scores_tables(pl.DataFrame())
    []
    """
    if scores.is_empty():
        return []
    told = told_columns(scores)
    return [
        _scores(part.to_dicts(), group_label(part.row(0, named=True), told))
        for _, part in scores.group_by(*GROUP, maintain_order=True)
    ]


def _scores(rows: Sequence[Row], name: str) -> Folded:
    """Scores of one group."""
    columns = [
        Column(head="score", cells=[reason(row["score"]) for row in rows]),
        Column(head="surer where", cells=[str(row["surer"]) for row in rows]),
        Column(
            head="mean", cells=[number(row["mean"]) for row in rows],
            small=[around(row, "mean")[1] for row in rows], is_number=True,
        ),
        Column(
            head="AUROC",
            cells=[
                number(row["auroc"]) if row["undefined"] is None else reason(row["undefined"])
                for row in rows
            ],
            small=[around(row, "auroc")[1] for row in rows],
            is_number=True,
        ),
        Column(
            head="AURC", cells=[number(row["aurc"]) for row in rows],
            small=[around(row, "aurc")[1] for row in rows], is_number=True,
        ),
        counts("judgments", [row["n"] for row in rows]),
        Column(
            head="tokens an item", cells=[number(row["tokens"], 0) for row in rows],
            is_number=True,
        ),
        Column(
            head="remark", cells=[reason(row["few"]) if row["few"] else "" for row in rows],
            kind="remark",
        ),
    ]  # fmt: skip
    caption = (
        f"Scores of single judgments, {name}, with 95 % intervals; entropy and mutual information "
        "in nats"
    )
    return Folded(f"All scores: {name}", [Table(caption, columns, cards=True)])


def quantity_tables(worth: pl.DataFrame) -> list[Block]:
    """Tabulate everything that ``judgerel uncertainty`` prints of a group, folded.

    Parameters
    ----------
    worth : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.worth.uncertainty_summary`.

    Examples
    --------
    >>> quantity_tables(pl.DataFrame())
    []
    """
    if worth.is_empty():
        return []
    told = told_columns(worth)
    found: list[Block] = []
    for _, part in worth.group_by(*GROUP, maintain_order=True):
        rows, name = part.to_dicts(), group_label(part.row(0, named=True), told)
        columns = [
            Column(head="quantity", cells=[reason(quantity_name(row)) for row in rows]),
            Column(
                head="value",
                cells=[reason(numbers(row)[0]) for row in rows],
                small=[numbers(row)[1] for row in rows],
                is_number=True,
            ),
            Column(head="of", cells=[trials(row) for row in rows], is_number=True),
            Column(head="how", cells=[str(row["estimator"] or "") for row in rows], kind="prose"),
        ]
        caption = f"All quantities, {name}, with 95 % intervals"
        whole = Table(caption, columns, cards=True)
        found.append(Folded(f"All quantities: {name}", [whole]))
    return found


def people_table(people: pl.DataFrame) -> list[Block]:
    """Tabulate how far people agree.

    Parameters
    ----------
    people : pl.DataFrame
        From :func:`judgerel_ray.counting.people.people_table`.

    Examples
    --------
    >>> people_table(pl.DataFrame())
    []
    """
    if people.is_empty():
        return []
    rows = people.to_dicts()
    columns = [
        *key_columns(rows, ["benchmark", "raters"]),
        Column(head="criterion", cells=[str(row["criterion"] or "all") for row in rows]),
        Column(
            head="same rating", cells=[number(row["value"]) for row in rows],
            small=[interval(row) for row in rows], is_number=True,
        ),
        counts("items", [row["n_items"] for row in rows]),
        counts("ratings", [row["n_ratings"] for row in rows]),
    ]  # fmt: skip
    caption = "How often two people who rate the same give the same rating (share)"
    return [Table(caption, columns)]


def sparsity_text(sparsity: pl.DataFrame) -> list[Block]:
    """Tabulate how full matrices are by number of options.

    Parameters
    ----------
    sparsity : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.matrices.sparsity_table`.

    Examples
    --------
    >>> sparsity_text(pl.DataFrame())
    []
    """
    if sparsity.is_empty():
        return []
    rows = sparsity.to_dicts()

    def shares(head: str, name: str) -> Column:
        return Column(head=head, cells=[number(row[name]) for row in rows], is_number=True)

    columns = [
        Column(head="judge", cells=[str(row["judge"]) for row in rows]),
        counts("options", [row["n_options"] for row in rows]),
        counts("matrices", [row["n_matrices"] for row in rows]),
        shares("probability of the option argued for", "argued"),
        shares("of each other option", "other"),
        shares("even odds", "even"),
        shares("other cells below 0.01", "empty"),
    ]
    return [Table("How full matrices are, by number of options (means over matrices)", columns)]


_MOST_TINT = 45.0  # percent of the mark's colour: text stays readable on it, light and dark


def heat_table(
    cells: Sequence[Row],
    judgment: Row,
    *,
    why: str,
    columns: Sequence[str] = ("judge", "benchmark", "item_id"),
    question: str = "",
) -> Heat:
    """Lay out one matrix: options are rows, assessments columns, probabilities raw and scaled.

    Parameters
    ----------
    cells : sequence of mapping
        From :meth:`judgerel_ray.analyses.confusion.matrices.Picked.cells`.
    judgment : mapping
        Its row of :func:`judgerel_ray.analyses.confusion.uncertainty.matrix_rows`.
    why : str
        What it was picked for.
    columns : sequence of str
        What names it.
    question : str
        The text of its question, where it is known.

    Returns
    -------
    Heat
        Colour repeats the numbers and says nothing of its own; the judge's own verdict and
        the right option are marked in words.

    Examples
    --------
    >>> cells = [{"option": o, "argued": a, "probability": 0.5, "scaled": 0.5}
    ...          for o in "xy" for a in "xy"]
    >>> judgment = {"judge": "j", "benchmark": "b", "item_id": "q", "chosen": "x", "right": "y",
    ...             "options": ["x", "y"], "u": [0.5, 0.5], "margin": 0.0, "correct": False}
    >>> heat_table(cells, judgment, why="most torn").rows[0][:2]
    ('x', 'own verdict')
    """
    argued = list(dict.fromkeys(cell["argued"] for cell in cells))
    options = cast("Sequence[str]", judgment["options"])
    shares = dict(zip(options, cast("Sequence[float]", judgment["u"]), strict=True))
    by_place = {(cell["option"], cell["argued"]): cell for cell in cells}
    rows = []
    for option in options:
        marks = [
            said
            for name, said in (("chosen", "own verdict"), ("right", "right"))
            if judgment[name] == option
        ]
        tinted = [_cell(by_place[option, one]) for one in argued]
        rows.append((option, " · ".join(marks), [*tinted, Tint(text=number(shares[option], 2))]))
    asked = f"; {question}" if question else ""
    caption = f"{why}: {group_label(judgment, columns)}{asked}; {_standing(judgment)}"
    heads = ["all argued" if one is None else f"for {one}" for one in argued]
    return Heat(caption=caption, heads=["option", *heads, "u"], rows=rows)


def _standing(judgment: Row) -> str:
    """How sure, and whether right, in words."""
    said = f"margin {number(judgment['margin'], 2)}"
    if judgment["correct"] is None:
        return f"{said}, right option unknown"
    return f"{said}, {'right' if judgment['correct'] else 'wrong'}"


def _cell(cell: Mapping[str, object]) -> Tint:
    """One probability; a dash where the judge would not argue."""
    raw, scaled = cell["probability"], cell["scaled"]
    if not isinstance(raw, float):
        return Tint(text="-")
    small = "" if scaled is None else number(scaled, 2)
    return Tint(text=number(raw, 2), small=small, percent=_MOST_TINT * min(1.0, raw))
