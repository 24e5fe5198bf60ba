"""The short answer of ``questions``: those that a person should look at first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import polars as pl

from judgerel_ray.blocks.blocks import Block, Column, Paragraph, Table
from judgerel_ray.blocks.short import GRAVE, PLAIN, WEAK, Remark, Row, groups_of, short_blocks
from judgerel_ray.blocks.words import cell, estimate, explanation, group_label, number, reason
from judgerel_ray.core import count_of

_SHOWN = 10
_MOST_COLUMNS = 2  # that name groups in columns of their own
_UNKNOWN = "no_gold"


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
    worst = sorted(every, key=_harm)
    shown = [row for row in worst if _is_wrong(row) or _differs(row)][:_SHOWN]
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
        *([[_accuracy(row) for row in shown]] if labelled else []),
        *([[_right(row) for row in shown]] if labelled else []),
    ]
    heads += ["item_id", "replies", "agreement"]
    heads += ["accuracy [95 %]", "most"] if labelled else []
    columns = [
        Column(head=head, cells=texts, is_number=True)
        for head, texts in zip(heads, cells, strict=True)
    ]
    table = Table("", columns, fits=True)
    left = sum(_is_wrong(row) or _differs(row) for row in every) - len(shown)
    more = f"{count_of(left, 'more question')} of that kind in --full; " if left else ""
    alike = [row for row in every if not _is_wrong(row) and not _differs(row)]
    rest = f"{more}{count_of(len(alike), 'question')} answered alike"
    if labelled:
        rest += f", {sum(row['accuracy'] == 1 for row in alike):,} of them known to be right"
    return short_blocks(
        _scope(every, len(groups.rows), groups.shared, is_judge=[*groups.varying] == ["judge"]),
        [*([table] if shown else []), Paragraph(rest, kind="soft")],
        _findings(every),
        ("see how far the judge agrees with itself", command),
    )


def _harm(row: Row) -> tuple[bool, float]:
    """Wrong ones first, then by agreement."""
    agreement = row["percent_agreement"]
    return not _is_wrong(row), cast(float, 2.0 if agreement is None else agreement)


def _is_wrong(row: Row) -> bool:
    """Whether most replies are wrong."""
    return row["majority_right"] is not None and cast(float, row["majority_right"]) < 0.5


def _differs(row: Row) -> bool:
    return row["percent_agreement"] is not None and cast(float, row["percent_agreement"]) < 1


def _accuracy(row: Row) -> str:
    if row["accuracy"] is None:
        return "-"
    return estimate({**row, "value": row["accuracy"], "undefined": None})


def _right(row: Row) -> str:
    """Whether most replies are right."""
    if row["majority_right"] is None:
        return "-"
    words = {0.0: "wrong", 1.0: "right"}
    return words.get(cast(float, row["majority_right"]), "tied")


def _scope(every: Sequence[Row], n_groups: int, shared: str, *, is_judge: bool) -> str:
    """Say of how many questions most replies are wrong, and how many have different replies."""
    n = len(every) // max(1, n_groups)
    who = f"{count_of(n_groups, 'judge' if is_judge else 'group')}, " if n_groups > 1 else ""
    each = " each" if n_groups > 1 and n * n_groups == len(every) else ""
    items = count_of(n if each or n_groups <= 1 else len(every), "question")
    replies = sum(cast(int, row["n_judgments"]) for row in every)
    wrong, differing = sum(map(_is_wrong, every)), sum(map(_differs, every))
    found = [f"{wrong:,} wrong"] if any(row["accuracy"] is not None for row in every) else []
    found.append(f"{differing:,} with different replies")
    asked = f"{who}{items}{each}{shared}: {count_of(replies, 'reply', 'replies')}"
    return f"{asked}; {', '.join(found)}"


def _findings(every: Sequence[Row]) -> Iterator[Remark]:
    """What the numbers lack, and what agreement means here."""
    lacking: dict[str, int] = {}
    for row in every:
        if row["undefined"] and not (
            row["undefined"] == _UNKNOWN and all(one["accuracy"] is None for one in every)
        ):
            lacking[str(row["undefined"])] = lacking.get(str(row["undefined"]), 0) + 1
    for code, n in lacking.items():
        text = f"{count_of(n, 'question')}: {explanation(reason(code))}"
        yield Remark(text=text, severity=WEAK if n < len(every) else GRAVE)
    if all(row["accuracy"] is None for row in every):
        yield Remark(text="no right verdicts are known: --labels FILE or a column gold has them",
                      severity=WEAK)  # fmt: skip
    yield Remark(
        text="agreement: of replies to the same prompt; a judge that goes by position has it high",
        severity=PLAIN,
    )
