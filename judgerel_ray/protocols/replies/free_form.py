"""Replies whose form nobody declared, as logs hold them: verdict or score, or why there is none.

A reply may state its verdict as a field of JSON, as ``[[A]]``, behind ``[RESULT]``, in a tag such
as ``<score>4</score>``, behind a noun as in ``Verdict: A`` or ``**Score:** 4 out of 5``, or be
nothing but a verdict. Verdicts count before scores, and scores before answers; two that differ are
``conflicting``, wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from judgerel_ray.core import Outcome
from judgerel_ray.protocols.replies.json_values import outermost_values
from judgerel_ray.protocols.replies.mentions import find_number
from judgerel_ray.protocols.replies.rating_form import find_denominator, is_stated_whole
from judgerel_ray.protocols.replies.thoughts import spoken_reply
from judgerel_ray.protocols.replies.verdicts import declines

_FIELDS = (
    ("verdict", "final_verdict", "winner", "decision", "judgment", "judgement", "choice",
     "preferred", "preference", "best_response", "pass", "passed", "is_correct", "correct",
     "label"),
    ("score", "final_score", "overall_score", "total_score", "rating", "final_rating",
     "overall_rating", "grade", "overall", "total"),
    ("answer", "final_answer", "best_answer", "result"),
)  # fmt: skip
"""Names of fields by rank: verdicts, scores, answers; in a rank the first that holds any counts."""
_RANK = {name: rank for rank, names in enumerate(_FIELDS) for name in names}
_PLACE = {name: (rank, nth) for rank, names in enumerate(_FIELDS) for nth, name in enumerate(names)}


@dataclass(frozen=True, slots=True)
class FreeReading:
    """What a reply states: a verdict or a score, or neither and why.

    ``out_of`` is the denominator that a score was stated with, as in "4 out of 5".

    >>> FreeReading(score=4.0, out_of=5.0).outcome.value
    'scored'
    """

    verdict: str | None = None
    score: float | None = None
    outcome: Outcome = Outcome.SCORED
    out_of: float | None = None


class _Statement(NamedTuple):
    """A verdict or score, and its rank: 0 for verdicts, 1 for scores, 2 for answers."""

    rank: int
    reading: FreeReading

    @property
    def key(self) -> object:
        """What is stated, whatever its spelling and denominator."""
        if self.reading.score is not None:
            return self.reading.score
        return _NOUN.sub("", self.reading.verdict or "").casefold()


def read_free_reply(
    text: str | None, *, finish_reason: str = "stop", forms: tuple[str, ...] | None = None
) -> FreeReading:
    """Read a reply whose form is not known.

    Parameters
    ----------
    text : str or None
        The reply; None where there is none.
    finish_reason : str
        ``length`` for a reply cut off at its limit: nobody knows what it would have stated.
    forms : tuple of str, optional
        Those of :data:`FREE_FORMS` in which a verdict counts; by default all.

    Returns
    -------
    FreeReading
        Thoughts are not read. A bool is ``pass`` or ``fail``, a number a score with its sign and
        decimals.

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
    spoken = _END_MARKS.sub("", reply.text).strip()
    plain = _outside_json(spoken)
    stated = [
        one
        for name in forms or FREE_FORMS
        for one in FREE_FORMS[name](plain if name in _OF_PROSE else spoken)
    ]
    best = min((one.rank for one in stated), default=0)
    stated = [one for one in stated if one.rank == best]
    if len({one.key for one in stated}) > 1:
        return FreeReading(outcome=Outcome.CONFLICTING)
    if stated:
        return stated[0].reading
    refused = declines(spoken) or declines(spoken, rating=True)
    return FreeReading(outcome=Outcome.REFUSED if refused else Outcome.UNPARSED)


_END_MARKS = re.compile(
    r"(?:\s{0,9}(?:<\|(?:im_end|endoftext|eot_id|end|return|end_of_text)\|>|</s>|<end_of_turn>))+\Z"
)
_BEGINS = re.compile(r"\{|\[(?=\s*\{)")


