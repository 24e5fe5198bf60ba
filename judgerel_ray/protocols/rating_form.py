"""The declared forms of a rating on a scale, and replies that are a value and nothing else.

Form ``rating`` is ``Rating: [[X]]``, with or without its brackets; form ``score`` is for templates
that ask for the score alone: ``Score: X``, ``Rating: X`` and ``Answer: X``, brackets or none.

As for every form, whether a value is on the scale is settled after matching: what is not on offer
is found too, so that no later value is read in its place.
"""

from __future__ import annotations

import re
from dataclasses import replace
from unicodedata import normalize

from judgerel_ray.core import Scale
from judgerel_ray.protocols.mentions import Mention
from judgerel_ray.protocols.rating_values import Value, find_value
from judgerel_ray.protocols.scales import score_of

_MARKS = r"""[\s*_`"'“”‘’\\]{0,40}+"""
_TAG = r"(?:</[a-z]{1,10}>|<(?:b|strong|em|i|p|br|div|span|h\d)\s*/?>)"
# ``>`` and a hyphen open a line; anywhere else they say "more than" and "minus".
_BULLET = r"(?<=\n)[ \t]*[>#•-]+[ \t]"
_OPENERS = re.compile(rf"""(?:{_BULLET}|{_TAG}|[\s*_`"'“”‘’\\|]){{0,60}}+""", re.IGNORECASE)


def _lead(*words: str) -> re.Pattern[str]:
    """What comes before a value: one of these words and a colon."""
    capital = "|".join(word.capitalize() for word in words)
    return re.compile(
        rf"(?:{capital}|(?<![^\W_])(?i:{'|'.join(words)})){_MARKS}(?i:{_TAG})?{_MARKS}[:：]"
    )


RATING_FORMS = {"rating": _lead("rating"), "score": _lead("rating", "score", "answer")}
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
_CUT_CHARACTERS = 64
_WIDE = str.maketrans("０１２３４５６７８９．／［］（）％", "0123456789./[]()%")
_SETTLED_CHARACTERS = 40


def find_ratings(text: str, scale: Scale, ended: bool, *, form: str = "rating") -> list[Mention]:
    """Find the ratings of a reply, whatever their case, blanks, emphasis and brackets.

    Parameters
    ----------
    text : str
        The reply.
    scale : Scale
        What was asked for; values of other scales are found too.
    ended : bool
        False for a reply that was cut off: a value at its very end may be the start of another.
    form : {"rating", "score"}
        The form that was asked for.

    Returns
    -------
    list of Mention
        In the order written, with canonical labels; as written where they are not on the scale. A
        reply without the form is read where it is a value and nothing else.

    Examples
    --------
    >>> five = Scale(name="points5", level="interval", lowest=1, highest=5)
    >>> find_ratings("Rating: [[rating]]. **Rating:** four out of five.", five, True)
    [Mention(labels=('4',), complete=False, also=())]
    >>> find_ratings("4", five, True), find_ratings("I say 4.", five, True)
    ([Mention(labels=('4',), complete=False, also=())], [])
    >>> find_ratings("Score: 4", five, True, form="score"), find_ratings("Score: 4", five, True)
    ([Mention(labels=('4',), complete=False, also=())], [])
    """
    text = _plain(text)
    leads = list(RATING_FORMS[form].finditer(text))
    mentions = []
    ends = [*(lead.start() for lead in leads[1:]), len(text)]
    for lead, end in zip(leads, ends, strict=False):
        stated = _stated(text, lead.end(), scale, ended, end)
        if stated is not None:
            mentions.append(stated)
    if not leads and ended:
        alone = _alone(text, scale)
        return [] if alone is None else [alone]
    return mentions


def rating_is_cut(text: str, scale: Scale, *, form: str = "rating") -> bool:
    """Whether a cut reply ends inside the form, before its value is whole.

    Examples
    --------
    >>> rating_is_cut("Rating: [[", Scale(name="s", level="interval", lowest=1, highest=5))
    True
    """
    text = _plain(text)
    leads = list(RATING_FORMS[form].finditer(text))
    if not leads:
        return False
    tail = text[leads[-1].end() :].strip()
    if len(tail) > _CUT_CHARACTERS or "\n" in tail:
        return False
    return _stated(text, leads[-1].end(), scale, False, len(text)) is None


