"""One group of judgments to plans: what more judgments, prompts and questions would buy.

Ways to split a budget between questions and replications.

Judgments spread over the levels of facets, as they can be bought.

A level is one of a known number (half of the judgments in each order of a pair) or new each time.

What judgments cost: in judgments, tokens and GPU-seconds, as far as it was measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from judgerel_ray.analyses.advice.facets import QUESTION, FacetGroup, Row
from judgerel_ray.analyses.advice.panel_worth import Voting
from judgerel_ray.core import SweepError
from judgerel_ray.core.tables import as_columns
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.verdicts.policy import REPEATABILITY
from judgerel_ray.stats.generalizability.component import RESIDUAL
from judgerel_ray.stats.generalizability.dstudy import Dependability, budget_splits, dependability
from judgerel_ray.stats.intervals.mixing import supported_shares
from judgerel_ray.stats.intervals.precision import AlphaPrecision, alpha_precision

Unit = Literal["judgments", "tokens", "gpu_seconds"]
UNITS: tuple[Unit, ...] = ("judgments", "tokens", "gpu_seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Cost of one judgment."""

    # Tokens of its prompt. The replications of one prompt share it, so it is paid once for them.
    prompt_tokens: float | None = None
    completion_tokens: float | None = None  # Tokens of its reply.
    # GPU time, prompt and reply together: a run measures no finer.
    gpu_seconds: float | None = None

    def total(self, unit: Unit, *, n_prompts: float, n_replications: float) -> float | None:
        """Compute what some prompts with some replications each come to; None where not measured.

        Examples
        --------
        >>> costs = Costs(prompt_tokens=500.0, completion_tokens=20.0)
        >>> costs.total("tokens", n_prompts=10, n_replications=3)
        5600.0
        >>> costs.total("judgments", n_prompts=10, n_replications=3)
        30
        """
        rates = self.rates(unit)
        return None if rates is None else n_prompts * (rates[0] + n_replications * rates[1])

    def rates(self, unit: Unit) -> tuple[float, float] | None:
        """Tell the cost of a prompt and that of each replication; None where not measured.

        Examples
        --------
        >>> Costs(gpu_seconds=0.5).rates("gpu_seconds"), Costs().rates("tokens")
        ((0, 0.5), None)
        """
        if unit == "judgments":
            return 0, 1
        if unit == "gpu_seconds":
            return None if self.gpu_seconds is None else (0, self.gpu_seconds)
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens, self.completion_tokens


_MOST_SPENT = 1e12  # every way to split a budget is looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What may be spent on one group of judgments."""

    amount: float
    unit: Unit = "judgments"

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise SweepError(f"a budget is in {', '.join(UNITS)}, got {self.unit!r}")
        if not 0 < self.amount <= _MOST_SPENT:
            raise SweepError(
                f"a budget must be above 0 and at most {_MOST_SPENT:g}, got {self.amount:g}"
            )


