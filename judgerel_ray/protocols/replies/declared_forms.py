"""Forms of verdict that a template declares for itself, and what replies in them say.

The table ``[form]`` of a template says where the word for the verdict stands, ``pattern`` (a
regular expression with a group ``verdict``) or ``json`` (a path in a JSON object), and which words
there are: ``options``, ``tie``, ``refusal``. ``example`` is a whole reply with ``{verdict}`` in the
word's place.

What a form reads is a function of the text alone: patterns run on an engine that takes linear time
for one search, so no reply can make it backtrack without end, and none is given up for want of
time, as a limit in seconds would, here or there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, cast

from judgerel_ray.core import FormSpec, Menu, Scale, SweepError, printable
from judgerel_ray.core.traits import Traits
from judgerel_ray.protocols.criteria import check_keys
from judgerel_ray.protocols.replies.json_values import OBJECT, RepeatedKey, outermost_values
from judgerel_ray.protocols.replies.mentions import Mention
from judgerel_ray.protocols.replies.rating_form import bracketed_value

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.protocols.ask import AskKind

DECLARED = "own"
"""What a menu calls the form that its template declares."""
TIE = "tie"
"""Label and option id of a tie; reducers know it for no option."""
PLACEHOLDER = "{verdict}"
MOST_READ = 100_000
"""Characters of a reply. Every match may begin a search of the rest, so all of them together can
take the square of it; a longer reply is unparsed."""

KEYS = ("pattern", "json", "example", "options", "tie", "refusal")
Naming = Literal["letters", "numbers", "texts", "words"]
_NAMINGS: tuple[Naming, ...] = ("letters", "numbers", "texts")
_GROUP = re.compile(r"\(\?P?<verdict>")
_STEP = re.compile(r"""\.?(?P<key>[^\s.\[\]"']+)|\[(?P<place>\d+)\]|\["(?P<quoted>[^"]+)"\]""")

_BEGUN, _DONE = "\x02", "\x03"
_BETWEEN = re.compile(f"{_BEGUN}([^{_DONE}]*){_DONE}")
_UNSAFE = str.maketrans({_BEGUN: "\ufffd", _DONE: "\ufffd"})
_ARRAY = re.compile(r"\[(?=\s*[\[{\"\w-])")
_MARKS = " \t*_`\"'“”‘’[](){}<>.,;:!"
_PROBES = ("a", "1", "_", " ", " a", ".", "\n", "]")
"""How a reply that was cut off might have continued."""

_NO_VERDICTS = ("", "~", "x", "7", " ", "\n")
"""Texts of one character at most."""


def find_declared(text: str, menu: Menu, ended: bool) -> list[Mention]:
    r"""Find the verdicts of a reply in the form its menu declares."""
    form = menu.declared
    if form is None:
        raise SweepError(f"form {menu.form} needs the declaration of a template")
    text = text.strip() if ended else text.lstrip()
    if len(text) > MOST_READ:
        return []
    (found,) = read_words([text], form)
    if not ended and form.pattern and found and not _is_last_verdict_whole(text, found, menu):
        found = found[:-1]
    mentions = (mention_of(words, menu) for words in found)
    return [mention for mention in mentions if mention is not None]


def read_words(texts: Sequence[str], form: FormSpec) -> list[list[tuple[str, ...]]]:
    """Read the words that stand in a form's place, of each text in the order written.

    Several together where one statement holds several, as an array does or a key that is repeated.

    Examples
    --------
    >>> form = FormSpec(path=("result", "winner"), example='{"result": {"winner": "{verdict}"}}')
    >>> read_words(['So: {"result": {"winner": "A"}}, {"result": 1}', "none"], form)
    [[('A',)], []]
    """
    if form.path:
        return [
            [words for words in _reply_json_path_words(text, form.path) if words] for text in texts
        ]
    marked = _replies_with_marked_verdicts(texts, form.pattern)
    return [[(word,) for word in _BETWEEN.findall(one) if word] for one in marked]


def mention_of(words: tuple[str, ...], menu: Menu) -> Mention | None:
    """What is stated by the words in a form's place; None where they only echo the form.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="own",
    ...             declared=FormSpec(
    ...                 pattern="(?P<verdict>.)", example="{verdict}", refusals=("N/A",)),
    ...             words=(("1", "one"), ("2",)))
    >>> mention_of(("**One**",), menu).labels, mention_of(("n/a",), menu).refuses
    (('A',), True)
    """
    if menu.declared is None or words == (PLACEHOLDER,):
        return None
    known = _labels_of_reply_words(menu.words, menu.labels, menu.declared.refusals)
    if len(words) == 1 and _label_of_reply_word(words[0], known) == _REFUSAL:
        return Mention((" ".join(words[0].split()),), refuses=True)
    labels: list[str] = []
    for word in words:
        if menu.scale is not None:
            labels += _reply_word_scale_values(word, menu.scale)
        else:
            label = _label_of_reply_word(word, known)
            labels.append(" ".join(word.split()) if label is None or label == _REFUSAL else label)
    return Mention(tuple(dict.fromkeys(labels))) if labels else None


def fill_example(form: FormSpec, word: str) -> str:
    r"""Write a reply in a declared form: its example with a word in the verdict's place.

    Examples
    --------
    >>> fill_example(FormSpec(path=("winner",), example='{"winner": "{verdict}"}'), 'the "best"')
    '{"winner": "the \\"best\\""}'
    """
    written = json.dumps(word, ensure_ascii=False)[1:-1] if form.path else word
    return form.example.replace(PLACEHOLDER, written)


def _replies_with_marked_verdicts(texts: Sequence[str], pattern: str) -> list[str]:
    """The texts with every match replaced by its group between two marks."""
    import polars as pl

    cleaned = pl.Series([text.translate(_UNSAFE) for text in texts], dtype=pl.String)
    found = replaced(cleaned, pattern)
    return cast(list[str], found.to_list())


def replaced(texts: pl.Series, pattern: str) -> pl.Series:
    r"""Replace every match by what its group captured, between two marks, in linear time."""
    return texts.str.replace_all(pattern, f"{_BEGUN}${{verdict}}{_DONE}")


def matches_nothing(pattern: str) -> bool:
    r"""Whether a pattern has matches of no characters: such a verdict stands everywhere."""
    # What is left of a text without its matches is the whole of it where they are empty.
    marked = zip(_NO_VERDICTS, _replies_with_marked_verdicts(_NO_VERDICTS, pattern), strict=True)
    return any(_BEGUN in found and _BETWEEN.sub("", found) == text for text, found in marked)


def _is_last_verdict_whole(text: str, found: list[tuple[str, ...]], menu: Menu) -> bool:
    """Whether the last match of a cut reply would be there however the reply went on."""
    form = cast(FormSpec, menu.declared)
    (marked,) = _replies_with_marked_verdicts([text], form.pattern)
    if not marked.endswith(_DONE):
        return True
    last = found[-1][0]
    known = [word for words in (*menu.words, form.refusals) for word in words]
    rest = [word[len(last) :] for word in known if word.startswith(last) and word != last]
    longer = read_words([text + probe for probe in (*_PROBES, *rest)], form)
    return all(again[: len(found)] == found for again in longer)


def _reply_json_path_words(text: str, path: tuple[str | int, ...]) -> Iterator[tuple[str, ...]]:
    """The words at a path in every JSON value of a text that has it."""
    for found in outermost_values(text, OBJECT if isinstance(path[0], str) else _ARRAY):
        if found.is_whole:
            yield tuple(
                word
                for one in _reply_json_path_values(found.value, path)
                for word in _json_reply_value_words(one)
            )


def _reply_json_path_values(value: object, path: tuple[str | int, ...]) -> Iterator[object]:
    """What stands at a path; nothing where the value has none."""
    if isinstance(value, RepeatedKey):
        for each in value:
            yield from _reply_json_path_values(each, path)
    elif not path:
        yield value
    elif isinstance(value, dict) and isinstance(path[0], str):
        if path[0] in value:
            yield from _reply_json_path_values(value[path[0]], path[1:])
    elif isinstance(value, list) and isinstance(path[0], int) and path[0] < len(value):
        yield from _reply_json_path_values(value[path[0]], path[1:])


def _json_reply_value_words(value: object) -> Iterator[str]:
    """A JSON value as words: of an array each of its values."""
    if isinstance(value, list):
        for each in value:
            yield from _json_reply_value_words(each)
    elif isinstance(value, float):
        yield str(int(value)) if value.is_integer() else repr(value)
    else:
        yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _reply_word_scale_values(word: str, scale: Scale) -> tuple[str, ...]:
    """The values of a scale that a word gives, or the word where it gives none."""
    value = bracketed_value(word, scale)
    return () if value is None else value.labels


_REFUSAL = "\0"
Meanings = tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]


@lru_cache(maxsize=1024)
def _labels_of_reply_words(
    words: tuple[tuple[str, ...], ...], labels: tuple[str, ...], refusals: tuple[str, ...]
) -> Meanings:
    """What words name: as they are written, in any case, and without marks around them."""
    exact: dict[str, str] = {}
    folded: dict[str, str] = {}
    bare: dict[str, str] = {}
    for each, label in zip((*words, refusals), (*labels[: len(words)], _REFUSAL), strict=True):
        for word in each:
            exact.setdefault(word.strip(), label)
            folded.setdefault(folded_word(word), label)
            # Two that differ by such marks alone are told apart by them, or not at all.
            key = _reply_word_without_marks(word)
            bare[key] = label if bare.setdefault(key, label) == label else ""
    return exact, folded, {word: label for word, label in bare.items() if label and word}


def _label_of_reply_word(word: str, known: Meanings) -> str | None:
    """The label that a word names; None where it names none."""
    exact, folded, bare = known
    return (
        exact.get(word.strip())
        or folded.get(folded_word(word))
        or bare.get(_reply_word_without_marks(word))
    )


def folded_word(word: str) -> str:
    """Spell a word in lower case, with single blanks."""
    return " ".join(word.split()).casefold()


def _reply_word_without_marks(word: str) -> str:
    """A word without quotes, brackets, emphasis and stops around it."""
    return folded_word(word).strip(_MARKS)


def declared_form(
    table: Mapping[str, object], *, kind: AskKind, where: Mapping[str, object]
) -> FormSpec:
    r"""Read and check the table ``[form]`` of a template."""
    if "verdict" in table:
        raise SweepError(
            "verdict stands above the table [form], and is in it",
            where=where,
            hint='verdict = "last" as the first line of the file',
        )
    check_keys(table, KEYS, where)
    pattern = _declared_form_text(table, "pattern", where)
    path = _declared_form_text(table, "json", where)
    if (pattern is None) == (path is None):
        raise SweepError(
            "a form needs pattern (a regular expression with a group verdict) or json (a path), "
            f"one of the two, got {'both' if pattern else 'neither'}",
            where=where,
            hint=r"pattern = '\[\[(?P<verdict>\w+)\]\]', or json = 'winner'",
        )
    example = _declared_form_text(table, "example", where)
    if example is None or PLACEHOLDER not in example:
        raise SweepError(
            f"example must be a whole reply with {PLACEHOLDER} where the word for the verdict "
            f"stands, got {example!r}",
            where=where,
            hint=f"example = 'The second is clearer. [[{PLACEHOLDER}]]'",
        )
    naming, words = _declared_option_words(table, kind.traits, where)
    form = FormSpec(
        example=example.strip(),
        pattern=_checked_reply_pattern(pattern, where) if pattern else "",
        path=_json_reply_path_steps(path, where) if path else (),
        naming=naming,
        words=words,
        ties=_declared_form_words(table, "tie", where),
        refusals=_declared_form_words(table, "refusal", where),
    )
    if form.ties and not kind.ties:
        raise SweepError(f"tie needs protocol best_of, got {kind.name}", where=where)
    places = [f"option {place}" for place in range(1, len(words) + 1)]
    refuse_clashes((*words, form.ties, form.refusals), (*places, "tie", "refusal"), where)
    return form


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


def _checked_reply_pattern(pattern: str, where: Mapping[str, object]) -> str:
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


def _json_reply_path_steps(path: str, where: Mapping[str, object]) -> tuple[str | int, ...]:
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


def _declared_option_words(
    table: Mapping[str, object], traits: Traits, where: Mapping[str, object]
) -> tuple[Naming, tuple[tuple[str, ...], ...]]:
    """What options are called, and their words where these are listed."""
    value = table.get("options")
    if value is None:
        return "letters", ()
    if traits.on_scales:
        raise SweepError(
            "options needs protocol best_of or correctness: what may be rated is the scale's",
            where=where,
        )
    if isinstance(value, str) and traits.compares:
        for naming in _NAMINGS:
            if value == naming:
                return naming, ()
    least = 2
    if (
        not isinstance(value, list)
        or len(value) < least
        or (len(value) > least and traits.judges_singly)
    ):
        raise SweepError(
            "options must be "
            + ("letters, numbers, texts, or a list of the words for each option in the order shown"
               if traits.compares else "a list of two: the words for correct and incorrect")
            + f", got {value!r}",
            where=where,
            hint='options = ["first", "second"], or [["yes", "true"], ["no", "false"]]',
        )  # fmt: skip
    return "words", tuple(_as_declared_form_words(one, "options", where) for one in value)


def _declared_form_words(
    table: Mapping[str, object], key: str, where: Mapping[str, object]
) -> tuple[str, ...]:
    """The words of a key; none where it is left out."""
    return _as_declared_form_words(table[key], key, where) if key in table else ()


def _as_declared_form_words(
    value: object, key: str, where: Mapping[str, object]
) -> tuple[str, ...]:
    """One word or several, each a text in one line, a whole number or a truth value."""
    words = []
    for one in value if isinstance(value, list) else [value]:
        word = json.dumps(one) if isinstance(one, bool | int) else one
        if not isinstance(word, str) or not word.strip() or not word.strip().isprintable():
            raise SweepError(
                f"{key} must be words in one line, none of them empty, got {value!r}", where=where
            )
        words.append(word.strip())
    if not words:
        raise SweepError(f"{key} must name a word, got {value!r}", where=where)
    return tuple(words)


def _declared_form_text(
    table: Mapping[str, object], key: str, where: Mapping[str, object]
) -> str | None:
    """A text that is not empty; None where it is left out."""
    value = table.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise SweepError(f"{key} must be a text that is not empty, got {value!r}", where=where)
    return value
