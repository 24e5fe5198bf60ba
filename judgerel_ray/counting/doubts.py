"""What the rows of a file make doubtful of what it says: a line each, and no number changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import factorial

import polars as pl

from judgerel_ray.core import Scale
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.nesting import PLACES, UnitRows
from judgerel_ray.counting.verdicts.places import N_OPTIONS, ORDER, SHOWN, is_tie
from judgerel_ray.counting.verdicts.policy import SCORED
from judgerel_ray.counting.verdicts.scales import SCALE, known_scale, scale_names
from judgerel_ray.counting.verdicts.spelling import folded

_MOST_TOLD = 6
_TWO = 2  # of two values all levels agree
_NUMBER = "__number"
_MENU = (SHOWN, N_OPTIONS, "options", "gold")
"""Columns of a file whose verdicts name options, right or wrong ones: numbers are names there."""


def doubts(nested: UnitRows, columns: tuple[str, ...]) -> Iterator[str]:
    """Say which numbers are read as names, and which are off the scale that they are said to be on.

    Parameters
    ----------
    nested : UnitRows
        The counts of a file.
    columns : tuple of str
        Its columns.

    Yields
    ------
    str
        A line.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.tally import tally_judgments
    >>> rows = {"item_id": list("qrs"), "verdict": ["1", "2", "4"]}
    >>> nested = tally_judgments(pl.LazyFrame(rows)).nested
    >>> print(*doubts(nested, ("item_id", "verdict")))  # doctest: +ELLIPSIS
    all 3 different verdicts are numbers (1, 2, 4), read as names: 1 and 2 differ as much as 1 ...
    >>> rows = {"item_id": list("qr"), "score": [1.0, 9.0], "scale": ["likert5"] * 2}
    >>> nested = tally_judgments(pl.LazyFrame(rows)).nested
    >>> print(*doubts(nested, ("item_id", "score", "scale")))  # doctest: +ELLIPSIS
    1 of 2 ratings is off scale likert5, which has 0 to 4: 9 (1); counted as written; ...
    """
    judged = UnitRows(units=nested.units.filter(is_judge(nested.units.columns)), kinds=nested.kinds)
    if judged.units.is_empty():
        return
    if not set(_MENU) & set(columns):
        yield from _numbers_as_names(judged)
    for name in scale_names(judged.units):
        scale = known_scale(name)
        if scale is not None:
            units = judged.units.filter(pl.col(SCALE).cast(pl.String) == name)
            yield from _off_scale(UnitRows(units=units, kinds=judged.kinds), scale)


def _numbers_as_names(nested: UnitRows) -> Iterator[str]:
    """Say that all verdicts are numbers, how they are read, and what to write where they rate."""
    named = SCALE in nested.units.columns and not nested.units[SCALE].null_count()
    if named and all(known_scale(name) for name in scale_names(nested.units)):
        return  # its verdicts have scores
    scored = nested.seen().filter(SCORED)
    if scored.is_empty() or scored["verdict"].null_count() or scored["score"].count():
        return
    number = folded(pl.col("verdict")).cast(pl.Float64, strict=False).alias(_NUMBER)
    each = scored.select("verdict", number).unique(_NUMBER).sort(_NUMBER)
    finite = each[_NUMBER].is_finite().fill_null(False).all()
    if each.height <= _TWO or not finite:
        return
    words = each["verdict"].str.strip_chars().to_list()
    yield (
        f"all {each.height:,} different verdicts are numbers ({_listed(words)}), read as names: "
        f"{words[0]} and {words[1]} differ as much as {words[0]} and {words[-1]}; if they are "
        "ratings, call the column score (judgerel import table FILE --column score=verdict --out "
        "RATINGS.parquet)"
    )


def _off_scale(nested: UnitRows, scale: Scale) -> Iterator[str]:
    """Say which ratings are none of their scale."""
    from judgerel_ray.counting.groups.rated import scale_ends
    from judgerel_ray.protocols.replies.scales import scale_values

    low, high = scale_ends(scale)
    number = pl.coalesce("score", pl.col("verdict").cast(pl.Float64, strict=False))
    kinds = nested.kinds.select(
        number.alias(_NUMBER), SCORED.alias("scored"), pl.Series("n", nested.totals())
    )
    rated = kinds.filter(pl.col("scored").fill_null(False))
    is_off = (pl.col(_NUMBER) < low) | (pl.col(_NUMBER) > high)
    if scale_values(scale) is not None:
        is_off |= pl.col(_NUMBER) != pl.col(_NUMBER).round()
    off = rated.filter(is_off).group_by(_NUMBER).agg(pl.col("n").sum()).sort(_NUMBER)
    n = int(off["n"].sum())
    if not n:
        return
    each = [f"{value:g} ({many:,})" for value, many in off.iter_rows()]
    yield (
        f"{n:,} of {int(rated['n'].sum()):,} ratings {'is' if n == 1 else 'are'} off scale "
        f"{scale.name}, which has {low:g} to {high:g}: {_listed(each)}; counted as written; leave "
        "cells without a rating empty, and give your own scale another name"
    )


def ties_counted(nested: UnitRows, declared: Mapping[str, int]) -> Iterator[str]:
    """Say where a declared number of options may have a tie among them.

    It may where a tie was given, and verdicts, labels and orders fit one option less.

    Parameters
    ----------
    nested : UnitRows
        The counts of a file, labels that name no place left out.
    declared : mapping of str to int
        Options of each benchmark (:func:`judgerel_ray.counting.verdicts.places.declared_options`).

    Yields
    ------
    str
        A line.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.tally import tally_judgments
    >>> rows = {"item_id": list("qqqq"), "verdict": ["A", "B", "tie", "A"]}
    >>> nested = tally_judgments(pl.LazyFrame(rows)).nested
    >>> print(*ties_counted(nested, {"": 3}))
    n_options says 3, and verdicts name 2 at most, and tie: a tie is no option; if 3 counts it, \
