"""Serving noise, for terminal and page: never among what a judge's sampling varies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import polars as pl

from judgerel_ray.blocks.blocks import Block, Paragraph, Section, Table, row_columns
from judgerel_ray.blocks.short import (
    HARMFUL,
    Remark,
    findings_of_row,
    groups_of,
    named,
    short_blocks,
    short_table,
)
from judgerel_ray.blocks.words import Row, cell, group_columns, group_label, rows_by_group, times
from judgerel_ray.core import count_of

if TYPE_CHECKING:
    from judgerel_ray.measuring.page_data import PageData

_WAYS = {
    "key": "Requests with the same key have the same seed, so a server that repeats itself returns "
    "the same text. ",
    "prompt": "Matched by prompt: the judge's settings gave it other keys and seeds, so only "
    "temperature 0 is compared. ",
}
_APART = "None of this is in the differences above."


def serving_blocks(serving: pl.DataFrame | None) -> list[Block]:
    """Say how often temperature 0, asked again, was answered otherwise: a paragraph a group.

    Examples
    --------
    >>> from judgerel_ray.measuring.serving import serving_noise
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...                      "temperature": [0.0] * 4, "verdict": ["A", "A", "B", "A"]})
    >>> print(serving_blocks(serving_noise(rows, groups=["temperature"]))[0].text)
    Serving noise (temperature 0, 2 questions asked up to 2 times): two replies to one prompt \
differ in verdict 50 % of the time [0.63 %, 99.4 %]; questions that ever differ: 1 in verdict. \
This is not sampling variation, and no number of another temperature includes it.
    """
    if serving is None or serving.is_empty():
        return []
    columns = group_columns(serving)
    groups = rows_by_group(serving, columns).values()
    varying = [name for name in columns if name == "judge" or serving[name].n_unique() > 1]
    by_name = [{str(row["coefficient"]): row for row in rows} for rows in groups]
    return [Paragraph(_serving_group_sentence(rows, varying)) for rows in by_name]


def serving_short(serving: pl.DataFrame, command: str | None) -> list[Block]:
    """Lay serving noise out, a row a group.

    Examples
    --------
    >>> from judgerel_ray.measuring.serving import serving_noise
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...                      "temperature": [0.0] * 4, "verdict": ["A", "A", "B", "A"]})
    >>> serving_short(serving_noise(rows, groups=["temperature"]), None)[0].text
    'serving noise: replies to one prompt at temperature 0, 2 questions'
    """
    every = [*serving.iter_rows(named=True)]
    if not every:
        return short_blocks("serving noise: nothing was asked twice at temperature 0", [], [])
    names = [name for name in group_columns(serving) if name != "temperature"]
    groups = groups_of(every, names)
    parts: dict[str, dict[str, Row]] = {}
    for row in every:
        parts.setdefault(groups.of(row), {})[str(row["coefficient"])] = row
    rows: list[Row] = [{**next(iter(of.values())), "of": of} for of in parts.values()]
    heads = {
        "verdicts differ": "serving_noise", "texts differ": "serving_noise_texts",
        "questions, verdict": "serving_noise_questions",
        "questions, text": "serving_noise_text_questions",
    }  # fmt: skip
    columns = {head: _serving_share_cell(name) for head, name in heads.items()}
    differing = [row for row in every if row["value"]]
    findings = [
        *(
            one
            for row in every
            for one in findings_of_row({**row, "flags": [], "flag_numbers": []}, groups.of(row))
        ),
        Remark(text="this is no sampling variation; no number of another temperature has it"),
    ]
    if differing:
        who = named(groups.of(row) for row in differing)
        text = "the server does not repeat itself: a judge cannot be steadier than that"
        findings.append(Remark(text=text, who=who, severity=HARMFUL))
    items = sorted({cast(int, row["n_items"]) for row in every})
    asked = " to ".join(f"{one:,}" for one in dict.fromkeys((items[0], items[-1])))
    return short_blocks(
        f"serving noise: replies to one prompt at temperature 0, {asked} questions{groups.shared}",
        short_table(rows, groups, columns),
        findings,
        ("see the judge's own steadiness", command),
        everyone=groups.labels.values(),
    )


def _serving_share_cell(name: str) -> Callable[[Row], str]:
    def write(row: Row) -> str:
        of = cast(Mapping[str, Row], row["of"]).get(name)
        return "-" if of is None or of["value"] is None else share_words(of)

    return write


def serving_on_page(measured: PageData, _options: object) -> list[Block]:
    """Make the page's section on serving noise."""
    from judgerel_ray.measuring.serving import serving_of

    blocks = serving_blocks(serving_of(measured.judged, measured.coefficients))
    return [Section("Serving noise", blocks, place="serving")]


