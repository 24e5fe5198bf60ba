"""What adaptive replication found: of one condition, and of groups of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.core.tables import as_columns
from judgerel_ray.stats.intervals.shares import clustered_share
from judgerel_ray.stats.intervals.stopping import (
    StoppingRule,
    distribution_interval,
    mode_is_settled,
)
from judgerel_ray.tables import STATES


def settled_row(
    counts: Sequence[int],
    options: Sequence[str],
    *,
    rule: StoppingRule,
    is_open: bool,
    has_failed: bool = False,
) -> dict[str, object]:
    """What is known of one condition.

    Examples
    --------
    >>> rule = StoppingRule(first=5, most=20, step=5)
    >>> found = settled_row([10, 0, 0], "ab", rule=rule, is_open=False)
    >>> found["state"], found["verdict"], round(found["low"], 3)
    ('settled', 'a', 0.487)
    >>> settled_row([8, 8, 4], "ab", rule=rule, is_open=False)["state"]
    'unstable'
    """
    if has_failed:
        counts = [0] * len(counts)
    total = sum(counts)
    leader = max(range(len(counts)), key=lambda code: counts[code])
    settled = mode_is_settled(counts, delta=rule.delta)
    low, high = distribution_interval(counts, delta=rule.delta)
    state = "failed" if has_failed else "open" if is_open else "unstable"
    verdict = None
    if settled and state == "unstable":
        verdict = options[leader] if leader < len(options) else None
        state = "settled" if verdict is not None else "no_verdict"
    return {
        "replications": total,
        "state": state,
        "verdict": verdict,
        "share": counts[leader] / total if total else None,
        "low": float(low[leader]) if total else None,
        "high": float(high[leader]) if total else None,
        "delta": rule.delta,
        "most": rule.most,
    }


def settled_summary(table: pl.DataFrame, *, by: Sequence[str]) -> pl.DataFrame:
    """How often there was a stable verdict, and what it took.

    A row for each group: ``conditions``, those ``settled``, with ``no_verdict``, ``unstable``,
    ``failed`` and ``open``; the share with a stable verdict of those asked to the end, neither
    failed nor open (``settled_share``), with the ends of its 95 % interval, exact or by question
    (``estimator``); ``replications`` asked in all, and of those asked to the end their share of the
    most there could have been (``used``).

    Examples
    --------
    >>> table = pl.DataFrame({"judge": ["j", "j"], "item_id": ["p", "q"], "most": [20, 20],
    ...                       "state": ["settled", "unstable"], "replications": [10, 20]})
    >>> settled_summary(table, by=["judge"]).select("settled", "used").row(0)
    (1, 0.75)
    """
    states = [(pl.col("state") == state).sum().alias(state) for state in STATES]
    groups = []
    for rows in table.sort(by).partition_by(by, maintain_order=True):
        ended = rows.filter(~pl.col("state").is_in(["open", "failed"]))
        stable = clustered_share(
            (ended["state"] == "settled").to_numpy(), clusters_N=ended["item_id"].to_numpy()
        )
        totals = rows.select(pl.len().alias("conditions"), *states, pl.col("replications").sum())
        groups.append(
            {
                **rows.select(by).row(0, named=True),
                **totals.row(0, named=True),
                "used": sum(ended["replications"]) / sum(ended["most"]) if ended.height else None,
                "settled_share": stable.value,
                **as_columns(stable, "low", "high", estimator="method"),
            }
        )
    return pl.DataFrame(groups)
