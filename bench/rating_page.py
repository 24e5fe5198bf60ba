"""What the page and the tables of a paper-size grid of ratings take, beside a bare group-by.

    python -m bench.rating_page [--items 1000] [--rounds 2] [--only report,scales] [--file F]

The grid of Lee et al. 2025: 4 judges x 4 criteria x 3 definitions x 4 scales x 1,000 items x 2
responses x K = 5, 1.92 million rows of all contract columns, 3 % of them without a rating; judges
of a latent opinion and noise of their own. Anchor: a process that imports polars, scans the file
and counts rows by judge, criterion, definition, scale, item, responder and verdict. The package:
whole commands, `report --reference JUDGE`, `reduce`, `scales`, `align`, `rank`.
All take turns; prints wall and CPU time, peak resident memory of each process, and ratios of
medians.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from datetime import datetime
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.reduce_at_scale import ALIKE, Cost, cost, named, of_requests

JUDGES = {"small": 0.25, "medium": 0.15, "large": 0.08, "reference": 0.05}
"""Noise of each on the unit interval."""
CRITERIA = ("harmlessness", "helpfulness", "factuality", "conciseness")
DEFINITIONS = ("none", "short", "long")
SCALES = {
    "points5": [str(n) for n in range(1, 6)],
    "points10": [str(n) for n in range(1, 11)],
    "likert5": ["Strongly Disagree", "Disagree", "Neutral", "Agree", "Strongly Agree"],
    "binary": ["No", "Yes"],
}
RESPONDERS = ("first", "second")
K = 5
UNPARSED = 0.03
BARE = """
import sys
import polars as pl
by = ["judge", "criterion", "definition", "scale", "item_id", "responder", "verdict"]
print(pl.scan_parquet(sys.argv[1]).group_by(by).len().collect(engine="streaming").height)
"""


def write_ratings(path: Path, items: int, seed: int = 0) -> None:
    """The whole grid, one row group a cell, in the order in which it would land."""
    from judgerel_ray.tables import Judgments

    rng = np.random.default_rng(seed)
    latent = {criterion: rng.uniform(size=items * len(RESPONDERS)) for criterion in CRITERIA}
    n = items * len(RESPONDERS) * K
    item = np.repeat(np.arange(items, dtype=np.int32), len(RESPONDERS) * K)
    alike = {**ALIKE, "benchmark": "hh_rlhf", "protocol": "rating"}
    writer = None
    for (judge, noise), criterion, definition, scale in product(
        JUDGES.items(), CRITERIA, DEFINITIONS, SCALES
    ):
        labels = SCALES[scale]
        noisy = np.repeat(latent[criterion], K) + noise * rng.normal(size=n)
        codes = np.clip(np.rint(noisy * (len(labels) - 1)), 0, len(labels) - 1).astype(np.int32)
        without = rng.random(n) < UNPARSED
        verdict = named(codes, pa.array(labels), where=~without)
        columns = {name: pa.repeat(pa.scalar(value), n) for name, value in alike.items()}
        columns |= {
            name: pa.repeat(pa.scalar(value), n)
            for name, value in (
                ("judge", judge), ("criterion", criterion), ("definition", definition),
                ("scale", scale),
            )
        }  # fmt: skip
        columns |= {
            **of_requests(item, without, rng),
            "item_id": named(item, pa.array([f"hh:{i:05d}" for i in range(items)])),
            "responder": named(np.arange(n) // K % len(RESPONDERS), pa.array(RESPONDERS)),
            "replication": np.tile(np.arange(K, dtype=np.int32), n // K),
            "verdict": verdict,
            "label": verdict,
            "score": pa.array(codes + float(scale.startswith("points")), mask=without),
        }
        table = pa.table({name: columns[name] for name in Judgments.column_names()})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def commands(file: Path, folder: Path) -> dict[str, list[str]]:
    """What is timed, the anchor first."""
    judgerel = [sys.executable, "-m", "judgerel_ray"]
    page = ["--out", str(folder / "page.html"), "--reference", "reference"]
    return {
        "bare": [sys.executable, "-c", BARE, str(file)],
        "report": [*judgerel, "report", str(file), *page],
        "reduce": [*judgerel, "reduce", str(file)],
        "scales": [*judgerel, "scales", str(file)],
        "reference": [*judgerel, "align", str(file), "--reference", "reference"],
        "ranking": [*judgerel, "rank", str(file), "--reference", "reference"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=2, help="0: write the file alone")
    parser.add_argument("--only", help="names of commands, with commas between")
    parser.add_argument("--file", type=Path, help="keep the judgments here, or take them from here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = given.file or folder / "ratings.parquet"
        if given.rounds == 0:
            write_ratings(file, given.items)
            return
        if not file.exists():
            # By a process of its own: a child starts with the peak of its parent.
            again = ["-m", "bench.rating_page", "--items", str(given.items), "--rounds", "0"]
            subprocess.run([sys.executable, *again, "--file", str(file)], check=True)
        timed = commands(file, folder)
        only = given.only.split(",") if given.only else list(timed)
        timed = {name: one for name, one in timed.items() if name in ("bare", *only)}
        costs: dict[str, list[Cost]] = {name: [] for name in timed}
        for _ in range(given.rounds):
            for name, command in timed.items():
                costs[name].append(cost(command))
                one = costs[name][-1]
                print(
                    f"{name:9}  {one.wall:6.2f} s  {one.cpu:6.2f} s CPU  {one.peak_mb:6.0f} MB",
                    flush=True,
                )
    rows = len(JUDGES) * len(CRITERIA) * len(DEFINITIONS) * len(SCALES) * given.items * 2 * K
    print(f"{datetime.now():%Y-%m-%d}: {rows:,} rows, medians of {given.rounds} rounds")
    bare = statistics.median(one.wall for one in costs["bare"])
    for name, all_ in costs.items():
        wall = statistics.median(one.wall for one in all_)
        peak = max(one.peak_mb for one in all_)
        print(f"{name:9}  {wall:6.2f} s, {wall / bare:5.1f} of bare, at most {peak:.0f} MB")


if __name__ == "__main__":
    main()
