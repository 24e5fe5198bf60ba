"""What every loader's items must be before a sweep may ask about them.

Which option `gold` means in a plain file: one reading for the whole file, and never a guess. In
``{"options": ["2", "1"], "gold": "2"}`` gold is the option of number 2, whose text is 1, or the
option whose text is 2: right and wrong swap between the two. A reading by which any item's gold
names no option is out; those that are left must name the same option in every item.

Recorded responses, of a file of their own, are joined to questions as options.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from judgerel_ray.benchmarks.source import Record, excerpt, read_records
from judgerel_ray.core import GoldIs, Item, Option, SweepError
from judgerel_ray.core.text import either


def admit(found: Iterable[tuple[Item, Record]], *, path: str) -> tuple[Item, ...]:
    """Check items against each other and hand them on in their order.

    An option's text may be empty: a responder may have said nothing, and the judge sees that.
    """
    records: list[Record] = []

    def items() -> Iterator[Item]:
        for item, record in found:
            records.append(record)
            yield item

    return admit_all(items(), records, path=path)


def admit_all(items: Iterable[Item], records: Sequence[Record], *, path: str) -> tuple[Item, ...]:
    """As :func:`admit`, of items beside their records, which are read only to refuse one."""
    seen: set[str] = set()
    admitted: list[Item] = []
    for n, item in enumerate(items):
        if item.item_id in seen:
            first = next(k for k, one in enumerate(admitted) if one.item_id == item.item_id)
            place = records[first].place.items()
            spot = " ".join(f"{name} {value}" for name, value in place if name != "file")
            raise SweepError(
                f"item_id {item.item_id!r} stands twice",
                where={**records[n].place, "first": spot},
                hint="give every item its own item_id",
            )
        if not item.question.strip():
            raise records[n].wrong(f"the question of item {item.item_id!r} is empty")
        seen.add(item.item_id)
        admitted.append(item)
    if not admitted:
        raise SweepError("no items found", where={"file": path})
    return tuple(admitted)


def admit_rows(path: str, item: Callable[[Record, int], Item]) -> tuple[Item, ...]:
    """Admit an item of every row of a file, made of its record and its place, from 0."""
    records = read_records(path)
    return admit_all([item(record, n) for n, record in enumerate(records)], records, path=path)


def distinct_options(options: Iterable[Option], record: Record) -> tuple[Option, ...]:
    """Check one item's options against each other."""
    listed = tuple(options)
    seen: set[str] = set()
    for option in listed:
        if not option.option_id.strip():
            raise record.wrong("an option has an empty option_id")
        if option.option_id in seen:
            raise record.wrong(f"option_id {option.option_id!r} stands twice in one item")
        seen.add(option.option_id)
    return listed


READINGS: tuple[GoldIs, ...] = ("id", "text", "letter", "number", "index")
"""What gold may name an option by: its id, its text, its letter (A is the first), its number
counted from 1, or its index counted from 0."""
REFERENCE: GoldIs = "reference"
"""Gold is a reference answer, and no option."""
NO_TIES: Mapping[str, str] = MappingProxyType({})
_OPTIONS_SHOWN = 3
_LONGEST = 16
_LETTER = re.compile(r"\(?([A-Za-z])[).:]?")
_WHERE = " in the [[ask]] (judgerel items: --gold-is)"
_WHOLE = re.compile(r"([0-9]+)(?:\.0+)?")  # a table with gaps has its whole numbers as 2.0


class GoldReading(NamedTuple):
    """How the gold of a file was read.

    ``alike`` are other readings by which every item has the same option, ``out`` those by which
    some item has none; ``n_items`` have options and gold. ``otherwise`` has gold the other way, by
    item_id, where that differs: as it is written; of references the ids, where they name options.
    """

    reading: GoldIs
    declared: bool
    n_items: int
    alike: tuple[GoldIs, ...] = ()
    out: tuple[GoldIs, ...] = ()
    otherwise: Mapping[str, str] = MappingProxyType({})


