"""Corrected scores in words and tables, for terminal and page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from judgerel_ray.analyses.correction.correction import FEW, Caution, CorrectionTables
from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    FirstScreen,
    Lines,
    Paragraph,
    Section,
    Table,
    counts,
    estimates,
    numeric,
    rounded,
    texts,
)
from judgerel_ray.blocks.short import Row
from judgerel_ray.blocks.words import group_label, interval, number, percent, reason
from judgerel_ray.core.text import count_of

_HEADS = {
    "judge_alone": "judge alone",
    "labels_alone": "labels alone",
    "ppi": "judge corrected by labels (PPI++)",
    "rogan_gladen": "judge corrected by its rates (Rogan-Gladen)",
}
_SHORT = {"ppi": "PPI++", "rogan_gladen": "Rogan-Gladen"}
RATES = {"tpr": "passes what people pass", "tnr": "fails what people fail"}
CAUTIONS = {
    Caution.FEW_LABELS: "labels of fewer than {few} questions: coverage was shown from {few} on",
    Caution.TRANSPORT: "the judge says otherwise of labelled items than of the rest, so labels may "
    "be of another kind of items; where they were not drawn at random, only Rogan-Gladen may hold",
    Caution.UNMATCHED: "{unmatched} of nothing that was judged, left out",
    Caution.RATERS_DISAGREE: "people disagree about some items; their mean is what is estimated",
}
_SOME_WEIGHT = 0.005  # less is printed as 0
_READ = (
    "Intervals are 95 %, clustered by question; replications of the judge are part of them. "
    "Weight: how far the judge is followed, 0 for labels alone. Own noise: share of the variance "
    "that comes from the judge's own replications; more replications take it away."
)
_READ_AGREED = (
    "Without labels this rests on one assumption: judges err independently of each other, given "
    "what is true. Errors that all judges share look like truth, and no number here can show them; "
    "a few labels can. Worth: independent judges that would do as well, by their errors against "
    "what they agree on; below what independent errors would give, they share errors."
)


def correction_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say corrected scores: the pass rate first and how far it may be trusted, then its grounds.

    Examples
    --------
    >>> from judgerel_ray.analyses.correction.tables import AgreedJudges, AgreedScores
    >>> empty = {"agreed": AgreedScores.frame(), "judges": AgreedJudges.frame()}
    >>> correction_blocks(empty)[0].text[:24]
    'Without labels this rest'
    """
    if tables["agreed"].width:
        return _agreed_blocks(tables["agreed"], tables["judges"])
    rows = tables["estimates"]
    keys = rows.columns[: rows.columns.index("estimate")]
    groups: list[list[Row]] = [
        [*part.to_dicts()] for _, part in rows.group_by(keys or ["measure"], maintain_order=True)
    ]
    found: list[Block] = [Paragraph(_corrected_score_lead(part, keys), "lead") for part in groups]
    cautions = [
        text
        for part in groups
        for text in _correction_cautions(part, keys, several=len(groups) > 1)
    ]
    found += [Lines(cautions, "cautions")] if cautions else []
    found += [_corrected_estimate_table(part, group_label(part[0], keys)) for part in groups]
    found += _judge_error_table(tables["rates"].to_dicts(), keys)
    found += _corrected_system_table(tables["differences"].to_dicts())
    found += _correction_label_table(tables["budget"].to_dicts(), keys)
    return [*found, Paragraph(_READ, "soft")]


def correction_sections(found: CorrectionTables) -> list[FirstScreen | Section]:
    """Make the section of a page on corrected scores, and their column of its first screen."""
    blocks = correction_blocks(found.tables())
    return [
        FirstScreen(column=partial(_corrected_beside_verdicts, found.estimates)),
        Section("Scores without the judge's errors", blocks, place="first"),
    ]


