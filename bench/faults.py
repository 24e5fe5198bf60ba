"""Random faults in the files of a run: does any give other numbers, or go unseen?

    OMP_NUM_THREADS=1 python -m bench.faults [--faults 20_000] [--seed 1]
                                             [--bucket] [--every 40] [--processes 2]

One small finished run of four simulated judges (best_of in two orders and at two temperatures,
temperature 0 repeated; adaptive replication; ratings; a confusion; exact distributions; answers
judged by others), made in this process. A fault is a flipped bit, a cut, or a file that is gone,
in a file drawn by its kind and at a place drawn evenly. After each fault `judgerel reduce` and
`judgerel verify` are run on the directory, and the file is put back. Every `--every`-th fault also
runs `reduce` as it is by default, with its other tables, and status, report, compare and advise:
there, too, nothing but a clean end or one line with exit 2 counts.

Prints by kind of file what `reduce` did (equal numbers; refused in one line that names the file;
OTHER numbers; refused, but not so) and how many faults `verify` names.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
from rich.console import Console

from judgerel_ray import cli
from judgerel_ray.config import load_sweep
from judgerel_ray.fleet import Fleet, JudgePool, JudgeSpec
from judgerel_ray.fleet.judge_actor import JudgeActor
from judgerel_ray.fleet.lease import Lease
from judgerel_ray.fleet.work_queue import WorkQueue
from judgerel_ray.pipeline import plan_resolved, resolve
from judgerel_ray.pipeline.losing import agree_to_losses, stray_commits
from judgerel_ray.pipeline.opening import known_judges, open_run
from judgerel_ray.pipeline.running import _board, _lay_out, _leave_final
from judgerel_ray.pipeline.waves import Waves
from judgerel_ray.store import (
    RunDirectory,
    begin_session,
    end_session,
    leave_token,
    read_ledger,
    record_errors,
)
from judgerel_ray.store.bucket import Bucket
from judgerel_ray.tables import Errors

JUDGE = """
[[judge]]
name = "{name}"
engine = "simulated"
model = "dirichlet"
gpus = 0
engine_options = {{ seed = {seed}, concentration = {concentration} }}
"""
SWEEP = (
    'name = "faults"\n[tolerance]\nkrippendorff_alpha = 0.6\n'
    + JUDGE.format(name="a", seed=1, concentration=1.0)
    + JUDGE.format(name="b", seed=2, concentration=3.0)
    + """
