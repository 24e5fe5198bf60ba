"""Ways to split a budget between questions and replications."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from judgerel_ray.reduce.costs import Budget
from judgerel_ray.reduce.facets import Row
from judgerel_ray.reduce.planning import COST_COLUMNS, Plan
from judgerel_ray.stats.budget import budget_splits

_SPLITS = (2, 3, 4, 5, 8, 10, 20, 50, 100)
SPLIT_COLUMNS = {
    "n_items": pl.Int64(), "n_replications": pl.Int64(), "standard_error": pl.Float64(),
    "width": pl.Float64(), "best": pl.Boolean(), **COST_COLUMNS,
}  # fmt: skip


def split_rows(plan: Plan, budget: Budget | None) -> Iterator[Row]:
    """Compare splits of a budget; by default of what the group's own judgments were.

    Examples
    --------
    >>> from judgerel_ray.reduce.costs import Costs
    >>> from judgerel_ray.reduce.facets import facet_groups
    >>> from judgerel_ray.reduce.planning import make_plan
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
