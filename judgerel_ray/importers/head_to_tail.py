"""The Head-to-Tail judgments released with Schroeder and Wood-Doughty (2024): their application."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TypeGuard

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError
from judgerel_ray.counting.source import unreadable

HEAD_TO_TAIL = "head_to_tail"
TABLE = ("question", "replication", "verdict_text")
"""Columns by which a table of these judgments is known."""
TEMPERATURE = 0.75
"""At which all of them were asked, by the authors' script."""
_NAMED = re.compile(r"judge_full_(?P<judge>.+?)_by_(?P<responder>.+)\.json")


def is_application(document: object) -> TypeGuard[Mapping[str, object]]:
    """Tell a released file of the application, ``{question: [text, ...]}``, from the others.

    Examples
    --------
    >>> is_application({"Who?": ["correct"]}), is_application({"judge": {"temperature: 1": {}}})
    (True, False)
    """
    first = next(iter(document.values()), None) if isinstance(document, Mapping) else None
    return isinstance(first, list) and bool(first)


def application_rows(
    document: Mapping[str, object], place: str
) -> Iterator[tuple[str | None, float, str, str, int, str, str | None]]:
    """Read the rows of one released file of the application.

    Yields
    ------
    tuple
        Judge and responder as the file's name has them (the first ``_`` was a ``/``).

    Raises
    ------
    SweepError
        If a question holds no list of texts.

    Examples
    --------
    >>> rows = application_rows({"Who?": ["correct"]}, "judge_full_lab_j_by_lab_r.json")
    >>> next(rows)
    ('lab/j', 0.75, 'Who?', 'head_to_tail', 0, 'correct', 'lab/r')
    """
    named = _NAMED.fullmatch(PurePosixPath(place.rpartition(":")[2]).name)
    judge, responder = (
        named[part].replace("_", "/", 1) if named else None for part in ("judge", "responder")
    )
    for question, texts in document.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise SweepError(
                "a question must hold a list of texts, one a replication",
                where={"file": place, "question": question},
            )
        for replication, text in enumerate(texts):
            yield judge, TEMPERATURE, question, HEAD_TO_TAIL, replication, text, responder


def application_table(table: pl.DataFrame, path: str) -> pl.DataFrame:
    """Give a table of the application the columns of the others.

    Parameters
    ----------
    table : pl.DataFrame
        With the columns of `TABLE`; judge, temperature and responder are used where they are there.
    path : str
        Where it was read, for errors.

    Returns
    -------
    pl.DataFrame
        Every row's question_id is its question.

    Raises
    ------
    SweepError
        If a column has another kind.

    Examples
    --------
    >>> told = pl.DataFrame({"question": ["Who?"], "replication": [0], "verdict_text": ["correct"]})
    >>> application_table(told, "t.parquet").select("question_id", "temperature").row(0)
    ('Who?', 0.75)
    """
    names = table.columns

    def given(name: str) -> pl.Expr:
        return pl.col(name).cast(pl.String) if name in names else pl.lit(None, pl.String)

    try:
        return table.select(
            given("judge").alias("judge"),
            given("temperature").cast(pl.Float64).fill_null(TEMPERATURE).alias("temperature"),
            given("question").alias("question_id"),
            pl.lit(HEAD_TO_TAIL).alias("benchmark"),
            given("replication").cast(pl.Float64).alias("replication"),
            given("verdict_text").alias("text"),
            given("responder").alias("responder"),
        )
    except PolarsError as error:
        raise unreadable(path, error) from error
