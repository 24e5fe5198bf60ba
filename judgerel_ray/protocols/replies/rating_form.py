"""The declared forms of a rating on a scale, and replies that are a value and nothing else.

Form ``rating`` is ``Rating: [[X]]``, with or without its brackets; form ``score`` is for templates
that ask for the score alone: ``Score: X``, ``Rating: X`` and ``Answer: X``, brackets or none.

As for every form, whether a value is on the scale is settled after matching: what is not on offer
is found too, so that no later value is read in its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from unicodedata import normalize

from judgerel_ray.core import Scale
from judgerel_ray.protocols.replies.mentions import NUMBER_WORDS, Mention, find_number, is_mark
from judgerel_ray.protocols.replies.scales import scale_labels, score_of

_START_MARKS = " \t\r\n*_`\"'\\"
_DIGITS = re.compile(r"0*([0-9]*)")
_SIGNS = ("+", "-", ".")


def may_be_rating(text: str, scale: Scale) -> bool:
    """Whether what brackets hold so far may go on to a value of a scale, or is one."""
    written = text.lstrip(_START_MARKS)
    # Letters of other scripts have spellings of their own: wide digits, other cases.
    if not written or not written.isascii():
        return True
    if scale.labels:
        return any(
            _shares_start(_bare_rating_reply(written), _bare_rating_reply(label))
            for label in _rating_scale_words(scale)
        )
    if written[0] in _SIGNS:
        return True
    if written[0].isdigit():
        found = _DIGITS.match(written)
        begun = found[1] if found else ""
        return any(label.lstrip("-").startswith(begun) for label in scale_labels(scale))
    return any(
        _shares_start(_bare_rating_reply(written), _bare_rating_reply(word))
        for word in NUMBER_WORDS
    )


def _rating_scale_words(scale: Scale) -> tuple[str, ...]:
    """Words of a scale, and what may be said in place of its middle, which is not on it."""
    return (*scale.labels, "neutral", "neither agree nor disagree")


def _bare_rating_reply(text: str) -> str:
    """A text without case, blanks and hyphens, marks behind the letters that they stand on."""
    return normalize("NFD", re.sub(r"[\s*_-]+", "", text).casefold())


def _shares_start(one: str, other: str) -> bool:
    """Whether one of two texts begins the other."""
    return one.startswith(other) or other.startswith(one)


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
        """The value with what it is out of, which stands after brackets that end at `place`."""
        if len(self.labels) > 1:
            return replace(self, end=place)
        if not self.is_word and (other := _NOT_A_VALUE.match(text, place)) is not None:
            return replace(self, labels=(self.labels[0] + other[0],), end=other.end())
        begun = replace(self, end=place, number=self.number or _exact_rating_label(self.labels[0]))
        return _rating_out_of_highest(begun, text, self.labels[0], scale)


def find_value(text: str, start: int, scale: Scale) -> Value | None:
    """Read the value that begins at a place.

    A value of the scale by its canonical label; any other number, range, percentage or word that
    people rate with as it is written; None where no value begins.
    """
    found = [
        value
        for value in (
            _rating_word_at(text, start, scale),
            _rating_number_at(text, start, scale),
            _other_scale_rating_word(text, start),
        )
        if value is not None
    ]
    # The longest reading is the whole word; between equals the first, which is the scale's own.
    return max(found, key=lambda value: value.end, default=None)


@lru_cache(maxsize=256)
def _rating_word_patterns(scale: Scale) -> tuple[tuple[re.Pattern[str], str], ...]:
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


def _rating_word_at(text: str, start: int, scale: Scale) -> Value | None:
    """The scale's word at a place, the longest where several begin there."""
    matches = [
        (pattern.match(text, start), label) for pattern, label in _rating_word_patterns(scale)
    ]
    found = [
        (match.end(), label) for match, label in matches if match and not is_mark(text, match.end())
    ]
    if not found:
        return None
    end, label = max(found, key=lambda each: each[0])
    return Value((label,), end, is_word=True)


