"""A log of judgments that people hold: its questions, with their answers fixed."""

from __future__ import annotations

from dataclasses import dataclass, field

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.record import Record, shown_names
from judgerel_ray.benchmarks.source import read_records
from judgerel_ray.core import Item, Option

LOG = "log"
_NAMED = ("item_id", "question_id", "id", "sample_id")
_ASKED = ("question", "input", "prompt", "instruction")
LOGGED = ("answer", "response", "output", "completion", "reply")
"""What an answer may be called: a table that has one of these is a log, not one of items."""
_GOLD = ("reference", "target", "expected", "expected_output")
_BY = ("responder", "model", "system")


@dataclass(slots=True, kw_only=True)
class _Logged:
    """One question of a log, and the answers that it was given."""

    record: Record
    question: str
    context: str | None
    gold: str | None
    category: str
    benchmark: str
    answers: dict[tuple[str, str], str] = field(default_factory=dict)
    """Option ids by who answered and the text."""


def load_log(path: str) -> tuple[Item, ...]:
    """Read the questions and answers of a log, so that a sweep asks judges about the same again.

    Parameters
    ----------
    path : str
        A table with a row a judgment: ``item_id`` (or ``id``), ``question`` (or ``input``,
        ``prompt``, ``instruction``), ``answer`` (or ``response``, ``output``, ``completion``,
        ``reply``), and if it likes ``responder`` (or ``model``, ``system``), ``context``,
        ``reference`` (or ``target``, ``expected``), ``category`` and ``benchmark``.

    Returns
    -------
    tuple of Item
        One a question; ``options`` are its distinct answers, named by who gave them and, of
        several by one, numbered in the order of the log. A repeat of the log that holds a new
        answer (an epoch) is one option more; one that judges the same answer is none.

    Raises
    ------
    SweepError
        If a column is missing, or one item has two questions.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "log.jsonl")
    ...     _ = file.write_text('{"id": "a", "input": "2 + 2?", "output": "4", "verdict": "pass"}')
    ...     load_log(str(file))[0].options
    (Option(option_id='answer', text='4'),)
    """
    found: dict[str, _Logged] = {}
    for record in read_records(path):
        name = record.identifier(_first(record, _NAMED, "item_id"))
        question = record.text(_first(record, _ASKED, "question"))
        one = found.get(name)
        if one is None:
            one = found[name] = _Logged(
                record=record, question=question, context=record.optional_text("context"),
                gold=_optional(record, _GOLD), category=_optional(record, ("category",)) or "log",
                benchmark=_optional(record, ("benchmark",)) or "log",
            )  # fmt: skip
        elif one.question != question:
            raise record.wrong(
                f"item {name!r} has two questions", hint="give every question its own item_id"
            )
        who = _optional(record, _BY) or "answer"
        answer = record.written(_first(record, LOGGED, "answer"))
        nth = 1 + sum(other == who for other, _ in one.answers)
        one.answers.setdefault((who, answer), who if nth == 1 else f"{who} {nth}")
    return admit(((_item(name, one), one.record) for name, one in found.items()), path=path)


def _item(name: str, one: _Logged) -> Item:
    """One question with its answers."""
    options = tuple(Option(option_id=of, text=text) for (_, text), of in one.answers.items())
    return Item(
        item_id=name, benchmark=one.benchmark, category=one.category, question=one.question,
        context=one.context, options=options, gold=one.gold,
    )  # fmt: skip


def _first(record: Record, names: tuple[str, ...], meant: str) -> str:
    """The first of several columns that a row has."""
    for name in names:
        if name in record:
            return name
    raise record.wrong(
        f"a log needs a column {meant} (or {', '.join(one for one in names if one != meant)}), "
        f"got {shown_names(record.fields)}"
    )


def _optional(record: Record, names: tuple[str, ...]) -> str | None:
    """What stands in the first of several columns that a row has."""
    return next((record.written(name) for name in names if name in record), None)
