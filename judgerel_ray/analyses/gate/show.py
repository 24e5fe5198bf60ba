"""A gate's verdict as blocks, and as the result that every format is made of.

A page leads with one line a judge, made of the same rows: may it decide here, and if not, why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import polars as pl

from judgerel_ray.analyses.gate.requirement import LESS_IS_BETTER, SHORT_FOR
from judgerel_ray.analyses.gate.standing import (
    ALONE,
    AT_LIMIT,
    CROSSES,
    HABITS,
    MOST_QUESTIONS,
    WITHIN,
    Verdict,
    overall,
)
from judgerel_ray.analyses.gate.tables import Requirements
from judgerel_ray.blocks.blocks import Block, Column, Lines, Paragraph, Span, Table, row_columns
from judgerel_ray.blocks.columns import WIDTH
from judgerel_ray.blocks.result import Case, Result
from judgerel_ray.blocks.short import MOST_ROWS, named, next_step
from judgerel_ray.blocks.words import (
    CONFOUNDED,
    Row,
    cell,
    coefficient_name,
    explanation,
    group_label,
    interval,
    judges_other_answers,
    missing_policy,
    number,
    reason,
    telling_columns,
)
from judgerel_ray.core import count_of
from judgerel_ray.core.codes import Flag, no_interval_words
from judgerel_ray.core.text import fitted_names
from judgerel_ray.counting.groups.grouping import TEMPERATURE
from judgerel_ray.counting.verdicts.policy import REPEATABILITY
from judgerel_ray.measuring.lead_codes import LeadCode

if TYPE_CHECKING:
    from judgerel_ray.analyses.gate.from_run import Gated

TOO_MANY = f"more than {MOST_QUESTIONS:,} questions"
_REASONS = {
    CROSSES: "the interval crosses the limit",
    Flag.SERVING_NOISE.value: "at temperature 0 repeats show how steady the server is, not how "
    "reliable the judge: require it where temperature is above 0",
    **dict.fromkeys(
        HABITS, "the same answer or place whatever is asked: agreement says nothing about judgment"
    ),
    AT_LIMIT: "the value is at the limit: no number of judgments decides",
    WITHIN: "no reproducibility of {}: it is defined within one prompt, where a judge that goes by "
    "the place of an option or by the wording agrees with itself, too. Require a coefficient that "
    "compares the orders and wordings asked, such as krippendorff_alpha",
    ALONE: "reproducibility is unknown: only the same prompt was asked again, and a judge that "
    "goes by the wording or by length agrees with itself, too. Give right verdicts (a column "
    "gold), ask again in another wording (several options: in another order, too), or state what "
    "must be met (--require)",
}
_SHORT = {
    "single_replication": "each question asked again",
    LeadCode.NAMES_UNKNOWN.value: "what a verdict names, option or place (--verdict-names)",
    LeadCode.FEW_VERDICTS.value: "more replies that hold a verdict",
    Flag.SERVING_NOISE.value: "a temperature above 0",
    AT_LIMIT: "the value is at the limit",
    WITHIN: "it has no reproducibility",
    ALONE: "right verdicts, or another wording",
}
_MET = {"PASS": "met", "FAIL": "missed", "INCONCLUSIVE": "open"}
_WORST = ("FAIL", "INCONCLUSIVE", "PASS")
_NEXT = {
    "FAIL": ("reduce", "see what to distrust"),
    "INCONCLUSIVE": ("advise", "see what more judgments would show"),
}
"""By verdict the verb that helps on, and what for; a gate that passes says itself what is next."""
_MISSING = "no verdict"
_OPEN = "open"
_LEFT_OUT = "left out"
_GAP = "  "
_GROUP = "group"
_MOST_NEEDS = 3  # groups of which each has its own need; of more the range is said
_LEAST_GROUP = 18
"""Characters that a group's name should have."""
_BRIEF = {
    "": "-",
    Verdict.INCONCLUSIVE.value: _OPEN,
    "counts as a verdict": "counts",
    _MISSING: "missing",
}
"""Heads and cells as a narrow table has them."""
_ALONE_BRIEFLY = (
    "reproducibility is unknown{}: only the same prompt was asked. Add right verdicts (a column "
    "gold), ask again in another wording or order, or say what must be met (--require)"
)
_UNCOUNTED = "This look is not counted: --ledger FILE keeps repeated checks valid"
_BRIEF_NAMES = {name: brief for brief, name in SHORT_FOR.items()}
_HEADS = ("verdict", "requirement", _GROUP, _MISSING, "value", "interval", "what is missing")