def _rating_number_at(text: str, start: int, scale: Scale) -> Value | None:
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
    return _rating_out_of_highest(Value((written,), end, number=exact), text, written, scale)


def find_denominator(text: str, place: int) -> tuple[str | None, int, int] | None:
    """Read what a number that ends at a place is out of."""
    out_of = _OUT_OF.match(text, place) or _ON_A_SCALE.match(text, place)
    start = out_of.end() if out_of else place
    highest = find_number(text, start) if out_of else None
    if highest is None:
        return None
    after = _AFTER_HIGHEST.match(text, highest[1])
    return highest[0], start, after.end() if after else highest[1]


def is_stated_whole(text: str, place: int) -> bool:
    """Whether a value without brackets that ends at a place is all that is stated there."""
    return _BOUNDARY.match(text, place) is not None


def _rating_out_of_highest(value: Value, text: str, written: str, scale: Scale) -> Value:
    """A number with what it is out of: the scale's value only where that is the scale's highest."""
    exact = value.number
    if exact is None:
        return value
    label = exact if not scale.labels and score_of(exact, scale) is not None else None
    found = find_denominator(text, value.end)
    if found is None:
        points = _POINTS.match(text, value.end)
        end = points.end() if points else value.end
        return replace(value, labels=(label or written,), end=end)
    highest, start, end = found
    is_scales = highest is not None and not scale.labels
    if is_scales and Decimal(highest or "0") == Decimal(repr(float(scale.highest))):
        return replace(value, labels=(label or written,), end=end, number=None)
    number = find_number(text, start)
    of = text[start : number[1]] if number else ""
    return replace(value, labels=(f"{written}/{of}",), end=end, number=None)


def _other_scale_rating_word(text: str, start: int) -> Value | None:
    """A word that people rate with, but not on this scale."""
    if (found := _ELSEWHERE.match(text, start)) is not None:
        return Value((found[0],), found.end(), is_word=True)
    if (found := _ABSTAINING.match(text, start)) is not None:
        return Value((found[0],), found.end(), ratable=False, is_word=True)
    return None


def _exact_rating_label(label: str) -> str | None:
    """Exact spelling of a label that is a number."""
    found = find_number(label, 0)
    return found[0] if found and found[1] == len(label) else None


_MARKS = r"""[\s*_`"'“”‘’\\]{0,40}+"""
_TAG = r"(?:</[a-z]{1,10}>|<(?:b|strong|em|i|p|br|div|span|h\d)\s*/?>)"
# ``>`` and a hyphen open a line; anywhere else they say "more than" and "minus".
_BULLET = r"(?<=\n)[ \t]*[>#•-]+[ \t]"
_OPENERS = re.compile(rf"""(?:{_BULLET}|{_TAG}|[\s*_`"'“”‘’\\|]){{0,60}}+""", re.IGNORECASE)


def _rating_lead_pattern(*words: str) -> re.Pattern[str]:
    """What comes before a value: one of these words and a colon."""
    capital = "|".join(word.capitalize() for word in words)
    return re.compile(
        rf"(?:{capital}|(?<![^\W_])(?i:{'|'.join(words)})){_MARKS}(?i:{_TAG})?{_MARKS}[:：]"
    )


