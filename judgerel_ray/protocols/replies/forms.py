"""Declared forms of a verdict: where a reply states one, in the words the template asked for.

A form only finds mentions; which of them counts is the policy's matter. Whether a label was on the
menu is checked after matching: a pattern narrowed to the menu would step over an answer that was
not on offer and read a later letter in its place. Forms that choose an option by its letter
(``Best Response: [[A]]``) or, in thinking twice, by its number (``Final Answer: 2``, with or
without brackets, emphasis or the word for what is counted) are read here, others in modules beside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from judgerel_ray.core import Menu, Scale, SweepError
from judgerel_ray.protocols.replies.correctness_form import authors_correctness, find_correctness
from judgerel_ray.protocols.replies.declared_forms import DECLARED, find_declared
from judgerel_ray.protocols.replies.mentions import Mention, on_menu
from judgerel_ray.protocols.replies.rating_form import RATING_FORMS, find_ratings

_MARKS = r"""[\s*_`"'“”‘’]*"""
_TAG = r"(?-i:</[a-z]{1,10}>|<(?:b|strong|em|i|p|br|div|span|h\d)\s*/?>)"
_OPENERS = rf"""(?:[\s*_`"'“”‘’\\>#•-]|{_TAG})*"""
_LEAD = re.compile(rf"best\s+response{_MARKS}[:：]{_OPENERS}", re.IGNORECASE)
_NAMED = r"(?:(?:{nouns})\s*[:：]?\s*)?(?:number\s*|no\.\s*)?#?\s*"
_MATH = r"(?:\$|\\?(?:boxed|text|mathbf|mathrm)(?=\{)){0,4}+"
_DOUBLE = re.compile(r"\[\s*\\?\[([^\[\]]{1,80})\\?\]\s*\\?\]")
_SINGLE = re.compile(r"[\[({<]([^\[\](){}<>]{1,80})\\?[\])}>]")
_OPEN = re.compile(r"(?:[\[({<]\\?\s*){0,2}" + _MARKS)
_JOIN = r"(?:,\s*and\b|,\s*or\b|,|/|&|\+|\band\b|\bor\b)"
_JOINER = re.compile(
    rf"""{_MARKS}(?:\\?[\])}}>]+\s*)?(?P<join>{_JOIN})[\s*_`"'“‘\\\[({{<]*""", re.IGNORECASE
)
_LIST_GOES_ON = re.compile(rf"""{_MARKS}[\])}}>]*\s*(?:\Z|[.;]|{_JOIN})""", re.IGNORECASE)
# A reply that was cut off where a second label may have followed: "Best Response: A or".
_GOES_ON_BEHIND = re.compile(
    rf"""{_MARKS}(?:\\?[\])}}>]+\s*)?(?:{_JOIN}|[–—:]|\ba?n?\Z|\bo\Z)[\s*_`"'“‘\\\[({{<]*""",
    re.IGNORECASE,
)
# How a whole statement goes on with a second label. After a joining word nearly always; after a
# stop, a blank or nothing only where no sentence about it follows: "[[A]]. [[B]] is vague".
_QUIET = r"""[*_`"'“”‘’]*"""
_AGAIN = re.compile(
    rf"""{_MARKS}\(?\s*(?:(?P<joined>{_JOIN}|\bas\s+well\s+as\b)
    (?:\s+(?:possibly|maybe|perhaps|also|even|else)\b)?|[;.|–—-])?{_MARKS}\(?""",
    re.IGNORECASE | re.VERBOSE,
)
_NO_SENTENCE = re.compile(rf"{_QUIET}\)?[^\S\n]*(?:\Z|\n|[.;)])")
_LIST_OR_END = re.compile(rf"{_QUIET}[\])}}>]*[^\S\n]*(?:\Z|\n|[.;)]|{_JOIN})", re.IGNORECASE)
_PREDICATE = re.compile(
    rf"{_QUIET}\s+(?:is|was|has|had|does|did|lacks?|fails?|misses|seems|looks|would|could)\b",
    re.IGNORECASE,
)
_ABSTAINING = ("none", "neither", "tie", "tied", "both", "all", "any", "either")
_ECHOED = re.compile(
    r"(?:the |your |option |response |answer |best )*"
    r"(?:letter|label|option|response|answer|choice|title|name|id)s?(?: here)?",
    re.IGNORECASE,
)
_AGAIN_DOUBLE = re.compile(rf"{_MARKS}\[\s*\[")
_JOINED_LABEL = re.compile(r"[\[({<]?(?P<label>[A-Z]{1,2})(?![\w'’+])(?P<close>[\])}>]?)")
_KIND = re.compile(r"(?:option|response|letter|answer)\s+", re.IGNORECASE)
# A bare label is a verdict only where a sentence would not go on: "Best Response: A" is one,
# "Best Response: A short proof" is an article, "Best Response: e.g." an abbreviation. The words
# are those no noun phrase goes on with, the same for every label, so that no label is favoured.
_GOES_ON = (
    r"is|was|because|since|as|due|and|or|has|explanation|reason|reasoning|reasons|justification"
    r"|rationale|solution"
)
_BOUNDARY = (
    r"""(?=[*_`"'“”‘’$]*(?:{end}|\s*\n|\\?[\])}}>]|[:：]|[.,;!?](?:{end}|[\s*_`"'“”‘’\])}}])"""
    rf"""|\s+[–—-]+\s|\s*[–—(\[<]|\s*[/&]|\s+(?i:{_GOES_ON})\b"""
    r"""|\s+(?i:(?:judge\s+)?confidence)\s*[:：]))"""
)
_STRICT = {
    True: _BOUNDARY.format(end=r"\s*\Z"),
    # The reply was cut here: "B" may have been the start of "Better".
    False: _BOUNDARY.format(end=r"(?!)"),
}
# "2/3", "1:4" and "5–7" are values, whatever their first number is called on the menu.
_ALONE = r"(?!\s?/\s?\d|[:：–—]\d)"
_AUTHORS_LETTER = re.compile(r"Best Response:\W*([A-Ea-e])")


def lead_of(words: str, *, nouns: str) -> re.Pattern[str]:
    r"""What comes before the label in a form of other words, as in "Final Answer: Option 2".

    ``nouns`` are what the label may be called; any other may count something else.

    Examples
    --------
    >>> lead = lead_of(r"final\s+answer", nouns="option|choice")
    >>> find_best_response("**Final Answer:** Option 2", ("1", "2"), True, lead=lead)[0].labels
    ('2',)
    >>> find_best_response("Final Answer: Model 2", ("1", "2"), True, lead=lead)
    []
    """
    named = _NAMED.format(nouns=nouns)
    # The minus of a number is no bullet: "-1" is not the option 1.
    return re.compile(
        rf"(?<![^\W_]){words}{_MARKS}[:：]{_OPENERS}(?<![-−]){named}{_MATH}", re.IGNORECASE
    )


def find_best_response(
    text: str, labels: tuple[str, ...], ended: bool, *, lead: re.Pattern[str] = _LEAD
) -> list[Mention]:
    """Find ``Best Response: [[X]]``, whatever its case, blanks, emphasis and brackets.

    Examples
    --------
    >>> find_best_response("Best Response: [[letter]]. Best Response: [[b]]", ("A", "B"), True)
    [Mention(labels=('B',), complete=True, also=())]
    >>> find_best_response("Best Response: [[A]] or [[B]]", ("A", "B"), True)
    [Mention(labels=('A',), complete=True, also=('B',))]
    """
    mentions = (
        _labels_stated_in_reply(text, found.end(), labels, ended) for found in lead.finditer(text)
    )
    return [mention for mention in mentions if mention is not None]


def _labels_stated_in_reply(
    text: str, start: int, labels: tuple[str, ...], ended: bool
) -> Mention | None:
    """What is stated at the place where a label is due."""
    if double := _DOUBLE.match(text, start):
        named = _bracketed_reply_labels(double[1], labels, any_word=True)
        also = further_labels(text, double.end(), labels)
        return Mention(named, complete=True, also=also) if named else None
    if single := _SINGLE.match(text, start):
        named = _bracketed_reply_labels(single[1], labels, any_word=False)
        if named is None or (not ended and _GOES_ON_BEHIND.fullmatch(text, single.end())):
            return None
        return Mention(named + _joined_reply_labels(text, single.end(), labels))
    return _unbracketed_reply_label(text, start, labels, ended)


def _bracketed_reply_labels(
    content: str, labels: tuple[str, ...], *, any_word: bool
) -> tuple[str, ...] | None:
    """Labels named by what stands between brackets; None where that is no verdict at all."""
    written = " ".join(content.replace("*", " ").replace("`", " ").split())
    written = written.strip("\"'“”‘’_\\ .:")
    label = on_menu(written, labels) or on_menu(_KIND.sub("", written, count=1), labels)
    if label is not None:
        return (label,)
    if _ECHOED.fullmatch(written):
        return None
    parts = re.split(rf"\s*{_JOIN}\s*", written)
    if len(parts) > 1 and all(on_menu(part, labels) is not None for part in parts):
        return tuple(on_menu(part, labels) or part for part in parts)
    first_word = written.partition(" ")[0].lower()
    if re.fullmatch(r"[A-Z]{1,2}|\d{1,3}", written) or first_word in _ABSTAINING:
        return (written,)
    return (written,) if any_word and re.fullmatch(r"[\w-]+", written) else None


def _unbracketed_reply_label(
    text: str, start: int, labels: tuple[str, ...], ended: bool
) -> Mention | None:
    """A label without brackets, or with an unclosed one."""
    opened = _OPEN.match(text, start)
    place = opened.end() if opened else start
    if (found := _bare_pattern(labels, ended).match(text, place)) is None:
        return None
    if not ended and _GOES_ON_BEHIND.fullmatch(text, found.end()):
        return None
    written = " ".join(found[0].split())
    return Mention(
        (on_menu(written, labels) or written, *_joined_reply_labels(text, found.end(), labels))
    )


def _joined_reply_labels(text: str, start: int, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Further labels the same statement names: the B of "A and B"."""
    joiner = _JOINER.match(text, start)
    found = _joined_pattern(labels).match(text, joiner.end()) if joiner else None
    if joiner is None or found is None:
        return ()
    # "B, A" goes on a list; "B, A is wrong" goes on a sentence.
    sentence = joiner["join"] == "," and not _LIST_GOES_ON.match(text, found.end())
    return () if sentence else (found[0],)


def further_labels(text: str, start: int, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Labels that a complete statement, which ends at `start`, goes on with.

    Examples
    --------
    >>> further_labels(", [[B]] and C.", 0, ("A", "B", "C"))
    ('B', 'C')
    >>> further_labels(". [[B]] is vague.", 0, ("A", "B", "C"))
    ()
    """
    found: list[str] = []
    place = start
    while (lead := _AGAIN.match(text, place)) is not None:
        joined = lead["joined"]
        if double := _DOUBLE.match(text, lead.end()):
            named = _bracketed_reply_labels(double[1], labels, any_word=False) or ()
            end = double.end()
        elif joined and (single := _JOINED_LABEL.match(text, lead.end())):
            end = single.end()
            label = on_menu(single["label"], labels) if single["label"].isupper() else None
            whole = single["close"] or _LIST_OR_END.match(text, end)
            named = (label,) if label and whole else ()
        else:
            break
        if not named or _reply_sentence_goes_on(text, end, joined):
            break
        found += named
        place = end
    return tuple(found)


def _reply_sentence_goes_on(text: str, end: int, joined: str | None) -> bool:
    """Whether what follows speaks about the label before it, which is then no second verdict."""
    if joined is None:
        return not (_NO_SENTENCE.match(text, end) or _AGAIN_DOUBLE.match(text, end))
    if joined == ",":
        return not (_LIST_OR_END.match(text, end) or _AGAIN_DOUBLE.match(text, end))
    return "and" in joined.lower() and _PREDICATE.match(text, end) is not None


@lru_cache(maxsize=256)
def _joined_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    """A label of the menu, in its own spelling."""
    longest_first = sorted(labels, key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})(?![\w'’+])")


@lru_cache(maxsize=256)
def _bare_pattern(labels: tuple[str, ...], ended: bool) -> re.Pattern[str]:
    """A label of the menu, or what looks like one, where its right side closes it."""
    short = [re.escape(label) for label in labels if len(label) <= 2]
    words = sorted((label for label in labels if len(label) > 2), key=len, reverse=True)
    spelled = [re.escape(word).replace(r"\ ", r"\s+") + r"(?!\w)" for word in words]
    spelled = spelled if ended else [word + r"(?!\Z)" for word in spelled]
    letters = "|".join(
        [*(f"(?i:{label}){_ALONE}" for label in short), "[A-Z]{1,2}", rf"[-−]?\d{{1,3}}{_ALONE}"]
    )
    abstaining = "|".join(_ABSTAINING)
    wordlike = "|".join([*(f"(?i:{word})" for word in spelled), rf"(?i:{abstaining})(?!\w)"])
    return re.compile(rf"(?:{wordlike}|(?:{letters}){_STRICT[ended]})")


def authors_letters(text: str) -> tuple[str, ...]:
    """Letters by the published rule, which has no word boundary after the letter.

    Examples
    --------
    >>> authors_letters("Best Response: Explanation")
    ('E',)
    """
    return tuple(letter.upper() for letter in _AUTHORS_LETTER.findall(text))


_CHOICE = "option|answer|choice|candidate"
_OF_A_MODEL = r"""[\s*_`"'“”‘’]*[:：][\s*_`"'“”‘’\[(<]*(?:model|response)\b"""
# Of answers that models gave, "the correct answer: model 2" names no option: only the best one,
# which is asked for where the answers themselves are compared, is a model's.
_LEADS = {
    "final_answer": lead_of(r"final[\s_]+answer", nouns=_CHOICE),
    "correct_answer": lead_of(
        rf"(?:correct[\s_]+answer(?!{_OF_A_MODEL})|best[\s_]+answer)",
        nouns=f"{_CHOICE}|model|response",
    ),
    "options": lead_of("option", nouns=_CHOICE),
    "candidates": lead_of("candidate", nouns=_CHOICE),
}
NUMBERED_FORMS = ("final_answer", "correct_answer")
"""Forms of verdicts; ``options`` and ``candidates`` are those of a selection."""


def find_numbered(text: str, menu: Menu, ended: bool) -> list[Mention]:
    r"""Find every statement of the menu's form, in the order written.

    Examples
    --------
    >>> menu = Menu(labels=("0", "1"), option_ids=("a", "b"), form="final_answer")
    >>> [one.labels for one in find_numbered("Final Answer: 1\nReason: Option 0 is weak.", menu, True)]
    [('1',)]
    >>> find_numbered("Final Answer: 1.5", menu, True)
    []
    """  # noqa: E501  the example is one reply
    return find_best_response(text, menu.labels, ended, lead=_LEADS[menu.form])


@dataclass(frozen=True, slots=True)
class Form:
    """A declared form.

    ``find(text, menu, ended)`` gives the mentions in order; ``ended`` is False for a reply
    that was cut off. ``complete(label)`` is the whole form for a label, None where the form is one
    word.
    ``schroeder2024(text)`` gives the labels the published rule of [1]_ reads, and is None where
    that study did not ask for the form.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.
    """

    find: Callable[[str, Menu, bool], list[Mention]]
    complete: Callable[[str], str] | None
    schroeder2024: Callable[[str], tuple[str, ...]] | None


def _rating_reply_scale(menu: Menu) -> Scale:
    """The scale a rating is read on."""
    if menu.scale is None:
        raise SweepError(f"form {menu.form} needs a scale, got a menu without one")
    return menu.scale


FORMS: Mapping[str, Form] = {
    "best_response": Form(
        find=lambda text, menu, ended: find_best_response(text, menu.labels, ended),
        complete="Best Response: [[{}]]".format,
        schroeder2024=authors_letters,
    ),
    # No stop string: "correct" ends inside "incorrect" and "correctness", and one word is short.
    "correctness": Form(
        find=lambda text, menu, ended: find_correctness(text, menu.labels, ended),
        complete=None,
        schroeder2024=authors_correctness,
    ),
    # Without brackets no value has an end of its own: "Score: 1" may go on to "Score: 10".
    **{
        name: Form(
            find=lambda text, menu, ended: find_ratings(
                text, _rating_reply_scale(menu), ended, form=menu.form
            ),
            complete="Rating: [[{}]]".format if name == "rating" else None,
            schroeder2024=None,
        )
        for name in RATING_FORMS
    },
    # No stop string: what comes after the number is the confidence in it.
    **{
        name: Form(find=find_numbered, complete=None, schroeder2024=None) for name in NUMBERED_FORMS
    },
}
"""Declared forms by the name a template's ``form`` and a menu's ``form`` use."""

# What follows may change any match: nothing is settled early.
_DECLARED = Form(find=find_declared, complete=None, schroeder2024=None)


def form_of(menu: Menu) -> Form:
    """Look up the form a menu is read by: one that ships, or its template's own."""
    if menu.form == DECLARED:
        return _DECLARED
    if menu.form not in FORMS:
        known = ", ".join(FORMS)
        raise SweepError(f"unknown verdict form, expected one of {known}, got {menu.form!r}")
    return FORMS[menu.form]


def answer_frame(form: str) -> tuple[str, str]:
    """What the declared form of a verdict has before its label and after it.

    Raises
    ------
    SweepError
        If the form has no words around its label.

    Examples
    --------
    >>> answer_frame("best_response")
    ('Best Response: [[', ']]')
    """
    complete = FORMS[form].complete if form in FORMS else None
    if complete is None:
        raise SweepError(f"confusion needs a form with words around its label, got {form!r}")
    before, after = complete("\0").split("\0")
    return before, after
