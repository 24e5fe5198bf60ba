"""A run directory as large as one likes, landed by the store's own functions.

    python -m bench.reduce_at_scale_run OUT [--rows 20_000_000] [--replications 100] [--part 32_000]

One simulated judge, one temperature: every part is a lease of whole questions, with its texts and
its commit, as `judgerel run` leaves them; verdicts as in `reduce_at_scale.py`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from bench.reduce_at_scale import ALIKE, UNPARSED, VERDICTS
from judgerel_ray.core import TokenCounts, digest, request_key
from judgerel_ray.store import RunDirectory, begin_session, end_session, land, write_manifest
from judgerel_ray.tables import Completions, Items, Judgments

JUDGE = str(ALIKE["judge"])
SWEEP = f"""
name = "at-scale"

[[judge]]
name = "{JUDGE}"
model = "none"
engine = "simulated"

[[ask]]
protocol = "best_of"
benchmark = "bbh"
path = "items.parquet"
temperatures = [1.0]
replications = {{replications}}
"""


def write_run(
    out: Path, *, questions: int, replications: int, per_part: int, seed: int = 0
) -> None:
    """A finished run, its leases of about `per_part` rows."""
    run = RunDirectory.create(str(out))
    run.write_text("sweep.toml", SWEEP.format(replications=replications))
    items(questions).write_parquet(run.address("items.parquet"))
    cost = {"judge": JUDGE, "requests": questions * replications}
    run.write_text("plan.json", json.dumps({"sweep": "at-scale", "judges": [cost]}))
    write_manifest(run, {"sweep": {"judge": {JUDGE: {}}}})
    session = begin_session(run).number
    step = max(1, per_part // replications)
    for lease, start in enumerate(range(0, questions, step)):
        rng = np.random.default_rng([seed, lease])
        n = min(step, questions - start)
        conditions = {digest({"item": start + i}): [(0, replications)] for i in range(n)}
        rows = pl.DataFrame(
            dict(judgments(start, list(conditions), replications, rng)),
            schema=Judgments.create_empty().schema,
        )
        none = pl.lit(None)
        texts = rows.select("key", text=pl.col("verdict"), thought=none, logprobs=none)
        landed = land(
            run,
            session=session,
            lease=lease,
            attempt=1,
            judge=JUDGE,
            judgments=rows,
            completions=texts.cast(Completions.create_empty().schema),
            conditions=conditions,
            tokens=TokenCounts(prompt=200 * rows.height, cached=0, generated=8 * rows.height),
            seconds=1.0,
        )
        assert landed
    end_session(run, session)


def judgments(
    start: int, conditions: list[str], replications: int, rng: np.random.Generator
) -> Iterator[tuple[str, pl.Series | None]]:
    """Columns of the judgments of some questions."""
    n = len(conditions)
    shares = rng.dirichlet(np.full(5, 0.4), size=n).cumsum(axis=1)
    drawn = rng.random((n, replications))
    codes = (drawn[:, :, None] > shares[:, None, :-1]).sum(axis=2).ravel()
    item = np.repeat(np.arange(start, start + n), replications)
    without = rng.random(codes.size) < UNPARSED
    verdict = pl.Series(VERDICTS.to_pylist())[codes].zip_with(
        pl.Series(~without), pl.Series([None], dtype=pl.String)
    )
    columns: dict[str, object] = {
        **ALIKE,
        "key": [request_key(key, r) for key in conditions for r in range(replications)],
        "item_id": pl.Series(item).cast(pl.String).str.zfill(7),
        "replication": np.tile(np.arange(replications), n),
        "verdict": verdict,
        "label": verdict,
        "outcome": np.where(without, "unparsed", "scored"),
        "seed": rng.integers(0, 2**62, codes.size),
        "prompt_tokens": 200 + item % 300,
        "completion_tokens": rng.integers(4, 12, codes.size),
        "landed_at": 0,
    }
    for name, kind in Judgments.create_empty().schema.items():
        value = columns.get(name)
        if isinstance(value, list | np.ndarray | pl.Series):
            yield name, pl.Series(name, value).cast(kind)
        else:
            yield name, pl.repeat(value, codes.size, dtype=kind, eager=True)


def items(questions: int) -> pl.DataFrame:
    """Questions with five answers each."""
    options = [{"option_id": name, "text": name} for name in VERDICTS.to_pylist()]
    frame = pl.select(
        item_id=pl.int_range(questions).cast(pl.String).str.zfill(7),
        benchmark=pl.lit("bbh"),
        category=pl.lit("c"),
        question=pl.lit("?"),
        context=pl.lit(None),
        turns=pl.lit([], pl.List(pl.String)),
        options=pl.lit(pl.Series([options])).first(),
        gold=pl.lit(None),
        ratings=pl.lit(None),
    )
    schema = Items.create_empty().schema
    none = pl.lit([], schema["ratings"]).alias("ratings")
    return frame.with_columns(none).cast(dict(schema))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--part", type=int, default=32_000, help="rows of a lease, about")
    given = parser.parse_args()
    write_run(
        given.out,
        questions=given.rows // given.replications,
        replications=given.replications,
        per_part=given.part,
    )


if __name__ == "__main__":
    main()
