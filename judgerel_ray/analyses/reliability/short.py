"""The short answer of ``reduce``: one table with a row a judge, what to distrust, what to do next.

It fits one screen. What was left out of it is in ``--full``, what its words mean in ``--explain``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import cast

import polars as pl

from judgerel_ray.analyses.reliability.from_run import Reduced
from judgerel_ray.analyses.reliability.headlines import (
    FEW_QUESTIONS,
    Lead,
    lead,
    of_ratings,
    of_their_kind,
    spans_prompts,
)
from judgerel_ray.blocks.blocks import Block, Laid, Lines
from judgerel_ray.blocks.columns import WIDTH, natural, plain_table
from judgerel_ray.blocks.short import Remark, finding_lines
from judgerel_ray.blocks.short import named as named_groups
from judgerel_ray.blocks.words import (
    NOISE,
    Row,
    cell,
    coefficient_name,
    conditions,
    group_columns,
    group_label,
    noted,
    nuisance,
    number,
    percent,
    reason,
    rows_by_group,
    share_with_ends,
    short_estimate,
    telling_columns,
)
from judgerel_ray.core import count_of, shortened
from judgerel_ray.core.codes import Flag, no_interval_words
from judgerel_ray.core.short_names import fitted_names
from judgerel_ray.counting.verdicts.policy import REPEATABILITY, REPRODUCIBILITY
from judgerel_ray.measuring.lead_codes import LeadCode, lead_parts
from judgerel_ray.measuring.reliability import failed_by_group, failures_in_words

LINES, LABEL_LINES = 14, 4
"""Lines of the short answer for two judges, and those more that labels take; of more judges as many
more as there are rows."""
_MOST_ROWS = 40
_LEAST_ROOM = 5  # lines of remarks, however many rows the tables have
_ROOMS = (40, 36, 32, 28, 24, 20, 16, 12)  # for names of judges, in the order tried
_LEAST_NAME = 20  # columns that a judge's name keeps, however wide the numbers are
FOLLOWING = ("gate", "reduce", "doctor", "questions", "agree")
"""Verbs that may be the next step."""
FEW = "few questions decide (under 10)"
_PLURALS = {"benchmark": "benchmarks", "criterion": "criteria"}

Command = Callable[[str], str | None]
"""From the name of a verb to the command that does it on the same judgments; None of a frame."""


def reduced_blocks(found: Reduced, *, named: bool, standing: str, command: Command) -> list[Block]:
    """Lay the short answer out.

    `named` tells whether coefficients were chosen: they are the table's rows then. `standing` is
    how coefficients stand to tolerances, as text.
    """
    groups: Sequence[ShownGroup] = grouped(found.coefficients, named=named)
    if not groups:  # serving noise alone
        return []
    varying = [name for name in groups[0].key if len({one.key[name] for one in groups}) > 1]
    scope = "\n".join(wrapped_line(scope_line(groups, varying)))
    groups, short = with_short_judges(groups, named=named)
    labels = right_table(groups)
    table = "\n\n".join(text for _, text in _reliability_tables(groups, named=named))
    step = following_step(groups, command)
    n_lines = scope.count("\n") + table.count("\n") + 4 + len(step)
    room = LINES + (LABEL_LINES if labels else 0) + max(0, len(groups) - 2) - n_lines
    if named or len(groups) > 2:
        room = max(_LEAST_ROOM, room) if not named else _MOST_ROWS
    findings = [*requests_findings(found, groups), *findings_of(groups)]
    findings = [replace(one, who=short.get(one.who, one.who)) for one in findings]
    below = "\n".join([*lines_of(findings, room), *step])
    text = "\n\n".join(filter(None, [scope, table, below]))
    return [Laid(text), *([Laid(standing)] if standing else [])]


def _reliability_tables(
    groups: Sequence[ShownGroup], *, named: bool
) -> list[tuple[Sequence[ShownGroup], str]]:
    """The tables of a short answer, each with the groups that are its rows."""
    shown = groups[:_MOST_ROWS]
    if named:
        return [(shown, named_table(groups))]
    kinds = [[one for one in groups if one.of_ratings is rated] for rated in (False, True)]
    tables = [(those[:_MOST_ROWS], summary_table(those, groups)) for those in kinds if those]
    labels = right_table(groups)
    known = [one for one in shown if one.row("cohen_kappa") or one.row("accuracy")]
    return [*tables, *([(known, labels)] if labels else [])]


def with_short_judges(
    groups: Sequence[ShownGroup], *, named: bool
) -> tuple[Sequence[ShownGroup], dict[str, str]]:
    """Shorten the names of judges as far as it takes for every table to hold them as they are.

    So they are alike in all tables and sentences. What is given back second says which are short.
    """
    judges = [*dict.fromkeys(cell(one.key["judge"]) for one in groups if one.key.get("judge"))]
    longest = max(map(len, judges), default=0)
    shown, short = groups, dict(zip(judges, judges, strict=True))
    for room in (one for one in (longest, *_ROOMS) if one <= longest):
        short = dict(zip(judges, fitted_names(judges, room), strict=True))
        shown = [_with_short_judge(one, short) for one in groups]
        # A table that has no room for a name cuts it further, and then holds it nowhere.
        if all(
            cell(one.key["judge"]) in text
            for those, text in _reliability_tables(shown, named=named)
            if text.startswith("judge ")
            for one in those
        ):
            break
    return shown, {name: brief for name, brief in short.items() if name != brief}


def _with_short_judge(group: ShownGroup, short: Mapping[str, str]) -> ShownGroup:
    if not group.key.get("judge"):
        return group
    name = cell(group.key["judge"])
    label = f"{short[name]}{group.label.removeprefix(name)}"
    if not group.label.startswith(name):
        label = group.label
    return replace(group, key={**group.key, "judge": short[name]}, label=label)


def scope_line(groups: Sequence[ShownGroup], varying: Sequence[str]) -> str:
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
    parts += (
        dict.fromkeys(_replies_each(group) for group in groups)
        if _questions_repeated_alike(groups)
        else []
    )
    n_replies = sum(cast(int, row["n_judgments"]) for row in first)
    return f"{', '.join(parts)}: {count_of(n_replies, 'reply', 'replies')}"


def _questions_repeated_alike(groups: Sequence[ShownGroup]) -> bool:
    return len({_replies_each(group) for group in groups}) == 1


def _replies_each(group: ShownGroup) -> str:
    """How often a question was asked: in how many orders or wordings, and each how often."""
    row, again = group.row("krippendorff_alpha") or group.rows[0], group.again
    n, items = cast(int, row["n_replications"]), cast(int, row["n_items"])
    answers, left = divmod(cast(int, row["n_judgments"]), max(1, items * n))
    if not left and answers > 1:  # to several things that were asked about, such as answers
        return f"{answers * n:,} replies each"
    replies = f"{'up to ' * (left > 0)}{n:,} replies each"
    if again is None:
        return "asked once" if n == 1 else replies
    facets, repeats = nuisance(row, again), cast(int, again["n_replications"])
    levels, rest = divmod(n, repeats)
    if rest or not facets:
        return replies
    what = f"{facets[0].replace('_', ' ')}s" if len(facets) == 1 else "prompts each"
    return f"{levels:,} {what}, {count_of(repeats, 'repeat')}"


def name_columns(
    groups: Sequence[ShownGroup], among: Sequence[ShownGroup] = ()
) -> dict[str, list[str]]:
    """Write the columns that tell groups apart, those left out that others imply.

    Beside the judge one column holds the rest where it is more than one. A group with a table of
    its own is named by what no other of `among` has: its criterion, or what tells those apart.
    """
    keys = [group.key for group in groups]
    kept = telling_columns(keys)
    if len(groups) == 1 < len(among):
        criterion = keys[0].get("criterion")
        its_own = [group.key.get("criterion") for group in among].count(criterion) == 1
        of_all = telling_columns([group.key for group in among])
        kept = ["criterion"] if criterion is not None and its_own else of_all
    columns = {"judge": [cell(key["judge"]) for key in keys]} if "judge" in kept else {}
    others = [name for name in kept if name != "judge"]
    if others:
        columns[", ".join(others).replace("_", " ")] = [
            ", ".join(cell(key[name]) for name in others if key[name] is not None) for key in keys
        ]
    return columns


def summary_table(groups: Sequence[ShownGroup], among: Sequence[ShownGroup] = ()) -> str:
    """Write one row a group: alpha with what shuffled verdicts give, agreement, valid replies.

    `among` are the groups of all tables.
    """
    names = name_columns(groups, among)
    cells: list[dict[str, str]] = []
    for place, group in enumerate(groups[:_MOST_ROWS]):
        alpha, agreement = group.row("krippendorff_alpha"), group.row("percent_agreement")
        valid, error, again = group.row("valid_rate"), group.row("standard_error"), group.again
        if group.lead and group.lead.code is LeadCode.FEW_VERDICTS:  # of which nothing is reported
            alpha = agreement = error = again = None
        cells.append(
            {name: column[place] for name, column in names.items()}
            | {
                "alpha [95 %]": short_estimate(alpha),
                "of": str((alpha or {}).get("conditions") or "-"),
                "shuffled": number(alpha["noise_floor"]) if alpha else "-",
                "same prompt": number(again["value"]) if again else "-",
                "error in points": number(error["value"]) if error else "-",
                "agreement": _repeat_percent_cell(agreement) if not error else "-",
                "valid": percent(valid["value"]) if valid else "-",
            }
        )
    known_conditions = {row["of"] for row in cells} - {"-"}
    heads = [
        head
        for place, head in enumerate(cells[0])
        if any(row[head] != "-" for row in cells) or place < len(names)
    ]
    heads = [head for head in heads if head != "of" or len(known_conditions) > 1]
    text = _reliability_lines_aligned(
        heads, [[row[head] for head in heads] for row in cells], len(names)
    )
    lines = [text, *_more_reliability_groups(len(groups))]
    alphas = [alpha for group in groups if (alpha := group.row("krippendorff_alpha"))]
    there = [alpha for alpha in alphas if alpha["value"] is not None]
    lines += (
        wrapped_line(_what_alpha_is(there, groups)) if there and len(known_conditions) == 1 else []
    )
    return "\n".join(lines)


def right_table(groups: Sequence[ShownGroup]) -> str:
    """Write one row a group: accuracy and kappa with what people say is right; nothing without."""
    known = [
        (place, group)
        for place, group in enumerate(groups[:_MOST_ROWS])
        if group.row("cohen_kappa") or group.row("accuracy")
    ]
    if not known:
        return ""
    names = name_columns([group for _, group in known], groups)
    heads = [*names, "accuracy [95 %]", "kappa with labels [95 %]", "by chance", "between people"]
    lines = []
    for place, (_, group) in enumerate(known):
        rows = [group.row(name) for name in ("accuracy", "cohen_kappa", "people_kappa")]
        right, kappa, people = rows
        n = next((row["n_compared"] for row in (kappa, right) if row and row["n_compared"]), None)
        lines.append([
            *(column[place] for column in names.values()),
            share_with_ends(right) if right and right["value"] is not None else "-",
            short_estimate(kappa),
            number(kappa["noise_floor"]) if kappa else "-",
            number(people["value"]) if people else "-",
            "-" if n is None else f"{n:,}",
        ])  # fmt: skip
    heads.append("labelled")
    kept = [i for i in range(len(heads)) if i < len(names) or any(line[i] != "-" for line in lines)]
    return _reliability_lines_aligned(
        [heads[i] for i in kept], [[line[i] for i in kept] for line in lines], len(names)
    )


def _what_alpha_is(alphas: Sequence[Row], groups: Sequence[ShownGroup]) -> str:
    """Under which conditions alpha is, in a line below the table."""
    levels = {str(row["measurement"]) for row in alphas} - {"nominal"}
    level = f" ({', '.join(sorted(levels))})" if levels else ""
    facets = " and ".join(nuisance(alphas[0], groups[0].again)).replace("_", " ")
    asked = conditions(alphas[0]).removesuffix(" (repeatability)")
    if facets:
        asked = f"{facets} drawn at random"
    return f"alpha{level}: agreement with itself beyond chance, {asked}"


def named_table(groups: Sequence[ShownGroup]) -> str:
    """Write one row a group and coefficient that was chosen."""
    kinds = {str(row["conditions"]) for group in groups for row in group.rows}
    policies = {str(row["missing"]) for group in groups for row in group.rows}
    names = name_columns(groups)
    lines, heads = [], [*names, "coefficient"]
    heads += ["of"] * (len(kinds) > 1) + ["no verdict"] * (len(policies) > 1)
    heads += ["value [95 %]", "shuffled", "remark"]
    for place, group in enumerate(groups[:_MOST_ROWS]):
        for row in group.rows:
            line = [*(column[place] for column in names.values()), coefficient_name(row)]
            line += [str(row["conditions"] or "-")] * (len(kinds) > 1)
            line += [str(row["missing"] or "-")] * (len(policies) > 1)
            remark = "noise" if row["noise"] else ""
            lines.append([*line, short_estimate(row), number(row["noise_floor"]), remark])
    return "\n".join(
        [
            _reliability_lines_aligned(heads, lines, len(names)),
            *_more_reliability_groups(len(groups)),
        ]
    )


def _more_reliability_groups(n: int) -> list[str]:
    """How many groups are not shown."""
    more = f"{count_of(n - _MOST_ROWS, 'more group')}: --full, --format json or --out FILE"
    return [more] if n > _MOST_ROWS else []


def _reliability_lines_aligned(
    heads: Sequence[str], lines: Sequence[Sequence[str]], n_names: int
) -> str:
    """Align columns in the width of a terminal.

    Where that is too little, what is the same in all of many rows is said once below the table,
    then agreement is left out, which stands beside alpha; then names give way.
    """
    if _over(heads, lines) <= 0 or not n_names:
        return plain_table(heads, lines)
    numbers = range(n_names, len(heads))
    alike = [i for i in numbers if len(lines) > _PAIR and len({line[i] for line in lines}) == 1]
    below = wrapped_line(f"in every row: {', '.join(f'{heads[i]} {lines[0][i]}' for i in alike)}")
    heads, lines = _without(alike, heads, lines)
    if "shuffled" in heads and _room(heads, lines, n_names)[1] < _LEAST_NAME:
        spared = [i for i, head in enumerate(heads) if head == "agreement"]
        heads, lines = _without(spared, heads, lines)
    widest, room = _room(heads, lines, n_names)
    names = fitted_names([line[widest] for line in lines], room)
    table = plain_table(heads, [
        [name if i == widest else text for i, text in enumerate(line)]
        for line, name in zip(lines, names, strict=True)
    ])  # fmt: skip
    return "\n".join([table, *(below if alike else [])])


def _over(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> int:
    """How much wider a table is than a terminal."""
    return max(map(len, plain_table(heads, lines).splitlines())) - WIDTH


def _without(
    places: Sequence[int], heads: Sequence[str], lines: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """A table without some of its columns."""
    kept = [i for i in range(len(heads)) if i not in places]
    return [heads[i] for i in kept], [[line[i] for i in kept] for line in lines]


def _room(heads: Sequence[str], lines: Sequence[Sequence[str]], n_names: int) -> tuple[int, int]:
    """The widest column of names, and how wide it may be."""
    widths = [max(len(line[i]) for line in lines) for i in range(n_names)]
    widest = max(range(n_names), key=widths.__getitem__)
    return widest, widths[widest] - max(0, _over(heads, lines))


def _repeat_percent_cell(row: Row | None) -> str:
    """A share to a tenth of a percent."""
    value = row["value"] if row else None
    return f"{100 * value:.1f} %" if isinstance(value, int | float) else "-"


_MEANINGS = {
    "alpha": "Krippendorff's alpha: 1 where the judge always gives a question the same verdict, 0 "
    "where it does as often as its own verdicts, shuffled across the questions, would. Where "
    "several orders or wordings were asked, those of two judgments are drawn at random: not every "
    "pair weighs the same. [95 %]: the interval over questions.",
    "shuffled": "what alpha comes out as, on average, when the verdicts are shuffled across the "
    "questions (the noise floor). Not distinguishable from noise: over 5 % of shuffles come as far "
    "from it as the judge did.",
    "same prompt": "alpha of asking the same prompt again, which hides bias to a position or a "
    "wording.",
    "agreement": "how often two judgments of a question have the same verdict, drawn as those of "
    "alpha; high by chance where one verdict dominates.",
    "error in points": "standard error of one rating, in points of the scale.",
    "valid": "share of replies that hold a verdict.",
    "accuracy": "share of replies that are the right verdict, by question.",
    "kappa with labels": "Cohen's kappa of judge and labels, weighted where verdicts are ratings: "
    "1 where they always agree, 0 where they agree as often as labels shuffled across the "
    "questions would, which is what stands under by chance.",
    FEW: "fewer than 10 questions show any disagreement, or any agreement, or fewer than 5 go "
    "another way than most: one question can move the interval.",
}


def legend_blocks(found: Reduced) -> list[Block]:
    """Say what the words of the short answer mean, those that stand in it."""
    groups = grouped(found.coefficients)
    few = any(Flag.FEW_INFORMATIVE in dict(noted(row)) for one in groups for row in one.shown)
    absent = {
        "same prompt": not any(group.again for group in groups),
        "agreement": all(group.of_ratings for group in groups),
        "error in points": not any(group.of_ratings for group in groups),
        "accuracy": not any(group.row("accuracy") for group in groups),
        "kappa with labels": not any(group.row("cohen_kappa") for group in groups),
        FEW: not few,
    }
    return [Lines([f"{name}: {text}" for name, text in _MEANINGS.items() if not absent.get(name)])]


def _reliability_has_labels(group: ShownGroup) -> bool:
    """Tell a group that was held against what people say is right."""
    kappa = group.row("cohen_kappa") or group.row("accuracy")
    return kappa is not None and kappa["value"] is not None


def following_step(groups: Sequence[ShownGroup], command: Command) -> list[str]:
    """Say what to do next, with the command that does it."""
    codes = {group.lead.code for group in groups if group.lead}
    name, what, more = "gate", "check what was measured against the usual limits", [""]
    if LeadCode.NAMES_UNKNOWN in codes:
        name, what = "reduce", "say what a verdict names, the option or the place where it stood"
        more = [" --verdict-names option", " --verdict-names place"]
    elif codes and codes <= {LeadCode.UNDEFINED, LeadCode.FEW_VERDICTS}:
        name, what = "doctor", "see what these judgments support"
        if LeadCode.UNDEFINED in codes and any(map(_reliability_has_labels, groups)):
            name, what = "agree", "see where judges and labels differ"
    bad = [group.label for group in groups if is_unusable(group)]
    if name == "gate" and len(bad) == len(groups):
        name, what = "questions", "see on which questions it disagrees with itself"
        if len(bad) > 1:
            what = "leave out all of them; see on which questions each disagrees with itself"
    elif name == "gate" and bad:
        less = f"leave out {named_groups(whole_judges(bad, groups))}; {what}"
        what = less if len(less) < WIDTH else f"leave out what the remarks name; {what}"
    line = command(name)
    if line is None:
        return []
    return [*wrapped_line(f"Next: {what}:"), *(f"  {line}{one}" for one in more)]


NAMELESS = "this judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGroup:
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
    def classes(self) -> Sequence[Row]:
        """Agreement on each verdict, under the conditions that lead."""
        return [
            row
            for row in self.rows
            if str(row["coefficient"]).startswith("class_agreement:")
            and row is self.row(str(row["coefficient"]))
        ]

    @property
    def again(self) -> Row | None:
        """Alpha of the same prompt again, where that of other orders or wordings leads."""
        first = self.row("krippendorff_alpha")
        reproduced = first is not None and first.get("conditions") == REPRODUCIBILITY
        return self.row("krippendorff_alpha", REPEATABILITY) if reproduced else None


_SHOWN = (
    "krippendorff_alpha", "percent_agreement", "standard_error", "swap_consistency",
    "place_consistency", "position_bias", "first_place", "accuracy", "cohen_kappa",
)  # fmt: skip


def grouped(coefficients: pl.DataFrame, *, named: bool = False) -> list[ShownGroup]:
    """Gather the rows of every group, those that take ratings for mere names left out.

    None is left out where coefficients were chosen, so `named`.
    """
    names = group_columns(coefficients)
    groups = rows_by_group(coefficients, names)
    in_natural_order = sorted(groups, key=lambda key: [*map(natural, key)])
    telling = telling_columns([dict(zip(names, key, strict=True)) for key in groups] or [{}])
    return [
        ShownGroup(
            rows=rows if named else of_their_kind(rows),
            key={name: rows[0][name] for name in names},
            label=_reliability_group_subject(rows[0], telling),
            lead=lead(rows),
            named=named,
        )
        for rows in map(groups.__getitem__, in_natural_order)
    ]


def _reliability_group_subject(row: Row, varying: Sequence[str]) -> str:
    """A group as the subject of a sentence: its judge, the rest of what it is in brackets."""
    rest = group_label(row, [name for name in varying if name != "judge"]) if varying else ""
    rest = rest if any(name != "judge" for name in varying) else ""
    judge = cell(row["judge"]) if row.get("judge") is not None else NAMELESS
    if "judge" in varying and row["judge"] is None:
        judge = "the judge without a name"
    return f"{judge} ({rest})" if rest else judge


def requests_findings(found: Reduced, groups: Sequence[ShownGroup]) -> Iterator[Remark]:
    """What kept requests from being replies, and the serving's own noise."""
    names = group_columns(found.coefficients)
    by_group = failed_by_group(found.failures, names)
    for group in groups:
        reasons = by_group.get(tuple(cell(group.rows[0][name]) for name in names))
        if reasons:
            yield Remark(severity=2, who=group.label, text=f"{failures_in_words(reasons)}")
    if "coefficient" not in found.serving.columns:
        return
    columns = group_columns(found.serving)
    varying = [name for name in columns if name != "temperature"]
    for row in found.serving.iter_rows(named=True):
        if row["coefficient"] == "serving_noise" and row["value"]:
            text = (
                f"serving noise: two replies to one prompt at temperature 0 differ "
                f"{share_with_ends(row)} of the time"
            )
            yield Remark(severity=4, who=_reliability_group_subject(row, varying), text=text)


