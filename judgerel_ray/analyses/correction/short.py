"""The short answer of ``correct``: the corrected score beside the judge's own, and its grounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import polars as pl

from judgerel_ray.analyses.correction.show import RATES, caution_words, saved_words
from judgerel_ray.blocks.blocks import Block, Paragraph
from judgerel_ray.blocks.short import (
    GRAVE,
    HARMFUL,
    PLAIN,
    WEAK,
    Groups,
    Remark,
    Row,
    groups_of,
    short_blocks,
    short_table,
    span,
)
from judgerel_ray.blocks.words import cell, interval, number, percent, reason

_HEADS = {
    "ppi": "corrected [95 %]", "judge_alone": "judge alone", "labels_alone": "labels alone",
    "rogan_gladen": "Rogan-Gladen",
}  # fmt: skip
_HARM = {"transport": HARMFUL, "few_labels": HARMFUL}
_SURE = 0.05


def corrected_short(tables: Mapping[str, pl.DataFrame], command: str | None) -> list[Block]:
    """Lay the short answer out: a row a group, what weakens it, and the labels that it takes.

    Examples
    --------
    >>> from judgerel_ray.analyses.correction.tables import AgreedJudges, AgreedScores
    >>> empty = {"agreed": AgreedScores.frame(), "judges": AgreedJudges.frame()}
    >>> corrected_short(empty, None)[0].text[:47]
    'without labels, if judges err independently of '
    """
    if tables["agreed"].width:
        return _unlabelled_corrected_text(tables["agreed"], tables["judges"], command)
    rows = [*tables["estimates"].iter_rows(named=True)]
    keys = tables["estimates"].columns[: tables["estimates"].columns.index("estimate")]
    groups = groups_of(rows, keys)
    parts = [{row["estimate"]: row for row in part} for part in groups.apart(rows).values()]
    firsts: list[Row] = [{**of["ppi"], "of": of} for of in parts]
    columns = {
        _HEADS["ppi"]: _corrected_value_cell,
        **{head: _corrected_estimate_cell(name) for name, head in _HEADS.items() if name != "ppi"},
        "labels": lambda row: f"{row['n_labels']:,}",
    }
    findings = [
        *(one for row in firsts for one in _correction_remarks(row, groups)),
        *_judge_error_remarks(tables["rates"], groups),
        *_corrected_system_remarks(tables["differences"]),
        *_correction_label_remarks(tables["budget"], groups),
    ]
    first = firsts[0]
    what = "pass rate" if first["measure"] == "rate" else "mean score"
    units = span(row["n_units"] for row in firsts)
    return short_blocks(
        f"{what} of {units} judged units, corrected by labels (PPI++){groups.shared}",
        [
            *short_table(firsts, groups, columns),
            Paragraph("intervals: 95 %, by question, repeats of the judge in them", kind="below"),
        ],
        findings,
        ("see how steady the judge is", command),
        everyone=groups.labels.values(),
    )


def _corrected_value_cell(row: Row) -> str:
    if row["value"] is None:
        return f"none: {reason(row['undefined'])}"
    return f"{number(row['value'])} {interval(row) or '[no interval]'}"


def _corrected_estimate_cell(name: str) -> Callable[[Row], str]:
    return lambda row: number(row["of"].get(name, {}).get("value"))


def _correction_remarks(row: Row, groups: Groups) -> Iterator[Remark]:
    """What weakens the corrected score, and what the judge adds to the labels."""
    who, of = groups.of(row), row["of"]
    for one in of.values():
        if one["undefined"]:
            name = _HEADS[str(one["estimate"])].removesuffix(" [95 %]")
            severity = GRAVE if one is of["ppi"] else WEAK
            text = f"{name}: {reason(one['undefined'])}"
            yield Remark(text=text, who=who, severity=severity)
    for code, text in zip(row["flags"], caution_words(row), strict=True):
        yield Remark(text=text, who=who, severity=_HARM.get(code, WEAK), kind=code)
    if row["value"] is not None:
        yield Remark(text=saved_words(of, "the judge"), who=who, kind="saved")
    if row["replication_share"] is not None:
        text = f"{percent(row['replication_share'])} of the variance is the judge's own repeats"
        yield Remark(text=text, who=who, kind="replications")


def _judge_error_remarks(rates: pl.DataFrame, groups: Groups) -> Iterator[Remark]:
    """How often the judge is right about what people pass, and what they fail."""
    for who, rows in groups.apart(rates.iter_rows(named=True)).items():
        yield Remark(
            text=f"the judge {', '.join(map(_judge_error_rate_words, rows))}", who=who, kind="rates"
        )


def _judge_error_rate_words(row: Row) -> str:
    """How often the judge says what people say, of what they pass or fail."""
    value = reason(row["undefined"]) if row["value"] is None else percent(row["value"])
    ends = "" if row["low"] is None else f" ({percent(row['low'])} to {percent(row['high'])})"
    return f"{RATES[row['rate']]}: {value}{ends} of {row['n_labels']:,.0f}"


def _corrected_system_remarks(rows: pl.DataFrame) -> Iterator[Remark]:
    """Systems compared, by PPI++."""
    for row in rows.filter(estimate="ppi").iter_rows(named=True):
        who = f"{cell(row['a'])} less {cell(row['b'])}"
        if row["value"] is None:
            yield Remark(text=f"no difference: {reason(row['undefined'])}", who=who, severity=WEAK)
            continue
        shown = row["low"] is not None and not row["low"] <= 0 <= row["high"]
        open_ = "" if shown else ", no difference shown"
        text = (
            f"{_corrected_value_cell(row)} (by the judge alone {number(row['judge_alone'])}){open_}"
        )
        yield Remark(text=text, who=who, severity=PLAIN if shown else HARMFUL)


def _correction_label_remarks(rows: pl.DataFrame, groups: Groups) -> Iterator[Remark]:
    """How many labels the wanted width takes."""
    for row in rows.iter_rows(named=True):
        width = f"an interval {number(row['width'], 2)} wide (now {number(row['width_now'], 2)})"
        without = row["needed_without_judge"]
        other = (
            "labelling all would not do" if without is None else f"{without:,} without the judge"
        )
        if row["undefined"]:
            text, severity = f"{width}: {reason(row['undefined'])}", WEAK
        elif row["needed"] is None:
            text, severity = f"{width}: labelling all would not do, judge more questions", HARMFUL
        else:
            text, severity = f"{width} takes {row['needed']:,} labels ({other})", PLAIN
        yield Remark(text=text, who=groups.of(row), severity=severity, kind="budget")


def _unlabelled_corrected_text(
    rows: pl.DataFrame, judges: pl.DataFrame, command: str | None
) -> list[Block]:
    """What judges agree on, where nobody labelled anything."""
    every = [*rows.iter_rows(named=True)]
    keys = rows.columns[: rows.columns.index("value")]
    groups = groups_of(every, keys)
    columns = {
        "if independent [95 %]": _corrected_value_cell,
        "mean of judges": lambda row: number(row["mean_of_judges"]),
        "judges": lambda row: f"{row['n_judges']:,}",
        "worth": lambda row: number(row["effective"], 2),
        "worth by chance": lambda row: number(row["effective_null"], 2),
    }
    findings = []
    for row in every:
        who = groups.of(row)
        if row["undefined"]:
            findings.append(Remark(text=reason(row["undefined"]), who=who, severity=GRAVE))
        if row["p_correlated"] is not None and row["p_correlated"] < _SURE:
            text = "the judges share errors: do not rely on this rate"
            findings.append(Remark(text=text, who=who, severity=GRAVE))
    for row in judges.iter_rows(named=True):
        label = groups.of(row)
        text = f"passes {percent(row['judge_alone'])}; by what they agree on it passes "
        text += f"{percent(row['tpr'])} of what passes, fails {percent(row['tnr'])} of what fails"
        who = f"{label}, {cell(row['judge'])}" if label else cell(row["judge"])
        findings.append(Remark(text=text, who=who))
    findings.append(Remark(
        text="errors that all judges share look like truth; a few labels (--labels FILE) show them",
        severity=HARMFUL,
    ))  # fmt: skip
    return short_blocks(
        f"without labels, if judges err independently of each other: pass rates{groups.shared}",
        short_table(every, groups, columns) if every else [],
        findings,
        ("see what each judge is worth", command),
        everyone=groups.labels.values(),
    )
