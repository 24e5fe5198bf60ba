"""Judgments people hold: Parquet, CSV and JSONL files, read as they are or refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import OUTCOMES, Outcome, SweepError
from judgerel_ray.reduce.grouping import FACETS

_STRINGS = (
    "key", "judge", "judge_fingerprint", "benchmark", "item_id", "protocol", "stage", "role",
    "responder", "criterion", "definition", "scale", "template", "verdict", "label", "outcome",
    "finish_reason",
)  # fmt: skip
_WHOLE = ("replication", "block", "option_order", "top_k")
_NUMBERS = (*_WHOLE, "top_p", "temperature", "score", "confidence")


def load_judgments(path: str) -> pl.LazyFrame:
    r"""Read a file of judgments.

    Parameters
    ----------
    path : str
        A ``.parquet``, ``.csv``, ``.jsonl`` or ``.ndjson`` file, local or at a URL. It needs the
        columns item_id, replication, and verdict or score; all columns of the judgments table are
        used when they are there, others are kept. An empty string is no value.

    Returns
    -------
    pl.LazyFrame
        The judgments with their types set and an ``outcome``: where the file has none, a row
        without verdict and score is ``unparsed``.

    Raises
    ------
    SweepError
        If the file cannot be read or has no rows, a column is missing or of another kind, an item
        or replication is null, an outcome is unknown or at odds with the verdict, a number is out
        of its range, or two rows hold the same replication of the same unit.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("item_id,replication,verdict\nq1,0,A\nq1,1,\n")
    ...     file.flush()
    ...     load_judgments(file.name).select("item_id", "outcome").collect().rows()
    [('q1', 'scored'), ('q1', 'unparsed')]
    """
    try:
        frame = _scan(path)
        columns = frame.collect_schema().names()
        _require_columns(columns, path)
        typed = frame.with_columns(_typed(frame.collect_schema()))
        typed = _with_outcome(typed, columns)
        _check_rows(typed, columns, path)
    except (PolarsError, OSError) as error:
        line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SweepError(f"cannot read judgments: {line}", where={"file": path}) from error
    return typed.cast({name: pl.Int64 for name in _WHOLE if name in columns})


def _scan(path: str) -> pl.LazyFrame:
    """The file, lazily, by its ending."""
    if "://" not in path:
        if Path(path).is_dir():
            raise SweepError(
                "expected a file of judgments, got a folder that is no run directory",
                where={"path": path},
            )
        if not Path(path).exists():
            raise SweepError("no such file of judgments", where={"path": path})
    readers: dict[str, Callable[[str], pl.LazyFrame]] = {
        "parquet": lambda source: pl.scan_parquet(source, glob=False),
        "csv": _scan_csv,
        "jsonl": lambda source: pl.scan_ndjson(source, infer_schema_length=None),
        "ndjson": lambda source: pl.scan_ndjson(source, infer_schema_length=None),
    }
    ending = path.rpartition(".")[2].lower()
    if ending not in readers:
        raise SweepError(
            f"unknown kind of file, expected .parquet, .csv, .jsonl or .ndjson, got .{ending}",
            where={"path": path},
        )
    return readers[ending](path)


def _scan_csv(path: str) -> pl.LazyFrame:
    """A CSV file as text; types come from the names of the columns, never from the first rows."""
    return pl.scan_csv(path, infer_schema=False, glob=False)


def _require_columns(columns: list[str], path: str) -> None:
    """The columns without which there is no reliability."""
    lacking = [name for name in ("item_id", "replication") if name not in columns]
    if "verdict" not in columns and "score" not in columns:
        lacking.append("verdict or score")
    if lacking:
        raise SweepError(
            f"column missing: {', '.join(lacking)}; got {', '.join(columns)}", where={"file": path}
        )


def _typed(schema: pl.Schema) -> list[pl.Expr]:
    """Each known column in its own type; empty strings and NaN become null."""
    columns = []
    for name, kind in schema.items():
        column = pl.col(name)
        text = column.cast(pl.String)
        if name in _STRINGS:
            columns.append(pl.when(text != "").then(text).alias(name))
        elif name in _NUMBERS:
            if kind == pl.String:
                column = pl.when(text.str.strip_chars() != "").then(text.str.strip_chars())
            number = column.cast(pl.Float64)
            # 0.7 in single precision is 0.699999988: not the temperature anyone asked for.
            number = (number.round(6) if kind == pl.Float32 else number).fill_nan(None)
            columns.append(number.alias(name))
    return columns


def _with_outcome(frame: pl.LazyFrame, columns: list[str]) -> pl.LazyFrame:
    """The frame with an outcome in every row of a judge."""
    read = _read(columns)
    told = pl.when(read).then(pl.lit(Outcome.SCORED.value)).otherwise(pl.lit("unparsed"))
    if "outcome" not in columns:
        return frame.with_columns(outcome=told)
    judged = pl.lit(True) if "role" not in columns else pl.col("role").fill_null("judge") == "judge"
    filled = pl.when(pl.col("outcome").is_null() & judged).then(told).otherwise(pl.col("outcome"))
    return frame.with_columns(outcome=filled)


def _read(columns: list[str]) -> pl.Expr:
    """Whether a row holds a verdict or a score."""
    kept = [pl.col(name).is_not_null() for name in ("verdict", "score") if name in columns]
    return pl.any_horizontal(kept)


def _check_rows(frame: pl.LazyFrame, columns: list[str], path: str) -> None:
    """Refuse rows that say something impossible, naming the first of them."""
    scored = pl.col("outcome") == Outcome.SCORED.value
    rules: dict[str, pl.Expr] = {
        "item_id is missing": pl.col("item_id").is_null(),
        "replication is missing": pl.col("replication").is_null(),
        f"outcome is none of {', '.join(OUTCOMES)}": ~pl.col("outcome").is_in(OUTCOMES),
        "outcome is scored without a verdict": scored & ~_read(columns),
        "a verdict stands beside an outcome other than scored": ~scored & _read(columns),
    }
    for name in (name for name in _NUMBERS if name in columns):
        number = pl.col(name)
        rules[f"{name} must be finite"] = number.is_infinite()
        if name in _WHOLE:
            wrong = (number != number.floor()) | (number < 0)
            rules[f"{name} must be a whole number from 0 on"] = wrong
    if "temperature" in columns:
        rules["temperature must be at least 0"] = pl.col("temperature") < 0
    if "confidence" in columns:
        rules["confidence must be between 0 and 1"] = ~pl.col("confidence").is_between(0, 1)
    broken = frame.with_row_index("__row").select(
        pl.len().alias("rows"),
        *(
            pl.col("__row").filter(rule.fill_null(False)).min().alias(what)
            for what, rule in rules.items()
        ),
    )
    found = broken.collect(engine="streaming").row(0, named=True)
    if not found.pop("rows"):
        raise SweepError("the file of judgments has no rows", where={"file": path})
    for what, row in found.items():
        if row is not None:
            seen = frame.slice(row, 1).collect().row(0, named=True)
            shown = {name: value for name, value in seen.items() if name in what.split()}
            raise SweepError(what, where={"file": path, "row": row + 1, **shown})
    _check_unique(frame, columns, path)


def _check_unique(frame: pl.LazyFrame, columns: list[str], path: str) -> None:
    """Refuse two rows for the same replication of the same unit."""
    told_apart = ["item_id", "replication", "role", "block", *FACETS]
    unit = [name for name in told_apart if name in columns]
    twice = (
        frame.group_by(unit).agg(pl.len().alias("__n")).filter(pl.col("__n") > 1).sort(unit).head(1)
    ).collect(engine="streaming")
    if not twice.is_empty():
        first = twice.row(0, named=True)
        rows = first.pop("__n")
        raise SweepError(
            f"{rows} rows hold the same replication of the same question",
            where={
                "file": path,
                **{name: value for name, value in first.items() if value is not None},
            },
            hint="add the column that tells them apart (judge, template, ...), or number the rows",
        )
