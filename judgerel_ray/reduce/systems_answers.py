"""One answer a question: the first replication's, or what most say; whose is right most often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from judgerel_ray.reduce.correctness import GOLD
from judgerel_ray.reduce.systems import QUESTION
from judgerel_ray.stats.paired_accuracy import PairedAccuracy, paired_accuracy

AnswerRule = Literal["first", "majority"]
ANSWER_RULES: tuple[AnswerRule, ...] = ("first", "majority")


def one_answer(rows: pl.DataFrame, rule: AnswerRule, *, k: int | None = None) -> pl.DataFrame:
    """Take one answer of every question.

    Parameters
    ----------
    rows : DataFrame
        Of one :class:`judgerel_ray.reduce.systems.System`: question, replication, verdict, gold,
        ``stated``.
    rule : {"first", "majority"}
        The first replication, or the most frequent verdict; of verdicts as frequent, that which
        came first. Replies without a verdict vote for nothing.
    k : int, optional
        Only the first k replies of a question vote.

    Returns
    -------
    DataFrame
        question, verdict, ``right``, ``sure`` (the reply's stated confidence; of a majority its
        share of the replies), ``n_votes``; sorted by question.

    Examples
    --------
    >>> rows = pl.DataFrame({"question": [1] * 3, "replication": [0, 1, 2], "gold": ["2"] * 3,
    ...                      "verdict": ["1", "2", "2"], "stated": [0.9, 0.5, 0.6]})
    >>> one_answer(rows, "first").select("verdict", "right", "sure").row(0)
    ('1', False, 0.9)
    >>> one_answer(rows, "majority").select("verdict", "right").row(0)
    ('2', True)
    """
    facets = [name for name in ("option_order", "template", "temperature") if name in rows.columns]
    ordered = rows.sort(QUESTION, "replication", *facets, nulls_last=True)
    if rule == "first":
        taken = ordered.unique(QUESTION, keep="first", maintain_order=True)
        found = taken.select(QUESTION, GOLD, "verdict", sure="stated", n_votes=pl.lit(1, pl.Int64))
    else:
        voting = ordered.group_by(QUESTION, maintain_order=True).head(k) if k else ordered
        voting = voting.with_columns(
            __place=pl.int_range(pl.len()).over(QUESTION),
            __all=pl.len().over(QUESTION).cast(pl.Int64),
        )
        votes = voting.group_by(QUESTION, GOLD, "verdict", "__all").agg(
            __n=pl.len(), __place=pl.col("__place").min()
        )
        spoken = pl.col("verdict").is_not_null()
        best = votes.with_columns(__n=pl.when(spoken).then("__n").otherwise(0))
        best = best.sort(QUESTION, "__n", "__place", descending=[False, True, False])
        best = best.unique(QUESTION, keep="first", maintain_order=True)
        share = pl.when(spoken).then(pl.col("__n") / pl.col("__all"))
        found = best.select(QUESTION, GOLD, "verdict", sure=share, n_votes="__all")
    right = (pl.col("verdict") == pl.col(GOLD)).fill_null(False)
    sure = pl.when(pl.col("verdict").is_not_null()).then(pl.col("sure"))
    return found.with_columns(right=right, sure=sure).drop(GOLD).sort(QUESTION)


def most_accurate(answers: Sequence[pl.DataFrame], asked: pl.DataFrame | None = None) -> int:
    """Find whose single answers are right most often, on questions that all of them were asked.

    Where there is none, each is taken on its own; of equals the first. `asked` are questions that
    count, by default all.

    Examples
    --------
    Once of once is no better than twice of three times, where both were asked once:

    >>> short = pl.DataFrame({"question": [1], "right": [True]})
    >>> long = pl.DataFrame({"question": [1, 2, 3], "right": [True, False, True]})
    >>> most_accurate([long, short])
    0
    """
    parts = [one if asked is None else one.join(asked, on=QUESTION, how="semi") for one in answers]
    shared = parts[0].select(QUESTION)
    for one in parts[1:]:
        shared = shared.join(one, on=QUESTION, how="semi")
    if shared.height:
        parts = [one.join(shared, on=QUESTION, how="semi") for one in parts]
    found = [one["right"].mean() or 0.0 for one in parts]
    return int(np.argmax(np.asarray(found, dtype=np.float64)))


def joined_accuracy(first: pl.DataFrame, second: pl.DataFrame) -> PairedAccuracy:
    """Compare single answers of two systems, joined by question.

    Examples
    --------
    >>> one = pl.DataFrame({"question": [1, 2], "right": [True, False]})
    >>> joined_accuracy(one, one.reverse()).both
    1
    """
    both = first.select(QUESTION, one="right").join(
        second.select(QUESTION, two="right"), on=QUESTION
    )
    return paired_accuracy(both["one"].to_numpy(), both["two"].to_numpy())