def measured_costs(
    frame: pl.LazyFrame, groups: Sequence[str], *, gpu_seconds: Mapping[str, float] | None = None
) -> dict[tuple[object, ...], Costs]:
    """Measure the mean cost of a judgment in every group.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q"], "prompt_tokens": [10, 30], "completion_tokens": [2, 2]}
    >>> measured_costs(pl.LazyFrame(rows), [])[()]
    Costs(prompt_tokens=20.0, completion_tokens=2.0, gpu_seconds=None)
    """
    columns = frame.collect_schema().names()
    frame = frame.filter(is_judge(columns))
    tokens = [name for name in ("prompt_tokens", "completion_tokens") if name in columns]
    # Whose judgments they are: two names are enough to know that a group has no one judge.
    judges = ["judge"] if "judge" in columns else []
    # What was never sent has a length, perhaps, and took nothing.
    sent = pl.col("outcome").ne_missing("failed") if "outcome" in columns else pl.lit(True)
    wanted = [
        *(pl.col(name).filter(sent).cast(pl.Float64).mean().alias(f"__{name}") for name in tokens),
        *(pl.col(name).min().alias("__first") for name in judges),
        *(pl.col(name).max().alias("__last") for name in judges),
        pl.len().alias("__n"),
    ]
    grouped = frame.group_by(groups).agg(wanted) if groups else frame.select(wanted)
    found = grouped.collect(engine="streaming")
    return {
        tuple(row[name] for name in groups): Costs(
            **{name: row[f"__{name}"] for name in tokens},
            gpu_seconds=(gpu_seconds or {}).get(row["__first"])
            if judges and row["__first"] == row["__last"]
            else None,
        )
        for row in found.iter_rows(named=True)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """So many judgments of each question, each combination of finite levels equally often."""

    n_judgments: int  # A whole multiple of the combinations of levels of facets of a known size.
    levels: Mapping[str, int]  # Different levels of each facet.
    sizes: Mapping[str, int]  # How many levels there are of those facets whose number is known.

    @property
    def n_prompts(self) -> int:
        """Different prompts of a question."""
        finite = math.prod(k for name, k in self.levels.items() if name in self.sizes)
        return finite if set(self.levels) <= set(self.sizes) else self.n_judgments

    @property
    def exhausted(self) -> Mapping[str, int] | None:
        """Levels of the facets of a known size, where all of each are there."""
        return self.sizes if all(self.levels[name] == n for name, n in self.sizes.items()) else None

    def row(self) -> Row:
        """Give the levels as columns: facets, levels of each, and how many there are of each.

        Examples
        --------
        >>> spread_judgments_over_facets(3, ["option_order", "template"], {"option_order": 2}).row()
        {'facets': 'option_order, template', 'levels': [2, 4], 'levels_of': [2, None]}
        """
        return {
            "facets": ", ".join(self.levels),
            "levels": list(self.levels.values()),
            "levels_of": [self.sizes.get(name) for name in self.levels],
        }


def spread_judgments_over_facets(
    at_least: int, facets: Sequence[str], sizes: Mapping[str, int]
) -> Spread:
    """Spread the fewest judgments, not below a number, over the levels of facets.

    Examples
    --------
    >>> [spread_judgments_over_facets(n, ["order"], {"order": 2}).n_judgments for n in (1, 2, 3, 5)]
    [1, 2, 4, 6]
    >>> spread_judgments_over_facets(5, ["order", "template"], {"order": 2, "template": 3}).levels
    {'order': 2, 'template': 3}
    """
    levels = {}
    wanted = at_least
    for name in sorted((name for name in facets if name in sizes), key=lambda name: sizes[name]):
        levels[name] = min(wanted, sizes[name])
        wanted = -(-wanted // levels[name])
    n = wanted * math.prod(levels.values())
    return Spread(
        n_judgments=n,
        levels={name: levels.get(name, n) for name in facets},
        sizes={name: sizes[name] for name in facets if name in sizes},
    )


SAME, APART, QUESTIONS = "replications", "apart", "questions"
"""Levers: more replications of the same prompts; more judgments, spread over the levels of all
facets that should not matter (a new template each time, half in each order); more questions."""
_SIZES = (1, 2, 3, 5, 11, 21, 51)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """One group, ready to be planned with."""

    group: FacetGroup
    costs: Costs
    votes: Voting  # Of labels, what their majorities are worth.
    precision: AlphaPrecision | None  # Of alpha; None where it cannot be told.
    n_replications: int  # Replications of a unit, rounded.
    units_per_question: float  # Units of one question.
    undefined: str | None  # Why there is nothing to plan.

    def spent(self, *, n_prompts: float, n_replications: float) -> Row:
        """Give the costs of prompts with replications, by unit of cost.

        Examples
        --------
        >>> make_plan.__name__  # see there
        'make_plan'
        """
        return {
            unit: self.costs.total(unit, n_prompts=n_prompts, n_replications=n_replications)
            for unit in UNITS
        }

    def mean_of(self, n: int, lever: str) -> Dependability:
        """Look at a mean of n judgments under a lever; of more where no n can be spread.

        Examples
        --------
        >>> make_plan.__name__  # see there
        'make_plan'
        """
        spread = self.spread(n)
        if lever == APART:
            return self.mean_at(spread.n_judgments, spread.levels)
        return self.mean_at(n, {})

    def mean_at(self, n: int, levels: Mapping[str, int]) -> Dependability:
        """Look at a mean of n judgments at so many levels of facets, one where not named.

        Examples
        --------
        >>> make_plan.__name__  # see there
        'make_plan'
        """
        return dependability(
            self.group.found, n_judgments=n, n_levels=levels,
            objects=objects(self.group), fixed=self.group.chosen,
        )  # fmt: skip

    def repeated(self, n: int) -> Dependability:
        """Look at a mean of n judgments of the same prompt, as what that prompt gives.

        Examples
        --------
        >>> make_plan.__name__  # see there
        'make_plan'
        """
        drawn = varied(self.group)
        return dependability(
            self.group.found, n_judgments=n,
            objects=(*objects(self.group), *drawn), fixed=self.group.chosen, given=drawn,
        )  # fmt: skip

    def spread(self, at_least: int) -> Spread:
        """Spread judgments over the levels of all facets that should not matter.

        Examples
        --------
        >>> make_plan.__name__  # see there
        'make_plan'
        """
        return spread_judgments_over_facets(at_least, varied(self.group), self.group.found.sizes)


def make_plan(group: FacetGroup, costs: Costs) -> GroupPlan:
    """Prepare a group for planning.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.facets import facet_groups
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "B"]}
    >>> plan = make_plan(next(facet_groups(pl.LazyFrame(rows))), Costs())
    >>> plan.mean_of(1, SAME).generalizability, plan.undefined
    (1.0, None)
    """
    units, found = group.units, group.found
    m_U = units.counts_UV.sum(axis=1)
    paired = m_U >= 2
    distances = None
    if group.kind == "scores":
        values = np.asarray(units.values, dtype=np.float64)
        distances = (values[:, None] - values[None, :]) ** 2
    shares = supported_shares(units.counts_UV, distances_VV=distances)
    clusters = units.clusters_U[paired]
    undefined = found.undefined
    if undefined is None and not any(QUESTION in one.facets for one in found.components):
        undefined = "single_replication"
    precision = None
    if undefined is None and np.unique(clusters).size >= 2 and shares.mean(axis=0).max() < 1:
        precision = alpha_precision(shares, distances_VV=distances, clusters_U=clusters)
    n_questions = np.unique(clusters).size
    return GroupPlan(
        group=group,
        costs=costs,
        votes=Voting(units.counts_UV, units.clusters_U),
        precision=precision,
        n_replications=max(1, round(float(m_U[m_U > 0].mean()))) if (m_U > 0).any() else 1,
        units_per_question=len(shares) / n_questions if n_questions else 1.0,
        undefined=undefined,
    )


def design_rows(plan: GroupPlan) -> Iterator[Row]:
    """Compute what means, and majorities, of more judgments are worth.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.facets import facet_groups
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "score": [1.0, 3.0, 5.0, 5.0]}
    >>> plan = make_plan(next(facet_groups(pl.LazyFrame(rows))), Costs())
    >>> [round(row["generalizability"], 3) for row in design_rows(plan)][:3]
    [0.8, 0.889, 0.923]
    """
    if plan.undefined:
        yield {"undefined": plan.undefined}
        return
    for lever in levers(plan):
        sizes = _SIZES if lever == SAME else dict.fromkeys(
            plan.spread(n).n_judgments for n in _SIZES
        )  # fmt: skip
        for n in sizes:
            one = plan.mean_of(n, lever)
            row = {
                "design": lever, **lever_levels(plan, lever, n), "n_judgments": n,
                **as_columns(one, "generalizability", "low", "high", "no_interval",
                             "dependability"),
                "undefined": None if one.generalizability is not None else "no_variance",
            }  # fmt: skip
            if lever == SAME:
                row |= as_columns(
                    plan.repeated(n), repeatability="generalizability", repeatability_low="low",
                    repeatability_high="high",
                )  # fmt: skip
            if lever == SAME and plan.group.kind == "labels" and plan.votes.is_known:
                row |= as_columns(
                    plan.votes.stability(n), majority_stability="agreement", majority_low="low",
                    majority_high="high", majority_alpha="alpha",
                )  # fmt: skip
            yield row


def objects(group: FacetGroup) -> tuple[str, ...]:
    """Name the facets whose variance is wanted.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.facets import facet_groups
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]}
    >>> objects(next(facet_groups(pl.LazyFrame(rows))))
    ('item_id',)
    """
    return (QUESTION, *group.judged)


def varied(group: FacetGroup) -> tuple[str, ...]:
    """Name the facets that should not matter of which the design has a component.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.facets import facet_groups
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]}
    >>> varied(next(facet_groups(pl.LazyFrame(rows))))
    ()
    """
    seen = {name for one in group.found.components for name in one.facets}
    return tuple(name for name in group.drawn if name in seen)


def lever_levels(plan: GroupPlan, lever: str, n: int | None) -> Row:
    """Tell the levels over which a lever spreads n judgments; of no number, the facets alone.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.facets import facet_groups
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]}
    >>> lever_levels(make_plan(next(facet_groups(pl.LazyFrame(rows))), Costs()), SAME, 3)
    {'facets': None, 'levels': None, 'levels_of': None}
    """
    if lever != APART:
        return {"facets": None, "levels": None, "levels_of": None}
    row = plan.spread(n or 1).row()
    return row if n else {**row, "levels": None}


def levers(plan: GroupPlan) -> tuple[str, ...]:
    """Name the ways to have more judgments of a question.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.facets import facet_groups
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]}
    >>> levers(make_plan(next(facet_groups(pl.LazyFrame(rows))), Costs()))
    ('replications',)
    """
    group = plan.group
    if not varied(group):
        return (SAME,)
    # Prompts asked once each: what a prompt adds cannot be told from chance, so nothing is known of
    # asking the same one again.
    unknown = {
        name
        for effect, other in group.found.confounded.items()
        if other == RESIDUAL
        for name in effect.split(" x ")
    }
    return (APART,) if unknown & set(group.drawn) else (SAME, APART)


_SPLITS = (2, 3, 4, 5, 8, 10, 20, 50, 100)


def split_rows(plan: GroupPlan, budget: Budget | None) -> Iterator[Row]:
    """Compare splits of a budget; by default of what the group's own judgments were.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.plans import Costs
    >>> from judgerel_ray.analyses.advice.facets import facet_groups
    >>> from judgerel_ray.analyses.advice.plans import make_plan
    >>> rows = {"item_id": ["q", "q", "r", "r", "s", "s"], "replication": [0, 1] * 3,
    ...         "verdict": ["A", "A", "B", "B", "A", "B"]}
    >>> plan = make_plan(next(facet_groups(pl.LazyFrame(rows))), Costs())
    >>> [row["n_items"] for row in split_rows(plan, Budget(amount=12))]
    [6, 4, 3, 2]
    """
    if plan.precision is None:
        return
    budget = budget or Budget(amount=max(1, plan.group.found.n_judgments))
    rates = plan.costs.rates(budget.unit)
    if rates is None or rates[1] <= 0:
        return
    splits = budget_splits(
        plan.precision, budget.amount,
        per_question=rates[0] * plan.units_per_question,
        per_judgment=rates[1] * plan.units_per_question,
        replications=sorted({*_SPLITS, max(2, plan.n_replications)}),
    )  # fmt: skip
    for one in splits:
        n_prompts = one.n_questions * plan.units_per_question
        yield {
            "n_items": one.n_questions, "n_replications": one.n_replications,
            "standard_error": one.standard_error, "width": one.width, "best": one.best,
            **plan.spent(n_prompts=n_prompts, n_replications=one.n_replications),
            "conditions": REPEATABILITY,
        }  # fmt: skip
