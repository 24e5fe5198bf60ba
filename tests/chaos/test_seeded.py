"""Runs that something goes wrong in, by a seed: after each all has landed, once, and the same.

All kinds once in `make test-all`; `make chaos` draws 200 (JUDGEREL_CHAOS says how many). Real
Ray, a head and two nodes on this machine, one cluster for all runs; the judge is simulated. What
can go wrong without Ray goes wrong in runs of one process, too.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from judgerel_ray.core import StoreError
from judgerel_ray.fleet import JudgeSpec, cluster
from judgerel_ray.fleet.cluster import ActorHandle, kill_actor, make_actor
from judgerel_ray.fleet.judge_actor import JudgeActor
from judgerel_ray.fleet.pool import now
from judgerel_ray.store import begin_session, read_errors, verify_run

pytestmark = [pytest.mark.ray, pytest.mark.slow]
STEPS_OF_A_LANDING = 24  # open, sync, rename or link of two parts and a record, folders included
PATIENCE_S = 900.0


def judge_that(fault: str, *, at: int, marker: Path) -> type[JudgeActor]:
    """A judge actor that fails once in a run, at its `at`-th chance.

    Of several, the process that makes `marker` fails.
    Made in a function, so that it travels to its process as it is.

    Parameters
    ----------
    fault : str
        ``dies`` and ``full`` at a step of writing to disk (open, sync, link, rename); ``hangs`` in
        a lease; ``late`` before a lease is landed, until the file `marker` with ``.go`` is there;
        ``heavy`` never, but its receipts are as large as those that give many long prompts back:
        they stay in the object store of its node until they are asked for.
    at : int
        From 1.
    marker : Path
        Made by the actor that fails.
    """
    path = str(marker)

    class FailingActor(JudgeActor):
        """A judge actor of which one thing goes wrong."""

        def __init__(self, spec: JudgeSpec) -> None:
            import errno
            import os
            from types import SimpleNamespace

            from judgerel_ray.fleet import judge_actor
            from judgerel_ray.store import files

            super().__init__(spec)
            left = {"steps": at, "leases": at, "landings": at, "full": 0}

            def is_time(what: str) -> bool:
                left[what] -= 1
                if left[what]:
                    return False
                try:
                    os.close(os.open(path, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return False
                return True

            def step(do: Any) -> Any:
                def counted(*given: Any, **named: Any) -> Any:
                    if is_time("steps"):
                        if fault == "dies":
                            os._exit(1)
                        left["full"] = 3
                    if left["full"] and do in (os.open, os.fsync):
                        left["full"] -= 1
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    return do(*given, **named)

                return counted

            if fault in ("dies", "full"):
                own = {name: getattr(os, name) for name in dir(os)}
                for name in ("open", "fsync", "link", "replace"):
                    own[name] = step(own[name])
                files.os = SimpleNamespace(**own)
            if fault == "late":
                land = judge_actor.land

                def land_late(*given: Any, **named: Any) -> bool:
                    if not is_time("landings"):
                        return land(*given, **named)
                    while not os.path.exists(f"{path}.go"):
                        time.sleep(0.02)
                    landed = land(*given, **named)
                    with open(f"{path}.landed.new", "w") as file:
                        file.write(str(landed))
                    os.replace(f"{path}.landed.new", f"{path}.landed")
                    return landed

                judge_actor.land = land_late
            self._hangs = (lambda: is_time("leases")) if fault == "hangs" else (lambda: False)

        async def run(self, lease: Any) -> Any:
            """A lease, unless this is the one that never ends."""
            import asyncio

            while self._hangs():
                await asyncio.sleep(1e6)
            receipt = await super().run(lease)
            if fault == "heavy":  # of an ask that does not grow, nobody looks at `unsettled`
                receipt = replace(receipt, unsettled=("-" * 200_000,))
            return receipt

    return FailingActor


class Clock:
    """A clock that jumps once, when a condition holds."""

    def __init__(self, jump_s: float, when: Callable[[], bool]) -> None:
        self.jump_s, self.when, self.jumped = jump_s, when, False

    def __call__(self) -> float:
        """Seconds, from any beginning."""
        self.jumped = self.jumped or self.when()
        return now() + (self.jump_s if self.jumped else 0.0)


class Watcher(threading.Thread):
    """Do something once, when so many rows have landed, beside a run."""

    def __init__(self, one: Any, rows: int, act: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.one, self.rows, self.act, self.did = one, rows, act, False
        self.start()

    def run(self) -> None:
        """Wait and act; a run that ends before is left alone."""
        self.one.wait_for(self.rows)
        self.act()
        self.did = True

    def may_send(self, _pools: object, board: Any) -> bool:
        """Whether leases may go out: no run ends before what is done to it."""
        return self.did or board.judges["a"].landed < self.rows


def kill_one(one: Any, draw: random.Random) -> None:
    """SIGKILL a process that landed something."""
    pids = sorted({int(each.engine["pid"]) for each in one.commits})
    victim = draw.choice(pids)
    try:
        is_actor = b"Actor" in Path(f"/proc/{victim}/cmdline").read_bytes()
    except OSError:
        return
    if is_actor:
        os.kill(victim, signal.SIGKILL)


def damage(one: Any, draw: random.Random, *, of: str, how: str) -> Path:
    """Flip a bit of a file of the run, cut it, or remove it; the file that was drawn."""
    patterns: Mapping[str, str] = {
        "data": "data/*/*.parquet",
        "texts": "texts/*/*.parquet",
        "commits": "commits/s*-l*.json",
    }
    file = draw.choice(sorted(Path(one.out).glob(patterns[of])))
    raw = bytearray(file.read_bytes())
    if how == "gone":
        file.unlink()
    elif how == "cut":
        file.write_bytes(raw[: draw.randrange(len(raw))])
    else:
        raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
        file.write_bytes(raw)
    return file


@dataclass
class Stage:
    """Where a kind of trouble plays: a sweep not yet run, and what it may use."""

    one: Any
    draw: random.Random
    nodes: Any
    marker: Path
    outside: Callable[..., None]
    wait_until: Callable[[Callable[[], object], str], None]
    engines_first: Callable[[], Callable[[Any, Any], bool]]

    @property
    def address(self) -> str | None:
        """Of the cluster; None without one."""
        return None if self.nodes is None else str(self.nodes.address)

    @property
    def share(self) -> int:
        """A number of rows somewhere in the middle of the run."""
        return int(self.one.asked * self.draw.uniform(0.1, 0.7))

    def failing(self, fault: str, *, most: int) -> type[JudgeActor]:
        """A judge actor that fails at one of its first `most` chances."""
        return judge_that(fault, at=self.draw.randint(1, most), marker=self.marker)

    def run(self, **surroundings_: Any) -> None:
        """Run once, in surroundings of one's own."""
        self.outside(**surroundings_)
        self.one.run(self.address)
        self.outside()


