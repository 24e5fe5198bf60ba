"""The short answer of a verb: what was asked, a row a group, what to distrust, what to do next.

It fits one screen; ``--full`` has the rest, ``--explain`` what its words mean.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Laid,
    Lines,
    Paragraph,
    Table,
    counts,
    numeric,
)
from judgerel_ray.blocks.columns import WIDTH, name_rooms
from judgerel_ray.blocks.terminal import printed
from judgerel_ray.blocks.words import (
    NOISE,
    cell,
    flag_words,
    group_label,
    noted,
    number,
    remarks,
)
from judgerel_ray.core import count_of
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.text import LEAST_NAME, fitted_names

Row: TypeAlias = Mapping[str, Any]
"""A row of a table of results."""
SCREEN = 20
"""Lines of a short answer of two groups."""
_LEAST_ROOM = 8  # lines of findings, however many rows the tables have
MOST_ROWS = 20
"""Rows of a table of the short answer; the others are counted."""
_MOST_NAMED = 4  # groups that a finding names; of more it names one less and says how many
_MOST_HARMFUL = 16  # those named where the finding may change the decision
_MOST_COLUMNS = 2  # that name groups in columns of their own
_LONGEST_LABEL = 28
_LONGEST_NAME = 40  # of one that stands in a sentence alone
_LONGEST_LISTED = 24  # of one that stands in a list of them
_ROW = "row "
_OF_ROWS = re.compile(r"\brows? [0-9]")
_FEW = 2  # numbers that findings of one kind are written out with
GRAVE, HARMFUL, WEAK, PLAIN = range(4)
"""How harmful a finding is: it voids a number, may change the decision, weakens a number, or is
good to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A sentence on a group."""

    text: str
    who: str = ""  # The group, where there are several.
    severity: int = PLAIN
    kind: str = ""  # Findings of one kind differ in their numbers alone; by default in nothing.


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The groups of a short answer, in the order of its table."""

    rows: Sequence[Row]  # One of each.
    varying: Sequence[str]  # Columns that tell them apart.
    shared: str  # What all share, in words, with a blank before; nothing where that is nothing.
    labels: Mapping[tuple[object, ...], str]  # As a sentence names each, by what varies.

    @property
    def is_numbered(self) -> bool:
        """Whether sentences name groups by the rows of the table, their names being too long."""
        return any(label.startswith(_ROW) for label in self.labels.values())

    def of(self, row: Row) -> str:
        """A row's group as a sentence names it: nothing where there is one alone."""
        return self.labels.get(tuple(row[name] for name in self.varying), "")

    def apart(self, rows: Iterable[Row]) -> dict[str, list[Row]]:
        """Rows by their group, as a sentence names it."""
        found: dict[str, list[Row]] = {}
        for row in rows:
            found.setdefault(self.of(row), []).append(row)
        return found


def groups_of(rows: Sequence[Row], columns: Sequence[str]) -> Groups:
    """Tell the columns of groups that vary from those that all rows share.

    Examples
    --------
    >>> found = groups_of([{"judge": "a", "benchmark": "x"}, {"judge": "b", "benchmark": "x"}],
    ...                   ["judge", "benchmark"])
    >>> found.varying, found.shared, found.of({"judge": "b"})
    (['judge'], ' (benchmark x)', 'b')
    """
    known = {name: {row[name] for row in rows} for name in columns}
    varying = [name for name, values in known.items() if len(values) > 1]
    alike = [
        f"{name.replace('_', ' ')} {short_name(value)}"
        for name, values in known.items()
        if len(values) == 1 and (value := next(iter(values))) is not None
    ]
    kept: dict[tuple[object, ...], Row] = {}
    for row in rows:
        kept.setdefault(tuple(row[name] for name in varying), row)
    words = [group_label(row, varying) for row in kept.values()] if varying else []
    # A list of names of several parts would not be read; names of one part are shortened later.
    is_long = len(words) > 1 and max(map(len, words)) > _LONGEST_LABEL
    if len(varying) > 1 and (is_long or len(words) > _FEW):
        words = [f"{_ROW}{place}" for place in range(1, len(words) + 1)]
    return Groups(
        rows=[*kept.values()],
        varying=varying,
        shared=f" ({', '.join(alike)})" if alike else "",
        labels=dict(zip(kept, words, strict=False)),
    )


