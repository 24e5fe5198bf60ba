"""Worst and best case: what a coefficient would be, whatever the missing verdicts had been.

Exact where more even verdicts of a unit can only lower (or only raise) the coefficient: then the
best case adds all that is missing to a unit's most frequent verdict, and the worst case spreads it
over the rarest. Where chance comes from the verdicts themselves (alpha, kappa, AC1, icc1), all
totals that can be reached are walked, and where they are too many the row says that its ends are
a bracket: no way to fill in goes beyond them, but none may reach them. Alpha and icc1 of numbers
have their ends at the level asked for. What a missing verdict could be must be known: where it is
not, or nothing bounds a coefficient, the row says so, and has no ends.

Shape suffixes: U = units, K = declared categories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.analyses.reliability.estimates import OF_NUMBERS, Group, noise_columns
from judgerel_ray.core.codes import CONTINUOUS, NAMES, UNBOUNDED, VALUES_UNKNOWN, IntervalMethod
from judgerel_ray.counting.verdicts.policy import (
    FAILED,
    REPEATABILITY,
    SCORED,
    Row,
    method_columns,
    number_of_row,
    value_of,
)
from judgerel_ray.stats import Level, count_statistic, measure
from judgerel_ray.stats.agreement.completions import (
    OF_SCORES,
    RATIOS,
    CompletedRange,
    completed_range,
    extremes,
    mean_range,
    scored_range,
)

BOUNDED = (
    "percent_agreement",
    "flip_rate",
    "brennan_prediger",
    "total_agreement",
    "entropy_agreement",
)
"""Coefficients that only fall, or only rise, as the verdicts of a unit spread."""
NOT_A_POINT = "worst_to_best_case"
"""Why a row of bounds has no value."""


def bound_rows(
    group: Group,
    coefficients: Sequence[str],
    *,
    levels: Sequence[Level] | None = None,
    counted: bool = True,
) -> Iterator[Row]:
    """Compute the worst and the best case of one group.

    Parameters
    ----------
    group, coefficients
        As of :func:`.group_rows`.
    levels : sequence of str, optional
        Levels of alpha, and of icc1 (numbers, but for "nominal"); by default that of the group's
        own scale.
    counted : bool
        Whether scores are counted value by value; of continuous ones nothing is bounded.

    Yields
    ------
    Row
        As of :func:`.group_rows`: no value, `low` the least and
        `high` the greatest the coefficient could be, ``interval_method`` saying whether both are
        reached; both null, and ``undefined`` "no_bounds", where there are none, ``no_interval``
        saying why ("no_scores" where a level needs numbers and verdicts are names). No row where
        nothing is missing.

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.counting.groups.matrix import unit_table
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q", "q"], "verdict": ["A", None], "score": [None, None],
    ...                      "outcome": ["scored", "refused"], "n": [2, 1]})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> table = unit_table(nested, unit=["item_id"], cluster=["item_id"])
    >>> group = Group(table=table, unit=("item_id",), level="nominal", n_categories=2,
    ...               n_outcomes=1)
    >>> [(round(row["low"], 3), row["high"]) for row in bound_rows(group, ["percent_agreement"])]
    [(0.333, 1.0)]
    """
    n_failed = group.table.n_rows(FAILED)
    if group.n_missing:
        levels = levels or (group.level,)
        named = [name for name in coefficients if name != "valid_rate"]
        nominal = [name for name in named if name not in OF_NUMBERS or "nominal" in levels]
        yield from _nominal_rows(group, nominal, counted=counted)
        numeric = [level for level in levels if level != "nominal"]
        for name in (name for name in OF_NUMBERS if name in named):
            # Of numbers there is one analysis of variance, whatever alpha makes of their order.
            of_scores: Sequence[Level] = ("interval",) if numeric else ()
            for level in numeric if name == "krippendorff_alpha" else of_scores:
                yield _scored_row(group, name, level, counted=counted)
    if "valid_rate" in coefficients and n_failed:
        yield _row(group, "valid_rate", _of_cases(group, "valid_rate", _replies(group)), n_failed)


def _nominal_rows(group: Group, names: Sequence[str], *, counted: bool) -> Iterator[Row]:
    """The ends of coefficients of verdicts as mere names."""
    seen = group.table.counts(value_of("drop"))
    missing_U = group.table.counts_UK.sum(axis=1) - seen.counts_UV.sum(axis=1)
    # Categories that never occurred may be what is missing, too.
    width = max(group.n_categories, seen.counts_UV.shape[1])
    why = None if counted else CONTINUOUS
    if why is None and width < 2:
        why = VALUES_UNKNOWN
    if why is not None:
        for name in names:
            yield _row(group, name, CompletedRange(), group.n_missing, why=why)
        return
    counts_UK = np.zeros((len(seen.counts_UV), width), dtype=np.int64)
    counts_UK[:, : seen.counts_UV.shape[1]] = seen.counts_UV
    cases = extremes(counts_UK, missing_U)
    for name in names:
        found = _range(group, name, counts_UK, missing_U, cases)
        yield _row(group, name, found, group.n_missing)


def _scored_row(group: Group, name: str, level: Level, *, counted: bool) -> Row:
    """The ends of a coefficient of verdicts as numbers."""
    scores, why = group.scores, None
    named = group.table.kinds.filter(SCORED)["score"].null_count() > 0
    if name not in OF_SCORES:
        why = UNBOUNDED
    elif not counted:
        why = CONTINUOUS
    elif named:
        why = NAMES
    elif len(scores) < max(2, group.n_categories):
        why = VALUES_UNKNOWN
    if why is not None:
        row = _row(group, name, CompletedRange(), group.n_missing, why=why)
        undefined = "no_scores" if named and counted else row["undefined"]
        return {**row, "measurement": level, "undefined": undefined}
    seen = group.table.counts(number_of_row())
    counts_UK = np.zeros((len(seen.counts_UV), len(scores)), dtype=np.int64)
    place = np.searchsorted(scores, np.array(seen.values, dtype=np.float64))
    counts_UK[:, place] = seen.counts_UV
    missing_U = group.table.counts_UK.sum(axis=1) - counts_UK.sum(axis=1)
    found = scored_range(name, counts_UK, missing_U, values=np.array(scores), level=level)
    row = _row(group, name, found, group.n_missing)
    words = f"{row['statistic']}; each missing verdict one of the {len(scores)} scores of the file"
    return {**row, "measurement": level, "statistic": words}


def _range(
    group: Group,
    name: str,
    counts_UK: NDArray[np.int64],
    missing_U: NDArray[np.int64],
    cases: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> CompletedRange:
    """The worst and the best case of one coefficient, by what is known of it."""
    if name in BOUNDED:
        return _of_cases(group, name, cases)
    if name in RATIOS:
        return completed_range(name, counts_UK, missing_U)
    if name.startswith("majority_stability"):
        statistic = count_statistic(name, n_values=counts_UK.shape[1])
        low, high, exact = mean_range(statistic, counts_UK, missing_U)
        return CompletedRange(low=low, high=high, exact=exact)
    return CompletedRange()


def _of_cases(
    group: Group, name: str, cases: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> CompletedRange:
    """The values of both cases; none where a case has none."""
    statistic = count_statistic(
        name, n_values=cases[0].shape[1], n_categories=max(1, group.n_categories)
    )
    values = [measure(case, statistic).value for case in cases]
    known = [one for one in values if one is not None]
    return CompletedRange(low=min(known), high=max(known)) if len(known) == 2 else CompletedRange()


def _replies(group: Group) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Replies with a verdict and without, requests that failed taken as neither and as both."""
    table = group.table
    failed, scored = table.n_rows(FAILED), table.n_rows(SCORED)
    without = int(table.counts_UK.sum()) - failed - scored
    return np.array([[scored, without + failed]]), np.array([[scored + failed, without]])


def _row(
    group: Group, name: str, found: CompletedRange, n_missing: int, *, why: str | None = None
) -> Row:
    """The two cases of one coefficient as a row."""
    words = f"worst and best case over {n_missing} missing verdicts"
    if not found.exact:
        words = (
            f"bracket of the worst and the best case over {n_missing} missing verdicts: too many "
            "ways to try all, none goes beyond"
        )
    kind = IntervalMethod.WORST_TO_BEST if found.exact else IntervalMethod.BRACKET
    known = {"interval_method": kind.value}
    if found.low is None:
        words, known = "", {"no_interval": why or UNBOUNDED}
    return {
        "coefficient": name,
        "value": None,
        "low": found.low,
        "high": found.high,
        **noise_columns(None),
        "measurement": "nominal",
        "missing": "bounds",
        "n_categories": group.n_categories,
        "n_missing": n_missing,
        **method_columns(words),
        **known,
        "undefined": "no_bounds" if found.low is None else NOT_A_POINT,
        **group.basis,
        "conditions": None if name == "valid_rate" else REPEATABILITY,
    }
