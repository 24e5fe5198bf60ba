"""Mentions of verdicts in replies: labels in the menu's spelling, numbers as digits or words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from unicodedata import category


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where a reply states a verdict.

    ``labels`` are the labels as the menu spells them, or as written where they are not on it;
    several, where one statement names several. ``complete`` says that the whole declared form
    is there, so an engine that stops at it would have stopped here. ``also`` are labels that a
    complete statement goes on with, "[[A]] or [[B]]": an early stop would never have seen them, so
    only a policy that reads whole replies may count them. ``refuses`` says that the word is one by
    which the judge declines.
    """

    labels: tuple[str, ...]
    complete: bool = False
    also: tuple[str, ...] = ()
    refuses: bool = field(default=False, repr=False)


def on_menu(written: str, labels: tuple[str, ...]) -> str | None:
    """Spell a written label as the menu does.

    The label of the menu, by its exact spelling first and by any case otherwise; None where the
    menu has no such label.
    """
    if written in labels:
        return written
    folded = written.casefold()
    return next((label for label in labels if label.casefold() == folded), None)


def is_mark(text: str, place: int) -> bool:
    """Whether a vowel sign, a tone or another mark stands at a place, so that a letter goes on."""
    return place < len(text) and category(text[place]).startswith("M")


def without_marks(text: str) -> str:
    """Leave out the marks on letters."""
    return "".join(letter for letter in text if not category(letter).startswith("M"))


_UNDER_TWENTY = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    "|sixteen|seventeen|eighteen|nineteen"
)
_UNITS = tuple(_UNDER_TWENTY.split("|"))
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORTH = {
    **{word: place for place, word in enumerate(_UNITS)},
    **{word: 10 * place for place, word in enumerate(_TENS, start=2)},
}
_PARTS = {"¼": "25", "½": "5", "¾": "75", "quarter": "25", "half": "5"}
_MOST_DIGITS = 15  # two decimals of so many digits are never the same double
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_TEN = "|".join(_TENS)
_DIGIT = "|".join(_UNITS[:10])
_PART = r"(?:[ ]+and[ ]+a[ ]+(?P<part>half|quarter)\b)?"

NUMBER_WORDS = (*_UNITS, *_TENS, "a hundred", "minus", "negative")
"""What a number in words begins with."""
DIGITS = re.compile(
    rf"(?P<sign>[+−-])?(?:(?P<whole>[0-9]++)(?P<listed>(?:,[0-9]++)+)?(?:\.(?P<rest>[0-9]++))?"
    rf"|\.(?P<only>[0-9]++))?(?P<mark>[¼½¾])?{_PART}",
    re.IGNORECASE,
)
WORDS = re.compile(
    rf"(?P<sign>(?:minus|negative)[ ]+)?(?:(?P<hundred>(?:a|one)[ ]+hundred)"
    rf"|(?P<ten>{_TEN})(?:[ -](?P<one>{'|'.join(_UNITS[1:10])}))?|(?P<unit>{_UNIT}))(?!\w)"
    rf"(?:[ ]+point(?P<digits>(?:[ ]+(?:{_DIGIT})\b)+)|{_PART})",
    re.IGNORECASE,
)


def find_number(text: str, start: int) -> tuple[str | None, int] | None:
    """Read the number that begins at a place.

    The exact decimal spelling without needless zeros, None where the number has none (digits parted
    by commas, more than 15 of them), and where it ends; None where no number begins.

    Examples
    --------
    >>> find_number("Four and a half.", 0), find_number("-04.50", 0), find_number("4,5", 0)
    (('4.5', 15), ('-4.5', 6), (None, 3))
    >>> find_number("fourteenth", 0) is None
    True
    """
    found = DIGITS.match(text, start)
    if found and (found["whole"] or found["only"] or found["mark"]):
        if found["listed"] or (found["part"] and (found["rest"] or found["only"])):
            return None, found.end()
        rest = found["rest"] or found["only"] or _PARTS.get(found["mark"] or "", "")
        rest = rest or _PARTS.get((found["part"] or "").casefold(), "")
        if found["mark"] and (found["rest"] or found["only"] or found["part"]):
            return None, found.end()
        sign = "" if found["sign"] in (None, "+") else "-"
        return _exact_decimal_in_reply(sign, found["whole"] or "", rest), found.end()
    words = WORDS.match(text, start)
    if words is None:
        return None
    if words["hundred"]:
        whole = 100
    else:
        whole = sum(
            _WORTH[words[name].casefold()] for name in ("ten", "one", "unit") if words[name]
        )
    rest = "".join(str(_WORTH[word]) for word in (words["digits"] or "").casefold().split())
    rest = rest or _PARTS.get((words["part"] or "").casefold(), "")
    return _exact_decimal_in_reply("-" if words["sign"] else "", str(whole), rest), words.end()


def number_text(value: float) -> str:
    """Spell a number as the menu of a scale does."""
    return str(int(value)) if value == int(value) else repr(float(value))


def _exact_decimal_in_reply(sign: str, whole: str, rest: str) -> str | None:
    """Exact spelling of a decimal; None where it has more digits than a double can tell apart."""
    whole, rest = whole.lstrip("0"), rest.rstrip("0")
    if len(whole) + len(rest) > _MOST_DIGITS:
        return None
    text = (whole or "0") + (f".{rest}" if rest else "")
    return text if text == "0" else sign + text