def short_name(value: object) -> str:
    """Write the value of a group's column in a sentence, the middle of a very long one left out.

    Examples
    --------
    >>> short_name("judge-" + "j" * 99), short_name(0.5)
    ('judge-jjjjjjjjjjjjj..jjjjjjjjjjjjjjjjjjj', '0.5')
    """
    return fitted_names([cell(value)], _LONGEST_NAME)[0]


def short_names_of(names: Iterable[str]) -> dict[str, str]:
    """Say how each of some names is written in sentences that list several of them.

    Examples
    --------
    >>> [*short_names_of(["judge-" + "j" * 99 + "1", "a"]).values()]
    ['a', 'judge-jjjjj..jjjjjjjjjj1']
    """
    known = sorted({*names})
    return dict(zip(known, fitted_names(known, _LONGEST_LISTED), strict=True))


def with_names(text: str, short: Mapping[str, str]) -> str:
    """Write a text with short names in place of those that it has.

    Examples
    --------
    >>> with_names("gpt-4o-mini + gpt-4o", {"gpt-4o": "4o", "gpt-4o-mini": "mini"})
    'mini + 4o'
    >>> with_names("claude-3-opus, claude-3", {"claude-3": "..3"})
    'claude-3-opus, ..3'
    """
    longest_first = sorted(short, key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first)) or r"(?!)"
    # Whole names: a name may be the beginning of another's, or a part of a word.
    return re.sub(rf"(?<![\w/.-])(?:{pattern})(?![\w/-])", lambda found: short[found[0]], text)


def span(numbers: Iterable[int], noun: str = "") -> str:
    """Write the least and the greatest of numbers, or the only one; 0 of none.

    Examples
    --------
    >>> span([8, 1200, 30]), span([1, 1], "question")
    ('8 to 1,200', '1 question')
    """
    known = sorted({*numbers}) or [0]
    least = f"{known[0]:,} to " if len(known) > 1 else ""
    return least + (count_of(known[-1], noun) if noun else f"{known[-1]:,}")


