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
)
from judgerel_ray.blocks.words import Row, group_label, interval, number, percent, reason
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
    found: list[Block] = [Paragraph(_lead(part, keys), "lead") for part in groups]
    cautions = [text for part in groups for text in _cautions(part, keys, several=len(groups) > 1)]
    found += [Lines(cautions, "cautions")] if cautions else []
    for part in groups:
        found.append(_estimates(part, _named("Estimates", part[0], keys)))
    found += _rates(tables["rates"], keys) if not tables["rates"].is_empty() else []
    found += _differences(tables["differences"])
    found += _budget(tables["budget"], keys)
    return [*found, Paragraph(_READ, "soft")]


def correction_sections(found: CorrectionTables) -> list[FirstScreen | Section]:
    """Make the section of a page on corrected scores, and their column of its first screen."""
    blocks = correction_blocks(found.tables())
    return [
        FirstScreen(column=partial(_beside_verdicts, found.estimates)),
        Section("Scores without the judge's errors", blocks, place="first"),
    ]


def _beside_verdicts(estimates: pl.DataFrame, groups: Sequence[Row]) -> Column:
    """Corrected scores of the groups that a page says a verdict of."""
    names = estimates.columns[: estimates.columns.index("estimate")]
    rows = estimates.filter(estimate="ppi").to_dicts()
    known = {tuple(row[name] for name in names): row for row in rows}
    found = [known.get(tuple(group.get(name) for name in names)) for group in groups]
    return Column(
        head="score, corrected by labels", is_number=True,
        cells=["-" if row is None else number(row["value"]) for row in found],
        small=["" if row is None else interval(row) for row in found],
    )  # fmt: skip


def _named(what: str, row: Row, keys: Sequence[str]) -> str:
    """A caption with the group it is of."""
    label = group_label(row, keys)
    return f"{what}: {label}" if label else what


def _lead(part: Sequence[Row], keys: Sequence[str]) -> str:
    """What is the pass rate, and how far may it be trusted."""
    of = {str(row["estimate"]): row for row in part}
    ppi, alone = of["ppi"], of["judge_alone"]
    label = group_label(ppi, keys)
    who = f"{label}: " if label else ""
    what = "pass rate" if ppi["measure"] == "rate" else "mean score"
    if ppi["value"] is None:
        return f"{who}the {what} cannot be corrected: {reason(ppi['undefined'])}."
    off = _number(alone["value"]) - _number(ppi["value"])
    labels = count_of(int(_number(ppi["n_labels"])), "label")
    units = count_of(int(_number(ppi["n_units"])), "judged unit")
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
    low, high = _ends(ppi)
    labels_low, labels_high = _ends(bare)
    saved = 1 - (high - low) / (labels_high - labels_low) if labels_high > labels_low else 0.0
    # Without weight the ends differ by their methods alone.
    if saved > 0 and _number(ppi["weight"]) >= _SOME_WEIGHT:
        narrower = f"{subject} makes the interval {percent(saved)} narrower"
        return f"{narrower} than that of the labels alone"
    return "the judge adds nothing to the labels"


def _number(value: object) -> float:
    """A number of a row."""
    assert isinstance(value, int | float)
    return float(value)


def _ends(row: Row) -> tuple[float, float]:
    """Both ends; no width where there are none."""
    if row["low"] is None or row["high"] is None:
        return 0.0, 0.0
    return _number(row["low"]), _number(row["high"])


def _cautions(part: Sequence[Row], keys: Sequence[str], *, several: bool) -> list[str]:
    """What weakens a group's numbers, in words."""
    row = part[0]
    flags = row["flags"]
    assert isinstance(flags, list)
    label = group_label(row, keys)
    of = f"{label}: " if several and label else ""
    words = [CAUTIONS[Caution(one)] for one in flags]
    unmatched = count_of(int(_number(row["n_unmatched"])), "label")
    return [of + one.format(few=FEW, unmatched=unmatched) for one in words]


def _estimates(part: Sequence[Row], caption: str) -> Table:
    """Four estimates of one group."""
    share = [
        "" if row["replication_share"] is None else percent(row["replication_share"])
        for row in part
    ]
    weight = ["" if row["weight"] is None else number(row["weight"], 2) for row in part]
    columns = [
        Column(head="estimate", cells=[_HEADS[str(row["estimate"])] for row in part]),
        estimates(f"{part[0]['measure']} [95 %]", part, "value"),
        Column(head="weight", cells=weight, is_number=True),
        Column(head="own noise", cells=share, is_number=True),
        Column(head="not given", cells=[_why(row) for row in part], kind="remark"),
    ]
    return Table(caption, columns, cards=True)


def _why(row: Row) -> str:
    """Why there is no number."""
    return reason(row["undefined"]) if row["undefined"] else ""


def _rates(rows: pl.DataFrame, keys: Sequence[str]) -> list[Block]:
    """How often the judge is right."""
    part = rows.to_dicts()
    columns = [
        *([Column(head="of", cells=[group_label(row, keys) for row in part])] if keys else []),
        Column(head="the judge", cells=[RATES[str(row["rate"])] for row in part]),
        estimates("share [95 %]", part, "value"),
        Column(head="labels", cells=[f"{row['n_labels']:,.0f}" for row in part], is_number=True),
    ]
    return [Table("How often the judge agrees with people", columns, cards=True)]


def _differences(rows: pl.DataFrame) -> list[Block]:
    """Systems compared."""
    if rows.is_empty():
        return []
    part = rows.to_dicts()
    columns = [
        Column(head="system", cells=[row["a"] for row in part]),
        Column(head="less", cells=[row["b"] for row in part]),
        Column(head="estimate", cells=[_SHORT[row["estimate"]] for row in part]),
        estimates("corrected difference [95 %]", part, "value"),
        Column(head="by the judge alone", cells=[number(row["judge_alone"]) for row in part],
               is_number=True),
        counts("labels", [row["n_labels"] for row in part]),
        Column(head="not given", cells=[_why(row) for row in part], kind="remark"),
    ]  # fmt: skip
    return [Table("Differences, paired by question", columns, cards=True)]


def _budget(rows: pl.DataFrame, keys: Sequence[str]) -> list[Block]:
    """How many labels a width needs."""
    if rows.is_empty():
        return []
    part = rows.to_dicts()
    columns = [
        *([Column(head="of", cells=[group_label(row, keys) for row in part])] if keys else []),
        Column(head="width wanted", cells=[number(row["width"]) for row in part], is_number=True),
        Column(head="now", cells=[number(row["width_now"]) for row in part], is_number=True),
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
            *([Column(head="of", cells=[group_label(row, keys) for row in part])] if keys else []),
            Column(head="judge", cells=[row["judge"] for row in part]),
            *(
                Column(head=head, cells=[number(row[name]) for row in part], is_number=True)
                for head, name in (("pass rate", "judge_alone"), ("true positive rate", "tpr"),
                                   ("true negative rate", "tnr"))
            ),
        ]  # fmt: skip
        found.append(Table("Judges, by what they agree on", columns, cards=True))
    return found
