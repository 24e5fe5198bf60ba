"""From logs of any format to one table of judgments: formats known, repeats numbered."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from glob import glob, has_magic

import polars as pl

from judgerel_ray.core import Outcome, ReadingWarning, SweepError
from judgerel_ray.core.files import PACKED
from judgerel_ray.core.text import nearest_name
from judgerel_ray.counting.columns import N_ANSWERS
from judgerel_ray.importers.logs.apps import DEEPEVAL, LANGFUSE, MLFLOW, OPENTELEMETRY, PROMPTFOO
from judgerel_ray.importers.logs.graders import (
    ALPACA_EVAL,
    ARENA_HARD,
    BIGGEN,
    EVALASSIST,
    FASTCHAT,
    PROMETHEUS,
    UNITXT,
)
from judgerel_ray.importers.logs.harnesses import BATCH, INSPECT, LM_EVAL
from judgerel_ray.importers.logs.reading import (
    NOBODY,
    PEOPLE,
    UNNAMED,
    LogFormat,
    LogRow,
    refused,
    sight,
)

AUTO = "auto"
LOG_FORMATS: Mapping[str, LogFormat] = {
    "promptfoo": PROMPTFOO,
    "inspect": INSPECT,
    "deepeval": DEEPEVAL,
    "mlflow": MLFLOW,
    "langfuse": LANGFUSE,
    "lm_eval": LM_EVAL,
    "fastchat": FASTCHAT,
    "arena_hard": ARENA_HARD,
    "alpaca_eval": ALPACA_EVAL,
    "opentelemetry": OPENTELEMETRY,
    "batch": BATCH,
    "prometheus": PROMETHEUS,
    "biggen": BIGGEN,
    "unitxt": UNITXT,
    "evalassist": EVALASSIST,
}
"""Formats of logs by name."""

_KINDS: Mapping[str, pl.DataType] = {
    "score": pl.Float64(), "temperature": pl.Float64(), "option_order": pl.Int64(),
    "n_options": pl.Int64(), "out_of": pl.Float64(),
}  # fmt: skip
_TEXTS = ("answer", "question", "reply", "prompt", "reference", "context")
_COLUMNS = tuple(one.name for one in fields(LogRow) if one.name not in _TEXTS)
_RESULT_COLUMNS = ("verdict", "score", "out_of", "outcome", "label", "gold", "n_options")
_KEY = [name for name in _COLUMNS if name not in _RESULT_COLUMNS]
_ANSWER = "answer_digest"
_AT_ONCE = 50_000
_ENDINGS = (".json", ".jsonl", ".ndjson", ".eval", *PACKED)


def detect_log_format(path: str) -> str:
    """Name the format of a log by its first bytes."""
    with refused(path):
        seen = sight(path)
        found = [name for name, one in LOG_FORMATS.items() if one.known(seen)]
    if len(found) != 1:
        what = f"may be {' or '.join(found)}" if found else f"is none of {', '.join(LOG_FORMATS)}"
        raise SweepError(
            f"the log {what}",
            where={"file": path},
            hint="name the format, or judgerel import table with --column",
        )
    return found[0]


def log_rows(format_name: str, path: str) -> Iterator[LogRow]:
    """Read the judgments of one log with their texts, and its answers that nobody judged."""
    if format_name == AUTO:
        format_name = detect_log_format(path)
    if format_name not in LOG_FORMATS:
        raise SweepError(
            f"unknown format {format_name!r}, expected one of {', '.join(LOG_FORMATS)}",
            hint=nearest_name(format_name, LOG_FORMATS),
        )
    found = LOG_FORMATS[format_name]
    with refused(path, f"a record is none of {format_name}") as progress:
        if not found.known(sight(path)):
            what = f"the file is no log of {format_name}"
            raise SweepError(what, where={"file": path}, hint=AUTO)
        yield from found.read(path)
    for note in progress.notes():
        warnings.warn(ReadingWarning(f"{note} [{path}]"), stacklevel=2)


def import_logs(
    format_name: str, paths: Sequence[str], *, judge: str | None = None
) -> pl.DataFrame:
    """Read logs as one table of judgments.

    Parameters
    ----------
    format_name : str
        A name of `LOG_FORMATS`, or ``auto``: by the begin of each file.
    paths : sequence of str
        Files, folders of them, or patterns.
    judge : str, optional
        What judges are called whom a log does not name.

    Returns
    -------
    pl.DataFrame
        One row a judgment, with ``replication`` numbered from 0 among rows alike in all facets;
        ``n_answers`` is there where repeats of any item judge other answers, too.

    Raises
    ------
    SweepError
        If a file cannot be read, is given twice, or holds no judgment.

    Warns
    -----
    ReadingWarning
        Where repeats are of other answers too, and of rows of people beside those of judges.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> choice = {"message": {"content": "Verdict: B"}}
    >>> line = {"custom_id": "q1", "response": {"body": {"model": "j", "choices": [choice] * 2}}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "output.jsonl")
    ...     _ = file.write_text(json.dumps(line))
    ...     import_logs("auto", [str(file)]).rows()
    [('q1', 'j', 'B', 0), ('q1', 'j', 'B', 1)]
    """
    files = log_files(paths)
    parts: list[pl.DataFrame] = []
    asked_again: dict[str, None] = {}
    for file in files:
        name = detect_log_format(file) if format_name == AUTO else format_name
        parts += _log_row_tables(log_rows(name, file))
        if name in LOG_FORMATS and LOG_FORMATS[name].asks_again:
            asked_again[f"{name} {LOG_FORMATS[name].asks_again}"] = None
    if not parts:
        raise SweepError(
            "no judgment by a model or a person is in it",
            where={"path": ", ".join(files[:3])},
            hint="judgerel items log PATH --out items.parquet, to have answers in it judged",
        )
    rows = pl.concat(parts)
    if not rows["item_id"].str.len_chars().min():
        raise SweepError("a judgment names no item", where={"path": ", ".join(files[:3])})
    if judge is not None:
        rows = rows.with_columns(pl.col("judge").replace(UNNAMED, judge))
    else:
        rows = _failures_named(rows)
    if _warn_of_log_rows(rows, tuple(asked_again)):
        rows = rows.with_columns(pl.col(_ANSWER).n_unique().over(_KEY).alias(N_ANSWERS))
    return numbered(rows.drop(_ANSWER))


def numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """Number repeats, and leave out columns that hold nothing."""
    key = [name for name in _KEY if name in rows.columns]
    counted = pl.int_range(pl.len(), dtype=pl.Int64).over(key).alias("replication")
    held = [name for name in rows.columns if rows[name].null_count() < rows.height]
    if "verdict" in rows.columns and not {"verdict", "score"} & {*held}:
        held.append("verdict")  # no judgment holds one, which is for who measures to say
    return rows.with_columns(counted).select(*held, "replication")


def _failures_named(rows: pl.DataFrame) -> pl.DataFrame:
    """Give failures, whose records name no judge, to the only judge of the log.

    Beside a judge of their own they would leave its share of valid verdicts too high.
    """
    named = set(rows["judge"].unique()) - {UNNAMED, PEOPLE}
    outcomes = rows.filter(pl.col("judge") == UNNAMED)["outcome"]
    if len(named) != 1 or not outcomes.eq_missing("failed").all():
        return rows
    return rows.with_columns(pl.col("judge").replace(UNNAMED, named.pop()))


def log_files(paths: Sequence[str]) -> list[str]:
    """Files of paths, folders and patterns, none twice."""
    files: list[str] = []
    for path in paths:
        if "://" in path or os.path.isfile(path):
            files.append(path)
            continue
        pattern = path
        if os.path.isdir(path):
            pattern = os.path.join(path, "**", "*")
        elif not has_magic(path):
            raise SweepError("no such file", where={"file": path})
        found = sorted(one for one in glob(pattern, recursive=True) if os.path.isfile(one))
        found = [one for one in found if one.endswith(_ENDINGS)] if pattern != path else found
        if not found:
            raise SweepError("no file is there", where={"path": path})
        files += found
    seen: dict[tuple[int, str], str] = {}
    sizes = [os.path.getsize(file) if "://" not in file else -1 for file in files]
    for file, size in zip(files, sizes, strict=True):
        if size < 0 or sizes.count(size) == 1:
            continue
        with open(file, "rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        if (size, digest) in seen:
            raise SweepError(
                "two files hold the same, so that its judgments would count twice",
                where={"file": file, "other": seen[size, digest]},
                hint="leave one out",
            )
        seen[size, digest] = file
    return files


def _log_row_tables(rows: Iterable[LogRow]) -> Iterator[pl.DataFrame]:
    """Judgments as tables of so many, without their texts."""
    schema = {name: _KINDS.get(name, pl.String()) for name in _COLUMNS} | {_ANSWER: pl.UInt64()}
    held: list[tuple[object, ...]] = []
    for row in rows:
        if row.judge == NOBODY:
            continue
        stated = None if row.answer is None else hash(row.answer) % 2**64
        held.append((*(getattr(row, name) for name in _COLUMNS), stated))
        if len(held) == _AT_ONCE:
            yield pl.DataFrame(held, schema=schema, orient="row")
            held = []
    if held:
        yield pl.DataFrame(held, schema=schema, orient="row")


def outcomes_of(rows: pl.DataFrame) -> dict[str, int]:
    """Count judgments by outcome, the most first; those that hold nothing are unparsed."""
    held = [pl.col(name).is_not_null() for name in ("verdict", "score") if name in rows.columns]
    read = pl.when(pl.any_horizontal(held)).then(pl.lit("scored")).otherwise(pl.lit("unparsed"))
    outcome = [pl.col("outcome").cast(pl.String)] if "outcome" in rows.columns else []
    counted = rows.select(pl.coalesce(*outcome, read).alias("outcome")).to_series().value_counts()
    return dict(counted.sort("count", "outcome", descending=[True, False]).rows())


def _warn_of_log_rows(rows: pl.DataFrame, asked_again: tuple[str, ...]) -> bool:
    """Say what a reader of the numbers must know, and whether repeats judge other answers."""
    judged = rows.filter(pl.col("judge") != PEOPLE)
    repeated = judged.group_by(_KEY).agg(pl.len(), pl.col(_ANSWER).n_unique().alias("answers"))
    repeated = repeated.filter(pl.col("len") > 1)
    other = repeated.filter(pl.col("answers") > 1).height
    notes = []
    if other:
        again = f" ({', '.join(asked_again)} ask the model again)" if asked_again else ""
        notes.append(
            f"{other} of {repeated.height} items judged more than once hold another answer each "
            f"time{again}: there the model's variance and the judge's are together; judgerel items "
            "log PATH --out items.parquet keeps the answers, so that a sweep judges each again"
        )
    if people := rows.height - judged.height:
        notes.append(f"{people} ratings by people are rows of the judge {PEOPLE}")
    lost = {name: n for name, n in outcomes_of(judged).items() if name != Outcome.SCORED}
    if lost:
        counts = ", ".join(f"{n} {name}" for name, n in sorted(lost.items()))
        notes.append(f"no verdict of a judge: {counts}")
    for note in notes:
        warnings.warn(ReadingWarning(note), stacklevel=3)
    return other > 0
