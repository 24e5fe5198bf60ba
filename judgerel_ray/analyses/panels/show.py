"""What panels and cascades are worth, and what a cascade did, for terminal and page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, floor
from typing import cast

import polars as pl

from judgerel_ray.blocks.blocks import (
    Axis,
    Block,
    Column,
    Figure,
    Figures,
    Mark,
    Paragraph,
    Section,
    Table,
)
from judgerel_ray.blocks.text_sections import Columns, plain
from judgerel_ray.blocks.words import (
    NOISE,
    Row,
    cell,
    costing,
    group_label,
    number,
    p_value,
    reason,
    unit_words,
)
from judgerel_ray.core import count_of

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


READ_PANELS = (
    "The n-th replies of all members to a question make a panel; an n-th reply that some member "
    "lacks is left out. A missing verdict counts as wrong; ties are broken by lot (tied); where no "
    "member votes there is no verdict (silent). Gain: over the best single member, which the other "
    "folds chose. By chance: the panel's verdicts permuted over the questions."
)
READ_BEST = (
    "Chosen on: accuracy on the questions the panel was chosen by, which flatters it; held out: on "
    "questions it was not chosen by (5 folds). Same: folds that chose the same panel."
)
READ_NEXT = (
    "Mean over all panels of that many of these members, with equal votes; gain: over panels of "
    "one member less. A second member helps only where the first gives no verdict."
)
READ_CASCADE = (
    "Accuracy is measured on questions other than those the thresholds were chosen on (5 folds). "
    "The thresholds shown were chosen on all questions (any: the member asked there always "
    "answers; none: it is never sure enough); in sample is their accuracy on those same questions, "
    "which is optimistic. Answered: share of questions that each stage answers. Random: the same "
    "number passed on at each stage, whatever the confidence. Alone: the best single member for "
    "that money, also chosen on other questions; x 3 is the majority of three of its replies."
)
READ_CASCADED = (
    "Answered: from the threshold on, an answer counts and nobody else is asked. Accuracy is of "
    "the answers that counted; by chance: the same answers shuffled across questions. Spent: the "
    "mean of a question put to the cascade, both steps together."
)
_LEAST = 2  # sizes of which a figure tells anything
_WORDS = (
    "member", "votes count", "within", "panel", "stage", "asked", "answered", "thresholds",
    "alone",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Together:
    """What a page says of judges together."""

    panels: Mapping[str, pl.DataFrame]  # Tables of `PanelTables`.
    # Tables of `CascadeTables`; empty where nothing says who is asked first, or when to pass on.
    cascade: Mapping[str, pl.DataFrame]


def panel_sections(found: Together | None, cascaded: pl.DataFrame | None = None) -> list[Block]:
    """Make the sections of a page; none where judges are not held together.

    Examples
    --------
    >>> panel_sections(None)
    []
    """
    sections = []
    if found is not None:
        doubt = [] if not found.cascade else cascade_blocks(found.cascade)
        sections = [
            Section("Judges as a panel", panel_blocks(found.panels)),
            Section("Asking the next one only when in doubt", doubt),
        ]
    if cascaded is not None and not cascaded.is_empty():
        sections.append(Section("What the cascade did", cascaded_blocks(cascaded)))
    return [*sections]


def panel_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say what panels are worth: by their size, then group by group.

    Examples
    --------
    >>> from judgerel_ray.analyses.panels.panels import panel_tables
    >>> panel_blocks(panel_tables([]).tables())[0].text
    'no two systems answered the same questions'
    """
    if tables["members"].is_empty():
        return [Paragraph("no two systems answered the same questions")]
    groups = by_group(tables, FIRST["panels"])
    figures = [
        size_figure(parts["next"], parts["best"], label=label)
        for label, parts in groups
        if len(parts["next"]) >= _LEAST and parts["best"]
    ]
    steps = [
        table
        for label, parts in groups
        for table in _panel_table(f"Panels by size{label}", NEXT, parts["next"])
    ]
    found: list[Block] = [
        Paragraph(f"{READ_PANELS} {READ_BEST} {READ_NEXT}"),
        Figures(figures, SIZE_LEGEND, numbers=steps),
    ]
    for label, parts in groups:
        cost = unit_words(parts["members"][0])
        of = f"Members alone{label}; cost in {cost}"
        found += [
            Paragraph(f"Panel{label}: {worth_line(parts['worth'][0])}."),
            *_panel_table(of, MEMBERS, parts["members"]),
            *_panel_table(f"All members together{label}", RULES, parts["panels"]),
            *_panel_table(f"Best panels{label}", BEST, parts["best"]),
        ]
    return found