def findings_of(groups: Sequence[ShownGroup]) -> list[Remark]:
    """What to distrust in every group, and of one or two judges what is sound.

    What is true of all groups alike is said of none by name, what is true of all of a judge's of
    the judge; of more than two groups without figures, so that it can be one sentence.
    """
    found = []
    for group in groups:
        code, parts = "", [(severity, text, text) for severity, text in _reliability_doubts(group)]
        if group.lead is not None:
            code = group.lead.code.value
            severity, text = _lead_words(group, group.lead)
            if len(groups) > _PAIR:
                text = _IN_BRIEF.get(group.lead.code, text)
                if group.lead.code is LeadCode.FOLLOWS_PLACE and group.again:
                    text += "; repeats of the same prompt hide this"
            parts = [(severity, text, code), *parts]
        found += [
            Remark(severity=severity, who=group.label, text=text, kind=kind)
            for severity, text, kind in dict.fromkeys(parts)
            if severity < _SOUND or len(groups) <= _PAIR
        ]
    n_groups = Counter((one.severity, one.text) for one in found)
    return [
        replace(one, who="") if n_groups[one.severity, one.text] == len(groups) else one
        for one in by_judge(found, groups)
    ]


_IN_BRIEF = {
    LeadCode.FEW_VERDICTS: "fewer than half of the replies hold a verdict",
    LeadCode.ONE_ANSWER: "one answer whatever the question is: agreement says nothing",
    LeadCode.ONE_PLACE: "one place whatever the options are: agreement says nothing",
    LeadCode.NAMES_UNKNOWN: "whether a verdict names an option or a place is not known, so "
    "position bias is not either",
    LeadCode.FOLLOWS_PLACE: "position decides: with the order changed the same place is named more "
    "surely than the same option",
}

