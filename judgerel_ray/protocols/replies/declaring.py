"""The table ``[form]`` of a template, which declares a form of verdict.

It says where the word for the verdict stands, ``pattern`` (a regular expression with a group
``verdict``) or ``json`` (a path in a JSON object), and which words there are: ``options``, ``tie``,
``refusal``. ``example`` is a whole reply with ``{verdict}`` in the word's place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from judgerel_ray.core import OwnForm, SweepError, printable
from judgerel_ray.protocols.criteria import check_keys
from judgerel_ray.protocols.registry import protocol_named
from judgerel_ray.protocols.replies.own_forms import (
    PLACEHOLDER,
    folded_word,
    matches_nothing,
    replaced,
)

KEYS = ("pattern", "json", "example", "options", "tie", "refusal")
Naming = Literal["letters", "numbers", "texts", "words"]
_NAMINGS: tuple[Naming, ...] = ("letters", "numbers", "texts")
_GROUP = re.compile(r"\(\?P?<verdict>")
_STEP = re.compile(r"""\.?(?P<key>[^\s.\[\]"']+)|\[(?P<place>\d+)\]|\["(?P<quoted>[^"]+)"\]""")


def own_form(table: Mapping[str, object], *, protocol: str, where: Mapping[str, object]) -> OwnForm:
    r"""Read and check the table ``[form]`` of a template.

    Parameters
    ----------
    table : mapping
        ``pattern`` or ``json``, ``example``, and ``options``, ``tie``, ``refusal`` where they are
        needed.
    protocol : str
        ``best_of``, ``correctness`` or ``rating``.
    where : mapping
        Where it stands, for messages.

    Raises
    ------
    SweepError
        If a key is unknown, wrong or missing, the pattern does not compile, or one word would name
        two things.

    Examples
    --------
    >>> own_form({"json": "result.winner", "example": '{"result": {"winner": "{verdict}"}}'},
    ...          protocol="best_of", where={}).path
    ('result', 'winner')
    """
    if "verdict" in table:
        raise SweepError(
            "verdict stands above the table [form], and is in it",
            where=where,
            hint='verdict = "last" as the first line of the file',
        )
    check_keys(table, KEYS, where)
    pattern, path = _text(table, "pattern", where), _text(table, "json", where)
    if (pattern is None) == (path is None):
        raise SweepError(
            "a form needs pattern (a regular expression with a group verdict) or json (a path), "
            f"one of the two, got {'both' if pattern else 'neither'}",
            where=where,
            hint=r"pattern = '\[\[(?P<verdict>\w+)\]\]', or json = 'winner'",
        )
    example = _text(table, "example", where)
    if example is None or PLACEHOLDER not in example:
        raise SweepError(
            f"example must be a whole reply with {PLACEHOLDER} where the word for the verdict "
            f"stands, got {example!r}",
            where=where,
            hint=f"example = 'The second is clearer. [[{PLACEHOLDER}]]'",
        )
    naming, words = _options(table, protocol, where)
    own = OwnForm(
        example=example.strip(),
        pattern=_checked(pattern, where) if pattern else "",
        path=_steps(path, where) if path else (),
        naming=naming,
        words=words,
        ties=_words_of(table, "tie", where),
        refusals=_words_of(table, "refusal", where),
    )
    if own.ties and not protocol_named(protocol).ties:
        raise SweepError(f"tie needs protocol best_of, got {protocol}", where=where)
    places = [f"option {place}" for place in range(1, len(words) + 1)]
    refuse_clashes((*words, own.ties, own.refusals), (*places, "tie", "refusal"), where)
    return own


def refuse_clashes(
    words: Sequence[Sequence[str]], meanings: Sequence[str], where: Mapping[str, object]
) -> None:
    """Refuse a word that would name two things, in whatever case.

    Raises
    ------
    SweepError
        Naming the word and both.

    Examples
    --------
    >>> refuse_clashes([["A"], ["C"], ["c"]], ["option 1", "option 2", "tie"], {})
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: the word 'c' names option 2 and tie
    """
    seen: dict[str, str] = {}
    for each, meaning in zip(words, meanings, strict=True):
        for word in each:
            other = seen.setdefault(folded_word(word), meaning)
            if other != meaning:
                raise SweepError(f"the word {word!r} names {other} and {meaning}", where=where)


def _checked(pattern: str, where: Mapping[str, object]) -> str:
    """A pattern that compiles and has the group."""
    import polars as pl

    if not _GROUP.search(pattern):
        raise SweepError(
            f"pattern must have a group named verdict, got '{printable(pattern)}'",
            where=where,
            hint=r"'Answer: (?P<verdict>\w+)'",
        )
    try:
        replaced(pl.Series([""]), pattern)
    except pl.exceptions.ComputeError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        errors = [line for line in lines if line.startswith("error: ")]
        why = (errors or lines)[0].removeprefix("error: ").removeprefix("regex error: ")
        raise SweepError(
            f"pattern cannot be used: {why}, got '{printable(pattern)}'",
            where=where,
            hint="patterns are of the kind that takes linear time (Rust's regex, much as RE2): no "
            r"look-around and no back-references; the end of a text is \z",
        ) from None
    if matches_nothing(pattern):
        raise SweepError(
            "pattern matches the empty text, so that a verdict would stand everywhere, got "
            f"'{printable(pattern)}'",
            where=where,
            hint="let the group, or what stands around it, be at least one character: + for *, and "
            "no ? after it",
        )
    return pattern


def _steps(path: str, where: Mapping[str, object]) -> tuple[str | int, ...]:
    """The steps of a path such as ``result.winner``, ``$.scores[0]`` or ``["a key"].winner``."""
    steps: list[str | int] = []
    place = 1 if path.startswith("$") else 0
    while place < len(path):
        step = _STEP.match(path, place)
        if step is None or (step[0].startswith(".") and not steps and path[0] != "$"):
            steps = []
            break
        steps.append(int(step["place"]) if step["place"] else step["key"] or step["quoted"])
        place = step.end()
    if not steps:
        raise SweepError(
            f"json must be a path of keys and places, got {path!r}",
            where=where,
            hint="""'winner', 'result.winner', 'scores[0].winner' or '["a key"].winner'""",
        )
    return tuple(steps)


def _options(
    table: Mapping[str, object], protocol: str, where: Mapping[str, object]
) -> tuple[Naming, tuple[tuple[str, ...], ...]]:
    """What options are called, and their words where these are listed."""
    given = table.get("options")
    if given is None:
        return "letters", ()
    if protocol == "rating":
        raise SweepError(
            "options needs protocol best_of or correctness: what may be rated is the scale's",
            where=where,
        )
    if isinstance(given, str) and protocol == "best_of":
        for naming in _NAMINGS:
            if given == naming:
                return naming, ()
    least = 2
    if (
        not isinstance(given, list)
        or len(given) < least
        or (len(given) > least and (protocol == "correctness"))
    ):
        raise SweepError(
            "options must be "
            + ("letters, numbers, texts, or a list of the words for each option in the order shown"
               if protocol == "best_of" else "a list of two: the words for correct and incorrect")
            + f", got {given!r}",
            where=where,
            hint='options = ["first", "second"], or [["yes", "true"], ["no", "false"]]',
        )  # fmt: skip
    return "words", tuple(_as_words(one, "options", where) for one in given)


def _words_of(
    table: Mapping[str, object], key: str, where: Mapping[str, object]
) -> tuple[str, ...]:
    """The words of a key; none where it is left out."""
    return _as_words(table[key], key, where) if key in table else ()


def _as_words(given: object, key: str, where: Mapping[str, object]) -> tuple[str, ...]:
    """One word or several, each a text in one line, a whole number or a truth value."""
    words = []
    for one in given if isinstance(given, list) else [given]:
        word = json.dumps(one) if isinstance(one, bool | int) else one
        if not isinstance(word, str) or not word.strip() or not word.strip().isprintable():
            raise SweepError(
                f"{key} must be words in one line, none of them empty, got {given!r}", where=where
            )
        words.append(word.strip())
    if not words:
        raise SweepError(f"{key} must name a word, got {given!r}", where=where)
    return tuple(words)


def _text(table: Mapping[str, object], key: str, where: Mapping[str, object]) -> str | None:
    """A text that is not empty; None where it is left out."""
    value = table.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise SweepError(f"{key} must be a text that is not empty, got {value!r}", where=where)
    return value
