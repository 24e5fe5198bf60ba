"""Tables that promptfoo exports: an answer a cell, its verdict in the cell or beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from judgerel_ray.core import Outcome
from judgerel_ray.counting.files.source import Source

_ANSWERS = re.compile(r"(?s)\[([^\]]+)\] ?(.*)")
"""The name of a column of answers: who answered, and which prompt."""
_MARK = r"^\s*\[(PASS|FAIL|ERROR)\]"
_STATUS = re.compile(r"Status(\.\d+)?")
_WORD = pl.col("__word").str.to_lowercase()


def graded_cells(source: Source) -> Source:
    """The rows with a row for each graded answer, where columns are of answers that are graded.

    Examples
    --------
    >>> rows = pl.LazyFrame({"city": ["Rome"], "[gpt-4o] Where?": ["[PASS] (1.00) Italy"]})
    >>> found = graded_cells(Source(rows=rows)).rows.collect()
    >>> found.select("item_id", "responder", "verdict", "outcome").rows()
    [('Rome', 'gpt-4o', 'pass', 'scored')]
    """
    names = source.rows.collect_schema().names()
    answers = {name: found for name in names if (found := _ANSWERS.fullmatch(name))}
    if not answers:
        return source
    table = source.rows.collect(engine="streaming")
    words = _words_on_graded_answers(table, answers)
    if words is None:
        return source
    before = names[: names.index(next(iter(answers)))]
    labels = {found[2] for found in answers.values()}
    item = pl.concat_str(pl.col(before).cast(pl.String), separator=":", ignore_nulls=True)
    parts = [
        table.select(
            *before,
            *([] if "item_id" in before or not before else [item.alias("item_id")]),
            pl.lit(found[1] if len(labels) == 1 else name).alias("responder"),
            words[name].alias("__word"),
        )
        for name, found in answers.items()
    ]
    rows = pl.concat(parts).drop_nulls("__word").with_columns(
        pl.when(pl.col("__word") != "ERROR").then(_WORD).alias("verdict"),
        pl.when(pl.col("__word") == "ERROR").then(pl.lit(Outcome.FAILED.value))
        .otherwise(pl.lit(Outcome.SCORED.value)).alias("outcome"),
    )  # fmt: skip
    note = (
        f"read the answers that promptfoo graded: {', '.join(before) or 'no column'} as item_id; "
        f"{'who answered' if len(labels) == 1 else 'who answered which prompt'} as responder; PASS "
        "and FAIL as verdict of all graders together; repeats are of answers and graders together"
    )
    notes = (*source.notes, note)
    return replace(source, rows=rows.drop("__word").lazy(), notes=notes, indexed=False)


def _words_on_graded_answers(
    table: pl.DataFrame, answers: Mapping[str, re.Match[str]]
) -> dict[str, pl.Series] | None:
    """What is said of each answer; None where any column of answers says nothing."""
    found = {}
    for name in answers:
        beside = _status_of(name, table.columns, answers)
        cells = table[name if beside is None else beside].cast(pl.String)
        words = cells.str.extract(_MARK if beside is None else r"^\s*(PASS|FAIL|ERROR)\s*$")
        if not words.is_not_null().any() or (words.is_null() & cells.is_not_null()).any():
            return None
        found[name] = words
    return found


def _status_of(
    name: str, columns: Sequence[str], answers: Mapping[str, re.Match[str]]
) -> str | None:
    """The column of the verdict on an answer, which stands between it and the next answer."""
    for one in columns[columns.index(name) + 1 :]:
        if one in answers:
            return None
        if _STATUS.fullmatch(one):
            return one
    return None
