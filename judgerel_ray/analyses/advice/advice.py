"""What to buy: variance components, what more judgments would be worth, and what targets take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import polars as pl

from judgerel_ray.analyses.advice.facets import (
    COMPONENT_COLUMNS,
    FacetGroup,
    Row,
    component_rows,
    facet_groups,
    key_schema,
)
from judgerel_ray.analyses.advice.panel_worth import panel_table
from judgerel_ray.analyses.advice.plans import (
    DESIGN_COLUMNS,
    SPLIT_COLUMNS,
    Budget,
    Costs,
    design_rows,
    make_plan,
    measured_costs,
    split_rows,
)
from judgerel_ray.analyses.advice.targets import NEED_COLUMNS, TARGETS, need_rows
from judgerel_ray.analyses.reliability.order_effects import read_places
from judgerel_ray.core import SweepError
from judgerel_ray.core.codes import Flag
from judgerel_ray.counting.given import warn_of
from judgerel_ray.counting.groups.grouping import Block
from judgerel_ray.counting.placeless import placed
from judgerel_ray.counting.verdicts.places import Populations, by_place
from judgerel_ray.counting.verdicts.policy import Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Five tables, each with the columns of the groups first.

    Attributes
    ----------
    components : pl.DataFrame
        Variance components: what is the question's, and what is error. Repeats at temperature 0
        are the serving's noise: they have this table alone, and ``flags`` say so.
    designs : pl.DataFrame
        What the mean, and the majority, of 1, 2, 3, 5, ... judgments is worth: with replications
        of the same prompts (and what those are worth where that prompt is all that counts:
        ``repeatability``), and where prompts vary with judgments spread over their levels, new ones
        each time or equally many at each of a known number.
    needs : pl.DataFrame
        What each target takes, by lever, with its cost. ``needed_cautious`` is where the low end
        of the interval reaches the target; ``standing`` is whether the judgments there are meet
        it, fail it, or leave it undecided.
    splits : pl.DataFrame
        Ways to split a budget between questions and replications, the narrowest interval of
        Krippendorff's alpha marked as best.
    panel : pl.DataFrame
        Judges as a panel; empty where there is one.
    """

    components: pl.DataFrame
    designs: pl.DataFrame
    needs: pl.DataFrame
    splits: pl.DataFrame
    panel: pl.DataFrame

    def tables(self) -> dict[str, pl.DataFrame]:
        """Give the five tables by name.

        Examples
        --------
        >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]}
        >>> list(advise_judgments(pl.LazyFrame(rows)).tables())
        ['components', 'designs', 'needs', 'splits', 'panel']
        """
        return {
            "components": self.components,
            "designs": self.designs,
            "needs": self.needs,
            "splits": self.splits,
            "panel": self.panel,
        }


