"""The short answer of ``compare``: the leading difference of every pair, and what decides it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import polars as pl

from judgerel_ray.blocks.blocks import Block, Paragraph
from judgerel_ray.blocks.short import (
    GRAVE,
    HARMFUL,
    PLAIN,
    WEAK,
    Groups,
    Remark,
    Row,
    findings_of_row,
    groups_of,
    named,
    short_blocks,
    short_table,
)
from judgerel_ray.blocks.text_sections import short_p, with_interval
from judgerel_ray.blocks.words import FEW_INFORMATIVE, cell, coefficient_name, number, reason
from judgerel_ray.core import count_of, cut_text
from judgerel_ray.core.codes import Flag
from judgerel_ray.measuring.serving import SharedRequests
from judgerel_ray.measuring.show_serving import share_words

_LONGEST_HEAD = 16
_WHY = {
    "interval_covers_0": "the interval includes 0: no difference is shown",
    "interval_crosses_tolerance": "the interval crosses the tolerance",
    "not_after_correction": "not significant once corrected for the number of tests",
    "few_informative_questions": "fewer than 10 questions decide it",
    "few_verdicts": "too few replies hold a verdict",
    "undefined": "no value, or no test of it",
}
_CONDITIONS = {
    "reproducibility": "orders and wordings drawn at random",
    "repeatability": "the same prompt asked again",
}
_LONGEST_SIDE = 40  # characters of a side's name


def compared_short(
    comparisons: pl.DataFrame,
    shared: SharedRequests | None,
    left_out: str,
    command: str | None,
) -> list[Block]:
    """Lay the short answer out: a row a pair; other coefficients where they add something.

    Examples
    --------
    >>> from judgerel_ray.analyses.comparison.comparison import compare_judgments
    >>> rows = {"item_id": ["q", "r", "s"] * 4, "judge": ["x"] * 6 + ["y"] * 6,
    ...         "replication": [0, 0, 0, 1, 1, 1] * 2, "verdict": list("ABAABAABBAAB")}
    >>> found = compare_judgments(pl.LazyFrame(rows), by=["judge"])
    >>> compared_short(found, None, "", None)[0].text
    'x against y, on 3 shared questions: 12 replies'
    """
    groups = comparisons.columns[: comparisons.columns.index("coefficient")]
    pairs: dict[tuple[object, ...], list[Row]] = {}
    for row in comparisons.iter_rows(named=True):
        pairs.setdefault(tuple(row[name] for name in groups), []).append(row)
    firsts = [_leading(rows) for rows in pairs.values()]
    those = groups_of(firsts, groups)
    findings = [one for rows in pairs.values() for one in _findings(rows, those)]
    findings += [Remark(text=left_out, severity=WEAK)] if left_out else []
    findings += _of_shared(shared) if shared is not None else []
    return short_blocks(
        _scope(firsts),
        [*short_table(firsts, those, _columns(firsts), what="pair"), *_conditions_below(firsts)],
        findings,
        ("see what more judgments would show", command),
        everyone=those.labels.values(),
    )


def _leading(rows: Sequence[Row]) -> Row:
    """The difference that leads a pair: alpha where it is there, reproducibility first."""
    first = [row for row in rows if row["coefficient"] == "krippendorff_alpha"] or rows
    return first[0]


def _scope(firsts: Sequence[Row]) -> str:
    """Say what was compared, on how many questions."""
    items = sorted({cast(int, row["n_items"]) for row in firsts}) or [0]
    least = f"{items[0]:,} to " if len(items) > 1 else ""
    on = f"on {least}{count_of(items[-1], 'shared question')}"
    a, _ = _heads(firsts)
    if not a:
        return f"{count_of(len(firsts), 'pair')} of a and b, {on}"
    n_replies = sum(
        cast(int, row["n_judgments_a"]) + cast(int, row["n_judgments_b"]) for row in firsts
    )
    first, second = (cut_text(cell(firsts[0][side]), _LONGEST_SIDE) for side in "ab")
    sides = f"{first} against {second}" if a == first else f"a ({first}) against b ({second})"
    return f"{sides}, {on}: {count_of(n_replies, 'reply', 'replies')}"


def _heads(firsts: Sequence[Row]) -> tuple[str, str]:
    """The names of the sides at the head of the table; empty where they vary."""
    sides = {(cell(row["a"]), cell(row["b"])) for row in firsts}
    if len(sides) != 1:
        return "", ""
    ((a, b),) = sides
    return (a, b) if max(len(a), len(b)) <= _LONGEST_HEAD else ("a", "b")


def _columns(firsts: Sequence[Row]) -> Mapping[str, Callable[[Row], str]]:
    """The columns of the table: the tolerance's tests where there is a tolerance."""
    alike = len({row["coefficient"] for row in firsts}) == 1
    tolerance = any(row["tolerance"] is not None for row in firsts)
    heads = _heads(firsts)
    a, b = heads if all(heads) else ("value a", "value b")
    difference = f"{b} - {a}" if all(heads) else "b - a"
    columns = {
        "coefficient": lambda row: coefficient_name({**row, "measurement": None}),
        a: lambda row: number(row["value_a"]),
        b: lambda row: number(row["value_b"]),
        f"{difference} [95 %]": with_interval("difference", "low", "high"),
        "p, Holm": short_p("p_holm"),
        "within": short_p("p_equivalence_holm"),
        "beyond": short_p("p_beyond_holm"),
        "higher": _higher,
    }
    hidden = {*(["coefficient"] if alike else []), *([] if tolerance else ["within", "beyond"])}
    return {head: write for head, write in columns.items() if head not in hidden}