_BY_CODE: Mapping[str, str] = {code.value: text for code, text in _IN_BRIEF.items()}


def whole_judges(labels: Sequence[str], groups: Sequence[ShownGroup]) -> list[str]:
    """Name a judge once where all of its groups are named, unless every group there is is."""
    of_judge: dict[str, list[str]] = {}
    for group in groups:
        if group.key.get("judge") is not None:
            of_judge.setdefault(cell(group.key["judge"]), []).append(group.label)
    if len(set(labels)) < len(groups):
        for judge, members in of_judge.items():
            if len(members) > 1 and set(members) <= set(labels):
                labels = [judge if label in members else label for label in labels]
    return [*dict.fromkeys(labels)]


def by_judge(remarks: Sequence[Remark], groups: Sequence[ShownGroup]) -> list[Remark]:
    """Put what is true of all groups of a judge as one remark on the judge."""
    alike: dict[tuple[int, str, str], list[str]] = {}
    for one in remarks:
        alike.setdefault((one.severity, one.text, one.kind), []).append(one.who)
    return [
        Remark(severity=severity, text=text, kind=kind, who=who)
        for (severity, text, kind), labels in alike.items()
        for who in whole_judges(labels, groups)
    ]


_SOUND = 9  # from here on a finding is no reason to distrust
_PAIR = 2


