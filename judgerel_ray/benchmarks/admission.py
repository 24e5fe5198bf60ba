"""What every loader's items must be before a sweep may ask about them."""

from __future__ import annotations

from collections.abc import Iterable

from judgerel_ray.benchmarks.record import Record
from judgerel_ray.core import Item, Option, SweepError


def admit(found: Iterable[tuple[Item, Record]], *, path: str) -> tuple[Item, ...]:
    """Check items against each other and hand them on in their order.

    An option's text may be empty: a responder may have said nothing, and the judge sees that.

    Raises
    ------
    SweepError
        If there is no item, an ``item_id`` stands twice, or a question is empty.

    Examples
    --------
    >>> record = Record(fields={}, place={"file": "q.csv", "line": 2})
    >>> admit([(Item(item_id="a", benchmark="b", category="c", question=" "), record)], path="q")
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: the question of item 'a' is empty [file=q.csv, line=2]
    """
    first: dict[str, Record] = {}
    items = []
    for item, record in found:
        earlier = first.setdefault(item.item_id, record)
        if earlier is not record:
            raise SweepError(
                f"item_id {item.item_id!r} stands twice",
                where={**record.place, "first": _spot(earlier)},
                hint="give every item its own item_id",
            )
        if not item.question.strip():
            raise record.wrong(f"the question of item {item.item_id!r} is empty")
        items.append(item)
    if not items:
        raise SweepError("no items found", where={"file": path})
    return tuple(items)


def distinct_options(options: Iterable[Option], record: Record) -> tuple[Option, ...]:
    """Check one item's options against each other.

    Raises
    ------
    SweepError
        If an ``option_id`` is empty or stands twice.

    Examples
    --------
    >>> record = Record(fields={}, place={"file": "q.csv"})
    >>> len(distinct_options([Option(option_id="a", text="")], record))
    1
    """
    listed = tuple(options)
    seen: set[str] = set()
    for option in listed:
        if not option.option_id.strip():
            raise record.wrong("an option has an empty option_id")
        if option.option_id in seen:
            raise record.wrong(f"option_id {option.option_id!r} stands twice in one item")
        seen.add(option.option_id)
    return listed


def _spot(record: Record) -> str:
    """Where a record stands, in words."""
    return " ".join(f"{name} {value}" for name, value in record.place.items() if name != "file")
