"""Items in a plain table: what `judgerel items` writes, and what people have."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from judgerel_ray.benchmarks.admission import (
    NO_TIES,
    GoldReading,
    admit_all,
    distinct_options,
    resolve_gold,
)
from judgerel_ray.benchmarks.source import (
    Record,
    RecordPlaces,
    iterate_records,
    known_format,
    list_names,
    name_kind,
)
from judgerel_ray.core import GoldIs, HumanRating, Item, Option, SweepError
from judgerel_ray.tables import Items

_OPTION_PREFIXES = ("option_", "response_")
_shared = lru_cache(maxsize=4096)(str)  # one text for a name that stands in many items


class Loaded(NamedTuple):
    """Items, and how the gold of their file was read where it could be read in several ways."""

    items: tuple[Item, ...]
    gold: GoldReading | None = None


def load_generic(benchmark: str, path: str, *, gold_is: GoldIs | None = None) -> tuple[Item, ...]:
    r"""Read items from Parquet, JSON Lines, CSV or a JSON list.

    Parameters
    ----------
    benchmark : str
        Name given to items that have no column ``benchmark``.
    path : str
        A file with columns ``item_id`` and ``question``, and any of ``benchmark``, ``category``
        (default ``all``), ``context``, ``turns`` (list of texts), ``gold``, ``ratings`` (list of
        ``{rater, criterion, score, label, responder}``; the responder is the option rated, where it
        is not the item as a whole) and ``options``: a list of texts (named ``1``,
        ``2``, … in their order), a list of ``{option_id, text}``, or instead of it one column an
        option, ``option_<id>`` or ``response_<id>``, in the order of the columns; a null there
        means that the item lacks the option. Lists in a CSV are written as JSON, and its empty
        optional cells are null. Options may be numbers or truth values; they are read as JSON
        writes them. Other columns are passed over.
    gold_is : str, optional
        What ``gold`` is where items have options: the right option's ``"id"``, ``"text"``,
        ``"letter"`` (A is the first), ``"number"`` (from 1) or ``"index"`` (from 0), or a
        ``"reference"`` answer and no option. By default the one reading by which every item's
        gold names an option; an items.parquet of `judgerel items` has ids, or references.

    Returns
    -------
    tuple of Item
        In the order of the rows, ``gold`` as an option's id unless it is a reference. An
        items.parquet comes back as it was written.

    Raises
    ------
    SweepError
        If a column is missing, a value has the wrong type, an id stands twice, or the gold of an
        item names no option, or different ones by different readings.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "own.csv")
    ...     _ = file.write_text("item_id,question,option_x,option_y\n1,Which?,this,that\n")
    ...     item = load_generic("own", str(file))[0]
    >>> item.benchmark, [option.option_id for option in item.options]
    ('own', ['x', 'y'])
    """
    return read_generic(benchmark, path, gold_is=gold_is).items


def read_generic(
    benchmark: str,
    path: str,
    *,
    gold_is: GoldIs | None = None,
    ties: Mapping[str, str] = NO_TIES,
) -> Loaded:
    """As :func:`load_generic`, with how gold was read."""
    records = iterate_records(path)  # a record takes several times what its item does
    read: list[Item] = []
    places = RecordPlaces()
    is_items_table = False
    for record in records:
        if not read:
            is_items_table = _is_items_table(record, path)
        try:
            read.append(_generic_item(record, benchmark))
        except SweepError:
            deque(records, maxlen=0)  # a file that cannot be read is told first
            raise
        places.append(record)
    items = admit_all(read, places, path=path)
    if gold_is is None and is_items_table:
        return Loaded(items)
    return Loaded(*resolve_gold(items, places, gold_is=gold_is, ties=ties))


def _is_items_table(record: Record, path: str) -> bool:
    """Whether a table is laid out as `judgerel items` writes it: gold is an id, or a reference."""
    return known_format(path) == "parquet" and set(record.fields) == set(Items.column_names())


def holds_items(path: str, *, but_for: Callable[[Collection[str]], bool] = lambda _: False) -> bool:
    """Whether a table has the two columns that every items file has, and none that `but_for` knows.

    A document of other layout (``.json``) is never taken for one, nor are texts to be judged by a
    criterion, whose question alone says nothing.
    """
    if known_format(path) in (None, "json"):
        return False
    first = next(iterate_records(path))
    judged = {"text", "criterion"} <= first.fields.keys()
    if judged or but_for(first.fields.keys()):
        return False
    return {"item_id", "question"} <= first.fields.keys()


def _generic_item(record: Record, benchmark: str) -> Item:
    record.require(
        "item_id",
        "question",
        hint="add the column, or name the loader of the upstream file as benchmark",
    )
    options = distinct_options(_generic_item_options(record), record)
    return Item(
        item_id=record.identifier("item_id"),
        benchmark=_shared(record.optional_text("benchmark") or benchmark),
        category=_shared(record.identifier("category")) if "category" in record else "all",
        question=record.text("question"),
        context=record.optional_text("context"),
        turns=record.texts("turns") if "turns" in record else (),
        options=options,
        gold=_generic_item_gold(record, options),
        ratings=_generic_item_ratings(record, [option.option_id for option in options]),
    )


def _generic_item_options(record: Record) -> list[Option]:
    """Options of one row, from the list or from the columns."""
    columns = [
        (name, name.removeprefix(prefix))
        for name in record.fields
        if name.startswith(_OPTION_PREFIXES)
        for prefix in _OPTION_PREFIXES
        if name.startswith(prefix)
    ]
    if "options" not in record:
        return [
            Option(option_id=_shared(option_id), text=record.written(name))
            for name, option_id in columns
            if name in record
        ]
    if any(name in record for name, _ in columns):
        raise record.wrong(f"options are given twice: in options and in {columns[0][0]}")
    if not any(isinstance(value, dict) for value in record.listing("options")):
        texts = record.all_written("options")
        return [Option(option_id=_shared(i), text=text) for i, text in enumerate(texts, start=1)]
    return [
        Option(option_id=_shared(option.identifier("option_id")), text=option.written("text"))
        for option in record.children("options")
    ]


def _generic_item_gold(record: Record, options: Collection[Option]) -> str | None:
    """Gold as it is written; None where nothing stands there, or what a table has for nothing."""
    value = record.fields.get("gold")
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        return None
    gold = record.written("gold")
    return next((one.option_id for one in options if one.option_id == gold), gold)


def _generic_item_ratings(record: Record, responders: Collection[str]) -> tuple[HumanRating, ...]:
    """Human ratings of one row."""
    if "ratings" not in record:
        return ()
    ratings = []
    for rating in record.children("ratings"):
        if "score" not in rating and "label" not in rating:
            raise rating.wrong("a rating needs a score or a label")
        rated = _shared(rating.identifier("responder")) if "responder" in rating else None
        if rated is not None and responders and rated not in responders:
            raise rating.wrong(f"responder must be of {list_names(responders)}, got {rated!r}")
        ratings.append(
            HumanRating(
                rater=_shared(rating.identifier("rater")),
                criterion=_shared_or_none(rating.optional_text("criterion")),
                score=_item_rating_score(rating),
                label=_shared_or_none(rating.optional_text("label")),
                responder=rated,
            )
        )
    return tuple(ratings)


def _shared_or_none(name: str | None) -> str | None:
    """A name as one text, where there is one."""
    return None if name is None else _shared(name)


def _item_rating_score(rating: Record) -> float | None:
    """Score as a finite number."""
    score = rating.fields.get("score")
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise rating.wrong(f"score must be a finite number, got {name_kind(score)}")
    return float(score)
