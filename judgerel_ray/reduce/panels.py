"""Judges as a panel: how many they are worth, and what the next one adds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from judgerel_ray.reduce.grouping import Block, count_judgments
from judgerel_ray.reduce.matrix import unit_counts
from judgerel_ray.reduce.policy import LABEL, SCORED, own_level
from judgerel_ray.stats.panel import EffectiveJudges, PanelStep, effective_judges, panel_steps

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

    Each judge counts once a question, with its most frequent verdict (the first by name of equally
    frequent ones), or its mean score.

    Parameters
    ----------
    frame : pl.LazyFrame
        Judgments. Where a column ``gold`` names the right verdict or score, errors are measured
        against it.
    by : sequence of str, optional
        Columns that make a group, as for :func:`judgerel_ray.reduce.reduce_judgments`, the judge
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
        If a column is missing, or there is nothing to count.

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
    if "gold" in columns:
        # Carried as a facet would be; it does not vary inside a question.
        frame = frame.with_columns(item_id=pl.struct("item_id", "gold"))
    counted = count_judgments(frame, by=by, block=block)
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
    votes = _labels(scored) if labels else _means(scored)
    worth = _effective(votes, labels=labels)
    steps: tuple[PanelStep, ...] = ()
    if labels:
        counts = unit_counts(
            votes.with_columns(n=pl.lit(1)), pl.col("vote"), unit=["item_id"], cluster=["item_id"]
        ).counts_UV
        steps = panel_steps(counts, most=n_judges + 2)
    known: Row = {
        "judges": n_judges, "effective": worth.value, "effective_low": worth.low,
        "effective_high": worth.high, "error_correlation": worth.correlation,
        "n_items": votes["item_id"].n_unique(), "undefined": worth.undefined,
    }  # fmt: skip
    if not steps:
        return [{**known, "n_judges": n_judges, "agreement": None, "gain": None}]
    return [
        {**known, "n_judges": one.n_judges, "agreement": one.agreement, "gain": one.gain}
        for one in steps
    ]


def _labels(scored: pl.DataFrame) -> pl.DataFrame:
    """The most frequent verdict of each judge on each question."""
    return (
        scored.with_columns(vote=LABEL)
        .group_by("item_id", "judge", "vote")
        .agg(pl.col("n").sum().cast(pl.Int64))
        .sort(["item_id", "judge", "n", "vote"], descending=[False, False, True, False])
        .group_by("item_id", "judge", maintain_order=True)
        .agg(pl.col("vote").first())
    )


def _means(scored: pl.DataFrame) -> pl.DataFrame:
    """The mean score of each judge on each question."""
    n = pl.col("n").cast(pl.Float64)
    return (
        scored.sort("item_id", "judge", "score")
        .group_by("item_id", "judge", maintain_order=True)
        .agg(vote=(n * pl.col("score")).sum() / n.sum())
    )


def _effective(votes: pl.DataFrame, *, labels: bool) -> EffectiveJudges:
    """The panel's worth by its errors, where there is gold."""
    n_judges = votes["judge"].n_unique()
    if votes.schema["item_id"] == pl.String:
        return EffectiveJudges(n_judges=n_judges, n_questions=0, undefined="no_gold")
    gold = pl.col("item_id").struct.field("gold")
    if labels:
        wrong = (pl.col("vote") != gold.cast(pl.String)).cast(pl.Float64)
    else:
        wrong = pl.col("vote") - gold.cast(pl.Float64, strict=False)
    errors = votes.select(
        "judge", pl.col("item_id").struct.field("item_id"), error=wrong
    ).drop_nulls()
    if errors.is_empty():
        return EffectiveJudges(n_judges=n_judges, n_questions=0, undefined="no_gold")
    table = errors.pivot("judge", index="item_id", values="error").drop("item_id")
    return effective_judges(table.select(pl.all().cast(pl.Float64)).fill_null(np.nan).to_numpy())
