"""What to buy: variance components, what more judgments are worth, and what targets take.

A target is reached by more replications, prompts or questions; each way has a cost in judgments.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

import numpy as np
import polars as pl

from judgerel_ray.analyses.advice.facets import (
    FacetGroup,
    Populations,
    Row,
    component_rows,
    facet_groups,
    key_schema,
)
from judgerel_ray.analyses.advice.panel_worth import VOTES, Reason, Unreachable, panel_table
from judgerel_ray.analyses.advice.plans import (
    APART,
    QUESTIONS,
    SAME,
    Budget,
    Costs,
    GroupPlan,
    design_rows,
    lever_levels,
    levers,
    make_plan,
    measured_costs,
    objects,
    split_rows,
    varied,
)
from judgerel_ray.analyses.advice.tables import TABLES
from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core import SweepError
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.errors import warn_of
from judgerel_ray.core.progress import fewer_groups, under_way
from judgerel_ray.counting.tie_labels import placed
from judgerel_ray.counting.verdicts.places import by_place
from judgerel_ray.counting.verdicts.policy import REPEATABILITY, REPRODUCIBILITY
from judgerel_ray.measuring.order_effects import read_places
from judgerel_ray.measuring.reliability import FAILS, MEETS, UNDECIDED
from judgerel_ray.stats.generalizability.dstudy import Dependability, judgments_for
from judgerel_ray.stats.intervals.ends import t_quantile
from judgerel_ray.stats.intervals.precision import AlphaPrecision, smallest_enough


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Advice(Shown):
    """Five tables, each with the columns of the groups first.

    Attributes
    ----------
    components, designs, needs, splits, panel : pl.DataFrame
        As :mod:`judgerel_ray.analyses.advice.tables` says.
    """

    components: pl.DataFrame
    designs: pl.DataFrame
    needs: pl.DataFrame
    splits: pl.DataFrame
    panel: pl.DataFrame


def advise_judgments(
    frame: pl.LazyFrame,
    *,
    target: Mapping[str, float] | None = None,
    budget: Budget | None = None,
    costs: Mapping[str, float] | None = None,
    by: Sequence[str] | None = None,
    nested: Sequence[str] = (),
    populations: Populations | None = None,
) -> Advice:
    """Tell how many replications, prompts, questions and judges a target takes.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "score": [1.0, 3.0, 5.0, 5.0]}
    >>> advice = advise_judgments(pl.LazyFrame(rows), target={"generalizability": 0.9})
    >>> advice.needs.select("target", "lever", "needed_whole").rows()
    [('generalizability', 'replications', 3)]
    """
    targets = checked_targets(TARGETS if target is None else target)
    frame = read_by_place(frame, populations)
    groups = tuple(facet_groups(frame, by=by, nested=nested, populations=populations))
    keys = key_schema(groups)
    measured = measured_costs(frame, tuple(keys), gpu_seconds=costs)
    tables: dict[str, list[Row]] = {name: [] for name in _TABLES}
    hint = fewer_groups(keys)
    rows_of: dict[object, int] = {}
    numbers = []
    for group in under_way(groups, of=len(groups), what="plans", hint=hint):
        cost = measured.get(tuple(group.key.values()), Costs())
        alike = (id(group.found), cost)  # groups are held, so that no other has the number
        if alike not in rows_of:
            rows_of[alike] = len(rows_of)
            for name, rows in _group_rows(group, cost, targets, budget):
                tables[name].extend({_NUMBER: rows_of[alike], **row} for row in rows)
        numbers.append(rows_of[alike])
    named = {name: [group.key[name] for group in groups] for name in keys}
    all_groups = pl.DataFrame({**named, _NUMBER: numbers}, schema={**keys, _NUMBER: pl.Int64()})
    found = {
        name: all_groups.join(
            schema.frame(tables[name], {_NUMBER: pl.Int64()}),
            on=_NUMBER,
            maintain_order="left_right",
        ).drop(_NUMBER)
        for name, schema in _TABLES.items()
    }
    return Advice(**found, panel=panel_table(frame, by=by))


def _group_rows(
    group: FacetGroup, costs: Costs, targets: Mapping[str, float], budget: Budget | None
) -> Iterator[tuple[str, Iterator[Row]]]:
    """Rows of one group, by table."""
    yield "components", component_rows(group)
    # Replies without a verdict do not tell what more would be worth, and more repeats of
    # temperature 0 buy nothing that a judge could give.
    if group.greedy == Flag.SERVING_NOISE or group.replies.are_few:
        return
    plan = make_plan(group, costs)
    if budget is not None and plan.costs.rates(budget.unit) is None:
        raise SweepError(
            f"a budget in {budget.unit} needs what a judgment costs in them, "
            f"which was not measured",
            where=group.key,
            hint="give the budget in judgments",
        )
    yield "designs", design_rows(plan)
    yield "needs", need_rows(plan, targets)
    yield "splits", split_rows(plan, budget)


def read_by_place(frame: pl.LazyFrame, populations: Populations | None) -> pl.LazyFrame:
    """Read the labels of judgments, and take them by the place chosen where each has its own menu.

    Where facets were declared (`populations`), labels were read then.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "verdict": ["A", "B"]})
    >>> read_by_place(rows, None).collect()["verdict"].to_list()
    ['A', 'B']
    """
    if populations is None:
        read = placed(frame)
        warn_of(read.notes)
        frame = read.rows
    places = read_places(frame, frame.collect_schema().names())
    return by_place(frame, places) if places and places.item_menus else frame


def checked_targets(target: Mapping[str, float]) -> Mapping[str, float]:
    """Refuse targets that are unknown or out of their range, or none (SweepError).

    Examples
    --------
    >>> checked_targets({"interval_width": 0.1})
    {'interval_width': 0.1}
    """
    if not target:
        raise SweepError(f"no target given, expected some of {', '.join(TARGETS)}")
    for name, value in target.items():
        if name not in TARGETS:
            near = get_close_matches(name, TARGETS, n=1)
            raise SweepError(
                f"unknown target {name!r}, expected one of {', '.join(TARGETS)}",
                hint=f"{near[0]}={value:g}" if near else None,
            )
        most = 2 if name == "interval_width" else 1
        if not 0 < value < most:
            raise SweepError(f"target {name} must be between 0 and {most}, got {value:g}")
    return target


TARGETS: Mapping[str, float] = {
    "generalizability": 0.9,
    "dependability": 0.9,
    "majority_stability": 0.95,
    "interval_width": 0.1,
}
"""What can be aimed at, and the default aim."""
_OF_MEANS = ("generalizability", "dependability")
_MOST_JUDGMENTS = 100_000
_NUMBER = "__number"
_TABLES = {name: schema for name, schema in TABLES["advise"].items() if name != "panel"}


def need_rows(plan: GroupPlan, targets: Mapping[str, float]) -> Iterator[Row]:
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
            "target": name, "wanted": wanted,
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


def _mean_needs(plan: GroupPlan, basis: Row, wanted: float, *, absolute: bool) -> Iterator[Row]:
    """Judgments of a question that a mean needs."""
    if absolute and not varied(plan.group):
        return  # nothing but replications: the same as generalizability
    for lever in levers(plan):
        needed, whole = _advice_on_judgments(plan, lever, wanted, absolute=absolute)
        enough = partial(_advice_reaches_target, plan, lever, wanted, absolute=absolute)
        cautious = smallest_enough(enough, most=_MOST_JUDGMENTS)
        if cautious and lever == APART:
            cautious = plan.spread(cautious).n_judgments
        prompts = plan.spread(whole or 1).n_prompts if lever == APART else 1
        spent = plan.spent(
            n_prompts=plan.group.n_things * prompts, n_replications=(whole or 0) / prompts
        )
        now = _advice_on_judgments_now(plan, lever)
        value, low, high = _advised_dependability(now, absolute=absolute)
        yield {
            **basis,
            "lever": lever,
            **lever_levels(plan, lever, whole),
            "now": value,
            "standing": _standing_in_advice(low, high, wanted),
            "needed": needed,
            "needed_whole": whole,
            "needed_cautious": cautious,
            **(spent if whole else _why_advice_is_none(plan, lever).columns()),
        }


def _advice_on_judgments_now(plan: GroupPlan, lever: str) -> Dependability:
    """What the judgments there are come to: those of one prompt, or all as they are spread."""
    if lever == SAME:
        return plan.mean_of(plan.n_replications, SAME)
    levels = {name: plan.group.levels[name] for name in varied(plan.group)}
    return plan.mean_at(plan.n_replications * math.prod(levels.values()), levels)


def _advice_on_judgments(
    plan: GroupPlan, lever: str, wanted: float, *, absolute: bool
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
        value, *_ = _advised_dependability(one, absolute=absolute)
        return value is not None and value >= wanted - 1e-12

    least = smallest_enough(enough, most=_MOST_JUDGMENTS)
    if least is None:
        return None, None
    spread = plan.spread(least)
    if spread.exhausted:
        apart = [name for name in varied(plan.group) if name not in spread.sizes]
        return aim(apart=apart, n_levels=spread.exhausted), spread.n_judgments
    if len(spread.sizes) == 1:
        return aim(apart=varied(plan.group)), spread.n_judgments
    return float(spread.n_judgments), spread.n_judgments  # a fraction of crossed levels is none


def _why_advice_is_none(plan: GroupPlan, lever: str) -> Reason:
    """Why no number of judgments reaches a target."""
    if lever == APART and plan.group.found.sizes and levers(plan) == (APART,):
        return Reason(unreachable=Unreachable.LEVELS_ASKED_ONCE)
    if plan.mean_of(1, SAME).universe <= 0:
        return Reason(unreachable=Unreachable.QUESTIONS_ALIKE)
    stays = [name for name in varied(plan.group) if lever == SAME]
    return Reason(unreachable=Unreachable.ERROR_STAYS, error_of=", ".join(stays) or None)


def _advised_dependability(
    one: Dependability, *, absolute: bool
) -> tuple[float | None, float | None, float | None]:
    """A mean's dependability, or its generalizability, with the interval."""
    if absolute:
        return one.dependability, one.dependability_low, one.dependability_high
    return one.generalizability, one.low, one.high


