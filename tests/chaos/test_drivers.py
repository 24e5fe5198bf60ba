"""Drivers killed, doubled and superseded: each a process of its own, with a Ray or without."""

from __future__ import annotations

import contextlib
import os
import signal
import time

import pytest

from judgerel_ray.__main__ import main
from judgerel_ray.store import begin_session, end_session, read_ledger
from judgerel_ray.store.status import read_status

pytestmark = [pytest.mark.ray, pytest.mark.slow]
PATIENCE_S = 900  # for what takes seconds on a machine that is not busy with others


def children_of(pid: int) -> set[int]:
    """All processes below one."""
    found: set[int] = set()
    with contextlib.suppress(OSError):  # it ended meanwhile
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = file.read().split()
        for child in map(int, children):
            found |= {child} | children_of(child)
    return found


def still_there(pids: set[int]) -> set[int]:
    return {pid for pid in pids if os.path.exists(f"/proc/{pid}")}


@pytest.mark.parametrize("place", ["ray", "process"])
def test_a_driver_killed_three_times_loses_and_doubles_nothing(
    sweep, undisturbed, ray_local, place
):
    """On a cluster that outlives it, as a submitted job's does; and without Ray."""
    address = ray_local.get_runtime_context().gcs_address if place == "ray" else None
    one = sweep(speed=1200, never_ends=True)
    for share in (0.2, 0.45, 0.7):
        driver = one.start(address)
        one.wait_for(int(one.asked * share), driver)
        driver.send_signal(signal.SIGKILL)
        driver.communicate()
        status = read_status(one.out)
        assert status.live is None
        assert 0 < status.judges[0].landed < one.asked
    sweep(speed=1200)  # whether its engines hang is not what is asked
    last = one.start(address)
    out, errors = last.communicate(timeout=PATIENCE_S)
    assert last.returncode == 0, errors
    assert f"{one.asked} of {one.asked} requests landed" in out
    assert read_ledger(one.directory).session == 4
    one.check_whole()
    undisturbed(one)


@pytest.mark.usefixtures("ray_local")
def test_one_directory_has_one_driver(sweep, capsys):
    one = sweep(speed=400, never_ends=True)
    driver = one.start()
    one.wait_for(100, driver)
    status = read_status(one.out)
    while status.judges[0].state == "starting":  # told every two seconds
        time.sleep(0.1)
        status = read_status(one.out)
    assert status.state == "running"
    assert f"process {driver.pid}" in str(status.live)
    assert status.judges[0].state == "running"
    assert 100 <= status.judges[0].landed < one.asked

    assert main(["run", str(one.file), "--out", one.out]) == 2
    told = capsys.readouterr().err
    assert told.startswith("judgerel: a run is writing here: session 1")
    assert len(told.splitlines()) == 1

    # A driver elsewhere takes the directory over; this one sees it and stops.
    session = begin_session(one.directory)
    _, errors = driver.communicate(timeout=PATIENCE_S)
    assert driver.returncode == 2
    lines = errors.splitlines()
    assert lines[-1].startswith("judgerel: another run took this directory over")
    assert not any("Traceback" in line for line in lines)
    assert session.ledger.n_rows == read_ledger(one.directory).n_rows  # nothing later counts

    end_session(one.directory, session.number)
    faster = sweep()  # how fast an engine is, is not what is asked
    assert faster.run().owed == 0
    faster.check_whole()


@pytest.mark.parametrize("words", [("--ray",), ()], ids=["ray", "process"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_driver_asked_to_stop_leaves_no_process_and_says_how_to_go_on(
    sweep, wait_until, words, number
):
    one = sweep(speed=400, never_ends=True)
    driver = one.start(None, *words)
    one.wait_for(50, driver)
    below = children_of(driver.pid)
    assert bool(below) == bool(words)
    driver.send_signal(number)  # as a job scheduler does, or a person
    _, errors = driver.communicate(timeout=PATIENCE_S)
    assert driver.returncode == 3
    assert errors.splitlines()[-1].startswith("judgerel: stopped; run again")
    wait_until(lambda: not still_there(below), "killed, and not yet collected")
    assert read_status(one.out).live is None
    assert read_status(one.out).state == "incomplete"
    faster = sweep()
    assert faster.run().owed == 0
    faster.check_whole()
