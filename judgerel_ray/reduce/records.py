"""Tables of JSON: lines of records, or a document that holds one list of them."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from glob import has_magic
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.columns import KNOWN_BY

_WHOLE = 2**53  # from here on double precision does not tell all whole numbers apart
_LONG = 2**63


def read_json_lines(content: bytes | str, where: Mapping[str, object]) -> pl.LazyFrame:
    r"""Read records, one a line.

    Parameters
    ----------
    content : bytes or str
        The lines, or the path of a file of them.
    where : mapping of str to object
        What the file is called in errors.

    Returns
    -------
    LazyFrame

    Raises
    ------
    SweepError
        If a line is not JSON or no record, naming it.

    Examples
    --------
    >>> read_json_lines(b'{"a": 1}\n{"a": NaN}', {}).collect()["a"].to_list()
    [1, None]
    """
    try:
        if isinstance(content, str) and has_magic(content):
            content = Path(content).read_bytes()  # Polars would take its name for a pattern
        source = io.BytesIO(content) if isinstance(content, bytes) else content
        frame = pl.scan_ndjson(source, infer_schema_length=None)
        # Values of kinds that do not go together are found only where they are read.
        frame.select(pl.len(), pl.all().null_count()).collect(engine="streaming")
        if _maybe_twice(content, frame.collect_schema().names()):
            raise PolarsError("a key may be there twice")
    except PolarsError:
        # Slower, and tells what is wrong where; and Python itself writes NaN, which is not JSON.
        text = content if isinstance(content, bytes) else Path(content).read_bytes()
        return records_frame(_lines(text, where)).lazy()
    return frame


def read_json(content: bytes, where: Mapping[str, object]) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    r"""Read a document that is a list of records, or an object that holds one list of them.

    Returns
    -------
    LazyFrame
    tuple of str
        What is said of how it was read.

    Raises
    ------
    SweepError
        If it is not JSON, or holds no list of records or several.

    Examples
    --------
    >>> frame, said = read_json(b'{"rows": [{"a": 1}], "n": 1}', {})
    >>> frame.collect().rows(), said
    ([(1,)], ('read: the list rows of the document',))
    """
    try:
        document = json.loads(_decoded(content, where), object_pairs_hook=_once)
    except RecursionError as error:
        raise SweepError("not JSON: nested too deeply", where=where) from error
    except _TwiceError as error:
        raise SweepError(str(error), where=where) from error
    except ValueError as error:
        if not str(error).startswith("Extra data"):
            raise SweepError(f"not JSON: {error}", where=where) from error
        return read_json_lines(content, where), ("read as lines of JSON, one record a line",)
    if isinstance(document, list):
        return records_frame(_records(document, where)).lazy(), ()
    lists = dict(_lists(document)) if isinstance(document, dict) else {}
    if len(lists) == 1:
        name, rows = lists.popitem()
        return records_frame(_records(rows, where)).lazy(), (
            f"read: the list {name} of the document",
        )
    if lists:
        first = next(iter(lists))
        raise SweepError(
            f"the document holds {len(lists)} lists of records: {', '.join(lists)}",
            where=where,
            hint=f"write one of them to a file of its own: jq .{first} FILE.json > rows.json",
        )
    got = f"one with {', '.join(document)}" if isinstance(document, dict) else "one of neither"
    raise SweepError(
        f"expected a list of records, or an object that holds one, got {got}", where=where
    )


def records_frame(records: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """Make a table of records, whatever their values are.

    Numbers stay numbers where all of a column are; values of several kinds become text, as JSON
    writes them; objects and lists are text that holds them. What no record has is null, as is NaN.

    Examples
    --------
    >>> records_frame([{"v": True, "w": 1}, {"v": "pass", "w": 0.5}, {"x": {"a": 1}}]).rows()
    [('true', 1.0, None), ('pass', 0.5, None), (None, None, '{"a": 1}')]
    """
    names = dict.fromkeys(name for record in records for name in record)
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


class _TwiceError(ValueError):
    """A key that an object has twice: which of its values is meant nobody can tell."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON, none of whose keys is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _TwiceError(f"an object has the key {twice!r} twice")
    return found


def _maybe_twice(content: bytes | str, names: Sequence[str]) -> bool:
    """Whether any line may have a key twice of those that are read: Polars takes the first."""
    known = [name for name in names if name in KNOWN_BY]
    if not known:
        return False
    source = io.BytesIO(content) if isinstance(content, bytes) else content
    line = pl.col("line")
    alike = pl.any_horizontal(
        line.str.count_matches(f'"{re.escape(name)}"\\s*:') > 1 for name in known
    )
    found = pl.scan_lines(source, name="line").select(alike.any())
    return bool(found.collect(engine="streaming").item())


def _lines(content: bytes, where: Mapping[str, object]) -> list[dict[str, object]]:
    """Records of lines."""
    records = []
    for number, line in enumerate(_decoded(content, where).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            said = str(error).partition(": line")[0] or "nested too deeply"
            told = f"line {number}: {said}"
            if not isinstance(error, _TwiceError):
                told = f"line {number} is not JSON: {said}"
            raise SweepError(told, where={**where, "line": number}) from error
        if not isinstance(record, dict):
            raise SweepError(
                f"line {number} is no record: expected an object, got {_short(line)}",
                where={**where, "line": number},
            )
        records.append(record)
    return records


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


def _decoded(content: bytes, where: Mapping[str, object]) -> str:
    """Text of a file in UTF-8, or in UTF-16 with its mark."""
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SweepError(
            f"line {line} is not UTF-8: byte 0x{content[error.start]:02x}",
            where={**where, "line": line},
            hint="save the file as UTF-8",
        ) from error


def _short(text: str) -> str:
    """The begin of a text."""
    most = 40
    return text if len(text) <= most else f"{text[:most]}..."
