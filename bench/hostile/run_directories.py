"""Run directories that cases are given copies of: sampled, and from log-probabilities."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SWEEP = """name = "hostile"
[[judge]]
name = "coin"
engine = "simulated"
model = "dirichlet"
gpus = 0
engine_options = { concentration = 1.0, seed = 3 }
[[ask]]
protocol = "best_of"
benchmark = "own"
path = "items.jsonl"
replications = 6
temperatures = [1.0, 0.5]
option_orders = 2
"""
MAKE = """
import judgerel_ray as jr
jr.run("sampled.toml", out="run")
from judgerel_ray.cli import main
raise SystemExit(main(["exact", "exact.toml", "--out", "exact"]))
"""


def items(n: int = 8) -> str:
    """Items of two options each, with the right one."""
    return "".join(
        json.dumps(
            {
                "item_id": f"q{i}",
                "question": f"Question {i}?",
                "category": "c",
                "gold": "xy"[i % 2],
                "options": [
                    {"option_id": "x", "text": f"this {i}"},
                    {"option_id": "y", "text": f"that {i}"},
                ],
            }
        )
        + "\n"
        for i in range(n)
    )


def make_bases(folder: Path) -> None:
    """Make the run directories, where they are not there yet; one local Ray serves both."""
    if (folder / "exact" / "manifest.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.jsonl").write_text(items())
    (folder / "sampled.toml").write_text(SWEEP)
    (folder / "exact.toml").write_text(SWEEP.replace('"hostile"', '"hostile-exact"'))
    (folder / "make.py").write_text(MAKE)
    subprocess.run(
        [sys.executable, "make.py"], cwd=folder, check=True, timeout=300,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
