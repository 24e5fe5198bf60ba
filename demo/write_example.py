"""Make the run and the table that the package ships: `python -m demo.write_example`.

The judges are simulated, as `judgerel_ray/examples/sweep.toml` says.
"""

from __future__ import annotations

import shutil

import polars as pl

import judgerel_ray


def verdicts(judgments: pl.DataFrame) -> pl.DataFrame:
    """The verdicts of a run of the sweep at temperature 1, as a table that someone might hold."""
    items = pl.read_ndjson(judgerel_ray.example("items.jsonl"))
    drawn = judgments.filter(protocol="best_of", stage="judge", temperature=1.0)
    return (
        drawn.with_columns(pl.col("judge").cast(pl.String))
        .join(items.select("item_id", "gold"), on="item_id")
        .select("judge", "item_id", "replication", "verdict", "gold")
        .sort("judge", "item_id", "replication")
    )


def main() -> None:
    """Replace the run and the table."""
    out = judgerel_ray.example("run")
    shutil.rmtree(out, ignore_errors=True)
    judgments = judgerel_ray.run(judgerel_ray.example("sweep.toml"), out=out)
    verdicts(judgments).write_csv(judgerel_ray.example("judgments.csv"))


if __name__ == "__main__":
    main()
