"""Files of benchmarks at any path or URL: bytes, text, JSON documents and rows as records."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

import polars as pl

from judgerel_ray.benchmarks.record import Record, kind_of, shown_names
from judgerel_ray.core import ReadingWarning, SweepError, files
from judgerel_ray.core.delimited import SEPARATORS, heading_of, one_kind_of_lines, rows_below
from judgerel_ray.core.files import PACKED, neighbour, unpacked, unreadable
from judgerel_ray.core.text import marked_encoding, parse_json, table_text

Format = Literal["parquet", "json", "jsonl", "csv"]

_FORMATS: dict[str, Format] = {
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
}
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "it is gzip: let its name end in .gz"),
    (b"PAR1", "it is Parquet: let its name end in .parquet"),
)


def file_name(path: str) -> str:
    """Last part of a path or URL, without compression suffix.

    Examples
    --------
    >>> file_name("s3://bucket/bbh/navigate.json.gz")
    'navigate.json'
    """
    name = PurePosixPath(path).name
    return name.removesuffix(PurePosixPath(name).suffix) if name.endswith(PACKED) else name


def stem(path: str) -> str:
    """Name of a file without its suffixes.

    Examples
    --------
    >>> stem("bbh/navigate.json.gz")
    'navigate'
    """
    return PurePosixPath(file_name(path)).stem


def known_format(path: str) -> Format | None:
    """Format that a file's suffix names, None for any other suffix."""
    return _FORMATS.get(PurePosixPath(file_name(path)).suffix.lower())


def format_of(path: str) -> Format:
    """Format that a file's suffix names.

    Raises
    ------
    SweepError
        If the suffix names none of Parquet, JSON, JSON Lines and CSV.

    Examples
    --------
    >>> format_of("items.jsonl.gz")
    'jsonl'
    """
    found = known_format(path)
    if found is None and _is_absent(path):
        raise SweepError("no such file", where={"file": path}, hint=neighbour(path))
    if found is None:
        raise SweepError(
            f"unknown file format: expected {', '.join(_FORMATS)} (the text ones also "
            f"packed: {', '.join(PACKED)}), got {file_name(path)!r}",
            where={"file": path},
            hint="convert it, or give it the suffix of what it holds",
        )
    return found


def separator_of(path: str) -> str:
    r"""What stands between columns by the ending of a file.

    Examples
    --------
    >>> separator_of("items.tsv.gz"), separator_of("items.csv")
    ('\t', ',')
    """
    return SEPARATORS[PurePosixPath(file_name(path)).suffix.lower()]


def read_bytes(path: str) -> bytes:
    """Whole content of a file, decompressed by its suffix.

    Raises
    ------
    SweepError
        If the file is missing (with the likeliest neighbour), unreadable, broken or empty.
    """
    try:
        return unpacked(files.read_bytes(path), PurePosixPath(path).suffix)
    except ValueError as error:
        raise unreadable(path, error) from error


def read_text(path: str) -> str:
    """Whole text of a file in UTF-8, or in UTF-16 by its mark, which is dropped.

    Raises
    ------
    SweepError
        As `read_bytes`, and if a byte is not UTF-8 (its line is named).
    """
    content = read_bytes(path)
    try:
        text = table_text(content, {"file": path})
    except SweepError as error:
        hint = next((advice for magic, advice in _MAGIC if content.startswith(magic)), error.hint)
        raise SweepError(error.problem, where=error.where, hint=hint) from error
    if not text.strip():
        raise SweepError("the file is empty", where={"file": path})
    return text


def _is_absent(path: str) -> bool:
    """Whether a path of this machine names nothing."""
    try:
        return "://" not in path and not Path(path).exists()
    except (OSError, ValueError):
        return True


_KNOWN_BY = frozenset((
    "item_id", "question", "options", "gold", "benchmark", "category", "context", "turns",
    "ratings", "text", "criterion", "judge", "replication", "verdict", "label", "score", "rater",
))  # fmt: skip
"""Names of columns of items, texts and ratings, which tell what stands between them."""


def read_json(path: str) -> object:
    """One JSON document.

    Raises
    ------
    SweepError
        As `read_text`, and if the document is broken (line and column are named), repeats a
        name in an object, or is JSON Lines.
    """
    text = read_text(path)
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        first, _, rest = text.strip().partition("\n")
        lines = rest.strip() != "" and _is_object(first)
        raise SweepError(
            f"broken JSON: {error.msg} at column {error.colno}",
            where={"file": path, "line": error.lineno},
            hint="one object a line is JSON Lines: let its name end in .jsonl" if lines else None,
        ) from error
    except ValueError as error:
        raise SweepError(f"broken JSON: {error}", where={"file": path}) from error