RATING_FORMS = {
    "rating": _rating_lead_pattern("rating"),
    "score": _rating_lead_pattern("rating", "score", "answer"),
}
"""Form -> what comes before its value."""
_DOUBLE = re.compile(r"\[\s*\\?\[([^\[\]]{1,80})\\?\]\s*\\?\]")
_SINGLE = re.compile(r"[\[({<]([^\[\](){}<>]{1,80})\\?[\])}>]")
_UNCLOSED = re.compile(r"(?:\\?\[\s*){0,2}" + _MARKS)
_ECHOED = re.compile(
    r"(?:(?:the|your|a)\s+)?(?:rating|score|number|value|label|answer|word|x|n)(?:\s+here)?|\W*",
    re.IGNORECASE,
)
_CLOSERS = r"""[*_`"'“”’\\\])}>]{0,20}+"""
# A value without brackets is a rating only where no sentence would go on with it: "Rating: 4" is
# one, "Rating: 4 criteria were met" and "Rating: Agree strongly" are not.
_BOUNDARY = re.compile(
    rf"{_CLOSERS}(?:\Z|[。！।]|\s*(?:\n|{_TAG}|[–—]+(?!\s*\d)|[(\[]|\|(?!\s*\d))|[.](?=\s|\Z|[A-Z*\"])"
    r"|[!,;:：](?=\s|\Z)|\s-+\s(?!\s*\d)"
    r"|\s+(?i:because|since|due\s+to|explanation|reasons?|reasoning|justification|rationale)\b)"
)
_JOIN = r"(?:,\s*(?:and|or)\b|and\s*/\s*or\b|[,;/&‐‑–—~-]|\band\b|\bor\b|\bto\b)"
_JOINER = re.compile(
    rf"{_CLOSERS}\s{{0,3}}(?P<join>{_JOIN})[\s*_`\"'“‘\\(\[]{{0,20}}+", re.IGNORECASE
)
_LIST_GOES_ON = re.compile(rf"{_CLOSERS}\s{{0,3}}(?:\Z|\n|[.;](?=\s|\Z)|{_JOIN})", re.IGNORECASE)
_MARKER = re.compile(r"[.)][ \t]+\S")
_WIDE = str.maketrans("０１２３４５６７８９．／［］（）％", "0123456789./[]()%")
_SETTLED_CHARACTERS = 40


def find_ratings(text: str, scale: Scale, ended: bool, *, form: str = "rating") -> list[Mention]:
    """Find the ratings of a reply, whatever their case, blanks, emphasis and brackets.

    In the order written, with canonical labels; as written where they are not on the scale. A reply
    without the form is read where it is a value and nothing else.
    """
    text = _plain_rating_reply(text)
    leads = list(RATING_FORMS[form].finditer(text))
    mentions = []
    ends = [*(lead.start() for lead in leads[1:]), len(text)]
    for lead, end in zip(leads, ends, strict=False):
        stated = _rating_stated_in_reply(text, lead.end(), scale, ended, end)
        if stated is not None:
            mentions.append(stated)
    if not leads and ended:
        alone = _rating_alone_in_reply(text, scale)
        return [] if alone is None else [alone]
    return mentions


def _plain_rating_reply(text: str) -> str:
    """A reply with its letters and marks in one, and with digits and brackets of common width."""
    return normalize("NFC", text).translate(_WIDE)


def _rating_stated_in_reply(
    text: str, start: int, scale: Scale, ended: bool, end: int
) -> Mention | None:
    """What is stated at the place where a value is due; `end` is where the next form begins."""
    opened = _OPENERS.match(text, start)
    place = opened.end() if opened else start
    if double := _DOUBLE.match(text, place):
        value = bracketed_value(double[1], scale)
        if value is None:
            return None
        also = _further_ratings_in_reply(text, double.end(), value, scale)
        return Mention(value.labels, complete=True, also=also)
    if single := _SINGLE.match(text, place):
        value = bracketed_value(single[1], scale)
        if value is None or not value.known:
            return None
        value = value.measured(text, single.end(), scale)
    else:
        unclosed = _UNCLOSED.match(text, place)
        place = unclosed.end() if unclosed else place
        value = find_value(text, place, scale)
        if value is None or _is_reply_list_number(text, start, place, value, end):
            return None
    labels, place = _ratings_listed_in_reply(text, value, scale)
    # A round bracket may count a list, "(1) The response ...": only the others close a value.
    closed = single is not None and not single[0].startswith("(")
    if not closed and not _BOUNDARY.match(text, place):
        return None
    return Mention(labels) if ended or _is_cut_rating_whole(text, place) else None