def _higher(row: Row) -> str:
    """Which side is higher, by its name."""
    standing = str(row["standing"] or "-")
    side = {"a higher": "a", "b higher": "b"}.get(standing)
    return cell(row[side]) if side else standing


def _conditions_below(firsts: Sequence[Row]) -> Iterator[Block]:
    """What the values are of, in a line below the table."""
    names = dict.fromkeys(map(coefficient_name, firsts))
    under = dict.fromkeys(str(row["conditions"]) for row in firsts)
    drawn = [_CONDITIONS[one] for one in under if one in _CONDITIONS]
    if len({row["coefficient"] for row in firsts}) == 1:
        yield Paragraph(f"{', '.join(names)}, {' or '.join(drawn) or 'as named'}", kind="soft")


def _findings(rows: Sequence[Row], groups: Groups) -> Iterator[Remark]:
    """Why a pair is undecided, what weakens it, and where other coefficients come out."""
    first = _leading(rows)
    who = groups.of(first)
    label = coefficient_name({**first, "measurement": None})
    others: dict[str, list[str]] = {}
    for row in rows:
        what = coefficient_name({**row, "measurement": None})
        if row["missing"] == "drop":
            what += " (missing verdicts left out)"
        weak = {one.text: one for one in findings_of_row({**row, "reason": None}, who)}
        if row is first:
            if row["undefined"] and row["difference"] is None:
                yield Remark(text=f"no difference: {reason(row['undefined'])}", who=who,
                              severity=GRAVE)  # fmt: skip
            if why := row["reason"]:
                text = f"undecided: {_WHY.get(str(why), reason(why))}"
                yield Remark(text=text, who=who, severity=HARMFUL)
            leading = weak.keys()
            few = why == Flag.FEW_INFORMATIVE  # said already
            yield from (one for text, one in weak.items() if not (few and text == FEW_INFORMATIVE))
        else:
            size = "" if row["difference"] is None else f" ({row['difference']:+.3f})"
            others.setdefault(_higher(row), []).append(f"{what}{size}")
            yield from (one for text, one in weak.items() if text not in leading)
    standing = _higher(first)
    for other, those in others.items():
        verb = {"undecided": "undecided", "equivalent": "equivalent"}.get(other, f"{other} higher")
        severity = PLAIN if other == standing else WEAK
        text = f"besides {label}, {verb}: {', '.join(those)}"
        yield Remark(text=text, who=who, severity=severity, kind=f"others {other == standing}")


def _of_shared(shared: SharedRequests) -> Iterator[Remark]:
    """How often requests that both runs sent were answered otherwise."""
    for row in shared.rows.iter_rows(named=True):
        text = (
            f"of {row['n_requests']:,} requests that both sent at temperature "
            f"{cell(row['temperature'])}, {share_words(row)} have other {row['what']}"
        )
        severity = WEAK if row["n_differing"] else PLAIN
        yield Remark(text=text, who=cell(row["judge"]), severity=severity)
    differing = {name: those for name, those in shared.settings.items() if those}
    for those in dict.fromkeys(differing.values()):
        who = named(name for name, others in differing.items() if others == those)
        yield Remark(text=f"engines differ in {'; '.join(those)}", who=who, severity=WEAK)
