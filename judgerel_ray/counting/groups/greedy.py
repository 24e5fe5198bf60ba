"""Temperature 0, whose repeats show how steady a server is: never among sampled replications.

A greedy judge asked again says the same. Where it does not, arithmetic came out otherwise in
another batch: that is the serving's noise, and in a group with other temperatures it would pass for
a judge that agrees with itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from judgerel_ray.core.codes import Flag
from judgerel_ray.counting.columns import FACETS
from judgerel_ray.counting.groups.grouping import CountedJudgments
from judgerel_ray.counting.nesting import N

TEMPERATURE = "temperature"


def without_greedy_repeats(units: pl.DataFrame, groups: Sequence[str]) -> pl.DataFrame:
    """Leave temperature 0 out of groups that sampled, too, where it was asked more than once.

    Parameters
    ----------
    units : pl.DataFrame
        One row a unit, with the list ``n`` of its numbers of rows.
    groups : sequence of str
        Columns that make a group.

    Returns
    -------
    pl.DataFrame
        Without those units; as it is where temperatures are apart, or 0 was asked once.

    Examples
    --------
    >>> units = pl.DataFrame({"item_id": ["q", "q"], "temperature": [0.0, 1.0], "n": [[8], [8]]})
    >>> without_greedy_repeats(units, [])["temperature"].to_list()
    [1.0]
    >>> without_greedy_repeats(units, ["temperature"]).height
    2
    """
    if TEMPERATURE not in units.columns or TEMPERATURE in groups:
        return units
    greedy = (pl.col(TEMPERATURE) == 0).fill_null(False)
    cold = units.filter(greedy)
    if cold.is_empty() or cold.height == units.height:
        return units
    unit = [name for name in ("item_id", *FACETS, *groups) if name in units.columns]
    asked = cold.group_by(list(dict.fromkeys(unit))).agg(pl.col(N).list.sum().sum())
    repeated = asked.filter(pl.col(N) > 1)
    if repeated.is_empty():
        return units
    if not groups:
        return units.filter(~greedy)
    sampled = units.filter(~greedy).select(groups).unique()
    pooled = repeated.select(groups).unique().join(sampled, on=groups, nulls_equal=True)
    kept = cold.join(pooled, on=groups, how="anti", nulls_equal=True)
    return pl.concat([units.filter(~greedy), kept])


def sampled(counted: CountedJudgments) -> CountedJudgments:
    """Counts for agreement: by :func:`without_greedy_repeats`.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.grouping import count_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q"] * 4, "replication": [0, 1, 0, 1],
    ...                      "temperature": [0.0, 0.0, 1.0, 1.0], "verdict": ["A", "A", "A", "B"]})
    >>> sampled(count_judgments(rows, by=[])).frame["temperature"].unique().to_list()
    [1.0]
    """
    units = without_greedy_repeats(counted.nested.units, counted.groups)
    if units.height == counted.nested.units.height:
        return counted
    return replace(counted, nested=replace(counted.nested, units=units))


def said_of_greedy(
    key: Mapping[str, object], counted: CountedJudgments, everything: CountedJudgments
) -> Flag | None:
    """Flag what temperature 0 has to do with the replications of a group, if anything.

    Parameters
    ----------
    key : mapping
        The group's columns.
    counted, everything : CountedJudgments
        With :func:`sampled`, and before.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.grouping import count_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q"] * 4, "replication": [0, 1, 0, 1],
    ...                      "temperature": [0.0, 0.0, 1.0, 1.0], "verdict": ["A", "A", "A", "B"]})
    >>> apart, pooled = (count_judgments(rows, by=by) for by in (["temperature"], []))
    >>> said_of_greedy({"temperature": 0.0}, apart, apart), said_of_greedy({}, apart, apart)
    (<Flag.SERVING_NOISE: 'serving_noise'>, None)
    >>> said_of_greedy({}, sampled(pooled), pooled)
    <Flag.GREEDY_LEFT_OUT: 'temperature_0_left_out'>
    """
    if counted is everything and key.get(TEMPERATURE, 0) != 0:
        return None
    units = units_of(counted, key)
    if units.height < units_of(everything, key).height:
        return Flag.GREEDY_LEFT_OUT
    if TEMPERATURE not in units.columns or not (units[TEMPERATURE] == 0).fill_null(False).all():
        return None
    return Flag.SERVING_NOISE if (units[N].list.sum() > 1).any() else None


def units_of(counted: CountedJudgments, key: Mapping[str, object]) -> pl.DataFrame:
    """Units of one group.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.grouping import count_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q", "r"], "judge": ["x", None], "verdict": ["A", "B"]})
    >>> units_of(count_judgments(rows, by=["judge"]), {"judge": None})["item_id"].to_list()
    ['r']
    """
    same = [pl.col(name).eq_missing(pl.lit(value)) for name, value in key.items()]
    return counted.nested.units.filter(pl.lit(True), *same)
