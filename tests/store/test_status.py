"""How a run stands while it goes on, and after its driver was killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from judgerel_ray.reporting.standing import status_text
from judgerel_ray.store import RunDirectory
from judgerel_ray.store.records import seal, unseal
from judgerel_ray.store.status import read_status

KILLED = """
import os, signal, sys
from judgerel_ray.store import RunDirectory, begin_session
begin_session(RunDirectory.open(sys.argv[1]))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def driver(sweep, driver_of):
    return driver_of(sweep(asks=["replications = 4\ntemperatures = [1.0]"]))


def tell(run, state="running"):
    """What a driver tells every second."""
    now = datetime.now(UTC).isoformat()
    board = {"state": state, "updated_at": now, "judges": {"j": {"state": state}}}
    run.write_bytes("progress.json", seal(board, "progress.json", run.identity))


def reopened(run, **fields):
    """The newest session, opened by somebody else."""
    name = "commits/session-0001.json"
    content = dict(unseal(run.read_bytes(name), name, run.identity))
    run.write_bytes(name, seal({**content, **fields}, name, run.identity))


@pytest.mark.slow
def test_a_driver_killed_a_moment_ago_is_not_running(driver):
    run = driver.run
    subprocess.run([sys.executable, "-c", KILLED, run.url], check=False)
    tell(run)
    status = read_status(driver.out)
    assert (status.state, status.session, status.live) == ("incomplete", 1, None)
    assert status.judges[0].state == "incomplete"


def test_a_driver_of_another_host_is_running_as_long_as_it_tells(driver, monkeypatch):
    driver.begin()
    run = driver.run
    reopened(run, host="node7", boot="b", pid=4711)
    tell(run)
    status = read_status(driver.out)
    assert (status.state, status.judges[0].state) == ("running", "running")
    assert str(status.live).startswith("session 1, process 4711 on node7, since ")
    monkeypatch.setattr("judgerel_ray.store.status.FRESH_S", 0.0)
    status = read_status(driver.out)
    assert (status.state, status.live, status.judges[0].state) == ("incomplete", None, "incomplete")


def test_the_own_process_is_running_as_long_as_it_tells(driver):
    driver.begin()
    run = driver.run
    tell(run)
    assert read_status(driver.out).state == "running"
    assert f"process {os.getpid()} on {socket.gethostname()}" in str(read_status(driver.out).live)
    run.write_text("commits/session-0001.ended", "now")
    assert (read_status(driver.out).state, read_status(driver.out).live) == ("incomplete", None)


def test_without_its_plan_a_run_counts_what_landed_and_does_not_know_the_rest(driver):
    driver.go("first")
    run = driver.run
    run.remove("plan.json")
    status = read_status(driver.out)
    [judge] = status.judges
    assert (status.sweep, status.state, judge.state) == ("s", "incomplete", "incomplete")
    assert (judge.judge, judge.asked, judge.landed, judge.owed) == ("j", None, 12, None)
    assert judge.outcomes == {"unparsed": 12}
    content = status.as_json()
    assert (content["asked"], content["landed"], content["owed"]) == (None, 12, None)
    first, note, *lines = status_text(content).splitlines()
    assert first.startswith("s: incomplete, landed 12 of an unknown number (session 1, ")
    assert note == (
        "  plan.json is gone, so nobody knows how much is asked; the next run with the same sweep "
        "writes it again"
    )
    assert "j: incomplete, landed 12 of an unknown number" in lines
    assert not any(line.startswith("  pending") for line in lines)
    driver.go("second")
    driver.check_whole()
    assert read_status(driver.out).as_json()["notes"] == []


def test_without_plan_and_sweep_a_run_still_counts_what_landed(driver):
    driver.go("first")
    for name in ("plan.json", "sweep.toml"):
        os.remove(os.path.join(driver.out, name))
    tell(RunDirectory.open(driver.out), "failed")
    status = read_status(driver.out)
    assert (status.sweep, status.judges[0].landed, status.judges[0].state) == ("", 12, "failed")
    assert status_text(status.as_json()).startswith("(no name known): incomplete, landed 12 of an ")


@pytest.mark.parametrize("plan", [True, False])
def test_records_that_are_gone_are_told(driver, plan):
    driver.go("first")
    os.remove(os.path.join(driver.out, "commits", "session-0001.json"))
    if not plan:
        os.remove(os.path.join(driver.out, "plan.json"))
    status = read_status(driver.out)
    assert (status.session, status.state) == (0, "incomplete")
    assert "the records in commits/ that say which count are gone" in status.notes[0]
    assert len(status.notes) == (1 if plan else 2)
