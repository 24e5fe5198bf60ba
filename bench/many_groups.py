"""What very many groups, categories and columns cost `reduce`, beside a plain Polars group-by.

    python -m bench.many_groups [--judges 100000] [--rounds 3]

Each command is a process of its own; wall and CPU are of the whole process, and of the anchor, a
Polars group-by of the same file by item, judge and verdict, in turns with it.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

ANCHOR = (
    "import sys, polars as pl\n"
    "rows = pl.scan_parquet(sys.argv[1])\n"
    "keys = [name for name in ('judge', 'item_id', 'verdict') if name in rows.collect_schema()]\n"
    "rows.group_by(keys).len().collect(engine='streaming')\n"
)
REDUCE = (sys.executable, "-m", "judgerel_ray", "reduce")


def judged(n_judges: int, rng: np.random.Generator) -> pl.DataFrame:
    """Two items a judge, two replications each, three verdicts."""
    n = n_judges * 4
    return pl.DataFrame({
        "judge": [f"j{i // 4}" for i in range(n)], "item_id": [f"q{i // 2 % 2}" for i in range(n)],
        "replication": [i % 2 for i in range(n)], "verdict": rng.choice(["A", "B", "C"], n),
    })  # fmt: skip


def named(n_verdicts: int, n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Four replications an item, of so many verdicts."""
    verdicts = np.concatenate([np.arange(n_verdicts), rng.integers(0, n_verdicts, n - n_verdicts)])
    rng.shuffle(verdicts)
    return pl.DataFrame({
        "item_id": [f"q{i // 4}" for i in range(n)], "replication": [i % 4 for i in range(n)],
        "verdict": [f"c{verdict}" for verdict in verdicts],
    })  # fmt: skip


def spent(command: Sequence[str]) -> tuple[float, float]:
    """Wall and CPU seconds of a process."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judges", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        tables = {
            f"{options.judges:,} judges x 2 items x 2": judged(options.judges, rng),
            "2,000 verdicts x 4,000 rows": named(2_000, 4_000, rng),
            "5,000 verdicts x 20,000 rows": named(5_000, 20_000, rng),
        }
        for place, (what, rows) in enumerate(tables.items()):
            path = Path(folder, f"{place}.parquet")
            rows.write_parquet(path)
            commands = {
                "bare": (sys.executable, "-c", ANCHOR, str(path)),
                "reduce": (*REDUCE, str(path), "--out", f"{path}.out.parquet"),
            }
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
            for _ in range(options.rounds):
                for name, command in commands.items():
                    found[name].append(spent(command))
            (bare_wall, bare_cpu), (wall, cpu) = (
                [statistics.median(column) for column in zip(*found[name], strict=True)]
                for name in ("bare", "reduce")
            )
            print(
                f"{what}: reduce {wall:.1f} s wall, {cpu:.1f} s CPU; bare {bare_wall:.2f} and "
                f"{bare_cpu:.2f} s; ratio by CPU {cpu / bare_cpu:.1f}",
                flush=True,
            )
        wide = Path(folder, "wide.csv")
        names = ["item_id", "replication", "verdict", *(f"c{i}" for i in range(1_000_000))]
        wide.write_text(",".join(names) + "\n" + "q,0,A" + ",1" * 1_000_000 + "\n")
        wall, cpu = spent((*REDUCE, str(wide)))
        print(f"10^6 columns: refused in {wall:.1f} s wall, {cpu:.1f} s CPU", flush=True)


if __name__ == "__main__":
    main()
