"""One record of an upstream file, read field by field with its place at hand."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from judgerel_ray.core import SweepError
from judgerel_ray.core.text import closest, parse_json

_EXCERPT = 40
_NAMES_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Fields of one row, line or JSON object, and where it stands.

    Every method returns what it promises or raises a `SweepError` that names the place, the
    field, what was expected and what was got.

    Parameters
    ----------
    fields : mapping
        Plain Python values by name.
    place : mapping
        ``file`` and one of ``row`` (from 1), ``line`` (from 1) or ``entry`` (a path in JSON).
    blank_is_null : bool
        Whether an optional empty text counts as absent, as in CSV, which has no null.

    Examples
    --------
    >>> record = Record(fields={"question": "Why?"}, place={"file": "q.csv", "line": 2})
    >>> record.text("question")
    'Why?'
    >>> record.text("answer")
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: missing column answer [file=q.csv, line=2, got=question]
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
            where={**self.place, "got": shown_names(self.fields)},
            hint=" and ".join(close) or hint,
        )

    def text(self, name: str) -> str:
        """Text that must be there; it may be empty."""
        if name not in self.fields:
            self.require(name)
        return self._as_text(self.fields[name], name)

    def optional_text(self, name: str) -> str | None:
        """Text, or None where the field is absent or null."""
        return self._as_text(self.fields[name], name) if name in self else None

    def written(self, name: str) -> str:
        """Text, or a number or truth value in its JSON spelling: ``2.5``, ``true``."""
        if name not in self.fields:
            self.require(name)
        return self._as_written(self.fields[name], name)

    def identifier(self, name: str) -> str:
        """Text or whole number that names something; a number becomes text."""
        if name not in self.fields:
            self.require(name)
        value = self.fields[name]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        name_text = self._as_text(value, name)
        if not name_text.strip():
            raise self.wrong(f"{name} must not be empty")
        return name_text

    def whole(self, name: str) -> int:
        """Whole number, as a number or in digits."""
        self.require(name)
        value = self.fields[name]
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip().isdecimal():
            return int(value)
        raise self.wrong(f"{name} must be a whole number, got {kind_of(value)}")

    def structure(self, name: str) -> object:
        """List or object; where it stands as JSON text (in CSV), what that text says."""
        self.require(name)
        value = self.fields[name]
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
            raise self.wrong(f"{name} must be a list, got {kind_of(value)}")
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
            raise SweepError(f"expected an object, got {kind_of(value)}", where=place)
        return Record(fields=value, place=place)

    def _as_written(self, value: object, name: str) -> str:
        """A text, number or truth value as text."""
        if isinstance(value, str):
            return self._as_text(value, name)
        if isinstance(value, float) and not math.isfinite(value):
            raise self.wrong(f"{name} must be text or a finite number, got {kind_of(value)}")
        if isinstance(value, bool | int | float):
            return json.dumps(value)
        return self._as_text(value, name)

    def _as_text(self, value: object, name: str) -> str:
        """Value as text, or the error that says what it is instead."""
        if not isinstance(value, str):
            raise self.wrong(
                f"{name} must be text, got {kind_of(value)}",
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


class Places(Sequence[Record]):
    """Where the rows of one file stand: records without fields, in eight bytes each.

    Examples
    --------
    >>> places = Places()
    >>> places.append(Record(fields={"question": "Why?"}, place={"file": "q.csv", "line": 2}))
    >>> places[0]
    Record(fields={}, place={'file': 'q.csv', 'line': 2}, blank_is_null=False)
    """

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


def kind_of(value: object) -> str:
    """Name a value's kind in words, with a short excerpt.

    Examples
    --------
    >>> kind_of(None), kind_of(3), kind_of([1])
    ('null', 'number 3', 'a list')
    """
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
    r"""First characters of a text on one line, quoted.

    Examples
    --------
    >>> print(excerpt("two\nlines"))
    'two\nlines'
    """
    return repr(text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…")


def shown_names(names: Collection[str]) -> str:
    """List names for an error, cut where they are many."""
    listed = [str(name).replace("\n", "\\n") for name in names]
    more = len(listed) - _NAMES_SHOWN
    return " ".join(listed[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
