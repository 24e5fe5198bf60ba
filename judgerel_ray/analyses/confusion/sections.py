"""Sections of the page on the uncertainty of single judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from judgerel_ray.analyses.confusion.label_charts import (
    acceptance_figures,
    accuracy_figures,
    share_figures,
    threshold_figures,
)
from judgerel_ray.analyses.confusion.lead import Uncertain
from judgerel_ray.analyses.confusion.page_tables import (
    acceptance_tables,
    curve_tables,
    heat_table,
    labels_table,
    people_table,
    quantity_tables,
    scores_tables,
    sparsity_text,
    transfer_tables,
)
from judgerel_ray.analyses.confusion.people_text import matched_section
from judgerel_ray.analyses.reliability.page import Questions, question_text
from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Figures,
    Gallery,
    Heat,
    Paragraph,
    Section,
    Table,
    counts,
    key_columns,
)

if TYPE_CHECKING:  # pages without matrices load nothing of how they are scored
    from judgerel_ray.analyses.confusion.matrices import Picked
    from judgerel_ray.analyses.confusion.tables import UncertaintyTables

LABEL_LEGEND = [
    ("point", "low uncertainty, by thresholds that never saw the judgments they label"),
    ("noise", "high uncertainty"),
    ("baseline", "all judgments: what the labels are held against"),
]
THRESHOLD_LEGEND = [
    ("line", "accuracy of low uncertainty"),
    ("area", "its 95 % interval, at each threshold by itself"),
    ("other", "accuracy of high uncertainty"),
    ("share", "share of low uncertainty"),
    ("baseline", "accuracy of all judgments"),
    ("stated", "a threshold the sweep states"),
    ("lucky", "the threshold that looks best here: optimistic"),
]


def uncertainty_sections(found: Uncertain, questions: Questions) -> list[Block]:
    """Write the sections; `questions` has the texts of single ones, where they are known.

    Examples
    --------
    See ``tests/analyses/confusion/test_sections.py``.
    """
    tables = found.tables
    if tables.worth.is_empty():
        return []
    people = [*matched_section(tables.against_people), *people_table(tables.people)]
    return [
        Section("Verdicts and assessments", _replies(found.replies)),
        Section("Accuracy by label", _accuracy(tables)),
        Section("People", people),
        Section("Share of low uncertainty", _shares(tables)),
        Section("The threshold", _threshold(tables)),
        Section("Thresholds used elsewhere", _transfer(tables)),
        Section("Scores without a threshold", _scores(tables)),
        Section("Single matrices", _gallery(tables, questions)),
    ]


_ROLES = {"judge": "own verdicts", "assessor": "assessments"}
_GIVEN = "scored"


def _replies(replies: pl.DataFrame) -> list[Block]:
    """What became of verdicts and assessments: what nobody argues is a column not there."""
    if replies.is_empty():
        return []
    counted = replies.with_columns(pl.col("outcome").fill_null(_GIVEN))
    groups = counted.partition_by("judge", "benchmark", "role", maintain_order=True)
    rows = [part.row(0, named=True) for part in groups]
    absent = sorted(set(counted["outcome"]) - {_GIVEN})

    def number_of(part: pl.DataFrame, outcome: str) -> int:
        return int(part.filter(pl.col("outcome") == outcome)["n"].sum())

    columns = [
        *key_columns(rows, ["judge", "benchmark"]),
        Column(head="asked for", cells=[_ROLES[str(row["role"])] for row in rows]),
        counts("requests", [int(part["n"].sum()) for part in groups]),
        counts("given", [number_of(part, _GIVEN) for part in groups]),
        *(
            counts(name.replace("_", " "), [number_of(part, name) for part in groups])
            for name in absent
        ),
    ]
    told = Paragraph(
        "A judgment without a verdict counts as wrong. An option that a judge would not argue is a "
        "column its matrix does not have; means are over the others."
    )
    return [Table("Verdicts and assessments, counted", columns), *([told] if absent else [])]


def _accuracy(tables: UncertaintyTables) -> list[Block]:
    """Accuracy by label beside the baseline."""
    figures = accuracy_figures(tables.labels)
    told = Paragraph(
        "Bars are 95 % intervals: exact where every text is judged once, else by text. A few right "
        "of a few prove little: three of three may be 29 %. Rows marked optimistic are of the "
        "threshold that looks best on the very judgments they are told of."
    )
    body = labels_table(tables.labels, by_criterion=False)
    drawn: list[Block] = [told, Figures(figures, LABEL_LEGEND)] if figures else []
    return [*drawn, *body, *quantity_tables(tables.worth)]


def _shares(tables: UncertaintyTables) -> list[Block]:
    """Share of low by judge, benchmark and criterion."""
    figures = share_figures(tables.labels)
    if not figures:
        return []
    told = Paragraph(
        "Share of the judgments that are of low uncertainty, with 95 % intervals; the rest is "
        "high. Labels are cross-fitted unless a threshold was given."
    )
    return [told, Figures(figures), *labels_table(tables.labels, by_criterion=True)]


def _threshold(tables: UncertaintyTables) -> list[Block]:
    """Accuracy and share of low against the threshold."""
    figures = threshold_figures(tables.curves, tables.labels)
    if not figures:
        return []
    pairs = tables.judgments["options"].list.len() == 2
    algebra = (
        " With two options whose probabilities sum to 1, thresholds t and 1 - t give the same "
        "labels, so a curve that rises on both sides of one half is arithmetic, not the judge's "
        "doing."
    )
    told = Paragraph(
        "What every threshold gives on these judgments: low where the second largest u lies below "
        "the threshold and the largest reaches it. A threshold picked for its height here is worth "
        "less on others (the accuracies beside it under Accuracy by label are cross-fitted), and "
        "where few judgments are low the line moves with each of them."
        + (algebra if pairs.any() else "")
    )
    entries = [
        entry
        for entry in THRESHOLD_LEGEND
        if entry[0] != "stated" or _has_stated(tables.labels)
    ]  # fmt: skip
    return [told, Figures(figures, entries), *curve_tables(tables.curves)]


def _has_stated(labels: pl.DataFrame) -> bool:
    """Whether any threshold was stated."""
    return labels.filter(pl.col("kind") == "threshold").height > 0


def _transfer(tables: UncertaintyTables) -> list[Block]:
    """Thresholds carried to other benchmarks, judges and criteria."""
    found = transfer_tables(tables.transfer)
    if not found:
        return []
    told = Paragraph(
        "A threshold chosen where the row says (largest share of low among right judgments less "
        "that among wrong ones), used where the column says; on the diagonal labels are "
        "cross-fitted. No judgment is labelled by a threshold it helped to choose."
    )
    return [told, *found]


def _scores(tables: UncertaintyTables) -> list[Block]:
    """The margin and other scores, and the baselines at their cost."""
    figures = acceptance_figures(tables.acceptance)
    told = Paragraph(
        "The margin is the largest u less the second largest, 0 where the matrix prefers another "
        "option than the judge did: the share of all thresholds at which a judgment is of low "
        "uncertainty. Accepting judgments from the largest margin down, the line is the share "
        "wrong among those accepted, with 95 % intervals at each point by itself."
    )
    plain = Paragraph(
        "Beside the scores of a matrix stand plain ones where the run has them: agreement of "
        "replications (as many as cost no more than the matrix) and the verdict's own probability. "
        "Tokens are those computed for prompts and generated.",
        "soft",
    )
    drawn = [told, Figures(figures), *acceptance_tables(tables.acceptance)] if figures else []
    return [*drawn, *scores_tables(tables.scores), plain]


def _gallery(tables: UncertaintyTables, questions: Questions) -> list[Block]:
    """A handful of matrices, and how they were chosen."""
    if not tables.picked:
        return []
    told = Paragraph(
        "Of each judge, by name the first four: the matrix of the largest margin (not of a wrong "
        "verdict), that whose two largest u lie closest, and that of the largest margin among "
        "wrong verdicts; nothing else was looked at. Rows are options, columns the assessments "
        "shown; each cell is the option's probability, raw and (small) scaled so that its column "
        "sums to 1. u is the mean of a row."
    )
    shown = [_picked(one, questions) for one in tables.picked]
    return [told, Gallery(shown), *sparsity_text(tables.sparsity)]


def _picked(one: Picked, questions: Questions) -> Heat:
    """One matrix."""
    row = one.matrix.row
    return heat_table(one.cells(), row, why=one.why, question=question_text(row, questions))
