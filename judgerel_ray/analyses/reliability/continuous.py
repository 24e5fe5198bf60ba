"""Scores of too many values to count each: by number, sum and sum of squares of every unit.

Everything is summed in one fixed order (units sorted, then scores), so that no digit depends on the
order of the rows or on how they were split into files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.analyses.reliability.estimates import (
    Group,
    noise_columns,
)
from judgerel_ray.core.codes import ALIKE, UNANIMOUS
from judgerel_ray.counting.nesting import KIND, N, UnitRows
from judgerel_ray.counting.verdicts.policy import (
    REPEATABILITY,
    SCORED,
    Missing,
    Row,
    method_columns,
)
from judgerel_ray.stats import Interval, Level, measure, moment_statistic, score_floor

MOST_VALUES = 200
"""Scores of more different values than this, in one group, are not counted value by value."""
_OF_SCORES = ("krippendorff_alpha", "icc1", "icck")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Scores of one group, summed by unit.

    Attributes
    ----------
    rows : UnitRows
        Its rows, all scores in one kind: what replies became is told apart, and no more.
    moments_U3 : ndarray of float, shape (n_units, 3)
        Number, sum and sum of squares of each unit's scores, less the mean of all; units sorted.
    scores_N, unit_N : ndarray, shape (n_scores,)
        The scores, less the mean of all, with their units, in a fixed order.
    """

    rows: UnitRows
    moments_U3: NDArray[np.float64]  # noqa: N815  a shape, not a case
    scores_N: NDArray[np.float64]  # noqa: N815
    unit_N: NDArray[np.int64]  # noqa: N815


def moments_of(rows: UnitRows, *, unit: Sequence[str]) -> Moments | None:
    """Sum the scores of one group by unit, where they are too many to count.

    Parameters
    ----------
    rows : UnitRows
        Counted judgments of one group.
    unit : sequence of str
        Columns that make a unit, in the order by which units are sorted.

    Returns
    -------
    Moments or None
        None where scores have few values, or a verdict has none.

    Examples
    --------
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> counts = pl.DataFrame({"item_id": [f"q{i // 300}" for i in range(600)],
    ...                        "verdict": [None] * 600, "score": [float(i) for i in range(600)],
    ...                        "outcome": ["scored"] * 600, "n": [1] * 600})
    >>> nested = nest_rows(counts, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> moments_of(nested, unit=["item_id"]).moments_U3[:, :2].tolist()
    [[300.0, -45000.0], [300.0, 45000.0]]
    """
    if rows.kinds.height <= MOST_VALUES:
        return None
    seen = rows.seen().filter(SCORED)
    if seen["score"].null_count() or seen["score"].n_unique() <= MOST_VALUES:
        return None
    # Kinds are sorted by verdict, then score; by score alone they are in one order for all.
    score_K, scored_K = (
        rows.kinds.select(column).to_series().to_numpy()
        for column in (pl.when(SCORED).then("score").cast(pl.Float64), SCORED)
    )
    order = rows.units.select(pl.arg_sort_by(unit)).to_series()
    sorted_units = rows.units.select(unit)[order]
    place = np.empty(rows.units.height, dtype=np.int64)
    place[order.to_numpy()] = sorted_units.to_struct().rle_id().to_numpy()
    unit_R = np.repeat(place, rows.units[N].list.len().to_numpy())
    code_R, n_R = (rows.units[name].explode().to_numpy() for name in (KIND, N))
    kept = scored_K[code_R] & (n_R > 0)
    unit_R, score_R, n_R = unit_R[kept], score_K[code_R[kept]], n_R[kept].astype(np.float64)
    fixed = np.lexsort((score_R, unit_R))
    unit_R, score_R, n_R = unit_R[fixed], score_R[fixed], n_R[fixed]
    score_R = score_R - (n_R * score_R).sum() / n_R.sum()
    n_units = int(place.max(initial=-1)) + 1
    sums = [np.bincount(unit_R, n_R * score_R**power, n_units) for power in range(3)]
    if (n_R > 1).any():
        unit_R, score_R = (np.repeat(one, n_R.astype(np.int64)) for one in (unit_R, score_R))
    return Moments(
        rows=_without_scores(rows),
        moments_U3=np.stack(sums, axis=1),
        scores_N=score_R,
        unit_N=unit_R,
    )


