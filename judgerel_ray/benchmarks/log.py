"""A log of judgments that people hold: its questions, with their answers fixed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.source import Record, excerpt, list_names, read_records
from judgerel_ray.core import Item, Option

LOG = "log"
_NAMED = ("item_id", "question_id", "id", "sample_id")
_QUESTION_COLUMNS = ("question", "input", "prompt", "instruction")
LOGGED = ("answer", "response", "output", "completion", "reply")
"""What an answer may be called: a table that has one of these is a log, not one of items."""
SEVERAL = re.compile(r"(?:option|response)_(.+)|(?:answer|output|completion|reply)_([A-Za-z0-9])")
"""What each of several answers in one row may be called; what follows is who gave it."""
_RIGHT = ("gold", "winner", "preferred", "preference", "better", "best", "label")
_CALLED = ("answer", "response", "model", "option", "output", "assistant")
"""What stands before the letter or number of an answer where a column says which is right."""
_NONE = ("tie", "tied", "draw", "equal", "same", "both", "neither", "none", "both_bad", "bothbad")
_GOLD = ("reference", "target", "expected", "expected_output")
_BY = ("responder", "model", "system")


def load_log(path: str) -> tuple[Item, ...]:
    """Read the questions and answers of a log, so that a sweep asks judges about the same again.

    Parameters
    ----------
    path : str
        A table with a row a judgment: ``item_id`` (or ``id``), ``question`` (or ``input``,
        ``prompt``, ``instruction``), ``answer`` (or ``response``, ``output``, ``completion``,
        ``reply``), and optionally ``responder`` (or ``model``, ``system``), ``context``,
        ``reference`` (or ``target``, ``expected``), ``category`` and ``benchmark``. A row may hold
        several answers in place of one (``answer_a`` and ``answer_b``, ``response_gpt``, ...), and
        which is right (``gold``, ``winner``, ``preferred``, ``preference``, ``better``, ``best`` or
        ``label``) by how its name ends, its letter or number (``model_a``, ``A``, ``1``), or
        ``tie``; a reference is none of these. Where no column names the item, each distinct
        question is one, of several answers each row; they are numbered.

    Returns
    -------
    tuple of Item
        One a question; ``options`` are its distinct answers, named by who gave them and, of
        several by one, numbered in the order of the log. A repeat of the log that holds a new
        answer (an epoch) is one option more; one that judges the same answer is none. ``gold`` is
        the reference; of several answers in one row it is the right one, or None.

    Raises
    ------
    SweepError
        If a column is missing, one item has two questions, contexts or references, or what says
        which answer is right names none.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "log.jsonl")
    ...     _ = file.write_text('{"id": "a", "input": "2 + 2?", "output": "4", "verdict": "pass"}')
    ...     load_log(str(file))[0].options
    (Option(option_id='answer', text='4'),)
    """
    return logged_items(_benchmark_log_answers(path), path=path)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedAnswer:
    """One answer of a log, as often as it was judged."""

    record: Record
    item_id: str
    question: str
    answer: str
    responder: str = "answer"
    context: str | None = None
    gold: str | None = None
    category: str = LOG
    benchmark: str = LOG


def logged_items(answers: Iterable[LoggedAnswer], *, path: str) -> tuple[Item, ...]:
    """Put the answers of a log together: one item a question, its distinct answers as options."""
    found: dict[str, tuple[LoggedAnswer, dict[tuple[str, str], str]]] = {}
    for one in answers:
        first, options = found.setdefault(one.item_id, (one, {}))
        for what, name in (("question",) * 2, ("context",) * 2, ("gold", "reference")):
            if getattr(first, what) != getattr(one, what):
                raise one.record.wrong(
                    f"item {one.item_id!r} has two {name}s",
                    hint="give every question, with what goes with it, its own item_id",
                )
        if (one.responder, one.answer) not in options:
            options[one.responder, one.answer] = _unused_name(one.responder, options.values())
    return admit(
        ((_item_of_logged_answers(*parts), parts[0].record) for parts in found.values()), path=path
    )


def several_answers(columns: Iterable[str]) -> dict[str, str]:
    """Columns of a row's answers by who gave them; empty where a row holds one or none.

    Examples
    --------
    >>> several_answers(["id", "prompt", "answer_a", "answer_b"])
    {'a': 'answer_a', 'b': 'answer_b'}
    >>> several_answers(["id", "prompt", "answer", "answer_a", "answer_b"])
    {}
    """
    named = list(columns)
    found = {match[1] or match[2]: match[0] for one in named if (match := SEVERAL.fullmatch(one))}
    return found if len(found) > 1 and not set(LOGGED) & set(named) else {}


def unread_columns(columns: Iterable[str]) -> list[str]:
    """Columns of a table of questions and answers of which nothing is read.

    Examples
    --------
    >>> unread_columns(["prompt", "answer_a", "answer_b", "model_a", "better", "rating"])
    ['rating']
    """
    named = list(columns)
    several = several_answers(named)
    read = {*_NAMED, *_QUESTION_COLUMNS, *_GOLD, *_BY, "context", "category", "benchmark"}
    of_answers = {*several.values(), *_RIGHT, *(f"model_{who}" for who in several)}
    return [one for one in named if one not in read | (of_answers if several else {*LOGGED})]


def is_logged(columns: Iterable[str]) -> bool:
    """Whether columns hold answers as logs name them, and not as tables of items do.

    Examples
    --------
    >>> is_logged(["id", "answer"]), is_logged(["answer_a", "answer_b"])
    (True, True)
    >>> is_logged(["item_id", "question", "option_a", "option_b"])
    False
    """
    named = {one for one in columns if not one.startswith(("option_", "response_"))}
    return not named.isdisjoint(LOGGED) or bool(several_answers(sorted(named)))


def _benchmark_log_answers(path: str) -> Iterator[LoggedAnswer]:
    numbers: dict[str, str] = {}
    records = read_records(path)
    has_ids = any(name in record for record in records for name in _NAMED)
    several = several_answers(dict.fromkeys(chain.from_iterable(one.fields for one in records)))
    for row, record in enumerate(records, start=1):
        question = record.text(_first_item_column(record, _QUESTION_COLUMNS, "question"))
        one = LoggedAnswer(
            record=record,
            item_id=record.identifier(_first_item_column(record, _NAMED, "item_id"))
            if has_ids
            else numbers.setdefault(question if not several else str(row), str(len(numbers) + 1)),
            question=question,
            answer="" if several else record.written(_first_item_column(record, LOGGED, "answer")),
            responder=_optional_item_column_text(record, _BY) or "answer",
            context=record.optional_text("context"),
            gold=_optional_item_column_text(record, _GOLD),
            category=_optional_item_column_text(record, ("category",)) or LOG,
            benchmark=_optional_item_column_text(record, ("benchmark",)) or LOG,
        )
        if not several:
            yield one
            continue
        present = {who: name for who, name in several.items() if name in record}
        gold = _right_answer(record, present)
        for who, name in present.items():
            yield replace(one, responder=who, answer=record.written(name), gold=gold)


def _right_answer(record: Record, present: Mapping[str, str]) -> str | None:
    """Who gave the right one of a row's answers; None of a tie, or where no column says."""
    column = next((name for name in _RIGHT if name in record), None)
    if column is None or not (
        value := _comparable_item_answerer(record.written(column)).removesuffix(".0")
    ):
        return None
    marks: dict[str, str] = {}
    for who, name in present.items():  # what a column calls them goes before their places
        model = _optional_item_column_text(record, (f"model_{who}",)) or who
        for form in (who, name, model, *(f"{called}_{who}" for called in _CALLED)):
            marks.setdefault(_comparable_item_answerer(form), who)
    for place, who in enumerate(present):
        for mark in (chr(ord("a") + place), str(place + 1)):
            for form in (mark, *(f"{called}_{mark}" for called in _CALLED)):
                marks.setdefault(form, who)
    if value in marks:
        return marks[value]
    if value in _NONE or value.startswith("tie_"):
        return None
    raise record.wrong(
        f"{column} must name one of the answers {list_names(present.values())} or be a tie, got "
        f"{excerpt(record.written(column))}",
        hint=f"write {' or '.join(present)} there, or rename {column} where it says something else",
    )


