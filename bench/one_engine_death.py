"""What one engine's death costs a run: undisturbed, a death by chance, a request that kills.

``python bench/one_engine_death.py --items 3000`` runs one simulated judge whose replies take
``--latency-ms`` each, all at once in flight, through local Ray. It prints seconds, engines used and
requests set aside for each of the three; what they set aside must be the deadly request alone.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from pathlib import Path

SWEEP = """
name = "death"
[[judge]]
name = "j"
engine = "simulated"
model = "uniform"
gpus = 0
engine_options = {{ latency_ms = {latency_ms}{trouble} }}
[[ask]]
protocol = "best_of"
benchmark = "own"
path = "items.csv"
temperatures = [1.0]
replications = 1
"""


def run_once(folder: Path, *, latency_ms: float, trouble: str) -> tuple[float, int, int, int]:
    """Run the sweep: seconds, engines that landed anything, rows landed, requests set aside."""
    from rich.console import Console

    from judgerel_ray.asking.run.running import run_sweep
    from judgerel_ray.config import read_sweep
    from judgerel_ray.store import RunDirectory, read_ledger

    file = folder / "sweep.toml"
    file.write_text(SWEEP.format(latency_ms=latency_ms, trouble=trouble))
    out = tempfile.mkdtemp(dir=folder) + "/run"
    began = time.monotonic()
    summary = run_sweep(read_sweep(str(file)), out=out, console=Console(file=io.StringIO()))
    seconds = time.monotonic() - began
    commits = read_ledger(RunDirectory.open(out)).commits
    engines = {commit.engine["pid"] for commit in commits if commit.seconds}
    return seconds, len(engines), summary.landed, summary.failed


def main() -> int:
    """Run and print; exit 1 where anything but the deadly request is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=3000)
    parser.add_argument("--latency-ms", type=float, default=40.0)
    parsed = parser.parse_args()
    import ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    right = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [f"q{i:04d},Which is number {i}?,this {i},that {i}" for i in range(parsed.items)]
        (folder / "items.csv").write_text(
            "\n".join(["item_id,question,option_x,option_y", *rows]) + "\n"
        )
        by_chance = f', dies_on = {parsed.items // 5}, dies_once = "{folder}/died"'
        deadly = f', poison = "q{parsed.items // 5:04d}"'
        for label, trouble, lost in (
            ("undisturbed", "", 0),
            ("an engine dies by chance", by_chance, 0),
            ("a request kills its engine", deadly, 1),
        ):
            seconds, engines, landed, failed = run_once(
                folder, latency_ms=parsed.latency_ms, trouble=trouble
            )
            right = right and (landed, failed) == (parsed.items - lost, lost)
            print(
                f"{label:<28} {seconds:6.1f} s   {engines} engines landed rows, "
                f"{landed} landed, {failed} set aside",
                flush=True,
            )
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
