"""Tables of JSON: lines of records, and the table that records make."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from glob import has_magic
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.core.text import RepeatedKeyError, parse_json, table_text
from judgerel_ray.counting.columns import KNOWN_BY, MOST_COLUMNS, check_width
from judgerel_ray.counting.files.cells import parsed_cell

_WHOLE = 2**53  # from here on double precision does not tell all whole numbers apart
_LONG = 2**63
_PIECE = 1 << 16  # bytes of lines whose fields are counted together
_LONG_PIECE = 1 << 20
_TOKEN = re.compile(rb'(?s)"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|\\.|[{}\[\]]')
_FENCE = "```"
_FENCED = re.compile(rf"{_FENCE}\w*\s(?:(?!{_FENCE}).)*{_FENCE}", re.DOTALL)
_AS_DOCUMENT = "rename the file to end in .json, as it holds a list of all records"


def read_json_lines(
    content: bytes | str, where: Mapping[str, object]
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    r"""Read records, one a line; how, it says in notes.

    Examples
    --------
    >>> read_json_lines(b'{"a": 1}\n{"a": NaN}', {})[0].collect()["a"].to_list()
    [1, None]
    """
    try:
        if isinstance(content, str) and has_magic(content):
            content = Path(content).read_bytes()  # Polars would take its name for a pattern
        source = io.BytesIO(content) if isinstance(content, bytes) else content
        schema = _schema_of_lines(content, where)
        frame = pl.scan_ndjson(source, schema=schema, infer_schema_length=None)
        # Values of kinds that do not go together are found only where they are read.
        frame.select(pl.len(), pl.all().null_count()).collect(engine="streaming")
        if _maybe_twice(content, frame.collect_schema().names()):
            raise PolarsError("a key may be there twice")
    except PolarsError:
        # Slower, and tells what is wrong where; and Python itself writes NaN, which is not JSON.
        text = content if isinstance(content, bytes) else Path(content).read_bytes()
        records, n_fenced = _sheet_records_of_lines(text, where)
        note = f"read the objects in the code fences of {count_of(n_fenced, 'reply', 'replies')}"
        return records_frame(records, where).lazy(), (note,) * (n_fenced > 0)
    return frame, ()


def records_frame(
    records: Sequence[Mapping[str, object]], where: Mapping[str, object] | None = None
) -> pl.DataFrame:
    """Make a table of records, whatever their values are.

    Numbers stay numbers where all of a column are; values of several kinds become text, as JSON
    writes them; objects and lists are text that holds them. What no record has is null, as is NaN.

    Examples
    --------
    >>> records_frame([{"v": True, "w": 1}, {"v": "pass", "w": 0.5}, {"x": {"a": 1}}]).rows()
    [('true', 1.0, None), ('pass', 0.5, None), (None, None, '{"a": 1}')]
    """
    names = dict.fromkeys(name for record in records for name in record)
    check_width(len(names), where or {})
    return pl.DataFrame(
        [values_series(name, [record.get(name) for record in records]) for name in names]
    )


def values_series(name: str, values: Iterable[object]) -> pl.Series:
    """Make one column of values of any kind, as :func:`records_frame` does.

    Examples
    --------
    >>> values_series("v", [1, "a", None]).to_list()
    ['1', 'a', None]
    """
    plain = [_plain_sheet_json_value(value) for value in values]
    kinds = {type(value) for value in plain if value is not None}
    for alike, kind in (({bool}, pl.Boolean), ({str}, pl.String)):
        if kinds == alike:
            return pl.Series(name, plain, dtype=kind, strict=True)
    whole = [value for value in plain if isinstance(value, int)]
    if kinds == {int} and all(-_LONG <= value < _LONG for value in whole):
        return pl.Series(name, plain, dtype=pl.Int64)
    if kinds and kinds <= {int, float} and all(abs(value) <= _WHOLE for value in whole):
        return pl.Series(name, plain, dtype=pl.Float64, strict=False)
    if not kinds:
        return pl.Series(name, plain, dtype=pl.Null)
    return pl.Series(name, [_sheet_value_as_text(value) for value in plain], dtype=pl.String)


def _plain_sheet_json_value(value: object) -> object:
    """A value of a kind that JSON has; None of NaN."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, dict | list):
        return value
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    item = getattr(value, "item", None)  # a number of NumPy's
    if callable(item) and getattr(value, "ndim", 0) == 0:
        inner = item()
        return (
            _plain_sheet_json_value(inner) if type(inner) in (bool, int, float, str) else str(value)
        )
    if callable(tolist := getattr(value, "tolist", None)):
        return tolist()
    text = str(value)
    return None if text in ("NaT", "<NA>", "nan") else text