def resolve_gold(
    items: Sequence[Item],
    records: Sequence[Record],
    *,
    gold_is: GoldIs | None = None,
    ties: Mapping[str, str] = NO_TIES,
) -> tuple[tuple[Item, ...], GoldReading | None]:
    """Replace the gold of items by the id of the option that it names."""
    resolved = list(items)
    asked = [n for n, item in enumerate(resolved) if item.options and item.gold]
    if gold_is != REFERENCE and ties:
        for n in asked:
            resolved[n] = _item_with_tie_gold(resolved[n], records, n, gold_is, ties)
        asked = [n for n in asked if resolved[n].gold not in ties.values()]
    if not asked:
        return tuple(resolved), None
    some = _SomeItems([resolved[n] for n in asked], asked, records)
    if gold_is == REFERENCE:
        read = GoldReading(REFERENCE, declared=True, n_items=len(asked))
        try:
            ids, _ = _option_ids(some, READINGS)
        except SweepError:
            return tuple(resolved), read
        pairs = zip(some.items, ids, strict=True)
        differing = {item.item_id: one for item, one in pairs if item.gold != one}
        return tuple(resolved), read._replace(otherwise=differing)
    tried = READINGS if gold_is is None else (gold_is,)
    ids, left = _option_ids(some, tried)
    written: dict[str, str] = {}
    for n, option_id in zip(asked, ids, strict=True):
        item = resolved[n]
        if item.gold != option_id:
            written[item.item_id] = item.gold or ""
            resolved[n] = replace(item, gold=option_id)
    return tuple(resolved), GoldReading(
        left[0],
        declared=gold_is is not None,
        n_items=len(asked),
        alike=tuple(left[1:]),
        out=tuple(one for one in tried if one not in left),
        otherwise=written,
    )


class _SomeItems(NamedTuple):
    """Some items of a file, and where all of its items stand."""

    items: Sequence[Item]
    places: Sequence[int]
    records: Sequence[Record]

    def record(self, n: int) -> Record:
        """Where one of them stands."""
        return self.records[self.places[n]]


def _item_with_tie_gold(
    item: Item, records: Sequence[Record], n: int, gold_is: GoldIs | None, ties: Mapping[str, str]
) -> Item:
    """An item whose gold is the verdict of a tie, where it is a word for one."""
    tie = ties.get((item.gold or "").strip().casefold())
    if tie is None:
        return item
    for reading in READINGS if gold_is is None else (gold_is,):
        if (place := _item_gold_place(reading, item)) is not None:
            raise records[n].wrong(
                f"gold {_brief(item.gold or '')} of item {_brief(item.item_id)} may mean a tie, or "
                f"by {reading} option {place + 1}, which is {_shown(item.options[place])}",
                hint="call the tie by another word in template.toml",
            )
    return replace(item, gold=tie)


def _option_ids(some: _SomeItems, tried: Sequence[GoldIs]) -> tuple[list[str], list[GoldIs]]:
    """Ids of the options that gold names, and the readings by which it names one in every item."""
    places: dict[GoldIs, list[int]] = {}
    for reading in tried:  # each up to the first item in which it names nothing
        named: list[int] = []
        for item in some.items:
            if (place := _item_gold_place(reading, item)) is None:
                break
            named.append(place)
        else:
            places[reading] = named
    left = list(places)
    if not left:
        raise _names_none(
            some, {one: [_item_gold_place(one, item) for item in some.items] for one in tried}
        )
    if len(left) > 1:
        for n, item in enumerate(some.items):
            if len({places[one][n] for one in left}) > 1:
                named_by = {one: places[one][n] for one in left}
                raise _names_several(item, some.record(n), named_by)
    pairs = zip(some.items, places[left[0]], strict=True)
    return [item.options[right].option_id for item, right in pairs], left


def _item_gold_place(reading: GoldIs, item: Item) -> int | None:
    """Place of the option that an item's gold names by a reading; None where it names none."""
    gold, n_options = (item.gold or "").strip(), len(item.options)
    if reading == "id":
        return _place_like(gold, [option.option_id for option in item.options])
    if reading == "text":
        return _place_like(gold, [option.text for option in item.options])
    if reading == "letter":
        letter = _LETTER.fullmatch(gold)
        place = string.ascii_uppercase.index(letter[1].upper()) if letter else -1
    else:
        whole = _whole_number(gold)
        place = -1 if whole is None else whole - (reading == "number")
    return place if 0 <= place < n_options else None


def _place_like(gold: str, names: Sequence[str]) -> int | None:
    """Place of the one name that gold is: as written, else as the same whole number."""
    for same in (str.strip, _whole_number):
        wanted = same(gold)
        places = [n for n, name in enumerate(names) if same(name) == wanted]
        if wanted is not None and places:
            return places[0] if len(places) == 1 else None
    return None


def _whole_number(text: str) -> int | None:
    found = _WHOLE.fullmatch(text.strip())
    return int(found[1]) if found else None


def _names_several(item: Item, record: Record, places: Mapping[GoldIs, int]) -> SweepError:
    """The error of gold that means one option by one reading, and another by another."""
    by_place: dict[int, list[GoldIs]] = {}
    for reading, place in places.items():
        by_place.setdefault(place, []).append(reading)
    readings_shown = [
        f"by {' or '.join(readings)} option {place + 1}, which is {_shown(item.options[place])}"
        for place, readings in by_place.items()
    ]
    keys = [f'gold_is = "{readings[0]}"' for readings in by_place.values()]
    return record.wrong(
        f"gold {_brief(item.gold or '')} of item {_brief(item.item_id)} may mean "
        f"{len(by_place)} options: {'; '.join(readings_shown)}",
        hint=" or ".join(keys) + _WHERE,
    )


