"""Exact verdict distributions against replies drawn by the same real engine.

    python bench/exact_against_sampling.py --replications 2000 --out runs/exact-against-sampling

One judge's 16 questions, the demo's, explored once and sampled at five temperatures. Prints the
chi-square p-values of every question and temperature (uniform where both say the same, by a
Kolmogorov-Smirnov test), how many certain bounds meet the 99.9 % interval of the count drawn, and
the tokens computed for either. Exit code 1 where the p-values are not uniform (p < .001) or more
cells are missed than chance allows.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats as scipy_stats

from judgerel_ray.cli import main as judgerel
from judgerel_ray.stats import clopper_pearson
from judgerel_ray.store import RunDirectory, read_ledger, scan_judgments
from judgerel_ray.store.made_tables import read_distributions

ROOT = Path(__file__).parents[1]
TEMPERATURES = (1.5, 1.0, 0.75, 0.5, 0.25)
LEAST_EXPECTED = 5.0
UNDECIDED = 1e-4

JUDGE = f"""
[[judge]]
name = "tiny-judge"
engine = "vllm"
model = "{ROOT}/judgerel_ray/demo/judge"
gpus = 0
max_model_len = 1024
"""
ASK = f"""
[[ask]]
protocol = "best_of"
benchmark = "demo"
path = "{ROOT}/judgerel_ray/demo/items.parquet"
temperatures = {list(TEMPERATURES)}
top_k = 50
max_tokens = 24
"""


def written(folder: Path, name: str, more: str) -> str:
    """A sweep file."""
    file = folder / f"{name}.toml"
    file.write_text(f'name = "{name}"\n{JUDGE}{ASK}{more}')
    return str(file)


def tokens_of(run: RunDirectory) -> int:
    """Tokens computed, by the engine's counters."""
    tokens = read_ledger(run).judges["tiny-judge"].tokens
    return tokens.prompt - tokens.cached + tokens.generated


def compare(exact: pl.DataFrame, drawn: pl.DataFrame) -> tuple[list[float], int, int]:
    """Chi-square p-values, cells whose bounds meet the interval of the count, and all cells."""
    counts = drawn.group_by("item_id", "temperature", "verdict").len()
    p_values, met, cells = [], 0, 0
    for (item, temperature), rows in exact.group_by("item_id", "temperature", maintain_order=True):
        of_item = counts.filter(
            (pl.col("item_id") == item) & (pl.col("temperature") == temperature)
        )
        seen = dict(of_item.select("verdict", "len").iter_rows())
        n = sum(seen.values())
        observed = np.array([seen.get(verdict, 0) for verdict in rows["verdict"]], dtype=float)
        expected = n * rows["probability"].to_numpy()
        for k, low, high in zip(observed, rows["low"], rows["high"], strict=True):
            ends = clopper_pearson(int(k), n, confidence=0.999)
            met += low <= ends.high and ends.low <= high
            cells += 1
        rare = expected < LEAST_EXPECTED
        if rare.any():  # merged, and left out where even together they are rare
            observed = np.append(observed[~rare], observed[rare].sum())
            expected = np.append(expected[~rare], expected[rare].sum())
            if expected[-1] < LEAST_EXPECTED:
                observed, expected = observed[:-1], expected[:-1]
        if observed.size > 1:
            scaled = expected * observed.sum() / expected.sum()
            p_values.append(float(scipy_stats.chisquare(observed, scaled).pvalue))
    return p_values, met, cells


def main() -> int:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=Path("runs/exact-against-sampling"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    explored, sampled = asked.out / "exact", asked.out / "sampled"
    more = f'mode = "exact"\n[ask.exact]\nundecided = {UNDECIDED}\n'
    if judgerel(["run", written(asked.out, "exact", more), "--out", str(explored)]):
        return 1
    more = f"replications = {asked.replications}\nearly_stop = true\n"
    if judgerel(["run", written(asked.out, "sampled", more), "--out", str(sampled)]):
        return 1
    one, other = RunDirectory.open(str(explored)), RunDirectory.open(str(sampled))
    table = read_distributions(one)
    drawn = scan_judgments(other).select("item_id", "temperature", "verdict").collect()
    p_values, met, cells = compare(table, drawn)
    uniform = scipy_stats.kstest(p_values, "uniform")
    print(f"{len(p_values)} chi-square tests of {drawn.height:,} replies, top_k 50:")
    shares = [float(np.mean(np.array(p_values) < limit)) for limit in (0.01, 0.05, 0.5)]
    print(f"  p below .01 / .05 / .5 in {shares[0]:.3f} / {shares[1]:.3f} / {shares[2]:.3f}")
    print(f"  least {min(p_values):.4f}; uniform by Kolmogorov-Smirnov p = {uniform.pvalue:.3f}")
    print(f"certain bounds meet the 99.9 % interval of the count in {met} of {cells} cells")
    found = {"exact": tokens_of(one), "sampled": tokens_of(other)}
    print(f"tokens computed: {json.dumps(found)}, ratio {found['exact'] / found['sampled']:.4f}")
    chance = scipy_stats.binom.ppf(0.999, cells, 0.001)
    return int(uniform.pvalue < 0.001 or cells - met > chance)


if __name__ == "__main__":
    raise SystemExit(main())
