"""Comparisons as people read them, and how rows of numbers with intervals are written as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import polars as pl

from judgerel_ray.blocks.blocks import Block, Laid, Paragraph
from judgerel_ray.blocks.columns import wrapped
from judgerel_ray.blocks.result import Result
from judgerel_ray.blocks.short import (
    GRAVE,
    HARMFUL,
    MOST_ROWS,
    PLAIN,
    WEAK,
    Groups,
    PairOutcome,
    Remark,
    Row,
    findings_of_row,
    groups_of,
    named,
    short_blocks,
    short_table,
    sides_table,
)
from judgerel_ray.blocks.text_sections import (
    Columns,
    plain,
    remarks_beside_lead,
    section_text,
    short_p,
    with_interval,
)
from judgerel_ray.blocks.words import (
    FEW_INFORMATIVE,
    cell,
    coefficient_name,
    group_label,
    noted,
    number,
    reason,
    rows_by_group,
)
from judgerel_ray.core import count_of
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.text import fitted_names
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.lead_codes import LeadCode
from judgerel_ray.measuring.serving import SharedRequests, with_shared
from judgerel_ray.measuring.show_serving import share_words, shared_blocks

_MOST_SIDES = 6


def compared_result(
    found: pl.DataFrame,
    shared: SharedRequests | None,
    first: Snapshot,
    second: Snapshot | None,
    command: str | None = None,
) -> Result[pl.DataFrame]:
    """Paired differences, and requests shared, as every format is made of them.

    `command` says what to do next.
    """
    sides = [first] if second is None else [first, second]
    names = (first.name, second.name if second else first.name)
    rows = with_shared(found, shared, names)

    def blocks() -> list[Block]:
        below = [] if shared is None else shared_blocks(shared.rows, shared.settings, names)
        return [Laid(comparison_text(found)), *below]

    def short() -> list[Block]:
        return compared_short(found, shared, left_out_words(found), command)

    notes = [
        f"{one.name}: {note}" if second is not None else note
        for one in sides
        for note in one.run_notes
    ]
    return Result(
        found=rows,
        tables=rows,
        full=blocks,
        short=short,
        notes=tuple(notes),
        legend=lambda: [Laid(wrapped(_COMPARISON_NOTE))],
    )


def comparison_text(comparisons: pl.DataFrame) -> str:
    """Write comparisons as aligned text.

    Examples
    --------
    >>> from judgerel_ray.analyses.comparison.comparison import compare_judgments
    >>> rows = {"item_id": ["q", "r", "s"] * 4, "judge": ["x"] * 6 + ["y"] * 6,
    ...         "replication": [0, 0, 0, 1, 1, 1] * 2, "verdict": list("ABAABAABBAAB")}
    >>> found = compare_judgments(pl.LazyFrame(rows), by=["judge"],
    ...                           coefficients=["percent_agreement"])
    >>> print(comparison_text(found).splitlines()[0])
    difference (b − a) on shared questions
    """
    text = section_text(
        comparisons, "difference (b − a) on shared questions", _COMPARISON, _COMPARISON_NOTE
    )
    compared = set(comparisons["conditions"].drop_nulls())
    text = f"{text}\n{wrapped(_UNASKED)}" if compared == {"repeatability"} else text
    left_out = left_out_words(comparisons)
    text = f"{text}\n{wrapped(left_out)}" if left_out else text
    few = _compared_few(comparisons)
    return f"{wrapped(few)}\n\n{text}" if few else text


def _compared_few(comparisons: pl.DataFrame) -> str:
    """Say of which comparisons nothing is said, for the same reason."""
    rows = comparisons.filter(reason=LeadCode.FEW_VERDICTS.value)
    sides = dict.fromkeys(
        f"{numbers[0]:,.0f} of {numbers[1]:,.0f} replies hold a verdict ({row[side]})"
        for row in rows.iter_rows(named=True)
        for (flag, numbers), side in zip(noted(row), row["flag_sides"], strict=True)
        if flag is Flag.FEW_VERDICTS
    )
    if not sides:
        return ""
    return f"{'; '.join(sides)}: nothing is said of which side agrees more."


def left_out_words(comparisons: pl.DataFrame, why: str = "was not asked them") -> str:
    """Say how many questions are compared nowhere, as one side alone was asked them.

    Examples
    --------
    >>> sides = {"a": ["new"], "b": ["old"], "n_left_out_a": [0], "n_left_out_b": [3]}
    >>> left_out_words(pl.DataFrame(sides))
    'Questions left out, as the other side was not asked them: 3 of old.'
    """
    numbers = comparisons.select("a", "b", "n_left_out_a", "n_left_out_b").unique(
        maintain_order=True
    )
    sides = [
        f"{n:,} of {name}"
        for a, b, n_a, n_b in numbers.iter_rows()
        for name, n in ((a, n_a), (b, n_b))
        if n
    ]
    if not sides:
        return ""
    some = ", ".join(sides[:_MOST_SIDES]) + (", ..." if len(sides) > _MOST_SIDES else "")
    return f"Questions left out, as the other side {why}: {some}."


_UNASKED = (
    "Only repeats of the same prompt are compared. To compare reproducibility, ask both sides in "
    "several orders (option_orders = 2) or with several templates."
)
_COMPARED = {
    "reproducibility": "own order and wording (reproducibility)",
    "repeatability": "same prompt (repeatability)",
}
_MISSING = {"category": "counts as a verdict", "drop": "left out"}
_COMPARISON_NOTE = """\
p: how often a and b, exchanged within questions at random, differ as much; the 95 % interval of
b - a excludes 0 where p < 0.05. Holm and FDR correct p for all tests of this table; one is higher
where Holm's is < 0.05. within, beyond: p of lying inside the tolerance, and outside it, by Holm.
few informative questions: fewer than 10 differ between a and b, or one side rests on few."""
_COMPARISON: Columns = {
    "a": plain("a"),
    "b": plain("b"),
    "coefficient": lambda row: coefficient_name({**row, "measurement": None}),
    "two judgments": lambda row: _COMPARED.get(str(row["conditions"]), "-"),
    "no verdict": lambda row: _MISSING.get(str(row["missing"]), "-"),
    "value a": plain("value_a"),
    "value b": plain("value_b"),
    "b - a [95 %]": with_interval("difference", "low", "high"),
    "p": short_p("p"),
    "Holm": short_p("p_holm"),
    "FDR": short_p("p_fdr"),
    "within": short_p("p_equivalence_holm"),
    "beyond": short_p("p_beyond_holm"),
    "standing": plain("standing"),
    "questions": plain("n_items"),
    "remark": lambda row: "; ".join(remarks_beside_lead(row)),
}


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
_MOST_DECIDED = 6  # pairs of many whose differences are shown, the clearest first
_LONGEST_NAMED = 20  # characters of a coefficient that is the head of a column
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
    pairs = rows_by_group(comparisons, groups)
    firsts = [_leading_difference(rows) for rows in pairs.values()]
    those = groups_of(firsts, groups)
    if len(firsts) > MOST_ROWS:
        within = [name for name in those.varying if name not in ("a", "b")]
        return _by_side([_sides_with_group(row, within) for row in firsts], left_out, command)
    findings = [one for rows in pairs.values() for one in _difference_findings(rows, those)]
    findings += [Remark(text=left_out, severity=WEAK)] if left_out else []
    findings += _shared_requests_compared(shared) if shared is not None else []
    return short_blocks(
        _scope_of_comparison(firsts),
        [
            *short_table(firsts, those, _difference_columns(firsts), what="pair", names=["higher"]),
            *_conditions_below(firsts),
        ],
        findings,
        ("see what more judgments would show", command),
        everyone=those.labels.values(),
    )


def _by_side(firsts: Sequence[Row], left_out: str, command: str | None) -> list[Block]:
    """Lay out more pairs than a screen has lines: a row a side, and why pairs are undecided."""
    what = " or ".join(dict.fromkeys(map(coefficient_name, firsts)))
    head = what if len(what) <= _LONGEST_NAMED else "value"  # which the line below says
    table = sides_table([_outcome_of_comparison(row) for row in firsts], "side", head)
    decided = [row for row in firsts if str(row["standing"]).endswith(" higher")]
    decided.sort(key=lambda row: (cast(float, row["p_holm"] or 0), -abs(row["difference"])))
    clearest = groups_of(decided, [])
    clear_pairs = short_table(
        decided[:_MOST_DECIDED],
        clearest,
        {
            "higher": _higher_side_compared,
            "than": lambda row: cell(row["b" if row["standing"] == "a higher" else "a"]),
            "difference [95 %]": _difference_of_higher,
            "p, Holm": short_p("p_holm"),
        },
        names=["higher", "than"],
    )
    why = Counter(str(row["reason"]) for row in firsts if row["reason"])
    findings = [
        Remark(text=f"{count_of(n, 'pair')} undecided: {_WHY.get(code, reason(code))}",
               severity=HARMFUL)
        for code, n in why.most_common()
    ]  # fmt: skip
    flagged = Counter(
        one.text.partition(":")[0]
        for row in firsts
        for one in findings_of_row({**row, "reason": None})
    )
    findings += [
        Remark(text=f"{count_of(n, 'pair')}: {text}", severity=WEAK)
        for text, n in flagged.most_common()
    ]
    findings += [Remark(text=left_out, severity=WEAK)] if left_out else []
    more = max(0, len(decided) - _MOST_DECIDED)
    rest = f"{count_of(more, 'more decided pair')}, " if more else ""
    findings += [Remark(text=f"{rest}every pair and other coefficients: --full")]
    return short_blocks(
        _scope_of_comparison(firsts),
        [table, *_conditions_below(firsts), *clear_pairs],
        findings,
        ("see what more judgments would show", command),
    )


def _sides_with_group(row: Row, within: Sequence[str]) -> Row:
    """A pair whose sides are named with what else makes groups, such as a scale."""
    rest = f", {group_label(row, within)}" if within else ""
    return {**row, **{side: f"{cell(row[side])}{rest}" for side in "ab"}}


def _outcome_of_comparison(row: Row) -> PairOutcome:
    return PairOutcome(
        sides=(cell(row["a"]), cell(row["b"])),
        higher=_higher_side_compared(row),
        values=(row["value_a"], row["value_b"]),
    )


def _difference_of_higher(row: Row) -> str:
    """By how much the higher side is higher, with its interval."""
    if row["standing"] == "a higher":
        ends = [None if row[end] is None else -row[end] for end in ("high", "low")]
        row = {**row, "difference": -row["difference"], "low": ends[0], "high": ends[1]}
    return with_interval("difference", "low", "high")(row)


def _leading_difference(rows: Sequence[Row]) -> Row:
    """The difference that leads a pair: alpha where it is there, reproducibility first."""
    first = [row for row in rows if row["coefficient"] == "krippendorff_alpha"] or rows
    return first[0]


def _scope_of_comparison(firsts: Sequence[Row]) -> str:
    """Say what was compared, on how many questions."""
    items = sorted({cast(int, row["n_items"]) for row in firsts}) or [0]
    least = f"{items[0]:,} to " if len(items) > 1 else ""
    on = f"on {least}{count_of(items[-1], 'shared question')}"
    a, _ = _compared_side_heads(firsts)
    if not a:
        return f"{count_of(len(firsts), 'pair')} of a and b, {on}"
    n_replies = sum(
        cast(int, row["n_judgments_a"]) + cast(int, row["n_judgments_b"]) for row in firsts
    )
    first, second = fitted_names([cell(firsts[0][side]) for side in "ab"], _LONGEST_SIDE)
    sides = f"{first} against {second}" if a == first else f"a ({first}) against b ({second})"
    return f"{sides}, {on}: {count_of(n_replies, 'reply', 'replies')}"


def _compared_side_heads(firsts: Sequence[Row]) -> tuple[str, str]:
    """The names of the sides at the head of the table; empty where they vary."""
    sides = {(cell(row["a"]), cell(row["b"])) for row in firsts}
    if len(sides) != 1:
        return "", ""
    ((a, b),) = sides
    return (a, b) if max(len(a), len(b)) <= _LONGEST_HEAD else ("a", "b")


def _difference_columns(firsts: Sequence[Row]) -> Mapping[str, Callable[[Row], str]]:
    """The columns of the table: the tolerance's tests where there is a tolerance."""
    alike = len({row["coefficient"] for row in firsts}) == 1
    tolerance = any(row["tolerance"] is not None for row in firsts)
    heads = _compared_side_heads(firsts)
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
        "higher": _higher_side_compared,
    }
    hidden = {*(["coefficient"] if alike else []), *([] if tolerance else ["within", "beyond"])}
    return {head: write for head, write in columns.items() if head not in hidden}


def _higher_side_compared(row: Row) -> str:
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
        words = [*names, *([" or ".join(drawn)] if drawn else [])]
        yield Paragraph(", ".join(words), kind="below")


def _difference_findings(rows: Sequence[Row], groups: Groups) -> Iterator[Remark]:
    """Why a pair is undecided, what weakens it, and where other coefficients come out."""
    first = _leading_difference(rows)
    who = groups.of(first)
    others: dict[str, list[str]] = {}
    # What weakens the difference that leads is said of no other again.
    for row in (first, *(row for row in rows if row is not first)):
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
            others.setdefault(_higher_side_compared(row), []).append(f"{what}{size}")
            yield from (one for text, one in weak.items() if text not in leading)
    standing = _higher_side_compared(first)
    for other, those in others.items():
        verb = {"undecided": "undecided", "equivalent": "equivalent"}.get(other, f"{other} higher")
        severity = PLAIN if other == standing else WEAK
        text = f"other coefficients, {verb}: {', '.join(those)}"
        yield Remark(text=text, who=who, severity=severity, kind=f"others {other == standing}")


def _shared_requests_compared(shared: SharedRequests) -> Iterator[Remark]:
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
