"""Corrected scores and what they rest on, as tables.

With labels of some items by PPI++ and Rogan-Gladen; without any by what several judges agree on, if
they err independently (Dawid and Skene).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt

import numpy as np
import polars as pl

from judgerel_ray.analyses.correction.labels import Units, judged_values, pairs_of
from judgerel_ray.analyses.correction.tables import TABLES, AgreedJudges, AgreedScores
from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core import SweepError
from judgerel_ray.core.schema import Schema
from judgerel_ray.core.tables import as_columns
from judgerel_ray.counting.groups.grouping import parts_by
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.stats.correction.dawid_skene import dawid_skene
from judgerel_ray.stats.correction.misclassification import (
    CorrectedRate,
    judge_rates,
    rogan_gladen,
    rogan_gladen_difference,
)
from judgerel_ray.stats.correction.prediction_powered import (
    PpiMean,
    labels_for_width,
    ppi_difference,
    ppi_mean,
)
from judgerel_ray.stats.intervals.ends import t_quantile
from judgerel_ray.stats.intervals.interval import Interval
from judgerel_ray.stats.intervals.shares import clustered_mean, weighted_share_interval

FEW = 50
"""Labels below which coverage was not shown (docs/correcting.md)."""


_ESTIMATE = ("value", "low", "high", "undefined")
_SCHEMAS = {
    name: schema for name, schema in TABLES["correct"].items() if name not in ("agreed", "judges")
}


class Caution(StrEnum):
    """What weakens a corrected score."""

    FEW_LABELS = "few_labels"
    TRANSPORT = "transport"
    UNMATCHED = "unmatched_labels"
    RATERS_DISAGREE = "raters_disagree"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CorrectionTables(Shown):
    """Corrected scores; every table starts with the columns of the groups.

    Attributes
    ----------
    estimates, rates, transport, differences, budget : pl.DataFrame
        With labels, as :mod:`judgerel_ray.analyses.correction.tables` says.
    agreed, judges : pl.DataFrame
        Without.
    """

    estimates: pl.DataFrame = field(default_factory=pl.DataFrame)
    rates: pl.DataFrame = field(default_factory=pl.DataFrame)
    transport: pl.DataFrame = field(default_factory=pl.DataFrame)
    differences: pl.DataFrame = field(default_factory=pl.DataFrame)
    budget: pl.DataFrame = field(default_factory=pl.DataFrame)
    agreed: pl.DataFrame = field(default_factory=pl.DataFrame)
    judges: pl.DataFrame = field(default_factory=pl.DataFrame)


def correction_tables(
    units: Sequence[Units],
    *,
    labelled_by: Sequence[str] = (),
    n_unmatched: int = 0,
    width: float | None = None,
) -> CorrectionTables:
    """Correct the scores of every group."""
    means = [corrected(one) for one in units]
    rates = [_corrected_by_error_rates(one) if one.is_rate else None for one in units]
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in _SCHEMAS}
    for one, mean, rate in zip(units, means, rates, strict=True):
        moved = _labelled_beside_corrected(one)
        rows["transport"].append(one.group | moved)
        flags = _correction_flags(one, bool(moved["differs"]), n_unmatched)
        rows["estimates"] += [
            one.group | row | {"n_unmatched": n_unmatched, "flags": flags}
            for row in _corrected_estimate_rows(one, mean, rate)
        ]
        rows["rates"] += (
            [one.group | row for row in _correction_error_rates(one)] if one.is_rate else []
        )
        if width is not None:
            rows["budget"].append(one.group | _correction_label_need(one, mean, width))
    for place_a, place_b, differing in pairs_of(units, labelled_by):
        a, b = units[place_a], units[place_b]
        by_mean = ppi_difference(means[place_a], means[place_b])
        found: dict[str, PpiMean | CorrectedRate] = {"ppi": by_mean}
        rate_a, rate_b = rates[place_a], rates[place_b]
        if rate_a is not None and rate_b is not None:
            found["rogan_gladen"] = rogan_gladen_difference(rate_a, rate_b)
        rows["differences"] += [
            {name: value for name, value in a.group.items() if name != differing}
            | {"differing": differing, "a": str(a.group[differing]), "b": str(b.group[differing]),
               "estimate": estimate, **as_columns(one, *_ESTIMATE),
               "judge_alone": _mean(a.frame["judged"]) - _mean(b.frame["judged"]),
               "n_labels": by_mean.n_labels, "n_questions": by_mean.n_clusters}
            for estimate, one in found.items()
        ]  # fmt: skip
    groups = list(units[0].group) if units else []
    made = {
        name: _correction_table(rows[name], groups, units, schema)
        for name, schema in _SCHEMAS.items()
    }
    return CorrectionTables(**made)


def _correction_table(
    rows: list[dict[str, object]],
    groups: Sequence[str],
    units: Sequence[Units],
    schema: type[Schema],
) -> pl.DataFrame:
    """Rows with the columns of the groups first, those that differ among them left out."""
    kinds = {name: units[0].frame.schema[name] for name in groups}
    kept = {name: kind for name, kind in kinds.items() if not rows or name in rows[0]}
    return schema.frame(rows, kept)


def _mean(column: pl.Series) -> float:
    """Mean of numbers of which there are some."""
    return float(column.to_numpy().mean())


def corrected(units: Units) -> PpiMean:
    """Correct the score of a group by PPI++."""
    others = units.unlabelled
    return ppi_mean(
        *units.pairs, others["judged"].to_numpy(), clusters_M=others["cluster"].to_numpy(),
        is_share=units.is_share, **units.weighed,
    )  # fmt: skip


def _corrected_by_error_rates(units: Units) -> CorrectedRate:
    """Correct the pass rate of a group by how the judge errs."""
    judged, clusters = (units.frame[name].to_numpy() for name in ("judged", "cluster"))
    return rogan_gladen(*units.pairs, judged, clusters_M=clusters, **units.weighed)


def _corrected_estimate_rows(
    units: Units, mean: PpiMean, rate: CorrectedRate | None
) -> list[dict[str, object]]:
    """Four rows: the judge, labels, both, and both by rates."""
    labelled, everything = units.labelled, units.frame
    facts: dict[str, object] = {
        "measure": "rate" if units.is_rate else "mean", "n_units": everything.height,
        "n_questions": everything["cluster"].n_unique(), "n_labels": labelled.height,
        "n_judgments": int(everything["n"].sum()),
    }  # fmt: skip
    rows: list[dict[str, object]] = [
        {"estimate": "judge_alone", **_alone(everything, "judged", None, share=units.is_share)},
        {"estimate": "labels_alone",
         **_alone(labelled, "said", units.weights, share=units.is_share)},
        {"estimate": "ppi", **as_columns(mean, *_ESTIMATE),
         "weight": mean.weight if mean.value is not None else None,
         "replication_share": _replication_share(units, mean)},
    ]  # fmt: skip
    if rate is not None:
        rows.append({"estimate": "rogan_gladen", **as_columns(rate, *_ESTIMATE)})
    return [row | facts for row in rows]


def _alone(
    rows: pl.DataFrame, name: str, weights: np.ndarray | None, *, share: bool
) -> dict[str, object]:
    """A plain mean with its interval."""
    found = clustered_mean(
        rows[name].to_numpy(), weights_N=weights, clusters_N=rows["cluster"].to_numpy()
    )
    if not found.n_clusters:
        return {"undefined": "too_few_labels"}
    if share:
        ends = weighted_share_interval(found)
    elif found.n_clusters > 1 and found.variance > 0:
        few = found.n_clusters / (found.n_clusters - 1)
        half = t_quantile(found.n_clusters - 1, 0.95) * sqrt(few * found.variance)
        ends = Interval(low=found.value - half, high=found.value + half)
    else:
        ends = Interval()
    return {"value": found.value, "low": ends.low, "high": ends.high}


def _replication_share(units: Units, mean: PpiMean) -> float | None:
    """Share of the variance that replications of one prompt differ by; None where asked once."""
    rows = units.unlabelled
    if mean.value is None or not mean.standard_error or not rows.height:
        return None
    if rows["spread"].null_count() or units.labelled["spread"].null_count():
        return None
    variance = mean.weight**2 * float((rows["spread"] / rows["n"]).sum()) / rows.height**2
    weights = units.weights
    scaled = 1.0 if weights is None else weights / weights.mean()
    labelled = units.labelled
    noise = (labelled["spread"] / labelled["n"]).to_numpy() * np.square(scaled)
    variance += mean.weight**2 * float(noise.sum()) / labelled.height**2
    return min(1.0, variance / mean.standard_error**2)


def _correction_error_rates(units: Units) -> list[dict[str, object]]:
    """True positive and true negative rate."""
    found = judge_rates(*units.pairs, **units.weighed)
    sides = (("tpr", found.tpr, found.tpr_interval, found.n_passed),
             ("tnr", found.tnr, found.tnr_interval, found.n_failed))  # fmt: skip
    return [
        {"rate": name, "value": value, "low": ends.low, "high": ends.high, "n_labels": n,
         "undefined": "too_few_labels" if value is None else None}
        for name, value, ends, n in sides
    ]  # fmt: skip


def _labelled_beside_corrected(units: Units) -> dict[str, object]:
    """What the judge says of labelled units and of the others."""
    labelled, others = units.labelled, units.unlabelled
    if not labelled.height or not others.height:
        return {"differs": False, "undefined": "all_labelled" if labelled.height else None}
    _, judged = units.pairs
    a = clustered_mean(judged, pseudo=1.0 if units.is_share else 0.0, **units.weighed)
    b = clustered_mean(others["judged"].to_numpy(), clusters_N=others["cluster"].to_numpy())
    half = t_quantile(max(1, a.n_clusters - 1), 0.95) * sqrt(a.variance + b.variance)
    difference = a.value - b.value
    return {
        "labelled": clustered_mean(judged, weights_N=units.weights).value,
        "unlabelled": b.value, "difference": difference, "low": difference - half,
        "high": difference + half, "differs": abs(difference) > half,
    }  # fmt: skip


def _correction_flags(units: Units, differs: bool, n_unmatched: int) -> list[str]:
    """What weakens a group's numbers."""
    labelled = units.labelled
    shares = labelled["said"]
    split = units.is_rate and bool(((shares > 0) & (shares < 1)).any())
    known = {
        Caution.FEW_LABELS: labelled["cluster"].n_unique() < FEW,
        Caution.TRANSPORT: differs,
        Caution.UNMATCHED: n_unmatched > 0,
        Caution.RATERS_DISAGREE: split,
    }
    return [str(code) for code, is_so in known.items() if is_so]