def gate_blocks(gated: Gated) -> list[Block]:
    """Say a gate's verdict, then every requirement in every group.

    Examples
    --------
    >>> from judgerel_ray import example, gate
    >>> found = gate(example("judgments.csv"), require="flip_rate <= .9")
    >>> gate_blocks(found)[0].text
    'PASS: 2 of 2 met'
    """
    rows = [*gated.requirements.iter_rows(named=True)]
    return _gate_blocks(gated, [_requirement_table(gated, rows, _gate_group_columns(gated))])


def short_gate_blocks(gated: Gated, commands: Mapping[str, str | None]) -> list[Block]:
    """Say a gate's verdict and every requirement; of more than 20 rows a row a group, worst first.

    `commands` are those of other verbs on the same judgments, by name.

    Examples
    --------
    >>> from judgerel_ray import example, gate
    >>> found = gate(example("judgments.csv"), require="flip_rate <= .9")
    >>> short_gate_blocks(found, {})[0].text
    'PASS: 2 of 2 met'
    """
    rows = [*gated.requirements.iter_rows(named=True)]
    names = _gate_group_columns(gated)
    keys = [*dict.fromkeys(tuple(row[name] for name in names) for row in rows)]
    apart = telling_columns([dict(zip(names, key, strict=True)) for key in keys] or [{}])
    every = [*dict.fromkeys(_group(row, apart) for row in rows)]
    many = len(rows) > MOST_ROWS
    found = _one_row_a_group if many else _requirement_pairs_table
    table, brief = _narrow_gate_table(found(gated, rows, apart), every)

    def group_of(row: Row) -> str:
        return brief[_group(row, apart)]

    open_ = [*_requirement_need_lines(rows, group_of), *_reasons(rows, group_of)]
    if any(one.head == _MET["FAIL"] for one in table.columns):  # counted, no column each
        open_ = [*_missed_lines(rows, group_of), *open_]
    if len(every) > MOST_ROWS and many:
        more = f"{len(every) - MOST_ROWS:,} more groups in --full"
        left = [Paragraph(f"{more}; {_none_missed(rows, group_of)}")]
    else:
        left = []
    name, what = _NEXT.get(gated.verdict, ("", ""))
    command = commands.get(name)
    if any(row["reason"] == LeadCode.NAMES_UNKNOWN for row in rows) and commands.get("reduce"):
        what = "say what a verdict names (option or place)"
        command = f"{commands['reduce']} --verdict-names option"
    elif name == "advise" and any(row["reason"] == "single_replication" for row in rows):
        what, command = "see what these judgments support", commands.get("doctor")
    return [*_gate_blocks(gated, [table, *left], open_), *next_step((what, command))]


def _none_missed(rows: Sequence[Row], group_of: Callable[[Row], str]) -> str:
    """Which groups miss no requirement, of many."""
    verdicts: dict[str, Counter[str]] = {}
    for row in rows:
        verdicts.setdefault(group_of(row), Counter())[_MET[str(row["verdict"])]] += 1
    kept = [
        f"{group} ({f'{count[_OPEN]} open' if count[_OPEN] else 'all met'})"
        for group, count in verdicts.items()
        if not count["missed"]
    ]
    if len(kept) in (0, len(verdicts)):
        return f"{'every' if not kept else 'no'} group misses a requirement"
    return f"nothing missed: {named(kept)}"


