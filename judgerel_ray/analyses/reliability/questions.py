"""Questions one by one: accuracy and agreement of each, and those a judge agrees on least."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.analyses.reliability.from_run import ReduceOptions, open_judgments, with_gold
from judgerel_ray.core import SweepError
from judgerel_ray.counting.given import Given, reading_of
from judgerel_ray.counting.groups.greedy import TEMPERATURE
from judgerel_ray.counting.groups.grouping import Block, count_judgments
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.intervals import AUTO
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.verdict_names import refuse_unknown
from judgerel_ray.counting.verdicts.policy import FAILED, LABEL, SCORED, Missing


def question_path(path: str | Given, options: ReduceOptions | None = None) -> pl.DataFrame:
    """Accuracy and agreement of every question of a run directory or a file of judgments.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    SweepError, StoreError
        As of :func:`.reduce_path`.
    """
    from judgerel_ray.analyses.reliability.correctness import question_table

    options = options or ReduceOptions()
    drawn = options.intervals != AUTO
    if (
        options.coefficients
        or options.tolerance
        or options.bands
        or options.items
        or options.nuisance
        or drawn
    ):
        raise SweepError(
            "questions have columns and intervals of their own",
            hint="leave out coefficients, items, tolerance, bands and interval",
        )
    missing: Missing = "category" if "category" in options.missing else "drop"
    with reading_of(path):
        judged = open_judgments(path, extra=[*(options.by or ()), GOLD])
        if not judged.verdicts_known and GOLD in judged.frame.collect_schema().names():
            refuse_unknown("accuracy", {"file": str(path)})
        return question_table(
            with_gold(judged).source,
            by=options.by,
            missing=missing,
            block="all" if options.block == "all" else 0,
        )


def least_stable(
    source: pl.LazyFrame | Tally,
    *,
    by: Sequence[str] | None = None,
    n: int = 20,
    block: Block = 0,
) -> pl.DataFrame:
    """List the units whose replications agree least, an outcome without a verdict being a value.

    Parameters
    ----------
    source, by
        As of :func:`.outcome_table`, also what is refused.
    n : int
        Units listed in all.
    block : int or "all"
        Only rows of this block.

    Returns
    -------
    pl.DataFrame
        One row a unit, least agreement first: the group's columns, item_id, the facets recorded,
        ``agreement`` (share of agreeing pairs), ``n_replications``, and ``verdicts``, a list of
        (value, share) from the most frequent on. Units asked once are left out, and temperature 0:
        what wavers there is the serving.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "A"]}
    >>> least_stable(pl.LazyFrame(rows), n=1).select("item_id", "agreement").rows()
    [('r', 0.0)]
    """
    counted = count_judgments(source, by=by, block=block)
    unit = [*counted.groups, "item_id", *counted.facets]
    value = pl.when(SCORED).then(LABEL).otherwise(pl.format("({})", "outcome"))
    m = pl.col("n").sum()
    share = pl.struct(value=pl.col("value"), share=pl.col("n") / m)
    ties = pl.struct(-pl.col("n").cast(pl.Int64), "value")
    rows = counted.frame.filter(~FAILED)
    if TEMPERATURE in unit:
        rows = rows.filter((pl.col(TEMPERATURE) != 0).fill_null(True))
    units = (
        rows.with_columns(value=value)
        .group_by([*unit, "value"])
        .agg(pl.col("n").sum().cast(pl.Int64))
        .group_by(unit)
        .agg(
            agreement=(pl.col("n") * (pl.col("n") - 1)).sum() / (m * (m - 1)),
            n_replications=m,
            verdicts=share.sort_by(ties),
        )
        .filter(pl.col("n_replications") >= 2)
    )
    return units.sort(["agreement", *unit]).head(n)
