"""How often one request, asked again, is answered otherwise: batch sizes and precisions.

    python bench/serving_noise.py --repeats 8 --replications 20 --out runs/serving-noise

The demo's judge on real vLLM (CPU), the same sweep with 1, 8 and 64 sequences in a batch at most,
in float32 and in bfloat16; with ``--gpus 1`` in the GPU's own precision, with and without
batch_invariant. Within each run: pairs of replies at temperature 0. Between batch sizes: every
request they share, by key and seed, at temperatures 0 and 1. Between kinds: the same prompts at
temperature 0. Shares with 95 % intervals over questions. It is a measurement; exit code 1 only
where a run fails.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from judgerel_ray import serving
from judgerel_ray.blocks.terminal import printed
from judgerel_ray.cli import main as judgerel
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.serving import serving_between
from judgerel_ray.measuring.show_serving import serving_blocks, shared_blocks

ROOT = Path(__file__).parents[1]
SEQUENCES = (1, 8, 64)
ON_CPU = {"float32": 'dtype = "float32"', "bfloat16": 'dtype = "bfloat16"'}
ON_GPU = {"plain": "", "invariant": "batch_invariant = true"}
SWEEP = """name = "serving-noise"
[[judge]]
name = "tiny-judge"
engine = "vllm"
model = "{root}/judgerel_ray/demo/judge"
gpus = {gpus}
max_model_len = 1024
{kind}
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


def asked(out: Path, name: str, **values: object) -> Path | None:
    """The run of one kind and batch size; None where it failed."""
    file = out / f"{name}.toml"
    file.write_text(SWEEP.format(root=ROOT, **values))
    run = out / name
    return None if judgerel(["run", str(file), "--out", str(run)]) else run


def tell_between(a: Path, b: Path) -> None:
    """Print what requests shared by two runs come to."""
    with Snapshot.open(str(a)) as first, Snapshot.open(str(b)) as second:
        shared = serving_between(first, second)
    if shared is None:
        print(f"nothing is shared by {a.name} and {b.name}")
        return
    print(printed(shared_blocks(shared.rows, shared.settings, (a.name, b.name))), end="\n\n")


def main() -> int:
    """Run all, and print how often replies differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("runs/serving-noise"))
    parser.add_argument("--gpus", type=int, default=0, choices=(0, 1))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    kinds = ON_GPU if given.gpus else ON_CPU
    amounts = {name: getattr(given, name) for name in ("repeats", "replications", "gpus")}
    runs = {
        (name, sequences): asked(
            given.out, f"{name}-{sequences}", kind=kind, sequences=sequences, **amounts
        )
        for name, kind in kinds.items()
        for sequences in SEQUENCES
    }
    if None in runs.values():
        return 1
    found = {key: run for key, run in runs.items() if run is not None}
    for run in found.values():
        print(f"{run.name}: {printed(serving_blocks(serving(str(run))))}\n")
    for name in kinds:
        for sequences in SEQUENCES[1:]:
            tell_between(found[name, SEQUENCES[0]], found[name, sequences])
    first, second = kinds
    tell_between(found[first, SEQUENCES[-1]], found[second, SEQUENCES[-1]])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
