"""Whether the whole confidence interval meets or misses a requirement, group by group.

What is open names what would decide it: how many questions or replications the interval needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import polars as pl

from judgerel_ray.analyses.advice.plans import GroupPlan
from judgerel_ray.analyses.gate.requirement import Requirement
from judgerel_ray.analyses.gate.tables import Requirements
from judgerel_ray.core import SweepError, printable
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.text import closest
from judgerel_ray.counting.files.source import quote_names
from judgerel_ray.counting.verdicts.policy import NEEDS_NOMINAL, REPEATABILITY
from judgerel_ray.measuring.lead_codes import LeadCode, lead_parts, leads
from judgerel_ray.measuring.reliability import FAILS, MEETS, is_share, standing
from judgerel_ray.stats import COEFFICIENTS, clopper_pearson
from judgerel_ray.stats.agreement.agreement import KAPPAS, declaration
from judgerel_ray.stats.intervals.ends import t_quantile
from judgerel_ray.stats.intervals.shares import difference_ends

Row = Mapping[str, Any]  # of a frame
OF_ALPHA = tuple(
    name for name in COEFFICIENTS if (of := declaration(name)) is not None and of.is_nominal_alpha
)
"""Coefficients that are 1 less disagreement over that by chance."""
AGREEMENT = "percent_agreement"
_OF_REPLIES = ("valid_rate", "accuracy", "majority_accuracy", *KAPPAS, "swap_consistency",
               "place_consistency", "position_bias", "first_place", "order_effect")  # fmt: skip
"""Coefficients that say something of a judge with a habit, too."""
HABITS = (LeadCode.ONE_ANSWER.value, LeadCode.ONE_PLACE.value, LeadCode.FOLLOWS_PLACE.value)
"""What leads a group whose agreement says nothing of its judgment."""
WITHIN = Flag.WITHIN_PROMPT.value
"""Of agreement that compares judgments of one prompt, where several were asked."""
NO_SPREAD = "no_spread"
"""Of a drop: no question differs from another."""
_FEWEST = 2
CROSSES, AT_LIMIT = "interval_crosses_limit", "value_at_limit"
ALONE = "repeatability_alone"
"""Of a judge that was asked the same prompt again: whether it judges is not known."""
KNOWN = "reproducibility known"
"""The requirement that is open then, in a row of its own."""


LOOK_ALPHA = 0.05
"""What all looks at growing data may err with."""


def alpha_at(look: int) -> float:
    """Give the error that a look may spend.

    Examples
    --------
    >>> [round(alpha_at(k), 4) for k in (1, 2, 5)], round(sum(map(alpha_at, range(1, 10_000))), 4)
    ([0.0304, 0.0076, 0.0012], 0.05)
    """
    return 6 * LOOK_ALPHA / (math.pi * look) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLook:
    """One look."""

    number: int = 1  # Which it is, from 1 on.
    confidence: float = 1 - LOOK_ALPHA
    ledger: str | None = None  # Where looks are counted; without, this is the only one.
    # Whether all of it was looked at before, and nothing newer was: that is no look more.
    again: bool = False
    n_judgments: int = 0

    @property
    def next_confidence(self) -> float:
        """Confidence of the look that would follow."""
        return self.confidence if self.ledger is None else 1 - alpha_at(self.number + 1)


class Verdict(StrEnum):
    """What a gate says."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


def overall(verdicts: Sequence[str]) -> Verdict:
    """One verdict of all: FAIL where any fails, else INCONCLUSIVE where any is, else PASS.

    Examples
    --------
    >>> overall(["PASS", "INCONCLUSIVE"]).value, overall(["PASS", "INCONCLUSIVE", "FAIL"]).value
    ('INCONCLUSIVE', 'FAIL')
    """
    return next(
        (one for one in (Verdict.FAIL, Verdict.INCONCLUSIVE) if one in verdicts), Verdict.PASS
    )


