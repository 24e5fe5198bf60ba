"""Documents of JSON: one list of records, records below keys, or columns beside each other."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from shlex import quote

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.core.text import RepeatedKeyError, parse_json, table_text
from judgerel_ray.counting.files.names import ROLES, facet_of, is_side_column, roles_of
from judgerel_ray.counting.files.records import read_json_lines, records_frame, records_of

_MOST_SHOWN = 6
_DEEPEST = 3
_MANY = 20  # keys that are no criteria
_BY_KEYS = ("judge", "criterion", "replication")
_VALUES = ("verdict", "score")
_FEWEST = 2  # keys that tell things apart
ENTRY = "entry"
"""The column of the keys of a document that tell its records apart, where no word says what."""


def read_json(content: bytes, where: Mapping[str, object]) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    r"""Read a document that is a list of records, or an object that holds one list of them.

    What is said of how it was read comes with the rows.

    Examples
    --------
    >>> frame, notes = read_json(b'{"rows": [{"a": 1}], "n": 1}', {})
    >>> frame.collect().rows(), notes
    ([(1,)], ('read: the list rows of the document',))
    """
    try:
        document = parse_json(table_text(content, where), nan=True)
    except RepeatedKeyError as error:
        raise SweepError(str(error), where=where) from error
    except ValueError as error:
        if not str(error).startswith("Extra data"):
            raise SweepError(f"not JSON: {error}", where=where) from error
        listed, notes = read_json_lines(content, where)
        return listed, ("read as lines of JSON, one record a line", *notes)
    if isinstance(document, list):
        return records_frame(records_of(document, where), where).lazy(), ()
    if isinstance(document, dict) and (table := _columns(document)):
        return records_frame(table, where).lazy(), ("read: the columns of the document",)
    if isinstance(document, dict) and (found := _by_keys(document, "the document")):
        return records_frame(found[0], where).lazy(), (found[1],)
    lists = dict(_lists(document)) if isinstance(document, dict) else {}
    judged = [name for name, rows in lists.items() if _names_judgments(rows, of=_VALUES)]
    if len(lists) == 1 or len(judged) == 1:
        name = judged[0] if judged else next(iter(lists))
        rest = [one for one in lists if one != name]
        note = f"read: the list {name} of the document" + "; not read: " * bool(rest)
        frame = records_frame(records_of(lists[name], where), where)
        return frame.lazy(), (note + ", ".join(rest),)
    if lists:
        first, file = next(iter(lists)), quote(str(where.get("file", "FILE.json")))
        raise SweepError(
            f"the document holds {len(lists)} lists of records: {', '.join(lists)}",
            where=where,
            hint=f"write one of them to a file of its own: jq .{first} {file} > rows.json",
        )
    inside = document if isinstance(document, dict) else {}
    keyed = {name: found for name, one in inside.items()
             if isinstance(one, dict) and (found := _by_keys(one, name))}  # fmt: skip
    if len(keyed) == 1:
        [(key, (records, note))] = keyed.items()
        others = ", ".join(one for one in inside if one != key)
        note += f"; not read: {others}" * bool(others)
        return records_frame(records, where).lazy(), (note,)
    fields = _some(document) or "no field" if isinstance(document, dict) else None
    got = "one of neither" if fields is None else f"one with {fields}"
    raise SweepError(
        f"expected a list of records, or an object that holds one, got {got}",
        where=where,
        hint='write one record a row; of pandas: df.to_json(FILE, orient="records")',
    )


def _by_keys(
    document: Mapping[str, object], called: str
) -> tuple[list[dict[str, object]], str] | None:
    """Records below keys that tell what they are of, and the line that says so; None of others."""
    if found := _below_keys(document):
        rows, names = found
        return rows, f"read the keys of {called} as {', and those below them as '.join(names)}"
    if rows := _keyed_records(document):
        return rows, f"read the keys of {called} as {next(iter(rows[0]))}"
    return None


def _columns(document: Mapping[str, object]) -> list[dict[str, object]]:
    """Records of a document that holds columns, or rows beside their names; none of any other.

    pandas writes columns as objects by row, or names and rows apart; others write lists.
    """
    names, rows = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(rows, list):
        is_table = all(isinstance(one, list) and len(one) == len(names) for one in rows)
        return [dict(zip(map(str, names), one, strict=True)) for one in rows] if is_table else []
    n_known = sum(bool(roles_of(name)) for name in document)
    lists = [one for one in document.values() if isinstance(one, list)]
    by_row = [one for one in document.values() if isinstance(one, dict)]
    if by_row and len(by_row) == len(document) and all([*one] == [*by_row[0]] for one in by_row):
        lists = [[*one.values()] for one in by_row] if n_known >= _FEWEST else []
    elif not n_known or any(isinstance(cell, dict) for one in lists for cell in one):
        return []
    if len(lists) < max(len(document), _FEWEST) or len({len(one) for one in lists}) > 1:
        return []
    return [dict(zip(document, row, strict=True)) for row in zip(*lists, strict=True)]


def _below_keys(
    document: Mapping[str, object],
) -> tuple[list[dict[str, object]], list[str]] | None:
    """Records below two levels of keys or more, and what the levels tell; None of any other.

    The one level of keys that nothing is known of tells items, where another tells something and
    the keys are numbered, or many.
    """
    found = [*_reached(document, ())]
    if len(depths := {len(path) for path, _ in found}) != 1 or depths.pop() < _FEWEST:
        return None
    levels = [[*dict.fromkeys(level)] for level in zip(*(path for path, _ in found), strict=True)]
    facets = [*map(_facet_of_keys, levels)]
    if {*facets} == {ENTRY} and any(all(map(str.isdecimal, keys)) for keys in levels):
        return None  # columns or rows by their numbers
    if facets.count(ENTRY) == 1 and "item_id" not in facets:
        place = facets.index(ENTRY)
        facets[place] = "item_id" if _may_be_items(levels[place]) else ENTRY
    if not {"item_id", ENTRY} & {*facets}:
        return None
    names = [f"{one}_key" if one in facets[:n] else one for n, one in enumerate(facets)]
    cells = [cell for _, leaf in found for cell in (leaf if isinstance(leaf, list) else [leaf])]
    if not (is_record := all(isinstance(one, dict) for one in cells)):
        if any(isinstance(one, dict | list) for one in cells):
            return None
        called = _value_name(cells) + "s" * any(isinstance(leaf, list) for _, leaf in found)
    rows = [
        {**dict(zip(names, path, strict=True)), **(one if isinstance(one, dict) else {called: one})}
        for path, leaf in found
        for one in (leaf if is_record and isinstance(leaf, list) else [leaf])
    ]
    return (rows, names) if all(map(_names_judgments, cells if is_record else rows)) else None


def _may_be_items(keys: Collection[str]) -> bool:
    """Whether keys are many, or numbered: words may be criteria that are on no list."""
    return len(keys) >= _MANY or all(re.search(r"\d", one) for one in keys)


def _facet_of_keys(keys: Sequence[str]) -> str:
    """What the keys of a level tell; bare numbers and ``first`` may be of anything."""
    known = None if all(one.isdecimal() for one in keys) else facet_of(keys)
    return known if known in _BY_KEYS else _called(keys, ())


def _reached(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """What stands below keys that are no names of columns, and the keys above each."""
    if isinstance(value, dict) and value and len(path) <= _DEEPEST and not any(
        roles_of(key) or roles_of(key.removesuffix("s")) or is_side_column(key) for key in value
    ):  # fmt: skip
        for key, one in value.items():
            yield from _reached(one, (*path, key))
    else:
        yield path, value


def _value_name(cells: Iterable[object]) -> str:
    """Whether values are scores, or verdicts."""
    is_number = all(isinstance(one, int | float) and not isinstance(one, bool) for one in cells)
    return "score" if is_number else "verdict"


def _keyed_records(document: Mapping[str, object]) -> list[dict[str, object]]:
    """Records of an object whose keys tell like things apart; none of any other object.

    A key that is the name of a column tells none: such an object is a record, or holds columns.
    """
    inside = [*document.values()]
    if len(inside) < _FEWEST or any(roles_of(key) or is_side_column(key) for key in document):
        return []
    if all(isinstance(one, list) and one for one in inside):
        cells = [cell for one in inside if isinstance(one, list) for cell in one]
        if not all(isinstance(cell, dict) for cell in cells):
            if any(isinstance(cell, dict | list) for cell in cells):
                return []
            cells, name = [], f"{_value_name(cells)}s"
            inside = [{name: one} for one in inside]
        records = [cell for cell in cells or inside if isinstance(cell, dict)]
    else:
        records = [one for one in inside if isinstance(one, dict)]
        if len(records) < len(inside):
            return []
    # What all have makes them alike; columns by row numbers have numbers alone.
    alike = set.intersection(*({*one} for one in records))
    if not alike or all(one.isdecimal() for one in alike):
        return []
    if not any(map(_names_judgments, records)):
        return []
    called = _called([*document], names := {name for one in records for name in one})
    roles = {role for name in names for role in roles_of(name)}
    is_numbered = "replication" in roles and "item_id" not in roles
    if called == ENTRY and is_numbered and not facet_of(document) and _may_be_items(document):
        called = "item_id"
    return [
        {called: key, **record}
        for key, one in zip(document, inside, strict=True)
        for record in (one if isinstance(one, list) else [one])
        if isinstance(record, dict)
    ]


def _names_judgments(value: object, of: Collection[str] = tuple(ROLES), deep: int = 0) -> bool:
    """Whether an object, or what stands in it, has the name of anything that judgments have."""
    if isinstance(value, list):
        return any(_names_judgments(one, of, deep) for one in value[:1])
    return isinstance(value, dict) and deep < _DEEPEST and any(
        {*roles_of(name), *roles_of(name.removesuffix("s"))} & {*of}
        or _names_judgments(one, of, deep + 1)
        for name, one in value.items()
    )  # fmt: skip


def _called(keys: Sequence[str], names: Collection[str]) -> str:
    """What the keys of a document are called beside columns: by their word, or a plain name."""
    stems = {re.sub(r"[_\-. ]*\d+$", "", key) for key in keys}
    words = {role for one in stems for role in roles_of(one)} if len(stems) == 1 else set()
    there = {role for name in names for role in roles_of(name)}
    for role in ("item_id", "replication"):
        if role in words - there and role not in names:
            return role
    return next(one for one in (ENTRY, f"{ENTRY}_key", f"_{ENTRY}") if one not in names)


def _some(names: Iterable[str]) -> str:
    """The first few names: an object by row numbers has as many as rows."""
    shown = [*names]
    return ", ".join(shown[:_MOST_SHOWN]) + ", ..." * (len(shown) > _MOST_SHOWN)


def _lists(document: Mapping[str, object], before: str = "") -> Iterable[tuple[str, list[object]]]:
    """Lists of records in an object, and in the objects inside it where it has none itself."""
    inside = [
        (f"{before}{name}", value)
        for name, value in document.items()
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value)
    ]
    deeper = [] if inside else [
        found
        for name, value in document.items()
        if isinstance(value, dict)
        for found in _lists(value, f"{before}{name}.")
    ]  # fmt: skip
    return inside or deeper
