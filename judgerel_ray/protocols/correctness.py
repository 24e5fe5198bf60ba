"""The declared form of one word: correct or incorrect."""

from __future__ import annotations

import re
from functools import lru_cache

from judgerel_ray.protocols.mentions import Mention, on_menu

_ASIDE = r"(?!(?:so|and|but|thus|hence|therefore|because|making|which|then|is|are)\b)"
_DENIED = re.compile(
    r"(?:(?:\bnot|n['’]t|\bnever|\bneither|\bnor|\bcannot|\bfar from|\bno longer)"
    rf"(?:\s+{_ASIDE}[\w%'’-]+){{0,3}}"
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


@lru_cache(maxsize=64)
def _word_patterns(labels: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The words of the form, and the words as a choice that is only offered."""
    known = dict.fromkeys([*labels, "correct", "incorrect"])
    words = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True))
    choice = rf"(?<!\w)(?:{words})[*_`\"'”’]*\s*(?:,?\s*\bor\b|/)\s*[*_`\"'“‘]*(?:{words})(?!\w)"
    return (
        re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE),
        re.compile(choice, re.IGNORECASE),
    )


def find_correctness(text: str, labels: tuple[str, ...], ended: bool) -> list[Mention]:
    """Find the words correct and incorrect where they are stated, not denied, asked or offered.

    Parameters
    ----------
    text : str
        The reply.
    labels : tuple of str
        The menu's labels; they are words of this form too.
    ended : bool
        Not used: a word is whole when it is there.

    Returns
    -------
    list of Mention
        In the order written.

    Examples
    --------
    >>> find_correctness("It is not correct.", ("correct", "incorrect"), True)
    []
    """
    del ended
    stated, choice = _word_patterns(labels)
    offered = [match.span() for match in choice.finditer(text)]
    mentions = []
    for found in stated.finditer(text):
        if any(start <= found.start() < end for start, end in offered):
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
