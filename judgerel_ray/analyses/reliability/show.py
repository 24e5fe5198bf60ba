"""Coefficients as plain text, and as the result that every format is made of.

Requests that failed, in words: a request that was never answered is no reply.

How coefficients stand to tolerances, and questions one by one, as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import cast

import polars as pl

from judgerel_ray.analyses.reliability.headlines import WARNINGS, group_leads, lead_text, unasked
from judgerel_ray.blocks.blocks import Block, Column, Laid, Paragraph, Table
from judgerel_ray.blocks.columns import WIDTH, plain_table
from judgerel_ray.blocks.short import GRAVE, PLAIN, WEAK, Remark, groups_of, short_blocks
from judgerel_ray.blocks.words import (
    NOISE,
    Row,
    cell,
    coefficient_name,
    conditions,
    estimate,
    explanation,
    group_columns,
    group_label,
    number,
    reason,
    remarks,
    replication_words,
    rows_by_group,
    share_with_ends,
    short_estimate,
)
from judgerel_ray.core import count_of, shortened
from judgerel_ray.counting.outcomes import failed_by_group, failures_in_words
from judgerel_ray.counting.verdicts.policy import REPEATABILITY, REPRODUCIBILITY
from judgerel_ray.measuring.lead_codes import lead, of_their_kind
from judgerel_ray.measuring.reliability import Reduced
from judgerel_ray.measuring.show_serving import serving_blocks

_HEADS = ("coefficient", "value [95 %]", "noise floor", "remark")
_MOST_SHOWN = 1_000  # groups of a text
_COMPACT = 2  # rows a group at most, for all groups to stand in one table
_POLICIES = {
    "category": "a reply without a verdict counts as a verdict of its own:",
    "drop": "replies without a verdict left out:",
    "bounds": "replies without a verdict, from worst to best case:",
}
_COUNTED = {"category": "counted", "drop": "left out", "bounds": "bounds"}
_LEGEND = (
    (
        ("percent_agreement", "class_agreement", "flip_rate"),
        "agreement: the share of pairs of judgments with the same verdict; flip rate: the share "
        "with different ones.",
    ),
    (
        ("krippendorff_alpha", "fleiss_kappa", "icc1"),
        "{}: 1 where a judge always agrees with itself, 0 where it does as often as its own "
        "verdicts, shuffled, would.",
    ),
    (
        ("gwet_ac1", "brennan_prediger"),
        "{}: 1 there too, but shuffled verdicts give far more than 0 where one verdict dominates: "
        "read them beside their noise floor.",
    ),
    (
        ("standard_error",),
        "{}: the standard deviation of the ratings of one question, in points of the scale.",
    ),
    (
        ("",),
        "noise floor: what a coefficient gives, on average, when the verdicts are shuffled across "
        "the questions. [95 %]: the interval over questions.",
    ),
    (
        ("percent_agreement", "class_agreement", "fleiss_kappa"),
        "Where questions hold different numbers of verdicts, alpha and agreement on one verdict "
        "weigh a question by that number, Fleiss' kappa and agreement weigh all alike.",
    ),
)  # what a reader of these coefficients needs, {} for their names
_OF_QUESTIONS = (
    "agreement: of replies to the same prompt (repeatability): a judge that goes by\n"
    "position has it high, judgerel reduce tells"
)
_CATEGORIES = (
    "categories: the verdicts there are to choose from, as far as known; where replies without a "
    "verdict count, one more for each kind of them in the file (unparsed, refused, ...); Gwet's "
    "AC1 and Brennan-Prediger rest on their number"
)
_NOISE = f'"noise": {NOISE}; over 5 % of shuffles come as far from the floor as the judge did'


def full_blocks(found: Reduced, *, named: bool, standing: str) -> list[Block]:
    """All there is: coefficients, the serving's noise, and how they stand to tolerances."""
    shown = found.coefficients.height or found.serving is None or not found.serving.height
    text = coefficients_text(found.coefficients, failures=found.failures, named=named)
    return [
        *([Laid(text)] if shown else []),
        *serving_blocks(found.serving),
        *([Laid(standing)] if standing else []),
    ]


