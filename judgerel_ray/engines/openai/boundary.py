r"""What a server sends, before anything reads, cuts or keeps it: no API key, only valid values.

Bodies, headers and the texts of exceptions pass here once, whole::

    bytes --- json ---> every string: the key out, lone surrogates replaced ---> replies, messages
                        counts and log-probabilities: in the tables' domain, or none

A key is found in parts of :data:`LEAST` characters or more, wherever a server or a proxy cut it,
and in the forms that text takes on its way: Base64 at any offset, hexadecimal digits, any case,
``%2D``, ``%252d`` and ``\u002d``. Parts of one or two different characters alone, which a table's
rule may be, give no key away and stay. What all that takes grows with the length of a text and no
faster, whatever stands in it and whatever the key.
"""

from __future__ import annotations

import json
import math
import re
import string
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from judgerel_ray.core import EngineError
from judgerel_ray.engines.engine import JSON

LEAST = 12
"""Characters of a key that are searched for in replies; fewer might be any text."""
REDACTED = "[key]"
LONGEST_MESSAGE = 300
LARGEST_COUNT = 2**31 - 1  # the tables' columns are Int32
LARGEST_LOGPROB = 1e-3  # above 0 by rounding in half precision, and not by more

_PLACEHOLDERS = frozenset(
    {
        "no-key-required", "sk-no-key-required", "not-required", "no-api-key", "no-api-key-needed",
        "your-api-key", "your_api_key", "your-api-key-here", "sk-placeholder", "token-abc123",
        "placeholder", "sk-xxxxxxxxxxxx", "empty", "none", "null", "dummy", "sk-dummy", "fake-key",
        "fake", "test", "test-key", "secret", "not-needed", "unused", "ollama", "lm-studio", "vllm",
        "local", "key", "api-key",
    }
)  # fmt: skip
_FEWEST_DIFFERENT = 5  # characters of a key; "xxxxxxxxxxxxxxxx" stands for one
_RULE = 2  # different characters of a ruled line ("|-----|"), which may be part of a key, too
_SHORTEST_SECRET = 6  # of keys too short to search replies for; in error messages they are replaced
_SURROGATE = re.compile("[\ud800-\udfff]")
# Any number of backslashes: JSON within JSON doubles them at every level.
# Each run is tried from its first one alone, and never given back in parts.
_RUN = r"(?<!\\)\\"
_ESCAPED = re.compile(rf"%([2-7][0-9a-fA-F])|{_RUN}++[uU]00([2-7][0-9a-fA-F])|{_RUN}++(/)")
_ALL_ESCAPED = re.compile(  # replies are full of these
    rf'{_ESCAPED.pattern}|{_RUN}++(")|{_RUN}+(\\)'
)
_LEVELS = 4  # of escapes of escapes
_HIDDEN = re.compile(r"\\u(?:00[2-7]|[dD][89a-fA-F])")  # JSON's escapes of ASCII and surrogates
_PIECE = LEAST // 2
_BASE64 = 15  # digits that twelve bytes have for their own, at least
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def plain_text(text: str) -> str:
    r"""Replace lone surrogates, which no UTF-8 file can hold, by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def int32_count(value: JSON) -> int | None:
    """Take a count that a column can hold; None for anything else."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value <= LARGEST_COUNT else None  # type: ignore[operator, return-value]


def finite_logprob(value: JSON) -> float | None:
    """Take a log-probability; None for what is no number, not finite, or above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared as it is: a whole number may be too large for a float.
    is_one = value <= LARGEST_LOGPROB and value >= -1e300
    return float(value) if is_one and math.isfinite(value) else None


def _server_key_spellings(key: str) -> dict[int, frozenset[str]]:
    """What gives a key away in lower case, by length; nothing of a short one or a placeholder."""
    if len(key) < LEAST or is_placeholder_key(key):
        return {}
    data = key.encode(errors="replace")
    found = {LEAST: [key], 2 * LEAST: [data.hex()], _BASE64: []}
    for offset in range(3):  # of the key within the groups of three bytes that Base64 writes
        whole = b64encode(b"\0" * offset + data).decode()
        # Only digits all of whose bits are the key's.
        digits = whole[-(-8 * offset // 6) : (8 * (offset + len(data))) // 6]
        found[_BASE64] += [digits, digits.translate(str.maketrans("+/", "-_"))]
    return {
        size: frozenset(
            cut
            for text in texts
            for cut in _server_text_windows(_lower_case_server_text(text), size)
        )
        for size, texts in found.items()
    }


def _server_text_windows(text: str, size: int) -> Iterator[str]:
    """Every stretch of a length."""
    return (text[at : at + size] for at in range(len(text) - size + 1))


def _pieces_of(view: str) -> list[str]:
    """Pieces into which a text falls; every stretch of twelve holds a whole one."""
    return [view[at : at + _PIECE] for at in range(0, len(view), _PIECE)]


def _lower_case_server_text(text: str) -> str:
    """A text in lower case, every character in its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_LOWER)


def is_placeholder_key(key: str) -> bool:
    """Whether a key only fills the place of one, as servers without keys are given."""
    return key.lower() in _PLACEHOLDERS or len(set(key)) < _FEWEST_DIFFERENT