write 2
    >>> list(ties_counted(nested, {"": 2}))
    []
    """
    for benchmark, n_options in declared.items():
        units = nested.units.filter(is_judge(nested.units.columns))
        if benchmark and "benchmark" in units.columns:
            units = units.filter(pl.col("benchmark").cast(pl.String) == benchmark)
        part = UnitRows(units=units, kinds=nested.kinds, places=nested.places)
        named = part.seen().filter(SCORED, pl.col("verdict").is_not_null())
        ties = named.filter(is_tie())["verdict"].unique().sort()
        if ties.is_empty() or n_options <= _TWO:
            continue
        options = named.filter(~is_tie())["verdict"].n_unique()
        if options > n_options:  # questions may have options of their own
            each = part.long(["item_id"]).filter(SCORED, pl.col("verdict").is_not_null(), ~is_tie())
            most = each.group_by("item_id").agg(pl.col("verdict").n_unique())["verdict"].max()
            options = int(str(most or 0))
        if nested.places and PLACES in units.columns:
            options = max(options, int((part.by_place().totals() > 0).sum()))
        orders = units[ORDER].drop_nulls().n_unique() if ORDER in units.columns else 0
        if options < n_options and orders <= factorial(n_options - 1):
            of = f" of {benchmark}" if benchmark else ""
            yield (
                f"{N_OPTIONS}{of} says {n_options}, and verdicts name {options} at most, and "
                f"{_listed(ties.to_list())}: a tie is no option; if {n_options} counts it, write "
                f"{n_options - 1}"
            )


def _listed(parts: list[str]) -> str:
    """The first of many parts."""
    more = [f"and {len(parts) - _MOST_TOLD:,} more"] if len(parts) > _MOST_TOLD else []
    return ", ".join([*parts[:_MOST_TOLD], *more])
