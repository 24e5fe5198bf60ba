"""One lease at a time, also when holders die or come late."""

import json
import os
import subprocess
import sys
import threading

import pytest

from judgerel_ray.core import StoreError
from judgerel_ray.store import holding, sessions
from judgerel_ray.store.files import Bucket, Disk
from judgerel_ray.store.holding import FencedLease, HeldLease, renewing, take_lease


@pytest.fixture
def files(tmp_path):
    return Disk(root=str(tmp_path))


@pytest.fixture(params=["disk", pytest.param("s3", marks=pytest.mark.slow)])
def places(request, files):
    """How each of many comes by the folder; those of a bucket lose every fourth answer to a PUT."""
    if request.param == "disk":
        yield lambda: files
        return
    s3_url, _ = (request.getfixturevalue(name) for name in ("s3_url", "s3_options"))
    with request.getfixturevalue("fault_bucket")(s3_url, {"lost": 0.25}) as proxy:
        options = {"client_kwargs": {"endpoint_url": proxy.url}}
        yield lambda: Bucket(url=f"s3://runs/lease-{proxy.seed}", options=options)
        assert proxy.did["lost"] > 4


def test_of_many_at_once_one_has_the_lease(places):
    gate, found = threading.Barrier(20), []

    def take():
        files = places()
        gate.wait()
        found.append(take_lease(files))

    threads = [threading.Thread(target=take) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sum(isinstance(one, FencedLease) for one in found) == 1
    assert {one.number for one in found} == {1}


def test_a_killed_holder_frees_the_lease_at_once(files, tmp_path):
    code = (
        "import os, signal\n"
        "from judgerel_ray.store.files import Disk\n"
        "from judgerel_ray.store.holding import take_lease\n"
        f"take_lease(Disk(root={str(tmp_path)!r}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], env=os.environ, check=False)
    assert killed.returncode == -9
    assert take_lease(files).number == 2


def test_a_lease_of_another_host_ends_at_its_expiry(files, monkeypatch):
    monkeypatch.setattr(holding.socket, "gethostname", lambda: "elsewhere")
    first = take_lease(files)
    monkeypatch.undo()
    held = take_lease(files)
    assert isinstance(held, HeldLease)
    assert held.holder == f"process {os.getpid()} on elsewhere"
    now = holding.time.time()
    monkeypatch.setattr(holding.time, "time", lambda: now + holding.TTL_S + 1)
    second = take_lease(files)
    assert second.number == 2
    # The fence: who was thought dead writes no more.
    with pytest.raises(StoreError, match="lease 1 on the series is lost"):
        first.check()
    second.check()


def test_a_clock_that_is_set_ends_no_lease_on_this_host(files, monkeypatch):
    first = take_lease(files)
    now, uptime = holding.time.time(), holding.time.monotonic()
    monkeypatch.setattr(holding.time, "time", lambda: now + 10 * holding.TTL_S)
    assert isinstance(take_lease(files), HeldLease)
    monkeypatch.setattr(holding.time, "monotonic", lambda: uptime + holding.TTL_S - 1)
    first.renew()
    monkeypatch.setattr(holding.time, "monotonic", lambda: uptime + holding.TTL_S + 1)
    assert isinstance(take_lease(files), HeldLease)
    monkeypatch.setattr(holding.time, "monotonic", lambda: uptime + 2 * holding.TTL_S)
    assert take_lease(files).number == 2  # a holder that hangs renews no more


def test_a_holder_in_another_container_of_this_host_is_not_taken_for_gone(
    files, monkeypatch, tmp_path
):
    """Both may have the host's name and boot; the numbers of their processes are others."""
    take_lease(files)
    (tmp_path / "ns").symlink_to("pid:[1]")
    monkeypatch.setattr(sessions, "_PROCESSES", tmp_path / "ns")
    monkeypatch.setattr(holding, "process_started", lambda _pid: "")
    assert isinstance(take_lease(files), HeldLease)
    now = holding.time.time()
    monkeypatch.setattr(holding.time, "time", lambda: now + holding.TTL_S + 1)
    assert take_lease(files).number == 2


def test_a_lease_is_renewed_while_it_is_held_and_ends_with_it(files, monkeypatch):
    monkeypatch.setattr(holding, "TTL_S", 0.06)
    lease, renewed = take_lease(files), threading.Event()
    write = Disk.write

    def seen(self, name, data):
        write(self, name, data)
        if json.loads(data)["expires_at"]:
            renewed.set()

    monkeypatch.setattr(Disk, "write", seen)
    with renewing(lease):
        assert renewed.wait(60)
    assert take_lease(files).number == 2


def test_what_is_done_is_done_though_the_store_goes_away(files, monkeypatch):
    lease, write = take_lease(files), Disk.write

    def away(*_):
        raise StoreError("away")

    with renewing(lease):
        monkeypatch.setattr(Disk, "write", away)
    monkeypatch.setattr(Disk, "write", write)
    assert isinstance(take_lease(files), HeldLease)  # until it expires


def test_a_lease_is_lost_to_one_that_no_listing_shows_yet(files, monkeypatch):
    lease = take_lease(files)
    lease.release()
    take_lease(files)
    monkeypatch.setattr(Disk, "names", lambda *_: ("000001.json",))
    with pytest.raises(StoreError, match="lease 1 on the series is lost"):
        lease.check()


def test_a_torn_lease_is_none(files, tmp_path):
    take_lease(files)
    file = tmp_path / "leases" / "000001.json"
    file.write_bytes(file.read_bytes()[:-9])
    assert take_lease(files).number == 2