def _narrow_gate_table(table: Table, groups: Sequence[str]) -> tuple[Table, dict[str, str]]:
    """Keep a row on a line of a terminal: what is missing stands below, long names give way.

    Beside it, how each of all groups is named in the table and below.
    """
    columns = [
        replace(one, head=_BRIEF.get(one.head, one.head),
                cells=[_BRIEF.get(cell, cell) for cell in one.cells])
        for one in table.columns
        if one.head != _HEADS[-1]
    ]  # fmt: skip
    table = replace(table, columns=columns).compact()
    if _room_of_groups(table) < min(_LEAST_GROUP, max(map(len, groups), default=0)):
        table = replace(table, columns=[_named_briefly(one) for one in table.columns])
    names = fitted_names(groups, _room_of_groups(table))
    brief = dict(zip(groups, names, strict=True))
    columns = [
        replace(one, cells=[brief.get(cell, cell) for cell in one.cells])
        if one.head == _GROUP
        else one
        for one in table.columns
    ]
    return replace(table, columns=columns, fits=True), brief


def _room_of_groups(table: Table) -> int:
    """How wide the names of groups may be beside the other columns."""
    others = [max(map(len, [one.head, *one.cells])) for one in table.columns if one.head != _GROUP]
    return WIDTH - sum(others) - len(_GAP) * len(others)


def _named_briefly(column: Column) -> Column:
    """Requirements by the short names of their coefficients, which are understood as well."""
    if column.head != _HEADS[1]:
        return column
    return replace(column, cells=[_briefly(cell) for cell in column.cells])


def _briefly(required: str) -> str:
    name, _, rest = required.partition(" ")
    return f"{_BRIEF_NAMES.get(name, name)} {rest}"


def _requirement_pairs_table(gated: Gated, rows: Sequence[Row], names: Sequence[str]) -> Table:
    """Requirements, a line each; beside each its value with missing verdicts left out.

    One of which no group has a value, such as reproducibility that was not asked for, is one line.
    """
    known = {row["requirement"] for row in rows if row["value"] is not None}
    of_all = {row["requirement"]: row for row in rows if row["requirement"] not in known}
    rows = [row for row in rows if row["requirement"] in known or row is of_all[row["requirement"]]]
    pairs: list[list[Row]] = []
    for row in rows:
        before = pairs[-1][0] if pairs else {}
        is_second = all(before.get(name) == row[name] for name in ("requirement", *names))
        if is_second and len(pairs[-1]) == 1 and before["missing"] != row["missing"]:
            pairs[-1].append(row)
        else:
            pairs.append([row])
    table = _requirement_table(gated, [first for first, *_ in pairs], names)
    beside = [_value_beside(*pair) or "-" for pair in pairs]
    policies = {missing_policy(row) for row, *_ in pairs if row["value"] is not None} - {"-"}
    columns, caption = [*table.columns], table.caption
    if len(policies) == 1:
        columns = [one for one in columns if one.head != _MISSING]
    if {*beside} != {"-"}:
        columns.append(Column(head=_LEFT_OUT, cells=beside))
        caption += f"; {_LEFT_OUT}: the value without missing verdicts"
    elif policies == {_LEFT_OUT}:
        caption += f"; missing verdicts are {_LEFT_OUT}"
    alike = [len(pair) == 1 and pair[0] in of_all.values() for pair in pairs]
    columns = [
        replace(one, cells=["all" if a else text for a, text in zip(alike, one.cells, strict=True)])
        if one.head == _GROUP else one for one in columns
    ]  # fmt: skip
    return replace(table, columns=columns, caption=caption)


def _value_beside(first: Row, second: Row | None = None) -> str:
    """A value under the other policy, with what that decides where it is something else."""
    if second is None:
        return ""
    alike = first["verdict"] == second["verdict"]
    return number(second["value"]) if alike else _verdict_and_value(second)