def advise_judgments(
    frame: pl.LazyFrame,
    *,
    target: Mapping[str, float] | None = None,
    budget: Budget | None = None,
    costs: Mapping[str, float] | None = None,
    by: Sequence[str] | None = None,
    nested: Sequence[str] = (),
    missing: Missing = "category",
    block: Block = 0,
    populations: Populations | None = None,
) -> Advice:
    """Tell how many replications, prompts, questions and judges a target takes.

    Parameters
    ----------
    frame : pl.LazyFrame
        Judgments. With prompt_tokens and completion_tokens costs are in tokens too; with ``gold``
        the panel's errors are known.
    target : mapping of str to float, optional
        Names of `TARGETS`: ``generalizability`` and ``dependability`` of mean scores or vote
        shares (comparing questions, and the value of one), ``majority_stability`` (the majority
        would be the same again), ``interval_width`` (of Krippendorff's alpha, end to end, 95 %).
        By default all, at the values there.
    budget : Budget, optional
        To split, for each group; by default as many judgments as it has.
    costs : mapping of str to float, optional
        GPU-seconds of one judgment, by judge, where they were measured.
    by : sequence of str, optional
        Columns that make a group, as for :func:`.reduce_judgments`. A column
        left out (the judge, the temperature) becomes a facet whose variance is told.
    nested : sequence of str
        Facets whose levels belong to one question each, as the responses to it do.
    missing : {"category", "drop"}
        What a reply without a verdict counts as; of scores it is always left out.
    block : int or "all"
        Only rows of this block.
    populations : Populations, optional
        How many levels facets have that should not matter (three templates, and no others). By
        default k options have k! orders, where k is known, and all else is drawn from infinitely
        many.

    Returns
    -------
    Advice

    Raises
    ------
    SweepError
        If a column, facet or target is unknown, a target is out of its range, a facet has more
        levels than declared, the budget is in a unit that was not measured, or there is nothing to
        count.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "score": [1.0, 3.0, 5.0, 5.0]}
    >>> advice = advise_judgments(pl.LazyFrame(rows), target={"generalizability": 0.9})
    >>> advice.needs.select("target", "lever", "needed_whole").rows()
    [('generalizability', 'replications', 3)]
    """
    targets = checked_targets(TARGETS if target is None else target)
    frame, groups = laid_out_groups(
        frame, by=by, nested=nested, missing=missing, block=block, populations=populations
    )
    keys = key_schema(groups)
    measured = measured_costs(frame, tuple(keys), gpu_seconds=costs)
    components: list[Row] = []
    designs: list[Row] = []
    needs: list[Row] = []
    splits: list[Row] = []
    for group in groups:
        # Replies without a verdict do not tell what more would be worth.
        if group.greedy == Flag.SERVING_NOISE or group.replies.are_few:
            # More repeats of temperature 0 buy nothing that a judge could give.
            components.extend({**group.key, **row} for row in component_rows(group))
            continue
        plan = make_plan(group, measured.get(tuple(group.key.values()), Costs()))
        if budget is not None and plan.costs.rates(budget.unit) is None:
            raise SweepError(
                f"a budget in {budget.unit} needs what a judgment costs in them, "
                f"which was not measured",
                where=group.key,
                hint="give the budget in judgments",
            )
        for rows, table in (
            (component_rows(group), components),
            (design_rows(plan), designs),
            (need_rows(plan, targets), needs),
            (split_rows(plan, budget), splits),
        ):
            table.extend({**group.key, **row} for row in rows)
    return Advice(
        components=pl.DataFrame(components, schema={**keys, **COMPONENT_COLUMNS}, orient="row"),
        designs=pl.DataFrame(designs, schema={**keys, **DESIGN_COLUMNS}, orient="row"),
        needs=pl.DataFrame(needs, schema={**keys, **NEED_COLUMNS}, orient="row"),
        splits=pl.DataFrame(splits, schema={**keys, **SPLIT_COLUMNS}, orient="row"),
        panel=panel_table(frame, by=by, block=block),
    )


def laid_out_groups(
    frame: pl.LazyFrame,
    *,
    by: Sequence[str] | None = None,
    nested: Sequence[str] = (),
    missing: Missing = "category",
    block: Block = 0,
    populations: Populations | None = None,
) -> tuple[pl.LazyFrame, tuple[FacetGroup, ...]]:
    """Lay every group of judgments out as a design; and the judgments, by place where they are.

    Parameters: as of :func:`advise_judgments`.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "B", "A", "A"]}
    >>> _, (group,) = laid_out_groups(pl.LazyFrame(rows))
    >>> group.found.n_questions
    2
    """
    if populations is None:  # else labels were read where facets were declared
        read = placed(frame)
        warn_of(read.notes)
        frame = read.rows
    places = read_places(frame, frame.collect_schema().names())
    if places and places.own_menus:
        frame = by_place(frame, places)
    groups = facet_groups(
        frame, by=by, nested=nested, missing=missing, block=block, populations=populations
    )
    return frame, tuple(groups)


def checked_targets(target: Mapping[str, float]) -> Mapping[str, float]:
    """Refuse targets that are unknown or out of their range, or none.

    Raises
    ------
    SweepError
        If one is.

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
