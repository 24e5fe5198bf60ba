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


def read_made(
    run: RunDirectory,
    name: str,
    table: type[dy.Schema],
    *,
    asked: Callable[[AskTable], bool],
    nothing: StoreError,
) -> pl.DataFrame:
    """Read a table made of what landed."""
    verb = "exact" if name.startswith("distributions/") else "run"
    also = "" if verb == "run" else " (or judgerel run, as the run was made)"
    hint = (
        f"judgerel {verb} SWEEP --out RUN{also} lays it out again; what landed is not asked again"
    )
    if not run.exists(name):
        if not run.exists("sweep.toml"):
            raise nothing
        text = run.read_text("sweep.toml")
        if any(asked(ask) for ask in parse_sweep(text, source=run.address("sweep.toml")).ask):
            raise StoreError(
                f"the run has not ended yet, or has lost its table {name}",
                where={"run": run.url},
                hint=hint,
            )
        raise nothing
    try:
        return table.validate(pl.read_parquet(BytesIO(run.read_bytes(name))), cast=True)
    except (*UNREADABLE, dy.exc.SchemaError, dy.exc.ValidationError) as error:
        raise StoreError(
            f"a table that the run made cannot be read: {str(error).strip().splitlines()[0]}",
            where={"file": run.address(name)},
            hint=hint,
        ) from error


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
    )


def read_confusions(run: RunDirectory) -> pl.DataFrame:
    """The matrices of a run; StoreError where it has none."""
    nothing = StoreError(
        "the run has no confusion matrices",
        where={"run": run.url},
        hint='an [[ask]] with protocol = "confusion" makes them',
    )
    return read_made(
        run,
        CONFUSIONS,
        Confusions,
        asked=lambda ask: ask.kind.traits.makes_matrices,
        nothing=nothing,
    )


def read_settled(run: RunDirectory) -> pl.DataFrame:
    """What adaptive replication found in a run; StoreError where it asked nothing so."""
    nothing = StoreError(
        "the run asked nothing adaptively",
        where={"run": run.url},
        hint="replications = { adaptive = 0.05, first = 5, max = 100 } in an [[ask]]",
    )
    return read_made(
        run, SETTLED, Settled, asked=lambda ask: ask.adaptive is not None, nothing=nothing
    )