def _json_statements(text: str) -> Iterator[_Statement]:
    """What the outermost values of JSON state, each by its best field."""
    for found in outermost_values(text, _BEGINS, repairs=True):
        if found.is_whole:
            yield from _value_statements(found.value)


def _value_statements(value: object) -> Iterator[_Statement]:
    """What an object states: by its own fields, or by those of what it holds where it has none."""
    if isinstance(value, list):
        for each in value:
            yield from _value_statements(each)
    if not isinstance(value, dict):
        return
    named = [(_PLACE.get(_field_name(name)), held) for name, held in value.items()]
    known = sorted(
        ((place, held) for place, held in named if place is not None), key=lambda field: field[0]
    )
    for place, held in known:
        found = list(_field_statements(place[0], held))
        if found:
            yield from found
            return
    if not known:
        for inner in value.values():
            yield from _value_statements(inner)


def _field_name(name: object) -> str:
    """A name of a field in small letters, its words joined by low lines."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name).strip())
    return re.sub(r"[\s-]+", "_", words).lower()


def _field_statements(rank: int, held: object) -> Iterator[_Statement]:
    """What one field states; a list, or a key that is repeated, each of its values."""
    if isinstance(held, bool):
        yield _Statement(rank, FreeReading("pass" if held else "fail"))
    elif isinstance(held, int | float | str):
        found = _read_words(str(held))
        if found is not None:
            yield _Statement(rank, found)
        elif isinstance(held, str) and len(held) <= _MOST_RETOLD:
            # A field that holds a statement in another form: "Score: 4", "[[A]]".
            inner = [*_bracket_statements(held), *_line_statements(held)]
            yield from (one._replace(rank=rank) for one in inner)
    elif isinstance(held, list):
        for each in held:
            yield from _field_statements(rank, each)
    elif isinstance(held, dict):
        yield from (
            _field_statements(rank, held["value"]) if "value" in held else _value_statements(held)
        )


_MOST_RETOLD = 200
_BRACKETS = re.compile(
    r"\[\[(?P<value>[^\[\]]{1,60})\]\]"
    r"|\\boxed\{(?:\\text\{)?(?P<boxed>[^{}]{1,60})\}{1,2}"
)
_OUT_OF_BRACKETS = re.compile(
    r"\s{0,5}(?:/|out\s{1,5}of)\s{0,5}\[\[([^\[\]]{1,60})\]\]", re.IGNORECASE
)
_TAG = re.compile(rf"<(?P<name>{'|'.join(_RANK)})>(?P<value>[^<>]{{1,80}})</(?P=name)>", re.I)
_RESULT = re.compile(r"\[RESULT\]\s{0,9}[(\[]?\s{0,9}(?:(?:score|rating)\s{0,9}:?\s{0,9})?", re.I)
_NOUNS = (
    r"verdict|winner|decision|judge?ment|choice|preference|best\s{1,3}response|label",
    r"score|rating|grade|overall|total",
    r"answer",
)
_MARKS = r"[\s*_`\"'“”‘’]{0,20}+"
# Whose value it is: what others were given, or were to say, is not what the judge says.
_OTHERS = (
    r"student|reference|correct|expected|gold|golden|true|right|model|response|candidate|assistant"
    r"|test|starting|initial|previous|max|maximum|min|minimum|perfect|possible|base|baseline|user"
)
_LEAD = re.compile(
    rf"(?P<begin>(?:\A|\n)[\s#>*_`\"'“•|-]{{0,20}}+|[.;!?)]\s{{1,3}})"
    rf"(?:(?:so|thus|hence|therefore|then|and),?\s{{1,3}})?"
    rf"(?:(?:my|the|this|overall|final|total|judge|(?!(?:{_OTHERS})\b)\w{{2,20}})['’]?s?[\s*_]{{1,5}}){{0,3}}?"
    rf"(?P<noun>{'|'.join(f'(?P<rank{n}>{nouns})' for n, nouns in enumerate(_NOUNS))})"
    rf"(?:\s{{0,3}}\([^()\n]{{1,30}}\))?{_MARKS}"
    rf"(?P<by>[:：=]|(?<=\s)is\b\s{{0,3}}:?|(?<=\n))[\s*_`\"'“‘(\[{{$~≈]{{0,20}}+",
    re.IGNORECASE,
)
_NOUN = re.compile(r"^(?:model|option|response|assistant|answer)[ ]{1,3}", re.IGNORECASE)
_COMPARED = r"[A-C]\s?(?:>>|>|=|<|<<)\s?[A-C](?!\w)"
_WORD = re.compile(
    rf"{_COMPARED}|(?:(?:model|option|response|assistant|answer)[ ]{{1,3}})?"
    r"(?:[A-F][+-](?!\w)|[^\W_](?:[\w.+-]{0,38}\w)?)",
    re.IGNORECASE,
)
# "The verdict is clear" says nothing: behind "is" only these are verdicts.
_PLAIN_VERDICT = re.compile(
    rf"(?:{_COMPARED}|(?-i:[A-Z])|(?:model|option|response|assistant|answer)[ ]{{1,3}}\w{{1,3}}"
    r"|pass(?:ed)?|fail(?:ed)?|yes|no|true|false|correct|incorrect|tie|tied|draw)(?!\w)",
    re.IGNORECASE,
)
_UNITS = re.compile(r"[ ]{1,3}(?:points?|stars?)\b|%", re.IGNORECASE)
_CLOSERS = re.compile(r"""[*_`"'“”’)\]}$]{0,10}+""")
# Nothing, the form quoted with its placeholder, or what is said in place of a verdict.
_NO_VALUE = frozenset(
    {
        "", "null", "nan", "inf", "-inf", "infinity", "-infinity", "n/a", "na", "rating", "score",
        "number", "verdict", "letter", "label", "x", "n", "tbd", "pending", "unknown", "sure",
        "ok", "okay", "understood", "error", "timeout", "undefined", "missing", "below", "as",
    }
)  # fmt: skip
_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")


def _bracket_statements(text: str) -> Iterator[_Statement]:
    """What stands in double brackets, or in a box; "[[9]] out of [[10]]" is a nine."""
    place = 0
    while (found := _BRACKETS.search(text, place)) is not None:
        of = _OUT_OF_BRACKETS.match(text, found.end())
        place = of.end() if of else found.end()
        written = (found["value"] or found["boxed"]).strip()
        value = _read_words(f"{written}/{of[1].strip()}" if of else written)
        if value is not None:
            yield _ranked_reply_statement(value)


def _tag_statements(text: str) -> Iterator[_Statement]:
    """What stands between tags that are called as a verdict or a score is."""
    for one in _TAG.finditer(text):
        written = one["value"].strip()
        value = _read_words(written)
        number = None if value else _number_at(written, 0)
        if number is not None and is_stated_whole(written, number[1]):
            value = number[0]
        if value is not None:
            yield _Statement(_RANK[one["name"].lower()], value)


def _result_statements(text: str) -> Iterator[_Statement]:
    """What stands behind ``[RESULT]``."""
    for one in _RESULT.finditer(text):
        found = _number_at(text, one.end()) or _word_at(text, one.end())
        if found is not None:
            yield _ranked_reply_statement(found[0])


def _line_statements(text: str) -> Iterator[_Statement]:
    """What is stated behind a noun; where an overall score is, the scores of parts are left out."""
    found: list[tuple[bool, _Statement]] = []
    for lead in _LEAD.finditer(text):
        value = _behind_lead(text, lead)
        if value is not None:
            rank = next(n for n in range(len(_NOUNS)) if lead[f"rank{n}"])
            whole = re.search(r"overall|final|total", lead[0], re.IGNORECASE) is not None
            found.append((whole, _Statement(rank, value)))
    only_whole = any(whole for whole, _ in found)
    yield from (one for whole, one in found if whole or not only_whole)


def _behind_lead(text: str, lead: re.Match[str]) -> FreeReading | None:
    """The value that a noun and its sign lead to; None where a sentence goes on in its place."""
    place, noun = lead.end(), lead["noun"].lower()
    number = _number_at(text, place)
    if number is not None:
        end = number[1]
        unit = _UNITS.match(text, end)
        end = unit.end() if unit else end
        closed = _CLOSERS.match(text, end)
        if not is_stated_whole(text, closed.end() if closed else end):
            return None
        return None if unit and unit[0] == "%" else number[0]
    if noun in ("overall", "total"):
        return None
    word = _word_at(text, place)
    if word is None:
        return None
    if not lead["by"].strip() or lead["by"].lower().startswith("is"):
        plain = _PLAIN_VERDICT.match(text, place)
        word = (FreeReading(plain[0]), plain.end()) if plain else None
    if word is None:
        return None
    closed = _CLOSERS.match(text, word[1])
    return word[0] if is_stated_whole(text, closed.end() if closed else word[1]) else None


_AROUND = " \t\r\n*_`\"'“”‘’[]()"


def _sole_statement(text: str) -> Iterator[_Statement]:
    """A reply that is nothing but a number or one word."""
    bare = text.strip(_AROUND).rstrip(".!。").strip(_AROUND)
    value = _read_words(bare)
    if value is not None and (value.verdict is None or _WORD.fullmatch(bare)):
        yield _ranked_reply_statement(value)


FREE_FORMS: Mapping[str, Callable[[str], Iterator[_Statement]]] = {
    "json": _json_statements,
    "brackets": _bracket_statements,
    "result": _result_statements,
    "tags": _tag_statements,
    "lines": _line_statements,
    "sole": _sole_statement,
}
"""Forms by name."""
_OF_PROSE = ("brackets", "result", "tags", "lines")


def _ranked_reply_statement(value: FreeReading) -> _Statement:
    """A statement whose rank is that of what it holds: words are verdicts, numbers scores."""
    return _Statement(0 if value.score is None else 1, value)


def _outside_json(text: str) -> str:
    """A text without what begins as JSON, whole or not: a stump of an object states nothing."""
    kept, place = [], 0
    for found in outermost_values(text, _BEGINS, repairs=True):
        if found.end > found.start + 1:  # no brace of prose
            kept.append(text[place : found.start])
            place = found.end
    return "\n".join([*kept, text[place:]])


def _read_words(written: str) -> FreeReading | None:
    """A field's text as a score where it is a number, perhaps out of another; else as a verdict.

    A sentence, and what only begins as a number, is neither.
    """
    bare = written.strip(" \t\r\n*_`\"'")
    if bare.lower() in _NO_VALUE:
        return None
    number = _number_at(bare, 0)
    if number is not None and number[1] == len(bare):
        return number[0]
    if number is not None or bare[0].isdigit() or len(bare) > 60 or len(bare.split()) > 5:
        return None
    if re.search(r"[:\[\]{}\n]|\b(?:or|and)\b", bare):
        return None
    return FreeReading(bare)


def _number_at(text: str, place: int) -> tuple[FreeReading, int] | None:
    """The number that begins at a place, with its sign and decimals, and what it is out of."""
    found = find_number(text, place)
    plain = _PLAIN_NUMBER.match(text, place)
    if found is None or (plain is not None and plain.end() > found[1]):
        # More digits than are exact, or an exponent, as programs write numbers.
        return (FreeReading(score=float(plain[0])), plain.end()) if plain else None
    spelled, end = found
    if spelled is None and plain is not None and plain.end() == end:
        return FreeReading(score=float(plain[0])), end
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