def coefficients_text(
    coefficients: pl.DataFrame, *, failures: pl.DataFrame | None = None, named: bool = True
) -> str:
    """Lay coefficients out as aligned text.

    What is the same in every row (the judge, the unit) is said once, above.

    Examples
    --------
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "A"]}
    >>> found = reduce_judgments(pl.LazyFrame(rows), coefficients=["flip_rate"])
    >>> print(coefficients_text(found))  # doctest: +ELLIPSIS
    unit: item_id
    <BLANKLINE>
    2 questions asked, each up to 2 times: 4 replies
    <BLANKLINE>
    a reply without a verdict counts as a verdict of its own:
    (2 questions with two verdicts or more)
    coefficient  value [95 %]          noise floor  remark
    flip rate    0.500 [0.000, 1.000]  0.500        noise [1]
    ...
    """
    coefficients, n_more = _first_reliability_groups(coefficients)
    lines: list[str] = []
    say = lines.append
    notes: dict[str, int] = {}
    names = group_columns(coefficients)
    varying = [name for name in names if coefficients[name].n_unique() > 1]
    one_unit = coefficients["unit"].n_unique() == 1
    for name in (*names, *(["unit"] if one_unit else [])):
        if name not in varying and coefficients.height:
            say(f"{name.replace('_', ' ')}: {cell(coefficients[name][0])}")
    groups = [
        _reliability_rows_in_order(rows if named else of_their_kind(rows))
        for rows in rows_by_group(coefficients, names).values()
    ]
    failed = failed_by_group(failures, names)
    compact = (
        _compact_reliability_table(coefficients, varying, notes, failed)
        if len(groups) > 1
        else None
    )
    if (
        compact
        and max(len(rows) for rows in groups) <= _COMPACT
        and _is_reliability_narrow(compact)
    ):
        say(compact)
        for found, text in group_leads(coefficients):  # the rest is in the table
            if found.code in WARNINGS:
                say("")
                for line in _wrapped_reliability_lines(text):
                    say(line)
    else:
        notes.clear()
        for rows in groups:
            say("")
            if label := group_label(rows[0], varying):
                say(label)
            failures_here = failed.get(tuple(cell(rows[0][name]) for name in names), {})
            for line in _sample_lines(rows, notes, failures_here):
                say(line)
            for text in _reliability_group_blocks(rows, notes):
                say(f"\n{text}")
    say("")
    for text in unasked(coefficients):
        for line in _wrapped_reliability_lines(text):
            say(line)
        say("")
    for line in _reliability_legend([row for rows in groups for row in rows], notes):
        say(line)
    if n_more:
        more = count_of(n_more, "more group")
        say(f"\n{more} not shown: --out FILE or --format json has them all")
    return "\n".join(lines)