def continuous_rows(
    group: Group,
    moments: Moments,
    *,
    coefficients: Sequence[str],
    missing: Sequence[Missing],
    levels: Sequence[Level] | None,
) -> Iterator[Row]:
    """Compute coefficients of continuous scores of one group.

    Parameters
    ----------
    group : Group
        The group, from the rows of :class:`Moments`.
    moments : Moments
        Its scores.
    coefficients : sequence of str
        Names of coefficients of counts.
    missing : sequence of {"category", "drop"}
        Policies; one row is enough where no score is missing.
    levels : sequence of str, optional
        Levels of alpha; "interval" by default.

    Yields
    ------
    Row
        The columns of ``COLUMNS``. ``undefined`` is "continuous_scores" where scores would have to
        be counted value by value, "category_needs_nominal" where no score is a category.

    Examples
    --------
    >>> from judgerel_ray.analyses.reliability.reliability import reduce_judgments
    >>> told = {"item_id": [f"q{i // 300}" for i in range(600)],
    ...         "replication": list(range(300)) * 2, "score": [float(i) for i in range(600)]}
    >>> found = reduce_judgments(pl.LazyFrame(told), coefficients=["icc1", "flip_rate"])
    >>> [(name, value and round(value, 3)) for name, value in
    ...  found.select("coefficient", "value").rows()]
    [('flip_rate', None), ('icc1', 0.857)]
    """
    policies: Sequence[Missing] = missing if group.n_without else ("category",)
    named = [name for name in coefficients if name != "valid_rate"]
    for policy in policies:
        lost = policy == "category" and group.n_without > 0
        for name in named:
            if name not in _OF_SCORES:
                yield _undefined(group, policy, name, "nominal", "continuous_scores")
            for level in levels or ("interval",) if name in _OF_SCORES else ():
                if lost:
                    yield _undefined(group, policy, name, level, "category_needs_nominal")
                elif level != "interval":
                    yield _undefined(group, policy, name, level, "continuous_scores")
                else:
                    yield {**_scored_row(group, policy, name, moments), "conditions": REPEATABILITY}


def _scored_row(group: Group, policy: Missing, name: str, moments: Moments) -> Row:
    """A coefficient of scores, with its interval and its floor."""
    moments_U3 = moments.moments_U3
    known = cast(Literal["icc1", "icck", "krippendorff_alpha"], name)
    statistic = moment_statistic(known)
    found = measure(moments_U3, statistic)
    interval = Interval(undefined="undefined")
    if found.value is not None:
        interval = group.intervals.interval(moments_U3, statistic, group.table.clusters_U)
    floor = None if known == "icck" else score_floor(moments.scores_N, moments.unit_N, known)
    return {
        "coefficient": name,
        "value": found.value,
        "low": interval.low,
        "high": interval.high,
        **noise_columns(floor),
        "measurement": "interval",
        "missing": policy,
        "n_categories": None,
        "n_missing": int(group.table.counts_UK.sum() - moments_U3[:, 0].sum()),
        **method_columns(
            f"{found.estimator}, by number, sum and sum of squares",
            interval,
            floor,
            alike=UNANIMOUS if found.value and found.value > 1 - 1e-9 else ALIKE,
        ),
        "undefined": found.undefined,
        **group.basis,
    }


def _undefined(group: Group, policy: Missing, name: str, level: str, why: str) -> Row:
    """A row without a value."""
    return {
        "coefficient": name, "value": None, "low": None, "high": None, **noise_columns(None),
        "measurement": level, "missing": policy, "n_categories": None,
        "n_missing": group.n_missing, **method_columns(f"more than {MOST_VALUES} different scores"),
        "undefined": why, **group.basis, "conditions": REPEATABILITY,
    }  # fmt: skip


def _without_scores(rows: UnitRows) -> UnitRows:
    """Rows whose scores are all one kind."""
    meant = rows.kinds.with_columns(
        verdict=pl.lit(None, pl.String), score=pl.when(SCORED).then(0.0)
    )
    kinds = meant.unique().sort(meant.columns)
    named = kinds.with_row_index("__new")
    code_K = meant.join(named, on=meant.columns, nulls_equal=True, maintain_order="left")["__new"]
    coded = rows.units.with_row_index("__unit").explode(KIND, N)
    coded = coded.with_columns(code_K[coded[KIND]].alias(KIND))
    columns = [name for name in rows.units.columns if name not in (KIND, N)]
    grouped = coded.group_by("__unit", maintain_order=True)
    units = grouped.agg(pl.col(columns).first(), KIND, N).drop("__unit")
    return replace(rows, units=units, kinds=kinds)
