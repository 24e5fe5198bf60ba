"""Selection among the answers of systems, as text.

Systems compared, as text.

Whether judges favour their own answers, as text and on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from judgerel_ray.blocks.blocks import Block, Column, Paragraph, Table
from judgerel_ray.blocks.columns import plain_table, wrapped
from judgerel_ray.blocks.words import (
    NOISE,
    Row,
    costing,
    ends_of,
    interval,
    number,
    p_value,
    reason,
    unit_words,
)

FEW = (
    "Few wrong (or right) answers: fewer than ten questions have one, and how confidence ranks "
    "rests on them."
)
"""What the flag of a ranking says."""
_STEPS = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_EACH = "\nThe chance is of each line by itself: the best of several lines has none."
_REJECTED = (
    "A reply without a verdict, or without a confidence, is rejected: never accepted, and counted "
    "in every denominator."
)


def selection_text(tables: Mapping[str, pl.DataFrame]) -> str:
    """What selection is worth, a block a table.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of :class:`judgerel_ray.analyses.selection.selection.Selection`.

    Examples
    --------
    >>> selection_text({"systems": pl.DataFrame()})
    'no answer whose right answer is known'
    """
    systems = tables["systems"]
    if systems.is_empty():
        return "no answer whose right answer is known"
    blocks = [
        _accuracy(systems.unique("system", keep="first", maintain_order=True).to_dicts()),
        _ranking(systems.filter(pl.col("confidence").is_not_null()).to_dicts()),
        _acceptance(tables["acceptance"]),
        _guarantees(tables["guarantees"].to_dicts()),
        _REJECTED,
    ]
    return "\n\n".join(block for block in blocks if block)


def accuracy_cells(row: Row) -> list[str]:
    """Write a system's accuracy: right of all, share, interval, chance, unread.

    Examples
    --------
    >>> accuracy_cells({"n_right": 3, "n_answers": 4, "accuracy": 0.75, "low": 0.2, "high": 1.0,
    ...                 "noise_floor": 0.25, "noise": True, "p_noise": 0.3, "n_unread": 0})
    ['3 of 4', '0.750', '[0.200, 1.000]', '0.250, not distinguishable from noise', '0']
    """
    by_chance = number(row["noise_floor"]) + (f", {NOISE}" if row["noise"] else "")
    return [
        f"{row['n_right']:,} of {row['n_answers']:,}",
        number(row["accuracy"]),
        interval(row),
        by_chance,
        f"{row['n_unread']:,}",
    ]


def ranking_cells(row: Row) -> list[str]:
    """Write how a confidence ranks: AUROC, AURC, calibration, Brier, rejected.

    Examples
    --------
    See ``tests/cli/test_selection.py``.
    """
    ranked = number(row["auroc"]) + (f", {NOISE}" if row["auroc_noise"] else "")
    if isinstance(row["auroc"], float) and row["auroc"] < 0.5 and row["auroc_noise"] is False:
        ranked += ", surer of wrong answers"
    if row["few"]:
        ranked += f", {reason(row['few'])} answers"
    if row["auroc"] is None and row["undefined"]:
        ranked = f"- ({reason(row['undefined'])})"
    return [
        ranked,
        ends_of(row, "auroc"),
        number(row["aurc"]),
        ends_of(row, "aurc"),
        number(row["aurc_floor"]),
        f"{number(row['ece'])} ({number(row['ece_floor'])})",
        f"{number(row['brier'])} ({number(row['brier_floor'])})",
        f"{row['n_rejected']:,}",
    ]


RANKING_HEADS = (
    "AUROC", "95 %", "AURC", "95 %", "of no use", "ECE (calibrated)", "Brier (by chance)",
    "rejected",
)  # fmt: skip
"""Heads of :func:`ranking_cells`."""


def _accuracy(rows: Sequence[Row]) -> str:
    """Accuracy of every system."""
    lines = [[str(row["system"]), *accuracy_cells(row)] for row in rows]
    heads = ["system", "right", "accuracy", "95 %", "by chance", "unread"]
    questions = sorted({int(str(row["n_questions"])) for row in rows})
    span = f"{questions[0]:,}" if len(questions) == 1 else f"{questions[0]:,} to {questions[-1]:,}"
    told = f"Accuracy if every answer is accepted, of {span} questions; a reply unread is not right"
    left = sum(int(str(row["n_without_gold"])) for row in rows)
    more = f"; {left:,} answers to questions of unknown gold left out" if left else ""
    return f"{told}{more}.\n{plain_table(heads, lines)}"


def _ranking(rows: Sequence[Row]) -> str:
    """How well confidences rank and what they mean."""
    if not rows:
        return "No answer has a confidence: nothing says which to accept."
    lines = [[str(row["system"]), str(row["confidence"]), *ranking_cells(row)] for row in rows]
    table = plain_table(["system", "confidence", *RANKING_HEADS], lines)
    return (
        "Confidence: does it rank right answers above wrong ones, and mean what it says?\n"
        f"{table}\n"
        "AUROC to Brier are of the answers that are not rejected; of no use: the AURC of a "
        "confidence\nthat tells nothing of them. ECE: in "
        f"{rows[0]['n_bins']} bins of equal width; beside it what calibrated confidence would show."
        + (f"\n{FEW}" if any(row["few"] for row in rows) else "")
    )


def _acceptance(acceptance: pl.DataFrame) -> str:
    """Accuracy among the accepted, near round shares accepted."""
    lines = []
    for (system, kind), part in acceptance.group_by("system", "confidence", maintain_order=True):
        rows = part.to_dicts()
        near = {
            min(range(len(rows)), key=lambda t, step=step: abs(rows[t]["acceptance"] - step))  # type: ignore[misc]
            for step in _STEPS
        }
        for t in sorted(near):
            row = rows[t]
            lines.append(
                [
                    str(system), str(kind), f"{row['threshold']:.4g}",
                    f"{row['n_accepted']:,} of {row['n_answers']:,}", number(row["acceptance"]),
                    number(row["accuracy"]), _turned(row, "low", "high"),
                    _turned(row, "band_low", "band_high"),
                ]
            )  # fmt: skip
    if not lines:
        return ""
    heads = ["system", "confidence", "from", "accepted", "share", "accuracy", "95 %", "band"]
    return (
        "Accepted from a confidence on (thresholds that occur, some of them).\n"
        f"{plain_table(heads, lines)}\n"
        "95 %: at this threshold by itself; band: at all thresholds together "
        f"({' or '.join(_bands(acceptance))})."
    )


def _bands(acceptance: pl.DataFrame) -> list[str]:
    """How the bands were made: of several answers a question in one way only."""
    names = [str(one).partition(" ")[0] for one in acceptance["band"]]
    return list(dict.fromkeys(one.partition("-")[0] for one in names))


def _guarantees(rows: Sequence[Row]) -> str:
    """Thresholds with a guarantee."""
    lines = []
    for row in rows:
        if row["threshold"] is None:
            found = [f"none ({reason(row['undefined'])})", "", "", ""]
        else:
            found = [
                f"{row['threshold']:.4g}", f"{row['n_accepted']:,} of {row['n_heldout']:,}",
                number(row["error"]), interval(row),
            ]  # fmt: skip
        lines.append([str(row["system"]), str(row["confidence"]), *found])
    if not lines:
        return ""
    first = rows[0]
    heads = ["system", "confidence", "from", "accepted of held out", "wrong", "95 %"]
    return (
        f"Threshold whose share wrong exceeds {first['risk']:g} with a chance of at most "
        f"{first['delta']:g}: learnt on {first['split']}, tried on the other half.\n"
        f"{plain_table(heads, lines)}" + (_EACH if len(lines) > 1 else "")
    )


def _turned(row: Row, low: str, high: str) -> str:
    """The interval of an accuracy, from that of its error."""
    ends = (row[low], row[high])
    if not all(isinstance(end, float) for end in ends):
        return ""
    return f"[{1 - float(str(row[high])):.3f}, {1 - float(str(row[low])):.3f}]"


FINDINGS = {
    "favours_its_own": "favours its own answer: more than by opinion, and than others who saw it",
    "option_was_shown": "picks it for being shown; whether for being its own is not told",
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


PREFERENCE_NOTE = (
    "Self-preference: where models disagree, how often a judge picks the option that it answered "
    "itself, less how often the same model picks it as evaluator only, on the same questions: what "
    "it held anyway, without its answer before it. p: the two roles exchanged within questions, "
    "exact; noise: spread of the difference under those exchanges, about 0; Holm: over the judges "
    "of this table. Any option that is shown is picked more often, and evaluators are not shown "
    "this one: a judge favours its own where it also picks it more often than the other "
    "participants, who saw the same answers. A judge that half holds its opinion and half picks "
    "what it is shown does both, too: only its own answer under another model's name would tell."
)
"""How self-preference is told."""


def preference_text(rows: Sequence[Row]) -> str:
    """Tell self-preference as text.

    Examples
    --------
    >>> preference_text([])
    ''
    """
    if not rows:
        return ""
    lines = [
        [
            f"{row['judge']}, temperature {row['temperature']}"
            if row["temperature"] is not None
            else str(row["judge"]),
            number(row["difference"]), interval(row),
            f"{number(row['self_picked'])} ({number(row['self_picked_as_evaluator'])})",
            f"{number(row['self_difference'])} {ends_of(row, 'self')}",
            number(row["self_noise_sd"]), str(row["n_self"] or 0), p_value(row["self_p"]),
            p_value(row["self_p_holm"]),
            f"{number(row['self_wrong_picked'])} "
            f"({number(row['self_wrong_picked_as_evaluator'])})",
            f"{number(row['self_wrong_difference'])} {ends_of(row, 'self_wrong')}",
            p_value(row["self_wrong_p_holm"]),
            number(row["own_picked_by_others"]), preference_remark(row),
        ]
        for row in rows
    ]  # fmt: skip
    heads = [
        "judge", "accuracy, participant - evaluator", "95 %", "own picked (as evaluator)",
        "difference, 95 %", "noise", "questions", "p", "Holm", "own wrong one (as evaluator)",
        "difference, 95 %", "Holm", "picked by others", "",
    ]  # fmt: skip
    return f"{plain_table(heads, lines)}\n{wrapped(PREFERENCE_NOTE)}"


_SHARES = {
    "self": "picks its own (as evaluator)",
    "self_wrong": "the same where its own is wrong",
}


def preference_page(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Write the section of the page.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of :class:`judgerel_ray.analyses.selection.systems_compared.SystemComparison`, or none.

    Examples
    --------
    >>> preference_page({})
    []
    """
    if not tables or tables["self_preference"].is_empty():
        return []
    rows = tables["self_preference"].to_dicts()
    columns = [
        Column(head="judge", cells=[str(row["judge"]) for row in rows]),
        Column(
            head="temperature",
            cells=["" if row["temperature"] is None else f"{row['temperature']:g}" for row in rows],
        ),
        Column(
            head="accuracy, participant - evaluator only",
            cells=[number(row["difference"]) for row in rows],
            small=[interval(row) for row in rows],
            is_number=True,
        ),
        *(_picked(head, rows, name) for name, head in _SHARES.items()),
        Column(
            head="other participants pick it",
            cells=[number(row["own_picked_by_others"]) for row in rows],
            is_number=True,
        ),
        Column(head="remark", cells=[preference_remark(row) for row in rows], kind="remark"),
    ]
    return [Paragraph(PREFERENCE_NOTE), Table("Self-preference", columns, cards=True)]


