"""Systems compared, and whether judges favour their own answers, for terminal and page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Folded,
    Paragraph,
    Table,
    counts,
    estimates,
    row_columns,
)
from judgerel_ray.blocks.words import (
    Row,
    costing,
    ends_of,
    number,
    p_value,
    reason,
    unit_words,
)

READ_PAIRS = (
    "First only, second only: questions that one alone got right; p is exact McNemar's on them. "
    "Wrong at equal acceptance: mean difference of the share wrong over the shares accepted that "
    "both reach, of all replies, questions drawn anew for both. Holm: over these {n_comparisons} "
    "comparisons. The best of several systems looks better than it is on the questions it was "
    "picked by: pick on some questions, report on others."
)
READ_MATCHED = (
    "A judge of others' answers pays for them, too. For as much, the best model alone could be "
    "asked again and outvote itself. Single: that model, asked once; votes: its majority of as "
    "many replies as the judge costs. It is the best on these very questions, which favours the "
    "baseline."
)
READ_PREFERENCE = (
    "Self-preference: where models disagree, how often a judge picks the option that it answered "
    "itself, minus how often the same model picks it on the same questions as evaluator only, when "
    "that answer is not shown (its opinion). p: exact, the two roles exchanged within questions; "
    "noise: spread of the difference under those exchanges, about 0; Holm: over the judges of this "
    "table. Any option is picked more often when it is shown, and evaluators are not shown this "
    "one. So a judge counts as favouring its own answer only where it also picks it more often "
    "than the other participants, who saw the same answers. A judge that goes half by its opinion "
    "and half by what it is shown passes both comparisons, too; only its own answer under another "
    "model's name would settle it."
)
"""How self-preference is told."""
FINDINGS = {
    "favours_its_own": "favours its own answer: more than by opinion, and than others who saw it",
    "option_was_shown": "picks it because it is shown; whether also because it is its own is "
    "not known",
    "avoids_its_own": "avoids its own answer",
    "not_distinguishable": "not distinguishable from its opinion",
}
"""What is found of a judge, in words."""
LACKING = {
    "no_evaluator_only": 'unknown: ask roles = ["participant", "evaluator_only"]',
    "no_own_answer": "unknown: its answer alone is not among those compared",
    "several_answer_temperatures": "unknown: models answered at several temperatures; name the "
    "one that judges compared (answer_temperature)",
    "no_other_judge": "no other participant saw the same answers",
}
"""What self-preference cannot be told without, and what to ask."""
_ANSWERS = {
    "first": "the first reply to each question",
    "majority": "the majority of the replies to each question",
}
_SHARES = {
    "self": "picks its own (as evaluator)",
    "self_wrong": "the same where its own is wrong",
}


def systems_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say how systems compare on the questions they share, and what judges favour.

    Examples
    --------
    >>> systems_blocks({"pairs": pl.DataFrame()})[0].text
    'no two systems to compare'
    """
    if tables["pairs"].is_empty():
        return [Paragraph("no two systems to compare")]
    return [*compared_blocks(tables), *preference_blocks(tables)]


