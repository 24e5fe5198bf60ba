"""How sure a system is of each answer: what it states, how far its replications agree, and more."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.core import SweepError

CONFIDENCES = ("stated", "agreement", "support", "margin", "probability")
"""Confidences an answer may have.

stated: as the reply says. agreement: share of the most frequent verdict among the question's other
replications. support: share of its other replications that gave this very verdict. margin: of the
confusion matrix. probability: of this verdict, as log-probabilities have it.
"""
_GIVEN = ("margin", "probability")


def with_confidences(
    rows: pl.DataFrame, *, unit: Sequence[str], chances: Sequence[pl.DataFrame] = ()
) -> pl.DataFrame:
    """Give every answer the confidences there are; null where it has none.

    Parameters
    ----------
    rows : DataFrame
        Answers.
    unit : sequence of str
        Columns of a question as it was asked: its replications are told by nothing else.
    chances : sequence of DataFrame
        As of :func:`judgerel_ray.reduce.systems.read_systems`.

    Returns
    -------
    DataFrame
        With a column for each of `CONFIDENCES`. An answer takes no part in its own agreement or
        support; other replications without a verdict count as such.

    Raises
    ------
    SweepError
        If a confidence is not between 0 and 1.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q"] * 3, "verdict": ["A", "A", "B"]})
    >>> with_confidences(rows, unit=["item_id"]).select("agreement", "support").rows()
    [(0.5, 0.5), (0.5, 0.5), (1.0, 0.0)]
    """
    for table in chances:
        rows = _with_chances(rows, table)
    stated = pl.col("confidence") if "confidence" in rows.columns else pl.lit(None)
    rows = rows.with_columns(stated=stated.cast(pl.Float64).fill_nan(None))
    rows = rows.with_columns(
        pl.lit(None, pl.Float64).alias(name) for name in _GIVEN if name not in rows.columns
    )
    for name in ("stated", *_GIVEN):
        outside = rows.filter(~pl.col(name).cast(pl.Float64).is_between(0, 1))
        if outside.height:
            raise SweepError(f"{name} confidence must be between 0 and 1, got {outside[name][0]}")
    return _with_votes(rows, unit).cast(dict.fromkeys(CONFIDENCES, pl.Float64))


def _with_chances(rows: pl.DataFrame, chances: pl.DataFrame) -> pl.DataFrame:
    """Margins and probabilities that lie in a table of their own, where the rows say nothing."""
    if chances.is_empty():
        return rows
    keys = [name for name in chances.columns if name not in _GIVEN and name in rows.columns]
    given = [name for name in _GIVEN if name in chances.columns]
    one = chances.select(*keys, *given).unique(keys, keep="any")
    one = one.cast({name: rows.schema[name] for name in keys})
    joined = rows.join(one, on=keys, how="left", nulls_equal=True, suffix="__new")
    both = [name for name in given if name in rows.columns]
    return joined.with_columns(pl.coalesce(name, f"{name}__new").alias(name) for name in both).drop(
        f"{name}__new" for name in both
    )


def _with_votes(rows: pl.DataFrame, unit: Sequence[str]) -> pl.DataFrame:
    """Agreement and support among the other replications of the question."""
    votes = rows.group_by(*unit, "verdict").agg(__mine=pl.len().cast(pl.Int64))
    spoken = votes.with_columns(
        __spoken=pl.when(pl.col("verdict").is_not_null()).then(pl.col("__mine")).otherwise(0)
    )
    # Only the two most frequent verdicts can be the most frequent one of the others.
    most = spoken.group_by(*unit).agg(
        __all=pl.col("__mine").sum(),
        __first=pl.col("__spoken").max(),
        __second=pl.col("__spoken").sort(descending=True).slice(1, 1).first().fill_null(0),
    )
    keyed = rows.join(votes, on=[*unit, "verdict"], how="left", nulls_equal=True)
    keyed = keyed.join(most, on=list(unit), how="left", nulls_equal=True)
    mine, first, second = pl.col("__mine"), pl.col("__first"), pl.col("__second")
    spoke = pl.col("verdict").is_not_null()
    alone_on_top = spoke & (mine == first) & (second < first)
    others = pl.when(pl.col("__all") > 1).then(pl.col("__all") - 1)
    leading = pl.when(alone_on_top).then(pl.max_horizontal(first - 1, second)).otherwise(first)
    return keyed.with_columns(
        agreement=leading / others, support=pl.when(spoke).then((mine - 1) / others)
    ).drop("__mine", "__all", "__first", "__second")
