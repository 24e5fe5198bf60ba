r"""What a server sends, before anything reads, cuts or keeps it: no API key, only valid values.

Bodies, headers and the texts of exceptions pass here once, whole::

    bytes --- json ---> every string: the key out, lone surrogates replaced ---> replies, messages
                        counts and log-probabilities: in the tables' domain, or none

A key is found in parts of :data:`LEAST` characters or more, wherever a server or a proxy cut it,
and in the forms that text takes on its way: Base64 at any offset, hexadecimal digits, lower case,
``%2D`` and ``\u002d``.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
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
_SHORTEST_SECRET = 6  # of keys too short to search replies for; in error messages they are replaced
_SURROGATE = re.compile("[\ud800-\udfff]")
# Any number of backslashes: JSON within JSON doubles them at every level.
_ESCAPED = re.compile(r"%([2-7][0-9a-fA-F])|\\+u00([2-7][0-9a-fA-F])|\\+(/)")
_ALL_ESCAPED = re.compile(rf'{_ESCAPED.pattern}|\\+(")|\\+(\\)')  # replies are full of these
_HIDDEN = re.compile(r"\\u(?:00[2-7]|[dD][89a-fA-F])")  # JSON's escapes of ASCII and surrogates
_PIECE = LEAST // 2


def plain_text(text: str) -> str:
    r"""Replace lone surrogates, which no UTF-8 file can hold, by U+FFFD.

    Examples
    --------
    >>> plain_text("caf\u00e9 \ud800")
    'café �'
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def int32_count(value: JSON) -> int | None:
    """Take a count that a column can hold; None for anything else.

    Examples
    --------
    >>> int32_count(7), int32_count(2**33), int32_count(-1), int32_count(True), int32_count(1.5)
    (7, None, None, None, None)
    """
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value <= LARGEST_COUNT else None  # type: ignore[operator, return-value]


def finite_logprob(value: JSON) -> float | None:
    """Take a log-probability; None for what is no number, not finite, or above 0.

    Examples
    --------
    >>> finite_logprob(-0.5), finite_logprob(float("nan")), finite_logprob("-1"), finite_logprob(3)
    (-0.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared as it is: a whole number may be too large for a float.
    is_one = value <= LARGEST_LOGPROB and value >= -1e300
    return float(value) if is_one and math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class _Form:
    """A key as it may be spelled, and how much of the spelling gives it away."""

    text: str
    least: int

    def parts(self) -> Iterator[tuple[int, str]]:
        """Pieces with their places, of which every stretch of `least` characters holds one."""
        size = self.least // 2
        for place in range(0, len(self.text) - size + 1, size):
            yield place, self.text[place : place + size]

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where at least `least` characters of this spelling stand in a text."""
        for place, part in self.parts():
            start = text.find(part)
            while start >= 0:
                first, last = start, start + len(part)
                before, after = place, place + len(part)
                while first and before and text[first - 1] == self.text[before - 1]:
                    first, before = first - 1, before - 1
                while (
                    last < len(text) and after < len(self.text) and text[last] == self.text[after]
                ):
                    last, after = last + 1, after + 1
                if last - first >= self.least:
                    yield first, last
                start = text.find(part, start + 1)