def _correction_label_need(units: Units, mean: PpiMean, width: float) -> dict[str, object]:
    """How many labels an interval of this width needs."""
    labels, judged = units.pairs
    alone = ppi_mean(
        labels, np.zeros_like(judged), np.zeros(units.others.height), is_share=units.is_share,
        clusters_M=units.others["cluster"].to_numpy(), **units.weighed,
    )  # fmt: skip
    now = None if mean.low is None or mean.high is None else mean.high - mean.low
    needed = labels_for_width(mean, width, most=units.frame.height)
    return {
        "width": width, "width_now": now, "n_labels": labels.size, "needed": needed,
        "needed_without_judge": labels_for_width(alone, width, most=units.frame.height),
        "undefined": mean.undefined or ("too_few_units" if needed is None else None),
    }  # fmt: skip


_LEAST = 3
_RESAMPLES = 200


def agreed_tables(
    judged: Snapshot,
    *,
    by: Sequence[str] | None = None,
    positive: str | None = None,
    seed: int = 0,
) -> CorrectionTables:
    """Estimate pass rates, and how judges err, from judges alone."""
    if "judge" not in judged.frame.collect_schema():
        raise SweepError(
            "without labels judges are held against each other, expected a column judge",
            hint="--labels FILE: what people said of some of the items",
        )
    counted, rows, is_rate = judged_values(judged, by=by, positive=positive)
    if not is_rate:
        raise SweepError(
            "without labels only pass rates can be corrected, got scores",
            hint="--labels FILE: what people said of some of the items",
        )
    groups = [name for name in counted.groups if name != "judge"]
    unit = [*groups, *(n for n in ("benchmark", "responder", "criterion", "item_id")
                       if n in rows.columns and n not in groups)]  # fmt: skip
    n, value = pl.col("n"), pl.col("value")
    shares = rows.group_by("judge", *unit).agg(passed=(n * value).sum() / n.sum())
    found = [
        _unlabelled_corrected_rows(dict(zip(groups, key, strict=True)), part, seed=seed)
        for key, part in parts_by(shares, groups).items()
    ]
    kinds = {name: shares.schema[name] for name in groups}
    return CorrectionTables(
        agreed=AgreedScores.frame((one for one, _ in found), kinds),
        judges=AgreedJudges.frame((row for _, several in found for row in several), kinds),
    )


