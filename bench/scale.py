"""What many judgments cost a run's driver: plan, hand out, land, resume.

    python -m bench.scale [--judgments 100_000 1_000_000] [--replications 100] [--actors 2]
    python -m bench.scale --driver 20_000        # hand-out alone, one replication an item
    python -m bench.scale --fleet 1_000          # the driver of so many actors, which are pretended
    python -m bench.scale --adaptive 1_500       # adaptive replication beside as many fixed ones

A simulated judge without latency, best_of among three options, on this machine's Ray. Every part
runs in a process of its own. Prints, for each number of judgments:

- plan: seconds (CPU and wall) and largest memory of `plan`
- land: CPU of an actor for each judgment answered and landed in Parquet, prompt and key included
- run: judgments landed in a second of the wall by a whole run, CPU of its driver for each request
- resume: seconds until a complete run is known to have nothing pending

With --driver: CPU of the driver to hand out requests and pickle their leases, when it writes the
prompts itself and when actors do.

With --fleet: CPU of the real driver (scheduler, leases, their pickling, receipts, progress) before
so many actors that answer 100 requests a second each. Actors and clock are pretended, Ray takes no
part and nothing lands: so many processes have no room on one machine.

With --adaptive: CPU of the driver for a request while it asks, of runs in turns whose questions are
asked by 5 up to 100 times, and of runs with as many fixed replications.
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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import SimpleNamespace

from rich.console import Console

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run.pending import Pending, Unwriting
from judgerel_ray.asking.run.running import run_sweep
from judgerel_ray.config import read_sweep
from judgerel_ray.core import TokenCounts
from judgerel_ray.fleet import Board, Fleet, JudgeBoard, JudgePool, JudgeSpec, Outside, WorkQueue
from judgerel_ray.fleet.board import ConsoleDisplay
from judgerel_ray.fleet.cluster import ActorHandle, Capacity
from judgerel_ray.fleet.judge_actor import JudgeActor
from judgerel_ray.fleet.lease import ActorFacts, Lease, Receipt
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
RATE = 100.0  # requests that a pretended actor answers in a second
ITEMS_A_LEASE = 100
ADAPTIVE, ROUNDS = "{ adaptive = 0.05, first = 5, max = 100 }", 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgments", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--driver", type=int, metavar="ITEMS")
    parser.add_argument("--fleet", type=int, metavar="ACTORS")
    parser.add_argument("--adaptive", type=int, metavar="ITEMS")
    parser.add_argument("--part", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        part(given.part[0], Path(given.part[1]))
        return 0
    if given.adaptive:
        compare_adaptive(given.adaptive, given.actors)
        return 0
    sizes = [given.driver] if given.driver else given.judgments
    parts = ("plan", "land", "run", "resume")
    if given.driver or given.fleet:
        parts = ("driver",) if given.driver else ("fleet",)
    for size in sizes:
        replications = 1 if given.driver else given.replications
        with tempfile.TemporaryDirectory() as folder:
            actors = given.fleet or given.actors
            write(Path(folder), size // replications, replications, actors)
            for name in parts:
                print(f"{size:>12,} {part_apart(name, Path(folder))}", flush=True)
    return 0


def part_apart(name: str, folder: Path) -> str:
    """What a part says, in a process of its own."""
    command = [sys.executable, "-m", "bench.scale", "--part", name, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip().splitlines()[-1]


def compare_adaptive(n_items: int, actors: int) -> None:
    """Runs of both kinds in turns, and what the driver took for a request of each."""
    ratios, fixed = [], 0
    for _ in range(ROUNDS):
        each = []
        for kind in ("adaptive", "fixed"):
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder), n_items, fixed if kind == "fixed" else ADAPTIVE, actors)
                part_apart("run", Path(folder))
                found = json.loads((Path(folder) / "driver.json").read_text())
            fixed = fixed or round(found["landed"] / n_items)
            each.append(found["cpu"] / found["landed"])
            print(
                f"{kind:8} {found['landed']:,} requests, {each[-1] * 1e6:.1f} us each", flush=True
            )
        ratios.append(each[0] / each[1])
    print(f"adaptive takes {median(ratios):.2f} of fixed, median of {ROUNDS} rounds")


def write(folder: Path, n_items: int, replications: int | str, actors: int) -> None:
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
    sweep = read_sweep(folder / "sweep.toml")
    if name == "driver":
        hand_out(folder)
    elif name == "fleet":
        lead(folder)
    elif name == "plan":
        plan = plan_resolved(resolve(sweep))
        print(f"plan   {plan.requests:,} requests, {spent(cpu, wall)}")
    elif name == "land":
        n, used = asyncio.run(land(folder))
        print(f"land   {n:,} answered and landed by one actor: {used / n * 1e6:.1f} us of CPU each")
    elif name == "resume":
        summary = run_sweep(sweep, out=str(folder / "run"))
        print(f"resume pending {summary.owed}, asked {summary.asked_now}, {spent(cpu, wall)}")
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
        left = {"landed": summary.landed, "cpu": used}
        (folder / "driver.json").write_text(json.dumps(left))
        commits = sum(1 for _ in (folder / "run" / "commits").glob("s0001-l*.json"))
        print(
            f"run    landed {summary.landed:,} in {commits} commits, {summary.landed / lasted:,.0f}"
            f" a second of wall (engines' start included), driver {used / summary.landed * 1e6:.1f}"
            f" us of CPU a request while asking; in all {spent(cpu, wall)}"
        )


def hand_out(folder: Path) -> None:
    """Take and pickle every lease of a fresh run, as the scheduler does, without Ray."""
    (frame,) = resolve(read_sweep(folder / "sweep.toml")).frames
    voice, told = frame.judges[0], []
    for writer, size in (("driver", None), ("actors", REQUEST_SIZE)):
        before = time.process_time()
        pending = Pending(
            asked=((frame, voice),),
            wave=0,
            texts={},
            ledger=build_ledger(0, []),
            request_size=size,
        )
        n, n_bytes = pending.count(), 0
        queue = WorkQueue(source=pending.asks(None), request_size=REQUEST_SIZE)  # type: ignore[arg-type]
        while asks := queue.take("a", LEASE_UNITS):
            n_bytes += len(pickle.dumps(Lease(lease=1, attempt=1, judge="j", asks=asks)))
        used = (time.process_time() - before) / n
        told.append(f"{writer} write: {used * 1e6:.1f} us a request, {n_bytes / n:.0f} B")
    print("hand out " + "; ".join(told))


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call of a pretended actor: when it ends, and what it returns."""

    at: float
    result: object