def actors_killed(stage: Stage) -> None:
    watcher = Watcher(stage.one, stage.share, lambda: kill_one(stage.one, stage.draw))
    stage.run(may_send=watcher.may_send)
    assert watcher.did


def killed_between_steps(stage: Stage) -> None:
    stage.run(make_actor=partial(make_actor, judge=stage.failing("dies", most=STEPS_OF_A_LANDING)))
    assert stage.marker.exists()


def disk_full(stage: Stage) -> None:
    stage.run(make_actor=partial(make_actor, judge=stage.failing("full", most=STEPS_OF_A_LANDING)))
    assert stage.marker.exists()


def hung_engine(stage: Stage) -> None:
    clock = Clock(1e5, stage.marker.exists)
    stage.run(make_actor=partial(make_actor, judge=stage.failing("hangs", most=4)), now=clock)
    assert clock.jumped


def clock_jumps(stage: Stage) -> None:
    rows = stage.share
    clock = Clock(stage.draw.choice([-1e6, -60.0, 700.0, 1e6]), lambda: stage.one.n_landed >= rows)
    stage.run(now=clock)


def zombie_writer(stage: Stage) -> None:
    """Taken for dead at its deadline, not killed, and landing when others have its work."""
    clock, early = Clock(1e5, stage.marker.exists), []
    go, landed = (stage.marker.with_suffix(end) for end in (".go", ".landed"))
    make = partial(make_actor, judge=stage.failing("late", most=4))

    def make_and_note(*given: Any, **named: Any) -> ActorHandle:
        handle = make(*given, **named)
        if not clock.jumped:
            early.append(handle)
        return handle

    def spare_early(handle: ActorHandle) -> None:
        if handle in early:
            return
        if not landed.exists():  # by now all leases of the early ones are closed
            go.touch()
            stage.wait_until(landed.exists, "a late landing")
        kill_actor(handle)

    stage.run(make_actor=make_and_note, kill_actor=spare_early, now=clock)
    assert landed.read_text() == "False"


