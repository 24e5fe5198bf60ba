"""What became of the requests: rows, shares of outcomes, and the share with a verdict."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.core import OUTCOMES
from judgerel_ray.reduce.grouping import Block, count_judgments, varying_facets
from judgerel_ray.reduce.matrix import unit_table
from judgerel_ray.reduce.nesting import nest_rows
from judgerel_ray.reduce.replies import reply_counts, share_interval
from judgerel_ray.reduce.tally import Tally
from judgerel_ray.stats import count_statistic, measure


def outcome_table(
    source: pl.LazyFrame | Tally, *, by: Sequence[str] | None = None, block: Block = 0
) -> pl.DataFrame:
    """Tell what became of every judge's requests.

    Parameters
    ----------
    source : pl.LazyFrame or Tally
        Judgments.
    by : sequence of str, optional
        Columns that make a group, as for :func:`judgerel_ray.reduce.reduce_judgments`.
    block : int or "all"
        Only rows of this block.

    Returns
    -------
    pl.DataFrame
        One row a group: its columns, ``n_items``, ``n_landed`` (rows), the number of rows of every
        outcome, ``valid_rate`` (scored over all but failed) with its 95 % interval ``low`` and
        ``high`` by question, null where there is none.

    Raises
    ------
    SweepError
        If a column is missing, or there is nothing to count.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", None, "B", "A"]}
    >>> found = outcome_table(pl.LazyFrame(rows))
    >>> found.select("n_landed", "scored", "unparsed", "valid_rate").rows()
    [(4, 3, 1, 0.75)]
    """
    counted = count_judgments(source, by=by, block=block)
    groups, rows = counted.groups, counted.frame
    table = []
    for part in rows.partition_by(groups, maintain_order=True) if groups else [rows]:
        facets = varying_facets(part, counted.facets)
        cluster = ("item_id", *(name for name in facets if name == "benchmark"))
        found = reply_counts(
            unit_table(
                nest_rows(part, unit=cluster, kinds=("outcome",)), unit=cluster, cluster=cluster
            )
        )
        statistic = count_statistic("valid_rate", n_values=2)
        interval = share_interval(found, statistic)
        table.append(
            {
                **(dict(zip(groups, part.select(groups).row(0), strict=True)) if groups else {}),
                "n_items": len(found.counts_UV),
                "n_landed": int(part["n"].sum()),
                **{name: int(part.filter(outcome=name)["n"].sum()) for name in OUTCOMES},
                "valid_rate": measure(found.counts_UV, statistic).value,
                "low": interval.low,
                "high": interval.high,
            }
        )
    whole = {name: pl.Int64() for name in ("n_items", "n_landed", *OUTCOMES)}
    shares = {name: pl.Float64() for name in ("valid_rate", "low", "high")}
    keys = {name: rows.schema[name] for name in groups}
    return pl.DataFrame(table, schema={**keys, **whole, **shares}, orient="row")