def _verdict_and_value(row: Row) -> str:
    verdict = str(row["verdict"])
    value = "" if row["value"] is None else f" {number(row['value'])}"
    return f"{_BRIEF.get(verdict, verdict)}{value}"


def _one_row_a_group(gated: Gated, rows: Sequence[Row], names: Sequence[str]) -> Table:
    """Of many groups a row each, those that miss most first: every requirement's worst value."""
    required = [*dict.fromkeys(str(row["requirement"]) for row in rows)]
    parts: dict[str, dict[str, Row]] = {_group(row, names): {} for row in rows}
    for row in sorted(rows, key=lambda row: _WORST.index(str(row["verdict"]))):
        parts[_group(row, names)].setdefault(str(row["requirement"]), row)
    counts = {
        group: [sum(row["verdict"] == word for row in of.values()) for word in _WORST]
        for group, of in parts.items()
    }
    groups = sorted(parts, key=lambda group: [-n for n in counts[group]])[:MOST_ROWS]
    heads = [_briefly(one).partition(" ")[0] for one in required]
    columns = [
        Column(head=head, cells=[_verdict_and_value(parts[group][one]) if one in parts[group]
                                 else "-" for group in groups])
        for head, one in zip(heads, required, strict=True)
    ]  # fmt: skip
    by_name = [Column(head=_GROUP, cells=groups)]
    level = _percent(gated.look.confidence)
    must = f"the whole {level} confidence interval must meet each"
    table = Table(f"{', '.join(required)}: {must}", [*by_name, *columns])
    if len({*heads}) < len(heads) or _room_of_groups(table) < _LEAST_GROUP:
        columns = [
            Column(head=_MET[word], cells=[f"{counts[group][n]}" for group in groups])
            for n, word in enumerate(_WORST)
        ]
        caption = f"Requirements, {len(required)} in all: {must}"
        return Table(caption, [*by_name, *columns])
    if any(row["missing"] == "drop" for row in rows):
        table = replace(table, caption=f"{table.caption}, also without missing verdicts")
    return table


def _requirement_need_lines(rows: Sequence[Row], group_of: Callable[[Row], str]) -> list[str]:
    """What would decide every requirement that is open, a line each, by group where they differ."""
    found: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        if row["reason"] == CROSSES:
            of = found.setdefault(str(row["requirement"]), {})
            of.setdefault(group_of(row), []).append(row)
    return [f"{required}: {_needs_of_groups(of)}" for required, of in found.items()]


def _missed_lines(rows: Sequence[Row], group_of: Callable[[Row], str]) -> list[str]:
    """Which groups miss each requirement."""
    missed: dict[str, list[str]] = {}
    for row in rows:
        if row["verdict"] == Verdict.FAIL.value:
            missed.setdefault(str(row["requirement"]), []).append(group_of(row))
    return [
        f"{required}: missed by {named(those, most=MOST_ROWS)}"
        for required, those in missed.items()
    ]


def _needs_of_groups(groups: Mapping[str, Sequence[Row]]) -> str:
    """What would decide one requirement, by group; of many groups the range of it."""
    if len(groups) > _MOST_NEEDS:
        most = [_most_questions(rows) for rows in groups.values()]
        ends = dict.fromkeys(
            f"{n:,.0f}" if n < MOST_QUESTIONS else f"over {n:,.0f}" for n in (min(most), max(most))
        )
        return f"open for {len(groups)}; {' to '.join(ends)} more questions would decide"
    ways: dict[str, list[str]] = {}
    for group, rows in groups.items():
        last = max(rows, key=lambda row: _most_questions([row]))
        text = _decided_by(last)
        if len({_decided_by(row)[:10] for row in rows}) > 1:  # one policy would pass, one fail
            text = f"would be decided with {more_words(last)}"
        ways.setdefault(text, []).append(group)
    return "; ".join(
        f"{text} ({named(those)})" if any(those) else text for text, those in ways.items()
    )