[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "items.jsonl"
temperatures = [1.0, 0.0]
replications = 4
repeat_greedy = 2
option_orders = 2

[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "items.jsonl"
temperatures = [0.7]
replications = { adaptive = 0.2, first = 3, max = 6 }

[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "items.jsonl"
mode = "exact"

[[ask]]
protocol = "correctness"
benchmark = "mine"
path = "items.jsonl"
replications = 3

[[ask]]
protocol = "confusion"
benchmark = "criterion"
path = "criterion.jsonl"
"""
)
N_ITEMS = 6
OPTIONS = ("yes", "no", "partly")
GONE, CUT = 0.02, 0.18
"""Shares of the faults; the rest are flipped bits."""
TOLD_EVERY = 500
PIECE = 10**9  # units of work a lease: a judge's wave or round is one
REDUCE = (
    "--by", "judge", "--missing", "drop", "--coefficient", "percent_agreement",
    "--coefficient", "accuracy", "--format", "json",
)  # fmt: skip
VERBS: dict[str, Callable[[str, str], list[str]]] = {
    "reduce": lambda run, _: ["reduce", run],
    "status": lambda run, _: ["status", run, "--json"],
    "report": lambda run, out: ["report", run, "--out", f"{out}/page.html"],
    "compare": lambda run, _: ["compare", run, "--by", "judge"],
    "advise": lambda run, _: ["advise", run],
    "serving noise": lambda run, _: ["reduce", run, "--coefficient", "serving_noise_texts"],
    **{
        name: lambda run, _, flag=name: ["reduce", run, f"--{flag}"]  # type: ignore[misc]
        for name in ("uncertainty", "limits", "settled", "questions", "selection")
    },
}
WEIGHTS = {"data": 8, "commits": 4, "items.parquet": 2, "manifest.json": 2, "sweep.toml": 2}
"""How often a kind of file is drawn, where more than once: what numbers are made of more often."""
EQUAL, REFUSED, OTHER, UNCLEAN = "equal", "refused", "OTHER", "UNCLEAN"


class InProcess:
    """A fleet of one engine a judge, in this process, that answers leases one by one."""

    def __init__(self, actors: dict[str, JudgeActor]) -> None:
        self.actors = actors
        self.n_leases = 0
        self.asked = 0

    def next_lease(self) -> int:
        self.n_leases += 1
        return self.n_leases

    def count_landed(self, _judge: str, rows: int, _outcomes: object) -> None:
        self.asked += rows

    def run_wave(self, work: dict[str, WorkQueue], *, later: frozenset[str]) -> None:
        del later
        for name, queue in work.items():
            while True:
                while asks := queue.take("one", PIECE):
                    lease = Lease(lease=self.next_lease(), attempt=1, judge=name, asks=asks)
                    receipt = asyncio.run(self.actors[name].run(lease))
                    assert receipt.landed, receipt
                    assert not receipt.failed, receipt
                    self.asked += receipt.rows
                queue.refill()
                if queue.is_empty:
                    break


def write_sweep(folder: Path, *, n_items: int = N_ITEMS) -> Path:
    """The sweep file, and the items it names beside it."""
    plain = [
        {"item_id": f"q{i}", "question": f"Which {i}?", "options": list(OPTIONS), "gold": "no"}
        for i in range(n_items)
    ]
    about = [{**one, "criterion": "fit", "text": f"Text {one['item_id']}."} for one in plain]
    for name, rows in (("items", plain), ("criterion", about)):
        text = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    file = folder / "sweep.toml"
    file.write_text(SWEEP, encoding="utf-8")
    return file


def run_here(file: Path, out: str, *, ask_lost: bool = False) -> tuple[int, str]:
    """What `judgerel run` does, without Ray: how many requests were asked, and what was told."""
    resolved = resolve(load_sweep(file), known=known_judges(out, None))
    plan = plan_resolved(resolved)
    run = open_run(resolved, plan, out, None)
    told = io.StringIO()
    session = begin_session(
        run,
        ask_lost=ask_lost,
        strays=lambda ledger: stray_commits(run, resolved, plan, ledger),
        agree=lambda losses: agree_to_losses(
            run, Console(file=told, width=200), losses, ask_lost=ask_lost
        ),
    )
    board = _board(resolved, plan, run, session)
    token = leave_token(run)
    actors = {
        name: JudgeActor(
            JudgeSpec(
                engine=resolved.pinned_spec(name),
                run=run,
                session=session.number,
                visibility_token=token,
            )
        )
        for name in resolved.specs
    }
    for actor in actors.values():
        asyncio.run(actor.start())
    fleet = InProcess(actors)
    pools = {name: SimpleNamespace(requests_left=0) for name in actors}
    Waves(
        resolved=resolved,
        run=run,
        session=session,
        fleet=cast(Fleet, fleet),
        pools=cast("dict[str, JudgePool]", pools),
        board=board,
    ).ask_all()
    ledger = read_ledger(run)
    for name, judge in board.judges.items():
        judge.landed = ledger.rows[name]
        judge.asked = max(judge.asked, judge.landed)
    _lay_out(resolved, run, ledger)
    _leave_final(run, session, board)
    end_session(run, session.number)
    return fleet.asked, told.getvalue()


def make_run(folder: Path) -> RunDirectory:
    """A finished run of two sessions, with a file of failures."""
    file = write_sweep(folder)
    out = str(folder / "run")
    run_here(file, out)
    run = RunDirectory.open(out)
    failures = pl.DataFrame(
        [
            {
                "key": f"{place:032x}", "judge": "a", "item_id": "q0", "condition_key": "0" * 32,
                "replication": place, "lease": "1", "attempt": 1, "kind": "transport",
                "message": "connection reset", "failed_at": datetime(2026, 1, 1, tzinfo=UTC),
            }
            for place in range(2)
        ],
        schema=Errors.create_empty().schema,
    )  # fmt: skip
    record_errors(run, session=1, judge="a", rows=failures)
    run_here(file, out)
    return run


def kind_of(name: str) -> str:
    """What a file of a run is, by its name."""
    top, _, rest = name.partition("/")
    if top != "commits":
        return top
    if not rest.startswith("session"):
        return top
    return "session ends" if rest.endswith(".ended") else "sessions"


@dataclass
class Tally:
    """Outcomes by kind of file."""

    reduced: Counter[tuple[str, str]] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    unseen: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    verbs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Count what another saw, too."""
        for name in ("reduced", "seen", "verbs"):
            getattr(self, name).update(getattr(other, name))
        self.unseen += other.unseen
        self.wrong += other.wrong

    def lines(self) -> Iterator[str]:
        """The table."""
        kinds = sorted({kind for kind, _ in self.reduced})
        words = (EQUAL, REFUSED, OTHER, UNCLEAN)
        yield f"{'file':14}" + "".join(f"{word:>10}" for word in (*words, "faults", "verified"))
        for kind in [*kinds, "all"]:
            of = [kind] if kind != "all" else kinds
            found = [sum(self.reduced[one, word] for one in of) for word in words]
            named = sum(self.seen[one] for one in of)
            yield f"{kind:14}" + "".join(f"{n:10,}" for n in (*found, sum(found), named))
        if self.verbs:
            yield "other verbs (ended clean / refused in one line / UNCLEAN):"
            for verb in sorted({verb for verb, _ in self.verbs}):
                counts = [self.verbs[verb, word] for word in (EQUAL, REFUSED, UNCLEAN)]
                yield f"  {verb:14}" + "".join(f"{n:10,}" for n in counts)
        yield from (f"wrong: {line}" for line in self.wrong[:20])
        yield from (f"not named by verify: {line}" for line in self.unseen[:20])


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: object
    out: str
    err: str

    @property
    def is_one_line(self) -> bool:
        """Whether it was refused as a caller is refused."""
        return self.code == 2 and not self.out and self.err.count("\n") == 1


def called(arguments: Sequence[str]) -> Ended:
    """Run a command in this process; what libraries write to stderr themselves is caught, too."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryFile() as raw:
        kept = os.dup(2)
        os.dup2(raw.fileno(), 2)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code: object = cli.main(list(arguments))
        except BaseException as error:  # noqa: BLE001  whatever reaches a person is counted
            code = f"{type(error).__name__}: {error}"
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        raw.seek(0)
        below = raw.read().decode(errors="replace")
    return Ended(code, out.getvalue(), err.getvalue() + below)


def damaged(
    data: bytes, rng: np.random.Generator, *, may_go: bool = True
) -> tuple[str, bytes | None]:
    """A fault in words, and what it leaves of a file; None where that is nothing."""
    which = rng.random()
    if which < GONE and may_go:
        return "gone", None
    if which < GONE + CUT or not data:
        size = int(rng.integers(0, max(1, len(data))))
        return f"cut at {size}", data[:size]
    place, bit = int(rng.integers(len(data))), int(rng.integers(8))
    flipped = bytes([data[place] ^ (1 << bit)])
    return f"bit {bit} of byte {place}", data[:place] + flipped + data[place + 1 :]


def try_faults(run: RunDirectory, *, n: int, seed: int = 1, every: int = 0) -> Tally:
    """Damage a run n times and see what comes of it; it is whole again afterwards."""
    rng = np.random.default_rng(seed)
    before = called(["reduce", run.url, *REDUCE])
    assert before.code == 0, before
    assert called(["verify", run.url]).code == 0, called(["verify", run.url])
    kinds: dict[str, list[str]] = {}
    for name in run.files.sizes(""):
        if not name.startswith(".") and "token" not in name:
            kinds.setdefault(kind_of(name), []).append(name)
    tally = Tally()
    order = [kind for kind in sorted(kinds) for _ in range(WEIGHTS.get(kind, 1))]
    for trial in range(n):
        kind = order[trial % len(order)]
        name = str(rng.choice(kinds[kind]))
        data = run.files.read(name)
        # A session without its end is one whose driver was killed: nothing else tells them apart.
        said, left = damaged(data, rng, may_go=kind != "session ends")
        put(run, name, left)
        what = f"{name}, {said}"
        try:
            count(tally, run, kind, name, what, before)
            if every and trial % every == 0:
                with tempfile.TemporaryDirectory() as folder:
                    for verb, arguments in VERBS.items():
                        ended = called(arguments(run.url, folder))
                        word = EQUAL if ended.code == 0 else REFUSED
                        if ended.code != 0 and not ended.is_one_line:
                            word = UNCLEAN
                            tally.wrong.append(f"{verb}: {what}: {ended}")
                        tally.verbs[verb, word] += 1
        finally:
            put(run, name, data)
        if (trial + 1) % TOLD_EVERY == 0:
            told = Counter(word for (_, word), n in tally.reduced.items() for _ in range(n))
            print(f"seed {seed}: {trial + 1:,} {dict(told)}", file=sys.stderr, flush=True)
    after = called(["reduce", run.url, *REDUCE])
    assert after == before
    return tally


def count(tally: Tally, run: RunDirectory, kind: str, name: str, what: str, before: Ended) -> None:
    """What reduce and verify do of a run with one fault."""
    ended = called(["reduce", run.url, *REDUCE])
    place = run.address(name)
    if ended.code == 0:
        word = EQUAL if ended.out == before.out else OTHER
    else:
        word = REFUSED if ended.is_one_line and place in ended.err else UNCLEAN
    tally.reduced[kind, word] += 1
    if word in (OTHER, UNCLEAN):
        tally.wrong.append(f"{what}: {word}: exit {ended.code}: {ended.err[:300]}")
    verified = called(["verify", run.url])
    if name in verified.out or (verified.is_one_line and place in verified.err):
        tally.seen[kind] += 1
    else:
        tally.unseen.append(f"{what}: {verified.out[-200:]}{verified.err[:200]}")


def put(run: RunDirectory, name: str, data: bytes | None) -> None:
    """Leave these bytes under a name, as no writer of a run would: in place, or gone."""
    if isinstance(run.files, Bucket):
        run.remove(name)
        if data is not None:
            run.files.write(name, data)
    elif data is None:
        Path(run.address(name)).unlink()
    else:
        Path(run.address(name)).write_bytes(data)


def into_bucket(run: RunDirectory, url: str) -> RunDirectory:
    """The same run in a store of objects."""
    files = cast(Any, Bucket(url=url))
    for name in run.files.sizes(""):
        files.write(name, run.files.read(name))
    return RunDirectory.open(url)


def try_seed(seed: int, *, n: int, every: int, in_bucket: bool) -> Tally:
    """Make a run and damage it n times, in a process of its own."""
    # A fifth of what a command takes here is making its parser.
    cli.build_parser = cache(cli.build_parser)
    with tempfile.TemporaryDirectory() as folder:
        run = make_run(Path(folder))
        if in_bucket:
            run = into_bucket(run, "memory://faults")
        return try_faults(run, n=n, seed=seed, every=every)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=40, help="faults between those of all verbs")
    parser.add_argument("--bucket", action="store_true", help="in memory://, through fsspec")
    parser.add_argument("--processes", type=int, default=2, help="each with a run of its own")
    given = parser.parse_args()
    share = -(-given.faults // given.processes)
    tally = Tally()
    with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as pool:
        seeds = range(given.seed, given.seed + given.processes)
        more = {"n": share, "every": given.every, "in_bucket": given.bucket}
        for one in pool.map(partial(try_seed, **more), seeds):
            tally.add(one)
    print("\n".join(tally.lines()))
    sys.exit(bool(tally.wrong or tally.unseen))


if __name__ == "__main__":
    main()