def _names_none(some: _SomeItems, named: Mapping[GoldIs, Sequence[int | None]]) -> SweepError:
    """The error of gold that names no option, or not in one way for all items of a file."""
    for n, item in enumerate(some.items):
        if all(places[n] is None for places in named.values()):
            names = [_shown(option) for option in item.options[:_OPTIONS_SHOWN]]
            if len(item.options) > _OPTIONS_SHOWN:
                names.append(f"and {len(item.options) - _OPTIONS_SHOWN} more")
            several = _ambiguous_readings(item, named)
            return some.record(n).wrong(
                f"gold {_brief(item.gold or '')} of item {_brief(item.item_id)} names "
                f"{several or f'no option by {either(*named)}'}; its options are "
                f"{', '.join(names)}",
                hint="give its id, letter or number, for the whole file"
                if several
                else f'mend it, or gold_is = "{REFERENCE}"{_WHERE} where it is no option',
            )
    differences = []
    for reading, places in named.items():
        item = some.items[places.index(None)]
        if any(place is not None for place in places):
            differences.append(
                f"by {reading} {_brief(item.gold or '')} of item {_brief(item.item_id)} is none"
            )
    nearest = max(named, key=lambda reading: sum(place is not None for place in named[reading]))
    return SweepError(
        f"gold does not name options in one way throughout: {'; '.join(differences)}",
        where={"file": some.record(0).place.get("file")},
        hint="write gold in one way in the whole file; gold_is = "
        f'"{nearest}"{_WHERE} names the first that is otherwise',
    )


def _ambiguous_readings(item: Item, tried: Collection[GoldIs]) -> str:
    """Which readings gold names several options by, as options have one text; empty of none."""
    gold = (item.gold or "").strip()
    names: dict[GoldIs, list[str]] = {
        "id": [option.option_id for option in item.options],
        "text": [option.text for option in item.options],
    }
    for reading, written in names.items():
        n = sum(one.strip() == gold for one in written)
        if n > 1 and reading in tried:
            return f"{n} options by {reading}"
    return ""


def _shown(option: Option) -> str:
    """An option with its id and its text."""
    return f"{_brief(option.option_id)} ({_brief(option.text)})"


def _brief(text: str) -> str:
    """A text as it is told beside others."""
    shown = repr(text)
    return shown if len(shown) <= _LONGEST + 2 else f"{shown[:_LONGEST]}…{shown[-1]}"


def gold_note(read: GoldReading) -> str:
    """Say how the gold of a file was read where nobody had said how.

    Examples
    --------
    >>> gold_note(GoldReading("letter", declared=False, n_items=40))
    'gold is taken for the letter of the right option, as it is one in all 40 items that have it'
    """
    alike = f" (by {' or '.join(read.alike)} it is the same one)" if read.alike else ""
    return (
        f"gold is taken for the {read.reading} of the right option{alike}, as it is one in all "
        f"{read.n_items:,} items that have it"
    )


Q = TypeVar("Q", bound=Hashable)


class Responses(Generic[Q]):
    """Answers by question and responder, each kept with the record that holds it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._answers: dict[Q, dict[str, str]] = {}
        self._records: dict[Q, Record] = {}

    def __contains__(self, question: Q) -> bool:
        return question in self._answers

    def add(self, question: Q, responder: str, text: str, record: Record) -> None:
        """Keep one answer."""
        answers = self._answers.setdefault(question, {})
        if responder in answers:
            raise record.wrong(f"{responder!r} answers the same question twice")
        answers[responder] = text
        self._records.setdefault(question, record)

    def options(self, question: Q, record: Record) -> tuple[Option, ...]:
        """Options of one question: its responders in the order of their names."""
        answers = sorted(self._answers.get(question, {}).items())
        return distinct_options((Option(option_id=r, text=text) for r, text in answers), record)

    def match(self, questions: Mapping[Q, object], *, hint: str) -> None:
        """Refuse answers none of which belongs to a question."""
        if not any(question in questions for question in self._answers):
            example = next(iter(self._answers), None)
            raise SweepError(
                f"none of {len(self._answers)} answered questions is in the question file, "
                f"the first is {excerpt(str(example))}",
                where={"file": self._path},
                hint=hint,
            )

    def first_unmatched(self, questions: Mapping[Q, object]) -> tuple[Q, Record] | None:
        """First answered question that is not among these, with its record."""
        return next((pair for pair in self._records.items() if pair[0] not in questions), None)