def _most_questions(rows: Sequence[Row]) -> float:
    return max(cast(float, row["more_questions"] or MOST_QUESTIONS) for row in rows)


def _reasons(rows: Sequence[Row], group_of: Callable[[Row], str]) -> list[str]:
    """Why others are open, a sentence each, after the requirements and groups it holds of."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for row in rows:
        if row["reason"] and row["reason"] != CROSSES:
            why = _why_gate_is_open(row).removeprefix(f"{reason(row['reason'])}: ")
            required, those = found.setdefault(why, ([], []))
            required.append(str(row["requirement"]))
            those.append(group_of(row))
    n_groups = len({*map(group_of, rows)})
    sentences = []
    for why, (required, those) in found.items():
        of = f" ({named(those)})" if len({*those}) < n_groups else ""
        is_alone = why == _REASONS[ALONE]
        sentences.append(_ALONE_BRIEFLY.format(of) if is_alone else f"{named(required)}{of}: {why}")
    return sentences


def _gate_blocks(
    gated: Gated, tables: Sequence[Block], open_: Sequence[str] | None = None
) -> list[Block]:
    """The verdict, a table, why nothing is decided, and which look it was.

    `open_` says briefly what is open; by default the reasons alone are said.
    """
    rows = [*gated.requirements.iter_rows(named=True)]
    why = [
        *(_open_words(rows) if open_ is None else open_),
        *_requirement_notes(rows),
        *gated.notes,
    ]
    is_brief = open_ is not None and gated.look.ledger is None
    why += [_UNCOUNTED] if is_brief else []
    return [
        Paragraph(gate_headline(gated), kind="lead"),
        *tables,
        *([Lines(why)] if why else []),
        *([] if is_brief else [Paragraph(look_words(gated), kind="soft")]),
    ]


def _requirement_table(gated: Gated, rows: Sequence[Row], names: Sequence[str]) -> Table:
    """Requirements, a line each; `names` are the columns that name a group."""
    lines = [*map(_requirement_cells, rows, repeat(names))]
    columns = [
        one
        for one in row_columns(_HEADS, lines, words=_HEADS)
        if not one.is_empty and (one.head != _MISSING or "left out" in one.cells)
    ]
    level = _percent(gated.look.confidence)
    title = f"Requirements: the whole {level} confidence interval must meet each"
    return Table(title, columns, cards=True)


def gate_headline(gated: Gated) -> str:
    """Give the verdict and how many requirements are met, missed and open.

    Examples
    --------
    >>> from judgerel_ray import example, gate
    >>> gate_headline(gate(example("judgments.csv"), require="krippendorff_alpha >= .75"))
    'FAIL: 1 missed, 1 open, of 2'
    """
    found = Counter(gated.requirements["verdict"].to_list())
    n = gated.requirements.height
    if gated.verdict == "PASS":
        return f"PASS: {n} of {n} met"
    parts = [f"{found[name]} {word}" for name, word in _MET.items() if found[name]]
    return f"{gated.verdict}: {', '.join(parts)}, of {n}"


def look_words(gated: Gated) -> str:
    """Say which look it was, and what that means for the intervals.

    Examples
    --------
    >>> from judgerel_ray import example, gate
    >>> look_words(gate(example("judgments.csv"), require="flip_rate <= .9"))[:24]
    'This look is not counted'
    """
    look = gated.look
    if look.ledger is None:
        return (
            "This look is not counted. If you will repeat the check, pass --ledger FILE: it widens "
            "the intervals so that repeated checks stay valid."
        )
    again = ", the data of last time" if look.again else ""
    return (
        f"Look {look.number}{again}, at {look.n_judgments:,} judgments: intervals at "
        f"{_percent(look.confidence)}, so that over all looks, whenever you stop, errors are no "
        "more frequent than with a single look at 95 %."
    )


def gate_result(
    gated: Gated, commands: Mapping[str, str | None] = MappingProxyType({})
) -> Result[Gated]:
    """A gate's verdict as every format is made of it; `commands` of other verbs say what is next.

    Examples
    --------
    >>> from judgerel_ray import example, gate
    >>> found = gate(example("judgments.csv"), require="flip_rate <= .9", by=["judge"])
    >>> print(gate_result(found).as_markdown().splitlines()[0])
    ### Judge gate: PASS: 2 of 2 met
    """
    groups = _gate_group_columns(gated)
    rows = [*gated.requirements.iter_rows(named=True)]
    return Result(
        found=gated,
        tables={"requirements": gated.requirements},
        full=partial(gate_blocks, gated),
        short=partial(short_gate_blocks, gated, commands),
        title=f"Judge gate: {gate_headline(gated)}",
        facts={
            "verdict": gated.verdict, "exit_code": gated.exit_code, "look": asdict(gated.look),
            "notes": gated.notes, "read": gated.read,
        },
        notes=gated.rests_on,
        exit_code=gated.exit_code,
        rows=gated.requirements,
        cases=[_requirement_test_case(row, groups) for row in rows],
    )  # fmt: skip


def _requirement_test_case(row: Row, groups: Sequence[str]) -> Case:
    """One requirement in one group, as a test case."""
    _, required, group, _, value, ends, more = _requirement_cells(row, groups)
    return Case(
        classname=required,
        name=f"{group or 'all'} ({row['missing']})",
        message=" ".join(part for part in (required + ":", value, ends, more) if part),
        failed=row["verdict"] == "FAIL",
        undecided=row["verdict"] == "INCONCLUSIVE",
    )


def _gate_group_columns(gated: Gated) -> list[str]:
    """Columns that make a group."""
    return Requirements.groups(gated.requirements)


def _requirement_cells(row: Row, groups: Sequence[str]) -> list[str]:
    """One requirement in one group, in the order of the heads."""
    ends = {"low": row["low"], "high": row["high"]}
    value = "" if row["value"] is None else number(row["value"])
    return [
        cell(row["verdict"]), cell(row["requirement"]), _group(row, groups),
        "-" if row["limit"] is None else missing_policy(row), value,
        interval(ends), _decided_by(row),
    ]  # fmt: skip


def _group(row: Row, groups: Sequence[str]) -> str:
    return group_label(row, [name for name in groups if row[name] is not None])


def _decided_by(row: Row) -> str:
    """What would decide, and which way, should the value stay; or why nothing is decided."""
    more = more_words(row)
    if row["reason"] != CROSSES or row["value"] is None:
        return more
    value, limit = cast(float, row["value"]), cast(float, row["limit"])
    meets = value <= limit if row["at_most"] else value >= limit
    return f"would {'pass' if meets else 'fail'} with {more}"


def more_words(row: Row) -> str:
    """Say what would decide, or why nothing is decided; nothing where it is.

    Examples
    --------
    >>> more_words({"reason": CROSSES, "more_questions": 1, "more_replications": None,
    ...             "n_items": 60, "n_compared": 12})
    '1 more question like the 12 counted'
    """
    questions, again, n = row["more_questions"], row["more_replications"], row["n_compared"]
    if row["reason"] is None:
        return ""
    if row["reason"] != CROSSES:
        code = str(row["reason"])
        return _SHORT.get(code, reason(code))
    if n in (0, 1):
        return "more than one question"
    some = f" like the {n:,} counted"
    like = "" if n in (None, row["n_items"]) else some
    ways = [f"{count_of(int(str(questions)), 'more question')}{like}"] if questions else []
    if again:
        ways.append(
            f"{count_of(int(str(again)), 'more replication')} of these {n or row['n_items']:,}"
        )
    return ", or ".join(ways) or TOO_MANY


def _open_words(rows: Sequence[Row]) -> list[str]:
    """Why nothing is decided, in sentences."""
    why = [_why_gate_is_open(row) for row in rows if row["reason"] and row["reason"] != CROSSES]
    return [*dict.fromkeys(why)]


def _requirement_notes(rows: Sequence[Row]) -> list[str]:
    """Which requirements a worse judge meets, and what repeats that judge other answers are."""
    odd = [
        f"{row['requirement']}: less of it is better, and this asks for more; <= was perhaps meant"
        for row in rows
        if row["coefficient"] in LESS_IS_BETTER and not row["at_most"] and row["baseline"] is None
    ]
    mixed = [
        CONFOUNDED
        for row in rows
        if judges_other_answers(row) and row["conditions"] == REPEATABILITY
    ]
    return [*dict.fromkeys([*odd, *mixed])]


def _why_gate_is_open(row: Row) -> str:
    """Why nothing is decided, in a sentence."""
    code = str(row["reason"])
    if code in _REASONS:
        return _REASONS[code].format(row["coefficient"])
    if row["undefined"] if "undefined" in row else row["value"] is None:
        return explanation(reason(code))
    n = row["n_items"]
    if row["low"] is None and isinstance(n, int) and n:
        return no_interval_words(code, n=n)
    return explanation(reason(code))


def _percent(share: float) -> str:
    """A confidence in percent, with as many digits as it needs."""
    return f"{100 * share:.4g} %" if share < 0.9999 else f"{100 * share:.6g} %"


SIGNS = {Verdict.PASS: "\u2713", Verdict.FAIL: "\u2717", Verdict.INCONCLUSIVE: "?"}
STANDINGS = {
    Verdict.PASS: "may decide",
    Verdict.FAIL: "may not decide",
    Verdict.INCONCLUSIVE: "undecided",
}
"""A verdict in words that also read in black and white."""
_BEST = (Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.FAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a gate says of one judge: at the temperature that serves best, and at the others."""

    group: Mapping[str, object]
    verdict: Verdict  # At `temperature`.
    # The best one: of equal verdicts that of the surest alpha; None where there is none.
    temperature: object
    rows: Sequence[Row]
    # Other temperatures and what is said there, in their order.
    others: Sequence[tuple[object, Verdict]] = ()