def _corrected_beside_verdicts(estimates: pl.DataFrame, groups: Sequence[Row]) -> Column:
    """Corrected scores of the groups that a page says a verdict of."""
    names = estimates.columns[: estimates.columns.index("estimate")]
    rows = estimates.filter(estimate="ppi").to_dicts()
    known = {tuple(row[name] for name in names): row for row in rows}
    found = [known.get(tuple(group.get(name) for name in names)) for group in groups]
    return numeric(
        "score, corrected by labels",
        ["-" if row is None else number(row["value"]) for row in found],
        ["" if row is None else interval(row) for row in found],
    )


def _corrected_score_lead(part: Sequence[Row], keys: Sequence[str]) -> str:
    """What is the pass rate, and how far may it be trusted."""
    of = {str(row["estimate"]): row for row in part}
    ppi, alone = of["ppi"], of["judge_alone"]
    label = group_label(ppi, keys)
    who = f"{label}: " if label else ""
    what = "pass rate" if ppi["measure"] == "rate" else "mean score"
    if ppi["value"] is None:
        return f"{who}the {what} cannot be corrected: {reason(ppi['undefined'])}."
    off = alone["value"] - ppi["value"]
    labels = count_of(ppi["n_labels"], "label")
    units = count_of(ppi["n_units"], "judged unit")
    text = f"{who}{what} {number(ppi['value'])} {interval(ppi)}, from {labels} and {units}. "
    text += f"The judge alone gives {number(alone['value'])}, "
    text += f"{abs(off):.3f} {'higher' if off > 0 else 'lower'}; "
    return f"{text}{saved_words(of)}."


def saved_words(of: Mapping[str, Row], subject: str = "using it") -> str:
    """Say what the judge adds to the labels, of the estimates of one group by name.

    Examples
    --------
    >>> row = {"value": 0.5, "low": 0.4, "high": 0.6, "weight": 0.0}
    >>> saved_words({"ppi": row, "labels_alone": row})
    'the judge adds nothing to the labels'
    """
    ppi, bare = of["ppi"], of["labels_alone"]
    low, high = _corrected_interval_cell(ppi)
    labels_low, labels_high = _corrected_interval_cell(bare)
    saved = 1 - (high - low) / (labels_high - labels_low) if labels_high > labels_low else 0.0
    # Without weight the ends differ by their methods alone.
    if saved > 0 and ppi["weight"] >= _SOME_WEIGHT:
        narrower = f"{subject} makes the interval {percent(saved)} narrower"
        return f"{narrower} than that of the labels alone"
    return "the judge adds nothing to the labels"


def _corrected_interval_cell(row: Row) -> tuple[float, float]:
    """Both ends; no width where there are none."""
    if row["low"] is None or row["high"] is None:
        return 0.0, 0.0
    return row["low"], row["high"]


def _correction_cautions(part: Sequence[Row], keys: Sequence[str], *, several: bool) -> list[str]:
    """What weakens a group's numbers, in words."""
    row = part[0]
    label = group_label(row, keys)
    of = f"{label}: " if several and label else ""
    return [of + one for one in caution_words(row)]


def caution_words(row: Row) -> list[str]:
    """Say what weakens the numbers of a row.

    Examples
    --------
    >>> caution_words({"flags": ["unmatched_labels"], "n_unmatched": 2})
    ['2 labels of nothing that was judged, left out']
    """
    unmatched = count_of(row["n_unmatched"], "label")
    words = (CAUTIONS[Caution(one)] for one in row["flags"])
    return [one.format(few=FEW, unmatched=unmatched) for one in words]


def _corrected_estimate_table(part: Sequence[Row], label: str) -> Table:
    """Four estimates of one group."""
    weights = ["" if row["weight"] is None else number(row["weight"], 2) for row in part]
    shares = [row["replication_share"] for row in part]
    columns = [
        texts("estimate", part, lambda row: _HEADS[str(row["estimate"])]),
        estimates(f"{part[0]['measure']} [95 %]", part, "value"),
        numeric("weight", weights),
        numeric("own noise", ["" if share is None else percent(share) for share in shares]),
        texts("not given", part, _why_not_corrected, "remark"),
    ]
    return Table(f"Estimates: {label}" if label else "Estimates", columns, cards=True)


