"""Panels and cascades, as text.

Tables on panels and cascades, taken apart by the groups they are of.

What a cascade did, as text and on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill

import polars as pl

from judgerel_ray.blocks.columns import plain_table
from judgerel_ray.blocks.markup import Column, paragraph, section, table
from judgerel_ray.blocks.words import (
    Row,
    cell,
    costing,
    group_label,
    number,
    p_value,
    reason,
    unit_words,
)

FIRST: Mapping[str, Mapping[str, str]] = {
    "panels": {"members": "member", "panels": "rule", "best": "chosen_by", "next": "n_members",
               "worth": "n_members"},
    "cascade": {"stages": "stage", "curve": "budget"},
}  # fmt: skip
"""The first column of each table behind those of its groups."""


def by_group(
    tables: Mapping[str, pl.DataFrame], first: Mapping[str, str]
) -> list[tuple[str, dict[str, list[Row]]]]:
    """Take tables apart by group, with what the group is in words.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        All start with the columns of the groups.
    first : mapping of str to str
        Of each table, the first column behind those.

    Returns
    -------
    list of (str, dict)
        What tells the group, and its rows by table.

    Examples
    --------
    >>> one = pl.DataFrame({"benchmark": ["b", "b"], "stage": [1, 2]})
    >>> [(label, len(parts["stages"])) for label, parts in by_group({"stages": one},
    ...                                                            {"stages": "stage"})]
    [(' (b)', 2)]
    """
    name, column = next(iter(first.items()))
    columns = tables[name].columns
    keys = columns[: columns.index(column)]
    found: dict[tuple[object, ...], dict[str, list[Row]]] = {}
    for kind in first:
        for row in tables[kind].iter_rows(named=True):
            key = tuple(row[one] for one in keys)
            found.setdefault(key, {each: [] for each in first})[kind].append(row)
    labels = [group_label(parts[name][0], keys) for parts in found.values()]
    return [
        (f" ({label})" if label else "", parts)
        for label, parts in zip(labels, found.values(), strict=True)
    ]


WIDTH = 100
READ_PANELS = (
    "The n-th replies of all members to a question make a panel; replies that not all have are "
    "left out. No verdict counts as wrong; verdicts that tie are drawn by lot (tied), where nobody "
    "votes there is none (silent). Gain: over the best single member, which the other folds chose. "
    "By chance: the panel's verdicts permuted over the questions."
)
READ_BEST = (
    "Chosen on: accuracy on the questions the panel was chosen by, which flatters it; held out: on "
    "questions it was not chosen by (5 folds). Same: folds that chose the same panel."
)
READ_NEXT = (
    "Of all panels of so many of these members, votes counted alike: gain of one more. A second "
    "member can only break the silence of the first."
)
READ_CASCADE = (
    "Thresholds are chosen on other questions than they are tried on (5 folds); the thresholds "
    "shown (any: whoever is asked there answers; none: nobody is sure enough) are those of all "
    "questions, and in sample is what they give there, which flatters them. "
    "Answered: share of questions that each stage answers. Random: as many passed on at each "
    "stage, whoever is sure. Alone: the best member for that money, x 3 being its majority of "
    "three replies, chosen on other questions, too."
)
MEMBER_HEADS = ("member", "accuracy [95 %]", "valid", "cost")
RULE_HEADS = (
    "votes count", "members", "accuracy [95 %]", "gain [95 %]", "by chance", "p", "tied", "silent",
    "cost", "questions",
)  # fmt: skip
BEST_HEADS = (
    "within", "panel", "cost", "chosen on", "held out [95 %]", "gain [95 %]", "same",
)  # fmt: skip
NEXT_HEADS = ("members", "accuracy [95 %]", "gain [95 %]")
STAGE_HEADS = ("stage", "asked", "cost", "accuracy [95 %]", "states a confidence")
CURVE_HEADS = (
    "budget", "cost", "accuracy [95 %]", "answered", "thresholds", "in sample", "over random",
    "over alone", "alone",
)  # fmt: skip
_RULES = {
    "majority": "alike",
    "confidence": "by confidence",
    "accuracy": "by accuracy elsewhere",
}


def panels_text(tables: Mapping[str, pl.DataFrame]) -> str:
    """Write what panels are worth, a block a group.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of :class:`judgerel_ray.analyses.panels.tables.PanelTables`.

    Examples
    --------
    >>> from judgerel_ray.analyses.panels.tables import panel_tables
    >>> panels_text(panel_tables([]).tables())
    'no two systems answered the same questions'
    """
    if tables["members"].is_empty():
        return "no two systems answered the same questions"
    blocks = []
    for label, parts in by_group(tables, FIRST["panels"]):
        cost = unit_words(parts["members"][0])
        lines = [f"Panel{label}: cost in {cost}", worth_line(parts["worth"][0])]
        for name, heads, write in (
            ("members", MEMBER_HEADS, member_cells),
            ("panels", RULE_HEADS, rule_cells),
            ("best", BEST_HEADS, best_cells),
            ("next", NEXT_HEADS, next_cells),
        ):
            if parts[name]:
                lines += ["", plain_table(list(heads), [write(row) for row in parts[name]])]
        blocks.append("\n".join(lines))
    said = [fill(text, WIDTH) for text in (READ_PANELS, READ_BEST, READ_NEXT)]
    return "\n\n".join([*blocks, *said])


def cascade_text(tables: Mapping[str, pl.DataFrame]) -> str:
    """Write what cascades buy, a block a group.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of :class:`judgerel_ray.analyses.panels.cascades.CascadeTables`.

    Examples
    --------
    >>> cascade_text({"stages": pl.DataFrame(), "curve": pl.DataFrame()})
    'nothing to pass on'
    """
    if tables["stages"].is_empty():
        return "nothing to pass on"
    blocks = []
    for label, parts in by_group(tables, FIRST["cascade"]):
        first = parts["stages"][0]
        told = f"Cascade{label}: cost in {unit_words(first)}, {first['n_items']:,} questions"
        lines = [told, plain_table(list(STAGE_HEADS), [stage_cells(r) for r in parts["stages"]])]
        if parts["curve"]:
            cells = [curve_cells(row) for row in parts["curve"]]
            lines += ["", plain_table(list(CURVE_HEADS), cells)]
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, fill(READ_CASCADE, WIDTH)])


def worth_line(row: Row) -> str:
    """Say how many independent members a panel is worth.

    Examples
    --------
    >>> worth_line({"n_members": 3, "effective": None, "undefined": "too_few_units"})
    'worth in independent members: too few units'
    """
    if row["effective"] is None:
        return f"worth in independent members: {reason(row['undefined'])}"
    ends = ""
    if row["effective_low"] is not None and row["effective_high"] is not None:
        ends = f" [{number(row['effective_low'], 2)}, {number(row['effective_high'], 2)}]"
    most = (
        "" if row["most"] is None else f"; infinitely many of their kind {number(row['most'], 2)}"
    )
    return (
        f"{row['n_members']} members whose errors vary are worth {number(row['effective'], 2)}"
        f"{ends} with errors of their own (errors correlate {number(row['error_correlation'])})"
        f"{most}"
    )


def member_cells(row: Row) -> list[str]:
    """Write a member alone.

    Examples
    --------
    >>> member_cells({"member": "a", "accuracy": 0.5, "low": None, "high": None, "valid": 1.0,
    ...               "cost": 2.0, "cost_unit": "tokens"})
    ['a', '0.500 [no interval]', '1.000', '2']
    """
    return [str(row["member"]), share(row), number(row["valid"]), costing(row["cost"])]


def rule_cells(row: Row) -> list[str]:
    """Write a whole panel by one rule.

    Examples
    --------
    See ``tests/cli/test_panels.py``.
    """
    floor = "-"
    if row["noise_floor"] is not None:
        floor = f"{number(row['noise_floor'])} ± {number(row['noise_floor_sd'])}"
    return [
        _RULES[str(row["rule"])], f"{row['n_members']}", share(row), share(row, "gain"), floor,
        p_value(row["p_noise"]), number(row["tied"]), number(row["silent"]), costing(row["cost"]),
        f"{row['n_items']:,}" + (f" ({row['n_dropped']:,} dropped)" if row["n_dropped"] else ""),
    ]  # fmt: skip


def best_cells(row: Row) -> list[str]:
    """Write a panel that was chosen.

    Examples
    --------
    See ``tests/cli/test_panels.py``.
    """
    limit = f"size {row['limit']:.0f}"
    if row["chosen_by"] == "cost":
        limit = f"cost {costing(row['limit'])}"
    return [
        limit, str(row["members"]), costing(row["cost"]), number(row["in_sample"]), share(row),
        share(row, "gain"), f"{row['n_alike']} of {row['n_folds']}",
    ]  # fmt: skip


def next_cells(row: Row) -> list[str]:
    """Write panels of one size.

    Examples
    --------
    >>> next_cells({"n_members": 1, "accuracy": 0.5, "low": 0.25, "high": 0.75, "gain": None})
    ['1', '0.500 [0.250, 0.750]', '-']
    """
    return [f"{row['n_members']}", share(row), share(row, "gain")]


def stage_cells(row: Row) -> list[str]:
    """Write one who is asked.

    Examples
    --------
    >>> stage_cells({"stage": 2, "member": "person", "cost": 9.0, "accuracy": 1.0, "low": None,
    ...              "high": None, "confident": None})
    ['2', 'person', '9', '1.000, assumed', '-']
    """
    told = f"{number(row['accuracy'])}, assumed" if row["confident"] is None else share(row)
    return [
        f"{row['stage']}", str(row["member"]), costing(row["cost"]), told, number(row["confident"])
    ]  # fmt: skip


def curve_cells(row: Row) -> list[str]:
    """Write a point of the curve.

    Examples
    --------
    See ``tests/cli/test_panels.py``.
    """
    alone = "-"
    if row["alone"] is not None:
        alone = f"{row['alone']}: {number(row['alone_accuracy'])} for {costing(row['alone_cost'])}"
    return [
        costing(row["budget"]), costing(row["cost"]), share(row), cell(row["answered"]),
        _thresholds(row), number(row["in_sample"]), share(row, "over_random"),
        share(row, "over_alone"), alone,
    ]  # fmt: skip


def _thresholds(row: Row) -> str:
    """Least confidences, in words where there is none to be reached."""
    words = {"-inf": "any", "inf": "none"}
    return ", ".join(words.get(one, one) for one in str(row["thresholds"]).split(", "))


def share(row: Row, name: str = "accuracy") -> str:
    """Write a number with its interval, a dash where there is none.

    Examples
    --------
    >>> share({"gain": -0.5, "gain_low": -0.75, "gain_high": -0.25}, "gain")
    '-0.500 [-0.750, -0.250]'
    """
    if row.get(name) is None:
        return "-"
    ends = ("low", "high") if name == "accuracy" else (f"{name}_low", f"{name}_high")
    if row[ends[0]] is None or row[ends[1]] is None:
        return f"{number(row[name])} [no interval]" if name == "accuracy" else number(row[name])
    return f"{number(row[name])} [{number(row[ends[0]])}, {number(row[ends[1]])}]"


READ = (
    "Answered: from the threshold on, an answer counts and nobody else is asked. Accuracy is of "
    "the answers that counted; by chance: the same answers shuffled across questions. Spent: both "
    "steps, of a mean question put to the cascade."
)
HEADS = ("asked", "questions", "asks", "answered [95 %]", "accuracy [95 %]", "by chance", "spent")
_TEXT = ("asked",)


def cascaded_text(rows: pl.DataFrame) -> str:
    """Write what cascades did, a table a group.

    Examples
    --------
    >>> from judgerel_ray.analyses.panels.cascades import SCHEMA
    >>> cascaded_text(pl.DataFrame(schema=SCHEMA))
    'no cascade was asked'
    """
    blocks = []
    for name, lines in _groups(rows):
        blocks.append(f"{name}\n{plain_table(HEADS, [cells(row) for row in lines])}")
    return "\n\n".join([*blocks, fill(READ, WIDTH)]) if blocks else "no cascade was asked"


def cascaded_sections(rows: pl.DataFrame | None) -> list[str]:
    """Write the section of the page; none where no cascade was asked.

    Examples
    --------
    >>> cascaded_sections(None)
    []
    """
    if rows is None or rows.is_empty():
        return []
    pieces = [paragraph(READ)]
    for name, lines in _groups(rows):
        written = [cells(row) for row in lines]
        columns = [
            Column(head=head, cells=[line[place] for line in written], is_number=head not in _TEXT)
            for place, head in enumerate(HEADS)
        ]
        pieces.append(table(name, columns, cards=True))
    return [section("What the cascade did", "".join(pieces))]


def cells(row: Row) -> list[str]:
    """Write one line.

    Examples
    --------
    >>> cells({"asked": "a", "n_questions": 2, "n_asked": 2, "n_answered": 1, "answered": 0.5,
    ...        "answered_low": None, "answered_high": None, "accuracy": None, "low": None,
    ...        "high": None, "noise_floor": None, "noise": None, "spent": 22.5, "unit": "tokens"})
    ['a', '2', '2', '1 (0.500)', '-', '-', '22.5 tokens']
    """
    chance = "-" if row["noise_floor"] is None else number(row["noise_floor"])
    said = ", not distinguishable from noise" if row["noise"] else ""
    spent = "-" if row["spent"] is None else f"{row['spent']:,.4g} {row['unit']}"
    answered = _share(row, "answered", "answered_low", "answered_high")
    return [
        str(row["asked"]),
        f"{row['n_questions']:,}",
        f"{row['n_asked']:,}",
        f"{row['n_answered']:,} ({answered})" if row["answered"] is not None else "-",
        _share(row, "accuracy", "low", "high"),
        f"{chance}{said}",
        spent,
    ]


def _share(row: Row, name: str, low: str, high: str) -> str:
    """A share with its interval, where there is one."""
    if row[low] is None:
        return number(row[name])
    return f"{number(row[name])} [{number(row[low])}, {number(row[high])}]"


def _groups(rows: pl.DataFrame) -> list[tuple[str, Sequence[Mapping[str, object]]]]:
    """The rows of every cascade, with its name."""
    keys = ("benchmark", "template", "temperature")
    return [
        (
            f"Cascade ({cell(key[0])}, {cell(key[1])}, temperature {cell(key[2])}, from confidence "
            f"{number(part['threshold'][0])} on)",
            part.to_dicts(),
        )
        for key, part in rows.group_by(keys, maintain_order=True)
    ]