class PretendedCluster:
    """Actors that answer at a fixed rate by a clock that jumps to whatever ends next."""

    def __init__(self, n_actors: int) -> None:
        self.room = Capacity(cpus=float(n_actors), gpus=0.0)
        self.now, self.n_leases = 0.0, 0

    @property
    def outside(self) -> Outside:
        """What a fleet is given."""
        return Outside(
            make_actor=lambda *_, name, **__: ActorHandle(actor=PretendedActor(self, name)),
            finished=self.finished, result_of=lambda call: call.result,
            now=lambda: self.now, sleep=self.sleep, capacity=lambda: self.room,
            in_use=lambda: Capacity(cpus=0.0, gpus=0.0), is_placed=lambda _: True,
            demand=lambda _: None, kill_actor=lambda _: None,
            is_superseded=lambda *_: False, record=lambda *_: None,
        )  # fmt: skip

    def finished(self, calls: Sequence[Call], wait_s: float) -> list[Call]:
        """All calls that have ended, once one has."""
        soonest = min(call.at for call in calls)
        if soonest > self.now:
            self.now = min(soonest, self.now + wait_s)
        return [call for call in calls if call.at <= self.now]

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


class PretendedActor:
    """An actor that lands every lease whole."""

    def __init__(self, cluster: PretendedCluster, name: str) -> None:
        self.cluster, self.name, self.free_at = cluster, name, 0.0
        for method in ("start", "run", "stop", "recall", "ping"):
            setattr(self, method, SimpleNamespace(remote=getattr(self, f"_{method}")))

    def _start(self) -> Call:
        facts = ActorFacts(node="n", max_num_seqs=256)
        return Call(self.cluster.now, facts)

    def _run(self, lease: Lease) -> Call:
        self.cluster.n_leases += 1
        pickle.dumps(lease)  # as Ray would
        seconds, n = lease.n_requests / RATE, lease.n_requests
        self.free_at = max(self.free_at, self.cluster.now) + seconds
        receipt = Receipt(
            landed=True, rows=n, seconds=seconds,
            outcomes={"scored": n}, tokens=TokenCounts(prompt=n, cached=0, generated=n),
        )  # fmt: skip
        return Call(self.free_at, receipt)

    def _stop(self) -> Call:
        return Call(self.cluster.now, None)

    def _recall(self, *_: object) -> None:
        """Nothing is given back."""

    _ping = _stop


def lead(folder: Path) -> None:
    """The driver's part of a run with as many actors as the sweep has replicas."""
    resolved = resolve(read_sweep(folder / "sweep.toml"))
    (frame,) = resolved.frames
    run = RunDirectory.create(str(folder / "led"))
    session = begin_session(run).number
    n_actors = int(resolved.sweep.judge[0].replicas)
    engine = resolved.pinned_spec("j")
    spec = JudgeSpec(engine=engine, run=run, session=session, visibility_token="")
    pending = Pending(
        asked=((frame, frame.judges[0]),),
        wave=0,
        texts={},
        ledger=build_ledger(0, []),
        request_size=REQUEST_SIZE,
    )
    pool = JudgePool(name="j", spec=spec, replicas=n_actors)
    pool.requests_left = n = pending.count()
    cluster, judge = PretendedCluster(n_actors), JudgeBoard(asked=n)
    judge.clock = lambda: cluster.now
    fleet = Fleet(
        run=run,
        session=session,
        pools={"j": pool},
        limits=resolved.sweep.fleet,
        board=Board(sweep="scale", session=session, judges={"j": judge}),
        display=ConsoleDisplay(Console(quiet=True)),
        local=True,
        outside=cluster.outside,
    )
    queue = WorkQueue(source=pending.asks(None), request_size=REQUEST_SIZE)  # type: ignore[arg-type]
    cpu, wall = time.process_time(), time.monotonic()
    fleet.run_wave({"j": queue})
    used = time.process_time() - cpu
    fleet.close()
    if judge.landed != n:
        raise SystemExit(f"landed {judge.landed:,} of {n:,}")
    print(
        f"fleet  {n_actors:,} actors answered {n:,} in {cluster.now:.0f} s of their time "
        f"({n / cluster.now:,.0f} a second) and {cluster.n_leases:,} leases; the driver used "
        f"{used:.1f} s, {used / n * 1e6:.2f} us a request, {used / cluster.now:.3f} of a core; "
        f"{spent(cpu, wall)}"
    )


async def land(folder: Path) -> tuple[int, float]:
    """Have one actor answer and land a part of the sweep here; CPU but for its start."""
    resolved = resolve(read_sweep(folder / "sweep.toml"))
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
