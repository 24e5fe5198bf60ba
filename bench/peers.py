"""The package beside its peers: the same prompts and seeds, arms in turns, each a process.

    python -m bench.peers [--case equal|ceiling|sweep] [--rounds 2] [--replications 300]
                          [--arms raw judgerel] [--device cpu|cuda] [--model DIR ...]
    python -m bench.peers --arms raw judgerel --turns 1 --replications 1200

Case ``equal``: one judge, 16 questions, T = 1, .75, .5; every arm makes the same tokens. Case
``ceiling``: the same, but replies of 9 tokens may have 480, and the engine's cache holds the
batch as replies are, not as they might be. Case
``sweep``, in the shape of Schroeder and Wood-Doughty (2024): several judges, T = 1, .75, .5, .25
and 0, each asked R times; replies go on after their verdict for 50 tokens. There judgerel may do
what it is for (temperature 0 once, replies ended at their verdict), and the others do what they
can be told row by row; ``ray-data-stopped`` is told by hand to stop there too.

With ``--turns S`` the arms of a round are there at once and work in turns of S seconds, the others
stopped meanwhile: a machine that is slow for a minute is slow for all of them. That is for arms
that can be told when to begin, which Ray Data's cannot.

Every arm starts its engine first, which is left out. CPU seconds are those of the whole tree of
processes, sampled from outside. A ratio is the raw arm's cost over the arm's, of the same round:
of a request in case ``equal``, of the whole in case ``sweep``; the median over rounds counts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
ARMS = {
    "raw": "LLM.generate, one call, n = R",
    "raw-rows": "LLM.generate, one call, a row a replication, shuffled",
    "ray-data": "Ray Data LLM, its defaults, messages a row",
    "ray-data-tuned": "Ray Data LLM, token ids a row sorted by question, only the engine's stage",
    "ray-data-stopped": "the same, told to stop at the verdict",
    "per-temperature": "a call a temperature, a row a replication, nothing cached between calls",
    "sequential": "transformers.generate, a reply at a time (R cut to what --sequential says)",
    "judgerel": "judgerel run",
}
OF_CASE = {
    "equal": tuple(arm for arm in ARMS if arm != "ray-data-stopped"),
    "ceiling": ("raw", "judgerel", "ray-data-tuned"),
    "sweep": ("raw", "judgerel", "ray-data-tuned", "ray-data-stopped"),
}
IN_TURNS = ("raw", "raw-rows", "judgerel")
TEMPERATURES = {
    "equal": [1.0, 0.75, 0.5],
    "ceiling": [1.0, 0.75, 0.5],
    "sweep": [1.0, 0.75, 0.5, 0.25, 0.0],
}
MAX_TOKENS = {"equal": 24, "ceiling": 480, "sweep": 50}
BLOCKS = 600  # of 32 tokens: 256 replies of two blocks each, and what their prompts share
SAMPLED_EVERY, GIVEN_UP_AFTER = 0.2, 1200  # seconds
READY, GO = "ready", "go"  # files by which an arm says that it waits, and is told to begin


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One prompt at one temperature, with `n` replies of the seeds ``seed``, ``seed + 1``, …"""

    key: str
    judge: str
    chat: tuple[tuple[str, str], ...]
    ids: tuple[int, ...]
    temperature: float
    seed: int
    n: int
    max_tokens: int
    top_k: int = 50
    stop: tuple[str, ...] = ()

    def sampling(self, replication: int = 0) -> dict[str, Any]:
        """vLLM's parameters of one reply."""
        made: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        made["top_k"] = self.top_k
        # At temperature 0 too, where it says nothing: in a batch in which some rows have no seed
        # Ray Data hands the others on as floats, which end vLLM's output thread, and it waits.
        made["seed"] = self.seed + replication
        if self.stop:
            made |= {"stop": list(self.stop), "include_stop_str_in_output": True}
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What an arm did and what it took, engine starts left out."""

    arm: str
    requests: int
    prompt: int
    computed: int
    least: int
    new: int
    cpu: float
    wall: float
    cpu_in_all: float
    wall_in_all: float
    digest: str


def rows_of(cells: Iterable[Cell]) -> list[tuple[Cell, int]]:
    """A row for each reply, sorted by question as the plan is."""
    return [(cell, replication) for cell in cells for replication in range(cell.n)]


def least_prompt_tokens(cells: Iterable[Cell], block: int) -> int:
    """Prompt tokens that must be computed: each prompt once, and its last block for each reply.

    A block that is not full is never cached, nor is the last token of a prompt.
    """
    replies: dict[tuple[str, tuple[int, ...]], int] = {}
    for cell in cells:
        at = (cell.judge, cell.ids)
        replies[at] = replies.get(at, 0) + cell.n
    tail = {at: len(at[1]) - block * ((len(at[1]) - 1) // block) for at in replies}
    return sum(len(at[1]) + (n - 1) * tail[at] for at, n in replies.items())


def cpu_between(samples: Sequence[tuple[float, float]], began: float, ended: float) -> float:
    """CPU seconds between two moments, from samples of (moment, CPU seconds so far)."""

    def at(moment: float) -> float:
        for (before, low), (after, high) in pairwise(samples):
            if before <= moment <= after and after > before:
                return low + (high - low) * (moment - before) / (after - before)
        return samples[0][1] if moment < samples[0][0] else samples[-1][1]

    return at(ended) - at(began)


def ratios(
    rounds: Sequence[Sequence[Cost]], anchor: str = "raw", *, whole: bool = False
) -> dict[str, tuple[float, float]]:
    """Medians over rounds of the anchor's CPU and wall seconds over each arm's.

    Seconds of a request, or of the `whole` work: what an arm need not ask is its gain there.
    """
    paired: dict[str, list[tuple[float, float]]] = {}
    for costs in rounds:
        by_arm = {cost.arm: cost for cost in costs}
        if anchor not in by_arm:
            continue
        base = by_arm[anchor]
        for arm, cost in by_arm.items():
            more = 1.0 if whole else cost.requests / base.requests
            paired.setdefault(arm, []).append(
                (more * base.cpu / cost.cpu, more * base.wall / cost.wall)
            )
    return {
        arm: (statistics.median(c for c, _ in found), statistics.median(w for _, w in found))
        for arm, found in paired.items()
    }


def sweep_text(case: str, models: Sequence[Path], *, gpus: int, replications: int) -> str:
    """The sweep file of a case."""
    judges = [
        f'[[judge]]\nname = "judge-{index}"\nmodel = "{model}"\ngpus = {gpus}\n'
        + "max_model_len = 1024\n"
        + (f"[judge.engine_options]\nnum_gpu_blocks_override = {BLOCKS}\n" * (case == "ceiling"))
        for index, model in enumerate(models)
    ]
    return (
        f'name = "peers"\n{"".join(judges)}[[ask]]\nprotocol = "best_of"\nbenchmark = "demo"\n'
        f'path = "{ROOT}/judgerel_ray/demo/items.parquet"\ntemperatures = {TEMPERATURES[case]}\n'
        f"replications = {replications}\nmax_tokens = {MAX_TOKENS[case]}\n"
        f"early_stop = {str(case == 'sweep').lower()}\n"
    )


def talkative(model: Path, folder: Path, index: int) -> Path:
    """A copy of the demo's judge that never ends a reply by itself, as one that explains."""
    made = folder / f"judge-{index}"
    shutil.copytree(model, made)
    for name in ("config.json", "generation_config.json"):
        settings = json.loads((made / name).read_text())
        (made / name).write_text(json.dumps(settings | {"eos_token_id": 0, "judge": index}))
    settings = json.loads((made / "tokenizer_config.json").read_text())
    (made / "tokenizer_config.json").write_text(json.dumps(settings | {"eos_token": "<|pad|>"}))
    return made