def decisions(requirements: pl.DataFrame) -> list[Decision]:
    """Say of every judge, and whatever else makes groups but temperature, whether it may decide.

    Examples
    --------
    >>> from judgerel_ray import example, gate
    >>> found = gate(example("judgments.csv"), require="flip_rate <= .9").requirements
    >>> [(one.group["judge"], one.verdict.value) for one in decisions(found)]
    [('simulated-erratic', 'PASS'), ('simulated-steady', 'PASS')]
    """
    names = Requirements.groups(requirements)
    rest = [name for name in names if name != TEMPERATURE]
    parts: dict[tuple[object, ...], dict[object, list[Row]]] = {}
    for row in requirements.iter_rows(named=True):
        heats = parts.setdefault(tuple(row[name] for name in rest), {})
        heats.setdefault(row.get(TEMPERATURE), []).append(row)
    found = []
    for key, heats in parts.items():
        stands = {heat: overall([str(row["verdict"]) for row in rows])
                for heat, rows in heats.items()}  # fmt: skip
        best = min(
            heats, key=lambda heat: (_BEST.index(stands[heat]), -_gate_surest_alpha(heats[heat]))
        )
        found.append(
            Decision(
                group=dict(zip(rest, key, strict=True)), verdict=stands[best], temperature=best,
                rows=heats[best],
                others=[(heat, one) for heat, one in stands.items() if heat != best],
            )
        )  # fmt: skip
    return found