def _lead_words(group: ShownGroup, first: Lead) -> tuple[int, str]:
    """What leads a group in a line or two, and how harmful it is."""
    row, replies = first.row, first.replies
    match first.code:
        case LeadCode.FEW_VERDICTS:
            n, of = (replies.n_valid, replies.n_replies) if replies else (0, 0)
            held = f"{n:,} of {of:,} replies ({percent(n / of)})" if of else "too few replies"
            return 0, f"only {held} hold a verdict: too few to report agreement"
        case LeadCode.ONE_ANSWER | LeadCode.ONE_PLACE:
            place = first.code is LeadCode.ONE_PLACE
            always = f"names the place {first.answer}" if place else f"answers {first.answer}"
            asked = "options are" if place else "question is"
            return 0, f"{always} whatever the {asked}: agreement says nothing"
        case LeadCode.NAMES_UNKNOWN:
            again = first.repeated
            steady = f"; the same prompt again: {share_with_ends(again)} agreement" if again else ""
            return 0, (
                f"whether a verdict names an option or a place is not known, so "
                f"position bias is not either{steady}"
            )
        case LeadCode.FOLLOWS_PLACE if first.place and first.option:
            again = group.again
            hidden = f". Repeats hide this: {number(again['value'])}" if again else ""
            return 1, (
                "goes by position; with the order changed it names the same place "
                f"{share_with_ends(first.place)} of the time, the same option "
                f"{share_with_ends(first.option)}{hidden}"
            )
        case LeadCode.NOISE:
            return 1, f"{NOISE}"
        case LeadCode.BELOW_CHANCE:
            return 1, "disagrees with itself more than chance would"
        case LeadCode.UNDEFINED:
            return 2, f"no agreement: {_why_repeats_give_none(row)}"
    return _SOUND, _sound_reliability_line(group, row)


