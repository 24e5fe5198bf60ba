from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from judgerel_ray.core import StoreError
from judgerel_ray.store import (
    RunDirectory,
    begin_session,
    close_lease,
    end_session,
    is_superseded,
    live_session,
    read_ledger,
    scan_judgments,
    sessions,
    unseen_session,
    verify_run,
)
from judgerel_ray.store.records import read_session


def test_a_new_session_takes_what_landed_and_shuts_out_what_comes_late(run, land_rows):
    first = begin_session(run)
    assert (first.number, first.ledger.n_rows, first.losses.names) == (1, 0, ())
    land_rows(run, 1, 1, {"aa": [(0, 3)]}, mark="early")
    second = begin_session(run)
    assert (second.number, second.ledger.n_rows) == (2, 3)
    assert second.ledger.owed("aa", 5) == ((3, 2),)
    assert land_rows(run, 1, 2, {"aa": [(3, 2)]}, mark="zombie") is True
    assert read_ledger(run).owed("aa", 5) == ((3, 2),)
    assert land_rows(run, 2, 1, {"aa": [(3, 2)]}, mark="ours") is True
    third = begin_session(run)
    assert third.ledger.owed("aa", 5) == ()
    labels = scan_judgments(run).collect()["label"].value_counts()
    assert dict(labels.iter_rows()) == {"early": 3, "ours": 2}
    assert [(found.level, found.kind) for found in verify_run(run)] == [
        ("note", "late_record"),
        ("note", "orphan"),
        ("note", "orphan"),
    ]


def test_what_lands_while_a_session_opens_is_shut_out(run, land_rows, monkeypatch):
    begin_session(run)
    plain = sessions.look_at_commits

    def look_then_let_one_land(where):
        look = plain(where)
        land_rows(run, 1, 1, {"aa": [(0, 3)]})
        return look

    with monkeypatch.context() as patch:
        patch.setattr(sessions, "look_at_commits", look_then_let_one_land)
        opened = begin_session(run)
    assert opened.ledger.owed("aa", 3) == ((0, 3),)
    assert read_ledger(run).owed("aa", 3) == ((0, 3),)


def test_a_lost_race_takes_the_next_number_and_what_the_winner_landed(run, land_rows, monkeypatch):
    plain, raced = sessions.look_at_commits, []

    def look_then_lose(where):
        look = plain(where)
        if not raced:
            raced.append(True)
            land_rows(run, begin_session(run).number, 1, {"aa": [(0, 3)]})
        return look

    monkeypatch.setattr(sessions, "look_at_commits", look_then_lose)
    opened = begin_session(run)
    assert opened.number == 2
    assert opened.ledger.owed("aa", 3) == ()


def test_threads_open_sessions_of_their_own(run):
    with ThreadPoolExecutor(6) as pool:
        numbers = list(pool.map(lambda _: begin_session(run).number, range(6)))
    assert sorted(numbers) == [1, 2, 3, 4, 5, 6]


def test_tombstones_do_not_outlive_their_session(run):
    begin_session(run)
    close_lease(run, session=1, lease=1, attempt=1)
    second = begin_session(run)
    assert second.ledger.commits == ()
    assert verify_run(run) == []


@pytest.mark.slow
def test_rows_whose_file_is_gone_or_cut_are_pending_again(disk_run, land_rows):
    begin_session(disk_run)
    for lease in (1, 2, 3):
        land_rows(disk_run, 1, lease, {f"c{lease}": [(0, 2)]})
    paths = [Path(disk_run.address(one.data_file)) for one in read_ledger(disk_run).commits]
    paths[0].unlink()
    paths[1].write_bytes(paths[1].read_bytes()[:-1])
    opened = begin_session(disk_run)
    assert opened.losses.names == ("s0001-l000001-a1.json", "s0001-l000002-a1.json")
    assert [opened.ledger.owed(f"c{lease}", 2) for lease in (1, 2, 3)] == [((0, 2),), ((0, 2),), ()]
    assert scan_judgments(disk_run).collect().height == 2


def test_a_torn_session_counts_as_none(disk_run, land_rows):
    begin_session(disk_run)
    land_rows(disk_run, 1, 1, {"aa": [(0, 3)]})
    begin_session(disk_run)
    Path(disk_run.address("commits/session-0002.json")).write_text("{")
    ledger = read_ledger(disk_run)
    assert (ledger.session, ledger.n_rows, ledger.broken) == (1, 3, ("session-0002.json",))
    opened = begin_session(disk_run)
    assert (opened.number, opened.ledger.n_rows) == (3, 3)


