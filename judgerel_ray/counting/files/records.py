"""Tables of JSON: lines of records, or a document that holds one list of them."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from glob import has_magic
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError
from judgerel_ray.core.text import RepeatedKeyError, parse_json, table_text
from judgerel_ray.counting.columns import KNOWN_BY, MOST_COLUMNS, check_width
from judgerel_ray.counting.files.cells import parsed_cell
from judgerel_ray.counting.files.names import is_side_column, roles_of

_WHOLE = 2**53  # from here on double precision does not tell all whole numbers apart
_LONG = 2**63
_MOST_SHOWN = 6
_PIECE = 1 << 16  # bytes of lines whose fields are counted together
_LONG_PIECE = 1 << 20
_TOKEN = re.compile(rb'(?s)"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|\\.|[{}\[\]]')
_FENCE = "```"
_FENCED = re.compile(rf"{_FENCE}\w*\s(?:(?!{_FENCE}).)*{_FENCE}", re.DOTALL)
_DEEPEST = 3
_FEWEST = 2  # keys that tell things apart
ENTRY = "entry"
"""The column of the keys of a document that tell its records apart, where no word says what."""
_AS_DOCUMENT = "rename the file to end in .json, as it holds a list of all records"


def read_json_lines(content: bytes | str, where: Mapping[str, object]) -> pl.LazyFrame:
    r"""Read records, one a line.

    Examples
    --------
    >>> read_json_lines(b'{"a": 1}\n{"a": NaN}', {}).collect()["a"].to_list()
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
        return records_frame(_lines(text, where), where).lazy()
    return frame


def read_json(content: bytes, where: Mapping[str, object]) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    r"""Read a document that is a list of records, or an object that holds one list of them.

    What is said of how it was read comes with the rows.

    Examples
    --------
    >>> frame, notes = read_json(b'{"rows": [{"a": 1}], "n": 1}', {})
    >>> frame.collect().rows(), notes
    ([(1,)], ('read: the list rows of the document',))
    """
    try:
        document = parse_json(table_text(content, where), nan=True)
    except RepeatedKeyError as error:
        raise SweepError(str(error), where=where) from error
    except ValueError as error:
        if not str(error).startswith("Extra data"):
            raise SweepError(f"not JSON: {error}", where=where) from error
        return read_json_lines(content, where), ("read as lines of JSON, one record a line",)
    if isinstance(document, list):
        return records_frame(_records(document, where), where).lazy(), ()
    if isinstance(document, dict) and (keyed := _keyed_records(document)):
        called = next(iter(keyed[0]))
        note = f"read the keys of the document as {called}"
        return records_frame(keyed, where).lazy(), (note,)
    lists = dict(_lists(document)) if isinstance(document, dict) else {}
    if len(lists) == 1:
        name, rows = lists.popitem()
        return records_frame(_records(rows, where), where).lazy(), (
            f"read: the list {name} of the document",
        )
    if lists:
        first = next(iter(lists))
        raise SweepError(
            f"the document holds {len(lists)} lists of records: {', '.join(lists)}",
            where=where,
            hint=f"write one of them to a file of its own: jq .{first} FILE.json > rows.json",
        )
    fields = _some(document) or "no field" if isinstance(document, dict) else None
    got = "one of neither" if fields is None else f"one with {fields}"
    raise SweepError(
        f"expected a list of records, or an object that holds one, got {got}",
        where=where,
        hint='write one record a row; of pandas: df.to_json(FILE, orient="records")',
    )


def _keyed_records(document: Mapping[str, object]) -> list[dict[str, object]]:
    """Records of an object whose keys tell like things apart; none of any other object.

    A key that is the name of a column tells none: such an object is a record, or holds columns.
    """
    inside = [*document.values()]
    if len(inside) < _FEWEST or any(roles_of(key) or is_side_column(key) for key in document):
        return []
    if all(isinstance(one, list) and one for one in inside):
        cells = [cell for one in inside if isinstance(one, list) for cell in one]
        if not all(isinstance(cell, dict) for cell in cells):
            if any(isinstance(cell, dict | list) for cell in cells):
                return []
            is_number = all(isinstance(cell, int | float) for cell in cells)
            cells, name = [], "scores" if is_number else "verdicts"
            inside = [{name: one} for one in inside]
        records = [cell for cell in cells or inside if isinstance(cell, dict)]
    else:
        records = [one for one in inside if isinstance(one, dict)]
        # What all have makes them alike; columns by row numbers have numbers alone.
        alike = set.intersection(*({*one} for one in records)) if records else set()
        if len(records) < len(inside) or not alike or all(one.isdecimal() for one in alike):
            return []
    if not any(map(_names_judgments, records)):
        return []
    called = _called([*document], {name for one in records for name in one})
    return [
        {called: key, **record}
        for key, one in zip(document, inside, strict=True)
        for record in (one if isinstance(one, list) else [one])
        if isinstance(record, dict)
    ]


