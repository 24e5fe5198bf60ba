"""What it takes to reach a target: replications, prompts or questions, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import polars as pl

from judgerel_ray.analyses.advice.facets import Row
from judgerel_ray.analyses.advice.panel_worth import VOTES
from judgerel_ray.analyses.advice.plans import (
    APART,
    COST_COLUMNS,
    LEVEL_COLUMNS,
    QUESTIONS,
    SAME,
    Plan,
    lever_levels,
    levers,
    objects,
    varied,
)
from judgerel_ray.analyses.reliability.tolerance import FAILS, MEETS, UNDECIDED
from judgerel_ray.counting.verdicts.policy import REPEATABILITY, REPRODUCIBILITY
from judgerel_ray.stats.generalizability.dstudy import Dependability, judgments_for
from judgerel_ray.stats.intervals.precision import AlphaPrecision, t_quantile

TARGETS: Mapping[str, float] = {
    "generalizability": 0.9,
    "dependability": 0.9,
    "majority_stability": 0.95,
    "interval_width": 0.1,
}
"""What can be aimed at, and the default aim."""
_OF_MEANS = ("generalizability", "dependability")
_MOST_JUDGMENTS = 100_000
NEED_COLUMNS = {
    "target": pl.String(), "wanted": pl.Float64(), "now": pl.Float64(), "standing": pl.String(),
    "lever": pl.String(), "facets": pl.String(), **LEVEL_COLUMNS,
    "needed": pl.Float64(), "needed_whole": pl.Int64(),
    "needed_cautious": pl.Int64(), "unreachable": pl.String(), **COST_COLUMNS,
    "conditions": pl.String(),
}  # fmt: skip


def need_rows(plan: Plan, targets: Mapping[str, float]) -> Iterator[Row]:
    """Compute what it takes to reach each target.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.plans import Costs
    >>> from judgerel_ray.analyses.advice.facets import facet_groups
    >>> from judgerel_ray.analyses.advice.plans import make_plan
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "score": [1.0, 3.0, 5.0, 5.0]}
    >>> plan = make_plan(next(facet_groups(pl.LazyFrame(rows))), Costs())
    >>> [round(row["needed"], 6) for row in need_rows(plan, {"generalizability": 0.9})]
    [2.25]
    """
    for name, wanted in targets.items():
        of_means = name in _OF_MEANS and varied(plan.group)
        basis = {
            **dict.fromkeys(NEED_COLUMNS), "target": name, "wanted": wanted,
            "conditions": REPRODUCIBILITY if of_means else REPEATABILITY,
        }  # fmt: skip
        if plan.undefined:
            yield {**basis, "unreachable": plan.undefined}
        elif name in _OF_MEANS:
            yield from _mean_needs(plan, basis, wanted, absolute=name == "dependability")
        elif name == "majority_stability" and plan.group.kind == "labels":
            yield _vote_need(plan, basis, wanted)
        elif name == "interval_width" and plan.precision is not None:
            yield from _width_needs(plan, plan.precision, basis, wanted)
        elif name == "interval_width":
            yield {**basis, "lever": QUESTIONS, "unreachable": "single_replication"}


def _mean_needs(plan: Plan, basis: Row, wanted: float, *, absolute: bool) -> Iterator[Row]:
    """Judgments of a question that a mean needs."""
    if absolute and not varied(plan.group):
        return  # nothing but replications: the same as generalizability
    for lever in levers(plan):
        needed, whole = _judgments(plan, lever, wanted, absolute=absolute)
        cautious = _smallest(partial(_reaches, plan, lever, wanted, absolute=absolute))
        if cautious and lever == APART:
            cautious = plan.spread(cautious).n_judgments
        prompts = plan.spread(whole or 1).n_prompts if lever == APART else 1
        spent = plan.spent(
            n_prompts=plan.group.n_things * prompts, n_replications=(whole or 0) / prompts
        )
        now = _now(plan, lever)
        value, low, high = _of_mean(now, absolute=absolute)
        yield {
            **basis,
            "lever": lever,
            **lever_levels(plan, lever, whole),
            "now": value,
            "standing": _standing(low, high, wanted),
            "needed": needed,
            "needed_whole": whole,
            "needed_cautious": cautious,
            "unreachable": None if whole else _why(plan, lever),
            **(spent if whole else {}),
        }


def _now(plan: Plan, lever: str) -> Dependability:
    """What the judgments there are come to: those of one prompt, or all as they are spread."""
    if lever == SAME:
        return plan.mean_of(plan.n_replications, SAME)
    levels = {name: plan.group.levels[name] for name in varied(plan.group)}
    return plan.mean_at(plan.n_replications * math.prod(levels.values()), levels)


def _judgments(
    plan: Plan, lever: str, wanted: float, *, absolute: bool
) -> tuple[float | None, int | None]:
    """Judgments that a mean needs, as a fraction and as they can be bought."""
    aim = partial(
        judgments_for, plan.group.found, wanted, absolute=absolute,
        objects=objects(plan.group), fixed=plan.group.chosen,
    )  # fmt: skip
    if lever == SAME or not plan.group.found.sizes:
        needed = aim(apart=varied(plan.group) if lever == APART else ())
        return needed, None if needed is None else max(1, int(np.ceil(needed - 1e-9)))

    def enough(n: int) -> bool:
        one = plan.mean_of(n, APART)
        value, *_ = _of_mean(one, absolute=absolute)
        return value is not None and value >= wanted - 1e-12

    least = _smallest(enough)
    if least is None:
        return None, None
    spread = plan.spread(least)
    if spread.exhausted:
        apart = [name for name in varied(plan.group) if name not in spread.sizes]
        return aim(apart=apart, n_levels=spread.exhausted), spread.n_judgments
    if len(spread.sizes) == 1:
        return aim(apart=varied(plan.group)), spread.n_judgments
    return float(spread.n_judgments), spread.n_judgments  # a fraction of crossed levels is none


def _why(plan: Plan, lever: str) -> str:
    """Why no number of judgments reaches a target."""
    if lever == APART and plan.group.found.sizes and levers(plan) == (APART,):
        return "asked once at each level: what levels do is not told from chance"
    if plan.mean_of(1, SAME).universe <= 0:
        return "questions do not differ more than chance"
    stays = [name for name in varied(plan.group) if lever == SAME]
    return f"the error of one {' and '.join(stays) or 'facet'} stays"


def _of_mean(
    one: Dependability, *, absolute: bool
) -> tuple[float | None, float | None, float | None]:
    """A mean's dependability, or its generalizability, with the interval."""
    if absolute:
        return one.dependability, one.dependability_low, one.dependability_high
    return one.generalizability, one.low, one.high


