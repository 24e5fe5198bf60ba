"""How often one request, asked again, is answered otherwise: batch sizes and precisions.

    python bench/serving_noise.py --repeats 8 --replications 20 --out runs/serving-noise

The demo's judge on real vLLM (CPU), the same sweep with 1, 8 and 64 sequences in a batch at most,
in float32 and in bfloat16. Within each run: pairs of replies at temperature 0. Between runs of one
precision: every request they share, by key and seed, at temperatures 0 and 1. Between precisions:
the same prompts at temperature 0. Shares with 95 % intervals over questions. It is a measurement;
exit code 1 only where a run fails.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from judgerel_ray.cli import main as judgerel
from judgerel_ray.pipeline import open_judgments
from judgerel_ray.pipeline.basis import reduce_with_basis
from judgerel_ray.pipeline.reducing import ReduceOptions
from judgerel_ray.pipeline.serving import serving_between
from judgerel_ray.report.serving import serving_text, shared_text

ROOT = Path(__file__).parents[1]
SEQUENCES = (1, 8, 64)
PRECISIONS = ("float32", "bfloat16")
SWEEP = """name = "serving-noise"
[[judge]]
name = "tiny-judge"
engine = "vllm"
model = "{root}/judgerel_ray/demo/judge"
gpus = 0
max_model_len = 1024
dtype = "{dtype}"
engine_options = {{ max_num_seqs = {sequences} }}
[[ask]]
protocol = "best_of"
benchmark = "demo"
path = "{root}/judgerel_ray/demo/items.parquet"
temperatures = [1.0, 0.0]
replications = {replications}
repeat_greedy = {repeats}
top_k = 50
max_tokens = 24
"""


def asked(out: Path, dtype: str, sequences: int, *, repeats: int, replications: int) -> Path | None:
    """The run of one precision and batch size; None where it failed."""
    run = out / f"{dtype}-{sequences}"
    file = out / f"{run.name}.toml"
    file.write_text(
        SWEEP.format(
            root=ROOT, dtype=dtype, sequences=sequences, replications=replications, repeats=repeats
        )
    )
    return None if judgerel(["run", str(file), "--out", str(run)]) else run


def tell_between(a: Path, b: Path) -> None:
    """Print what requests shared by two runs come to."""
    shared = serving_between(open_judgments(str(a)), open_judgments(str(b)))
    if shared is None:
        print(f"nothing is shared by {a.name} and {b.name}")
        return
    print(shared_text(shared.rows, shared.settings, (a.name, b.name)), end="\n\n")


def main() -> int:
    """Run all, and print how often replies differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("runs/serving-noise"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    amounts = {"repeats": given.repeats, "replications": given.replications}
    runs = {
        (dtype, sequences): asked(given.out, dtype, sequences, **amounts)
        for dtype in PRECISIONS
        for sequences in SEQUENCES
    }
    if None in runs.values():
        return 1
    found = {key: run for key, run in runs.items() if run is not None}
    for run in found.values():
        print(f"{run.name}: {serving_text(reduce_with_basis(str(run), ReduceOptions()).serving)}\n")
    for dtype in PRECISIONS:
        for sequences in SEQUENCES[1:]:
            tell_between(found[dtype, SEQUENCES[0]], found[dtype, sequences])
    tell_between(found[PRECISIONS[0], SEQUENCES[-1]], found[PRECISIONS[1], SEQUENCES[-1]])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
