"""What answers cost: in money, else in tokens, else in requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from judgerel_ray.core import Outcome, SweepError
from judgerel_ray.core.errors import warn_of
from judgerel_ray.core.verb import read_number
from judgerel_ray.counting.measured import TOKENS, unused_line
from judgerel_ray.measuring.systems import SYSTEM

_SPENT = "spent"
_MILLION = 1_000_000
_MOST = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model's replies cost."""

    reply: float = 0.0  # Of every reply, whatever its length.
    prompt: float = 0.0  # Of a million tokens read, and written.
    completion: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplyCosts:
    """Mean cost of the replies of a file or run."""

    unit: str  # "cost" (money), "tokens" or "requests".
    means: pl.DataFrame  # The columns that make a system, `stage`, and `spent` a reply.
    row: pl.Expr  # The cost of one row of judgments.

    def of(self, name: Mapping[str, object]) -> dict[str, float]:
        """Give the mean cost of a reply in each stage of a system.

        Examples
        --------
        >>> rows = pl.LazyFrame({"judge": ["a", "a", "b"], "cost": [1.0, 2.0, 5.0]})
        >>> read_reply_costs(rows).of({"judge": "a"})
        {'': 1.5}
        """
        of_name = [
            pl.col(key).eq_missing(pl.lit(value))
            for key, value in name.items()
            if key in self.means.columns
        ]
        rows = self.means.filter(pl.all_horizontal(pl.lit(True), *of_name))
        weighted = rows.group_by("stage").agg(
            (pl.col(_SPENT) * pl.col("n")).sum() / pl.col("n").sum()
        )
        return dict(weighted.sort("stage").iter_rows())


PRICE = "A_REPLY, or PROMPT,COMPLETION of a million tokens"
"""What a price is, as text."""


def price_of(price: object) -> Price:
    """Read a price: of a reply (``0.002``), or of a million tokens read and written (``0.8,4``).

    Examples
    --------
    >>> price_of("0.8,4") == price_of((0.8, 4))
    True
    >>> price_of(0.002)
    Price(reply=0.002, prompt=0.0, completion=0.0)
    """
    if isinstance(price, Price):
        return price
    parts = price.split(",") if isinstance(price, str) else price
    try:
        numbers = [
            read_number(part) for part in (parts if isinstance(parts, list | tuple) else [parts])
        ]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not all(0 <= n < _MOST for n in numbers):
        raise ValueError(PRICE)
    if len(numbers) == 1:
        return Price(reply=numbers[0])
    return Price(prompt=numbers[0], completion=numbers[1])


def read_reply_costs(
    judgments: pl.LazyFrame, *, prices: Mapping[str, Price] | None = None
) -> ReplyCosts:
    """Find what replies cost.

    In money by `prices`, or where every row has a ``cost``, none below 0 and not all 0; else in
    tokens, where every row has them; else every reply counts 1.

    Examples
    --------
    >>> rows = pl.LazyFrame({"judge": ["a"], "prompt_tokens": [90], "completion_tokens": [10]})
    >>> read_reply_costs(rows).unit, read_reply_costs(rows).of({"judge": "a"})
    ('tokens', {'': 100.0})
    """
    columns, every = judgments.collect_schema().names(), judgments
    counted = pl.lit(True)
    if "block" in columns:
        counted &= pl.col("block").fill_null(0) == 0
    if "outcome" in columns:
        counted &= pl.col("outcome").fill_null("") != Outcome.FAILED.value
    judgments = every.filter(counted)
    there = [name for name in ("cost", *TOKENS) if name in columns]
    nulls = judgments.select(pl.col(there).null_count()).collect().to_dicts() if there else [{}]
    whole = {name for name in there if not nulls[0][name]}
    tokens = pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in TOKENS)
    if prices is not None:
        unit, row = "cost", _priced(judgments, prices, whole)
    elif "cost" in whole and _is_charged(judgments):
        unit, row = "cost", pl.col("cost").cast(pl.Float64)
    elif set(TOKENS) <= whole:
        unit, row = "tokens", tokens
    else:
        unit, row = "requests", pl.lit(1.0)
    if unit != "cost" and (line := unused_line(every, counted, unit)):
        warn_of([line])
    keys = [name for name in SYSTEM if name in columns]
    stage = pl.col("stage") if "stage" in columns else pl.lit("")
    role = [pl.col("role").fill_null("judge")] if "role" in columns else []
    means = (
        judgments.with_columns(*role, stage=stage.fill_null(""), spent=row)
        .group_by(*keys, "stage")
        # Rows are summed in any order: last digits are noise, and must not tell who is dearer.
        .agg(pl.col(_SPENT).mean().round_sig_figs(12), n=pl.len())
        .collect()
        .sort(*keys, "stage")
    )
    return ReplyCosts(unit=unit, means=means, row=row)


def _is_charged(judgments: pl.LazyFrame) -> bool:
    """Whether any reply costs anything, and none earns it."""
    cost = pl.col("cost").cast(pl.Float64)
    return bool(judgments.select((cost.min() >= 0) & (cost.max() > 0)).collect().item())


def _priced(judgments: pl.LazyFrame, prices: Mapping[str, Price], whole: set[str]) -> pl.Expr:
    """The cost of a row by the price of its judge."""
    names = judgments.select(pl.col("judge").cast(pl.String).unique()).collect()["judge"]
    lacking = sorted(set(names.drop_nulls()) - set(prices))
    unknown = sorted(set(prices) - set(names.drop_nulls()))
    if lacking or unknown:
        raise SweepError(
            f"no price of {lacking[0]!r}" if lacking else f"{unknown[0]!r} has a price and no row",
            where={"judges": " ".join(sorted(names.drop_nulls()))},
            hint="--price NAME=... for every judge",
        )
    by_token = any(price.prompt or price.completion for price in prices.values())
    if by_token and not set(TOKENS) <= whole:
        raise SweepError("prices of tokens need prompt_tokens and completion_tokens in every row")

    def part(name: str) -> pl.Expr:
        price_of = {judge: float(getattr(price, name)) for judge, price in prices.items()}
        return pl.col("judge").cast(pl.String).replace_strict(price_of, return_dtype=pl.Float64)

    if not by_token:
        return part("reply")
    read, written = (pl.col(name).cast(pl.Float64) for name in TOKENS)
    return part("reply") + (part("prompt") * read + part("completion") * written) / _MILLION
