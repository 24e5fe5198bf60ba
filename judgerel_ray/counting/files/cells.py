"""Values inside cells: objects, lists and texts that hold them, all of a list and never its first.

A place is a dotted name; ``*`` stands for every element of a list (``votes.*.winner``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import polars as pl

from judgerel_ray.counting.files.records import parsed

_FENCE = re.compile(r"^\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_LOOKED_AT = 100  # cells in which names are looked for
_DEEPEST = 6


def parsed_cell(text: str) -> object:
    r"""Give the object or list that a cell holds, a code fence around it or not; None of others.

    Examples
    --------
    >>> fence = chr(96) * 3
    >>> parsed_cell(f'{fence}json\n{{"verdict": "yes"}}\n{fence}'), parsed_cell("yes")
    ({'verdict': 'yes'}, None)
    """
    fenced = _FENCE.match(text)
    return parsed(fenced[1] if fenced else text)


def leaves(column: pl.Series) -> list[str]:
    """Places of single values inside a column's cells, ``*`` for the elements of lists.

    Examples
    --------
    >>> leaves(pl.Series("votes", [[{"winner": "A", "run": 0}, {"winner": "B", "run": 1}]]))
    ['votes.*.winner', 'votes.*.run']
    """
    found: dict[str, None] = {}
    for value in column.drop_nulls().head(_LOOKED_AT).to_list():
        inside = parsed_cell(value) if isinstance(value, str) else value
        if isinstance(inside, dict | list):
            found.update(dict.fromkeys(_leaves(inside, column.name)))
    return list(found)


def _leaves(value: object, name: str, deep: int = 0) -> Iterator[str]:
    if isinstance(value, dict) and deep < _DEEPEST:
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}", deep + 1)
    elif isinstance(value, list) and deep < _DEEPEST:
        for inner in value:
            yield from _leaves(inner, f"{name}.*", deep + 1)
    elif not isinstance(value, dict | list):
        yield name


def values_at(column: pl.Series, path: Sequence[str]) -> list[list[object]]:
    """All that stands at a path inside each cell: one value, or with ``*`` all elements of a list.

    Examples
    --------
    >>> values_at(pl.Series("v", ['{"winner": "A"}', "none"]), ["winner"])
    [['A'], [None]]
    >>> values_at(pl.Series("s", [[3, 4], [5]]), ["*"])
    [[3, 4], [5]]
    """
    known: dict[str, object] = {}
    rows = []
    for cell in column.to_list():
        if isinstance(cell, str):
            if cell not in known:
                known[cell] = parsed_cell(cell)
            cell = known[cell]
        rows.append(list(_walked(cell, list(path))))
    return rows


def _walked(value: object, path: list[str]) -> Iterator[object]:
    """Values at a path; None where it leads nowhere."""
    if not path:
        yield value
    elif path[0] == "*":
        for one in value if isinstance(value, list) else ():
            yield from _walked(one, path[1:])
    elif isinstance(value, list):
        place = int(path[0]) if path[0].isdecimal() else len(value)
        yield from _walked(value[place], path[1:]) if place < len(value) else iter([None])
    elif isinstance(value, dict):
        # Names of fields may have dots themselves.
        for n in range(1, len(path) + 1):
            if (key := ".".join(path[:n])) in value:
                yield from _walked(value[key], path[n:])
                return
        yield None
    else:
        yield None
