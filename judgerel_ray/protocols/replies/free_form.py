"""Replies whose form nobody declared, as logs hold them: verdict or score, or why there is none.

Where a reply states its verdict in several ways, the first of these counts: fields of the outermost
objects of JSON, ``[[A]]``, ``[RESULT] 4``, tags such as ``<score>4</score>``, lines such as
``Verdict: A`` or ``**Score:** 4 out of 5``, a reply that is nothing but a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from judgerel_ray.core import Outcome
from judgerel_ray.protocols.replies.json_values import outermost_values
from judgerel_ray.protocols.replies.mentions import find_number
from judgerel_ray.protocols.replies.rating_form import find_denominator, is_stated_whole
from judgerel_ray.protocols.replies.thoughts import spoken_reply
from judgerel_ray.protocols.replies.verdicts import declines

_VERDICTS = (
    "verdict", "final_verdict", "winner", "decision", "judgment", "judgement", "choice",
    "preferred", "preference", "best_response", "label", "pass", "passed", "is_correct", "correct",
)  # fmt: skip
_SCORES = (
    "score", "final_score", "overall_score", "total_score", "rating", "final_rating",
    "overall_rating", "grade", "overall",
)  # fmt: skip
_ANSWERS = ("answer", "final_answer", "result")
_RANKS = (_VERDICTS, _SCORES, _ANSWERS)
"""Names of fields that hold a verdict; a later rank counts where a reply has none of an earlier."""
_PLACE = {name: (rank, nth) for rank, names in enumerate(_RANKS) for nth, name in enumerate(names)}


@dataclass(frozen=True, slots=True)
class FreeReading:
    """What a reply says: a verdict or a score, or neither and why.

    ``out_of`` is the denominator that a score was stated with, as in "4 out of 5".

    >>> FreeReading(score=4.0, out_of=5.0).outcome.value
    'scored'
    """

    verdict: str | None = None
    score: float | None = None
    outcome: Outcome = Outcome.SCORED
    out_of: float | None = None


def read_free_reply(
    text: str | None, *, finish_reason: str = "stop", forms: tuple[str, ...] | None = None
) -> FreeReading:
    """Read a reply whose form is not known.

    Parameters
    ----------
    text : str or None
        The reply; None where there is none.
    finish_reason : str
        ``length`` for a reply cut off at its limit: nobody knows what it would have said.
    forms : tuple of str, optional
        Those of :data:`FREE_FORMS` in which a verdict counts; by default all, in their order.

    Returns
    -------
    FreeReading
        Different values of one form are ``conflicting``. Thoughts are not read. A bool is ``pass``
        or ``fail``, a number a score with its sign and decimals.

    Examples
    --------
    >>> read_free_reply('{"score": 4, "parts": [{"score": 1}]}').score
    4.0
    >>> read_free_reply("So I prefer [[B]].").verdict, read_free_reply("Score: -2").score
    ('B', -2.0)
    >>> [read_free_reply(text).outcome.value for text in ("[[A]] or [[B]]", "It depends.")]
    ['conflicting', 'unparsed']
    """
    if text is None:
        return FreeReading(outcome=Outcome.FAILED)
    reply = spoken_reply(text, finish_reason)
    if not reply.is_whole:
        return FreeReading(outcome=Outcome.TRUNCATED)
    spoken = reply.text.strip()
    for name in FREE_FORMS if forms is None else forms:
        found = list(dict.fromkeys(FREE_FORMS[name](spoken)))
        if len(found) > 1:
            return FreeReading(outcome=Outcome.CONFLICTING)
        if found:
            return found[0]
    refused = declines(spoken) or declines(spoken, rating=True)
    return FreeReading(outcome=Outcome.REFUSED if refused else Outcome.UNPARSED)


_BEGINS = re.compile(r"\{(?=\s*[\"'])|\[(?=\s*\{)")


def _of_objects(text: str) -> Iterator[FreeReading]:
    """What the outermost values of JSON state, each by its best field."""
    for found in outermost_values(text, _BEGINS, literals=True):
        if found.is_whole:
            yield from _of_value(found.value)


def _of_value(value: object) -> Iterator[FreeReading]:
    """What an object states: by its own fields, or by those of what it holds where it has none."""
    if isinstance(value, list):
        for each in value:
            yield from _of_value(each)
    if not isinstance(value, dict):
        return
    named = [(_PLACE.get(_plain(name)), held) for name, held in value.items()]
    fields = [(place, held) for place, held in named if place is not None]
    if fields:
        yield from _of_field(min(fields, key=lambda field: field[0])[1])
        return
    for inner in value.values():
        yield from _of_value(inner)


def _plain(name: object) -> str:
    """A name of a field without case, blanks and hyphens."""
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def _of_field(held: object) -> Iterator[FreeReading]:
    """What one field states; a list, or a key that is repeated, each of its values."""
    if isinstance(held, bool):
        yield FreeReading("pass" if held else "fail")
    elif isinstance(held, int | float | str):
        found = _of_words(str(held))
        if found is not None:
            yield found
    elif isinstance(held, list):
        for each in held:
            yield from _of_field(each)
    elif isinstance(held, dict):
        yield from _of_field(held["value"]) if "value" in held else _of_value(held)


_BRACKETS = re.compile(
    r"\[\[\s*(?P<value>[^\[\]]{1,40}?)\s*\]\]|\\boxed\{\s*(?P<boxed>[^{}]{1,40}?)\s*\}"
)
_OUT_OF_BRACKETS = re.compile(r"\s*(?:/|out\s+of)\s*\[\[\s*([^\[\]]{1,40}?)\s*\]\]", re.IGNORECASE)
_TAG = re.compile(
    rf"<(?P<name>{'|'.join(_PLACE)})>\s*(?P<value>[^<>]{{1,60}}?)\s*</(?P=name)>", re.IGNORECASE
)
_RESULT = re.compile(r"\[RESULT\]\s*[(\[]?\s*(?:(?:score|rating)\s*:?\s*)?", re.IGNORECASE)
_NOUNS = (
    r"verdict|winner|decision|judge?ment|choice|preference|best\s+response|label",
    r"score|rating|grade",
    r"answer|result",
)
_MARKS = r"[\s*_`\"'“”‘’]{0,20}+"
_LEAD = re.compile(
    r"(?P<whole>(?:overall|final|total)[\s*_]+)?(?<![^\W_])"
    rf"(?:{'|'.join(f'(?P<rank{n}>{nouns})' for n, nouns in enumerate(_NOUNS))})"
    rf"(?:{_MARKS}[:：=]|(?<!answer)(?<!result)\s+is\b\s*:?)[\s*_`\"'“‘(\[]{{0,20}}+",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"(?:(?:model|option|response|assistant|answer)\s+)?"
    r"(?:[A-F][+-](?!\w)|[^\W_](?:[\w.=<>+-]{0,38}[\w=<>+])?)",
    re.IGNORECASE,
)
_CLOSERS = re.compile(r"""[*_`"'“”’)\]]{0,10}+""")
# Nothing, or the form quoted with its placeholder, as in "Rating: [[rating]]".
_NO_VALUE = frozenset(
    {"", "null", "nan", "n/a", "na", "rating", "score", "number", "verdict", "letter", "label"}
)


def _in_brackets(text: str) -> Iterator[FreeReading]:
    """What stands in double brackets; "[[9]] out of [[10]]" is a nine."""
    place = 0
    while (found := _BRACKETS.search(text, place)) is not None:
        of = _OUT_OF_BRACKETS.match(text, found.end())
        place = of.end() if of else found.end()
        written = found["value"] or found["boxed"]
        value = _of_words(f"{written}/{of[1]}" if of else written)
        if value is not None:
            yield value


def _in_tags(text: str) -> Iterator[FreeReading]:
    """What stands between tags that are called as a verdict or a score is."""
    found = [(_PLACE[one["name"].lower()][0], one["value"]) for one in _TAG.finditer(text)]
    best = min((rank for rank, _ in found), default=0)
    for rank, written in found:
        if rank == best and (value := _of_words(written)) is not None:
            yield value


def _behind_result(text: str) -> Iterator[FreeReading]:
    """What stands behind ``[RESULT]``."""
    for one in _RESULT.finditer(text):
        found = _number_at(text, one.end()) or _word_at(text, one.end())
        if found is not None:
            yield found[0]


def _of_labelled_lines(text: str) -> Iterator[FreeReading]:
    """What is stated behind a noun and a colon; of an overall score the parts are left out."""
    found: dict[tuple[int, bool], list[FreeReading]] = {}
    for lead in _LEAD.finditer(_outside_json(text)):
        value = _number_at(lead.string, lead.end()) or _word_at(lead.string, lead.end())
        closed = value and _CLOSERS.match(lead.string, value[1])
        if value and closed and is_stated_whole(lead.string, closed.end()):
            rank = next(n for n in range(len(_NOUNS)) if lead[f"rank{n}"])
            found.setdefault((rank, lead["whole"] is None), []).append(value[0])
    yield from found[min(found)] if found else ()


def _alone(text: str) -> Iterator[FreeReading]:
    """A reply that is nothing but a number or one word."""
    bare = text.strip(" \t\r\n*_`\"'“”‘’[]().!")
    value = _of_words(bare)
    if value is not None and (value.verdict is None or _WORD.fullmatch(bare)):
        yield value