def compared_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say how systems compare two by two, and judges against the same cost.

    Examples
    --------
    >>> compared_blocks({})
    []
    """
    if not tables or tables["pairs"].is_empty():
        return []
    rows = tables["pairs"].to_dicts()
    caption = (
        "Accuracy on the questions both were asked, joined by question; "
        f"{_ANSWERS[rows[0]['answer']]}"
    )
    return [
        Paragraph(READ_PAIRS.format(n_comparisons=rows[0]["n_comparisons"])),
        Folded("All pairs", [Table(caption, _pairs(rows), cards=True)]),
        *_matched(tables["matched_cost"].to_dicts()),
    ]


def _pairs(rows: Sequence[Row]) -> list[Column]:
    """Systems two by two; no counts where questions have several answers."""
    tests = [[p_value(row["p"]), p_value(row["p_holm"])] for row in rows]
    return [
        Column(head="first", cells=[str(row["first"]) for row in rows]),
        Column(head="second", cells=[str(row["second"]) for row in rows]),
        counts("questions", [row["n_questions"] for row in rows]),
        counts("first only", [row["first_only"] for row in rows]),
        counts("second only", [row["second_only"] for row in rows]),
        estimates("second - first [95 %]", rows, "difference"),
        *row_columns(["p", "p, Holm"], tests),
        estimates(
            "wrong at equal acceptance [95 %]", rows, "error_difference",
            lambda row: ends_of(row, "error"),
        ),
        Column(
            head="its p, Holm", cells=[p_value(row["error_p_holm"]) for row in rows],
            is_number=True,
        ),
    ]  # fmt: skip


def _matched(rows: Sequence[Row]) -> list[Block]:
    """Judges against the same cost, or why that cannot be told."""
    if not rows:
        return []
    known = [row["difference"] is not None or not row["undefined"] for row in rows]
    heads = ["judge", "baseline", "model", "replies, had of wanted", "its cost", "judge's cost"]
    lines = [
        [
            str(row["second"]), str(row["baseline"]),
            *([str(row["first"]), _replies(row), costing(row["first_cost"]),
               costing(row["second_cost"])] if is_known else [""] * 4),
        ]
        for row, is_known in zip(rows, known, strict=True)
    ]  # fmt: skip
    tests = [[p_value(row["p"]), p_value(row["p_holm"])] for row in rows]
    remarks = [
        "" if is_known else reason(row["undefined"])
        for row, is_known in zip(rows, known, strict=True)
    ]
    columns = [
        *row_columns(heads, lines, words=heads[:3]),
        estimates("judge - baseline [95 %]", rows, "difference"),
        *row_columns(["p", "p, Holm"], tests),
        Column(head="remark", cells=remarks, kind="remark"),
    ]
    caption = (
        f"The same cost spent on a single model ({unit_words(rows[0])}; a judge pays for the "
        "answers it compares)"
    )
    return [Paragraph(READ_MATCHED), Table(caption, columns, cards=True)]


def _replies(row: Row) -> str:
    """How many replies of a model make the baseline."""
    return f"{row['votes']} of {row['votes_wanted']}" if row["baseline"] == "votes" else "1"


def preference_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say whether judges favour their own answers; nothing where none judged any of its own.

    Examples
    --------
    >>> preference_blocks({})
    []
    """
    if not tables or tables["self_preference"].is_empty():
        return []
    rows = tables["self_preference"].to_dicts()
    heats = ["" if row["temperature"] is None else f"{row['temperature']:g}" for row in rows]
    columns = [
        Column(head="judge", cells=[str(row["judge"]) for row in rows]),
        Column(head="temperature", cells=heats),
        estimates("accuracy, participant - evaluator only [95 %]", rows, "difference"),
        *(_picked(head, rows, name) for name, head in _SHARES.items()),
        estimates("other participants pick it", rows, "own_picked_by_others", lambda _: ""),
        Column(head="remark", cells=[preference_remark(row) for row in rows], kind="remark"),
    ]
    return [Paragraph(READ_PREFERENCE), Table("Self-preference", columns, cards=True)]


def _picked(head: str, rows: Sequence[Row], name: str) -> Column:
    """How often the own answer is picked, as evaluator, and the difference with its test."""
    return Column(
        head=f"{head}, difference [95 %]",
        cells=[
            f"{number(row[f'{name}_picked'])} ({number(row[f'{name}_picked_as_evaluator'])})"
            if row[f"n_{name}"]
            else "-"
            for row in rows
        ],
        small=[
            f"{number(row[f'{name}_difference'])} {ends_of(row, name)} of {row[f'n_{name}']}, "
            f"p {p_value(row[f'{name}_p'])}, Holm {p_value(row[f'{name}_p_holm'])}, "
            f"noise {number(row[f'{name}_noise_sd'])}"
            if row[f"n_{name}"]
            else ""
            for row in rows
        ],
        is_number=True,
    )


def preference_remark(row: Row) -> str:
    """Say what is found of a judge's preference for its own answer, or what is lacking.

    Examples
    --------
    >>> preference_remark({"finding": "avoids_its_own", "undefined": None})
    'avoids its own answer'
    >>> preference_remark({"finding": None, "undefined": "no_evaluator_only"})
    'unknown: ask roles = ["participant", "evaluator_only"]'
    """
    parts = [FINDINGS.get(str(row["finding"]), ""), LACKING.get(str(row["undefined"]), "")]
    return "; ".join(part for part in parts if part)
