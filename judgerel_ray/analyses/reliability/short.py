"""The short answer of ``reduce``: one table with a row a judge, what to distrust, what to do next.

It fits one screen. What was left out of it is in ``--full``, what its words mean in ``--explain``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from textwrap import wrap
from typing import cast

import polars as pl

from judgerel_ray.analyses.reliability.from_run import Reduced
from judgerel_ray.analyses.reliability.headlines import (
    FEW_QUESTIONS,
    Lead,
    asked_anew,
    lead,
    of_ratings,
    of_their_kind,
)
from judgerel_ray.blocks.blocks import Block, Laid
from judgerel_ray.blocks.columns import WIDTH, natural, plain_table
from judgerel_ray.blocks.words import (
    NOISE,
    Row,
    cell,
    coefficient_name,
    conditions,
    estimate,
    group_columns,
    group_label,
    noted,
    nuisance,
    number,
    percent,
    reason,
)
from judgerel_ray.core import count_of, cut_text, shortened
from judgerel_ray.core.codes import Flag, no_interval_words
from judgerel_ray.counting.verdicts.policy import REPEATABILITY, REPRODUCIBILITY
from judgerel_ray.measuring.failures import failed_by_group, failures_in_words
from judgerel_ray.measuring.lead_codes import LeadCode, lead_parts

LINES = 14
"""Lines of the short answer for two judges; of more judges as many more as there are rows."""
_MOST_ROWS = 40
_LEAST_ROOM = 8  # lines of remarks, however many rows the tables have
_LEAST_CUT = 3  # letters that names share, below which nothing is left out of them
_LEAST_NAME = 20  # columns that a judge's name keeps, however wide the numbers are
_MOST_NAMED = 3  # groups that a sentence names; of more it says how many
_NAMELESS = "this judge"
_PLURALS = {"benchmark": "benchmarks", "criterion": "criteria"}

Command = Callable[[str], str | None]
"""From the name of a verb to the command that does it on the same judgments; None of a frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRows:
    """A group's rows, its name, and what leads it."""

    rows: Sequence[Row]
    key: Mapping[str, object]  # The values of the columns that make groups.
    label: str  # As a sentence names it: `this judge` where there is no other.
    lead: Lead | None
    named: bool = False  # Whether its coefficients were chosen.

    def row(self, name: str, conditions: str | None = None) -> Row | None:
        """The first row of a coefficient: by the policy, the level and the conditions that lead."""
        return next(
            (
                row
                for row in self.rows
                if row["coefficient"] == name and conditions in (None, row.get("conditions"))
            ),
            None,
        )

    @property
    def of_ratings(self) -> bool:
        """Whether its verdicts are numbers."""
        return of_ratings(self.rows)

    @property
    def shown(self) -> Sequence[Row]:
        """The rows whose numbers stand in the table or in a sentence."""
        if self.named:
            return self.rows
        rows = {name: self.row(name) for name in _SHOWN}
        return [row for row in rows.values() if row is not None]

    @property
    def again(self) -> Row | None:
        """Alpha of the same prompt again, where that of other orders or wordings leads."""
        first = self.row("krippendorff_alpha")
        reproduced = first is not None and first.get("conditions") == REPRODUCIBILITY
        return self.row("krippendorff_alpha", REPEATABILITY) if reproduced else None


