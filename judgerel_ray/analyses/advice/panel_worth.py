"""Judges as a panel: how many they are worth, and what the next one adds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.counting.greedy import sampled
from judgerel_ray.counting.grouping import Block, count_judgments
from judgerel_ray.counting.matrix import unit_counts
from judgerel_ray.counting.policy import LABEL, SCORED, own_level
from judgerel_ray.stats.panels.panel import (
    EffectiveJudges,
    PanelStep,
    effective_judges,
    panel_steps,
)

PANEL_COLUMNS = {
    "n_judges": pl.Int64(), "agreement": pl.Float64(), "gain": pl.Float64(),
    "judges": pl.Int64(), "effective": pl.Float64(), "effective_low": pl.Float64(),
    "effective_high": pl.Float64(), "error_correlation": pl.Float64(), "n_items": pl.Int64(),
    "undefined": pl.String(),
}  # fmt: skip
"""Columns of :func:`panel_table` after those of the groups."""

Row = dict[str, object]


def panel_table(
    frame: pl.LazyFrame, *, by: Sequence[str] | None = None, block: Block = 0
) -> pl.DataFrame:
    """Look at the judges of every group as a panel.

    A panel is of judges that each judge once; where they were asked more often, that tells how
    steady each is.

    Parameters
    ----------
    frame : pl.LazyFrame
        Judgments. Where a column ``gold`` names the right verdict or score, errors are measured
        against it.
    by : sequence of str, optional
        Columns that make a group, as for :func:`.reduce_judgments`, the judge
        left out.
    block : int or "all"
        Only rows of this block.

    Returns
    -------
    pl.DataFrame
        One row a group and size of panel, up to two judges more than there are: ``agreement`` of
        the majorities of two such panels and the last judge's ``gain`` in it (null for scores);
        ``effective`` is how many independent judges those there are worth. Groups of one judge
        are left out; ``undefined`` says why there is no ``effective``.

    Raises
    ------
    SweepError
        If a column is missing, or there are no judgments.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "judge": ["x", "y"] * 2, "replication": [0] * 4,
    ...         "verdict": ["A", "A", "B", "A"], "gold": ["A", "A", "B", "B"]}
    >>> panel_table(pl.LazyFrame(rows)).select("n_judges", "agreement", "undefined").row(0)
    (1, 0.625, 'too_few_judges')
    """
    columns = frame.collect_schema().names()
    if "judge" not in columns:
        return pl.DataFrame(schema=PANEL_COLUMNS)
    # Benchmarks name their questions alike; gold is carried, for it does not vary inside one.
    told = [name for name in ("item_id", "benchmark", "gold") if name in columns]
    frame = frame.with_columns(item_id=pl.struct(told))
    counted = sampled(count_judgments(frame, by=by, block=block))
    groups = tuple(name for name in counted.groups if name != "judge")
    rows = [
        {**(dict(zip(groups, part.select(groups).row(0), strict=True)) if groups else {}), **row}
        for part in (
            counted.frame.sort(groups).partition_by(groups, maintain_order=True)
            if groups
            else [counted.frame]
        )
        for row in _panel_rows(part)
    ]
    keys = {name: counted.frame.schema[name] for name in groups}
    return pl.DataFrame(rows, schema={**keys, **PANEL_COLUMNS}, orient="row")


def _panel_rows(part: pl.DataFrame) -> list[Row]:
    """The rows of one group, none of fewer than two judges."""
    scored = part.filter(SCORED)
    n_judges = scored["judge"].n_unique()
    if n_judges < 2:
        return []
    labels = own_level(part) == "nominal"
    worth = _effective(scored, labels=labels)
    steps: tuple[PanelStep, ...] = ()
    if labels:
        steps = panel_steps(_counts(scored), most=n_judges + 2)
    known: Row = {
        "judges": n_judges, "effective": worth.value, "effective_low": worth.low,
        "effective_high": worth.high, "error_correlation": worth.correlation,
        "n_items": scored["item_id"].n_unique(), "undefined": worth.undefined,
    }  # fmt: skip
    if not steps:
        return [{**known, "n_judges": n_judges, "agreement": None, "gain": None}]
    return [
        {**known, "n_judges": one.n_judges, "agreement": one.agreement, "gain": one.gain}
        for one in steps
    ]


def _counts(scored: pl.DataFrame) -> NDArray[np.int64]:
    """Verdicts by question, judge and value."""
    pair = ["item_id", "judge"]
    found = unit_counts(scored, LABEL, unit=pair, cluster=["item_id"])
    judges = scored.select(pair).unique().sort(pair)["judge"].rank("dense").to_numpy()
    counts = np.zeros(
        (found.clusters_U.max() + 1, int(judges.max()), len(found.values)), dtype=np.int64
    )
    counts[found.clusters_U, judges.astype(np.int64) - 1] = found.counts_UV
    return counts


def _effective(scored: pl.DataFrame, *, labels: bool) -> EffectiveJudges:
    """The panel's worth by its errors, where there is gold."""
    n_judges = scored["judge"].n_unique()
    none = EffectiveJudges(n_judges=n_judges, n_questions=0, undefined="no_gold")
    fields = scored["item_id"].struct.fields
    if "gold" not in fields:
        return none
    question = [pl.col("item_id").struct.field(name) for name in fields if name != "gold"]
    gold = pl.col("item_id").struct.field("gold")
    if labels:
        error = (gold.cast(pl.String) != LABEL).cast(pl.Float64)
    else:
        error = pl.col("score") - gold.cast(pl.Float64, strict=False)
    n = pl.col("n").cast(pl.Float64)
    mean = (n * pl.col("error")).sum() / n.sum()
    means = (
        scored.select("judge", "n", item_id=pl.struct(question), error=error)
        .drop_nulls("error")
        .sort("item_id", "judge", "error")
        .group_by("item_id", "judge", maintain_order=True)
        .agg(mean=mean, within=(n * pl.col("error") ** 2).sum() / n.sum() - mean**2)
    )
    if means.is_empty():
        return none
    errors, within = (
        means.pivot("judge", index="item_id", values=name).drop("item_id").fill_null(np.nan)
        for name in ("mean", "within")
    )
    return effective_judges(errors.to_numpy(), within_NJ=within.to_numpy().clip(min=0))