def of_requirement(
    asked: Requirement, table: pl.DataFrame, groups: Sequence[str], confidence: float
) -> pl.DataFrame:
    """Judge the groups of a table by one requirement.

    The groups, and the columns of `Requirements`. What leads is judged: reproducibility where it is
    known; agreement of a judge with a habit (`HABITS`) meets nothing, nor does that within one
    prompt where several were asked (`WITHIN`). Intervals are those of the table, which `reduce`
    prints; that of a drop in a share is wider, as :func:`.difference_ends` has it.

    Examples
    --------
    >>> rows = pl.DataFrame({"judge": ["a", "b"], "coefficient": ["valid_rate"] * 2,
    ...                      "missing": ["category"] * 2, "measurement": ["nominal"] * 2,
    ...                      "value": [0.99, 0.96], "low": [0.97, 0.94], "high": [1.0, 0.98],
    ...                      "n_compared": [90] * 2, "interval_method": ["posterior"] * 2,
    ...                      "undefined": [None] * 2})
    >>> from judgerel_ray.analyses.gate.requirement import requirement
    >>> found = of_requirement(requirement("valid_rate >= .95"), rows, ["judge"], 0.95)
    >>> found.select("judge", "verdict", "reason").rows()
    [('a', 'PASS', None), ('b', 'INCONCLUSIVE', 'interval_crosses_limit')]
    """
    rows = table.filter(pl.col("coefficient") == asked.name)
    if asked.against is None:
        rows = rows.filter(leads(rows))
    rows = _rows_of_requirement(asked, rows, groups)
    kept = [name for name in groups if name in rows.columns]
    # A reply without a verdict has no place on a scale of numbers: the row without such is there.
    either = pl.col("undefined").ne_missing(NEEDS_NOMINAL)
    rows = rows.filter(either | ~either.any().over(kept or pl.lit(0)))
    if rows.is_empty():
        raise SweepError(
            "no group of judgments matches the requirement",
            where={"require": asked.text},
            hint="judgerel reduce lists groups, and judgerel reduce --coefficient their rows",
        )
    if asked.against is not None:
        rows = _gate_difference_rows(rows)
        ends = [_ends_of_a_drop(row, confidence) for row in rows.iter_rows(named=True)]
        rows = rows.with_columns(
            pl.Series("low", [low for low, _ in ends], pl.Float64()),
            pl.Series("high", [high for _, high in ends], pl.Float64()),
        )
    standings = standing(rows, pl.lit(asked.limit), at_most=pl.lit(asked.at_most))
    rows = rows.with_columns(
        pl.lit(asked.text).alias("requirement"),
        pl.lit(asked.at_most).alias("at_most"),
        pl.lit(asked.limit).alias("limit"),
        pl.when(_gate_rows_of_sampling(rows))
        .then(standings)
        .otherwise(pl.lit(""))
        .alias("__standing"),
    )
    # A judge of one answer, or of one place, agrees with itself whatever it is asked.
    says_nothing = (pl.col("__standing") == MEETS) & (
        _gate_rows_of_habit(rows) | _gate_rows_within_prompt(rows)
    )
    rows = rows.with_columns(__standing=pl.when(says_nothing).then(None).otherwise("__standing"))
    known = {MEETS: Verdict.PASS.value, FAILS: Verdict.FAIL.value}
    found = [
        {
            **{name: row[name] for name in kept},
            **{name: row.get(name) for name in Requirements.columns},
            "verdict": known.get(row["__standing"], Verdict.INCONCLUSIVE.value),
            "reason": None if row["__standing"] in known else _why_requirement_open(row),
        }
        for row in rows.iter_rows(named=True)
    ]
    keys = {name: rows.schema[name] for name in kept}
    return Requirements.frame(found, keys)


