"""Probability-weighted scores: the limit of the mean of infinitely many ratings of a response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import Scale
from judgerel_ray.counting.groups.rated import RatedGroup, rated_groups
from judgerel_ray.counting.verdicts.scales import SCALE, known_scale, scale_scores
from judgerel_ray.measuring.distributions import refuse_off_scale
from judgerel_ray.stats import weighted_scores
from judgerel_ray.stats.verdict_distributions.limits import weighted_bounds

RESPONSE = (
    "judge", "benchmark", "item_id", "responder", "criterion", "definition", SCALE, "template",
    "temperature",
)  # fmt: skip
"""Columns of one response, rated in one way."""
WEIGHTED_GROUP = ("judge", "benchmark", "criterion", "definition", SCALE, "temperature")
_NUMBERS = ("score", "low", "high", "mass")


def weighted_table(
    distributions: pl.DataFrame, *, scales: Mapping[str, Scale] | None = None
) -> pl.DataFrame:
    """Weight the values of a scale by their probabilities, for every response.

    One row a response and way of asking: the columns of `RESPONSE`; ``score``, the mean over
    replies that have one, on the scale's own numbers (null where none can have); ``low`` and
    ``high``, which it certainly does not leave, whatever stayed open; ``mass``, the probability of
    a reply with a score.

    Examples
    --------
    >>> place = dict(judge="j", benchmark="b", item_id="q", responder="x", scale="binary",
    ...              temperature=1.0)
    >>> told = [("No", 0.2), ("Yes", 0.6), (None, 0.2)]
    >>> rows = [{**place, "verdict": name, "probability": p, "low": p, "high": p}
    ...         for name, p in told]
    >>> found = weighted_table(pl.DataFrame(rows))
    >>> found.select("score", "low", "high", "mass").row(0)
    (0.7499999999999999, 0.7499999999999999, 0.7499999999999999, 0.8)
    """
    lacking = [name for name in RESPONSE if name not in distributions.columns]
    rated = distributions.filter(pl.col(SCALE).is_not_null()).with_columns(
        **{name: pl.lit(None, pl.String) for name in lacking}
    )
    parts = [_empty()]
    for (name,), part in rated.group_by(SCALE, maintain_order=True):
        scale = known_scale(str(name), scales)
        values = None if scale is None else scale_scores(scale)
        if values is not None:
            refuse_off_scale(part["verdict"].unique().sort().to_list(), str(name), values)
            parts.append(_of_scale(part, values))
    return pl.concat(parts).sort(RESPONSE, nulls_last=True)


def weighted_groups(
    weighted: pl.DataFrame,
    *,
    by: Sequence[str] | None = None,
    scales: Mapping[str, Scale] | None = None,
) -> list[RatedGroup]:
    """Lay probability-weighted scores out as ratings of one replication.

    Examples
    --------
    >>> weighted_groups(weighted_table(pl.DataFrame({"scale": []}, schema={"scale": pl.String})))
    []
    """
    if weighted.is_empty() or not set(by or ()) <= set(weighted.columns):
        return []
    names = weighted[SCALE].unique().sort().to_list()
    known = {name: scale for name in names if (scale := known_scale(name, scales)) is not None}
    return rated_groups(weighted.drop("low", "high", "mass"), known, by=by)


def weighted_summary(weighted: pl.DataFrame) -> pl.DataFrame:
    """Summarise probability-weighted scores.

    One row a group of `WEIGHTED_GROUP`: ``n_items``, ``n_responses`` (with a score, asked in one
    way), ``mean``, ``least`` and ``greatest`` of their scores; ``mass``, the mean probability of a
    reply with a score; ``width`` and ``largest_width``, mean and largest, of the certain bounds.

    Examples
    --------
    See ``tests/analyses/distributions/test_weighted.py``.
    """
    width = pl.col("high") - pl.col("low")
    there = pl.col("score").is_not_null()
    return (
        weighted.group_by(WEIGHTED_GROUP, maintain_order=True)
        .agg(
            n_items=pl.col("item_id").filter(there).n_unique().cast(pl.Int64),
            n_responses=there.sum().cast(pl.Int64),
            mean=pl.col("score").mean(),
            least=pl.col("score").min(),
            greatest=pl.col("score").max(),
            mass=pl.col("mass").mean(),
            width=width.mean(),
            largest_width=width.max(),
        )
        .sort(WEIGHTED_GROUP, nulls_last=True)
    )


def _of_scale(part: pl.DataFrame, values: Mapping[str, float]) -> pl.DataFrame:
    """Scores of the responses rated on one scale."""
    units = part.select(RESPONSE).unique(maintain_order=True).with_row_index("__unit")
    coded = part.join(units, on=RESPONSE, nulls_equal=True)
    unit = coded["__unit"].to_numpy()
    # Replies without a score stand last, in a column of their own.
    place = {label: n for n, label in enumerate(values)}
    column = np.array([place.get(one, len(place)) for one in coded["verdict"].to_list()])

    def laid_out(name: str) -> NDArray[np.float64]:
        cells = np.zeros((units.height, len(place) + 1))
        cells[unit, column] = coded[name].to_numpy()
        return cells

    scores = np.array(list(values.values()))
    found = weighted_scores(laid_out("probability")[:, :-1], scores)
    ends = weighted_bounds(laid_out("low"), laid_out("high"), scores)
    columns = {
        "score": found.scores_N,
        "low": ends.low_N,
        "high": ends.high_N,
        "mass": found.mass_N,
    }
    numbers = {name: pl.Series(column, nan_to_null=True) for name, column in columns.items()}
    kinds = [pl.col(name).cast(kind) for name, kind in _empty().schema.items()]
    return units.with_columns(**numbers).select(kinds)


def _empty() -> pl.DataFrame:
    """A table without rows."""
    names: dict[str, pl.DataType] = {name: pl.String() for name in RESPONSE}
    numbers = dict.fromkeys(("temperature", *_NUMBERS), pl.Float64())
    return pl.DataFrame(schema={**names, **numbers})
