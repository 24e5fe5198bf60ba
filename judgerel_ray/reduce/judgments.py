"""Judgments people hold: Parquet, CSV and JSONL files, read as they are or refused in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.columns import (
    KINDS,
    NUMBERS,
    TYPED,
    WHOLE,
    faults,
    outcome_column,
    typed_columns,
)
from judgerel_ray.reduce.tally import Tally, tally_unchecked, told_apart

_MOST_TOLD = 30  # columns of a file, where one is missing
_ALSO_CALLED = {
    "item_id": ("item", "question_id", "question", "id", "prompt_id", "example_id"),
    "replication": ("rep", "repeat", "repetition", "run", "trial", "sample", "iteration", "epoch"),
    "verdict": ("answer", "choice", "judgment", "judgement", "decision", "response", "winner"),
    "score": ("rating", "grade", "points"),
}
"""What logs of others call these columns, most certain first."""
_ADVICE = {
    "replication": "number the repeats of each question in a column replication: 0, 1, 2",
    "option_order": "number the orders in which options were shown: 0, 1, 2",
    "verdict or score": "name the column of what was said verdict, or score where it is a number",
}


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
    return tally_file(path).rows


def tally_file(path: str, *, extra: Sequence[str] = ()) -> Tally:
    r"""Check and count a file of judgments, in one pass over its rows.

    Parameters
    ----------
    path : str
        As for :func:`load_judgments`.
    extra : sequence of str
        Columns to tell rows apart by, besides those that make a unit.

    Returns
    -------
    Tally

    Raises
    ------
    SweepError
        As for :func:`load_judgments`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("item_id,replication,verdict\nq1,0,A\nq1,1,A\n")
    ...     file.flush()
    ...     tally_file(file.name).nested.long(["item_id"]).rows()
    [('q1', 'A', None, 'scored', 2)]
    """
    with _readable(path):
        frame = _scan(path)
        columns = frame.collect_schema().names()
        _require_columns(columns, path)
        names = told_apart(columns, extra)
        rows = frame.with_columns(typed_columns(frame.collect_schema()))
        rows = rows.with_columns(outcome_column(columns))
        rows = rows.cast({name: pl.Int64 for name in WHOLE if name in columns})
        try:
            nested, at_fault = tally_unchecked(
                frame, names, indexed=path.lower().endswith(".parquet")
            )
        except PolarsError:
            # Which column has no number in it is said by name, as for any row at fault.
            _refuse_text(frame, path)
            _refuse_fault(frame, path)
            raise
        if nested.units.is_empty():
            raise SweepError("the file of judgments has no rows", where={"file": path})
        if at_fault or any(_any_fault(part) for part in (nested.units, nested.kinds)):
            _refuse_fault(frame, path)
            _refuse_twice(rows, path)
    return Tally(rows=rows, nested=nested, columns=tuple(columns))


def _any_fault(part: pl.DataFrame) -> bool:
    """Whether any row says what no row may say."""
    rules = [rule.fill_null(False) for rule in faults(part.columns).values()]
    return bool(part.select(pl.any_horizontal(rules).any()).item())


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Errors of reading as one line."""
    try:
        yield
    except (PolarsError, OSError) as error:
        line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SweepError(f"cannot read judgments: {line}", where={"file": path}) from error


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
        # Text; types come from the names of the columns, never from the first rows.
        "csv": lambda source: pl.scan_csv(source, infer_schema=False, glob=False),
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


def _require_columns(columns: list[str], path: str) -> None:
    """The columns without which there is no reliability."""
    lacking = [name for name in ("item_id", "replication") if name not in columns]
    if "verdict" not in columns and "score" not in columns:
        lacking.append("verdict or score")
    if lacking:
        got = ", ".join(columns[:_MOST_TOLD]) + (", ..." if len(columns) > _MOST_TOLD else "")
        raise SweepError(
            f"column missing: {', '.join(lacking)}; got {got}, "
            "needed are item_id, replication, and verdict or score",
            where={"file": path},
            hint="; ".join(_mended(name, columns) for name in lacking),
        )


def _mended(lacking: str, columns: list[str]) -> str:
    """What to do about a column that is not there: rename the one that is probably meant."""
    free = {name.lower(): name for name in columns if name not in TYPED}
    for wanted in lacking.split(" or "):
        near = [name for name in _ALSO_CALLED[wanted] if name in free]
        near += get_close_matches(wanted, free, n=1)
        if near:
            return f"{free[near[0]]} -> {wanted}"
    return _ADVICE.get(lacking, f"name the column of the question {lacking}")


def _refuse_text(frame: pl.LazyFrame, path: str) -> None:
    """Refuse text where numbers belong, naming the first of it."""
    for name, kind in frame.collect_schema().items():
        if name not in NUMBERS or kind != pl.String:
            continue
        text = pl.col(name).str.strip_chars()
        wrong = (text != "") & text.cast(pl.Float64, strict=False).is_null()
        told = frame.select(text.alias("got"), wrong.alias("__wrong")).with_row_index("__row")
        first = told.filter("__wrong").head(1).collect(engine="streaming")
        if not first.is_empty():
            expected = "a whole number" if name in WHOLE else "a number"
            raise SweepError(
                f"{name}: expected {expected}, got {first['got'].item()!r}",
                where={"file": path, "row": first["__row"].item() + 1},
                hint=_ADVICE.get(name, f"leave it empty where there is no {name}"),
            )


def _refuse_fault(frame: pl.LazyFrame, path: str) -> None:
    """Refuse rows that say something impossible, naming the first of them."""
    columns = frame.collect_schema().names()
    typed = frame.with_columns(typed_columns(frame.collect_schema()))
    typed = typed.with_columns(outcome_column(columns))
    row = pl.col("__row")
    broken = typed.with_row_index("__row").select(
        row.filter(rule.fill_null(False)).min().alias(what)
        for what, rule in faults([*columns, "outcome"]).items()
    )
    for what, row_at_fault in broken.collect(engine="streaming").row(0, named=True).items():
        if row_at_fault is not None:
            seen = typed.slice(row_at_fault, 1).collect().row(0, named=True)
            shown = {name: value for name, value in seen.items() if name in what.split()}
            raise SweepError(what, where={"file": path, "row": row_at_fault + 1, **shown})


def _refuse_twice(rows: pl.LazyFrame, path: str) -> None:
    """Refuse two rows for the same replication of the same unit."""
    columns = rows.collect_schema().names()
    unit = [name for name in told_apart(columns) if name not in KINDS]
    unit.insert(1, "replication")
    twice = (
        rows.group_by(unit).agg(pl.len().alias("__n")).filter(pl.col("__n") > 1).sort(unit).head(1)
    ).collect(engine="streaming")
    if not twice.is_empty():
        first = twice.row(0, named=True)
        n = first.pop("__n")
        raise SweepError(
            f"{n} rows hold the same replication of the same question",
            where={
                "file": path,
                **{name: _as_told(value) for name, value in first.items() if value is not None},
            },
            hint="add the column that tells them apart (judge, template, ...), or number the rows",
        )


def _as_told(value: object) -> object:
    """A value as people write it: a temperature of 0, not of 0.0."""
    return f"{value:g}" if isinstance(value, float) else value
