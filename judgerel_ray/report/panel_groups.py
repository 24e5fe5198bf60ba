"""Tables on panels and cascades, taken apart by the groups they are of."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from judgerel_ray.report.words import Row, group_label

FIRST: Mapping[str, Mapping[str, str]] = {
    "panels": {"members": "member", "panels": "rule", "best": "chosen_by", "next": "n_members",
               "worth": "n_members"},
    "cascade": {"stages": "stage", "curve": "budget"},
}  # fmt: skip
"""The first column of each table behind those of its groups."""


def by_group(
    tables: Mapping[str, pl.DataFrame], first: Mapping[str, str]
) -> list[tuple[str, dict[str, list[Row]]]]:
    """Take tables apart by group, with what the group is in words.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        All start with the columns of the groups.
    first : mapping of str to str
        Of each table, the first column behind those.

    Returns
    -------
    list of (str, dict)
        What tells the group, and its rows by table.

    Examples
    --------
    >>> one = pl.DataFrame({"benchmark": ["b", "b"], "stage": [1, 2]})
    >>> [(label, len(parts["stages"])) for label, parts in by_group({"stages": one},
    ...                                                            {"stages": "stage"})]
    [(' (b)', 2)]
    """
    name, column = next(iter(first.items()))
    columns = tables[name].columns
    keys = columns[: columns.index(column)]
    found: dict[tuple[object, ...], dict[str, list[Row]]] = {}
    for table in first:
        for row in tables[table].iter_rows(named=True):
            key = tuple(row[one] for one in keys)
            found.setdefault(key, {each: [] for each in first})[table].append(row)
    labels = [group_label(parts[name][0], keys) for parts in found.values()]
    return [
        (f" ({label})" if label else "", parts)
        for label, parts in zip(labels, found.values(), strict=True)
    ]