def _comparable_item_answerer(text: str) -> str:
    """A name as it is compared: no capitals, one kind of gap.

    Examples
    --------
    >>> _comparable_item_answerer("Model A"), _comparable_item_answerer("tie (both bad)")
    ('model_a', 'tie_both_bad_')
    """
    return re.sub(r"[\s_()-]+", "_", text.strip().casefold())


def _unused_name(name: str, taken: Collection[str]) -> str:
    """A name, numbered where it is taken: also a responder may be called as a number made one."""
    numbered = (f"{name} {nth}" for nth in count(2))
    return next(one for one in chain((name,), numbered) if one not in taken)


def _item_of_logged_answers(one: LoggedAnswer, answers: Mapping[tuple[str, str], str]) -> Item:
    options = tuple(Option(option_id=name, text=text) for (_, text), name in answers.items())
    return Item(
        item_id=one.item_id, benchmark=one.benchmark, category=one.category, question=one.question,
        context=one.context, options=options, gold=one.gold,
    )  # fmt: skip


def _first_item_column(record: Record, names: tuple[str, ...], meant: str) -> str:
    """The first of several columns that a row has."""
    for name in names:
        if name in record:
            return name
    raise record.wrong(
        f"a log needs a column {meant} (or {', '.join(one for one in names if one != meant)}), "
        f"got {list_names(record.fields)}"
    )


def _optional_item_column_text(record: Record, names: tuple[str, ...]) -> str | None:
    """What stands in the first of several columns that a row has."""
    return next((record.written(name) for name in names if name in record), None)
