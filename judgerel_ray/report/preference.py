"""Whether judges favour their own answers, in lines and on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from judgerel_ray.report.columns import wrapped
from judgerel_ray.report.markup import Column, paragraph, table
from judgerel_ray.report.selection_text import ends_of
from judgerel_ray.report.terminal import plain_table
from judgerel_ray.report.words import Row, interval, number, p_value

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
    """Tell self-preference in lines.

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


def preference_page(tables: Mapping[str, pl.DataFrame]) -> str:
    """Write the section of the page.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of :class:`judgerel_ray.reduce.systems_compared.SystemComparison`, or none.

    Examples
    --------
    >>> preference_page({})
    ''
    """
    if not tables or tables["self_preference"].is_empty():
        return ""
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
    return paragraph(PREFERENCE_NOTE) + table("Self-preference", columns, cards=True)


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
