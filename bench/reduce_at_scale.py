"""`judgerel reduce` of many judgments against a bare Polars scan and group-by of the same file.

    python bench/reduce_at_scale.py [--rows 20_000_000] [--replications 100] [--rounds 5] [--file F]

Anchor: a process that imports polars, scans the file and counts rows by item_id and verdict. Ours:
the whole command, five coefficients with intervals and noise floors, the file checked. Both run in
turn, so that a noisy machine slows both; prints wall and CPU time, peak resident memory of each
process and the ratios of the medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COEFFICIENTS = (
    "krippendorff_alpha",
    "percent_agreement",
    "fleiss_kappa",
    "gwet_ac1",
    "brennan_prediger",
)
BARE = """
import sys
import polars as pl
counts = pl.scan_parquet(sys.argv[1]).group_by("item_id", "verdict").len()
print(counts.collect(engine="streaming").height)
"""
VERDICTS = pa.array(list("ABCDE"))
CHUNK = 1_000_000


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float
    peak_mb: float


def write_judgments(path: Path, *, questions: int, replications: int, seed: int = 0) -> None:
    """Verdicts of Dirichlet-multinomial questions, alpha 1/3, sorted as a judge's log is."""
    rng = np.random.default_rng(seed)
    per_chunk = max(1, CHUNK // replications)
    writer = None
    for start in range(0, questions, per_chunk):
        n = min(per_chunk, questions - start)
        ids = pa.array([f"question-{i:07d}" for i in range(start, start + n)])
        shares = rng.dirichlet(np.full(5, 0.4), size=n).cumsum(axis=1)
        drawn = rng.random((n, replications))
        codes = (drawn[:, :, None] > shares[:, None, :-1]).sum(axis=2).ravel()
        item = np.repeat(np.arange(n, dtype=np.int32), replications)
        table = pa.table(
            {
                "item_id": pa.DictionaryArray.from_arrays(item, ids).cast(pa.string()),
                "replication": np.tile(np.arange(replications), n),
                "verdict": pa.DictionaryArray.from_arrays(codes.astype(np.int32), VERDICTS).cast(
                    pa.string()
                ),
            }
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def cost(command: list[str]) -> Cost:
    """What one process takes."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    if status:
        sys.exit(f"failed: {' '.join(command[:4])} ...")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--file", type=Path, help="keep the judgments here, or take them from here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = given.file or Path(folder, "judgments.parquet")
        if not file.exists():
            write_judgments(
                file,
                questions=given.rows // given.replications,
                replications=given.replications,
            )
        asked = [text for name in COEFFICIENTS for text in ("--coefficient", name)]
        commands = {
            "bare": [sys.executable, "-c", BARE, str(file)],
            "reduce": [sys.executable, "-m", "judgerel_ray", "reduce", str(file), *asked],
        }
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for _ in range(given.rounds):
            for name, command in commands.items():
                costs[name].append(cost(command))
                one = costs[name][-1]
                print(f"{name:6}  {one.wall:6.2f} s  {one.cpu:6.2f} s CPU  {one.peak_mb:6.0f} MB")
    bare, ours = (
        Cost(*(statistics.median(values) for values in zip(*map(astuple, rows), strict=True)))
        for rows in costs.values()
    )
    print(
        f"{datetime.now():%Y-%m-%d}: {given.rows:,} rows, medians of {given.rounds}: "
        f"wall {ours.wall:.2f} / {bare.wall:.2f} s = {ours.wall / bare.wall:.2f}, "
        f"CPU {ours.cpu:.2f} / {bare.cpu:.2f} s = {ours.cpu / bare.cpu:.2f}, "
        f"peak {ours.peak_mb:.0f} / {bare.peak_mb:.0f} MB, "
        f"largest peak {max(one.peak_mb for one in costs['reduce']):.0f} MB"
    )


def astuple(one: Cost) -> tuple[float, float, float]:
    return one.wall, one.cpu, one.peak_mb


if __name__ == "__main__":
    main()
