"""The order of a page's lists: numbers as numbers, wherever they stand in a name."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)")
Key = tuple[tuple[tuple[int, float, str], ...], str]


def natural(value: object) -> Key:
    """Sort key of a value of a group's column: nothing first, and 2 before 10 inside names.

    Examples
    --------
    >>> sorted(["judge-10", "judge-2", "1-100", "1-5", None, "1-10", "b"], key=natural)
    [None, '1-5', '1-10', '1-100', 'b', 'judge-2', 'judge-10']
    >>> sorted([10.0, 0.5, 1.0], key=natural)
    [0.5, 1.0, 10.0]
    """
    if value is None:
        return (), ""
    if isinstance(value, int | float):
        return ((0, float(value), ""),), ""
    parts = _NUMBER.split(str(value))
    pieces = (
        (0, float(part), "") if place % 2 else (1, 0.0, part.casefold())
        for place, part in enumerate(parts)
        if part
    )
    # The text as it is decides between 1 and 01, which are one number.
    return tuple(pieces), str(value)


def in_order(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Rows by what the columns named hold, in natural order; rows alike there stay as they are.

    Examples
    --------
    >>> rows = pl.DataFrame({"scale": ["1-10", "1-5", "1-10"], "n": [1, 2, 3]})
    >>> in_order(rows, ["scale"]).rows()
    [('1-5', 2), ('1-10', 1), ('1-10', 3)]
    """
    known = [name for name in names if name in frame.columns]
    if not known or frame.is_empty():
        return frame
    places = [_places(frame[name]) for name in known]
    return frame[sorted(range(frame.height), key=lambda row: [place[row] for place in places])]


def _places(values: pl.Series) -> list[int]:
    """The place of every value among the values there are."""
    ranks = {value: rank for rank, value in enumerate(sorted(values.unique(), key=natural))}
    return [ranks[value] for value in values]
