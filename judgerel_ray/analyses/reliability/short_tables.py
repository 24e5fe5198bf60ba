"""The short answer of ``reduce``: its groups, and tables of a row a group no wider than a terminal.

A group has its rows, what it is called, and what leads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

import polars as pl

from judgerel_ray.blocks.columns import WIDTH, natural, plain_table
from judgerel_ray.blocks.words import (
    Row,
    cell,
    coefficient_name,
    conditions,
    group_columns,
    group_label,
    nuisance,
    number,
    percent,
    rows_by_group,
    share_with_ends,
    short_estimate,
    telling_columns,
)
from judgerel_ray.core import count_of, shortened
from judgerel_ray.core.text import fitted_names
from judgerel_ray.counting.verdicts.policy import NEEDS_NOMINAL, REPEATABILITY, REPRODUCIBILITY
from judgerel_ray.measuring.lead_codes import Lead, LeadCode, lead, of_ratings, of_their_kind

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
        """The first row of a coefficient: by the policy, the level and the conditions that lead.

        Of ratings with replies that hold none, by the policy that leaves those out.
        """
        rows = [
            row
            for row in self.rows
            if row["coefficient"] == name and conditions in (None, row.get("conditions"))
        ]
        alike = [row for row in rows if row.get("conditions") == rows[0].get("conditions")]
        known = (row for row in alike if row.get("undefined") != NEEDS_NOMINAL)
        return next(known, rows[0] if rows else None)

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
            label=subject_of_group(rows[0], telling),
            lead=lead(rows),
            named=named,
        )
        for rows in map(groups.__getitem__, in_natural_order)
    ]


def subject_of_group(row: Row, varying: Sequence[str]) -> str:
    """A group as the subject of a sentence: its judge, the rest of what it is in brackets."""
    rest = group_label(row, [name for name in varying if name != "judge"]) if varying else ""
    rest = rest if any(name != "judge" for name in varying) else ""
    judge = cell(row["judge"]) if row.get("judge") is not None else NAMELESS
    if "judge" in varying and row["judge"] is None:
        judge = "the judge without a name"
    return f"{judge} ({rest})" if rest else judge


MOST_TABLE_ROWS = 40
_ROOMS = (40, 36, 32, 28, 24, 20, 16, 12)  # for names of judges, in the order tried
_PAIR = 2  # of more groups what is alike in all rows is said below
_LEAST_NAME = 20  # columns that a judge's name keeps, however wide the numbers are


def reliability_tables(
    groups: Sequence[ShownGroup], *, named: bool
) -> list[tuple[Sequence[ShownGroup], str]]:
    """The tables of a short answer, each with the groups that are its rows."""
    shown = groups[:MOST_TABLE_ROWS]
    if named:
        return [(shown, named_table(groups))]
    tables = []
    for rated in (False, True):
        those = [one for one in groups if one.of_ratings is rated]
        if those:
            tables.append((those[:MOST_TABLE_ROWS], summary_table(those, groups)))
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
            for those, text in reliability_tables(shown, named=named)
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
    for place, group in enumerate(groups[:MOST_TABLE_ROWS]):
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
        for place, group in enumerate(groups[:MOST_TABLE_ROWS])
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
    for place, group in enumerate(groups[:MOST_TABLE_ROWS]):
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
    more = f"{count_of(n - MOST_TABLE_ROWS, 'more group')}: --full, --format json or --out FILE"
    return [more] if n > MOST_TABLE_ROWS else []


def _reliability_lines_aligned(
    heads: Sequence[str], lines: Sequence[Sequence[str]], n_names: int
) -> str:
    """Align columns in the width of a terminal.

    Where that is too little, what is the same in all of many rows is said once below the table,
    then agreement is left out, which stands beside alpha; then names give way.
    """
    table = plain_table(heads, lines)
    if max(map(len, table.splitlines())) <= WIDTH or not n_names:
        return table
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


def wrapped_line(text: str) -> list[str]:
    """Lines that fit; a number keeps its percent sign, an interval its two ends."""
    tied = text.replace(" %", "\u00a0%")
    return [
        line.replace("\u00a0", " ")
        for line in wrap(shortened(tied, WIDTH), WIDTH, subsequent_indent="  ",
                         break_on_hyphens=False)
    ]  # fmt: skip
