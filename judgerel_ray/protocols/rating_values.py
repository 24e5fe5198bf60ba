"""One value of a rating where it is written: a number or a word, on the scale or not."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from judgerel_ray.core import Scale
from judgerel_ray.protocols.mentions import is_mark
from judgerel_ray.protocols.numerals import find_number
from judgerel_ray.protocols.scales import score_of

_GAP = r"[\s*_‐‑–-]{0,5}"
_DEGREE = (
    r"(?:strongly|very\s+strongly|somewhat|slightly|mildly|weakly|moderately|mostly|partly"
    r"|partially|largely|fully|completely|totally|entirely|tend\s+to|rather|absolutely|definitely)"
)
# What people rate with on other scales: a verdict that was not on offer, not a missing one.
_ELSEWHERE = re.compile(
    rf"(?:{_DEGREE}{_GAP}(?:dis)?agree|(?:dis)?agree(?:,|{_GAP})\s*{_DEGREE}|(?:dis)?agree"
    rf"|neither{_GAP}agree{_GAP}(?:n?or){_GAP}disagree|neutral|undecided|yes|no|true|false"
    r"|excellent|very\s+(?:good|poor|bad)|good|fair|average|poor|bad|high|medium|moderate|low)"
    r"(?!\w)",
    re.IGNORECASE,
)
_ABSTAINING = re.compile(
    r"(?:(?i:n\s?/\s?a|none|neither|both|unknown|not\s+applicable|unrated)|[A-F][+-]?)(?!\w)"
)
_OUT_OF = re.compile(
    r"[\s*_`\"'”’\])},]{0,10}+\(?\s{0,3}+(?:/|out\s+of\b)\s{0,3}+[*_]{0,3}", re.IGNORECASE
)
_ON_A_SCALE = re.compile(
    r"[\s*_`\"'”’\])},]{0,10}+\(?\s{0,3}+on\s+(?:a|the)\s+scale\s+(?:of|from)\s+"
    r"(?:\S{1,12}?\s{0,3}(?:to|-|–)\s{0,3})?",
    re.IGNORECASE,
)
_AFTER_HIGHEST = re.compile(r"(?:\s+(?:points?|stars?)\b)?\)?", re.IGNORECASE)
_POINTS = re.compile(r"\s+points?\b", re.IGNORECASE)
_TO = re.compile(r"\s{0,3}+(?:[-‐‑–—~]|\.{2,3}|to\b|through\b)\s{0,3}+", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:between|from)\s+", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|to)\s+", re.IGNORECASE)
_NOT_A_VALUE = re.compile(r"\s{0,3}(?:%|percent\b)|[+-](?=[\s.,;!)\]]|\Z)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """Labels written at one place, canonical where they are on the scale, and where they end.

    ``ratable`` says that the value alone, without the declared form, is still a rating;
    ``number`` is the exact spelling of one that might be measured by what follows it,
    ``is_word`` tells words from numbers, and ``known`` that it is a value of some scale at all.
    """

    labels: tuple[str, ...]
    end: int
    ratable: bool = True
    number: str | None = None
    is_word: bool = False
    known: bool = True

    def measured(self, text: str, place: int, scale: Scale) -> Value:
        """The value with what it is out of, which stands after brackets that end at `place`.

        Examples
        --------
        >>> five = Scale(name="points5", level="interval", lowest=1, highest=5)
        >>> find_value("4", 0, five).measured("[4]/10", 3, five).labels
        ('4/10',)
        """
        if len(self.labels) > 1:
            return replace(self, end=place)
        if not self.is_word and (other := _NOT_A_VALUE.match(text, place)) is not None:
            return replace(self, labels=(self.labels[0] + other[0],), end=other.end())
        begun = replace(self, end=place, number=self.number or _exact(self.labels[0]))
        return _measured(begun, text, self.labels[0], scale)


def find_value(text: str, start: int, scale: Scale) -> Value | None:
    """Read the value that begins at a place.

    Parameters
    ----------
    text : str
        A reply.
    start : int
        Where the value must begin.
    scale : Scale
        What was asked for.

    Returns
    -------
    Value or None
        A value of the scale by its canonical label; any other number, range, percentage or word
        that people rate with as it is written; None where no value begins.

    Examples
    --------
    >>> five = Scale(name="points5", level="interval", lowest=1, highest=5)
    >>> find_value("4 out of 5", 0, five).labels, find_value("4/10", 0, five).labels
    (('4',), ('4/10',))
    >>> find_value("3-4", 0, five).labels, find_value("good", 0, five).labels
    (('3-4',), ('good',))
    """
    found = [
        value
        for value in (
            _word(text, start, scale),
            _number(text, start, scale),
            _elsewhere(text, start),
        )
        if value is not None
    ]
    # The longest reading is the whole word; between equals the first, which is the scale's own.
    return max(found, key=lambda value: value.end, default=None)


@lru_cache(maxsize=256)
def _words_of(scale: Scale) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns of the scale's words, each with its canonical label."""
    # Case may change the letters themselves: GROSS is groß.
    cases = (str, str.upper, str.casefold)
    spelled = {case(label): label for case in cases for label in scale.labels}
    return tuple(
        (
            re.compile(
                _GAP.join(re.escape(part) for part in re.split(r"[\s_-]+", written)) + r"(?![\w])",
                re.IGNORECASE,
            ),
            label,
        )
        for written, label in spelled.items()
    )


