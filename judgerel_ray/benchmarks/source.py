"""Files of benchmarks at any path or URL: bytes, text, JSON documents and rows as records.

A record is one row, line or object, read field by field with its place at hand for errors.
"""

from __future__ import annotations

import io
import json
import math
import warnings
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, overload

import polars as pl

from judgerel_ray.core import ReadingWarning, SweepError, files
from judgerel_ray.core.files import PACKED, neighbour, unpacked, unreadable_path
from judgerel_ray.core.text import (
    SEPARATORS,
    closest,
    heading_of,
    marked_encoding,
    one_kind_of_lines,
    parse_json,
    rows_below,
    table_text,
)

_EXCERPT = 40
_NAMES_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Fields of one row, line or JSON object, and where it stands.

    Every method returns what it promises or raises a `SweepError` that names the place, the
    field, what was expected and what was got.
    """

    fields: Mapping[str, object]
    place: Mapping[str, object]
    blank_is_null: bool = False

    def __contains__(self, name: str) -> bool:
        value = self.fields.get(name)
        return value is not None and not (self.blank_is_null and value == "")

    def wrong(self, problem: str, *, hint: str | None = None) -> SweepError:
        """Error about this record, to be raised by the caller."""
        return SweepError(problem, where=self.place, hint=hint)

    def require(self, *names: str, hint: str | None = None) -> None:
        """Raise unless every name is a field, whatever its value."""
        missing = [name for name in names if name not in self.fields]
        if not missing:
            return
        close = [
            f"rename {likely!r} to {name!r}"
            for name in missing
            if (likely := closest(name, self.fields)) is not None
        ]
        what = "field" if "entry" in self.place else "column"
        raise SweepError(
            f"missing {what}{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            where={**self.place, "got": list_names(self.fields)},
            hint=" and ".join(close) or hint,
        )

    def text(self, name: str) -> str:
        """Text that must be there; it may be empty."""
        return self._as_text(self._present(name), name)

    def optional_text(self, name: str) -> str | None:
        """Text, or None where the field is absent or null."""
        return self._as_text(self.fields[name], name) if name in self else None

    def written(self, name: str) -> str:
        """Text, or a number or truth value in its JSON spelling: ``2.5``, ``true``."""
        return self._as_written(self._present(name), name)

    def identifier(self, name: str) -> str:
        """Text or whole number that names something; a number becomes text."""
        value = self._present(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        name_text = self._as_text(value, name)
        if not name_text.strip():
            raise self.wrong(f"{name} must not be empty")
        return name_text

    def whole(self, name: str) -> int:
        """Whole number, as a number or in digits."""
        value = self._present(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip().isdecimal():
            return int(value)
        raise self.wrong(f"{name} must be a whole number, got {name_kind(value)}")

    def structure(self, name: str) -> object:
        """List or object; where it stands as JSON text (in CSV), what that text says."""
        value = self._present(name)
        if not isinstance(value, str):
            return value
        try:
            return parse_json(value)
        except ValueError as error:
            raise self.wrong(
                f"{name} must be a list, or a list in JSON text; got text {excerpt(value)}",
                hint=f"write {name} as a JSON list ({error})",
            ) from error

    def listing(self, name: str) -> list[object]:
        """List that must be there; JSON text is parsed."""
        value = self.structure(name)
        if not isinstance(value, list):
            raise self.wrong(f"{name} must be a list, got {name_kind(value)}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """List of texts."""
        values = self.listing(name)
        return tuple(self._as_text(v, f"{name}[{i}]") for i, v in enumerate(values))

    def all_written(self, name: str) -> tuple[str, ...]:
        """List of texts, in which numbers and truth values stand in their JSON spelling."""
        values = self.listing(name)
        return tuple(self._as_written(v, f"{name}[{i}]") for i, v in enumerate(values))

    def children(self, name: str) -> tuple[Record, ...]:
        """List of objects, each a record that knows its place inside this one."""
        return tuple(
            self.child(value, f"{name}[{index}]") for index, value in enumerate(self.listing(name))
        )

    def child(self, value: object, name: str) -> Record:
        """One nested object as a record."""
        prefix = f"{self.place['entry']}." if "entry" in self.place else ""
        place = {**self.place, "entry": f"{prefix}{name}"}
        if not isinstance(value, dict):
            raise SweepError(f"expected an object, got {name_kind(value)}", where=place)
        return Record(fields=value, place=place)

    def _present(self, name: str) -> object:
        """A field that must be there."""
        if name not in self.fields:
            self.require(name)
        return self.fields[name]

    def _as_written(self, value: object, name: str) -> str:
        """A text, number or truth value as text."""
        if isinstance(value, str):
            return self._as_text(value, name)
        if isinstance(value, float) and not math.isfinite(value):
            raise self.wrong(f"{name} must be text or a finite number, got {name_kind(value)}")
        if isinstance(value, bool | int | float):
            return json.dumps(value)
        return self._as_text(value, name)

    def _as_text(self, value: object, name: str) -> str:
        """Value as text, or the error that says what it is instead."""
        if not isinstance(value, str):
            raise self.wrong(
                f"{name} must be text, got {name_kind(value)}",
                hint="write it in quotes" if isinstance(value, int | float) else None,
            )
        if value.isascii():
            return value
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise self.wrong(
                f"{name} holds half of a surrogate pair at character {error.start}",
                hint="write the character itself, or both halves of its \\u escape",
            ) from error
        return value


class RecordPlaces(Sequence[Record]):
    """Where the rows of one file stand: records without fields, in eight bytes each."""

    def __init__(self) -> None:
        self._first: Mapping[str, object] = {}
        self._numbers = array("q")

    def append(self, record: Record) -> None:
        """Keep the place of a whole row: the last that its place says, a number or ``[number]``."""
        self._first = self._first or record.place
        *_, number = record.place.values()
        self._numbers.append(int(str(number).strip("[]")))

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        *_, kind = self._first
        number = self._numbers[index]
        shown = f"[{number}]" if kind == "entry" else number
        return Record(fields={}, place={**self._first, kind: shown})

    def __len__(self) -> int:
        return len(self._numbers)


def name_kind(value: object) -> str:
    """Name a value's kind in words, with a short excerpt."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return f"number {value}"
        case str():
            return f"text {excerpt(value)}"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return type(value).__name__