def node_lost(stage: Stage) -> None:
    def lose() -> None:
        lost = stage.draw.choice(sorted(stage.nodes.worker_nodes, key=lambda node: node.node_id))
        stage.nodes.remove_node(lost, allow_graceful=False)

    watcher = Watcher(stage.one, stage.share, lose)
    stage.run(may_send=watcher.may_send)
    assert watcher.did


def lost_object_store(stage: Stage) -> None:
    """A raylet is killed, with it the object store that holds receipts of leases that landed."""
    import ray
    from ray.experimental import get_object_locations

    # Early, while every engine has leases before it: one of two is on the driver's own node.
    rows, killed, lost = stage.share // 3, [], []

    def finished(calls: Sequence[Any], wait_s: float) -> Sequence[Any]:
        if killed:
            return cluster.finished(calls, wait_s)
        # Receipts are not fetched before they are settled, one at a time: others wait there.
        ended, _ = ray.wait(list(calls), timeout=wait_s, fetch_local=False)
        if stage.one.n_landed < rows:
            return ended
        found = get_object_locations(list(calls))
        for node in stage.nodes.worker_nodes:
            if held := [call for call in calls if node.node_id in found[call]["node_ids"]]:
                killed.append(node)
                node.kill_raylet()
                # Seen before what becomes of the actor: whose node is dead is asked for no receipt.
                return ray.wait(held, timeout=PATIENCE_S)[0]
        return ended

    def result_of(call: Any) -> object:
        result = cluster.result_of(call)
        lost.append("lost with an object store" in str(result))
        return result

    heavy = partial(make_actor, judge=judge_that("heavy", at=1, marker=stage.marker))
    may_send = stage.engines_first()
    try:
        stage.run(make_actor=heavy, finished=finished, result_of=result_of, may_send=may_send)
    finally:
        for node in killed:
            stage.nodes.remove_node(node, allow_graceful=False)
    assert any(lost)
    assert read_errors(stage.one.directory).is_empty()  # nobody is to blame for what was lost


def driver_killed(stage: Stage) -> None:
    driver = stage.one.start(stage.address)
    stage.one.wait_for(stage.share, driver)
    driver.kill()
    driver.communicate()


def two_drivers(stage: Stage) -> None:
    """Another begins a session in the middle; the first sees it and ends."""
    share, sessions = stage.share, [1]

    def may_send(pools: Any, board: Any) -> bool:
        # Here, not beside the run: on a busy machine all has landed before a thread acts.
        if len(sessions) == 1 and (board.judges["a"].landed >= share or pools["a"].queue.is_empty):
            sessions.append(begin_session(stage.one.directory).number)
        return len(sessions) == 1

    with pytest.raises(StoreError, match="another run took this directory over"):
        stage.run(may_send=may_send)
    assert sessions == [1, 2]
    stage.outside()