def _plain(text: str) -> str:
    """A reply with its letters and marks in one, and with digits and brackets of common width."""
    return normalize("NFC", text).translate(_WIDE)


def _stated(text: str, start: int, scale: Scale, ended: bool, end: int) -> Mention | None:
    """What is stated at the place where a value is due; `end` is where the next form begins."""
    opened = _OPENERS.match(text, start)
    place = opened.end() if opened else start
    if double := _DOUBLE.match(text, place):
        value = bracketed_value(double[1], scale)
        if value is None:
            return None
        also = _further(text, double.end(), value, scale)
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
        if value is None or _is_marker(text, start, place, value, end):
            return None
    labels, place = _listed(text, value, scale)
    # A round bracket may count a list, "(1) The response ...": only the others close a value.
    closed = single is not None and not single[0].startswith("(")
    if not closed and not _BOUNDARY.match(text, place):
        return None
    return Mention(labels) if ended or _is_settled(text, place) else None


def bracketed_value(content: str, scale: Scale) -> Value | None:
    """Read what stands between brackets; None where it is the placeholder of the form.

    Examples
    --------
    >>> five = Scale(name="points5", level="interval", lowest=1, highest=5)
    >>> bracketed_value("4 out of 5", five).labels, bracketed_value("the rating", five)
    (('4',), None)
    """
    written = _plain(content).strip(" \t\r\n*_`\"'“”‘’\\").removesuffix(".").rstrip()
    if _ECHOED.fullmatch(written) and find_value(written, 0, scale) is None:
        return None
    value = find_value(written, 0, scale)
    if value is not None:
        labels, place = _listed(written, value, scale)
        if place == len(written):
            return replace(value, labels=labels, end=place)
    return Value((" ".join(written.split()),), len(written), known=False)


def _alone(text: str, scale: Scale) -> Mention | None:
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
    labels, place = _listed(written, value, scale)
    return Mention(labels) if place == len(written) else None


def _listed(text: str, value: Value, scale: Scale) -> tuple[tuple[str, ...], int]:
    """A value and those its statement names beside it, "4 or 5", and where they end."""
    labels, place = list(value.labels), value.end
    while (joiner := _JOINER.match(text, place)) is not None:
        found = find_value(text, joiner.end(), scale)
        # "4, good" says what a 4 is: one value, not two.
        if found is None or not _is_alike(found, value, scale):
            break
        # "4, 5" goes on a list; "4, 5 would flatter it" goes on a sentence.
        is_list = joiner["join"].lower() not in ("or", "to", "and/or")
        if is_list and not _LIST_GOES_ON.match(text, found.end):
            break
        labels += found.labels
        place = found.end
    return tuple(dict.fromkeys(labels)), place


def _further(text: str, start: int, stated: Value, scale: Scale) -> tuple[str, ...]:
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
        if value is None or not _is_alike(value, stated, scale):
            break
        found += value.labels
    return tuple(found)


def _is_alike(second: Value, first: Value, scale: Scale) -> bool:
    """Whether a second value answers what the first one does: "good" beside "Yes" does not."""
    if second.is_word != first.is_word:
        return False
    return not second.is_word or score_of(second.labels[0], scale) is not None


def _is_marker(text: str, start: int, place: int, value: Value, end: int) -> bool:
    """Whether a number opens a list: on a line of its own making, or with its successor below."""
    marked = _MARKER.match(text, value.end)
    if marked is None or not re.fullmatch(r"[0-9]{1,2}", text[place : value.end]):
        return False
    if "\n" in text[start:place]:
        return True
    successor = rf"\n[\s>*_#-]{{0,8}}{int(text[place : value.end]) + 1}[.)][ \t]"
    return re.search(successor, text[value.end : end]) is not None


def _is_settled(text: str, place: int) -> bool:
    """Whether what follows a value in a cut reply is enough to know that the value is whole."""
    return len(text) - place >= _SETTLED_CHARACTERS or "\n" in text[place:]
