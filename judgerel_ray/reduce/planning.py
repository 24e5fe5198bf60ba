"""One group of judgments to plans: what more judgments, prompts and questions would buy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgerel_ray.reduce.costs import UNITS, Budget, Costs
from judgerel_ray.reduce.facets import QUESTION, FacetGroup, Row
from judgerel_ray.reduce.voting import Voting
from judgerel_ray.stats.budget import budget_splits
from judgerel_ray.stats.confounding import RESIDUAL
from judgerel_ray.stats.dstudy import Dependability, dependability
from judgerel_ray.stats.precision import AlphaPrecision, alpha_precision
from judgerel_ray.stats.statistic import Floats
from judgerel_ray.stats.verdict_shares import supported_shares

SAME, APART, QUESTIONS = "replications", "apart", "questions"
"""Levers: more replications of the same prompts; more judgments, each with a level of its own of
all facets drawn from many (a template, an order, a judge); more questions."""
_SIZES = (1, 2, 3, 5, 11, 21, 51)
_SPLITS = (2, 3, 4, 5, 8, 10, 20, 50, 100)
COST_COLUMNS = {"judgments": pl.Float64(), "tokens": pl.Float64(), "gpu_seconds": pl.Float64()}
DESIGN_COLUMNS = {
    "design": pl.String(), "facets": pl.String(), "n_judgments": pl.Int64(),
    "generalizability": pl.Float64(),
    "low": pl.Float64(), "high": pl.Float64(), "dependability": pl.Float64(),
    "majority_stability": pl.Float64(), "majority_low": pl.Float64(), "majority_high": pl.Float64(),
    "majority_alpha": pl.Float64(), "undefined": pl.String(),
}  # fmt: skip
SPLIT_COLUMNS = {
    "n_items": pl.Int64(), "n_replications": pl.Int64(), "standard_error": pl.Float64(),
    "width": pl.Float64(), "best": pl.Boolean(), **COST_COLUMNS,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One group, ready to be planned with.

    Attributes
    ----------
    group : FacetGroup
        Its design and components.
    costs : Costs
        Of one judgment.
    shares_UV : ndarray, shape (n_units, n_values)
        Verdict shares that the counts support.
    votes : Voting
        Of labels, what their majorities are worth.
    precision : AlphaPrecision or None
        Of alpha; None where it cannot be told.
    n_replications : int
        Replications of a unit, rounded.
    units_per_question : float
        Units of one question.
    undefined : str or None
        Why there is nothing to plan.
    """

    group: FacetGroup
    costs: Costs
    shares_UV: Floats  # noqa: N815  a shape, not a case
    votes: Voting
    precision: AlphaPrecision | None
    n_replications: int
    units_per_question: float
    undefined: str | None

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
        """Look at a mean of n judgments under a lever.

        Examples
        --------
        >>> make_plan.__name__  # see there
        'make_plan'
        """
        group = self.group
        apart = dict.fromkeys(varied(group), n) if lever == APART else {}
        return dependability(
            group.found, n_judgments=n, n_levels=apart,
            objects=objects(group), fixed=group.chosen,
        )  # fmt: skip


def make_plan(group: FacetGroup, costs: Costs) -> Plan:
    """Prepare a group for planning.

    Examples
    --------
    >>> from judgerel_ray.reduce.facets import facet_groups
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
    return Plan(
        group=group,
        costs=costs,
        shares_UV=shares,
        votes=Voting(units.counts_UV, units.clusters_U),
        precision=precision,
        n_replications=max(1, round(float(m_U[m_U > 0].mean()))) if (m_U > 0).any() else 1,
        units_per_question=len(shares) / n_questions if n_questions else 1.0,
        undefined=undefined,
    )


def design_rows(plan: Plan) -> Iterator[Row]:
    """Compute what means, and majorities, of more judgments are worth.

    Examples
    --------
    >>> from judgerel_ray.reduce.facets import facet_groups
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "score": [1.0, 3.0, 5.0, 5.0]}
    >>> plan = make_plan(next(facet_groups(pl.LazyFrame(rows))), Costs())
    >>> [round(row["generalizability"], 3) for row in design_rows(plan)][:3]
    [0.8, 0.889, 0.923]
    """
    if plan.undefined:
        yield {**dict.fromkeys(DESIGN_COLUMNS), "undefined": plan.undefined}
        return
    for lever in levers(plan):
        for n in _SIZES:
            one = plan.mean_of(n, lever)
            vote = None
            if lever == SAME and plan.group.kind == "labels" and plan.votes.is_known:
                vote = plan.votes.stability(n)
            yield {
                "design": lever, "facets": apart_facets(plan, lever), "n_judgments": n,
                "generalizability": one.generalizability,
                "low": one.low, "high": one.high, "dependability": one.dependability,
                "majority_stability": vote.agreement if vote else None,
                "majority_low": vote.low if vote else None,
                "majority_high": vote.high if vote else None,
                "majority_alpha": vote.alpha if vote else None,
                "undefined": None if one.generalizability is not None else "no_variance",
            }  # fmt: skip


def split_rows(plan: Plan, budget: Budget | None) -> Iterator[Row]:
    """Compare splits of a budget; by default of what the group's own judgments were.

    Examples
    --------
    >>> from judgerel_ray.reduce.facets import facet_groups
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
        }  # fmt: skip


def objects(group: FacetGroup) -> tuple[str, ...]:
    """Name the facets whose variance is wanted.

    Examples
    --------
    >>> from judgerel_ray.reduce.facets import facet_groups
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]}
    >>> objects(next(facet_groups(pl.LazyFrame(rows))))
    ('item_id',)
    """
    return (QUESTION, *group.judged)


def varied(group: FacetGroup) -> tuple[str, ...]:
    """Name the facets drawn from many of which the design has a component.

    Examples
    --------
    >>> from judgerel_ray.reduce.facets import facet_groups
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]}
    >>> varied(next(facet_groups(pl.LazyFrame(rows))))
    ()
    """
    seen = {name for one in group.found.components for name in one.facets}
    return tuple(name for name in group.drawn if name in seen)


def apart_facets(plan: Plan, lever: str) -> str | None:
    """Name the facets that are apart under a lever; None where none are.

    Examples
    --------
    >>> from judgerel_ray.reduce.facets import facet_groups
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]}
    >>> apart_facets(make_plan(next(facet_groups(pl.LazyFrame(rows))), Costs()), APART)
    ''
    """
    return ", ".join(varied(plan.group)) if lever == APART else None


def levers(plan: Plan) -> tuple[str, ...]:
    """Name the ways to have more judgments of a question.

    Examples
    --------
    >>> from judgerel_ray.reduce.facets import facet_groups
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