def _why_repeats_give_none(row: Row | None) -> str:
    """Why there is no number."""
    code = (row or {}).get("undefined")
    if code == "single_replication":
        return "every question was asked once, so nothing shows how stable its verdicts are"
    return reason(code)


def _sound_reliability_line(group: ShownGroup, row: Row | None) -> str:
    """What a judge that is not to be distrusted does, in a line."""
    option, leaning = group.row("swap_consistency"), group.row("position_bias")
    classes = group.classes
    if row is not None and row["coefficient"] == "standard_error":
        return f"one rating has a standard error of {number(row['value'])} points"
    if option is not None and option["value"] is not None:
        text = f"keeps its option {share_with_ends(option)} of the time when the order changes"
        first = group.row("first_place")
        if leaning and leaning["value"] and not leaning["noise"] and first:
            text += f"; it names the first place {share_with_ends(first)}"
        return text
    if classes and all(one["value"] is not None for one in classes):
        shares = " and ".join(
            f"{lead_parts(one['coefficient'])[1]} {share_with_ends(one)}" for one in classes
        )
        return f"asked again, repeats {shares} of the time"
    if row is None or row["value"] is None:
        return "none of the coefficients asked for leads"
    asked = conditions(row, group.again).partition(" (")[0]
    return f"gives the same verdict {share_with_ends(row)} of the time, {asked}"


