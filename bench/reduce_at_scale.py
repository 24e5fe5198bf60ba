"""`judgerel reduce` of many judgments against a bare Polars scan and group-by of the same file.

    python bench/reduce_at_scale.py [--rows 20_000_000] [--replications 100] [--rounds 5]
                                    [--columns contract|three] [--orders 1] [--shuffled] [--file F]
                                    [--run-directory R]

Anchor: a process that imports polars, scans the file and counts rows by item_id and verdict. Ours:
the whole command, five coefficients with intervals and noise floors, the file checked. Both run in
turn, so that a noisy machine slows both; prints wall and CPU time, peak resident memory of each
process, and the ratios of the medians and of the least. The file has all columns of the judgments
table, 2 % of its replies without a verdict, or just the three that `reduce` cannot do without.
With several orders every question is asked in each, and one judgment in ten names the option shown
first; the anchor counts by option_order as well, ours adds swap consistency, a third process
("places") position bias, too, and a fourth ("default") is the command without any coefficient by
name, which has both and more.
A run directory in place of a file comes from `reduce_at_scale_run.py`; the bare scan reads its
parts by their names' pattern.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

COEFFICIENTS = (
    "krippendorff_alpha",
    "percent_agreement",
    "fleiss_kappa",
    "gwet_ac1",
    "brennan_prediger",
)
OF_ORDERS = ("swap_consistency",)
OF_PLACES = ("position_bias",)
BARE = """
import sys
import polars as pl
counts = pl.scan_parquet(sys.argv[1]).group_by(sys.argv[2:]).len()
print(counts.collect(engine="streaming").height)
"""
VERDICTS = pa.array(list("ABCDE"))
CHUNK = 1_000_000
UNPARSED = 0.02
BY_PLACE = 0.1  # of the judgments, where there are several orders
ALIKE = {
    "judge": "llama3-8b",
    "judge_fingerprint": "5f1c0a7e9b3d4c62",
    "benchmark": "bbh",
    "protocol": "best_of",
    "stage": "judge",
    "role": "judge",
    "template": "default",
    "temperature": 1.0,
    "top_k": np.int32(50),
    "top_p": 1.0,
    "option_order": np.int32(0),
    "block": np.int32(0),
    "finish_reason": "stop",
    "attempt": np.int32(1),
}
NULL = ("responder", "criterion", "definition", "scale")


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float
    peak_mb: float


def write_judgments(
    path: Path,
    *,
    questions: int,
    replications: int,
    orders: int = 1,
    contract: bool = False,
    shuffled: bool = False,
    seed: int = 0,
) -> None:
    """Verdicts of Dirichlet-multinomial questions, alpha 1/3, sorted as a judge's log is.

    Order r shows the options rotated by r. Shuffled, questions are in no order inside row groups
    of a million rows.
    """
    rng = np.random.default_rng(seed)
    per_question = orders * replications
    per_chunk = max(1, CHUNK // per_question)
    writer = None
    for start in range(0, questions, per_chunk):
        n = min(per_chunk, questions - start)
        ids = pa.array([f"question-{i:07d}" for i in range(start, start + n)])
        shares = rng.dirichlet(np.full(5, 0.4), size=n).cumsum(axis=1)
        drawn = rng.random((n, per_question))
        codes = (drawn[:, :, None] > shares[:, None, :-1]).sum(axis=2).ravel()
        item = np.repeat(np.arange(n, dtype=np.int32), per_question)
        order = np.tile(np.repeat(np.arange(orders, dtype=np.int32), replications), n)
        if orders > 1:
            codes = np.where(rng.random(codes.size) < BY_PLACE, order % len(VERDICTS), codes)
        columns = {
            "item_id": pa.DictionaryArray.from_arrays(item, ids).cast(pa.string()),
            "replication": np.tile(np.arange(replications, dtype=np.int32), n * orders),
            "verdict": named(codes, VERDICTS),
        }
        if orders > 1:
            columns["option_order"] = order
            columns["label"] = named((codes - order) % len(VERDICTS), VERDICTS)
        table = pa.table(columns)
        if contract:
            table = with_all_columns(table, item, codes, rng)
        if shuffled:
            table = table.take(rng.permutation(len(table)))
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def with_all_columns(
    table: pa.Table, item: np.ndarray, codes: np.ndarray, rng: np.random.Generator
) -> pa.Table:
    """The columns of the judgments table, in its order."""
    from judgerel_ray.tables import Judgments

    n = len(table)
    without = rng.random(n) < UNPARSED
    verdict = named(codes, VERDICTS, where=~without)
    columns = {name: pa.repeat(pa.scalar(value), n) for name, value in ALIKE.items()}
    columns |= {name: table[name] for name in table.column_names}
    shown = pc.if_else(~without, table["label"], None) if "label" in columns else verdict
    columns |= {name: pa.nulls(n, pa.string()) for name in NULL}
    columns |= {
        "verdict": verdict,
        "label": shown,
        "score": pa.nulls(n, pa.float64()),
        **of_requests(item, without, rng),
    }
    return pa.table({name: columns[name] for name in Judgments.column_names()})


def of_requests(
    item: np.ndarray, without: np.ndarray, rng: np.random.Generator
) -> dict[str, pa.Array | np.ndarray]:
    """Columns that hold what a request was and cost, not what was judged."""
    n = len(item)
    return {
        "key": hexadecimal(rng.integers(0, 256, (n, 16), dtype=np.uint8)),
        "confidence": pa.nulls(n, pa.float64()),
        "outcome": named(without.astype(np.int32), pa.array(["scored", "unparsed"])),
        "seed": rng.integers(0, 2**62, n),
        "prompt_tokens": (200 + item % 300).astype(np.int32),
        "cached_tokens": pa.nulls(n, pa.int32()),
        "completion_tokens": rng.integers(4, 12, n, dtype=np.int32),
        "cost": pa.nulls(n, pa.float64()),
        "landed_at": pa.repeat(pa.scalar(datetime(2026, 1, 1), pa.timestamp("us", "UTC")), n),
    }


def named(codes: np.ndarray, names: pa.Array, where: np.ndarray | None = None) -> pa.Array:
    """Strings by their codes; null outside `where`."""
    index = pa.array(codes.astype(np.int32), mask=None if where is None else ~where)
    return pa.DictionaryArray.from_arrays(index, names).cast(pa.string())


def hexadecimal(octets: np.ndarray) -> pa.Array:
    """Two digits a byte, one string a row."""
    digits = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    text = digits[np.stack([octets >> 4, octets & 15], axis=-1)]
    n, width = len(octets), 2 * octets.shape[1]
    ends = np.arange(n + 1, dtype=np.int32) * width
    return pa.StringArray.from_buffers(n, pa.py_buffer(ends), pa.py_buffer(text.tobytes()))


def asked(names: Sequence[str]) -> list[str]:
    """Arguments that ask for these coefficients."""
    return [text for name in names for text in ("--coefficient", name)]


def cost(command: list[str], compiled: str | None = None) -> Cost:
    """What one process takes, modules compiled into a folder of its own where one is given.

    An installed package comes compiled; a checkout whose environment says that no bytecode is to
    be written would be compiled in each of its processes.
    """
    environment = dict(os.environ)
    if compiled is not None:
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = compiled
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    if status:
        sys.exit(f"failed: {' '.join(command[:4])} ...")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--orders", type=int, default=1, help="orders each question is asked in")
    parser.add_argument("--rounds", type=int, default=5, help="0: write the file alone")
    parser.add_argument("--columns", choices=("contract", "three"), default="contract")
    parser.add_argument("--shuffled", action="store_true", help="rows in no order")
    parser.add_argument("--file", type=Path, help="keep the judgments here, or take them from here")
    parser.add_argument("--run-directory", type=Path, help="a run that was written before")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = given.file or Path(folder, "judgments.parquet")
        if given.rounds == 0:
            write_judgments(
                file,
                questions=given.rows // (given.replications * given.orders),
                replications=given.replications,
                orders=given.orders,
                contract=given.columns == "contract",
                shuffled=given.shuffled,
            )
            return
        parts = file
        if given.run_directory:
            file, parts = given.run_directory, given.run_directory / "data/*/*.parquet"
        elif not file.exists():
            # By a process of its own: a child starts with the peak of its parent.
            again = [sys.executable, __file__, *sys.argv[1:], "--file", str(file), "--rounds", "0"]
            subprocess.run(again, check=True)
        names = (*COEFFICIENTS, *(OF_ORDERS if given.orders > 1 else ()))
        reduce = [sys.executable, "-m", "judgerel_ray", "reduce", str(file)]
        apart = ["item_id", *(["option_order"] if given.orders > 1 else []), "verdict"]
        commands = {
            "bare": [sys.executable, "-c", BARE, str(parts), *apart],
            "reduce": [*reduce, *asked(names)],
        }
        if given.orders > 1:
            commands["places"] = [*reduce, *asked((*names, *OF_PLACES))]
            commands["default"] = reduce
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        compiled = str(Path(folder, "compiled"))
        for command in commands.values():
            cost(command, compiled)  # compiles what it opens, and is not counted
        for _ in range(given.rounds):
            for name, command in commands.items():
                costs[name].append(cost(command, compiled))
                one = costs[name][-1]
                print(f"{name:7}  {one.wall:6.2f} s  {one.cpu:6.2f} s CPU  {one.peak_mb:6.0f} MB")
    what = given.run_directory or f"{given.rows:,} rows, orders: {given.orders}"
    print(f"{datetime.now():%Y-%m-%d}: {what}, {given.rounds} rounds")
    words = (("medians", statistics.median), ("least", min))
    for name, (word, of) in itertools.product([*costs][1:], words):
        bare, spent = (
            Cost(*map(of, zip(*map(astuple, costs[one]), strict=True))) for one in ("bare", name)
        )
        print(
            f"{name}, {word:7}  "
            f"wall {spent.wall:.2f} / {bare.wall:.2f} s = {spent.wall / bare.wall:.2f}, "
            f"CPU {spent.cpu:.2f} / {bare.cpu:.2f} s = {spent.cpu / bare.cpu:.2f}, "
            f"peak {spent.peak_mb:.0f} / {bare.peak_mb:.0f} MB"
        )
    for name in [*costs][1:]:
        print(f"largest peak of {name} {max(one.peak_mb for one in costs[name]):.0f} MB")


if __name__ == "__main__":
    main()