@dataclass(frozen=True)
class Boundary:
    r"""Where one server's bytes come in."""

    secret: str | None = field(default=None, repr=False)

    @cached_property
    def _stretches(self) -> dict[int, frozenset[str]]:
        return _server_key_spellings((self.secret or "").strip())

    @cached_property
    def _escapes(self) -> re.Pattern[str]:
        """Escapes of what the key is made of."""
        return _ALL_ESCAPED if {'"', "\\"}.intersection(self.secret or "") else _ESCAPED

    @cached_property
    def _pieces(self) -> dict[int, frozenset[str]]:
        """Every :data:`_PIECE` characters of the stretches of each length."""
        return {
            size: frozenset(cut for one in stretches for cut in _server_text_windows(one, _PIECE))
            for size, stretches in self._stretches.items()
        }

    def clean(self, text: str) -> str:
        """Redact the key in a text and replace lone surrogates."""
        text = plain_text(text)
        if len(text) < LEAST or not self._may_hold(text):
            return text
        spans = [
            (places[first], places[last])
            for view, places in _unescaped_server_texts(text, self._escapes)
            for first, last in self._spans(_lower_case_server_text(view))
        ]
        parts: list[str] = []
        end = 0
        for first, last in _merged_server_key_spans(sorted(spans)):
            parts += [text[end:first], REDACTED]
            end = last
        return "".join([*parts, text[end:]])

    def _spans(self, view: str) -> Iterator[tuple[int, int]]:
        """Where parts of the key stand that give it away."""
        cut = _pieces_of(view)
        for size, stretches in self._stretches.items():
            pieces = self._pieces[size]
            found: list[tuple[int, int]] = []
            tried = 0  # no place is looked at twice
            for at in (n * _PIECE for n, piece in enumerate(cut) if piece in pieces):
                starts = range(max(tried, at + _PIECE - size), at + 1)
                found += [(n, n + size) for n in starts if view[n : n + size] in stretches]
                tried = at + 1
            for first, last in _merged_server_key_spans(found):
                if size != LEAST or len(set(view[first:last])) > _RULE:
                    yield first, last

    def message(self, text: str, limit: int = LONGEST_MESSAGE) -> str:
        """Clean a text of a failure, then bring it into one line and cut it."""
        text = self.clean(text)
        key = (self.secret or "").strip()
        if len(key) >= _SHORTEST_SECRET and not is_placeholder_key(key):
            text = text.replace(key, REDACTED)
        return " ".join(text.split())[:limit]

    def document(self, body: str) -> JSON:
        """Parse a body, every string in it cleaned."""
        try:
            content: JSON = json.loads(body)
            # What is not in the body, and not escaped there, is in none of its strings.
            is_plain = body.isascii() or not _SURROGATE.search(body)
            is_open = "\\u" not in body or not _HIDDEN.search(body)
            if is_plain and is_open and not self._may_hold(body):
                return content
            return self._cleaned(content)
        except (ValueError, RecursionError) as error:
            raise EngineError(f"the server's answer is not JSON: {str(error)[:80]}") from None

    def _cleaned(self, value: JSON) -> JSON:
        """A JSON value with every string cleaned, names included."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, list):
            return [self._cleaned(one) for one in value]
        if isinstance(value, dict):
            return {self.clean(name): self._cleaned(one) for name, one in value.items()}
        return value

    def _may_hold(self, text: str) -> bool:
        """Whether a text may hold the key in any form; quick for one that does not."""
        if not self._pieces:
            return False
        for _ in range(1 + _LEVELS):
            cut = _pieces_of(_lower_case_server_text(text))
            if not all(pieces.isdisjoint(cut) for pieces in self._pieces.values()):
                return True
            if not (("%" in text or "\\" in text) and self._escapes.search(text)):
                return False
            text = self._escapes.sub(_server_escape_character, text)
        return False


def _server_escape_character(escaped: re.Match[str]) -> str:
    """The character that an escape stands for."""
    percent, unicode, *plain = escaped.groups()
    code = percent or unicode
    return chr(int(code, 16)) if code else next(filter(None, plain))


def _unescaped_server_texts(
    text: str, escapes: re.Pattern[str]
) -> Iterator[tuple[str, Sequence[int]]]:
    """A text as it stands, then with its escapes resolved, and theirs.

    Each comes with the place in `text` of each of its characters, and of its end.
    """
    places: Sequence[int] = range(len(text) + 1)
    yield text, places
    for _ in range(_LEVELS):
        parts: list[str] = []
        kept: list[int] = []
        end = 0
        for escaped in escapes.finditer(text):
            parts += [text[end : escaped.start()], _server_escape_character(escaped)]
            kept += places[end : escaped.start() + 1]
            end = escaped.end()
        if not parts:
            return
        text, places = "".join([*parts, text[end:]]), [*kept, *places[end:]]
        yield text, places


def _merged_server_key_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that are in order, those that overlap or touch as one."""
    merged: list[tuple[int, int]] = []
    for first, last in spans:
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged
