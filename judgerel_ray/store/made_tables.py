"""Tables that a run makes of what landed: read back, or laid out again where they are damaged."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

import dataframely as dy
import polars as pl

from judgerel_ray.config import AskTable, parse_sweep
from judgerel_ray.core import StoreError
from judgerel_ray.store import RunDirectory
from judgerel_ray.store.digests import UNREADABLE
from judgerel_ray.tables import Confusions, Distributions, Settled

SETTLED = "settled/settled.parquet"

CONFUSIONS = "confusions/confusions.parquet"

DISTRIBUTIONS = "distributions/distributions.parquet"


def read_distributions(run: RunDirectory) -> pl.DataFrame:
    """The verdict distributions of a run; StoreError where it has none."""
    return _read_made_store_table(
        run,
        DISTRIBUTIONS,
        Distributions,
        lambda ask: ask.mode == "exact",
        lacking="the run has no verdict distributions",
        hint='judgerel exact SWEEP.toml --out RUN, or mode = "exact" in an [[ask]], makes them',
    )


def read_confusions(run: RunDirectory) -> pl.DataFrame:
    """The matrices of a run; StoreError where it has none."""
    return _read_made_store_table(
        run,
        CONFUSIONS,
        Confusions,
        lambda ask: ask.kind.traits.makes_matrices,
        lacking="the run has no confusion matrices",
        hint='an [[ask]] with protocol = "confusion" makes them',
    )


def read_settled(run: RunDirectory) -> pl.DataFrame:
    """What adaptive replication found in a run; StoreError where it asked nothing so."""
    return _read_made_store_table(
        run,
        SETTLED,
        Settled,
        lambda ask: ask.adaptive is not None,
        lacking="the run asked nothing adaptively",
        hint="replications = { adaptive = 0.05, first = 5, max = 100 } in an [[ask]]",
    )


def _read_made_store_table(
    run: RunDirectory,
    name: str,
    table: type[dy.Schema],
    makes: Callable[[AskTable], bool],
    *,
    lacking: str,
    hint: str,
) -> pl.DataFrame:
    """Read a table that asks make of what landed; `lacking` and `hint` say that none makes it."""
    verb = "exact" if name.startswith("distributions/") else "run"
    also = "" if verb == "run" else " (or judgerel run, as the run was made)"
    again = (
        f"judgerel {verb} SWEEP --out RUN{also} lays it out again; what landed is not asked again"
    )
    if not run.exists(name):
        problem = lacking
        if run.exists("sweep.toml"):
            text = run.read_text("sweep.toml")
            if any(map(makes, parse_sweep(text, source=run.address("sweep.toml")).ask)):
                problem = f"the run has not ended yet, or has lost its table {name}"
                hint = again
        raise StoreError(problem, where={"run": run.url}, hint=hint)
    try:
        return table.validate(pl.read_parquet(BytesIO(run.read_bytes(name))), cast=True)
    except (*UNREADABLE, dy.exc.SchemaError, dy.exc.ValidationError) as error:
        raise StoreError(
            f"a table that the run made cannot be read: {str(error).strip().splitlines()[0]}",
            where={"file": run.address(name)},
            hint=again,
        ) from error
