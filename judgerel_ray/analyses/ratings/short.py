"""The short answers of ``scales``, ``align`` and ``rank``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import polars as pl

from judgerel_ray.analyses.ratings.cells import (
    COEFFICIENTS,
    agreement_line,
    around,
    mapped,
    rank_cells,
    rank_sentences,
)
from judgerel_ray.analyses.ratings.judge_ranks import JudgeRanks
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
    short_blocks,
    short_table,
)
from judgerel_ray.blocks.words import cell, explanation, number, reason, short_estimate
from judgerel_ray.core import count_of

_FEW = ", few to decide"
_HEADS = {
    "pearson": "r", "spearman": "rho", "kendall": "tau-b", "icc_agreement": "ICC(A,1)",
    "icc_consistency": "ICC(C,1)",
}  # fmt: skip


def scales_short(repeated: pl.DataFrame, across: pl.DataFrame, command: str | None) -> list[Block]:
    """Lay the short answer of ``scales`` out: repeats on each scale, and agreement across scales.

    Examples
    --------
    >>> scales_short(pl.DataFrame(), pl.DataFrame(), None)[0].text
    'nothing was rated twice, or on two scales'
    """
    repeats, pairs = [*repeated.iter_rows(named=True)], [*across.iter_rows(named=True)]
    if not repeats and not pairs:
        return short_blocks("nothing was rated twice, or on two scales", [], [])
    keys = repeated.columns[: repeated.columns.index("coefficient")] if repeats else []
    sides = [*across.columns[: across.columns.index("scales")], "scales"] if pairs else []
    of_own, of_pairs = groups_of(repeats, keys), groups_of(pairs, sides)
    columns = {
        "alpha [95 %]": short_estimate,
        "shuffled": lambda row: number(row["noise_floor"]),
        "level": lambda row: cell(row["measurement"]),
    }
    beside = {
        "across [95 %]": short_estimate,
        "shuffled": lambda row: number(row["noise_floor"]),
        "ceiling": lambda row: number(row["ceiling"]),
        "shift [95 %]": lambda row: around(row, "shift"),
    }
    tables = [
        *short_table(repeats, of_own, columns, what="row"),
        *short_table(pairs, of_pairs, beside, what="row"),
    ]
    if pairs:
        meaning = f"alpha: of repeats on one scale; across: between scales, {mapped(across)}"
        tables.append(Paragraph(meaning, kind="soft"))
    findings = [
        one
        for rows, groups, what in (
            (repeats, of_own, "repeats"), (pairs, of_pairs, "across scales"),
        )
        for row in rows
        for one in _of_alpha(row, groups.of(row), what)
    ]  # fmt: skip
    items = sorted({cast(int, row["n_items"]) for row in (*repeats, *pairs)})
    asked = " to ".join(f"{one:,}" for one in dict.fromkeys((items[0], items[-1])))
    return short_blocks(
        f"consistency of ratings on and across scales: {asked} questions"
        f"{of_own.shared or of_pairs.shared}",
        tables,
        findings,
        ("rank the judges by both", command),
    )


def _of_alpha(row: Row, who: str, what: str) -> Iterator[Remark]:
    """What weakens an alpha, or why there is none."""
    if row["undefined"]:
        text = f"{what}: {explanation(reason(row['undefined']))}"
        yield Remark(text=text, who=who, severity=GRAVE)
    yield from findings_of_row(row, who, what)


def aligned_short(aligned: pl.DataFrame, command: str | None) -> list[Block]:
    """Lay the short answer of ``align`` out: the first coefficient, once and averaged; others once.

    Examples
    --------
    >>> from judgerel_ray.analyses.ratings.tables import Alignments
    >>> aligned_short(Alignments.frame(), None)[0].text
    'nothing was rated that the reference rated, too'
    """
    every = [*aligned.iter_rows(named=True)]
    if not every:
        return short_blocks("nothing was rated that the reference rated, too", [], [])
    keys = aligned.columns[: aligned.columns.index("coefficient")]
    groups = groups_of(every, keys)
    parts: dict[str, dict[str, Row]] = {}
    for row in every:
        parts.setdefault(groups.of(row), {})[str(row["coefficient"])] = row
    names = [*dict.fromkeys(str(row["coefficient"]) for row in every)]
    rows = [{**next(iter(of.values())), "of": of} for of in parts.values()]
    first, *others = names
    head = _HEADS.get(first, first)
    columns: dict[str, Callable[[Row], str]] = {
        f"{head} [95 %]": lambda row: _single(row["of"].get(first)),
        "averaged [95 %]": lambda row: around(row["of"].get(first, row), "averaged"),
        "weighted": lambda row: number(row["weighted"]),
    }
    for name in others:
        columns[_HEADS.get(name, name)] = _number_of(name)
    reference = ", ".join(dict.fromkeys(cell(row["reference"]) for row in every))
    items = sorted({cast(int, row["n_items"]) for row in every})
    asked = " to ".join(f"{one:,}" for one in dict.fromkeys((items[0], items[-1])))
    meaning = (
        f"{head}: {COEFFICIENTS.get(first, first)} of one rating; averaged: of the mean of all; "
        "others of one rating"
    )
    return short_blocks(
        f"agreement of ratings with {reference}: {asked} questions{groups.shared}",
        [*short_table(rows, groups, columns, what="row"), Paragraph(meaning, kind="soft")],
        [one for row in every for one in _of_alignment(row, groups, first)],
        ("see how far the ratings repeat themselves", command),
        everyone=groups.labels.values(),
    )


def _number_of(name: str) -> Callable[[Row], str]:
    return lambda row: number((row["of"].get(name) or {}).get("single"))


def _single(row: Row | None) -> str:
    if row is None:
        return "-"
    return f"none: {reason(row['undefined'])}" if row["undefined"] else around(row, "single")


def _of_alignment(row: Row, groups: Groups, first: str) -> Iterator[Remark]:
    """What a coefficient lacks, and whether averaging buys anything."""
    who, name = groups.of(row), COEFFICIENTS.get(str(row["coefficient"]), str(row["coefficient"]))
    if row["undefined"]:
        text = f"no {name}: {reason(row['undefined'])}"
        severity = GRAVE if row["coefficient"] == first else WEAK
        yield Remark(text=text, who=who, severity=severity)
    elif row["coefficient"] == first and cast(float, row["single_low"] or 0) <= 0:
        text = "the interval includes 0: no agreement with the reference is shown"
        yield Remark(text=text, who=who, severity=HARMFUL)
    if row["coefficient"] == first and row["gain"] is not None:
        gains = row["gain_low"] is not None and cast(float, row["gain_low"]) > 0
        text = f"averaging adds {around(row, 'gain')}"
        text = text if gains else "averaging repeats: no gain is shown"
        yield Remark(text=text, who=who, severity=PLAIN, kind=f"gain {gains}")
    yield from findings_of_row(row, who)


def ranks_short(found: JudgeRanks, command: str | None) -> list[Block]:
    """Lay the short answer of ``rank`` out: a row a judge, a column a measure.

    Examples
    --------
    >>> ranks_short(JudgeRanks(), None)[0].text
    'no judge has a measure to rank by'
    """
    if found.ranks.is_empty():
        return short_blocks("no judge has a measure to rank by", [], [])
    rows: list[dict[str, object]] = []
    findings: list[Remark] = []
    heads: dict[str, None] = {}
    several = found.ranks["temperature"].n_unique() > 1
    for part in found.ranks.partition_by("temperature", maintain_order=True):
        named, lines = rank_cells(part, found.mean_ranks)
        heat = part["temperature"][0]
        heads |= dict.fromkeys(named[1:])
        for line in lines:
            cells = {head: text.removesuffix(_FEW) for head, text in zip(named, line, strict=True)}
            rows.append({"temperature": heat, **cells})
        who = f"temperature {cell(heat)}" if several else ""
        findings += _of_ranks(part, who)
        findings += [Remark(text=text, who=who, kind=text) for text in rank_sentences(part)]
    lines_of_pairs = map(agreement_line, found.agreements.iter_rows(named=True))
    findings += [Remark(text=text, kind="tau") for text in lines_of_pairs if text]
    groups = groups_of(rows, ["temperature", "judge"])
    columns = {head: (lambda row, head=head: str(row.get(head, "-"))) for head in heads}
    n = len({row["judge"] for row in rows})
    return short_blocks(
        f"{count_of(n, 'judge')} ranked, 1 is best, in brackets the ranks it may have"
        f"{groups.shared}",
        short_table(rows, groups, columns, what="row"),
        findings,
        ("see the measures themselves", command),
        everyone=groups.labels.values(),
    )


def _of_ranks(part: pl.DataFrame, at: str) -> Iterator[Remark]:
    """Whether any measure tells the best judge, and what ranks rest on."""
    for (name,), rows in part.group_by("measure", maintain_order=True):
        what = str(name).replace("_", " ")
        known = rows.filter(pl.col("rank").is_not_null())
        sure = known.filter((pl.col("high") == 1).fill_null(value=False))["judge"].to_list()
        if sure:
            yield Remark(text=f"{what}: {cell(sure[0])} is best", who=at, severity=PLAIN)
        elif known.height > 1:
            text = f"{what}: the best judge is not decided, ranks overlap"
            yield Remark(text=text, who=at, severity=HARMFUL)
        few = rows.filter(pl.col("few").fill_null(value=False))["judge"].to_list()
        if few:
            who = "all" if len(few) == rows.height else ", ".join(map(cell, few))
            text = f"{what}: fewer than 10 questions decide a comparison of {who}"
            yield Remark(text=text, who=at, severity=WEAK)
        for code, lacking in _lacking(rows):
            text = f"{what}: {', '.join(lacking)}: {explanation(reason(code))}"
            yield Remark(text=text, who=at, severity=WEAK)


def _lacking(rows: pl.DataFrame) -> Sequence[tuple[str, list[str]]]:
    """Judges by the code of what they lack."""
    found: dict[str, list[str]] = {}
    for row in rows.filter(pl.col("undefined").is_not_null()).iter_rows(named=True):
        found.setdefault(str(row["undefined"]), []).append(cell(row["judge"]))
    return [*found.items()]
