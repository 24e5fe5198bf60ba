"""Serving noise between two runs: how often one request, asked in both, got another reply.

With one key goes one seed, so a server that repeats itself gives one text, at any temperature.
Where engines differ in what is part of a judge (its precision, its version) keys and seeds differ,
too: then only temperature 0 is compared, prompt by prompt, as sampling would differ by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from judgerel_ray.reduce.columns import FACETS, is_judge
from judgerel_ray.reduce.estimates import Row
from judgerel_ray.reduce.policy import FAILED, value_of
from judgerel_ray.reduce.serving import TEXT
from judgerel_ray.stats.differing import differing_requests

KEY, PROMPT = "key", "prompt"
"""How two replies were found to be to one request: by their key, or by prompt and replication."""
SHARED_COLUMNS = {
    "judge": pl.String(), "temperature": pl.Float64(), "matched": pl.String(),
    "n_requests": pl.Int64(), "n_items": pl.Int64(), "what": pl.String(),
    "n_differing": pl.Int64(), "value": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(),
    "n_items_differing": pl.Int64(), "estimator": pl.String(),
}  # fmt: skip
"""Columns of :func:`shared_requests`."""
_ASKED = (*(name for name in FACETS if name != "judge_fingerprint"), "item_id", "replication")
_NEEDED = ("judge", "benchmark", "item_id", "temperature", "replication", "seed", "outcome", "key")


def shared_requests(
    frame_a: pl.LazyFrame,
    frame_b: pl.LazyFrame,
    *,
    judges: Sequence[str] = (),
    texts: tuple[pl.LazyFrame, pl.LazyFrame] | None = None,
) -> pl.DataFrame:
    """Compute how often requests that both have were answered otherwise.

    Parameters
    ----------
    frame_a, frame_b : pl.LazyFrame
        Judgments of runs: of the judgments table.
    judges : sequence of str
        Judges of whom `frame_b` asked the same prompts under other keys: their replies at
        temperature 0 are compared by what was asked.
    texts : pair of pl.LazyFrame, optional
        ``key`` and ``text_hash`` of the replies of each.

    Returns
    -------
    pl.DataFrame
        One row a judge, temperature, way of matching, and what is compared ("verdicts", "texts"):
        `SHARED_COLUMNS`. ``value`` is the share of requests that differ, its interval over
        questions. A reply without a verdict counts as a verdict of its own; failed requests are
        left out. No rows where nothing is shared.

    Examples
    --------
    >>> rows = pl.LazyFrame({"key": ["k1", "k2"], "judge": ["j"] * 2, "benchmark": ["b"] * 2,
    ...     "item_id": ["q", "r"], "temperature": [1.0] * 2, "replication": [0] * 2,
    ...     "seed": [1, 2], "role": ["judge"] * 2, "outcome": ["scored"] * 2,
    ...     "score": [None] * 2, "verdict": ["A", "B"]}, schema_overrides={"score": pl.Float64})
    >>> other = rows.with_columns(verdict=pl.lit("A"))
    >>> shared_requests(rows, other).select("n_requests", "n_differing", "value").rows()
    [(2, 1, 0.5)]
    """
    a, b = _replies(frame_a), _replies(frame_b)
    if a is None or b is None:
        return pl.DataFrame(schema=SHARED_COLUMNS)
    if texts is not None:
        a, b = (
            side.join(own, on="key", how="left") for side, own in zip((a, b), texts, strict=True)
        )
    same = a.join(b, on="key", how="inner", suffix="_b")
    # One key is one seed, unless an earlier version made it otherwise.
    found = [*_rows(same.filter(pl.col("seed").eq_missing(pl.col("seed_b"))), KEY)]
    if judges:
        mine = pl.col("judge").is_in(list(judges)) & (pl.col("temperature") == 0)
        rest_a = a.filter(mine).join(b.select("key"), on="key", how="anti")
        rest_b = b.filter(mine)
        there = [set(side.collect_schema().names()) for side in (a, b)]
        on = [name for name in _ASKED if name in there[0] & there[1]]
        asked = rest_a.join(rest_b, on=on, how="inner", suffix="_b", nulls_equal=True)
        found += _rows(asked, PROMPT)
    table = pl.DataFrame(found, schema=SHARED_COLUMNS, orient="row")
    order = ["matched", "judge", "temperature", "what"]
    return table.sort(order, descending=[False, False, False, True])


def _replies(frame: pl.LazyFrame) -> pl.LazyFrame | None:
    """Replies of judges with what they say; None where requests have no keys."""
    columns = frame.collect_schema().names()
    if not set(_NEEDED) <= set(columns):
        return None
    kept = [name for name in dict.fromkeys((*_NEEDED, *_ASKED)) if name in columns]
    return frame.filter(is_judge(columns) & ~FAILED).select(
        *kept, value_of("category").alias("verdicts")
    )


def _rows(pairs: pl.LazyFrame, matched: str) -> Iterator[Row]:
    """Shares of pairs that differ, by judge and temperature."""
    columns = pairs.collect_schema().names()
    by = ["judge", "temperature"]
    for what, name in (("verdicts", "verdicts"), ("texts", TEXT)):
        if name not in columns:
            continue
        both = pl.col(name).is_not_null() & pl.col(f"{name}_b").is_not_null()
        counted = (
            pairs.filter(both)
            .group_by(*by, "benchmark", "item_id")
            .agg(n=pl.len(), k=(pl.col(name) != pl.col(f"{name}_b")).sum())
            .collect(engine="streaming")
            .sort(*by, "benchmark", "item_id")
        )
        for part in counted.partition_by(by, maintain_order=True):
            found = differing_requests(part["k"].to_numpy(), part["n"].to_numpy())
            ends = found.pairs_interval
            yield {
                "judge": part["judge"][0], "temperature": part["temperature"][0],
                "matched": matched, "what": what,
                "n_requests": found.n_units, "n_items": found.n_questions,
                "n_differing": int(part["k"].sum()), "value": found.pairs,
                "low": ends.low, "high": ends.high, "n_items_differing": found.n_differing,
                "estimator": f"share of shared requests with other {what}; {ends.method}",
            }  # fmt: skip