def _gate_surest_alpha(rows: Sequence[Row]) -> float:
    """The least alpha that the interval holds; below all where there is none."""
    lows = [
        row["low"]
        for row in rows
        if row["coefficient"] == "krippendorff_alpha" and row["reason"] != Flag.SERVING_NOISE.value
    ]
    return min((float(low) if isinstance(low, float) else -2.0 for low in lows), default=-2.0)


def verdict_line(found: Decision, varying: Sequence[str]) -> Paragraph:
    """Say in one line whether a judge may decide, where, and why.

    Parameters
    ----------
    found : Decision
        What the gate says.
    varying : sequence of str
        Columns whose values tell it from others.

    Examples
    --------
    >>> from judgerel_ray import example, gate
    >>> found = gate(example("judgments.csv"), require="flip_rate <= .9").requirements
    >>> line = verdict_line(decisions(found)[1], ["judge"])
    >>> "".join(span.text for span in line.spans)
    '✓ simulated-steady: may decide. Every requirement is met: flip rate of the same prompt again 0.208 [0.000, 0.553] (at most 0.9).'
    """  # noqa: E501
    who = group_label(found.group, varying) if varying else "this judge"
    heat = "" if found.temperature is None else f" at temperature {cell(found.temperature)}"
    nowhere = found.others and found.verdict is Verdict.FAIL  # the best verdict, so of all
    where = " at any temperature asked" if nowhere else f"{heat}{_gate_other_temperatures(found)}"
    best = f"At {cell(found.temperature)}, the best of them: " if nowhere else ""
    stands = f"{SIGNS[found.verdict]} {who}: {STANDINGS[found.verdict]}{where}."
    return Paragraph(
        [Span(stands, "strong"), f" {best}{_why_gate_decided_so(found)}"], _MET[found.verdict]
    )


