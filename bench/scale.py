"""What many judgments cost a run's driver: plan, hand out, land, resume.

    python -m bench.scale [--judgments 100_000 1_000_000] [--replications 100] [--actors 2]
    python -m bench.scale --driver 20_000        # hand-out alone, one replication an item

A simulated judge without latency, best_of among three options, on this machine's Ray. Every part
runs in a process of its own. Prints, for each number of judgments:

- plan: seconds (CPU and wall) and largest memory of `plan`
- land: CPU of an actor for each judgment answered and landed in Parquet, prompt and key included
- run: judgments landed in a second of the wall by a whole run, CPU of its driver for each request
- resume: seconds until a complete run is known to owe nothing

With --driver: CPU of the driver to hand out requests and pickle their leases, when it writes the
prompts itself and when actors do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run.pending import Owing
from judgerel_ray.asking.run.running import run_sweep
from judgerel_ray.asking.run.unwriting import Unwriting
from judgerel_ray.config import load_sweep
from judgerel_ray.fleet import Fleet, JudgeActor, JudgeSpec, Lease, WorkQueue
from judgerel_ray.store import RunDirectory, begin_session, leave_token
from judgerel_ray.store.ledger import build_ledger

SWEEP = """
name = "scale"
[[judge]]
name = "j"
engine = "simulated"
model = "dirichlet"
gpus = 0
replicas = {actors}
engine_options = {{ seed = 1, concentration = 1.0 }}
[[ask]]
protocol = "best_of"
benchmark = "own"
path = "items.jsonl"
temperatures = [1.0]
replications = {replications}
max_tokens = 16
"""
LEASE_UNITS = 100_000
REQUEST_SIZE = 32
LANDED_HERE = 200_000
ITEMS_A_LEASE = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgments", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--driver", type=int, metavar="ITEMS")
    parser.add_argument("--part", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        part(given.part[0], Path(given.part[1]))
        return 0
    sizes = [given.driver] if given.driver else given.judgments
    for size in sizes:
        replications = 1 if given.driver else given.replications
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), size // replications, replications, given.actors)
            for name in ("driver",) if given.driver else ("plan", "land", "run", "resume"):
                command = [sys.executable, "-m", "bench.scale", "--part", name, folder]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                print(f"{size:>12,} {done.stdout.strip().splitlines()[-1]}", flush=True)
    return 0


def write(folder: Path, n_items: int, replications: int, actors: int) -> None:
    """A sweep and its items."""
    text = SWEEP.format(actors=actors, replications=replications)
    (folder / "sweep.toml").write_text(text)
    with (folder / "items.jsonl").open("w") as file:
        for place in range(n_items):
            item = {
                "item_id": f"q{place:08d}",
                "question": f"Which answer to question {place} is best? " + "word " * 20,
                "options": [
                    {"option_id": name, "text": f"answer {name} to {place} " + "text " * 10}
                    for name in "abc"
                ],
                "gold": "a",
            }
            file.write(json.dumps(item) + "\n")


def part(name: str, folder: Path) -> None:
    """One measurement, in this process alone."""
    cpu, wall = time.process_time(), time.monotonic()
    sweep = load_sweep(folder / "sweep.toml")
    if name == "driver":
        hand_out(folder)
    elif name == "plan":
        plan = plan_resolved(resolve(sweep))
        print(f"plan   {plan.requests:,} requests, {spent(cpu, wall)}")
    elif name == "land":
        n, used = asyncio.run(land(folder))
        print(f"land   {n:,} answered and landed by one actor: {used / n * 1e6:.1f} us of CPU each")
    elif name == "resume":
        summary = run_sweep(sweep, out=str(folder / "run"))
        print(f"resume owed {summary.owed}, asked {summary.asked_now}, {spent(cpu, wall)}")
    else:
        spans: list[tuple[float, float]] = []
        inner = Fleet.run_wave

        def timed(self: Fleet, *args: object, **kwargs: object) -> None:
            before = time.process_time(), time.monotonic()
            inner(self, *args, **kwargs)  # type: ignore[arg-type]
            spans.append((time.process_time() - before[0], time.monotonic() - before[1]))

        Fleet.run_wave = timed  # type: ignore[method-assign]
        summary = run_sweep(sweep, out=str(folder / "run"))
        used, lasted = (sum(each) for each in zip(*spans, strict=True))
        commits = sum(1 for _ in (folder / "run" / "commits").glob("s0001-l*.json"))
        print(
            f"run    landed {summary.landed:,} in {commits} commits, {summary.landed / lasted:,.0f}"
            f" a second of wall (engines' start included), driver {used / summary.landed * 1e6:.1f}"
            f" us of CPU a request while asking; in all {spent(cpu, wall)}"
        )


def hand_out(folder: Path) -> None:
    """Take and pickle every lease of a fresh run, as the scheduler does, without Ray."""
    (frame,) = resolve(load_sweep(folder / "sweep.toml")).frames
    voice, told = frame.judges[0], []
    for writer, size in (("driver", None), ("actors", REQUEST_SIZE)):
        before = time.process_time()
        owing = Owing(
            asked=((frame, voice),),
            wave=0,
            texts={},
            ledger=build_ledger(0, []),
            request_size=size,
        )
        n, n_bytes = owing.count(), 0
        queue = WorkQueue(source=owing.asks(None), request_size=REQUEST_SIZE)  # type: ignore[arg-type]
        while asks := queue.take("a", LEASE_UNITS):
            n_bytes += len(pickle.dumps(Lease(lease=1, attempt=1, judge="j", asks=asks)))
        used = (time.process_time() - before) / n
        told.append(f"{writer} write: {used * 1e6:.1f} us a request, {n_bytes / n:.0f} B")
    print("hand out " + "; ".join(told))


async def land(folder: Path) -> tuple[int, float]:
    """Have one actor answer and land a part of the sweep here; CPU but for its start."""
    resolved = resolve(load_sweep(folder / "sweep.toml"))
    (frame,) = resolved.frames
    run = RunDirectory.create(str(folder / "landed"))
    spec = JudgeSpec(
        engine=resolved.pinned_spec("j"),
        run=run,
        session=begin_session(run).number,
        visibility_token=leave_token(run),
        fingerprint=resolved.fingerprints["j"],
    )
    actor = JudgeActor(spec)
    await actor.start()
    writing = Unwriting(frame, frame.judges[0], REQUEST_SIZE, None)
    work = [one for item in frame.items if (one := writing.of(item)) is not None]
    n, number, before = 0, 0, time.process_time()
    while work and n < LANDED_HERE:
        number += 1
        asks, work = tuple(work[:ITEMS_A_LEASE]), work[ITEMS_A_LEASE:]
        n += (await actor.run(Lease(lease=number, attempt=1, judge="j", asks=asks))).rows
    return n, time.process_time() - before


def spent(cpu: float, wall: float) -> str:
    """CPU, wall and largest memory of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    used, lasted = time.process_time() - cpu, time.monotonic() - wall
    return f"{used:.1f} s of CPU, {lasted:.1f} s of wall, {peak:.0f} MB"


if __name__ == "__main__":
    raise SystemExit(main())