def test_leftovers_in_commits_are_ignored(disk_run, land_rows):
    begin_session(disk_run)
    land_rows(disk_run, 1, 1, {"aa": [(0, 3)]})
    folder = Path(disk_run.address("commits"))
    for name in (".s0001-l000002-a1.json.ab12.tmp", "notes.txt", "s0001-l000009-a1.json.bak"):
        (folder / name).write_text("{")
    assert read_ledger(disk_run).n_rows == 3
    assert begin_session(disk_run).losses.names == ()
    assert [found.kind for found in verify_run(disk_run)] == ["orphan"]


def test_a_store_without_exclusive_creation_is_refused(monkeypatch):
    run = RunDirectory.create("memory://careless")
    monkeypatch.setattr(type(run.files), "is_exclusive", lambda *_: False)
    with pytest.raises(StoreError, match="exclusive creation"):
        begin_session(run)


def test_the_number_of_a_session_that_ended_is_not_taken_again(run):
    """Its mark would say of the new session that it has ended, and no second driver be refused."""
    end_session(run, begin_session(run).number)
    run.remove("commits/session-0001.json")
    assert begin_session(run).number == 2
    assert unseen_session(run) is not None


def test_a_session_knows_that_it_is_superseded(run):
    first = begin_session(run).number
    assert is_superseded(run, first) is False
    begin_session(run)
    assert is_superseded(run, first) is True


def test_the_record_says_who_opened_the_session(disk_run):
    begin_session(disk_run)
    record = read_session(
        "session-0001.json", disk_run.read_bytes("commits/session-0001.json"), disk_run.identity
    )
    assert record is not None
    assert (record.host, record.pid) == (socket.gethostname(), os.getpid())
    assert record.pid_started


def test_own_sessions_and_no_sessions_are_not_live(disk_run):
    assert live_session(disk_run) is None
    begin_session(disk_run)
    assert live_session(disk_run) is None


DRIVER = """
import sys, time
from judgerel_ray.store import RunDirectory, begin_session
print(begin_session(RunDirectory(url=sys.argv[1])).number, flush=True)
time.sleep(3600)
"""


@pytest.mark.slow
def test_a_driver_is_live_until_it_ends_or_dies(disk_run, wait_until):
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, disk_run.url], stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout.readline() == "1\n"
        assert f"session 1, process {driver.pid} on {socket.gethostname()}" in str(
            live_session(disk_run)
        )
        end_session(disk_run, 1)
        assert live_session(disk_run) is None
        disk_run.remove("commits/session-0001.ended")
        assert live_session(disk_run) is not None
        driver.kill()
        # Dead but not yet waited for: still in the process table, no longer live.
        wait_until(lambda: live_session(disk_run) is None, "the end of a killed driver")
    assert live_session(disk_run) is None


def test_a_number_used_again_and_other_hosts_are_not_live(disk_run, monkeypatch):
    parent = os.getppid()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: parent)
        begin_session(disk_run)
    assert live_session(disk_run) is not None
    with monkeypatch.context() as patch:
        patch.setattr(socket, "gethostname", lambda: "elsewhere")
        assert live_session(disk_run) is None
    with monkeypatch.context() as patch:
        patch.setattr(sessions, "process_started", lambda _pid: "another start")
        assert live_session(disk_run) is None


def test_a_session_of_another_container_of_this_host_is_not_seen_here(
    disk_run, monkeypatch, tmp_path
):
    """Both may have the host's name and boot; the numbers of their processes are others."""
    parent = os.getppid()
    (tmp_path / "ns").symlink_to("pid:[1]")
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: parent)
        patch.setattr(sessions, "_PROCESSES", tmp_path / "ns")
        begin_session(disk_run)
    assert live_session(disk_run) is None
    assert str(unseen_session(disk_run)).startswith(f"session 1, process {parent} on ")


def test_without_proc_the_process_table_is_asked(monkeypatch, tmp_path):
    monkeypatch.setattr(sessions, "_BOOT_ID", tmp_path / "nothing")
    assert sessions.boot_name() == ""
    own = sessions.process_started(os.getpid())
    assert own == sessions.process_started(os.getpid())
    assert sessions.process_started(2**22 + 12345) == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sessions.process_started(os.getpid()) == ""


def test_session_records_are_json_people_can_read(disk_run):
    begin_session(disk_run)
    content = json.loads(disk_run.read_text("commits/session-0001.json"))
    assert content["kind"] == "session"
    assert content["accepted"] == []


@pytest.mark.parametrize(
    ("folder", "role"), [("data", "judge"), ("data", "responder"), ("texts", "responder")]
)
def test_rows_whose_file_is_gone_are_pending_again(run, land_rows, folder, role):
    begin_session(run)
    land_rows(run, 1, 1, {"aa": [(0, 3)]}, role=role)
    [part] = run.names(f"{folder}/judge=j")
    run.remove(f"{folder}/judge=j/{part}")
    again = begin_session(run)
    assert len(again.losses.names) == 1
    assert again.ledger.owed("aa", 3) == ((0, 3),)
