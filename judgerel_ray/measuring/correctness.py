"""Accuracy beside reliability, question by question, where the right verdict is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core.progress import fewer_groups, under_way
from judgerel_ray.counting.counted import Group
from judgerel_ray.counting.groups.grouping import (
    BlockChoice,
    count_judgments,
    greedy_flags,
    sampled,
    varying_facets,
)
from judgerel_ray.counting.groups.matrix import UnitCounts, unit_counts
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.nesting import N
from judgerel_ray.counting.outcomes import share_interval
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.verdicts.policy import (
    FAILED,
    MISSING,
    SCORED,
    Missing,
    Row,
    method_columns,
    value_of,
)
from judgerel_ray.measuring.estimates import noise_columns
from judgerel_ray.measuring.lead_codes import FEWEST, LeadCode
from judgerel_ray.measuring.tables import Questions
from judgerel_ray.stats import Interval, clopper_pearson, measure
from judgerel_ray.stats.agreement.agreement import (
    CORRECTNESS,
    correctness_statistic,
)

_RIGHT = "right"  # before every verdict under a policy: they start with "=" or are outcomes
_WITHOUT_GOLD = ("n_judgments", "percent_agreement", "undefined")


def correctness_rows(
    group: Group, rows: pl.DataFrame, names: Sequence[str], missing: Sequence[Missing]
) -> Iterator[Row]:
    """Compute coefficients of right and wrong of one group.

    Rows have the columns of `Coefficients`; questions without gold are left out, and ``undefined``
    is "no_gold" where there is no other.

    Examples
    --------
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> told = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "B"], "gold": ["A", "A", "A", "A"]}
    >>> found = reduce_judgments(pl.LazyFrame(told), coefficients=CORRECTNESS[:1])
    >>> found.select("coefficient", "value").rows()
    [('accuracy', 0.5)]
    """
    known = rows.filter(pl.col(GOLD).is_not_null())
    cluster = [name for name in group.unit if name in ("item_id", "benchmark")]
    for policy in missing if group.n_without else MISSING[:1]:
        found = _counts(known, policy, unit=group.unit, cluster=cluster)
        for name in names:
            statistic = correctness_statistic(name)
            coefficient = measure(found.counts_UV, statistic)
            interval = Interval(undefined="undefined")
            if name == "accuracy" and found.counts_UV.size:
                interval = share_interval(found, statistic, group.intervals)
            elif coefficient.value is not None:
                interval = group.intervals.interval(found.counts_UV, statistic, found.clusters_U)
            yield {
                "coefficient": name,
                "value": coefficient.value,
                "low": interval.low if coefficient.value is not None else None,
                "high": interval.high if coefficient.value is not None else None,
                **noise_columns(None),
                "measurement": "nominal",
                "missing": policy,
                "n_categories": None,
                "n_missing": int(group.table.counts_UK.sum() - found.counts_UV.sum()),
                **method_columns(coefficient.estimator, interval),
                "undefined": "no_gold" if known.is_empty() else coefficient.undefined,
                **group.basis,
            }


def correctness_by_question(
    source: pl.LazyFrame | Tally,
    *,
    by: Sequence[str] | None = None,
    missing: Missing = "category",
    block: BlockChoice = 0,
) -> pl.DataFrame:
    """Lay accuracy and agreement of every question side by side.

    The groups' columns, then those of `Questions`, sorted. agreement_right and agreement_wrong sum
    to percent_agreement, within units where the question has several. "few_verdicts" stands where
    fewer than half of the replies hold one.

    Examples
    --------
    Steady and right, steady and wrong:

    >>> told = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "B"], "gold": ["A", "A", "A", "A"]}
    >>> found = correctness_by_question(pl.LazyFrame(told))
    >>> found.select("item_id", "accuracy", "agreement_right", "agreement_wrong").rows()
    [('q', 1.0, 1.0, 0.0), ('r', 0.0, 0.0, 1.0)]
    """
    columns = source.columns if isinstance(source, Tally) else source.collect_schema().names()
    extra = [GOLD] if GOLD in columns else []
    counted = sampled(count_judgments(source, by=by, block=block, extra=extra))
    frame = counted.frame
    if not extra:
        frame = frame.with_columns(pl.lit(None, pl.String).alias(GOLD))
    parts: list[pl.DataFrame] = []
    groups = counted.groups
    split = frame.partition_by(groups, maintain_order=True) if groups else [frame]
    for part in under_way(split, of=len(split), what="groups", hint=fewer_groups(groups)):
        unit = ("item_id", *varying_facets(part, counted.facets))
        found = _counts(part, missing, unit=unit, cluster=["item_id"])
        known = part.group_by("item_id").agg(pl.col(GOLD).is_not_null().any()).sort("item_id")
        table = _questions(found, gold_Q=known[GOLD].to_numpy())
        keys = [pl.lit(part[name].first(), part.schema[name]).alias(name) for name in groups]
        if groups and greedy_flags(part.select(groups).row(0, named=True), counted, counted):
            # Accuracy at temperature 0 is what it is; agreement of its repeats is the server's.
            reasons = pl.when(pl.col("undefined") == "no_gold").then(
                pl.lit("no_gold; serving_noise")
            )
            named = reasons.otherwise(pl.coalesce("undefined", pl.lit("serving_noise")))
            table = table.with_columns(named.alias("undefined"))
        silent_Q = _silent(part)
        flag = pl.concat_str("undefined", pl.lit(LeadCode.FEW_VERDICTS.value), separator="; ",
                             ignore_nulls=True)  # fmt: skip
        flagged = pl.when(silent_Q & (pl.col("undefined") != "no_verdicts").fill_null(True))
        table = table.with_columns(flagged.then(flag).otherwise("undefined").alias("undefined"))
        parts.append(table.with_columns(known["item_id"]).select(*keys, *Questions.columns))
    return pl.concat(parts)


def _silent(part: pl.DataFrame) -> pl.Series:
    """Questions too few of whose replies hold a verdict to say anything of agreement, in order."""
    held = part.group_by("item_id").agg(
        n_valid=pl.col(N).filter(SCORED.fill_null(False)).sum(),
        n_replies=pl.col(N).filter(~FAILED).sum(),
    )
    return held.sort("item_id").select(pl.col("n_valid") < FEWEST * pl.col("n_replies")).to_series()


def _questions(found: UnitCounts, *, gold_Q: NDArray[np.bool_]) -> pl.DataFrame:
    """Every question's numbers but its name, in the order of the questions."""
    n_questions = gold_Q.size
    counts = found.counts_UV.astype(np.float64)
    values = {}
    for name in CORRECTNESS:
        statistic = correctness_statistic(name)
        taking = statistic.takes_part(counts)
        sums_QT = np.zeros((n_questions, 2))
        np.add.at(sums_QT, found.clusters_U[taking], statistic.terms(counts[taking]))
        values[name] = statistic.value(sums_QT)
    n_Q, right_Q = (
        np.bincount(found.clusters_U, column, n_questions).astype(np.int64)
        for column in (counts.sum(axis=1), counts[:, 0])
    )
    ends = [clopper_pearson(int(k), int(n)) for k, n in zip(right_Q, n_Q, strict=True)]
    table = pl.DataFrame(
        {
            "n_judgments": n_Q,
            "accuracy": values["accuracy"],
            "low": [one.low for one in ends],
            "high": [one.high for one in ends],
            "percent_agreement": values["agreement_right"] + values["agreement_wrong"],
            "agreement_right": values["agreement_right"],
            "agreement_wrong": values["agreement_wrong"],
            "majority_right": values["majority_accuracy"],
        },
        schema={name: Questions.dtypes[name] for name in list(Questions.dtypes)[1:-1]},
    ).with_columns(pl.col(pl.Float64).fill_nan(None))
    gold = pl.Series(gold_Q)
    why = (
        pl.when(pl.col("n_judgments") == 0).then(pl.lit("no_verdicts"))
        .when(pl.col("agreement_right").is_null()).then(pl.lit("single_replication"))
        .when(~gold).then(pl.lit("no_gold"))
    )  # fmt: skip
    table = table.with_columns(why.alias("undefined"))
    needs_gold = [name for name in table.columns if name not in _WITHOUT_GOLD]
    return table.with_columns(pl.when(gold).then(pl.col(name)).alias(name) for name in needs_gold)