def excerpt(text: str) -> str:
    r"""First characters of a text on one line, quoted."""
    return repr(text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…")


def list_names(names: Collection[str]) -> str:
    """List names for an error, cut where they are many."""
    listed = [str(name).replace("\n", "\\n") for name in names]
    more = len(listed) - _NAMES_SHOWN
    return " ".join(listed[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


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
    """Last part of a path or URL, without compression suffix."""
    name = PurePosixPath(path).name
    return name.removesuffix(PurePosixPath(name).suffix) if name.endswith(PACKED) else name


def stem(path: str) -> str:
    """Name of a file without its suffixes."""
    return PurePosixPath(file_name(path)).stem


def known_format(path: str) -> Format | None:
    """Format that a file's suffix names, None for any other suffix."""
    return _FORMATS.get(PurePosixPath(file_name(path)).suffix.lower())


def file_format(path: str) -> Format:
    """Format that a file's suffix names."""
    found = known_format(path)
    if found is None and _is_items_file_absent(path):
        raise SweepError("no such file", where={"file": path}, hint=neighbour(path))
    if found is None:
        raise SweepError(
            f"unknown file format: expected {', '.join(_FORMATS)} (the text ones also "
            f"packed: {', '.join(PACKED)}), got {file_name(path)!r}",
            where={"file": path},
            hint="convert it, or give it the suffix of what it holds",
        )
    return found


def read_unpacked(path: str) -> bytes:
    """Whole content of a file, decompressed by its suffix."""
    try:
        return unpacked(files.read_bytes(path), PurePosixPath(path).suffix, {"file": path})
    except ValueError as error:
        raise unreadable_path(path, error) from error


def read_text(path: str) -> str:
    """Whole text of a file in UTF-8, or in UTF-16 by its mark, which is dropped."""
    content = read_unpacked(path)
    try:
        text = table_text(content, {"file": path})
    except SweepError as error:
        hint = next((advice for magic, advice in _MAGIC if content.startswith(magic)), error.hint)
        raise SweepError(error.problem, where=error.where, hint=hint) from error
    if not text.strip():
        raise SweepError("the file is empty", where={"file": path})
    return text


def _is_items_file_absent(path: str) -> bool:
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


def read_json_file(path: str) -> object:
    """One JSON document."""
    text = read_text(path)
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        first, _, rest = text.strip().partition("\n")
        lines = rest.strip() != "" and _is_items_line_object(first)
        raise SweepError(
            f"broken JSON: {error.msg} at column {error.colno}",
            where={"file": path, "line": error.lineno},
            hint="one object a line is JSON Lines: let its name end in .jsonl" if lines else None,
        ) from error
    except ValueError as error:
        raise SweepError(f"broken JSON: {error}", where={"file": path}) from error


def read_object(path: str, of: str) -> Record:
    """One JSON document that is an object."""
    document = read_json_file(path)
    if not isinstance(document, dict):
        raise SweepError(
            f"expected an object of {of}, got {name_kind(document)}", where={"file": path}
        )
    return Record(fields=document, place={"file": path})


def read_records(path: str) -> tuple[Record, ...]:
    """Rows of a Parquet, JSON Lines or CSV file, or of a JSON list of objects."""
    return tuple(iterate_records(path))


def iterate_records(path: str) -> Iterator[Record]:
    """Rows as :func:`read_records` gives them, one after another.

    JSON Lines in a plain file of this machine are read line by line, so that the file is never
    held as a whole.
    """
    match file_format(path):
        case "parquet":
            records = _parquet_items_file_rows(path)
        case "jsonl":
            records = _json_lines(path)
        case "csv":
            records = _csv_items_file_rows(path)
        case "json":
            records = iter(as_records(read_json_file(path), path))
    record = None
    for record in records:
        yield record
    if record is None:
        raise SweepError("the file has no rows", where={"file": path})


def as_records(document: object, path: str) -> tuple[Record, ...]:
    """Objects of a JSON list, as records."""
    if not isinstance(document, list):
        raise SweepError(
            f"expected a list of objects, got {name_kind(document)}",
            where={"file": path}
            | ({"keys": list_names(document)} if isinstance(document, dict) else {}),
        )
    top = Record(fields={}, place={"file": path})
    return tuple(top.child(value, f"[{index}]") for index, value in enumerate(document))


def _parquet_items_file_rows(path: str) -> Iterator[Record]:
    """Rows of a Parquet file."""
    try:
        frame = pl.read_parquet(io.BytesIO(read_unpacked(path)))
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise SweepError(f"not a Parquet file: {reason}", where={"file": path}) from error
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        yield Record(fields=row, place={"file": path, "row": number})


def _is_items_file_plain(path: str) -> bool:
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
                raise unreadable_path(path, error) from error
            yield text if number else text.removeprefix("\ufeff")


def _json_lines(path: str) -> Iterator[Record]:
    """Objects of a JSON Lines file; blank lines are passed over."""
    if not _is_items_file_plain(path):
        # Not splitlines: U+2028 and its like are legal inside a JSON string.
        yield from _items_file_line_objects(read_text(path).split("\n"), path)
        return
    record = None
    try:
        for record in _items_file_line_objects(_plain_lines(path), path):
            yield record
    except SweepError:
        read_text(path)  # what is wrong with the file as a whole is told first
        raise
    if record is None:
        read_text(path)  # refuses an empty file


def _items_file_line_objects(lines: Iterable[str], path: str) -> Iterator[Record]:
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
                f"expected one object a line, got {name_kind(value)}",
                where=place,
                hint="a JSON list belongs in a .json file" if listed else None,
            )
        yield Record(fields=value, place=place)


def _csv_items_file_rows(path: str) -> Iterator[Record]:
    """Rows below a line of names, whatever stands between columns."""
    where = {"file": path}
    text, separator = one_kind_of_lines(
        read_text(path), SEPARATORS[PurePosixPath(file_name(path)).suffix.lower()]
    )
    heading = heading_of(text, where, separator=separator, known=_KNOWN_BY)
    for note in heading.notes:
        warnings.warn(ReadingWarning(note), stacklevel=2)
    for line, cells in rows_below(text, heading, where):
        yield Record(
            fields=dict(zip(heading.names, cells, strict=True)),
            place={**where, "line": line},
            blank_is_null=True,
        )


def _is_items_line_object(line: str) -> bool:
    """Whether a line is a whole JSON object by itself."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
