"""Requests that landed as failed: no reply came of them, so none is counted among the replies."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.core import Outcome
from judgerel_ray.reduce.columns import is_judge
from judgerel_ray.reduce.grouping import Block
from judgerel_ray.reduce.tally import Tally

NOT_SENT = "never sent, an earlier stage has no text for them"
UNKNOWN = "no reason recorded"
_CODE = r"^refused: ([a-z_]+):"


def failed_requests(
    source: pl.LazyFrame | Tally, groups: Sequence[str], *, block: Block = 0
) -> pl.DataFrame:
    """Count the failed requests of judges by group and reason.

    Parameters
    ----------
    source : pl.LazyFrame or Tally
        Judgments; of a tally rows are read only where something failed.
    groups : sequence of str
        Columns that make a group.
    block : int or "all"
        Only rows of this block.

    Returns
    -------
    pl.DataFrame
        The groups, ``reason`` and ``n``, the most frequent first.

    Examples
    --------
    >>> rows = pl.LazyFrame({"judge": ["j", "j"], "outcome": ["scored", "failed"],
    ...                      "finish_reason": ["stop", "refused: prompt_too_long: 9 > 8"]})
    >>> failed_requests(rows, ["judge"]).rows()
    [('j', 'prompt_too_long', 1)]
    """
    rows = source.rows if isinstance(source, Tally) else source
    columns = rows.collect_schema().names()
    failed = pl.col("outcome").cast(pl.String) == Outcome.FAILED.value
    if "outcome" not in columns or (isinstance(source, Tally) and not _any_failed(source)):
        rows, failed = rows.head(0), pl.lit(False)
    reason = reason_of(pl.col("finish_reason")) if "finish_reason" in columns else pl.lit(UNKNOWN)
    mine = failed & is_judge(columns)
    if "block" in columns and block != "all":
        mine &= pl.col("block").fill_null(0) == block
    return (
        rows.filter(mine)
        .with_columns(reason=reason)  # of select alone, a literal makes a row out of none
        .select(*groups, "reason")
        .group_by(*groups, "reason")
        .agg(n=pl.len().cast(pl.Int64))
        .sort(["n", "reason", *groups], descending=[True, False, *(False for _ in groups)])
        .collect()
    )


def reason_of(finish_reason: pl.Expr) -> pl.Expr:
    """Name the reason of a failed row: an engine's code, or that it was never sent.

    Examples
    --------
    >>> rows = pl.DataFrame({"x": ["refused: option_empty: 'A'", "refused: no answer of m", None]})
    >>> rows.select(reason_of(pl.col("x"))).to_series().to_list()[::2]
    ['option_empty', 'no reason recorded']
    """
    text = finish_reason.cast(pl.String)
    known = pl.when(text.is_null()).then(pl.lit(UNKNOWN)).otherwise(pl.lit(NOT_SENT))
    return pl.coalesce(text.str.extract(_CODE), known)


def _any_failed(tally: Tally) -> bool:
    """Whether any row failed, by the counts."""
    kinds = tally.nested.kinds  # few, whatever the number of questions
    if "outcome" not in kinds.columns or not _may_fail(kinds):
        return False
    return _may_fail(tally.nested.seen())


def _may_fail(kinds: pl.DataFrame) -> bool:
    """Whether failed is among kinds of rows."""
    return bool((kinds["outcome"].cast(pl.String) == Outcome.FAILED.value).any())
