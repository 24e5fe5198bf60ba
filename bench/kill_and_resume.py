"""Kill a run of real vLLM judges again and again, resume it, and compare with an undisturbed one.

    python bench/kill_and_resume.py [--replications 700] [--kills 3] [--seed 1]

The demo's judge on the CPU in float32. What is killed takes turns: the driver, the judge's actor,
and the process of its engine alone, each by SIGKILL when the next share of the run has landed; the
seed says when. Prints whether every key of the plan landed exactly once, and how many texts at
equal keys differ from the undisturbed run's (0 expected: a key fixes the seed, and float32 on the
CPU does not depend on what else is in the batch).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ("driver", "actor", "engine")
SWEEP = """
name = "kill-and-resume"
[[judge]]
name = "tiny-judge"
engine = "vllm"
model = "{root}/judgerel_ray/demo/judge"
gpus = 0
max_model_len = 1024
[[ask]]
protocol = "best_of"
benchmark = "demo"
path = "{root}/judgerel_ray/demo/items.parquet"
temperatures = [1.0, 0.75, 0.5, 0.0]
replications = {replications}
max_tokens = 24
[fleet]
lease_seconds = 2.0
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=700)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        sweep = Path(folder, "sweep.toml")
        sweep.write_text(SWEEP.format(root=ROOT, replications=given.replications))
        started = time.monotonic()
        code = start(sweep, Path(folder, "calm")).wait()
        print(f"undisturbed: exit {code}, {time.monotonic() - started:.0f} s")
        kills = disturb(sweep, Path(folder, "killed"), given.kills, chance)
        return compare(Path(folder, "calm"), Path(folder, "killed"), kills)


def start(sweep: Path, run: Path) -> subprocess.Popen[bytes]:
    """Start a run in a process of its own."""
    command = [sys.executable, "-m", "judgerel_ray", "run", str(sweep), "--out", str(run)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)


def disturb(sweep: Path, run: Path, n_kills: int, chance: random.Random) -> list[str]:
    """Run to the end through kills; say what was killed when."""
    driver = start(sweep, run)
    kills: list[str] = []
    landed = 0
    for k in range(n_kills):
        share = (k + chance.uniform(0.5, 0.9)) / (n_kills + 0.5)
        # More than at the last kill: what died then is there again, and at work.
        landed, asked = wait_for(run, share, driver, more_than=landed)
        if driver.poll() is not None:
            print(f"the run ended before kill {k + 1}: give more --replications")
            break
        target = TARGETS[k % len(TARGETS)]
        os.kill(driver.pid if target == "driver" else pid_of(target, run), signal.SIGKILL)
        kills.append(f"{target} at {landed} of {asked}")
        print(f"killed the {kills[-1]}")
        if target == "driver":
            driver.wait()
            driver = start(sweep, run)
    print(f"last session: exit {driver.wait()}")
    return kills


def wait_for(
    run: Path, share: float, driver: subprocess.Popen[bytes], *, more_than: int
) -> tuple[int, int]:
    """Wait until a share of the run has landed."""
    while driver.poll() is None:
        landed, asked = standing(run)
        if asked and landed > more_than and landed >= share * asked:
            return landed, asked
        time.sleep(0.2)
    return standing(run)


def standing(run: Path) -> tuple[int, int]:
    """(landed, asked) by the commits and the plan."""
    from judgerel_ray.core import JudgeRelError
    from judgerel_ray.store.status import read_status

    try:
        status = read_status(str(run)).as_json()
    except JudgeRelError:
        return 0, 0
    landed, asked = (status[name] or 0 for name in ("landed", "asked"))  # None before the plan
    return int(str(landed)), int(str(asked))


def pid_of(target: str, run: Path) -> int:
    """The process of the actor that committed last, or of its engine."""
    records = [json.loads(file.read_text()) for file in (run / "commits").glob("s0*.json")]
    commits = [record for record in records if record["kind"] == "commit"]
    actor = int(max(commits, key=lambda commit: str(commit["written_at"]))["engine"]["pid"])
    if target == "actor":
        return actor
    return next(one.pid for one in psutil.Process(actor).children() if "Core" in one.name())


def compare(calm: Path, killed: Path, kills: list[str]) -> int:
    """Print the comparison; 0 where nothing was lost, doubled or changed."""
    from judgerel_ray import verify
    from judgerel_ray.store import RunDirectory, scan_completions, scan_judgments

    texts = {}
    for name, folder in (("calm", calm), ("killed", killed)):
        run = RunDirectory.open(str(folder))
        keys = scan_judgments(run).select("key").collect()["key"]
        planned = json.loads((folder / "plan.json").read_text())["requests"]
        found = scan_completions(run).select("key", "text").collect()
        texts[name] = dict(zip(found["key"], found["text"], strict=True))
        print(
            f"{name}: {planned} planned, {len(keys)} rows, {keys.n_unique()} keys, "
            f"{sum(one.level == 'error' for one in verify(folder))} errors found by verify"
        )
    same_keys = texts["calm"].keys() == texts["killed"].keys()
    differing = sum(texts["killed"].get(key) != text for key, text in texts["calm"].items())
    counts = Counter(kill.split()[0] for kill in kills)
    each = ", ".join(f"{target} {n}" for target, n in counts.items())
    print(f"real engines: {len(kills)} kills ({each}): {'; '.join(kills)}")
    print(f"keys equal: {same_keys}; texts that differ at equal keys: {differing}")
    return 0 if same_keys and not differing else 1


if __name__ == "__main__":
    sys.exit(main())
