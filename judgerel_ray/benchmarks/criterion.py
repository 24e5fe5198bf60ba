"""Texts judged by a criterion: the plain format for one's own studies, and what such items share.

An item puts one question about one text, as confusion matrices are asked about it: the criterion's
question is ``question``, the text under judgment ``context``, what may be answered ``options``, and
people's answers, as option ids, are ``ratings``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from judgerel_ray.benchmarks.admission import admit_rows, distinct_options
from judgerel_ray.benchmarks.source import Record, list_names
from judgerel_ray.core import HumanRating, Item, Option

_HEADING = r"[A-Z][A-Za-z ]{0,30}:\n"
_BEGINS = re.compile(_HEADING)
_LABEL = "label_"

YES_NO = (Option(option_id="yes", text="Yes"), Option(option_id="no", text="No"))


def numbered_options(texts: Iterable[str] | Mapping[int, str]) -> tuple[Option, ...]:
    """Name options by their number on the scale, from 1 on."""
    numbers = texts.items() if isinstance(texts, Mapping) else enumerate(texts, start=1)
    return tuple(Option(option_id=str(number), text=text) for number, text in numbers)


def under_headings(**parts: str | None) -> str:
    r"""Set texts under each other, each below its name."""
    return "\n\n".join(
        f"{name.replace('_', ' ')}:\n{text.strip()}" for name, text in parts.items() if text
    )


def first_part(context: str) -> str:
    r"""Give what stands under the first heading of :func:`under_headings`, or all where none is.

    It is what the text under judgment is about: answers to one question, or summaries of one
    article, have it in common.
    """
    return (
        re.split(rf"\n\n{_HEADING}", context, maxsplit=1)[0] if _BEGINS.match(context) else context
    )


def rating_by(
    rater: str, option_id: str, options: Iterable[Option], record: Record, *, criterion: str | None
) -> HumanRating:
    """Check a person's answer against what could be answered.

    The score is the option's number where it is one.
    """
    known = [option.option_id for option in options]
    if option_id not in known:
        raise record.wrong(f"rating {option_id!r} is none of the options {list_names(known)}")
    score = float(option_id) if option_id.isdecimal() else None
    return HumanRating(rater=rater, criterion=criterion, score=score, label=option_id)


def load_criterion_items(path: str) -> tuple[Item, ...]:
    r"""Read texts, the criterion each is judged by, what may be answered and what people answered.

    Parameters
    ----------
    path : str
        Parquet, JSON Lines, CSV or a JSON list with the columns ``text`` (what is judged),
        ``criterion`` (its name) and ``options`` (a list of texts, which are then their own ids,
        or of ``{option_id, text}``); and any of ``question`` (what is asked; default the
        criterion), ``context`` (what the text answers), ``item_id``, ``gold`` (an option's id),
        ``label`` or ``labels`` (one or several people's answers, as option ids) or one column a
        person, ``label_<rater>``. Lists in a CSV are written as JSON.

    Returns
    -------
    tuple of Item
        One a row. ``category`` is the criterion, so ``per = "category"`` draws every criterion
        alike; ``item_id`` is ``criterion:<row>`` (from 0) where the file names none. ``gold`` is
        the column's, ``ratings`` are people's answers.

    Raises
    ------
    SweepError
        If a column is missing, or an answer or the gold is none of the options.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> row = {"text": "Sure, at noon.", "context": "Can we meet?", "criterion": "relevance",
    ...        "question": "Is the reply relevant?", "options": ["Yes", "No"], "label_ann": "Yes"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "own.jsonl")
    ...     _ = file.write_text(json.dumps(row))
    ...     item = load_criterion_items(str(file))[0]
    >>> item.context, item.ratings[0].rater, item.ratings[0].label
    ('Can we meet?\n\nSure, at noon.', 'ann', 'Yes')
    """
    return admit_rows(path, _criterion_item)


def _criterion_item(record: Record, index: int) -> Item:
    """One text and its criterion."""
    record.require("text", "criterion", "options")
    criterion = record.identifier("criterion")
    options = distinct_options(_criterion_item_options(record), record)
    if not options:
        raise record.wrong("options is empty: a judge must have something to choose")
    gold = record.written("gold") if "gold" in record else None
    if gold is not None:
        rating_by("gold", gold, options, record, criterion=criterion)
    context = record.optional_text("context")
    text = record.text("text")
    return Item(
        item_id=record.identifier("item_id") if "item_id" in record else f"criterion:{index}",
        benchmark=record.optional_text("benchmark") or "criterion",
        category=criterion,
        question=record.optional_text("question") or criterion,
        context=f"{context}\n\n{text}" if context else text,
        options=options,
        gold=gold,
        ratings=_criterion_item_ratings(record, options, criterion),
    )


def _criterion_item_options(record: Record) -> list[Option]:
    """What may be answered; a plain text or number is its own id."""
    listed = record.listing("options")
    if all(isinstance(value, dict) for value in listed):
        return [
            Option(option_id=option.identifier("option_id"), text=option.written("text"))
            for option in record.children("options")
        ]
    names = [_criterion_item_option_id(value, record) for value in listed]
    return [Option(option_id=name, text=name) for name in names]


def _criterion_item_ratings(
    record: Record, options: tuple[Option, ...], criterion: str
) -> tuple[HumanRating, ...]:
    """People's answers; a null is a person who did not answer."""
    answers: list[tuple[str, object]] = []
    if "labels" in record:
        answers += [(str(n), value) for n, value in enumerate(record.listing("labels"), start=1)]
    if "label" in record:
        answers.append(("human", record.fields["label"]))
    answers += [
        (name.removeprefix(_LABEL), record.fields[name])
        for name in record.fields
        if name.startswith(_LABEL) and name in record
    ]
    return tuple(
        rating_by(
            rater, _criterion_item_option_id(value, record), options, record, criterion=criterion
        )
        for rater, value in answers
        if value is not None
    )


def _criterion_item_option_id(value: object, record: Record) -> str:
    """An option's id as text, whether it was written as text or as a number."""
    return Record(fields={"option": value}, place=record.place).written("option")