def short_table(
    rows: Sequence[Row],
    groups: Groups,
    columns: Mapping[str, Callable[[Row], str]],
    *,
    what: str = "group",
    names: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> list[Block]:
    """Make a table with a row a group, as wide as a terminal; rows beyond 20 are counted.

    `names` are the heads of columns that hold names, too: where the table is too wide they are
    shortened, as those of the groups are. `spare` are those of columns that are left out then.

    Examples
    --------
    >>> rows = [{"judge": "a", "value": 1}, {"judge": "b", "value": 2}]
    >>> (table,) = short_table(
    ...     rows, groups_of(rows, ["judge"]), {"x": lambda row: str(row["value"])})
    >>> [(column.head, column.cells) for column in table.columns]
    [('judge', ['a', 'b']), ('x', ['1', '2'])]
    """
    shown = rows[:MOST_ROWS]
    varying = groups.varying
    heads: dict[str, Callable[[Row], str]] = {}
    one_each: dict[str, Callable[[Row], str]] = {}  # of which each is one name, not a list of them
    if groups.is_numbered:
        heads["row"] = lambda row: groups.of(row).removeprefix(_ROW)
    if len(varying) > _MOST_COLUMNS:
        heads["group"] = lambda row: group_label(row, varying)
    else:
        one_each = {name.replace("_", " "): _short_table_cell(name) for name in varying}
    made = [
        Column(
            head=head,
            cells=[write(row) for row in shown],
            is_number=True,
            is_name=head in one_each or head in names,
        )
        for head, write in (heads | one_each | dict(columns)).items()
    ]
    table = Table("", [one for one in made if not one.is_empty], fits=True)
    for head in spare:
        if is_too_wide(table):
            table = replace(table, columns=[one for one in table.columns if one.head != head])
    more = len(rows) - len(shown)
    left = [Paragraph(f"{count_of(more, f'more {what}')} in --full")] if more > 0 else []
    return [table, *left] if shown else []


def _short_table_cell(name: str) -> Callable[[Row], str]:
    return lambda row: cell(row[name])


def findings_of_row(row: Row, who: str = "", what: str = "") -> Iterator[Remark]:
    """Say all that weakens a number or forbids it: noise, no interval, every flag.

    `what` names the number where the table has several.

    Examples
    --------
    >>> [one.text for one in findings_of_row({"noise": True, "flags": ["few_verdicts"],
    ...                                       "flag_numbers": [[3, 40]]})]
    ['not distinguishable from noise', 'few verdicts: 3 of 40 replies hold one']
    """
    numbered = {
        text: flag.value
        for (flag, _), text in zip(noted(row), flag_words(row), strict=True)
    }  # fmt: skip
    texts = dict.fromkeys([*remarks(row), *flag_words(row, Flag.SOME_WITHOUT)])
    for text in texts:
        code = numbered.get(text, text)
        severity = HARMFUL if text == NOISE or text.startswith("undecided") else WEAK
        if code == Flag.FEW_VERDICTS:
            severity = GRAVE
        words = f"{what} is {text}" if what and text == NOISE else text
        words = f"{what}: {text}" if what and text != NOISE else words
        yield Remark(text=words, who=who, severity=severity, kind=f"{what}{code}")


def finding_lines(findings: Iterable[Remark], everyone: Sequence[str] = ()) -> list[str]:
    """Write findings, the most harmful first, each once with all groups that it holds of.

    Of one kind with a number of its own for every group, two are written out, or the first and
    the names of the others. `everyone` names all groups.

    Examples
    --------
    >>> finding_lines([Remark(text="few questions", who="a"), Remark(text="few questions",
    ...                who="b"), Remark(text="is noise", who="b", severity=GRAVE)])
    ['b: is noise', 'a and b: few questions']
    """
    kinds: dict[tuple[int, str], dict[str, list[str]]] = {}
    for one in sorted(findings, key=lambda one: one.severity):
        texts = kinds.setdefault((one.severity, one.kind or one.text), {})
        texts.setdefault(one.text, []).append(one.who)
    lines = []
    for (severity, _), texts in kinds.items():
        n = len(texts) if len(texts) <= _FEW or not any(map(any, texts.values())) else 1
        for text, groups in [*texts.items()][:n]:
            who = named(
                groups, everyone, most=_MOST_HARMFUL if severity <= HARMFUL else _MOST_NAMED
            )
            lines.append(f"{who}: {text}" if who else text)
        others = [who for groups in [*texts.values()][n:] for who in groups]
        if others:
            alike = [who for groups in [*texts.values()][:n] for who in groups]
            rest = len(others) > _FEW and {*others, *alike} == {*everyone}
            likewise = "all others" if rest else named(others)
            lines[-1] += f"; likewise {likewise}, each with its own numbers"
    return lines


def named(groups: Iterable[str], everyone: Sequence[str] = (), most: int = _MOST_NAMED) -> str:
    """Name some groups, of many the first and how many more; rows of a table all.

    Examples
    --------
    >>> named(["a", "b"]), named("abcde"), named(["row 1", "row 2", "row 3", "row 7"])
    ('a and b', 'a, b, c and 2 more', 'rows 1-3 and 7')
    >>> named("abc", "abc")
    'all'
    """
    those = [*dict.fromkeys(filter(None, groups))]
    if len(those) > _FEW and {*those} == {*everyone}:
        return "all"
    if those and all(one.startswith(_ROW) for one in those):
        runs = _number_ranges_in_cell(sorted(int(one.removeprefix(_ROW)) for one in those))
        return f"{'rows' if len(those) > 1 else 'row'} {_table_cell_texts_joined(runs)}"
    if len(those) > most:
        return f"{', '.join(those[: most - 1])} and {len(those) - most + 1} more"
    return _table_cell_texts_joined(those)


def _number_ranges_in_cell(numbers: Sequence[int]) -> list[str]:
    """Numbers with those that follow each other as ranges."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return [
        text
        for run in runs
        for text in ([f"{run[0]}-{run[-1]}"] if len(run) > _FEW else map(str, run))
    ]


def _table_cell_texts_joined(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def short_blocks(
    scope: str,
    tables: Sequence[Block],
    findings: Iterable[Remark],
    *steps: tuple[str, str | None],
    everyone: Iterable[str] = (),
) -> list[Block]:
    """Put a short answer together: scope, tables, findings, and what to do next.

    A step is what it does and its command; one without a command is left out. Findings that only
    weaken a number are counted where they would not fit a screen.

    Examples
    --------
    >>> short_blocks("2 judges", [], [], ("see all", "judgerel reduce x.csv --full"))[-1].text
    'Next, see all: judgerel reduce x.csv --full'
    """
    tables, findings, renamed = with_short_names(tables, [*findings])
    names = [*map(renamed, everyone)]
    lines = finding_lines(findings, names)
    decisive = finding_lines((one for one in findings if one.severity <= HARMFUL), names)
    above = [Paragraph(scope, kind="lead"), *_without_unused_rows(tables, lines)]
    step = next_step(*steps)
    room = SCREEN - printed([*above, *step]).count("\n") - 2  # the last line, and a blank one
    lines = _as_fit(lines, max(room, _LEAST_ROOM), len(decisive))
    return [*above, *([Lines(lines, kind="findings")] if lines else []), *step]


def _as_fit(lines: Sequence[str], room: int, n_kept: int) -> list[str]:
    """As many findings as there is room for, of the first all, and how many are left."""
    heights = [printed([Lines([line], kind="findings")]).count("\n") + 1 for line in lines]
    n = len(lines)
    while n > n_kept and sum(heights[:n]) + (n < len(lines)) > room:
        n -= 1
    more = [f"{count_of(len(lines) - n, 'more remark')}: --full"] if n < len(lines) else []
    return [*lines[:n], *more]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutcome:
    """How one pair of sides came out, of many."""

    sides: tuple[str, str]
    higher: str  # The side that is higher, or what else is known, such as ``undecided``.
    values: tuple[float | None, float | None]  # Of the sides, in their order.


def sides_table(pairs: Sequence[PairOutcome], head: str, value: str) -> Table:
    """Make a table with a row a side of many pairs: its value, and how many pairs it leads.

    Examples
    --------
    >>> table = sides_table([PairOutcome(sides=("x", "y"), higher="y", values=(0.2, 0.5))],
    ...                     "side", "alpha")
    >>> [(column.head, column.cells) for column in table.columns][:3]
    [('side', ['y', 'x']), ('alpha', ['0.500', '0.200']), ('higher than', ['1', '0'])]
    """
    outcomes: dict[str, Counter[str]] = {}
    values: dict[str, list[float]] = {}
    for pair in pairs:
        for name, other, number_of in zip(
            pair.sides, reversed(pair.sides), pair.values, strict=True
        ):
            word = {name: "higher than", other: "lower than"}.get(pair.higher, pair.higher)
            outcomes.setdefault(name, Counter())[word] += 1
            values.setdefault(name, []).extend([] if number_of is None else [number_of])
    names = sorted(outcomes, key=lambda name: (-max(values[name], default=-2.0), name))
    heads = dict.fromkeys(
        ["higher than", "lower than", *(word for found in outcomes.values() for word in found)]
    )
    columns = [
        Column(head=head, cells=names, is_number=True, is_name=True),
        numeric(value, [_range_of_values(values[name]) for name in names]),
        *(counts(one, [outcomes[name][one] for name in names]) for one in heads),
    ]
    return Table("", columns, fits=True)


def _range_of_values(values: Sequence[float]) -> str:
    """The values of a side, which rests on the questions shared with each other side."""
    ends = dict.fromkeys(number(value) for value in (min(values), max(values))) if values else {}
    return " to ".join(ends) or "-"


def with_short_names(
    tables: Sequence[Block], findings: Sequence[Remark] = ()
) -> tuple[list[Block], list[Remark], Callable[[str], str]]:
    """Shorten names until every table fits a terminal, each alike in all tables and sentences.

    What is given back last says of a text how it reads with those names.

    Examples
    --------
    >>> table = Table("", [Column(head="judge", cells=["m/" + "a" * 70, "m/b"], is_name=True),
    ...                    Column(head="x", cells=["0" * 50, "1"])], fits=True)
    >>> remark = Remark(text="is noise", who="m/" + "a" * 70)
    >>> (short,), (one,), _ = with_short_names([table], [remark])
    >>> short.columns[0].cells[0] == one.who, len(one.who)
    (True, 28)
    """
    shown = [
        without_alike_numbers(one.compact()) if isinstance(one, Table) else one for one in tables
    ]
    rooms: list[tuple[set[str], int]] = []
    for table in shown:
        for names, room in _rooms_in_table(table) if isinstance(table, Table) else ():
            # Columns with a name in common, such as both sides of pairs, are shortened together.
            joined = [one for one in rooms if one[0] & names]
            rooms = [one for one in rooms if one not in joined]
            rooms.append((names.union(*(one[0] for one in joined)),
                          min([room, *(one[1] for one in joined)])))  # fmt: skip
    short: dict[str, str] = {}
    for pool, room in rooms:
        names_in_order = sorted(pool)
        short |= {
            name: brief
            for name, brief in zip(names_in_order, fitted_names(names_in_order, room), strict=True)
            if brief != name
        }

    def renamed(text: str) -> str:
        return with_names(text, short)

    return (
        [_table_renamed(one, short) if isinstance(one, Table) else one for one in shown],
        [replace(one, text=renamed(one.text), who=renamed(one.who)) for one in findings],
        renamed,
    )


def without_alike_numbers(table: Table) -> Table:
    """Of a table too wide for its rows, say above it what numbers are the same in all of them.

    Examples
    --------
    >>> columns = [Column(head=str(i), cells=["0" * 50, "0" * 50], is_number=True) for i in "abc"]
    >>> once = without_alike_numbers(Table("", columns, fits=True))
    >>> once.caption[:20], len(once.columns)
    ('in every row: c 0000', 1)
    """
    alike = [
        one
        for one in table.columns[1:]
        if one.is_number and not one.is_name and len(one.cells) > 1 and len({*one.cells}) == 1
        and len({*one.small}) < _FEW
    ]  # fmt: skip
    once: list[str] = []
    while table.fits and alike and is_too_wide(table):
        last = alike.pop()
        once.append(f"{last.head} {last.text_at(0)}")
        table = replace(table, columns=[one for one in table.columns if one is not last])
    if not once:
        return table
    text = f"in every row: {', '.join(once)}"
    return replace(table, caption=f"{table.caption} ({text})" if table.caption else text)


def is_too_wide(table: Table) -> bool:
    """Whether rows need more than a line of a terminal each, however short its names are.

    Examples
    --------
    >>> is_too_wide(Table("", [Column(head="x", cells=["0" * 81])]))
    True
    """
    widths = [
        min(LEAST_NAME, max(map(len, [one.head, *one.cells])))
        if one.is_name
        else max(len(one.head), *(len(one.text_at(row)) for row in range(len(one.cells))))
        for one in table.compact().columns
    ]
    return sum(widths) + 2 * (len(widths) - 1) > WIDTH


def _rooms_in_table(table: Table) -> Iterator[tuple[set[str], int]]:
    """The names in every column of names, and how wide they may be."""
    if table.fits and table.columns:
        lines = [
            [one.text_at(i) for one in table.columns] for i in range(len(table.columns[0].cells))
        ]
        heads = [one.head for one in table.columns]
        for i, room in name_rooms(heads, lines, [one.is_name for one in table.columns]).items():
            yield {*table.columns[i].cells}, room


def _table_renamed(table: Table, short: Mapping[str, str]) -> Table:
    """A table whose names are shortened."""
    columns = [
        replace(one, cells=[short.get(cell, cell) for cell in one.cells]) if one.is_name else one
        for one in table.columns
    ]
    return replace(table, columns=columns)


def _without_unused_rows(tables: Sequence[Block], lines: Sequence[str]) -> Iterator[Block]:
    """Tables without the numbers of their rows, where no sentence names a row."""
    is_named = any(map(_OF_ROWS.search, lines))
    for one in tables:
        if isinstance(one, Table) and not is_named:
            one = replace(one, columns=[column for column in one.columns if column.head != "row"])
        yield one


def next_step(*steps: tuple[str, str | None]) -> list[Block]:
    """Say what to do next: the first step that has a command, in one piece.

    Examples
    --------
    >>> next_step(("see all", None), ("see why", "judgerel gate x.csv"))[0].text
    'Next, see why: judgerel gate x.csv'
    """
    for what, command in steps:
        if command:
            line = f"Next, {what}: {command}"
            return [Laid(line if len(line) <= WIDTH else f"Next, {what}:\n  {command}")]
    return []
