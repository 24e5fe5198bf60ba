"""Names of items, judges and conditions that differ in spelling alone: kept apart, and said."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.counting.verdicts.spelling import folded, told_apart

ITEM = "item_id"
_NAMES = {
    "judge": "judges", ITEM: "items", "benchmark": "benchmarks", "criterion": "criteria",
    "definition": "definitions", "scale": "scales", "template": "templates",
    "responder": "responders",
}  # fmt: skip
_MOST_UNITS, _MOST_NAMES = 500_000, 50_000  # above them nothing is looked for: a tenth of a second
_SHOWN = 3
_TOTALS = (
    "total", "totals", "grand total", "subtotal", "sum", "mean", "average", "avg", "avg.", "median",
    "overall", "summary",
)  # fmt: skip
SUMS_UP = pl.col(ITEM).cast(pl.String).str.strip_chars().str.to_lowercase().is_in(_TOTALS)
"""Whether a row is, by its item's name, one that sums up others."""


def names_kept_apart(units: pl.DataFrame) -> tuple[str, ...]:
    """Say which items, judges, criteria ... are probably one though spelled in several ways.

    Parameters
    ----------
    units : pl.DataFrame
        What was counted, one row a unit. Of more than 500,000 units, or 50,000 names, nothing is
        said.

    Examples
    --------
    >>> units = pl.DataFrame({"judge": ["GPT", "gpt "], "item_id": ["1", "2"]})
    >>> names_kept_apart(units)
    ("judges kept apart that differ in spelling alone: 'GPT' and 'gpt '",)
    """
    if units.height > _MOST_UNITS:
        return ()
    lines = []
    for column, what in _NAMES.items():
        if column not in units.columns:
            continue
        names = units[column].cast(pl.String).drop_nulls().unique()
        if names.len() > _MOST_NAMES:
            continue
        keyed = names.alias("name").to_frame().with_columns(key=folded(pl.col("name")))
        alike = (
            keyed.group_by("key").agg(pl.col("name").sort()).filter(pl.col("name").list.len() > 1)
        )
        groups = [
            " and ".join(told_apart(one, quotes=repr))
            for one in alike.sort("key")["name"].to_list()
        ]
        if groups:
            more = f"; and {len(groups) - _SHOWN} more" if len(groups) > _SHOWN else ""
            listed = "; ".join(groups[:_SHOWN])
            lines.append(f"{what} kept apart that differ in spelling alone: {listed}{more}")
    return tuple(lines)


def totals_line(units: pl.DataFrame) -> str | None:
    """Say which items are probably lines of totals, as sheets end with them, and no questions.

    Parameters
    ----------
    units : pl.DataFrame
        What was counted, one row a unit.

    Examples
    --------
    >>> totals_line(pl.DataFrame({"item_id": ["q1", "q2", "TOTAL"]}))
    "counted as questions: 'TOTAL'; take the line out if it sums up others"
    """
    found = units.filter(SUMS_UP)[ITEM].cast(pl.String).unique().sort().to_list()
    if not found or len(found) == units[ITEM].n_unique():
        return None
    it = "the lines out if they sum" if len(found) > 1 else "the line out if it sums"
    return f"counted as questions: {', '.join(map(repr, found))}; take {it} up others"


def spelled_otherwise(items_a: pl.Series, items_b: pl.Series) -> list[tuple[str, str]]:
    """Pair items that one side has alone with those of the other that differ in spelling alone.

    Examples
    --------
    >>> spelled_otherwise(pl.Series(["1", "q", "z"]), pl.Series(["1.0", "q", "y"]))
    [('1', '1.0')]
    """
    a, b = (names.cast(pl.String).drop_nulls().unique() for names in (items_a, items_b))
    alone = [
        one.filter(~one.is_in(other.implode())).alias("name").to_frame()
        for one, other in ((a, b), (b, a))
    ]
    if max(one.height for one in alone) > _MOST_NAMES:
        return []
    keyed_a, keyed_b = (one.with_columns(key=folded(pl.col("name"))) for one in alone)
    met = keyed_a.join(keyed_b, on="key", suffix="_b").sort("name", "name_b")
    return list(
        met.unique("name", keep="first", maintain_order=True).select("name", "name_b").rows()
    )


def otherwise_line(items_a: pl.Series, items_b: pl.Series) -> str | None:
    """Say of two sides that are compared how many items differ between them in spelling alone.

    Examples
    --------
    >>> otherwise_line(pl.Series(["1", "q"]), pl.Series(["1.0", "q"]))
    "1 item of the two differs in spelling alone, and is left out on both sides: '1' and '1.0'"
    """
    pairs = spelled_otherwise(items_a, items_b)
    if not pairs:
        return None
    some = "; ".join(" and ".join(told_apart(one, quotes=repr)) for one in pairs[:_SHOWN])
    more = "; ..." if len(pairs) > _SHOWN else ""
    n = f"{len(pairs):,} items of the two differ" if len(pairs) > 1 else "1 item of the two differs"
    left_out = "are left out" if len(pairs) > 1 else "is left out"
    return f"{n} in spelling alone, and {left_out} on both sides: {some}{more}"


def nothing_shared(
    items_a: pl.Series, items_b: pl.Series, where: Mapping[str, object]
) -> SweepError:
    """Make the refusal of two sides that have no item in common.

    Examples
    --------
    >>> print(nothing_shared(pl.Series(["1", "2"]), pl.Series(["1.0"]), {}))
    no item_id is in both: a has '1', '2'; b has '1.0'. Try: write item_id alike in both: '1', or \
'1.0'
    """
    pairs = spelled_otherwise(items_a, items_b)
    hint = "compare judgments of the same questions, with the same item_id letter by letter"
    if pairs:
        one, other = told_apart(pairs[0], quotes=repr)
        hint = f"write item_id alike in both: {one}, or {other}"
    return SweepError(
        f"no item_id is in both: a has {_some(items_a)}; b has {_some(items_b)}",
        where=where,
        hint=hint,
    )


def _some(names: pl.Series) -> str:
    """The first few names in order."""
    known = names.cast(pl.String).drop_nulls().unique().sort()
    return ", ".join(map(repr, known.head(_SHOWN))) + ", ..." * (known.len() > _SHOWN)
