"""Values of JSON in a reply, each read whole by a parser, never an object inside another.

Line breaks in strings are common in replies and read; a key that an object repeats keeps every
value; whole numbers stay as they are written.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
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
    text: str, begins: re.Pattern[str], *, repairs: bool = False
) -> Iterator[FoundValue]:
    """Find values of JSON in a text, in the order written, none of them inside another.

    FoundValue: Also what begins as an object and is none. Nothing is read behind a broken object,
    or behind one that is nested too deep: where it ends nobody knows, so that what follows may
    stand inside it.

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
            continue
        except RecursionError:
            # Nested beyond what a parser reads, a thousand levels: what follows may be inside it,
            # and to try each of its brackets would take each time as long.
            yield FoundValue(None, start, len(text), is_whole=False)
            return
        except ValueError:
            pass
        if text[start] == "[":
            place = begun.end()
            continue
        is_object = _QUOTED_KEY.match(text, start) or _BARE_KEY.match(text, start)
        end = text.rfind("}") + 1 if repairs and is_object else start
        repaired = _repaired_json_reply(text[start:end]) if end - start > 1 else None
        if repaired is not None:
            yield FoundValue(repaired, start, end)
            return
        # Broken JSON may end anywhere; a brace of prose is a sign like any other.
        end = start + 1
        if _QUOTED_KEY.match(text, start):
            end = len(text)
        elif _BARE_KEY.match(text, start):
            end = _reply_brace_end(text, start)
        yield FoundValue(None, start, end, is_whole=False)
        place = end


def _reply_object_with_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
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
    strict=False, object_pairs_hook=_reply_object_with_repeats, parse_int=str, parse_constant=str
)
OBJECT = re.compile(r"\{")
"""How an object begins."""
_QUOTED_KEY = re.compile(r"\{\s*[\"'“”]")
_BARE_KEY = re.compile(r"\{\s*\w+\s*:")
_LONGEST_REPAIRED = 20_000
_BRACE = re.compile(r"[{}]")
_COMMA = re.compile(r",(?=\s*[}\]])")


def _reply_brace_end(text: str, start: int) -> int:
    """Behind the brace that closes the one at `start`; else the text's end."""
    depth = 0
    for sign in _BRACE.finditer(text, start):
        depth += 1 if sign[0] == "{" else -1
        if not depth:
            return sign.end()
    return len(text)


def _repaired_json_reply(written: str) -> object:
    """An object with a comma too many, or as Python writes it; None where it is neither."""
    if len(written) > _LONGEST_REPAIRED:
        return None
    try:
        return _DECODER.decode(_COMMA.sub("", written))
    except (ValueError, RecursionError):
        pass
    if '"' in written or re.search(r"'\s*'", written):  # texts side by side would be joined
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(written.strip(), mode="eval")
            found = ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    objects = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    is_plain = all(
        len({ast.dump(key) for key in one.keys if key}) == len(one.keys) for one in objects
    )
    return found if is_plain and isinstance(found, dict | list) else None
