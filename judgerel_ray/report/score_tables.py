"""Tables of scores, of people and of matrices on the page, folded where they are long."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.report.label_charts import GROUP, told_columns
from judgerel_ray.report.markup import Column, counts, key_columns, table
from judgerel_ray.report.uncertainty import around, numbers, quantity_name, trials
from judgerel_ray.report.uncertainty_tables import folded
from judgerel_ray.report.words import Row, group_label, interval, number, reason


def scores_tables(scores: pl.DataFrame) -> list[str]:
    """Tabulate every score of a judgment: its mean, how well it ranks, what it takes.

    A folded table a group.

    Parameters
    ----------
    scores : pl.DataFrame
        From :func:`judgerel_ray.reduce.uncertainty_scores.score_table`.

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


def _scores(rows: Sequence[Row], name: str) -> str:
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
    return folded(f"All scores: {name}", table(caption, columns, cards=True))


def quantity_tables(worth: pl.DataFrame) -> list[str]:
    """Tabulate everything that ``reduce --uncertainty`` prints of a group, folded.

    Parameters
    ----------
    worth : pl.DataFrame
        From :func:`judgerel_ray.reduce.uncertainty_worth.uncertainty_summary`.

    Examples
    --------
    >>> quantity_tables(pl.DataFrame())
    []
    """
    if worth.is_empty():
        return []
    told, found = told_columns(worth), []
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
        found.append(folded(f"All quantities: {name}", table(caption, columns, cards=True)))
    return found


def people_table(people: pl.DataFrame) -> str:
    """Tabulate how far people agree.

    Parameters
    ----------
    people : pl.DataFrame
        From :func:`judgerel_ray.reduce.people.people_table`.

    Examples
    --------
    >>> people_table(pl.DataFrame())
    ''
    """
    if people.is_empty():
        return ""
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
    return table("How often two people who rate the same give the same rating (share)", columns)


def sparsity_text(sparsity: pl.DataFrame) -> str:
    """Tabulate how full matrices are by number of options.

    Parameters
    ----------
    sparsity : pl.DataFrame
        From :func:`judgerel_ray.reduce.gallery.sparsity_table`.

    Examples
    --------
    >>> sparsity_text(pl.DataFrame())
    ''
    """
    if sparsity.is_empty():
        return ""
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
    return table("How full matrices are, by number of options (means over matrices)", columns)
