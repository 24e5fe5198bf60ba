"""Tables of replies, unstable questions and answers, each from one frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import cast

import polars as pl

from judgerel_ray.core import OUTCOMES
from judgerel_ray.report.markup import Column, counts, key_columns, paragraph, table
from judgerel_ray.report.words import (
    Row,
    cell,
    number,
    percent,
)

Questions = Mapping[tuple[str, str], str]
"""Texts of questions by benchmark and item_id."""
_LONGEST_QUESTION = 160


def outcome_section(outcomes: pl.DataFrame) -> str:
    """Tabulate what became of the requests; outcomes that never occurred are left out.

    Examples
    --------
    >>> from judgerel_ray.reduce import outcome_table
    >>> rows = pl.LazyFrame({"item_id": ["q", "r"], "verdict": ["A", None]})
    >>> "unparsed" in outcome_section(outcome_table(rows))
    True
    """
    rows = outcomes.to_dicts()
    seen = [name for name in OUTCOMES if name == "scored" or outcomes[name].sum()]
    names = outcomes.columns[: outcomes.columns.index("n_items")]
    columns = [
        *key_columns(rows, names),
        Column(head="questions", cells=[f"{row['n_items']:,}" for row in rows], is_number=True),
        Column(
            head="replies",
            cells=[f"{row['n_landed'] - row['failed']:,}" for row in rows],
            is_number=True,
        ),
        *(
            Column(
                head=name.replace("_", " "),
                cells=[f"{row[name]:,}" for row in rows],
                small=[
                    _part(row[name], row["n_landed"] - (0 if name == "failed" else row["failed"]))
                    for row in rows
                ],
                is_number=True,
            )
            for name in seen
        ),
    ]
    return table(_counted("failed" in seen), columns)


def _counted(some_failed: bool) -> str:
    """What the table of outcomes counts, and what its shares are of."""
    text = "Outcome of every reply, counted, with shares of the replies"
    return f"{text}; failed requests with their share of all that landed" if some_failed else text


def _part(n: int, whole: int) -> str:
    """A share in percent, where it is some and not all."""
    return percent(n / whole) if 0 < n < whole else ""


def unstable_section(
    unstable: pl.DataFrame, groups: Sequence[str], questions: Questions | None = None
) -> str:
    """Tabulate the questions whose replications agree least, with what they said.

    Where `questions` has their texts, these name them, and their ids stand small beside.

    Examples
    --------
    >>> from judgerel_ray.reduce import least_stable
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "A"]})
    >>> unstable_section(least_stable(rows), [])
    '<p>No question that was asked twice got two different verdicts.</p>'
    """
    rows = unstable.filter(pl.col("agreement") < 1).to_dicts()
    if not rows:
        return paragraph("No question that was asked twice got two different verdicts.")
    told = unstable.columns[: unstable.columns.index("agreement")]
    # Facets that say nothing, or the same everywhere, would only widen the table.
    names = [
        name
        for name in told
        if name == "item_id" or (name in groups or unstable[name].n_unique() > 1)
    ]
    columns = [
        *_named(rows, names, questions or {}),
        Column(
            head="pairs that agree", cells=[percent(row["agreement"]) for row in rows],
            is_number=True,
        ),
        Column(head="replies", cells=[f"{row['n_replications']:,}" for row in rows],
               is_number=True),
        Column(head="verdicts", cells=[_verdicts(row) for row in rows], kind="prose"),
    ]  # fmt: skip
    return table("Questions by the share of agreeing pairs of replications", columns)


def _named(rows: Sequence[Row], names: Sequence[str], questions: Questions) -> list[Column]:
    """What names every row; a question by its text, where that is known."""
    keys = {name: column for name, column in zip(names, key_columns(rows, names), strict=True)}
    texts = [question_text(row, questions) for row in rows]
    if any(texts):
        ids = keys["item_id"].cells
        keys["item_id"] = Column(
            head="question",
            cells=[text or one for text, one in zip(texts, ids, strict=True)],
            small=[one if text else "" for text, one in zip(texts, ids, strict=True)],
            kind="prose",
        )
    return list(keys.values())


def question_text(row: Row, questions: Questions) -> str:
    """The text of a row's question, cut to a length that a table holds; nothing where unknown.

    Examples
    --------
    >>> question_text({"benchmark": "b", "item_id": "q1"}, {("b", "q1"): "Which is  larger?"})
    'Which is larger?'
    """
    text = questions.get((str(row.get("benchmark")), str(row["item_id"])), "")
    return shorten(text, _LONGEST_QUESTION, placeholder=" …")


def _verdicts(row: Row) -> str:
    """What the replications said, the most frequent first."""
    shares = cast("list[dict[str, object]]", row["verdicts"])
    return ", ".join(f"{share['value']} {percent(share['share'])}" for share in shares)


def answer_section(answers: pl.DataFrame | None) -> str:
    """Tabulate candidate answers that responders wrote.

    Parameters
    ----------
    answers : pl.DataFrame, optional
        ``judge``, ``benchmark``, ``stage``, ``temperature``, ``questions``, ``answers`` and
        ``tokens`` (mean of the new ones).

    Examples
    --------
    >>> answer_section(None)
    ''
    """
    if answers is None or answers.is_empty():
        return ""
    rows = answers.to_dicts()
    heads: Mapping[str, str] = {"judge": "written by"}
    names = [name for name in answers.columns if name not in ("questions", "answers", "tokens")]
    columns = [
        *(
            Column(head=heads.get(name, name), cells=[cell(row[name]) for row in rows])
            for name in names
        ),
        counts("questions", [row["questions"] for row in rows]),
        counts("answers", [row["answers"] for row in rows]),
        Column(
            head="new tokens each (mean)",
            cells=[number(row["tokens"], 1) for row in rows],
            is_number=True,
        ),
    ]
    return table("Candidate answers that landed", columns)