_IN_LEAD = (Flag.FEW_VERDICTS, Flag.SOME_WITHOUT, Flag.OTHER_ANSWERS)
"""Flags that a sentence of their own says."""
_OF_METHOD = (
    Flag.NO_REPEATS, Flag.IN_BLOCKS, Flag.RESAMPLES_UNDEFINED, Flag.PERMUTATIONS_UNDEFINED,
)  # fmt: skip
"""Flags that tell how a number was made, and take nothing from it: ``--full`` has them."""


def _reliability_doubts(group: ShownGroup) -> Iterator[tuple[int, str]]:
    """What weakens a group's numbers besides what leads it."""
    leading, alpha = group.lead, group.row("krippendorff_alpha")
    code = leading.code if leading else None
    silent = code in (LeadCode.NOISE, LeadCode.FEW_VERDICTS)  # said already, or of no number
    if not silent and alpha is not None and alpha["noise"]:
        yield 2, f"{NOISE}"
    kappa = group.row("cohen_kappa")
    if kappa is not None and kappa["noise"]:
        yield 2, f"kappa with labels is {NOISE}"
    if leading is not None and leading.replies is not None and leading.replies.flag:
        n = leading.replies.n_replies - leading.replies.n_valid
        text = f"{n:,} of {leading.replies.n_replies:,} replies hold no verdict"
        alone = leading.apart
        if alone is not None and alone["value"] is not None:
            text += (
                " and count as agreeing with each other; without them agreement is "
                f"{percent(alone['value'])}"
            )
        if code is not LeadCode.FEW_VERDICTS:
            yield 3, text
    explained = (LeadCode.UNDEFINED, LeadCode.NAMES_UNKNOWN, LeadCode.ONE_ANSWER)
    row = leading.row if leading else None
    n_questions = cast(int, (row or {}).get("n_compared") or 0)
    if 0 < n_questions < FEW_QUESTIONS:
        of_them = count_of(n_questions, "question")
        yield 4, f"this rests on {of_them}: a few more can change it"
    if alpha is not None and alpha["value"] is None and code not in explained:
        yield 4, f"no alpha: {reason(alpha['undefined'])}"
    for row in group.shown:
        first = row["coefficient"] == "krippendorff_alpha" or group.named
        several = group.named and len({one["coefficient"] for one in group.rows}) > 1
        about = f"{coefficient_name(row)}: " if several else ""
        if first and row.get("no_interval") and row["value"] is not None:
            n = cast(int, row.get("n_compared") or 0)
            words = no_interval_words(str(row["no_interval"]), n=n)
            yield 5, f"{about}{words}"
        for flag, numbers in noted(row):
            if flag is Flag.FEW_INFORMATIVE and first:
                yield 6, f"{FEW}"
            elif flag not in (Flag.FEW_INFORMATIVE, *_IN_LEAD, *_OF_METHOD):
                yield 6, f"{about}{flag.note(numbers)}"
    yield from _reliability_unknown(group, code)