def read_records(path: str) -> tuple[Record, ...]:
    """Rows of a Parquet, JSON Lines or CSV file, or of a JSON list of objects.

    Returns
    -------
    tuple of Record
        At least one, in the order of the file.

    Raises
    ------
    SweepError
        If the file cannot be read as what its suffix says, or holds no row.
    """
    return tuple(iterate_records(path))


def iterate_records(path: str) -> Iterator[Record]:
    """Rows as :func:`read_records` gives them, one after another.

    JSON Lines in a plain file of this machine are read line by line, so that the file is never
    held as a whole.

    Yields
    ------
    Record

    Raises
    ------
    SweepError
        As `read_records`, when the place of the error is reached.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "own.jsonl")
    ...     _ = file.write_text('{"question": "Why?"}')
    ...     [record.text("question") for record in iterate_records(str(file))]
    ['Why?']
    """
    match format_of(path):
        case "parquet":
            records = _parquet(path)
        case "jsonl":
            records = _json_lines(path)
        case "csv":
            records = _csv(path)
        case "json":
            records = iter(as_records(read_json(path), path))
    record = None
    for record in records:
        yield record
    if record is None:
        raise SweepError("the file has no rows", where={"file": path})


def as_records(document: object, path: str) -> tuple[Record, ...]:
    """Objects of a JSON list, as records.

    Raises
    ------
    SweepError
        If the document is not a list of objects.
    """
    if not isinstance(document, list):
        raise SweepError(
            f"expected a list of objects, got {kind_of(document)}",
            where={"file": path}
            | ({"keys": shown_names(document)} if isinstance(document, dict) else {}),
        )
    top = Record(fields={}, place={"file": path})
    return tuple(top.child(value, f"[{index}]") for index, value in enumerate(document))


def _parquet(path: str) -> Iterator[Record]:
    """Rows of a Parquet file."""
    try:
        frame = pl.read_parquet(io.BytesIO(read_bytes(path)))
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise SweepError(f"not a Parquet file: {reason}", where={"file": path}) from error
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        yield Record(fields=row, place={"file": path, "row": number})


def _is_plain(path: str) -> bool:
    """Whether a text file lies on this machine unpacked, without the mark of another encoding."""
    try:
        if path.endswith(PACKED) or not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return marked_encoding(file.read(4)) is None
    except (OSError, ValueError):
        return False


def _plain_lines(path: str) -> Iterator[str]:
    """Lines of a plain text file, of which one is held at a time."""
    with Path(path).open("rb") as file:
        for number, line in enumerate(file):
            try:
                text = line.removesuffix(b"\n").decode()
            except UnicodeDecodeError as error:
                raise unreadable(path, error) from error
            yield text if number else text.removeprefix("\ufeff")


def _json_lines(path: str) -> Iterator[Record]:
    """Objects of a JSON Lines file; blank lines are passed over."""
    if not _is_plain(path):
        # Not splitlines: U+2028 and its like are legal inside a JSON string.
        yield from _objects(read_text(path).split("\n"), path)
        return
    record = None
    try:
        for record in _objects(_plain_lines(path), path):
            yield record
    except SweepError:
        read_text(path)  # what is wrong with the file as a whole is told first
        raise
    if record is None:
        read_text(path)  # refuses an empty file


def _objects(lines: Iterable[str], path: str) -> Iterator[Record]:
    """The object of every line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = {"file": path, "line": number}
        try:
            value = parse_json(line)
        except json.JSONDecodeError as error:
            whole = number == 1 and line.strip()[0] in "[{"
            raise SweepError(
                f"broken JSON: {error.msg} at column {error.colno}",
                where=place,
                hint="if it is one JSON document, let its name end in .json" if whole else None,
            ) from error
        except ValueError as error:
            raise SweepError(f"broken JSON: {error}", where=place) from error
        if not isinstance(value, dict):
            listed = isinstance(value, list) and number == 1
            raise SweepError(
                f"expected one object a line, got {kind_of(value)}",
                where=place,
                hint="a JSON list belongs in a .json file" if listed else None,
            )
        yield Record(fields=value, place=place)


def _csv(path: str) -> Iterator[Record]:
    """Rows below a line of names, whatever stands between columns.

    Warns
    -----
    ReadingWarning
        If that is not what the ending of the file says.
    """
    where = {"file": path}
    text, separator = one_kind_of_lines(read_text(path), separator_of(path))
    heading = heading_of(text, where, separator=separator, known=_KNOWN_BY)
    for note in heading.notes:
        warnings.warn(ReadingWarning(note), stacklevel=2)
    for line, cells in rows_below(text, heading, where):
        yield Record(
            fields=dict(zip(heading.names, cells, strict=True)),
            place={**where, "line": line},
            blank_is_null=True,
        )


def _is_object(line: str) -> bool:
    """Whether a line is a whole JSON object by itself."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