def _unlabelled_corrected_rows(
    group: dict[str, object], part: pl.DataFrame, *, seed: int
) -> tuple[dict[str, object], list[dict[str, object]]]:
    """One group's row, and a row a judge."""
    unit = [name for name in part.columns if name not in ("judge", "passed", *group)]
    wide = part.pivot("judge", index=unit, values="passed", sort_columns=True).sort(unit)
    names = [name for name in wide.columns if name not in unit]
    passed_NJ = wide.select(names).to_numpy().astype(np.float64)
    facts: dict[str, object] = {
        "mean_of_judges": float(np.nanmean(passed_NJ)), "n_judges": len(names),
        "n_units": wide.height, "n_questions": wide["item_id"].n_unique(),
    }  # fmt: skip
    if len(names) < _LEAST:
        return group | facts | {"undefined": "too_few_judges"}, []
    votes = np.nan_to_num(np.stack([1 - passed_NJ, passed_NJ], axis=2))
    question = [one for one in ("benchmark", "item_id") if one in wide.columns]
    clusters = wide.select(pl.struct(question).rank("dense")).to_series().to_numpy()
    found = dawid_skene(votes, clusters_N=clusters, resamples=_RESAMPLES, seed=seed)
    row = facts | {
        "value": float(found.rates_V[1]), "low": float(found.low_V[1]),
        "high": float(found.high_V[1]),
        **as_columns(found, "effective", "effective_null", "effective_null_sd", "p_correlated"),
    }  # fmt: skip
    judges = [
        {"judge": name, "judge_alone": float(np.nanmean(passed_NJ[:, j])),
         "tpr": float(found.errors_JVV[j, 1, 1]), "tnr": float(found.errors_JVV[j, 0, 0])}
        for j, name in enumerate(names)
    ]  # fmt: skip
    return group | row, [group | one for one in judges]