def _first_reliability_groups(coefficients: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The groups that a reader of text may look through, and how many come after them."""
    names = group_columns(coefficients)
    if not names or coefficients.height <= _MOST_SHOWN:
        return coefficients, 0
    number = coefficients.select(pl.struct(names).rle_id()).to_series()
    n_groups = int(number[-1]) + 1
    return coefficients.filter(number < _MOST_SHOWN), max(0, n_groups - _MOST_SHOWN)


def _reliability_rows_in_order(rows: Sequence[Row]) -> list[Row]:
    """Rows of pass and fail with agreement first, on both and on each; others as they come."""
    if not any(str(row["coefficient"]).startswith("class_agreement") for row in rows):
        return [*rows]
    first = ("percent_agreement", "class_agreement")
    return sorted(rows, key=lambda row: not str(row["coefficient"]).startswith(first))


def _compact_reliability_table(
    coefficients: pl.DataFrame,
    varying: Sequence[str],
    notes: dict[str, int],
    failed: Mapping[tuple[str, ...], Mapping[str, int]],
) -> str:
    """All groups in one table; what is the same in every row is said above it."""
    rows, names = coefficients.to_dicts(), group_columns(coefficients)
    columns = {name: [cell(row[name]) for row in rows] for name in varying} | {
        "coefficient": [coefficient_name(row) for row in rows],
        "no verdict": [_COUNTED.get(str(row["missing"]), "-") for row in rows],
        "questions": [f"{row['n_items']:,}" for row in rows],
        "times asked": [f"{row['n_replications']:,}" for row in rows],
        "failed requests": [
            _reliability_failed_cell(failed.get(tuple(cell(row[name]) for name in names)))
            for row in rows
        ],
        "categories": [cell(row["n_categories"]) for row in rows],
        "conditions": [cell(row["conditions"]) for row in rows],
        "unit": [cell(row["unit"]) for row in rows],
        "value [95 %]": [short_estimate(row) for row in rows],
        "noise floor": [number(row["noise_floor"]) for row in rows],
        "remark": [_reliability_value_marks(row, notes) for row in rows],
    }
    shown = ("value [95 %]", "noise floor", "remark")
    alike = [name for name, cells in columns.items() if len(set(cells)) == 1 and name not in shown]
    shared = [f"{name}: {columns[name][0]}" for name in alike if columns[name][0] != "-"]
    kept = {name: cells for name, cells in columns.items() if name not in alike}
    table = plain_table(list(kept), list(zip(*kept.values(), strict=True)))
    return "\n".join([*shared, "", table])


def _reliability_failed_cell(reasons: Mapping[str, int] | None) -> str:
    """A group's failed requests in a cell; a dash where there are none."""
    return f"{sum(reasons.values()):,} ({', '.join(reasons)})" if reasons else "-"


def _is_reliability_narrow(text: str) -> bool:
    """Whether a terminal is as wide as a text."""
    return max(map(len, text.splitlines())) <= WIDTH


def _sample_lines(
    rows: Sequence[Row], notes: dict[str, int], failed: Mapping[str, int]
) -> list[str]:
    """What a group rests on, and its agreement in a sentence."""
    first = rows[0]
    replies = cast(int, first["n_judgments"]) - sum(failed.values())
    text = (
        f"{count_of(cast(int, first['n_items']), 'question')} asked, "
        f"{replication_words(first)}: {count_of(replies, 'reply', 'replies')}"
    )

    for row in rows:
        if row["coefficient"] == "valid_rate":
            marks = _reliability_value_marks(row, notes)
            text += f", valid verdicts {short_estimate(row)}{' ' * bool(marks)}{marks}"
    lines = _wrapped_reliability_lines(f"{text}; {failures_in_words(failed)}" if failed else text)
    found = lead(rows)
    if found is None:
        return lines
    sentence = lead_text(found)
    return lines + _wrapped_reliability_lines(sentence[0].upper() + sentence[1:])


def _wrapped_reliability_lines(text: str, indent: str = "") -> list[str]:
    """Lines that fit; a number keeps its percent sign, an interval its two ends."""
    tied = re.sub(r" %|, (?=[-0-9.]+\])", lambda found: found[0].replace(" ", "\u00a0"), text)
    return [
        line.replace("\u00a0", " ")
        for line in wrap(shortened(tied, WIDTH), WIDTH, subsequent_indent=indent)
    ]


def _reliability_group_blocks(rows: Sequence[Row], notes: dict[str, int]) -> Iterator[str]:
    """A group's tables, by what a reply without a verdict counts as and what is compared."""
    whole = any(row["coefficient"] == "valid_rate" and row["value"] == 1 for row in rows)
    rest = [row for row in rows if row["coefficient"] != "valid_rate"]
    both = any(row["conditions"] == REPRODUCIBILITY for row in rest)
    for policy in dict.fromkeys(row["missing"] for row in rest):
        of_policy = [row for row in rest if row["missing"] == policy]
        heading = [] if whole and policy == "category" else [_POLICIES.get(str(policy), "")]
        if heading and both:
            yield heading.pop()
        kinds = dict.fromkeys(row["conditions"] for row in of_policy) if both else [None]
        for kind in kinds:
            of_kind = [row for row in of_policy if not both or row["conditions"] == kind]
            yield _reliability_block(
                of_kind,
                [*heading, *(_reliability_table_scope(of_kind[0], of_policy) if both else [])],
                notes,
            )


def _reliability_table_scope(row: Row, rows: Sequence[Row]) -> list[str]:
    """What the judgments of a table have in common."""
    if row["conditions"] is None:
        return ["Where the options stood:"]
    again = next((one for one in rows if one["conditions"] == REPEATABILITY), None)
    return _wrapped_reliability_lines(
        f"{conditions(row, again)}; unit: {row['unit']}:".capitalize()
    )


def _reliability_block(rows: Sequence[Row], heads: Sequence[str], notes: dict[str, int]) -> str:
    """One table, under what it rests on."""
    menus = {cast(int, n) for row in rows if (n := row["n_categories"]) is not None}
    counts = {cast(int, n) for row in rows if (n := row["n_compared"]) is not None}
    basis = [f"{count_of(n, 'question')} with two verdicts or more" for n in sorted(counts)[:1]]
    basis += [f"{count_of(n, 'category', 'categories')}" for n in sorted(menus)]
    above = [line for line in (*heads, f"({', '.join(basis)})" if basis else "") if line]
    reasons = {row["undefined"] for row in rows if not _has_reliability_value(row)}
    if len(rows) > 1 and len(reasons) == 1 and not any(map(_has_reliability_value, rows)):
        names = ", ".join(coefficient_name(row) for row in rows)
        marks = " ".join(dict.fromkeys(_reliability_value_marks(row, notes) for row in rows))
        return "\n".join(
            [
                *above,
                *_wrapped_reliability_lines(f"{names}: {short_estimate(rows[0])} {marks}", "    "),
            ]
        )
    lines = [
        [
            coefficient_name(row),
            short_estimate(row),
            number(row["noise_floor"]),
            _reliability_value_marks(row, notes),
        ]
        for row in rows
    ]
    return "\n".join([*above, plain_table(_HEADS, lines)])


def _has_reliability_value(row: Row) -> bool:
    """Whether a number is there: a value, or the ends between which it is."""
    return row["value"] is not None or row["low"] is not None


def _reliability_value_marks(row: Row, notes: dict[str, int]) -> str:
    """What takes from a value: noise by name, the rest by its number among the notes."""
    texts = remarks(row)
    if row["undefined"] and row["value"] is None:
        texts = [*texts, reason(row["undefined"])]
    numbers = [f"[{notes.setdefault(text, len(notes) + 1)}]" for text in texts if text != NOISE]
    return " ".join([*(["noise"] if NOISE in texts else []), *numbers])


def _reliability_legend(rows: Sequence[Row], notes: dict[str, int]) -> Iterator[str]:
    """What marks and columns mean, of the numbers that are there."""
    for text, n in notes.items():
        yield from _wrapped_reliability_lines(f"[{n}] {explanation(text)}", "    ")
    if any(row["noise"] for row in rows):
        yield from _wrapped_reliability_lines(_NOISE)
    there = [
        row for row in rows if row["coefficient"] != "valid_rate" and _has_reliability_value(row)
    ]
    if any(row["n_categories"] is not None for row in there):
        yield from _wrapped_reliability_lines(_CATEGORIES)
    parts = []
    for of, text in _LEGEND:
        those = [row for row in there if str(row["coefficient"]).startswith(of)]
        named = [coefficient_name({**row, "measurement": None}) for row in those]
        parts += [text.format(", ".join(dict.fromkeys(named)))] if those else []
    yield from ["How to read it:"] if parts else []
    for part in parts:
        yield from _wrapped_reliability_lines(f"  {part}", "    ")


def tolerance_text(coefficients: pl.DataFrame, *, source: str = "") -> str:
    """Write the coefficients that have a tolerance, one line each.

    Examples
    --------
    >>> rows = pl.DataFrame({"judge": ["j"], "coefficient": ["flip_rate"], "missing": ["drop"],
    ...                      "measurement": ["nominal"], "value": [0.03], "low": [0.01],
    ...                      "high": [0.04], "undefined": [None], "tolerance": [0.05],
    ...                      "standing": ["meets"]})
    >>> print(tolerance_text(rows))
    The whole confidence interval decides, never the point:
    judge  coefficient  no verdict  value [95 %]          tolerance  standing
    j      flip rate    drop        0.030 [0.010, 0.040]  0.05       meets
    """
    rows = coefficients.filter(pl.col("standing").is_not_null())
    groups, shown = group_columns(coefficients), ("tolerance", "standing")
    lines = [
        [
            *(cell(row[name]) for name in groups),
            coefficient_name(row),
            cell(row["missing"]),
            estimate(row),
            *(cell(row[name]) for name in shown),
        ]
        for row in rows.iter_rows(named=True)
    ]
    heads = [*groups, "coefficient", "no verdict", "value [95 %]", *shown]
    prefix = f"Tolerances of {source}. " if source else ""
    rule = "The whole confidence interval decides, never the point:"
    return f"{prefix}{rule}\n{plain_table(heads, lines)}"


def questions_text(questions: pl.DataFrame) -> str:
    """Write accuracy and agreement of every question, one line each.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q"], "n_judgments": [3], "accuracy": [1.0],
    ...                      "low": [0.292], "high": [1.0], "percent_agreement": [1.0],
    ...                      "agreement_right": [1.0], "agreement_wrong": [0.0],
    ...                      "majority_right": [1.0], "undefined": [None]})
    >>> print(questions_text(rows))
    item_id  judgments  accuracy [95 %]       agreement  on right  on wrong  majority right  remark
    q        3          1.000 [0.292, 1.000]  1.000      1.000     0.000     1.000
    agreement: of replies to the same prompt (repeatability): a judge that goes by
    position has it high, judgerel reduce tells
    """
    groups = [*questions.columns[: questions.columns.index("item_id")], "item_id"]
    numbers = ("percent_agreement", "agreement_right", "agreement_wrong", "majority_right")
    lines = [
        [
            *(cell(row[name]) for name in groups),
            cell(row["n_judgments"]),
            "-"
            if row["accuracy"] is None
            else estimate({**row, "value": row["accuracy"], "undefined": None}),
            *(number(row[name]) for name in numbers),
            reason(row["undefined"]) if row["undefined"] else "",
        ]
        for row in questions.iter_rows(named=True)
    ]
    heads = [
        *groups, "judgments", "accuracy [95 %]", "agreement", "on right", "on wrong",
        "majority right", "remark",
    ]  # fmt: skip
    return f"{plain_table(heads, lines)}\n{_OF_QUESTIONS}"


_MOST_QUESTIONS = 10
_MOST_COLUMNS = 2  # that name groups in columns of their own
_UNKNOWN = "no_gold"
_LACKING = {
    _UNKNOWN: "no right verdict is known",
    "few_verdicts": "fewer than half of the replies hold a verdict",
    "single_replication": "asked once, so nothing shows how stable the verdict is",
    "serving_noise": "asked at temperature 0, where repeats show the server's noise alone",
}


def questions_short(questions: pl.DataFrame, command: str | None) -> list[Block]:
    """Show ten questions: of those with a right answer the wrong ones, then the least steady.

    Examples
    --------
    >>> from judgerel_ray import example, questions
    >>> questions_short(questions(example("judgments.csv")), None)[0].text
    '2 judges, 8 questions each: 64 replies; 1 wrong, 8 with different replies'
    """
    every = [*questions.iter_rows(named=True)]
    keys = questions.columns[: questions.columns.index("item_id")]
    groups = groups_of(every, keys)
    worst = sorted(every, key=_question_harm_order)
    shown = [
        row for row in worst if _is_question_mostly_wrong(row) or _question_replies_differ(row)
    ][:_MOST_QUESTIONS]
    labelled = any(row["accuracy"] is not None for row in every)
    merged = len(groups.varying) > _MOST_COLUMNS
    heads = ["group"] if merged else [name.replace("_", " ") for name in groups.varying]
    of_groups = [[cell(row[name]) for row in shown] for name in groups.varying]
    if merged:
        of_groups = [[group_label(row, groups.varying) for row in shown]]
    cells = [
        *of_groups,
        [cell(row["item_id"]) for row in shown],
        [f"{row['n_judgments']:,}" for row in shown],
        [number(row["percent_agreement"]) for row in shown],
        *([[_question_accuracy_cell(row) for row in shown]] if labelled else []),
        *([[_question_right_cell(row) for row in shown]] if labelled else []),
    ]
    heads += ["item_id", "replies", "agreement"]
    heads += ["accuracy [95 %]", "majority"] if labelled else []
    columns = [
        Column(
            head=head,
            cells=texts,
            is_number=True,
            is_name=head in ("item_id", *(name.replace("_", " ") for name in groups.varying)),
        )
        for head, texts in zip(heads, cells, strict=True)
    ]
    table = Table("", columns, fits=True)
    left = sum(
        _is_question_mostly_wrong(row) or _question_replies_differ(row) for row in every
    ) - len(shown)
    more = f"{count_of(left, 'more question')} of that kind in --full; " if left else ""
    alike = [
        row
        for row in every
        if not _is_question_mostly_wrong(row) and not _question_replies_differ(row)
    ]
    once = all(row["n_judgments"] == 1 for row in alike)
    rest = f"{more}{count_of(len(alike), 'question')} {'asked once' if once else 'answered alike'}"
    if labelled:
        n_right = sum(row["accuracy"] == 1 for row in alike)
        rest += f", {'all' if n_right == len(alike) else f'{n_right:,}'} of them known to be right"
    return short_blocks(
        _questions_scope_sentence(
            every, len(groups.rows), groups.shared, is_judge=[*groups.varying] == ["judge"]
        ),
        [*([table] if shown else []), Paragraph(rest, kind="soft")],
        _question_findings(every),
        ("see how far the judge agrees with itself", command),
    )


def _question_harm_order(row: Row) -> tuple[bool, float]:
    """Wrong ones first, then by agreement."""
    agreement = row["percent_agreement"]
    return not _is_question_mostly_wrong(row), cast(float, 2.0 if agreement is None else agreement)


def _is_question_mostly_wrong(row: Row) -> bool:
    """Whether most replies are wrong."""
    return row["majority_right"] is not None and cast(float, row["majority_right"]) < 0.5


def _question_replies_differ(row: Row) -> bool:
    return row["percent_agreement"] is not None and cast(float, row["percent_agreement"]) < 1


def _question_accuracy_cell(row: Row) -> str:
    if row["accuracy"] is None:
        return "-"
    return share_with_ends({**row, "value": row["accuracy"]})


def _question_right_cell(row: Row) -> str:
    """Whether most replies are right."""
    if row["majority_right"] is None:
        return "-"
    words = {0.0: "wrong", 1.0: "right"}
    return words.get(cast(float, row["majority_right"]), "tied")


def _questions_scope_sentence(
    every: Sequence[Row], n_groups: int, shared: str, *, is_judge: bool
) -> str:
    """Say of how many questions most replies are wrong, and how many have different replies."""
    n = len(every) // max(1, n_groups)
    who = f"{count_of(n_groups, 'judge' if is_judge else 'group')}, " if n_groups > 1 else ""
    each = " each" if n_groups > 1 and n * n_groups == len(every) else ""
    items = count_of(n if each or n_groups <= 1 else len(every), "question")
    replies = sum(cast(int, row["n_judgments"]) for row in every)
    wrong, differing = (
        sum(map(_is_question_mostly_wrong, every)),
        sum(map(_question_replies_differ, every)),
    )
    found = [f"{wrong:,} wrong"] if any(row["accuracy"] is not None for row in every) else []
    found.append(f"{differing:,} with different replies")
    asked = f"{who}{items}{each}{shared}: {count_of(replies, 'reply', 'replies')}"
    return f"{asked}; {', '.join(found)}"


def _question_findings(every: Sequence[Row]) -> Iterator[Remark]:
    """What the numbers lack, and what agreement means here."""
    labelled = any(row["accuracy"] is not None for row in every)
    lacking: dict[str, int] = {}
    for row in every:
        for code in str(row["undefined"]).split("; ") if row["undefined"] else ():
            lacking[code] = lacking.get(code, 0) + (labelled or code != _UNKNOWN)
    for code, n in lacking.items():
        where = f"{n:,} of {count_of(len(every), 'question')}"
        why = explanation(reason(code)).removeprefix(f"{reason(code)}: ")
        text = f"{where}: {_LACKING.get(code, why)}"
        if n:
            yield Remark(text=text, severity=WEAK if n < len(every) else GRAVE)
    if all(row["accuracy"] is None for row in every):
        yield Remark(text="no right verdicts are known: --labels FILE or a column gold has them",
                      severity=WEAK)  # fmt: skip
    if any(row["percent_agreement"] is not None for row in every):
        text = "agreement: of replies to the same prompt; always naming one position gives 1"
        yield Remark(text=text, severity=PLAIN)