def shared_blocks(
    rows: pl.DataFrame, settings: Mapping[str, Sequence[str]], names: tuple[str, str]
) -> list[Block]:
    """Say how often requests that two runs share were answered otherwise.

    Examples
    --------
    >>> from judgerel_ray.measuring.tables import RequestsDiffering
    >>> row = {"judge": "j", "temperature": 0.0, "matched": "key", "n_requests": 128,
    ...        "n_items": 16, "what": "texts", "n_differing": 3, "value": 3 / 128, "low": 0.001,
    ...        "high": 0.25, "n_items_differing": 2, "estimator": ""}
    >>> table, engines, *_ = shared_blocks(RequestsDiffering.frame([row]),
    ...                                    {"j": ["max_num_seqs 1 against 64"]}, ("a", "b"))
    >>> print(table.caption)
    Serving noise: 128 requests asked in both a and b
    >>> print(engines.text)
    Engines of j differ in max_num_seqs 1 against 64.
    """
    keys = ["judge", "temperature", "matched"]
    first = rows.unique(keys, keep="first", maintain_order=True)
    heads = ["judge", "temperature", "matched by", "other", "share [95 %]", "requests", "questions"]
    lines = [
        [
            cell(row["judge"]),
            cell(row["temperature"]),
            cell(row["matched"]),
            cell(row["what"]),
            share_words(row),
            f"{row['n_differing']:,} of {row['n_requests']:,}",
            f"{row['n_items_differing']:,} of {row['n_items']:,}",
        ]
        for row in rows.iter_rows(named=True)
    ]
    n, ways = int(first["n_requests"].sum()), sorted(set(rows["matched"]))
    caption = f"Serving noise: {count_of(n, 'request')} asked in both {names[0]} and {names[1]}"
    return [
        Table(caption, row_columns(heads, lines, words=heads[:4]), cards=True),
        *(Paragraph(line) for line in _differing_serving_engines(settings)),
        Paragraph("".join([*(_WAYS[way] for way in ways), _APART])),
    ]


def _differing_serving_engines(settings: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What is known to differ between the engines of each judge."""
    for judge, differing in settings.items():
        if differing:
            yield f"Engines of {judge} differ in {'; '.join(differing)}."
        else:
            yield f"Engines of {judge} differ in nothing that is recorded."


def _serving_group_sentence(rows: Mapping[str, Row], varying: Sequence[str]) -> str:
    """One group in a sentence or two."""
    first = next(iter(rows.values()))
    who = group_label(first, [name for name in varying if name != "temperature"])
    n = cast(int, first["n_items"])
    often = times(first["n_replications"])
    head = f"temperature 0, {count_of(n, 'question')} asked up to {often}"
    pairs = [
        f"in {what} {share_words(row, ' of the time')}"
        for name, what in (("serving_noise", "verdict"), ("serving_noise_texts", "text"))
        if (row := rows.get(name))
    ]
    ever = [
        f"{round(cast(float, row['value']) * n):,} in {what}"
        for name, what in (
            ("serving_noise_questions", "verdict"),
            ("serving_noise_text_questions", "text"),
        )
        if (row := rows.get(name))
    ]
    clauses = [f"two replies to one prompt differ {', '.join(pairs)}"] if pairs else []
    clauses += [f"questions that ever differ: {', '.join(ever)}"] if ever else []
    return (
        f"Serving noise{f' of {who}' if who else ''} ({head}): {'; '.join(clauses)}. This is "
        "not sampling variation, and no number of another temperature includes it."
    )


def share_words(row: Row, words: str = "") -> str:
    """Write a share with its interval, small ones kept apart from nothing.

    Examples
    --------
    >>> share_words({"value": 0.025, "low": 0.001, "high": 0.25})
    '2.5 % [0.1 %, 25 %]'
    """
    ends = (
        ""
        if row["low"] is None
        else f" [{_serving_share_in_percent(row['low'])}, {_serving_share_in_percent(row['high'])}]"
    )
    return f"{_serving_share_in_percent(row['value'])}{words}{ends}"


def _serving_share_in_percent(value: object) -> str:
    """A share in percent, to two figures that matter."""
    share = 100 * cast(float, value)
    return f"{share:.0f} %" if share in (0, 100) else f"{share:.{2 if share < 1 else 3}g} %"
