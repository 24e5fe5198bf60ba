"""Engines' processes killed from outside, again and again, while a run goes on."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_local")]


class Killer:
    """Kill one engine of a sweep after every so many rows landed; engines are known by commits.

    It is asked by the run's own loop before leases are sent, so that no run ends before its kills.
    """

    def __init__(self, sweep, *, kills: int, seed: int) -> None:
        self.sweep = sweep
        self.steps = [sweep.asked * (i + 1) // (kills + 2) for i in range(kills)]
        self.draw = random.Random(seed)
        self.killed: list[int] = []

    def __call__(self, _pools, board) -> bool:
        """Kill when it is time; leases are never held back."""
        landed = board.judges["a"].landed
        if self.steps and landed >= self.steps[0] and (victims := self._alive()):
            self.killed.append(self.draw.choice(victims))
            os.kill(self.killed[-1], signal.SIGKILL)
            self.steps.pop(0)
        return False

    def _alive(self) -> list[int]:
        pids = {int(one.engine["pid"]) for one in self.sweep.commits}
        return sorted(pid for pid in pids - set(self.killed) if _is_actor(pid))


def _is_actor(pid: int) -> bool:
    """Whether a process is there and is a judge actor: a number may be another's by now."""
    try:
        return b"JudgeActor" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def run_under_fire(one, hold_leases, *, kills: int, seed: int) -> Killer:
    killer = Killer(one, kills=kills, seed=seed)
    hold_leases(killer)
    summary = one.run()
    # An item in flight twice when an engine was killed is set aside; the next run asks it.
    for _ in range(3):
        if not summary.owed:
            break
        assert summary.failed == summary.owed
        assert summary.problems == {}
        summary = one.run()
    assert summary.owed == 0
    return killer


def test_engines_killed_half_way_cost_nothing(sweep, undisturbed, hold_leases):
    one = sweep(speed=1500)
    killer = run_under_fire(one, hold_leases, kills=2, seed=1)
    assert len(killer.killed) == 2
    one.check_whole()
    undisturbed(one)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2])
def test_many_engines_killed_cost_nothing(sweep, undisturbed, hold_leases, seed):
    one = sweep(n_items=60, replications=60, speed=2000)
    killer = run_under_fire(one, hold_leases, kills=5, seed=seed)
    assert len(killer.killed) == 5
    one.check_whole()
    undisturbed(one)
