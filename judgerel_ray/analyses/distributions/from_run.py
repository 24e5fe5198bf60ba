"""Verdict distributions of a run: from what landed, and the limits of coefficients.

Also what replications that reason first would have said, expected scores of ratings, and what
adaptive replication found.
"""

from __future__ import annotations

import polars as pl

from judgerel_ray.analyses.distributions.settled import settled_summary
from judgerel_ray.analyses.distributions.show import distribution_sections, settled_blocks
from judgerel_ray.blocks.blocks import Block, FirstScreen, Section
from judgerel_ray.config import parse_sweep
from judgerel_ray.core import StoreError
from judgerel_ray.counting.declared import declared_scales
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.distributions import (
    limit_table,
    reasoning_table,
    verdicts_with_probabilities,
    weighted_summary,
    weighted_table,
    width_table,
)
from judgerel_ray.measuring.page_data import PageData
from judgerel_ray.store import RunDirectory, reading
from judgerel_ray.store.made_tables import DISTRIBUTIONS, SETTLED, read_distributions, read_settled


def run_limits(run: RunDirectory) -> pl.DataFrame:
    """Coefficients of infinitely many replications of a run, from its distributions."""
    return limit_table(read_distributions(run), scales=declared_scales(run))


def run_weighted(run: RunDirectory) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Probability-weighted scores of a run, from its distributions of ratings.

    As :func:`.weighted_table`, one row a response and way of asking; and as ``weighted_summary``
    there, one row a group.
    """
    found = weighted_table(read_distributions(run), scales=declared_scales(run))
    if found.is_empty():
        raise StoreError(
            "the verdict distributions of the run are of no ratings",
            where={"run": run.url},
            hint='protocol = "rating" with mode = "exact" makes some',
        )
    return found, weighted_summary(found)


_COLUMNS = ("judge", "benchmark", "item_id", "template", "option_order", "temperature", "top_k")


def run_reasoning(run: RunDirectory) -> pl.DataFrame:
    """Where verdicts of a run vary: in the reasoning, or in the verdict drawn after it."""
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    if not any(ask.verdict_logprobs for ask in sweep.ask):
        raise StoreError(
            "the run read no probabilities at its verdicts",
            where={"run": run.url},
            hint="verdict_logprobs = true in an [[ask]] of best_of does",
        )
    replies = verdicts_with_probabilities(run, _COLUMNS).filter(pl.col("outcome") != "failed")
    with reading(run.url):
        rows = replies.sort("judge", "benchmark", "temperature", "item_id", "key").collect()
    return reasoning_table(rows)


GROUP = ("judge", "benchmark", "protocol", "temperature")


def run_settled(run: RunDirectory) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What adaptive replication found in a run: every condition, and groups of them."""
    table = read_settled(run)
    return table, settled_summary(table, by=GROUP)


def distributions_on_page(
    judged: Snapshot, _questions: object, _options: object
) -> list[FirstScreen | Section]:
    """Make the page's sections on the verdict distributions of a run, and what they make scores."""
    if judged.run is None or not judged.run.exists(DISTRIBUTIONS):
        return []
    table = read_distributions(judged.run)
    weighted = weighted_summary(weighted_table(table, scales=judged.scales))
    return distribution_sections(
        limit_table(table, scales=judged.scales), width_table(table), weighted
    )


def settled_on_page(measured: PageData, _options: object) -> list[Block]:
    """Make the page's section on what was asked on until it was settled, where anything was."""
    run = measured.judged.run
    if run is None or not run.exists(SETTLED):
        return []
    _, summary = run_settled(run)
    found = [] if summary.is_empty() else settled_blocks(summary)
    return [Section("Stable verdicts", found, place="serving")]
