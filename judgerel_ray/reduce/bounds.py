"""Worst and best case: what a coefficient would be, whatever the missing verdicts had been.

Exact where more even verdicts of a unit can only lower (or only raise) the coefficient: then the
best case adds all that is missing to a unit's most frequent verdict, and the worst case spreads it
over the rarest. Coefficients with chance from the verdicts themselves (alpha, kappa, AC1) have no
such extremes.

Shape suffixes: U = units, K = declared categories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.reduce.estimates import Group, Row, noise_columns
from judgerel_ray.reduce.policy import FAILED, SCORED, value_of
from judgerel_ray.stats import Coefficient, count_statistic, measure

BOUNDED = ("percent_agreement", "flip_rate", "brennan_prediger", "total_agreement")
"""Coefficients of agreement with an exact worst and best case."""
NOT_A_POINT = "worst_to_best_case"
"""Why a row of bounds has no value."""


def bound_rows(group: Group, coefficients: Sequence[str]) -> Iterator[Row]:
    """Compute the worst and the best case of one group.

    Parameters
    ----------
    group : Group
        The group.
    coefficients : sequence of str
        Names of coefficients of counts.

    Yields
    ------
    Row
        As of :func:`judgerel_ray.reduce.estimates.group_rows`: no value, `low` the least and
        `high` the greatest the coefficient could be; both null, and ``undefined`` "no_bounds",
        where that is not known. There is none where nothing is missing.

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.reduce.matrix import unit_table
    >>> from judgerel_ray.reduce.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q", "q"], "verdict": ["A", None], "score": [None, None],
    ...                      "outcome": ["scored", "refused"], "n": [2, 1]})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> table = unit_table(nested, unit=["item_id"], cluster=["item_id"])
    >>> group = Group(table=table, unit=("item_id",), level="nominal", n_categories=2,
    ...               any_without_verdict=True)
    >>> [(round(row["low"], 3), row["high"]) for row in bound_rows(group, ["percent_agreement"])]
    [(0.333, 1.0)]
    """
    seen = group.table.counts(value_of("drop"))
    missing_U = group.table.counts_UK.sum(axis=1) - seen.counts_UV.sum(axis=1)
    n_failed = group.table.n_rows(FAILED)
    if missing_U.sum():
        worst, best = extremes(seen.counts_UV, missing_U, n_categories=group.n_categories)
        for name in (name for name in coefficients if name != "valid_rate"):
            yield _row(group, name, (worst, best), int(missing_U.sum()))
    if "valid_rate" in coefficients and n_failed:
        yield _row(group, "valid_rate", _replies(group), n_failed)


def extremes(
    counts_UV: NDArray[np.int64], missing_U: NDArray[np.int64], *, n_categories: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Fill in what is missing so that units disagree most, and so that they agree most.

    Parameters
    ----------
    counts_UV : ndarray of int, shape (n_units, n_values)
        How often each unit received each value.
    missing_U : ndarray of int, shape (n_units,)
        Verdicts to fill in.
    n_categories : int
        Declared categories: those that never occurred may be filled in too.

    Returns
    -------
    worst, best : ndarray of int, shape (n_units, n_categories)
        Each unit's counts in increasing order, whatever they are counts of.

    Examples
    --------
    >>> worst, best = extremes(np.array([[3, 1]]), np.array([4]), n_categories=3)
    >>> worst.tolist(), best.tolist()
    ([[2, 3, 3]], [[0, 1, 7]])
    """
    width = max(n_categories, counts_UV.shape[1], 1)
    seen = np.zeros((len(counts_UV), width), dtype=np.int64)
    seen[:, width - counts_UV.shape[1] :] = counts_UV
    seen.sort(axis=1)
    best = seen.copy()
    best[:, -1] += missing_U
    # Water filled into the lowest columns: `j` of them rise to one level, the rest stay above it.
    below = np.cumsum(seen, axis=1)
    j = np.arange(1, width + 1)
    room = j * seen - below  # what lifts the first j columns to the j-th
    lifted = (room <= missing_U[:, None]).sum(axis=1)
    water = missing_U + np.take_along_axis(below, lifted[:, None] - 1, axis=1)[:, 0]
    level, rest = water // lifted, water % lifted
    place = np.arange(width)
    worst = np.where(place < lifted[:, None], level[:, None], seen)
    worst += (place < lifted[:, None]) & (place >= (lifted - rest)[:, None])
    return worst, best


def _replies(group: Group) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Replies with a verdict and without, requests that failed taken as neither and as both."""
    table = group.table
    failed, scored = table.n_rows(FAILED), table.n_rows(SCORED)
    without = int(table.counts_UK.sum()) - failed - scored
    return np.array([[scored, without + failed]]), np.array([[scored + failed, without]])


def _row(
    group: Group,
    name: str,
    cases: tuple[NDArray[np.int64], NDArray[np.int64]],
    n_missing: int,
) -> Row:
    """The two cases of one coefficient as a row."""
    ends: list[float] = []
    if name in BOUNDED or name == "valid_rate":
        statistic = count_statistic(
            name, n_values=cases[0].shape[1], n_categories=max(1, group.n_categories)
        )
        ends = sorted(_values([measure(case, statistic) for case in cases]))
    words = f"worst and best case over {n_missing} missing verdicts; no sampling error in it"
    return {
        "coefficient": name,
        "value": None,
        "low": ends[0] if ends else None,
        "high": ends[-1] if ends else None,
        **noise_columns(None),
        "measurement": "nominal",
        "missing": "bounds",
        "n_categories": group.n_categories,
        "n_missing": n_missing,
        "estimator": words,
        "undefined": NOT_A_POINT if ends else "no_bounds",
        **group.basis,
    }


def _values(cases: Sequence[Coefficient]) -> list[float]:
    """The values of both cases; none where a case has none."""
    values = [case.value for case in cases if case.value is not None]
    return values if len(values) == len(cases) else []
