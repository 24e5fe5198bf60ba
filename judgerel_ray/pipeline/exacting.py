"""Verdict distributions of a run: from what landed, and what they say of endless replications."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import polars as pl

from judgerel_ray.core import StoreError
from judgerel_ray.pipeline.declaring import declared_scales
from judgerel_ray.pipeline.made_tables import read_made
from judgerel_ray.pipeline.resolve import Resolved
from judgerel_ray.reduce.distributions import PLACE, distribution_table
from judgerel_ray.reduce.limits import limit_table
from judgerel_ray.reduce.weighted import weighted_summary, weighted_table
from judgerel_ray.store import Ledger, RunDirectory, scan_completions, scan_judgments, write_own
from judgerel_ray.tables import LATER_COLUMNS, Distributions

DISTRIBUTIONS = "distributions/distributions.parquet"


def write_distributions(resolved: Resolved, run: RunDirectory, ledger: Ledger) -> int | None:
    """Lay out the verdict distributions of a run from what landed of it.

    Effects: replaces one file, made of what landed and of nothing else. Retry: safe.

    Returns
    -------
    int or None
        Rows written; None where the sweep asks for no distribution.
    """
    if not any(frame.ask.mode == "exact" for frame in resolved.frames):
        return None
    asked = (pl.col("stage") == "exact") & pl.col("outcome").is_null()
    places = scan_judgments(run, ledger=ledger).filter(asked).select("key", *PLACE)
    texts = scan_completions(run, columns=("key", "text"), ledger=ledger)
    rows = places.join(texts, on="key", how="inner").sort(*PLACE, nulls_last=True).collect()
    found = [(row, row["text"]) for row in rows.iter_rows(named=True) if row["text"]]
    table = distribution_table(found)
    data = BytesIO()
    table.write_parquet(data)
    write_own(run, DISTRIBUTIONS, data.getvalue())
    return table.height


def read_distributions(run: RunDirectory) -> pl.DataFrame:
    """The verdict distributions of a run; StoreError where it has none."""
    nothing = StoreError(
        "the run has no verdict distributions",
        where={"run": run.url},
        hint='judgerel exact SWEEP.toml --out RUN, or mode = "exact" in an [[ask]], makes them',
    )
    return read_made(
        run,
        DISTRIBUTIONS,
        Distributions,
        asked=lambda ask: ask.mode == "exact",
        nothing=nothing,
        later=LATER_COLUMNS,
    )


def run_limits(path: str, *, by: Sequence[str] | None = None) -> pl.DataFrame:
    """Coefficients of endless replications of a run, from its verdict distributions.

    Returns
    -------
    DataFrame
        As :func:`judgerel_ray.reduce.limits.limit_table`.

    Raises
    ------
    StoreError
        If the path is no run, or the run has no distributions.
    """
    run = RunDirectory.open(path)
    return limit_table(read_distributions(run), by=by, scales=declared_scales(run))


def run_weighted(path: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Probability-weighted scores of a run, from its distributions of ratings.

    Returns
    -------
    tuple of DataFrame
        As :func:`judgerel_ray.reduce.weighted.weighted_table`, one row a response and way of
        asking; and as ``weighted_summary`` there, one row a group.

    Raises
    ------
    StoreError
        If the path is no run, or the run has no distributions of ratings.
    """
    run = RunDirectory.open(path)
    found = weighted_table(read_distributions(run), scales=declared_scales(run))
    if found.is_empty():
        raise StoreError(
            "the verdict distributions of the run are of no ratings",
            where={"run": run.url},
            hint='protocol = "rating" with mode = "exact" makes some',
        )
    return found, weighted_summary(found)