FREE_FORMS: Mapping[str, Callable[[str], Iterator[FreeReading]]] = {
    "json": _of_objects,
    "brackets": _in_brackets,
    "result": _behind_result,
    "tags": _in_tags,
    "lines": _of_labelled_lines,
    "alone": _alone,
}
"""Forms by name, in the order in which they count."""


def _outside_json(text: str) -> str:
    """A text without what begins as JSON, whole or not: a stump of an object states nothing."""
    kept, place = [], 0
    for found in outermost_values(text, _BEGINS):
        kept.append(text[place : found.start])
        place = found.end
    return "\n".join([*kept, text[place:]])


def _of_words(written: str) -> FreeReading | None:
    """A field's text as a score where it is a number, perhaps out of another; else as a verdict."""
    bare = written.strip(" \t\r\n*_`\"'")
    if bare.lower() in _NO_VALUE:
        return None
    number = _number_at(bare, 0)
    if number is not None and number[1] == len(bare):
        return number[0]
    return FreeReading(bare)


def _number_at(text: str, place: int) -> tuple[FreeReading, int] | None:
    """The number that begins at a place, with its sign and decimals, and what it is out of."""
    found = find_number(text, place)
    if found is None:
        return None
    spelled, end = found
    of = find_denominator(text, end)
    if spelled is None or (of is not None and of[0] is None):
        return None
    denominator = float(of[0]) if of and of[0] else None
    return FreeReading(score=float(spelled), out_of=denominator), of[2] if of else end


def _word_at(text: str, place: int) -> tuple[FreeReading, int] | None:
    """The word that begins at a place; a number in an odd spelling is none."""
    found = _WORD.match(text, place)
    if found is None or found[0][0].isdigit() or found[0].lower() in _NO_VALUE:
        return None
    return FreeReading(found[0]), found.end()