_CONFOUNDED = (
    "repeats judge other answers, so the judge's variance and members are together "
    "(judgerel items log keeps the answers)"
)
_UNWORDED = "only the same prompt was repeated, so what another wording changes is unknown"
_UNPLACED = (
    "only the same prompt was repeated, so bias to a position or a wording is unknown "
    "(option_orders = 2 or two templates show it)"
)


def _reliability_unknown(group: ShownGroup, code: LeadCode | None) -> Iterator[tuple[int, str]]:
    """What was never asked, so that no number shows it."""
    rows = [row for row in group.rows if row.get("conditions") and row["value"] is not None]
    if not rows or code in (LeadCode.NAMES_UNKNOWN, LeadCode.FEW_VERDICTS):
        return
    if any(Flag.OTHER_ANSWERS in dict(noted(row)) for row in rows):
        yield 3, _CONFOUNDED
    elif not any(spans_prompts(row) for row in group.rows if row.get("conditions")):
        classes = any(str(row["coefficient"]).startswith("class_agreement") for row in rows)
        yield 5, _UNWORDED if of_ratings(group.rows) or classes else _UNPLACED


_HARMFUL = 2
"""Severity below which a judge is to be left out."""


def is_unusable(group: ShownGroup) -> bool:
    """Tell a judge to be left out: it goes by position, repeats one answer, or is noise."""
    return group.lead is not None and _lead_words(group, group.lead)[0] < _HARMFUL


