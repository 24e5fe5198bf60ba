"""Which option `gold` means in a plain file: one reading for the whole file, and never a guess.

In ``{"options": ["2", "1"], "gold": "2"}`` gold is the option of number 2, whose text is 1, or the
option whose text is 2: right and wrong swap between the two. A reading by which any item's gold
names no option is out; those that are left must name the same option in every item.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from judgerel_ray.benchmarks.record import Record
from judgerel_ray.core import GoldIs, Item, Option, SweepError

READINGS: tuple[GoldIs, ...] = ("id", "text", "letter", "number", "index")
"""What gold may name an option by: its id, its text, its letter (A is the first), its number
counted from 1, or its index counted from 0."""
REFERENCE: GoldIs = "reference"
"""Gold is a reference answer, and no option."""
_OPTIONS_SHOWN = 3
_LONGEST = 16
_LETTER = re.compile(r"\(?([A-Za-z])[).:]?")
_WHERE = " in the [[ask]] (judgerel items: --gold-is)"
_WHOLE = re.compile(r"([0-9]+)(?:\.0+)?")  # a table with gaps has its whole numbers as 2.0


class GoldReading(NamedTuple):
    """How the gold of a file was read.

    ``alike`` are other readings by which every item has the same option, ``out`` those by which
    some item has none; ``n_items`` have options and gold.
    """

    reading: GoldIs
    declared: bool
    n_items: int
    alike: tuple[GoldIs, ...] = ()
    out: tuple[GoldIs, ...] = ()


def resolve_gold(
    found: Sequence[tuple[Item, Record]], *, gold_is: GoldIs | None = None
) -> tuple[list[tuple[Item, Record]], GoldReading | None]:
    """Replace the gold of items by the id of the option that it names.

    Parameters
    ----------
    found : sequence of (Item, Record)
        All items of a file with gold as it stands there. Items without options, or without gold,
        are left as they are.
    gold_is : str, optional
        One of `READINGS`, or `REFERENCE`, where somebody says how gold is to be read.

    Returns
    -------
    tuple
        The items, and how gold was read; None where no item has options and gold.

    Raises
    ------
    SweepError
        If no reading names an option in every item, or two name different ones in any.

    Examples
    --------
    >>> two = tuple(Option(option_id=n, text=text) for n, text in (("1", "oak"), ("2", "apple")))
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=two, gold="B")
    >>> items, how = resolve_gold([(item, Record(fields={}, place={"file": "q.csv"}))])
    >>> items[0][0].gold, how.reading
    ('2', 'letter')
    """
    asked = [place for place, (item, _) in enumerate(found) if item.options and item.gold]
    if not asked:
        return list(found), None
    if gold_is == REFERENCE:
        return list(found), GoldReading(REFERENCE, declared=True, n_items=len(asked))
    some = [found[place] for place in asked]
    tried = READINGS if gold_is is None else (gold_is,)
    named = {reading: [_place(reading, item) for item, _ in some] for reading in tried}
    left = [reading for reading in tried if None not in named[reading]]
    if not left:
        raise _names_none(some, named)
    reading = left[0]
    for n, (item, record) in enumerate(some):
        if len({named[one][n] for one in left}) > 1:
            raise _names_several(item, record, {one: named[one][n] or 0 for one in left})
    resolved = list(found)
    for at, right in zip(asked, named[reading], strict=True):
        item, record = found[at]
        resolved[at] = replace(item, gold=item.options[right or 0].option_id), record
    return resolved, GoldReading(
        reading,
        declared=gold_is is not None,
        n_items=len(some),
        alike=tuple(left[1:]),
        out=tuple(one for one in tried if one not in left),
    )


def _place(reading: GoldIs, item: Item) -> int | None:
    """Place of the option that an item's gold names by a reading; None where it names none."""
    gold, n_options = (item.gold or "").strip(), len(item.options)
    if reading == "id":
        return _like(gold, [option.option_id for option in item.options])
    if reading == "text":
        return _like(gold, [option.text for option in item.options])
    if reading == "letter":
        letter = _LETTER.fullmatch(gold)
        place = string.ascii_uppercase.index(letter[1].upper()) if letter else -1
    else:
        whole = _whole(gold)
        place = -1 if whole is None else whole - (reading == "number")
    return place if 0 <= place < n_options else None


def _like(gold: str, names: Sequence[str]) -> int | None:
    """Place of the one name that gold is: as written, else as the same whole number."""
    for same in (str.strip, _whole):
        wanted = same(gold)
        places = [n for n, name in enumerate(names) if same(name) == wanted]
        if wanted is not None and places:
            return places[0] if len(places) == 1 else None
    return None


def _whole(text: str) -> int | None:
    """A text as a whole number, where it is one."""
    found = _WHOLE.fullmatch(text.strip())
    return int(found[1]) if found else None


def _names_several(item: Item, record: Record, places: Mapping[GoldIs, int]) -> SweepError:
    """The error of gold that means one option by one reading, and another by another."""
    by_place: dict[int, list[GoldIs]] = {}
    for reading, place in places.items():
        by_place.setdefault(place, []).append(reading)
    said = [
        f"by {' or '.join(readings)} option {place + 1}, which is {_shown(item.options[place])}"
        for place, readings in by_place.items()
    ]
    keys = [f'gold_is = "{readings[0]}"' for readings in by_place.values()]
    return record.wrong(
        f"gold {_brief(item.gold or '')} of item {_brief(item.item_id)} may mean "
        f"{len(by_place)} options: {'; '.join(said)}",
        hint=" or ".join(keys) + _WHERE,
    )


def _names_none(
    some: Sequence[tuple[Item, Record]], named: Mapping[GoldIs, Sequence[int | None]]
) -> SweepError:
    """The error of gold that names no option, or not in one way for all items of a file."""
    for n, (item, record) in enumerate(some):
        if all(places[n] is None for places in named.values()):
            names = [_shown(option) for option in item.options[:_OPTIONS_SHOWN]]
            if len(item.options) > _OPTIONS_SHOWN:
                names.append(f"and {len(item.options) - _OPTIONS_SHOWN} more")
            return record.wrong(
                f"gold {_brief(item.gold or '')} of item {_brief(item.item_id)} names no option by "
                f"{_either(named)}; its options are {', '.join(names)}",
                hint=f'mend it, or gold_is = "{REFERENCE}"{_WHERE} where it is no option',
            )
    said = []
    for reading, places in named.items():
        item = some[places.index(None)][0]
        if any(place is not None for place in places):
            said.append(
                f"by {reading} {_brief(item.gold or '')} of item {_brief(item.item_id)} is none"
            )
    return SweepError(
        f"gold names options in one way in one item and in another elsewhere: {'; '.join(said)}",
        where={"file": some[0][1].place.get("file")},
        hint="write gold in one way in the whole file",
    )


def _either(names: Iterable[str]) -> str:
    """Names with commas and an or."""
    *rest, last = names
    return f"{', '.join(rest)} or {last}" if rest else last


def _shown(option: Option) -> str:
    """An option with its id and its text."""
    return f"{_brief(option.option_id)} ({_brief(option.text)})"


def _brief(text: str) -> str:
    """A text as it is told beside others."""
    shown = repr(text)
    return shown if len(shown) <= _LONGEST + 2 else f"{shown[:_LONGEST]}…{shown[-1]}"
