"""Whether a column that is called after judges names them, or holds what they said."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import polars as pl

from judgerel_ray.counting.columns import FACETS, is_nested
from judgerel_ray.counting.files.layout import REPLICATION
from judgerel_ray.counting.files.names import WORDS, roles_of

MARKS = frozenset(("0", "1", "0.0", "1.0"))
"""Verdicts, or the numbers of two judges."""
_SEVERAL = 2


def names_nobody(
    rows: pl.DataFrame, texts: pl.Series, stated: Mapping[str, str] | None = None
) -> bool:
    """Whether texts of a column, or of a place inside it, are verdicts or ratings and no names.

    Numbers are names where each item has all of them as often, or where they alone tell rows apart
    of one item, repeat and whatever else a judgment is of. Of 0 and 1 each repeat has both.

    Examples
    --------
    >>> rows = pl.DataFrame({"id": list("ppq"), "run": list("121"), "judge": list("535")})
    >>> names_nobody(rows, rows["judge"]), names_nobody(rows.drop("run"), rows["judge"])
    (True, False)
    >>> names_nobody(rows, pl.Series(["Pass", "fail"]))
    True
    """
    words = {*texts.str.to_lowercase().unique()}
    if words & WORDS and words <= WORDS | MARKS:
        return True
    is_number = not texts.cast(pl.Float64, strict=False).has_nulls()
    if not is_number or len(words) < _SEVERAL:
        return False
    is_marks, name = words <= MARKS, texts.name
    if name not in rows:
        return is_marks
    items = _columns_with_roles(rows, {"item_id"}, name, stated)
    beside = _columns_with_roles(rows, {REPLICATION, *FACETS}, name, stated)
    beside = [one for one in beside  # but the other name of a judge
              if "judge" not in roles_of(one) or not _are_same(rows, one, name)]  # fmt: skip
    for item in items:
        unit = [item, *(one for one in beside if one != item)]
        if _are_crossed(rows, unit, name) or (not is_marks and _are_crossed(rows, [item], name)):
            return False
        if rows.n_unique([*unit, name]) == rows.height > rows.n_unique(unit):
            return False
    return is_marks or bool(items)


def _columns_with_roles(
    rows: pl.DataFrame, roles: Collection[str], name: str, stated: Mapping[str, str] | None
) -> list[str]:
    """Columns of single values, but one, that have some roles by their names or as stated."""
    of_role = {role: place for role, place in (stated or {}).items() if role in roles}
    places = {part for place in of_role.values() for part in re.split("[,:]", place)}
    return [
        one for one, kind in rows.schema.items()
        if one != name and not is_nested(kind)
        and (one in places or {*roles_of(one), one} & {*roles})
    ]  # fmt: skip


def _are_crossed(rows: pl.DataFrame, unit: Sequence[str], name: str) -> bool:
    """Whether all that some columns tell apart has all values of another, and as often."""
    cells = rows.group_by(*unit, name).len()
    n_each = rows.n_unique([*unit]) * rows[name].n_unique()
    return cells.height == n_each and cells["len"].n_unique() == 1


def _are_same(rows: pl.DataFrame, one: str, other: str) -> bool:
    """Whether two columns tell the same rows apart."""
    return rows.n_unique([one, other]) == rows[one].n_unique() == rows[other].n_unique()