def _counts(
    rows: pl.DataFrame, policy: Missing, *, unit: Sequence[str], cluster: Sequence[str]
) -> UnitCounts:
    """Counts by unit, the right value of each in the first column."""
    if rows.is_empty():
        return UnitCounts(
            counts_UV=np.zeros((0, 1), dtype=np.int64),
            values=(_RIGHT,),
            clusters_U=np.zeros(0, int),
        )
    gold = pl.col(GOLD).cast(pl.String)
    by_number = pl.col("score") == gold.cast(pl.Float64, strict=False)
    by_name = pl.when(pl.col("verdict").is_not_null()).then(pl.col("verdict") == gold)
    right = SCORED & by_name.otherwise(by_number).fill_null(False)
    value = pl.when(right).then(pl.lit(_RIGHT)).otherwise(value_of(policy))
    found = unit_counts(rows, value, unit=unit, cluster=cluster)
    order = [place for place, one in enumerate(found.values) if one != _RIGHT]
    right_U = np.zeros((len(found.counts_UV), 1), dtype=np.int64)
    if _RIGHT in found.values:
        right_U = found.counts_UV[:, [found.values.index(_RIGHT)]]
    return UnitCounts(
        counts_UV=np.concatenate([right_U, found.counts_UV[:, order]], axis=1),
        values=(_RIGHT, *(found.values[place] for place in order)),
        clusters_U=found.clusters_U,
    )
