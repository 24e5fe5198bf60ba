"""Values of JSON in a reply, each read whole by a parser, never an object inside another.

Line breaks in strings are common in replies and read; a key that an object repeats keeps every
value; whole numbers stay as they are written.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import NamedTuple


class RepeatedKey(list[object]):
    """Values of a key that an object has more than once."""


class FoundValue(NamedTuple):
    """A value of JSON and where it stands; ``is_whole`` is False of what no parser reads.

    >>> FoundValue({"a": "1"}, 0, 8).is_whole
    True
    """

    value: object
    start: int
    end: int
    is_whole: bool = True


def outermost_values(
    text: str, begins: re.Pattern[str], *, literals: bool = False
) -> Iterator[FoundValue]:
    """Find values of JSON in a text, in the order written, none of them inside another.

    Parameters
    ----------
    text : str
        A reply.
    begins : re.Pattern
        How a value begins.
    literals : bool
        Whether an object with single quotes or a comma too many is read, too.

    Yields
    ------
    FoundValue
        Also what begins as a value and is none, up to where its brackets close or to the end.

    Examples
    --------
    >>> [one.value for one in outermost_values('So {"a": {"b": 1}} and {"b": 2}', OBJECT)]
    [{'a': {'b': '1'}}, {'b': '2'}]
    >>> [one.is_whole for one in outermost_values('{"a": {"b": 1}, "c": tru', OBJECT)]
    [False]
    """
    place = 0
    while (begun := begins.search(text, place)) is not None:
        start = begun.start()
        try:
            value, place = _DECODER.raw_decode(text, start)
            yield FoundValue(value, start, place)
        except (ValueError, RecursionError):
            place = _closing(text, start)
            value = _literal(text[start:place]) if literals else None
            yield FoundValue(value, start, place, is_whole=value is not None)


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object with every value of a key that it repeats."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key not in found:
            found[key] = value
        elif isinstance(held := found[key], RepeatedKey):
            held.append(value)
        else:
            found[key] = RepeatedKey([held, value])
    return found


_DECODER = json.JSONDecoder(
    strict=False, object_pairs_hook=_distinct, parse_int=str, parse_constant=str
)
OBJECT = re.compile(r"\{(?=\s*\")")
"""How an object begins."""
_SIGN = re.compile(r"""[{}\[\]"]|\\.""", re.DOTALL)
_LONGEST_LITERAL = 20_000


def _closing(text: str, start: int) -> int:
    """Behind the bracket that closes the one at `start`, strings left out; else the text's end."""
    depth, in_string = 0, False
    for sign in _SIGN.finditer(text, start):
        if sign[0] == '"':
            in_string = not in_string
        elif not in_string and sign[0] in "{[":
            depth += 1
        elif not in_string and sign[0] in "}]":
            depth -= 1
            if not depth:
                return sign.end()
    return len(text)


def _literal(written: str) -> object:
    """An object written as Python writes it; None where it is none."""
    if len(written) > _LONGEST_LITERAL:
        return None
    try:
        found = ast.literal_eval(written)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None