def lines_of(findings: Sequence[Remark], room: int) -> list[str]:
    """Write findings, the most harmful first, as many as there is room for.

    Where there is too little, what makes judges unusable is written briefly, and never left out.
    """
    written = _reliability_findings(findings)
    if sum(map(len, written)) > room:
        brief = [
            replace(one, text=_BY_CODE.get(one.kind, one.text)) if one.severity < _HARMFUL else one
            for one in findings
        ]
        written = _reliability_findings(brief)
        n_kept = len(finding_lines(one for one in brief if one.severity < _HARMFUL))
    if sum(map(len, written)) <= room or len(written) == 1:
        return [line for lines in written for line in lines]
    kept = [line for lines in written[:n_kept] for line in lines]
    written = written[n_kept:]
    while written and len(kept) + len(written[0]) < room:
        kept += written.pop(0)
    more = [f"{count_of(len(written), 'more remark')}: --full."] if written else []
    return [*kept, *more]


def _reliability_findings(findings: Sequence[Remark]) -> list[list[str]]:
    """Findings as sentences, the lines of each."""
    names = tuple(one.who for one in findings if one.who)
    return [
        wrapped_line(f"{text if text.startswith(names) else text[0].upper() + text[1:]}.")
        for text in (line.rstrip(".") for line in finding_lines(findings))
    ]


def wrapped_line(text: str) -> list[str]:
    """Lines that fit; a number keeps its percent sign, an interval its two ends."""
    tied = text.replace(" %", "\u00a0%")
    return [
        line.replace("\u00a0", " ")
        for line in wrap(shortened(tied, WIDTH), WIDTH, subsequent_indent="  ",
                         break_on_hyphens=False)
    ]  # fmt: skip
