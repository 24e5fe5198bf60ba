"""Values inside cells: objects, lists and texts that hold them, all of a list and never its first.

A place is a dotted name; ``*`` stands for every element of a list (``votes.*.winner``).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.counting.columns import is_nested

_FENCE = re.compile(r"^\s*```[a-zA-Z]*\s+(.*?)\s*```\s*$", re.DOTALL)
_MARKED = re.compile(r"^\s*\[\[\s*[-+\w.]+\s*\]\]\s*$")  # a mark that judges write
_PROBED = 100  # cells in which names are looked for
_DEEPEST = 6
_MOST_QUOTED = 8
_BETWEEN = ("|", ";", "\n", ",", "/")
_MOST_VERDICTS = 20
SHORT = 40
"""Characters of a verdict."""


def parsed(text: str) -> object:
    """Give the object or list that a text holds, as JSON or as Python writes it; None of others.

    Examples
    --------
    >>> parsed('{"pass": true}'), parsed("{'pass': True}"), parsed("[[5]]"), parsed("A")
    ({'pass': True}, {'pass': True}, None, None)
    """
    if text.lstrip()[:1] not in ("{", "[") or _MARKED.match(text):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return None
    return found if isinstance(found, dict | list) else None


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
    for value in column.drop_nulls().head(_PROBED).to_list():
        inside = parsed_cell(value) if isinstance(value, str) else value
        if isinstance(inside, dict | list):
            found.update(dict.fromkeys(_sheet_cell_leaf_paths(inside, column.name)))
    return list(found)


def _sheet_cell_leaf_paths(value: object, name: str, deep: int = 0) -> Iterator[str]:
    if isinstance(value, dict) and deep < _DEEPEST:
        for key, inner in value.items():
            yield from _sheet_cell_leaf_paths(inner, f"{name}.{key}", deep + 1)
    elif isinstance(value, list) and deep < _DEEPEST:
        for inner in value:
            yield from _sheet_cell_leaf_paths(inner, f"{name}.*", deep + 1)
    elif not isinstance(value, dict | list):
        yield name


def parted(place: str, columns: Collection[str]) -> tuple[str, list[str]]:
    """A place as its column and the path inside that column's cells; names may have dots.

    Examples
    --------
    >>> parted("votes.*.winner", ["id", "votes"]), parted("feedback.pass", ["feedback.pass"])
    (('votes', ['*', 'winner']), ('feedback.pass', []))
    """
    parts = place.split(".")
    for n in range(len(parts), 0, -1):
        if ".".join(parts[:n]) in columns:
            return ".".join(parts[:n]), parts[n:]
    return parts[0], parts[1:]


def are_short_words(texts: pl.Series) -> bool:
    """Whether texts are few and short, as verdicts are.

    Examples
    --------
    >>> are_short_words(pl.Series(["pass", "fail"])), are_short_words(pl.Series(["why " * 20]))
    (True, False)
    """
    longest = texts.str.len_chars().max()
    few = 0 < texts.n_unique() <= _MOST_VERDICTS
    return few and isinstance(longest, int) and longest <= SHORT


def mark_between(texts: pl.Series) -> str | None:
    """The mark between several short values in every text of a column; None of all other columns.

    A value of one place stands at another as well: ``Yes, fully`` is one verdict.

    Examples
    --------
    >>> mark_between(pl.Series(["pass|pass|fail", "fail|fail|fail"]))
    '|'
    >>> mark_between(pl.Series(["Yes, fully", "No, not"])), mark_between(pl.Series(['["a"]']))
    (None, None)
    """
    if texts.dtype != pl.String or (texts := texts.drop_nulls()).is_empty():
        return None
    known = texts.unique().head(_PROBED)
    if known.str.contains(r"^\s*[\[{]").any():
        return None
    for mark in _BETWEEN:
        parts = [[one.strip() for one in text.split(mark)] for text in known]
        values = {one for each in parts for one in each}
        firsts = {each[0] for each in parts}
        if (
            min(map(len, parts)) > 1
            and "" not in values
            and are_short_words(pl.Series([*values]))
            and firsts & {one for each in parts for one in each[1:]}
        ):
            return mark
    return None


def values_at(column: pl.Series, path: Sequence[str]) -> list[list[object]]:
    """All that stands at a path inside each cell: one value, or with ``*`` all elements of a list.

    Examples
    --------
    >>> values_at(pl.Series("v", ['{"winner": "A"}', "none"]), ["winner"])
    [['A'], [None]]
    >>> values_at(pl.Series("s", [[3, 4], [5]]), ["*"])
    [[3, 4], [5]]
    >>> values_at(pl.Series("v", ["pass|fail", "pass|pass"]), ["*"])
    [['pass', 'fail'], ['pass', 'pass']]
    """
    if [*path] == ["*"] and (mark := mark_between(column)):
        return [[None] if cell is None else [one.strip() for one in cell.split(mark)]
                for cell in column]  # fmt: skip
    known: dict[str, object] = {}
    rows = []
    for cell in column.to_list():
        if isinstance(cell, str):
            if cell not in known:
                known[cell] = parsed_cell(cell)
            cell = known[cell]
        rows.append(list(_sheet_cell_path_values(cell, list(path))))
    return rows


def _sheet_cell_path_values(value: object, path: list[str]) -> Iterator[object]:
    """Values at a path; None where it leads nowhere."""
    if not path:
        yield value
    elif path[0] == "*":
        # Where a list is expected and none is, something is missing: never nothing at all.
        for one in value if isinstance(value, list) else (None,):
            yield from _sheet_cell_path_values(one, path[1:])
    elif isinstance(value, list):
        place = int(path[0]) if path[0].isdecimal() else len(value)
        yield from (
            _sheet_cell_path_values(value[place], path[1:]) if place < len(value) else iter([None])
        )
    elif isinstance(value, dict):
        # Names of fields may have dots themselves.
        for n in range(1, len(path) + 1):
            if (key := ".".join(path[:n])) in value:
                yield from _sheet_cell_path_values(value[key], path[n:])
                return
        yield None
    else:
        yield None


def refuse_inside(values: pl.Series, *, name: str, where: Mapping[str, object]) -> None:
    """Refuse values that are objects or lists, naming the single values inside them.

    Examples
    --------
    >>> refuse_inside(pl.Series("verdict", ["A", "[[A]]"]), name="verdict", where={})
    """
    if values.dtype == pl.String:
        values = values.filter(values.str.contains(r"^\s*[\[{]").fill_null(False)).unique()
        first = next((one for one in map(parsed_cell, values) if one is not None), None)
        if first is None:
            return
        kind = f"{'an object' if isinstance(first, dict) else 'a list'} written as text"
    elif is_nested(values.dtype):
        kind = "an object" if isinstance(values.dtype, pl.Struct) else "a list"
    else:
        return
    raise inside_error(kind, values, name=name, where=where)


def inside_error(
    kind: str, values: pl.Series, *, name: str, where: Mapping[str, object]
) -> SweepError:
    """Make the refusal of a column that holds objects or lists.

    Examples
    --------
    >>> values = pl.Series("g", [{"pass": True}])
    >>> error = inside_error("an object", values, name="verdict", where={})
    >>> error.problem
    'verdict must be a single value, column g holds an object with g.pass'
    """
    names = leaves(values)
    keys = ", ".join(names[:_MOST_QUOTED]) + (", ..." if len(names) > _MOST_QUOTED else "")
    column = "it" if values.name == name else f"column {values.name}"
    problem = f"{name} must be a single value, {column} holds {kind}"
    hint = f"--column {name}={names[0]}" if names else f"a column of single {name}s"
    return SweepError(f"{problem} with {keys}" if names else problem, where=where, hint=hint)