def bracketed_value(content: str, scale: Scale) -> Value | None:
    """Read what stands between brackets; None where it is the placeholder of the form."""
    written = _plain_rating_reply(content).strip(" \t\r\n*_`\"'“”‘’\\").removesuffix(".").rstrip()
    if _ECHOED.fullmatch(written) and find_value(written, 0, scale) is None:
        return None
    value = find_value(written, 0, scale)
    if value is not None:
        labels, place = _ratings_listed_in_reply(written, value, scale)
        if place == len(written):
            return replace(value, labels=labels, end=place)
    return Value((" ".join(written.split()),), len(written), known=False)


def _rating_alone_in_reply(text: str, scale: Scale) -> Mention | None:
    """The value that is all of a reply."""
    written = text.strip(" \t\r\n*_`\"'“”‘’")
    for mark in (".", "!", "。", "！", "।"):
        written = written.removesuffix(mark).rstrip(" *_`\"'“”‘’")
    if double := _DOUBLE.fullmatch(written):
        written = double[1]
    elif single := _SINGLE.fullmatch(written):
        written = single[1]
    written = written.strip(" \t\r\n*_`\"'“”‘’")
    value = find_value(written, 0, scale)
    if value is None or not value.ratable:
        return None
    labels, place = _ratings_listed_in_reply(written, value, scale)
    return Mention(labels) if place == len(written) else None


def _ratings_listed_in_reply(text: str, value: Value, scale: Scale) -> tuple[tuple[str, ...], int]:
    """A value and those its statement names beside it, "4 or 5", and where they end."""
    labels, place = list(value.labels), value.end
    while (joiner := _JOINER.match(text, place)) is not None:
        found = find_value(text, joiner.end(), scale)
        # "4, good" says what a 4 is: one value, not two.
        if found is None or not _ratings_answer_alike(found, value, scale):
            break
        # "4, 5" goes on a list; "4, 5 would flatter it" goes on a sentence.
        is_list = joiner["join"].lower() not in ("or", "to", "and/or")
        if is_list and not _LIST_GOES_ON.match(text, found.end):
            break
        labels += found.labels
        place = found.end
    return tuple(dict.fromkeys(labels)), place


def _further_ratings_in_reply(
    text: str, start: int, stated: Value, scale: Scale
) -> tuple[str, ...]:
    """Values that a complete statement goes on with: the 5 of "[[4]] or [[5]]"."""
    whole = stated.measured(text, start, scale)
    found = [] if whole.labels == stated.labels else list(whole.labels)
    place = whole.end
    while (joiner := _JOINER.match(text, place)) is not None:
        if double := _DOUBLE.match(text, joiner.end()):
            value, place = bracketed_value(double[1], scale), double.end()
        else:
            value = find_value(text, joiner.end(), scale)
            place = value.end if value else place
            value = value if value and _LIST_GOES_ON.match(text, place) else None
        if value is None or not _ratings_answer_alike(value, stated, scale):
            break
        found += value.labels
    return tuple(found)


def _ratings_answer_alike(second: Value, first: Value, scale: Scale) -> bool:
    """Whether a second value answers what the first one does: "good" beside "Yes" does not."""
    if second.is_word != first.is_word:
        return False
    return not second.is_word or score_of(second.labels[0], scale) is not None


def _is_reply_list_number(text: str, start: int, place: int, value: Value, end: int) -> bool:
    """Whether a number opens a list: on a line of its own making, or with its successor below."""
    marked = _MARKER.match(text, value.end)
    if marked is None or not re.fullmatch(r"[0-9]{1,2}", text[place : value.end]):
        return False
    if "\n" in text[start:place]:
        return True
    successor = rf"\n[\s>*_#-]{{0,8}}{int(text[place : value.end]) + 1}[.)][ \t]"
    return re.search(successor, text[value.end : end]) is not None


def _is_cut_rating_whole(text: str, place: int) -> bool:
    """Whether what follows a value in a cut reply is enough to know that the value is whole."""
    return len(text) - place >= _SETTLED_CHARACTERS or "\n" in text[place:]
