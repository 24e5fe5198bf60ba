"""Pass rates without labels: what several judges agree on, if they err independently."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from judgerel_ray.analyses.correction.units import judged_values
from judgerel_ray.analyses.reliability.reducing import Judged
from judgerel_ray.core import SweepError
from judgerel_ray.counting.groups.grouping import parts_by
from judgerel_ray.stats.correction.dawid_skene import dawid_skene

_LEAST = 3
_AGREED = {
    "value": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(), "mean_of_judges":
    pl.Float64(), "n_judges": pl.Int64(), "n_units": pl.Int64(), "n_questions": pl.Int64(),
    "effective": pl.Float64(), "effective_null": pl.Float64(), "effective_null_sd": pl.Float64(),
    "p_correlated": pl.Float64(), "undefined": pl.String(),
}  # fmt: skip
_JUDGES = {
    "judge": pl.String(), "judge_alone": pl.Float64(), "tpr": pl.Float64(), "tnr": pl.Float64(),
}  # fmt: skip


def agreed_tables(
    judged: Judged,
    *,
    by: Sequence[str] | None = None,
    positive: str | None = None,
    resamples: int = 200,
    seed: int = 0,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Estimate pass rates, and how judges err, from judges alone.

    Parameters
    ----------
    judged : Judged
        Judgments of three judges or more.
    by : sequence of str, optional
        Columns to group by, besides the judge.
    positive : str, optional
        The verdict that passes.
    resamples : int
        Of the bootstrap over questions.
    seed : int
        Of the bootstrap.

    Returns
    -------
    tuple of DataFrame
        ``agreed``, one row a group: the pass rate (``value``) with its interval, ``mean_of_judges``
        the uncorrected one, how many independent judges these are worth (``effective``) beside
        what it would be if errors were independent, and ``p_correlated``. ``judges``: by judge its
        pass rate, and how often it is right by what they agree on.

    Raises
    ------
    SweepError
        If there is no column judge, scores are judged, or nothing says which verdict passes.
    """
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
        _agreed(dict(zip(groups, key, strict=True)), part, resamples=resamples, seed=seed)
        for key, part in parts_by(shares, groups).items()
    ]
    kinds = {name: shares.schema[name] for name in groups}
    return (
        pl.DataFrame([one for one, _ in found], schema=kinds | _AGREED),
        pl.DataFrame([row for _, several in found for row in several], schema=kinds | _JUDGES),
    )


def _agreed(
    group: dict[str, object], part: pl.DataFrame, *, resamples: int, seed: int
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
    found = dawid_skene(votes, clusters_N=clusters, resamples=resamples, seed=seed)
    row = facts | {
        "value": float(found.rates_V[1]), "low": float(found.low_V[1]),
        "high": float(found.high_V[1]), "effective": found.effective,
        "effective_null": found.effective_null, "effective_null_sd": found.effective_null_sd,
        "p_correlated": found.p_correlated,
    }  # fmt: skip
    judges = [
        {"judge": name, "judge_alone": float(np.nanmean(passed_NJ[:, j])),
         "tpr": float(found.errors_JVV[j, 1, 1]), "tnr": float(found.errors_JVV[j, 0, 0])}
        for j, name in enumerate(names)
    ]  # fmt: skip
    return group | row, [group | one for one in judges]
