"""The declared form of one word: correct or incorrect.

The confidence a reply states: ``Confidence: 0.85`` or ``Judge Confidence: 85 %``.

A probability from 0 to 1, or a percentage with its sign; anything else is none. What models were
quoted as saying is not the judge's own: a judge states its confidence under a name of its own.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from judgerel_ray.core import ReaderPolicy
from judgerel_ray.protocols.replies.mentions import Mention, find_number, on_menu
from judgerel_ray.protocols.replies.thoughts import spoken_reply

_NO_CONJUNCTION = r"(?!(?:so|and|but|thus|hence|therefore|because|making|which|then|is|are)\b)"
_DENIED = re.compile(
    r"(?:(?:\bnot|n['’]t|\bnever|\bneither|\bnor|\bcannot|\bfar from|\bno longer)"
    rf"(?:\s+{_NO_CONJUNCTION}[\w%'’-]+){{0,3}}"
    r"|n['’]t\s+(?:think|believe|say)\b(?:\s+[\w'’-]+){0,5}"
    r"|\bnot\s+(?:think|believe|say)\b(?:\s+[\w'’-]+){0,5}"
    r"|\b(?:partially|partly|half|almost|nearly|somewhat|mostly|largely)"
    r"|\b(?:the|its|whose)"
    r"|\b(?:whether|if)\b(?:\s+[\w'’-]+){0,8})[\s*_`\"'“‘-]+\Z",
    re.IGNORECASE,
)
_BEFORE_CHARACTERS = 80
_NOT_STATED = re.compile(
    r"[*_`\"'”’]*(?:\s*\?|\s+(?:answer|value|response|name|date|spelling)s?"
    r"(?:\s+(?:is|was|would|should|to)\b|\s*:))",
    re.IGNORECASE,
)


_WORD_CHARACTER, _GOES_ON = re.compile(r"\w"), re.compile(r"[\w.!\n]")


@lru_cache(maxsize=64)
def _word_patterns(labels: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The words of the form, and the words as a choice that is only offered."""
    known = dict.fromkeys([*labels, "correct", "incorrect"])
    words = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True))
    choice = (
        rf"(?<!\w)(?:{words})[*_`\"'”’]*+\s*+(?:,?\s*+\bor\b|/)\s*+[*_`\"'“‘]*+(?:{words})(?!\w)"
    )
    return (
        re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE),
        re.compile(choice, re.IGNORECASE),
    )


def find_correctness(text: str, labels: tuple[str, ...], ended: bool) -> list[Mention]:
    """Find the words correct and incorrect where they are stated, not denied, asked or offered."""
    stated, choice = _word_patterns(labels)
    offered = list(choice.finditer(text))
    mentions, place = [], 0
    for found in stated.finditer(text):
        while place < len(offered) and offered[place].end() <= found.start():
            place += 1
        if place < len(offered) and offered[place].start() <= found.start():
            continue
        is_last = not ended and not _GOES_ON.search(text, found.end())
        if is_last and _WORD_CHARACTER.search(text[: found.start()]):
            continue
        if _DENIED.search(text[max(0, found.start() - _BEFORE_CHARACTERS) : found.start()]):
            continue
        if _NOT_STATED.match(text, found.end()):
            continue
        mentions.append(Mention((on_menu(found[0], labels) or found[0].lower(),)))
    return mentions


def authors_correctness(text: str) -> tuple[str, ...]:
    """Word by the published rule: any "incorrect" before any "correct", also inside a word.

    A reply with neither word has no label here; the published accuracy counts it as incorrect.

    Examples
    --------
    >>> authors_correctness("Correctness: 2019")
    ('correct',)
    """
    folded = text.lower()
    if "incorrect" in folded:
        return ("incorrect",)
    return ("correct",) if "correct" in folded else ()


_MARKS = r"""[\s*_`"'“”‘’]{0,20}+"""
_OPENERS = r"""[\s*_`"'“”‘’\\\[({<~≈]{0,20}+"""
_LEAD = re.compile(
    rf"(?<![^\W_])(?P<judge>judge(?:['’]s)?[\s_]+)?confidence{_MARKS}[:：]{_OPENERS}", re.IGNORECASE
)
CONFIDENT_FORMS = {"final_answer": False, "correct_answer": True}
"""Forms that state a confidence beside the verdict, and whether a judge's."""
_PERCENT = re.compile(r"\s{0,2}(?:%|percent\b|per\s+cent\b)", re.IGNORECASE)
# A number is a confidence only where its statement ends: "0.8 to 0.9" and "8/10" are none.
_END = re.compile(
    r"""[*_`"'“”’\\\])}>]{0,20}+(?:[^\S\n]*(?:\n|[(–—]|\Z)|[^\S\n]+-[^\S\n]|[.,;!](?=[\s*_`"'”’)\]]|\Z)|\Z)"""
)
_CUT_END = re.compile(r"[*_`\"'“”’\\\])}>\s.,;!]*\Z")
_RANGE = re.compile(r"[^\S\n]*[-–—]\s*[\d.]")
_TORN = re.compile(r"\.[^\S\n]+\d")  # "0. 9" is not 0


def read_confidence(
    text: str | None, *, finish_reason: str, form: str, reader: ReaderPolicy = "first"
) -> float | None:
    """Read the confidence a reply states, where it states several the one its reader counts.

    Parameters
    ----------
    text : str or None
        The reply; None where there is none.
    finish_reason : str
        ``length`` for a reply cut off at its limit: a number at its very end may be half of one.
    form : str
        ``final_answer`` (``Confidence:``) or ``correct_answer`` (``Judge Confidence:``).
    reader : str
        That of the verdict: the ``first`` or ``last`` stated, or the only one (``unanimous``).

    Returns
    -------
    float or None
        A probability in [0, 1]; None where none is stated, or what is stated is no probability.

    Raises
    ------
    KeyError
        If replies of that form state no confidence.

    Examples
    --------
    >>> def read(text):
    ...     return read_confidence(text, finish_reason="stop", form="final_answer")
    >>> read("Confidence: 0.85"), read("**Confidence:** 85%"), read("Confidence: 85")
    (0.85, 0.85, None)
    >>> read("Confidence: high"), read("Confidence: 0.8-0.9"), read("Judge Confidence: 0.9")
    (None, None, None)
    """
    by_judge = CONFIDENT_FORMS[form]
    reply = spoken_reply(text, finish_reason)
    places = [one.end() for one in _LEAD.finditer(reply.text) if bool(one["judge"]) == by_judge]
    if reply.in_thought or not places:
        return None
    if reader == "last":
        places = places[-1:]
    elif reader != "unanimous":
        places = places[:1]
    stated = {_probability_in_reply(reply.text, place, ended=reply.is_whole) for place in places}
    return stated.pop() if len(stated) == 1 else None


def _probability_in_reply(text: str, start: int, *, ended: bool) -> float | None:
    """The probability that stands at a place; None where none does."""
    spelled, end = find_number(text, start) or (None, 0)
    if spelled is None:
        return None
    if "." not in spelled and _TORN.match(text, end):
        return None
    percent = _PERCENT.match(text, end)
    end = percent.end() if percent else end
    if not _END.match(text, end) or _RANGE.match(text, end):
        return None
    if not ended and not percent and _CUT_END.match(text, end):
        return None
    value = float(Decimal(spelled) / (100 if percent else 1))
    return value if 0 <= value <= 1 else None
