"""From a run that asked a cascade to what the cascade did."""

from __future__ import annotations

from io import BytesIO

import polars as pl

from judgerel_ray.config import parse_sweep
from judgerel_ray.pipeline.declaring import ask_benchmarks
from judgerel_ray.pipeline.given import Given
from judgerel_ray.pipeline.reducing import Judged, open_judgments, reading_of
from judgerel_ray.reduce.cascaded import SCHEMA, cascaded_table

_COLUMNS = (
    "benchmark", "template", "temperature", "item_id", "judge", "stage", "replication", "verdict",
    "confidence", "prompt_tokens", "completion_tokens", "cost",
)  # fmt: skip


def run_cascaded(path: str | Given) -> pl.DataFrame | None:
    """What the cascades of a run did; None of a file, or where the sweep asked none.

    Effects: reads. Retry: safe, also while the run goes on.

    Raises
    ------
    StoreError
        If the path is a folder but no run directory.
    """
    with reading_of(path):
        return cascaded_of(open_judgments(path))


def cascaded_of(judged: Judged) -> pl.DataFrame | None:
    """As :func:`run_cascaded`, of judgments that are open."""
    if judged.run is None:
        return None
    sweep = parse_sweep(judged.run.read_text("sweep.toml"), source=judged.run.url)
    asked = [(place, ask) for place, ask in enumerate(sweep.ask) if ask.cascade is not None]
    if not asked:
        return None
    items = pl.read_parquet(BytesIO(judged.run.read_bytes("items.parquet")))
    gold = items.select("benchmark", "item_id", "gold")
    mine = judged.frame.filter(
        (pl.col("protocol") == "think_twice") & (pl.col("role") == "responder")
    )
    casts = {name: pl.String for name in ("benchmark", "judge", "template", "stage", "verdict")}
    rows = mine.select(_COLUMNS).cast(casts).collect()  # type: ignore[arg-type]
    found = []
    for place, ask in asked:
        named = ask_benchmarks(sweep, place, items)
        here = rows.filter(pl.col("judge").is_in(ask.responders), pl.col("benchmark").is_in(named))
        if here.height and ask.cascade is not None:
            found.append(cascaded_table(here, gold, order=ask.responders, threshold=ask.cascade))
    return pl.concat(found) if found else pl.DataFrame(schema=SCHEMA)