def cascade_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say what cascades buy: by their cost, then group by group.

    Examples
    --------
    >>> cascade_blocks({"stages": pl.DataFrame(), "curve": pl.DataFrame()})[0].text
    'nothing to pass on'
    """
    if tables["stages"].is_empty():
        return [Paragraph("nothing to pass on")]
    groups = by_group(tables, FIRST["cascade"])
    figures = [
        cost_figure(parts["curve"], parts["stages"], label=label)
        for label, parts in groups
        if parts["curve"]
    ]
    found: list[Block] = [Paragraph(READ_CASCADE), Figures(figures, COST_LEGEND)]
    for label, parts in groups:
        first = parts["stages"][0]
        cost = f"{label}; cost in {unit_words(first)}"
        order = f"Who is asked, in order{cost}, {count_of(cast(int, first['n_items']), 'question')}"
        found += [
            *_panel_table(order, STAGES, parts["stages"]),
            *_panel_table(f"Cascades by budget{cost}", CURVE, parts["curve"]),
        ]
    return found


def cascaded_blocks(rows: pl.DataFrame) -> list[Block]:
    """Say what cascades did, a table a group.

    Examples
    --------
    >>> from judgerel_ray.analyses.panels.tables import CascadedShares
    >>> cascaded_blocks(CascadedShares.frame())[0].text
    'no cascade was asked'
    """
    if rows.is_empty():
        return [Paragraph("no cascade was asked")]
    tables = [
        table
        for name, lines in _named_cascade_groups(rows)
        for table in _panel_table(name, CASCADED, lines)
    ]
    return [Paragraph(READ_CASCADED), *tables]


def _panel_table(caption: str, columns: Columns, rows: Sequence[Row]) -> list[Table]:
    """A table of rows, where there are any."""
    made = [
        Column(head=head, cells=[write(row) for row in rows], is_number=head not in _WORDS)
        for head, write in columns.items()
    ]
    return [Table(caption, made, cards=True)] if rows else []


def _named_cascade_groups(rows: pl.DataFrame) -> list[tuple[str, Sequence[Mapping[str, object]]]]:
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


_RULES = {
    "majority": "alike",
    "confidence": "by confidence",
    "accuracy": "by accuracy elsewhere",
}


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
        f"{ends} with independent errors (errors correlate {number(row['error_correlation'])})"
        f"{most}"
    )


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


def _votes_by_chance(row: Row) -> str:
    """What the votes would get right by chance."""
    if row["noise_floor"] is None:
        return "-"
    return f"{number(row['noise_floor'])} ± {number(row['noise_floor_sd'])}"


def _panel_question_counts(row: Row) -> str:
    """How many questions, and how many were left out."""
    return f"{row['n_items']:,}" + (f" ({row['n_dropped']:,} dropped)" if row["n_dropped"] else "")


def _panel_choice_limit(row: Row) -> str:
    """Among which panels one was chosen."""
    if row["chosen_by"] == "cost":
        return f"cost {costing(row['limit'])}"
    return f"size {row['limit']:.0f}"


def _stage_accuracy(row: Row) -> str:
    """How often one who is asked is right: of a person that is assumed."""
    return f"{number(row['accuracy'])}, assumed" if row["confident"] is None else share(row)


def _cascade_thresholds(row: Row) -> str:
    """Least confidences, in words where there is none to be reached."""
    words = {"-inf": "any", "inf": "none"}
    return ", ".join(words.get(one, one) for one in str(row["thresholds"]).split(", "))


def _panel_member_for_money(row: Row) -> str:
    """The best single member for the same money."""
    if row["alone"] is None:
        return "-"
    return f"{row['alone']}: {number(row['alone_accuracy'])} for {costing(row['alone_cost'])}"


def _cascade_answered_share(row: Row) -> str:
    """How many answers counted, and their share."""
    if row["answered"] is None:
        return "-"
    return f"{row['n_answered']:,} ({_share(row, 'answered', 'answered_low', 'answered_high')})"


def _panel_chance_accuracy(row: Row) -> str:
    """Accuracy by chance."""
    return number(row["noise_floor"]) + (f", {NOISE}" if row["noise"] else "")


def _cascade_question_cost(row: Row) -> str:
    """What a question took."""
    return "-" if row["spent"] is None else f"{row['spent']:,.4g} {row['unit']}"


def _share(row: Row, name: str, low: str, high: str) -> str:
    """A share with its interval, where there is one."""
    if row[low] is None:
        return number(row[name])
    return f"{number(row[name])} [{number(row[low])}, {number(row[high])}]"


def _panel_cost_cell(name: str) -> Callable[[Row], str]:
    return lambda row: costing(row[name])


MEMBERS: Columns = {
    "member": plain("member"),
    "accuracy [95 %]": share,
    "valid": plain("valid"),
    "cost": _panel_cost_cell("cost"),
}
RULES: Columns = {
    "votes count": lambda row: _RULES[str(row["rule"])],
    "members": plain("n_members"),
    "accuracy [95 %]": share,
    "gain [95 %]": partial(share, name="gain"),
    "by chance": _votes_by_chance,
    "p": lambda row: p_value(row["p_noise"]),
    "tied": plain("tied"),
    "silent": plain("silent"),
    "cost": _panel_cost_cell("cost"),
    "questions": _panel_question_counts,
}
BEST: Columns = {
    "within": _panel_choice_limit,
    "panel": plain("members"),
    "cost": _panel_cost_cell("cost"),
    "chosen on": plain("in_sample"),
    "held out [95 %]": share,
    "gain [95 %]": partial(share, name="gain"),
    "same": lambda row: f"{row['n_alike']} of {row['n_folds']}",
}
NEXT: Columns = {
    "members": plain("n_members"),
    "accuracy [95 %]": share,
    "gain [95 %]": partial(share, name="gain"),
}
STAGES: Columns = {
    "stage": plain("stage"),
    "asked": plain("member"),
    "cost": _panel_cost_cell("cost"),
    "accuracy [95 %]": _stage_accuracy,
    "states a confidence": plain("confident"),
}
CURVE: Columns = {
    "budget": _panel_cost_cell("budget"),
    "cost": _panel_cost_cell("cost"),
    "accuracy [95 %]": share,
    "answered": plain("answered"),
    "thresholds": _cascade_thresholds,
    "in sample": plain("in_sample"),
    "over random": partial(share, name="over_random"),
    "over alone": partial(share, name="over_alone"),
    "alone": _panel_member_for_money,
}
CASCADED: Columns = {
    "asked": plain("asked"),
    "questions": lambda row: f"{row['n_questions']:,}",
    "asks": lambda row: f"{row['n_asked']:,}",
    "answered [95 %]": _cascade_answered_share,
    "accuracy [95 %]": lambda row: _share(row, "accuracy", "low", "high"),
    "by chance": _panel_chance_accuracy,
    "spent": _cascade_question_cost,
}
SIZE_LEGEND = (
    ("line", "panels drawn at random from the members, with its 95 % interval"),
    ("point", "the best panel of the size, on questions it was not chosen by"),
    ("other", "the best member alone"),
)
COST_LEGEND = (
    ("line", "the cascade, with its 95 % interval"),
    ("other", "as many passed on at random"),
    ("share", "the best member alone for the money"),
    ("noise", "each member alone"),
)
_STEPS = 4


def size_figure(steps: Sequence[Row], best: Sequence[Row], *, label: str) -> Figure:
    """Draw accuracy against the size of a panel.

    Examples
    --------
    >>> step = {"n_members": 1, "accuracy": 0.5, "low": 0.4, "high": 0.6}
    >>> figure = size_figure([step, {**step, "n_members": 2}], [], label="b")
    >>> "1 member: 0.500" in figure.description
    True
    """
    sized = [row for row in best if row["chosen_by"] == "size"]
    lowest = min(_panel_row_number(row, "low") for row in (*steps, *sized))
    n = len(steps)
    texts = [f"{count_of(cast(int, row['n_members']), 'member')}: {share(row)}" for row in steps]
    texts += [f"best of size {row['limit']:.0f} ({row['members']}): {share(row)}" for row in sized]
    drawn = _panel_figure_frame(steps, "n_members", "accuracy", "low", "high")
    chosen = _panel_figure_frame(sized, "limit", "accuracy", "low", "high").with_columns(
        label=pl.Series([f"{row['members']}: {share(row)}" for row in sized], dtype=pl.String)
    )
    start = _panel_axis_start(lowest)
    return Figure(
        title=f"Accuracy against size of panel{label}",
        description="; ".join(texts),
        caption=label.strip(" ()") or "all members",
        x=Axis(title="members", start=0.5, end=n + 0.5,
               values=range(1, n + 1, max(1, ceil(n / 7)))),
        y=Axis(title="accuracy", start=start, values=_panel_axis_grid(start), grid=True),
        marks=[
            Mark(shape="area", style="area", data=drawn, x="n_members", y="low", y2="high"),
            Mark(shape="line", style="line", data=drawn, x="n_members", y="accuracy"),
            Mark(shape="rule", style="interval", data=chosen, x="limit", y="low", y2="high"),
            Mark(shape="point", style="point", data=chosen, x="limit", y="accuracy", label="label"),
            Mark(shape="rule", style="other", data=chosen.filter(pl.col("limit") == 1),
                 y="accuracy"),
        ],
    )  # fmt: skip


def cost_figure(curve_rows: Sequence[Row], stages: Sequence[Row], *, label: str) -> Figure:
    """Draw accuracy against cost.

    Examples
    --------
    See ``tests/analyses/panels/test_sections.py``.
    """
    rows = sorted(curve_rows, key=lambda row: _panel_row_number(row, "cost"))
    most = max(_panel_row_number(row, "cost") for row in (*rows, *stages))
    lowest = min(
        *(_panel_row_number(row, "low") for row in rows),
        *(_panel_row_number(row, "accuracy") for row in stages),
    )
    description = "; ".join(
        f"{costing(row['cost'])}: {share(row)}, over random {share(row, 'over_random')}"
        for row in rows
    )
    drawn = _panel_figure_frame(rows, "cost", "accuracy", "low", "high", "random")
    alone = {row["alone_cost"]: row["alone_accuracy"] for row in rows if row["alone"] is not None}
    members = _panel_figure_frame(stages, "cost", "accuracy").with_columns(
        label=pl.Series(
            [f"{row['member']} alone: {share(row)} for {costing(row['cost'])}" for row in stages],
            dtype=pl.String,
        )
    )
    start = _panel_axis_start(lowest)
    return Figure(
        title=f"Accuracy against cost{label}",
        description=description,
        caption=label.strip(" ()") or "all questions",
        x=Axis(
            title=f"cost, {unit_words(rows[0])}",
            end=1.05 * most or 1.0,
            values=[float(f"{most * part / _STEPS:.2g}") for part in range(_STEPS + 1)],
        ),
        y=Axis(title="accuracy", start=start, values=_panel_axis_grid(start), grid=True),
        marks=[
            Mark(shape="area", style="area", data=drawn, x="cost", y="low", y2="high"),
            Mark(shape="line", style="share", x="cost", y="accuracy",
                 data=pl.DataFrame(sorted(alone.items()), orient="row",
                                   schema={"cost": pl.Float64, "accuracy": pl.Float64})),
            Mark(shape="line", style="other", data=drawn, x="cost", y="random"),
            Mark(shape="line", style="line", data=drawn, x="cost", y="accuracy"),
            Mark(shape="point", style="noise", data=members, x="cost", y="accuracy", label="label"),
        ],
    )  # fmt: skip


def _panel_figure_frame(rows: Sequence[Row], *names: str) -> pl.DataFrame:
    """Numbers of rows as a frame."""
    kinds = dict.fromkeys(names, pl.Float64())
    return pl.DataFrame([{name: row[name] for name in names} for row in rows], schema=kinds)


def _panel_row_number(row: Row, name: str) -> float:
    """A number of a row; its accuracy where an end is not there."""
    value = row[name]
    return cast(float, row["accuracy"] if value is None else value)


def _panel_axis_start(lowest: float) -> float:
    """Where the vertical axis starts: a tenth."""
    return max(0.0, floor(lowest * 10) / 10)


def _panel_axis_grid(start: float) -> list[float]:
    """Grid lines of shares."""
    step = 0.1 if start >= 0.5 else 0.2
    n = round((1.0 - start) / step)
    return sorted(round(1.0 - step * place, 1) for place in range(n + 1))