@dataclass(slots=True, kw_only=True)
class Started:
    """An arm at work: its process, the CPU seconds of its tree so far, and when it was stopped."""

    arm: str
    folder: Path
    process: subprocess.Popen[bytes]
    samples: list[tuple[float, float]]
    spent: dict[psutil.Process, float] = field(default_factory=dict)
    stops: list[tuple[float, float]] = field(default_factory=list)

    def tree(self) -> list[psutil.Process]:
        """The process and its descendants; none where it has ended."""
        try:
            root = psutil.Process(self.process.pid)
            return [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def send(self, what: signal.Signals) -> None:
        """Send a signal to all of them."""
        for one in self.tree():
            with contextlib.suppress(psutil.NoSuchProcess):
                one.send_signal(what)

    def sample(self) -> None:
        """Read what was spent by now; kill what takes too long."""
        for one in self.tree():
            with contextlib.suppress(psutil.NoSuchProcess):
                times = one.cpu_times()
                self.spent[one] = times.user + times.system
        self.samples.append((time.time(), sum(self.spent.values())))
        if time.time() - self.samples[0][0] > GIVEN_UP_AFTER:
            self.send(signal.SIGKILL)

    def begun(self) -> bool:
        """Whether its engine is up: a peer waits then to be told, the fleet goes on."""
        if self.arm != "judgerel":
            return (self.folder / READY).exists()
        board = self.folder / "run" / "progress.json"
        states = json.loads(board.read_text())["judges"].values() if board.exists() else ()
        return any(one["state"] == "running" for one in states)

    def cost(self) -> Cost:
        """What it took, once it has ended."""
        if self.process.wait():
            raise SystemExit(f"{self.arm} failed:\n" + (self.folder / "log").read_text()[-3000:])
        found = json.loads((self.folder / "cost.json").read_text())
        spans = found.pop("spans")
        return Cost(
            arm=self.arm,
            cpu=sum(cpu_between(self.samples, first, last) for first, last in spans),
            wall=sum(worked_between(self.stops, first, last) for first, last in spans),
            cpu_in_all=self.samples[-1][1],
            wall_in_all=worked_between(self.stops, self.samples[0][0], self.samples[-1][0]),
            **found,
        )


def worked_between(stops: Iterable[tuple[float, float]], began: float, ended: float) -> float:
    """Seconds between two moments in which nothing was stopped."""
    lost = sum(max(0.0, min(ended, last) - max(began, first)) for first, last in stops)
    return ended - began - lost


def start_arm(
    arm: str, case: str, sweep: Path, folder: Path, options: argparse.Namespace
) -> Started:
    """Start one arm as a process."""
    folder.mkdir()
    command = [sys.executable, "-m", "bench.peer_arms", arm, case, str(sweep), str(folder)]
    command += ["--device", options.device, "--sequential", str(options.sequential)]
    command += ["--waits"] * bool(options.turns)
    environment = os.environ | {
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        # Ray lowers its workers' priority by 15: on a busy machine they would hardly run.
        "RAY_worker_niceness": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_NO_USAGE_STATS": "1",
    }
    began = time.time()
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    return Started(arm=arm, folder=folder, process=process, samples=[(began, 0.0)])


def run_arm(started: Started) -> Cost:
    """Watch one arm until it ends."""
    while started.process.poll() is None:
        started.sample()
        time.sleep(SAMPLED_EVERY)
    return started.cost()


def run_in_turns(arms: Iterable[Started], seconds: float) -> list[Cost]:
    """Watch arms of which one works at a time, until all have ended.

    They start one after another, and wait once their engines are up. The fleet, which does not
    wait, must be the last.
    """
    waiting: list[Started] = []
    for one in arms:
        waiting.append(one)
        while one.process.poll() is None and not one.begun():
            time.sleep(SAMPLED_EVERY)
            one.sample()
    for one in waiting:
        (one.folder / GO).touch()
    stopped: dict[Path, float] = {}
    for turn in cycle(waiting):
        at_work = [one for one in waiting if one.process.poll() is None]
        if not at_work:
            break
        if turn not in at_work:
            continue
        for one in at_work:
            if one is not turn and one.folder not in stopped:
                one.send(signal.SIGSTOP)
                stopped[one.folder] = time.time()
        if turn.folder in stopped:
            turn.send(signal.SIGCONT)
            turn.stops.append((stopped.pop(turn.folder), time.time()))
        until = time.time() + seconds
        while time.time() < until and turn.process.poll() is None:
            turn.sample()
            time.sleep(min(SAMPLED_EVERY, seconds))
        turn.sample()
    return [one.cost() for one in waiting]


def say(cost: Cost) -> str:
    """One line of an arm."""
    return (
        f"{cost.arm:17s} {cost.requests:6d} requests  prompt {cost.prompt:9d}, "
        f"computed {cost.computed:8d} ({cost.computed / cost.least:5.2f} of least)  "
        f"new {cost.new:8d}  cpu {cost.cpu:6.1f} s  "
        f"wall {cost.wall:6.1f} s  in all {cost.cpu_in_all:6.1f}, {cost.wall_in_all:6.1f} s  "
        f"texts {cost.digest or '-'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=OF_CASE, default="equal")
    parser.add_argument("--arms", nargs="+", choices=ARMS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--replications", type=int, default=300)
    parser.add_argument("--judges", type=int, default=2, help="of the case sweep")
    parser.add_argument("--sequential", type=int, default=4, help="R of the sequential arm")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--model", action="append", type=Path, help="one a judge")
    parser.add_argument("--turns", type=float, metavar="S", help="arms work in turns of S seconds")
    options = parser.parse_args()
    arms = options.arms or OF_CASE[options.case]
    if options.turns and (untold := [arm for arm in arms if arm not in IN_TURNS]):
        parser.error(f"--turns is for {', '.join(IN_TURNS)}, got {', '.join(untold)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = options.model or [ROOT / "judgerel_ray/demo/judge"]
        if options.case == "sweep" and not options.model:
            models = [talkative(models[0], folder, index) for index in range(options.judges)]
        sweep = folder / "sweep.toml"
        gpus = int(options.device == "cuda")
        sweep.write_text(
            sweep_text(options.case, models, gpus=gpus, replications=options.replications)
        )
        rounds = []
        for index in range(options.rounds):
            # A machine that slows down or speeds up must not favour the arm that comes first.
            order = arms if index % 2 == 0 else [*reversed(arms)]
            if options.turns:
                order = sorted(arms, key=lambda arm: arm == "judgerel")
            started = (
                start_arm(arm, options.case, sweep, folder / f"{arm}-{index}", options)
                for arm in order
            )
            in_turns = options.turns and run_in_turns(started, options.turns)
            costs = []
            for cost in in_turns or map(run_arm, started):
                print(say(cost), flush=True)
                costs.append(cost)
            rounds.append(costs)
    print(f"load average {os.getloadavg()[0]:.1f}; ratios to raw, by CPU and by wall:")
    for arm, (cpu, wall) in ratios(rounds, whole=options.case == "sweep").items():
        print(f"{arm:17s} {cpu:5.2f} {wall:5.2f}  {ARMS[arm]}")


if __name__ == "__main__":
    main()
