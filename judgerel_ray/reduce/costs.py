"""What judgments cost: in judgments, tokens and GPU-seconds, as far as it was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.columns import is_judge

Unit = Literal["judgments", "tokens", "gpu_seconds"]
UNITS: tuple[Unit, ...] = ("judgments", "tokens", "gpu_seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Cost of one judgment.

    Attributes
    ----------
    prompt_tokens : float or None
        Tokens of its prompt. The replications of one prompt share it, so it is paid once for them.
    completion_tokens : float or None
        Tokens of its reply.
    gpu_seconds : float or None
        GPU time, prompt and reply together: a run measures no finer.
    """

    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    gpu_seconds: float | None = None

    def total(self, unit: Unit, *, n_prompts: float, n_replications: float) -> float | None:
        """Compute what some prompts with some replications each come to; None where not measured.

        Examples
        --------
        >>> costs = Costs(prompt_tokens=500.0, completion_tokens=20.0)
        >>> costs.total("tokens", n_prompts=10, n_replications=3)
        5600.0
        >>> costs.total("judgments", n_prompts=10, n_replications=3)
        30
        """
        rates = self.rates(unit)
        return None if rates is None else n_prompts * (rates[0] + n_replications * rates[1])

    def rates(self, unit: Unit) -> tuple[float, float] | None:
        """Tell the cost of a prompt and that of each replication; None where not measured.

        Examples
        --------
        >>> Costs(gpu_seconds=0.5).rates("gpu_seconds"), Costs().rates("tokens")
        ((0, 0.5), None)
        """
        if unit == "judgments":
            return 0, 1
        if unit == "gpu_seconds":
            return None if self.gpu_seconds is None else (0, self.gpu_seconds)
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens, self.completion_tokens


_MOST_SPENT = 1e12  # every way to split a budget is looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What may be spent on one group of judgments."""

    amount: float
    unit: Unit = "judgments"

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise SweepError(f"a budget is in {', '.join(UNITS)}, got {self.unit!r}")
        if not 0 < self.amount <= _MOST_SPENT:
            raise SweepError(
                f"a budget must be above 0 and at most {_MOST_SPENT:g}, got {self.amount:g}"
            )


def measured_costs(
    frame: pl.LazyFrame, groups: Sequence[str], *, gpu_seconds: Mapping[str, float] | None = None
) -> dict[tuple[object, ...], Costs]:
    """Measure the mean cost of a judgment in every group.

    Parameters
    ----------
    frame : pl.LazyFrame
        Judgments; prompt_tokens and completion_tokens are used where they are there.
    groups : sequence of str
        Columns that make a group.
    gpu_seconds : mapping of str to float, optional
        GPU time of one judgment, by judge; used where a group is of one judge.

    Returns
    -------
    dict
        Values of the groups' columns to costs.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q"], "prompt_tokens": [10, 30], "completion_tokens": [2, 2]}
    >>> measured_costs(pl.LazyFrame(rows), [])[()]
    Costs(prompt_tokens=20.0, completion_tokens=2.0, gpu_seconds=None)
    """
    columns = frame.collect_schema().names()
    frame = frame.filter(is_judge(columns))
    tokens = [name for name in ("prompt_tokens", "completion_tokens") if name in columns]
    # Whose judgments they are: two names are enough to know that a group has no one judge.
    judges = ["judge"] if "judge" in columns else []
    # What was never sent has a length, perhaps, and took nothing.
    sent = pl.col("outcome").ne_missing("failed") if "outcome" in columns else pl.lit(True)
    wanted = [
        *(pl.col(name).filter(sent).cast(pl.Float64).mean().alias(f"__{name}") for name in tokens),
        *(pl.col(name).min().alias("__first") for name in judges),
        *(pl.col(name).max().alias("__last") for name in judges),
        pl.len().alias("__n"),
    ]
    grouped = frame.group_by(groups).agg(wanted) if groups else frame.select(wanted)
    found = grouped.collect(engine="streaming")
    return {
        tuple(row[name] for name in groups): Costs(
            **{name: row[f"__{name}"] for name in tokens},
            gpu_seconds=(gpu_seconds or {}).get(row["__first"])
            if judges and row["__first"] == row["__last"]
            else None,
        )
        for row in found.iter_rows(named=True)
    }