def _rows_of_requirement(
    asked: Requirement, rows: pl.DataFrame, groups: Sequence[str]
) -> pl.DataFrame:
    """The rows that match the requirement."""
    found = rows
    for name, value in asked.where.items():
        if name not in groups or name not in rows.columns:
            raise SweepError(
                f"where names no column of the groups: {name!r}, expected one of "
                f"{', '.join(groups) or 'none, as there is one group'}",
                where={"require": asked.text},
                hint=f"--by {','.join((*groups, name))}",
            )
        number = _requirement_number(value) if rows.schema[name].is_numeric() else None
        same = (
            pl.col(name) == number if number is not None else pl.col(name).cast(pl.String) == value
        )
        there, found = found, found.filter(same.fill_null(False))
        if found.is_empty() and there.height:
            known = [str(one) for one in there[name].drop_nulls().unique().sort()]
            raise SweepError(
                f"no group has {name} {value!r}, expected one of {printable(quote_names(known))}",
                where={"require": asked.text},
                hint=closest(value, known),
            )
    return found


def _requirement_number(text: str) -> float | None:
    """A number, where it is one."""
    try:
        return float(text)
    except ValueError:
        return None


def _gate_difference_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of differences with the columns that those of coefficients have."""
    few = pl.col("reason") == LeadCode.FEW_VERDICTS.value
    return rows.with_columns(
        pl.col("difference").alias("value"),
        pl.col("value_b").alias("baseline"),
        pl.when(few).then(pl.lit(LeadCode.FEW_VERDICTS.value)).otherwise("lead").alias("lead"),
        pl.col("n_judgments_a").alias("n_judgments"),
        pl.col("n_items").alias("n_compared"),
    )


def _ends_of_a_drop(row: Row, confidence: float) -> tuple[float | None, float | None]:
    """The interval of a drop; of a share as if one question more had differed wholly.

    Where no question differs it is the exact one: no mean is more than the share that differ.
    """
    low, high, n = row["low"], row["high"], row["n_items"]
    interval = None if low is None or high is None else (low, high)
    error = row.get("standard_error")
    if error is None and interval is not None and n is not None and n >= _FEWEST:
        error = (interval[1] - interval[0]) / 2 / t_quantile(n - 1, confidence)
    elif error is None and row["undefined"] == NO_SPREAD:
        error = 0.0
    if not is_share(row["coefficient"]) or n is None or error is None:
        return interval or (None, None)
    value = row["value"]
    most = clopper_pearson(0, n, confidence=confidence).high
    if value == error == 0 and most is not None:
        return -most, most
    ends = [
        difference_ends(value, error, n, confidence=confidence),
        *([interval] if interval else []),
    ]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _gate_rows_of_sampling(rows: pl.DataFrame) -> pl.Expr:
    """Tell rows that say something of a judge, and not how steady a server is."""
    if "flags" not in rows.columns:
        return pl.lit(True)
    noise = pl.col("flags").list.contains(Flag.SERVING_NOISE.value).fill_null(False)
    return ~noise | pl.col("coefficient").is_in(["valid_rate", "accuracy", "majority_accuracy"])


def _gate_rows_of_habit(rows: pl.DataFrame) -> pl.Expr:
    """Tell agreement of groups that lead with a habit."""
    if "lead" not in rows.columns:
        return pl.lit(False)
    habits = [one for one in rows["lead"].drop_nulls().unique() if lead_parts(one)[0] in HABITS]
    return pl.col("lead").is_in(habits).fill_null(False) & ~pl.col("coefficient").is_in(_OF_REPLIES)


def _gate_rows_within_prompt(rows: pl.DataFrame) -> pl.Expr:
    """Tell agreement within one prompt, where several were asked."""
    if "flags" not in rows.columns:
        return pl.lit(False)
    return pl.col("flags").list.contains(WITHIN).fill_null(False)


def _why_requirement_open(row: Row) -> str:
    """Why nothing is decided, as a code."""
    if row["__standing"] == "":
        return Flag.SERVING_NOISE.value
    if row.get("lead") == LeadCode.FEW_VERDICTS.value and row["coefficient"] != "valid_rate":
        return LeadCode.FEW_VERDICTS.value
    code, _ = lead_parts(row.get("lead"))
    if code in HABITS and row["coefficient"] not in _OF_REPLIES:
        return code
    if WITHIN in (row.get("flags") or ()):
        return WITHIN
    if row["undefined"] and row["low"] is None:
        return str(row["undefined"])
    if row["low"] is None:
        return str(row.get("no_interval") or "no_interval")
    return AT_LIMIT if row["value"] == row["limit"] else CROSSES


MOST_QUESTIONS = 100_000
"""More are no advice: the value is at the limit, as far as anybody will ask."""
_MOST_REPLICATIONS = 1_000
_MARGIN = 0.7
"""Of the way to the limit, what an interval over more replications may reach: values that came out
far from the limit move back to it, and the D-study's own error is large. With the whole way a
decision followed in 27 % of simulated cases, with .7 of it in 47 %."""


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
    plans: Mapping[tuple[object, ...], GroupPlan],
    *,
    confidence: float,
    then: float,
) -> pl.DataFrame:
    """Say what more would decide, should the value stay where it is.

    The half of the interval towards the limit must become shorter than the way there. It goes
    with Student's t over the root of the questions, as every interval by question does; with
    replications of the same questions as the D-study of `judgerel advise` takes alpha's error
    apart, where alpha (Fleiss' kappa, icc1) of repeats of the same prompts is asked for.

    With ``more_questions`` and ``more_replications`` of what is undecided and has an interval; null
    where no number is enough.

    Examples
    --------
    >>> row = {"coefficient": "valid_rate", "reason": CROSSES, "value": 0.96, "low": 0.94,
    ...        "high": 0.98, "limit": 0.95, "baseline": None, "n_items": 100,
    ...        "n_compared": 100, "conditions": None}
    >>> told = pl.DataFrame([row], schema={name: Requirements.dtypes[name] for name in row})
    >>> with_needs(told, [], {}, confidence=0.95, then=0.95)["more_questions"].item()
    293
    """
    needs = [
        _requirement_row_needs(
            row, plans.get(tuple(row[name] for name in groups)), confidence, then
        )
        for row in table.with_columns(planned=needs_a_plan()).iter_rows(named=True)
    ]
    return table.with_columns(
        pl.Series(name, [one.get(name) for one in needs], pl.Int64())
        for name in ("more_questions", "more_replications")
    )


def _requirement_row_needs(
    row: Row, plan: GroupPlan | None, confidence: float, then: float
) -> dict[str, int | None]:
    """What one row needs."""
    n = row["n_compared"] or row["n_items"]  # questions asked once, or without gold, do not count
    if row["reason"] != CROSSES or n is None or n < _FEWEST:
        return {}
    value, limit, low, high = (float(row[name]) for name in ("value", "limit", "low", "high"))
    half = value - low if limit < value else high - value
    if (low if limit < value else high) in (0.0, 1.0):  # cut off there: it would reach farther
        half = max(value - low, high - value)
    way = abs(value - limit)
    if half <= 0:
        return {}
    each = half / t_quantile(n - 1, confidence)  # the standard error, on this side

    # Where every question comes out alike the interval is the exact one of as many questions.
    exact = is_share(row["coefficient"]) and value in (0.0, 1.0)
    alike = exact and row["baseline"] is None
    none_differs = (
        exact and row["baseline"] is not None and high == _gate_most_that_differ(n, confidence)
    )
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
            return _gate_most_that_differ(total, then) <= abs(limit)
        if wider:
            least = clopper_pearson(total, total, confidence=then).low or 0.0
            return 1 - wider * (1 - least) >= limit
        return bool(t_quantile(total - 1, then) * each * (n / total) ** 0.5 <= way)

    found = {"more_questions": _more_the_gate_needs(by_questions, n, MOST_QUESTIONS)}
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

    return {
        **found,
        "more_replications": _more_the_gate_needs(by_replications, m, _MOST_REPLICATIONS),
    }


def _gate_most_that_differ(n: int, confidence: float) -> float:
    """The largest share that may differ where of n questions none does."""
    high = clopper_pearson(0, n, confidence=confidence).high
    return 1.0 if high is None else high


def _more_the_gate_needs(enough: Callable[[int], bool], now: int, most: int) -> int | None:
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
