"""One group of judgments to plans: what more judgments, prompts and questions would buy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgerel_ray.reduce.costs import UNITS, Costs
from judgerel_ray.reduce.facets import QUESTION, FacetGroup, Row
from judgerel_ray.reduce.spreading import Spread, spread_over
from judgerel_ray.reduce.voting import Voting
from judgerel_ray.stats.confounding import RESIDUAL
from judgerel_ray.stats.dstudy import Dependability, dependability
from judgerel_ray.stats.precision import AlphaPrecision, alpha_precision
from judgerel_ray.stats.statistic import Floats
from judgerel_ray.stats.verdict_shares import supported_shares

SAME, APART, QUESTIONS = "replications", "apart", "questions"
"""Levers: more replications of the same prompts; more judgments, spread over the levels of all
facets that should not matter (a new template each time, half in each order); more questions."""
_SIZES = (1, 2, 3, 5, 11, 21, 51)
COST_COLUMNS = {"judgments": pl.Float64(), "tokens": pl.Float64(), "gpu_seconds": pl.Float64()}
LEVEL_COLUMNS = {"levels": pl.List(pl.Int64()), "levels_of": pl.List(pl.Int64())}
DESIGN_COLUMNS = {
    "design": pl.String(), "facets": pl.String(), **LEVEL_COLUMNS, "n_judgments": pl.Int64(),
    "generalizability": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(),
    "no_interval": pl.String(), "dependability": pl.Float64(), "repeatability": pl.Float64(),
    "repeatability_low": pl.Float64(), "repeatability_high": pl.Float64(),
    "majority_stability": pl.Float64(), "majority_low": pl.Float64(), "majority_high": pl.Float64(),
    "majority_alpha": pl.Float64(), "undefined": pl.String(),
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
        return spread_over(at_least, varied(self.group), self.group.found.sizes)


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
        sizes = _SIZES if lever == SAME else dict.fromkeys(
            plan.spread(n).n_judgments for n in _SIZES
        )  # fmt: skip
        for n in sizes:
            one = plan.mean_of(n, lever)
            again = plan.repeated(n) if lever == SAME else None
            vote = None
            if lever == SAME and plan.group.kind == "labels" and plan.votes.is_known:
                vote = plan.votes.stability(n)
            yield {
                "design": lever, **lever_levels(plan, lever, n), "n_judgments": n,
                "generalizability": one.generalizability,
                "low": one.low, "high": one.high, "no_interval": one.no_interval,
                "dependability": one.dependability,
                "repeatability": again.generalizability if again else None,
                "repeatability_low": again.low if again else None,
                "repeatability_high": again.high if again else None,
                "majority_stability": vote.agreement if vote else None,
                "majority_low": vote.low if vote else None,
                "majority_high": vote.high if vote else None,
                "majority_alpha": vote.alpha if vote else None,
                "undefined": None if one.generalizability is not None else "no_variance",
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
    """Name the facets that should not matter of which the design has a component.

    Examples
    --------
    >>> from judgerel_ray.reduce.facets import facet_groups
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]}
    >>> varied(next(facet_groups(pl.LazyFrame(rows))))
    ()
    """
    seen = {name for one in group.found.components for name in one.facets}
    return tuple(name for name in group.drawn if name in seen)


def lever_levels(plan: Plan, lever: str, n: int | None) -> Row:
    """Tell the levels over which a lever spreads n judgments; of no number, the facets alone.

    Examples
    --------
    >>> from judgerel_ray.reduce.facets import facet_groups
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]}
    >>> lever_levels(make_plan(next(facet_groups(pl.LazyFrame(rows))), Costs()), SAME, 3)
    {'facets': None, 'levels': None, 'levels_of': None}
    """
    if lever != APART:
        return {"facets": None, "levels": None, "levels_of": None}
    row = plan.spread(n or 1).row()
    return row if n else {**row, "levels": None}


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
