"""The questions on which a judge agrees least with itself."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.counting.groups.grouping import TEMPERATURE, Block, count_judgments
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.verdicts.policy import FAILED, LABEL, SCORED


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