def _forms(key: str) -> tuple[_Form, ...]:
    """Every spelling of a key that is searched for; none of a short one or a placeholder."""
    if len(key) < LEAST or is_placeholder(key):
        return ()
    data = key.encode(errors="replace")
    found = {key: LEAST, key.lower(): LEAST, data.hex(): 2 * LEAST, data.hex().upper(): 2 * LEAST}
    for offset in range(3):  # of the key within the groups of three bytes that Base64 writes
        whole = b64encode(b"\0" * offset + data).decode()
        # Only digits all of whose bits are the key's; of twelve bytes those are 15 at least.
        digits = whole[-(-8 * offset // 6) : (8 * (offset + len(data))) // 6]
        found |= {digits: 15, digits.translate(str.maketrans("+/", "-_")): 15}
    return tuple(_Form(text, least) for text, least in found.items())


def is_placeholder(key: str) -> bool:
    """Whether a key only fills the place of one, as servers without keys are given.

    Examples
    --------
    >>> is_placeholder("EMPTY"), is_placeholder("xxxxxxxxxxxxxxxx"), is_placeholder("sk-9dK2mQ7v")
    (True, True, False)
    """
    return key.lower() in _PLACEHOLDERS or len(set(key)) < _FEWEST_DIFFERENT


@dataclass(frozen=True)
class Boundary:
    r"""Where one server's bytes come in.

    Parameters
    ----------
    secret : str or None
        The API key's value, to be kept out of all that is stored, shown or sent on.

    Examples
    --------
    >>> boundary = Boundary("sk-9dK2mQ7vTz41")
    >>> boundary.clean("Bearer sk-9dK2mQ7vTz41, cut: sk-9dK2mQ7vTz")
    'Bearer [key], cut: [key]'
    >>> boundary.document('{"text": "sk-9dK2mQ7vT\\u007a41"}')
    {'text': '[key]'}
    >>> boundary
    Boundary()
    """

    secret: str | None = field(default=None, repr=False)

    @cached_property
    def _forms(self) -> tuple[_Form, ...]:
        return _forms((self.secret or "").strip())

    @cached_property
    def _escapes(self) -> re.Pattern[str]:
        """Escapes of what the key is made of."""
        return _ALL_ESCAPED if {'"', "\\"}.intersection(self.secret or "") else _ESCAPED

    @cached_property
    def _pieces(self) -> frozenset[str]:
        """Every stretch of :data:`_PIECE` characters of every form."""
        return frozenset(
            form.text[place : place + _PIECE]
            for form in self._forms
            for place in range(len(form.text) - _PIECE + 1)
        )

    def clean(self, text: str) -> str:
        """Redact the key in a text and replace lone surrogates."""
        text = plain_text(text)
        if len(text) < LEAST or not self._may_hold(text):
            return text
        spans = [
            (places[first], places[last])
            for view, places in _views(text, self._escapes)
            for form in self._forms
            for first, last in form.spans(view)
        ]
        for first, last in reversed(_merged(spans)):
            text = text[:first] + REDACTED + text[last:]
        return text

    def message(self, text: str, limit: int = LONGEST_MESSAGE) -> str:
        """Clean a text of a failure, then bring it into one line and cut it."""
        text = self.clean(text)
        key = (self.secret or "").strip()
        if len(key) >= _SHORTEST_SECRET and not is_placeholder(key):
            text = text.replace(key, REDACTED)
        return " ".join(text.split())[:limit]

    def document(self, body: str) -> JSON:
        """Parse a body, every string in it cleaned.

        Raises
        ------
        EngineError
            If it is not JSON, or nested too deep to be read.
        """
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
        pieces = self._pieces
        if not pieces:
            return False
        views = [text]
        if ("%" in text or "\\" in text) and self._escapes.search(text):
            views.append(self._escapes.sub(_character, text))
        # A stretch of twelve holds a whole one of the pieces that a text falls into.
        return any(
            not pieces.isdisjoint([view[at : at + _PIECE] for at in range(0, len(view), _PIECE)])
            for view in views
        )


def _character(escaped: re.Match[str]) -> str:
    """The character that an escape stands for."""
    percent, unicode, *plain = escaped.groups()
    code = percent or unicode
    return chr(int(code, 16)) if code else next(filter(None, plain))


def _views(text: str, escapes: re.Pattern[str]) -> Iterator[tuple[str, range | list[int]]]:
    """A text as it stands and with escapes resolved, with the place of each character in `text`."""
    yield text, range(len(text) + 1)
    pieces: list[str] = []
    places: list[int] = []
    end = 0
    for escaped in escapes.finditer(text):
        pieces += [text[end : escaped.start()], _character(escaped)]
        places += range(end, escaped.start() + 1)
        end = escaped.end()
    if pieces:
        yield "".join([*pieces, text[end:]]), [*places, *range(end, len(text) + 1)]


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that overlap or touch as one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged
