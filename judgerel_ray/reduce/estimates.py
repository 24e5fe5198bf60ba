"""One group of counted judgments to rows of coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgerel_ray.reduce.matrix import UnitCounts, unit_counts
from judgerel_ray.reduce.policy import FAILED, SCORED, Missing, number_of_row, own_level, value_of
from judgerel_ray.reduce.replies import reply_counts, share_interval
from judgerel_ray.stats import (
    CountStatistic,
    Interval,
    Level,
    NoiseFloor,
    count_statistic,
    jackknife_interval,
    measure,
    noise_floors,
)

NOISE_ABOVE = 0.05
_WITH_CATEGORIES = ("gwet_ac1", "brennan_prediger")
COLUMNS: Mapping[str, pl.DataType] = {
    "coefficient": pl.String(), "value": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(),
    "noise_floor": pl.Float64(), "noise_floor_sd": pl.Float64(), "p_noise": pl.Float64(),
    "noise": pl.Boolean(), "measurement": pl.String(), "missing": pl.String(),
    "n_categories": pl.Int64(), "unit": pl.String(), "n_items": pl.Int64(),
    "n_replications": pl.Int64(), "n_judgments": pl.Int64(), "n_missing": pl.Int64(),
    "estimator": pl.String(), "undefined": pl.String(),
}  # fmt: skip
"""Columns after those of the groups, in reading order."""

Row = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One group: its counted rows and what all its coefficients share.

    ``n_categories`` leaves out "no verdict", of which `any_without_verdict` says whether it occurs.
    """

    rows: pl.DataFrame
    unit: tuple[str, ...]
    cluster: tuple[str, ...]
    n_categories: int
    any_without_verdict: bool

    def count(self, value: pl.Expr) -> UnitCounts:
        """Lay the group out as an array, one row a unit."""
        return unit_counts(self.rows, value, unit=self.unit, cluster=self.cluster)


def group_rows(
    group: Group,
    *,
    coefficients: Sequence[str],
    missing: Sequence[Missing],
    levels: Sequence[Level] | None,
) -> Iterator[Row]:
    """Compute the rows of one group.

    Parameters
    ----------
    group : Group
        The group.
    coefficients : sequence of str
        Names of coefficients.
    missing : sequence of {"category", "drop"}
        Policies; one row is enough where no verdict is missing.
    levels : sequence of str, optional
        Levels of alpha; by default that of the group's own scale.

    Yields
    ------
    Row
        The columns of `COLUMNS`.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["A", "B"], "score": [1.0, 2.0],
    ...                      "outcome": ["scored"] * 2, "n": [2, 2]})
    >>> group = Group(rows=rows, unit=("item_id",), cluster=("item_id",), n_categories=2,
    ...               any_without_verdict=False)
    >>> asked = {"coefficients": ["krippendorff_alpha"], "missing": ["drop"], "levels": None}
    >>> [(row["value"], row["missing"]) for row in group_rows(group, **asked)]
    [(1.0, 'category')]
    """
    per_unit = group.rows.group_by(group.unit).agg(pl.col("n").sum())
    basis: Row = {
        "unit": " x ".join(group.unit),
        "n_items": group.rows.select(pl.struct(group.cluster).n_unique()).item(),
        "n_replications": per_unit["n"].max(),
        "n_judgments": int(per_unit["n"].sum()),
    }
    for row in _rows(group, coefficients, missing, levels or (own_level(group.rows),)):
        yield {**row, **basis}


def _rows(
    group: Group,
    coefficients: Sequence[str],
    missing: Sequence[Missing],
    levels: Sequence[Level],
) -> Iterator[Row]:
    """The rows of one group, but for what they all rest on."""
    n_without = group.rows.filter(~SCORED & ~FAILED)["n"].sum()
    policies: Sequence[Missing] = missing if n_without else ("category",)
    for policy in policies:
        named = [name for name in coefficients if name != "valid_rate"]
        yield from _nominal_rows(group, policy, named, nominal_alpha="nominal" in levels)
        if "krippendorff_alpha" in named:
            for level in levels:
                if level != "nominal":
                    yield _scored_row(group, policy, level, any_missing=n_without > 0)
    if "valid_rate" in coefficients:
        yield _valid_row(group)


def _nominal_rows(
    group: Group, policy: Missing, names: Sequence[str], *, nominal_alpha: bool
) -> Iterator[Row]:
    """Coefficients of verdicts as mere names."""
    found = group.count(value_of(policy))
    categories = group.n_categories + (policy == "category" and group.any_without_verdict)
    statistics = [
        count_statistic(name, n_values=len(found.values), n_categories=max(1, categories))
        for name in names
        if name != "krippendorff_alpha" or nominal_alpha
    ]
    floors = noise_floors(found.counts_UV, statistics)
    for statistic, floor in zip(statistics, floors, strict=True):
        interval = jackknife_interval(found.counts_UV, statistic, clusters_U=found.clusters_U)
        row = _row(group, policy, found, statistic, interval, floor)
        printed = categories if statistic.name in _WITH_CATEGORIES else None
        yield {**row, "measurement": "nominal", "n_categories": printed}


def _scored_row(group: Group, policy: Missing, level: Level, *, any_missing: bool) -> Row:
    """Alpha of verdicts as numbers."""
    scored = group.rows.filter(SCORED)
    why = "no_scores" if scored["score"].null_count() else None
    if policy == "category" and any_missing:
        why = "category_needs_nominal"
    found = group.count(number_of_row() if why is None else pl.lit(None, pl.Float64))
    values = np.asarray(found.values, dtype=np.float64)
    statistic = count_statistic(
        "krippendorff_alpha", n_values=len(values), values=values, level=level
    )
    floor = noise_floors(found.counts_UV, [statistic])[0]
    interval = jackknife_interval(found.counts_UV, statistic, clusters_U=found.clusters_U)
    row = {**_row(group, policy, found, statistic, interval, floor), "measurement": level}
    return {**row, "undefined": why} if why else row


def _valid_row(group: Group) -> Row:
    """The share of replies with a verdict; a request that failed got no reply."""
    found = reply_counts(group.rows, unit=group.unit, cluster=group.cluster)
    statistic = count_statistic("valid_rate", n_values=2)
    row = _row(group, "category", found, statistic, share_interval(found, statistic), None)
    return {**row, "measurement": "nominal"}


def _row(
    group: Group,
    policy: Missing,
    found: UnitCounts,
    statistic: CountStatistic,
    interval: Interval,
    floor: NoiseFloor | None,
) -> Row:
    """One row of the result, but for what all rows of the group rest on."""
    coefficient = measure(found.counts_UV, statistic)
    return {
        "coefficient": coefficient.name,
        "value": coefficient.value,
        "low": interval.low,
        "high": interval.high,
        "noise_floor": floor.mean if floor else None,
        "noise_floor_sd": floor.sd if floor else None,
        "p_noise": floor.p if floor else None,
        "noise": floor.p > NOISE_ABOVE if floor and floor.p is not None else None,
        "missing": policy,
        "n_categories": None,
        "n_missing": int(group.rows["n"].sum()) - int(found.counts_UV.sum()),
        "estimator": _in_words(coefficient.estimator, interval, floor),
        "undefined": coefficient.undefined,
    }


def _in_words(estimator: str, interval: Interval, floor: NoiseFloor | None) -> str:
    """The estimator, how its interval and floor were made, and what weakens them."""
    parts = [estimator]
    if interval.undefined == "no_spread":
        # None of Q differs: at 95 % the share that does is below 1 - .05^(1/Q).
        bound = 1 - 0.05 ** (1 / interval.n_questions)
        parts.append(
            f"no interval: all {interval.n_questions} questions alike, "
            f"so less than {bound:.0%} of questions differ (95 %)"
        )
    elif interval.undefined and interval.undefined != "undefined":
        parts.append(f"no interval: {interval.undefined.replace('_', ' ')}")
    elif interval.method:
        parts.append(interval.method)
    if interval.few_informative:
        parts.append("few informative questions")
    if floor and floor.method:
        parts.append(f"floor of {floor.method}")
    return "; ".join(parts)
