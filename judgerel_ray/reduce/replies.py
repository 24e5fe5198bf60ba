"""Replies with a verdict and without, and the interval of their share."""

from __future__ import annotations

import numpy as np
import polars as pl

from judgerel_ray.reduce.intervals import AUTO, IntervalChoice
from judgerel_ray.reduce.matrix import UnitCounts, UnitTable
from judgerel_ray.reduce.policy import FAILED, SCORED
from judgerel_ray.stats import CountStatistic, Interval, clopper_pearson


def reply_counts(table: UnitTable) -> UnitCounts:
    """Count replies with a verdict and without, by unit; a failed request got no reply.

    Parameters
    ----------
    table : UnitTable
        One group of judgments.

    Returns
    -------
    UnitCounts
        Two columns: with a verdict, without.

    Examples
    --------
    >>> from judgerel_ray.reduce.matrix import unit_table
    >>> from judgerel_ray.reduce.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q", "q"], "outcome": ["scored", "refused"], "n": [3, 1]})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["outcome"])
    >>> table = unit_table(nested, unit=["item_id"], cluster=["item_id"])
    >>> reply_counts(table).counts_UV.tolist()
    [[3, 1]]
    """
    found = table.counts(pl.when(SCORED).then(0.0).when(~FAILED).then(1.0))
    counts_U2 = np.zeros((len(found.counts_UV), 2), dtype=np.int64)
    counts_U2[:, [int(value) for value in found.values]] = found.counts_UV
    return UnitCounts(counts_UV=counts_U2, values=(0.0, 1.0), clusters_U=found.clusters_U)


def share_interval(
    found: UnitCounts, statistic: CountStatistic, choice: IntervalChoice = AUTO
) -> Interval:
    """Compute the interval of a share: exact where each question has one reply, else by question.

    Where the bootstrap is chosen, it is used for either.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> one = UnitCounts(counts_UV=np.array([[1, 0]] * 3), values=(), clusters_U=np.arange(3))
    >>> share_interval(one, count_statistic("valid_rate", n_values=2)).method
    'Clopper-Pearson over 3 questions'
    """
    replies = np.bincount(found.clusters_U, weights=found.counts_UV.sum(axis=1))
    if replies.max(initial=0) == 1 and choice == AUTO:
        return clopper_pearson(int(found.counts_UV[:, 0].sum()), int(found.counts_UV.sum()))
    return choice.interval(found.counts_UV, statistic, found.clusters_U)
