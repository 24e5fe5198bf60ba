"""Values inside values: objects, lists, and texts that hold them, reached by dotted names."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from judgerel_ray.core import SweepError

_LOOKED_AT = 100  # rows in which names are looked for
_MOST_TOLD = 8
_DEEPEST = 6
_MISSING = object()


def is_nested(kind: pl.DataType) -> bool:
    """Tell columns whose values are objects or lists.

    Examples
    --------
    >>> is_nested(pl.List(pl.Int64)), is_nested(pl.String())
    (True, False)
    """
    return isinstance(kind, pl.Struct | pl.List | pl.Array | pl.Object)


def parsed(text: str) -> object:
    """Give the object or list that a text holds, as JSON or as Python writes it; None of others.

    Examples
    --------
    >>> parsed('{"pass": true}'), parsed("{'pass': True}"), parsed("[[A]]"), parsed("A")
    ({'pass': True}, {'pass': True}, None, None)
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return None
    return found if isinstance(found, dict | list) else None


def names_inside(values: pl.Series) -> list[str]:
    """Name the single values inside a column of objects or lists, most told first; [] of others.

    Examples
    --------
    >>> names_inside(pl.Series("grade", [{"pass": True, "why": {"text": "x"}}]))
    ['grade.pass', 'grade.why.text']
    """
    found: dict[str, None] = {}
    for value in values.drop_nulls().head(_LOOKED_AT).to_list():
        inside = parsed(value) if isinstance(value, str) else value
        if isinstance(inside, dict | list):
            found.update(dict.fromkeys(_leaves(inside, values.name)))
    return list(found)


def value_at(values: pl.Series, path: Sequence[str]) -> tuple[list[object], bool]:
    """Give what stands at a path inside each value, and whether any value has that path.

    Parameters
    ----------
    values : Series
        Objects, lists, or texts that hold them.
    path : sequence of str
        Names of fields, and places in lists from 0 on.

    Returns
    -------
    list of object
        None where there is nothing.
    bool
        Whether some value has the path.

    Examples
    --------
    >>> value_at(pl.Series(['{"pass": true}', "{}"]), ["pass"])
    ([True, None], True)
    """
    if values.dtype == pl.String:
        known = {text: _walked(parsed(text), path) for text in values.drop_nulls().unique()}
        found = [None if text is None else known[text] for text in values.to_list()]
    else:
        found = [_walked(value, path) for value in values.to_list()]
    there = any(one is not _MISSING and one is not None for one in found)
    there = there or any(one is None for one in found if one is not _MISSING)
    if values.dtype == pl.String:
        there = any(one is not _MISSING for one in known.values())
    return [None if one is _MISSING else one for one in found], there


def refuse_inside(values: pl.Series, *, name: str, where: Mapping[str, object]) -> None:
    """Refuse values that are objects or lists, naming the single values inside them.

    Parameters
    ----------
    values : Series
        Of a column whose every value should be one thing.
    name : str
        What the column stands for.
    where : mapping of str to object
        Where it is.

    Raises
    ------
    SweepError
        If any is.

    Examples
    --------
    >>> refuse_inside(pl.Series("verdict", ["A", "[[A]]"]), name="verdict", where={})
    """
    if values.dtype == pl.String:
        values = values.filter(values.str.contains(r"^\s*[\[{]").fill_null(False)).unique()
        first = next((one for one in map(parsed, values) if one is not None), None)
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
    >>> told = inside_error("an object", pl.Series("g", [{"pass": True}]), name="verdict", where={})
    >>> told.problem
    'verdict must be a single value, column g holds an object with g.pass'
    """
    names = names_inside(values)
    told = ", ".join(names[:_MOST_TOLD]) + (", ..." if len(names) > _MOST_TOLD else "")
    column = "it" if values.name == name else f"column {values.name}"
    problem = f"{name} must be a single value, {column} holds {kind}"
    hint = f"a column of single {name}s"
    if names and "file" in where:
        file = where["file"]
        hint = f"judgerel import table {file} --column {name}={names[0]} --out FILE.parquet"
    return SweepError(f"{problem} with {told}" if names else problem, where=where, hint=hint)


def _leaves(value: object, name: str, deep: int = 0) -> Iterator[str]:
    """Dotted names of single values."""
    if isinstance(value, dict) and deep < _DEEPEST:
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}", deep + 1)
    elif isinstance(value, list):
        if value and deep < _DEEPEST:  # the first stands for all
            yield from _leaves(value[0], f"{name}.0", deep + 1)
    else:
        yield name


def _walked(value: object, path: Sequence[str]) -> object:
    """What stands at a path inside a value; `_MISSING` where there is no such path."""
    if not path:
        return value
    if isinstance(value, list):
        place = int(path[0]) if path[0].isdecimal() else len(value)
        return _walked(value[place], path[1:]) if place < len(value) else _MISSING
    if isinstance(value, dict):
        # Names of fields may have dots themselves.
        for n in range(1, len(path) + 1):
            key = ".".join(path[:n])
            if key in value:
                found = _walked(value[key], path[n:])
                if found is not _MISSING:
                    return found
    return _MISSING