def _word(text: str, start: int, scale: Scale) -> Value | None:
    """The scale's word at a place, the longest where several begin there."""
    matches = [(pattern.match(text, start), label) for pattern, label in _words_of(scale)]
    found = [
        (match.end(), label) for match, label in matches if match and not is_mark(text, match.end())
    ]
    if not found:
        return None
    end, label = max(found, key=lambda each: each[0])
    return Value((label,), end, is_word=True)


def _number(text: str, start: int, scale: Scale) -> Value | None:
    """The number at a place, with what measures it."""
    if (between := _BETWEEN.match(text, start)) is not None:
        low = find_number(text, between.end())
        to = _AND.match(text, low[1]) if low else None
        high = find_number(text, to.end()) if to else None
        return Value((text[start : high[1]],), high[1]) if high else None
    found = find_number(text, start)
    if found is None:
        return None
    exact, end = found
    written = text[start:end]
    if (to := _TO.match(text, end)) is not None and (high := find_number(text, to.end())):
        return Value((text[start : high[1]],), high[1])
    if (other := _NOT_A_VALUE.match(text, end)) is not None:
        return Value((text[start : other.end()],), other.end())
    if exact is None:
        return Value((written,), end)
    return _measured(Value((written,), end, number=exact), text, written, scale)


def _measured(value: Value, text: str, written: str, scale: Scale) -> Value:
    """A number with what it is out of: the scale's value only where that is the scale's highest."""
    exact = value.number
    if exact is None:
        return value
    label = exact if not scale.labels and score_of(exact, scale) is not None else None
    out_of = _OUT_OF.match(text, value.end) or _ON_A_SCALE.match(text, value.end)
    start = out_of.end() if out_of else value.end
    highest = find_number(text, start) if out_of else None
    if highest is None:
        points = _POINTS.match(text, value.end)
        end = points.end() if points else value.end
        return replace(value, labels=(label or written,), end=end)
    after = _AFTER_HIGHEST.match(text, highest[1])
    end = after.end() if after else highest[1]
    is_scales = highest[0] is not None and not scale.labels
    if is_scales and Decimal(highest[0] or "0") == Decimal(repr(float(scale.highest))):
        return replace(value, labels=(label or written,), end=end, number=None)
    return replace(value, labels=(f"{written}/{text[start : highest[1]]}",), end=end, number=None)


def _elsewhere(text: str, start: int) -> Value | None:
    """A word that people rate with, but not on this scale."""
    if (found := _ELSEWHERE.match(text, start)) is not None:
        return Value((found[0],), found.end(), is_word=True)
    if (found := _ABSTAINING.match(text, start)) is not None:
        return Value((found[0],), found.end(), ratable=False, is_word=True)
    return None


def _exact(label: str) -> str | None:
    """Exact spelling of a label that is a number."""
    found = find_number(label, 0)
    return found[0] if found and found[1] == len(label) else None