def _names_judgments(value: object, deep: int = 0) -> bool:
    """Whether an object, or what stands in it, has the name of anything that judgments have."""
    if isinstance(value, list):
        return any(_names_judgments(one, deep) for one in value[:1])
    return isinstance(value, dict) and deep < _DEEPEST and any(
        roles_of(name) or roles_of(name.removesuffix("s")) or _names_judgments(one, deep + 1)
        for name, one in value.items()
    )  # fmt: skip


def _called(keys: Sequence[str], names: Collection[str]) -> str:
    """What the keys of a document are called beside columns: by their word, or a plain name."""
    stems = {re.sub(r"[_\-. ]*\d+$", "", key) for key in keys}
    words = {role for one in stems for role in roles_of(one)} if len(stems) == 1 else set()
    there = {role for name in names for role in roles_of(name)}
    for role in ("item_id", "replication"):
        if role in words - there and role not in names:
            return role
    return next(one for one in (ENTRY, f"{ENTRY}_key", f"_{ENTRY}") if one not in names)


def _some(names: Iterable[str]) -> str:
    """The first few names: an object by row numbers has as many as rows."""
    shown = [*names]
    return ", ".join(shown[:_MOST_SHOWN]) + ", ..." * (len(shown) > _MOST_SHOWN)


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
    plain = [_plain(value) for value in values]
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
    return pl.Series(name, [_as_text(value) for value in plain], dtype=pl.String)


def _plain(value: object) -> object:
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
        return _plain(inner) if type(inner) in (bool, int, float, str) else str(value)
    if callable(tolist := getattr(value, "tolist", None)):
        return tolist()
    text = str(value)
    return None if text in ("NaT", "<NA>", "nan") else text


def _as_text(value: object) -> str | None:
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
    for piece in _pieces(content):
        if len(piece) > _LONG_PIECE:
            check_width(_width_of(piece), where, more=True)
        schema = pl.scan_ndjson(io.BytesIO(piece), infer_schema_length=None).collect_schema()
        first = first or schema
        is_one = is_one and schema == first
        if schema != before:
            names.update(schema)
            check_width(len(names), where, more=True)
            for name, kind in schema.items():
                fields.update(_fields(kind, name))
            if len(fields) > MOST_COLUMNS:
                raise PolarsError("objects have too many fields")
        before = schema
    return first if is_one else None


def _pieces(content: bytes | str) -> Iterator[bytes]:
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


def _fields(kind: pl.DataType, name: str) -> Iterator[str]:
    """Names of the fields of objects in a column."""
    if isinstance(kind, pl.List | pl.Array):
        yield from _fields(kind.inner, name)  # type: ignore[arg-type]
    elif isinstance(kind, pl.Struct):
        for field in kind.fields:
            yield f"{name}.{field.name}"
            yield from _fields(field.dtype, f"{name}.{field.name}")  # type: ignore[arg-type]


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


def _lines(content: bytes, where: Mapping[str, object]) -> list[dict[str, object]]:
    """Records of lines."""
    records: list[dict[str, object]] = []
    names: set[str] = set()
    text = table_text(content, where)
    if text.lstrip().startswith(_FENCE) and not _FENCED.sub("", text).strip():
        return [_fenced_record(one[0]) for one in _FENCED.finditer(text)]
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
    return records


def _fenced_record(reply: str) -> dict[str, object]:
    """The object in a reply's code fence; the reply itself where it holds none."""
    inside = parsed_cell(reply)
    return inside if isinstance(inside, dict) else {"reply": reply}


def _records(rows: Sequence[object], where: Mapping[str, object]) -> list[dict[str, object]]:
    """A list of records."""
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise SweepError(
                f"record {number} is none: expected an object, got {_short(json.dumps(row))}",
                where=where,
            )
    return [row for row in rows if isinstance(row, dict)]


def _lists(document: Mapping[str, object], before: str = "") -> Iterable[tuple[str, list[object]]]:
    """Lists of records in an object, and in the objects inside it where it has none itself."""
    inside = [
        (f"{before}{name}", value)
        for name, value in document.items()
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value)
    ]
    deeper = [] if inside else [
        found
        for name, value in document.items()
        if isinstance(value, dict)
        for found in _lists(value, f"{before}{name}.")
    ]  # fmt: skip
    return inside or deeper


def _short(text: str) -> str:
    """The begin of a text."""
    most = 40
    return text if len(text) <= most else f"{text[:most]}..."