def _picked(head: str, rows: Sequence[Row], name: str) -> Column:
    """How often the own answer is picked, as evaluator, and the difference with its test."""
    return Column(
        head=head,
        cells=[
            f"{number(row[f'{name}_picked'])} ({number(row[f'{name}_picked_as_evaluator'])})"
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


def systems_text(tables: Mapping[str, pl.DataFrame]) -> str:
    """How systems compare on the questions they share, a block a table.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of :class:`judgerel_ray.analyses.selection.systems_compared.SystemComparison`.

    Examples
    --------
    >>> systems_text({"pairs": pl.DataFrame()})
    'no two systems to compare'
    """
    if tables["pairs"].is_empty():
        return "no two systems to compare"
    blocks = [
        _pairs(tables["pairs"].to_dicts()),
        _matched(tables["matched_cost"].to_dicts()),
        preference_text(tables["self_preference"].to_dicts()),
    ]
    return "\n\n".join(block for block in blocks if block)


def _pairs(rows: Sequence[Row]) -> str:
    """Systems two by two."""
    lines = [
        [
            str(row["first"]), str(row["second"]), f"{row['n_questions']:,}",
            _only(row, "first_only"), _only(row, "second_only"), number(row["difference"]),
            interval(row), p_value(row["p"]), p_value(row["p_holm"]),
            number(row["error_difference"]), ends_of(row, "error"), p_value(row["error_p_holm"]),
        ]
        for row in rows
    ]  # fmt: skip
    heads = [
        "first", "second", "questions", "first only", "second only", "second - first", "95 %",
        "p", "Holm", "wrong at equal acceptance", "95 %", "Holm",
    ]  # fmt: skip
    how = {
        "first": "the first reply to each question",
        "majority": "the majority of the replies to each question",
    }[str(rows[0]["answer"])]
    n = rows[0]["n_comparisons"]
    return (
        f"Accuracy on the questions both were asked, joined by question; {how}.\n"
        f"{plain_table(heads, lines)}\n"
        "first only, second only: questions that one alone got right (exact McNemar). Wrong at "
        "equal acceptance: mean\ndifference of the share wrong over the shares accepted that both "
        "reach, of all replies, questions drawn anew for both.\n"
        f"Holm: over these {n} comparisons. The best of several systems looks better than it is: "
        "pick on some questions, tell on others."
    )


def _matched(rows: Sequence[Row]) -> str:
    """Judges against the same cost."""
    if not rows:
        return ""
    lines = []
    for row in rows:
        if row["undefined"] and row["difference"] is None:
            lines.append([str(row["second"]), str(row["baseline"]), reason(row["undefined"])])
            continue
        votes = f"{row['votes']} of {row['votes_wanted']}" if row["baseline"] == "votes" else "1"
        lines.append(
            [
                str(row["second"]), str(row["baseline"]), str(row["first"]), votes,
                costing(row["first_cost"]), costing(row["second_cost"]),
                number(row["difference"]), interval(row), p_value(row["p"]),
                p_value(row["p_holm"]),
            ]
        )  # fmt: skip
    heads = [
        "judge", "baseline", "model", "replies", "its cost", "judge's cost", "judge - baseline",
        "95 %", "p", "Holm",
    ]  # fmt: skip
    padded = [line + [""] * (len(heads) - len(line)) for line in lines]
    return (
        f"The same cost spent otherwise ({unit_words(rows[0])}; a judge pays for the answers it "
        f"compares).\n{plain_table(heads, padded)}\n"
        "single: the best model alone, asked once. votes: its majority of as many replies as the "
        "judge costs (had of wanted).\nThe model is the best on these very questions, which "
        "favours the baseline."
    )


def _only(row: Row, name: str) -> str:
    """A count of questions; a dash where questions have several answers."""
    return "-" if row[name] is None else f"{row[name]:,}"