def _gate_other_temperatures(found: Decision) -> str:
    """What is said at other temperatures."""
    words = {Verdict.PASS: "also at", Verdict.FAIL: "not at", Verdict.INCONCLUSIVE: "undecided at"}
    parts = []
    for verdict, word in words.items():
        heats = [cell(heat) for heat, one in found.others if one is verdict]
        parts += [f"{word} {', '.join(heats)}"] if heats else []
    return f" ({'; '.join(parts)})" if parts else ""


def _why_gate_decided_so(found: Decision) -> str:
    """What decided, or what is open."""
    rows = [row for row in found.rows if row["verdict"] == found.verdict.value]
    counted = {row["requirement"] for row in found.rows if row["missing"] == "category"}

    def held(row: Row) -> str:
        is_other = row["missing"] == "drop" and row["requirement"] in counted
        return f"{_held(row)}{' without missing verdicts' * is_other}"

    if found.verdict is Verdict.PASS:
        return f"Every requirement is met: {'; '.join(dict.fromkeys(map(held, rows)))}."
    parts = [
        held(row)
        if found.verdict is Verdict.FAIL
        else f"{held(row)}: {_open_requirement_words(row)}"
        for row in rows
    ]
    word = "Missed" if found.verdict is Verdict.FAIL else "Open"
    return f"{word}: {'; '.join(dict.fromkeys(parts))}."


def _held(row: Row) -> str:
    """A requirement beside the value and its interval."""
    name = coefficient_name({"measurement": None, **row})
    again = "other answers" if judges_other_answers(row) else "the same prompt again"
    same = f" of {again}" if row["conditions"] == REPEATABILITY else ""
    value = "" if row["value"] is None else f" {number(row['value'])} {interval(row)}".rstrip()
    if row["limit"] is None:
        return "reproducibility is unknown"
    limit = f"{float(str(row['limit'])):g}"
    return f"{name}{same}{value} ({'at most' if row['at_most'] else 'at least'} {limit})"


def _open_requirement_words(row: Row) -> str:
    """What would decide, or why nothing is decided."""
    more = more_words(row)
    by_more = row["reason"] in (CROSSES, *_SHORT) and row["reason"] not in (AT_LIMIT, WITHIN)
    return f"{more} would decide" if by_more else more