_SHOWN = (
    "krippendorff_alpha", "percent_agreement", "standard_error", "swap_consistency",
    "place_consistency", "position_bias", "first_place",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence on a group, or on several that it holds of alike."""

    severity: int  # The most harmful first: 0.
    text: str  # With {} for the group.
    label: str


def short_blocks(found: Reduced, *, named: bool, standing: str, command: Command) -> list[Block]:
    """Lay the short answer out.

    `named` tells whether coefficients were chosen: they are the table's rows then. `standing` is
    how coefficients stand to tolerances, as text.
    """
    groups = grouped(found.coefficients, named=named)
    if not groups:  # serving noise alone
        return []
    varying = varying_columns(found.coefficients)
    scope = "\n".join(_wrapped(scope_line(groups, varying)))
    kinds = [[one for one in groups if one.of_ratings is rated] for rated in (False, True)]
    tables = [summary_table(of_kind) for of_kind in kinds if of_kind]
    table = named_table(groups, varying) if named else "\n\n".join(tables)
    step = next_step(groups, command)
    n_lines = scope.count("\n") + table.count("\n") + 4 + len(step)
    room = LINES + max(0, len(groups) - 2) - n_lines
    if named or len(groups) > 2:
        room = max(_LEAST_ROOM, room) if not named else _MOST_ROWS
    findings = [*_of_requests(found, groups), *findings_of(groups)]
    below = "\n".join([*lines_of(findings, room, len(groups)), *step])
    text = "\n\n".join(filter(None, [scope, table, below]))
    return [Laid(text), *([Laid(standing)] if standing else [])]


def grouped(coefficients: pl.DataFrame, *, named: bool = False) -> list[GroupRows]:
    """Gather the rows of every group, those that take ratings for mere names left out.

    None is left out where coefficients were chosen, so `named`.
    """
    names, varying = group_columns(coefficients), varying_columns(coefficients)
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in coefficients.iter_rows(named=True):
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    in_natural_order = sorted(groups, key=lambda key: [*map(natural, key)])
    return [
        GroupRows(
            rows=rows if named else of_their_kind(rows),
            key={name: rows[0][name] for name in names},
            label=_label(rows[0], varying),
            lead=lead(rows),
            named=named,
        )
        for rows in map(groups.__getitem__, in_natural_order)
    ]


def varying_columns(coefficients: pl.DataFrame) -> list[str]:
    """Name the columns that tell groups apart: the judge's where there is one group."""
    names = group_columns(coefficients)
    varying = [name for name in names if coefficients[name].n_unique() > 1]
    return varying or [name for name in names if name == "judge" and coefficients[name][0]]


def _label(row: Row, varying: Sequence[str]) -> str:
    """A group as the subject of a sentence: its judge, the rest of what it is in brackets."""
    rest = group_label(row, [name for name in varying if name != "judge"]) if varying else ""
    rest = rest if any(name != "judge" for name in varying) else ""
    judge = cell(row["judge"]) if row.get("judge") is not None else _NAMELESS
    if "judge" in varying and row["judge"] is None:
        judge = "the judge without a name"
    return f"{judge} ({rest})" if rest else judge


def scope_line(groups: Sequence[GroupRows], varying: Sequence[str]) -> str:
    """Say what was asked, of how many, and how often."""
    parts = []
    for name in varying:
        n = len({group.rows[0][name] for group in groups})
        words = name.replace("_", " ")
        parts += [f"{n:,} {_PLURALS.get(name, f'{words}s')}"] if n > 1 else []
    first = [group.rows[0] for group in groups]
    items = {cast(int, row["n_items"]) for row in first}
    each = " each" if len(groups) > 1 else ""
    most = f"{min(items):,} to " if len(items) > 1 else ""
    parts.append(f"{most}{count_of(max(items), 'question')}{each}")
    parts += dict.fromkeys(_asked_of(group) for group in groups) if _alike(groups) else []
    n_replies = sum(cast(int, row["n_judgments"]) for row in first)
    return f"{', '.join(parts)}: {count_of(n_replies, 'reply', 'replies')}"


def _alike(groups: Sequence[GroupRows]) -> bool:
    return len({_asked_of(group) for group in groups}) == 1


def _asked_of(group: GroupRows) -> str:
    """How often a question was asked: in how many orders or wordings, and each how often."""
    row, again = group.row("krippendorff_alpha") or group.rows[0], group.again
    n = cast(int, row["n_replications"])
    if again is None:
        return "asked once" if n == 1 else f"up to {n:,} replies each"
    facets, repeats = nuisance(row, again), cast(int, again["n_replications"])
    levels, rest = divmod(n, repeats)
    if rest or not facets:
        return f"up to {n:,} replies each"
    what = f"{facets[0].replace('_', ' ')}s" if len(facets) == 1 else "prompts each"
    return f"{levels:,} {what}, {count_of(repeats, 'repeat')}"


def name_columns(groups: Sequence[GroupRows]) -> dict[str, list[str]]:
    """Write the columns that tell groups apart, those left out that others imply.

    Beside the judge one column holds the rest where it is more than one.
    """
    keys = [group.key for group in groups]
    kept = [name for name in keys[0] if len({key[name] for key in keys}) > 1]
    for name in [*kept]:
        rest = [one for one in kept if one != name]
        if len({tuple(key[one] for one in rest) for key in keys}) == len(keys):
            kept = rest if name != "judge" else kept
    if not kept and keys[0].get("judge") is not None:
        kept = ["judge"]
    columns = {"judge": [cell(key["judge"]) for key in keys]} if "judge" in kept else {}
    others = [name for name in kept if name != "judge"]
    if others:
        columns[", ".join(others).replace("_", " ")] = [
            ", ".join(cell(key[name]) for name in others if key[name] is not None) for key in keys
        ]
    return columns


def summary_table(groups: Sequence[GroupRows]) -> str:
    """Write one row a group: alpha with what shuffled verdicts give, agreement, valid replies."""
    names = name_columns(groups)
    cells: list[dict[str, str]] = []
    for place, group in enumerate(groups[:_MOST_ROWS]):
        alpha, agreement = group.row("krippendorff_alpha"), group.row("percent_agreement")
        valid, error, again = group.row("valid_rate"), group.row("standard_error"), group.again
        cells.append(
            {name: column[place] for name, column in names.items()}
            | {
                "alpha [95 %]": estimate(alpha).replace("undefined: ", "none: ") if alpha else "-",
                "of": str((alpha or {}).get("conditions") or "-"),
                "shuffled": number(alpha["noise_floor"]) if alpha else "-",
                "same prompt": number(again["value"]) if again else "-",
                "error in points": number(error["value"]) if error else "-",
                "agreement": _percent(agreement) if not error else "-",
                "valid": percent(valid["value"]) if valid else "-",
            }
        )
    conditions_told = {row["of"] for row in cells} - {"-"}
    heads = [
        head
        for place, head in enumerate(cells[0])
        if any(row[head] != "-" for row in cells) or place < len(names)
    ]
    heads = [head for head in heads if head != "of" or len(conditions_told) > 1]
    text = _within(heads, [[row[head] for head in heads] for row in cells], len(names))
    lines = [text, *_more_groups(len(groups))]
    alphas = [alpha for group in groups if (alpha := group.row("krippendorff_alpha"))]
    there = [alpha for alpha in alphas if alpha["value"] is not None]
    lines += _wrapped(_what_alpha_is(there, groups)) if there and len(conditions_told) == 1 else []
    return "\n".join(lines)


def _what_alpha_is(alphas: Sequence[Row], groups: Sequence[GroupRows]) -> str:
    """Under which conditions alpha is, in a line below the table."""
    levels = {str(row["measurement"]) for row in alphas} - {"nominal"}
    level = f" ({', '.join(sorted(levels))})" if levels else ""
    facets = " and ".join(nuisance(alphas[0], groups[0].again)).replace("_", " ")
    asked = conditions(alphas[0]).removesuffix(" (repeatability)")
    if facets:
        asked = f"{facets} drawn at random"
    return f"alpha{level}: agreement with itself beyond chance, {asked}"


def named_table(groups: Sequence[GroupRows], varying: Sequence[str]) -> str:
    """Write one row a group and coefficient that was chosen."""
    kinds = {str(row["conditions"]) for group in groups for row in group.rows}
    policies = {str(row["missing"]) for group in groups for row in group.rows}
    lines, heads = [], [*(name.replace("_", " ") for name in varying), "coefficient"]
    heads += ["of"] * (len(kinds) > 1) + ["no verdict"] * (len(policies) > 1)
    heads += ["value [95 %]", "shuffled", "remark"]
    for group in groups[:_MOST_ROWS]:
        for row in group.rows:
            line = [*(cell(row[name]) for name in varying), coefficient_name(row)]
            line += [str(row["conditions"] or "-")] * (len(kinds) > 1)
            line += [str(row["missing"] or "-")] * (len(policies) > 1)
            value = estimate(row).replace("undefined: ", "none: ")
            remark = "noise" if row["noise"] else ""
            lines.append([*line, value, number(row["noise_floor"]), remark])
    return "\n".join([_within(heads, lines, len(varying)), *_more_groups(len(groups))])


def _more_groups(n: int) -> list[str]:
    """How many groups are not shown."""
    more = f"{count_of(n - _MOST_ROWS, 'more group')}: --full, --format json or --out FILE"
    return [more] if n > _MOST_ROWS else []


def _within(heads: Sequence[str], lines: Sequence[Sequence[str]], n_names: int) -> str:
    """Align columns; names give way where the table is wider than a terminal."""
    table = plain_table(heads, lines)
    over = max(map(len, table.splitlines())) - WIDTH
    if over <= 0 or not n_names:
        return table
    columns = [_without_prefix([line[i] for line in lines]) for i in range(n_names)]
    lines = [
        [*(column[place] for column in columns), *line[n_names:]]
        for place, line in enumerate(lines)
    ]
    over = max(map(len, plain_table(heads, lines).splitlines())) - WIDTH
    if over <= 0:
        return plain_table(heads, lines)
    widths = [max(len(line[i]) for line in lines) for i in range(n_names)]
    widest = max(range(n_names), key=widths.__getitem__)
    kept = max(_LEAST_NAME, widths[widest] - over)
    cut = [
        [cut_text(text, kept) if i == widest else text for i, text in enumerate(line)]
        for line in lines
    ]
    return plain_table(heads, cut)


def _without_prefix(names: Sequence[str]) -> list[str]:
    """Names without the words that all begin with, such as their vendor's."""
    shared = re.search(r".*[-/_: ]|", commonprefix([*names]))
    n = len(shared[0]) if shared else 0
    return [f"..{name[n:]}" for name in names] if n > _LEAST_CUT else [*names]


def _percent(row: Row | None) -> str:
    """A share to a tenth of a percent."""
    value = row["value"] if row else None
    return f"{100 * value:.1f} %" if isinstance(value, int | float) else "-"


def _share(row: Row) -> str:
    """A share with its interval, in percent."""
    if row["low"] is None:
        return percent(row["value"])
    low, high = percent(row["low"]).removesuffix(" %"), percent(row["high"])
    to = " to " if low.startswith("<") or high.startswith(">") else "-"
    return f"{percent(row['value'])} ({low}{to}{high})"


def _of_requests(found: Reduced, groups: Sequence[GroupRows]) -> Iterator[Finding]:
    """What kept requests from being replies, and the serving's own noise."""
    names = group_columns(found.coefficients)
    by_group = failed_by_group(found.failures, names)
    for group in groups:
        reasons = by_group.get(tuple(cell(group.rows[0][name]) for name in names))
        if reasons:
            yield Finding(
                severity=2, label=group.label, text=f"{_ATTACHED}{failures_in_words(reasons)}"
            )
    if "coefficient" not in found.serving.columns:
        return
    columns = group_columns(found.serving)
    varying = [name for name in columns if name != "temperature"]
    for row in found.serving.iter_rows(named=True):
        if row["coefficient"] == "serving_noise" and row["value"]:
            text = (
                f"{_ATTACHED}serving noise: two replies to one prompt at temperature 0 differ "
                f"{_share(row)} of the time"
            )
            yield Finding(severity=4, label=_label(row, varying), text=text)


def findings_of(groups: Sequence[GroupRows]) -> Iterator[Finding]:
    """What to distrust in every group, and of one or two judges what is sound."""
    for group in groups:
        if group.lead is not None:
            severity, text = _lead_words(group, group.lead)
            if severity < _SOUND or len(groups) <= 2:
                yield Finding(severity=severity, label=group.label, text=text)
        yield from (
            Finding(severity=severity, label=group.label, text=text)
            for severity, text in dict.fromkeys(_doubts(group))
        )


_SOUND = 9  # from here on a finding is no reason to distrust


def _lead_words(group: GroupRows, led: Lead) -> tuple[int, str]:
    """What leads a group in a line or two, and how harmful it is."""
    row, replies = led.row, led.replies
    match led.code:
        case LeadCode.FEW_VERDICTS:
            n, of = (replies.n_valid, replies.n_replies) if replies else (0, 0)
            held = f"{n:,} of {of:,} replies ({percent(n / of)})" if of else "too few replies"
            return 0, f"only {held} of {{}} hold a verdict: too few to report agreement"
        case LeadCode.ONE_ANSWER | LeadCode.ONE_PLACE:
            place = led.code is LeadCode.ONE_PLACE
            always = f"names the place {led.answer}" if place else f"answers {led.answer}"
            asked = "options are" if place else "question is"
            return 0, f"{{}} {always} whatever the {asked}: agreement says nothing"
        case LeadCode.NAMES_UNKNOWN:
            again = led.repeated
            steady = f"; the same prompt again: {_share(again)} agreement" if again else ""
            return 0, (
                f"{_ATTACHED}whether a verdict names an option or a place is not known, so "
                f"position bias is not either{steady}"
            )
        case LeadCode.FOLLOWS_PLACE if led.place and led.option:
            again = group.again
            hidden = f". Repeats hide this: {number(again['value'])}" if again else ""
            return 1, (
                f"{{}} goes by position: with the order changed it names the same place "
                f"{_share(led.place)} of the time, the same option {_share(led.option)}{hidden}"
            )
        case LeadCode.NOISE:
            return 1, f"{{}} is {NOISE}"
        case LeadCode.BELOW_CHANCE:
            return 1, "{} disagrees with itself more than chance would"
        case LeadCode.UNDEFINED:
            return 2, f"{_ATTACHED}no agreement: {_why(row)}"
    return _SOUND, _sound(group, row)


def _why(row: Row | None) -> str:
    """Why there is no number."""
    code = (row or {}).get("undefined")
    if code == "single_replication":
        return "every question was asked once, so nothing shows how stable its verdicts are"
    return reason(code)


def _sound(group: GroupRows, row: Row | None) -> str:
    """What a judge that is not to be distrusted does, in a line."""
    option, leaning = group.row("swap_consistency"), group.row("position_bias")
    classes = [one for one in group.rows if str(one["coefficient"]).startswith("class_agreement:")]
    if row is not None and row["coefficient"] == "standard_error":
        return f"one rating of {{}} has a standard error of {number(row['value'])} points"
    if option is not None and option["value"] is not None:
        text = f"{{}} keeps its option {_share(option)} of the time when the order changes"
        first = group.row("first_place")
        if leaning and leaning["value"] and not leaning["noise"] and first:
            text += f"; it names the first place {_share(first)}"
        return text
    if classes and all(one["value"] is not None for one in classes):
        shares = " and ".join(
            f"{lead_parts(one['coefficient'])[1]} {_share(one)}" for one in classes
        )
        return f"{{}} confirms its own {shares} of the time"
    if row is None or row["value"] is None:
        return "none of the coefficients asked for leads {}"
    asked = conditions(row, group.again).partition(" (")[0]
    return f"{{}} gives the same verdict {_share(row)} of the time, {asked}"


_IN_LEAD = (Flag.FEW_VERDICTS, Flag.SOME_WITHOUT, Flag.OTHER_ANSWERS, Flag.WITHIN_PROMPT)
"""Flags that a sentence of their own says."""
_OF_METHOD = (
    Flag.NO_REPEATS, Flag.IN_BLOCKS, Flag.RESAMPLES_UNDEFINED, Flag.PERMUTATIONS_UNDEFINED,
)  # fmt: skip
"""Flags that tell how a number was made, and take nothing from it: ``--full`` has them."""
_FEW = "few questions decide (under 10)"
_ATTACHED = "{}: "
"""How a finding begins that holds of its groups alone: where these are all, nothing is said of
them; and it stands in the line of another on the same groups, where it fits."""


def _doubts(group: GroupRows) -> Iterator[tuple[int, str]]:
    """What weakens a group's numbers besides what leads it."""
    led, alpha = group.lead, group.row("krippendorff_alpha")
    code = led.code if led else None
    if code is not LeadCode.NOISE and alpha is not None and alpha["noise"]:
        yield 2, f"{{}} is {NOISE}"
    if led is not None and led.replies is not None and led.replies.flag is not None:
        n = led.replies.n_replies - led.replies.n_valid
        text = f"{_ATTACHED}{n:,} of {led.replies.n_replies:,} replies hold no verdict"
        alone = led.apart
        if alone is not None and alone["value"] is not None:
            text += (
                " and count as agreeing with each other; without them agreement is "
                f"{percent(alone['value'])}"
            )
        if code is not LeadCode.FEW_VERDICTS:
            yield 3, text
    explained = (LeadCode.UNDEFINED, LeadCode.NAMES_UNKNOWN, LeadCode.ONE_ANSWER)
    row = led.row if led else None
    n_questions = cast(int, (row or {}).get("n_compared") or 0)
    if 0 < n_questions < FEW_QUESTIONS:
        of_them = count_of(n_questions, "question")
        yield 4, f"{_ATTACHED}this rests on {of_them}: a few more can change it"
    if alpha is not None and alpha["value"] is None and code not in explained:
        yield 4, f"{_ATTACHED}no alpha: {reason(alpha['undefined'])}"
    for row in group.shown:
        first = row["coefficient"] == "krippendorff_alpha" or group.named
        several = group.named and len({one["coefficient"] for one in group.rows}) > 1
        about = f"{_ATTACHED}{coefficient_name(row)}: " if several else _ATTACHED
        if first and row.get("no_interval") and row["value"] is not None:
            n = cast(int, row.get("n_compared") or 0)
            words = no_interval_words(str(row["no_interval"]), n=n)
            yield 5, f"{about}{words}"
        for flag, numbers in noted(row):
            if flag is Flag.FEW_INFORMATIVE and first:
                yield 6, f"{_ATTACHED}{_FEW}"
            elif flag not in (Flag.FEW_INFORMATIVE, *_IN_LEAD, *_OF_METHOD):
                yield 6, f"{about}{flag.note(numbers)}"
    yield from _unknown(group, code)


_CONFOUNDED = (
    f"{_ATTACHED}repeats judge other answers, so the judge's variance and theirs are together "
    "(judgerel items log keeps the answers)"
)
_UNWORDED = (
    f"{_ATTACHED}only the same prompt was repeated, so what another wording changes is unknown"
)
_UNPLACED = (
    f"{_ATTACHED}only the same prompt was repeated, so bias to a position or a wording is unknown "
    "(option_orders = 2 or two templates show it)"
)


def _unknown(group: GroupRows, code: LeadCode | None) -> Iterator[tuple[int, str]]:
    """What was never asked, so that no number shows it."""
    rows = [row for row in group.rows if row.get("conditions") and row["value"] is not None]
    if not rows or code in (LeadCode.NAMES_UNKNOWN, LeadCode.FEW_VERDICTS):
        return
    if any(Flag.OTHER_ANSWERS in dict(noted(row)) for row in rows):
        yield 3, _CONFOUNDED
    elif not any(asked_anew(row) for row in rows):
        classes = any(str(row["coefficient"]).startswith("class_agreement") for row in rows)
        yield 5, _UNWORDED if of_ratings(group.rows) or classes else _UNPLACED


def lines_of(findings: Sequence[Finding], room: int, n_groups: int) -> list[str]:
    """Write findings, the most harmful first, one sentence for groups of which it is true alike."""
    by_text: dict[str, list[str]] = {}
    for one in sorted(findings, key=lambda found: found.severity):
        by_text.setdefault(one.text, []).append(one.label)
    sentences: dict[tuple[str, ...], list[str]] = {}
    written: list[list[str]] = []
    for text, labels in by_text.items():
        earlier = sentences.setdefault(tuple(labels), [])
        joined = f"{earlier[-1]}; {text.removeprefix(_ATTACHED)}" if earlier else ""
        if text.startswith(_ATTACHED) and joined and len(joined) < WIDTH:
            written[written.index(_wrapped(f"{earlier[-1]}."))] = _wrapped(f"{joined}.")
            earlier[-1] = joined
            continue
        if len(set(labels)) == n_groups:
            text = text.removeprefix(_ATTACHED)
        sentence = text.replace("{}", _names(labels, n_groups)).rstrip(".")
        if not text.startswith("{}") or sentence.startswith(_NAMELESS):
            sentence = sentence[0].upper() + sentence[1:]
        earlier.append(sentence)
        written.append(_wrapped(f"{sentence}."))
    if sum(map(len, written)) <= room or len(written) == 1:
        return [line for lines in written for line in lines]
    kept: list[str] = []
    while written and len(kept) + len(written[0]) < room:
        kept += written.pop(0)
    return [*kept, f"{count_of(len(written), 'more remark')}: --full."]


def _names(labels: Sequence[str], n_groups: int) -> str:
    """Groups of a sentence."""
    distinct = [*dict.fromkeys(labels)]
    if len(distinct) == n_groups > _MOST_NAMED:
        return "all judges" if n_groups == len(distinct) else ""
    if len(distinct) > _MOST_NAMED:
        rest = len(distinct) - _MOST_NAMED
        return f"{', '.join(distinct[:_MOST_NAMED])} and {rest:,} more"
    return " and ".join(filter(None, [", ".join(distinct[:-1]), distinct[-1]]))


_HARMFUL = 2
"""Severity below which a judge is to be left out."""


def next_step(groups: Sequence[GroupRows], command: Command) -> list[str]:
    """Say what to do next, with the command that does it."""
    codes = {group.lead.code for group in groups if group.lead}
    name, what, more = "gate", "check what was measured against the usual limits", ""
    if LeadCode.NAMES_UNKNOWN in codes:
        name, what, more = "reduce", "say what a verdict names", " --verdict-names option"
    elif codes and codes <= {LeadCode.UNDEFINED, LeadCode.FEW_VERDICTS}:
        name, what = "doctor", "see what these judgments support"
    bad = [
        group.label
        for group in groups
        if group.lead and _lead_words(group, group.lead)[0] < _HARMFUL
    ]
    if name == "gate" and len(bad) == len(groups):
        name, what = "questions", "see on which questions it disagrees with itself"
    elif name == "gate" and bad:
        less = f"leave out {_names(bad, len(groups))}; {what}"
        what = less if len(less) < WIDTH else f"leave out what the remarks name; {what}"
    line = command(name)
    if line is None:
        return []
    return [*_wrapped(f"Next: {what}:"), f"  {line}{more}"]


def _wrapped(text: str) -> list[str]:
    """Lines that fit; a number keeps its percent sign, an interval its two ends."""
    tied = text.replace(" %", "\u00a0%")
    return [
        line.replace("\u00a0", " ")
        for line in wrap(shortened(tied, WIDTH), WIDTH, subsequent_indent="  ",
                         break_on_hyphens=False)
    ]  # fmt: skip
