"""What would decide: how many questions, or replications, an interval needs to clear its limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from judgerel_ray.analyses.advice.plans import Plan
from judgerel_ray.analyses.gate.standing import CROSSES, OF_ALPHA, SHARES
from judgerel_ray.counting.verdicts.policy import REPEATABILITY, Row
from judgerel_ray.stats import clopper_pearson
from judgerel_ray.stats.intervals.precision import t_quantile

MOST_QUESTIONS = 100_000
"""More are no advice: the value is at the limit, as far as anybody will ask."""
_MOST_REPLICATIONS = 1_000
_MARGIN = 0.7
"""Of the way to the limit, what an interval over more replications may reach: values that came out
far from the limit move back to it, and the D-study's own error is large. With the whole way a
decision followed in 27 % of simulated cases, with .7 of it in 47 %."""
_FEWEST = 2


def needs_a_plan() -> pl.Expr:
    """Tell open rows of which a D-study says what more replications would do.

    Examples
    --------
    >>> row = {"reason": CROSSES, "coefficient": "icc1", "conditions": REPEATABILITY,
    ...        "baseline": None}
    >>> pl.DataFrame([row], schema_overrides={"baseline": pl.Float64}).select(needs_a_plan()).item()
    True
    """
    return (
        (pl.col("reason") == CROSSES).fill_null(False)
        & pl.col("coefficient").is_in(OF_ALPHA)
        & (pl.col("conditions") == REPEATABILITY).fill_null(False)
        & pl.col("baseline").is_null()
    )


def with_needs(
    table: pl.DataFrame,
    groups: Sequence[str],
    plans: Mapping[tuple[object, ...], Plan],
    *,
    confidence: float,
    then: float,
) -> pl.DataFrame:
    """Say what more would decide, should the value stay where it is.

    The half of the interval towards the limit must become shorter than the way there. It goes
    with Student's t over the root of the questions, as every interval by question does; with
    replications of the same questions as the D-study of `judgerel advise` takes alpha's error
    apart, where alpha (Fleiss' kappa, icc1) of repeats of the same prompts is asked for.

    Parameters
    ----------
    table : pl.DataFrame
        Of :func:`.of_requirement`.
    groups : sequence of str
        Columns that make a group.
    plans : mapping of tuple to Plan
        By the values of the groups' columns.
    confidence, then : float
        Of these intervals, and of those of the next look.

    Returns
    -------
    pl.DataFrame
        With ``more_questions`` and ``more_replications`` of what is undecided and has an interval;
        null where no number is enough.

    Examples
    --------
    >>> from judgerel_ray.analyses.gate.standing import COLUMNS
    >>> row = {"coefficient": "valid_rate", "reason": CROSSES, "value": 0.96, "low": 0.94,
    ...        "high": 0.98, "limit": 0.95, "baseline": None, "n_items": 100,
    ...        "n_compared": 100, "conditions": None}
    >>> told = pl.DataFrame([row], schema={name: COLUMNS[name] for name in row})
    >>> with_needs(told, [], {}, confidence=0.95, then=0.95)["more_questions"].item()
    293
    """
    needs = [
        _needs(row, plans.get(tuple(row[name] for name in groups)), confidence, then)
        for row in table.with_columns(planned=needs_a_plan()).iter_rows(named=True)
    ]
    return table.with_columns(
        pl.Series(name, [one.get(name) for one in needs], pl.Int64())
        for name in ("more_questions", "more_replications")
    )


def _needs(row: Row, plan: Plan | None, confidence: float, then: float) -> dict[str, int | None]:
    """What one row needs."""
    n = row["n_compared"] or row["n_items"]  # questions asked once, or without gold, do not count
    if row["reason"] != CROSSES or not isinstance(n, int) or n < _FEWEST:
        return {}
    value, limit, low, high = (float(str(row[name])) for name in ("value", "limit", "low", "high"))
    half = value - low if limit < value else high - value
    if (low if limit < value else high) in (0.0, 1.0):  # cut off there: it would reach farther
        half = max(value - low, high - value)
    way = abs(value - limit)
    if half <= 0:
        return {}
    each = half / t_quantile(n - 1, confidence)  # the standard error, on this side

    # Where every question comes out alike the interval is the exact one of as many questions.
    exact = row["coefficient"] in SHARES and value in (0.0, 1.0)
    alike = exact and row["baseline"] is None
    none_differs = exact and row["baseline"] is not None and high == _most_differ(n, confidence)
    # Of alpha it is that of agreement, as much wider as chance makes it.
    wider = 0.0
    if row["coefficient"] in OF_ALPHA and value == 1.0 and row["baseline"] is None:
        wider = (1 - low) / (1 - (clopper_pearson(n, n, confidence=confidence).low or 0.0))

    def by_questions(total: int) -> bool:
        if alike:
            ends = clopper_pearson(total if value else 0, total, confidence=then)
            low, high = ends.low or 0.0, 1.0 if ends.high is None else ends.high
            return limit <= low if value else high <= limit
        if none_differs:
            return _most_differ(total, then) <= abs(limit)
        if wider:
            least = clopper_pearson(total, total, confidence=then).low or 0.0
            return 1 - wider * (1 - least) >= limit
        return bool(t_quantile(total - 1, then) * each * (n / total) ** 0.5 <= way)

    found = {"more_questions": _more(by_questions, n, MOST_QUESTIONS)}
    precision = None if plan is None else plan.precision
    if plan is None or precision is None or not row["planned"]:
        return found
    m = max(_FEWEST, plan.n_replications)
    now = precision.standard_error(n_questions=n, n_replications=m)
    if now <= 0:
        return found

    def by_replications(total: int) -> bool:
        # The error that is there, as much smaller as the D-study says it becomes.
        error = precision.standard_error(n_questions=n, n_replications=total) / now * each
        return t_quantile(n - 1, then) * error <= _MARGIN * way

    return {**found, "more_replications": _more(by_replications, m, _MOST_REPLICATIONS)}


def _most_differ(n: int, confidence: float) -> float:
    """The largest share that may differ where of n questions none does."""
    high = clopper_pearson(0, n, confidence=confidence).high
    return 1.0 if high is None else high


def _more(enough: Callable[[int], bool], now: int, most: int) -> int | None:
    """How many more than now are enough, of a property that stays once it holds."""
    low, high = now, now + 1
    while not enough(high):
        low, high = high, now + 2 * (high - now)
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high - now