def _reaches(plan: Plan, lever: str, wanted: float, n: int, *, absolute: bool) -> bool:
    """Whether the low end of what a mean of n is worth does."""
    _, low, _ = _of_mean(plan.mean_of(n, lever), absolute=absolute)
    return low is not None and low >= wanted


def _vote_need(plan: Plan, basis: Row, wanted: float) -> Row:
    """Votes that a majority is sure to need at most: by its lower limit, not by an estimate."""
    votes = plan.votes
    if not votes.is_known:
        return {**basis, "lever": SAME, "unreachable": "single_replication"}
    now, k = votes.stability(min(plan.n_replications, VOTES[-1])), votes.needed(wanted)
    spent = plan.spent(n_prompts=plan.group.n_things, n_replications=k or 0)
    return {
        **basis,
        "lever": SAME,
        "now": now.agreement,
        "standing": None if now.low is None else _standing(now.low, now.high, wanted),
        "needed": k,
        "needed_whole": k,
        "needed_cautious": k,
        "unreachable": None if k else votes.unreachable(wanted),
        **(spent if k else {}),
    }


def _width_needs(plan: Plan, precision: AlphaPrecision, basis: Row, wanted: float) -> Iterator[Row]:
    """Questions, or replications, that alpha's interval needs."""
    n, m = plan.group.found.n_questions, max(2, plan.n_replications)

    def width(replications: int) -> float:
        error = precision.standard_error(n_questions=n, n_replications=replications)
        return 2 * t_quantile(n - 1, 0.95) * error

    known = {**basis, "now": width(m)}
    questions = precision.questions_for(wanted, n_replications=m)
    prompts = (questions or 0) * plan.units_per_question
    spent = plan.spent(n_prompts=prompts, n_replications=m)
    yield {
        **known, "lever": QUESTIONS, "needed": questions, "needed_whole": questions,
        "unreachable": None if questions else "not within 10^9 questions",
        **(spent if questions else {}),
    }  # fmt: skip
    more = _smallest(lambda k: k >= 2 and width(k) <= wanted)
    spent = plan.spent(n_prompts=n * plan.units_per_question, n_replications=more or 0)
    yield {
        **known, "lever": SAME, "needed": more, "needed_whole": more,
        "unreachable": None if more else "too few questions, however often they are asked",
        **(spent if more else {}),
    }  # fmt: skip


def _standing(low: float | None, high: float | None, wanted: float) -> str:
    """Where the interval lies; the point alone decides nothing."""
    if low is not None and low >= wanted:
        return MEETS
    return FAILS if high is not None and high < wanted else UNDECIDED


def _smallest(enough: Callable[[int], bool]) -> int | None:
    """The smallest number that is enough, of a property that stays once it holds."""
    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST_JUDGMENTS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
