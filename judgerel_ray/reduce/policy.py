"""Missing verdicts and levels of measurement: what a row counts as.

``category`` makes every outcome without a verdict a value of its own; ``drop`` makes those rows
missing; ``bounds`` asks what the worst and the best of all answers in their place would make of a
coefficient. A ``failed`` request is missing under all three: it says nothing about the judge.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from judgerel_ray.core import Outcome
from judgerel_ray.stats import Level

Missing = Literal["category", "drop", "bounds"]
MISSING: tuple[Missing, ...] = ("category", "drop")
"""Policies shown where none is asked for."""
POLICIES: tuple[Missing, ...] = (*MISSING, "bounds")

SCORED = pl.col("outcome") == Outcome.SCORED.value
FAILED = pl.col("outcome") == Outcome.FAILED.value
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


def number_of_row() -> pl.Expr:
    """Give the score of a row, null where it is missing.

    Examples
    --------
    >>> rows = pl.DataFrame({"score": [3.0, None], "outcome": ["scored", "refused"]})
    >>> rows.select(number_of_row()).to_series().to_list()
    [3.0, None]
    """
    return pl.when(SCORED).then(pl.col("score"))


def own_level(group: pl.DataFrame) -> Level:
    """Tell the level of measurement of a group's own scale.

    Labels and two-valued scales are nominal, Likert scales ordinal, other scores interval.

    Examples
    --------
    >>> own_level(pl.DataFrame({"score": [1.0, 2.0, 5.0], "outcome": ["scored"] * 3}))
    'interval'
    """
    scored = group.filter(SCORED)
    if scored["score"].null_count() or scored["score"].n_unique() <= 2:
        return "nominal"
    names = scored["scale"].drop_nulls().unique() if "scale" in scored.columns else pl.Series([])
    likert = [("likert" in str(name).lower()) for name in names]
    return "ordinal" if likert and all(likert) else "interval"