def _why_not_corrected(row: Row) -> str:
    """Why there is no number."""
    return reason(row["undefined"] or "")


def _correction_group_column(part: Sequence[Row], keys: Sequence[str]) -> list[Column]:
    """The column that names the group of each row, where there are groups."""
    return [texts("of", part, partial(group_label, columns=keys))] if keys else []


def _judge_error_table(part: Sequence[Row], keys: Sequence[str]) -> list[Block]:
    """How often the judge is right."""
    columns = [
        *_correction_group_column(part, keys),
        texts("the judge", part, lambda row: RATES[str(row["rate"])]),
        estimates("share [95 %]", part, "value"),
        counts("labels", [round(row["n_labels"]) for row in part]),
    ]
    return [Table("How often the judge agrees with people", columns, cards=True)] if part else []


def _corrected_system_table(part: Sequence[Row]) -> list[Block]:
    """Systems compared."""
    columns = [
        texts("system", part, lambda row: str(row["a"])),
        texts("less", part, lambda row: str(row["b"])),
        texts("estimate", part, lambda row: _SHORT[str(row["estimate"])]),
        estimates("corrected difference [95 %]", part, "value"),
        rounded("by the judge alone", part, "judge_alone"),
        counts("labels", [row["n_labels"] for row in part]),
        texts("not given", part, _why_not_corrected, "remark"),
    ]
    return [Table("Differences, paired by question", columns, cards=True)] if part else []


def _correction_label_table(part: Sequence[Row], keys: Sequence[str]) -> list[Block]:
    """How many labels a width needs."""
    if not part:
        return []
    columns = [
        *_correction_group_column(part, keys),
        rounded("width wanted", part, "width"),
        rounded("now", part, "width_now"),
        counts("labels now", [row["n_labels"] for row in part]),
        counts("labels needed", [row["needed"] for row in part]),
        counts("without the judge", [row["needed_without_judge"] for row in part]),
    ]
    note = "Where no number is given, labelling everything would not do; judge more questions."
    caption = "Label budget, drawn as these were"
    return [Table(caption, columns, cards=True), Paragraph(note, "soft")]


def _agreed_blocks(rows: pl.DataFrame, judges: pl.DataFrame) -> list[Block]:
    """What judges agree on."""
    keys = rows.columns[: rows.columns.index("value")]
    found: list[Block] = []
    for row in rows.to_dicts():
        label = group_label(row, keys)
        who = f"{label}: " if label else ""
        if row["value"] is None:
            text = f"{who}the pass rate cannot be corrected: {reason(row['undefined'])}."
            found.append(Paragraph(text, "lead"))
            continue
        worth = ""
        if row["effective"] is not None and row["effective_null"] is not None:
            shared = row["p_correlated"] < 0.05
            worth = (
                f" They are worth {number(row['effective'], 2)} independent judges, "
                f"{number(row['effective_null'], 2)} if their errors were independent"
                + ("; they share errors, so do not rely on this rate." if shared else ".")
            )
        found.append(
            Paragraph(
                f"{who}pass rate {number(row['value'])} {interval(row)} if the {row['n_judges']} "
                "judges err independently; their mean says "
                f"{number(row['mean_of_judges'])}.{worth}",
                "lead",
            )
        )
    found.append(Paragraph(_READ_AGREED, "soft"))
    if not judges.is_empty():
        part = judges.to_dicts()
        columns = [
            *_correction_group_column(part, keys),
            texts("judge", part, lambda row: str(row["judge"])),
            rounded("pass rate", part, "judge_alone"),
            rounded("true positive rate", part, "tpr"),
            rounded("true negative rate", part, "tnr"),
        ]
        found.append(Table("Judges, by what they agree on", columns, cards=True))
    return found