def _sheet_value_as_text(value: object) -> str | None:
    """A value as text."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _schema_of_lines(
    content: bytes | str, where: Mapping[str, object]
) -> Mapping[str, pl.DataType] | None:
    """Columns of lines, where pieces of the file agree on them; None where Polars must find them.

    It would find all columns first, of which every row has every one then: time and memory by rows
    times columns. So they are counted piece by piece, and refused where they come to too many.
    """
    first: pl.Schema | None = None
    before: pl.Schema | None = None
    is_one = True
    names: set[str] = set()
    fields: set[str] = set()
    for piece in _pieces_of_sheet_lines(content):
        if len(piece) > _LONG_PIECE:
            check_width(_width_of(piece), where, more=True)
        schema = pl.scan_ndjson(io.BytesIO(piece), infer_schema_length=None).collect_schema()
        first = first or schema
        is_one = is_one and schema == first
        if schema != before:
            names.update(schema)
            check_width(len(names), where, more=True)
            for name, kind in schema.items():
                fields.update(_sheet_column_field_names(kind, name))
            if len(fields) > MOST_COLUMNS:
                raise PolarsError("objects have too many fields")
        before = schema
    return first if is_one else None


def _pieces_of_sheet_lines(content: bytes | str) -> Iterator[bytes]:
    """Whole lines of a file or of what it holds, a piece at a time."""
    with io.BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as file:
        while piece := file.read(_PIECE) + file.readline():
            if piece.strip():
                yield piece


def _width_of(piece: bytes) -> int:
    """Number of names in the records of some lines, counted to one above what a table may have."""
    names, depth = set(), 0
    for token in _TOKEN.finditer(piece):
        sign = token[0][:1]
        depth += (sign in b"{[") - (sign in b"}]")
        if depth == 1 and token[1] is not None:
            names.add(token[0].removesuffix(token[1]))
            if len(names) > MOST_COLUMNS:
                break
    return len(names)


def _sheet_column_field_names(kind: pl.DataType, name: str) -> Iterator[str]:
    """Names of the fields of objects in a column."""
    if isinstance(kind, pl.List | pl.Array):
        yield from _sheet_column_field_names(kind.inner, name)  # type: ignore[arg-type]
    elif isinstance(kind, pl.Struct):
        for field in kind.fields:
            yield f"{name}.{field.name}"
            yield from _sheet_column_field_names(field.dtype, f"{name}.{field.name}")  # type: ignore[arg-type]


def _maybe_twice(content: bytes | str, names: Sequence[str]) -> bool:
    """Whether any line may have a key twice of those that are read: Polars takes the first."""
    known = [name for name in names if name in KNOWN_BY]
    if not known:
        return False
    source = io.BytesIO(content) if isinstance(content, bytes) else content
    line = pl.col("line")
    # A key written with escapes may be any.
    escaped = line.str.contains(r'"[^"]*\\u00[2-7][^"]*"\s*:')
    alike = escaped | pl.any_horizontal(
        line.str.count_matches(f'"{re.escape(name)}"\\s*:') > 1 for name in known
    )
    found = pl.scan_lines(source, name="line").select(alike.any())
    return bool(found.collect(engine="streaming").item())


def _sheet_records_of_lines(
    content: bytes, where: Mapping[str, object]
) -> tuple[list[dict[str, object]], int]:
    """Records of lines, and how many of them stood in code fences."""
    n_fenced = 0
    records: list[dict[str, object]] = []
    names: set[str] = set()
    text = table_text(content, where)
    if text.lstrip().startswith(_FENCE) and not _FENCED.sub("", text).strip():
        found = [_fenced_record(one[0]) for one in _FENCED.finditer(text)]
        return found, len(found)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line, nan=True)
        except ValueError as error:
            reason = str(error).partition(": line")[0]
            problem = f"line {number}: {reason}"
            if not isinstance(error, RepeatedKeyError):
                problem = f"line {number} is not JSON: {reason}"
            hint = _AS_DOCUMENT if line.lstrip().startswith("[") and not records else None
            raise SweepError(problem, where={**where, "line": number}, hint=hint) from error
        if isinstance(record, str) and _FENCED.fullmatch(record.strip()):
            record = _fenced_record(record)
            n_fenced += 1
        if not isinstance(record, dict):
            raise SweepError(
                f"line {number} is no record: expected an object, got {_short(line)}",
                where={**where, "line": number},
                hint=_AS_DOCUMENT
                if isinstance(record, list) and not records
                else 'write one object a line; of pandas: orient="records", lines=True',
            )
        records.append(record)
        if not names.issuperset(record):
            names.update(record)
            check_width(len(names), where, more=True)
    return records, n_fenced


def _fenced_record(reply: str) -> dict[str, object]:
    """The object in a reply's code fence; the reply itself where it holds none."""
    inside = parsed_cell(reply)
    return inside if isinstance(inside, dict) else {"reply": reply}


def records_of(rows: Sequence[object], where: Mapping[str, object]) -> list[dict[str, object]]:
    """A list of records."""
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise SweepError(
                f"record {number} is none: expected an object, got {_short(json.dumps(row))}",
                where=where,
            )
    return [row for row in rows if isinstance(row, dict)]


def _short(text: str) -> str:
    """The begin of a text."""
    most = 40
    return text if len(text) <= most else f"{text[:most]}..."
