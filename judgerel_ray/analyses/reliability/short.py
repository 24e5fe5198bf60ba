"""The short answer of ``reduce``: one table with a row a judge, what to distrust, what to do next.

It fits one screen. What was left out of it is in ``--full``, what its words mean in ``--explain``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import cast

from judgerel_ray.analyses.reliability.findings import (
    FEW,
    ShownGroup,
    findings_of,
    grouped,
    is_unusable,
    lines_of,
    requests_findings,
    share_with_ends,
    whole_judges,
    wrapped_line,
)
from judgerel_ray.analyses.reliability.from_run import Reduced
from judgerel_ray.blocks.blocks import Block, Laid, Lines
from judgerel_ray.blocks.columns import WIDTH, plain_table
from judgerel_ray.blocks.short import named as named_groups
from judgerel_ray.blocks.words import (
    Row,
    cell,
    coefficient_name,
    conditions,
    estimate,
    noted,
    nuisance,
    number,
    percent,
    telling_columns,
)
from judgerel_ray.core import count_of, cut_text
from judgerel_ray.core.codes import Flag
from judgerel_ray.measuring.lead_codes import LeadCode

LINES, LABEL_LINES = 14, 4
"""Lines of the short answer for two judges, and those more that labels take; of more judges as many
more as there are rows."""
_MOST_ROWS = 40
_LEAST_ROOM = 5  # lines of remarks, however many rows the tables have
_LEAST_NAME = 20  # columns that a judge's name keeps, however wide the numbers are
FOLLOWING = ("gate", "reduce", "doctor", "questions", "agree")
"""Verbs that may be the next step."""
_PLURALS = {"benchmark": "benchmarks", "criterion": "criteria"}

Command = Callable[[str], str | None]
"""From the name of a verb to the command that does it on the same judgments; None of a frame."""


def reduced_blocks(found: Reduced, *, named: bool, standing: str, command: Command) -> list[Block]:
    """Lay the short answer out.

    `named` tells whether coefficients were chosen: they are the table's rows then. `standing` is
    how coefficients stand to tolerances, as text.
    """
    groups = grouped(found.coefficients, named=named)
    if not groups:  # serving noise alone
        return []
    varying = [name for name in groups[0].key if len({one.key[name] for one in groups}) > 1]
    scope = "\n".join(wrapped_line(scope_line(groups, varying)))
    kinds = [[one for one in groups if one.of_ratings is rated] for rated in (False, True)]
    tables = [summary_table(of_kind, groups) for of_kind in kinds if of_kind]
    labels = right_table(groups)
    table = named_table(groups) if named else "\n\n".join([*tables, *([labels] if labels else [])])
    step = following_step(groups, command)
    n_lines = scope.count("\n") + table.count("\n") + 4 + len(step)
    room = LINES + (LABEL_LINES if labels else 0) + max(0, len(groups) - 2) - n_lines
    if named or len(groups) > 2:
        room = max(_LEAST_ROOM, room) if not named else _MOST_ROWS
    findings = [*requests_findings(found, groups), *findings_of(groups)]
    below = "\n".join([*lines_of(findings, room), *step])
    text = "\n\n".join(filter(None, [scope, table, below]))
    return [Laid(text), *([Laid(standing)] if standing else [])]


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
    parts += dict.fromkeys(_replies_each(group) for group in groups) if _alike(groups) else []
    n_replies = sum(cast(int, row["n_judgments"]) for row in first)
    return f"{', '.join(parts)}: {count_of(n_replies, 'reply', 'replies')}"


def _alike(groups: Sequence[ShownGroup]) -> bool:
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
                "alpha [95 %]": _estimate(alpha),
                "of": str((alpha or {}).get("conditions") or "-"),
                "shuffled": number(alpha["noise_floor"]) if alpha else "-",
                "same prompt": number(again["value"]) if again else "-",
                "error in points": number(error["value"]) if error else "-",
                "agreement": _percent(agreement) if not error else "-",
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
    text = _within(heads, [[row[head] for head in heads] for row in cells], len(names))
    lines = [text, *_more_groups(len(groups))]
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
    names = name_columns(groups)
    heads = [*names, "accuracy [95 %]", "kappa with labels [95 %]", "by chance", "between people"]
    lines = []
    for place, group in known:
        rows = [group.row(name) for name in ("accuracy", "cohen_kappa", "people_kappa")]
        right, kappa, people = rows
        n = next((row["n_compared"] for row in (kappa, right) if row and row["n_compared"]), None)
        lines.append([
            *(column[place] for column in names.values()),
            share_with_ends(right) if right and right["value"] is not None else "-",
            _estimate(kappa),
            number(kappa["noise_floor"]) if kappa else "-",
            number(people["value"]) if people else "-",
            "-" if n is None else f"{n:,}",
        ])  # fmt: skip
    heads.append("labelled")
    kept = [i for i in range(len(heads)) if i < len(names) or any(line[i] != "-" for line in lines)]
    return _within(
        [heads[i] for i in kept], [[line[i] for i in kept] for line in lines], len(names)
    )


def _estimate(row: Row | None) -> str:
    """A number with its interval, or why there is none."""
    return estimate(row).replace("undefined: ", "none: ") if row else "-"


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
            value = estimate(row).replace("undefined: ", "none: ")
            remark = "noise" if row["noise"] else ""
            lines.append([*line, value, number(row["noise_floor"]), remark])
    return "\n".join([_within(heads, lines, len(names)), *_more_groups(len(groups))])


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
    for n in _cuts([line[0] for line in lines]):
        lines = [[f"..{line[0].removeprefix('..')[n:]}", *line[1:]] for line in lines]
        table = plain_table(heads, lines)
        over = max(map(len, table.splitlines())) - WIDTH
        if over <= 0:
            return table
    widths = [max(len(line[i]) for line in lines) for i in range(n_names)]
    widest = max(range(n_names), key=widths.__getitem__)
    kept = max(_LEAST_NAME, widths[widest] - over)
    cut = [
        [cut_text(text, kept) if i == widest else text for i, text in enumerate(line)]
        for line in lines
    ]
    return plain_table(heads, cut)


def _cuts(names: Sequence[str]) -> list[int]:
    """How long the words are, one after the other, that all names begin with: a vendor's name."""
    first, last = min(names), max(names)
    shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    ends = [0, *(found.end() for found in re.finditer(r"[-/_: ]", first[:shared]))]
    return [end - begin for begin, end in pairwise(ends)]


def _percent(row: Row | None) -> str:
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
        FEW: not few,
    }
    return [Lines([f"{name}: {text}" for name, text in _MEANINGS.items() if not absent.get(name)])]


def _has_labels(group: ShownGroup) -> bool:
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
        if LeadCode.UNDEFINED in codes and any(map(_has_labels, groups)):
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
