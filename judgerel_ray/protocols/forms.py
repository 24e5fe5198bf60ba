"""Declared forms of a verdict: where a reply states one, in the words the template asked for.

A form only finds mentions. Which of them counts is the policy's matter, and whether its label was
on the menu is checked after matching: a pattern narrowed to the menu would step over an answer
that was not on offer and read a later letter in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

_MARKS = r"""[\s*_`"'“”‘’]*"""
_OPENERS = r"""[\s*_`"'“”‘’\\>#•-]*"""
_LEAD = re.compile(rf"best\s+response{_MARKS}[:：]{_OPENERS}", re.IGNORECASE)
_DOUBLE = re.compile(r"\[\s*\\?\[([^\[\]]{1,80})\\?\]\s*\\?\]")
_SINGLE = re.compile(r"[\[({<]([^\[\](){}<>]{1,80})\\?[\])}>]")
_OPEN = re.compile(r"(?:[\[({<]\\?\s*){0,2}" + _MARKS)
_CLOSERS = r"""[\s*_`"'“”‘’]*\\?[\])}>]*"""
_JOINER = re.compile(
    _CLOSERS + r"(?:\s*(?:,\s*and\b|,\s*or\b|,|/|&|\+|\band\b|\bor\b)\s*)[*_`\"'“‘\\\[({<]*",
    re.IGNORECASE,
)
_ABSTAINING = ("none", "neither", "tie", "tied", "both", "all", "any", "either")
_ECHOED = re.compile(
    r"(?:the |your |option |response |answer |best )*"
    r"(?:letter|label|option|response|answer|choice|title|name|id)s?(?: here)?",
    re.IGNORECASE,
)
# A bare label is a verdict only where a sentence would not go on: "Best Response: A" is one,
# "Best Response: A short proof" is an article, "Best Response: e.g." an abbreviation. The words
# are those no noun phrase goes on with, the same for every label, so that no label is favoured.
_GOES_ON = (
    r"is|was|because|since|as|due|and|or|has|explanation|reason|reasoning|reasons|justification"
    r"|rationale"
)
_BOUNDARY = (
    r"""(?=[*_`"'“”‘’]*(?:{end}|\s*\n|\\?[\])}}>]|[:：]|[.,;!?](?:{end}|[\s*_`"'“”‘’\])}}])"""
    rf"""|\s+[–—-]+\s|\s*[–—(\[]|\s*[/&]|\s+(?i:{_GOES_ON})\b))"""
)
_STRICT = {
    True: _BOUNDARY.format(end=r"\Z"),
    # The reply was cut here: "B" may have been the start of "Better".
    False: _BOUNDARY.format(end=r"(?!)"),
}
_CUT_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where a reply states a verdict.

    ``labels`` are the labels as the menu spells them, or as written where they are not on it;
    several, where one statement names several. ``complete`` says that the whole declared form
    is there, so an engine that stops at it would have stopped here.
    """

    labels: tuple[str, ...]
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A declared form.

    ``find(text, labels, ended)`` gives the mentions in order; ``ended`` is False for a reply
    that was cut off. ``is_cut(text, labels)`` says that a cut reply ends inside the form and
    ``complete(label)`` is the whole form for a label; both are None where the form is one word.
    ``schroeder2024(text)`` gives the labels the published rule of [1]_ reads.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.
    """

    find: Callable[[str, tuple[str, ...], bool], list[Mention]]
    is_cut: Callable[[str, tuple[str, ...]], bool] | None
    complete: Callable[[str], str] | None
    schroeder2024: Callable[[str], tuple[str, ...]]


def _find_best_response(text: str, labels: tuple[str, ...], ended: bool) -> list[Mention]:
    """Mentions of ``Best Response: [[X]]``, case, blanks and emphasis aside."""
    mentions = (_stated(text, lead.end(), labels, ended) for lead in _LEAD.finditer(text))
    return [mention for mention in mentions if mention is not None]


def _stated(text: str, start: int, labels: tuple[str, ...], ended: bool) -> Mention | None:
    """What is stated at the place where a label is due."""
    if double := _DOUBLE.match(text, start):
        named = _named(double[1], labels, any_word=True)
        return Mention(named, complete=True) if named else None
    if single := _SINGLE.match(text, start):
        named = _named(single[1], labels, any_word=False)
        if named is None:
            return None
        return Mention(named + _joined(text, single.end(), labels, ended))
    return _bare(text, start, labels, ended)


def _named(content: str, labels: tuple[str, ...], *, any_word: bool) -> tuple[str, ...] | None:
    """Labels named by what stands between brackets; None where that is no verdict at all."""
    written = " ".join(content.replace("*", " ").replace("`", " ").split())
    written = written.strip("\"'“”‘’_\\ .:")
    if (label := _on_menu(written, labels)) is not None:
        return (label,)
    if _ECHOED.fullmatch(written):
        return None
    parts = re.split(r"\s*(?:,\s*and\b|,\s*or\b|,|/|&|\+|\band\b|\bor\b)\s*", written)
    if len(parts) > 1 and all(_on_menu(part, labels) is not None for part in parts):
        return tuple(_on_menu(part, labels) or part for part in parts)
    if re.fullmatch(r"[A-Z]{1,2}|\d{1,3}", written) or written.lower() in _ABSTAINING:
        return (written,)
    return (written,) if any_word and re.fullmatch(r"[\w-]+", written) else None


def _bare(text: str, start: int, labels: tuple[str, ...], ended: bool) -> Mention | None:
    """A label without brackets, or with an unclosed one."""
    opened = _OPEN.match(text, start)
    place = opened.end() if opened else start
    if (found := _bare_pattern(labels, ended).match(text, place)) is None:
        return None
    label = _on_menu(found[0], labels)
    return Mention((label or found[0], *_joined(text, found.end(), labels, ended)))


def _joined(text: str, start: int, labels: tuple[str, ...], ended: bool) -> tuple[str, ...]:
    """Further labels the same statement names: the B of "A and B"."""
    joiner = _JOINER.match(text, start)
    if joiner is None:
        return ()
    found = _bare_pattern(labels, ended).match(text, joiner.end())
    label = _on_menu(found[0], labels) if found else None
    return () if label is None else (label,)


def _on_menu(written: str, labels: tuple[str, ...]) -> str | None:
    """The menu's spelling of a written label."""
    if written in labels:
        return written
    folded = written.casefold()
    return next((label for label in labels if label.casefold() == folded), None)


@lru_cache(maxsize=256)
def _bare_pattern(labels: tuple[str, ...], ended: bool) -> re.Pattern[str]:
    """A label of the menu, or what looks like one, where its right side closes it."""
    short = [re.escape(label) for label in labels if len(label) <= 2]
    words = sorted((label for label in labels if len(label) > 2), key=len, reverse=True)
    spelled = [re.escape(word).replace(r"\ ", r"\s+") + r"(?!\w)" for word in words]
    spelled = spelled if ended else [word + r"(?!\Z)" for word in spelled]
    letters = "|".join([*(f"(?i:{label})" for label in short), "[A-Z]{1,2}", r"\d{1,3}"])
    abstaining = "|".join(_ABSTAINING)
    wordlike = "|".join([*(f"(?i:{word})" for word in spelled), rf"(?i:{abstaining})(?!\w)"])
    return re.compile(rf"(?:{wordlike}|(?:{letters}){_STRICT[ended]})")


def _best_response_is_cut(text: str, labels: tuple[str, ...]) -> bool:
    """Whether the last form begun has no label and the text ends within it."""
    leads = list(_LEAD.finditer(text))
    if not leads:
        return False
    begun = leads[-1]
    short = len(text) - begun.end() <= _CUT_CHARACTERS and "\n" not in text[begun.end() :]
    return short and _stated(text, begun.end(), labels, False) is None


_AUTHORS_LETTER = re.compile(r"Best Response:\W*([A-Ea-e])")


def _authors_letters(text: str) -> tuple[str, ...]:
    """Letters by the published rule, which has no word boundary after the letter."""
    return tuple(letter.upper() for letter in _AUTHORS_LETTER.findall(text))


_ASIDE = r"(?!(?:so|and|but|thus|hence|therefore|because|making|which|making|then|is|are)\b)"
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


def _find_correctness(text: str, labels: tuple[str, ...], ended: bool) -> list[Mention]:
    """The words correct and incorrect where they are stated, not denied, asked or offered."""
    del ended  # a word is whole when it is there; "correct" cut from "correctly" cannot be told
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
        mentions.append(Mention((_on_menu(found[0], labels) or found[0].lower(),)))
    return mentions


def _authors_correctness(text: str) -> tuple[str, ...]:
    """The published rule: both words, in any place and part of a word, count as incorrect."""
    folded = text.lower()
    if "incorrect" in folded:
        return ("incorrect",)
    return ("correct",) if "correct" in folded else ()


FORMS: Mapping[str, Form] = {
    "best_response": Form(
        find=_find_best_response,
        is_cut=_best_response_is_cut,
        complete=lambda label: f"Best Response: [[{label}]]",
        schroeder2024=_authors_letters,
    ),
    # No stop string: "correct" ends inside "incorrect" and "correctness", and one word is short.
    "correctness": Form(
        find=_find_correctness,
        is_cut=None,
        complete=None,
        schroeder2024=_authors_correctness,
    ),
}
"""Declared forms by the name a template's ``form`` and a menu's ``form`` use."""
