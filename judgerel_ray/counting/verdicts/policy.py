"""Missing verdicts and levels of measurement: what a row counts as.

``category`` makes every outcome without a verdict a value of its own; ``drop`` makes those rows
missing; ``bounds`` asks what the worst and the best of all answers in their place would make of a
coefficient. A ``failed`` request is missing under all three: it says nothing about the judge.

Rows of one quantity each: its value, its interval, how many it rests on, and how it was had.

Rows of results: their columns in reading order, and the words that stand in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl

from judgerel_ray.core import Outcome, Scale
from judgerel_ray.counting.verdicts.scales import known_scale, level_of_scales, scale_names
from judgerel_ray.stats import Level

Missing = Literal["category", "drop", "bounds"]
MISSING: tuple[Missing, ...] = ("category", "drop")
"""Policies shown where none is asked for."""
POLICIES: tuple[Missing, ...] = (*MISSING, "bounds")

SCORED = pl.col("outcome") == Outcome.SCORED.value
FAILED = pl.col("outcome") == Outcome.FAILED.value
_TWO = 2  # of two values all levels agree
LABEL = pl.coalesce(pl.col("verdict"), pl.col("score").cast(pl.String))


def value_of(policy: Missing) -> pl.Expr:
    """Give the nominal value of a row under a policy, null where it is missing.

    Examples
    --------
    >>> rows = pl.DataFrame({"verdict": ["A", None], "score": [None, None],
    ...                      "outcome": ["scored", "unparsed"]}, schema_overrides={"score": float})
    >>> rows.select(value_of("category")).to_series().to_list()
    ['=A', 'unparsed']
    >>> rows.select(value_of("drop")).to_series().to_list()
    ['=A', None]
    """
    # The sign keeps a verdict called "unparsed" apart from the outcome.
    verdict = pl.when(SCORED).then(pl.lit("=") + LABEL)
    return verdict.when(~FAILED).then(pl.col("outcome")) if policy == "category" else verdict


def outcomes_without_verdict(rows: pl.DataFrame) -> int:
    """Count the outcomes without a verdict that occur: under ``category`` each is one value more.

    Examples
    --------
    >>> rows = {"outcome": ["scored", "unparsed", "refused", "unparsed", "failed"]}
    >>> outcomes_without_verdict(pl.DataFrame(rows))
    2
    """
    return rows.filter(~SCORED & ~FAILED)["outcome"].n_unique()


def number_of_row() -> pl.Expr:
    """Give the score of a row, null where it is missing.

    Examples
    --------
    >>> rows = pl.DataFrame({"score": [3.0, None], "outcome": ["scored", "refused"]})
    >>> rows.select(number_of_row()).to_series().to_list()
    [3.0, None]
    """
    return pl.when(SCORED).then(pl.col("score"))


def own_level(group: pl.DataFrame, scales: Mapping[str, Scale] | None = None) -> Level:
    """Tell the level of measurement of a group's own scale.

    A scale that is declared or shipped has its own level, and several have the weakest of theirs
    (see :func:`judgerel_ray.counting.verdicts.scales.level_of_scales`). Without such a scale,
    labels and scores of two values are nominal. A verdict without a score makes a group nominal.

    Parameters
    ----------
    group : pl.DataFrame
        Kinds of rows or rows: outcome, score, and verdict and scale where there are any.
    scales : mapping of str to Scale, optional
        Scales besides the shipped ones.

    Examples
    --------
    >>> rows = pl.DataFrame({"score": [1.0, 2.0, 5.0], "outcome": ["scored"] * 3})
    >>> own_level(rows), own_level(rows.with_columns(scale=pl.lit("likert5")))
    ('interval', 'ordinal')
    """
    scored = group.filter(SCORED)
    if scored.is_empty() or scored["score"].null_count():
        return "nominal"
    names = scale_names(scored)
    if scored["score"].n_unique() <= _TWO and not any(known_scale(one, scales) for one in names):
        return "nominal"
    verdicts = scored["verdict"].drop_nulls().unique() if "verdict" in scored.columns else ()
    return level_of_scales(names, verdicts, scales)


QUANTITY = {
    "quantity": pl.String(),
    "threshold": pl.Float64(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "k": pl.Int64(),
    "n": pl.Int64(),
    "estimator": pl.String(),
    "undefined": pl.String(),
}
"""Columns of a quantity: ``low`` and ``high`` are 95 %, ``k`` of ``n`` where it is a share."""


def quantity_row(
    name: str,
    found: object = None,
    *,
    value: float | None = None,
    n: int | None = None,
    estimator: str | None = None,
    undefined: str | None = None,
    threshold: float | None = None,
) -> dict[str, object]:
    """Lay out one quantity.

    Parameters
    ----------
    name : str
        Of the quantity.
    found : object, optional
        What has value, low and high, and k and n where it is a share.
    value, n, estimator, undefined
        What `found` does not tell.
    threshold : float, optional
        Of the labels it is about.

    Examples
    --------
    >>> quantity_row("aurc", value=0.25, n=8)["value"]
    0.25
    """
    return {
        "quantity": name,
        "threshold": threshold,
        "value": getattr(found, "value", value),
        "low": getattr(found, "low", None),
        "high": getattr(found, "high", None),
        "k": getattr(found, "k", None),
        "n": getattr(found, "n", n),
        "estimator": estimator,
        "undefined": undefined,
    }


NOISE_ABOVE = 0.05
COLUMNS: Mapping[str, pl.DataType] = {
    "coefficient": pl.String(), "value": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(),
    "noise_floor": pl.Float64(), "noise_floor_sd": pl.Float64(), "p_noise": pl.Float64(),
    "noise": pl.Boolean(), "measurement": pl.String(), "missing": pl.String(),
    "n_categories": pl.Int64(), "unit": pl.String(), "conditions": pl.String(),
    "n_items": pl.Int64(), "n_replications": pl.Int64(), "n_judgments": pl.Int64(),
    "n_missing": pl.Int64(), "estimator": pl.String(), "undefined": pl.String(),
    "lead": pl.String(),
}  # fmt: skip
"""Columns after those of the groups, in reading order."""
REPEATABILITY, REPRODUCIBILITY = "repeatability", "reproducibility"
"""``conditions``: the same prompt again; nuisance facets drawn at random for each judgment."""
Row = dict[str, object]