def _advice_reaches_target(
    plan: GroupPlan, lever: str, wanted: float, n: int, *, absolute: bool
) -> bool:
    """Whether the low end of what a mean of n is worth does."""
    _, low, _ = _advised_dependability(plan.mean_of(n, lever), absolute=absolute)
    return low is not None and low >= wanted


def _vote_need(plan: GroupPlan, basis: Row, wanted: float) -> Row:
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
        "standing": None if now.low is None else _standing_in_advice(now.low, now.high, wanted),
        "needed": k,
        "needed_whole": k,
        "needed_cautious": k,
        **(spent if k else votes.unreachable(wanted).columns()),
    }


def _width_needs(
    plan: GroupPlan, precision: AlphaPrecision, basis: Row, wanted: float
) -> Iterator[Row]:
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
        **(spent if questions else Reason(unreachable=Unreachable.TOO_MANY_QUESTIONS).columns()),
    }  # fmt: skip
    more = smallest_enough(lambda k: k >= 2 and width(k) <= wanted, most=_MOST_JUDGMENTS)
    spent = plan.spent(n_prompts=n * plan.units_per_question, n_replications=more or 0)
    yield {
        **known, "lever": SAME, "needed": more, "needed_whole": more,
        **(spent if more else Reason(unreachable=Unreachable.TOO_FEW_QUESTIONS).columns()),
    }  # fmt: skip


def _standing_in_advice(low: float | None, high: float | None, wanted: float) -> str:
    """Where the interval lies; the point alone decides nothing."""
    if low is not None and low >= wanted:
        return MEETS
    return FAILS if high is not None and high < wanted else UNDECIDED