def damaged(stage: Stage, *, of: str) -> None:
    stage.run()
    stage.one.check_whole()
    how = stage.draw.choice(["flip", "cut", "gone"])
    file = damage(stage.one, stage.draw, of=of, how=how)
    found = [each for each in verify_run(stage.one.directory) if each.level == "error"]
    assert any(file.stem in str(each) for each in found), (how, file.name, found)


KINDS: Mapping[str, Callable[[Stage], None]] = {
    "actors_killed": actors_killed,
    "killed_between_two_steps_of_a_landing": killed_between_steps,
    "disk_full": disk_full,
    "hung_engine": hung_engine,
    "clock_jumps": clock_jumps,
    "zombie_writer": zombie_writer,
    "node_lost": node_lost,
    "lost_object_store": lost_object_store,
    "driver_killed": driver_killed,
    "two_drivers": two_drivers,
    "damaged_judgments": partial(damaged, of="data"),
    "damaged_texts": partial(damaged, of="texts"),
    "damaged_record": partial(damaged, of="commits"),
}
WITHOUT_RAY = ("clock_jumps", "driver_killed", "two_drivers", "damaged_judgments", "damaged_texts",
               "damaged_record")  # fmt: skip
RUNS = int(os.environ.get("JUDGEREL_CHAOS", len(KINDS)))


def cases() -> Iterator[Any]:
    """Kinds in turn, each with a seed of its own."""
    for seed in range(RUNS):
        kind = list(KINDS)[seed % len(KINDS)]
        yield pytest.param(kind, seed, id=f"{kind}-{seed}")


@pytest.fixture
def nodes(cluster: Any) -> Any:
    """A head and two nodes, the same for all runs but those that were lost."""
    tries_left = 3
    while len(cluster.worker_nodes) < 2:
        try:
            cluster.add_node(num_cpus=2, num_gpus=0, wait=False)
        except Exception as error:
            # Ray gives a node thirty seconds to come up, however busy the machine is.
            tries_left -= 1
            if not tries_left or "timed out during startup" not in str(error):
                raise
    cluster.wait_for_nodes(timeout=PATIENCE_S)
    return cluster


@pytest.mark.parametrize(("kind", "seed"), [*cases()])
def test_what_went_wrong_costs_nothing(
    kind, seed, sweep, undisturbed, nodes, tmp_path, outside, wait_until, engines_first
):
    one = sweep(n_items=20, replications=20, speed=4000, lease_seconds=0.3)
    marker, draw = tmp_path / "failed", random.Random(seed)
    KINDS[kind](Stage(one, draw, nodes, marker, outside, wait_until, engines_first))
    outside()
    go_on(one, nodes.address, kind)
    undisturbed(one)


@pytest.mark.usefixtures("without_ray")
@pytest.mark.parametrize("kind", WITHOUT_RAY)
def test_what_went_wrong_in_one_process_costs_nothing(
    kind, sweep, undisturbed, tmp_path, outside, wait_until, engines_first
):
    one = sweep(n_items=20, replications=20, speed=4000, lease_seconds=0.3)
    marker, draw = tmp_path / "failed", random.Random(WITHOUT_RAY.index(kind))
    KINDS[kind](Stage(one, draw, None, marker, outside, wait_until, engines_first))
    outside()
    go_on(one, None, kind)
    undisturbed(one)


def go_on(one: Any, address: str | None, kind: str) -> None:
    """Run until all has landed; then it has landed once."""
    for _ in range(4):  # an item in flight twice when an engine died is set aside for the next run
        summary = one.run(address, ask_lost=kind.startswith("damaged"))
        if not summary.owed:
            break
        assert summary.problems == {}
    assert summary.owed == 0
    one.check_whole()
