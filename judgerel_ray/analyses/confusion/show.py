"""What confusion matrices say of single judgments: labels, scores, people, single matrices.

The same blocks for terminal and page, and the few sentences that lead a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import polars as pl

from judgerel_ray.analyses.confusion.figures import (
    GROUP,
    acceptance_figures,
    acceptance_tables,
    accuracy_figures,
    curve_tables,
    labels_table,
    matched_figures,
    matched_tables,
    people_blocks,
    quantity_tables,
    scores_tables,
    share_figures,
    threshold_figures,
    transfer_tables,
    varying_columns,
)
from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Figures,
    FirstScreen,
    Gallery,
    Heat,
    Paragraph,
    Section,
    Table,
    Tint,
    counts,
    key_columns,
    numeric,
    rounded,
)
from judgerel_ray.blocks.words import (
    Row,
    cell,
    flag_words,
    group_label,
    number,
    percent,
    percent_interval,
)
from judgerel_ray.measuring.unstable import QuestionTexts, question_text

if TYPE_CHECKING:
    from judgerel_ray.analyses.confusion.confusion import UncertaintyTables
    from judgerel_ray.analyses.confusion.matrices import Picked


def _lead_of_uncertainty(worth: pl.DataFrame) -> list[Block]:
    """Say first how accuracy differs by label, and whether the margin tells right from wrong."""
    varying = varying_columns(worth)
    groups = worth.partition_by(varying, maintain_order=True)
    rows = [_leading_uncertainty_rows(part) for part in groups]
    first = [part.row(0, named=True) for part in groups]
    nothing = dict.fromkeys(("n", "value", "low", "high"))

    def shown(head: str, name: str) -> Column:
        quantities = [row.get(name, nothing) for row in rows]
        return numeric(
            head,
            [percent(one["value"]) for one in quantities],
            [percent_interval(one["low"], one["high"]) for one in quantities],
        )

    ranks = [row.get("auroc", nothing) for row in rows]
    columns = [
        *key_columns(first, varying),
        counts("judgments", [row.get("accuracy", nothing)["n"] for row in rows]),
        shown("right", "accuracy"),
        shown("right where uncertainty is low", "accuracy_low"),
        shown("right where it is high", "accuracy_high"),
        shown("share of low", "share_low"),
        numeric(
            "AUROC of the margin",
            [number(one["value"], 2) for one in ranks],
            [_uncertainty_interval_cell(one) for one in ranks],
        ),
        Column(
            head="remark", cells=[_uncertainty_group_remark(row) for row in rows], kind="remark"
        ),
    ]
    caption = "Right judgments by label of uncertainty, in percent with 95 % intervals"
    how = Paragraph(
        "A judge wrote an assessment for every option in turn, and read the probability of every "
        "option after each. Uncertainty is low where one option stays likely whatever was argued, "
        "and it is the judge's own verdict. Labels are by thresholds chosen on other judgments "
        "(cross-fitted). AUROC: how often a right judgment has the larger margin than a wrong one; "
        "0.5 is no better than chance.",
        "soft",
    )
    return [Table(caption, columns, cards=True), how]


def _leading_uncertainty_rows(part: pl.DataFrame) -> dict[str, Row]:
    """The first row of each quantity: the labels that lead come first."""
    found: dict[str, Row] = {}
    for row in part.iter_rows(named=True):
        found.setdefault(str(row["quantity"]), row)
    return found


def _uncertainty_interval_cell(row: Row) -> str:
    """The interval of a number that is no percentage."""
    return "" if row["low"] is None else f"[{number(row['low'], 2)}, {number(row['high'], 2)}]"


def _uncertainty_group_remark(row: Mapping[str, Row | None]) -> str:
    """What a reader must know of a group."""
    rank = row.get("auroc")
    left_out = row.get("no_majority")
    if left_out is not None:
        text = f"{left_out['k']} of {left_out['n']} without a label that most people gave left out"
        return "; ".join(
            one for one in (text, _uncertainty_group_remark({**row, "no_majority": None})) if one
        )
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


READ_MATRIX = (
    "A matrix holds the probability of every option after each assessment: the judge argues for "
    "every option in turn (in mode single it reads all that was argued at once). u of an option is "
    "its mean probability over the assessments. The margin is the largest u less the second "
    "largest, 0 where the matrix prefers another option than the judge did: the share of all "
    "thresholds at which a judgment is of low uncertainty."
)
READ_QUANTITIES = (
    "By matrix: the option of the largest u is taken; by model: that of a small model fitted on "
    "other judgments. Error of surest 25: share wrong among the quarter of the largest margins. "
    "Excess AURC: what of AURC (the share wrong, averaged over all shares accepted) would go were "
    "every right judgment surer than every wrong one. Guaranteed threshold: the margin from which "
    "at most the stated share is wrong, proven but for the stated chance; guaranteed share: the "
    "judgments that reach it. Conformal sets: every option of large enough u, calibrated so that "
    "at most the stated share of sets misses the right one; coverage: how often they hold it; "
    "size: how many options they hold."
)
READ_ACCURACY = (
    "Accuracy: share of the judge's own verdicts that are the right option (its gold, else the one "
    "label that most of its people gave; no majority counts the items that have none, which are "
    "left out). Such labels exist only where people agree, so compare people's agreement with the "
    "share of people matched, not with accuracy. Low, high: labels of uncertainty. Intervals are "
    "95 %: exact where every text is judged once, else by text. A few judgments prove little: with "
    "three right of three the accuracy may be 29 %. In rows marked optimistic, and only there, the "
    "threshold was chosen on the same judgments that it is scored on: it is the one that looks "
    "best on these."
)
READ_MATCHED = (
    "judge: the share of an item's people who gave the judge's label, mean over items. person: the "
    "same for each person in turn, against the item's other people; a judge that answers like one "
    "more person reaches this value. No majority is formed, so items on which people differ count "
    "like all others (split: items without a single most frequent label). Each kind of rater has "
    "its own row. low, high: judgments of low and of high uncertainty, each beside people on the "
    "same items. by chance: the judge's labels shuffled across items, and people's likewise. "
    "Intervals are over texts, for the people who rated."
)
READ_SCORES = (
    "Signed margin: u of the judge's own verdict less the largest other u. Worst case: the least "
    "probability that the verdict keeps after any assessment. Suggestibility: how much more "
    "probable an option is after its own assessment than after the others. Dobrushin: how far two "
    "assessments pull the probabilities apart at most (total variation). Mutual information: of "
    "the assessment shown and the option. These three need assessments that are read one by one, "
    "so mode single has none of them. AUROC: 0.5 is no better than chance. AURC: the share wrong, "
    "averaged over all shares accepted. Few wrong, or right: fewer than ten texts have such a "
    "judgment, and both numbers rest on them. Beside the scores of a matrix stand plain ones where "
    "the run has them: agreement of replications (as many as cost no more than the matrix) and the "
    "verdict's own probability. Tokens an item are those computed for prompts (what the prefix "
    "cache gave left out, where the engine tells) and generated."
)
LABEL_LEGEND = [
    ("point", "low uncertainty, by thresholds that never saw the judgments they label"),
    ("noise", "high uncertainty"),
    ("baseline", "all judgments: what the labels are held against"),
]
MATCHED_LEGEND = [
    *LABEL_LEGEND[:2],
    ("baseline", "all judgments"),
    ("people", "a person held out, on the same items"),
]
THRESHOLD_LEGEND = [
    ("line", "accuracy of low uncertainty"),
    ("area", "its 95 % interval, at each threshold by itself"),
    ("other", "accuracy of high uncertainty"),
    ("share", "share of low uncertainty"),
    ("baseline", "accuracy of all judgments"),
    ("stated", "a threshold the sweep states"),
    ("in_sample", "the threshold that looks best here: optimistic"),
]
_MOST_TINT = 45.0  # percent of the mark's colour: text stays readable on it, light and dark


def uncertainty_blocks(tables: UncertaintyTables) -> list[Block]:
    """Say what uncertainty labels and scores are worth.

    Examples
    --------
    >>> from judgerel_ray import example, uncertainty
    >>> uncertainty_blocks(uncertainty(example("run")))[0].text
    'All judgments: template default, temperature 0, mode single'
    """
    if tables.worth.is_empty():
        return [Paragraph("no confusion matrix has landed")]
    return [
        *_uncertainty_shared_names(tables.worth),
        *_uncertainty_accuracy(tables),
        *_uncertainty_people_tables(tables),
        *labels_table(tables.labels, by_criterion=True),
        *_uncertainty_carried_part(tables),
        *_confusion_score_section(tables),
    ]


def _uncertainty_shared_names(worth: pl.DataFrame) -> list[Block]:
    """What all groups have alike, so that none is named by it."""
    varying, row = varying_columns(worth), worth.row(0, named=True)
    names = [name for name in GROUP if name not in varying and row[name] is not None]
    sentence = ", ".join(f"{name} {cell(row[name])}" for name in names)
    return [Paragraph(f"All judgments: {sentence}")] if sentence else []


def uncertainty_sections(
    tables: UncertaintyTables, replies: pl.DataFrame, questions: QuestionTexts
) -> list[FirstScreen | Section]:
    """Make the sections of a page; `questions` has the texts of single ones, where they are known.

    replies: judge, benchmark, ``role`` (judge for its own verdicts, assessor for assessments),
    ``outcome`` (null for an assessment written) and ``n``.

    Examples
    --------
    See ``tests/analyses/confusion/test_show.py``.
    """
    if tables.worth.is_empty():
        return []
    return [
        FirstScreen(blocks=_lead_of_uncertainty(tables.worth)),
        Section("Verdicts and assessments", _confusion_outcome_table(replies)),
        Section("Accuracy by label", _uncertainty_accuracy(tables)),
        Section("People", _uncertainty_people_tables(tables)),
        Section("Share of low uncertainty", _low_uncertainty_tables(tables)),
        Section("The threshold", _uncertainty_cutoff_part(tables)),
        Section("Thresholds used elsewhere", _uncertainty_carried_part(tables)),
        Section(
            "Scores without a threshold",
            [*_uncertainty_error_part(tables), *_confusion_score_section(tables)],
        ),
        Section("Single matrices", _confusion_matrix_gallery(tables, questions)),
    ]


_ROLES = {"judge": "own verdicts", "assessor": "assessments"}
_SCORED = "scored"


def _confusion_outcome_table(replies: pl.DataFrame) -> list[Block]:
    """What became of verdicts and assessments: what nobody argues is a column not there."""
    if replies.is_empty():
        return []
    counted = replies.with_columns(pl.col("outcome").fill_null(_SCORED))
    groups = counted.partition_by("judge", "benchmark", "role", maintain_order=True)
    rows = [part.row(0, named=True) for part in groups]
    absent = sorted(set(counted["outcome"]) - {_SCORED})

    def number_of(part: pl.DataFrame, outcome: str) -> int:
        return int(part.filter(pl.col("outcome") == outcome)["n"].sum())

    columns = [
        *key_columns(rows, ["judge", "benchmark"]),
        Column(head="asked for", cells=[_ROLES[str(row["role"])] for row in rows]),
        counts("requests", [int(part["n"].sum()) for part in groups]),
        counts("given", [number_of(part, _SCORED) for part in groups]),
        *(
            counts(name.replace("_", " "), [number_of(part, name) for part in groups])
            for name in absent
        ),
    ]
    note = Paragraph(
        "A judgment without a verdict counts as wrong. An option that a judge would not argue is a "
        "column its matrix does not have; means are over the others."
    )
    return [Table("Verdicts and assessments, counted", columns), *([note] if absent else [])]


def _uncertainty_accuracy(tables: UncertaintyTables) -> list[Block]:
    """Accuracy by label beside the baseline."""
    return [
        Paragraph(READ_MATRIX),
        Paragraph(READ_ACCURACY),
        Figures(accuracy_figures(tables.labels), LABEL_LEGEND),
        *labels_table(tables.labels, by_criterion=False),
        Paragraph(READ_QUANTITIES),
        *quantity_tables(tables.worth),
    ]


def _uncertainty_people_tables(tables: UncertaintyTables) -> list[Block]:
    """Judges against people, and how far people agree among themselves."""
    agreement = people_blocks(tables.people)
    if tables.against_people.is_empty():
        return agreement
    figures = list(matched_figures(tables.against_people))
    return [
        Paragraph(READ_MATCHED),
        Figures(figures, MATCHED_LEGEND),
        *matched_tables(tables.against_people),
        *agreement,
    ]


def _low_uncertainty_tables(tables: UncertaintyTables) -> list[Block]:
    """Share of low by judge, benchmark and criterion."""
    figures = share_figures(tables.labels)
    if not figures:
        return []
    intro = Paragraph(
        "Share of the judgments that are of low uncertainty, with 95 % intervals; the rest is "
        "high. Labels are cross-fitted unless a threshold was given."
    )
    return [intro, Figures(figures), *labels_table(tables.labels, by_criterion=True)]


def _uncertainty_cutoff_part(tables: UncertaintyTables) -> list[Block]:
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
    intro = Paragraph(
        "What every threshold gives on these judgments: low where the second largest u lies below "
        "the threshold and the largest reaches it. A threshold picked for its height here is worth "
        "less on others (the accuracies beside it under Accuracy by label are cross-fitted), and "
        "where few judgments are low the line moves with each of them."
        + (algebra if pairs.any() else "")
    )
    has_stated = "threshold" in tables.labels["kind"]
    entries = [one for one in THRESHOLD_LEGEND if one[0] != "stated" or has_stated]
    return [intro, Figures(figures, entries), *curve_tables(tables.curves)]


def _uncertainty_carried_part(tables: UncertaintyTables) -> list[Block]:
    """Thresholds carried to other benchmarks, judges and criteria."""
    found = transfer_tables(tables.transfer)
    if not found:
        return []
    intro = Paragraph(
        "The row says where a threshold was chosen (it makes the share of low among right "
        "judgments minus that among wrong ones largest), the column where it was used; on the "
        "diagonal labels are cross-fitted. No judgment is labelled by a threshold it helped to "
        "choose."
    )
    return [intro, *found]


def _uncertainty_error_part(tables: UncertaintyTables) -> list[Block]:
    """Share wrong against share accepted."""
    figures = acceptance_figures(tables.acceptance)
    if not figures:
        return []
    intro = Paragraph(
        "Accepting judgments from the largest margin down, the line is the share "
        "wrong among those accepted, with 95 % intervals at each point by itself."
    )
    return [intro, Figures(figures), *acceptance_tables(tables.acceptance)]


def _confusion_score_section(tables: UncertaintyTables) -> list[Block]:
    """The margin and other scores, and the baselines at their cost."""
    return [Paragraph(READ_SCORES), *scores_tables(tables.scores)]


def _confusion_matrix_gallery(tables: UncertaintyTables, questions: QuestionTexts) -> list[Block]:
    """A handful of matrices, and how they were chosen."""
    if not tables.picked:
        return []
    intro = Paragraph(
        "Of each judge, by name the first four: the matrix of the largest margin (not of a wrong "
        "verdict), that whose two largest u lie closest, and that of the largest margin among "
        "wrong verdicts; nothing else was looked at. Rows are options, columns the assessments "
        "shown; each cell is the option's probability, raw and (small) scaled so that its column "
        "sums to 1. u is the mean of a row."
    )
    shown = [_confusion_matrix_laid_out(one, questions) for one in tables.picked]
    return [intro, Gallery(shown), *_confusion_sparsity_table(tables.sparsity)]


def _confusion_sparsity_table(sparsity: pl.DataFrame) -> list[Block]:
    """How full matrices are by number of options."""
    if sparsity.is_empty():
        return []
    rows = sparsity.to_dicts()
    columns = [
        *key_columns(rows, ["judge"]),
        counts("options", [row["n_options"] for row in rows]),
        counts("matrices", [row["n_matrices"] for row in rows]),
        rounded("probability of the option argued for", rows, "argued"),
        rounded("of each other option", rows, "other"),
        rounded("even odds", rows, "even"),
        rounded("other cells below 0.01", rows, "empty"),
    ]
    return [Table("How full matrices are, by number of options (means over matrices)", columns)]


def _confusion_matrix_laid_out(one: Picked, questions: QuestionTexts) -> Heat:
    """Lay out one matrix: options are rows, assessments columns, probabilities raw and scaled.

    Colour repeats the numbers and says nothing of its own; the judge's own verdict and the right
    option are marked in words.
    """
    cells, judgment = one.cells(), one.matrix.row
    argued = list(dict.fromkeys(place["argued"] for place in cells))
    options = cast("Sequence[str]", judgment["options"])
    shares = dict(zip(options, cast("Sequence[float]", judgment["u"]), strict=True))
    by_place = {(place["option"], place["argued"]): place for place in cells}
    rows = []
    for option in options:
        marks = [
            word
            for name, word in (("chosen", "own verdict"), ("right", "right"))
            if judgment[name] == option
        ]
        tinted = [_confusion_cell_tint(by_place[option, assessed]) for assessed in argued]
        rows.append((option, " · ".join(marks), [*tinted, Tint(text=number(shares[option], 2))]))
    question = question_text(judgment, questions)
    asked = f"; {question}" if question else ""
    named = group_label(judgment, ("judge", "benchmark", "item_id"))
    caption = f"{one.why}: {named}{asked}; {_confusion_standing_words(judgment)}"
    heads = ["all argued" if assessed is None else f"for {assessed}" for assessed in argued]
    return Heat(caption=caption, heads=["option", *heads, "u"], rows=rows)


def _confusion_standing_words(judgment: Row) -> str:
    """How sure, and whether right, in words."""
    margin = f"margin {number(judgment['margin'], 2)}"
    if judgment["correct"] is None:
        return f"{margin}, right option unknown"
    return f"{margin}, {'right' if judgment['correct'] else 'wrong'}"


def _confusion_cell_tint(place: Mapping[str, object]) -> Tint:
    """One probability; a dash where the judge would not argue."""
    raw, scaled = place["probability"], place["scaled"]
    if not isinstance(raw, float):
        return Tint(text="-")
    small = "" if scaled is None else number(scaled, 2)
    return Tint(text=number(raw, 2), small=small, percent=_MOST_TINT * min(1.0, raw))
