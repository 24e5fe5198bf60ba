"""Engines' processes killed from outside, again and again, while a run goes on."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_local")]


class Killer(threading.Thread):
    """Kill one engine of a sweep after every so many rows landed; engines are known by commits."""

    def __init__(self, sweep, *, kills: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.sweep, self.kills = sweep, kills
        self.draw = random.Random(seed)
        self.killed: list[int] = []
        self.gaps_s: list[float] = []
        self.over = threading.Event()

    def run(self) -> None:
        steps = [self.sweep.asked * (i + 1) // (self.kills + 2) for i in range(self.kills)]
        for rows in steps:
            while self.sweep.n_landed < rows:
                if self.over.wait(0.05):
                    return
            victims = self._alive()
            if not victims:
                continue
            victim = self.draw.choice(victims)
            self.killed.append(victim)
            known = set(victims)
            os.kill(victim, signal.SIGKILL)
            at = time.monotonic()
            while not self.over.wait(0.05):
                if set(self._alive()) - known:
                    self.gaps_s.append(time.monotonic() - at)
                    break

    def _alive(self) -> list[int]:
        if not Path(self.sweep.out, "manifest.json").exists():
            return []
        pids = {int(one.engine["pid"]) for one in self.sweep.commits}
        return sorted(pid for pid in pids - set(self.killed) if _is_actor(pid))


def _is_actor(pid: int) -> bool:
    """Whether a process is there and is a judge actor: a number may be another's by now."""
    try:
        return b"JudgeActor" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def run_under_fire(one, *, kills: int, seed: int) -> Killer:
    killer = Killer(one, kills=kills, seed=seed)
    killer.start()
    try:
        summary = one.run()
    finally:
        killer.over.set()
        killer.join()
    # An item in flight twice when an engine was killed is set aside; the next run asks it.
    for _ in range(3):
        if not summary.owed:
            break
        assert summary.failed == summary.owed
        assert summary.problems == {}
        summary = one.run()
    assert summary.owed == 0
    return killer


def test_engines_killed_half_way_cost_nothing(sweep, undisturbed):
    one = sweep(speed=1500)
    killer = run_under_fire(one, kills=2, seed=1)
    assert len(killer.killed) == 2
    one.check_whole()
    undisturbed(one)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2])
def test_many_engines_killed_cost_nothing(sweep, undisturbed, seed):
    one = sweep(n_items=60, replications=60, speed=2000)
    killer = run_under_fire(one, kills=5, seed=seed)
    assert len(killer.killed) >= 4
    one.check_whole()
    undisturbed(one)
